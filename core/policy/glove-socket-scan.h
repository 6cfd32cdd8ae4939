/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-grant.h"

G_BEGIN_DECLS

/* A socket that a host process has bound where an agent would see it. */
typedef struct {
  int fd;            /* O_PATH, of the socket's name */
  char *target_path; /* below the grant's target */
  GloveFileIdentity identity;
} GloveSocketHit;

/* Holds the kernel's list of sockets against @grants (element type GloveGrant). Returns hits, sorted by path, each path once. */
GPtrArray *glove_socket_scan_run (const GPtrArray *grants, GError **error);
/* The same for a given list of paths, as bound: relative ones are looked for in the grants and in every process's working directory. */
GPtrArray *glove_socket_scan_match (const GPtrArray *paths, const GPtrArray *grants, GError **error);

G_END_DECLS
