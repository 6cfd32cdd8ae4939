/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-contract-private.h"

#include "glove-error.h"

gboolean
glove_contract_check (gboolean succeeded, const char *plugin, const char *slot, GError *inner, GError **error)
{
  if (succeeded && inner == NULL)
    return TRUE;

  if (succeeded)
    {
      glove_error_set (error, GLOVE_ERROR_CONTRACT, "%s: %s succeeded and set an error: %s", plugin, slot,
                       inner->message);
      g_error_free (inner);
      return FALSE;
    }
  if (inner == NULL)
    {
      glove_error_set (error, GLOVE_ERROR_CONTRACT, "%s: %s failed without an error", plugin, slot);
      return FALSE;
    }
  glove_error_convert (&inner);
  g_propagate_prefixed_error (error, inner, "%s: ", plugin);
  return FALSE;
}

void
glove_contract_set_missing (const char *plugin, const char *slot, GError **error)
{
  glove_error_set (error, GLOVE_ERROR_NOT_SUPPORTED, "%s: %s is not supported", plugin, slot);
}
