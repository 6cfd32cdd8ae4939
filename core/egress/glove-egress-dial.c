/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-dial.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "glove-egress-address.h"
#include "glove-fd.h"

#define SILENT_MS 3000

static void
drop_socket (GloveEgressDial *self)
{
  if (self->fd < 0)
    return;
  glove_egress_loop_unwatch (self->loop, self->fd);
  glove_fd_clear (&self->fd);
}

static gboolean
try_address (GloveEgressDial *self, const GloveEgressAddress *address)
{
  const int one = 1;

  self->reason = GLOVE_EGRESS_REASON_CONNECT_FAILED;
  self->fd = socket (address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (self->fd < 0)
    {
      if (errno != EAFNOSUPPORT)
        self->reason = GLOVE_EGRESS_REASON_BUSY;
      return FALSE;
    }
  (void) setsockopt (self->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect (self->fd, &address->any, glove_egress_address_get_length (address)) < 0 && errno != EINPROGRESS)
    return FALSE;
  return glove_egress_loop_watch (self->loop, self->fd, self->watch);
}

static GloveEgressDialResult
try_next (GloveEgressDial *self)
{
  while (self->next < self->addresses->len)
    {
      const GloveEgressAddress *address = &g_array_index (self->addresses, GloveEgressAddress, self->next++);

      self->attempt = self->deadline;
      if (self->next < self->addresses->len)
        self->attempt = MIN (self->deadline, glove_deadline_in_ms (SILENT_MS));
      if (try_address (self, address))
        return GLOVE_EGRESS_DIAL_WAIT;
      glove_fd_clear (&self->fd);
    }
  return GLOVE_EGRESS_DIAL_FAILED;
}

GloveEgressDialResult
glove_egress_dial_start (GloveEgressDial *self, GloveEgressLoop *loop, GloveEgressWatch *watch, GArray *addresses,
                         GloveDeadline deadline)
{
  *self = (GloveEgressDial) {
    .loop = loop, .watch = watch, .addresses = addresses, .fd = -1, .deadline = deadline,
  };
  return try_next (self);
}

GloveEgressDialResult
glove_egress_dial_ready (GloveEgressDial *self)
{
  int failure = 0;
  socklen_t length = sizeof failure;

  if (getsockopt (self->fd, SOL_SOCKET, SO_ERROR, &failure, &length) == 0 && failure == 0)
    return GLOVE_EGRESS_DIAL_CONNECTED;
  drop_socket (self);
  self->reason = failure == ETIMEDOUT ? GLOVE_EGRESS_REASON_CONNECT_TIMEOUT : GLOVE_EGRESS_REASON_CONNECT_FAILED;
  return try_next (self);
}

GloveEgressDialResult
glove_egress_dial_expired (GloveEgressDial *self)
{
  drop_socket (self);
  if (self->next < self->addresses->len && glove_deadline_remaining_ms (self->deadline) > 0)
    return try_next (self);
  self->reason = GLOVE_EGRESS_REASON_CONNECT_TIMEOUT;
  return GLOVE_EGRESS_DIAL_FAILED;
}

void
glove_egress_dial_clear (GloveEgressDial *self)
{
  if (self->addresses == NULL)
    return;
  drop_socket (self);
  g_clear_pointer (&self->addresses, g_array_unref);
}
