/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-session-terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "glove-error.h"
#include "glove-fd.h"
#include "glove-stream-pump.h"

#define DEFAULT_ROWS 24
#define DEFAULT_COLUMNS 80
#define SIZE_MAX_CELLS 4096

struct _GloveSessionTerminal
{
  GloveSandbox *sandbox;
  GloveStreamPump *input;
  GloveStreamPump *output;
  guint resize_source;
  gulong stopped_handler;
};

/* What a signal handler may touch: the terminal's own modes, noted before they are changed. */
static struct termios saved_modes;
static volatile sig_atomic_t raw_mode;

static const int fatal_signals[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV };

gboolean
glove_session_terminal_is_usable (void)
{
  return isatty (STDIN_FILENO) && tcgetpgrp (STDIN_FILENO) == getpgrp ();
}

/* Async-signal-safe. */
static void
restore_modes (void)
{
  if (!raw_mode)
    return;
  raw_mode = 0;
  (void) tcsetattr (STDIN_FILENO, TCSADRAIN, &saved_modes);
}

/* Installed with SA_RESETHAND: the second time the signal does what it does. */
static void
on_fatal_signal (int signum)
{
  restore_modes ();
  (void) raise (signum);
}

static void
install_restorers (void)
{
  static gsize once = 0;

  if (!g_once_init_enter (&once))
    return;
  (void) atexit (restore_modes);
  for (gsize i = 0; i < G_N_ELEMENTS (fatal_signals); i++)
    {
      struct sigaction action = { .sa_handler = on_fatal_signal, .sa_flags = (int) SA_RESETHAND };

      (void) sigaction (fatal_signals[i], &action, NULL);
    }
  g_once_init_leave (&once, 1);
}

static gboolean
enter_raw_mode (GError **error)
{
  struct termios modes = saved_modes;

  cfmakeraw (&modes);
  raw_mode = 1;
  if (tcsetattr (STDIN_FILENO, TCSADRAIN, &modes) != 0)
    {
      raw_mode = 0;
      glove_error_set_errno (error, errno, "can't switch the terminal to raw mode");
      return FALSE;
    }
  return TRUE;
}

static void
read_size (guint16 *ret_rows, guint16 *ret_columns)
{
  struct winsize size = { 0 };

  if (ioctl (STDIN_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    {
      size.ws_row = DEFAULT_ROWS;
      size.ws_col = DEFAULT_COLUMNS;
    }
  *ret_rows = MIN (size.ws_row, SIZE_MAX_CELLS);
  *ret_columns = MIN (size.ws_col, SIZE_MAX_CELLS);
}

static void
follow_size (GloveSessionTerminal *self)
{
  guint16 rows, columns;

  read_size (&rows, &columns);
  /* the agent may be gone already: then there's nobody to tell */
  (void) glove_sandbox_resize (self->sandbox, rows, columns, NULL);
}

static gboolean
on_window_changed (gpointer user_data)
{
  follow_size (user_data);
  return G_SOURCE_CONTINUE;
}

/* The agent stopped itself (Ctrl-Z in its terminal): so do we, and once the shell continues us, the agent goes on. */
static void
on_agent_stopped (GloveSandbox *sandbox, gpointer user_data)
{
  GloveSessionTerminal *self = user_data;

  restore_modes ();
  (void) raise (SIGSTOP);
  (void) enter_raw_mode (NULL);
  follow_size (self);
  (void) glove_sandbox_send_signal (sandbox, SIGCONT, NULL);
}

GloveSessionTerminal *
glove_session_terminal_new (GloveLaunchSpec *spec, GError **error)
{
  if (tcgetattr (STDIN_FILENO, &saved_modes) != 0)
    {
      glove_error_set_errno (error, errno, "can't read the modes of the terminal on standard input");
      glove_error_set_hint (error, "use --no-tty when standard input is not a terminal");
      return NULL;
    }
  spec->tty = TRUE;
  read_size (&spec->rows, &spec->columns);
  return g_new0 (GloveSessionTerminal, 1);
}

static GloveStreamPump *
start_pump (int source, int sink, GloveOutputBudget *budget, GError **error)
{
  glove_autofd int from = fcntl (source, F_DUPFD_CLOEXEC, 3);
  glove_autofd int to = fcntl (sink, F_DUPFD_CLOEXEC, 3);

  if (from < 0 || to < 0)
    {
      glove_error_set_errno (error, errno, "can't duplicate a descriptor of the terminal");
      return NULL;
    }
  return glove_stream_pump_new (g_steal_fd (&from), g_steal_fd (&to), budget, error);
}

gboolean
glove_session_terminal_attach (GloveSessionTerminal *self, GloveSandbox *sandbox, GloveOutputBudget *budget,
                               GError **error)
{
  glove_autofd int master = glove_sandbox_dup_terminal (sandbox, error);
  int screen = isatty (STDOUT_FILENO) ? STDOUT_FILENO : STDIN_FILENO;

  if (master < 0)
    return FALSE;
  self->sandbox = g_object_ref (sandbox);
  install_restorers ();
  if (!enter_raw_mode (error))
    return FALSE;
  self->output = start_pump (master, screen, budget, error);
  if (self->output == NULL)
    return FALSE;
  self->input = start_pump (STDIN_FILENO, master, NULL, error);
  if (self->input == NULL)
    return FALSE;
  self->resize_source = g_unix_signal_add (SIGWINCH, on_window_changed, self);
  self->stopped_handler = g_signal_connect (sandbox, "agent-stopped", G_CALLBACK (on_agent_stopped), self);
  follow_size (self);
  return TRUE;
}

gboolean
glove_session_terminal_is_drained (GloveSessionTerminal *self)
{
  return self->output == NULL || glove_stream_pump_has_ended (self->output);
}

void
glove_session_terminal_finish (GloveSessionTerminal *self)
{
  if (self->output != NULL)
    (void) glove_stream_pump_finish (g_steal_pointer (&self->output)); /* a terminal that is gone has nobody to tell */
  restore_modes ();
}

void
glove_session_terminal_free (GloveSessionTerminal *self)
{
  restore_modes ();
  g_clear_handle_id (&self->resize_source, g_source_remove);
  if (self->stopped_handler != 0)
    g_signal_handler_disconnect (self->sandbox, self->stopped_handler);
  g_clear_pointer (&self->input, glove_stream_pump_abandon);
  g_clear_pointer (&self->output, glove_stream_pump_abandon);
  g_clear_object (&self->sandbox);
  g_free (self);
}
