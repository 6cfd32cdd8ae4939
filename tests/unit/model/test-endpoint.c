/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-test.h"

#define TEXT(literal) literal, sizeof (literal) - 1
#define LABEL63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Field reports NE-04 and NE-05 are among them. */
static const struct {
  const char *host;
  gsize length;
  const char *canonical; /* NULL: refused */
  const char *message;
} canonical_cases[] = {
  { TEXT ("example.com"), "example.com", NULL },
  { TEXT ("EXAMPLE.Com"), "example.com", NULL },
  { TEXT ("example.com."), "example.com", NULL },
  { TEXT ("localhost."), "localhost", NULL },
  { TEXT ("LOCALHOST"), "localhost", NULL },
  { TEXT ("a_b.example"), "a_b.example", NULL },
  { TEXT ("_dmarc.example"), "_dmarc.example", NULL },
  { TEXT ("xn--bcher-kva.example"), "xn--bcher-kva.example", NULL },
  { TEXT ("1.2.3.4.example"), "1.2.3.4.example", NULL },
  { TEXT ("0xg"), "0xg", NULL },
  { TEXT ("1a"), "1a", NULL },
  { TEXT (LABEL63 ".com"), LABEL63 ".com", NULL },
  { TEXT ("127.0.0.1"), "127.0.0.1", NULL },
  { TEXT ("127.0.0.1."), "127.0.0.1", NULL },
  { TEXT ("255.255.255.255"), "255.255.255.255", NULL },
  { TEXT ("::1"), "::1", NULL },
  { TEXT ("0:0:0:0:0:0:0:1"), "::1", NULL },
  { TEXT ("2001:DB8::0A"), "2001:db8::a", NULL },
  { TEXT ("::ffff:127.0.0.1"), "127.0.0.1", NULL },
  { TEXT ("::ffff:7f00:1"), "127.0.0.1", NULL },
  { TEXT ("0:0:0:0:0:FFFF:10.0.0.1"), "10.0.0.1", NULL },

  { TEXT (""), NULL, "host is empty" },
  { TEXT ("."), NULL, "empty label" },
  { TEXT (".."), NULL, "empty label" },
  { TEXT ("127.0.0.1.."), NULL, "empty label" },
  { TEXT ("a..b"), NULL, "empty label" },
  { TEXT (".example.com"), NULL, "empty label" },
  { TEXT ("allowed.com\0.evil"), NULL, "allowed.com\\x00.evil”: control character or space" },
  { TEXT ("\0"), NULL, "control character" },
  { TEXT ("a\0"), NULL, "control character" },
  { TEXT ("a b"), NULL, "control character or space" },
  { TEXT (" a"), NULL, "control character or space" },
  { TEXT ("a\n"), NULL, "control character or space" },
  { TEXT ("a\x7f"), NULL, "control character or space" },
  { TEXT ("b\xc3\xbc"
          "cher.example"),
    NULL, "not ASCII" },
  { TEXT ("\xff.example"), NULL, "not ASCII" },
  { TEXT ("a/b"), NULL, "character that no host name has" },
  { TEXT ("a@b"), NULL, "character that no host name has" },
  { TEXT ("a%00"), NULL, "character that no host name has" },
  { TEXT ("*.example.com"), NULL, "character that no host name has" },
  { TEXT ("[example]"), NULL, "character that no host name has" },
  { TEXT ("-a.example"), NULL, "hyphen" },
  { TEXT ("a-.example"), NULL, "hyphen" },
  { TEXT ("a.-"), NULL, "hyphen" },
  { TEXT (LABEL63 "a.com"), NULL, "63 bytes" },

  { TEXT ("127.1"), NULL, "four decimal parts" },
  { TEXT ("127.0.1"), NULL, "four decimal parts" },
  { TEXT ("2130706433"), NULL, "four decimal parts" },
  { TEXT ("017700000001"), NULL, "four decimal parts" },
  { TEXT ("0x7f000001"), NULL, "four decimal parts" },
  { TEXT ("0X7F000001"), NULL, "four decimal parts" },
  { TEXT ("0x7f.1"), NULL, "four decimal parts" },
  { TEXT ("127.0.0.0x1"), NULL, "four decimal parts" },
  { TEXT ("0177.0.0.1"), NULL, "four decimal parts" },
  { TEXT ("127.0.0.01"), NULL, "four decimal parts" },
  { TEXT ("1.2.3.256"), NULL, "four decimal parts" },
  { TEXT ("1.2.3.4.5"), NULL, "four decimal parts" },
  { TEXT ("1.2.3.99999999999"), NULL, "four decimal parts" },
  { TEXT ("0"), NULL, "four decimal parts" },
  { TEXT ("0x"), NULL, "four decimal parts" },
  { TEXT ("example.0x"), NULL, "four decimal parts" },
  { TEXT ("example.123"), NULL, "four decimal parts" },

  { TEXT ("fe80::1%eth0"), NULL, "zone" },
  { TEXT ("fe80::1%25eth0"), NULL, "zone" },
  { TEXT ("::1%"), NULL, "zone" },
  { TEXT ("[::1]"), NULL, "not an IPv6 address" },
  { TEXT ("::1."), NULL, "not an IPv6 address" },
  { TEXT (":"), NULL, "not an IPv6 address" },
  { TEXT ("::1\0"), NULL, "not an IPv6 address" },
  { TEXT ("::ffff:127.1"), NULL, "not an IPv6 address" },
  { TEXT ("::ffff:0177.0.0.1"), NULL, "not an IPv6 address" },
  { TEXT ("1:2:3:4:5:6:7:8:9"), NULL, "not an IPv6 address" },
  { TEXT ("example.com:80"), NULL, "not an IPv6 address" },
  { TEXT ("0000000000000000000000000000000000000000000000000000:1"), NULL, "not an IPv6 address" },
};

