/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "glove-launch-protocol.h"

/* Plays the backend module's part for tests and benchmarks: encodes a spec, starts glove-launch, speaks with it. No GLib, so that a
 * benchmark measures nothing else. */

typedef struct {
  uint32_t access, flags;
  int fd; /* -1: @host_path is opened, and pinned as the policy floor would */
  const char *host_path;
  const char *target;
} DriverGrant;

typedef struct {
  uint32_t flags, mode;
  const char *path, *content;
} DriverFile;

typedef struct {
  uint32_t tag, port;
} DriverListener;

typedef struct {
  uint32_t resource;
  uint64_t soft, hard;
} DriverRlimit;

typedef struct {
  const char *name;
  uint64_t value;
} DriverQuota;

typedef struct {
  uint32_t flags;
  uint32_t uid, gid, host_uid, host_gid;
  uint32_t rows, columns;
  uint32_t monitor, egress, stdio[3], cgroup, cgroup_parent;
  const char *cgroup_name, *host_name, *work_dir, *executable, *home;
  uint64_t bytes[4];
  uint32_t inodes[4];
  const DriverRlimit *rlimits;
  const DriverQuota *quotas;
  const char *const *argv;
  const char *const *env;
  const DriverGrant *grants;
  const DriverFile *files;
  const DriverListener *listeners;
  size_t n_rlimits, n_quotas, n_grants, n_files, n_listeners;
} DriverSpec;

typedef struct {
  pid_t pid;
  int monitor, egress;
} Driver;

/* One with default sizes, this process's ids and no descriptor. */
void driver_spec_init (DriverSpec *spec, const char *const *argv);
/* NULL with errno. The caller frees it. */
uint8_t *driver_spec_encode (const DriverSpec *spec, size_t *ret_length);
/* A memfd of these bytes, sealed when @sealed; -1 with errno. */
int driver_make_memfd (const uint8_t *bytes, size_t length, bool sealed);
/* A detached mount of @path whose owner's ids are @host_id, as the module makes it when run by root; -1 with errno. */
int driver_open_mapped (const char *path, uint32_t host_id);
/* Fills in the sockets, encodes and starts. 0, or -1 with errno. */
int driver_start (Driver *driver, const char *launcher, DriverSpec *spec);
int driver_send (Driver *driver, uint32_t type, uint32_t arg);
/* 1, 0 at the end of file, -1 with errno; ETIMEDOUT after @timeout_ms. */
int driver_receive (Driver *driver, GloveLaunchMessage *message, int *ret_fd, int timeout_ms);
/* Reads until @type or FAILED or ENDED. 1: it was @type. */
int driver_receive_until (Driver *driver, uint32_t type, GloveLaunchMessage *message, int timeout_ms);
/* Closes the sockets and reaps glove-launch. */
int driver_finish (Driver *driver);
