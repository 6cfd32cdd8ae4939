/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-catalog-entry.h"

G_BEGIN_DECLS

/* What the catalog's directories say: values only, no module is looked at. */
typedef struct {
  GPtrArray *entries;     /* of GloveCatalogEntry, sorted by name, masks included */
  GPtrArray *problems;    /* of GError */
  GHashTable *provisions; /* "kind:id" → GloveCatalogEntry (borrowed), of enabled entries */
  GHashTable *conflicts;  /* "kind:id" → GError (borrowed), provided by two files */
} GloveCatalogReader;

GloveCatalogReader *glove_catalog_reader_new (const char *package_directory, const char *administrator_directory,
                                              gboolean must_exist, GError **error);
void glove_catalog_reader_free (GloveCatalogReader *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveCatalogReader, glove_catalog_reader_free)

G_END_DECLS
