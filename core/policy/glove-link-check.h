/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-file-identity.h"

G_BEGIN_DECLS

/* Refuses a path as typed that leads through a symbolic link in one of @grants to a place outside of that grant: what lies in a grant is
 * not the operator's word. @expected: what the path was opened as; another object now is GLOVE_ERROR_CHANGED. */
gboolean glove_link_check_run (const GPtrArray *grants, const char *path, const GloveFileIdentity *expected, GError **error);

G_END_DECLS
