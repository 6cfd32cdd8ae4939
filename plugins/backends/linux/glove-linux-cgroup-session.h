/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

#include "glove-linux-cgroup.h"

G_BEGIN_DECLS

#define GLOVE_LINUX_TYPE_CGROUP_SESSION (glove_linux_cgroup_session_get_type ())
G_DECLARE_FINAL_TYPE (GloveLinuxCgroupSession, glove_linux_cgroup_session, GLOVE_LINUX, CGROUP_SESSION, GObject)

/* The group "glove-session-ID" below @parent with the limits of @limits. The launcher removes it at the end, and so does the last
 * reference. Groups of sessions that nobody lives for are removed on the way: a live one is locked (flock (2)) by its descriptor,
 * which the launcher has too. */
GloveLinuxCgroupSession *glove_linux_cgroup_session_new (GloveLinuxCgroup *parent, const char *session_id,
                                                         const GloveLimits *limits, GError **error);
int glove_linux_cgroup_session_get_fd (GloveLinuxCgroupSession *self);
int glove_linux_cgroup_session_get_parent_fd (GloveLinuxCgroupSession *self);
const char *glove_linux_cgroup_session_get_name (GloveLinuxCgroupSession *self);
/* The limits into the files of the group @fd; a limit of 0 is none. */
gboolean glove_linux_cgroup_session_set_limits (int fd, const GloveLimits *limits, GError **error);
/* Microseconds; %FALSE when nothing can be read. */
gboolean glove_linux_cgroup_session_read_cpu_time (GloveLinuxCgroupSession *self, guint64 *ret_us);
/* Every process in it, at once. */
void glove_linux_cgroup_session_kill (GloveLinuxCgroupSession *self);

G_END_DECLS
