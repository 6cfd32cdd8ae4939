/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

/* Outcomes of looking for a place (contracts §9.8). */
typedef enum {
  GLOVE_LINUX_CGROUP_AVAILABLE,
  GLOVE_LINUX_CGROUP_V2_UNAVAILABLE,          /* no cgroup2 mount, or we are in none of its groups */
  GLOVE_LINUX_CGROUP_CONTROLLERS_UNAVAILABLE, /* it is there; cpu, memory or pids is not */
  GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE,  /* the controllers are there; nothing is ours to divide */
} GloveLinuxCgroupStatus;

/* Where session groups are made. */
typedef enum {
  GLOVE_LINUX_CGROUP_PARENT, /* beside our own group, in its parent */
  GLOVE_LINUX_CGROUP_OWN,    /* in our own group, which we leave for a leaf first */
  GLOVE_LINUX_CGROUP_ROOT,   /* in the hierarchy's root, where processes may stay */
} GloveLinuxCgroupPlace;

/* The hierarchy as this process sees it. Tests make one up of plain files. */
typedef struct {
  int root;          /* the mounted hierarchy; borrowed by whoever is given this */
  char *own;         /* our group, relative to @root, without a leading slash: "" is the root itself */
  gboolean is_kernel_root; /* @root is the hierarchy's true root, no namespace's */
  gboolean privileged;
  gboolean systemd;  /* somebody else manages the hierarchy, and says what is delegated */
} GloveLinuxCgroupHost;

void glove_linux_cgroup_host_clear (GloveLinuxCgroupHost *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GloveLinuxCgroupHost, glove_linux_cgroup_host_clear)
/* From /proc/self/cgroup and /proc/self/mountinfo. */
GloveLinuxCgroupStatus glove_linux_cgroup_host_init (GloveLinuxCgroupHost *self);
/* Parts of it, for tests. The cgroup2 line ("0::/…"), transfer full; %NULL: none. */
char *glove_linux_cgroup_parse_own (const char *proc_self_cgroup);
/* Mount point and root (what part of the hierarchy it shows) of the first cgroup2 mount in mountinfo (proc (5)) that shows @own. */
gboolean glove_linux_cgroup_parse_mount (const char *mountinfo, const char *own, char **ret_point, char **ret_root);

#define GLOVE_LINUX_TYPE_CGROUP (glove_linux_cgroup_get_type ())
G_DECLARE_FINAL_TYPE (GloveLinuxCgroup, glove_linux_cgroup, GLOVE_LINUX, CGROUP, GObject)

/* Only looks; nothing is changed. @ret_reason: (nullable): what is missing, for people. */
GloveLinuxCgroupStatus glove_linux_cgroup_find (const GloveLinuxCgroupHost *host, GloveLinuxCgroupPlace *ret_place,
                                                char **ret_reason);
/* What to do about a status; never %NULL. */
const char *glove_linux_cgroup_status_get_repair (GloveLinuxCgroupStatus status, gboolean privileged);
/* Claims the place: moves this process into a leaf where that is needed, and enables the controllers. The last reference undoes it. */
GloveLinuxCgroup *glove_linux_cgroup_claim (const GloveLinuxCgroupHost *host, GError **error);
/* The directory that session groups are made in; owned by @self. */
int glove_linux_cgroup_get_fd (GloveLinuxCgroup *self);

G_END_DECLS
