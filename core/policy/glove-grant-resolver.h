/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-grant.h"

G_BEGIN_DECLS

/* Turns what an operator typed into pinned grants (architecture rules 1 and 8; contracts §5.2 for what may never be granted). */
typedef struct _GloveGrantResolver GloveGrantResolver;

GloveGrantResolver *glove_grant_resolver_new (void);
void glove_grant_resolver_free (GloveGrantResolver *self);
/* @path as typed: relative to the current directory, links followed once, the result pinned. Refuses what is not a directory or
 * regular file, what is restricted, what does not exist. The same path for reading and for
 * writing is an error, unless one of the two is the runtime's own, which follows the other. */
gboolean glove_grant_resolver_add (GloveGrantResolver *self, GloveGrantAccess access, GloveGrantOrigin origin,
                                   const char *path, GError **error);
/* Sockets below a grant that the operator accepts, each as typed. Refuses what is not a socket below a grant (at finish). */
gboolean glove_grant_resolver_allow_socket (GloveGrantResolver *self, const char *path, GError **error);
void glove_grant_resolver_set_mask_sockets (GloveGrantResolver *self, gboolean mask);
void glove_grant_resolver_set_allow_git_config (GloveGrantResolver *self, gboolean allow);
/* The grants, ordered by depth of target path (shallow first), the protections of git configuration and masked sockets among them.
 * @ret_notes: (out) (transfer full) (element-type utf8): lines the banner shows (a grant that brings mounts along, an escape-grade
 * socket, a git worktree whose repository is not granted). Refuses a grant below which a host process listens on a socket. */
GPtrArray *glove_grant_resolver_finish (GloveGrantResolver *self, GPtrArray **ret_notes, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveGrantResolver, glove_grant_resolver_free)

/* Whether the object at @fd (or a folder it lies in) is seen through one of @grants: for `--audit`, which must lie outside. */
gboolean glove_grant_resolver_covers (const GPtrArray *grants, int fd, gboolean *ret_covered, GError **error);

G_END_DECLS
