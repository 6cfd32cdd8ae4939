/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdio.h>

#include "glove-cli-banner.h"

#include <glib/gi18n.h>

#include "glove-endpoint.h"
#include "glove-text.h"

static void
print_line (const char *label, const char *text)
{
  g_printerr ("glove: %-8s %s\n", label, text);
}

static void
print_grants (const GloveLaunchSpec *spec)
{
  for (guint i = 0; i < spec->grants->len; i++)
    {
      const GloveGrant *grant = g_ptr_array_index (spec->grants, i);
      g_autofree char *path = glove_text_escape (grant->target_path, -1);
      g_autofree char *line = NULL;

      if (grant->origin == GLOVE_GRANT_ORIGIN_PROTECTION && grant->access == GLOVE_GRANT_WRITE)
        continue; /* holds a protected part in place, and grants nothing */
      line = grant->brings_mounts ? g_strdup_printf (_("%s (with the file systems mounted below it)"), path) : NULL;
      print_line (grant->access == GLOVE_GRANT_WRITE  ? _("write")
                  : grant->access == GLOVE_GRANT_READ ? _("read")
                                                      : _("hidden"),
                  line != NULL ? line : path);
    }
}

static gboolean
is_loopback (const GloveEndpoint *endpoint)
{
  return g_str_has_prefix (endpoint->host, "127.") || g_str_equal (endpoint->host, "localhost")
         || g_str_equal (endpoint->host, "::1");
}

/* The sandbox has a loopback of its own, and programs don't ask a proxy for it. */
static void
print_loopback_notes (const GloveCliNetwork *network)
{
  for (guint i = 0; i < network->allow->len; i++)
    {
      const GloveEndpoint *endpoint = g_ptr_array_index (network->allow, i);
      g_autofree char *target = NULL;
      g_autofree char *text = NULL;

      if (!is_loopback (endpoint))
        continue;
      target = glove_endpoint_to_string (endpoint);
      text = g_strdup_printf (_("most programs don't use the proxy for %s; --forward %s gives them a port of their own"), target,
                              target);
      print_line (_("note"), text);
    }
}

static void
print_network (const GloveCliNetwork *network)
{
  for (guint i = 0; i < network->allow->len; i++)
    {
      const GloveEndpoint *endpoint = g_ptr_array_index (network->allow, i);
      g_autofree char *text = glove_endpoint_to_string (endpoint);

      print_line (_("network"), text);
    }
  for (guint i = 0; i < network->forwards->len; i++)
    {
      const GloveEndpoint *endpoint = g_ptr_array_index (network->forwards, i);
      g_autofree char *target = glove_endpoint_to_string (endpoint);
      g_autofree char *text = g_strdup_printf (_("127.0.0.1:%u inside leads to %s"), endpoint->local_port, target);

      print_line (_("network"), text);
    }
  if (network->allow->len == 0 && network->forwards->len == 0)
    print_line (_("network"), _("none"));
}

static gboolean
is_unenforced (const GloveLaunchSpec *spec, const GloveLimitMechanism *mechanisms, int limit)
{
  return spec->limits.value[limit] != 0 && mechanisms[limit] == GLOVE_LIMIT_MECHANISM_UNAVAILABLE;
}

/* One line for all limits that lack the same thing. */
static void
print_unenforced (const GloveLaunchSpec *spec, const GloveLimitMechanism *mechanisms, char *const *repairs)
{
  gboolean told[GLOVE_N_LIMITS] = { FALSE };

  for (int limit = 0; limit < GLOVE_N_LIMITS; limit++)
    {
      g_autoptr (GString) names = NULL;
      g_autofree char *text = NULL;

      if (told[limit] || !is_unenforced (spec, mechanisms, limit))
        continue;
      names = g_string_new (glove_limit_get_name (limit));
      for (int other = limit + 1; other < GLOVE_N_LIMITS; other++)
        if (is_unenforced (spec, mechanisms, other) && g_strcmp0 (repairs[limit], repairs[other]) == 0)
          {
            g_string_append_printf (names, ", %s", glove_limit_get_name (other));
            told[other] = TRUE;
          }
      text = g_strdup_printf (_("not enforced here: %s: %s"), names->str,
                              repairs[limit] != NULL ? repairs[limit] : _("the backend can't"));
      print_line (_("warning"), text);
    }
}

static void
print_limits (GloveSandboxBackend *backend, const GloveLaunchSpec *spec)
{
  GloveLimitMechanism mechanisms[GLOVE_N_LIMITS] = { 0 };
  char *repairs[GLOVE_N_LIMITS] = { NULL };
  g_autoptr (GString) enforced = g_string_new (NULL);

  glove_sandbox_backend_query_mechanisms (backend, mechanisms, repairs);
  for (int limit = 0; limit < GLOVE_N_LIMITS; limit++)
    {
      g_autofree char *value = NULL;

      if (spec->limits.value[limit] == 0 || mechanisms[limit] == GLOVE_LIMIT_MECHANISM_UNAVAILABLE)
        continue;
      value = glove_limit_format_value (limit, spec->limits.value[limit]);
      g_string_append_printf (enforced, "%s%s %s", enforced->len > 0 ? ", " : "", glove_limit_get_name (limit), value);
    }
  print_line (_("limits"), enforced->str);
  print_unenforced (spec, mechanisms, repairs);
  for (int limit = 0; limit < GLOVE_N_LIMITS; limit++)
    g_free (repairs[limit]);
}

void
glove_cli_banner_print (GloveSandboxBackend *backend, const GloveLaunchSpec *spec, const GloveCliNetwork *network,
                        const GPtrArray *notes, const char *audit_path)
{
  g_autofree char *audit = glove_text_escape (audit_path, -1);

  print_grants (spec);
  print_network (network);
  print_limits (backend, spec);
  if (spec->as_root_id)
    print_line (_("warning"), _("the agent has the host's user id 0"));
  print_loopback_notes (network);
  for (guint i = 0; i < notes->len; i++)
    print_line (_("note"), g_ptr_array_index (notes, i));
  print_line (_("audit"), audit);
}
