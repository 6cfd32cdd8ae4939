/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-grant.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-path.h"
#include "glove-text.h"

G_DEFINE_BOXED_TYPE (GloveGrant, glove_grant, glove_grant_ref, glove_grant_unref)

static gboolean
check_path (const char *path, const char *what, GError **error)
{
  g_autofree char *shown = NULL;

  if (strlen (path) > GLOVE_PATH_BYTES_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "%s of a grant is longer than %d bytes", what, GLOVE_PATH_BYTES_MAX);
      return FALSE;
    }
  if (glove_path_is_absolute_normal (path))
    return TRUE;
  shown = glove_text_escape (path, -1);
  glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "%s of a grant is not absolute and normal: “%s”", what, shown);
  return FALSE;
}

/* Something that is only covered may be a socket; what is seen may not. */
static gboolean
check_type (const GloveFileIdentity *identity, GloveGrantAccess access, const char *path, GError **error)
{
  g_autofree char *shown = NULL;

  if (S_ISREG (identity->mode) || S_ISDIR (identity->mode) || access == GLOVE_GRANT_MASK)
    return TRUE;
  shown = glove_text_escape (path, -1);
  glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "neither a file nor a directory: “%s”", shown);
  glove_error_set_hint (error, "grant a file or a directory; devices, pipes and sockets can't be granted");
  return FALSE;
}

/**
 * glove_grant_new: (constructor)
 * @access: what the agent may do with it
 * @origin: who asked for it
 * @fd: an `O_PATH` descriptor of it, taken on every path
 * @host_path: where it was found
 * @target_path: where the agent sees it
 * @error: return location
 *
 * Returns: (transfer full): a grant with the identity that @fd has now; %NULL with %GLOVE_ERROR_INVALID_ARGUMENT for a path that
 *   is not absolute and normal or an object that can't be granted, %GLOVE_ERROR_LIMIT for a path that is too long
 *
 * Since: 1.0
 */
GloveGrant *
glove_grant_new (GloveGrantAccess access, GloveGrantOrigin origin, int fd, const char *host_path,
                 const char *target_path, GError **error)
{
  glove_autofd int owned = fd;
  GloveFileIdentity identity;
  GloveGrant *self;

  g_return_val_if_fail (host_path != NULL && target_path != NULL, NULL);
  g_return_val_if_fail (glove_grant_access_get_name (access) != NULL, NULL);

  if (!check_path (host_path, "host path", error) || !check_path (target_path, "target path", error)
      || !glove_file_identity_from_fd (&identity, owned, error) || !check_type (&identity, access, host_path, error))
    return NULL;

  self = g_new0 (GloveGrant, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->access = access;
  self->origin = origin;
  self->fd = g_steal_fd (&owned);
  self->host_path = g_strdup (host_path);
  self->target_path = g_strdup (target_path);
  self->identity = identity;
  return self;
}

/**
 * glove_grant_ref:
 * @self: a grant
 *
 * Returns: (transfer full): @self
 *
 * Since: 1.0
 */
GloveGrant *
glove_grant_ref (GloveGrant *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

/**
 * glove_grant_unref:
 * @self: (transfer full) (nullable): a grant; its descriptor is closed with the last reference
 *
 * Since: 1.0
 */
void
glove_grant_unref (GloveGrant *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;
  glove_fd_clear (&self->fd);
  g_free (self->host_path);
  g_free (self->target_path);
  g_free (self);
}

/**
 * glove_grant_is_directory:
 * @self: a grant
 *
 * Returns: whether a directory was pinned
 *
 * Since: 1.0
 */
gboolean
glove_grant_is_directory (const GloveGrant *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return S_ISDIR (self->identity.mode);
}

/**
 * glove_grant_access_get_name:
 * @access: an access
 *
 * Returns: (transfer none) (nullable): "read", "write" or "mask", constant; %NULL for a number that is no access
 *
 * Since: 1.0
 */
const char *
glove_grant_access_get_name (GloveGrantAccess access)
{
  static const char *const names[] = {
    [GLOVE_GRANT_READ] = "read",
    [GLOVE_GRANT_WRITE] = "write",
    [GLOVE_GRANT_MASK] = "mask",
  };

  return (guint) access < G_N_ELEMENTS (names) ? names[access] : NULL;
}
