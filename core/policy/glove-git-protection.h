/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-grant.h"

G_BEGIN_DECLS

/* Makes read-only, in writable grants, what git on the host would run later (architecture rule 8). */

/* Refuses a writable grant of such a thing itself: hooks or configuration. @fd: of the object, @host_path: its path. */
gboolean glove_git_protection_check (int fd, const char *host_path, GError **error);
/* Adds to @protections (element type GloveGrant) what narrows @grant, a writable folder, and to @notes (element type utf8) what the
 * operator should know. @typed: every grant that was asked for. */
gboolean glove_git_protection_add (const GloveGrant *grant, const GPtrArray *typed, GPtrArray *protections, GPtrArray *notes,
                                   GError **error);

G_END_DECLS
