/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-order.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is left to read. Once something was wrong it stays wrong: every later take returns nothing, and the parser looks once per
 * group. */
typedef struct {
  uint8_t *at, *end;
  bool bad;
} Cursor;

static bool
refuse (Cursor *cursor)
{
  cursor->bad = true;
  cursor->at = cursor->end;
  return false;
}

static uint32_t
take_u32 (Cursor *cursor)
{
  const uint8_t *p = cursor->at;

  if (cursor->end - p < 4)
    {
      refuse (cursor);
      return 0;
    }
  cursor->at += 4;
  return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8 | p[3];
}

static uint64_t
take_u64 (Cursor *cursor)
{
  uint64_t high = take_u32 (cursor);

  return high << 32 | take_u32 (cursor);
}

static uint8_t *
take_bytes (Cursor *cursor, uint32_t max, uint32_t *ret_length)
{
  uint8_t *bytes;

  *ret_length = take_u32 (cursor);
  if (cursor->bad || *ret_length > max || (size_t) (cursor->end - cursor->at) < *ret_length)
    {
      refuse (cursor);
      *ret_length = 0;
      return NULL;
    }
  bytes = cursor->at;
  cursor->at += *ret_length;
  return bytes;
}

/* The terminator has no room behind the string, so the string moves one byte down, over its own length. */
static char *
take_string (Cursor *cursor, uint32_t min, uint32_t max)
{
  uint32_t length;
  uint8_t *bytes = take_bytes (cursor, max, &length);

  if (bytes == NULL || length < min || memchr (bytes, '\0', length) != NULL)
    {
      refuse (cursor);
      return NULL;
    }
  bytes--;
  memmove (bytes, bytes + 1, length);
  bytes[length] = '\0';
  return (char *) bytes;
}

/* Absolute, not the root, and lexically normal: no empty, "." or ".." component, no slash at the end. */
static bool
path_is_normal (const char *path)
{
  if (path[0] != '/' || path[1] == '\0')
    return false;
  while (*path == '/')
    {
      size_t length = strcspn (++path, "/");

      if (length == 0 || length > NAME_MAX || (length == 1 && path[0] == '.') || (length == 2 && memcmp (path, "..", 2) == 0))
        return false;
      path += length;
    }
  return true;
}

static char *
take_path (Cursor *cursor)
{
  char *path = take_string (cursor, 2, GLOVE_LAUNCH_PATH_MAX);

  if (path != NULL && !path_is_normal (path))
    refuse (cursor);
  return path;
}

static int
take_fd (Cursor *cursor)
{
  uint32_t number = take_u32 (cursor);

  if (number == GLOVE_LAUNCH_NO_FD)
    return -1;
  if (number > INT_MAX)
    refuse (cursor);
  return (int) number;
}

/* A count, and room for that many elements of @size (one more, zeroed, at the end). Nothing is allocated for a count that the bytes
 * left cannot hold: @smallest is the least one element takes. */
static void *
take_array (Cursor *cursor, uint32_t max, size_t smallest, size_t size, uint32_t *ret_count)
{
  uint32_t count = take_u32 (cursor);
  void *array;

  *ret_count = 0;
  if (cursor->bad || count > max || count > (size_t) (cursor->end - cursor->at) / smallest)
    {
      refuse (cursor);
      return NULL;
    }
  array = calloc ((size_t) count + 1, size);
  if (array == NULL)
    refuse (cursor);
  else
    *ret_count = count;
  return array;
}

static bool
parse_head (GloveLaunchOrder *order, Cursor *cursor, size_t length)
{
  uint32_t rows, columns;

  if (length < 8 || memcmp (cursor->at, GLOVE_LAUNCH_MAGIC, 8) != 0)
    return refuse (cursor);
  cursor->at += 8;
  if (take_u32 (cursor) != GLOVE_LAUNCH_VERSION || take_u32 (cursor) != length)
    return refuse (cursor);
  order->flags = take_u32 (cursor);
  order->uid = take_u32 (cursor);
  order->gid = take_u32 (cursor);
  order->host_uid = take_u32 (cursor);
  order->host_gid = take_u32 (cursor);
  rows = take_u32 (cursor);
  columns = take_u32 (cursor);
  if ((order->flags & ~GLOVE_LAUNCH_FLAGS_ALL) != 0 || order->uid != GLOVE_LAUNCH_ID_INSIDE
      || order->gid != GLOVE_LAUNCH_ID_INSIDE || order->host_uid == UINT32_MAX || order->host_gid == UINT32_MAX)
    return refuse (cursor);
  /* Somebody else's ids are never root's. */
  if ((order->flags & GLOVE_LAUNCH_FLAG_MAP_ID) != 0 && (order->host_uid == 0 || order->host_gid == 0))
    return refuse (cursor);
  if ((order->flags & GLOVE_LAUNCH_FLAG_TTY) != 0 ? rows < 1 || rows > 4096 || columns < 1 || columns > 4096
                                                  : rows != 0 || columns != 0)
    return refuse (cursor);
  order->rows = (uint16_t) rows;
  order->columns = (uint16_t) columns;
  order->monitor = take_fd (cursor);
  order->egress = take_fd (cursor);
  for (unsigned i = 0; i < 3; i++)
    order->stdio[i] = take_fd (cursor);
  order->cgroup = take_fd (cursor);
  order->cgroup_parent = take_fd (cursor);
  return !cursor->bad && order->monitor >= 0 ? true : refuse (cursor);
}

