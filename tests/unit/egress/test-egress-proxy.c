/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The proxy as a whole, on real sockets of the loopback: the test is the guest on one side and the server on the other. */

#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "glove-audit-log.h"
#include "glove-audit-memory.h"
#include "glove-bounds.h"
#include "glove-egress-proxy-private.h"
#include "glove-egress-proxy.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-fd.h"

/* ---- a sink that fails, or is slow ---- */

#define TEST_TYPE_SINK (test_sink_get_type ())
G_DECLARE_FINAL_TYPE (TestSink, test_sink, TEST, SINK, GObject)

struct _TestSink {
  GObject parent_instance;
  gint fails;
  gint delay_ms;
};

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

/* ---- sockets ---- */

static struct sockaddr_in
loopback (guint16 port)
{
  return (struct sockaddr_in) {
    .sin_family = AF_INET, .sin_port = htons (port), .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
  };
}

static int
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

static void
set_timeout (int fd)
{
  const struct timeval limit = { .tv_sec = 20 };

  g_assert_cmpint (setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), ==, 0);
  g_assert_cmpint (setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), ==, 0);
}

static void
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

static void
send_text (int fd, const char *text)
{
  send_all (fd, text, strlen (text));
}

/* Everything until the end, or until it ends with @stop. */
static char *
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

#define receive_head(fd) receive_until ((fd), "\r\n\r\n")
#define receive_rest(fd) receive_until ((fd), NULL)

/* ---- servers ---- */

typedef void (*Serve) (int fd);

typedef struct {
  int listener;
  guint16 port;
  Serve serve;
  GThread *thread;
  gint served;
} Server;

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

static Server *
server_start (Serve serve)
{
  Server *server = g_new0 (Server, 1);

  server->listener = listen_anywhere (&server->port);
  server->serve = serve;
  server->thread = g_thread_new ("server", serve_all, server);
  return server;
}

static void
server_stop (Server *server)
{
  shutdown (server->listener, SHUT_RDWR);
  g_thread_join (server->thread);
  close (server->listener);
  g_free (server);
}

static void
serve_echo (int fd)
{
  char bytes[65536];
  ssize_t count = 0;

  while ((count = recv (fd, bytes, sizeof bytes, 0)) > 0)
    send_all (fd, bytes, (gsize) count);
}

/* ---- the fixture ---- */

typedef struct {
  GloveAuditLog *log;
  GloveAuditMemory *memory;
  TestSink *sink;
  GloveEgressProxy *proxy;
  int listener; /* the guest's */
  guint16 listener_port;
  char *credential;
  guint open_before;
} Fixture;

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

static Fixture *
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
static int
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

static int
guest_connect (Fixture *f, guint32 tag)
{
  int accepted = -1;
  int fd = guest_pair (f, &accepted);

  glove_egress_proxy_take_socket (f->proxy, tag, accepted);
  return fd;
}

