/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-identifier.h"

#include <string.h>

#include "glove-bounds.h"

/* Letters, digits and the bytes of @more, 1..@max of them. */
static gboolean
is_made_of (const char *text, const char *more, gsize max)
{
  gsize length = strnlen (text, max + 1);

  if (length == 0 || length > max)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (text[i]) && strchr (more, text[i]) == NULL)
      return FALSE;
  return TRUE;
}

static gboolean
is_dots (const char *text)
{
  return g_str_equal (text, ".") || g_str_equal (text, "..");
}

gboolean
glove_identifier_is_id128 (const char *text)
{
  g_return_val_if_fail (text != NULL, FALSE);

  return is_made_of (text, "-_:.", GLOVE_ID_MAX);
}

gboolean
glove_identifier_is_session (const char *text)
{
  g_return_val_if_fail (text != NULL, FALSE);

  return is_made_of (text, "-_.", GLOVE_SESSION_ID_MAX) && !is_dots (text);
}

gboolean
glove_identifier_is_runtime (const char *text)
{
  g_return_val_if_fail (text != NULL, FALSE);

  if (!g_ascii_islower (text[0]) || !is_made_of (text, "-", GLOVE_RUNTIME_ID_MAX))
    return FALSE;
  for (gsize i = 0; text[i] != '\0'; i++)
    if (g_ascii_isupper (text[i]))
      return FALSE;
  return TRUE;
}

gboolean
glove_identifier_is_alias (const char *text)
{
  g_return_val_if_fail (text != NULL, FALSE);

  return is_made_of (text, "-_.", GLOVE_ALIAS_MAX) && !is_dots (text);
}

gboolean
glove_identifier_is_hex64 (const char *text)
{
  g_return_val_if_fail (text != NULL, FALSE);

  for (gsize i = 0; i < 64; i++)
    if (!g_ascii_isdigit (text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
      return FALSE;
  return text[64] == '\0';
}

gboolean
glove_identifier_is_env_name (const char *text)
{
  g_return_val_if_fail (text != NULL, FALSE);

  return !g_ascii_isdigit (text[0]) && is_made_of (text, "_", GLOVE_ENV_NAME_MAX);
}
