/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-host-tables.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"

typedef struct {
  const char *at;
  const char *end;
  guint number;
} Lines;

/* The next line without its newline; FALSE at the end. */
static gboolean
next_line (Lines *lines, const char **ret_line, gsize *ret_length)
{
  const char *newline = NULL;

  if (lines->at >= lines->end)
    return FALSE;
  newline = memchr (lines->at, '\n', lines->end - lines->at);
  *ret_line = lines->at;
  *ret_length = (newline != NULL ? newline : lines->end) - lines->at;
  lines->at = newline != NULL ? newline + 1 : lines->end;
  lines->number++;
  return TRUE;
}

static gboolean
refuse (const char *table, guint line, const char *why, GError **error)
{
  glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "line %u of the kernel's list of %s %s", line, table, why);
  return FALSE;
}

static gboolean
check_table (const char *table, const char *data, gsize length, GError **error)
{
  if (length > GLOVE_HOST_TABLE_BYTES_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "the kernel's list of %s has more than %d bytes", table,
                       GLOVE_HOST_TABLE_BYTES_MAX);
      return FALSE;
    }
  if (length > 0 && memchr (data, '\0', length) != NULL)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "the kernel's list of %s holds a NUL", table);
      return FALSE;
    }
  return TRUE;
}

/* Takes the next field, ended by exactly one space or the end. FALSE when there is none or it is empty. */
static gboolean
next_field (const char **at, const char *end, const char **ret_field, gsize *ret_length)
{
  const char *space = NULL;

  if (*at >= end)
    return FALSE;
  space = memchr (*at, ' ', end - *at);
  *ret_field = *at;
  *ret_length = (space != NULL ? space : end) - *at;
  *at = space != NULL ? space + 1 : end;
  return *ret_length > 0;
}

static gboolean
is_octal (char c)
{
  return c >= '0' && c <= '7';
}

/* Undoes \NNN; NULL for a stray backslash or an escaped NUL. */
static char *
unescape (const char *field, gsize length)
{
  g_autoptr (GString) out = g_string_sized_new (length);

  for (gsize i = 0; i < length; i++)
    {
      guint value = 0;

      if (field[i] != '\\')
        {
          g_string_append_c (out, field[i]);
          continue;
        }
      if (length - i < 4 || !is_octal (field[i + 1]) || !is_octal (field[i + 2]) || !is_octal (field[i + 3]))
        return NULL;
      value = (field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 + (field[i + 3] - '0');
      if (value == 0 || value > 0xff)
        return NULL;
      g_string_append_c (out, (char) value);
      i += 3;
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static gboolean
is_number (const char *field, gsize length)
{
  if (length == 0 || length > 20)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isdigit (field[i]))
      return FALSE;
  return TRUE;
}

static gboolean
is_device (const char *field, gsize length)
{
  const char *colon = memchr (field, ':', length);

  return colon != NULL && is_number (field, colon - field) && is_number (colon + 1, field + length - colon - 1);
}

static void
mount_free (gpointer data)
{
  GloveHostMount *mount = data;

  g_free (mount->mount_point);
  g_free (mount->fs_type);
  g_free (mount);
}

/* proc(5): id parent major:minor root mount-point options [optional …] - type source super-options */
static GloveHostMount *
parse_mount (const char *line, gsize length)
{
  const char *at = line;
  const char *end = line + length;
  const char *fields[6];
  gsize lengths[6];
  const char *field = NULL;
  gsize field_length = 0;
  g_autofree char *mount_point = NULL;
  GloveHostMount *mount = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (!next_field (&at, end, &fields[i], &lengths[i]))
      return NULL;
  if (!is_number (fields[0], lengths[0]) || !is_number (fields[1], lengths[1]) || !is_device (fields[2], lengths[2]))
    return NULL;
  mount_point = unescape (fields[4], lengths[4]);
  if (mount_point == NULL || mount_point[0] != '/')
    return NULL;
  do
    if (!next_field (&at, end, &field, &field_length))
      return NULL;
  while (field_length != 1 || field[0] != '-');
  if (!next_field (&at, end, &field, &field_length))
    return NULL;
  mount = g_new0 (GloveHostMount, 1);
  mount->mount_point = g_steal_pointer (&mount_point);
  mount->fs_type = g_strndup (field, field_length);
  return mount;
}

/**
 * glove_host_tables_parse_mounts:
 * @data: (array length=length): what /proc/self/mountinfo holds (proc(5))
 *
 * Returns: (transfer full) (element-type GloveHostMount): the mounts; %NULL with %GLOVE_ERROR_INVALID_DATA or %GLOVE_ERROR_LIMIT
 *
 * Since: 1.0
 */
GPtrArray *
glove_host_tables_parse_mounts (const char *data, gsize length, GError **error)
{
  g_autoptr (GPtrArray) mounts = g_ptr_array_new_with_free_func (mount_free);
  Lines lines = { data, data + length, 0 };
  const char *line = NULL;
  gsize line_length = 0;

  if (!check_table ("mounts", data, length, error))
    return NULL;
  while (next_line (&lines, &line, &line_length))
    {
      GloveHostMount *mount = parse_mount (line, line_length);

      if (mount == NULL)
        {
          (void) refuse ("mounts", lines.number, "is malformed", error);
          return NULL;
        }
      g_ptr_array_add (mounts, mount);
      if (mounts->len > GLOVE_HOST_MOUNTS_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "this host has more than %d mounts", GLOVE_HOST_MOUNTS_MAX);
          return NULL;
        }
    }
  return g_steal_pointer (&mounts);
}

static gboolean
is_hex (const char *field, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isxdigit (field[i]))
      return FALSE;
  return length > 0;
}

