/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-launch-spec.h"
#include "glove-macros.h"
#include "glove-outcome.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_SANDBOX (glove_sandbox_get_type ())
GLOVE_AVAILABLE_IN_1_0 G_DECLARE_DERIVABLE_TYPE (GloveSandbox, glove_sandbox, GLOVE, SANDBOX, GObject)

/**
 * GloveSandboxSocketFunc:
 * @tag: of the #GloveLaunchListener that accepted it
 * @fd: a connected stream socket from inside; owned by the callee
 *
 * Nothing about the socket is believed: the callee checks its type, family and state itself.
 */
typedef void (*GloveSandboxSocketFunc) (GloveSandbox *sandbox, guint32 tag, int fd, gpointer user_data);

/**
 * GloveSandboxClass:
 * @start_async: lets the agent go; completes when it executes, or with the reason why it can't:
 *   %GLOVE_ERROR_NOT_FOUND when there is no such program, %GLOVE_ERROR_NOT_EXECUTABLE when it can't be executed
 * @start_finish: ends @start_async
 * @finish_async: completes when the agent and everything it started are gone and nothing of the sandbox is left
 * @finish_finish: writes the outcome
 * @dup_terminal: a new descriptor of the terminal's master side; with `tty` only, after the start
 * @resize: of the terminal
 * @send_signal: SIGINT, SIGTERM, SIGHUP, SIGCONT, SIGQUIT, SIGUSR1, SIGUSR2 or SIGWINCH to the agent (with a terminal: to its
 *   foreground process group)
 * @freeze: stops or continues every process; default: not supported
 * @stop: kills everything, now; @cause is what the outcome says if nothing else ended it first. Idempotent
 * @read_usage: as counted so far
 * @write_input: to a session that the backend keeps a terminal for; default: not supported
 * @attach: default: not supported
 *
 * One sandbox, made by a backend. Signals: #GloveSandbox::agent-stopped, when the agent stopped itself (job control).
 * Used from the main context it was made in. Dropping the last reference kills what still runs.
 *
 * Since: 1.0
 */
struct _GloveSandboxClass {
  /*< private >*/
  GObjectClass parent_class;
  /*< public >*/
  void (*start_async) (GloveSandbox *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
  gboolean (*start_finish) (GloveSandbox *self, GAsyncResult *result, GError **error);
  void (*finish_async) (GloveSandbox *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
  gboolean (*finish_finish) (GloveSandbox *self, GAsyncResult *result, GloveOutcome *ret_outcome, GError **error);
  int (*dup_terminal) (GloveSandbox *self, GError **error);
  gboolean (*resize) (GloveSandbox *self, guint16 rows, guint16 columns, GError **error);
  gboolean (*send_signal) (GloveSandbox *self, int signum, GError **error);
  gboolean (*freeze) (GloveSandbox *self, gboolean frozen, GError **error);
  void (*stop) (GloveSandbox *self, GloveTermination cause);
  gboolean (*read_usage) (GloveSandbox *self, GloveUsage *ret_usage, GError **error);
  gssize (*write_input) (GloveSandbox *self, const guint8 *data, gsize length, GError **error);
  gboolean (*attach) (GloveSandbox *self, int fd, GError **error);
  void (*socket_handler_changed) (GloveSandbox *self);
  /*< private >*/
  gpointer reserved[16];
};

/* Before the start. Sockets that arrive while no handler is set are closed. */
GLOVE_AVAILABLE_IN_1_0 void glove_sandbox_set_socket_handler (GloveSandbox *self, GloveSandboxSocketFunc handler,
                                                              gpointer user_data, GDestroyNotify destroy);
/* For backends: hands an accepted socket (taken) to the handler. */
GLOVE_AVAILABLE_IN_1_0 void glove_sandbox_deliver_socket (GloveSandbox *self, guint32 tag, int fd);
/* For backends. */
GLOVE_AVAILABLE_IN_1_0 void glove_sandbox_emit_agent_stopped (GloveSandbox *self);

GLOVE_AVAILABLE_IN_1_0 void glove_sandbox_start_async (GloveSandbox *self, GCancellable *cancellable,
                                                       GAsyncReadyCallback callback, gpointer user_data);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_sandbox_start_finish (GloveSandbox *self, GAsyncResult *result, GError **error);
GLOVE_AVAILABLE_IN_1_0 void glove_sandbox_finish_async (GloveSandbox *self, GCancellable *cancellable,
                                                        GAsyncReadyCallback callback, gpointer user_data);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_sandbox_finish_finish (GloveSandbox *self, GAsyncResult *result,
                                                             GloveOutcome *ret_outcome, GError **error);
GLOVE_AVAILABLE_IN_1_0 int glove_sandbox_dup_terminal (GloveSandbox *self, GError **error);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_sandbox_resize (GloveSandbox *self, guint16 rows, guint16 columns,
                                                      GError **error);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_sandbox_send_signal (GloveSandbox *self, int signum, GError **error);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_sandbox_freeze (GloveSandbox *self, gboolean frozen, GError **error);
GLOVE_AVAILABLE_IN_1_0 void glove_sandbox_stop (GloveSandbox *self, GloveTermination cause);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_sandbox_read_usage (GloveSandbox *self, GloveUsage *ret_usage, GError **error);
GLOVE_AVAILABLE_IN_1_0 gssize glove_sandbox_write_input (GloveSandbox *self, const guint8 *data, gsize length,
                                                         GError **error);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_sandbox_attach (GloveSandbox *self, int fd, GError **error);

G_END_DECLS
