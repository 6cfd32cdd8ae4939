/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-error.h"
#include "glove-executable.h"
#include "glove-test.h"

typedef struct {
  char *root;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->root = glove_test_make_dir ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  glove_test_remove_dir (fixture->root);
  g_free (fixture->root);
}

static char *
at (Fixture *fixture, const char *path)
{
  return g_build_filename (fixture->root, path, NULL);
}

static void
make_file (Fixture *fixture, const char *path, guint mode)
{
  g_autofree char *full = at (fixture, path);
  g_autofree char *folder = g_path_get_dirname (full);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  glove_test_write_file (full, "#!/bin/sh\n", -1, mode);
}

static void
make_link (Fixture *fixture, const char *target, const char *path)
{
  g_autofree char *full = at (fixture, path);
  g_autofree char *folder = g_path_get_dirname (full);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_assert_cmpint (symlink (target, full), ==, 0);
}

static void
test_resolve (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *path;
    int code; /* -1: found */
    const char *real;
  } cases[] = {
    { "bin/tool", -1, "bin/tool" },      { "bin/link", -1, "bin/tool" },
    { "bin/../bin/tool", -1, "bin/tool" }, { "with space\n\377", -1, "with space\n\377" },
    { "bin/plain", GLOVE_ERROR_NOT_EXECUTABLE, NULL }, { "bin", GLOVE_ERROR_NOT_EXECUTABLE, NULL },
    { "bin/fifo", GLOVE_ERROR_NOT_EXECUTABLE, NULL },  { "bin/dangling", GLOVE_ERROR_NOT_FOUND, NULL },
    { "nowhere", GLOVE_ERROR_NOT_FOUND, NULL },
  };
  g_autofree char *fifo = at (fixture, "bin/fifo");

  make_file (fixture, "bin/tool", 0755);
  make_file (fixture, "bin/plain", 0644);
  make_file (fixture, "with space\n\377", 0711);
  make_link (fixture, "tool", "bin/link");
  make_link (fixture, "gone", "bin/dangling");
  g_assert_cmpint (mkfifo (fifo, 0777), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = at (fixture, cases[i].path);
      g_autofree char *typed = NULL;
      g_autofree char *real = NULL;
      g_autofree char *expected = NULL;
      g_autoptr (GError) error = NULL;
      guint before = glove_test_count_fds ();

      real = glove_executable_resolve (path, &typed, &error);
      glove_test_assert_fds (before);
      if (cases[i].code >= 0)
        {
          g_assert_null (real);
          glove_test_assert_error (error, cases[i].code, NULL);
          g_assert_nonnull (glove_error_get_hint (error));
          continue;
        }
      g_assert_no_error (error);
      expected = at (fixture, cases[i].real);
      g_assert_cmpstr (real, ==, expected);
      g_assert_cmpstr (typed, ==, path);
    }
}

static void
test_relative (Fixture *fixture, gconstpointer data)
{
  g_autofree char *cwd = g_get_current_dir ();
  g_autofree char *expected = at (fixture, "bin/tool");
  g_autofree char *typed = NULL;
  g_autofree char *real = NULL;
  g_autoptr (GError) error = NULL;

  make_file (fixture, "bin/tool", 0755);
  g_assert_cmpint (chdir (fixture->root), ==, 0);
  real = glove_executable_resolve ("bin/tool", &typed, &error);
  g_assert_cmpint (chdir (cwd), ==, 0);
  g_assert_no_error (error);
  g_assert_cmpstr (real, ==, expected);
  g_assert_cmpstr (typed, ==, expected);
}

static char *
search (Fixture *fixture, const char *name, const char *first, const char *second, GError **error)
{
  g_autofree char *one = at (fixture, first);
  g_autofree char *two = second == NULL ? NULL : at (fixture, second);
  const char *paths[] = { one, two, NULL };

  return glove_executable_search (name, paths, error);
}