static int
guest_request (Fixture *f, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* @format: a request in which AUTH stands for the credential's field. */
static int
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

static int
guest_tunnel (Fixture *f, const char *host, guint16 port)
{
  int fd = guest_request (f, "CONNECT %s:%u HTTP/1.1\r\nAUTH\r\n", host, port);
  g_autofree char *head = receive_head (fd);

  g_assert_cmpstr (head, ==, "HTTP/1.1 200 Connection established\r\n\r\n");
  return fd;
}

static void
wait_for_connections (Fixture *f, guint count)
{
  gint64 until = g_get_monotonic_time () + 10 * G_TIME_SPAN_SECOND;

  while (glove_egress_proxy_get_n_connections (f->proxy) != count && g_get_monotonic_time () < until)
    g_usleep (1000);
  g_assert_cmpuint (glove_egress_proxy_get_n_connections (f->proxy), ==, count);
}

/* The one event since the last time. */
static GloveAuditEvent *
take_event (Fixture *f)
{
  g_autoptr (GPtrArray) events = glove_audit_memory_take (f->memory);

  g_assert_cmpuint (events->len, ==, 1);
  return glove_audit_event_ref (g_ptr_array_index (events, 0));
}

static void
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

static void
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

/* ---- verdicts ---- */

static void
test_tunnel (void)
{
  Server *server = server_start (serve_echo);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  g_autofree char *tool = g_strdup_printf ("s1:p1:127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  g_autoptr (GloveAuditEvent) event = take_event (f);
  g_autofree char *echoed = NULL;

  g_assert_cmpint (event->action, ==, GLOVE_AUDIT_ACTION_EGRESS);
  g_assert_cmpint (event->status, ==, GLOVE_AUDIT_STATUS_OK);
  g_assert_cmpstr (event->tool, ==, tool);
  g_assert_cmpstr (event->session, ==, "s1");
  g_assert_cmpstr (event->plane, ==, "network");
  g_assert_false (glove_audit_event_is_denial (event));
  send_text (fd, "hello\r\n\r\n");
  echoed = receive_head (fd);
  g_assert_cmpstr (echoed, ==, "hello\r\n\r\n");
  close (fd);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (server);
}

static void
test_early_data (void)
{
  Server *server = server_start (serve_echo);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_request (f, "CONNECT 127.0.0.1:%u HTTP/1.1\r\nAUTH\r\nearly", server->port);
  g_autofree char *all = NULL;

  g_assert_cmpint (shutdown (fd, SHUT_WR), ==, 0);
  all = receive_rest (fd);
  g_assert_cmpstr (all, ==, "HTTP/1.1 200 Connection established\r\n\r\nearly");
  close (fd);
  fixture_free (f);
  server_stop (server);
}

static void
test_refusals (void)
{
  static const struct {
    const char *request;
    guint status;
    const char *code, *tool, *allow;
    gboolean denial;
  } cases[] = {
    { "CONNECT evil.org:443 HTTP/1.1\r\nAUTH\r\n", 403, "host-not-allowed", "s1:p1:evil.org:443",
      "--allow-host evil.org:443", TRUE },
    { "GET http://evil.org/ HTTP/1.1\r\nHost: evil.org\r\nAUTH\r\n", 403, "host-not-allowed", "s1:p1:evil.org:80",
      "--allow-host evil.org:80", TRUE },
    { "CONNECT allowed.com:444 HTTP/1.1\r\nAUTH\r\n", 403, "port-not-allowed", "s1:p1:allowed.com:444",
      "--allow-host allowed.com:444", TRUE },
    { "GET http://allowed.com/ HTTP/1.1\r\nHost: allowed.com\r\nAUTH\r\n", 403, "port-not-allowed", "s1:p1:allowed.com:80",
      "--allow-host allowed.com:80", TRUE },
    { "CONNECT 127.0.0.1:443 HTTP/1.1\r\nAUTH\r\n", 403, "host-not-allowed", "s1:p1:127.0.0.1:443",
      "--allow-host 127.0.0.1:443", TRUE },
    { "CONNECT [::1]:443 HTTP/1.1\r\nAUTH\r\n", 403, "host-not-allowed", "s1:p1:[::1]:443", "--allow-host [::1]:443", TRUE },
    { "CONNECT allowed.com:443 HTTP/1.1\r\n\r\n", 407, "credential-missing", "s1:p1:allowed.com:443", "", FALSE },
    { "GET http://allowed.com/ HTTP/1.1\r\nHost: allowed.com\r\n\r\n", 407, "credential-missing", "s1:p1:allowed.com:80", "",
      FALSE },
    { "CONNECT allowed.com:443 HTTP/1.1\r\nProxy-Authorization: Basic Z2xvdmU6eA==\r\n\r\n", 407, "credential-wrong",
      "s1:p1:allowed.com:443", "", TRUE },
    { "GET http://allowed.com/ HTTP/1.1\r\nHost: allowed.com\r\nProxy-Authorization: Basic Z2xvdmU6eA==\r\n\r\n", 407,
      "credential-wrong", "s1:p1:allowed.com:80", "", TRUE },
    { "GET https://allowed.com/ HTTP/1.1\r\nHost: allowed.com\r\nAUTH\r\n", 400, "unsupported-scheme", "s1:p1::0", "", TRUE },
    { "GET / HTTP/1.1\r\nHost: allowed.com\r\nAUTH\r\n", 400, "not-a-proxy-request", "s1:p1::0", "", TRUE },
    { "GET http://allowed.com:443/ HTTP/1.1\r\nHost: evil.org\r\nAUTH\r\n", 400, "host-mismatch", "s1:p1::0", "", TRUE },
    { "CONNECT 127.0.0.1..:443 HTTP/1.1\r\nAUTH\r\n", 400, "bad-host", "s1:p1::0", "", TRUE },
    { "\x16\x03\x01 hello", 400, "malformed-request", "s1:p1::0", "", TRUE },
    { "CONNECT allowed.com:443 HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400, "malformed-request", "s1:p1::0", "", TRUE },
  };
  Fixture *f = fixture_new ((const char *[]) { "allowed.com:443", NULL }, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GloveAuditEvent) event = NULL;

      assert_refused (guest_request (f, "%s", cases[i].request), cases[i].status, cases[i].code);
      event = take_event (f);
      g_assert_cmpint (event->status, ==, GLOVE_AUDIT_STATUS_INVALID_ARGUMENTS);
      g_assert_cmpstr (event->tool, ==, cases[i].tool);
      g_assert_cmpstr (event->plane, ==, "network");
      g_assert_cmpstr (event->rule, ==, cases[i].denial ? cases[i].code : "");
      g_assert_cmpstr (event->allow, ==, cases[i].allow);
      g_assert_cmpuint (strlen (event->error), >, 5);
    }
  fixture_free (f);
}

/* NE-04: what follows the NUL is not dialled, and neither is what precedes it. */
static void
test_nul_in_host (void)
{
  static const char request[] = "CONNECT allowed.com\0.evil:443 HTTP/1.1\r\n\r\n";
  Fixture *f = fixture_new ((const char *[]) { "allowed.com:443", NULL }, NULL);
  int fd = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);

  send_all (fd, request, sizeof request - 1);
  assert_refused (fd, 400, "malformed-request");
  fixture_free (f);
}

static void
test_head_size (void)
{
  for (gsize total = GLOVE_EGRESS_REQUEST_MAX - 1; total <= GLOVE_EGRESS_REQUEST_MAX + 1; total++)
    {
      Fixture *f = fixture_new (NULL, NULL);
      int fd = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
      g_autoptr (GString) head = g_string_new ("CONNECT evil.org:443 HTTP/1.1\r\nX: ");

      while (head->len < total - 4)
        g_string_append_c (head, 'x');
      g_string_append (head, "\r\n\r\n");
      send_all (fd, head->str, head->len);
      if (total <= GLOVE_EGRESS_REQUEST_MAX)
        assert_refused (fd, 407, "credential-missing");
      else
        assert_refused (fd, 431, "request-too-large");
      fixture_free (f);
    }
}

/* The head arrives a byte at a time. */
static void
test_head_in_pieces (void)
{
  Fixture *f = fixture_new (NULL, NULL);
  int fd = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  const char *request = "CONNECT evil.org:443 HTTP/1.1\r\n\r\n";

  for (; *request != '\0'; request++)
    {
      send_all (fd, request, 1);
      g_usleep (500);
    }
  assert_refused (fd, 407, "credential-missing");
  fixture_free (f);
}

static void
test_too_many_rules (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s1");

  for (guint count = GLOVE_EGRESS_RULES_MAX - 1; count <= GLOVE_EGRESS_RULES_MAX + 1; count++)
    {
      g_autoptr (GPtrArray) rules = endpoints (FALSE, NULL);
      g_autoptr (GloveEgressProxy) proxy = NULL;
      g_autoptr (GError) error = NULL;

      while (rules->len < count)
        g_ptr_array_add (rules, glove_endpoint_parse ("example.com", NULL));
      proxy = glove_egress_proxy_new ("s1", "p1", rules, NULL, log, &error);
      if (count <= GLOVE_EGRESS_RULES_MAX)
        g_assert_no_error (error);
      else
        g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_LIMIT);
      g_assert_cmpint (proxy != NULL, ==, count <= GLOVE_EGRESS_RULES_MAX);
    }
}

