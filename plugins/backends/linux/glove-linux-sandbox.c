/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-linux-failure.h"
#include "glove-linux-fd.h"
#include "glove-linux-monitor.h"
#include "glove-linux-outcome.h"

#define READY_TIMEOUT_MS 30000
#define USAGE_TIMEOUT_MS 1000
/* A launcher that was told to end and has not after this long is killed: the kernel then kills what it made. */
#define END_TIMEOUT_MS 5000
#define SOCKETS_PER_TURN 32

typedef enum {
  STATE_MAKING,
  STATE_READY,
  STATE_STARTING,
  STATE_RUNNING,
  STATE_GONE, /* the launcher is reaped */
} State;

struct _GloveLinuxSandbox {
  GloveSandbox parent_instance;
  GMainContext *context;
  GloveLaunchSpec *spec;
  GloveLinuxCgroupSession *cgroup;
  State state;
  pid_t pid;
  int pidfd, monitor, egress, terminal;
  int launcher_status;
  GSource *monitor_source, *egress_source, *exit_source, *budget_source, *later_source, *making_source;
  GQueue *early; /* of GloveLaunchMessage: came while an answer to USAGE was waited for */
  GTask *start, *finish;
  GError *failure; /* what the launcher said before it ended */
  guint landlock_abi;
  gint64 started_us;
  GloveLinuxEnd end;
};

G_DEFINE_FINAL_TYPE (GloveLinuxSandbox, glove_linux_sandbox, GLOVE_TYPE_SANDBOX)

/* @fd (nullable): what came with it; taken where it is wanted. */
static void handle_message (GloveLinuxSandbox *self, const GloveLaunchMessage *message, int *fd);

static void
clear_source (GSource **source)
{
  if (*source != NULL)
    {
      g_source_destroy (*source);
      g_source_unref (*source);
      *source = NULL;
    }
}

static GSource *
attach (GloveLinuxSandbox *self, GSource *source, GSourceFunc callback)
{
  g_source_set_callback (source, callback, self, NULL);
  g_source_attach (source, self->context);
  return source;
}

static GSource *
attach_fd (GloveLinuxSandbox *self, int fd, GUnixFDSourceFunc callback)
{
  return attach (self, g_unix_fd_source_new (fd, G_IO_IN), G_SOURCE_FUNC (callback));
}

static void
send_pidfd_kill (GloveLinuxSandbox *self)
{
  if (self->pidfd >= 0)
    (void) syscall (SYS_pidfd_send_signal, self->pidfd, SIGKILL, NULL, 0);
  if (self->cgroup != NULL)
    glove_linux_cgroup_session_kill (self->cgroup);
}

static void
reap (GloveLinuxSandbox *self)
{
  int status = 0;

  while (waitpid (self->pid, &status, 0) < 0)
    if (errno != EINTR)
      break;
  self->launcher_status = status;
  self->state = STATE_GONE;
  self->end.finished_us = g_get_monotonic_time ();
  g_clear_object (&self->cgroup);
}

/* Whoever drops the sandbox waits until nothing of it is left: closing the monitor socket ends it. */
static void
end_now (GloveLinuxSandbox *self)
{
  struct pollfd p = { .fd = self->pidfd, .events = POLLIN };
  int n;

  if (self->state == STATE_GONE || self->pidfd < 0)
    return;
  glove_linux_fd_clear (&self->monitor);
  do
    n = poll (&p, 1, END_TIMEOUT_MS);
  while (n < 0 && errno == EINTR);
  if (n <= 0)
    send_pidfd_kill (self);
  reap (self);
}

/* CPU time --------------------------------------------------------------------------------------------------------------------- */

static gboolean
on_budget (gpointer user_data)
{
  GloveLinuxSandbox *self = user_data;
  guint64 budget_us = self->spec->limits.value[GLOVE_LIMIT_CPU_TIME] * 1000;
  guint64 used_us = 0;

  clear_source (&self->budget_source);
  if (budget_us == 0 || self->cgroup == NULL || !glove_linux_cgroup_session_read_cpu_time (self->cgroup, &used_us))
    return G_SOURCE_REMOVE;
  if (used_us >= budget_us)
    glove_sandbox_stop (GLOVE_SANDBOX (self), GLOVE_TERMINATION_CPU_TIME_LIMIT);
  else
    self->budget_source
        = attach (self,
                  g_timeout_source_new (glove_linux_outcome_get_budget_delay_ms (budget_us - used_us, &self->spec->limits,
                                                                                 g_get_num_processors ())),
                  on_budget);
  return G_SOURCE_REMOVE;
}

