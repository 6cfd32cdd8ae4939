/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <glib-unix.h>
#include <glib/gstdio.h>

#include "glove-contract-cases-private.h"

/* Long enough for a slow machine; nothing waits for it where all is well. */
#define TIMEOUT_SECONDS 60

typedef struct {
  GMainLoop *loop;
  GError *start_error;
  GloveOutcome outcome;
  gboolean started, finished, timed_out;
} Run;

static void
run_clear (Run *run)
{
  g_clear_pointer (&run->loop, g_main_loop_unref);
  g_clear_error (&run->start_error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static gboolean
on_timeout (gpointer data)
{
  Run *run = data;

  run->timed_out = TRUE;
  g_main_loop_quit (run->loop);
  return G_SOURCE_REMOVE;
}

/* Runs the loop until the pending operation quits it. */
static void
wait_for (Run *run)
{
  guint timeout = g_timeout_add_seconds (TIMEOUT_SECONDS, on_timeout, run);

  g_main_loop_run (run->loop);
  g_assert_false (run->timed_out);
  g_assert_true (g_source_remove (timeout));
}

static void
on_started (GObject *object, GAsyncResult *result, gpointer data)
{
  Run *run = data;

  run->started = glove_sandbox_start_finish (GLOVE_SANDBOX (object), result, &run->start_error);
  g_assert_true (run->started == (run->start_error == NULL));
  g_main_loop_quit (run->loop);
}

static void
on_finished (GObject *object, GAsyncResult *result, gpointer data)
{
  Run *run = data;
  g_autoptr (GError) error = NULL;

  run->finished = glove_sandbox_finish_finish (GLOVE_SANDBOX (object), result, &run->outcome, &error);
  g_assert_no_error (error);
  g_assert_true (run->finished);
  g_main_loop_quit (run->loop);
}

static void
start (GloveSandbox *sandbox, Run *run)
{
  if (run->loop == NULL)
    run->loop = g_main_loop_new (NULL, FALSE);
  glove_sandbox_start_async (sandbox, /* cancellable= */ NULL, on_started, run);
  wait_for (run);
}

static void
finish (GloveSandbox *sandbox, Run *run)
{
  if (run->loop == NULL)
    run->loop = g_main_loop_new (NULL, FALSE);
  glove_sandbox_finish_async (sandbox, /* cancellable= */ NULL, on_finished, run);
  wait_for (run);
}

/* A spec for one command, the words of @command separated by newlines. */
static GloveLaunchSpec *
make_spec (const char *command)
{
  static guint serial;
  g_autofree char *session = g_strdup_printf ("contract-%d-%u", (int) getpid (), ++serial);
  GloveLaunchSpec *spec = glove_launch_spec_new (session);
  const char *const environment[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "CONTRACT=a value", NULL };

  g_clear_pointer (&spec->argv, g_strfreev);
  spec->argv = g_strsplit (command, "\n", -1);
  g_clear_pointer (&spec->env, g_strfreev);
  spec->env = g_strdupv ((char **) environment);
  g_clear_pointer (&spec->work_dir, g_free);
  spec->work_dir = g_strdup (GLOVE_HOME_DIRECTORY);
  spec->as_root_id = FALSE;
  return spec;
}

static GloveSandbox *
prepare (GloveSandboxBackend *backend, GloveLaunchSpec *spec)
{
  g_autoptr (GError) error = NULL;
  GloveSandbox *sandbox = glove_sandbox_backend_prepare (backend, spec, &error);

  g_assert_no_error (error);
  g_assert_nonnull (sandbox);
  return sandbox;
}

/* What the probe says is missing, or NULL. */
static char *
find_missing (GloveSandboxBackend *backend)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) results = glove_sandbox_backend_probe (backend, /* cancellable= */ NULL, &error);

  if (results == NULL)
    return g_strdup (error->message);

  for (guint i = 0; i < results->len; i++)
    {
      const GloveProbeResult *result = g_ptr_array_index (results, i);

      if (result->status == GLOVE_PROBE_MISSING)
        return g_strdup_printf ("%s: %s", result->code, result->message);
    }

  return NULL;
}

