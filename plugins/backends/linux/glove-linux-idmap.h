/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* Host ids that nobody else uses: above what distributions, containers and systemd hand out (systemd's UIDS-GIDS document), below
 * 2^31. */
#define GLOVE_LINUX_HOST_ID_MIN 1879048192u
#define GLOVE_LINUX_HOST_ID_MAX 2147352575u

#define GLOVE_LINUX_TYPE_IDMAP (glove_linux_idmap_get_type ())
G_DECLARE_FINAL_TYPE (GloveLinuxIdmap, glove_linux_idmap, GLOVE_LINUX, IDMAP, GObject)

/* A host id for one session (getrandom (2)); the same number serves as group. */
gboolean glove_linux_idmap_choose_host_id (guint32 *ret_id, GError **error);

/* Maps grants of one session, run by root, to the session's host id. User namespaces are kept and shared by owner. */
GloveLinuxIdmap *glove_linux_idmap_new (guint32 host_id);

/* A detached mount of the grant, with what is mounted below it: read-only unless it is a write grant, without devices and set-id
 * programs, its owner's ids mapped to the session's. A write grant on a file system that can't do it is refused; so is a read
 * grant, unless everybody may read it, and then it is bound as it is. -1 and an error that names the file system and the repair. */
int glove_linux_idmap_open_grant (GloveLinuxIdmap *self, const GloveGrant *grant, GError **error);

/* Whether the file system of the temporary directory does it; @ret_errno explains when it does not. Needs root. */
gboolean glove_linux_idmap_probe (int *ret_errno);

G_END_DECLS