static void
test_canonical (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (canonical_cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *canonical = glove_endpoint_canonicalise_host (canonical_cases[i].host, canonical_cases[i].length, &error);

      g_test_message ("case %" G_GSIZE_FORMAT, i);
      g_assert_cmpstr (canonical, ==, canonical_cases[i].canonical);
      if (canonical_cases[i].canonical == NULL)
        glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, canonical_cases[i].message);
      else
        g_assert_no_error (error);
    }
}

static void
test_length (void)
{
  for (gsize length = GLOVE_EGRESS_HOST_MAX - 1; length <= GLOVE_EGRESS_HOST_MAX + 1; length++)
    for (int dot = 0; dot < 2; dot++)
      {
        g_autofree char *host = g_strnfill (length + 1, 'a');
        g_autoptr (GError) error = NULL;
        g_autofree char *canonical = NULL;

        for (gsize i = 50; i < length - 1; i += 50)
          host[i] = '.';
        host[length] = '.';
        canonical = glove_endpoint_canonicalise_host (host, length + (gsize) dot, &error);
        if (length <= GLOVE_EGRESS_HOST_MAX)
          g_assert_cmpuint (strlen (canonical), ==, length);
        else
          glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "longer than 253 bytes");
      }
}

typedef struct {
  const char *text;
  const char *shown; /* as glove_endpoint_to_string () gives it; NULL: refused */
  const char *message;
  gboolean allow_private;
  guint16 local_port;
} ParseCase;

static void
check_cases (const ParseCase *cases, gsize n_cases, GloveEndpoint *(*parse) (const char *, GError **) )
{
  for (gsize i = 0; i < n_cases; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveEndpoint) endpoint = parse (cases[i].text, &error);
      g_autoptr (GloveEndpoint) copy = NULL;
      g_autofree char *shown = NULL;

      g_test_message ("case %" G_GSIZE_FORMAT, i);
      if (cases[i].shown == NULL)
        {
          g_assert_null (endpoint);
          glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, cases[i].message);
          continue;
        }
      g_assert_no_error (error);
      copy = glove_endpoint_copy (endpoint);
      shown = glove_endpoint_to_string (copy);
      g_assert_cmpstr (shown, ==, cases[i].shown);
      g_assert_cmpint (copy->allow_private, ==, cases[i].allow_private);
      g_assert_cmpuint (copy->local_port, ==, cases[i].local_port);
    }
}

