/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of a session against a backend that does as the test says: nothing runs before its record is durable, every way to end is
 * recorded with its cause, and what fails closes. */

#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "glove-audit-memory.h"
#include "glove-error.h"
#include "glove-session-record.h"
#include "glove-session.h"

/* A sandbox that ends as it is told to. */
#define TEST_TYPE_SANDBOX (test_sandbox_get_type ())
G_DECLARE_FINAL_TYPE (TestSandbox, test_sandbox, TEST, SANDBOX, GloveSandbox)

struct _TestSandbox
{
  GloveSandbox parent_instance;
  GError *start_error;
  gboolean runs_on; /* until it is stopped */
  gboolean started;
  int last_signal;
  GloveOutcome outcome;
  GTask *finish;
};

G_DEFINE_FINAL_TYPE (TestSandbox, test_sandbox, GLOVE_TYPE_SANDBOX)

static guint live_sandboxes;

static void
start_async (GloveSandbox *sandbox, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  TestSandbox *self = TEST_SANDBOX (sandbox);
  g_autoptr (GTask) task = g_task_new (sandbox, cancellable, callback, user_data);

  if (self->start_error != NULL)
    {
      g_task_return_error (task, g_error_copy (self->start_error));
      return;
    }
  self->started = TRUE;
  g_task_return_boolean (task, TRUE);
}

static gboolean
start_finish (GloveSandbox *sandbox, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
finish_async (GloveSandbox *sandbox, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  TestSandbox *self = TEST_SANDBOX (sandbox);
  g_autoptr (GTask) task = g_task_new (sandbox, cancellable, callback, user_data);

  if (self->runs_on)
    self->finish = g_steal_pointer (&task);
  else
    g_task_return_boolean (task, TRUE);
}

static gboolean
finish_finish (GloveSandbox *sandbox, GAsyncResult *result, GloveOutcome *ret_outcome, GError **error)
{
  *ret_outcome = TEST_SANDBOX (sandbox)->outcome;
  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
stop (GloveSandbox *sandbox, GloveTermination cause)
{
  TestSandbox *self = TEST_SANDBOX (sandbox);
  g_autoptr (GTask) task = g_steal_pointer (&self->finish);

  if (self->outcome.cause == GLOVE_TERMINATION_EXITED)
    self->outcome = (GloveOutcome){ .cause = cause, .signal = SIGKILL };
  self->runs_on = FALSE;
  if (task != NULL)
    g_task_return_boolean (task, TRUE);
}

static gboolean
send_signal (GloveSandbox *sandbox, int signum, GError **error)
{
  TEST_SANDBOX (sandbox)->last_signal = signum;
  return TRUE;
}

static void
test_sandbox_finalize (GObject *object)
{
  TestSandbox *self = TEST_SANDBOX (object);

  g_clear_error (&self->start_error);
  g_clear_object (&self->finish);
  live_sandboxes--;
  G_OBJECT_CLASS (test_sandbox_parent_class)->finalize (object);
}

static void
test_sandbox_class_init (TestSandboxClass *klass)
{
  GloveSandboxClass *sandbox = GLOVE_SANDBOX_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = test_sandbox_finalize;
  sandbox->start_async = start_async;
  sandbox->start_finish = start_finish;
  sandbox->finish_async = finish_async;
  sandbox->finish_finish = finish_finish;
  sandbox->stop = stop;
  sandbox->send_signal = send_signal;
}

static void
test_sandbox_init (TestSandbox *self)
{
  live_sandboxes++;
}

/* Its backend. */
#define TEST_TYPE_BACKEND (test_backend_get_type ())
G_DECLARE_FINAL_TYPE (TestBackend, test_backend, TEST, BACKEND, GObject)

struct _TestBackend
{
  GObject parent_instance;
  gboolean refuses;
  GError *start_error;
  gboolean runs_on;
  GloveOutcome outcome;
  TestSandbox *made; /* weak */
};

static GloveSandbox *
prepare (GloveSandboxBackend *backend, GloveLaunchSpec *spec, GError **error)
{
  TestBackend *self = TEST_BACKEND (backend);

  if (self->refuses)
    {
      glove_error_set (error, GLOVE_ERROR_UNAVAILABLE, "this host has nothing to make a sandbox of");
      return NULL;
    }
  g_set_weak_pointer (&self->made, g_object_new (TEST_TYPE_SANDBOX, NULL));
  self->made->start_error = self->start_error != NULL ? g_error_copy (self->start_error) : NULL;
  self->made->runs_on = self->runs_on;
  self->made->outcome = self->outcome;
  return GLOVE_SANDBOX (self->made);
}

static const char *
get_backend_id (GloveSandboxBackend *backend)
{
  return "test";
}

static GPtrArray *
probe (GloveSandboxBackend *backend, GCancellable *cancellable, GError **error)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) glove_probe_result_free);
}

