/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-relay.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* One turn of one connection, after which the others have theirs. */
#define ROUNDS_PER_TURN 16
#define SPLICE_MAX (1024 * 1024)

typedef enum { STEP_BLOCKED, STEP_MOVED, STEP_FAILED } Step;

void
glove_egress_relay_init (GloveEgressRelay *self, GloveEgressPipes *pipes, char *scratch)
{
  *self = (GloveEgressRelay) {
    .guest.fd = -1,
    .server.fd = -1,
    .up.pipe = { -1, -1 },
    .down.pipe = { -1, -1 },
    .pipes = pipes,
    .scratch = scratch,
  };
}

static void
way_clear (GloveEgressRelay *self, GloveEgressRelayWay *way)
{
  if (way->first != NULL)
    g_string_free (g_steal_pointer (&way->first), TRUE);
  if (way->pipe[0] >= 0)
    glove_egress_pipes_give (self->pipes, way->pipe, way->held);
}

void
glove_egress_relay_clear (GloveEgressRelay *self)
{
  way_clear (self, &self->up);
  way_clear (self, &self->down);
}

void
glove_egress_relay_note (GloveEgressRelayEnd *end, guint32 events)
{
  if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
    end->readable = TRUE;
  if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
    end->writable = TRUE;
}

static void
way_took (GloveEgressRelayWay *way, gsize count)
{
  if (!way->bounded)
    return;
  way->left -= count;
  way->ended |= way->left == 0;
}

/* How many of @length bytes at @bytes belong to the body; takes them into account. */
static gboolean
way_account (GloveEgressRelayWay *way, const char *bytes, gsize length, gsize *ret_used)
{
  gsize used = length;

  if (way->chunked)
    {
      if (!glove_egress_chunks_scan (&way->chunks, bytes, length, &used))
        return FALSE;
      way->ended |= glove_egress_chunks_is_complete (&way->chunks);
    }
  else if (way->bounded)
    {
      used = (gsize) MIN (way->left, length);
      way_took (way, used);
    }
  *ret_used = used;
  return TRUE;
}

gboolean
glove_egress_relay_feed (GloveEgressRelay *self, GString *head, const char *bytes, gsize length)
{
  gsize used = 0;
  gboolean sound = way_account (&self->up, bytes, length, &used);

  if (head == NULL && used > 0)
    head = g_string_sized_new (used);
  if (used > 0)
    g_string_append_len (head, bytes, (gssize) used);
  self->up.ended |= self->up.bounded && self->up.left == 0;
  self->up.first = head;
  return sound;
}

/* EAGAIN is an answer; anything else ends the relay. */
static Step
blocked (gboolean *ready)
{
  if (errno != EAGAIN)
    return STEP_FAILED;
  *ready = FALSE;
  return STEP_BLOCKED;
}

static Step
send_first (GloveEgressRelayWay *way, GloveEgressRelayEnd *to)
{
  ssize_t sent = send (to->fd, way->first->str + way->first_sent, way->first->len - way->first_sent,
                       MSG_DONTWAIT | MSG_NOSIGNAL);

  if (sent < 0)
    return blocked (&to->writable);
  way->first_sent += (gsize) sent;
  if (way->first_sent == way->first->len)
    g_string_free (g_steal_pointer (&way->first), TRUE);
  return STEP_MOVED;
}

static Step
peek_and_send (GloveEgressRelay *self, GloveEgressRelayWay *way, GloveEgressRelayEnd *from, GloveEgressRelayEnd *to)
{
  const GloveEgressRelayWay before = *way;
  ssize_t seen = recv (from->fd, self->scratch, GLOVE_EGRESS_RELAY_SCRATCH, MSG_PEEK | MSG_DONTWAIT);
  ssize_t sent = 0;
  gsize used = 0;

  if (seen < 0)
    return blocked (&from->readable);
  way->ended |= seen == 0;
  if (seen == 0)
    return STEP_MOVED;
  if (!way_account (way, self->scratch, (gsize) seen, &used))
    return STEP_FAILED;
  sent = send (to->fd, self->scratch, used, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0)
    {
      *way = before;
      return blocked (&to->writable);
    }
  if ((gsize) sent < used)
    {
      *way = before;
      if (!way_account (way, self->scratch, (gsize) sent, &used))
        return STEP_FAILED;
    }
  /* On a stream, MSG_TRUNC drops the bytes without copying them. */
  if (recv (from->fd, self->scratch, (gsize) sent, MSG_TRUNC | MSG_DONTWAIT) != sent)
    return STEP_FAILED;
  return STEP_MOVED;
}

