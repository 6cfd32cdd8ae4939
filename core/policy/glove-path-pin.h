/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-file-identity.h"

G_BEGIN_DECLS

/* A path as typed, resolved once and pinned (architecture rule 1). */
typedef struct {
  int fd;          /* O_PATH */
  char *host_path; /* absolute, no symbolic link in it */
  GloveFileIdentity identity;
} GlovePathPin;

#define GLOVE_PATH_PIN_INIT { .fd = -1 }

/* Links are followed, the kernel's own (below /proc) are not. Proves that @host_path leads to the pinned object. */
gboolean glove_path_pin_open (GlovePathPin *self, const char *path, GError **error);
void glove_path_pin_clear (GlovePathPin *self);

/* @path as bytes, for messages. */
char *glove_path_pin_quote (const char *path);
/* Identity by descriptor, without asking a server of a network file system anew. */
gboolean glove_path_pin_identify (int fd, GloveFileIdentity *ret_identity, GError **error);

typedef gboolean (*GlovePathPinVisitor) (const GloveFileIdentity *identity, int fd, gpointer user_data);
/* Visits the folder @fd and every folder above it up to the root, until @visitor returns FALSE. A folder that can't be opened ends the
 * walk: @ret_complete. Returns FALSE only when the visitor did. */
gboolean glove_path_pin_walk_up (int fd, GlovePathPinVisitor visitor, gpointer user_data, gboolean *ret_complete);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GlovePathPin, glove_path_pin_clear)

G_END_DECLS
