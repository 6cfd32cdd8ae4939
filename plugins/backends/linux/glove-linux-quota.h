/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

typedef struct {
  guint32 resource; /* RLIMIT_* */
  guint64 soft, hard;
} GloveLinuxRlimit;

typedef struct {
  const char *name; /* below /proc/sys/user */
  guint64 value;
} GloveLinuxUserQuota;

/* Element type GloveLinuxRlimit. @pids: the limit on processes is carried by RLIMIT_NPROC, for want of a better one. */
GArray *glove_linux_quota_list_rlimits (const GloveLimits *limits, gboolean pids);
/* Element type GloveLinuxUserQuota: what the session's user namespace may have of the things that the kernel counts by host
 * uid. At most half of what the operator has, so that an agent can't starve them. */
GArray *glove_linux_quota_list_user (void);

G_END_DECLS
