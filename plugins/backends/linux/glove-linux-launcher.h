/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* The launcher at @path, opened by descriptor (O_PATH) and judged: a regular executable file, owner root or us, written by nobody
 * else. -1 and GLOVE_ERROR_NOT_FOUND, GLOVE_ERROR_UNTRUSTED or what the system said. */
int glove_linux_launcher_open (const char *path, GError **error);

/* Executes the launcher @fd with the number of @spec_fd as its argument. It inherits @fds (a number that is -1 is skipped; one
 * number may stand there twice) under their own numbers and nothing else, an empty environment, every signal at its default, and
 * is in a process group of its own. No fork: posix_spawn. @ret_pidfd is owned by the caller, who also reaps the process. */
gboolean glove_linux_launcher_spawn (int fd, int spec_fd, const int *fds, gsize n_fds, pid_t *ret_pid, int *ret_pidfd,
                                     GError **error);

G_END_DECLS
