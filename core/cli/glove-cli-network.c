/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-cli-network.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-egress-proxy.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-text.h"

#define PROXY_PORT 3128
#define FIRST_UNPRIVILEGED 1024

/* Says which option it is about and, where the parser knew no better, how it is written. */
static void
explain_option (GError **error, const char *option, const char *text, const char *usage)
{
  g_autofree char *shown = glove_text_escape (text, -1);

  if (strstr (text, "://") != NULL || strchr (text, '/') != NULL)
    glove_error_set_hint (error, "leave out the scheme and the path: %s", usage);
  else if (strchr (text, '*') != NULL)
    glove_error_set_hint (error, "a name with a dot in front stands for every host below it: .example.org");
  else if (!(*text == '[' || strchr (text, ':') != strrchr (text, ':')))
    glove_error_set_hint (error, "%s", usage);
  g_prefix_error (error, "%s %s: ", option, shown);
}

static gboolean
is_taken (const GloveCliNetwork *self, guint16 port)
{
  for (guint i = 0; i < self->forwards->len; i++)
    {
      const GloveEndpoint *forward = g_ptr_array_index (self->forwards, i);

      if (forward->local_port == port)
        return TRUE;
    }
  return FALSE;
}

/* @wanted, or the next port that is not one of ours. */
static guint16
choose_port (const GloveCliNetwork *self, guint16 wanted)
{
  guint port = wanted;

  while (is_taken (self, (guint16) port))
    port = port == G_MAXUINT16 ? FIRST_UNPRIVILEGED : port + 1;
  return (guint16) port;
}

static gboolean
add_forward (GloveCliNetwork *self, GloveEndpoint *forward, const char *text, GError **error)
{
  g_autoptr (GloveEndpoint) taken = forward;

  if (self->forwards->len + 1 >= GLOVE_LISTENERS_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "more than %d forwards", GLOVE_LISTENERS_MAX - 1);
      glove_error_set_hint (error, "use fewer --forward");
      return FALSE;
    }
  if (forward->local_port != 0 && is_taken (self, forward->local_port))
    {
      glove_error_set (error, GLOVE_ERROR_CONFLICT, "port %u of --forward %s is used by another forward",
                       forward->local_port, text);
      glove_error_set_hint (error, "give it another port: --forward PORT=HOST:PORT");
      return FALSE;
    }
  if (forward->local_port == 0)
    forward->local_port = choose_port (self, forward->port);
  g_ptr_array_add (self->forwards, g_steal_pointer (&taken));
  return TRUE;
}

gboolean
glove_cli_network_add_forward (GloveCliNetwork *self, const char *text, guint16 *ret_port, GError **error)
{
  GloveEndpoint *forward = glove_endpoint_parse_forward (text, error);

  if (forward == NULL || !add_forward (self, forward, text, error))
    return FALSE;
  *ret_port = ((const GloveEndpoint *) g_ptr_array_index (self->forwards, self->forwards->len - 1))->local_port;
  return TRUE;
}

gboolean
glove_cli_network_init (GloveCliNetwork *self, const char *const *allow_hosts, const char *const *forwards,
                        GError **error)
{
  self->allow = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_endpoint_free);
  self->forwards = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_endpoint_free);
  for (gsize i = 0; allow_hosts != NULL && allow_hosts[i] != NULL; i++)
    {
      GloveEndpoint *endpoint = glove_endpoint_parse (allow_hosts[i], error);

      if (endpoint == NULL)
        {
          explain_option (error, "--allow-host", allow_hosts[i],
                          "write HOST or HOST:PORT, as in --allow-host example.org:8443");
          return FALSE;
        }
      g_ptr_array_add (self->allow, endpoint);
    }
  if (self->allow->len > GLOVE_EGRESS_RULES_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "more than %d hosts are allowed", GLOVE_EGRESS_RULES_MAX);
      glove_error_set_hint (error, "use a rule for a whole domain: --allow-host .example.org");
      return FALSE;
    }
  /* those with a port of their own first, so that the others stay out of their way */
  for (int pass = 0; pass < 2; pass++)
    for (gsize i = 0; forwards != NULL && forwards[i] != NULL; i++)
      {
        g_autoptr (GloveEndpoint) forward = glove_endpoint_parse_forward (forwards[i], error);

        if (forward == NULL)
          {
            explain_option (error, "--forward", forwards[i],
                            "write HOST:PORT or PORT=HOST:PORT, as in --forward 9000=127.0.0.1:8080");
            return FALSE;
          }
        if ((forward->local_port != 0) == (pass == 0)
            && !add_forward (self, g_steal_pointer (&forward), forwards[i], error))
          return FALSE;
      }
  return TRUE;
}

void
glove_cli_network_choose_proxy_port (GloveCliNetwork *self)
{
  self->proxy_port = self->allow->len > 0 ? choose_port (self, PROXY_PORT) : 0;
}

void
glove_cli_network_fill_listeners (const GloveCliNetwork *self, GloveLaunchSpec *spec)
{
  if (self->proxy_port != 0)
    {
      GloveLaunchListener listener = { .port = self->proxy_port, .tag = GLOVE_EGRESS_TAG_PROXY };

      g_array_append_val (spec->listeners, listener);
    }
  for (guint i = 0; i < self->forwards->len; i++)
    {
      const GloveEndpoint *forward = g_ptr_array_index (self->forwards, i);
      GloveLaunchListener listener = { .port = forward->local_port, .tag = GLOVE_EGRESS_TAG_FORWARD (i) };

      g_array_append_val (spec->listeners, listener);
    }
}

void
glove_cli_network_clear (GloveCliNetwork *self)
{
  g_clear_pointer (&self->allow, g_ptr_array_unref);
  g_clear_pointer (&self->forwards, g_ptr_array_unref);
}
