/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-address.h"
#include "glove-egress-verdict.h"
#include "glove-endpoint.h"

#define R(name) GLOVE_EGRESS_REASON_##name

static void
test_judge (void)
{
  static const char *const rule_texts[] = { "example.com", "example.com:8443", ".wild.org:443", "localhost:8080",
                                            "192.0.2.7:443", "[2001:db8::7]:443", ".1.1" };
  static const struct {
    const char *host;
    guint16 port;
    GloveEgressReason reason;
    gboolean allow_private;
  } cases[] = {
    { "example.com", 443, R (NONE), FALSE },
    { "example.com", 8443, R (NONE), FALSE },
    { "example.com", 442, R (PORT_NOT_ALLOWED), FALSE },
    { "example.com", 444, R (PORT_NOT_ALLOWED), FALSE },
    { "example.co", 443, R (HOST_NOT_ALLOWED), FALSE },
    { "xexample.com", 443, R (HOST_NOT_ALLOWED), FALSE },
    { "www.example.com", 443, R (HOST_NOT_ALLOWED), FALSE },
    { "example.com.evil.org", 443, R (HOST_NOT_ALLOWED), FALSE },
    { "wild.org", 443, R (HOST_NOT_ALLOWED), FALSE },
    { "a.wild.org", 443, R (NONE), FALSE },
    { "b.a.wild.org", 443, R (NONE), FALSE },
    { "awild.org", 443, R (HOST_NOT_ALLOWED), FALSE },
    { "a.wild.org", 80, R (PORT_NOT_ALLOWED), FALSE },
    { "localhost", 8080, R (NONE), TRUE },
    { "localhost", 443, R (PORT_NOT_ALLOWED), FALSE },
    { "127.0.0.1", 8080, R (HOST_NOT_ALLOWED), FALSE },
    { "192.0.2.7", 443, R (NONE), TRUE },
    { "192.0.2.8", 443, R (HOST_NOT_ALLOWED), FALSE },
    { "2001:db8::7", 443, R (NONE), TRUE },
    { "2001:db8:0:0::7", 443, R (NONE), TRUE },
    { "1.1.1.1", 443, R (HOST_NOT_ALLOWED), FALSE },
  };
  g_autoptr (GPtrArray) rules = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_endpoint_free);

  for (guint i = 0; i < G_N_ELEMENTS (rule_texts); i++)
    {
      GloveEndpoint *rule = glove_endpoint_parse (rule_texts[i], NULL);

      /* A suffix that looks like a part of an address: refused by the parser or, if it were not, by the judge. */
      if (rule == NULL)
        rule = glove_endpoint_parse ("unused.invalid", NULL);
      g_ptr_array_add (rules, rule);
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GloveEgressVerdict verdict = glove_egress_verdict_judge (rules, cases[i].host, cases[i].port);

      g_test_message ("%s:%u", cases[i].host, cases[i].port);
      g_assert_cmpint (verdict.reason, ==, cases[i].reason);
      g_assert_cmpint (verdict.allow_private, ==, cases[i].allow_private);
    }
}

static void
test_suffix_never_matches_an_address (void)
{
  GloveEndpoint numbers = { .host = (char *) ".1.1", .port = 443 };
  GloveEndpoint dot = { .host = (char *) ".", .port = 443 };
  g_autoptr (GPtrArray) rules = g_ptr_array_new ();

  g_ptr_array_add (rules, &numbers);
  g_ptr_array_add (rules, &dot);
  g_assert_cmpint (glove_egress_verdict_judge (rules, "1.1.1.1", 443).reason, ==, R (HOST_NOT_ALLOWED));
  g_assert_cmpint (glove_egress_verdict_judge (rules, "example.com", 443).reason, ==, R (HOST_NOT_ALLOWED));
}

static void
test_no_rules (void)
{
  g_autoptr (GPtrArray) rules = g_ptr_array_new ();

  g_assert_cmpint (glove_egress_verdict_judge (rules, "example.com", 443).reason, ==, R (HOST_NOT_ALLOWED));
}

