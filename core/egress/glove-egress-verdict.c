/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A rule is one host and one port; there is no rule for every port and none for every host. A host that starts with a dot is a
 * suffix rule and stands for the names below it, not for the name itself, and never for an address, whose last bytes are no
 * labels. Addresses match as numbers, so that no two spellings of one are two things. */

#include "config.h"

#include "glove-egress-verdict.h"

#include <string.h>

#include "glove-egress-address.h"
#include "glove-endpoint.h"

static gboolean
host_matches (const char *rule, const char *host)
{
  GloveEgressAddress host_address;
  GloveEgressAddress rule_address;

  if (glove_egress_address_parse (host, 0, &host_address))
    return glove_egress_address_parse (rule, 0, &rule_address)
           && glove_egress_address_equal (&host_address, &rule_address);
  if (rule[0] == '.')
    return rule[1] != '\0' && strlen (host) > strlen (rule) && g_str_has_suffix (host, rule);
  return strcmp (rule, host) == 0;
}

GloveEgressVerdict
glove_egress_verdict_judge (const GPtrArray *rules, const char *host, guint16 port)
{
  GloveEgressVerdict verdict = { .reason = GLOVE_EGRESS_REASON_HOST_NOT_ALLOWED };

  for (guint i = 0; i < rules->len; i++)
    {
      const GloveEndpoint *rule = g_ptr_array_index (rules, i);

      if (!host_matches (rule->host, host))
        continue;
      if (rule->port == port)
        {
          verdict.reason = GLOVE_EGRESS_REASON_NONE;
          verdict.allow_private |= rule->allow_private;
        }
      else if (verdict.reason == GLOVE_EGRESS_REASON_HOST_NOT_ALLOWED)
        verdict.reason = GLOVE_EGRESS_REASON_PORT_NOT_ALLOWED;
    }
  return verdict;
}
