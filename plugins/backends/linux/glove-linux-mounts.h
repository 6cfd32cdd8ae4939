/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

/* Mount points at or below @path in this mount namespace, as strings, transfer full; for error messages. */
GPtrArray *glove_linux_mounts_list_below (const char *path);
/* The same from the text of mountinfo (proc (5)). */
GPtrArray *glove_linux_mounts_parse_below (const char *mountinfo, const char *path);
/* The name of the file system that @fd lies on, or its magic number. */
char *glove_linux_mounts_get_type (int fd);

G_END_DECLS
