/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-path.h"

#include <string.h>

gboolean
glove_path_is_relative_normal (const char *path)
{
  g_return_val_if_fail (path != NULL, FALSE);

  for (;;)
    {
      gsize length = strcspn (path, "/");

      if (length == 0 || (length == 1 && path[0] == '.') || (length == 2 && path[0] == '.' && path[1] == '.'))
        return FALSE;
      if (path[length] == '\0')
        return TRUE;
      path += length + 1;
    }
}

gboolean
glove_path_is_absolute_normal (const char *path)
{
  g_return_val_if_fail (path != NULL, FALSE);

  return path[0] == '/' && (path[1] == '\0' || glove_path_is_relative_normal (path + 1));
}

guint
glove_path_get_depth (const char *path)
{
  guint depth = 0;

  g_return_val_if_fail (path != NULL, 0);

  for (const char *c = path; *c != '\0'; c++)
    if (*c != '/' && (c == path || c[-1] == '/'))
      depth++;
  return depth;
}

gboolean
glove_path_contains (const char *ancestor, const char *path)
{
  gsize length;

  g_return_val_if_fail (ancestor != NULL && path != NULL, FALSE);

  if (g_str_equal (ancestor, "/"))
    return path[0] == '/';
  length = strlen (ancestor);
  return strncmp (ancestor, path, length) == 0 && (path[length] == '\0' || path[length] == '/');
}