/* ---- plain HTTP ---- */

static char *seen_request;

static void
serve_http (int fd)
{
  g_autofree char *head = receive_head (fd);
  const char *length = strstr (head, "Content-Length: ");
  g_autofree char *body = NULL;

  if (length != NULL)
    {
      gsize size = (gsize) g_ascii_strtoull (length + strlen ("Content-Length: "), NULL, 10);

      body = g_malloc0 (size + 1);
      g_assert_cmpint (recv (fd, body, size, MSG_WAITALL), ==, size);
    }
  else if (strstr (head, "chunked") != NULL)
    body = receive_until (fd, "0\r\n\r\n");
  send_text (fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  shutdown (fd, SHUT_WR);
  {
    g_autofree char *more = receive_rest (fd);

    seen_request = g_strconcat (head, body == NULL ? "" : body, "|", more, NULL);
  }
}

static void
test_plain (void)
{
  static const struct {
    const char *request, *seen;
  } cases[] = {
    { "GET http://127.0.0.1:PORT/a?b HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAUTHProxy-Connection: keep-alive\r\n\r\n",
      "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n|" },
    { "POST http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAUTHContent-Length: 3\r\n\r\nabc",
      "POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc|" },
    /* A second request that was sent at once goes nowhere: it was not judged. */
    { "POST http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAUTHContent-Length: 3\r\n\r\n"
      "abcGET http://evil.org/ HTTP/1.1\r\nAUTH\r\n",
      "POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc|" },
    { "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAUTH\r\nGET http://evil.org/ HTTP/1.1\r\nAUTH\r\n",
      "GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n|" },
    { "POST http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nAUTHTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n0\r\n\r\nGET http://evil.org/ HTTP/1.1\r\nAUTH\r\n",
      "POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n|" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Server *server = server_start (serve_http);
      g_autofree char *port = g_strdup_printf ("%u", server->port);
      g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
      g_autoptr (GString) request = g_string_new (cases[i].request);
      g_autoptr (GString) seen = g_string_new (cases[i].seen);
      g_autofree char *answer = NULL;
      Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
      int fd = -1;

      g_string_replace (request, "PORT", port, 0);
      g_string_replace (seen, "PORT", port, 0);
      fd = guest_request (f, "%s", request->str);
      answer = receive_rest (fd);
      g_assert_cmpstr (answer, ==, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      close (fd);
      wait_for_connections (f, 0);
      fixture_free (f);
      server_stop (server);
      g_assert_cmpstr (seen_request, ==, seen->str);
      g_clear_pointer (&seen_request, g_free);
    }
}

/* A body that arrives later, in pieces, in the middle of its framing. */
static void
test_chunked_in_pieces (void)
{
  Server *server = server_start (serve_http);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_request (f, "POST http://127.0.0.1:%u/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nTransfer-Encoding: chunked\r\nAUTH\r\n",
                          server->port, server->port);
  g_autofree char *answer = NULL;

  for (const char *body = "4\r\nabcd\r\n2;x\r\nef\r\n0\r\n\r\n"; *body != '\0'; body++)
    {
      send_all (fd, body, 1);
      g_usleep (300);
    }
  answer = receive_rest (fd);
  g_assert_true (g_str_has_prefix (answer, "HTTP/1.1 200 OK"));
  close (fd);
  fixture_free (f);
  server_stop (server);
  g_assert_true (g_str_has_suffix (seen_request, "\r\n\r\n4\r\nabcd\r\n2;x\r\nef\r\n0\r\n\r\n|"));
  g_clear_pointer (&seen_request, g_free);
}

/* ---- bytes ---- */

#define BULK (100 * 1024 * 1024)

static guint64
fill_and_send (int fd, gsize total)
{
  g_autofree guint32 *block = g_new (guint32, 65536 / 4);
  guint64 sum = 0;

  for (gsize sent = 0; sent < total; sent += 65536)
    {
      for (gsize i = 0; i < 65536 / 4; i++)
        block[i] = (guint32) (sent / 4 + i) * 2654435761u;
      for (gsize i = 0; i < 65536 / 4; i++)
        sum = sum * 31 + block[i];
      send_all (fd, (const char *) block, 65536);
    }
  return sum;
}

static guint64
receive_and_sum (int fd, gsize total)
{
  g_autofree guint32 *block = g_new (guint32, 65536 / 4);
  guint64 sum = 0;

  for (gsize received = 0; received < total; received += 65536)
    {
      g_assert_cmpint (recv (fd, block, 65536, MSG_WAITALL), ==, 65536);
      for (gsize i = 0; i < 65536 / 4; i++)
        sum = sum * 31 + block[i];
    }
  return sum;
}

static guint64 server_sum;

static void
serve_source (int fd)
{
  server_sum = fill_and_send (fd, BULK);
}

static void
serve_sum (int fd)
{
  guint64 sum = receive_and_sum (fd, BULK);

  send_all (fd, (const char *) &sum, sizeof sum);
}

static void
test_bulk_down (void)
{
  Server *server = server_start (serve_source);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  guint64 sum = receive_and_sum (fd, BULK);
  char byte;

  g_assert_cmpint (recv (fd, &byte, 1, 0), ==, 0);
  close (fd);
  fixture_free (f);
  server_stop (server);
  g_assert_cmpuint (sum, ==, server_sum);
}

static void
test_bulk_up (void)
{
  Server *server = server_start (serve_sum);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  guint64 sent = fill_and_send (fd, BULK);
  guint64 sum = 0;

  g_assert_cmpint (recv (fd, &sum, sizeof sum, MSG_WAITALL), ==, sizeof sum);
  g_assert_cmpuint (sum, ==, sent);
  close (fd);
  fixture_free (f);
  server_stop (server);
}

/* Out of descriptors in the middle: bytes go on without a pipe, and come out whole. */
static void
test_bulk_without_pipes (void)
{
  Server *server = server_start (serve_sum);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  struct rlimit before, none;
  guint64 sent = 0, sum = 0;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  none = (struct rlimit) { 3, before.rlim_max };
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &none), ==, 0);
  sent = fill_and_send (fd, BULK);
  g_assert_cmpint (recv (fd, &sum, sizeof sum, MSG_WAITALL), ==, sizeof sum);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);
  g_assert_cmpuint (sum, ==, sent);
  close (fd);
  fixture_free (f);
  server_stop (server);
}

