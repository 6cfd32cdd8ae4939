/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/**
 * GloveRuntimeRequest:
 * @home: the private home as the agent sees it, e.g. `/home/agent`
 * @workspace: the working directory as the agent sees it
 * @provider_url: (nullable): the base URL that the agent must use, as it must stand in the agent's configuration (a loopback
 *   URL inside the sandbox), without a trailing slash and without `/v1`; %NULL: the agent's own default
 * @model: (nullable): model name for it; %NULL: the agent's own default
 * @prompt: (nullable): the task, when the agent is to work without asking; %NULL: interactive
 *
 * What `glove run` asks of an adapter. Strings are borrowed for the call.
 *
 * Since: 1.0
 */
typedef struct {
  const char *home;
  const char *workspace;
  const char *provider_url;
  const char *model;
  const char *prompt;
  /*< private >*/
  gpointer reserved[8];
} GloveRuntimeRequest;

/* What every adapter may rely on. */
GLOVE_AVAILABLE_IN_1_0 gboolean glove_runtime_request_validate (const GloveRuntimeRequest *self, GError **error);

G_END_DECLS
