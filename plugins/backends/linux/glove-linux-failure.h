/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

#include "glove-launch-protocol.h"

G_BEGIN_DECLS

/* What of this host explains a refusal; read once a failure, so that the sentence names the real cause. */
typedef struct {
  gboolean apparmor_restricts;  /* kernel.apparmor_restrict_unprivileged_userns = 1 */
  gboolean clone_disabled;      /* kernel.unprivileged_userns_clone = 0 */
  gboolean no_user_namespaces;  /* user.max_user_namespaces = 0 */
  gboolean privileged;          /* run by root */
} GloveLinuxFailureHost;

#define GLOVE_LINUX_FAILURE_APPARMOR_HINT                                                                                \
  "apparmor_parser -r " GLOVE_APPARMOR_PROFILE " loads a profile that gives “userns,” to the launcher alone; switching the "  \
  "restriction off for everybody is not needed"

void glove_linux_failure_host_init (GloveLinuxFailureHost *self);

/* Sets @error from a FAILED message: the thing that failed by name, and the repair. @spec names the grant, file or program that
 * @index counts. */
void glove_linux_failure_set (GError **error, const GloveLaunchSpec *spec, const GloveLinuxFailureHost *host, guint32 stage,
                              int errsv, guint32 index);

G_END_DECLS