static void
test_no_descriptor_to_dial (void)
{
  Server *server = server_start (serve_echo);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int first = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  g_autofree char *request = g_strdup_printf ("CONNECT 127.0.0.1:%u HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n",
                                              server->port, f->credential);
  struct rlimit before, none;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  none = (struct rlimit) { 3, before.rlim_max };
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &none), ==, 0);
  send_text (first, request);
  assert_refused (first, 503, "busy");
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);
  close (guest_tunnel (f, "127.0.0.1", server->port));
  fixture_free (f);
  server_stop (server);
}

static void
serve_answer_after_end (int fd)
{
  g_autofree char *all = receive_rest (fd);
  g_autofree char *answer = g_strdup_printf ("got %s", all);

  send_text (fd, answer);
}

static void
serve_end_then_read (int fd)
{
  g_autofree char *all = NULL;

  send_text (fd, "first");
  shutdown (fd, SHUT_WR);
  all = receive_rest (fd);
  g_free (seen_request);
  seen_request = g_steal_pointer (&all);
}

static void
test_half_close_by_guest (void)
{
  Server *server = server_start (serve_answer_after_end);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  g_autofree char *answer = NULL;

  send_text (fd, "all");
  g_assert_cmpint (shutdown (fd, SHUT_WR), ==, 0);
  answer = receive_rest (fd);
  g_assert_cmpstr (answer, ==, "got all");
  wait_for_connections (f, 0);
  close (fd);
  fixture_free (f);
  server_stop (server);
}

static void
test_half_close_by_server (void)
{
  Server *server = server_start (serve_end_then_read);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  g_autofree char *first = receive_rest (fd);

  g_assert_cmpstr (first, ==, "first");
  send_text (fd, "later");
  close (fd);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (server);
  g_assert_cmpstr (seen_request, ==, "later");
  g_clear_pointer (&seen_request, g_free);
}

static void
serve_forever (int fd)
{
  static const char block[65536];

  while (send (fd, block, sizeof block, MSG_NOSIGNAL) > 0)
    ;
}

