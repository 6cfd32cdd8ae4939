/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-codex-adapter.h"

#include <string.h>

#define VARIABLE_BYTES_MAX 256
/* How the provider that the operator named is called in the configuration. */
#define PROVIDER_NAME "glove"
#define SETTING_KEY_VARIABLE "ProviderKeyVariable"

struct _GloveCodexAdapter {
  GObject parent_instance;

  GHashTable *settings; /* nullable; strings to strings */
};

enum { PROP_SETTINGS = 1 };

static void glove_codex_adapter_iface_init (GloveRuntimeAdapterInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveCodexAdapter, glove_codex_adapter, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_RUNTIME_ADAPTER, glove_codex_adapter_iface_init))

static const char *
glove_codex_adapter_get_runtime_id (GloveRuntimeAdapter *adapter)
{
  return "codex";
}

static const char *
glove_codex_adapter_get_executable_name (GloveRuntimeAdapter *adapter)
{
  return "codex";
}

static const char *
glove_codex_adapter_get_skills_root (GloveRuntimeAdapter *adapter)
{
  return ".codex/skills";
}

static const char *
glove_codex_adapter_get_credential_target (GloveRuntimeAdapter *adapter)
{
  return ".codex/auth.json";
}

static const char *const *
glove_codex_adapter_list_provider_endpoints (GloveRuntimeAdapter *adapter)
{
  static const char *const endpoints[] = { "api.openai.com:443", "auth.openai.com:443", "chatgpt.com:443", NULL };

  return endpoints;
}

static gboolean
glove_codex_adapter_accepts_provider_url (GloveRuntimeAdapter *adapter)
{
  return TRUE;
}

/* A TOML basic string, quotes included. TOML 1.0 "String". */
static void
append_toml_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++)
    {
      guchar byte = (guchar) *p;

      if (byte == '"' || byte == '\\')
        g_string_append_c (g_string_append_c (out, '\\'), *p);
      else if (byte < 0x20 || byte == 0x7f)
        g_string_append_printf (out, "\\u%04X", byte);
      else
        g_string_append_c (out, *p);
    }
  g_string_append_c (out, '"');
}

static void
append_toml_pair (GString *out, const char *key, const char *value)
{
  g_string_append_printf (out, "%s = ", key);
  append_toml_string (out, value);
  g_string_append_c (out, '\n');
}

static gboolean
is_variable_name (const char *name)
{
  if (!g_ascii_isalpha (name[0]) && name[0] != '_')
    return FALSE;
  return strlen (name) <= VARIABLE_BYTES_MAX
         && strspn (name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_") == strlen (name);
}

/* The settings are read here, not when they are set: only here can a fault be told. */
static gboolean
read_settings (GloveCodexAdapter *self, const char **ret_key_variable, GError **error)
{
  const char *key_variable = NULL;
  GHashTableIter iter;
  gpointer key, value;

  if (self->settings != NULL)
    {
      g_hash_table_iter_init (&iter, self->settings);
      while (g_hash_table_iter_next (&iter, &key, &value))
        {
          if (strcmp (key, SETTING_KEY_VARIABLE) != 0)
            {
              glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "unknown setting “%s”", (const char *) key);
              glove_error_set_hint (error, "the one setting is %s", SETTING_KEY_VARIABLE);
              return FALSE;
            }
          if (!is_variable_name (value))
            {
              glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "%s is not a variable name", SETTING_KEY_VARIABLE);
              return FALSE;
            }
          key_variable = value;
        }
    }
  *ret_key_variable = key_variable;
  return TRUE;
}

/* Nothing that only works with hosts of its maker's: each attempt would be one denied connection and a pause. No waiting for ever for a
 * network that the policy refuses. */
static const char quiet_tables[] = "\n[analytics]\nenabled = false\n"
                                   "\n[feedback]\nenabled = false\n"
                                   "\n[features]\napps = false\ndaemon_auto_start = false\nplugins = false\n"
                                   "unbounded_connection_retries = false\n";

