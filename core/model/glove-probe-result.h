/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_PROBE_RESULT (glove_probe_result_get_type ())

/**
 * GloveProbeStatus:
 * @GLOVE_PROBE_OK: there
 * @GLOVE_PROBE_DEGRADED: absent, and a named control is weaker without it
 * @GLOVE_PROBE_MISSING: absent, and nothing starts without it
 * @GLOVE_PROBE_UNKNOWN: could not be told
 *
 * Since: 1.0
 */
typedef enum {
  GLOVE_PROBE_OK,
  GLOVE_PROBE_DEGRADED,
  GLOVE_PROBE_MISSING,
  GLOVE_PROBE_UNKNOWN,
} GloveProbeStatus;

/**
 * GloveProbeResult:
 * @code: stable, `[a-z0-9_]+`, e.g. "user_namespaces"
 * @message: what was found
 * @repair: what to do about it; empty when there is nothing to do
 *
 * Since: 1.0
 */
typedef struct {
  char *code;
  GloveProbeStatus status;
  char *message;
  char *repair;
} GloveProbeResult;

GLOVE_AVAILABLE_IN_1_0 GType glove_probe_result_get_type (void);
GLOVE_AVAILABLE_IN_1_0 GloveProbeResult *glove_probe_result_new (const char *code, GloveProbeStatus status,
                                                                 const char *message, const char *repair);
GLOVE_AVAILABLE_IN_1_0 GloveProbeResult *glove_probe_result_copy (const GloveProbeResult *self);
GLOVE_AVAILABLE_IN_1_0 void glove_probe_result_free (GloveProbeResult *self);
GLOVE_AVAILABLE_IN_1_0 const char *glove_probe_status_get_name (GloveProbeStatus status);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveProbeResult, glove_probe_result_free)

G_END_DECLS
