/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-sandbox.h"

#include <signal.h>

#include "glove-contract-private.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-sandbox-private.h"

#define DIMENSION_MAX 4096

/* Counted, so that a handler may replace itself while it runs. */
typedef struct {
  GloveSandboxSocketFunc func;
  gpointer user_data;
  GDestroyNotify destroy;
} SocketHandler;

typedef struct {
  char *backend_id;
  SocketHandler *handler; /* an rc box, or NULL */
  gboolean start_called;
} GloveSandboxPrivate;

enum { SIGNAL_AGENT_STOPPED, N_SIGNALS };

static guint signals[N_SIGNALS];

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GloveSandbox, glove_sandbox, G_TYPE_OBJECT)

static GloveSandboxPrivate *
get_private (GloveSandbox *self)
{
  return glove_sandbox_get_instance_private (self);
}

static const char *
get_name (GloveSandbox *self)
{
  const char *id = get_private (self)->backend_id;

  return id != NULL ? id : G_OBJECT_TYPE_NAME (self);
}

static gboolean
check (GloveSandbox *self, gboolean succeeded, const char *slot, GError *inner, GError **error)
{
  return glove_contract_check (succeeded, get_name (self), slot, inner, error);
}

static void
handler_clear (gpointer data)
{
  SocketHandler *handler = data;

  if (handler->destroy != NULL)
    handler->destroy (handler->user_data);
}

static void
handler_release (SocketHandler *handler)
{
  g_rc_box_release_full (handler, handler_clear);
}

static void
report_unsupported (GloveSandbox *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data,
                    const char *slot)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  GError *error = NULL;

  glove_error_set (&error, GLOVE_ERROR_NOT_SUPPORTED, "%s is not supported", slot);
  g_task_return_error (task, error);
}

static void
real_start_async (GloveSandbox *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  report_unsupported (self, cancellable, callback, user_data, "start");
}

