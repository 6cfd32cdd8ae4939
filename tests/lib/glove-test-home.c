/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-test-home.h"

#include <string.h>

typedef struct {
  GType type;
  const GloveTestHomeCase *row;
} Bound;

static void
append_entry (GString *out, const GloveRuntimeHomeEntry *entry)
{
  if (entry->content == NULL)
    {
      g_string_append_printf (out, "dir %04o %s\n", entry->mode, entry->path);
      return;
    }
  g_string_append_printf (out, "file %04o %s <<<", entry->mode, entry->path);
  g_string_append_len (out, g_bytes_get_data (entry->content, NULL), g_bytes_get_size (entry->content));
  g_string_append (out, ">>>\n");
}

static void
append_words (GString *out, const char *kind, const char *const *words)
{
  for (gsize i = 0; words[i] != NULL; i++)
    g_string_append_printf (out, "%s %s\n", kind, words[i]);
}

char *
glove_test_home_to_text (const GloveRuntimeHome *home)
{
  const GPtrArray *entries = glove_runtime_home_get_entries (home);
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < entries->len; i++)
    append_entry (out, g_ptr_array_index (entries, i));
  append_words (out, "env", glove_runtime_home_get_environment (home));
  append_words (out, "arg", glove_runtime_home_get_arguments (home));
  append_words (out, "trailing", glove_runtime_home_get_trailing_arguments (home));
  return g_string_free (out, FALSE);
}

static GloveRuntimeAdapter *
create_adapter (GType type, const char *const *names_and_values)
{
  g_autoptr (GHashTable) settings = NULL;

  if (names_and_values == NULL)
    return GLOVE_RUNTIME_ADAPTER (g_object_new (type, NULL));
  settings = g_hash_table_new (g_str_hash, g_str_equal);
  for (gsize i = 0; names_and_values[i] != NULL; i += 2)
    g_hash_table_insert (settings, (char *) names_and_values[i], (char *) names_and_values[i + 1]);
  return GLOVE_RUNTIME_ADAPTER (g_object_new (type, "settings", settings, NULL));
}

static GloveRuntimeHome *
build_home (GType type, const GloveTestHomeCase *row, GError **error)
{
  g_autoptr (GloveRuntimeAdapter) adapter = create_adapter (type, row->settings);
  GloveRuntimeRequest request = { .home = "/home/agent", .workspace = "/work/project" };

  request.provider_url = row->provider_url;
  request.model = row->model;
  request.prompt = row->prompt;
  return glove_runtime_adapter_build_home (adapter, &request, error);
}

static void
test_case (gconstpointer data)
{
  const Bound *bound = data;
  const GloveTestHomeCase *row = bound->row;
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveRuntimeHome) home = build_home (bound->type, row, &error);
  g_autofree char *text = NULL;

  if (row->expected == NULL)
    {
      g_assert_error (error, GLOVE_ERROR, (int) row->code);
      g_assert_null (home);
      g_assert_nonnull (strstr (error->message, row->telling));
      return;
    }
  g_assert_no_error (error);
  text = glove_test_home_to_text (home);
  g_assert_cmpstr (text, ==, row->expected);
}

void
glove_test_home_add_cases (const char *prefix, GType type, const GloveTestHomeCase *cases, gsize n_cases)
{
  for (gsize i = 0; i < n_cases; i++)
    {
      g_autofree char *path = g_strconcat (prefix, "/", cases[i].name, NULL);
      Bound *bound = g_new (Bound, 1);

      bound->type = type;
      bound->row = &cases[i];
      g_test_add_data_func_full (path, bound, test_case, g_free);
    }
}

#define URL "http://127.0.0.1:4000"
#define REFUSED(NAME, PROVIDER, MODEL, TELLING)                                                                          \
  { .name = "refused/" NAME, .provider_url = PROVIDER, .model = MODEL, .code = GLOVE_ERROR_INVALID_ARGUMENT,             \
    .telling = TELLING }
#define X16 "xxxxxxxxxxxxxxxx"
#define X256 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16 X16