static void
test_search (Fixture *fixture, gconstpointer data)
{
  g_autofree char *found = NULL;
  g_autofree char *second = NULL;
  g_autofree char *expected = at (fixture, "a/tool");
  g_autofree char *expected_second = at (fixture, "b/other");
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) none = NULL;

  make_file (fixture, "real/tool", 0755);
  make_link (fixture, "../real/tool", "a/tool");
  make_file (fixture, "a/other", 0644);
  make_file (fixture, "b/tool", 0755);
  make_file (fixture, "b/other", 0755);
  found = search (fixture, "tool", "a", "b", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (found, ==, expected);
  second = search (fixture, "other", "missing", "b", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (second, ==, expected_second);
  g_assert_null (search (fixture, "nothing", "a", "b", &none));
  glove_test_assert_error (none, GLOVE_ERROR_NOT_FOUND, "no program 'nothing'");
  glove_test_assert_contains (glove_error_get_hint (none), "--executable");
}

static void
test_search_untrusted (Fixture *fixture, gconstpointer data)
{
  const struct
  {
    const char *folder;
    guint mode;
    gboolean ok;
  } cases[] = { { "o/p/q", 0755, TRUE }, { "o/p/q", 0775, FALSE }, { "o/p/q", 0757, FALSE }, { "o/p", 0777, FALSE },
                { "o", 0775, FALSE },    { "o/p/q", 0700, TRUE } };
  g_autofree char *leaf = at (fixture, "o/p/q");

  make_file (fixture, "o/p/q/tool", 0755);
  make_link (fixture, "o/p/q", "alias");
  make_link (fixture, "../o/p/q", "open/alias");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = at (fixture, cases[i].folder);
      g_autofree char *found = NULL;
      g_autofree char *aliased = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) alias_error = NULL;

      g_assert_cmpint (chmod (folder, cases[i].mode), ==, 0);
      found = search (fixture, "tool", "o/p/q", NULL, &error);
      aliased = search (fixture, "tool", "alias", NULL, &alias_error);
      g_assert_cmpint (chmod (folder, 0755), ==, 0);
      g_assert_cmpint (found != NULL, ==, cases[i].ok);
      g_assert_cmpint (aliased != NULL, ==, cases[i].ok);
      if (cases[i].ok)
        continue;
      glove_test_assert_error (error, GLOVE_ERROR_UNTRUSTED, folder);
      glove_test_assert_error (alias_error, GLOVE_ERROR_UNTRUSTED, folder);
    }
  {
    /* A link in a folder of everybody's decides where it leads. */
    g_autofree char *open = at (fixture, "open");
    g_autoptr (GError) error = NULL;

    g_assert_cmpint (chmod (open, 0777), ==, 0);
    g_assert_null (search (fixture, "tool", "open/alias", NULL, &error));
    glove_test_assert_error (error, GLOVE_ERROR_UNTRUSTED, open);
  }
}

static void
test_search_bad (Fixture *fixture, gconstpointer data)
{
  const char *const names[] = { "", ".", "..", "a/b", "/bin/sh" };
  const char *const relative[] = { "bin", NULL };
  const char *const none[] = { NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) empty = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) name_error = NULL;

      g_assert_null (glove_executable_search (names[i], none, &name_error));
      glove_test_assert_error (name_error, GLOVE_ERROR_INVALID_ARGUMENT, "plain file name");
    }
  g_assert_null (glove_executable_search ("sh", relative, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "not an absolute path");
  /* the inherited PATH is never asked */
  g_assert_null (glove_executable_search ("sh", none, &empty));
  glove_test_assert_error (empty, GLOVE_ERROR_NOT_FOUND, "none was given");
}