static void
test_parse (void)
{
  static const ParseCase cases[] = {
    { "example.com", "example.com:443", NULL, FALSE, 0 },
    { "Example.COM.:8443", "example.com:8443", NULL, FALSE, 0 },
    { ".Example.com", ".example.com:443", NULL, FALSE, 0 },
    { ".com:80", ".com:80", NULL, FALSE, 0 },
    { "localhost:1", "localhost:1", NULL, TRUE, 0 },
    { "localhost.:1", "localhost:1", NULL, TRUE, 0 },
    { "foo.localhost", "foo.localhost:443", NULL, FALSE, 0 },
    { "10.0.0.1:65534", "10.0.0.1:65534", NULL, TRUE, 0 },
    { "10.0.0.1:65535", "10.0.0.1:65535", NULL, TRUE, 0 },
    { "[::1]", "[::1]:443", NULL, TRUE, 0 },
    { "[2001:DB8::1]:80", "[2001:db8::1]:80", NULL, TRUE, 0 },
    { "[::ffff:127.0.0.1]:80", "127.0.0.1:80", NULL, TRUE, 0 },
    { "", NULL, "host is empty", FALSE, 0 },
    { ":80", NULL, "host is empty", FALSE, 0 },
    { "[]:80", NULL, "brackets", FALSE, 0 },
    { "[:]:80", NULL, "not an IPv6 address", FALSE, 0 },
    { "a:0", NULL, "port “0”", FALSE, 0 },
    { "a:65536", NULL, "port “65536”", FALSE, 0 },
    { "a:99999", NULL, "port", FALSE, 0 },
    { "a:4294967297", NULL, "port", FALSE, 0 },
    { "a:", NULL, "port “”", FALSE, 0 },
    { "a:080", NULL, "port", FALSE, 0 },
    { "a:+80", NULL, "port", FALSE, 0 },
    { "a:-1", NULL, "port", FALSE, 0 },
    { "a: 80", NULL, "port", FALSE, 0 },
    { "a:80 ", NULL, "port", FALSE, 0 },
    { "a:http", NULL, "port", FALSE, 0 },
    { "a:80:90", NULL, "more than one colon", FALSE, 0 },
    { "::1", NULL, "more than one colon", FALSE, 0 },
    { "[::1", NULL, "brackets", FALSE, 0 },
    { "[::1]80", NULL, "behind the address", FALSE, 0 },
    { "[::1]]:80", NULL, "behind the address", FALSE, 0 },
    { "[::1]:", NULL, "port", FALSE, 0 },
    { "[127.0.0.1]:80", NULL, "brackets", FALSE, 0 },
    { "[example.com]:80", NULL, "brackets", FALSE, 0 },
    { "[fe80::1%eth0]:80", NULL, "zone", FALSE, 0 },
    { "..example.com", NULL, "empty label", FALSE, 0 },
    { ".", NULL, "host is empty", FALSE, 0 },
    { ".127.0.0.1", NULL, "suffix rule can't be an address", FALSE, 0 },
    { ".1", NULL, "four decimal parts", FALSE, 0 },
    { "0.0.0.0:80", NULL, "unspecified", FALSE, 0 },
    { "[::]:80", NULL, "unspecified", FALSE, 0 },
    { "[::ffff:0.0.0.0]:80", NULL, "unspecified", FALSE, 0 },
    { "https://example.com", NULL, "port", FALSE, 0 },
    { "user@example.com", NULL, "character", FALSE, 0 },
    { "0x7f.1:80", NULL, "four decimal parts", FALSE, 0 },
  };

  check_cases (cases, G_N_ELEMENTS (cases), glove_endpoint_parse);
}

static void
test_parse_forward (void)
{
  static const ParseCase cases[] = {
    { "example.com:80", "example.com:80", NULL, FALSE, 0 },
    { "8080=example.com:80", "example.com:80", NULL, FALSE, 8080 },
    { "1=[::1]:65535", "[::1]:65535", NULL, TRUE, 1 },
    { "65535=localhost:1", "localhost:1", NULL, TRUE, 65535 },
    { "example.com", NULL, "port is missing", FALSE, 0 },
    { "[::1]", NULL, "port is missing", FALSE, 0 },
    { "0=a:80", NULL, "port “0”", FALSE, 0 },
    { "65536=a:80", NULL, "port “65536”", FALSE, 0 },
    { "=a:80", NULL, "port “”", FALSE, 0 },
    { "a=b:80", NULL, "port “a”", FALSE, 0 },
    { "1=2=a:80", NULL, "character", FALSE, 0 },
    { "80=", NULL, "host is empty", FALSE, 0 },
    { ".example.com:80", NULL, "suffix", FALSE, 0 },
    { "80=.example.com:80", NULL, "suffix", FALSE, 0 },
    { "", NULL, "host is empty", FALSE, 0 },
  };

  check_cases (cases, G_N_ELEMENTS (cases), glove_endpoint_parse_forward);
}

