/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-file-identity.h"

#include <errno.h>

#include "glove-error.h"

/* What fstat (2) gives must fit, on 32-bit machines too: built with 64-bit file offsets there. */
G_STATIC_ASSERT (sizeof (ino_t) == 8);
G_STATIC_ASSERT (sizeof (off_t) == 8);
G_STATIC_ASSERT (sizeof (dev_t) <= 8);
G_STATIC_ASSERT (sizeof (uid_t) == 4);
G_STATIC_ASSERT (sizeof (mode_t) == 4);

/**
 * glove_file_identity_from_stat: (skip)
 * @self: (out caller-allocates): the identity
 * @st: what fstat(2) gave
 *
 * Since: 1.0
 */
void
glove_file_identity_from_stat (GloveFileIdentity *self, const struct stat *st)
{
  g_return_if_fail (self != NULL && st != NULL);

  *self = (GloveFileIdentity){
    .dev = st->st_dev,
    .ino = st->st_ino,
    .uid = st->st_uid,
    .mode = st->st_mode,
    .nlink = st->st_nlink,
  };
}

/**
 * glove_file_identity_from_fd:
 * @self: (out caller-allocates): the identity; untouched on failure
 * @fd: a descriptor, `O_PATH` is enough; borrowed
 * @error: return location
 *
 * Returns: %FALSE with the error of fstat(2)
 *
 * Since: 1.0
 */
gboolean
glove_file_identity_from_fd (GloveFileIdentity *self, int fd, GError **error)
{
  struct stat st;

  g_return_val_if_fail (self != NULL, FALSE);

  if (fstat (fd, &st) < 0)
    {
      glove_error_set_errno (error, errno, "can't examine an open file");
      return FALSE;
    }
  glove_file_identity_from_stat (self, &st);
  return TRUE;
}

/**
 * glove_file_identity_same_object:
 * @a: an identity
 * @b: another
 *
 * Returns: whether device, inode and type are equal
 *
 * Since: 1.0
 */
gboolean
glove_file_identity_same_object (const GloveFileIdentity *a, const GloveFileIdentity *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  return a->dev == b->dev && a->ino == b->ino && (a->mode & S_IFMT) == (b->mode & S_IFMT);
}

/**
 * glove_file_identity_equal:
 * @a: an identity
 * @b: another
 *
 * Returns: whether every field is equal
 *
 * Since: 1.0
 */
gboolean
glove_file_identity_equal (const GloveFileIdentity *a, const GloveFileIdentity *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  return a->dev == b->dev && a->ino == b->ino && a->uid == b->uid && a->mode == b->mode && a->nlink == b->nlink;
}
