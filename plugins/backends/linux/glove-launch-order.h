/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "glove-launch-protocol.h"

#define GLOVE_LAUNCH_ID_INSIDE 1000u
#define GLOVE_LAUNCH_PATH_MAX 4095u

typedef struct {
  uint32_t access, flags;
  int fd;
  const char *host_path;
  const char *target;
  uint64_t dev, ino;
  uint32_t mode;
} GloveLaunchOrderGrant;

typedef struct {
  uint32_t flags, mode;
  const char *path;
  const uint8_t *content;
  uint32_t length;
} GloveLaunchOrderFile;

typedef struct {
  uint32_t tag;
  uint16_t port;
} GloveLaunchOrderListener;

typedef struct {
  uint32_t resource;
  uint64_t soft, hard;
} GloveLaunchOrderRlimit;

typedef struct {
  const char *name;
  uint64_t value;
} GloveLaunchOrderQuota;

typedef enum {
  GLOVE_LAUNCH_SIZE_ROOT,
  GLOVE_LAUNCH_SIZE_HOME,
  GLOVE_LAUNCH_SIZE_TMP,
  GLOVE_LAUNCH_SIZE_SHM,
  GLOVE_LAUNCH_N_SIZES,
} GloveLaunchSize;

/* A parsed launch spec. Strings and contents lie in the bytes that were parsed; the arrays are its own. */
typedef struct {
  uint32_t flags;
  uint32_t uid, gid, host_uid, host_gid;
  uint16_t rows, columns;
  int monitor, egress, stdio[3], cgroup, cgroup_parent; /* -1: none */
  const char *cgroup_name, *host_name, *work_dir, *executable, *home;
  uint64_t bytes[GLOVE_LAUNCH_N_SIZES];
  uint32_t inodes[GLOVE_LAUNCH_N_SIZES];
  GloveLaunchOrderRlimit *rlimits;
  GloveLaunchOrderQuota *quotas;
  char **argv, **env; /* NULL-terminated */
  GloveLaunchOrderGrant *grants;
  GloveLaunchOrderFile *files;
  GloveLaunchOrderListener *listeners;
  uint32_t n_rlimits, n_quotas, n_argv, n_env, n_grants, n_files, n_listeners;
} GloveLaunchOrder;

/* Parses @length bytes, which it changes (strings get their terminators). False: the spec is refused, and @order holds nothing. */
bool glove_launch_order_parse (GloveLaunchOrder *order, uint8_t *bytes, size_t length);
void glove_launch_order_clear (GloveLaunchOrder *order);
/* The monitor socket's number of a spec that was refused, to say so; -1 when not even that can be read. */
int glove_launch_order_peek_monitor (const uint8_t *bytes, size_t length);
