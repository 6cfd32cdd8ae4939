/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>
#include <sys/stat.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/**
 * GloveFileIdentity:
 *
 * What tells one file object from another (architecture rule 1): as fstat (2) gives it.
 *
 * Since: 1.0
 */
typedef struct {
  guint64 dev;
  guint64 ino;
  guint32 uid;
  guint32 mode; /* with the type bits */
  guint64 nlink;
} GloveFileIdentity;

GLOVE_AVAILABLE_IN_1_0 void glove_file_identity_from_stat (GloveFileIdentity *self, const struct stat *st);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_file_identity_from_fd (GloveFileIdentity *self, int fd, GError **error);
/* Same object: device, inode and type. Links, mode and owner may have changed. */
GLOVE_AVAILABLE_IN_1_0 gboolean glove_file_identity_same_object (const GloveFileIdentity *a,
                                                                 const GloveFileIdentity *b);
/* Every field equal. */
GLOVE_AVAILABLE_IN_1_0 gboolean glove_file_identity_equal (const GloveFileIdentity *a, const GloveFileIdentity *b);

G_END_DECLS
