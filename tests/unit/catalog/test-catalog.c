/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-catalog.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-runtime-adapter.h"

/* Three directories of its own: packages, administrator, modules. */
typedef struct {
  char *root;
  char *packages;
  char *administrator;
  char *modules;
  GloveCatalog *catalog;
} Fixture;

static void
fixture_set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *module = NULL;
  g_autofree char *bytes = NULL;
  gsize length;

  fixture->root = g_dir_make_tmp ("glove-catalog-XXXXXX", NULL);
  g_assert_nonnull (fixture->root);
  fixture->packages = g_build_filename (fixture->root, "packages", NULL);
  fixture->administrator = g_build_filename (fixture->root, "administrator", NULL);
  fixture->modules = g_build_filename (fixture->root, "modules", NULL);
  g_assert_cmpint (g_mkdir (fixture->packages, 0755), ==, 0);
  g_assert_cmpint (g_mkdir (fixture->administrator, 0755), ==, 0);
  g_assert_cmpint (g_mkdir (fixture->modules, 0755), ==, 0);
  module = g_build_filename (fixture->modules, "libunit.so", NULL);
  g_assert_true (g_file_get_contents (NOTE_MODULE, &bytes, &length, NULL));
  g_assert_true (g_file_set_contents_full (module, bytes, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  g_assert_cmpint (g_chmod (module, 0755), ==, 0);
  fixture->catalog = glove_catalog_new (fixture->packages, fixture->administrator, fixture->modules);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      if (g_file_test (child, G_FILE_TEST_IS_SYMLINK) || !g_file_test (child, G_FILE_TEST_IS_DIR))
        g_assert_cmpint (g_unlink (child), ==, 0);
      else
        remove_tree (child);
    }
  if (dir != NULL)
    g_assert_cmpint (g_rmdir (path), ==, 0);
}

static void
fixture_tear_down (Fixture *fixture, gconstpointer data)
{
  g_object_unref (fixture->catalog);
  remove_tree (fixture->root);
  g_free (fixture->root);
  g_free (fixture->packages);
  g_free (fixture->administrator);
  g_free (fixture->modules);
}

static void
put (const char *directory, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);

  g_assert_true (g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
  g_assert_cmpint (g_chmod (path, 0644), ==, 0);
}

static void
put_module (const char *directory, const char *name, const char *module, const char *provides)
{
  g_autofree char *text = g_strdup_printf ("[Module %s]\nLibrary=libunit.so\nAbi=1\nProvides=%s\n", module, provides);

  put (directory, name, text);
}

static GObject *
create (Fixture *fixture, const char *id, GError **error)
{
  return glove_catalog_create (fixture->catalog, "runtime", id, GLOVE_TYPE_RUNTIME_ADAPTER, error);
}

static void
assert_ids (Fixture *fixture, const char *kind, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) ids = glove_catalog_list_ids (fixture->catalog, kind, &error);
  g_autofree char *joined = NULL;

  g_assert_no_error (error);
  joined = g_strjoinv (" ", ids);
  g_assert_cmpstr (joined, ==, expected);
}

static void
assert_contains (const char *text, const char *part)
{
  if (text == NULL || strstr (text, part) == NULL)
    g_error ("'%s' does not contain '%s'", text, part);
}

static void
test_create (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GObject) first = NULL;
  g_autoptr (GObject) second = NULL;

  put_module (fixture->packages, "unit.conf", "unit-note", "runtime:unit-note");
  first = create (fixture, "unit-note", &error);
  g_assert_no_error (error);
  second = create (fixture, "unit-note", &error);
  g_assert_no_error (error);
  g_assert_true (first != second); /* each call makes a new one */
  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (GLOVE_RUNTIME_ADAPTER (first)), ==, "unit-note");
}

/* Nothing is opened before the first question: what is put there in between is found. Afterwards nothing is read again. */
static void
test_lazy (Fixture *fixture, gconstpointer data)
{
  const guint before = glove_fd_count_open ();

  put_module (fixture->packages, "a.conf", "a", "runtime:a");
  assert_ids (fixture, "runtime", "a");
  put_module (fixture->packages, "b.conf", "b", "runtime:b");
  assert_ids (fixture, "runtime", "a");
  g_assert_cmpuint (glove_fd_count_open (), ==, before);
}

static void
test_ids (Fixture *fixture, gconstpointer data)
{
  put_module (fixture->packages, "z.conf", "z", "runtime:z;sink:s2;sink:s10");
  put_module (fixture->packages, "a.conf", "a", "runtime:a;backend:b");
  put (fixture->packages, "README", "not read");
  put (fixture->packages, "a.conf.bak", "not read");
  put (fixture->packages, ".hidden.conf", "not read");
  assert_ids (fixture, "runtime", "a z");
  assert_ids (fixture, "sink", "s10 s2");
  assert_ids (fixture, "backend", "b");
  assert_ids (fixture, "schema", "");
}