static void
query_mechanisms (GloveSandboxBackend *backend, GloveLimitMechanism ret_mechanisms[GLOVE_N_LIMITS], char **ret_repairs)
{
  for (int i = 0; i < GLOVE_N_LIMITS; i++)
    ret_mechanisms[i] = GLOVE_LIMIT_MECHANISM_RLIMIT;
}

static void
backend_iface_init (GloveSandboxBackendInterface *iface)
{
  iface->get_backend_id = get_backend_id;
  iface->probe = probe;
  iface->query_mechanisms = query_mechanisms;
  iface->prepare = prepare;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (TestBackend, test_backend, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_SANDBOX_BACKEND, backend_iface_init))

static void
test_backend_finalize (GObject *object)
{
  TestBackend *self = TEST_BACKEND (object);

  g_clear_weak_pointer (&self->made);
  g_clear_error (&self->start_error);
  G_OBJECT_CLASS (test_backend_parent_class)->finalize (object);
}

static void
test_backend_class_init (TestBackendClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = test_backend_finalize;
}

static void
test_backend_init (TestBackend *self)
{
}

/* A sink that refuses the event number @fails_at. */
#define TEST_TYPE_SINK (test_sink_get_type ())
G_DECLARE_FINAL_TYPE (TestSink, test_sink, TEST, SINK, GObject)

struct _TestSink
{
  GObject parent_instance;
  guint seen;
  guint fails_at;
};

static gboolean
sink_record (GloveAuditSink *sink, GloveAuditEvent *const *events, gsize n_events, GError **error)
{
  TestSink *self = TEST_SINK (sink);

  for (gsize i = 0; i < n_events; i++)
    if (self->seen++ == self->fails_at)
      {
        glove_error_set (error, GLOVE_ERROR_NO_SPACE, "the disk is full");
        return FALSE;
      }
  return TRUE;
}

static const char *
get_sink_id (GloveAuditSink *sink)
{
  return "test";
}

static void
sink_iface_init (GloveAuditSinkInterface *iface)
{
  iface->get_sink_id = get_sink_id;
  iface->record = sink_record;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (TestSink, test_sink, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_AUDIT_SINK, sink_iface_init))

static void
test_sink_class_init (TestSinkClass *klass)
{
}

static void
test_sink_init (TestSink *self)
{
  self->fails_at = G_MAXUINT;
}

typedef struct {
  TestBackend *backend;
  GloveLaunchSpec *spec;
  GloveAuditMemory *memory;
  TestSink *sink;
  GloveAuditLog *log;
  GloveSession *session;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  static const char *const argv[] = { "agent", "argument", NULL };

  self->backend = g_object_new (TEST_TYPE_BACKEND, NULL);
  self->memory = glove_audit_memory_new ();
  self->sink = g_object_new (TEST_TYPE_SINK, NULL);
  self->log = glove_audit_log_new ("s-1");
  glove_audit_log_add_sink (self->log, GLOVE_AUDIT_SINK (self->memory));
  glove_audit_log_add_sink (self->log, GLOVE_AUDIT_SINK (self->sink));
  self->spec = glove_launch_spec_new ("s-1");
  g_strfreev (self->spec->argv);
  self->spec->argv = g_strdupv ((char **) argv);
  self->session
      = glove_session_new (GLOVE_SANDBOX_BACKEND (self->backend), self->spec, self->log, /* egress= */ NULL);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  g_clear_object (&self->session);
  g_assert_cmpuint (live_sandboxes, ==, 0);
  g_object_unref (self->log);
  g_object_unref (self->sink);
  g_object_unref (self->memory);
  glove_launch_spec_unref (self->spec);
  g_object_unref (self->backend);
}

static void
assert_actions (Fixture *self, const char *expected)
{
  g_autoptr (GPtrArray) events = glove_audit_memory_take (self->memory);
  g_autoptr (GString) got = g_string_new (NULL);

  for (guint i = 0; i < events->len; i++)
    {
      const GloveAuditEvent *event = g_ptr_array_index (events, i);

      g_string_append_printf (got, "%s%s:%s", i > 0 ? " " : "", glove_audit_action_get_name (event->action),
                              glove_audit_status_get_name (event->status));
    }
  g_assert_cmpstr (got->str, ==, expected);
}