/* What package managers make, and what has to be granted of it. */
static void
test_tree (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *program;
    const char *tree;
  } cases[] = {
    /* a version manager's installation, with its interpreter */
    { "versions/v22/bin/cli", "versions/v22" },
    { "versions/v22/lib/node_modules/@scope/cli/bin/cli.js", "versions/v22" },
    /* a per-user prefix without an interpreter of its own */
    { "prefix/bin/cli", "prefix/lib/node_modules" },
    { ".local/bin/cli", ".local/lib/node_modules" },
    /* a project */
    { "project/node_modules/.bin/cli", "project/node_modules" },
    { "project/node_modules/a/node_modules/b/cli.js", "project/node_modules" },
    /* no package: the program's own folder */
    { "opt/tool/bin/tool", "opt/tool/bin" },
    { "opt/link", "opt/tool/bin" },
    { "my_node_modules/x/tool", "my_node_modules/x" },
  };

  make_file (fixture, "versions/v22/bin/node", 0755);
  make_file (fixture, "versions/v22/lib/node_modules/@scope/cli/bin/cli.js", 0755);
  make_link (fixture, "../lib/node_modules/@scope/cli/bin/cli.js", "versions/v22/bin/cli");
  make_file (fixture, "prefix/lib/node_modules/cli/cli.js", 0755);
  make_link (fixture, "../lib/node_modules/cli/cli.js", "prefix/bin/cli");
  make_file (fixture, ".local/bin/node", 0755);
  make_file (fixture, ".local/lib/node_modules/cli/cli.js", 0755);
  make_link (fixture, "../lib/node_modules/cli/cli.js", ".local/bin/cli");
  make_file (fixture, "project/node_modules/cli/cli.js", 0755);
  make_file (fixture, "project/node_modules/a/node_modules/b/cli.js", 0755);
  make_link (fixture, "../cli/cli.js", "project/node_modules/.bin/cli");
  make_file (fixture, "opt/tool/bin/tool", 0755);
  make_link (fixture, "tool/bin/tool", "opt/link");
  make_file (fixture, "my_node_modules/x/tool", 0755);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *program = at (fixture, cases[i].program);
      g_autofree char *expected = at (fixture, cases[i].tree);
      g_autoptr (GError) error = NULL;
      g_autofree char *tree = glove_executable_dup_tree (program, &error);

      g_assert_no_error (error);
      g_assert_cmpstr (tree, ==, expected);
    }
}

/* Never a home, /tmp or a folder of credentials. */
static void
test_tree_restricted (Fixture *fixture, gconstpointer data)
{
  g_autofree char *system = NULL;
  g_autofree char *secret = at (fixture, ".ssh/tool");
  g_autofree char *tree = NULL;
  g_autofree char *in_tmp = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) missing = NULL;
  int fd = -1;

  system = glove_executable_dup_tree ("/bin/sh", &error);
  g_assert_no_error (error);
  g_assert_null (system);
  make_file (fixture, ".ssh/tool", 0755);
  tree = glove_executable_dup_tree (secret, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (tree, ==, secret); /* which the resolver then refuses by name */
  g_assert_null (glove_executable_dup_tree ("/nonexistent/tool", &missing));
  glove_test_assert_error (missing, GLOVE_ERROR_NOT_FOUND, NULL);

  in_tmp = g_strdup ("/tmp/glove-tool-XXXXXX");
  fd = g_mkstemp (in_tmp);
  if (fd < 0)
    return;
  g_clear_pointer (&tree, g_free);
  tree = glove_executable_dup_tree (in_tmp, &error);
  g_assert_cmpint (close (fd), ==, 0);
  g_assert_cmpint (g_unlink (in_tmp), ==, 0);
  g_assert_no_error (error);
  g_assert_cmpstr (tree, ==, in_tmp);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  (void) umask (0022);
#define ADD(name, function) g_test_add ("/policy/executable/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("resolve", test_resolve);
  ADD ("relative", test_relative);
  ADD ("search", test_search);
  ADD ("search-untrusted", test_search_untrusted);
  ADD ("search-bad", test_search_bad);
  ADD ("tree", test_tree);
  ADD ("tree-restricted", test_tree_restricted);
  return g_test_run ();
}
