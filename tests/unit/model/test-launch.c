/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-launch-spec.h"
#include "glove-test.h"

static int
open_path (const char *path)
{
  int fd = open (path, O_PATH | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static void
test_grant (void)
{
  guint fds = glove_test_count_fds ();
  g_autofree char *dir = glove_test_make_dir ();
  g_autofree char *file = g_build_filename (dir, "with space\n\xff", NULL);
  g_autofree char *fifo = g_build_filename (dir, "fifo", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveGrant) grant = NULL;
  g_autoptr (GloveGrant) again = NULL;
  g_autoptr (GloveGrant) folder = NULL;
  g_autoptr (GloveGrant) mask = NULL;

  glove_test_write_file (file, "x", -1, 0640);
  g_assert_no_errno (mkfifo (fifo, 0600));
  grant = glove_grant_new (GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, open_path (file), file, "/data/x\n\xff", &error);
  g_assert_no_error (error);
  again = glove_grant_ref (grant);
  g_assert_cmpstr (again->host_path, ==, file);
  g_assert_cmpstr (again->target_path, ==, "/data/x\n\xff");
  g_assert_cmpuint (again->identity.mode, ==, S_IFREG | 0640);
  g_assert_false (glove_grant_is_directory (again));
  folder = glove_grant_new (GLOVE_GRANT_WRITE, GLOVE_GRANT_ORIGIN_WORKSPACE, open_path (dir), dir, "/", &error);
  g_assert_no_error (error);
  g_assert_true (glove_grant_is_directory (folder));

  /* What is seen may not be a pipe, a socket or a device; what is covered may. */
  g_assert_null (glove_grant_new (GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, open_path (fifo), fifo, fifo, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "neither a file nor a directory");
  g_clear_error (&error);
  g_assert_null (glove_grant_new (GLOVE_GRANT_WRITE, GLOVE_GRANT_ORIGIN_OPTION, open_path ("/dev/null"), "/dev/null", "/dev/null", &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "neither a file nor a directory: “/dev/null”");
  g_clear_error (&error);
  mask = glove_grant_new (GLOVE_GRANT_MASK, GLOVE_GRANT_ORIGIN_PROTECTION, open_path (fifo), fifo, fifo, &error);
  g_assert_no_error (error);

  g_clear_pointer (&grant, glove_grant_unref);
  g_clear_pointer (&again, glove_grant_unref);
  g_clear_pointer (&folder, glove_grant_unref);
  g_clear_pointer (&mask, glove_grant_unref);
  glove_test_remove_dir (dir);
  glove_test_assert_fds (fds); /* the failed ones took their descriptors too */
}

static void
test_grant_paths (void)
{
  static const char *const bad[] = { "", "a", "/a/", "//", "/a/../b", "/./a" };
  guint fds = glove_test_count_fds ();

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    for (int target = 0; target < 2; target++)
      {
        g_autoptr (GError) error = NULL;

        g_assert_null (glove_grant_new (GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, open_path ("/"),
                                        target ? "/a" : bad[i], target ? bad[i] : "/a", &error));
        glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, target ? "target path" : "host path");
      }
  for (gsize length = GLOVE_PATH_BYTES_MAX - 1; length <= GLOVE_PATH_BYTES_MAX + 1; length++)
    {
      g_autofree char *path = g_strnfill (length, 'a');
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveGrant) grant = NULL;

      path[0] = '/';
      grant = glove_grant_new (GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, open_path ("/"), "/", path, &error);
      if (length <= GLOVE_PATH_BYTES_MAX)
        g_assert_no_error (error);
      else
        glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "target path of a grant is longer than 4095 bytes");
    }
  glove_test_assert_fds (fds);
  g_assert_cmpstr (glove_grant_access_get_name (GLOVE_GRANT_READ), ==, "read");
  g_assert_cmpstr (glove_grant_access_get_name (GLOVE_GRANT_WRITE), ==, "write");
  g_assert_cmpstr (glove_grant_access_get_name (GLOVE_GRANT_MASK), ==, "mask");
  g_assert_null (glove_grant_access_get_name ((GloveGrantAccess) 3));
}

static char **
make_strv (guint n, const char *format)
{
  char **strings = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    strings[i] = g_strdup_printf ("%s%u=", format, i);
  return strings;
}

static GloveLaunchSpec *
make_spec (void)
{
  GloveLaunchSpec *spec = glove_launch_spec_new ("s-1");

  g_strfreev (spec->argv);
  spec->argv = g_strsplit ("sh -c true", " ", -1);
  return spec;
}

static void
add_grant (GloveLaunchSpec *spec, GloveGrantAccess access, const char *target)
{
  g_autoptr (GError) error = NULL;
  GloveGrant *grant
      = glove_grant_new (access, GLOVE_GRANT_ORIGIN_OPTION, open_path ("/usr"), "/usr", target, &error);

  g_assert_no_error (error);
  g_ptr_array_add (spec->grants, grant);
}

static void
assert_spec (GloveLaunchSpec *spec, gboolean expected, GloveError code, const char *message)
{
  g_autoptr (GError) error = NULL;
  gboolean ok = glove_launch_spec_validate (spec, &error);

  if (expected)
    g_assert_no_error (error);
  else
    glove_test_assert_error (error, code, message);
  g_assert_cmpint (ok, ==, expected);
  glove_launch_spec_unref (spec);
}

static void
test_spec (void)
{
  g_autoptr (GloveLaunchSpec) spec = glove_launch_spec_new ("s-1");
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (spec->work_dir, ==, GLOVE_HOME_DIRECTORY);
  for (int i = 0; i < 3; i++)
    g_assert_cmpint (spec->stdio[i], ==, -1);
  g_assert_cmpuint (spec->limits.value[GLOVE_LIMIT_PIDS], ==, 1024);
  g_assert_false (glove_launch_spec_validate (spec, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "there is no command");
}

static void
test_spec_faults (void)
{
  for (int fault = 0; fault < 22; fault++)
    {
      GloveLaunchSpec *spec = make_spec ();
      GloveLaunchListener listener = { 80, 1 };
      GloveError code = GLOVE_ERROR_INVALID_ARGUMENT;
      const char *message = NULL;

      g_test_message ("fault %d", fault);
      switch (fault)
        {
        case 0: break; /* none */
        case 1: spec->session_id[0] = '/'; message = "malformed session id"; break;
        case 2: g_strfreev (spec->env); spec->env = g_strsplit ("A=1 B", " ", -1); message = "“B” is not a name"; break;
        case 3: g_strfreev (spec->env); spec->env = g_strsplit ("A=1 A-B=2", " ", -1); message = "“A-B” is not a name"; break;
        case 4: g_strfreev (spec->env); spec->env = g_strsplit ("A=1 A=2", " ", -1); message = "A is set twice"; break;
        case 5: g_free (spec->work_dir); spec->work_dir = g_strdup ("a"); message = "working directory"; break;
        case 6: g_free (spec->work_dir); spec->work_dir = g_strdup ("/a/../b"); message = "working directory"; break;
        case 7: spec->executable = g_strdup ("sh"); message = "executable"; break;
        case 8: spec->executable = g_strdup ("/bin/sh"); break;
        case 9: add_grant (spec, GLOVE_GRANT_READ, "/a/b"); add_grant (spec, GLOVE_GRANT_READ, "/c"); message = "ordered by depth"; break;
        case 10: add_grant (spec, GLOVE_GRANT_READ, "/a"); add_grant (spec, GLOVE_GRANT_WRITE, "/a"); code = GLOVE_ERROR_CONFLICT;
                 message = "two grants claim “/a”"; break;
        case 11: add_grant (spec, GLOVE_GRANT_READ, "/b"); add_grant (spec, GLOVE_GRANT_WRITE, "/a");
                 add_grant (spec, GLOVE_GRANT_READ, "/a/b"); break;
        case 12: g_array_append_val (spec->listeners, listener); g_array_append_val (spec->listeners, listener);
                 code = GLOVE_ERROR_CONFLICT; message = "two listeners claim port 80"; break;
        case 13: listener.port = 0; g_array_append_val (spec->listeners, listener); g_array_append_val (spec->listeners, listener); break;
        case 14: spec->limits.value[GLOVE_LIMIT_MEMORY] = (guint64) G_MAXINT64 + 1; message = "limit memory"; break;
        case 15: spec->limits.value[GLOVE_LIMIT_MEMORY] = G_MAXINT64; break;
        case 16: spec->limits.requested[GLOVE_LIMIT_OUTPUT] = TRUE; message = "limit output"; break;
        case 17: spec->tty = TRUE; spec->rows = 0; message = "terminal of 0 × 80"; break;
        case 18: spec->tty = TRUE; spec->columns = 4097; message = "terminal of 24 × 4097"; break;
        case 19: spec->tty = TRUE; spec->columns = 4096; spec->rows = 1; break;
        case 20: spec->rows = 0; break; /* not looked at without a terminal */
        default: spec->term_signal = 1; message = "reserved"; break;
        }
      assert_spec (spec, message == NULL, code, message);
    }
}

static void
test_spec_bounds (void)
{
  for (int past = -1; past <= 1; past++)
    {
      GloveLaunchSpec *spec = make_spec ();
      GloveLaunchListener listener = { 0, 0 };
      g_autofree char *argument = g_strnfill ((gsize) (GLOVE_ARG_BYTES_MAX - 1 + past), 'a');

      g_strfreev (spec->argv);
      spec->argv = make_strv ((guint) (GLOVE_ARGV_MAX + past), "a");
      assert_spec (spec, past <= 0, GLOVE_ERROR_LIMIT, "more than 4096 arguments");

      spec = make_spec ();
      g_strfreev (spec->env);
      spec->env = make_strv ((guint) (GLOVE_ENV_MAX + past), "a");
      assert_spec (spec, past <= 0, GLOVE_ERROR_LIMIT, "more than 1024 environment variables");

      spec = make_spec ();
      g_free (spec->argv[2]);
      spec->argv[2] = g_strdup (argument);
      assert_spec (spec, past <= 0, GLOVE_ERROR_LIMIT, "longer than 131071 bytes");

      /* 1 MiB in all: 7 × 128 KiB, then "sh", "-c" and one that fills up. */
      spec = make_spec ();
      g_free (spec->argv[2]);
      spec->argv = g_renew (char *, spec->argv, 11);
      for (int i = 2; i < 9; i++)
        spec->argv[i] = g_strnfill (GLOVE_ARG_BYTES_MAX - 1, 'a');
      spec->argv[9] = g_strnfill ((gsize) (GLOVE_ARGS_TOTAL_MAX - 7 * GLOVE_ARG_BYTES_MAX - 6 - 1 + past), 'a');
      spec->argv[10] = NULL;
      assert_spec (spec, past <= 0, GLOVE_ERROR_LIMIT, "larger than 1048576 bytes together");

      spec = make_spec ();
      for (int i = 0; i < GLOVE_LISTENERS_MAX + past; i++)
        g_array_append_val (spec->listeners, listener);
      assert_spec (spec, past <= 0, GLOVE_ERROR_LIMIT, "more than 64 listeners");

      spec = make_spec ();
      add_grant (spec, GLOVE_GRANT_MASK, "/mask");
      for (int i = 0; i < GLOVE_GRANTS_MAX + past; i++)
        {
          g_autofree char *target = g_strdup_printf ("/g%d", i);

          add_grant (spec, GLOVE_GRANT_READ, target);
        }
      assert_spec (spec, past <= 0, GLOVE_ERROR_LIMIT, "more than 512 grants");
    }
}

static void
test_home (void)
{
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  g_autoptr (GloveRuntimeHome) boxed = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) seen = g_string_new (NULL);
  const GPtrArray *entries;

  g_assert_nonnull (glove_runtime_home_get_arguments (home));
  g_assert_null (glove_runtime_home_get_arguments (home)[0]);
  g_assert_true (glove_runtime_home_add_file (home, ".codex/sub/a", "x\0y", 3, 0600, &error));
  g_assert_true (glove_runtime_home_add_file (home, ".codex.toml", "text", -1, 0644, &error));
  g_assert_true (glove_runtime_home_add_directory (home, "empty", 0755, &error));
  g_assert_true (glove_runtime_home_add_directory (home, ".codex", 0750, &error)); /* made as a parent before */
  g_assert_true (glove_runtime_home_set_environment (home, "B", "1=2", &error));
  g_assert_true (glove_runtime_home_set_environment (home, "A", "", &error));
  glove_runtime_home_add_argument (home, "exec");
  glove_runtime_home_add_argument (home, "--x");
  glove_runtime_home_add_trailing_argument (home, "prompt");
  g_assert_no_error (error);

  boxed = g_boxed_copy (GLOVE_TYPE_RUNTIME_HOME, home);
  entries = glove_runtime_home_get_entries (boxed);
  for (guint i = 0; i < entries->len; i++)
    {
      const GloveRuntimeHomeEntry *entry = g_ptr_array_index (entries, i);

      g_string_append_printf (seen, "%s %o %d|", entry->path, entry->mode,
                              entry->content != NULL ? (int) g_bytes_get_size (entry->content) : -1);
    }
  g_assert_cmpstr (seen->str, ==, ".codex 750 -1|.codex.toml 644 4|.codex/sub 700 -1|.codex/sub/a 600 3|empty 755 -1|");
  g_assert_cmpstr (glove_runtime_home_get_environment (home)[0], ==, "B=1=2");
  g_assert_cmpstr (glove_runtime_home_get_environment (home)[1], ==, "A=");
  g_assert_null (glove_runtime_home_get_environment (home)[2]);
  g_assert_cmpstr (glove_runtime_home_get_arguments (home)[1], ==, "--x");
  g_assert_cmpstr (glove_runtime_home_get_trailing_arguments (home)[0], ==, "prompt");
}

static void
test_home_refused (void)
{
  static const char *const bad[] = { "", "/a", "..", "../a", "a/../b", ".", "./a", "a/", "a//b", "dir", "file", "file/x" };
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  guint before;

  g_assert_true (glove_runtime_home_add_directory (home, "dir", 0700, NULL));
  g_assert_true (glove_runtime_home_add_file (home, "file", "", 0, 0600, NULL));
  before = glove_runtime_home_get_entries (home)->len;
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) directory_error = NULL;

      g_assert_false (glove_runtime_home_add_file (home, bad[i], "x", 1, 0600, &error));
      glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "in the private home");
      g_assert_false (glove_runtime_home_add_directory (home, bad[i], 0700, &directory_error));
      glove_test_assert_error (directory_error, GLOVE_ERROR_INVALID_ARGUMENT, "in the private home");
    }
  for (int directory = 0; directory < 2; directory++)
    {
      g_autoptr (GError) error = NULL;
      gboolean ok = directory ? glove_runtime_home_add_directory (home, "new", 04755, &error)
                              : glove_runtime_home_add_file (home, "new", "", 0, 02755, &error);

      g_assert_false (ok);
      glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "more than permission bits");
    }
  g_assert_cmpuint (glove_runtime_home_get_entries (home)->len, ==, before);
}