static const GloveTestHomeCase hostile_cases[] = {
  REFUSED ("model-empty", URL, "", "model"),
  REFUSED ("model-too-long", URL, X256 "x", "model"),
  REFUSED ("model-option", URL, "--help", "model"),
  REFUSED ("model-newline", URL, "m\"\nmodel_provider = \"evil", "model"),
  REFUSED ("model-carriage-return", URL, "m\r", "model"),
  REFUSED ("model-escape", URL, "m\033[2J", "model"),
  REFUSED ("model-delete", URL, "m\177", "model"),
  REFUSED ("model-c1-control", URL, "m\302\233", "model"),
  REFUSED ("model-not-utf8", URL, "m\377", "model"),
  REFUSED ("model-newline-alone", NULL, "m\nx", "model"),
  REFUSED ("url-empty", "", "stub", "URL"),
  REFUSED ("url-newline", URL "/a\nb", "stub", "URL"),
  REFUSED ("url-control", URL "/a\001b", "stub", "URL"),
  REFUSED ("url-not-utf8", URL "/\377", "stub", "URL"),
  REFUSED ("url-scheme", "file:///etc/passwd", "stub", "URL"),
  REFUSED ("url-user", "http://user:secret@127.0.0.1:4000", "stub", "URL"),
  REFUSED ("url-query", URL "/?a=b", "stub", "URL"),
  REFUSED ("url-fragment", URL "/#a", "stub", "URL"),
  REFUSED ("url-relative", "127.0.0.1:4000", "stub", "URL"),
};

/* The prompt that would leave the agent waiting for one. */
static void
test_empty_prompt (gconstpointer data)
{
  static const GloveTestHomeCase row = { .provider_url = URL, .model = "stub", .prompt = "" };
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveRuntimeHome) home = build_home (((const Bound *) data)->type, &row, &error);

  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_INVALID_ARGUMENT);
  g_assert_null (home);
}

static const char *const hostile_prompts[] = {
  "write", "-x", "--version", "@/etc/passwd", "a \"quoted\" 'prompt' with \\ and $HOME and `id`", "two\nlines\r\n\ttab",
  "{env:HOME}{file:/etc/passwd}", "\033[2J", "not UTF-8: \377",
};

static void
test_long_model (gconstpointer data)
{
  static const GloveTestHomeCase row = { .provider_url = URL, .model = X256 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveRuntimeHome) home = build_home (((const Bound *) data)->type, &row, &error);

  g_assert_no_error (error);
  g_assert_nonnull (home);
}

/* The prompt is in the last word, whole; no file and no variable holds any of it. */
static void
test_prompts (gconstpointer data)
{
  const Bound *bound = data;

  for (gsize i = 0; i < G_N_ELEMENTS (hostile_prompts); i++)
    {
      GloveTestHomeCase row = { .provider_url = URL, .model = "stub", .prompt = hostile_prompts[i] };
      GloveTestHomeCase plain = { .provider_url = URL, .model = "stub", .prompt = "plain" };
      g_autoptr (GloveRuntimeHome) home = build_home (bound->type, &row, NULL);
      g_autoptr (GloveRuntimeHome) plain_home = build_home (bound->type, &plain, NULL);
      const char *const *words;
      const char *last;
      g_autofree char *text = NULL;
      g_autofree char *plain_text = NULL;

      g_assert_nonnull (home);
      words = glove_runtime_home_get_trailing_arguments (home);
      last = words[g_strv_length ((char **) words) - 1];
      g_assert_true (g_str_has_suffix (last, hostile_prompts[i]));
      text = glove_test_home_to_text (home);
      plain_text = glove_test_home_to_text (plain_home);
      text[strlen (text) - strlen (last) - 1] = '\0';
      words = glove_runtime_home_get_trailing_arguments (plain_home);
      last = words[g_strv_length ((char **) words) - 1];
      plain_text[strlen (plain_text) - strlen (last) - 1] = '\0';
      g_assert_cmpstr (text, ==, plain_text);
    }
}

static void
test_constants (gconstpointer data)
{
  g_autoptr (GloveRuntimeAdapter) adapter = create_adapter (((const Bound *) data)->type, NULL);
  const char *const *endpoints = glove_runtime_adapter_list_provider_endpoints (adapter);

  g_assert_true (glove_runtime_adapter_accepts_provider_url (adapter));
  g_assert_nonnull (endpoints[0]);
  for (gsize i = 0; endpoints[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveEndpoint) endpoint = glove_endpoint_parse (endpoints[i], &error);
      g_autofree char *text = NULL;

      g_assert_no_error (error);
      text = glove_endpoint_to_string (endpoint);
      g_assert_cmpstr (text, ==, endpoints[i]);
    }
}

static void
add_bound (const char *prefix, const char *name, GType type, GTestDataFunc function)
{
  g_autofree char *path = g_strconcat (prefix, "/", name, NULL);
  Bound *bound = g_new0 (Bound, 1);

  bound->type = type;
  g_test_add_data_func_full (path, bound, function, g_free);
}

void
glove_test_home_add_hostile_cases (const char *prefix, GType type)
{
  glove_test_home_add_cases (prefix, type, hostile_cases, G_N_ELEMENTS (hostile_cases));
  add_bound (prefix, "long-model", type, test_long_model);
  add_bound (prefix, "empty-prompt", type, test_empty_prompt);
  add_bound (prefix, "prompts", type, test_prompts);
  add_bound (prefix, "endpoints", type, test_constants);
}
