/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-catalog-entry.h"
#include "glove-module-note.h"

G_BEGIN_DECLS

/* A module file that passed every check which needs none of its code: a sealed copy of its bytes. */
typedef struct {
  int fd;             /* sealed memfd */
  const guint8 *data; /* mapped, read-only */
  gsize length;
  GloveModuleNote note;
} GloveModuleImage;

/* Whether only root and this user can change what @fd is; @what names it in the error. Shared with the catalog's own files. */
gboolean glove_module_image_check_trust (int fd, const char *path, mode_t type, GError **error);

GloveModuleImage *glove_module_image_open (int dirfd, const char *directory, const char *library,
                                           const GloveCatalogEntry *entry, GError **error);
void glove_module_image_free (GloveModuleImage *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveModuleImage, glove_module_image_free)

G_END_DECLS
