/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-channel-schema.h"

#include "glove-contract-private.h"
#include "glove-error.h"

G_DEFINE_INTERFACE (GloveChannelSchema, glove_channel_schema, G_TYPE_OBJECT)

static const char *
real_get_transport_id (GloveChannelSchema *self)
{
  return NULL;
}

static void
glove_channel_schema_default_init (GloveChannelSchemaInterface *iface)
{
  iface->get_transport_id = real_get_transport_id;
}

/**
 * glove_channel_schema_get_adapter_id:
 * @self: a schema
 *
 * Returns: (transfer none) (nullable): the adapter's id; %NULL when the plugin gives none
 *
 * Since: 1.0
 */
const char *
glove_channel_schema_get_adapter_id (GloveChannelSchema *self)
{
  GloveChannelSchemaInterface *iface;

  g_return_val_if_fail (GLOVE_IS_CHANNEL_SCHEMA (self), NULL);

  iface = GLOVE_CHANNEL_SCHEMA_GET_IFACE (self);
  return iface->get_adapter_id != NULL ? iface->get_adapter_id (self) : NULL;
}

/**
 * glove_channel_schema_get_schema_id:
 * @self: a schema
 *
 * Returns: (transfer none): its id; the name of its type when it gives none
 *
 * Since: 1.0
 */
const char *
glove_channel_schema_get_schema_id (GloveChannelSchema *self)
{
  GloveChannelSchemaInterface *iface;
  const char *id;

  g_return_val_if_fail (GLOVE_IS_CHANNEL_SCHEMA (self), NULL);

  iface = GLOVE_CHANNEL_SCHEMA_GET_IFACE (self);
  id = iface->get_schema_id != NULL ? iface->get_schema_id (self) : NULL;
  return id != NULL ? id : G_OBJECT_TYPE_NAME (self);
}

/**
 * glove_channel_schema_list_runtime_ids:
 * @self: a schema
 *
 * Returns: (transfer none) (array zero-terminated=1): the runtimes it is for; empty when the plugin gives none
 *
 * Since: 1.0
 */
const char *const *
glove_channel_schema_list_runtime_ids (GloveChannelSchema *self)
{
  static const char *const none[] = { NULL };
  GloveChannelSchemaInterface *iface;
  const char *const *ids;

  g_return_val_if_fail (GLOVE_IS_CHANNEL_SCHEMA (self), none);

  iface = GLOVE_CHANNEL_SCHEMA_GET_IFACE (self);
  ids = iface->list_runtime_ids != NULL ? iface->list_runtime_ids (self) : NULL;
  return ids != NULL ? ids : none;
}

/**
 * glove_channel_schema_get_transport_id:
 * @self: a schema
 *
 * Returns: (transfer none) (nullable): the transport's id; %NULL for the pathname transport
 *
 * Since: 1.0
 */
const char *
glove_channel_schema_get_transport_id (GloveChannelSchema *self)
{
  const char *id;

  g_return_val_if_fail (GLOVE_IS_CHANNEL_SCHEMA (self), NULL);

  id = GLOVE_CHANNEL_SCHEMA_GET_IFACE (self)->get_transport_id (self);
  return id != NULL && id[0] != '\0' ? id : NULL;
}

/**
 * glove_channel_schema_get_bounds:
 * @self: a schema
 * @ret_bounds: (out caller-allocates): its bounds; untouched on failure
 * @error: return location
 *
 * Returns: %FALSE with %GLOVE_ERROR_NOT_SUPPORTED when the plugin gives none, %GLOVE_ERROR_CONTRACT when they are out of range
 *
 * Since: 1.0
 */
gboolean
glove_channel_schema_get_bounds (GloveChannelSchema *self, GloveChannelBounds *ret_bounds, GError **error)
{
  GloveChannelSchemaInterface *iface;
  GloveChannelBounds bounds = { 0 };
  g_autoptr (GError) fault = NULL;

  g_return_val_if_fail (GLOVE_IS_CHANNEL_SCHEMA (self), FALSE);
  g_return_val_if_fail (ret_bounds != NULL, FALSE);

  iface = GLOVE_CHANNEL_SCHEMA_GET_IFACE (self);
  if (iface->get_bounds == NULL)
    {
      glove_contract_set_missing (glove_channel_schema_get_schema_id (self), "get_bounds", error);
      return FALSE;
    }
  iface->get_bounds (self, &bounds);
  if (!glove_channel_bounds_validate (&bounds, &fault))
    {
      glove_error_set (error, GLOVE_ERROR_CONTRACT, "%s: %s", glove_channel_schema_get_schema_id (self), fault->message);
      return FALSE;
    }
  *ret_bounds = bounds;
  return TRUE;
}

/**
 * glove_channel_schema_validate_body:
 * @self: a schema
 * @body: one body, any bytes
 * @error: return location
 *
 * A body larger than the schema's own bound is %GLOVE_ERROR_LIMIT, and the plugin is not asked. Any thread.
 *
 * Returns: %FALSE with the reason why the body is not valid, the schema's id in front
 *
 * Since: 1.0
 */
gboolean
glove_channel_schema_validate_body (GloveChannelSchema *self, GBytes *body, GError **error)
{
  GloveChannelSchemaInterface *iface;
  GloveChannelBounds bounds;
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_CHANNEL_SCHEMA (self), FALSE);
  g_return_val_if_fail (body != NULL, FALSE);

  iface = GLOVE_CHANNEL_SCHEMA_GET_IFACE (self);
  if (iface->validate_body == NULL)
    {
      glove_contract_set_missing (glove_channel_schema_get_schema_id (self), "validate_body", error);
      return FALSE;
    }
  if (!glove_channel_schema_get_bounds (self, &bounds, error))
    return FALSE;
  if (g_bytes_get_size (body) > bounds.max_body_bytes)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "%s: body is larger than %u bytes",
                       glove_channel_schema_get_schema_id (self), bounds.max_body_bytes);
      return FALSE;
    }
  ok = iface->validate_body (self, body, &inner);
  return glove_contract_check (ok, glove_channel_schema_get_schema_id (self), "validate_body", inner, error);
}
