/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-runtime-home.h"

G_BEGIN_DECLS

/**
 * GloveSessionEnvironment:
 * @names: (nullable): the host's variables that the operator passes on, by name
 * @host_environment: (nullable): "NAME=VALUE" list to take them from
 * @home: (nullable): an adapter's managed variables come from here
 * @work_dir: becomes PWD
 * @proxy_url: (nullable): set when something is allowed through the proxy
 *
 * What the agent's environment is made of. Everything else of the host's is left behind.
 */
typedef struct {
  const char *const *names;
  const char *const *host_environment;
  const GloveRuntimeHome *home;
  const char *work_dir;
  const char *proxy_url;
} GloveSessionEnvironment;

/* "NAME=VALUE" list, in a fixed order: base, the operator's, the adapter's. Refuses a malformed or managed name, one that is not set, and
 * one that is given twice. */
char **glove_session_environment_build (const GloveSessionEnvironment *self, GError **error);
/* Whether Glove itself decides the value of @name. */
gboolean glove_session_environment_is_managed (const char *name);

G_END_DECLS