static gint64
cpu_time (void)
{
  struct rusage usage;

  g_assert_cmpint (getrusage (RUSAGE_SELF, &usage), ==, 0);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * G_USEC_PER_SEC + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* NE-13: a client that is gone is dropped at the first error, and its server with it. */
static void
test_client_gone (void)
{
  Server *server = server_start (serve_forever);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  const struct linger reset = { 1, 0 };

  for (guint i = 0; i < 2; i++)
    {
      int fd = guest_tunnel (f, "127.0.0.1", server->port);
      char bytes[4096];

      g_assert_cmpint (recv (fd, bytes, sizeof bytes, MSG_WAITALL), ==, sizeof bytes);
      if (i == 1)
        g_assert_cmpint (setsockopt (fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), ==, 0);
      close (fd);
      wait_for_connections (f, 0);
    }
  fixture_free (f);
  server_stop (server);
}

/* Who does not read holds nobody up, and nobody spins. */
static void
test_never_reads (void)
{
  Server *flood = server_start (serve_forever);
  Server *echo = server_start (serve_echo);
  g_autofree char *flood_rule = g_strdup_printf ("127.0.0.1:%u", flood->port);
  g_autofree char *echo_rule = g_strdup_printf ("127.0.0.1:%u", echo->port);
  Fixture *f = fixture_new ((const char *[]) { flood_rule, echo_rule, NULL }, NULL);
  int stuck = guest_tunnel (f, "127.0.0.1", flood->port);
  int fd = guest_tunnel (f, "127.0.0.1", echo->port);
  g_autofree char *echoed = NULL;
  gint64 before = 0;

  g_usleep (300 * 1000); /* every buffer is full by now */
  before = cpu_time ();
  g_usleep (300 * 1000);
  g_assert_cmpint (cpu_time () - before, <, 100 * 1000);
  send_text (fd, "still there\r\n\r\n");
  echoed = receive_head (fd);
  g_assert_cmpstr (echoed, ==, "still there\r\n\r\n");
  close (fd);
  close (stuck);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (flood);
  server_stop (echo);
}

static void
serve_reset (int fd)
{
  const struct linger reset = { 1, 0 };
  char byte;

  send_text (fd, "part");
  g_assert_cmpint (recv (fd, &byte, 1, 0), ==, 1);
  g_assert_cmpint (setsockopt (fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), ==, 0);
}

/* A reset stays one: what the client has is not all there was. */
static void
test_server_resets (void)
{
  Server *server = server_start (serve_reset);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  g_autofree char *part = receive_until (fd, "part");
  char byte;

  g_assert_cmpstr (part, ==, "part");
  send_text (fd, "x");
  g_assert_cmpint (recv (fd, &byte, 1, 0), ==, -1);
  g_assert_cmpint (errno, ==, ECONNRESET);
  close (fd);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (server);
}

/* ---- bounds ---- */

static void
test_many (void)
{
  enum { MANY = 300 };
  Server *server = server_start (serve_echo);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  g_autofree char *request = NULL;
  Fixture *f = NULL;
  struct rlimit limit;
  int fds[MANY];

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  if (limit.rlim_max < 2048)
    {
      g_test_skip ("needs 2048 open files");
      server_stop (server);
      return;
    }
  limit.rlim_cur = MAX (limit.rlim_cur, 2048);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  request = g_strdup_printf ("CONNECT 127.0.0.1:%u HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\nping\r\n\r\n", server->port,
                             f->credential);
  for (guint i = 0; i < MANY; i++)
    fds[i] = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  for (guint i = 0; i < GLOVE_EGRESS_CONNECTIONS_MAX; i++)
    {
      g_autofree char *established = NULL;
      g_autofree char *echoed = NULL;

      send_text (fds[i], request);
      established = receive_head (fds[i]);
      echoed = receive_head (fds[i]);
      g_assert_true (g_str_has_prefix (established, "HTTP/1.1 200"));
      g_assert_cmpstr (echoed, ==, "ping\r\n\r\n");
    }
  for (guint i = GLOVE_EGRESS_CONNECTIONS_MAX; i < MANY; i++)
    assert_refused (fds[i], 503, "busy");
  g_assert_cmpuint (glove_egress_proxy_get_n_connections (f->proxy), ==, GLOVE_EGRESS_CONNECTIONS_MAX);
  close (fds[0]);
  wait_for_connections (f, GLOVE_EGRESS_CONNECTIONS_MAX - 1);
  close (guest_tunnel (f, "127.0.0.1", server->port));
  for (guint i = 1; i < GLOVE_EGRESS_CONNECTIONS_MAX; i++)
    close (fds[i]);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (server);
}

/* NE-16 and slow clients: the head has its time, and then the place is free. */
static void
test_slow_head (void)
{
  Fixture *f = fixture_new (NULL, NULL);
  int silent = -1;
  int slow = -1;
  char byte;

  glove_egress_proxy_set_deadlines (f->proxy, 150, 1000);
  silent = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  slow = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  send_text (slow, "CONNECT evil.org:443 HTTP/1.1\r\nX: ");
  for (guint i = 0; i < 10; i++)
    {
      g_usleep (10 * 1000);
      send_all (slow, "y", 1);
    }
  assert_refused (slow, 408, "request-timeout");
  g_assert_cmpint (recv (silent, &byte, 1, 0), ==, 0);
  close (silent);
  wait_for_connections (f, 0);
  fixture_free (f);
}

static void
test_client_ends_before_request (void)
{
  Fixture *f = fixture_new (NULL, NULL);
  int fd = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);

  send_text (fd, "CONNECT evil.org:443 HTTP/1.1\r\n");
  close (fd);
  wait_for_connections (f, 0);
  fixture_free (f);
}

