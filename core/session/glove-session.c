/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-session.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "glove-error.h"
#include "glove-fd.h"
#include "glove-output-budget.h"
#include "glove-session-record.h"
#include "glove-session-stdio.h"
#include "glove-session-terminal.h"

/* How long output may take on its way once the session was told to end. */
#define DRAIN_MS 2000

struct _GloveSession
{
  GObject parent_instance;

  GloveSandboxBackend *backend;
  GloveLaunchSpec *spec;
  GloveAuditLog *audit;
  GloveEgressProxy *egress;

  GloveSandbox *sandbox;
  GloveSessionTerminal *terminal;
  GloveSessionStdio *stdio;
  GloveOutputBudget *budget;

  GMainContext *context;
  GSource *wall_timer;
  int wall_fd;
  gint64 started_at;
  guint end_requests;
  gboolean recorded;
  gboolean finished;
  GPtrArray *refusals; /* of GloveGitRefusal */
  GloveOutcome outcome;
  GError *error;
};

G_DEFINE_FINAL_TYPE (GloveSession, glove_session, G_TYPE_OBJECT)

static void
glove_session_finalize (GObject *object)
{
  GloveSession *self = GLOVE_SESSION (object);

  if (self->wall_timer != NULL)
    g_source_destroy (self->wall_timer);
  g_clear_pointer (&self->wall_timer, g_source_unref);
  glove_fd_clear (&self->wall_fd);
  if (self->budget != NULL)
    glove_output_budget_close (self->budget);
  g_clear_pointer (&self->terminal, glove_session_terminal_free);
  g_clear_pointer (&self->stdio, glove_session_stdio_free);
  g_clear_pointer (&self->budget, glove_output_budget_unref);
  if (self->egress != NULL)
    glove_egress_proxy_shutdown (self->egress);
  g_clear_object (&self->sandbox);
  g_clear_object (&self->egress);
  g_clear_object (&self->audit);
  g_clear_object (&self->backend);
  g_clear_pointer (&self->spec, glove_launch_spec_unref);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_clear_pointer (&self->refusals, g_ptr_array_unref);
  g_clear_error (&self->error);
  G_OBJECT_CLASS (glove_session_parent_class)->finalize (object);
}

static void
glove_session_class_init (GloveSessionClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_session_finalize;
}

static void
glove_session_init (GloveSession *self)
{
  self->context = g_main_context_ref_thread_default ();
  self->wall_fd = -1;
}

GloveSession *
glove_session_new (GloveSandboxBackend *backend, GloveLaunchSpec *spec, GloveAuditLog *audit, GloveEgressProxy *egress)
{
  GloveSession *self = g_object_new (GLOVE_TYPE_SESSION, NULL);

  self->backend = g_object_ref (backend);
  self->spec = glove_launch_spec_ref (spec);
  self->audit = g_object_ref (audit);
  self->egress = egress != NULL ? g_object_ref (egress) : NULL;
  return self;
}

void
glove_session_stop (GloveSession *self, GloveTermination cause)
{
  if (self->sandbox != NULL)
    glove_sandbox_stop (self->sandbox, cause);
}

void
glove_session_signal (GloveSession *self, int signum)
{
  gboolean ends = signum == SIGINT || signum == SIGTERM || signum == SIGHUP;

  if (self->sandbox == NULL)
    return;
  if (ends && self->end_requests++ > 0)
    glove_sandbox_stop (self->sandbox, GLOVE_TERMINATION_SIGNALED);
  else
    (void) glove_sandbox_send_signal (self->sandbox, signum, NULL);
}

static void
on_output_exceeded (gpointer user_data)
{
  glove_session_stop (user_data, GLOVE_TERMINATION_TERMINAL_OUTPUT_LIMIT);
}

static void
on_socket (GloveSandbox *sandbox, guint32 tag, int fd, gpointer user_data)
{
  GloveSession *self = user_data;

  glove_egress_proxy_take_socket (self->egress, tag, fd);
}

static gboolean
stop_for_overflow (gpointer user_data)
{
  glove_session_stop (user_data, GLOVE_TERMINATION_SUPERVISOR_ERROR);
  return G_SOURCE_REMOVE;
}

