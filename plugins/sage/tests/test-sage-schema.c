/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-sage-schema.h"

static void
test_identity (void)
{
  static const char *const runtime_ids[] = { "pi", NULL };
  g_autoptr (GloveChannelSchema) schema = g_object_new (GLOVE_TYPE_SAGE_SCHEMA, NULL);

  g_assert_cmpstr (glove_channel_schema_get_adapter_id (schema), ==, "sage-observation");
  g_assert_cmpstr (glove_channel_schema_get_schema_id (schema), ==, "sage.glove-observation.v1");
  g_assert_cmpstrv ((char **) glove_channel_schema_list_runtime_ids (schema), (char **) runtime_ids);
  g_assert_cmpstr (glove_channel_schema_get_transport_id (schema), ==, NULL);
}

static void
test_bounds (void)
{
  g_autoptr (GloveChannelSchema) schema = g_object_new (GLOVE_TYPE_SAGE_SCHEMA, NULL);
  g_autoptr (GError) error = NULL;
  GloveChannelBounds bounds = { 0 };

  g_assert_true (glove_channel_schema_get_bounds (schema, &bounds, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (bounds.max_items, ==, 4096);
  g_assert_cmpuint (bounds.max_body_bytes, ==, 8192);
  g_assert_cmpuint (bounds.max_ttl_ms, ==, 600000);
  g_assert_cmpuint (bounds.max_skew_ms, ==, 30000);
}

/* Whatever the bytes, up to the schema's own bound; what is past it is the wrapper's to refuse. */
static void
test_bodies (void)
{
  g_autoptr (GloveChannelSchema) schema = g_object_new (GLOVE_TYPE_SAGE_SCHEMA, NULL);
  static const gsize sizes[] = { 1, 8191, 8192 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) body = g_bytes_new_take (g_malloc0 (sizes[i]), sizes[i]);

      g_assert_true (glove_channel_schema_validate_body (schema, body, &error));
      g_assert_no_error (error);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sage/identity", test_identity);
  g_test_add_func ("/sage/bounds", test_bounds);
  g_test_add_func ("/sage/bodies", test_bodies);
  return g_test_run ();
}
