/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-proxy.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "glove-bounds.h"
#include "glove-egress-connection.h"
#include "glove-egress-context.h"
#include "glove-egress-proxy-private.h"
#include "glove-fd.h"

struct _GloveEgressProxy {
  GObject parent_instance;
  GloveEgressContext *context;
  GMutex lock; /* of what follows */
  GloveEgressLoop *loop;
  gboolean is_shut;
};

G_DEFINE_FINAL_TYPE (GloveEgressProxy, glove_egress_proxy, G_TYPE_OBJECT)

static void
glove_egress_proxy_finalize (GObject *object)
{
  GloveEgressProxy *self = GLOVE_EGRESS_PROXY (object);

  glove_egress_proxy_shutdown (self);
  g_clear_pointer (&self->context, glove_egress_context_unref);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (glove_egress_proxy_parent_class)->finalize (object);
}

static void
glove_egress_proxy_class_init (GloveEgressProxyClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_egress_proxy_finalize;
}

static void
glove_egress_proxy_init (GloveEgressProxy *self)
{
  g_mutex_init (&self->lock);
}

/**
 * glove_egress_proxy_new:
 * @session_id: the session, as in the audit trail
 * @policy_id: the policy that the rules come from
 * @allow: (element-type GloveEndpoint) (nullable): what the proxy reaches; copied
 * @forwards: (element-type GloveEndpoint) (nullable): the targets of the raw relays, by number; copied
 * @audit: where each verdict is recorded
 * @error: GLOVE_ERROR_LIMIT for too many rules or forwards
 *
 * Makes a proxy with a fresh credential. Nothing runs until the first socket. Any thread. The audit log is to be closed before
 * the last reference to it is dropped. Source: contracts §13.
 *
 * Returns: (transfer full): the proxy, or NULL
 *
 * Since: 1.0
 */
GloveEgressProxy *
glove_egress_proxy_new (const char *session_id, const char *policy_id, GPtrArray *allow, GPtrArray *forwards,
                        GloveAuditLog *audit, GError **error)
{
  GloveEgressContext *context = NULL;
  GloveEgressProxy *self = NULL;

  g_return_val_if_fail (session_id != NULL && policy_id != NULL, NULL);
  g_return_val_if_fail (GLOVE_IS_AUDIT_LOG (audit), NULL);

  context = glove_egress_context_new (session_id, policy_id, allow, forwards, audit, error);
  if (context == NULL)
    return NULL;
  self = g_object_new (GLOVE_TYPE_EGRESS_PROXY, NULL);
  self->context = context;
  return self;
}

/**
 * glove_egress_proxy_dup_url:
 * @self: a proxy
 * @port: the loopback port inside the sandbox
 *
 * For the guest's proxy variables; the per-run credential is in it. Any thread.
 *
 * Returns: (transfer full): the URL, which is a secret
 *
 * Since: 1.0
 */
char *
glove_egress_proxy_dup_url (GloveEgressProxy *self, guint16 port)
{
  g_return_val_if_fail (GLOVE_IS_EGRESS_PROXY (self), NULL);

  return g_strdup_printf ("http://glove:%s@127.0.0.1:%u", self->context->secret, port);
}