/* On whatever thread records: the session is stopped on its own. */
static void
on_audit_overflow (GloveAuditLog *audit, gpointer user_data)
{
  GloveSession *self = user_data;

  g_main_context_invoke_full (self->context, G_PRIORITY_HIGH, stop_for_overflow, g_object_ref (self), g_object_unref);
}

static gboolean
set_up_streams (GloveSession *self, GError **error)
{
  self->budget = glove_output_budget_new (self->spec->limits.value[GLOVE_LIMIT_OUTPUT], on_output_exceeded, self);
  if (self->spec->tty)
    {
      self->terminal = glove_session_terminal_new (self->spec, error);
      if (self->terminal == NULL)
        return FALSE;
    }
  self->stdio = glove_session_stdio_new (self->spec, self->spec->tty, self->budget, error);
  return self->stdio != NULL;
}

gboolean
glove_session_prepare (GloveSession *self, GError **error)
{
  if (!set_up_streams (self, error))
    return FALSE;
  self->sandbox = glove_sandbox_backend_prepare (self->backend, self->spec, error);
  if (self->sandbox == NULL)
    return FALSE;
  if (self->egress != NULL)
    glove_sandbox_set_socket_handler (self->sandbox, on_socket, self, NULL);
  return TRUE;
}

gboolean
glove_session_record (GloveSession *self, GError **error)
{
  g_autoptr (GloveAuditEvent) event = glove_session_record_launch (self->backend, self->spec, NULL);

  glove_audit_log_set_overflow_handler (self->audit, on_audit_overflow, self);
  self->recorded = glove_audit_log_record (self->audit, event, error);
  if (!self->recorded)
    g_prefix_error (error, "the launch can't be recorded, so nothing is launched: ");
  return self->recorded;
}

void
glove_session_record_refusal (GloveSession *self, const GError *reason)
{
  g_autoptr (GloveAuditEvent) event = glove_session_record_launch (self->backend, self->spec, reason);

  (void) glove_audit_log_record (self->audit, event, NULL);
}

static gboolean
on_wall_time (int fd, GIOCondition condition, gpointer user_data)
{
  glove_session_stop (user_data, GLOVE_TERMINATION_WALL_TIME_LIMIT);
  return G_SOURCE_REMOVE;
}

