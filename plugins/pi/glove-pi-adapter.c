/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-pi-adapter.h"

#include <json-glib/json-glib.h>
#include <string.h>

#define VARIABLE_BYTES_MAX 256
/* How the provider that the operator named is called in the configuration. */
#define PROVIDER_NAME "glove"
#define SETTING_API "ProviderApi"
#define SETTING_KEY_VARIABLE "ProviderKeyVariable"

typedef struct {
  const char *setting; /* the agent's own name for it, too */
  const char *url_suffix;
} ProviderApi;

static const ProviderApi provider_apis[] = {
  { "openai-completions", "/v1" }, /* when none is set */
  { "openai-responses", "/v1" },
  { "anthropic-messages", "" },
};

typedef struct {
  const ProviderApi *api;
  const char *key_variable; /* nullable */
} ProviderSettings;

/* No packages: they would be fetched and run. */
static const char settings_file[] = "{\"packages\":[],\"enableSkillCommands\":true}";

struct _GlovePiAdapter {
  GObject parent_instance;

  GHashTable *settings; /* nullable; strings to strings */
};

enum { PROP_SETTINGS = 1 };

static void glove_pi_adapter_iface_init (GloveRuntimeAdapterInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GlovePiAdapter, glove_pi_adapter, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_RUNTIME_ADAPTER, glove_pi_adapter_iface_init))

static const char *
glove_pi_adapter_get_runtime_id (GloveRuntimeAdapter *adapter)
{
  return "pi";
}

static const char *
glove_pi_adapter_get_executable_name (GloveRuntimeAdapter *adapter)
{
  return "pi";
}

static const char *
glove_pi_adapter_get_skills_root (GloveRuntimeAdapter *adapter)
{
  return ".pi/agent/skills";
}

static const char *
glove_pi_adapter_get_credential_target (GloveRuntimeAdapter *adapter)
{
  return ".pi/agent/auth.json";
}

static const char *const *
glove_pi_adapter_list_provider_endpoints (GloveRuntimeAdapter *adapter)
{
  static const char *const endpoints[] = { "api.anthropic.com:443", "api.openai.com:443", "generativelanguage.googleapis.com:443", NULL };

  return endpoints;
}

static gboolean
glove_pi_adapter_accepts_provider_url (GloveRuntimeAdapter *adapter)
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
read_settings (GlovePiAdapter *self, ProviderSettings *settings, GError **error)
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

static void
add_provider (JsonBuilder *builder, const GloveRuntimeRequest *request, const ProviderSettings *settings)
{
  g_autofree char *base_url = g_strconcat (request->provider_url, settings->api->url_suffix, NULL);

  json_builder_begin_object (builder);
  add_string (builder, "baseUrl", base_url);
  add_string (builder, "api", settings->api->setting);
  /* The name of a variable, else the key itself; it must not be missing. */
  add_string (builder, "apiKey", settings->key_variable != NULL ? settings->key_variable : "glove");
  json_builder_set_member_name (builder, "models");
  json_builder_begin_array (builder);
  json_builder_begin_object (builder);
  add_string (builder, "id", request->model);
  json_builder_end_object (builder);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static gboolean
point_at_provider (GloveRuntimeHome *home, const GloveRuntimeRequest *request, const ProviderSettings *settings,
                   GError **error)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *models = NULL;

  if (request->model == NULL)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "a provider of one's own needs a model name");
      glove_error_set_hint (error, "name it with --model");
      return FALSE;
    }
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "providers");
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, PROVIDER_NAME);
  add_provider (builder, request, settings);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  models = print_json (builder);
  glove_runtime_home_add_argument (home, "--provider");
  glove_runtime_home_add_argument (home, PROVIDER_NAME);
  return glove_runtime_home_add_file (home, ".pi/agent/models.json", models, -1, 0600, error);
}

/* What begins with “-” or “@” would be an option or a file to read: a space in front makes it text. */
static void
add_prompt (GloveRuntimeHome *home, const char *prompt)
{
  g_autofree char *text = g_strconcat (prompt[0] == '-' || prompt[0] == '@' ? " " : "", prompt, NULL);

  glove_runtime_home_add_trailing_argument (home, "-p");
  glove_runtime_home_add_trailing_argument (home, text);
}

static GloveRuntimeHome *
glove_pi_adapter_build_home (GloveRuntimeAdapter *adapter, const GloveRuntimeRequest *request, GError **error)
{
  GlovePiAdapter *self = GLOVE_PI_ADAPTER (adapter);
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  ProviderSettings settings;

  if (!read_settings (self, &settings, error))
    return NULL;
  /* Offline: no look for a newer version, no download of search tools at the start; the provider is asked all the same. */
  if (!glove_runtime_home_add_file (home, ".pi/agent/settings.json", settings_file, -1, 0600, error)
      || !glove_runtime_home_set_environment (home, "PI_OFFLINE", "1", error)
      || !glove_runtime_home_set_environment (home, "PI_TELEMETRY", "0", error))
    return NULL;
  if (request->provider_url != NULL && !point_at_provider (home, request, &settings, error))
    return NULL;
  if (request->model != NULL)
    {
      glove_runtime_home_add_argument (home, "--model");
      glove_runtime_home_add_argument (home, request->model);
    }
  if (request->prompt != NULL)
    add_prompt (home, request->prompt);
  return g_steal_pointer (&home);
}

static void
glove_pi_adapter_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GlovePiAdapter *self = GLOVE_PI_ADAPTER (object);

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
glove_pi_adapter_finalize (GObject *object)
{
  GlovePiAdapter *self = GLOVE_PI_ADAPTER (object);

  g_clear_pointer (&self->settings, g_hash_table_unref);
  G_OBJECT_CLASS (glove_pi_adapter_parent_class)->finalize (object);
}

static void
glove_pi_adapter_class_init (GlovePiAdapterClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->set_property = glove_pi_adapter_set_property;
  object_class->finalize = glove_pi_adapter_finalize;
  g_object_class_install_property (object_class, PROP_SETTINGS,
                                   g_param_spec_boxed ("settings", NULL, NULL, G_TYPE_HASH_TABLE,
                                                       G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY
                                                           | G_PARAM_STATIC_STRINGS));
}

static void
glove_pi_adapter_init (GlovePiAdapter *self)
{
}

static void
glove_pi_adapter_iface_init (GloveRuntimeAdapterInterface *iface)
{
  iface->get_runtime_id = glove_pi_adapter_get_runtime_id;
  iface->get_executable_name = glove_pi_adapter_get_executable_name;
  iface->get_skills_root = glove_pi_adapter_get_skills_root;
  iface->get_credential_target = glove_pi_adapter_get_credential_target;
  iface->list_provider_endpoints = glove_pi_adapter_list_provider_endpoints;
  iface->accepts_provider_url = glove_pi_adapter_accepts_provider_url;
  iface->build_home = glove_pi_adapter_build_home;
}