static char *
format_config (const GloveRuntimeRequest *request, const char *key_variable)
{
  GString *out = g_string_new ("check_for_update_on_startup = false\n");

  if (request->model != NULL)
    append_toml_pair (out, "model", request->model);
  if (request->provider_url != NULL)
    append_toml_pair (out, "model_provider", PROVIDER_NAME);
  g_string_append (out, quiet_tables);
  g_string_append (out, "\n[projects.");
  append_toml_string (out, request->home);
  g_string_append (out, "]\ntrust_level = \"trusted\"\n");
  if (request->provider_url != NULL)
    {
      g_autofree char *base_url = g_strconcat (request->provider_url, "/v1", NULL);

      g_string_append (out, "\n[model_providers." PROVIDER_NAME "]\nname = \"" PROVIDER_NAME "\"\n");
      append_toml_pair (out, "base_url", base_url);
      append_toml_pair (out, "wire_api", "responses");
      if (key_variable != NULL)
        append_toml_pair (out, "env_key", key_variable);
    }
  return g_string_free (out, FALSE);
}

static void
add_arguments (GloveRuntimeHome *home, const char *prompt)
{
  /* Its own sandbox needs namespaces, which an agent can't make in this one. */
  glove_runtime_home_add_argument (home, "--dangerously-bypass-approvals-and-sandbox");
  if (prompt == NULL)
    return;
  glove_runtime_home_add_argument (home, "exec");
  glove_runtime_home_add_argument (home, "--skip-git-repo-check");
  glove_runtime_home_add_trailing_argument (home, "--");
  glove_runtime_home_add_trailing_argument (home, prompt);
}

static GloveRuntimeHome *
glove_codex_adapter_build_home (GloveRuntimeAdapter *adapter, const GloveRuntimeRequest *request, GError **error)
{
  GloveCodexAdapter *self = GLOVE_CODEX_ADAPTER (adapter);
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  g_autofree char *codex_home = g_strconcat (request->home, "/.codex", NULL);
  g_autofree char *config = NULL;
  const char *key_variable = NULL;

  if (!read_settings (self, &key_variable, error))
    return NULL;
  config = format_config (request, key_variable);
  if (!glove_runtime_home_add_directory (home, ".codex", 0700, error)
      || !glove_runtime_home_add_file (home, ".codex/config.toml", config, -1, 0600, error)
      || !glove_runtime_home_set_environment (home, "CODEX_HOME", codex_home, error))
    return NULL;
  add_arguments (home, request->prompt);
  return g_steal_pointer (&home);
}

static void
glove_codex_adapter_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GloveCodexAdapter *self = GLOVE_CODEX_ADAPTER (object);

  switch (id)
    {
    case PROP_SETTINGS:
      self->settings = g_value_dup_boxed (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
    }
}

static void
glove_codex_adapter_finalize (GObject *object)
{
  GloveCodexAdapter *self = GLOVE_CODEX_ADAPTER (object);

  g_clear_pointer (&self->settings, g_hash_table_unref);
  G_OBJECT_CLASS (glove_codex_adapter_parent_class)->finalize (object);
}

static void
glove_codex_adapter_class_init (GloveCodexAdapterClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->set_property = glove_codex_adapter_set_property;
  object_class->finalize = glove_codex_adapter_finalize;
  g_object_class_install_property (object_class, PROP_SETTINGS,
                                   g_param_spec_boxed ("settings", NULL, NULL, G_TYPE_HASH_TABLE,
                                                       G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY
                                                           | G_PARAM_STATIC_STRINGS));
}

static void
glove_codex_adapter_init (GloveCodexAdapter *self)
{
}

static void
glove_codex_adapter_iface_init (GloveRuntimeAdapterInterface *iface)
{
  iface->get_runtime_id = glove_codex_adapter_get_runtime_id;
  iface->get_executable_name = glove_codex_adapter_get_executable_name;
  iface->get_skills_root = glove_codex_adapter_get_skills_root;
  iface->get_credential_target = glove_codex_adapter_get_credential_target;
  iface->list_provider_endpoints = glove_codex_adapter_list_provider_endpoints;
  iface->accepts_provider_url = glove_codex_adapter_accepts_provider_url;
  iface->build_home = glove_codex_adapter_build_home;
}
