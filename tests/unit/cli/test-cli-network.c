/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-bounds.h"
#include "glove-cli-network.h"
#include "glove-egress-proxy.h"
#include "glove-endpoint.h"
#include "glove-error.h"

static guint16
local_port (const GloveCliNetwork *network, guint i)
{
  return ((const GloveEndpoint *) g_ptr_array_index (network->forwards, i))->local_port;
}

static void
test_ports (void)
{
  const char *const forwards[] = { "127.0.0.1:8080", "8080=127.0.0.1:9000", "127.0.0.1:3128", NULL };
  const char *const allow[] = { "example.org", NULL };
  g_auto (GloveCliNetwork) network = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_cli_network_init (&network, allow, forwards, &error));
  g_assert_no_error (error);
  glove_cli_network_choose_proxy_port (&network);
  g_assert_cmpuint (network.forwards->len, ==, 3);
  /* a port that was asked for is kept; the others move out of its way, and the proxy out of theirs */
  g_assert_cmpuint (local_port (&network, 0), ==, 8080);
  g_assert_cmpuint (local_port (&network, 1), ==, 8081);
  g_assert_cmpuint (local_port (&network, 2), ==, 3128);
  g_assert_cmpuint (network.proxy_port, ==, 3129);
}

static void
test_highest_port (void)
{
  const char *const forwards[] = { "65535=127.0.0.1:1", "127.0.0.1:65535", NULL };
  g_auto (GloveCliNetwork) network = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_cli_network_init (&network, NULL, forwards, &error));
  g_assert_cmpuint (local_port (&network, 1), ==, 1024);
}

static void
test_no_proxy_without_rule (void)
{
  const char *const forwards[] = { "127.0.0.1:1", NULL };
  g_auto (GloveCliNetwork) network = { 0 };
  g_autoptr (GloveLaunchSpec) spec = glove_launch_spec_new ("s");
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_cli_network_init (&network, NULL, forwards, &error));
  glove_cli_network_choose_proxy_port (&network);
  glove_cli_network_fill_listeners (&network, spec);
  g_assert_cmpuint (network.proxy_port, ==, 0);
  g_assert_cmpuint (spec->listeners->len, ==, 1);
  g_assert_cmpuint (g_array_index (spec->listeners, GloveLaunchListener, 0).tag, ==, GLOVE_EGRESS_TAG_FORWARD (0));
}

static void
test_refused (void)
{
  const struct
  {
    const char *allow[2];
    const char *forwards[3];
    GloveError code;
  } rows[] = {
    { { "", NULL }, { NULL }, GLOVE_ERROR_INVALID_ARGUMENT },
    { { "a b", NULL }, { NULL }, GLOVE_ERROR_INVALID_ARGUMENT },
    { { "host:0", NULL }, { NULL }, GLOVE_ERROR_INVALID_ARGUMENT },
    { { "host:65536", NULL }, { NULL }, GLOVE_ERROR_INVALID_ARGUMENT },
    { { NULL }, { "nothing", NULL }, GLOVE_ERROR_INVALID_ARGUMENT },
    { { NULL }, { "1=.suffix:2", NULL }, GLOVE_ERROR_INVALID_ARGUMENT },
    { { NULL }, { "7=a:1", "7=b:1", NULL }, GLOVE_ERROR_CONFLICT },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (GloveCliNetwork) network = { 0 };
      g_autoptr (GError) error = NULL;

      g_assert_false (glove_cli_network_init (&network, rows[i].allow, rows[i].forwards, &error));
      g_assert_error (error, GLOVE_ERROR, (int) rows[i].code);
      g_assert_nonnull (glove_error_get_hint (error));
    }
}

static void
test_bound_of_rules (void)
{
  for (int n = GLOVE_EGRESS_RULES_MAX - 1; n <= GLOVE_EGRESS_RULES_MAX + 1; n++)
    {
      g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
      g_auto (GloveCliNetwork) network = { 0 };
      g_auto (GStrv) allow = NULL;
      g_autoptr (GError) error = NULL;

      for (int i = 0; i < n; i++)
        {
          g_autofree char *host = g_strdup_printf ("h%d.example.org", i);

          g_strv_builder_add (builder, host);
        }
      allow = g_strv_builder_end (builder);
      g_assert_cmpint (glove_cli_network_init (&network, (const char *const *) allow, NULL, &error), ==,
                       n <= GLOVE_EGRESS_RULES_MAX);
      if (n > GLOVE_EGRESS_RULES_MAX)
        g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_LIMIT);
    }
}

static void
test_bound_of_forwards (void)
{
  g_auto (GloveCliNetwork) network = { 0 };
  g_autoptr (GError) error = NULL;
  guint16 port;

  g_assert_true (glove_cli_network_init (&network, NULL, NULL, &error));
  for (int i = 0; i < GLOVE_LISTENERS_MAX - 1; i++)
    g_assert_true (glove_cli_network_add_forward (&network, "127.0.0.1:80", &port, &error));
  g_assert_cmpuint (port, ==, 80 + GLOVE_LISTENERS_MAX - 2);
  g_assert_false (glove_cli_network_add_forward (&network, "127.0.0.1:80", &port, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_LIMIT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/network/ports", test_ports);
  g_test_add_func ("/cli/network/highest-port", test_highest_port);
  g_test_add_func ("/cli/network/no-proxy-without-rule", test_no_proxy_without_rule);
  g_test_add_func ("/cli/network/refused", test_refused);
  g_test_add_func ("/cli/network/bound-of-rules", test_bound_of_rules);
  g_test_add_func ("/cli/network/bound-of-forwards", test_bound_of_forwards);
  return g_test_run ();
}
