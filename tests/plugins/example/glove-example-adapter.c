/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-example-adapter.h"

#include <libintl.h>
#include <string.h>

#define _(text) dgettext ("glove-example", text)

/* doc: adapter-type */
struct _GloveExampleAdapter {
  GObject parent_instance;
  GHashTable *settings; /* of the catalog entry's [Settings], or NULL */
};

static void glove_example_adapter_runtime_init (GloveRuntimeAdapterInterface *iface);
static void glove_example_adapter_initable_init (GInitableIface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveExampleAdapter, glove_example_adapter, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_RUNTIME_ADAPTER, glove_example_adapter_runtime_init)
                               G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE, glove_example_adapter_initable_init))
/* doc: end */

enum {
  PROP_0,
  PROP_SETTINGS,
};

static const char *
get_setting (GloveExampleAdapter *self, const char *name, const char *fallback)
{
  const char *value = self->settings != NULL ? g_hash_table_lookup (self->settings, name) : NULL;

  return value != NULL ? value : fallback;
}

/* doc: adapter-constants */
static const char *
get_runtime_id (GloveRuntimeAdapter *adapter)
{
  return "example";
}

static const char *
get_executable_name (GloveRuntimeAdapter *adapter)
{
  return "example-agent";
}

static const char *const *
list_provider_endpoints (GloveRuntimeAdapter *adapter)
{
  static const char *const endpoints[] = { "api.example.com:443", NULL };

  return endpoints;
}

static gboolean
accepts_provider_url (GloveRuntimeAdapter *adapter)
{
  return TRUE;
}
/* doc: end */

/* doc: adapter-home */
static gboolean
is_one_line (const char *text)
{
  return g_utf8_validate (text, -1, NULL) && strpbrk (text, "\r\n") == NULL;
}

static GloveRuntimeHome *
build_home (GloveRuntimeAdapter *adapter, const GloveRuntimeRequest *request, GError **error)
{
  GloveExampleAdapter *self = GLOVE_EXAMPLE_ADAPTER (adapter);
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  g_autoptr (GString) config = g_string_new (NULL);

  /* What goes into a file of the agent's is checked against that file's grammar: this one is a line for each key. */
  if (request->model != NULL && !is_one_line (request->model))
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the model's name is not one line of text");
      glove_error_set_hint (error, "%s", _ ("give the name as the provider spells it"));
      return NULL;
    }

  g_string_append_printf (config, "greeting %s\n", get_setting (self, "Greeting", "hello"));
  if (request->provider_url != NULL)
    g_string_append_printf (config, "provider %s\n", request->provider_url);
  if (request->model != NULL)
    g_string_append_printf (config, "model %s\n", request->model);

  if (!glove_runtime_home_add_file (home, ".config/example/agent.conf", config->str, (gssize) config->len, 0600, error)
      || !glove_runtime_home_set_environment (home, "EXAMPLE_TELEMETRY", "off", error))
    return NULL;

  /* The prompt is an argument of its own, behind `--`, whatever stands in it. */
  if (request->prompt != NULL)
    {
      glove_runtime_home_add_trailing_argument (home, "--");
      glove_runtime_home_add_trailing_argument (home, request->prompt);
    }

  return g_steal_pointer (&home);
}
/* doc: end */

/* doc: adapter-interface */
static void
glove_example_adapter_runtime_init (GloveRuntimeAdapterInterface *iface)
{
  iface->get_runtime_id = get_runtime_id;
  iface->get_executable_name = get_executable_name;
  iface->list_provider_endpoints = list_provider_endpoints;
  iface->accepts_provider_url = accepts_provider_url;
  iface->build_home = build_home;
}
/* doc: end */

/* doc: adapter-settings */
static gboolean
check_settings (GInitable *initable, GCancellable *cancellable, GError **error)
{
  GloveExampleAdapter *self = GLOVE_EXAMPLE_ADAPTER (initable);
  GHashTableIter iter;
  gpointer name, value;

  if (self->settings == NULL)
    return TRUE;

  g_hash_table_iter_init (&iter, self->settings);
  while (g_hash_table_iter_next (&iter, &name, &value))
    if (strcmp (name, "Greeting") != 0)
      {
        glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "unknown setting '%s'", (const char *) name);
        glove_error_set_hint (error, "%s", _ ("there is one setting: Greeting"));
        return FALSE;
      }

  return TRUE;
}

static void
glove_example_adapter_initable_init (GInitableIface *iface)
{
  iface->init = check_settings;
}

static void
glove_example_adapter_set_property (GObject *object, guint property, const GValue *value, GParamSpec *pspec)
{
  GloveExampleAdapter *self = GLOVE_EXAMPLE_ADAPTER (object);

  if (property == PROP_SETTINGS)
    self->settings = g_value_dup_boxed (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property, pspec);
}
/* doc: end */

static void
glove_example_adapter_finalize (GObject *object)
{
  g_clear_pointer (&GLOVE_EXAMPLE_ADAPTER (object)->settings, g_hash_table_unref);

  G_OBJECT_CLASS (glove_example_adapter_parent_class)->finalize (object);
}

static void
glove_example_adapter_class_init (GloveExampleAdapterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = glove_example_adapter_set_property;
  object_class->finalize = glove_example_adapter_finalize;

  g_object_class_install_property (
      object_class, PROP_SETTINGS,
      g_param_spec_boxed ("settings", "Settings", "The catalog entry's [Settings]", G_TYPE_HASH_TABLE,
                          G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS));
}

static void
glove_example_adapter_init (GloveExampleAdapter *self)
{
}
