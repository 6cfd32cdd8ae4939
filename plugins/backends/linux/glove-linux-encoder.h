/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

#include "glove-launch-protocol.h"

G_BEGIN_DECLS

/* A grant as the launcher gets it: beside the spec's own grant, the descriptor to hand over. */
typedef struct {
  int fd;            /* borrowed; -1: none */
  gboolean detached; /* a mount of its own, not an O_PATH descriptor */
} GloveLinuxEncodedGrant;

/* Descriptors of the seven slots, in the order of the protocol; -1: none. */
typedef struct {
  int monitor, egress, in, out, err, cgroup, cgroup_parent;
} GloveLinuxEncodedFds;

/* Everything in the launch spec that isn't in the GloveLaunchSpec. */
typedef struct {
  guint32 flags;
  guint32 host_uid, host_gid;
  GloveLinuxEncodedFds fds;
  const char *cgroup_name;
  const GloveLinuxEncodedGrant *grants; /* as many as the spec has */
  gboolean count_pids_by_rlimit;
} GloveLinuxEncoding;

/* The launch spec of glove-launch-protocol.h, version 1. Each bound is checked before its bytes are appended. */
GBytes *glove_linux_encoder_encode (const GloveLaunchSpec *spec, const GloveLinuxEncoding *encoding, GError **error);

G_END_DECLS