static bool
name_is_plain (const char *name)
{
  return strchr (name, '/') == NULL && strcmp (name, ".") != 0 && strcmp (name, "..") != 0;
}

static bool
parse_names (GloveLaunchOrder *order, Cursor *cursor)
{
  order->cgroup_name = take_string (cursor, 0, NAME_MAX);
  order->host_name = take_string (cursor, 1, 64);
  order->work_dir = take_string (cursor, 1, GLOVE_LAUNCH_PATH_MAX);
  order->executable = take_string (cursor, 0, GLOVE_LAUNCH_PATH_MAX);
  order->home = take_path (cursor);
  if (cursor->bad || !name_is_plain (order->cgroup_name) || order->work_dir[0] != '/'
      || (order->executable[0] != '\0' && !path_is_normal (order->executable)))
    return refuse (cursor);
  /* A cgroup is three things or none. */
  if ((order->cgroup >= 0) != (order->cgroup_name[0] != '\0') || (order->cgroup >= 0) != (order->cgroup_parent >= 0))
    return refuse (cursor);
  for (unsigned i = 0; i < GLOVE_LAUNCH_N_SIZES; i++)
    order->bytes[i] = take_u64 (cursor);
  for (unsigned i = 0; i < GLOVE_LAUNCH_N_SIZES; i++)
    order->inodes[i] = take_u32 (cursor);
  return !cursor->bad;
}

static bool
parse_limits (GloveLaunchOrder *order, Cursor *cursor)
{
  order->rlimits = take_array (cursor, GLOVE_LAUNCH_RLIMITS_MAX, 20, sizeof *order->rlimits, &order->n_rlimits);
  for (uint32_t i = 0; i < order->n_rlimits; i++)
    {
      GloveLaunchOrderRlimit *limit = &order->rlimits[i];

      limit->resource = take_u32 (cursor);
      limit->soft = take_u64 (cursor);
      limit->hard = take_u64 (cursor);
      if (limit->resource > INT_MAX || limit->soft > limit->hard)
        return refuse (cursor);
    }
  order->quotas = take_array (cursor, GLOVE_LAUNCH_QUOTAS_MAX, 13, sizeof *order->quotas, &order->n_quotas);
  for (uint32_t i = 0; i < order->n_quotas; i++)
    {
      GloveLaunchOrderQuota *quota = &order->quotas[i];

      quota->name = take_string (cursor, 1, 64);
      quota->value = take_u64 (cursor);
      if (cursor->bad || strspn (quota->name, "abcdefghijklmnopqrstuvwxyz_") != strlen (quota->name))
        return refuse (cursor);
    }
  return !cursor->bad;
}

static bool
parse_command (GloveLaunchOrder *order, Cursor *cursor)
{
  order->argv = take_array (cursor, GLOVE_LAUNCH_ARGV_MAX, 4, sizeof *order->argv, &order->n_argv);
  for (uint32_t i = 0; i < order->n_argv; i++)
    order->argv[i] = take_string (cursor, 0, GLOVE_LAUNCH_STRING_MAX);
  if (cursor->bad || order->n_argv == 0 || (order->executable[0] == '\0' && order->argv[0][0] == '\0'))
    return refuse (cursor);
  order->env = take_array (cursor, GLOVE_LAUNCH_ENV_MAX, 6, sizeof *order->env, &order->n_env);
  for (uint32_t i = 0; i < order->n_env; i++)
    {
      order->env[i] = take_string (cursor, 2, GLOVE_LAUNCH_STRING_MAX);
      if (cursor->bad || order->env[i][0] == '=' || strchr (order->env[i], '=') == NULL)
        return refuse (cursor);
    }
  return !cursor->bad;
}

