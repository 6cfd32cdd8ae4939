/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <signal.h>
#include <string.h>

#include "glove-test.h"

static void
test_exit (void)
{
  guint fds = glove_test_count_fds ();
  g_autoptr (GloveTestResult) result
      = glove_test_run_argv ("sh", "-c", "printf 'a\\0b'; echo err >&2; exit 7", NULL);

  glove_test_assert_exit (result, 7);
  g_assert_cmpmem (result->out, result->out_length, "a\0b", 3);
  g_assert_cmpstr (result->err, ==, "err\n");
  g_assert_false (result->timed_out);
  glove_test_assert_fds (fds);
}

static void
test_command (void)
{
  g_autofree char *dir = glove_test_make_dir ();
  const char *const argv[] = { "/bin/sh", "-c", "pwd; cat; echo $A$HOME; test ! -t 0", NULL };
  const char *const env[] = { "A=x", NULL };
  const GloveTestCommand command = { .argv = argv, .env = env, .cwd = dir, .input = "in\n" };
  g_autoptr (GloveTestResult) result = glove_test_run (&command);
  g_autofree char *expected = g_strdup_printf ("%s\nin\nx\n", dir);

  glove_test_assert_exit (result, 0);
  g_assert_cmpstr (result->out, ==, expected);
  glove_test_remove_dir (dir);
}

static void
test_signal (void)
{
  g_autoptr (GloveTestResult) result = glove_test_run_argv ("sh", "-c", "kill -TERM $$", NULL);

  g_assert_cmpint (result->exit_code, ==, -1);
  g_assert_cmpint (result->signal, ==, SIGTERM);
}

/* The whole session is killed, and what it wrote until then is there. */
static void
test_deadline (void)
{
  const char *const argv[] = { "sh", "-c", "echo begun; sleep 100 & sleep 100", NULL };
  const GloveTestCommand command = { .argv = argv, .timeout_ms = 300 };
  gint64 start = g_get_monotonic_time ();
  g_autoptr (GloveTestResult) result = glove_test_run (&command);

  g_assert_true (result->timed_out);
  g_assert_cmpint (result->exit_code, ==, -1);
  g_assert_cmpstr (result->out, ==, "begun\n");
  g_assert_cmpint (g_get_monotonic_time () - start, <, 20 * G_USEC_PER_SEC);
}

/* In a process of its own, which ends by it. */
static void
test_skip (void)
{
  if (g_test_subprocess ())
    glove_test_skip_all ("no %s", "moon");
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*no moon*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lib/exit", test_exit);
  g_test_add_func ("/lib/command", test_command);
  g_test_add_func ("/lib/signal", test_signal);
  g_test_add_func ("/lib/deadline", test_deadline);
  g_test_add_func ("/lib/skip", test_skip);
  return g_test_run ();
}
