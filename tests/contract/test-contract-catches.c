/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A suite that nothing fails proves nothing: each breach below must make it fail, and the same adapter without one must pass.
 * test-contract-catches: runs itself once a breach. */

#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <glove/glove-contract.h>

typedef struct {
  GObject parent_instance;
} Breaker;

typedef struct {
  GObjectClass parent_class;
} BreakerClass;

static const char *breach = "none";

static gboolean
breaks (const char *name)
{
  return strcmp (breach, name) == 0;
}

static const char *
get_runtime_id (GloveRuntimeAdapter *adapter)
{
  return breaks ("id") ? "Not-An-Id" : "breaker";
}

static const char *
get_executable_name (GloveRuntimeAdapter *adapter)
{
  return breaks ("executable") ? "bin/breaker" : "breaker";
}

static const char *const *
list_provider_endpoints (GloveRuntimeAdapter *adapter)
{
  static const char *const good[] = { "api.example.com:443", NULL };
  static const char *const bad[] = { "API.example.com.:443", NULL };

  return breaks ("endpoint") ? bad : good;
}

static gboolean
accepts_provider_url (GloveRuntimeAdapter *adapter)
{
  return TRUE;
}

static GloveRuntimeHome *
build_home (GloveRuntimeAdapter *adapter, const GloveRuntimeRequest *request, GError **error)
{
  static guint serial;
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  g_autoptr (GString) config = g_string_new ("a=1\n");

  if (request->provider_url != NULL && !breaks ("provider"))
    g_string_append_printf (config, "url=%s model=%s\n", request->provider_url,
                            request->model != NULL ? request->model : "");
  if (breaks ("changes"))
    g_string_append_printf (config, "n=%u\n", serial++);
  if (breaks ("host-home"))
    g_string_append_printf (config, "home=%s\n", g_getenv ("HOME"));
  if (breaks ("opens"))
    {
      int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);

      g_string_append (config, fd >= 0 ? "open\n" : "closed\n");
      if (fd >= 0)
        (void) close (fd);
    }
  if (breaks ("leaks"))
    g_assert_cmpint (fcntl (0, F_DUPFD_CLOEXEC, 3), >=, 0);
  if (!glove_runtime_home_add_file (home, "config", config->str, -1, breaks ("mode") ? 0644 : 0600, error))
    return NULL;
  if (request->prompt != NULL && !breaks ("prompt"))
    glove_runtime_home_add_trailing_argument (home, request->prompt);

  return g_steal_pointer (&home);
}

static void
runtime_init (GloveRuntimeAdapterInterface *iface)
{
  iface->get_runtime_id = get_runtime_id;
  iface->get_executable_name = get_executable_name;
  iface->list_provider_endpoints = list_provider_endpoints;
  iface->accepts_provider_url = accepts_provider_url;
  iface->build_home = build_home;
}

static GType breaker_get_type (void);

G_DEFINE_TYPE_WITH_CODE (Breaker, breaker, G_TYPE_OBJECT, G_IMPLEMENT_INTERFACE (GLOVE_TYPE_RUNTIME_ADAPTER, runtime_init))

static void
breaker_class_init (BreakerClass *klass)
{
}

static void
breaker_init (Breaker *self)
{
}

/* The exit status of this program with one breach. */
static int
run_with (const char *program, const char *name)
{
  const char *const argv[] = { program, name, NULL };
  g_autoptr (GError) error = NULL;
  int status = 0;

  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                               NULL, NULL, NULL, NULL, &status, &error));
  g_assert_no_error (error);
  return status;
}

static const char *self_path;

static void
test_breach (gconstpointer name)
{
  if (strcmp (name, "none") == 0)
    g_assert_cmpint (run_with (self_path, name), ==, 0);
  else
    g_assert_cmpint (run_with (self_path, name), !=, 0);
}

int
main (int argc, char **argv)
{
  static const char *const breaches[] = { "none",    "id",        "executable", "endpoint", "provider", "changes",
                                          "host-home", "opens", "leaks",      "mode",     "prompt" };
  g_autoptr (GObject) breaker = NULL;

  g_test_init (&argc, &argv, NULL);
  self_path = argv[0];

  if (argc > 1)
    {
      breach = argv[1];
      breaker = g_object_new (breaker_get_type (), NULL);
      glove_contract_check_runtime_adapter (GLOVE_RUNTIME_ADAPTER (breaker));
      return g_test_run ();
    }

  for (guint i = 0; i < G_N_ELEMENTS (breaches); i++)
    {
      g_autofree char *path = g_strdup_printf ("/contract-catches/runtime/%s", breaches[i]);

      g_test_add_data_func (path, breaches[i], test_breach);
    }

  return g_test_run ();
}
