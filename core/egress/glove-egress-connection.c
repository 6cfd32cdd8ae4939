/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The stages of a connection:
 *
 *   HEAD     reading the request, until HANDSHAKE_SECONDS are over (a forward has no request and starts at the next one)
 *   LOOKUP   the name was judged and allowed; its addresses are looked up, once
 *   SETTLE   the verdict is final. It is being recorded, and if it is "allowed" the addresses are dialled at the same time;
 *            when both are done either the bytes flow or the one answer goes out
 *   RELAY    until both sides are done, or one of them fails
 *   LINGER   the answer is out; what the client still sends is read and dropped for a moment, so that no reset overtakes it
 *   CLOSED   waiting for the last reference
 *
 * A lookup or a record that is under way holds a reference, and finds the connection CLOSED when it comes too late. */

#include "config.h"

#include "glove-egress-connection.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "glove-bounds.h"
#include "glove-egress-dial.h"
#include "glove-egress-head.h"
#include "glove-egress-relay.h"
#include "glove-egress-request.h"
#include "glove-egress-verdict.h"
#include "glove-fd.h"
#include "glove-secret.h"

#define LINGER_MS 2000
#define LINGER_READS 16
#define ESTABLISHED "HTTP/1.1 200 Connection established\r\n\r\n"

typedef enum { STAGE_HEAD, STAGE_LOOKUP, STAGE_SETTLE, STAGE_RELAY, STAGE_LINGER, STAGE_CLOSED } Stage;

struct _GloveEgressConnection {
  gatomicrefcount ref_count;
  GloveEgressContext *context;
  const GloveEndpoint *forward;
  Stage stage;
  gint64 started; /* to be judged */
  int guest;
  gboolean guest_ended; /* it was reported to have sent its last byte */
  GloveEgressWatch guest_watch;
  GloveEgressWatch server_watch;
  GloveEgressTimer timer;

  char *buffer; /* GLOVE_EGRESS_REQUEST_MAX, while in HEAD */
  gsize filled;
  GloveEgressHead head;
  GloveEgressRequest *request;

  const char *host; /* the request's, or the forward's */
  guint16 port;
  gboolean allow_private;
  GloveEgressLookup *lookup;

  GloveEgressReason reason; /* how it will be answered */
  gboolean recording;
  gboolean record_failed;
  gboolean dialling;
  GloveEgressDial dial;
  GloveEgressRelay relay;
  gboolean pump_queued;
  guint lingered;
};

static void pump (GloveEgressConnection *self);
static void settle (GloveEgressConnection *self);

