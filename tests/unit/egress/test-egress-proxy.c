/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The proxy as a whole, on real sockets of the loopback: what it allows, refuses and records. */

#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "egress-fixture.h"
#include "glove-bounds.h"
#include "glove-egress-proxy-private.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-fd.h"

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
      g_autoptr (GPtrArray) rules = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_endpoint_free);
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

  g_atomic_int_set (&f->sink->delay_ms, 1500);
  fd = guest_request (f, "CONNECT 127.0.0.1:%u HTTP/1.1\r\nAUTH\r\n", server->port);
  readable.fd = fd;
  g_assert_cmpint (poll (&readable, 1, 700), ==, 0);
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

/* @more (transfer full) (nullable): one more rule. */
static Fixture *
fixture_with_rules (Names *names, guint16 port, gboolean allow_private, GloveEndpoint *more)
{
  Fixture *f = fixture_new (NULL, NULL);
  g_autoptr (GPtrArray) rules = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_endpoint_free);
  g_autofree char *url = NULL;
  g_autofree char *pair = NULL;
  GloveEndpoint *rule = private_rule ("name.test", port);

  rule->allow_private = allow_private;
  g_ptr_array_add (rules, rule);
  if (more != NULL)
    g_ptr_array_add (rules, more);
  g_object_unref (f->proxy);
  f->proxy = glove_egress_proxy_new ("s1", "p1", rules, rules, f->log, NULL);
  glove_egress_proxy_set_resolver (f->proxy, resolve, names);
  url = glove_egress_proxy_dup_url (f->proxy, 1);
  pair = g_strndup (url + strlen ("http://"), strlen (url) - strlen ("http://") - strlen ("@127.0.0.1:1"));
  g_free (f->credential);
  f->credential = g_base64_encode ((const guchar *) pair, strlen (pair));
  return f;
}

static Fixture *
fixture_with_names (Names *names, guint16 port, gboolean allow_private)
{
  return fixture_with_rules (names, port, allow_private, NULL);
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

/* The option that the refusal above names is one that helps: with a rule for the address the name that leads to it is reached. */
static void
test_not_public_but_named (void)
{
  static const char *const literals[] = { "10.255.255.255", "127.0.0.1", NULL };
  Server *server = server_start (serve_echo);
  Names names = { .literals = literals };
  static const struct
  {
    const char *address;
    int port; /* beside the server's */
    gboolean reached;
  } cases[] = { { "127.0.0.1", 0, TRUE }, { "127.0.0.1", 1, FALSE }, { "127.0.0.2", 0, FALSE } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GloveEndpoint *address = private_rule (cases[i].address, (guint16) (server->port + cases[i].port));
      Fixture *f = fixture_with_rules (&names, server->port, FALSE, address);
      int fd = guest_request (f, "CONNECT name.test:%u HTTP/1.1\r\nAUTH\r\n", server->port);
      g_autofree char *head = receive_head (fd);
      g_autoptr (GloveAuditEvent) event = take_event (f);

      g_assert_true (g_str_has_prefix (head, cases[i].reached ? "HTTP/1.1 200 " : "HTTP/1.1 502 "));
      g_assert_cmpstr (event->rule, ==, cases[i].reached ? "" : "address-not-public");
      close (fd);
      fixture_free (f);
    }
  server_stop (server);
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
  Names names = { .literals = literals, .delay_ms = 1500 };
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  RETURN_WITHOUT_LOOPBACK ();
  g_test_add_func ("/egress/proxy/tunnel", test_tunnel);
  g_test_add_func ("/egress/proxy/early-data", test_early_data);
  g_test_add_func ("/egress/proxy/refusals", test_refusals);
  g_test_add_func ("/egress/proxy/nul-in-host", test_nul_in_host);
  g_test_add_func ("/egress/proxy/head-size", test_head_size);
  g_test_add_func ("/egress/proxy/head-in-pieces", test_head_in_pieces);
  g_test_add_func ("/egress/proxy/too-many-rules", test_too_many_rules);
  g_test_add_func ("/egress/proxy/plain", test_plain);
  g_test_add_func ("/egress/proxy/chunked-in-pieces", test_chunked_in_pieces);
  g_test_add_func ("/egress/proxy/audit-fails", test_audit_fails);
  g_test_add_func ("/egress/proxy/audit-comes-first", test_audit_comes_first);
  g_test_add_func ("/egress/proxy/audit-hangs", test_audit_hangs);
  g_test_add_func ("/egress/proxy/fail-over", test_fail_over);
  g_test_add_func ("/egress/proxy/judged-before-resolving", test_judged_before_resolving);
  g_test_add_func ("/egress/proxy/not-public", test_not_public);
  g_test_add_func ("/egress/proxy/not-public-but-named", test_not_public_but_named);
  g_test_add_func ("/egress/proxy/not-resolved", test_not_resolved);
  g_test_add_func ("/egress/proxy/resolver-hangs", test_resolver_hangs);
  g_test_add_func ("/egress/proxy/connect-failed", test_connect_failed);
  g_test_add_func ("/egress/proxy/connect-timeout", test_connect_timeout);
  g_test_add_func ("/egress/proxy/forward", test_forward);
  g_test_add_func ("/egress/proxy/forward-refused", test_forward_refused);
  g_test_add_func ("/egress/proxy/nothing-runs-before-the-first-socket", test_nothing_runs_before_the_first_socket);
  g_test_add_func ("/egress/proxy/credentials-differ", test_credentials_differ);
  return g_test_run ();
}
