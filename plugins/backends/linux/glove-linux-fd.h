/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib/gstdio.h>
#include <glove/glove-plugin.h>

G_BEGIN_DECLS

static inline void
glove_linux_fd_clear (int *fd)
{
  if (*fd >= 0)
    (void) g_close (*fd, NULL);
  *fd = -1;
}

/* An int that closes itself; handed over with g_steal_fd (). */
#define glove_linux_autofd __attribute__ ((cleanup (glove_linux_fd_clear)))

#define GLOVE_LINUX_SMALL_FILE_MAX 65536

/* A memfd with @data, sealed against every change, its offset at 0. */
int glove_linux_fd_new_sealed (const char *name, const void *data, gsize length, GError **error);
/* A small text file of the kernel's, relative to @dirfd, NUL-terminated; more than GLOVE_LINUX_SMALL_FILE_MAX bytes is an error. */
char *glove_linux_fd_read_text_at (int dirfd, const char *path, GError **error);
/* One write (2), as control files want it. Nothing is created. */
gboolean glove_linux_fd_write_text_at (int dirfd, const char *path, const char *text, GError **error);
/* The kernel's own call; -1 and errno. */
int glove_linux_fd_open_tree (int dirfd, const char *path, unsigned int flags);

G_END_DECLS
