/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Where the dynamic linker would look for the libraries of a module: read without running or mapping any of it. */
gboolean glove_module_needs_check (const guint8 *data, gsize length, GError **error);

G_END_DECLS