static void
test_odd_sockets (void)
{
  Fixture *f = fixture_new (NULL, (const char *[]) { "127.0.0.1:1", NULL });
  guint before = glove_fd_count_open ();
  int pair[2];
  int pipes[2];
  int accepted = -1;
  int fd = -1;
  guint16 port;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  glove_egress_proxy_take_socket (f->proxy, 0, pair[0]);
  close (pair[1]);
  glove_egress_proxy_take_socket (f->proxy, 0, socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  glove_egress_proxy_take_socket (f->proxy, 0, socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  glove_egress_proxy_take_socket (f->proxy, 0, listen_anywhere (&port));
  glove_egress_proxy_take_socket (f->proxy, 0, open ("/dev/null", O_RDWR | O_CLOEXEC));
  glove_egress_proxy_take_socket (f->proxy, 0, -1);
  g_assert_cmpint (pipe2 (pipes, O_CLOEXEC), ==, 0);
  glove_egress_proxy_take_socket (f->proxy, 0, pipes[0]);
  close (pipes[1]);
  for (guint32 tag = 2; tag != 1; tag = tag == 2 ? G_MAXUINT32 : 1)
    {
      fd = guest_pair (f, &accepted);
      glove_egress_proxy_take_socket (f->proxy, tag, accepted);
      close (fd);
    }
  g_assert_cmpuint (glove_fd_count_open (), ==, before);
  g_assert_cmpuint (glove_egress_proxy_get_n_connections (f->proxy), ==, 0);
  fixture_free (f);
}

/* ---- audit ---- */

static void
test_audit_fails (void)
{
  Server *server = server_start (serve_echo);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);

  g_atomic_int_set (&f->sink->fails, TRUE);
  assert_refused (guest_request (f, "CONNECT 127.0.0.1:%u HTTP/1.1\r\nAUTH\r\nearly", server->port), 503, "audit-failed");
  assert_refused (guest_request (f, "CONNECT evil.org:443 HTTP/1.1\r\nAUTH\r\n"), 503, "audit-failed");
  fixture_free (f);
  server_stop (server);
}

/* Nothing is relayed before the verdict is recorded, although the server is there already. */
static void
test_audit_comes_first (void)
{
  Server *server = server_start (serve_forever);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  struct pollfd readable = { .events = POLLIN };
  int fd = -1;

  g_atomic_int_set (&f->sink->delay_ms, 300);
  fd = guest_request (f, "CONNECT 127.0.0.1:%u HTTP/1.1\r\nAUTH\r\n", server->port);
  readable.fd = fd;
  g_assert_cmpint (poll (&readable, 1, 150), ==, 0);
  g_assert_cmpint (g_atomic_int_get (&server->served), ==, 1);
  g_assert_cmpint (poll (&readable, 1, 5000), ==, 1);
  close (fd);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (server);
}

/* A record that does not come is a failed one. */
static void
test_audit_hangs (void)
{
  Server *server = server_start (serve_echo);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);

  glove_egress_proxy_set_deadlines (f->proxy, 1000, 100);
  g_atomic_int_set (&f->sink->delay_ms, 600);
  assert_refused (guest_request (f, "CONNECT 127.0.0.1:%u HTTP/1.1\r\nAUTH\r\n", server->port), 503, "audit-failed");
  fixture_free (f);
  server_stop (server);
}

/* ---- names ---- */

typedef struct {
  const char *const *literals;
  gint calls;
  gint delay_ms;
} Names;

static GArray *
resolve (const char *host, guint16 port, gpointer user_data)
{
  Names *names = user_data;
  GArray *addresses = g_array_new (FALSE, FALSE, sizeof (GloveEgressAddress));
  GloveEgressAddress address;

  g_atomic_int_inc (&names->calls);
  g_usleep ((gulong) names->delay_ms * 1000);
  for (guint i = 0; names->literals != NULL && names->literals[i] != NULL; i++)
    if (glove_egress_address_parse (names->literals[i], port, &address))
      g_array_append_val (addresses, address);
  return addresses;
}

static GloveEndpoint *
private_rule (const char *host, guint16 port)
{
  g_autofree char *text = g_strdup_printf ("%s:%u", host, port);
  GloveEndpoint *rule = glove_endpoint_parse (text, NULL);

  rule->allow_private = TRUE;
  return rule;
}

static Fixture *
fixture_with_names (Names *names, guint16 port, gboolean allow_private)
{
  Fixture *f = fixture_new (NULL, NULL);
  g_autoptr (GPtrArray) rules = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_endpoint_free);
  g_autofree char *url = NULL;
  g_autofree char *pair = NULL;
  GloveEndpoint *rule = private_rule ("name.test", port);

  rule->allow_private = allow_private;
  g_ptr_array_add (rules, rule);
  g_object_unref (f->proxy);
  f->proxy = glove_egress_proxy_new ("s1", "p1", rules, rules, f->log, NULL);
  glove_egress_proxy_set_resolver (f->proxy, resolve, names);
  url = glove_egress_proxy_dup_url (f->proxy, 1);
  pair = g_strndup (url + strlen ("http://"), strlen (url) - strlen ("http://") - strlen ("@127.0.0.1:1"));
  g_free (f->credential);
  f->credential = g_base64_encode ((const guchar *) pair, strlen (pair));
  return f;
}

/* NE-20: an address that does not answer is not the end. */
static void
test_fail_over (void)
{
  static const char *const literals[] = { "::1", "127.0.0.2", "127.0.0.1", NULL };
  Server *server = server_start (serve_echo);
  Names names = { .literals = literals };
  Fixture *f = fixture_with_names (&names, server->port, TRUE);
  int fd = guest_tunnel (f, "NAME.test.", server->port);
  g_autoptr (GloveAuditEvent) event = take_event (f);

  g_assert_cmpint (event->status, ==, GLOVE_AUDIT_STATUS_OK);
  g_assert_true (g_str_has_prefix (event->tool, "s1:p1:name.test:"));
  g_assert_cmpint (names.calls, ==, 1);
  close (fd);
  fixture_free (f);
  server_stop (server);
}

/* NE-08: a name that is not allowed is not looked up. */
static void
test_judged_before_resolving (void)
{
  static const char *const literals[] = { "127.0.0.1", NULL };
  Names names = { .literals = literals };
  Fixture *f = fixture_with_names (&names, 443, TRUE);

  assert_refused (guest_request (f, "CONNECT secret.name.test:443 HTTP/1.1\r\nAUTH\r\n"), 403, "host-not-allowed");
  assert_refused (guest_request (f, "CONNECT name.test:443 HTTP/1.1\r\n\r\n"), 407, "credential-missing");
  g_assert_cmpint (names.calls, ==, 0);
  fixture_free (f);
}

