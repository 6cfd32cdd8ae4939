/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-stream-pump.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "glove-error.h"
#include "glove-fd.h"

#define CHUNK 65536

struct _GloveStreamPump
{
  gatomicrefcount ref_count;
  int source;
  int sink;
  GloveOutputBudget *budget;
  GMainContext *context; /* is told of the end */
  gint ended;
  GThread *thread;
  int error; /* errno of a write that failed; read after joining */
};

static void
pump_unref (GloveStreamPump *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  glove_fd_clear (&self->source);
  glove_fd_clear (&self->sink);
  g_clear_pointer (&self->budget, glove_output_budget_unref);
  g_main_context_unref (self->context);
  g_free (self);
}

/* The host's descriptors are shared with whoever gave them to us, who may have made them non-blocking. */
static gboolean
wait_for (int fd, short events)
{
  struct pollfd polled = { .fd = fd, .events = events };

  while (poll (&polled, 1, -1) < 0)
    if (errno != EINTR)
      return FALSE;
  return TRUE;
}

static gboolean
write_all (GloveStreamPump *self, const char *data, gsize length)
{
  while (length > 0)
    {
      ssize_t n = write (self->sink, data, length);

      if (n < 0 && (errno == EINTR || (errno == EAGAIN && wait_for (self->sink, POLLOUT))))
        continue;
      if (n <= 0)
        {
          self->error = n < 0 ? errno : EIO;
          return FALSE;
        }
      data += n;
      length -= (gsize) n;
    }
  return TRUE;
}

/* FALSE: nothing more can be written, or the budget is spent. */
static gboolean
pass_on (GloveStreamPump *self, const char *data, gsize length)
{
  gsize granted = self->budget != NULL ? glove_output_budget_take (self->budget, length) : length;

  return write_all (self, data, granted) && granted == length;
}

/* An unwanted stream is closed, not drained: whoever writes to it learns so by SIGPIPE, as without us. */
static gpointer
pump_thread (gpointer user_data)
{
  GloveStreamPump *self = user_data;
  g_autofree char *buffer = g_malloc (CHUNK);

  for (;;)
    {
      ssize_t n = read (self->source, buffer, CHUNK);

      if (n < 0 && (errno == EINTR || (errno == EAGAIN && wait_for (self->source, POLLIN))))
        continue;
      /* EIO: every slave of a terminal is closed */
      if (n <= 0 || !pass_on (self, buffer, (gsize) n))
        break;
    }
  glove_fd_clear (&self->source);
  glove_fd_clear (&self->sink);
  g_atomic_int_set (&self->ended, 1);
  g_main_context_wakeup (self->context);
  pump_unref (self);
  return NULL;
}

GloveStreamPump *
glove_stream_pump_new (int source, int sink, GloveOutputBudget *budget, GError **error)
{
  GloveStreamPump *self = g_new0 (GloveStreamPump, 1);
  g_autoptr (GError) local_error = NULL;

  g_atomic_ref_count_init (&self->ref_count);
  self->source = source;
  self->sink = sink;
  self->context = g_main_context_ref_thread_default ();
  self->budget = budget != NULL ? glove_output_budget_ref (budget) : NULL;
  g_atomic_ref_count_inc (&self->ref_count);
  self->thread = g_thread_try_new ("glove-stream", pump_thread, self, &local_error);
  if (self->thread == NULL)
    {
      glove_error_set (error, GLOVE_ERROR_NO_SPACE, "can't start a thread for a stream: %s", local_error->message);
      pump_unref (self);
      pump_unref (self);
      return NULL;
    }
  return self;
}

gboolean
glove_stream_pump_has_ended (GloveStreamPump *self)
{
  return g_atomic_int_get (&self->ended) != 0;
}

int
glove_stream_pump_join (GloveStreamPump *self)
{
  int error;

  g_thread_join (g_steal_pointer (&self->thread));
  error = self->error;
  pump_unref (self);
  return error;
}

void
glove_stream_pump_abandon (GloveStreamPump *self)
{
  g_thread_unref (g_steal_pointer (&self->thread));
  pump_unref (self);
}

int
glove_stream_pump_finish (GloveStreamPump *self)
{
  if (glove_stream_pump_has_ended (self))
    return glove_stream_pump_join (self);
  glove_stream_pump_abandon (self);
  return 0;
}
