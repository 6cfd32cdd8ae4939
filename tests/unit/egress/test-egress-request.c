/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-egress-chunks.h"
#include "glove-egress-head.h"
#include "glove-egress-request.h"
#include "glove-error.h"
#include "glove-text.h"

typedef struct {
  const char *head;
  const char *host; /* NULL: refused */
  guint16 port;
  GloveEgressReason reason;
} Row;

#define R(name) GLOVE_EGRESS_REASON_##name

static const Row rows[] = {
  { "CONNECT example.com:443 HTTP/1.1\r\n\r\n", "example.com", 443, R (NONE) },
  { "CONNECT example.com:443 HTTP/1.0\r\n\r\n", "example.com", 443, R (NONE) },
  { "CONNECT Example.COM.:443 HTTP/1.1\r\nHost: EXAMPLE.com\r\n\r\n", "example.com", 443, R (NONE) },
  { "CONNECT LocalHost.:1 HTTP/1.1\r\n\r\n", "localhost", 1, R (NONE) },
  { "CONNECT a:65535 HTTP/1.1\r\nHost: a:65535\r\n\r\n", "a", 65535, R (NONE) },
  { "CONNECT [2001:DB8:0::1]:443 HTTP/1.1\r\n\r\n", "2001:db8::1", 443, R (NONE) },
  { "CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1\r\n\r\n", "127.0.0.1", 443, R (NONE) },
  { "CONNECT a:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "a", 443, R (NONE) },
  { "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "example.com", 80, R (NONE) },
  { "GET HTTP://example.com:8080/ HTTP/1.1\r\nHost: example.com:8080\r\n\r\n", "example.com", 8080, R (NONE) },
  { "GET http://a/ HTTP/1.0\r\n\r\n", "a", 80, R (NONE) },
  { "GET http://[::1]:80 HTTP/1.1\r\nHost: [0:0::1]\r\n\r\n", "::1", 80, R (NONE) },

  { "CONNECT example.com HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT example.com: HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT example.com:0 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT example.com:65536 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT example.com:0443 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT example.com:+443 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT example.com:443:443 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT 127.0.0.1..:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT .example.com:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT a..b:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT :80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT 2130706433:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT 0177.0.0.1:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT 0x7f000001:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT 127.1:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT user@example.com:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT exa%6dple.com:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT ::1:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT [::1:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT [::1]80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT [fe80::1%eth0]:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT [127.0.0.1]:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "CONNECT [example.com]:80 HTTP/1.1\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "GET http://a@b/ HTTP/1.1\r\nHost: b\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "GET http://a\\@b/ HTTP/1.1\r\nHost: b\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "GET http:///x HTTP/1.1\r\nHost: b\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "GET http://b/ HTTP/1.1\r\nHost: b@c\r\n\r\n", NULL, 0, R (BAD_HOST) },
  { "GET http://b/ HTTP/1.1\r\nHost:\r\n\r\n", NULL, 0, R (BAD_HOST) },

  { "CONNECT a:443 HTTP/1.1\r\nHost: b:443\r\n\r\n", NULL, 0, R (HOST_MISMATCH) },
  { "CONNECT a:443 HTTP/1.1\r\nHost: a:444\r\n\r\n", NULL, 0, R (HOST_MISMATCH) },
  { "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", NULL, 0, R (HOST_MISMATCH) },
  { "GET http://a:8080/ HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (HOST_MISMATCH) },

  { "GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (UNSUPPORTED_SCHEME) },
  { "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (UNSUPPORTED_SCHEME) },
  { "GET / HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (NOT_A_PROXY_REQUEST) },
  { "GET /?u=http://a HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (NOT_A_PROXY_REQUEST) },
  { "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (NOT_A_PROXY_REQUEST) },
  { "connect a:443 HTTP/1.1\r\n\r\n", NULL, 0, R (NOT_A_PROXY_REQUEST) },

  { "\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "\r\nGET http://a/ HTTP/1.1\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET  http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ x HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/\tHTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/#b HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/\x80 HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "G(T http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ HTTP/2.0\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ HTTP/1.2\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ http/1.1\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ HTTP/1.1\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ HTTP/1.1\r\nHost : a\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", NULL, 0,
    R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n", "a", 80, R (NONE) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n", "a", 80, R (NONE) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", NULL, 0,
    R (MALFORMED_REQUEST) },
  { "POST http://a/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ HTTP/1.1\r\nHost: a\r\nConnection: x, Content-Length\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "GET http://a/ HTTP/1.1\r\nHost: a\r\nProxy-Authorization: Basic a\r\nProxy-Authorization: Basic b\r\n\r\n", NULL, 0,
    R (MALFORMED_REQUEST) },
  { "CONNECT a:443 HTTP/1.1\r\nContent-Length: 1\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
  { "CONNECT a:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", NULL, 0, R (MALFORMED_REQUEST) },
};

static void
test_table (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      GloveEgressReason reason = R (BUSY);
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveEgressRequest) request = glove_egress_request_parse (rows[i].head, strlen (rows[i].head), &reason,
                                                                           &error);
      g_autofree char *shown = glove_text_escape (rows[i].head, -1);

      g_test_message ("%s", shown);
      g_assert_cmpint (reason, ==, rows[i].reason);
      g_assert_cmpint (request != NULL, ==, rows[i].host != NULL);
      if (request == NULL)
        {
          g_assert_true (error->domain == GLOVE_ERROR && error->code == GLOVE_ERROR_INVALID_DATA);
          g_assert_cmpuint (strlen (error->message), >, 10);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpstr (request->host, ==, rows[i].host);
      g_assert_cmpuint (request->port, ==, rows[i].port);
    }
}

static void
test_forwarded_head (void)
{
  static const struct {
    const char *in, *out;
  } cases[] = {
    { "GET http://example.com/a?b HTTP/1.1\r\nHost: EXAMPLE.com:80\r\nAccept: */*\r\n"
      "Proxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\nConnection: X-Hop, keep-alive\r\nx-hop: 1\r\n"
      "Keep-Alive: 5\r\nTE: trailers\r\nUpgrade: h2c\r\nX-End:\t 2 \r\n\r\n",
      "GET /a?b HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nX-End: 2\r\nConnection: close\r\n\r\n" },
    { "GET http://a:8080 HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\nHost: a:8080\r\nConnection: close\r\n\r\n" },
    { "GET http://a?q=/x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?q=/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" },
    { "OPTIONS http://[::1] HTTP/1.1\r\nHost: [::1]\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n" },
    { "POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GloveEgressReason reason;
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveEgressRequest) request = glove_egress_request_parse (cases[i].in, strlen (cases[i].in), &reason,
                                                                           &error);

      g_assert_no_error (error);
      g_assert_cmpstr (request->head->str, ==, cases[i].out);
    }
}

static void
test_credential (void)
{
  static const struct {
    const char *field, *credential;
  } cases[] = {
    { "", NULL },
    { "Proxy-Authorization: Basic abc=\r\n", "abc=" },
    { "proxy-authorization: bAsIc   abc=  \r\n", "abc=" },
    { "Proxy-Authorization: Bearer abc=\r\n", "" },
    { "Proxy-Authorization:\r\n", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *tunnel = g_strdup_printf ("CONNECT a:1 HTTP/1.1\r\n%s\r\n", cases[i].field);
      g_autofree char *plain = g_strdup_printf ("GET http://a/ HTTP/1.1\r\nHost: a\r\n%s\r\n", cases[i].field);
      const char *both[] = { tunnel, plain };

      for (guint j = 0; j < G_N_ELEMENTS (both); j++)
        {
          GloveEgressReason reason;
          g_autoptr (GError) error = NULL;
          g_autoptr (GloveEgressRequest) request = glove_egress_request_parse (both[j], strlen (both[j]), &reason, &error);

          g_assert_no_error (error);
          g_assert_cmpstr (request->credential, ==, cases[i].credential);
        }
    }
}

static void
test_size (void)
{
  static const char start[] = "GET http://a/ HTTP/1.1\r\nHost: a\r\nX: ";

  for (gsize total = GLOVE_EGRESS_REQUEST_MAX - 1; total <= GLOVE_EGRESS_REQUEST_MAX + 1; total++)
    {
      g_autoptr (GString) head = g_string_new (start);
      GloveEgressReason reason;
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveEgressRequest) request = NULL;

      while (head->len < total - 4)
        g_string_append_c (head, 'x');
      g_string_append (head, "\r\n\r\n");
      request = glove_egress_request_parse (head->str, head->len, &reason, &error);
      if (total <= GLOVE_EGRESS_REQUEST_MAX)
        g_assert_no_error (error);
      else
        g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_INVALID_DATA);
      g_assert_cmpint (reason, ==, total <= GLOVE_EGRESS_REQUEST_MAX ? R (NONE) : R (REQUEST_TOO_LARGE));
    }
}

static void
test_host_length (void)
{
  for (guint length = GLOVE_EGRESS_HOST_MAX - 1; length <= GLOVE_EGRESS_HOST_MAX + 1; length++)
    {
      g_autoptr (GString) head = g_string_new ("CONNECT ");
      GloveEgressReason reason;
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveEgressRequest) request = NULL;

      for (guint i = 0; i < length; i++)
        g_string_append_c (head, i % 50 == 49 && i + 1 < length ? '.' : 'a');
      g_string_append (head, ":443 HTTP/1.1\r\n\r\n");
      request = glove_egress_request_parse (head->str, head->len, &reason, &error);
      g_assert_cmpint (request != NULL, ==, length <= GLOVE_EGRESS_HOST_MAX);
      g_assert_cmpint (reason, ==, length <= GLOVE_EGRESS_HOST_MAX ? R (NONE) : R (BAD_HOST));
    }
}

static void
test_head_scan (void)
{
#define H(text) text, sizeof text - 1
  static const struct {
    const char *bytes;
    gsize length;
    GloveEgressHeadResult result;
    gsize scanned;
  } cases[] = {
    { H (""), GLOVE_EGRESS_HEAD_MORE, 0 },
    { H ("GET a\r\nb: c\r\n\r\nbody"), GLOVE_EGRESS_HEAD_COMPLETE, 15 },
    { H ("GET a\r\nb: c\r\n\r"), GLOVE_EGRESS_HEAD_MORE, 14 },
    { H ("GET a\nb"), GLOVE_EGRESS_HEAD_BAD, 5 },
    { H ("GET a\rb"), GLOVE_EGRESS_HEAD_BAD, 6 },
    { H ("GET a\r\n\rb"), GLOVE_EGRESS_HEAD_BAD, 8 },
    { H ("GET a\r\n b"), GLOVE_EGRESS_HEAD_BAD, 7 },
    { H ("GET a\r\n\tb"), GLOVE_EGRESS_HEAD_BAD, 7 },
    { H ("GET a\r\nb: \tc"), GLOVE_EGRESS_HEAD_MORE, 12 },
    { H ("GET a\0b"), GLOVE_EGRESS_HEAD_BAD, 5 },
    { H ("GET a\x7f"), GLOVE_EGRESS_HEAD_BAD, 5 },
    { H ("GET a\x1f"), GLOVE_EGRESS_HEAD_BAD, 5 },
    { H ("\x16\x03\x01"), GLOVE_EGRESS_HEAD_BAD, 0 },
    { H ("GET a\r\nb: \xff"), GLOVE_EGRESS_HEAD_MORE, 11 },
  };
#undef H

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GloveEgressHead whole = { 0 };
      GloveEgressHead pieces = { 0 };
      GloveEgressHeadResult result = GLOVE_EGRESS_HEAD_MORE;

      g_assert_cmpint (glove_egress_head_scan (&whole, cases[i].bytes, cases[i].length), ==, cases[i].result);
      g_assert_cmpuint (whole.scanned, ==, cases[i].scanned);
      for (gsize length = 1; length <= cases[i].length && result == GLOVE_EGRESS_HEAD_MORE; length++)
        result = glove_egress_head_scan (&pieces, cases[i].bytes, length);
      g_assert_cmpint (result, ==, cases[i].result);
      g_assert_cmpuint (pieces.scanned, ==, cases[i].scanned);
    }
}

static void
test_chunks (void)
{
  static const struct {
    const char *body;
    int used; /* -1: no chunked body */
    gboolean complete;
  } cases[] = {
    { "0\r\n\r\n", 5, TRUE },
    { "0\r\n\r\nGET", 5, TRUE },
    { "3\r\nabc\r\n0\r\n\r\nGET", 13, TRUE },
    { "A;x=\"y\"\r\n0123456789\r\n000\r\nT: v\r\nU: w\r\n\r\nrest", 40, TRUE },
    { "3\r\nab", 5, FALSE },
    { "00000000000000f\r\nabc", 20, FALSE },
    { "000000000000000f\r\n", -1, FALSE },
    { "\r\n", -1, FALSE },
    { ";\r\n", -1, FALSE },
    { "-1\r\n", -1, FALSE },
    { "0x1\r\n", -1, FALSE },
    { " 1\r\n", -1, FALSE },
    { "1\n", -1, FALSE },
    { "1\r\nab", -1, FALSE },
    { "1\r\na\rb", -1, FALSE },
    { "1;a\nb\r\n", -1, FALSE },
    { "0\r\nT: v\n\r\n", -1, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GloveEgressChunks chunks = { 0 };
      gsize used = 0;
      gboolean sound = glove_egress_chunks_scan (&chunks, cases[i].body, strlen (cases[i].body), &used);

      g_test_message ("%s", cases[i].body);
      g_assert_cmpint (sound ? (int) used : -1, ==, cases[i].used);
      g_assert_cmpint (glove_egress_chunks_is_complete (&chunks), ==, cases[i].complete);
    }
}

static void
test_chunk_extension_size (void)
{
  for (gsize extra = GLOVE_EGRESS_REQUEST_MAX - 1; extra <= GLOVE_EGRESS_REQUEST_MAX + 1; extra++)
    {
      GloveEgressChunks chunks = { 0 };
      g_autoptr (GString) body = g_string_new ("1;");
      gsize used = 0;

      for (gsize i = 0; i < extra; i++)
        g_string_append_c (body, 'x');
      g_string_append (body, "\r\na\r\n0\r\n\r\n");
      g_assert_cmpint (glove_egress_chunks_scan (&chunks, body->str, body->len, &used), ==,
                       extra <= GLOVE_EGRESS_REQUEST_MAX);
    }
}

static void
test_reasons (void)
{
  g_autoptr (GHashTable) codes = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < GLOVE_EGRESS_N_REASONS; i++)
    {
      g_autoptr (GString) reply = glove_egress_reason_to_reply (i, "a\"b", 443);
      g_autofree char *start = g_strdup_printf ("HTTP/1.1 %u ", glove_egress_reason_get_status (i));
      g_autofree char *field = g_strdup_printf ("\r\nX-Glove-Reason: %s\r\n", glove_egress_reason_get_code (i));

      g_assert_true (g_hash_table_add (codes, (char *) glove_egress_reason_get_code (i)));
      g_assert_cmpuint (strlen (glove_egress_reason_get_text (i)), >, 5);
      g_assert_true (g_str_has_prefix (reply->str, start));
      g_assert_nonnull (strstr (reply->str, field));
      g_assert_nonnull (strstr (reply->str, "\"host\":\"a\\\"b\",\"port\":443,\"allow\":\""));
      g_assert_cmpint (strstr (reply->str, "Proxy-Authenticate") != NULL, ==, glove_egress_reason_get_status (i) == 407);
      g_assert_cmpint (strstr (reply->str, "--allow-host") != NULL, ==, glove_egress_reason_get_status (i) == 403);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/egress/request/table", test_table);
  g_test_add_func ("/egress/request/forwarded-head", test_forwarded_head);
  g_test_add_func ("/egress/request/credential", test_credential);
  g_test_add_func ("/egress/request/size", test_size);
  g_test_add_func ("/egress/request/host-length", test_host_length);
  g_test_add_func ("/egress/head/scan", test_head_scan);
  g_test_add_func ("/egress/chunks/table", test_chunks);
  g_test_add_func ("/egress/chunks/extension-size", test_chunk_extension_size);
  g_test_add_func ("/egress/reason/table", test_reasons);
  return g_test_run ();
}