/* Messages --------------------------------------------------------------------------------------------------------------------- */

/* It ended, and said nothing about why. */
static GError *
new_silent_end (GloveLinuxSandbox *self)
{
  GError *error = NULL;
  int status = self->launcher_status;

  if (WIFSIGNALED (status))
    glove_error_set (&error, GLOVE_ERROR_FAILED, "the launcher was killed by signal %d before the agent was started",
                     WTERMSIG (status));
  else
    glove_error_set (&error, GLOVE_ERROR_FAILED, "the launcher ended with status %d before the agent was started",
                     WEXITSTATUS (status));
  glove_error_set_hint (&error, "run “glove doctor”");
  return error;
}

static void
complete_start (GloveLinuxSandbox *self)
{
  g_autoptr (GTask) task = g_steal_pointer (&self->start);

  if (task == NULL)
    return;
  if (self->failure != NULL)
    g_task_return_error (task, g_error_copy (self->failure));
  else if (self->state == STATE_RUNNING)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, new_silent_end (self));
}

/* The agent waits; it is let go as soon as both it and the caller are ready. */
static void
let_go (GloveLinuxSandbox *self)
{
  if (self->state != STATE_READY || self->start == NULL)
    return;
  self->state = STATE_STARTING;
  if (!glove_linux_monitor_send (self->monitor, GLOVE_LAUNCH_START, 0, self->failure == NULL ? &self->failure : NULL))
    complete_start (self);
}

static void
handle_ready (GloveLinuxSandbox *self)
{
  if (self->state != STATE_MAKING)
    return;
  clear_source (&self->making_source);
  if (self->spec->tty && self->terminal < 0)
    {
      if (self->failure == NULL)
        glove_error_set_literal (&self->failure, GLOVE_ERROR_INVALID_DATA, "the launcher made no terminal");
      send_pidfd_kill (self);
      return;
    }
  self->state = STATE_READY;
  let_go (self);
}

static void
handle_started (GloveLinuxSandbox *self)
{
  if (self->state != STATE_STARTING)
    return;
  self->state = STATE_RUNNING;
  self->started_us = self->end.started_us = g_get_monotonic_time ();
  (void) on_budget (self);
  complete_start (self);
}

static void
handle_failed (GloveLinuxSandbox *self, const GloveLaunchMessage *message)
{
  GloveLinuxFailureHost host;

  glove_linux_failure_host_init (&host);
  if (self->failure == NULL)
    glove_linux_failure_set (&self->failure, self->spec, &host, message->arg[0], (int) message->arg[1], message->arg[2]);
}

/* The first listener of that tag that has no port yet. */
static void
handle_port (GloveLinuxSandbox *self, const GloveLaunchMessage *message)
{
  for (guint i = 0; self->spec->listeners != NULL && i < self->spec->listeners->len; i++)
    {
      GloveLaunchListener *listener = &g_array_index (self->spec->listeners, GloveLaunchListener, i);

      if (listener->tag == message->arg[0] && listener->port == 0)
        {
          listener->port = (guint16) message->arg[1];
          return;
        }
    }
}

static void
handle_message (GloveLinuxSandbox *self, const GloveLaunchMessage *message, int *fd)
{
  switch (message->type)
    {
    case GLOVE_LAUNCH_HELLO:
      self->landlock_abi = message->arg[2];
      if (message->arg[0] != GLOVE_LAUNCH_VERSION && self->failure == NULL)
        glove_error_set (&self->failure, GLOVE_ERROR_NOT_SUPPORTED, "the launcher speaks version %u, not %u",
                         message->arg[0], GLOVE_LAUNCH_VERSION);
      break;
    case GLOVE_LAUNCH_PORT:
      handle_port (self, message);
      break;
    case GLOVE_LAUNCH_STARTED:
      handle_started (self);
      break;
    case GLOVE_LAUNCH_STOPPED:
      glove_sandbox_emit_agent_stopped (GLOVE_SANDBOX (self));
      break;
    case GLOVE_LAUNCH_FAILED:
      handle_failed (self, message);
      break;
    case GLOVE_LAUNCH_ENDED:
      self->end.message = *message;
      self->end.counted = TRUE;
      break;
    case GLOVE_LAUNCH_READY:
      handle_ready (self);
      break;
    case GLOVE_LAUNCH_TERMINAL:
      glove_linux_fd_clear (&self->terminal);
      self->terminal = fd != NULL ? g_steal_fd (fd) : -1;
      break;
    case GLOVE_LAUNCH_USAGE_REPLY: /* one that nobody waits for any more */
      break;
    default:
      if (self->failure == NULL)
        glove_error_set (&self->failure, GLOVE_ERROR_INVALID_DATA, "the launcher sent a message of unknown type %u",
                         message->type);
      send_pidfd_kill (self);
      break;
    }
}

