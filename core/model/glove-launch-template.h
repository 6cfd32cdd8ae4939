/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/**
 * GloveLaunchTemplate:
 *
 * How a runtime is started (contracts §6.4).
 *
 * Explicit mode: @runtime_discovery is empty and @executable_path set. Discovery mode: the other way round, with at least one
 * search path. Lists are %NULL-terminated and never %NULL.
 *
 * Since: 1.0
 */
typedef struct {
  char *runtime_discovery;
  char *executable_path;
  char **executable_search_paths;
  char **arguments;
  char **environment;
  char **read_only_paths;
} GloveLaunchTemplate;

GLOVE_AVAILABLE_IN_1_0 GloveLaunchTemplate *glove_launch_template_new (void);
GLOVE_AVAILABLE_IN_1_0 void glove_launch_template_free (GloveLaunchTemplate *self);
/* Every rule of contracts §6.4. */
GLOVE_AVAILABLE_IN_1_0 gboolean glove_launch_template_validate (const GloveLaunchTemplate *self, GError **error);
/* The adapter_command_digest. */
GLOVE_AVAILABLE_IN_1_0 char *glove_launch_template_dup_digest (const GloveLaunchTemplate *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveLaunchTemplate, glove_launch_template_free)

G_END_DECLS
