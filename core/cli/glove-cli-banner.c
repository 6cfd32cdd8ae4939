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
  for (int limit = 0; limit < GLOVE_N_LIMITS; limit++)
    if (spec->limits.value[limit] != 0 && mechanisms[limit] == GLOVE_LIMIT_MECHANISM_UNAVAILABLE)
      {
        g_autofree char *text
            = g_strdup_printf (_("%s is not enforced here: %s"), glove_limit_get_name (limit),
                               repairs[limit] != NULL ? repairs[limit] : _("the backend can't"));

        print_line (_("warning"), text);
      }
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
  for (guint i = 0; i < notes->len; i++)
    print_line (_("note"), g_ptr_array_index (notes, i));
  print_line (_("audit"), audit);
}