static gboolean
real_start_finish (GloveSandbox *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
real_finish_async (GloveSandbox *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  report_unsupported (self, cancellable, callback, user_data, "finish");
}

static gboolean
real_finish_finish (GloveSandbox *self, GAsyncResult *result, GloveOutcome *ret_outcome, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static gboolean
unsupported (const char *slot, GError **error)
{
  glove_error_set (error, GLOVE_ERROR_NOT_SUPPORTED, "%s is not supported", slot);
  return FALSE;
}

static int
real_dup_terminal (GloveSandbox *self, GError **error)
{
  (void) unsupported ("dup_terminal", error);
  return -1;
}

static gboolean
real_resize (GloveSandbox *self, guint16 rows, guint16 columns, GError **error)
{
  return unsupported ("resize", error);
}

static gboolean
real_send_signal (GloveSandbox *self, int signum, GError **error)
{
  return unsupported ("send_signal", error);
}

static gboolean
real_freeze (GloveSandbox *self, gboolean frozen, GError **error)
{
  return unsupported ("freeze", error);
}

static void
real_stop (GloveSandbox *self, GloveTermination cause)
{
}

static gboolean
real_read_usage (GloveSandbox *self, GloveUsage *ret_usage, GError **error)
{
  return unsupported ("read_usage", error);
}

static gssize
real_write_input (GloveSandbox *self, const guint8 *data, gsize length, GError **error)
{
  (void) unsupported ("write_input", error);
  return -1;
}

static gboolean
real_attach (GloveSandbox *self, int fd, GError **error)
{
  return unsupported ("attach", error);
}

static void
real_socket_handler_changed (GloveSandbox *self)
{
}

static void
glove_sandbox_dispose (GObject *object)
{
  g_clear_pointer (&get_private (GLOVE_SANDBOX (object))->handler, handler_release);
  G_OBJECT_CLASS (glove_sandbox_parent_class)->dispose (object);
}

static void
glove_sandbox_finalize (GObject *object)
{
  g_free (get_private (GLOVE_SANDBOX (object))->backend_id);
  G_OBJECT_CLASS (glove_sandbox_parent_class)->finalize (object);
}

static void
glove_sandbox_class_init (GloveSandboxClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = glove_sandbox_dispose;
  object_class->finalize = glove_sandbox_finalize;
  klass->start_async = real_start_async;
  klass->start_finish = real_start_finish;
  klass->finish_async = real_finish_async;
  klass->finish_finish = real_finish_finish;
  klass->dup_terminal = real_dup_terminal;
  klass->resize = real_resize;
  klass->send_signal = real_send_signal;
  klass->freeze = real_freeze;
  klass->stop = real_stop;
  klass->read_usage = real_read_usage;
  klass->write_input = real_write_input;
  klass->attach = real_attach;
  klass->socket_handler_changed = real_socket_handler_changed;

  /**
   * GloveSandbox::agent-stopped:
   * @self: the sandbox
   *
   * The agent stopped itself, as a shell's job does.
   *
   * Since: 1.0
   */
  signals[SIGNAL_AGENT_STOPPED] = g_signal_new ("agent-stopped", GLOVE_TYPE_SANDBOX, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                                NULL, G_TYPE_NONE, 0);
}

static void
glove_sandbox_init (GloveSandbox *self)
{
}

void
glove_sandbox_set_backend_id (GloveSandbox *self, const char *backend_id)
{
  GloveSandboxPrivate *priv;

  g_return_if_fail (GLOVE_IS_SANDBOX (self));

  priv = get_private (self);
  g_free (priv->backend_id);
  priv->backend_id = g_strdup (backend_id);
}

/**
 * glove_sandbox_set_socket_handler:
 * @self: a sandbox that was not started
 * @handler: (nullable) (scope notified) (closure user_data): called for each socket; %NULL for none
 * @user_data: for @handler
 * @destroy: (nullable): for @user_data
 *
 * Since: 1.0
 */
void
glove_sandbox_set_socket_handler (GloveSandbox *self, GloveSandboxSocketFunc handler, gpointer user_data,
                                  GDestroyNotify destroy)
{
  GloveSandboxPrivate *priv;
  SocketHandler *old;

  g_return_if_fail (GLOVE_IS_SANDBOX (self));

  priv = get_private (self);
  old = g_steal_pointer (&priv->handler);
  if (handler != NULL)
    {
      priv->handler = g_rc_box_new (SocketHandler);
      *priv->handler = (SocketHandler){ handler, user_data, destroy };
    }
  if (old != NULL)
    handler_release (old);
  GLOVE_SANDBOX_GET_CLASS (self)->socket_handler_changed (self);
}

/**
 * glove_sandbox_deliver_socket:
 * @self: a sandbox
 * @tag: of the listener that accepted it
 * @fd: the socket, taken; closed when there is no handler
 *
 * For backends.
 *
 * Since: 1.0
 */
void
glove_sandbox_deliver_socket (GloveSandbox *self, guint32 tag, int fd)
{
  glove_autofd int owned = fd;
  SocketHandler *handler;

  g_return_if_fail (GLOVE_IS_SANDBOX (self));
  g_return_if_fail (fd >= 0);

  handler = get_private (self)->handler;
  if (handler == NULL)
    return;
  (void) g_rc_box_acquire (handler);
  handler->func (self, tag, g_steal_fd (&owned), handler->user_data);
  handler_release (handler);
}

/**
 * glove_sandbox_emit_agent_stopped:
 * @self: a sandbox
 *
 * For backends.
 *
 * Since: 1.0
 */
void
glove_sandbox_emit_agent_stopped (GloveSandbox *self)
{
  g_return_if_fail (GLOVE_IS_SANDBOX (self));

  g_signal_emit (self, signals[SIGNAL_AGENT_STOPPED], 0);
}

/**
 * glove_sandbox_start_async:
 * @self: a sandbox
 * @cancellable: (nullable): to give up
 * @callback: (scope async): called when the agent executes, or can't
 * @user_data: for @callback
 *
 * Lets the agent go; once. A second call is %GLOVE_ERROR_INVALID_ARGUMENT.
 *
 * Since: 1.0
 */
void
glove_sandbox_start_async (GloveSandbox *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                           gpointer user_data)
{
  GloveSandboxPrivate *priv;

  g_return_if_fail (GLOVE_IS_SANDBOX (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  priv = get_private (self);
  if (priv->start_called)
    {
      GError *error = NULL;

      glove_error_set (&error, GLOVE_ERROR_INVALID_ARGUMENT, "%s: the sandbox was started before", get_name (self));
      g_task_report_error (self, callback, user_data, glove_sandbox_start_async, error);
      return;
    }
  priv->start_called = TRUE;
  GLOVE_SANDBOX_GET_CLASS (self)->start_async (self, cancellable, callback, user_data);
}

/**
 * glove_sandbox_start_finish:
 * @self: a sandbox
 * @result: what the callback was given
 * @error: return location
 *
 * Returns: %FALSE with the reason why the agent does not run, the backend's id in front
 *
 * Since: 1.0
 */
gboolean
glove_sandbox_start_finish (GloveSandbox *self, GAsyncResult *result, GError **error)
{
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_SANDBOX (self), FALSE);
  g_return_val_if_fail (G_IS_ASYNC_RESULT (result), FALSE);

  if (g_async_result_is_tagged (result, glove_sandbox_start_async))
    return g_task_propagate_boolean (G_TASK (result), error);
  ok = GLOVE_SANDBOX_GET_CLASS (self)->start_finish (self, result, &inner);
  return check (self, ok, "start", inner, error);
}

/**
 * glove_sandbox_finish_async:
 * @self: a sandbox
 * @cancellable: (nullable): to wait no longer; nothing is stopped by it
 * @callback: (scope async): called when nothing of the sandbox is left
 * @user_data: for @callback
 *
 * Since: 1.0
 */
void
glove_sandbox_finish_async (GloveSandbox *self, GCancellable *cancellable, GAsyncReadyCallback callback,
                            gpointer user_data)
{
  g_return_if_fail (GLOVE_IS_SANDBOX (self));
  g_return_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable));

  GLOVE_SANDBOX_GET_CLASS (self)->finish_async (self, cancellable, callback, user_data);
}

/**
 * glove_sandbox_finish_finish:
 * @self: a sandbox
 * @result: what the callback was given
 * @ret_outcome: (out caller-allocates): how it ended; untouched on failure
 * @error: return location
 *
 * Returns: %FALSE with the reason why the outcome isn't known, the backend's id in front
 *
 * Since: 1.0
 */
gboolean
glove_sandbox_finish_finish (GloveSandbox *self, GAsyncResult *result, GloveOutcome *ret_outcome, GError **error)
{
  GloveOutcome outcome = { 0 };
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_SANDBOX (self), FALSE);
  g_return_val_if_fail (G_IS_ASYNC_RESULT (result), FALSE);
  g_return_val_if_fail (ret_outcome != NULL, FALSE);

  ok = GLOVE_SANDBOX_GET_CLASS (self)->finish_finish (self, result, &outcome, &inner);
  if (!check (self, ok, "finish", inner, error))
    return FALSE;
  if (glove_termination_get_name (outcome.cause) == NULL)
    {
      glove_error_set (error, GLOVE_ERROR_CONTRACT, "%s: finish gave no cause that there is", get_name (self));
      return FALSE;
    }
  *ret_outcome = outcome;
  return TRUE;
}