static GloveEgressConnection *
connection_ref (GloveEgressConnection *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

static void
connection_unref (GloveEgressConnection *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  glove_fd_clear (&self->guest);
  glove_egress_context_leave_place (self->context);
  glove_egress_context_unref (self->context);
  g_free (self);
}

static void
unref_later (gpointer data, gboolean running)
{
  connection_unref (data);
}

static void
free_request (GloveEgressConnection *self)
{
  if (self->buffer != NULL)
    glove_secret_wipe (self->buffer, GLOVE_EGRESS_REQUEST_MAX);
  g_clear_pointer (&self->buffer, g_free);
}

/* A reset tells the other side that what it has is not all there was. */
static void
reset_on_close (int fd)
{
  const struct linger now = { .l_onoff = 1, .l_linger = 0 };

  (void) setsockopt (fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

static void
connection_close (GloveEgressConnection *self)
{
  GloveEgressLoop *loop = self->context->loop;

  if (self->stage == STAGE_CLOSED)
    return;
  self->stage = STAGE_CLOSED;
  glove_egress_loop_clear_timer (loop, &self->timer);
  glove_egress_loop_unwatch (loop, self->guest);
  glove_egress_context_remove_guest (self->context, self->guest);
  glove_egress_relay_clear (&self->relay);
  glove_fd_clear (&self->guest);
  glove_egress_dial_clear (&self->dial);
  glove_egress_resolver_release (g_steal_pointer (&self->lookup));
  free_request (self);
  g_clear_pointer (&self->request, glove_egress_request_free);
  self->host = NULL;
  g_ptr_array_remove_fast (self->context->connections, self);
  glove_egress_loop_defer (loop, unref_later, self);
}

static void
connection_abort (GloveEgressConnection *self)
{
  if (self->stage == STAGE_CLOSED)
    return;
  reset_on_close (self->guest);
  if (self->dial.addresses != NULL && self->dial.fd >= 0)
    reset_on_close (self->dial.fd);
  connection_close (self);
}

static void
drain (GloveEgressConnection *self)
{
  while (self->lingered++ < LINGER_READS)
    {
      ssize_t count = recv (self->guest, self->context->scratch, GLOVE_EGRESS_RELAY_SCRATCH, MSG_DONTWAIT);

      if (count < 0 && errno == EAGAIN)
        return;
      if (count <= 0)
        break;
    }
  connection_close (self);
}

static void
linger (GloveEgressConnection *self)
{
  if (shutdown (self->guest, SHUT_WR) < 0)
    {
      connection_close (self);
      return;
    }
  self->stage = STAGE_LINGER;
  glove_egress_dial_clear (&self->dial);
  glove_egress_loop_set_timer (self->context->loop, &self->timer, glove_deadline_in_ms (LINGER_MS));
  drain (self);
}

/* The one answer. It is smaller than any socket's buffer, and nothing was sent before it. */
static void
answer (GloveEgressConnection *self, GloveEgressReason reason)
{
  g_autoptr (GString) reply = NULL;

  if (self->forward != NULL)
    {
      connection_abort (self);
      return;
    }
  reply = glove_egress_reason_to_reply (reason, self->host, self->port);
  if (send (self->guest, reply->str, reply->len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t) reply->len)
    connection_abort (self);
  else
    linger (self);
}

static void
begin_relay (GloveEgressConnection *self)
{
  const int one = 1;
  gsize head_length = self->head.scanned;
  GloveEgressRelay *relay = &self->relay;
  gboolean sound = TRUE;

  relay->server.fd = self->dial.fd;
  if (self->request != NULL)
    {
      if (self->request->connect)
        relay->down.first = g_string_new (ESTABLISHED);
      else
        {
          relay->one_exchange = TRUE;
          relay->up.chunked = self->request->chunked;
          relay->up.bounded = !self->request->chunked;
          relay->up.left = self->request->body_length;
        }
      sound = glove_egress_relay_feed (relay, g_steal_pointer (&self->request->head), self->buffer + head_length,
                                       self->filled - head_length);
    }
  free_request (self);
  if (!sound)
    {
      answer (self, GLOVE_EGRESS_REASON_MALFORMED_REQUEST);
      return;
    }
  (void) setsockopt (self->guest, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  glove_egress_loop_clear_timer (self->context->loop, &self->timer);
  self->stage = STAGE_RELAY;
  pump (self);
}

/* Goes on once nothing is pending that the answer depends on. */
static void
settle (GloveEgressConnection *self)
{
  if (self->record_failed && self->dialling)
    {
      self->dialling = FALSE;
      glove_egress_dial_clear (&self->dial);
    }
  if (self->recording || self->dialling)
    return;
  if (self->record_failed)
    self->reason = GLOVE_EGRESS_REASON_AUDIT_FAILED;
  if (self->reason == GLOVE_EGRESS_REASON_NONE)
    begin_relay (self);
  else
    answer (self, self->reason);
}

static void
on_recorded (gpointer data, gboolean running)
{
  GloveEgressConnection *self = data;

  if (running && self->stage == STAGE_SETTLE && self->recording)
    {
      self->recording = FALSE;
      settle (self);
    }
  connection_unref (self);
}

static void
on_record_failed (gpointer data, gboolean running)
{
  GloveEgressConnection *self = data;

  self->record_failed = running;
  on_recorded (self, running);
}

/* On the audit log's thread. */
static void
recorded (GloveAuditLog *log, const GError *error, gpointer user_data)
{
  GloveEgressConnection *self = user_data;

  glove_egress_loop_post (self->context->loop, error == NULL ? on_recorded : on_record_failed, self);
}

static void
record (GloveEgressConnection *self, GloveEgressReason reason, const char *detail, const char *option)
{
  g_autoptr (GloveAuditEvent) event = glove_egress_context_make_event (self->context, reason, self->host, self->port, detail,
                                                                       option);

  glove_audit_event_set_latency (event, (g_get_monotonic_time () - self->started) * 1000);
  self->recording = TRUE;
  glove_audit_log_record_async (self->context->audit, event, recorded, connection_ref (self));
}

/* The verdict is that it can't be: recorded, then answered. */
static void
conclude (GloveEgressConnection *self, GloveEgressReason reason, const char *detail, const char *option)
{
  self->stage = STAGE_SETTLE;
  self->reason = reason;
  glove_egress_loop_set_timer (self->context->loop, &self->timer, glove_deadline_in_ms (self->context->connect_ms));
  record (self, reason, detail, option);
}

static void
dial_result (GloveEgressConnection *self, GloveEgressDialResult result)
{
  if (result == GLOVE_EGRESS_DIAL_WAIT)
    {
      glove_egress_loop_set_timer (self->context->loop, &self->timer, self->dial.attempt);
      return;
    }
  self->dialling = FALSE;
  if (result == GLOVE_EGRESS_DIAL_FAILED)
    self->reason = self->dial.reason;
  /* Whatever is left to wait for now is the record. */
  glove_egress_loop_set_timer (self->context->loop, &self->timer, glove_deadline_in_ms (self->context->connect_ms));
  settle (self);
}

static void
refuse_address (GloveEgressConnection *self, const GloveEgressAddress *address)
{
  g_autofree char *literal = glove_egress_address_to_string (address);
  const GloveEndpoint place = { .host = literal, .port = self->port };
  g_autofree char *endpoint = glove_endpoint_to_string (&place);
  g_autofree char *detail = g_strdup_printf ("the name leads to %s, which is not public", literal);
  g_autofree char *option = g_strconcat ("--allow-host ", endpoint, NULL);

  /* For the operator's record only: the guest is not told what the host's resolver knows. */
  conclude (self, GLOVE_EGRESS_REASON_ADDRESS_NOT_PUBLIC, detail, option);
}

/* One that is not public needs a rule that names it, as host or as address: the second is what the guest could ask for as well. */
static gboolean
may_dial (const GloveEgressConnection *self, const GloveEgressAddress *address)
{
  g_autofree char *literal = NULL;
  GloveEgressVerdict verdict;

  if (self->allow_private || glove_egress_address_is_public (address))
    return TRUE;
  literal = glove_egress_address_to_string (address);
  verdict = glove_egress_verdict_judge (self->context->allow, literal, self->port);
  return verdict.reason == GLOVE_EGRESS_REASON_NONE && verdict.allow_private;
}

/* @addresses: (transfer full). */
static void
resolved (GloveEgressConnection *self, GArray *addresses)
{
  g_autoptr (GArray) all = addresses;
  GArray *good = g_array_sized_new (FALSE, FALSE, sizeof (GloveEgressAddress), all->len);
  GloveDeadline deadline = glove_deadline_in_ms (self->context->connect_ms);

  for (guint i = 0; i < all->len; i++)
    {
      const GloveEgressAddress *address = &g_array_index (all, GloveEgressAddress, i);

      if (may_dial (self, address))
        g_array_append_vals (good, address, 1);
    }
  if (good->len == 0)
    {
      g_array_unref (good);
      if (all->len == 0)
        conclude (self, GLOVE_EGRESS_REASON_NAME_NOT_RESOLVED, NULL, NULL);
      else
        refuse_address (self, &g_array_index (all, GloveEgressAddress, 0));
      return;
    }
  self->stage = STAGE_SETTLE;
  self->dialling = TRUE;
  record (self, GLOVE_EGRESS_REASON_NONE, NULL, NULL);
  dial_result (self, glove_egress_dial_start (&self->dial, self->context->loop, &self->server_watch, good, deadline));
}

typedef struct {
  GloveEgressConnection *connection;
  GArray *addresses;
} Found;

static void
on_found (gpointer data, gboolean running)
{
  g_autofree Found *found = data;
  GloveEgressConnection *self = found->connection;

  if (running && self->stage == STAGE_LOOKUP)
    {
      glove_egress_resolver_release (g_steal_pointer (&self->lookup));
      resolved (self, found->addresses);
    }
  else
    g_array_unref (found->addresses);
  connection_unref (self);
}

/* On a resolver thread. */
static void
looked_up (gpointer user_data, GArray *addresses)
{
  GloveEgressConnection *self = user_data;
  Found *found = g_new0 (Found, 1);

  found->connection = self;
  found->addresses = addresses;
  glove_egress_loop_post (self->context->loop, on_found, found);
}

static void
look_up (GloveEgressConnection *self)
{
  g_autoptr (GArray) known = glove_egress_resolver_known (self->host, self->port);

  if (known->len > 0)
    {
      resolved (self, g_steal_pointer (&known));
      return;
    }
  self->stage = STAGE_LOOKUP;
  glove_egress_loop_set_timer (self->context->loop, &self->timer, glove_deadline_in_ms (self->context->connect_ms));
  self->lookup = glove_egress_resolver_start (self->context->resolver, self->host, self->port, looked_up,
                                              connection_ref (self));
}

static void
judge (GloveEgressConnection *self)
{
  g_autoptr (GError) error = NULL;
  GloveEgressVerdict verdict;
  GloveEgressReason reason;

  self->started = g_get_monotonic_time ();
  self->request = glove_egress_request_parse (self->buffer, self->head.scanned, &reason, &error);
  if (self->request == NULL)
    {
      conclude (self, reason, error->message, NULL);
      return;
    }
  self->host = self->request->host;
  self->port = self->request->port;
  reason = glove_egress_context_check_credential (self->context, self->request->credential);
  if (reason == GLOVE_EGRESS_REASON_NONE)
    {
      verdict = glove_egress_verdict_judge (self->context->allow, self->host, self->port);
      reason = verdict.reason;
      self->allow_private = verdict.allow_private;
    }
  if (reason == GLOVE_EGRESS_REASON_NONE)
    look_up (self);
  else
    conclude (self, reason, NULL, NULL);
}

static void
read_head (GloveEgressConnection *self)
{
  gsize room = GLOVE_EGRESS_REQUEST_MAX - self->filled;
  ssize_t count = recv (self->guest, self->buffer + self->filled, room, MSG_DONTWAIT);

  if (count < 0 && errno == EAGAIN)
    return;
  if (count <= 0)
    {
      connection_close (self);
      return;
    }
  self->filled += (gsize) count;
  /* A short read has emptied a stream, unless its end has been reported too. */
  self->relay.guest.readable = (gsize) count == room || self->guest_ended;
  switch (glove_egress_head_scan (&self->head, self->buffer, self->filled))
    {
    case GLOVE_EGRESS_HEAD_COMPLETE:
      judge (self);
      break;
    case GLOVE_EGRESS_HEAD_BAD:
      conclude (self, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, NULL, NULL);
      break;
    default:
      if (self->filled == GLOVE_EGRESS_REQUEST_MAX)
        conclude (self, GLOVE_EGRESS_REASON_REQUEST_TOO_LARGE, NULL, NULL);
      else if (self->guest_ended)
        read_head (self);
      break;
    }
}

static void
pump_later (gpointer data, gboolean running)
{
  GloveEgressConnection *self = data;

  self->pump_queued = FALSE;
  if (running && self->stage == STAGE_RELAY)
    pump (self);
  connection_unref (self);
}

static void
pump (GloveEgressConnection *self)
{
  switch (glove_egress_relay_pump (&self->relay))
    {
    case GLOVE_EGRESS_RELAY_DONE:
      if (self->relay.one_exchange)
        linger (self);
      else
        connection_close (self);
      break;
    case GLOVE_EGRESS_RELAY_FAILED:
      connection_abort (self);
      break;
    case GLOVE_EGRESS_RELAY_MORE:
      if (!self->pump_queued)
        glove_egress_loop_defer (self->context->loop, pump_later, connection_ref (self));
      self->pump_queued = TRUE;
      break;
    default:
      break;
    }
}

static void
guest_ready (gpointer data, guint32 events)
{
  GloveEgressConnection *self = data;

  glove_egress_relay_note (&self->relay.guest, events);
  self->guest_ended |= (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  switch (self->stage)
    {
    case STAGE_HEAD:
      if (self->relay.guest.readable)
        read_head (self);
      break;
    case STAGE_RELAY:
      pump (self);
      break;
    case STAGE_LINGER:
      drain (self);
      break;
    case STAGE_CLOSED:
      break;
    default:
      if (events & (EPOLLHUP | EPOLLERR))
        connection_close (self);
      break;
    }
}

static void
server_ready (gpointer data, guint32 events)
{
  GloveEgressConnection *self = data;

  if (self->stage == STAGE_CLOSED)
    return;
  glove_egress_relay_note (&self->relay.server, events);
  if (self->dialling)
    dial_result (self, glove_egress_dial_ready (&self->dial));
  else if (self->stage == STAGE_RELAY)
    pump (self);
}

static void
expired (gpointer data)
{
  GloveEgressConnection *self = data;

  switch (self->stage)
    {
    case STAGE_HEAD:
      /* Who sent nothing asked for nothing. */
      if (self->filled == 0)
        connection_close (self);
      else
        answer (self, GLOVE_EGRESS_REASON_REQUEST_TIMEOUT);
      break;
    case STAGE_LOOKUP:
      glove_egress_resolver_release (g_steal_pointer (&self->lookup));
      conclude (self, GLOVE_EGRESS_REASON_RESOLVE_TIMEOUT, NULL, NULL);
      break;
    case STAGE_SETTLE:
      if (self->dialling)
        {
          dial_result (self, glove_egress_dial_expired (&self->dial));
          break;
        }
      self->recording = FALSE;
      self->record_failed = TRUE;
      settle (self);
      break;
    default:
      connection_close (self);
      break;
    }
}

GloveEgressConnection *
glove_egress_connection_new (GloveEgressContext *context, int fd, const GloveEndpoint *forward)
{
  GloveEgressConnection *self = g_new0 (GloveEgressConnection, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->context = glove_egress_context_ref (context);
  self->guest = fd;
  self->forward = forward;
  self->started = g_get_monotonic_time ();
  self->guest_watch = (GloveEgressWatch) { guest_ready, self };
  self->server_watch = (GloveEgressWatch) { server_ready, self };
  self->timer = (GloveEgressTimer) { .expired = expired, .data = self };
  self->dial.fd = -1;
  glove_egress_relay_init (&self->relay, context->pipes, context->scratch);
  self->relay.guest.fd = fd;
  return self;
}

void
glove_egress_connection_start (gpointer data, gboolean running)
{
  GloveEgressConnection *self = data;

  if (!running || !glove_egress_loop_watch (self->context->loop, self->guest, &self->guest_watch))
    {
      connection_unref (self);
      return;
    }
  g_ptr_array_add (self->context->connections, self);
  glove_egress_context_add_guest (self->context, self->guest);
  if (self->forward != NULL)
    {
      self->host = self->forward->host;
      self->port = self->forward->port;
      self->allow_private = self->forward->allow_private;
      look_up (self);
      return;
    }
  self->buffer = g_malloc (GLOVE_EGRESS_REQUEST_MAX);
  glove_egress_loop_set_timer (self->context->loop, &self->timer, glove_deadline_in_ms (self->context->handshake_ms));
}

void
glove_egress_connection_close_all (gpointer data, gboolean running)
{
  GloveEgressContext *context = data;

  while (running && context->connections->len > 0)
    connection_abort (g_ptr_array_index (context->connections, 0));
  glove_egress_context_unref (context);
}
