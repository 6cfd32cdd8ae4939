/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"
#include "glove-runtime-home.h"
#include "glove-runtime-request.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_RUNTIME_ADAPTER (glove_runtime_adapter_get_type ())
GLOVE_AVAILABLE_IN_1_0 G_DECLARE_INTERFACE (GloveRuntimeAdapter, glove_runtime_adapter, GLOVE, RUNTIME_ADAPTER, GObject)

/**
 * GloveRuntimeAdapterInterface:
 * @get_runtime_id: the id that the catalog entry provides, `[a-z][a-z0-9-]{0,63}`; borrowed, constant
 * @get_executable_name: file name to look for in a search path; borrowed, constant
 * @get_skills_root: (nullable): where native skills go, relative to the home; default: %NULL
 * @get_credential_target: (nullable): the file in the home that holds the agent's credential; default: %NULL
 * @list_provider_endpoints: (nullable): "host:port" of the provider's own end points, %NULL-terminated, borrowed; what an operator
 *   has to allow when no provider URL is given; default: empty
 * @accepts_provider_url: whether @build_home can point the agent at another provider; default: %FALSE
 * @build_home: the private home, environment and arguments for @request; transfer full
 *
 * What knows one agent program. An adapter answers from constants and its settings: it never opens a host file, spawns, or
 * reads the host's home. Every slot is called from one thread at a time.
 *
 * Since: 1.0
 */
struct _GloveRuntimeAdapterInterface {
  /*< private >*/
  GTypeInterface parent_iface;
  /*< public >*/
  const char *(*get_runtime_id) (GloveRuntimeAdapter *self);
  const char *(*get_executable_name) (GloveRuntimeAdapter *self);
  const char *(*get_skills_root) (GloveRuntimeAdapter *self);
  const char *(*get_credential_target) (GloveRuntimeAdapter *self);
  const char *const *(*list_provider_endpoints) (GloveRuntimeAdapter *self);
  gboolean (*accepts_provider_url) (GloveRuntimeAdapter *self);
  GloveRuntimeHome *(*build_home) (GloveRuntimeAdapter *self, const GloveRuntimeRequest *request, GError **error);
  /*< private >*/
  gpointer reserved[8];
};

/* The wrappers: they check the input, that the slot exists, call it, check the contract, and prefix the runtime's id. */
GLOVE_AVAILABLE_IN_1_0 const char *glove_runtime_adapter_get_runtime_id (GloveRuntimeAdapter *self);
GLOVE_AVAILABLE_IN_1_0 const char *glove_runtime_adapter_get_executable_name (GloveRuntimeAdapter *self);
GLOVE_AVAILABLE_IN_1_0 const char *glove_runtime_adapter_get_skills_root (GloveRuntimeAdapter *self);
GLOVE_AVAILABLE_IN_1_0 const char *glove_runtime_adapter_get_credential_target (GloveRuntimeAdapter *self);
GLOVE_AVAILABLE_IN_1_0 const char *const *glove_runtime_adapter_list_provider_endpoints (GloveRuntimeAdapter *self);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_runtime_adapter_accepts_provider_url (GloveRuntimeAdapter *self);
GLOVE_AVAILABLE_IN_1_0 GloveRuntimeHome *glove_runtime_adapter_build_home (GloveRuntimeAdapter *self,
                                                                           const GloveRuntimeRequest *request,
                                                                           GError **error);

G_END_DECLS
