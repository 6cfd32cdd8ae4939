/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which launcher is trusted, what it inherits, and what a launcher that misbehaves leads to:
 * glove-linux-fake-launcher plays the part, by what the spec's first argument says. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-linux-backend.h"
#include "glove-linux-fd.h"
#include "glove-linux-launcher.h"

typedef struct {
  char *dir;
  char *path;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *bytes = NULL;
  gsize length = 0;

  fixture->dir = g_dir_make_tmp ("glove-launcher-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->path = g_build_filename (fixture->dir, "launcher", NULL);
  g_assert_true (g_file_get_contents (FAKE_LAUNCHER, &bytes, &length, &error));
  g_assert_true (g_file_set_contents_full (fixture->path, bytes, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0755, &error));
}

static void
tear_down (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", fixture->dir);

  g_assert_cmpint (system (command), ==, 0);
  g_free (fixture->dir);
  g_free (fixture->path);
}

static void
assert_refused (const char *path, GloveError code, const char *telling)
{
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (glove_linux_launcher_open (path, &error), ==, -1);
  g_assert_error (error, GLOVE_ERROR, (int) code);
  g_assert_nonnull (strstr (error->message, telling));
  g_assert_nonnull (strstr (error->message, path));
  g_assert_nonnull (glove_error_get_hint (error));
}

static void
test_trust (Fixture *fixture, gconstpointer unused)
{
  static const mode_t bad_modes[] = { 0775, 0757, 0777, 0722 };
  g_autofree char *link = g_build_filename (fixture->dir, "link", NULL);
  g_autofree char *missing = g_build_filename (fixture->dir, "missing", NULL);
  g_autoptr (GError) error = NULL;
  glove_linux_autofd int fd = glove_linux_launcher_open (fixture->path, &error);

  g_assert_no_error (error);
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  for (gsize i = 0; i < G_N_ELEMENTS (bad_modes); i++)
    {
      g_assert_cmpint (chmod (fixture->path, bad_modes[i]), ==, 0);
      assert_refused (fixture->path, GLOVE_ERROR_UNTRUSTED, "written by others");
    }
  g_assert_cmpint (chmod (fixture->path, 0644), ==, 0);
  assert_refused (fixture->path, GLOVE_ERROR_UNTRUSTED, "not an executable");
  g_assert_cmpint (chmod (fixture->path, 0755), ==, 0);
  g_assert_cmpint (symlink (fixture->path, link), ==, 0);
  assert_refused (link, GLOVE_ERROR_UNTRUSTED, "not an executable");
  assert_refused (fixture->dir, GLOVE_ERROR_UNTRUSTED, "not an executable");
  assert_refused (missing, GLOVE_ERROR_NOT_FOUND, "can't open");
  if (geteuid () != 0)
    return;
  g_assert_cmpint (chown (fixture->path, 4242, 4242), ==, 0);
  assert_refused (fixture->path, GLOVE_ERROR_UNTRUSTED, "user 4242");
}

/* Three descriptors that were listed, and nothing else: not the operator's environment, not an open file. */
static void
test_inheritance (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  glove_linux_autofd int launcher = glove_linux_launcher_open (fixture->path, &error);
  glove_linux_autofd int spec = glove_linux_fd_new_sealed ("spec", "inherit", 7, &error);
  glove_linux_autofd int secret = open ("/etc/passwd", O_RDONLY | O_CLOEXEC);
  glove_linux_autofd int pidfd = -1;
  g_autofree char *expected = NULL;
  char answer[1024] = "";
  gsize length = 0;
  int report[2];
  ssize_t n;
  pid_t pid;
  int status = 0;

  g_assert_no_error (error);
  g_assert_cmpint (secret, >=, 0);
  g_assert_cmpint (pipe2 (report, O_CLOEXEC), ==, 0);
  {
    const int fds[] = { report[1], -1, report[1] };

    g_assert_true (glove_linux_launcher_spawn (launcher, spec, fds, G_N_ELEMENTS (fds), &pid, &pidfd, &error));
    g_assert_no_error (error);
  }
  close (report[1]);
  while ((n = read (report[0], answer + length, sizeof answer - 1 - length)) > 0)
    length += (gsize) n;
  close (report[0]);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  expected = g_strdup_printf ("fds 0 1 2 %d %d env 0 blocked 0 ignored 0 group own\n", MIN (spec, report[1]),
                              MAX (spec, report[1]));
  g_assert_cmpstr (answer, ==, expected);
}

static const struct {
  const char *role;
  GloveError code;
  const char *telling;
} roles[] = {
  { "exit-3", GLOVE_ERROR_FAILED, "status 3" },
  { "killed", GLOVE_ERROR_FAILED, "signal 9" },
  { "short-packet", GLOVE_ERROR_INVALID_DATA, "packet of 10 bytes" },
  { "unknown-type", GLOVE_ERROR_INVALID_DATA, "unknown type 4711" },
  { "other-version", GLOVE_ERROR_NOT_SUPPORTED, "version 99" },
  { "failed", GLOVE_ERROR_UNAVAILABLE, "too revealing" },
  { "failed-then-killed", GLOVE_ERROR_UNAVAILABLE, "too revealing" },
  { "no-terminal", GLOVE_ERROR_INVALID_DATA, "no terminal" },
};

static GloveSandbox *
prepare_role (Fixture *fixture, const char *role, gboolean tty, GError **error)
{
  g_autoptr (GHashTable) settings = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GloveSandboxBackend) backend = NULL;
  g_autoptr (GloveLaunchSpec) spec = glove_launch_spec_new ("fake");

  g_hash_table_insert (settings, (gpointer) "launcher", fixture->path);
  backend = g_object_new (GLOVE_LINUX_TYPE_BACKEND, "settings", settings, NULL);
  g_strfreev (spec->argv);
  spec->argv = g_strsplit (role, " ", -1);
  spec->tty = tty;
  return glove_sandbox_backend_prepare (backend, spec, error);
}