/* Each block's last address below, first, last, and first above. */
static void
test_public (void)
{
  static const struct {
    const char *literal;
    gboolean is_public;
  } cases[] = {
    { "0.0.0.0", FALSE },         { "0.255.255.255", FALSE },   { "1.0.0.0", TRUE },          { "9.255.255.255", TRUE },
    { "10.0.0.0", FALSE },        { "10.255.255.255", FALSE },  { "11.0.0.0", TRUE },         { "100.63.255.255", TRUE },
    { "100.64.0.0", FALSE },      { "100.127.255.255", FALSE }, { "100.128.0.0", TRUE },      { "126.255.255.255", TRUE },
    { "127.0.0.1", FALSE },       { "127.255.255.255", FALSE }, { "128.0.0.0", TRUE },        { "169.253.255.255", TRUE },
    { "169.254.169.254", FALSE }, { "169.255.0.0", TRUE },      { "172.15.255.255", TRUE },   { "172.16.0.0", FALSE },
    { "172.31.255.255", FALSE },  { "172.32.0.0", TRUE },       { "192.0.0.0", FALSE },       { "192.0.1.0", TRUE },
    { "192.0.2.255", FALSE },     { "192.0.3.0", TRUE },        { "192.88.99.1", FALSE },     { "192.167.255.255", TRUE },
    { "192.168.0.0", FALSE },     { "192.168.255.255", FALSE }, { "192.169.0.0", TRUE },      { "198.17.255.255", TRUE },
    { "198.18.0.0", FALSE },      { "198.19.255.255", FALSE },  { "198.20.0.0", TRUE },       { "198.51.100.1", FALSE },
    { "198.51.101.0", TRUE },     { "203.0.113.1", FALSE },     { "203.0.114.0", TRUE },      { "223.255.255.255", TRUE },
    { "224.0.0.0", FALSE },       { "239.255.255.255", FALSE }, { "240.0.0.0", FALSE },       { "255.255.255.255", FALSE },
    { "::", FALSE },              { "::1", FALSE },             { "::127.0.0.1", FALSE },     { "::ffff:127.0.0.1", FALSE },
    { "::ffff:8.8.8.8", FALSE },  { "64:ff9b::8.8.8.8", TRUE }, { "64:ff9b::10.0.0.1", FALSE }, { "64:ff9b::127.0.0.1", FALSE },
    { "64:ff9b:1::1", FALSE },    { "100::1", FALSE },          { "1fff::1", FALSE },         { "2000::1", TRUE },
    { "2001::1", FALSE },         { "2001:1ff::1", FALSE },     { "2001:200::1", TRUE },      { "2001:2::1", FALSE },
    { "2001:db7::1", TRUE },      { "2001:db8::1", FALSE },     { "2001:db9::1", TRUE },      { "2001:4860::8888", TRUE },
    { "2002:0808:0808::1", TRUE }, { "2002:0a00:0001::1", FALSE }, { "2002:7f00:0001::1", FALSE }, { "2002:a9fe:a9fe::", FALSE },
    { "3ffe::1", FALSE },         { "3fff::1", FALSE },         { "3fff:1000::1", TRUE },     { "4000::1", FALSE },
    { "5f00::1", FALSE },         { "fc00::1", FALSE },         { "fd00::1", FALSE },         { "fe80::1", FALSE },
    { "febf::1", FALSE },         { "fec0::1", FALSE },         { "ff02::1", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GloveEgressAddress address;

      g_test_message ("%s", cases[i].literal);
      g_assert_true (glove_egress_address_parse (cases[i].literal, 80, &address));
      g_assert_cmpint (glove_egress_address_is_public (&address), ==, cases[i].is_public);
    }
}

static void
test_literals (void)
{
  static const char *const no_literals[] = { "", "localhost", "1.2.3", "1.2.3.4.5", "01.2.3.4", "0x7f.0.0.1", "256.1.1.1",
                                             "[::1]", "fe80::1%lo", "1.2.3.4 ", "::1::" };
  GloveEgressAddress address;

  for (guint i = 0; i < G_N_ELEMENTS (no_literals); i++)
    g_assert_false (glove_egress_address_parse (no_literals[i], 80, &address));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/egress/verdict/judge", test_judge);
  g_test_add_func ("/egress/verdict/suffix-never-matches-an-address", test_suffix_never_matches_an_address);
  g_test_add_func ("/egress/verdict/no-rules", test_no_rules);
  g_test_add_func ("/egress/address/public", test_public);
  g_test_add_func ("/egress/address/literals", test_literals);
  return g_test_run ();
}
