/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <glove/glove-contract.h>

#include "glove-audit-memory.h"
#include "glove-catalog.h"

static void
check_runtime (GObject *object)
{
  glove_contract_check_runtime_adapter (GLOVE_RUNTIME_ADAPTER (object));
}

static void
check_schema (GObject *object)
{
  glove_contract_check_channel_schema (GLOVE_CHANNEL_SCHEMA (object));
}

static void
check_backend (GObject *object)
{
  glove_contract_check_sandbox_backend (GLOVE_SANDBOX_BACKEND (object));
}

static void
check_sink (GObject *object)
{
  glove_contract_check_audit_sink (GLOVE_AUDIT_SINK (object));
}

static const struct {
  const char *name;
  GType (*get_interface) (void);
  void (*check) (GObject *object);
} kinds[] = {
  { "runtime", glove_runtime_adapter_get_type, check_runtime },
  { "schema", glove_channel_schema_get_type, check_schema },
  { "backend", glove_sandbox_backend_get_type, check_backend },
  { "sink", glove_audit_sink_get_type, check_sink },
};

static guint
check_catalog (const char *directory)
{
  g_autoptr (GloveCatalog) catalog = glove_catalog_new_for_directory (directory);
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) ids = glove_catalog_list_ids (catalog, kinds[i].name, &error);

      g_assert_no_error (error);
      for (guint j = 0; ids[j] != NULL; j++)
        {
          g_autoptr (GObject) object
              = glove_catalog_create (catalog, kinds[i].name, ids[j], kinds[i].get_interface (), &error);

          g_assert_no_error (error);
          kinds[i].check (object);
          n++;
        }
    }

  return n;
}

/* No entry of the catalog is refused. */
static void
test_catalog_is_well (gconstpointer directory)
{
  g_autoptr (GloveCatalog) catalog = glove_catalog_new_for_directory (directory);
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GError) error = NULL;

  entries = glove_catalog_list (catalog, &problems, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (entries->len, >, 0);
  for (guint i = 0; i < problems->len; i++)
    g_assert_no_error ((GError *) g_ptr_array_index (problems, i));
}

/* test-contract CATALOG… */
int
main (int argc, char **argv)
{
  g_autoptr (GloveAuditMemory) memory = glove_audit_memory_new ();

  g_test_init (&argc, &argv, NULL);

  for (int i = 1; i < argc; i++)
    {
      g_autofree char *path = g_strdup_printf ("/contract/catalog-%d", i);

      g_test_add_data_func (path, argv[i], test_catalog_is_well);
      g_assert_cmpuint (check_catalog (argv[i]), >, 0);
    }
  glove_contract_check_audit_sink (GLOVE_AUDIT_SINK (memory));

  return g_test_run ();
}