/* CLOCK_BOOTTIME: a suspended machine does not stretch the limit. */
static gboolean
start_wall_timer (GloveSession *self, GError **error)
{
  guint64 limit_ms = self->spec->limits.value[GLOVE_LIMIT_WALL_TIME];
  struct itimerspec when = { .it_value = { .tv_sec = (time_t) (limit_ms / 1000),
                                           .tv_nsec = (long) (limit_ms % 1000) * 1000000 } };

  if (limit_ms == 0)
    return TRUE;
  self->wall_fd = timerfd_create (CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (self->wall_fd < 0 || timerfd_settime (self->wall_fd, 0, &when, NULL) != 0)
    {
      glove_error_set_errno (error, errno, "can't set a timer for the limit on wall time");
      return FALSE;
    }
  self->wall_timer = g_unix_fd_source_new (self->wall_fd, G_IO_IN);
  g_source_set_callback (self->wall_timer, G_SOURCE_FUNC (on_wall_time), self, NULL);
  g_source_attach (self->wall_timer, self->context);
  return TRUE;
}

static void
fail (GloveSession *self, GError *error)
{
  if (self->error == NULL)
    self->error = error;
  else
    g_error_free (error);
  glove_session_stop (self, GLOVE_TERMINATION_SUPERVISOR_ERROR);
}

static void
on_finished (GObject *object, GAsyncResult *result, gpointer user_data)
{
  GloveSession *self = user_data;
  GError *error = NULL;

  if (!glove_sandbox_finish_finish (GLOVE_SANDBOX (object), result, &self->outcome, &error))
    fail (self, error);
  self->finished = TRUE;
  g_main_context_wakeup (self->context);
}

static void
on_started (GObject *object, GAsyncResult *result, gpointer user_data)
{
  GloveSession *self = user_data;
  GError *error = NULL;

  if (!glove_sandbox_start_finish (GLOVE_SANDBOX (object), result, &error))
    {
      fail (self, error);
    }
  else
    {
      self->started_at = g_get_monotonic_time ();
      glove_session_stdio_release (self->stdio);
      if ((self->terminal != NULL
           && !glove_session_terminal_attach (self->terminal, self->sandbox, self->budget, &error))
          || !start_wall_timer (self, &error))
        fail (self, error);
    }
  glove_sandbox_finish_async (self->sandbox, NULL, on_finished, self);
}

static gboolean
on_drain_time (gpointer user_data)
{
  gboolean *over = user_data;

  *over = TRUE;
  return G_SOURCE_REMOVE;
}

static gboolean
is_drained (GloveSession *self)
{
  return (self->terminal == NULL || glove_session_terminal_is_drained (self->terminal))
         && glove_session_stdio_is_drained (self->stdio);
}

/* Whoever reads what the agent wrote may take its time, but can't keep a session that was to end, or is told to. */
static gboolean
drain (GloveSession *self, GError **error)
{
  guint requests = self->end_requests;
  gboolean over = FALSE;
  g_autoptr (GSource) timer = NULL;

  glove_session_stdio_release (self->stdio);
  if (requests > 0 || self->error != NULL || self->outcome.cause != GLOVE_TERMINATION_EXITED)
    {
      timer = g_timeout_source_new (DRAIN_MS);
      g_source_set_callback (timer, on_drain_time, &over, NULL);
      g_source_attach (timer, self->context);
    }
  while (!is_drained (self) && !over && self->end_requests == requests)
    g_main_context_iteration (self->context, TRUE);
  if (timer != NULL)
    g_source_destroy (timer);
  if (self->terminal != NULL)
    glove_session_terminal_finish (self->terminal);
  if (self->egress != NULL)
    glove_egress_proxy_shutdown (self->egress);
  return glove_session_stdio_finish (self->stdio, error);
}

/* The agent is gone, so that nothing can be put back. */
static gboolean
review (GloveSession *self, GError **error)
{
  self->refusals = glove_git_review_run (self->spec->grants);
  for (guint i = 0; i < self->refusals->len; i++)
    {
      g_autoptr (GloveAuditEvent) event = glove_session_record_git (self->spec, self->refusals->pdata[i]);

      if (!glove_audit_log_record (self->audit, event, error))
        return FALSE;
    }
  return TRUE;
}

const GPtrArray *
glove_session_get_refusals (GloveSession *self)
{
  return self->refusals;
}

static gboolean
record_end (GloveSession *self, GError **error)
{
  g_autoptr (GloveAuditEvent) limit = glove_session_record_limit (self->spec, &self->outcome);
  g_autoptr (GloveAuditEvent) event = glove_session_record_exit (self->spec, &self->outcome);

  if (limit != NULL && !glove_audit_log_record (self->audit, limit, error))
    return FALSE;
  return glove_audit_log_record (self->audit, event, error) && glove_audit_log_close (self->audit, error);
}

gboolean
glove_session_run (GloveSession *self, GloveOutcome *ret_outcome, GError **error)
{
  g_autoptr (GError) lost = NULL;

  if (!self->recorded)
    {
      glove_error_set_literal (error, GLOVE_ERROR_DENIED, "a launch that is not recorded does not start");
      return FALSE;
    }
  glove_sandbox_start_async (self->sandbox, NULL, on_started, self);
  while (!self->finished)
    g_main_context_iteration (self->context, TRUE);
  (void) drain (self, &lost);

  if (self->error != NULL)
    {
      (void) review (self, NULL);
      glove_session_record_refusal (self, self->error);
      g_propagate_error (error, g_steal_pointer (&self->error));
      return FALSE;
    }
  self->outcome.usage.wall_time_ms = (guint64) (g_get_monotonic_time () - self->started_at) / 1000;
  if (self->spec->tty || self->spec->limits.value[GLOVE_LIMIT_OUTPUT] != 0)
    self->outcome.usage.output_bytes = glove_output_budget_get_bytes (self->budget);
  *ret_outcome = self->outcome;
  if (!review (self, error) || !record_end (self, error))
    {
      g_prefix_error (error, "the agent ended, but its end can't be recorded: ");
      return FALSE;
    }
  if (lost == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&lost));
  return FALSE;
}