static void
test_administrator (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GError) error = NULL;
  const GloveCatalogEntry *entry;

  put_module (fixture->packages, "one.conf", "one", "runtime:packaged");
  put_module (fixture->administrator, "one.conf", "one", "runtime:replaced");
  put_module (fixture->packages, "two.conf", "two", "runtime:two");
  put_module (fixture->administrator, "three.conf", "three", "runtime:three");
  assert_ids (fixture, "runtime", "replaced three two");

  entries = glove_catalog_list (fixture->catalog, &problems, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (problems->len, ==, 0);
  g_assert_cmpuint (entries->len, ==, 3);
  entry = g_ptr_array_index (entries, 0);
  g_assert_cmpstr (entry->name, ==, "one");
  g_assert_true (entry->from_administrator);
  entry = g_ptr_array_index (entries, 2);
  g_assert_cmpstr (entry->name, ==, "two");
  g_assert_false (entry->from_administrator);
}

static void
test_mask (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GObject) object = NULL;
  g_autoptr (GError) error = NULL;

  put_module (fixture->packages, "unit.conf", "unit-note", "runtime:unit-note");
  put_module (fixture->packages, "other.conf", "other", "runtime:other");
  put (fixture->administrator, "unit.conf", "[Module unit-note]\nEnabled=false\n");
  object = create (fixture, "unit-note", &error);
  g_assert_null (object);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_NOT_FOUND);
  g_assert_cmpstr (error->message, ==, "no plugin provides runtime:unit-note");
  assert_contains (glove_error_get_hint (error), "there are: other");
  assert_contains (glove_error_get_hint (error), "/administrator/unit.conf masks 'unit-note'");
  assert_ids (fixture, "runtime", "other");

  g_clear_error (&error);
  entries = glove_catalog_list (fixture->catalog, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (entries->len, ==, 2);
  g_assert_false (((GloveCatalogEntry *) g_ptr_array_index (entries, 1))->enabled);
}

/* A bad administrator's file replaces the package's nevertheless: nothing that he meant to change is used as it was. */
static void
test_bad_administrator_file (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GObject) object = NULL;
  g_autoptr (GError) error = NULL;

  put_module (fixture->packages, "unit.conf", "unit-note", "runtime:unit-note");
  put (fixture->administrator, "unit.conf", "[Module unit-note]\nEnabled=no\n");
  object = create (fixture, "unit-note", &error);
  g_assert_null (object);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_NOT_FOUND);
  assert_contains (glove_error_get_hint (error), "refused: ");
  assert_contains (glove_error_get_hint (error), "/administrator/unit.conf:2: Enabled= must be true or false");
}

static void
test_duplicate (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GObject) object = NULL;
  g_autoptr (GError) error = NULL;
  const GError *problem;

  put_module (fixture->packages, "a.conf", "a", "runtime:same;runtime:a");
  put_module (fixture->administrator, "b.conf", "b", "runtime:same;runtime:b");
  entries = glove_catalog_list (fixture->catalog, &problems, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (entries->len, ==, 2);
  g_assert_cmpuint (problems->len, ==, 1);
  problem = g_ptr_array_index (problems, 0);
  g_assert_error (problem, GLOVE_ERROR, GLOVE_ERROR_CONFLICT);
  assert_contains (problem->message, "runtime:same is provided by two files: ");
  assert_contains (problem->message, "/packages/a.conf and ");
  assert_contains (problem->message, "/administrator/b.conf");

  object = create (fixture, "same", &error);
  g_assert_null (object);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_CONFLICT);
  assert_ids (fixture, "runtime", "a b"); /* what only one of them provides is not touched */
}

static void
test_duplicate_masked (Fixture *fixture, gconstpointer data)
{
  put_module (fixture->packages, "a.conf", "a", "runtime:same");
  put_module (fixture->packages, "b.conf", "b", "runtime:same");
  put (fixture->administrator, "b.conf", "[Module b]\nEnabled=false\n");
  assert_ids (fixture, "runtime", "same");
}

static void
test_problems (Fixture *fixture, gconstpointer data)
{
  g_autofree char *open = g_build_filename (fixture->packages, "open.conf", NULL);
  g_autofree char *link_path = g_build_filename (fixture->packages, "link.conf", NULL);
  g_autofree char *pipe_path = g_build_filename (fixture->packages, "pipe.conf", NULL);
  g_autofree char *large = g_strnfill (GLOVE_CATALOG_FILE_MAX + 1, '#');
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GError) error = NULL;
  static const struct {
    const char *message;
    GloveError code;
  } expected[] = {
    { "/large.conf: ", GLOVE_ERROR_LIMIT },
    { "/link.conf: is a symbolic link", GLOVE_ERROR_UNTRUSTED },
    { "/open.conf: is writable by everybody (mode 0666)", GLOVE_ERROR_UNTRUSTED },
    { "/pipe.conf: is a named pipe", GLOVE_ERROR_UNTRUSTED },
    { "/words.conf:1: neither", GLOVE_ERROR_INVALID_DATA },
  };

  put_module (fixture->packages, "good.conf", "good", "runtime:good");
  put (fixture->packages, "words.conf", "words\n");
  put (fixture->packages, "large.conf", large);
  put_module (fixture->packages, "open.conf", "open", "runtime:open");
  g_assert_cmpint (g_chmod (open, 0666), ==, 0);
  g_assert_cmpint (symlink ("good.conf", link_path), ==, 0);
  g_assert_cmpint (mkfifo (pipe_path, 0644), ==, 0);

  entries = glove_catalog_list (fixture->catalog, &problems, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (entries->len, ==, 1);
  g_assert_cmpuint (problems->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < problems->len; i++)
    {
      const GError *problem = g_ptr_array_index (problems, i);

      g_assert_error (problem, GLOVE_ERROR, (int) expected[i].code);
      assert_contains (problem->message, expected[i].message);
    }
  assert_ids (fixture, "runtime", "good");
}

