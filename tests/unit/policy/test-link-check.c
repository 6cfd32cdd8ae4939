/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "glove-error.h"
#include "glove-grant-resolver.h"
#include "glove-link-check.h"
#include "glove-path-pin.h"
#include "glove-test.h"

/* work is granted for writing, data for reading; elsewhere is not. */
static const struct
{
  const char *path;
  const char *leads_to; /* for the message of a refusal: whose link it is; NULL: it passes */
} cases[] = {
  { "work/file", NULL },
  { "work/../elsewhere/file", NULL },
  { "work/to-file", NULL },
  { "work/to-inner/file", NULL },
  { "work/inner/to-above", NULL },
  { "work/out", "work" },
  { "work/out-folder/file", "work" },
  { "work/out-absolute", "work" },
  { "work/two", "work" },
  { "work/through-proc", "work" },
  { "work/there-and-back", NULL },
  { "data/out", "data" },
  { "elsewhere/to-work", NULL },
  { "elsewhere/to-out", "work" },
  { "elsewhere/file", NULL },
};

static void
make_link (const char *root, const char *target, const char *path)
{
  g_autofree char *full = g_build_filename (root, path, NULL);

  g_assert_cmpint (symlink (target, full), ==, 0);
}

static void
make_tree (const char *root)
{
  static const char *const folders[] = { "work", "work/inner", "data", "elsewhere" };
  g_autofree char *absolute = g_build_filename (root, "elsewhere", "file", NULL);
  g_autofree char *proc = g_strconcat ("/proc/self/root", absolute, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *folder = g_build_filename (root, folders[i], NULL);
      g_autofree char *file = g_build_filename (folder, "file", NULL);

      g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
      glove_test_write_file (file, "x", 1, 0600);
    }
  make_link (root, "file", "work/to-file");
  make_link (root, "inner", "work/to-inner");
  make_link (root, "../file", "work/inner/to-above");
  make_link (root, "../elsewhere/file", "work/out");
  make_link (root, "../elsewhere", "work/out-folder");
  make_link (root, absolute, "work/out-absolute");
  make_link (root, "out", "work/two");
  make_link (root, proc, "work/through-proc");
  make_link (root, "../work/./inner/../file", "work/there-and-back");
  make_link (root, "../elsewhere/file", "data/out");
  make_link (root, "../work/file", "elsewhere/to-work");
  make_link (root, "../work/out", "elsewhere/to-out");
}

static void
add (GloveGrantResolver *resolver, GloveGrantAccess access, const char *root, const char *path)
{
  g_autofree char *full = g_build_filename (root, path, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_grant_resolver_add (resolver, access, GLOVE_GRANT_ORIGIN_OPTION, full, &error));
  g_assert_no_error (error);
}

static GPtrArray *
make_grants (const char *root)
{
  g_autoptr (GloveGrantResolver) resolver = glove_grant_resolver_new ();
  g_autoptr (GError) error = NULL;
  GPtrArray *grants = NULL;

  add (resolver, GLOVE_GRANT_WRITE, root, "work");
  add (resolver, GLOVE_GRANT_READ, root, "data");
  grants = glove_grant_resolver_finish (resolver, NULL, &error);
  g_assert_no_error (error);
  return grants;
}

static void
test_paths (void)
{
  g_autofree char *root = glove_test_make_dir ();
  g_autoptr (GPtrArray) grants = NULL;

  make_tree (root);
  grants = make_grants (root);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_build_filename (root, cases[i].path, NULL);
      g_autofree char *holder = cases[i].leads_to == NULL ? NULL : g_build_filename (root, cases[i].leads_to, NULL);
      g_autofree char *part = NULL;
      g_autoptr (GError) error = NULL;
      gboolean passes = glove_link_check_run (grants, path, NULL, &error);

      g_test_message ("%s: %s", cases[i].path, error != NULL ? error->message : "passes");
      if (holder == NULL)
        {
          g_assert_no_error (error);
          g_assert_true (passes);
          continue;
        }
      part = g_strdup_printf ("through a link in '%s' to a place outside", holder);
      g_assert_false (passes);
      glove_test_assert_error (error, GLOVE_ERROR_DENIED, part);
      g_assert_nonnull (glove_error_get_hint (error));
    }
  glove_test_remove_dir (root);
}

/* The same for what is granted itself. */
static void
test_grants (void)
{
  g_autofree char *root = glove_test_make_dir ();

  make_tree (root);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GloveGrantResolver) resolver = glove_grant_resolver_new ();
      g_autoptr (GPtrArray) grants = NULL;
      g_autoptr (GError) error = NULL;

      add (resolver, GLOVE_GRANT_WRITE, root, "work");
      add (resolver, GLOVE_GRANT_READ, root, i == 0 ? "work/out-folder" : "work/to-inner");
      grants = glove_grant_resolver_finish (resolver, NULL, &error);
      if (i == 0)
        glove_test_assert_error (error, GLOVE_ERROR_DENIED, "work/out-folder' leads through a link");
      else
        g_assert_no_error (error);
    }
  glove_test_remove_dir (root);
}

/* What was opened isn't what the path leads to now: it was swapped in between. */
static void
test_swapped (void)
{
  g_autofree char *root = glove_test_make_dir ();
  g_autofree char *path = g_build_filename (root, "work", "file", NULL);
  g_autofree char *other = g_build_filename (root, "work", "to-file", NULL);
  g_autofree char *another = g_build_filename (root, "data", "file", NULL);
  g_auto (GlovePathPin) pin = GLOVE_PATH_PIN_INIT;
  g_autoptr (GPtrArray) grants = NULL;
  g_autoptr (GError) error = NULL;

  make_tree (root);
  grants = make_grants (root);
  g_assert_true (glove_path_pin_open (&pin, path, &error));
  g_assert_true (glove_link_check_run (grants, other, &pin.identity, &error));
  g_assert_no_error (error);
  g_assert_false (glove_link_check_run (grants, another, &pin.identity, &error));
  glove_test_assert_error (error, GLOVE_ERROR_CHANGED, "was replaced");
  glove_test_remove_dir (root);
}

/* A pipe by way of the kernel's links is the operator's own. */
static void
test_pipe (void)
{
  g_autofree char *root = glove_test_make_dir ();
  g_autoptr (GPtrArray) grants = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  GloveFileIdentity identity;
  int ends[2];

  make_tree (root);
  grants = make_grants (root);
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  path = g_strdup_printf ("/dev/fd/%d", ends[0]);
  g_assert_true (glove_path_pin_identify (ends[0], &identity, &error));
  g_assert_true (glove_link_check_run (grants, path, &identity, &error));
  g_assert_no_error (error);
  (void) close (ends[0]);
  (void) close (ends[1]);
  glove_test_remove_dir (root);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/link-check/paths", test_paths);
  g_test_add_func ("/policy/link-check/grants", test_grants);
  g_test_add_func ("/policy/link-check/swapped", test_swapped);
  g_test_add_func ("/policy/link-check/pipe", test_pipe);
  return g_test_run ();
}