static gboolean
can_launch (GloveSandboxBackend *backend)
{
  g_autofree char *missing = find_missing (backend);

  if (missing == NULL)
    return TRUE;

  if (g_strcmp0 (g_getenv ("GLOVE_TESTS_MUST_RUN"), "1") == 0)
    g_test_fail_printf ("nothing may be skipped here, and %s", missing);
  else
    g_test_skip (missing);
  return FALSE;
}

static void
check_probe (gconstpointer object)
{
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);
  g_autoptr (GHashTable) codes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) results = NULL;
  g_autoptr (GError) error = NULL;

  results = glove_sandbox_backend_probe (backend, /* cancellable= */ NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (results->len, >, 0);

  for (guint i = 0; i < results->len; i++)
    {
      const GloveProbeResult *result = g_ptr_array_index (results, i);

      g_assert_nonnull (result->code);
      g_assert_cmpstr (result->code, !=, "");
      g_assert_cmpuint (strspn (result->code, "abcdefghijklmnopqrstuvwxyz0123456789_"), ==, strlen (result->code));
      g_assert_true (g_hash_table_add (codes, g_strdup (result->code)));
      g_assert_nonnull (glove_probe_status_get_name (result->status));
      g_assert_nonnull (result->message);
      g_assert_cmpstr (result->message, !=, "");
      g_assert_nonnull (result->repair);
      /* What is lacking comes with what to do about it. */
      if (result->status == GLOVE_PROBE_MISSING || result->status == GLOVE_PROBE_DEGRADED)
        g_assert_cmpstr (result->repair, !=, "");
    }
}

static void
check_probe_leaves_nothing (gconstpointer object)
{
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);
  guint before;

  g_free (find_missing (backend)); /* what is opened once is open now */
  before = glove_contract_count_descriptors ();
  g_free (find_missing (backend));
  g_assert_cmpuint (glove_contract_count_descriptors (), ==, before);
}

static void
check_mechanisms (gconstpointer object)
{
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);
  GloveLimitMechanism mechanisms[GLOVE_N_LIMITS];
  char *repairs[GLOVE_N_LIMITS] = { NULL };

  glove_sandbox_backend_query_mechanisms (backend, mechanisms, repairs);
  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    {
      g_assert_nonnull (glove_limit_mechanism_get_name (mechanisms[i]));
      if (mechanisms[i] == GLOVE_LIMIT_MECHANISM_UNAVAILABLE)
        {
          g_assert_nonnull (repairs[i]);
          g_assert_cmpstr (repairs[i], !=, "");
        }
      g_clear_pointer (&repairs[i], g_free);
    }

  /* The repairs may be asked for or not. */
  glove_sandbox_backend_query_mechanisms (backend, mechanisms, NULL);
}

/* A limit that was asked for and that nothing enforces is refused, never dropped. */
static void
check_unenforced_limit (gconstpointer object)
{
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);
  GloveLimitMechanism mechanisms[GLOVE_N_LIMITS];
  gboolean tried = FALSE;

  if (!can_launch (backend))
    return;

  glove_sandbox_backend_query_mechanisms (backend, mechanisms, NULL);
  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    {
      g_autoptr (GloveLaunchSpec) spec = NULL;
      g_autoptr (GloveSandbox) sandbox = NULL;
      g_autoptr (GError) error = NULL;

      if (mechanisms[i] != GLOVE_LIMIT_MECHANISM_UNAVAILABLE)
        continue;
      tried = TRUE;
      spec = make_spec ("true");
      spec->limits.value[i] = 1 << 30;
      spec->limits.requested[i] = TRUE;
      sandbox = glove_sandbox_backend_prepare (backend, spec, &error);
      g_assert_null (sandbox);
      g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNAVAILABLE);
      g_assert_nonnull (glove_error_get_hint (error));
    }

  if (!tried)
    g_test_message ("every limit is enforced on this host");
}