/* Without waiting: one message, from those that came early first. FALSE: there is none now. */
static gboolean
take_message (GloveLinuxSandbox *self)
{
  g_autofree GloveLaunchMessage *early = g_queue_pop_head (self->early);
  GloveLaunchMessage message;
  glove_linux_autofd int fd = -1;
  GloveLinuxMonitorResult result;

  if (early != NULL)
    {
      handle_message (self, early, NULL);
      return TRUE;
    }
  if (self->monitor < 0)
    return FALSE;
  result = glove_linux_monitor_receive (self->monitor, 0, &message, &fd, self->failure == NULL ? &self->failure : NULL);
  switch (result)
    {
    case GLOVE_LINUX_MONITOR_MESSAGE:
      handle_message (self, &message, &fd);
      return TRUE;
    case GLOVE_LINUX_MONITOR_NOTHING:
      return FALSE;
    case GLOVE_LINUX_MONITOR_BROKEN:
      send_pidfd_kill (self);
      G_GNUC_FALLTHROUGH;
    case GLOVE_LINUX_MONITOR_CLOSED:
    default:
      clear_source (&self->monitor_source);
      glove_linux_fd_clear (&self->monitor);
      return FALSE;
    }
}

static gboolean on_making_timeout (gpointer user_data);

/* It said why there is no agent. Closing the socket ends it, and it has so long to end by itself. */
static void
give_up (GloveLinuxSandbox *self)
{
  clear_source (&self->monitor_source);
  glove_linux_fd_clear (&self->monitor);
  clear_source (&self->making_source);
  self->making_source = attach (self, g_timeout_source_new (END_TIMEOUT_MS), on_making_timeout);
}

