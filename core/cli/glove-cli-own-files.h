/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-catalog.h"

G_BEGIN_DECLS

/* Refuses grants through which an agent could write this program, its libraries, its plugins or the record of its runs. */
gboolean glove_cli_own_files_check (GloveCatalog *catalog, const GPtrArray *grants, GError **error);

G_END_DECLS
