/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-opencode-adapter.h"

#include <json-glib/json-glib.h>
#include <string.h>

#define VARIABLE_BYTES_MAX 256
/* How the provider that the operator named is called in the configuration. */
#define PROVIDER_NAME "glove"
#define SETTING_API "ProviderApi"
#define SETTING_KEY_VARIABLE "ProviderKeyVariable"

typedef struct {
  const char *setting;
  const char *package; /* part of the agent: nothing is fetched */
} ProviderApi;

static const ProviderApi provider_apis[] = {
  { "openai-completions", "@ai-sdk/openai-compatible" }, /* when none is set */
  { "openai-responses", "@ai-sdk/openai" },
  { "anthropic-messages", "@ai-sdk/anthropic" },
};

typedef struct {
  const ProviderApi *api;
  const char *key_variable; /* nullable */
} ProviderSettings;

struct _GloveOpencodeAdapter {
  GObject parent_instance;

  GHashTable *settings; /* nullable; strings to strings */
};

enum { PROP_SETTINGS = 1 };

static void glove_opencode_adapter_iface_init (GloveRuntimeAdapterInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveOpencodeAdapter, glove_opencode_adapter, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_RUNTIME_ADAPTER, glove_opencode_adapter_iface_init))

static const char *
glove_opencode_adapter_get_runtime_id (GloveRuntimeAdapter *adapter)
{
  return "opencode";
}

static const char *
glove_opencode_adapter_get_executable_name (GloveRuntimeAdapter *adapter)
{
  return "opencode";
}

static const char *
glove_opencode_adapter_get_skills_root (GloveRuntimeAdapter *adapter)
{
  return ".config/opencode/skills";
}

static const char *
glove_opencode_adapter_get_credential_target (GloveRuntimeAdapter *adapter)
{
  return ".local/share/opencode/auth.json";
}

static const char *const *
glove_opencode_adapter_list_provider_endpoints (GloveRuntimeAdapter *adapter)
{
  static const char *const endpoints[] = { "opencode.ai:443", "api.anthropic.com:443", "api.openai.com:443", NULL };

  return endpoints;
}

static gboolean
glove_opencode_adapter_accepts_provider_url (GloveRuntimeAdapter *adapter)
{
  return TRUE;
}

static const ProviderApi *
find_api (const char *setting, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (provider_apis); i++)
    if (strcmp (provider_apis[i].setting, setting) == 0)
      return &provider_apis[i];
  glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "unknown value “%s” of the setting %s", setting, SETTING_API);
  glove_error_set_hint (error, "it is one of %s, %s and %s", provider_apis[0].setting, provider_apis[1].setting,
                        provider_apis[2].setting);
  return NULL;
}

static gboolean
is_variable_name (const char *name)
{
  if (!g_ascii_isalpha (name[0]) && name[0] != '_')
    return FALSE;
  return strlen (name) <= VARIABLE_BYTES_MAX
         && strspn (name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_") == strlen (name);
}

static gboolean
read_setting (ProviderSettings *settings, const char *key, const char *value, GError **error)
{
  if (strcmp (key, SETTING_API) == 0)
    {
      settings->api = find_api (value, error);
      return settings->api != NULL;
    }
  if (strcmp (key, SETTING_KEY_VARIABLE) != 0)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "unknown setting “%s”", key);
      glove_error_set_hint (error, "the settings are %s and %s", SETTING_API, SETTING_KEY_VARIABLE);
      return FALSE;
    }
  if (!is_variable_name (value))
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "%s is not a variable name", SETTING_KEY_VARIABLE);
      return FALSE;
    }
  settings->key_variable = value;
  return TRUE;
}

/* The settings are read here, not when they are set: only here can a fault be told. */
static gboolean
read_settings (GloveOpencodeAdapter *self, ProviderSettings *settings, GError **error)
{
  GHashTableIter iter;
  gpointer key, value;

  settings->api = &provider_apis[0];
  settings->key_variable = NULL;
  if (self->settings == NULL)
    return TRUE;
  g_hash_table_iter_init (&iter, self->settings);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (!read_setting (settings, key, value, error))
      return FALSE;
  return TRUE;
}

static void
add_string (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, value);
}

static char *
print_json (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);

  return json_to_string (root, FALSE);
}

static gboolean
check_expansion (const char *text, const char *what, GError **error)
{
  /* “{env:…}” and “{file:…}” are replaced in the whole file before it is read as JSON. */
  if (text == NULL || strchr (text, '{') == NULL)
    return TRUE;
  glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the %s holds “{”, which the agent would expand", what);
  return FALSE;
}

static gboolean
check_request (const GloveRuntimeRequest *request, GError **error)
{
  if (!check_expansion (request->model, "model name", error)
      || !check_expansion (request->provider_url, "provider URL", error))
    return FALSE;
  if (request->provider_url == NULL || request->model != NULL)
    return TRUE;
  glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "a provider of one's own needs a model name");
  glove_error_set_hint (error, "name it with --model");
  return FALSE;
}