static void
test_not_public (void)
{
  static const char *const literals[] = { "127.0.0.1", "10.1.2.3", "::ffff:127.0.0.1", NULL };
  Names names = { .literals = literals };
  Fixture *f = fixture_with_names (&names, 443, FALSE);
  g_autoptr (GloveAuditEvent) event = NULL;
  g_autofree char *reply = NULL;
  int fd = guest_request (f, "CONNECT name.test:443 HTTP/1.1\r\nAUTH\r\n");

  reply = receive_rest (fd);
  g_assert_true (g_str_has_prefix (reply, "HTTP/1.1 502 "));
  g_assert_nonnull (strstr (reply, "X-Glove-Reason: address-not-public\r\n"));
  /* The guest does not learn what the host's resolver knows. */
  g_assert_null (strstr (reply, "127.0.0.1"));
  close (fd);
  event = take_event (f);
  g_assert_cmpstr (event->rule, ==, "address-not-public");
  g_assert_cmpstr (event->error, ==, "the name leads to 127.0.0.1, which is not public");
  g_assert_cmpstr (event->allow, ==, "--allow-host 127.0.0.1:443");
  fixture_free (f);
}

static void
test_not_resolved (void)
{
  Names names = { .literals = NULL };
  Fixture *f = fixture_with_names (&names, 443, FALSE);
  g_autoptr (GloveAuditEvent) event = NULL;

  assert_refused (guest_request (f, "CONNECT name.test:443 HTTP/1.1\r\nAUTH\r\n"), 502, "name-not-resolved");
  event = take_event (f);
  g_assert_false (glove_audit_event_is_denial (event));
  g_assert_cmpstr (event->error, ==, "the name could not be resolved");
  fixture_free (f);
}

static void
test_resolver_hangs (void)
{
  static const char *const literals[] = { "127.0.0.1", NULL };
  Names names = { .literals = literals, .delay_ms = 500 };
  Fixture *f = fixture_with_names (&names, 443, TRUE);
  int fds[20];

  glove_egress_proxy_set_deadlines (f->proxy, 1000, 100);
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    fds[i] = guest_request (f, "CONNECT name.test:443 HTTP/1.1\r\nAUTH\r\n");
  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    assert_refused (fds[i], 504, "resolve-timeout");
  wait_for_connections (f, 0);
  /* What nobody waited for any more was not looked up. */
  g_assert_cmpint (names.calls, <=, GLOVE_EGRESS_RESOLVER_THREADS_MAX);
  fixture_free (f);
}

static void
test_connect_failed (void)
{
  guint16 port = 0;
  int listener = listen_anywhere (&port);
  g_autofree char *rule = g_strdup_printf ("localhost:%u", port);
  Fixture *f = NULL;

  close (listener);
  f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  assert_refused (guest_request (f, "CONNECT localhost:%u HTTP/1.1\r\nAUTH\r\n", port), 502, "connect-failed");
  fixture_free (f);
}