/* A TCP connection that is open, and nothing else: whatever else can be sent here was not accepted by our listener. */
static gboolean
is_open_connection (int fd)
{
  struct tcp_info info = { 0 };
  socklen_t info_length = sizeof info;
  int domain = 0;
  int protocol = 0;
  socklen_t length = sizeof (int);

  if (getsockopt (fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0 || (domain != AF_INET && domain != AF_INET6))
    return FALSE;
  length = sizeof (int);
  if (getsockopt (fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) < 0 || protocol != IPPROTO_TCP)
    return FALSE;
  return getsockopt (fd, IPPROTO_TCP, TCP_INFO, &info, &info_length) == 0
         && (info.tcpi_state == TCP_ESTABLISHED || info.tcpi_state == TCP_CLOSE_WAIT);
}

/* The open file is shared with whoever sent it: no flag or option of theirs stays that could block or signal us. */
static gboolean
prepare_socket (int fd)
{
  const struct linger none = { 0 };

  return fcntl (fd, F_SETFL, O_NONBLOCK) == 0 && fcntl (fd, F_SETFD, FD_CLOEXEC) == 0
         && setsockopt (fd, SOL_SOCKET, SO_LINGER, &none, sizeof none) == 0;
}

/* Answers and closes a socket for which there is no place. */
static void
turn_away (int fd)
{
  glove_autofd int guest = fd;
  g_autoptr (GString) reply = glove_egress_reason_to_reply (GLOVE_EGRESS_REASON_BUSY, NULL, 0);
  char dropped[GLOVE_EGRESS_REQUEST_MAX];

  /* Closing with unread bytes would reset the connection before the answer is read. */
  if (recv (guest, dropped, sizeof dropped, MSG_DONTWAIT) != 0
      && send (guest, reply->str, reply->len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
    g_debug ("a connection too many could not be answered");
}

/* Starts the I/O thread if this is the first socket. Under one lock with what shutdown does, so that no connection comes after
 * the order to close them all. */
static void
hand_over (GloveEgressProxy *self, GloveEgressConnection *connection)
{
  g_autoptr (GError) error = NULL;

  g_mutex_lock (&self->lock);
  if (self->loop == NULL && !self->is_shut)
    {
      self->loop = glove_egress_loop_new (&error);
      if (self->loop == NULL)
        g_debug ("the network proxy can't start: %s", error->message);
      else
        self->context->loop = glove_egress_loop_ref (self->loop);
    }
  if (self->loop != NULL)
    glove_egress_loop_post (self->loop, glove_egress_connection_start, connection);
  else
    glove_egress_connection_start (connection, FALSE);
  g_mutex_unlock (&self->lock);
}

/**
 * glove_egress_proxy_take_socket:
 * @self: a proxy
 * @tag: GLOVE_EGRESS_TAG_PROXY or GLOVE_EGRESS_TAG_FORWARD()
 * @fd: (transfer full): what came from inside
 *
 * Serves one connection. Whatever is not an open TCP connection, or has a tag that stands for nothing, is closed. Never blocks.
 * Any thread.
 *
 * Since: 1.0
 */
void
glove_egress_proxy_take_socket (GloveEgressProxy *self, guint32 tag, int fd)
{
  glove_autofd int socket_fd = fd;
  const GloveEndpoint *forward = NULL;

  g_return_if_fail (GLOVE_IS_EGRESS_PROXY (self));

  if (tag > self->context->forwards->len || !is_open_connection (socket_fd) || !prepare_socket (socket_fd))
    return;
  if (tag != GLOVE_EGRESS_TAG_PROXY)
    forward = g_ptr_array_index (self->context->forwards, tag - 1);
  if (!glove_egress_context_take_place (self->context))
    {
      if (forward == NULL)
        turn_away (g_steal_fd (&socket_fd));
      return;
    }
  hand_over (self, glove_egress_connection_new (self->context, g_steal_fd (&socket_fd), forward));
}

/**
 * glove_egress_proxy_shutdown:
 * @self: a proxy
 *
 * Closes every connection and ends the I/O thread; sockets that come later are closed. Idempotent. Any thread but the I/O
 * thread.
 *
 * Since: 1.0
 */
void
glove_egress_proxy_shutdown (GloveEgressProxy *self)
{
  GloveEgressLoop *loop = NULL;

  g_return_if_fail (GLOVE_IS_EGRESS_PROXY (self));

  g_mutex_lock (&self->lock);
  loop = g_steal_pointer (&self->loop);
  self->is_shut = TRUE;
  if (loop != NULL)
    glove_egress_loop_post (loop, glove_egress_connection_close_all, glove_egress_context_ref (self->context));
  g_mutex_unlock (&self->lock);
  if (loop == NULL)
    return;
  /* A guest that shares the open file could have made it block again: this wakes the thread even then. */
  glove_egress_context_shut_guests (self->context);
  glove_egress_loop_stop (loop);
  glove_egress_loop_unref (loop);
}

void
glove_egress_proxy_set_resolver (GloveEgressProxy *self, GloveEgressResolverFunc func, gpointer func_data)
{
  glove_egress_resolver_unref (self->context->resolver);
  self->context->resolver = glove_egress_resolver_new (func, func_data);
}

void
glove_egress_proxy_set_deadlines (GloveEgressProxy *self, guint handshake_ms, guint connect_ms)
{
  self->context->handshake_ms = handshake_ms;
  self->context->connect_ms = connect_ms;
}

guint
glove_egress_proxy_get_n_connections (GloveEgressProxy *self)
{
  guint n_places = 0;

  g_mutex_lock (&self->context->lock);
  n_places = self->context->n_places;
  g_mutex_unlock (&self->context->lock);
  return n_places;
}