static void
test_ends (Fixture *self, gconstpointer data)
{
  GloveOutcome outcome = { 0 };
  g_autoptr (GError) error = NULL;

  self->backend->outcome = (GloveOutcome){ .cause = GLOVE_TERMINATION_EXITED, .exit_code = 7 };
  g_assert_true (glove_session_prepare (self->session, &error));
  g_assert_true (glove_session_record (self->session, &error));
  g_assert_true (glove_session_run (self->session, &outcome, &error));
  g_assert_no_error (error);
  g_assert_cmpint (outcome.exit_code, ==, 7);
  assert_actions (self, "agent_launch:ok agent_exit:ok");
}

/* However long the task and however many the grants: what was granted, and which limits hold, is in the record. */
static void
test_record_is_whole (Fixture *self, gconstpointer data)
{
  g_autofree char *task = g_strnfill (100000, '\x01');
  g_autofree char *folder = g_strnfill (3000, 'x');
  g_autofree char *path = g_strconcat ("/", folder, NULL);
  const char *const argv[] = { "agent", task, "--last", NULL };
  g_autoptr (GPtrArray) grants = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_grant_unref);
  g_autoptr (GloveAuditEvent) event = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 500; i++)
    {
      GloveGrant *grant = glove_grant_new (GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, open ("/", O_PATH | O_CLOEXEC),
                                           i == 0 ? "/first" : path, i == 0 ? "/first" : path, &error);

      g_assert_no_error (error);
      g_ptr_array_add (grants, grant);
    }
  g_clear_pointer (&self->spec->grants, g_ptr_array_unref);
  self->spec->grants = g_steal_pointer (&grants);
  g_strfreev (self->spec->argv);
  self->spec->argv = g_strdupv ((char **) argv);
  event = glove_session_record_launch (GLOVE_SANDBOX_BACKEND (self->backend), self->spec, NULL);
  g_assert_nonnull (strstr (event->arguments, "\"argv\":[\"agent\",\"\\\\x01"));
  g_assert_nonnull (strstr (event->arguments, "…\",\"--last\"],\"argc\":3,\"argv_sha256\":\""));
  g_assert_nonnull (strstr (event->arguments, "\"path\":\"/first\""));
  g_assert_nonnull (strstr (event->arguments, "\"grants_omitted\":"));
  g_assert_nonnull (strstr (event->arguments, "\"limits\":{"));
  g_assert_null (strstr (event->arguments, "omitted_bytes"));
}

