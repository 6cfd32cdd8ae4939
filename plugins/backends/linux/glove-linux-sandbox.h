/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>
#include <sys/types.h>

#include "glove-linux-cgroup-session.h"

G_BEGIN_DECLS

#define GLOVE_LINUX_TYPE_SANDBOX (glove_linux_sandbox_get_type ())
G_DECLARE_FINAL_TYPE (GloveLinuxSandbox, glove_linux_sandbox, GLOVE_LINUX, SANDBOX, GloveSandbox)

/* What was spawned. Descriptors are taken. */
typedef struct {
  pid_t pid;
  int pidfd;
  int monitor;
  int egress; /* -1: none */
} GloveLinuxLaunch;

/* Takes over a launcher that was just spawned for @spec and waits until everything is made. Chosen ports are written to @spec.
 * When it fails, the launcher is gone. */
GloveLinuxSandbox *glove_linux_sandbox_new (GloveLaunchSpec *spec, GloveLinuxLaunch *launch, GloveLinuxCgroupSession *cgroup,
                                            GError **error);
/* The version of Landlock in force inside; 0: none. */
guint glove_linux_sandbox_get_landlock_abi (GloveLinuxSandbox *self);

G_END_DECLS
