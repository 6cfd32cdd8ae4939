/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-contract-cases-private.h"

#define PROVIDER_URL "http://127.0.0.1:28080/some/prefix"
#define MODEL "contract-model-1"
#define PROMPT "do the contract's work: 'quoted' \"twice\" \\ $HOME `id`\nand a second line, \xc3\xa4"

static GloveRuntimeHome *
build (GloveRuntimeAdapter *adapter, const char *provider_url, const char *model, const char *prompt, GError **error)
{
  const GloveRuntimeRequest request = {
    .home = GLOVE_HOME_DIRECTORY,
    .workspace = "/srv/contract project",
    .provider_url = provider_url,
    .model = model,
    .prompt = prompt,
  };

  return glove_runtime_adapter_build_home (adapter, &request, error);
}

static GloveRuntimeHome *
build_or_fail (GloveRuntimeAdapter *adapter, const char *provider_url, const char *model, const char *prompt)
{
  g_autoptr (GError) error = NULL;
  GloveRuntimeHome *home = build (adapter, provider_url, model, prompt, &error);

  g_assert_no_error (error);
  g_assert_nonnull (home);
  return home;
}

static void
append_strings (GString *out, const char *what, const char *const *strings)
{
  for (guint i = 0; strings != NULL && strings[i] != NULL; i++)
    g_string_append_printf (out, "%s %" G_GSIZE_FORMAT " %s\n", what, strlen (strings[i]), strings[i]);
}

/* Everything an adapter said, as one text to compare. */
static char *
describe (const GloveRuntimeHome *home)
{
  const GPtrArray *entries = glove_runtime_home_get_entries (home);
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < entries->len; i++)
    {
      const GloveRuntimeHomeEntry *entry = g_ptr_array_index (entries, i);
      gsize length = 0;
      const char *bytes = entry->content != NULL ? g_bytes_get_data (entry->content, &length) : NULL;

      g_string_append_printf (out, "%s %04o %" G_GSIZE_FORMAT "\n", entry->path, entry->mode, length);
      if (bytes != NULL)
        g_string_append_len (out, bytes, (gssize) length);
    }
  append_strings (out, "environment", glove_runtime_home_get_environment (home));
  append_strings (out, "argument", glove_runtime_home_get_arguments (home));
  append_strings (out, "trailing", glove_runtime_home_get_trailing_arguments (home));

  return g_string_free (out, FALSE);
}

static gboolean
strings_contain (const char *const *strings, const char *part)
{
  for (guint i = 0; strings != NULL && strings[i] != NULL; i++)
    if (strstr (strings[i], part) != NULL)
      return TRUE;

  return FALSE;
}

static gboolean
file_contains (const GloveRuntimeHomeEntry *entry, const char *part)
{
  gsize length = 0;
  const char *bytes = entry->content != NULL ? g_bytes_get_data (entry->content, &length) : NULL;

  return bytes != NULL && memmem (bytes, length, part, strlen (part)) != NULL;
}

/* Whether @part stands in a file, a variable or an argument. */
static gboolean
home_contains (const GloveRuntimeHome *home, const char *part)
{
  const GPtrArray *entries = glove_runtime_home_get_entries (home);

  for (guint i = 0; i < entries->len; i++)
    if (file_contains (g_ptr_array_index (entries, i), part))
      return TRUE;

  return strings_contain (glove_runtime_home_get_environment (home), part)
         || strings_contain (glove_runtime_home_get_arguments (home), part)
         || strings_contain (glove_runtime_home_get_trailing_arguments (home), part);
}

static gboolean
is_runtime_id (const char *id)
{
  if (!g_ascii_islower (*id) || strlen (id) > 64)
    return FALSE;

  for (; *id != '\0'; id++)
    if (!g_ascii_islower (*id) && !g_ascii_isdigit (*id) && *id != '-')
      return FALSE;

  return TRUE;
}

/* Relative, without empty, "." or ".." components. */
static gboolean
is_home_path (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] == '\0' || strcmp (parts[i], ".") == 0 || strcmp (parts[i], "..") == 0)
      return FALSE;

  return *path != '\0';
}

