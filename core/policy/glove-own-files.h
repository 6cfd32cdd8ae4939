/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Refuses to let an agent write what Glove will execute, load or believe the next time.
 * @folders: (array zero-terminated=1): folders that are read from; nor may a grant lie in one. They need not exist.
 * @files: (array zero-terminated=1): programs and libraries; only they and the way to them count. */
gboolean glove_own_files_check (const GPtrArray *grants, const char *const *folders, const char *const *files, GError **error);

G_END_DECLS