/**
 * glove_sandbox_dup_terminal:
 * @self: a sandbox with a terminal, started
 * @error: return location
 *
 * Returns: a new descriptor, owned by the caller; -1 with the backend's error
 *
 * Since: 1.0
 */
int
glove_sandbox_dup_terminal (GloveSandbox *self, GError **error)
{
  glove_autofd int fd = -1;
  GError *inner = NULL;

  g_return_val_if_fail (GLOVE_IS_SANDBOX (self), -1);

  fd = GLOVE_SANDBOX_GET_CLASS (self)->dup_terminal (self, &inner);
  if (!check (self, fd >= 0, "dup_terminal", inner, error))
    return -1;
  return g_steal_fd (&fd);
}

/**
 * glove_sandbox_resize:
 * @self: a sandbox with a terminal
 * @rows: 1..4096
 * @columns: 1..4096
 * @error: return location
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT, or the backend's error
 *
 * Since: 1.0
 */
gboolean
glove_sandbox_resize (GloveSandbox *self, guint16 rows, guint16 columns, GError **error)
{
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_SANDBOX (self), FALSE);

  if (rows < 1 || rows > DIMENSION_MAX || columns < 1 || columns > DIMENSION_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "a terminal of %u × %u is not 1..%d each way", rows, columns,
                       DIMENSION_MAX);
      return FALSE;
    }
  ok = GLOVE_SANDBOX_GET_CLASS (self)->resize (self, rows, columns, &inner);
  return check (self, ok, "resize", inner, error);
}

/**
 * glove_sandbox_send_signal:
 * @self: a sandbox
 * @signum: one of those that #GloveSandboxClass lists
 * @error: return location
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT for another signal, or the backend's error
 *
 * Since: 1.0
 */