static void
on_start (GObject *object, GAsyncResult *result, gpointer user_data)
{
  GError **error = user_data;

  if (glove_sandbox_start_finish (GLOVE_SANDBOX (object), result, error))
    g_error ("it started");
}

static void
on_finish (GObject *object, GAsyncResult *result, gpointer user_data)
{
  GloveOutcome *outcome = user_data;
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_sandbox_finish_finish (GLOVE_SANDBOX (object), result, outcome, &error));
  outcome->usage.disk_bytes = 1;
}

/* HO-05: what the launcher said counts more than that it went away. It is the start that fails: making goes on beside the caller. */
static void
test_roles (Fixture *fixture, gconstpointer unused)
{
  for (gsize i = 0; i < G_N_ELEMENTS (roles); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) start_error = NULL;
      g_autoptr (GloveSandbox) sandbox
          = prepare_role (fixture, roles[i].role, g_str_equal (roles[i].role, "no-terminal"), &error);
      GloveOutcome outcome = { 0 };

      g_test_message ("%s", roles[i].role);
      g_assert_no_error (error);
      glove_sandbox_start_async (sandbox, NULL, on_start, &start_error);
      glove_sandbox_finish_async (sandbox, NULL, on_finish, &outcome);
      while (outcome.usage.disk_bytes != 1 || start_error == NULL)
        g_main_context_iteration (NULL, TRUE);
      g_assert_error (start_error, GLOVE_ERROR, (int) roles[i].code);
      g_assert_nonnull (strstr (start_error->message, roles[i].telling));
      /* Reaped: no child is left. */
      g_assert_cmpint (waitpid (-1, NULL, WNOHANG), ==, -1);
      g_assert_cmpint (errno, ==, ECHILD);
    }
}

/* It is ready and then gone: the start fails, the end is told, nobody waits for ever. */
static void
test_lost (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) start_error = NULL;
  g_autoptr (GloveSandbox) sandbox = prepare_role (fixture, "ready-then-killed", FALSE, &error);
  GloveOutcome outcome = { 0 };

  g_assert_no_error (error);
  glove_sandbox_start_async (sandbox, NULL, on_start, &start_error);
  glove_sandbox_finish_async (sandbox, NULL, on_finish, &outcome);
  while (outcome.usage.disk_bytes != 1 || start_error == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_error (start_error, GLOVE_ERROR, GLOVE_ERROR_FAILED);
  g_assert_cmpint (outcome.cause, ==, GLOVE_TERMINATION_SUPERVISOR_ERROR);
}

/* A launcher that ignores the end of its socket is killed; dropping the sandbox takes no longer than that. */
static void
test_deaf (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  GloveSandbox *sandbox = prepare_role (fixture, "ready-then-deaf", FALSE, &error);
  gint64 before = g_get_monotonic_time ();

  g_assert_no_error (error);
  g_object_unref (sandbox);
  g_assert_cmpint (g_get_monotonic_time () - before, <, 20 * G_USEC_PER_SEC);
  g_assert_cmpint (waitpid (-1, NULL, WNOHANG), ==, -1);
}

#define ADD(name, function) g_test_add ("/linux/launcher/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("trust", test_trust);
  ADD ("inheritance", test_inheritance);
  ADD ("roles", test_roles);
  ADD ("lost", test_lost);
  ADD ("deaf", test_deaf);
  return g_test_run ();
}