static void
check_exit_status (gconstpointer object)
{
  static const struct {
    const char *command;
    GloveTermination cause;
    guint8 exit_code;
    guint8 signum;
  } commands[] = {
    { "true", GLOVE_TERMINATION_EXITED, 0, 0 },
    { "sh\n-c\nexit 7", GLOVE_TERMINATION_EXITED, 7, 0 },
    { "sh\n-c\nexit 255", GLOVE_TERMINATION_EXITED, 255, 0 },
    { "sh\n-c\nkill -TERM $$", GLOVE_TERMINATION_SIGNALED, 0, SIGTERM },
    { "sh\n-c\nkill -KILL $$", GLOVE_TERMINATION_SIGNALED, 0, SIGKILL },
  };
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);

  if (!can_launch (backend))
    return;

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr (GloveLaunchSpec) spec = make_spec (commands[i].command);
      g_autoptr (GloveSandbox) sandbox = prepare (backend, spec);
      g_auto (Run) run = { 0 };

      start (sandbox, &run);
      g_assert_no_error (run.start_error);
      finish (sandbox, &run);
      g_assert_cmpstr (glove_termination_get_name (run.outcome.cause), ==,
                       glove_termination_get_name (commands[i].cause));
      g_assert_cmpuint (run.outcome.exit_code, ==, commands[i].exit_code);
      g_assert_cmpuint (run.outcome.signal, ==, commands[i].signum);
    }
}

static void
check_start_errors (gconstpointer object)
{
  static const struct {
    const char *command;
    GloveError code;
  } commands[] = {
    { "no-such-program-of-the-contract", GLOVE_ERROR_NOT_FOUND },
    { "/usr/no/such/program", GLOVE_ERROR_NOT_FOUND },
    { "/usr", GLOVE_ERROR_NOT_EXECUTABLE },
    { "/usr/share/zoneinfo/UTC", GLOVE_ERROR_NOT_EXECUTABLE },
  };
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);

  if (!can_launch (backend))
    return;

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr (GloveLaunchSpec) spec = NULL;
      g_autoptr (GloveSandbox) sandbox = NULL;
      g_auto (Run) run = { 0 };

      if (commands[i].code == GLOVE_ERROR_NOT_EXECUTABLE && access (commands[i].command, F_OK) != 0)
        continue;
      spec = make_spec (commands[i].command);
      sandbox = prepare (backend, spec);
      start (sandbox, &run);
      g_test_message ("%s: %s", commands[i].command, run.start_error != NULL ? run.start_error->message : "started");
      g_assert_error (run.start_error, GLOVE_ERROR, (int) commands[i].code);
    }
}

/* Everything that comes out of the pipe. */
static char *
read_output (GloveSandboxBackend *backend, const char *command)
{
  g_autoptr (GloveLaunchSpec) spec = make_spec (command);
  g_autoptr (GloveSandbox) sandbox = NULL;
  g_autoptr (GString) output = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_auto (Run) run = { 0 };
  char buffer[4096];
  gssize n;
  int ends[2];

  g_assert_true (g_unix_open_pipe (ends, FD_CLOEXEC, &error));
  g_assert_no_error (error);
  spec->stdio[1] = ends[1];
  sandbox = prepare (backend, spec);
  start (sandbox, &run);
  g_assert_no_error (run.start_error);
  (void) g_close (ends[1], NULL);
  finish (sandbox, &run);
  g_assert_cmpuint (run.outcome.exit_code, ==, 0);

  while ((n = read (ends[0], buffer, sizeof buffer)) > 0)
    g_string_append_len (output, buffer, n);
  g_assert_cmpint (n, ==, 0); /* nobody inside holds the other end any more */
  (void) g_close (ends[0], NULL);
  return g_strdup (output->str);
}

static void
check_argv_and_environment (gconstpointer object)
{
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);
  g_autofree char *arguments = NULL;
  g_autofree char *environment = NULL;
  g_autofree char *directory = NULL;
  g_auto (GStrv) lines = NULL;

  if (!can_launch (backend))
    return;

  arguments = read_output (backend, "printf\n<%s>\na b\n\xff\xfe\n$HOME '\"\\");
  g_assert_cmpstr (arguments, ==, "<a b><\xff\xfe><$HOME '\"\\>");

  /* Complete: what the caller gave and nothing that the backend or the host adds. */
  environment = read_output (backend, "env");
  lines = g_strsplit (g_strchomp (environment), "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 2);
  g_assert_true (g_strv_contains ((const char *const *) lines, "CONTRACT=a value"));
  g_assert_true (g_strv_contains ((const char *const *) lines, "PATH=/usr/local/bin:/usr/bin:/bin"));

  directory = read_output (backend, "pwd");
  g_assert_cmpstr (g_strchomp (directory), ==, GLOVE_HOME_DIRECTORY);
}

