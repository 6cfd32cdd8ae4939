/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-launch-spec.h"
#include "glove-limits.h"
#include "glove-macros.h"
#include "glove-probe-result.h"
#include "glove-sandbox.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_SANDBOX_BACKEND (glove_sandbox_backend_get_type ())
GLOVE_AVAILABLE_IN_1_0 G_DECLARE_INTERFACE (GloveSandboxBackend, glove_sandbox_backend, GLOVE, SANDBOX_BACKEND, GObject)

/**
 * GloveSandboxBackendInterface:
 * @get_backend_id: the id that the catalog entry provides; borrowed, constant
 * @probe: prerequisite by prerequisite, what this host lacks and how to get it, by a real launch; element type
 *   #GloveProbeResult, transfer full. An error only when the probe itself can't be made
 * @query_mechanisms: what would enforce each limit on this host, by #GloveLimit; cheap: no launch. @ret_repairs: (nullable): an
 *   array of #GLOVE_N_LIMITS strings (owned by the caller, elements may be %NULL) that say, for a limit that nothing would
 *   enforce, the reason and the repair
 * @prepare: begins to make the sandbox of @spec, in which the agent waits. It may return while that goes on: what fails from then on
 *   is the error of the start. A limit that was asked for and can't be enforced is %GLOVE_ERROR_UNAVAILABLE here, with reason
 *   and repair. A listener whose port is 0 makes it wait: chosen ports are written back to the spec before it returns.
 * @adopt: takes over a sandbox that outlived its supervisor; default: not supported
 *
 * What makes sandboxes. It enforces and reports; it never decides policy.
 *
 * Since: 1.0
 */
struct _GloveSandboxBackendInterface {
  /*< private >*/
  GTypeInterface parent_iface;
  /*< public >*/
  const char *(*get_backend_id) (GloveSandboxBackend *self);
  GPtrArray *(*probe) (GloveSandboxBackend *self, GCancellable *cancellable, GError **error);
  void (*query_mechanisms) (GloveSandboxBackend *self, GloveLimitMechanism ret_mechanisms[GLOVE_N_LIMITS],
                            char **ret_repairs);
  GloveSandbox *(*prepare) (GloveSandboxBackend *self, GloveLaunchSpec *spec, GError **error);
  GloveSandbox *(*adopt) (GloveSandboxBackend *self, const char *session_id, GError **error);
  /*< private >*/
  gpointer reserved[16];
};

GLOVE_AVAILABLE_IN_1_0 const char *glove_sandbox_backend_get_backend_id (GloveSandboxBackend *self);
GLOVE_AVAILABLE_IN_1_0 GPtrArray *glove_sandbox_backend_probe (GloveSandboxBackend *self, GCancellable *cancellable,
                                                               GError **error);
GLOVE_AVAILABLE_IN_1_0 void glove_sandbox_backend_query_mechanisms (
    GloveSandboxBackend *self, GloveLimitMechanism ret_mechanisms[GLOVE_N_LIMITS], char **ret_repairs);
GLOVE_AVAILABLE_IN_1_0 GloveSandbox *glove_sandbox_backend_prepare (GloveSandboxBackend *self, GloveLaunchSpec *spec,
                                                                    GError **error);
GLOVE_AVAILABLE_IN_1_0 GloveSandbox *glove_sandbox_backend_adopt (GloveSandboxBackend *self, const char *session_id,
                                                                  GError **error);

G_END_DECLS
