/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "egress-fixture.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "glove-egress-proxy-private.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-fd.h"

static const char *
test_sink_get_sink_id (GloveAuditSink *sink)
{
  return "test";
}

static gboolean
test_sink_record (GloveAuditSink *sink, GloveAuditEvent *const *events, gsize n_events, GError **error)
{
  TestSink *self = TEST_SINK (sink);

  g_usleep ((gulong) g_atomic_int_get (&self->delay_ms) * 1000);
  if (!g_atomic_int_get (&self->fails))
    return TRUE;
  glove_error_set_literal (error, GLOVE_ERROR_IO, "the sink is made to fail");
  return FALSE;
}

static void
test_sink_iface_init (GloveAuditSinkInterface *iface)
{
  iface->get_sink_id = test_sink_get_sink_id;
  iface->record = test_sink_record;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (TestSink, test_sink, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_AUDIT_SINK, test_sink_iface_init))

static void
test_sink_init (TestSink *self)
{
}

static void
test_sink_class_init (TestSinkClass *klass)
{
}

struct sockaddr_in
loopback (guint16 port)
{
  return (struct sockaddr_in) {
    .sin_family = AF_INET, .sin_port = htons (port), .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
  };
}

int
listen_anywhere (guint16 *ret_port)
{
  struct sockaddr_in address = loopback (0);
  socklen_t length = sizeof address;
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (bind (fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fd, 512), ==, 0);
  g_assert_cmpint (getsockname (fd, (struct sockaddr *) &address, &length), ==, 0);
  *ret_port = ntohs (address.sin_port);
  return fd;
}

void
set_timeout (int fd)
{
  const struct timeval limit = { .tv_sec = 20 };

  g_assert_cmpint (setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), ==, 0);
  g_assert_cmpint (setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), ==, 0);
}

void
send_all (int fd, const char *bytes, gsize length)
{
  while (length > 0)
    {
      ssize_t count = send (fd, bytes, length, MSG_NOSIGNAL);

      g_assert_cmpint (count, >, 0);
      bytes += count;
      length -= (gsize) count;
    }
}

void
send_text (int fd, const char *text)
{
  send_all (fd, text, strlen (text));
}

/* Everything until the end, or until it ends with @stop. */
char *
receive_until (int fd, const char *stop)
{
  GString *all = g_string_new (NULL);
  char byte[1];

  while (stop == NULL || !g_str_has_suffix (all->str, stop))
    {
      ssize_t count = recv (fd, byte, 1, 0);

      if (count <= 0)
        break;
      g_string_append_c (all, byte[0]);
    }
  return g_string_free (all, FALSE);
}

typedef struct {
  Serve serve;
  int fd;
} Served;

static gpointer
serve_one (gpointer data)
{
  g_autofree Served *served = data;

  served->serve (served->fd);
  close (served->fd);
  return NULL;
}

