/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <arpa/inet.h>
#include <stdint.h>

#include "glove-bounds.h"
#include "glove-endpoint.h"
#include "glove-error.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Canonical is final: doing it again changes nothing, and inet_aton (), which resolvers fall back to, sees no other number in it. */
static void
check_host (const char *host)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *again = glove_endpoint_canonicalise_host (host, strlen (host), &error);
  struct in_addr loose;
  struct in_addr strict;

  g_assert_no_error (error);
  g_assert_cmpstr (again, ==, host);
  g_assert_cmpuint (strlen (host), <=, GLOVE_EGRESS_HOST_MAX);
  for (const char *c = host; *c != '\0'; c++)
    g_assert_true (g_ascii_isalnum (*c) ? !g_ascii_isupper (*c) : strchr (".-_:", *c) != NULL);
  if (inet_aton (host, &loose) != 0)
    {
      g_assert_cmpint (inet_pton (AF_INET, host, &strict), ==, 1);
      g_assert_cmpuint (loose.s_addr, ==, strict.s_addr);
    }
}

static void
check (GloveEndpoint *endpoint, const GError *error)
{
  g_autofree char *text = NULL;
  g_autoptr (GloveEndpoint) again = NULL;

  g_assert_true ((endpoint == NULL) == (error != NULL));
  if (endpoint == NULL)
    {
      g_assert_true (error->domain == GLOVE_ERROR && error->code == GLOVE_ERROR_INVALID_ARGUMENT);
      return;
    }
  g_assert_cmpuint (endpoint->port, !=, 0);
  check_host (endpoint->host[0] == '.' ? endpoint->host + 1 : endpoint->host);
  text = glove_endpoint_to_string (endpoint);
  again = glove_endpoint_parse (text, NULL);
  g_assert_nonnull (again);
  g_assert_cmpstr (again->host, ==, endpoint->host);
  g_assert_cmpuint (again->port, ==, endpoint->port);
  g_assert_cmpint (again->allow_private, ==, endpoint->allow_private);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autofree char *host = glove_endpoint_canonicalise_host ((const char *) data, size, NULL);
  GloveEndpoint *(*const parsers[]) (const char *, GError **) = { glove_endpoint_parse, glove_endpoint_parse_forward };
  g_autofree char *scheme = NULL;
  g_autofree char *path = NULL;
  g_autoptr (GError) url_error = NULL;
  g_autoptr (GloveEndpoint) from_url = glove_endpoint_parse_url (text, &scheme, &path, &url_error);

  if (host != NULL)
    check_host (host);
  check (from_url, url_error);
  g_assert_true (from_url == NULL || (scheme != NULL && path[0] == '/'));
  for (gsize i = 0; i < G_N_ELEMENTS (parsers); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveEndpoint) endpoint = parsers[i](text, &error);

      check (endpoint, error);
    }
  return 0;
}
