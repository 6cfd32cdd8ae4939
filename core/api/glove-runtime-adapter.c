/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-runtime-adapter.h"

#include "glove-contract-private.h"
#include "glove-path.h"

G_DEFINE_INTERFACE (GloveRuntimeAdapter, glove_runtime_adapter, G_TYPE_OBJECT)

static const char *const no_strings[] = { NULL };

static const char *
real_get_nothing (GloveRuntimeAdapter *self)
{
  return NULL;
}

static const char *const *
real_list_provider_endpoints (GloveRuntimeAdapter *self)
{
  return no_strings;
}

static gboolean
real_accepts_provider_url (GloveRuntimeAdapter *self)
{
  return FALSE;
}

static void
glove_runtime_adapter_default_init (GloveRuntimeAdapterInterface *iface)
{
  iface->get_skills_root = real_get_nothing;
  iface->get_credential_target = real_get_nothing;
  iface->list_provider_endpoints = real_list_provider_endpoints;
  iface->accepts_provider_url = real_accepts_provider_url;
}

/**
 * glove_runtime_adapter_get_runtime_id:
 * @self: an adapter
 *
 * Returns: (transfer none): its id; the name of its type when it gives none
 *
 * Since: 1.0
 */
const char *
glove_runtime_adapter_get_runtime_id (GloveRuntimeAdapter *self)
{
  GloveRuntimeAdapterInterface *iface;
  const char *id;

  g_return_val_if_fail (GLOVE_IS_RUNTIME_ADAPTER (self), NULL);

  iface = GLOVE_RUNTIME_ADAPTER_GET_IFACE (self);
  id = iface->get_runtime_id != NULL ? iface->get_runtime_id (self) : NULL;
  return id != NULL ? id : G_OBJECT_TYPE_NAME (self);
}

/**
 * glove_runtime_adapter_get_executable_name:
 * @self: an adapter
 *
 * Returns: (transfer none) (nullable): a file name without a slash; %NULL when the plugin gives none
 *
 * Since: 1.0
 */
const char *
glove_runtime_adapter_get_executable_name (GloveRuntimeAdapter *self)
{
  GloveRuntimeAdapterInterface *iface;
  const char *name;

  g_return_val_if_fail (GLOVE_IS_RUNTIME_ADAPTER (self), NULL);

  iface = GLOVE_RUNTIME_ADAPTER_GET_IFACE (self);
  name = iface->get_executable_name != NULL ? iface->get_executable_name (self) : NULL;
  if (name == NULL || !glove_path_is_relative_normal (name) || glove_path_get_depth (name) != 1)
    return NULL;
  return name;
}

/* A path in the home, or nothing. */
static const char *
checked_home_path (const char *path)
{
  return path != NULL && glove_path_is_relative_normal (path) ? path : NULL;
}

/**
 * glove_runtime_adapter_get_skills_root:
 * @self: an adapter
 *
 * Returns: (transfer none) (nullable): a path relative to the home; %NULL when there is none, or it would lead out of it
 *
 * Since: 1.0
 */
const char *
glove_runtime_adapter_get_skills_root (GloveRuntimeAdapter *self)
{
  g_return_val_if_fail (GLOVE_IS_RUNTIME_ADAPTER (self), NULL);

  return checked_home_path (GLOVE_RUNTIME_ADAPTER_GET_IFACE (self)->get_skills_root (self));
}

/**
 * glove_runtime_adapter_get_credential_target:
 * @self: an adapter
 *
 * Returns: (transfer none) (nullable): a path relative to the home; %NULL when there is none, or it would lead out of it
 *
 * Since: 1.0
 */
const char *
glove_runtime_adapter_get_credential_target (GloveRuntimeAdapter *self)
{
  g_return_val_if_fail (GLOVE_IS_RUNTIME_ADAPTER (self), NULL);

  return checked_home_path (GLOVE_RUNTIME_ADAPTER_GET_IFACE (self)->get_credential_target (self));
}

/**
 * glove_runtime_adapter_list_provider_endpoints:
 * @self: an adapter
 *
 * Returns: (transfer none) (array zero-terminated=1): `host:port`; empty when there is none
 *
 * Since: 1.0
 */
const char *const *
glove_runtime_adapter_list_provider_endpoints (GloveRuntimeAdapter *self)
{
  const char *const *endpoints;

  g_return_val_if_fail (GLOVE_IS_RUNTIME_ADAPTER (self), no_strings);

  endpoints = GLOVE_RUNTIME_ADAPTER_GET_IFACE (self)->list_provider_endpoints (self);
  return endpoints != NULL ? endpoints : no_strings;
}

/**
 * glove_runtime_adapter_accepts_provider_url:
 * @self: an adapter
 *
 * Returns: whether the agent can be pointed at another provider
 *
 * Since: 1.0
 */
gboolean
glove_runtime_adapter_accepts_provider_url (GloveRuntimeAdapter *self)
{
  g_return_val_if_fail (GLOVE_IS_RUNTIME_ADAPTER (self), FALSE);

  return GLOVE_RUNTIME_ADAPTER_GET_IFACE (self)->accepts_provider_url (self);
}

/**
 * glove_runtime_adapter_build_home: (skip)
 * @self: an adapter
 * @request: what is asked for; home and workspace absolute and normal
 * @error: return location
 *
 * The request is judged first (glove_runtime_request_validate()), for all adapters alike.
 *
 * Returns: (transfer full): the home; %NULL with %GLOVE_ERROR_NOT_SUPPORTED when a provider URL is given and the adapter accepts
 *   none, or with the adapter's error, its id in front
 *
 * Since: 1.0
 */
GloveRuntimeHome *
glove_runtime_adapter_build_home (GloveRuntimeAdapter *self, const GloveRuntimeRequest *request, GError **error)
{
  GloveRuntimeAdapterInterface *iface;
  g_autoptr (GloveRuntimeHome) home = NULL;
  GError *inner = NULL;
  const char *id;

  g_return_val_if_fail (GLOVE_IS_RUNTIME_ADAPTER (self), NULL);
  g_return_val_if_fail (request != NULL, NULL);
  g_return_val_if_fail (request->home != NULL && glove_path_is_absolute_normal (request->home), NULL);
  g_return_val_if_fail (request->workspace != NULL && glove_path_is_absolute_normal (request->workspace), NULL);

  id = glove_runtime_adapter_get_runtime_id (self);
  iface = GLOVE_RUNTIME_ADAPTER_GET_IFACE (self);
  if (iface->build_home == NULL)
    {
      glove_contract_set_missing (id, "build_home", error);
      return NULL;
    }
  if (request->provider_url != NULL && !glove_runtime_adapter_accepts_provider_url (self))
    {
      glove_contract_set_missing (id, "another provider", error);
      return NULL;
    }
  if (!glove_runtime_request_validate (request, error))
    return NULL;
  home = iface->build_home (self, request, &inner);
  if (!glove_contract_check (home != NULL, id, "build_home", inner, error))
    return NULL;
  return g_steal_pointer (&home);
}
