/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-catalog-entry.h"
#include "glove-plugin-descriptor.h"

G_BEGIN_DECLS

/* The only user of dlopen. What it loaded stays for the process's life. */
const GlovePluginDescriptor *glove_module_loader_load (int dirfd, const char *directory, const char *library,
                                                       const GloveCatalogEntry *entry, GError **error);

G_END_DECLS