static bool
grant_is_sound (const GloveLaunchOrder *order, const GloveLaunchOrderGrant *grant)
{
  const uint32_t all = GLOVE_LAUNCH_GRANT_DIRECTORY | GLOVE_LAUNCH_GRANT_DETACHED;
  bool directory = (grant->flags & GLOVE_LAUNCH_GRANT_DIRECTORY) != 0;
  bool detached = (grant->flags & GLOVE_LAUNCH_GRANT_DETACHED) != 0;

  if (grant->access > GLOVE_LAUNCH_ACCESS_MASK || (grant->flags & ~all) != 0)
    return false;
  if (grant->access == GLOVE_LAUNCH_ACCESS_MASK)
    return !directory && !detached;
  return grant->fd >= 0 && directory == S_ISDIR (grant->mode)
         && detached == ((order->flags & GLOVE_LAUNCH_FLAG_MAP_ID) != 0);
}

static bool
parse_grants (GloveLaunchOrder *order, Cursor *cursor)
{
  order->grants = take_array (cursor, GLOVE_LAUNCH_GRANTS_MAX, 44, sizeof *order->grants, &order->n_grants);
  for (uint32_t i = 0; i < order->n_grants; i++)
    {
      GloveLaunchOrderGrant *grant = &order->grants[i];

      grant->access = take_u32 (cursor);
      grant->flags = take_u32 (cursor);
      grant->fd = take_fd (cursor);
      grant->host_path = take_path (cursor);
      grant->target = take_path (cursor);
      grant->dev = take_u64 (cursor);
      grant->ino = take_u64 (cursor);
      grant->mode = take_u32 (cursor);
      if (cursor->bad || !grant_is_sound (order, grant))
        return refuse (cursor);
    }
  return !cursor->bad;
}

static bool
parse_files (GloveLaunchOrder *order, Cursor *cursor)
{
  const uint32_t all = GLOVE_LAUNCH_FILE_DIRECTORY | GLOVE_LAUNCH_FILE_OWNER_ROOT;

  order->files = take_array (cursor, GLOVE_LAUNCH_FILES_MAX, 18, sizeof *order->files, &order->n_files);
  for (uint32_t i = 0; i < order->n_files; i++)
    {
      GloveLaunchOrderFile *file = &order->files[i];

      file->flags = take_u32 (cursor);
      file->mode = take_u32 (cursor);
      file->path = take_path (cursor);
      file->content = take_bytes (cursor, GLOVE_LAUNCH_FILE_BYTES_MAX, &file->length);
      if (cursor->bad || (file->flags & ~all) != 0 || (file->mode & ~0777u) != 0
          || ((file->flags & GLOVE_LAUNCH_FILE_DIRECTORY) != 0 && file->length != 0))
        return refuse (cursor);
    }
  return !cursor->bad;
}

static bool
parse_listeners (GloveLaunchOrder *order, Cursor *cursor)
{
  order->listeners = take_array (cursor, GLOVE_LAUNCH_LISTENERS_MAX, 8, sizeof *order->listeners, &order->n_listeners);
  for (uint32_t i = 0; i < order->n_listeners; i++)
    {
      uint32_t port;

      order->listeners[i].tag = take_u32 (cursor);
      port = take_u32 (cursor);
      if (port > UINT16_MAX)
        return refuse (cursor);
      order->listeners[i].port = (uint16_t) port;
    }
  if (order->n_listeners > 0 && order->egress < 0)
    return refuse (cursor);
  return !cursor->bad && cursor->at == cursor->end ? true : refuse (cursor);
}

bool
glove_launch_order_parse (GloveLaunchOrder *order, uint8_t *bytes, size_t length)
{
  Cursor cursor = { .at = bytes, .end = bytes + length };

  memset (order, 0, sizeof *order);
  if (length <= GLOVE_LAUNCH_SPEC_MAX && parse_head (order, &cursor, length) && parse_names (order, &cursor)
      && parse_limits (order, &cursor) && parse_command (order, &cursor) && parse_grants (order, &cursor)
      && parse_files (order, &cursor) && parse_listeners (order, &cursor))
    return true;
  glove_launch_order_clear (order);
  return false;
}

void
glove_launch_order_clear (GloveLaunchOrder *order)
{
  free (order->rlimits);
  free (order->quotas);
  free (order->argv);
  free (order->env);
  free (order->grants);
  free (order->files);
  free (order->listeners);
  memset (order, 0, sizeof *order);
}

int
glove_launch_order_peek_monitor (const uint8_t *bytes, size_t length)
{
  const size_t offset = 44; /* behind magic, version, length, flags, four ids, rows and columns */
  uint32_t number;

  if (length < offset + 4 || memcmp (bytes, GLOVE_LAUNCH_MAGIC, 8) != 0)
    return -1;
  number = (uint32_t) bytes[offset] << 24 | (uint32_t) bytes[offset + 1] << 16 | (uint32_t) bytes[offset + 2] << 8
           | bytes[offset + 3];
  return number > INT_MAX ? -1 : (int) number;
}
