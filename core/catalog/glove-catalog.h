/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-catalog-entry.h"
#include "glove-plugin-descriptor.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_CATALOG (glove_catalog_get_type ())
G_DECLARE_FINAL_TYPE (GloveCatalog, glove_catalog, GLOVE, CATALOG, GObject)

/* Which modules may be loaded (architecture §3). NULL directories: the installed ones. Reading is lazy: a directory is read at the
 * first question. Main thread only. */
GloveCatalog *glove_catalog_new (const char *package_directory, const char *administrator_directory,
                                 const char *module_directory);
/* An uninstalled or third-party catalog (`--catalog DIR`): DIR holds *.conf and the modules. */
GloveCatalog *glove_catalog_new_for_directory (const char *directory);

/* Entries of every readable file, administrator's over packages', sorted by name; a bad file is in @ret_problems (GError
 * pointers, transfer full), and does not take the others down. */
GPtrArray *glove_catalog_list (GloveCatalog *self, GPtrArray **ret_problems, GError **error);
/* The object behind "kind:id": its module is checked, loaded and asked at the first call, and kept for the process's life; each call
 * makes a new object. @type: the interface it must have. Errors name the file, the rule and the repair. */
GObject *glove_catalog_create (GloveCatalog *self, const char *kind, const char *id, GType type, GError **error);
/* Ids of one kind, sorted. */
char **glove_catalog_list_ids (GloveCatalog *self, const char *kind, GError **error);
/* Every folder that entries and modules come from; they need not exist. */
char **glove_catalog_dup_folders (GloveCatalog *self);
/* Where the module of @entry lies; NULL for a mask that names none. */
char *glove_catalog_dup_module_path (GloveCatalog *self, const GloveCatalogEntry *entry);
/* Every check of the loader on one module file, and one object of each thing it provides, without running any of its code unless
 * all checks that need none pass. @entry NULL: what the ELF note says is believed. Returns the module's descriptor, or NULL. */
const GlovePluginDescriptor *glove_catalog_check_file (GloveCatalog *self, const char *path, GloveCatalogEntry *entry,
                                                       GError **error);

G_END_DECLS