static void
test_backend_refuses (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  self->backend->refuses = TRUE;
  g_assert_false (glove_session_prepare (self->session, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNAVAILABLE);
  glove_session_record_refusal (self->session, error);
  assert_actions (self, "agent_launch:execution_error");
}

/* No record, no launch: the agent of the sandbox that was made is never let go. */
static void
test_launch_not_recorded (Fixture *self, gconstpointer data)
{
  GloveOutcome outcome = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) again = NULL;

  self->sink->fails_at = 0;
  g_assert_true (glove_session_prepare (self->session, &error));
  g_assert_false (glove_session_record (self->session, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_NO_SPACE);
  g_assert_nonnull (strstr (error->message, "nothing is launched"));
  g_assert_false (glove_session_run (self->session, &outcome, &again));
  g_assert_error (again, GLOVE_ERROR, GLOVE_ERROR_DENIED);
  g_assert_false (self->backend->made->started);
}

static void
test_launch_forgotten (Fixture *self, gconstpointer data)
{
  GloveOutcome outcome = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_session_prepare (self->session, &error));
  g_assert_false (glove_session_run (self->session, &outcome, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_DENIED);
  g_assert_false (self->backend->made->started);
}

static void
test_start_fails (Fixture *self, gconstpointer data)
{
  GloveOutcome outcome = { 0 };
  g_autoptr (GError) error = NULL;

  glove_error_set (&self->backend->start_error, GLOVE_ERROR_NOT_FOUND, "there is no program agent");
  g_assert_true (glove_session_prepare (self->session, &error));
  g_assert_true (glove_session_record (self->session, &error));
  g_assert_false (glove_session_run (self->session, &outcome, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_NOT_FOUND);
  assert_actions (self, "agent_launch:ok agent_launch:execution_error");
}

/* The agent ran: how it ended is told, and so is that the record of it is missing. */
static void
test_end_not_recorded (Fixture *self, gconstpointer data)
{
  GloveOutcome outcome = { 0 };
  g_autoptr (GError) error = NULL;

  self->sink->fails_at = 1;
  self->backend->outcome = (GloveOutcome){ .cause = GLOVE_TERMINATION_EXITED, .exit_code = 3 };
  g_assert_true (glove_session_prepare (self->session, &error));
  g_assert_true (glove_session_record (self->session, &error));
  g_assert_false (glove_session_run (self->session, &outcome, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_NO_SPACE);
  g_assert_cmpint (outcome.exit_code, ==, 3);
}

static void
test_wall_time (Fixture *self, gconstpointer data)
{
  GloveOutcome outcome = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) events = NULL;

  self->backend->runs_on = TRUE;
  self->spec->limits.value[GLOVE_LIMIT_WALL_TIME] = 20;
  g_assert_true (glove_session_prepare (self->session, &error));
  g_assert_true (glove_session_record (self->session, &error));
  g_assert_true (glove_session_run (self->session, &outcome, &error));
  g_assert_cmpint (outcome.cause, ==, GLOVE_TERMINATION_WALL_TIME_LIMIT);
  g_assert_cmpuint (outcome.usage.wall_time_ms, >=, 20);
  events = glove_audit_memory_take (self->memory);
  g_assert_cmpuint (events->len, ==, 3);
  g_assert_true (glove_audit_event_is_denial (g_ptr_array_index (events, 1)));
  g_assert_cmpstr (((GloveAuditEvent *) g_ptr_array_index (events, 1))->rule, ==, "limit wall-time=20");
}

static gboolean
interrupt (gpointer session)
{
  glove_session_signal (session, SIGINT);
  return G_SOURCE_REMOVE;
}

static gboolean
interrupt_twice (gpointer session)
{
  glove_session_signal (session, SIGTERM);
  glove_session_signal (session, SIGTERM);
  return G_SOURCE_REMOVE;
}

static void
test_second_request (Fixture *self, gconstpointer data)
{
  GloveOutcome outcome = { 0 };
  g_autoptr (GError) error = NULL;

  self->backend->runs_on = TRUE;
  g_assert_true (glove_session_prepare (self->session, &error));
  g_assert_true (glove_session_record (self->session, &error));
  g_idle_add (interrupt_twice, self->session);
  g_assert_true (glove_session_run (self->session, &outcome, &error));
  g_assert_cmpint (outcome.cause, ==, GLOVE_TERMINATION_SIGNALED);
  g_assert_cmpint (self->backend->made->last_signal, ==, SIGTERM);
}

static gboolean
stop_later (gpointer session)
{
  glove_session_stop (session, GLOVE_TERMINATION_SUPERVISOR_ERROR);
  return G_SOURCE_REMOVE;
}

static void
test_signal_is_passed_on (Fixture *self, gconstpointer data)
{
  GloveOutcome outcome = { 0 };
  g_autoptr (GError) error = NULL;

  self->backend->runs_on = TRUE;
  g_assert_true (glove_session_prepare (self->session, &error));
  g_assert_true (glove_session_record (self->session, &error));
  g_idle_add (interrupt, self->session);
  g_timeout_add (20, stop_later, self->session);
  g_assert_true (glove_session_run (self->session, &outcome, &error));
  g_assert_cmpint (self->backend->made->last_signal, ==, SIGINT);
  g_assert_cmpint (outcome.cause, ==, GLOVE_TERMINATION_SUPERVISOR_ERROR);
  assert_actions (self, "agent_launch:ok agent_exit:execution_error");
}

static void
test_refused_processes (Fixture *self, gconstpointer data)
{
  GloveOutcome outcome = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) events = NULL;

  self->backend->outcome = (GloveOutcome){ .cause = GLOVE_TERMINATION_EXITED, .pid_limit_hits = 4 };
  g_assert_true (glove_session_prepare (self->session, &error));
  g_assert_true (glove_session_record (self->session, &error));
  g_assert_true (glove_session_run (self->session, &outcome, &error));
  events = glove_audit_memory_take (self->memory);
  g_assert_cmpuint (events->len, ==, 3);
  g_assert_nonnull (strstr (((GloveAuditEvent *) g_ptr_array_index (events, 1))->error, "4 new processes"));
  g_assert_cmpstr (((GloveAuditEvent *) g_ptr_array_index (events, 1))->allow, ==, "--limit pids=VALUE");
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *path;
    void (*test) (Fixture *, gconstpointer);
  } tests[] = {
    { "/session/ends", test_ends },
    { "/session/record-is-whole", test_record_is_whole },
    { "/session/backend-refuses", test_backend_refuses },
    { "/session/launch-not-recorded", test_launch_not_recorded },
    { "/session/launch-forgotten", test_launch_forgotten },
    { "/session/start-fails", test_start_fails },
    { "/session/end-not-recorded", test_end_not_recorded },
    { "/session/wall-time", test_wall_time },
    { "/session/second-request", test_second_request },
    { "/session/signal-is-passed-on", test_signal_is_passed_on },
    { "/session/refused-processes", test_refused_processes },
  };

  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