static gboolean
on_monitor (int fd, GIOCondition condition, gpointer user_data)
{
  GloveLinuxSandbox *self = user_data;
  g_autoptr (GloveLinuxSandbox) keep = g_object_ref (self);

  (void) take_message (self);
  if (self->failure != NULL && self->state < STATE_RUNNING && self->monitor >= 0)
    give_up (self);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_later (gpointer user_data)
{
  GloveLinuxSandbox *self = user_data;
  g_autoptr (GloveLinuxSandbox) keep = g_object_ref (self);

  clear_source (&self->later_source);
  while (!g_queue_is_empty (self->early))
    (void) take_message (self);
  return G_SOURCE_REMOVE;
}

static gboolean
on_egress (int fd, GIOCondition condition, gpointer user_data)
{
  GloveLinuxSandbox *self = user_data;
  g_autoptr (GloveLinuxSandbox) keep = g_object_ref (self);

  for (guint i = 0; i < SOCKETS_PER_TURN && self->egress >= 0; i++)
    {
      guint32 tag = 0;
      int received = -1;

      switch (glove_linux_monitor_receive_socket (self->egress, &tag, &received))
        {
        case GLOVE_LINUX_MONITOR_MESSAGE:
          glove_sandbox_deliver_socket (GLOVE_SANDBOX (self), tag, received);
          break;
        case GLOVE_LINUX_MONITOR_NOTHING:
          return G_SOURCE_CONTINUE;
        case GLOVE_LINUX_MONITOR_CLOSED:
        case GLOVE_LINUX_MONITOR_BROKEN:
        default:
          clear_source (&self->egress_source);
          glove_linux_fd_clear (&self->egress);
          break;
        }
    }
  return G_SOURCE_CONTINUE;
}

static void
complete_finish (GloveLinuxSandbox *self)
{
  g_autoptr (GTask) task = g_steal_pointer (&self->finish);

  if (task != NULL)
    g_task_return_boolean (task, TRUE);
}

static gboolean
on_launcher_exit (int fd, GIOCondition condition, gpointer user_data)
{
  GloveLinuxSandbox *self = user_data;
  g_autoptr (GloveLinuxSandbox) keep = g_object_ref (self);

  /* What it said before it ended counts (HO-05). */
  while (take_message (self))
    continue;
  clear_source (&self->exit_source);
  clear_source (&self->budget_source);
  clear_source (&self->making_source);
  clear_source (&self->monitor_source);
  clear_source (&self->egress_source);
  glove_linux_fd_clear (&self->monitor);
  glove_linux_fd_clear (&self->egress);
  reap (self);
  complete_start (self);
  complete_finish (self);
  return G_SOURCE_REMOVE;
}

/* Making ----------------------------------------------------------------------------------------------------------------------- */

static gboolean
on_making_timeout (gpointer user_data)
{
  GloveLinuxSandbox *self = user_data;

  clear_source (&self->making_source);
  if (self->failure == NULL)
    glove_error_set (&self->failure, GLOVE_ERROR_TIMED_OUT, "the sandbox was not made within %d s", READY_TIMEOUT_MS / 1000);
  send_pidfd_kill (self);
  return G_SOURCE_REMOVE;
}

/* Only who has to know a port before the start waits here; everybody else goes on while the launcher works. */
static gboolean
wait_ready (GloveLinuxSandbox *self, GError **error)
{
  while (self->state == STATE_MAKING && self->failure == NULL)
    {
      GloveLaunchMessage message;
      glove_linux_autofd int fd = -1;

      switch (glove_linux_monitor_receive (self->monitor, READY_TIMEOUT_MS, &message, &fd, error))
        {
        case GLOVE_LINUX_MONITOR_MESSAGE:
          handle_message (self, &message, &fd);
          break;
        case GLOVE_LINUX_MONITOR_NOTHING:
          glove_error_set (error, GLOVE_ERROR_TIMED_OUT, "the sandbox was not made within %d s", READY_TIMEOUT_MS / 1000);
          return FALSE;
        case GLOVE_LINUX_MONITOR_CLOSED:
          end_now (self);
          g_propagate_error (error, new_silent_end (self));
          return FALSE;
        case GLOVE_LINUX_MONITOR_BROKEN:
        default:
          send_pidfd_kill (self); /* whoever breaks the protocol is not asked to end */
          return FALSE;
        }
    }
  if (self->failure == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&self->failure));
  return FALSE;
}

static gboolean
has_open_port (const GloveLaunchSpec *spec)
{
  for (guint i = 0; spec->listeners != NULL && i < spec->listeners->len; i++)
    if (g_array_index (spec->listeners, GloveLaunchListener, i).port == 0)
      return TRUE;
  return FALSE;
}

GloveLinuxSandbox *
glove_linux_sandbox_new (GloveLaunchSpec *spec, GloveLinuxLaunch *launch, GloveLinuxCgroupSession *cgroup, GError **error)
{
  g_autoptr (GloveLinuxSandbox) self = g_object_new (GLOVE_LINUX_TYPE_SANDBOX, NULL);

  self->context = g_main_context_ref_thread_default ();
  self->spec = glove_launch_spec_ref (spec);
  self->pid = launch->pid;
  self->pidfd = g_steal_fd (&launch->pidfd);
  self->monitor = g_steal_fd (&launch->monitor);
  self->egress = g_steal_fd (&launch->egress);
  g_set_object (&self->cgroup, cgroup);
  if (has_open_port (spec) && !wait_ready (self, error))
    return NULL;
  self->monitor_source = attach_fd (self, self->monitor, on_monitor);
  self->exit_source = attach_fd (self, self->pidfd, on_launcher_exit);
  if (self->egress >= 0)
    self->egress_source = attach_fd (self, self->egress, on_egress);
  if (self->state == STATE_MAKING)
    self->making_source = attach (self, g_timeout_source_new (READY_TIMEOUT_MS), on_making_timeout);
  return g_steal_pointer (&self);
}

guint
glove_linux_sandbox_get_landlock_abi (GloveLinuxSandbox *self)
{
  return self->landlock_abi;
}

