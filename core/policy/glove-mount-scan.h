/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-restricted-paths.h"

G_BEGIN_DECLS

/* What is mounted on this host, held against grants. */
typedef struct _GloveMountScan GloveMountScan;

GloveMountScan *glove_mount_scan_new (GError **error);
void glove_mount_scan_free (GloveMountScan *self);
/* Refuses a path on a file system that is a window into the kernel, and one that brings such a mount, or a restricted object, along.
 * @ret_mounts: (out) (element-type utf8): what else is mounted below @host_path. */
gboolean glove_mount_scan_check (GloveMountScan *self, const GloveRestrictedPaths *restricted, const char *host_path,
                                 GloveGrantAccess access, GPtrArray **ret_mounts, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveMountScan, glove_mount_scan_free)

G_END_DECLS