static void
test_directories (Fixture *fixture, gconstpointer data)
{
  g_autofree char *missing = g_build_filename (fixture->root, "missing", NULL);
  g_autoptr (GloveCatalog) installed = glove_catalog_new (missing, missing, missing);
  g_autoptr (GloveCatalog) given = glove_catalog_new_for_directory (missing);
  g_autoptr (GPtrArray) none = NULL;
  g_auto (GStrv) ids = NULL;
  g_autoptr (GError) error = NULL;

  /* A system without plugins has an empty catalog; a directory that was named has to be there. */
  none = glove_catalog_list (installed, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (none->len, ==, 0);
  g_assert_null (glove_catalog_list (given, NULL, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_NOT_FOUND);
  assert_contains (error->message, "/missing");
  g_clear_error (&error);

  g_assert_cmpint (g_chmod (fixture->administrator, 0775), ==, 0);
  ids = glove_catalog_list_ids (fixture->catalog, "runtime", &error);
  g_assert_null (ids);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNTRUSTED);
  assert_contains (error->message, "/administrator: is writable by its group (mode 0775)");
}

/* The module directory is judged on its own: here the catalog's are well. */
static void
test_module_directory (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GObject) object = NULL;
  g_autoptr (GError) error = NULL;

  put_module (fixture->packages, "unit.conf", "unit-note", "runtime:unit-note");
  g_assert_cmpint (g_chmod (fixture->modules, 01777), ==, 0);
  object = create (fixture, "unit-note", &error);
  g_assert_null (object);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNTRUSTED);
  assert_contains (error->message, "/modules: is writable by everybody (mode 1777)");
  assert_contains (glove_error_get_hint (error), "chmod go-w ");

  /* Not remembered: once it is repaired, the module loads. */
  g_clear_error (&error);
  g_assert_cmpint (g_chmod (fixture->modules, 0755), ==, 0);
  object = create (fixture, "unit-note", &error);
  g_assert_no_error (error);
  g_assert_nonnull (object);
}

static void
test_check_file (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->modules, "libunit.so", NULL);
  const GlovePluginDescriptor *descriptor;
  g_autoptr (GError) error = NULL;

  descriptor = glove_catalog_check_file (fixture->catalog, path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (descriptor->name, ==, "unit-note");
  g_assert_cmpint (g_chmod (path, 0777), ==, 0);
  g_assert_null (glove_catalog_check_file (fixture->catalog, path, NULL, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNTRUSTED);
}

static void
test_number_of_files (Fixture *fixture, gconstpointer data)
{
  for (guint n = 0; n <= GLOVE_CATALOG_FILES_MAX; n++)
    {
      g_autofree char *file = g_strdup_printf ("f%u.conf", n);
      g_autofree char *module = g_strdup_printf ("m%u", n);
      g_autofree char *provides = g_strdup_printf ("runtime:r%u", n);

      if (n >= GLOVE_CATALOG_FILES_MAX - 1)
        {
          g_autoptr (GloveCatalog) catalog
              = glove_catalog_new (fixture->packages, fixture->administrator, fixture->modules);
          g_autoptr (GError) error = NULL;
          g_autoptr (GPtrArray) entries = glove_catalog_list (catalog, NULL, &error);

          g_assert_no_error (error);
          g_assert_cmpuint (entries->len, ==, n);
        }
      put_module (fixture->packages, file, module, provides);
    }

  {
    g_autoptr (GError) error = NULL;

    g_assert_null (glove_catalog_list (fixture->catalog, NULL, &error));
    g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_LIMIT);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, func) g_test_add (path, Fixture, NULL, fixture_set_up, func, fixture_tear_down)
  ADD ("/catalog/create", test_create);
  ADD ("/catalog/lazy", test_lazy);
  ADD ("/catalog/ids", test_ids);
  ADD ("/catalog/administrator", test_administrator);
  ADD ("/catalog/mask", test_mask);
  ADD ("/catalog/bad-administrator-file", test_bad_administrator_file);
  ADD ("/catalog/duplicate", test_duplicate);
  ADD ("/catalog/duplicate-masked", test_duplicate_masked);
  ADD ("/catalog/problems", test_problems);
  ADD ("/catalog/directories", test_directories);
  ADD ("/catalog/module-directory", test_module_directory);
  ADD ("/catalog/check-file", test_check_file);
  ADD ("/catalog/number-of-files", test_number_of_files);

  return g_test_run ();
}