/* The interface ---------------------------------------------------------------------------------------------------------------- */

static void
return_new_error (GTask *task, GloveError code, const char *message)
{
  GError *error = NULL;

  glove_error_set_literal (&error, code, message);
  g_task_return_error (task, error);
}

static void
glove_linux_sandbox_start_async (GloveSandbox *sandbox, GCancellable *cancellable, GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (sandbox);
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_source_tag (task, glove_linux_sandbox_start_async);
  if (self->state == STATE_GONE)
    g_task_return_error (task, self->failure != NULL ? g_error_copy (self->failure) : new_silent_end (self));
  else if (self->start != NULL || self->state > STATE_READY)
    return_new_error (task, GLOVE_ERROR_BUSY, "the agent was started already");
  else
    {
      self->start = g_steal_pointer (&task);
      let_go (self);
    }
}

static gboolean
glove_linux_sandbox_start_finish (GloveSandbox *sandbox, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
glove_linux_sandbox_finish_async (GloveSandbox *sandbox, GCancellable *cancellable, GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (sandbox);
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_source_tag (task, glove_linux_sandbox_finish_async);
  if (self->state == STATE_GONE)
    g_task_return_boolean (task, TRUE);
  else if (self->finish != NULL)
    return_new_error (task, GLOVE_ERROR_BUSY, "somebody else waits for the end of the sandbox");
  else
    self->finish = g_steal_pointer (&task);
}

static gboolean
glove_linux_sandbox_finish_finish (GloveSandbox *sandbox, GAsyncResult *result, GloveOutcome *ret_outcome, GError **error)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (sandbox);

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;
  glove_linux_outcome_init (ret_outcome, &self->end);
  return TRUE;
}

static int
glove_linux_sandbox_dup_terminal (GloveSandbox *sandbox, GError **error)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (sandbox);
  int fd;

  if (self->terminal < 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_NOT_FOUND, "the sandbox has no terminal");
      return -1;
    }
  fd = fcntl (self->terminal, F_DUPFD_CLOEXEC, 3);
  if (fd < 0)
    glove_error_set_errno (error, errno, "can't duplicate the terminal");
  return fd;
}

static gboolean
glove_linux_sandbox_resize (GloveSandbox *sandbox, guint16 rows, guint16 columns, GError **error)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (sandbox);
  struct winsize size = { .ws_row = rows, .ws_col = columns };

  if (self->terminal < 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_NOT_FOUND, "the sandbox has no terminal");
      return FALSE;
    }
  if (ioctl (self->terminal, TIOCSWINSZ, &size) == 0)
    return TRUE;
  glove_error_set_errno (error, errno, "can't resize the terminal");
  return FALSE;
}

static gboolean
send_command (GloveLinuxSandbox *self, guint32 type, guint32 argument, GError **error)
{
  if (self->monitor >= 0)
    return glove_linux_monitor_send (self->monitor, type, argument, error);
  glove_error_set_literal (error, GLOVE_ERROR_CLOSED, "the sandbox has ended");
  return FALSE;
}

static gboolean
glove_linux_sandbox_send_signal (GloveSandbox *sandbox, int signum, GError **error)
{
  static const int allowed[] = { SIGINT, SIGTERM, SIGHUP, SIGCONT, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH };

  for (gsize i = 0; i < G_N_ELEMENTS (allowed); i++)
    if (allowed[i] == signum)
      return send_command (GLOVE_LINUX_SANDBOX (sandbox), GLOVE_LAUNCH_SIGNAL, (guint32) signum, error);
  glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "signal %d is not sent to an agent", signum);
  return FALSE;
}

static gboolean
glove_linux_sandbox_freeze (GloveSandbox *sandbox, gboolean frozen, GError **error)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (sandbox);

  if (self->cgroup != NULL)
    return send_command (self, GLOVE_LAUNCH_FREEZE, frozen ? 1 : 0, error);
  glove_error_set_literal (error, GLOVE_ERROR_NOT_SUPPORTED, "without a control group nothing can be frozen");
  glove_error_set_hint (error, "start glove in a delegated control group (glove doctor says how)");
  return FALSE;
}