static void
check_constants (gconstpointer object)
{
  GloveRuntimeAdapter *adapter = GLOVE_RUNTIME_ADAPTER ((gpointer) object);
  const char *executable = glove_runtime_adapter_get_executable_name (adapter);
  const char *paths[]
      = { glove_runtime_adapter_get_skills_root (adapter), glove_runtime_adapter_get_credential_target (adapter) };

  g_assert_true (is_runtime_id (glove_runtime_adapter_get_runtime_id (adapter)));
  g_assert_true (glove_runtime_adapter_get_runtime_id (adapter) == glove_runtime_adapter_get_runtime_id (adapter));

  g_assert_nonnull (executable);
  g_assert_cmpstr (executable, !=, "");
  g_assert_null (strchr (executable, '/'));
  g_assert_true (executable == glove_runtime_adapter_get_executable_name (adapter));

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    if (paths[i] != NULL)
      g_assert_true (is_home_path (paths[i]));
}

static void
check_endpoints (gconstpointer object)
{
  GloveRuntimeAdapter *adapter = GLOVE_RUNTIME_ADAPTER ((gpointer) object);
  const char *const *endpoints = glove_runtime_adapter_list_provider_endpoints (adapter);

  for (guint i = 0; endpoints != NULL && endpoints[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveEndpoint) endpoint = glove_endpoint_parse (endpoints[i], &error);
      g_autofree char *canonical = NULL;

      g_assert_no_error (error);
      canonical = glove_endpoint_to_string (endpoint);
      g_assert_cmpstr (canonical, ==, endpoints[i]);
    }
}

static void
check_home (gconstpointer object)
{
  GloveRuntimeAdapter *adapter = GLOVE_RUNTIME_ADAPTER ((gpointer) object);
  g_autoptr (GloveRuntimeHome) home = build_or_fail (adapter, NULL, NULL, NULL);
  g_autoptr (GHashTable) directories = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const GPtrArray *entries = glove_runtime_home_get_entries (home);
  const char *const *environment = glove_runtime_home_get_environment (home);

  g_hash_table_add (directories, g_strdup ("."));
  for (guint i = 0; i < entries->len; i++)
    {
      const GloveRuntimeHomeEntry *entry = g_ptr_array_index (entries, i);
      g_autofree char *parent = g_path_get_dirname (entry->path);

      g_assert_true (is_home_path (entry->path));
      g_assert_true (g_hash_table_contains (directories, parent));
      /* The agent's own and nobody else's: it may hold a credential. */
      g_assert_cmpuint (entry->mode & ~0700U, ==, 0);
      g_assert_cmpuint (entry->mode & 0400, ==, 0400);
      if (entry->content == NULL)
        {
          g_assert_cmpuint (entry->mode & 0100, ==, 0100);
          g_hash_table_add (directories, g_strdup (entry->path));
        }
    }

  for (guint i = 0; environment != NULL && environment[i] != NULL; i++)
    {
      const char *equals = strchr (environment[i], '=');

      g_assert_nonnull (equals);
      g_assert_true (equals != environment[i]);
      g_assert_true (g_hash_table_add (names, g_strndup (environment[i], (gsize) (equals - environment[i]))));
    }
}

static void
check_repeatable (gconstpointer object)
{
  GloveRuntimeAdapter *adapter = GLOVE_RUNTIME_ADAPTER ((gpointer) object);
  const gboolean accepts = glove_runtime_adapter_accepts_provider_url (adapter);
  const guint before = glove_contract_count_descriptors ();
  g_autofree char *first = NULL;

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GloveRuntimeHome) home
          = build_or_fail (adapter, accepts ? PROVIDER_URL : NULL, accepts ? MODEL : NULL, PROMPT);
      g_autofree char *text = describe (home);

      if (first == NULL)
        first = g_steal_pointer (&text);
      else
        g_assert_cmpstr (text, ==, first);
    }

  g_assert_cmpuint (glove_contract_count_descriptors (), ==, before);
}

/* In a child that can open nothing and whose home is elsewhere, the answer is the same. */
static void
check_isolated (gconstpointer object)
{
  GloveRuntimeAdapter *adapter = GLOVE_RUNTIME_ADAPTER ((gpointer) object);
  g_autoptr (GloveRuntimeHome) here = build_or_fail (adapter, NULL, NULL, PROMPT);
  g_autofree char *expected = describe (here);
  pid_t child;
  int status = 0;

  child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      const struct rlimit none = { 0, 0 };
      g_autoptr (GloveRuntimeHome) home = NULL;
      g_autofree char *text = NULL;

      /* Not just /nonexistent: that is the home of whoever builds packages. */
      if (setrlimit (RLIMIT_NOFILE, &none) != 0 || !g_setenv ("HOME", "/nonexistent/another", TRUE)
          || !g_setenv ("XDG_CONFIG_HOME", "/nonexistent/another", TRUE) || chdir ("/") != 0)
        _exit (77);
      home = build (adapter, NULL, NULL, PROMPT, NULL);
      text = home != NULL ? describe (home) : NULL;
      _exit (g_strcmp0 (text, expected) == 0 ? 0 : 1);
    }

  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}

