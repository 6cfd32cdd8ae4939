/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_LINUX_HOST_NAME "glove"
#define GLOVE_LINUX_USER_NAME "agent"
#define GLOVE_LINUX_INNER_UID 1000u
#define GLOVE_LINUX_INNER_GID 1000u

/* A file that stands in the sandbox's /etc instead of the host's. */
typedef struct {
  const char *path;
  GBytes *content;
} GloveLinuxFile;

/* Element type GloveLinuxFile, transfer full. Nothing of the host is in them. */
GPtrArray *glove_linux_files_list (void);

G_END_DECLS
