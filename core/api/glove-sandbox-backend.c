/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-sandbox-backend.h"

#include "glove-contract-private.h"
#include "glove-error.h"
#include "glove-identifier.h"
#include "glove-sandbox-private.h"

G_DEFINE_INTERFACE (GloveSandboxBackend, glove_sandbox_backend, G_TYPE_OBJECT)

static void
glove_sandbox_backend_default_init (GloveSandboxBackendInterface *iface)
{
}

/**
 * glove_sandbox_backend_get_backend_id:
 * @self: a backend
 *
 * Returns: (transfer none): its id; the name of its type when it gives none
 *
 * Since: 1.0
 */
const char *
glove_sandbox_backend_get_backend_id (GloveSandboxBackend *self)
{
  GloveSandboxBackendInterface *iface;
  const char *id;

  g_return_val_if_fail (GLOVE_IS_SANDBOX_BACKEND (self), NULL);

  iface = GLOVE_SANDBOX_BACKEND_GET_IFACE (self);
  id = iface->get_backend_id != NULL ? iface->get_backend_id (self) : NULL;
  return id != NULL ? id : G_OBJECT_TYPE_NAME (self);
}

/**
 * glove_sandbox_backend_probe:
 * @self: a backend
 * @cancellable: (nullable): to give up
 * @error: return location
 *
 * Returns: (transfer full) (element-type GloveProbeResult): what was found; %NULL with the backend's error, its id in front
 *
 * Since: 1.0
 */
GPtrArray *
glove_sandbox_backend_probe (GloveSandboxBackend *self, GCancellable *cancellable, GError **error)
{
  GloveSandboxBackendInterface *iface;
  g_autoptr (GPtrArray) results = NULL;
  GError *inner = NULL;
  const char *id;

  g_return_val_if_fail (GLOVE_IS_SANDBOX_BACKEND (self), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);

  id = glove_sandbox_backend_get_backend_id (self);
  iface = GLOVE_SANDBOX_BACKEND_GET_IFACE (self);
  if (iface->probe == NULL)
    {
      glove_contract_set_missing (id, "probe", error);
      return NULL;
    }
  results = iface->probe (self, cancellable, &inner);
  if (!glove_contract_check (results != NULL, id, "probe", inner, error))
    return NULL;
  return g_steal_pointer (&results);
}

/**
 * glove_sandbox_backend_query_mechanisms: (skip)
 * @self: a backend
 * @ret_mechanisms: (out caller-allocates): by #GloveLimit; what the backend does not answer, or answers with no mechanism's
 *   number, is %GLOVE_LIMIT_MECHANISM_UNAVAILABLE
 * @ret_repairs: (nullable): room for #GLOVE_N_LIMITS strings, which the caller frees
 *
 * Since: 1.0
 */
void
glove_sandbox_backend_query_mechanisms (GloveSandboxBackend *self, GloveLimitMechanism ret_mechanisms[GLOVE_N_LIMITS],
                                        char **ret_repairs)
{
  GloveSandboxBackendInterface *iface;

  g_return_if_fail (GLOVE_IS_SANDBOX_BACKEND (self));
  g_return_if_fail (ret_mechanisms != NULL);

  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    {
      ret_mechanisms[i] = GLOVE_LIMIT_MECHANISM_UNAVAILABLE;
      if (ret_repairs != NULL)
        ret_repairs[i] = NULL;
    }
  iface = GLOVE_SANDBOX_BACKEND_GET_IFACE (self);
  if (iface->query_mechanisms != NULL)
    iface->query_mechanisms (self, ret_mechanisms, ret_repairs);
  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    if (glove_limit_mechanism_get_name (ret_mechanisms[i]) == NULL)
      ret_mechanisms[i] = GLOVE_LIMIT_MECHANISM_UNAVAILABLE;
}

/* A sandbox that a slot returned, made ours. */
static GloveSandbox *
take_sandbox (GloveSandbox *returned, const char *id, const char *slot, GError *inner, GError **error)
{
  g_autoptr (GloveSandbox) sandbox = returned;

  if (!glove_contract_check (sandbox != NULL, id, slot, inner, error))
    return NULL;
  glove_sandbox_set_backend_id (sandbox, id);
  return g_steal_pointer (&sandbox);
}

/**
 * glove_sandbox_backend_prepare:
 * @self: a backend
 * @spec: what to make; validated first
 * @error: return location
 *
 * Returns: (transfer full): a sandbox whose agent has not been let go; %NULL with the error of glove_launch_spec_validate(), or
 *   with the backend's, its id in front
 *
 * Since: 1.0
 */
GloveSandbox *
glove_sandbox_backend_prepare (GloveSandboxBackend *self, GloveLaunchSpec *spec, GError **error)
{
  GloveSandboxBackendInterface *iface;
  GloveSandbox *sandbox;
  GError *inner = NULL;
  const char *id;

  g_return_val_if_fail (GLOVE_IS_SANDBOX_BACKEND (self), NULL);
  g_return_val_if_fail (spec != NULL, NULL);

  if (!glove_launch_spec_validate (spec, error))
    return NULL;
  id = glove_sandbox_backend_get_backend_id (self);
  iface = GLOVE_SANDBOX_BACKEND_GET_IFACE (self);
  if (iface->prepare == NULL)
    {
      glove_contract_set_missing (id, "prepare", error);
      return NULL;
    }
  sandbox = iface->prepare (self, spec, &inner);
  return take_sandbox (sandbox, id, "prepare", inner, error);
}

/**
 * glove_sandbox_backend_adopt:
 * @self: a backend
 * @session_id: the session whose sandbox still runs
 * @error: return location
 *
 * Returns: (transfer full): the sandbox; %NULL with %GLOVE_ERROR_INVALID_ARGUMENT for a malformed id,
 *   %GLOVE_ERROR_NOT_SUPPORTED, or the backend's error, its id in front
 *
 * Since: 1.0
 */
GloveSandbox *
glove_sandbox_backend_adopt (GloveSandboxBackend *self, const char *session_id, GError **error)
{
  GloveSandboxBackendInterface *iface;
  GloveSandbox *sandbox;
  GError *inner = NULL;
  const char *id;

  g_return_val_if_fail (GLOVE_IS_SANDBOX_BACKEND (self), NULL);
  g_return_val_if_fail (session_id != NULL, NULL);

  if (!glove_identifier_is_session (session_id))
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "malformed session id");
      return NULL;
    }
  id = glove_sandbox_backend_get_backend_id (self);
  iface = GLOVE_SANDBOX_BACKEND_GET_IFACE (self);
  if (iface->adopt == NULL)
    {
      glove_contract_set_missing (id, "adopt", error);
      return NULL;
    }
  sandbox = iface->adopt (self, session_id, &inner);
  return take_sandbox (sandbox, id, "adopt", inner, error);
}
