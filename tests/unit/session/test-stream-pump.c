/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "glove-error.h"
#include "glove-fd.h"
#include "glove-output-budget.h"
#include "glove-stream-pump.h"

static void
on_exceeded (gpointer user_data)
{
  (*(int *) user_data)++;
}

static void
test_budget_bounds (void)
{
  const struct
  {
    guint64 limit;
    gsize first, second;
    gsize granted_second;
    int told;
  } rows[] = {
    { 10, 4, 5, 5, 0 },  /* limit - 1 */
    { 10, 4, 6, 6, 0 },  /* limit */
    { 10, 4, 7, 6, 1 },  /* limit + 1 */
    { 0, 4, 1000, 1000, 0 },
    { 1, 1, 1, 0, 1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      int told = 0;
      g_autoptr (GloveOutputBudget) budget = glove_output_budget_new (rows[i].limit, on_exceeded, &told);

      g_assert_cmpuint (glove_output_budget_take (budget, rows[i].first), ==, rows[i].first);
      g_assert_cmpuint (glove_output_budget_take (budget, rows[i].second), ==, rows[i].granted_second);
      (void) glove_output_budget_take (budget, 0);
      while (g_main_context_iteration (NULL, FALSE))
        continue;
      g_assert_cmpint (told, ==, rows[i].told);
      g_assert_cmpuint (glove_output_budget_get_bytes (budget), ==, rows[i].first + rows[i].granted_second);
    }
}

static void
test_budget_tells_once (void)
{
  int told = 0;
  g_autoptr (GloveOutputBudget) budget = glove_output_budget_new (1, on_exceeded, &told);

  for (int i = 0; i < 5; i++)
    (void) glove_output_budget_take (budget, 2);
  while (g_main_context_iteration (NULL, FALSE))
    continue;
  g_assert_cmpint (told, ==, 1);
}

static void
test_budget_closed (void)
{
  int told = 0;
  g_autoptr (GloveOutputBudget) budget = glove_output_budget_new (1, on_exceeded, &told);

  glove_output_budget_close (budget);
  (void) glove_output_budget_take (budget, 2);
  while (g_main_context_iteration (NULL, FALSE))
    continue;
  g_assert_cmpint (told, ==, 0);
}

static void
make_pipe (int ends[2])
{
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
}

/* More than a pipe holds, byte for byte, and the end is passed on. */
static void
test_pump_copies (void)
{
  const gsize length = 300000;
  g_autofree char *data = g_malloc (length);
  g_autoptr (GBytes) got = NULL;
  g_autoptr (GError) error = NULL;
  int in[2], out[2];
  guint before = glove_fd_count_open ();
  GloveStreamPump *pump;
  pid_t writer;

  for (gsize i = 0; i < length; i++)
    data[i] = (char) (i * 7);
  make_pipe (in);
  make_pipe (out);
  writer = fork ();
  g_assert_cmpint (writer, >=, 0);
  if (writer == 0)
    _exit (glove_fd_write_all (in[1], data, length, NULL) ? 0 : 1);
  (void) g_close (in[1], NULL);
  pump = glove_stream_pump_new (in[0], out[1], NULL, &error);
  g_assert_no_error (error);
  got = glove_fd_read_all (out[0], length + 1, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (got, NULL), g_bytes_get_size (got), data, length);
  g_assert_cmpint (glove_stream_pump_join (pump), ==, 0);
  (void) g_close (out[0], NULL);
  g_assert_cmpuint (glove_fd_count_open (), ==, before);
}

/* The reader goes away: the pump ends, and so does the writer's end. */
static void
test_pump_reader_gone (void)
{
  int in[2], out[2];
  g_autoptr (GError) error = NULL;
  GloveStreamPump *pump;

  make_pipe (in);
  make_pipe (out);
  (void) g_close (out[0], NULL);
  pump = glove_stream_pump_new (in[0], out[1], NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (write (in[1], "x", 1), ==, 1);
  g_assert_cmpint (glove_stream_pump_join (pump), ==, EPIPE);
  g_assert_cmpint (write (in[1], "x", 1), ==, -1);
  g_assert_cmpint (errno, ==, EPIPE);
  (void) g_close (in[1], NULL);
}

static void
test_pump_budget (void)
{
  int told = 0;
  int in[2], out[2];
  g_autoptr (GloveOutputBudget) budget = glove_output_budget_new (5, on_exceeded, &told);
  g_autoptr (GBytes) got = NULL;
  g_autoptr (GError) error = NULL;
  GloveStreamPump *pump;

  make_pipe (in);
  make_pipe (out);
  g_assert_cmpint (write (in[1], "0123456789", 10), ==, 10);
  pump = glove_stream_pump_new (in[0], out[1], budget, &error);
  g_assert_no_error (error);
  got = glove_fd_read_all (out[0], 100, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (got, NULL), g_bytes_get_size (got), "01234", 5);
  g_assert_cmpint (glove_stream_pump_join (pump), ==, 0);
  while (g_main_context_iteration (NULL, FALSE))
    continue;
  g_assert_cmpint (told, ==, 1);
  (void) g_close (in[1], NULL);
  (void) g_close (out[0], NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  (void) signal (SIGPIPE, SIG_IGN);
  g_test_add_func ("/session/output-budget/bounds", test_budget_bounds);
  g_test_add_func ("/session/output-budget/tells-once", test_budget_tells_once);
  g_test_add_func ("/session/output-budget/closed", test_budget_closed);
  g_test_add_func ("/session/stream-pump/copies", test_pump_copies);
  g_test_add_func ("/session/stream-pump/reader-gone", test_pump_reader_gone);
  g_test_add_func ("/session/stream-pump/budget", test_pump_budget);
  return g_test_run ();
}
