/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-session-stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "glove-error.h"
#include "glove-fd.h"
#include "glove-stream-pump.h"

struct _GloveSessionStdio
{
  int agent_end[3]; /* owned, -1 when passed through or absent */
  GloveStreamPump *pump[3];
};

static gboolean
is_null_device (const struct stat *st)
{
  return S_ISCHR (st->st_mode) && st->st_rdev == makedev (1, 3);
}

static gboolean
start_pump (GloveSessionStdio *self, int stream, GloveOutputBudget *budget, GError **error)
{
  int ends[2];
  glove_autofd int ours = -1;
  glove_autofd int host = -1;

  if (pipe2 (ends, O_CLOEXEC) != 0)
    {
      glove_error_set_errno (error, errno, "can't make a pipe for standard stream %d", stream);
      return FALSE;
    }
  self->agent_end[stream] = ends[stream == STDIN_FILENO ? 0 : 1];
  ours = ends[stream == STDIN_FILENO ? 1 : 0];
  host = fcntl (stream, F_DUPFD_CLOEXEC, 3);
  if (host < 0)
    {
      glove_error_set_errno (error, errno, "can't duplicate standard stream %d", stream);
      return FALSE;
    }
  if (stream == STDIN_FILENO)
    self->pump[stream] = glove_stream_pump_new (g_steal_fd (&host), g_steal_fd (&ours), NULL, error);
  else
    self->pump[stream] = glove_stream_pump_new (g_steal_fd (&ours), g_steal_fd (&host), budget, error);
  return self->pump[stream] != NULL;
}

/* Standard error that goes where standard output goes shares its pipe, so that the order of what is written to both is kept. A file is
 * another matter: two descriptors of it can have two offsets. */
static gboolean
share_output (GloveSessionStdio *self, const struct stat *st, gboolean *ret_shared, GError **error)
{
  struct stat output;

  *ret_shared = self->pump[STDOUT_FILENO] != NULL && !S_ISREG (st->st_mode) && fstat (STDOUT_FILENO, &output) == 0
                && st->st_dev == output.st_dev && st->st_ino == output.st_ino;
  if (!*ret_shared)
    return TRUE;
  self->agent_end[STDERR_FILENO] = fcntl (self->agent_end[STDOUT_FILENO], F_DUPFD_CLOEXEC, 3);
  if (self->agent_end[STDERR_FILENO] >= 0)
    return TRUE;
  glove_error_set_errno (error, errno, "can't duplicate standard stream %d", STDERR_FILENO);
  return FALSE;
}

static gboolean
set_up_stream (GloveSessionStdio *self, GloveLaunchSpec *spec, int stream, gboolean terminal,
               GloveOutputBudget *budget, GError **error)
{
  gboolean shared = FALSE;
  struct stat st;

  spec->stdio[stream] = -1;
  if (fstat (stream, &st) != 0)
    {
      if (errno == EBADF)
        return TRUE; /* closed by whoever started us: the agent finds /dev/null there */
      glove_error_set_errno (error, errno, "can't examine standard stream %d", stream);
      return FALSE;
    }
  if (terminal && isatty (stream))
    return TRUE;
  if (is_null_device (&st))
    {
      spec->stdio[stream] = stream;
      return TRUE;
    }
  if (stream == STDERR_FILENO && !share_output (self, &st, &shared, error))
    return FALSE;
  if (!shared && !start_pump (self, stream, budget, error))
    return FALSE;
  spec->stdio[stream] = self->agent_end[stream];
  return TRUE;
}

GloveSessionStdio *
glove_session_stdio_new (GloveLaunchSpec *spec, gboolean terminal, GloveOutputBudget *budget, GError **error)
{
  g_autoptr (GloveSessionStdio) self = g_new0 (GloveSessionStdio, 1);

  for (int stream = 0; stream < 3; stream++)
    self->agent_end[stream] = -1;
  for (int stream = 0; stream < 3; stream++)
    if (!set_up_stream (self, spec, stream, terminal, budget, error))
      return NULL;
  return g_steal_pointer (&self);
}

void
glove_session_stdio_release (GloveSessionStdio *self)
{
  for (int stream = 0; stream < 3; stream++)
    glove_fd_clear (&self->agent_end[stream]);
}

gboolean
glove_session_stdio_is_drained (GloveSessionStdio *self)
{
  for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++)
    if (self->pump[stream] != NULL && !glove_stream_pump_has_ended (self->pump[stream]))
      return FALSE;
  return TRUE;
}

gboolean
glove_session_stdio_finish (GloveSessionStdio *self, GError **error)
{
  gboolean complete = TRUE;

  for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++)
    {
      GloveStreamPump *pump = g_steal_pointer (&self->pump[stream]);
      int errsv = pump != NULL ? glove_stream_pump_finish (pump) : 0;

      if (errsv == 0 || errsv == EPIPE || !complete)
        continue;
      complete = FALSE;
      glove_error_set_errno (error, errsv, "output of the agent is lost: can't write standard %s",
                             stream == STDOUT_FILENO ? "output" : "error");
      glove_error_set_hint (error, "make room where it goes, and run the agent again");
    }
  return complete;
}

void
glove_session_stdio_free (GloveSessionStdio *self)
{
  glove_session_stdio_release (self);
  for (int stream = 0; stream < 3; stream++)
    g_clear_pointer (&self->pump[stream], glove_stream_pump_abandon);
  g_free (self);
}