static gpointer
serve_all (gpointer data)
{
  Server *server = data;
  g_autoptr (GPtrArray) threads = g_ptr_array_new_with_free_func ((GDestroyNotify) g_thread_join);
  int fd = -1;

  while ((fd = accept4 (server->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
    {
      Served *served = g_new0 (Served, 1);

      set_timeout (fd);
      served->serve = server->serve;
      served->fd = fd;
      g_atomic_int_inc (&server->served);
      g_ptr_array_add (threads, g_thread_new ("serve", serve_one, served));
    }
  return NULL;
}

Server *
server_start (Serve serve)
{
  Server *server = g_new0 (Server, 1);

  server->listener = listen_anywhere (&server->port);
  server->serve = serve;
  server->thread = g_thread_new ("server", serve_all, server);
  return server;
}

void
server_stop (Server *server)
{
  shutdown (server->listener, SHUT_RDWR);
  g_thread_join (server->thread);
  close (server->listener);
  g_free (server);
}

void
serve_echo (int fd)
{
  char bytes[65536];
  ssize_t count = 0;

  while ((count = recv (fd, bytes, sizeof bytes, 0)) > 0)
    send_all (fd, bytes, (gsize) count);
}

void
serve_forever (int fd)
{
  static const char block[65536];

  while (send (fd, block, sizeof block, MSG_NOSIGNAL) > 0)
    ;
}

static GPtrArray *
endpoints (gboolean forwards, const char *const *texts)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_endpoint_free);

  for (; texts != NULL && *texts != NULL; texts++)
    {
      g_autoptr (GError) error = NULL;
      GloveEndpoint *endpoint = forwards ? glove_endpoint_parse_forward (*texts, &error) : glove_endpoint_parse (*texts, &error);

      g_assert_no_error (error);
      g_ptr_array_add (list, endpoint);
    }
  return list;
}

Fixture *
fixture_new (const char *const *allow, const char *const *forwards)
{
  Fixture *f = g_new0 (Fixture, 1);
  g_autoptr (GPtrArray) rules = endpoints (FALSE, allow);
  g_autoptr (GPtrArray) targets = endpoints (TRUE, forwards);
  g_autofree char *url = NULL;
  g_autofree char *pair = NULL;
  g_autoptr (GError) error = NULL;

  f->open_before = glove_fd_count_open ();
  f->log = glove_audit_log_new ("s1");
  f->memory = glove_audit_memory_new ();
  f->sink = g_object_new (TEST_TYPE_SINK, NULL);
  glove_audit_log_add_sink (f->log, GLOVE_AUDIT_SINK (f->sink));
  glove_audit_log_add_sink (f->log, GLOVE_AUDIT_SINK (f->memory));
  f->proxy = glove_egress_proxy_new ("s1", "p1", rules, targets, f->log, &error);
  g_assert_no_error (error);
  url = glove_egress_proxy_dup_url (f->proxy, 3128);
  g_assert_true (g_str_has_prefix (url, "http://glove:") && g_str_has_suffix (url, "@127.0.0.1:3128"));
  pair = g_strndup (url + strlen ("http://"), strlen (url) - strlen ("http://") - strlen ("@127.0.0.1:3128"));
  f->credential = g_base64_encode ((const guchar *) pair, strlen (pair));
  f->listener = listen_anywhere (&f->listener_port);
  return f;
}

/* A connection that the guest made: what goes to the proxy is handed back through @ret_accepted, the guest's end returned. */
int
guest_pair (Fixture *f, int *ret_accepted)
{
  struct sockaddr_in address = loopback (f->listener_port);
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (connect (fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  *ret_accepted = accept4 (f->listener, NULL, NULL, SOCK_CLOEXEC);
  g_assert_cmpint (*ret_accepted, >=, 0);
  set_timeout (fd);
  return fd;
}

int
guest_connect (Fixture *f, guint32 tag)
{
  int accepted = -1;
  int fd = guest_pair (f, &accepted);

  glove_egress_proxy_take_socket (f->proxy, tag, accepted);
  return fd;
}

/* @format: a request in which AUTH stands for the credential's field. */
int
guest_request (Fixture *f, const char *format, ...)
{
  int fd = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  g_autofree char *field = g_strdup_printf ("Proxy-Authorization: Basic %s\r\n", f->credential);
  g_autofree char *text = NULL;
  g_autoptr (GString) request = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  request = g_string_new (text);
  g_string_replace (request, "AUTH", field, 0);
  send_all (fd, request->str, request->len);
  return fd;
}

int
guest_tunnel (Fixture *f, const char *host, guint16 port)
{
  int fd = guest_request (f, "CONNECT %s:%u HTTP/1.1\r\nAUTH\r\n", host, port);
  g_autofree char *head = receive_head (fd);

  g_assert_cmpstr (head, ==, "HTTP/1.1 200 Connection established\r\n\r\n");
  return fd;
}

void
wait_for_connections (Fixture *f, guint count)
{
  gint64 until = g_get_monotonic_time () + 10 * G_TIME_SPAN_SECOND;

  while (glove_egress_proxy_get_n_connections (f->proxy) != count && g_get_monotonic_time () < until)
    g_usleep (1000);
  g_assert_cmpuint (glove_egress_proxy_get_n_connections (f->proxy), ==, count);
}

/* The one event since the last time. */
GloveAuditEvent *
take_event (Fixture *f)
{
  g_autoptr (GPtrArray) events = glove_audit_memory_take (f->memory);

  g_assert_cmpuint (events->len, ==, 1);
  return glove_audit_event_ref (g_ptr_array_index (events, 0));
}

void
fixture_free (Fixture *f)
{
  g_autoptr (GError) error = NULL;

  glove_egress_proxy_shutdown (f->proxy);
  wait_for_connections (f, 0);
  g_object_unref (f->proxy);
  glove_audit_log_close (f->log, &error);
  g_object_unref (f->log);
  g_object_unref (f->memory);
  g_object_unref (f->sink);
  g_free (f->credential);
  close (f->listener);
  /* The server's threads end in their own time. */
  for (guint i = 0; i < 5000 && glove_fd_count_open () != f->open_before; i++)
    g_usleep (1000);
  g_assert_cmpuint (glove_fd_count_open (), ==, f->open_before);
  g_free (f);
}

void
assert_refused (int fd, guint status, const char *code)
{
  g_autofree char *reply = receive_rest (fd);
  g_autofree char *start = g_strdup_printf ("HTTP/1.1 %u ", status);
  g_autofree char *field = g_strdup_printf ("\r\nX-Glove-Reason: %s\r\n", code);
  g_autofree char *body = g_strdup_printf ("\r\n\r\n{\"error\":\"glove_egress_denied\",\"reason\":\"%s\",", code);

  g_test_message ("%s", reply);
  g_assert_true (g_str_has_prefix (reply, start));
  g_assert_nonnull (strstr (reply, field));
  g_assert_nonnull (strstr (reply, body));
  g_assert_true (g_str_has_suffix (reply, "\"}\n"));
  close (fd);
}

gboolean
has_loopback (void)
{
  struct sockaddr_in address = loopback (0);
  socklen_t length = sizeof address;
  glove_autofd int listener = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  glove_autofd int client = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  return listener >= 0 && client >= 0 && bind (listener, (struct sockaddr *) &address, sizeof address) == 0
         && listen (listener, 1) == 0 && getsockname (listener, (struct sockaddr *) &address, &length) == 0
         && connect (client, (struct sockaddr *) &address, sizeof address) == 0;
}