static void
test_home_environment (void)
{
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  g_autoptr (GError) error = NULL;

  g_assert_false (glove_runtime_home_set_environment (home, "A B", "x", &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "“A B” is not a name");
  g_clear_error (&error);
  g_assert_true (glove_runtime_home_set_environment (home, "A", "x", &error));
  g_assert_true (glove_runtime_home_set_environment (home, "AA", "x", &error));
  g_assert_false (glove_runtime_home_set_environment (home, "A", "y", &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "A is set twice");
  g_clear_error (&error);
  for (int i = 2; i <= GLOVE_ENV_MAX; i++)
    {
      g_autofree char *name = g_strdup_printf ("B%d", i);

      g_assert_cmpint (glove_runtime_home_set_environment (home, name, "", &error), ==, i < GLOVE_ENV_MAX);
    }
  glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "more than 1024");
}

static void
test_home_bounds (void)
{
  for (int past = -1; past <= 1; past++)
    {
      g_autoptr (GloveRuntimeHome) many = glove_runtime_home_new ();
      g_autoptr (GloveRuntimeHome) large = glove_runtime_home_new ();
      g_autofree char *content = g_malloc0 ((gsize) GLOVE_HOME_BYTES_MAX);
      g_autoptr (GError) error = NULL;
      gboolean ok;

      /* The parent counts. */
      for (int i = 0; i < GLOVE_HOME_FILES_MAX - 2 + past; i++)
        {
          g_autofree char *name = g_strdup_printf ("f%d", i);

          g_assert_true (glove_runtime_home_add_file (many, name, "", 0, 0600, NULL));
        }
      ok = glove_runtime_home_add_file (many, "parent/file", "", 0, 0600, &error);
      g_assert_cmpint (ok, ==, past <= 0);
      if (past > 0)
        glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "more than 256");
      g_clear_error (&error);

      g_assert_true (glove_runtime_home_add_file (large, "a", content, 10, 0600, NULL));
      ok = glove_runtime_home_add_file (large, "b", content, GLOVE_HOME_BYTES_MAX - 10 + past, 0600, &error);
      g_assert_cmpint (ok, ==, past <= 0);
      if (past > 0)
        glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "16 MiB");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/grant", test_grant);
  g_test_add_func ("/model/grant/paths", test_grant_paths);
  g_test_add_func ("/model/launch-spec", test_spec);
  g_test_add_func ("/model/launch-spec/faults", test_spec_faults);
  g_test_add_func ("/model/launch-spec/bounds", test_spec_bounds);
  g_test_add_func ("/model/runtime-home", test_home);
  g_test_add_func ("/model/runtime-home/refused", test_home_refused);
  g_test_add_func ("/model/runtime-home/environment", test_home_environment);
  g_test_add_func ("/model/runtime-home/bounds", test_home_bounds);
  return g_test_run ();
}