static void
check_provider (gconstpointer object)
{
  GloveRuntimeAdapter *adapter = GLOVE_RUNTIME_ADAPTER ((gpointer) object);
  g_autoptr (GloveRuntimeHome) home = NULL;
  g_autoptr (GError) error = NULL;

  home = build (adapter, PROVIDER_URL, MODEL, NULL, &error);
  if (!glove_runtime_adapter_accepts_provider_url (adapter))
    {
      g_assert_null (home);
      glove_contract_assert_error (error);
      return;
    }

  g_assert_no_error (error);
  g_assert_true (home_contains (home, PROVIDER_URL));
  g_assert_true (home_contains (home, MODEL));
}

static void
check_prompt (gconstpointer object)
{
  static const char *const prompts[] = { PROMPT, "a", "--help", "-", "@/etc/passwd" };
  GloveRuntimeAdapter *adapter = GLOVE_RUNTIME_ADAPTER ((gpointer) object);

  for (guint i = 0; i < G_N_ELEMENTS (prompts); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveRuntimeHome) home = build (adapter, NULL, NULL, prompts[i], &error);

      /* It gets there as it is, or is refused; the first one has to get there. */
      if (home != NULL)
        g_assert_true (home_contains (home, prompts[i]));
      else
        glove_contract_assert_error (error);
      g_assert_true (home != NULL || i > 0);
    }
}

/* A file of the agent's may hold a value, but no value starts a line of its own. */
static void
assert_no_line (const GloveRuntimeHome *home, const char *line)
{
  const GPtrArray *entries = glove_runtime_home_get_entries (home);
  g_autofree char *after_newline = g_strconcat ("\n", line, NULL);
  g_autofree char *after_return = g_strconcat ("\r", line, NULL);

  for (guint i = 0; i < entries->len; i++)
    {
      g_assert_false (file_contains (g_ptr_array_index (entries, i), after_newline));
      g_assert_false (file_contains (g_ptr_array_index (entries, i), after_return));
    }
}

static void
check_hostile_values (gconstpointer object)
{
  static const char *const hostile[] = {
    "m\"\nevil = \"1", "m'\nevil: 1", "m\revil=1", "m\",\"evil\":\"1", "m\"]\n[evil]\n", "m\\", "m\xff", "m\nevil",
  };
  GloveRuntimeAdapter *adapter = GLOVE_RUNTIME_ADAPTER ((gpointer) object);

  if (!glove_runtime_adapter_accepts_provider_url (adapter))
    return;

  for (guint i = 0; i < G_N_ELEMENTS (hostile); i++)
    {
      g_autofree char *url = g_strconcat ("http://127.0.0.1:1/", hostile[i], NULL);
      g_autoptr (GError) url_error = NULL;
      g_autoptr (GError) model_error = NULL;
      g_autoptr (GloveRuntimeHome) with_model = build (adapter, PROVIDER_URL, hostile[i], NULL, &model_error);
      g_autoptr (GloveRuntimeHome) with_url = build (adapter, url, MODEL, NULL, &url_error);

      if (with_model == NULL)
        glove_contract_assert_error (model_error);
      if (with_url == NULL)
        glove_contract_assert_error (url_error);
      for (const GloveRuntimeHome *home = with_model; home != NULL; home = home == with_model ? with_url : NULL)
        {
          assert_no_line (home, "evil");
          assert_no_line (home, "[evil]");
          /* Where it stands in a file between quotes, a quote inside is escaped. */
          g_assert_false (home_contains (home, "\"m\",\"evil\":\"1\""));
        }
    }
}

const GloveContractCase glove_contract_runtime_cases[] = {
  { "constants", check_constants },   { "endpoints", check_endpoints }, { "home", check_home },
  { "repeatable", check_repeatable }, { "isolated", check_isolated },   { "provider", check_provider },
  { "prompt", check_prompt },         { "hostile-values", check_hostile_values },
  { NULL, NULL },
};
