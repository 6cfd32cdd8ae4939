/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-file-identity.h"
#include "glove-macros.h"

G_BEGIN_DECLS

/**
 * GloveGrantAccess:
 * @GLOVE_GRANT_READ: seen, never written
 * @GLOVE_GRANT_WRITE: seen and written
 * @GLOVE_GRANT_MASK: covered: an empty read-only file stands in its place
 *
 * Since: 1.0
 */
typedef enum {
  GLOVE_GRANT_READ,
  GLOVE_GRANT_WRITE,
  GLOVE_GRANT_MASK,
} GloveGrantAccess;

/**
 * GloveGrantOrigin:
 *
 * Who asked for it; shown in the banner.
 *
 * Since: 1.0
 */
typedef enum {
  GLOVE_GRANT_ORIGIN_WORKSPACE,
  GLOVE_GRANT_ORIGIN_OPTION,
  GLOVE_GRANT_ORIGIN_RUNTIME,    /* the agent's own executable tree */
  GLOVE_GRANT_ORIGIN_PROTECTION, /* git configuration, sockets: narrows another grant */
} GloveGrantOrigin;

#define GLOVE_TYPE_GRANT (glove_grant_get_type ())

/**
 * GloveGrant:
 * @fd: an O_PATH descriptor of the object, owned by the grant
 * @host_path: where it was found: absolute, no symbolic link in it, any bytes but NUL
 * @target_path: where the agent sees it: absolute, normal
 * @identity: of @fd when it was pinned
 * @brings_mounts: other file systems are mounted below @host_path and come along
 *
 * A reference to one file or directory of the host, pinned by descriptor. Immutable once made; reference counted, any thread.
 *
 * Since: 1.0
 */
typedef struct {
  /*< private >*/
  gatomicrefcount ref_count;
  /*< public >*/
  GloveGrantAccess access;
  GloveGrantOrigin origin;
  int fd;
  char *host_path;
  char *target_path;
  GloveFileIdentity identity;
  gboolean brings_mounts;
} GloveGrant;

GLOVE_AVAILABLE_IN_1_0 GType glove_grant_get_type (void);
/* Takes @fd on every path, also when it fails. */
GLOVE_AVAILABLE_IN_1_0 GloveGrant *glove_grant_new (GloveGrantAccess access, GloveGrantOrigin origin, int fd,
                                                    const char *host_path, const char *target_path, GError **error);
GLOVE_AVAILABLE_IN_1_0 GloveGrant *glove_grant_ref (GloveGrant *self);
GLOVE_AVAILABLE_IN_1_0 void glove_grant_unref (GloveGrant *self);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_grant_is_directory (const GloveGrant *self);
GLOVE_AVAILABLE_IN_1_0 const char *glove_grant_access_get_name (GloveGrantAccess access);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveGrant, glove_grant_unref)

G_END_DECLS
