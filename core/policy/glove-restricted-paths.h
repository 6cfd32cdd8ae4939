/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-grant.h"
#include "glove-path-pin.h"

G_BEGIN_DECLS

/* What may never be granted (contracts §5.2 "restricted host", and more: see README.md). The table is made once: it knows the homes and
 * the identities of what exists. */
typedef struct _GloveRestrictedPaths GloveRestrictedPaths;

/* @home (nullable): the operator's home; NULL: as the user database says. */
GloveRestrictedPaths *glove_restricted_paths_new (const char *home);
void glove_restricted_paths_free (GloveRestrictedPaths *self);
/* @quoted: the path as typed, for the message. */
gboolean glove_restricted_paths_check (const GloveRestrictedPaths *self, const GlovePathPin *pin, GloveGrantAccess access,
                                       const char *quoted, GError **error);
/* Whether the object is restricted itself, whatever path leads to it: for mounts below a grant. */
gboolean glove_restricted_paths_is_restricted_object (const GloveRestrictedPaths *self,
                                                      const GloveFileIdentity *identity, GloveGrantAccess access);
/* Names of folders that hold credentials wherever they lie; NULL-terminated. */
const char *const *glove_restricted_paths_list_secret_names (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveRestrictedPaths, glove_restricted_paths_free)

G_END_DECLS
