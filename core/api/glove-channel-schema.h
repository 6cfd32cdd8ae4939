/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-channel-bounds.h"
#include "glove-macros.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_CHANNEL_SCHEMA (glove_channel_schema_get_type ())
GLOVE_AVAILABLE_IN_1_0 G_DECLARE_INTERFACE (GloveChannelSchema, glove_channel_schema, GLOVE, CHANNEL_SCHEMA, GObject)

/**
 * GloveChannelSchemaInterface:
 * @get_adapter_id: borrowed, constant
 * @get_schema_id: borrowed, constant
 * @list_runtime_ids: sorted, unique, non-empty, %NULL-terminated; borrowed, constant
 * @get_transport_id: (nullable): %NULL or "" for the pathname transport; default: %NULL
 * @get_bounds: writes the schema's bounds
 * @validate_body: whether one body is valid; keeps no state between bodies; any thread
 *
 * One kind of message that a guest may send (contracts §2).
 *
 * Since: 1.0
 */
struct _GloveChannelSchemaInterface {
  /*< private >*/
  GTypeInterface parent_iface;
  /*< public >*/
  const char *(*get_adapter_id) (GloveChannelSchema *self);
  const char *(*get_schema_id) (GloveChannelSchema *self);
  const char *const *(*list_runtime_ids) (GloveChannelSchema *self);
  const char *(*get_transport_id) (GloveChannelSchema *self);
  void (*get_bounds) (GloveChannelSchema *self, GloveChannelBounds *ret_bounds);
  gboolean (*validate_body) (GloveChannelSchema *self, GBytes *body, GError **error);
  /*< private >*/
  gpointer reserved[8];
};

GLOVE_AVAILABLE_IN_1_0 const char *glove_channel_schema_get_adapter_id (GloveChannelSchema *self);
GLOVE_AVAILABLE_IN_1_0 const char *glove_channel_schema_get_schema_id (GloveChannelSchema *self);
GLOVE_AVAILABLE_IN_1_0 const char *const *glove_channel_schema_list_runtime_ids (GloveChannelSchema *self);
GLOVE_AVAILABLE_IN_1_0 const char *glove_channel_schema_get_transport_id (GloveChannelSchema *self);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_channel_schema_get_bounds (GloveChannelSchema *self,
                                                                 GloveChannelBounds *ret_bounds, GError **error);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_channel_schema_validate_body (GloveChannelSchema *self, GBytes *body,
                                                                    GError **error);

G_END_DECLS
