/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-example-schema.h"

struct _GloveExampleSchema {
  GObject parent_instance;
};

static void glove_example_schema_channel_init (GloveChannelSchemaInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveExampleSchema, glove_example_schema, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_CHANNEL_SCHEMA, glove_example_schema_channel_init))

/* doc: schema-constants */
static const char *
get_adapter_id (GloveChannelSchema *schema)
{
  return "example-note";
}

static const char *
get_schema_id (GloveChannelSchema *schema)
{
  return "example.note.v1";
}

static const char *const *
list_runtime_ids (GloveChannelSchema *schema)
{
  static const char *const runtimes[] = { "example", NULL };

  return runtimes;
}

static void
get_bounds (GloveChannelSchema *schema, GloveChannelBounds *ret_bounds)
{
  *ret_bounds = (GloveChannelBounds){
    .max_items = 64, .max_body_bytes = 1024, .max_ttl_ms = 60000, .max_skew_ms = 1000,
  };
}
/* doc: end */

/* doc: schema-body */
static gboolean
validate_body (GloveChannelSchema *schema, GBytes *body, GError **error)
{
  gsize length;
  const char *text = g_bytes_get_data (body, &length);

  if (length == 0 || !g_utf8_validate (text, (gssize) length, NULL))
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, "a note is UTF-8 text that is not empty");
      return FALSE;
    }

  return TRUE;
}
/* doc: end */

static void
glove_example_schema_channel_init (GloveChannelSchemaInterface *iface)
{
  iface->get_adapter_id = get_adapter_id;
  iface->get_schema_id = get_schema_id;
  iface->list_runtime_ids = list_runtime_ids;
  iface->get_bounds = get_bounds;
  iface->validate_body = validate_body;
}

static void
glove_example_schema_class_init (GloveExampleSchemaClass *klass)
{
}

static void
glove_example_schema_init (GloveExampleSchema *self)
{
}
