/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-channel-bounds.h"

#include "glove-error.h"

static gboolean
check (const char *name, guint32 value, guint32 min, guint32 max, GError **error)
{
  if (value >= min && value <= max)
    return TRUE;
  glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "channel bound %s is %u, not %u..%u", name, value, min, max);
  return FALSE;
}

/**
 * glove_channel_bounds_validate:
 * @self: bounds
 * @error: return location
 *
 * Source: contracts §2.1.
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT that names the bound
 *
 * Since: 1.0
 */
gboolean
glove_channel_bounds_validate (const GloveChannelBounds *self, GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return check ("max_items", self->max_items, 1, 4096, error)
         && check ("max_body_bytes", self->max_body_bytes, 1, 65536, error)
         && check ("max_ttl_ms", self->max_ttl_ms, 1, 600000, error)
         && check ("max_skew_ms", self->max_skew_ms, 0, 30000, error);
}
