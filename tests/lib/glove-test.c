/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-deadline.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-text.h"

#define OUTPUT_MAX (64 * 1024 * 1024)
#define DEFAULT_TIMEOUT_MS 30000
#define STRAGGLERS_MS 1000

extern char **environ;

char *
glove_test_make_dir (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *made = g_dir_make_tmp ("glove-test-XXXXXX", &error);
  char *resolved;

  g_assert_no_error (error);
  resolved = realpath (made, NULL);
  g_assert_nonnull (resolved);
  return resolved;
}

static void
remove_contents (int dirfd)
{
  DIR *dir = fdopendir (dirfd);

  g_assert_nonnull (dir);
  for (const struct dirent *entry = readdir (dir); entry != NULL; entry = readdir (dir))
    {
      int child;

      if (g_str_equal (entry->d_name, ".") || g_str_equal (entry->d_name, ".."))
        continue;
      if (unlinkat (dirfd, entry->d_name, 0) == 0)
        continue;
      child = openat (dirfd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (child < 0 && errno == EACCES && fchmodat (dirfd, entry->d_name, 0700, 0) == 0)
        child = openat (dirfd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (child < 0)
        g_error ("can't remove %s: %s", entry->d_name, g_strerror (errno));
      (void) fchmod (child, 0700);
      remove_contents (child);
      if (unlinkat (dirfd, entry->d_name, AT_REMOVEDIR) < 0)
        g_error ("can't remove %s: %s", entry->d_name, g_strerror (errno));
    }
  (void) closedir (dir);
}

void
glove_test_remove_dir (const char *path)
{
  int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  remove_contents (fd);
  g_assert_no_errno (rmdir (path));
}

void
glove_test_write_file (const char *path, const char *content, gssize length, guint mode)
{
  g_autoptr (GError) error = NULL;
  glove_autofd int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  if (fd < 0)
    g_error ("can't write %s: %s", path, g_strerror (errno));
  (void) glove_fd_write_all (fd, content, length < 0 ? strlen (content) : (gsize) length, &error);
  g_assert_no_error (error);
  g_assert_no_errno (fchmod (fd, (mode_t) mode));
}

static char *
path_below (const char *variable, const char *first, va_list args)
{
  const char *root = g_getenv (variable);
  g_autoptr (GString) path = NULL;

  if (root == NULL)
    g_error ("%s is not set: run this through meson", variable);
  path = g_string_new (root);
  for (const char *part = first; part != NULL; part = va_arg (args, const char *))
    g_string_append_printf (path, "/%s", part);
  return g_string_free (g_steal_pointer (&path), FALSE);
}

char *
glove_test_build_path (const char *first, ...)
{
  va_list args;
  char *path;

  va_start (args, first);
  path = path_below ("GLOVE_TEST_BUILD_ROOT", first, args);
  va_end (args);
  return path;
}

char *
glove_test_source_path (const char *first, ...)
{
  va_list args;
  char *path;

  va_start (args, first);
  path = path_below ("GLOVE_TEST_SOURCE_ROOT", first, args);
  va_end (args);
  return path;
}

static int
open_input (const GloveTestCommand *command)
{
  g_autoptr (GError) error = NULL;
  gsize length;
  int fd;

  if (command->input == NULL)
    {
      fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
      g_assert_cmpint (fd, >=, 0);
      return fd;
    }
  length = command->input_length > 0 ? (gsize) command->input_length : strlen (command->input);
  fd = glove_fd_new_sealed ("glove-test-input", command->input, length, &error);
  g_assert_no_error (error);
  return fd;
}

static pid_t
spawn (const GloveTestCommand *command, int in, int out, int err)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigset_t all;
  pid_t pid = -1;
  int errsv;

  (void) sigemptyset (&none);
  (void) sigfillset (&all);
  g_assert_cmpint (posix_spawn_file_actions_init (&actions), ==, 0);
  g_assert_cmpint (posix_spawnattr_init (&attributes), ==, 0);
  g_assert_cmpint (posix_spawn_file_actions_adddup2 (&actions, in, 0), ==, 0);
  g_assert_cmpint (posix_spawn_file_actions_adddup2 (&actions, out, 1), ==, 0);
  g_assert_cmpint (posix_spawn_file_actions_adddup2 (&actions, err, 2), ==, 0);
  if (command->cwd != NULL)
    g_assert_cmpint (posix_spawn_file_actions_addchdir_np (&actions, command->cwd), ==, 0);
  g_assert_cmpint (posix_spawnattr_setsigmask (&attributes, &none), ==, 0);
  g_assert_cmpint (posix_spawnattr_setsigdefault (&attributes, &all), ==, 0);
  g_assert_cmpint (
      posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF), ==, 0);

  errsv = posix_spawnp (&pid, command->argv[0], &actions, &attributes, (char **) command->argv,
                        command->env != NULL ? (char **) command->env : environ);
  if (errsv != 0)
    g_error ("can't run %s: %s", command->argv[0], g_strerror (errsv));
  (void) posix_spawn_file_actions_destroy (&actions);
  (void) posix_spawnattr_destroy (&attributes);
  return pid;
}

