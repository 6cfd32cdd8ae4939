/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "glove-contract-cases-private.h"

static void
check_constants (gconstpointer object)
{
  GloveChannelSchema *schema = GLOVE_CHANNEL_SCHEMA ((gpointer) object);
  const char *const *runtimes = glove_channel_schema_list_runtime_ids (schema);
  const char *transport = glove_channel_schema_get_transport_id (schema);

  g_assert_true (glove_contract_is_id (glove_channel_schema_get_adapter_id (schema)));
  g_assert_true (glove_contract_is_id (glove_channel_schema_get_schema_id (schema)));
  g_assert_true (glove_channel_schema_get_schema_id (schema) == glove_channel_schema_get_schema_id (schema));
  g_assert_true (glove_channel_schema_get_adapter_id (schema) == glove_channel_schema_get_adapter_id (schema));

  g_assert_nonnull (runtimes);
  g_assert_nonnull (runtimes[0]);
  for (guint i = 0; runtimes[i] != NULL; i++)
    {
      g_assert_true (glove_contract_is_id (runtimes[i]));
      if (i > 0)
        g_assert_cmpstr (runtimes[i - 1], <, runtimes[i]); /* sorted and unique */
    }

  g_assert_true (transport == NULL || *transport == '\0' || glove_contract_is_id (transport));
}

static void
check_bounds (gconstpointer object)
{
  GloveChannelSchema *schema = GLOVE_CHANNEL_SCHEMA ((gpointer) object);
  GloveChannelBounds first, second;
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_channel_schema_get_bounds (schema, &first, &error));
  g_assert_no_error (error);
  g_assert_true (glove_channel_bounds_validate (&first, &error));
  g_assert_no_error (error);
  g_assert_true (glove_channel_schema_get_bounds (schema, &second, &error));
  g_assert_cmpmem (&first, sizeof first, &second, sizeof second);
}

/* Bodies of every kind; which of them are valid is the schema's affair. */
static GPtrArray *
make_bodies (GloveChannelSchema *schema)
{
  static const char *const texts[] = {
    "", " ", "{}", "[]", "null", "text", "{\"a\":1}", "{\"a\":1,\"a\":2}", "\xff\xfe", "{", "\"\\ud800\"", "\n\r\t",
  };
  GPtrArray *bodies = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (GRand) dice = g_rand_new_with_seed (20260101);
  GloveChannelBounds bounds;

  g_assert_true (glove_channel_schema_get_bounds (schema, &bounds, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_ptr_array_add (bodies, g_bytes_new (texts[i], strlen (texts[i])));

  for (guint i = 0; i < 4; i++)
    {
      const gsize lengths[] = { 1, 63, bounds.max_body_bytes - 1, bounds.max_body_bytes };
      guint8 *random = g_malloc (MAX (lengths[i], 1));
      char *nested = g_malloc (MAX (lengths[i], 1));

      for (gsize j = 0; j < lengths[i]; j++)
        random[j] = (guint8) g_rand_int_range (dice, 0, 256);
      memset (nested, '[', lengths[i]);
      g_ptr_array_add (bodies, g_bytes_new_take (random, lengths[i]));
      g_ptr_array_add (bodies, g_bytes_new_take (nested, lengths[i]));
    }

  return bodies;
}

static gboolean
judge (GloveChannelSchema *schema, GBytes *body)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *digest = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, body);
  gboolean valid = glove_channel_schema_validate_body (schema, body, &error);
  g_autofree char *after = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, body);

  if (valid)
    g_assert_no_error (error);
  else
    glove_contract_assert_error (error);
  g_assert_cmpstr (after, ==, digest); /* a body is only read */
  return valid;
}

typedef struct {
  GloveChannelSchema *schema;
  GPtrArray *bodies;
  const gboolean *verdicts;
} Judges;

static gpointer
judge_all (gpointer data)
{
  const Judges *judges = data;

  for (guint i = 0; i < judges->bodies->len; i++)
    g_assert_cmpint (judge (judges->schema, g_ptr_array_index (judges->bodies, i)), ==, judges->verdicts[i]);

  return NULL;
}

static void
check_verdicts (gconstpointer object)
{
  GloveChannelSchema *schema = GLOVE_CHANNEL_SCHEMA ((gpointer) object);
  g_autoptr (GPtrArray) bodies = make_bodies (schema);
  g_autofree gboolean *verdicts = g_new0 (gboolean, bodies->len);
  Judges judges = { schema, bodies, verdicts };
  GThread *threads[4];

  for (guint i = 0; i < bodies->len; i++)
    verdicts[i] = judge (schema, g_ptr_array_index (bodies, i));

  /* No state: the other way round and over again the answers are the same, */
  for (guint i = bodies->len; i-- > 0;)
    g_assert_cmpint (judge (schema, g_ptr_array_index (bodies, i)), ==, verdicts[i]);

  /* and on other threads at the same time. */
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("contract", judge_all, &judges);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    (void) g_thread_join (threads[i]);
}

static void
check_size (gconstpointer object)
{
  GloveChannelSchema *schema = GLOVE_CHANNEL_SCHEMA ((gpointer) object);
  g_autoptr (GBytes) body = NULL;
  GloveChannelBounds bounds;
  char *data;

  g_assert_true (glove_channel_schema_get_bounds (schema, &bounds, NULL));
  data = g_malloc (bounds.max_body_bytes + 1);
  memset (data, ' ', bounds.max_body_bytes + 1);
  body = g_bytes_new_take (data, bounds.max_body_bytes + 1);
  g_assert_false (judge (schema, body));
}

const GloveContractCase glove_contract_schema_cases[] = {
  { "constants", check_constants },
  { "bounds", check_bounds },
  { "verdicts", check_verdicts },
  { "size", check_size },
  { NULL, NULL },
};
