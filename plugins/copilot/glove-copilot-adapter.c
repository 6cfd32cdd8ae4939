/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-copilot-adapter.h"

#include <string.h>

#define SETTING_API "ProviderApi"

typedef struct {
  const char *setting;
  const char *type;
  const char *wire_api; /* NULL: the type has one only */
  const char *url_suffix;
} ProviderApi;

static const ProviderApi provider_apis[] = {
  { "openai-completions", "openai", "completions", "/v1" }, /* when none is set */
  { "openai-responses", "openai", "responses", "/v1" },
  { "anthropic-messages", "anthropic", NULL, "" },
};

struct _GloveCopilotAdapter {
  GObject parent_instance;

  GHashTable *settings; /* nullable; strings to strings */
};

enum { PROP_SETTINGS = 1 };

static void glove_copilot_adapter_iface_init (GloveRuntimeAdapterInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveCopilotAdapter, glove_copilot_adapter, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_RUNTIME_ADAPTER, glove_copilot_adapter_iface_init))

static const char *
glove_copilot_adapter_get_runtime_id (GloveRuntimeAdapter *adapter)
{
  return "copilot";
}

static const char *
glove_copilot_adapter_get_executable_name (GloveRuntimeAdapter *adapter)
{
  return "copilot";
}

static const char *
glove_copilot_adapter_get_skills_root (GloveRuntimeAdapter *adapter)
{
  return ".copilot/skills";
}

static const char *
glove_copilot_adapter_get_credential_target (GloveRuntimeAdapter *adapter)
{
  return ".copilot/config.json";
}

static const char *const *
glove_copilot_adapter_list_provider_endpoints (GloveRuntimeAdapter *adapter)
{
  static const char *const endpoints[] = { "api.github.com:443", ".githubcopilot.com:443", NULL };

  return endpoints;
}

static gboolean
glove_copilot_adapter_accepts_provider_url (GloveRuntimeAdapter *adapter)
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

/* The settings are read here, not when they are set: only here can a fault be told. */
static gboolean
read_settings (GloveCopilotAdapter *self, const ProviderApi **ret_api, GError **error)
{
  const ProviderApi *api = &provider_apis[0];
  GHashTableIter iter;
  gpointer key, value;

  if (self->settings != NULL)
    {
      g_hash_table_iter_init (&iter, self->settings);
      while (g_hash_table_iter_next (&iter, &key, &value))
        {
          if (strcmp (key, SETTING_API) != 0)
            {
              glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "unknown setting “%s”", (const char *) key);
              glove_error_set_hint (error, "the one setting is %s", SETTING_API);
              return FALSE;
            }
          api = find_api (value, error);
          if (api == NULL)
            return FALSE;
        }
    }
  *ret_api = api;
  return TRUE;
}

static gboolean
point_at_provider (GloveRuntimeHome *home, const GloveRuntimeRequest *request, const ProviderApi *api, GError **error)
{
  g_autofree char *base_url = g_strconcat (request->provider_url, api->url_suffix, NULL);

  if (request->model == NULL)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "a provider of one's own needs a model name");
      glove_error_set_hint (error, "name it with --model");
      return FALSE;
    }
  return glove_runtime_home_set_environment (home, "COPILOT_PROVIDER_BASE_URL", base_url, error)
         && glove_runtime_home_set_environment (home, "COPILOT_PROVIDER_TYPE", api->type, error)
         && (api->wire_api == NULL
             || glove_runtime_home_set_environment (home, "COPILOT_PROVIDER_WIRE_API", api->wire_api, error))
         /* No account, no telemetry, no web tools: nothing but the provider. */
         && glove_runtime_home_set_environment (home, "COPILOT_OFFLINE", "true", error);
}

/* One word with “=”, so that a prompt that begins with “-” stays a prompt. */
static void
add_prompt (GloveRuntimeHome *home, const char *prompt)
{
  g_autofree char *argument = g_strconcat ("--prompt=", prompt, NULL);

  glove_runtime_home_add_argument (home, "--allow-all-tools");
  glove_runtime_home_add_trailing_argument (home, argument);
}

static GloveRuntimeHome *
glove_copilot_adapter_build_home (GloveRuntimeAdapter *adapter, const GloveRuntimeRequest *request, GError **error)
{
  GloveCopilotAdapter *self = GLOVE_COPILOT_ADAPTER (adapter);
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  g_autofree char *copilot_home = g_strconcat (request->home, "/.copilot", NULL);
  const ProviderApi *api = NULL;

  if (!read_settings (self, &api, error))
    return NULL;
  if (!glove_runtime_home_add_directory (home, ".copilot", 0700, error)
      || !glove_runtime_home_set_environment (home, "COPILOT_HOME", copilot_home, error)
      || !glove_runtime_home_set_environment (home, "COPILOT_AUTO_UPDATE", "false", error))
    return NULL;
  if (request->model != NULL
      && !glove_runtime_home_set_environment (home, "COPILOT_MODEL", request->model, error))
    return NULL;
  if (request->provider_url != NULL && !point_at_provider (home, request, api, error))
    return NULL;
  if (request->prompt != NULL)
    add_prompt (home, request->prompt);
  return g_steal_pointer (&home);
}

static void
glove_copilot_adapter_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GloveCopilotAdapter *self = GLOVE_COPILOT_ADAPTER (object);

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
glove_copilot_adapter_finalize (GObject *object)
{
  GloveCopilotAdapter *self = GLOVE_COPILOT_ADAPTER (object);

  g_clear_pointer (&self->settings, g_hash_table_unref);
  G_OBJECT_CLASS (glove_copilot_adapter_parent_class)->finalize (object);
}

static void
glove_copilot_adapter_class_init (GloveCopilotAdapterClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->set_property = glove_copilot_adapter_set_property;
  object_class->finalize = glove_copilot_adapter_finalize;
  g_object_class_install_property (object_class, PROP_SETTINGS,
                                   g_param_spec_boxed ("settings", NULL, NULL, G_TYPE_HASH_TABLE,
                                                       G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY
                                                           | G_PARAM_STATIC_STRINGS));
}

static void
glove_copilot_adapter_init (GloveCopilotAdapter *self)
{
}

static void
glove_copilot_adapter_iface_init (GloveRuntimeAdapterInterface *iface)
{
  iface->get_runtime_id = glove_copilot_adapter_get_runtime_id;
  iface->get_executable_name = glove_copilot_adapter_get_executable_name;
  iface->get_skills_root = glove_copilot_adapter_get_skills_root;
  iface->get_credential_target = glove_copilot_adapter_get_credential_target;
  iface->list_provider_endpoints = glove_copilot_adapter_list_provider_endpoints;
  iface->accepts_provider_url = glove_copilot_adapter_accepts_provider_url;
  iface->build_home = glove_copilot_adapter_build_home;
}