/* Reads what there is; closes at end of file, or when it is too much. */
static void
drain (struct pollfd *from, GString *to)
{
  char buffer[65536];
  ssize_t n = read (from->fd, buffer, sizeof buffer);

  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  if (n > 0)
    g_string_append_len (to, buffer, n);
  if (n <= 0 || to->len > OUTPUT_MAX)
    glove_fd_clear (&from->fd);
}

/* Until both streams are at their end and the process is, or the deadline passes. FALSE: it passed while the process ran. */
static gboolean
collect (int pidfd, int out_fd, int err_fd, GString *out, GString *err, guint timeout_ms)
{
  struct pollfd polled[3] = { { pidfd, POLLIN, 0 }, { out_fd, POLLIN, 0 }, { err_fd, POLLIN, 0 } };
  GloveDeadline deadline = glove_deadline_in_ms (timeout_ms);
  gboolean ended = FALSE;

  while (!ended || polled[1].fd >= 0 || polled[2].fd >= 0)
    {
      int n = poll (polled, G_N_ELEMENTS (polled), glove_deadline_remaining_ms (deadline));

      if (n < 0 && errno == EINTR)
        continue;
      g_assert_cmpint (n, >=, 0);
      if (n == 0)
        break;
      if (polled[1].fd >= 0 && polled[1].revents != 0)
        drain (&polled[1], out);
      if (polled[2].fd >= 0 && polled[2].revents != 0)
        drain (&polled[2], err);
      if (polled[0].fd >= 0 && polled[0].revents != 0)
        {
          ended = TRUE;
          polled[0].fd = -1;
          deadline = glove_deadline_in_ms (STRAGGLERS_MS);
        }
    }
  glove_fd_clear (&polled[1].fd);
  glove_fd_clear (&polled[2].fd);
  return ended;
}

GloveTestResult *
glove_test_run (const GloveTestCommand *command)
{
  GloveTestResult *result = g_new0 (GloveTestResult, 1);
  GString *out = g_string_new (NULL);
  GString *err = g_string_new (NULL);
  glove_autofd int in = open_input (command);
  glove_autofd int pidfd = -1;
  int out_pipe[2];
  int err_pipe[2];
  int status = 0;
  pid_t pid;

  g_assert_no_errno (pipe2 (out_pipe, O_CLOEXEC));
  g_assert_no_errno (pipe2 (err_pipe, O_CLOEXEC));
  pid = spawn (command, in, out_pipe[1], err_pipe[1]);
  glove_fd_clear (&out_pipe[1]);
  glove_fd_clear (&err_pipe[1]);
  pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
  g_assert_cmpint (pidfd, >=, 0);

  result->timed_out = !collect (pidfd, out_pipe[0], err_pipe[0], out, err,
                                command->timeout_ms != 0 ? command->timeout_ms : DEFAULT_TIMEOUT_MS);
  if (result->timed_out)
    (void) kill (-pid, SIGKILL);
  while (waitpid (pid, &status, 0) < 0)
    g_assert_cmpint (errno, ==, EINTR);
  result->exit_code = WIFEXITED (status) && !result->timed_out ? WEXITSTATUS (status) : -1;
  result->signal = WIFSIGNALED (status) ? WTERMSIG (status) : 0;
  result->out_length = out->len;
  result->out = g_string_free (out, FALSE);
  result->err_length = err->len;
  result->err = g_string_free (err, FALSE);
  return result;
}