static void
check_listeners (gconstpointer object)
{
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);
  const GloveLaunchListener wanted[] = { { 0, 1 }, { 18080, 2 } };
  g_autoptr (GloveLaunchSpec) spec = NULL;
  g_autoptr (GloveSandbox) sandbox = NULL;
  const GloveLaunchListener *listeners;

  if (!can_launch (backend))
    return;

  spec = make_spec ("true");
  g_array_append_vals (spec->listeners, wanted, G_N_ELEMENTS (wanted));
  sandbox = prepare (backend, spec);
  listeners = (const GloveLaunchListener *) (gpointer) spec->listeners->data;
  g_assert_cmpuint (listeners[0].port, !=, 0);
  g_assert_cmpuint (listeners[0].tag, ==, 1);
  g_assert_cmpuint (listeners[1].port, ==, 18080);
  g_assert_cmpuint (listeners[1].tag, ==, 2);
}

static void
check_stop (gconstpointer object)
{
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);

  if (!can_launch (backend))
    return;

  for (guint times = 1; times <= 3; times++)
    {
      g_autoptr (GloveLaunchSpec) spec = make_spec ("sh\n-c\ntrap '' TERM HUP; sleep 1000 & sleep 1000");
      g_autoptr (GloveSandbox) sandbox = prepare (backend, spec);
      g_auto (Run) run = { 0 };

      start (sandbox, &run);
      g_assert_no_error (run.start_error);
      for (guint i = 0; i < times; i++)
        glove_sandbox_stop (sandbox, i == 0 ? GLOVE_TERMINATION_WALL_TIME_LIMIT : GLOVE_TERMINATION_SIGNALED);
      finish (sandbox, &run);
      /* The first cause stands. */
      g_assert_cmpstr (glove_termination_get_name (run.outcome.cause), ==,
                       glove_termination_get_name (GLOVE_TERMINATION_WALL_TIME_LIMIT));
      glove_sandbox_stop (sandbox, GLOVE_TERMINATION_SIGNALED); /* and afterwards it does nothing */
    }
}

static void
check_signal (gconstpointer object)
{
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);
  g_autoptr (GloveLaunchSpec) spec = NULL;
  g_autoptr (GloveSandbox) sandbox = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (Run) run = { 0 };

  if (!can_launch (backend))
    return;

  spec = make_spec ("sleep\n1000");
  sandbox = prepare (backend, spec);
  start (sandbox, &run);
  g_assert_no_error (run.start_error);
  g_assert_true (glove_sandbox_send_signal (sandbox, SIGTERM, &error));
  g_assert_no_error (error);
  finish (sandbox, &run);
  g_assert_cmpstr (glove_termination_get_name (run.outcome.cause), ==,
                   glove_termination_get_name (GLOVE_TERMINATION_SIGNALED));
  g_assert_cmpuint (run.outcome.signal, ==, SIGTERM);
}

/* Prepared and dropped, started and dropped, run to the end: each time nothing stays open here. */
static void
check_leaves_nothing (gconstpointer object)
{
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND ((gpointer) object);
  guint before = 0;

  if (!can_launch (backend))
    return;

  for (guint round = 0; round < 3; round++)
    {
      for (guint stage = 0; stage < 3; stage++)
        {
          g_autoptr (GloveLaunchSpec) spec = make_spec (stage == 2 ? "true" : "sleep\n1000");
          g_autoptr (GloveSandbox) sandbox = prepare (backend, spec);
          g_auto (Run) run = { 0 };

          if (stage > 0)
            start (sandbox, &run);
          if (stage > 1)
            finish (sandbox, &run);
        }
      while (g_main_context_iteration (NULL, FALSE))
        ;
      if (round == 0)
        before = glove_contract_count_descriptors ();
    }

  g_assert_cmpuint (glove_contract_count_descriptors (), ==, before);
}

const GloveContractCase glove_contract_backend_cases[] = {
  { "probe", check_probe },
  { "probe-leaves-nothing", check_probe_leaves_nothing },
  { "mechanisms", check_mechanisms },
  { "unenforced-limit", check_unenforced_limit },
  { "exit-status", check_exit_status },
  { "start-errors", check_start_errors },
  { "argv-and-environment", check_argv_and_environment },
  { "listeners", check_listeners },
  { "stop", check_stop },
  { "signal", check_signal },
  { "leaves-nothing", check_leaves_nothing },
  { NULL, NULL },
};