static Step
splice_in (GloveEgressRelayWay *way, GloveEgressRelayEnd *from)
{
  gsize want = way->bounded ? (gsize) MIN (way->left, SPLICE_MAX) : SPLICE_MAX;
  ssize_t count = splice (from->fd, NULL, way->pipe[1], NULL, want, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  gboolean full = FALSE;

  /* With bytes in the pipe it may be the pipe that is full: tried again once they are out. */
  if (count < 0)
    return blocked (way->held == 0 ? &from->readable : &full);
  way->ended |= count == 0;
  way->held += (gsize) count;
  way_took (way, (gsize) count);
  return STEP_MOVED;
}

static Step
splice_out (GloveEgressRelayWay *way, GloveEgressRelayEnd *to)
{
  ssize_t count = splice (way->pipe[0], NULL, to->fd, NULL, way->held, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

  if (count < 0)
    return blocked (&to->writable);
  way->held -= (gsize) count;
  return count == 0 ? STEP_FAILED : STEP_MOVED;
}

static Step
way_step (GloveEgressRelay *self, GloveEgressRelayWay *way, GloveEgressRelayEnd *from, GloveEgressRelayEnd *to)
{
  Step in = STEP_BLOCKED;
  Step out = STEP_BLOCKED;

  if (way->first != NULL)
    return to->writable ? send_first (way, to) : STEP_BLOCKED;
  if (!way->ended && from->readable)
    {
      if (way->chunked || (way->pipe[0] < 0 && !glove_egress_pipes_take (self->pipes, way->pipe)))
        return to->writable ? peek_and_send (self, way, from, to) : STEP_BLOCKED;
      in = splice_in (way, from);
    }
  if (in != STEP_FAILED && way->held > 0 && to->writable)
    out = splice_out (way, to);
  if (in == STEP_FAILED || out == STEP_FAILED)
    return STEP_FAILED;
  return in == STEP_MOVED || out == STEP_MOVED ? STEP_MOVED : STEP_BLOCKED;
}

/* The receiver learns of an end that the sender made; the end of a bounded body is known from its framing. */
static Step
way_finish (GloveEgressRelayWay *way, GloveEgressRelayEnd *to)
{
  gboolean framed = way->chunked ? glove_egress_chunks_is_complete (&way->chunks) : way->bounded && way->left == 0;

  if (way->shut || !way->ended || way->held > 0 || way->first != NULL)
    return STEP_BLOCKED;
  way->shut = TRUE;
  if (!framed && shutdown (to->fd, SHUT_WR) < 0)
    return STEP_FAILED;
  return STEP_BLOCKED;
}

static GloveEgressRelayResult
way_pump (GloveEgressRelay *self, GloveEgressRelayWay *way, GloveEgressRelayEnd *from, GloveEgressRelayEnd *to)
{
  Step step = STEP_MOVED;

  for (guint i = 0; i < ROUNDS_PER_TURN && step == STEP_MOVED; i++)
    step = way->shut ? STEP_BLOCKED : way_step (self, way, from, to);
  if (way->held == 0 && way->pipe[0] >= 0)
    glove_egress_pipes_give (self->pipes, way->pipe, 0);
  if (step == STEP_FAILED || way_finish (way, to) == STEP_FAILED)
    return GLOVE_EGRESS_RELAY_FAILED;
  return step == STEP_MOVED && !way->shut ? GLOVE_EGRESS_RELAY_MORE : GLOVE_EGRESS_RELAY_WAIT;
}

GloveEgressRelayResult
glove_egress_relay_pump (GloveEgressRelay *self)
{
  GloveEgressRelayResult down = way_pump (self, &self->down, &self->server, &self->guest);
  GloveEgressRelayResult up = GLOVE_EGRESS_RELAY_WAIT;

  if (down == GLOVE_EGRESS_RELAY_FAILED)
    return down;
  if (self->down.shut && (self->one_exchange || self->up.shut))
    return GLOVE_EGRESS_RELAY_DONE;
  up = way_pump (self, &self->up, &self->guest, &self->server);
  if (up == GLOVE_EGRESS_RELAY_FAILED)
    return up;
  if (self->down.shut && self->up.shut)
    return GLOVE_EGRESS_RELAY_DONE;
  return MAX (up, down);
}