GloveTestResult *
glove_test_run_argv (const char *first, ...)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  GloveTestCommand command = { 0 };
  va_list args;

  va_start (args, first);
  for (const char *argument = first; argument != NULL; argument = va_arg (args, const char *))
    g_ptr_array_add (argv, (gpointer) argument);
  va_end (args);
  g_ptr_array_add (argv, NULL);
  command.argv = (const char *const *) argv->pdata;
  return glove_test_run (&command);
}

void
glove_test_result_free (GloveTestResult *self)
{
  if (self == NULL)
    return;
  g_free (self->out);
  g_free (self->err);
  g_free (self);
}

void
glove_test_assert_exit (const GloveTestResult *result, int exit_code)
{
  g_autofree char *out = NULL;
  g_autofree char *err = NULL;

  if (result->exit_code == exit_code)
    return;
  out = glove_text_escape (result->out, (gssize) MIN (result->out_length, 8192));
  err = glove_text_escape (result->err, (gssize) MIN (result->err_length, 8192));
  g_error ("exit code %d (signal %d%s), not %d\nstdout: %s\nstderr: %s", result->exit_code, result->signal,
           result->timed_out ? ", deadline passed" : "", exit_code, out, err);
}

void
glove_test_assert_contains (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("“%s” does not hold “%s”", text, part);
}

void
glove_test_assert_lacks (const char *text, const char *part)
{
  if (strstr (text, part) != NULL)
    g_error ("“%s” holds “%s”", text, part);
}

void
glove_test_assert_error (const GError *error, int code, const char *part)
{
  g_assert_nonnull (error);
  if (error->domain != GLOVE_ERROR || error->code != code)
    g_error ("error %s/%d, not %s: %s", g_quark_to_string (error->domain), error->code,
             glove_error_get_name ((GloveError) code), error->message);
  if (part != NULL)
    glove_test_assert_contains (error->message, part);
}

guint
glove_test_count_fds (void)
{
  return glove_fd_count_open ();
}

void
glove_test_assert_fds (guint before)
{
  guint now = glove_fd_count_open ();

  if (now == before)
    return;
  for (int fd = 0; fd < 1024; fd++)
    {
      g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
      g_autofree char *target = g_file_read_link (link, NULL);

      if (target != NULL)
        g_printerr ("# descriptor %d: %s\n", fd, target);
    }
  g_error ("%u descriptors are open, %u were", now, before);
}

static gboolean
must_run (void)
{
  return g_strcmp0 (g_getenv ("GLOVE_TESTS_MUST_RUN"), "1") == 0;
}

void
glove_test_skip (const char *format, ...)
{
  g_autofree char *missing = NULL;
  va_list args;

  va_start (args, format);
  missing = g_strdup_vprintf (format, args);
  va_end (args);
  if (must_run ())
    g_test_fail_printf ("must run, but: %s", missing);
  else
    g_test_skip (missing);
}

void
glove_test_skip_all (const char *format, ...)
{
  g_autofree char *missing = NULL;
  va_list args;

  va_start (args, format);
  missing = g_strdup_vprintf (format, args);
  va_end (args);
  g_printerr ("%s: %s\n", must_run () ? "must run, but" : "skipped", missing);
  exit (must_run () ? 1 : 77);
}