static void
glove_linux_sandbox_stop (GloveSandbox *sandbox, GloveTermination cause)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (sandbox);

  if (self->state == STATE_GONE || self->end.forced)
    return;
  self->end.forced = TRUE;
  self->end.forced_cause = cause;
  self->end.ended_before_force = self->end.counted;
  if (!send_command (self, GLOVE_LAUNCH_KILL, 0, /* error= */ NULL))
    send_pidfd_kill (self);
}

static gboolean
glove_linux_sandbox_read_usage (GloveSandbox *sandbox, GloveUsage *ret_usage, GError **error)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (sandbox);
  gint64 until = g_get_monotonic_time () + USAGE_TIMEOUT_MS * 1000;

  if (!send_command (self, GLOVE_LAUNCH_USAGE, 0, error))
    return FALSE;
  while (TRUE)
    {
      GloveLaunchMessage message;
      glove_linux_autofd int fd = -1;
      gint64 left_ms = (until - g_get_monotonic_time ()) / 1000;
      GloveLinuxMonitorResult result
          = glove_linux_monitor_receive (self->monitor, (int) MAX (left_ms, 0), &message, &fd, error);

      if (result == GLOVE_LINUX_MONITOR_BROKEN)
        return FALSE;
      if (result != GLOVE_LINUX_MONITOR_MESSAGE)
        {
          glove_error_set_literal (error, result == GLOVE_LINUX_MONITOR_CLOSED ? GLOVE_ERROR_CLOSED : GLOVE_ERROR_TIMED_OUT,
                                   "the launcher did not tell the usage");
          return FALSE;
        }
      if (message.type == GLOVE_LAUNCH_USAGE_REPLY)
        {
          glove_linux_outcome_read_usage (ret_usage, &message, self->started_us, g_get_monotonic_time ());
          return TRUE;
        }
      g_queue_push_tail (self->early, g_memdup2 (&message, sizeof message));
      if (self->later_source == NULL)
        self->later_source = attach (self, g_idle_source_new (), on_later);
    }
}

static void
glove_linux_sandbox_dispose (GObject *object)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (object);

  clear_source (&self->monitor_source);
  clear_source (&self->egress_source);
  clear_source (&self->exit_source);
  clear_source (&self->budget_source);
  clear_source (&self->making_source);
  clear_source (&self->later_source);
  end_now (self);
  g_clear_object (&self->cgroup);
  G_OBJECT_CLASS (glove_linux_sandbox_parent_class)->dispose (object);
}

static void
glove_linux_sandbox_finalize (GObject *object)
{
  GloveLinuxSandbox *self = GLOVE_LINUX_SANDBOX (object);

  glove_linux_fd_clear (&self->monitor);
  glove_linux_fd_clear (&self->egress);
  glove_linux_fd_clear (&self->terminal);
  glove_linux_fd_clear (&self->pidfd);
  g_queue_free_full (self->early, g_free);
  g_clear_error (&self->failure);
  g_clear_pointer (&self->spec, glove_launch_spec_unref);
  g_clear_pointer (&self->context, g_main_context_unref);
  G_OBJECT_CLASS (glove_linux_sandbox_parent_class)->finalize (object);
}

static void
glove_linux_sandbox_class_init (GloveLinuxSandboxClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GloveSandboxClass *sandbox_class = GLOVE_SANDBOX_CLASS (klass);

  object_class->dispose = glove_linux_sandbox_dispose;
  object_class->finalize = glove_linux_sandbox_finalize;
  sandbox_class->start_async = glove_linux_sandbox_start_async;
  sandbox_class->start_finish = glove_linux_sandbox_start_finish;
  sandbox_class->finish_async = glove_linux_sandbox_finish_async;
  sandbox_class->finish_finish = glove_linux_sandbox_finish_finish;
  sandbox_class->dup_terminal = glove_linux_sandbox_dup_terminal;
  sandbox_class->resize = glove_linux_sandbox_resize;
  sandbox_class->send_signal = glove_linux_sandbox_send_signal;
  sandbox_class->freeze = glove_linux_sandbox_freeze;
  sandbox_class->stop = glove_linux_sandbox_stop;
  sandbox_class->read_usage = glove_linux_sandbox_read_usage;
}

static void
glove_linux_sandbox_init (GloveLinuxSandbox *self)
{
  self->pidfd = self->monitor = self->egress = self->terminal = -1;
  self->early = g_queue_new ();
}
