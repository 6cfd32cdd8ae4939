/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>
#include <glib/gstdio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

static inline void
glove_fd_clear (int *fd)
{
  if (*fd >= 0)
    (void) g_close (*fd, NULL);
  *fd = -1;
}

/* An int that closes itself: `glove_autofd int fd = -1;`, handed over with g_steal_fd (). (g_autofd needs GLib 2.76.) */
#define glove_autofd __attribute__ ((cleanup (glove_fd_clear)))

/* openat2 (2) with EINTR handled; @resolve is RESOLVE_*; O_CLOEXEC is always added. Returns an owned fd or -1. */
GLOVE_PRIVATE_API int glove_fd_openat2 (int dirfd, const char *path, guint64 flags, guint64 mode, guint64 resolve,
                                        GError **error);
/* Reads to end of file, refusing more than @max bytes with GLOVE_ERROR_LIMIT before allocating them. */
GLOVE_PRIVATE_API GBytes *glove_fd_read_all (int fd, gsize max, GError **error);
GLOVE_PRIVATE_API gboolean glove_fd_write_all (int fd, const void *data, gsize length, GError **error);
/* A memfd with @data, sealed against every change, its offset at 0. */
GLOVE_PRIVATE_API int glove_fd_new_sealed (const char *name, const void *data, gsize length, GError **error);
GLOVE_PRIVATE_API gboolean glove_fd_set_nonblocking (int fd, gboolean nonblocking, GError **error);
/* How many descriptors this process has open; for leak tests. */
GLOVE_PRIVATE_API guint glove_fd_count_open (void);

G_END_DECLS