gboolean
glove_sandbox_send_signal (GloveSandbox *self, int signum, GError **error)
{
  static const int allowed[] = { SIGINT, SIGTERM, SIGHUP, SIGCONT, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH };
  GError *inner = NULL;
  gboolean known = FALSE;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_SANDBOX (self), FALSE);

  for (gsize i = 0; i < G_N_ELEMENTS (allowed); i++)
    known = known || allowed[i] == signum;
  if (!known)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "signal %d is not one that is passed on", signum);
      return FALSE;
    }
  ok = GLOVE_SANDBOX_GET_CLASS (self)->send_signal (self, signum, &inner);
  return check (self, ok, "send_signal", inner, error);
}

/**
 * glove_sandbox_freeze:
 * @self: a sandbox
 * @frozen: whether every process is to stand still
 * @error: return location
 *
 * Returns: %FALSE with the backend's error, its id in front
 *
 * Since: 1.0
 */
gboolean
glove_sandbox_freeze (GloveSandbox *self, gboolean frozen, GError **error)
{
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_SANDBOX (self), FALSE);

  ok = GLOVE_SANDBOX_GET_CLASS (self)->freeze (self, frozen, &inner);
  return check (self, ok, "freeze", inner, error);
}

/**
 * glove_sandbox_stop:
 * @self: a sandbox
 * @cause: what the outcome says if nothing else ended it first
 *
 * Since: 1.0
 */
void
glove_sandbox_stop (GloveSandbox *self, GloveTermination cause)
{
  g_return_if_fail (GLOVE_IS_SANDBOX (self));
  g_return_if_fail (glove_termination_get_name (cause) != NULL);

  GLOVE_SANDBOX_GET_CLASS (self)->stop (self, cause);
}

/**
 * glove_sandbox_read_usage:
 * @self: a sandbox
 * @ret_usage: (out caller-allocates): as counted so far; untouched on failure
 * @error: return location
 *
 * Returns: %FALSE with the backend's error, its id in front
 *
 * Since: 1.0
 */
gboolean
glove_sandbox_read_usage (GloveSandbox *self, GloveUsage *ret_usage, GError **error)
{
  GloveUsage usage = { G_MAXUINT64, G_MAXUINT64, G_MAXUINT64, G_MAXUINT64, G_MAXUINT64, G_MAXUINT64 };
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_SANDBOX (self), FALSE);
  g_return_val_if_fail (ret_usage != NULL, FALSE);

  ok = GLOVE_SANDBOX_GET_CLASS (self)->read_usage (self, &usage, &inner);
  if (!check (self, ok, "read_usage", inner, error))
    return FALSE;
  *ret_usage = usage;
  return TRUE;
}

/**
 * glove_sandbox_write_input:
 * @self: a sandbox
 * @data: (array length=length): the bytes
 * @length: how many
 * @error: return location
 *
 * Returns: how many were taken; -1 with the backend's error, its id in front
 *
 * Since: 1.0
 */
gssize
glove_sandbox_write_input (GloveSandbox *self, const guint8 *data, gsize length, GError **error)
{
  GError *inner = NULL;
  gssize taken;

  g_return_val_if_fail (GLOVE_IS_SANDBOX (self), -1);
  g_return_val_if_fail (data != NULL || length == 0, -1);

  taken = GLOVE_SANDBOX_GET_CLASS (self)->write_input (self, data, length, &inner);
  if (!check (self, taken >= 0, "write_input", inner, error))
    return -1;
  if ((gsize) taken > length)
    {
      glove_error_set (error, GLOVE_ERROR_CONTRACT, "%s: write_input took more than there was", get_name (self));
      return -1;
    }
  return taken;
}

/**
 * glove_sandbox_attach:
 * @self: a sandbox
 * @fd: what to attach, borrowed
 * @error: return location
 *
 * Returns: %FALSE with the backend's error, its id in front
 *
 * Since: 1.0
 */
gboolean
glove_sandbox_attach (GloveSandbox *self, int fd, GError **error)
{
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_SANDBOX (self), FALSE);
  g_return_val_if_fail (fd >= 0, FALSE);

  ok = GLOVE_SANDBOX_GET_CLASS (self)->attach (self, fd, &inner);
  return check (self, ok, "attach", inner, error);
}
