/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-sage-schema.h"

struct _GloveSageSchema {
  GObject parent_instance;
};

static void glove_sage_schema_iface_init (GloveChannelSchemaInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveSageSchema, glove_sage_schema, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_CHANNEL_SCHEMA, glove_sage_schema_iface_init))

static const char *
glove_sage_schema_get_adapter_id (GloveChannelSchema *schema)
{
  return "sage-observation";
}

static const char *
glove_sage_schema_get_schema_id (GloveChannelSchema *schema)
{
  return "sage.glove-observation.v1";
}

static const char *const *
glove_sage_schema_list_runtime_ids (GloveChannelSchema *schema)
{
  static const char *const runtime_ids[] = { "pi", NULL };

  return runtime_ids;
}

/* contracts §2.2 */
static void
glove_sage_schema_get_bounds (GloveChannelSchema *schema, GloveChannelBounds *ret_bounds)
{
  ret_bounds->max_items = 4096;
  ret_bounds->max_body_bytes = 8192;
  ret_bounds->max_ttl_ms = 600000;
  ret_bounds->max_skew_ms = 30000;
}

/* The controller judges what a body says; here its envelope and its size are judged, by the core. */
static gboolean
glove_sage_schema_validate_body (GloveChannelSchema *schema, GBytes *body, GError **error)
{
  return TRUE;
}

static void
glove_sage_schema_class_init (GloveSageSchemaClass *class)
{
}

static void
glove_sage_schema_init (GloveSageSchema *self)
{
}

static void
glove_sage_schema_iface_init (GloveChannelSchemaInterface *iface)
{
  iface->get_adapter_id = glove_sage_schema_get_adapter_id;
  iface->get_schema_id = glove_sage_schema_get_schema_id;
  iface->list_runtime_ids = glove_sage_schema_list_runtime_ids;
  iface->get_bounds = glove_sage_schema_get_bounds;
  iface->validate_body = glove_sage_schema_validate_body;
}