/* "Num: RefCount Protocol Flags Type St Inode[ Path]". Returns FALSE when the line is no entry; @ret_path: NULL without a path. The
 * inode is padded with spaces in front. */
static gboolean
parse_socket (const char *line, gsize length, char **ret_path)
{
  const char *at = line;
  const char *end = line + length;
  const char *field = NULL;
  gsize field_length = 0;

  for (guint i = 0; i < 6; i++)
    {
      if (!next_field (&at, end, &field, &field_length))
        return FALSE;
      if (i == 0 && field[--field_length] != ':')
        return FALSE;
      if (!is_hex (field, field_length))
        return FALSE;
    }
  while (at < end && *at == ' ')
    at++;
  field = at;
  while (at < end && g_ascii_isdigit (*at))
    at++;
  if (at == field || (at < end && *at != ' '))
    return FALSE;
  *ret_path = at + 1 < end ? g_strndup (at + 1, end - at - 1) : NULL;
  return TRUE;
}

static void
add_socket (GPtrArray *paths, GHashTable *seen, GString *path)
{
  /* The kernel shows an abstract name's leading NUL as '@'. A path may begin with one too, but only a relative one. */
  if (path->len > 0 && path->str[0] != '@' && g_hash_table_add (seen, g_strdup (path->str)))
    g_ptr_array_add (paths, g_strdup (path->str));
  g_string_truncate (path, 0);
}

/**
 * glove_host_tables_parse_sockets:
 * @data: (array length=length): what /proc/net/unix holds
 *
 * A path may hold newlines, which the kernel does not escape: a line that is no entry continues the path before it.
 *
 * Returns: (transfer full) (element-type utf8): the paths; %NULL with %GLOVE_ERROR_INVALID_DATA or %GLOVE_ERROR_LIMIT
 *
 * Since: 1.0
 */
GPtrArray *
glove_host_tables_parse_sockets (const char *data, gsize length, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) path = g_string_new (NULL);
  Lines lines = { data, data + length, 0 };
  const char *line = NULL;
  gsize line_length = 0;

  if (!check_table ("sockets", data, length, error))
    return NULL;
  if (!next_line (&lines, &line, &line_length) || line_length < 4 || memcmp (line, "Num ", 4) != 0)
    {
      (void) refuse ("sockets", 1, "is not the heading", error);
      return NULL;
    }
  while (next_line (&lines, &line, &line_length))
    {
      g_autofree char *found = NULL;

      if (parse_socket (line, line_length, &found))
        {
          add_socket (paths, seen, path);
          g_string_append (path, found != NULL ? found : "");
        }
      else if (path->len > 0)
        {
          g_string_append_c (path, '\n');
          g_string_append_len (path, line, line_length);
        }
      else
        {
          (void) refuse ("sockets", lines.number, "is malformed", error);
          return NULL;
        }
      if (lines.number > GLOVE_HOST_SOCKETS_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "this host has more than %d local sockets", GLOVE_HOST_SOCKETS_MAX);
          return NULL;
        }
    }
  add_socket (paths, seen, path);
  return g_steal_pointer (&paths);
}

/**
 * glove_host_tables_parse_virtual_types:
 * @data: (array length=length): what /proc/filesystems holds (proc(5))
 *
 * Returns: (transfer full) (element-type utf8): types that need no device; %NULL with %GLOVE_ERROR_INVALID_DATA or
 *   %GLOVE_ERROR_LIMIT
 *
 * Since: 1.0
 */
GPtrArray *
glove_host_tables_parse_virtual_types (const char *data, gsize length, GError **error)
{
  g_autoptr (GPtrArray) types = g_ptr_array_new_with_free_func (g_free);
  Lines lines = { data, data + length, 0 };
  const char *line = NULL;
  gsize line_length = 0;

  if (!check_table ("file systems", data, length, error))
    return NULL;
  while (next_line (&lines, &line, &line_length))
    {
      const char *tab = memchr (line, '\t', line_length);

      if (tab == NULL || (tab != line && (tab - line != 5 || memcmp (line, "nodev", 5) != 0))
          || tab + 1 == line + line_length)
        {
          (void) refuse ("file systems", lines.number, "is malformed", error);
          return NULL;
        }
      if (tab != line)
        g_ptr_array_add (types, g_strndup (tab + 1, line + line_length - tab - 1));
    }
  return g_steal_pointer (&types);
}
