/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* One `[Module NAME]` of a catalog file. Immutable; reference counted. */
typedef struct {
  gatomicrefcount ref_count;
  char *file;        /* the catalog file's path, for messages */
  char *name;
  char *library;     /* plain file name in the module directory */
  guint abi;
  char **provides;   /* "kind:id" */
  char *sha256;      /* 64 hex digits, or NULL */
  gboolean enabled;
  gboolean from_administrator;
  GHashTable *settings; /* string → string, or NULL */
} GloveCatalogEntry;

GloveCatalogEntry *glove_catalog_entry_ref (GloveCatalogEntry *self);
void glove_catalog_entry_unref (GloveCatalogEntry *self);
/* Parses one file's bytes, strictly: an unknown group or key, a missing one, a bad value, a library with a slash: errors that name
 * @file and the key. */
GloveCatalogEntry *glove_catalog_entry_parse (const char *file, const char *data, gsize length,
                                              gboolean from_administrator, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveCatalogEntry, glove_catalog_entry_unref)

G_END_DECLS
