/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

#include "glove-linux-cgroup.h"

G_BEGIN_DECLS

/* What enforces each limit here, and why not. */
typedef struct {
  GloveLimitMechanism mechanism[GLOVE_N_LIMITS];
  GloveLinuxCgroupStatus cgroup;
  char *reason; /* why there is no control group to divide */
  gboolean privileged;
  gboolean host_root; /* the agent has host uid 0, whose processes the kernel doesn't count */
} GloveLinuxMechanisms;

/* @claimed: a control group is ours already; else one is looked for, and nothing changed. */
void glove_linux_mechanisms_init (GloveLinuxMechanisms *self, gboolean claimed, gboolean host_root);
/* The same for a given answer, for tests. Takes @reason. */
void glove_linux_mechanisms_init_for_status (GloveLinuxMechanisms *self, GloveLinuxCgroupStatus status, char *reason,
                                             gboolean privileged, gboolean host_root);
void glove_linux_mechanisms_clear (GloveLinuxMechanisms *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GloveLinuxMechanisms, glove_linux_mechanisms_clear)

/* Reason and repair of a limit that nothing enforces; %NULL for the others. */
char *glove_linux_mechanisms_dup_repair (const GloveLinuxMechanisms *self, GloveLimit limit);
/* GLOVE_ERROR_UNAVAILABLE for the first limit that was asked for by name and that nothing enforces. */
gboolean glove_linux_mechanisms_check (const GloveLinuxMechanisms *self, const GloveLimits *limits, GError **error);
gboolean glove_linux_mechanisms_need_cgroup (const GloveLinuxMechanisms *self, const GloveLimits *limits);

G_END_DECLS
