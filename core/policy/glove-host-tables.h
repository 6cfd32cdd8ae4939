/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Two tables of the kernel's, parsed strictly. Pure: no I/O. Each string is bytes, not text. */

/* A line of /proc/self/mountinfo. */
typedef struct {
  char *mount_point; /* octal escapes undone */
  char *fs_type;
} GloveHostMount;

/* In the table's order: a later mount covers an earlier one at the same place. Element type GloveHostMount. */
GPtrArray *glove_host_tables_parse_mounts (const char *data, gsize length, GError **error);
/* The distinct paths of /proc/net/unix: no abstract names, no unnamed sockets. Element type char*; relative ones as they are. */
GPtrArray *glove_host_tables_parse_sockets (const char *data, gsize length, GError **error);
/* The names in /proc/filesystems that are marked "nodev". Element type char*. */
GPtrArray *glove_host_tables_parse_virtual_types (const char *data, gsize length, GError **error);

G_END_DECLS
