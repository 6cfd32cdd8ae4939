/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "glove-error.h"
#include "glove-grant-resolver.h"
#include "glove-own-files.h"
#include "glove-test.h"

/* Ours: the folder "own/folder", the missing folder "free/missing/deep", the file "own/bin/program" and by a link "own/to-program". */
static const struct
{
  GloveGrantAccess access;
  const char *path;
  const char *ours; /* that is named; NULL: it passes */
} cases[] = {
  { GLOVE_GRANT_WRITE, "other", NULL },
  { GLOVE_GRANT_READ, "own", NULL },
  { GLOVE_GRANT_WRITE, "own", "own/folder" },
  { GLOVE_GRANT_WRITE, "own/folder", "own/folder" },
  { GLOVE_GRANT_WRITE, "own/folder/sub", "own/folder/sub" },
  { GLOVE_GRANT_WRITE, "own/folder/file", "own/folder" },
  { GLOVE_GRANT_WRITE, "own/bin", "own/bin/program" },
  { GLOVE_GRANT_WRITE, "own/bin/program", "own/bin/program" },
  { GLOVE_GRANT_WRITE, "own/bin/other", NULL },
  { GLOVE_GRANT_WRITE, "same", "own/bin/program" },
  { GLOVE_GRANT_WRITE, "free", "free/missing/deep" },
  { GLOVE_GRANT_WRITE, "free/beside", NULL },
  { GLOVE_GRANT_WRITE, "behind", "linked/program" },
};

static void
make_file (const char *root, const char *path)
{
  g_autofree char *full = g_build_filename (root, path, NULL);
  g_autofree char *folder = g_path_get_dirname (full);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  glove_test_write_file (full, "x", 1, 0600);
}

static void
make_tree (const char *root)
{
  static const char *const files[] = { "other/file",      "own/folder/file", "own/folder/sub/file", "own/bin/program",
                                       "own/bin/other",   "free/beside/file", "behind/program" };
  g_autofree char *program = g_build_filename (root, "own", "bin", "program", NULL);
  g_autofree char *same = g_build_filename (root, "same", NULL);
  g_autofree char *linked = g_build_filename (root, "linked", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    make_file (root, files[i]);
  g_assert_cmpint (link (program, same), ==, 0);
  g_assert_cmpint (symlink ("behind", linked), ==, 0);
}

static GPtrArray *
make_grants (const char *root, GloveGrantAccess access, const char *path)
{
  g_autoptr (GloveGrantResolver) resolver = glove_grant_resolver_new ();
  g_autofree char *full = g_build_filename (root, path, NULL);
  g_autoptr (GError) error = NULL;
  GPtrArray *grants = NULL;

  g_assert_true (glove_grant_resolver_add (resolver, access, GLOVE_GRANT_ORIGIN_OPTION, full, &error));
  grants = glove_grant_resolver_finish (resolver, NULL, &error);
  g_assert_no_error (error);
  return grants;
}

static void
test_cases (void)
{
  g_autofree char *root = glove_test_make_dir ();
  g_autofree char *folder = g_build_filename (root, "own", "folder", NULL);
  g_autofree char *missing = g_build_filename (root, "free", "missing", "deep", NULL);
  g_autofree char *program = g_build_filename (root, "own", "bin", "program", NULL);
  g_autofree char *linked = g_build_filename (root, "linked", "program", NULL);
  const char *const folders[] = { folder, missing, NULL };
  const char *const files[] = { program, linked, NULL };

  make_tree (root);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) grants = make_grants (root, cases[i].access, cases[i].path);
      g_autofree char *part = g_strdup_printf ("%s', and what an agent wrote there", cases[i].ours);
      g_autoptr (GError) error = NULL;
      gboolean passes = glove_own_files_check (grants, folders, files, &error);

      g_test_message ("%s: %s", cases[i].path, error != NULL ? error->message : "passes");
      g_assert_cmpint (passes, ==, cases[i].ours == NULL);
      if (passes)
        g_assert_no_error (error);
      else
        glove_test_assert_error (error, GLOVE_ERROR_DENIED, part);
    }
  glove_test_remove_dir (root);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/own-files/cases", test_cases);
  return g_test_run ();
}
