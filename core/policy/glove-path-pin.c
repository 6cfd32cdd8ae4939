/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-path-pin.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-text.h"

/* Deeper than any path of GLOVE_PATH_BYTES_MAX bytes. */
#define WALK_MAX 2048

/**
 * glove_path_pin_quote:
 *
 * Returns: (transfer full): @path in quotes, made safe to show
 *
 * Since: 1.0
 */
char *
glove_path_pin_quote (const char *path)
{
  g_autofree char *escaped = glove_text_escape (path, -1);

  return g_strdup_printf ("'%s'", escaped);
}

/**
 * glove_path_pin_identify:
 * @fd: any descriptor, O_PATH too
 *
 * As fstat (2), but with AT_STATX_DONT_SYNC (statx(2)), so that a dead server can't hold a start up.
 *
 * Since: 1.0
 */
gboolean
glove_path_pin_identify (int fd, GloveFileIdentity *ret_identity, GError **error)
{
  struct statx stx;

  if (statx (fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &stx) < 0)
    {
      glove_error_set_errno (error, errno, "looking at a pinned object");
      return FALSE;
    }
  *ret_identity = (GloveFileIdentity){ .dev = makedev (stx.stx_dev_major, stx.stx_dev_minor), .ino = stx.stx_ino,
                                       .uid = stx.stx_uid, .mode = stx.stx_mode, .nlink = stx.stx_nlink };
  return TRUE;
}

/**
 * glove_path_pin_clear:
 *
 * Closes and frees what @self holds.
 *
 * Since: 1.0
 */
void
glove_path_pin_clear (GlovePathPin *self)
{
  glove_fd_clear (&self->fd);
  g_clear_pointer (&self->host_path, g_free);
}

static char *
read_descriptor_path (int fd, GError **error)
{
  char link[64];
  g_autofree char *buffer = g_malloc (GLOVE_PATH_BYTES_MAX + 2);
  gssize length = 0;

  (void) g_snprintf (link, sizeof (link), "/proc/self/fd/%d", fd);
  length = readlink (link, buffer, GLOVE_PATH_BYTES_MAX + 1);
  if (length < 0)
    {
      glove_error_set_errno (error, errno, "asking the kernel for a path");
      glove_error_set_hint (error, "mount /proc");
      return NULL;
    }
  if (length > GLOVE_PATH_BYTES_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "a path has more than %d bytes", GLOVE_PATH_BYTES_MAX);
      return NULL;
    }
  buffer[length] = '\0';
  return g_steal_pointer (&buffer);
}

/* Opens the path that the kernel gave anew, with no link on the way, and compares. A removed object's path ends with " (deleted)"
 * and leads nowhere, or elsewhere. */
static gboolean
prove (const GlovePathPin *self, const char *path, GError **error)
{
  g_autofree char *quoted = glove_path_pin_quote (path);
  glove_autofd int again = -1;
  g_autoptr (GError) shortage = NULL;
  GloveFileIdentity identity;

  if (self->host_path[0] == '/')
    again = glove_fd_openat2 (AT_FDCWD, self->host_path, O_PATH | O_NOFOLLOW, 0,
                              RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS, &shortage);
  if (g_error_matches (shortage, GLOVE_ERROR, GLOVE_ERROR_NO_SPACE))
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&shortage), "looking at %s: ", quoted);
      return FALSE;
    }
  if (again >= 0 && glove_path_pin_identify (again, &identity, NULL)
      && glove_file_identity_same_object (&identity, &self->identity))
    return TRUE;
  glove_error_set (error, GLOVE_ERROR_CHANGED, "%s was removed, replaced or covered while it was looked at", quoted);
  glove_error_set_hint (error, "make sure that nothing moves it, and try again");
  return FALSE;
}

/**
 * glove_path_pin_open:
 * @self: initialised with GLOVE_PATH_PIN_INIT; unchanged on failure
 * @path: relative to the current directory, any bytes
 *
 * Returns: whether it is pinned; %GLOVE_ERROR_NOT_FOUND, %GLOVE_ERROR_PERMISSION, %GLOVE_ERROR_CHANGED, …, each naming @path
 *
 * Since: 1.0
 */
gboolean
glove_path_pin_open (GlovePathPin *self, const char *path, GError **error)
{
  g_auto (GlovePathPin) pin = GLOVE_PATH_PIN_INIT;
  g_autofree char *quoted = glove_path_pin_quote (path);

  if (path[0] == '\0' || strlen (path) > GLOVE_PATH_BYTES_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the path %s is empty or longer than %d bytes", quoted,
                       GLOVE_PATH_BYTES_MAX);
      glove_error_set_hint (error, "name a file or folder that exists");
      return FALSE;
    }
  pin.fd = glove_fd_openat2 (AT_FDCWD, path, O_PATH, 0, RESOLVE_NO_MAGICLINKS, error);
  if (pin.fd < 0)
    {
      if (error != NULL && g_error_matches (*error, GLOVE_ERROR, GLOVE_ERROR_NOT_FOUND))
        glove_error_set_hint (error, "check the spelling; a link that leads nowhere counts as missing");
      return FALSE;
    }
  if (!glove_path_pin_identify (pin.fd, &pin.identity, error))
    return FALSE;
  pin.host_path = read_descriptor_path (pin.fd, error);
  if (pin.host_path == NULL || !prove (&pin, path, error))
    return FALSE;
  *self = pin;
  pin = (GlovePathPin) GLOVE_PATH_PIN_INIT;
  return TRUE;
}

/**
 * glove_path_pin_walk_up:
 * @fd: a folder
 * @visitor: gets an O_PATH descriptor, borrowed for the call
 *
 * Since: 1.0
 */
gboolean
glove_path_pin_walk_up (int fd, GlovePathPinVisitor visitor, gpointer user_data, gboolean *ret_complete)
{
  glove_autofd int at = openat (fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  GloveFileIdentity identity, above;

  *ret_complete = FALSE;
  if (at < 0 || !glove_path_pin_identify (at, &identity, NULL))
    return TRUE;
  for (guint i = 0; i < WALK_MAX; i++)
    {
      int parent = -1;

      if (!visitor (&identity, at, user_data))
        return FALSE;
      parent = openat (at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (parent < 0)
        return TRUE;
      glove_fd_clear (&at);
      at = parent;
      if (!glove_path_pin_identify (at, &above, NULL))
        return TRUE;
      if (glove_file_identity_same_object (&identity, &above))
        {
          *ret_complete = TRUE;
          return TRUE;
        }
      identity = above;
    }
  return TRUE;
}