/* A server whose queue is full lets a connection hang. */
static void
test_connect_timeout (void)
{
  guint16 port = 0;
  int listener = listen_anywhere (&port);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", port);
  struct sockaddr_in address = loopback (port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int waiting[8];

  g_assert_cmpint (listen (listener, 0), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (waiting); i++)
    {
      waiting[i] = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      (void) connect (waiting[i], (struct sockaddr *) &address, sizeof address);
    }
  glove_egress_proxy_set_deadlines (f->proxy, 1000, 300);
  assert_refused (guest_request (f, "CONNECT 127.0.0.1:%u HTTP/1.1\r\nAUTH\r\n", port), 504, "connect-timeout");
  for (guint i = 0; i < G_N_ELEMENTS (waiting); i++)
    close (waiting[i]);
  fixture_free (f);
  close (listener);
}

/* ---- forwards ---- */

static void
test_forward (void)
{
  Server *server = server_start (serve_echo);
  g_autofree char *target = g_strdup_printf ("localhost:%u", server->port);
  Fixture *f = fixture_new (NULL, (const char *[]) { "127.0.0.1:1", target, NULL });
  int fd = guest_connect (f, GLOVE_EGRESS_TAG_FORWARD (1));
  g_autofree char *echoed = NULL;
  g_autoptr (GloveAuditEvent) event = NULL;

  send_text (fd, "GET / HTTP/1.1\r\n\r\n");
  echoed = receive_head (fd);
  g_assert_cmpstr (echoed, ==, "GET / HTTP/1.1\r\n\r\n");
  event = take_event (f);
  g_assert_cmpint (event->status, ==, GLOVE_AUDIT_STATUS_OK);
  g_assert_true (g_str_has_prefix (event->tool, "s1:p1:localhost:"));
  close (fd);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (server);
}

static void
test_forward_refused (void)
{
  static const char *const literals[] = { "127.0.0.1", NULL };
  Names names = { .literals = literals };
  Fixture *f = fixture_with_names (&names, 443, FALSE);
  int fd = guest_connect (f, GLOVE_EGRESS_TAG_FORWARD (0));
  g_autoptr (GloveAuditEvent) event = NULL;
  char byte;

  g_assert_cmpint (recv (fd, &byte, 1, 0), ==, -1);
  g_assert_cmpint (errno, ==, ECONNRESET);
  event = take_event (f);
  g_assert_cmpstr (event->rule, ==, "address-not-public");
  close (fd);
  fixture_free (f);
}

/* ---- the end ---- */

static void
test_shutdown (void)
{
  Server *server = server_start (serve_forever);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int relaying = guest_tunnel (f, "127.0.0.1", server->port);
  int reading = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  int late = -1;
  char bytes[65536];

  glove_egress_proxy_shutdown (f->proxy);
  g_assert_cmpuint (glove_egress_proxy_get_n_connections (f->proxy), ==, 0);
  while (recv (relaying, bytes, sizeof bytes, 0) > 0)
    ;
  g_assert_cmpint (recv (reading, bytes, 1, 0), <=, 0);
  late = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  g_assert_cmpint (recv (late, bytes, 1, 0), ==, 0);
  glove_egress_proxy_shutdown (f->proxy);
  close (relaying);
  close (reading);
  close (late);
  fixture_free (f);
  server_stop (server);
}

/* Who shares the open file can make it block again, and then not read: that holds the thread, but not the end. */
static void
test_shutdown_of_a_blocked_thread (void)
{
  Server *server = server_start (serve_forever);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  g_autofree char *request = g_strdup_printf ("CONNECT 127.0.0.1:%u HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n",
                                              server->port, f->credential);
  int accepted = -1;
  int fd = guest_pair (f, &accepted);
  int shared = fcntl (accepted, F_DUPFD_CLOEXEC, 3);

  glove_egress_proxy_take_socket (f->proxy, GLOVE_EGRESS_TAG_PROXY, accepted);
  g_assert_cmpint (fcntl (shared, F_SETFL, 0), ==, 0);
  send_text (fd, request);
  g_usleep (300 * 1000);
  glove_egress_proxy_shutdown (f->proxy);
  close (shared);
  close (fd);
  fixture_free (f);
  server_stop (server);
}

static void
test_nothing_runs_before_the_first_socket (void)
{
  guint before = glove_fd_count_open ();
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s1");
  GloveEgressProxy *proxy = glove_egress_proxy_new ("s1", "p1", NULL, NULL, log, NULL);

  g_assert_cmpuint (glove_fd_count_open (), ==, before);
  g_object_unref (proxy);
}

static void
test_credentials_differ (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s1");
  g_autoptr (GloveEgressProxy) a = glove_egress_proxy_new ("s1", "p1", NULL, NULL, log, NULL);
  g_autoptr (GloveEgressProxy) b = glove_egress_proxy_new ("s1", "p1", NULL, NULL, log, NULL);
  g_autofree char *url_a = glove_egress_proxy_dup_url (a, 1);
  g_autofree char *url_b = glove_egress_proxy_dup_url (b, 1);

  g_assert_cmpstr (url_a, !=, url_b);
  g_assert_cmpuint (strlen (url_a), ==, strlen ("http://glove:@127.0.0.1:1") + 48);
}

#define ADD(path, func) g_test_add_func ("/egress/proxy/" path, func)

static gboolean
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!has_loopback ())
    {
      gboolean must = g_strcmp0 (g_getenv ("GLOVE_TESTS_MUST_RUN"), "1") == 0;

      g_print ("1..0 # SKIP no loopback interface\n");
      return must ? 1 : 77;
    }
  ADD ("tunnel", test_tunnel);
  ADD ("early-data", test_early_data);
  ADD ("refusals", test_refusals);
  ADD ("nul-in-host", test_nul_in_host);
  ADD ("head-size", test_head_size);
  ADD ("head-in-pieces", test_head_in_pieces);
  ADD ("too-many-rules", test_too_many_rules);
  ADD ("plain", test_plain);
  ADD ("chunked-in-pieces", test_chunked_in_pieces);
  ADD ("bulk-down", test_bulk_down);
  ADD ("bulk-up", test_bulk_up);
  ADD ("bulk-without-pipes", test_bulk_without_pipes);
  ADD ("no-descriptor-to-dial", test_no_descriptor_to_dial);
  ADD ("half-close-by-guest", test_half_close_by_guest);
  ADD ("half-close-by-server", test_half_close_by_server);
  ADD ("client-gone", test_client_gone);
  ADD ("never-reads", test_never_reads);
  ADD ("server-resets", test_server_resets);
  ADD ("many", test_many);
  ADD ("slow-head", test_slow_head);
  ADD ("client-ends-before-request", test_client_ends_before_request);
  ADD ("odd-sockets", test_odd_sockets);
  ADD ("audit-fails", test_audit_fails);
  ADD ("audit-comes-first", test_audit_comes_first);
  ADD ("audit-hangs", test_audit_hangs);
  ADD ("fail-over", test_fail_over);
  ADD ("judged-before-resolving", test_judged_before_resolving);
  ADD ("not-public", test_not_public);
  ADD ("not-resolved", test_not_resolved);
  ADD ("resolver-hangs", test_resolver_hangs);
  ADD ("connect-failed", test_connect_failed);
  ADD ("connect-timeout", test_connect_timeout);
  ADD ("forward", test_forward);
  ADD ("forward-refused", test_forward_refused);
  ADD ("shutdown", test_shutdown);
  ADD ("shutdown-of-a-blocked-thread", test_shutdown_of_a_blocked_thread);
  ADD ("nothing-runs-before-the-first-socket", test_nothing_runs_before_the_first_socket);
  ADD ("credentials-differ", test_credentials_differ);
  return g_test_run ();
}