static void
add_provider (JsonBuilder *builder, const GloveRuntimeRequest *request, const ProviderSettings *settings)
{
  g_autofree char *base_url = g_strconcat (request->provider_url, "/v1", NULL);
  g_autofree char *key = settings->key_variable != NULL ? g_strdup_printf ("{env:%s}", settings->key_variable)
                                                        : g_strdup ("glove");

  json_builder_begin_object (builder);
  add_string (builder, "npm", settings->api->package);
  add_string (builder, "name", PROVIDER_NAME);
  json_builder_set_member_name (builder, "options");
  json_builder_begin_object (builder);
  add_string (builder, "baseURL", base_url);
  add_string (builder, "apiKey", key);
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, "models");
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, request->model);
  json_builder_begin_object (builder);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
}

static void
add_model (JsonBuilder *builder, const GloveRuntimeRequest *request)
{
  g_autofree char *model = request->provider_url != NULL ? g_strconcat (PROVIDER_NAME "/", request->model, NULL)
                                                         : g_strdup (request->model);

  add_string (builder, "model", model);
  /* Titles are made by a small model; there is only this one. */
  if (request->provider_url != NULL)
    add_string (builder, "small_model", model);
}

static char *
format_config (const GloveRuntimeRequest *request, const ProviderSettings *settings)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  /* The agent writes this line into the file when it is missing. */
  add_string (builder, "$schema", "https://opencode.ai/config.json");
  json_builder_set_member_name (builder, "autoupdate");
  json_builder_add_boolean_value (builder, FALSE);
  add_string (builder, "share", "disabled");
  if (request->prompt != NULL)
    add_string (builder, "permission", "allow");
  if (request->model != NULL)
    add_model (builder, request);
  if (request->provider_url != NULL)
    {
      json_builder_set_member_name (builder, "provider");
      json_builder_begin_object (builder);
      json_builder_set_member_name (builder, PROVIDER_NAME);
      add_provider (builder, request, settings);
      json_builder_end_object (builder);
    }
  json_builder_end_object (builder);
  return print_json (builder);
}

static void
add_prompt (GloveRuntimeHome *home, const char *prompt)
{
  glove_runtime_home_add_argument (home, "run");
  glove_runtime_home_add_trailing_argument (home, "--");
  glove_runtime_home_add_trailing_argument (home, prompt);
}

static GloveRuntimeHome *
glove_opencode_adapter_build_home (GloveRuntimeAdapter *adapter, const GloveRuntimeRequest *request, GError **error)
{
  GloveOpencodeAdapter *self = GLOVE_OPENCODE_ADAPTER (adapter);
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  g_autofree char *config_home = g_strconcat (request->home, "/.config", NULL);
  g_autofree char *config = NULL;
  ProviderSettings settings;

  if (!read_settings (self, &settings, error) || !check_request (request, error))
    return NULL;
  config = format_config (request, &settings);
  if (!glove_runtime_home_add_file (home, ".config/opencode/opencode.json", config, -1, 0600, error)
      || !glove_runtime_home_set_environment (home, "XDG_CONFIG_HOME", config_home, error)
      || !glove_runtime_home_set_environment (home, "OPENCODE_DISABLE_AUTOUPDATE", "1", error)
      || !glove_runtime_home_set_environment (home, "OPENCODE_DISABLE_MODELS_FETCH", "1", error))
    return NULL;
  if (request->prompt != NULL)
    add_prompt (home, request->prompt);
  return g_steal_pointer (&home);
}

static void
glove_opencode_adapter_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GloveOpencodeAdapter *self = GLOVE_OPENCODE_ADAPTER (object);

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
glove_opencode_adapter_finalize (GObject *object)
{
  GloveOpencodeAdapter *self = GLOVE_OPENCODE_ADAPTER (object);

  g_clear_pointer (&self->settings, g_hash_table_unref);
  G_OBJECT_CLASS (glove_opencode_adapter_parent_class)->finalize (object);
}

static void
glove_opencode_adapter_class_init (GloveOpencodeAdapterClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->set_property = glove_opencode_adapter_set_property;
  object_class->finalize = glove_opencode_adapter_finalize;
  g_object_class_install_property (object_class, PROP_SETTINGS,
                                   g_param_spec_boxed ("settings", NULL, NULL, G_TYPE_HASH_TABLE,
                                                       G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY
                                                           | G_PARAM_STATIC_STRINGS));
}

static void
glove_opencode_adapter_init (GloveOpencodeAdapter *self)
{
}

static void
glove_opencode_adapter_iface_init (GloveRuntimeAdapterInterface *iface)
{
  iface->get_runtime_id = glove_opencode_adapter_get_runtime_id;
  iface->get_executable_name = glove_opencode_adapter_get_executable_name;
  iface->get_skills_root = glove_opencode_adapter_get_skills_root;
  iface->get_credential_target = glove_opencode_adapter_get_credential_target;
  iface->list_provider_endpoints = glove_opencode_adapter_list_provider_endpoints;
  iface->accepts_provider_url = glove_opencode_adapter_accepts_provider_url;
  iface->build_home = glove_opencode_adapter_build_home;
}
