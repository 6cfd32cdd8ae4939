/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-pipes.h"

#include <fcntl.h>
#include <unistd.h>

#include "glove-fd.h"

#define KEPT_MAX 16
/* A bigger pipe means fewer calls: a third less time for bulk. But all pipes of a user share one quota, past which every new one
 * of theirs is tiny, so only the first few are big. */
#define BIG_MAX 16
#define BIG_BYTES (1024 * 1024)

typedef struct {
  int ends[2];
} Pair;

struct _GloveEgressPipes {
  Pair kept[KEPT_MAX];
  guint n_kept;
  guint n_alive;
};

GloveEgressPipes *
glove_egress_pipes_new (void)
{
  return g_new0 (GloveEgressPipes, 1);
}

void
glove_egress_pipes_free (GloveEgressPipes *self)
{
  for (guint i = 0; i < self->n_kept; i++)
    {
      glove_fd_clear (&self->kept[i].ends[0]);
      glove_fd_clear (&self->kept[i].ends[1]);
    }
  g_free (self);
}

gboolean
glove_egress_pipes_take (GloveEgressPipes *self, int pipe[2])
{
  if (self->n_kept > 0)
    {
      const Pair *pair = &self->kept[--self->n_kept];

      pipe[0] = pair->ends[0];
      pipe[1] = pair->ends[1];
      return TRUE;
    }
  if (pipe2 (pipe, O_CLOEXEC | O_NONBLOCK) < 0)
    {
      pipe[0] = pipe[1] = -1;
      return FALSE;
    }
  /* Where it is refused, the default does. */
  if (self->n_alive++ < BIG_MAX)
    (void) fcntl (pipe[1], F_SETPIPE_SZ, BIG_BYTES);
  return TRUE;
}

void
glove_egress_pipes_give (GloveEgressPipes *self, int pipe[2], gsize held)
{
  if (held == 0 && self->n_kept < KEPT_MAX)
    {
      self->kept[self->n_kept++] = (Pair) { { pipe[0], pipe[1] } };
      pipe[0] = pipe[1] = -1;
      return;
    }
  self->n_alive--;
  glove_fd_clear (&pipe[0]);
  glove_fd_clear (&pipe[1]);
}