static void
test_parse_url (void)
{
  static const struct {
    const char *url;
    const char *scheme; /* NULL: refused */
    const char *shown;
    const char *path_or_message;
  } cases[] = {
    { "http://example.com", "http", "example.com:80", "/" },
    { "HTTPS://Example.com./v1/x?y=z&@", "https", "example.com:443", "/v1/x?y=z&@" },
    { "http://127.0.0.1:8080/", "http", "127.0.0.1:8080", "/" },
    { "https://[::1]:8443/a", "https", "[::1]:8443", "/a" },
    { "http://example.com?q", "http", "example.com:80", "/?q" },
    { "http://example.com//x/../y", "http", "example.com:80", "//x/../y" },
    { "", NULL, NULL, "does not start with" },
    { "example.com", NULL, NULL, "does not start with" },
    { "ftp://example.com/", NULL, NULL, "does not start with" },
    { "http:/example.com/", NULL, NULL, "does not start with" },
    { "http:///path", NULL, NULL, "host is empty" },
    { "http://", NULL, NULL, "host is empty" },
    { "http://user@example.com/", NULL, NULL, "user information" },
    { "http://allowed.com@evil.com/", NULL, NULL, "user information" },
    { "http://allowed.com:80@evil.com/", NULL, NULL, "user information" },
    { "http://example.com#@evil.com/", NULL, NULL, "fragment" },
    { "http://example.com/#f", NULL, NULL, "fragment" },
    { "http://example.com\\@evil.com/", NULL, NULL, "backslash" },
    { "http://example.com/a b", NULL, NULL, "space" },
    { "http://example.com/\r\nX: y", NULL, NULL, "control character" },
    { "http://example.com/\xc3\xa9", NULL, NULL, "not ASCII" },
    { "http://exa%6dple.com/", NULL, NULL, "character that no host name has" },
    { "http://.example.com/", NULL, NULL, "empty label" },
    { "http://example.com:/", NULL, NULL, "port" },
    { "http://example.com:0/", NULL, NULL, "port" },
    { "http://0x7f.1/", NULL, NULL, "four decimal parts" },
    { "http://[::]/", NULL, NULL, "unspecified" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *scheme = NULL;
      g_autofree char *path = NULL;
      g_autofree char *shown = NULL;
      g_autoptr (GloveEndpoint) endpoint = glove_endpoint_parse_url (cases[i].url, &scheme, &path, &error);
      g_autoptr (GloveEndpoint) without = glove_endpoint_parse_url (cases[i].url, NULL, NULL, NULL);

      g_test_message ("case %" G_GSIZE_FORMAT, i);
      g_assert_cmpint (endpoint == NULL, ==, without == NULL);
      g_assert_cmpstr (scheme, ==, cases[i].scheme);
      if (cases[i].scheme == NULL)
        {
          glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, cases[i].path_or_message);
          g_assert_null (path);
          continue;
        }
      g_assert_no_error (error);
      shown = glove_endpoint_to_string (endpoint);
      g_assert_cmpstr (shown, ==, cases[i].shown);
      g_assert_cmpstr (path, ==, cases[i].path_or_message);
    }
}

static void
test_url_length (void)
{
  for (gsize length = GLOVE_EGRESS_REQUEST_MAX - 1; length <= GLOVE_EGRESS_REQUEST_MAX + 1; length++)
    {
      g_autofree char *fill = g_strnfill (length - strlen ("http://a/"), 'x');
      g_autofree char *url = g_strconcat ("http://a/", fill, NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveEndpoint) endpoint = glove_endpoint_parse_url (url, NULL, NULL, &error);

      if (length <= GLOVE_EGRESS_REQUEST_MAX)
        g_assert_no_error (error);
      else
        glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "longer than 8192 bytes");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/endpoint/canonical", test_canonical);
  g_test_add_func ("/model/endpoint/length", test_length);
  g_test_add_func ("/model/endpoint/parse", test_parse);
  g_test_add_func ("/model/endpoint/parse-forward", test_parse_forward);
  g_test_add_func ("/model/endpoint/parse-url", test_parse_url);
  g_test_add_func ("/model/endpoint/url-length", test_url_length);
  return g_test_run ();
}
