/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <sys/types.h>

#include "glove-launch-order.h"
#include "glove-launch-report.h"
#include "glove-launch-sys.h"

/* The sandbox while it is made. Everything here runs in PID 1 or in the agent before its exec; each function either did its whole
 * work or ended the process with glove_launch_fail(). */
typedef struct {
  const GloveLaunchOrder *order;
  int channel;       /* to the monitor */
  int root;          /* O_PATH, the new root */
  int quotas;        /* O_PATH, /proc/sys/user of the session */
  int landlock_abi;  /* 0: not used */
  int *trees;        /* the detached copy of each grant, later its mounted root; -1: none */
  dev_t own[4];      /* the file systems that are ours to make mount points in */
  unsigned n_own;
  int terminal;      /* the slave side, or -1 */
  int listeners[GLOVE_LAUNCH_LISTENERS_MAX];
} GloveLaunchSandbox;

/* glove-launch-mounts.c: the root, the system, the private directories */
void glove_launch_mounts_make_root (GloveLaunchSandbox *self);
void glove_launch_mounts_add_system (GloveLaunchSandbox *self);
void glove_launch_mounts_add_private (GloveLaunchSandbox *self);
void glove_launch_mounts_enter (GloveLaunchSandbox *self);
void glove_launch_mounts_leave_host (void);
/* A detached, empty, read-only regular file; the caller attaches or closes it. -1 with errno. */
int glove_launch_mounts_empty_file (void);
void glove_launch_mounts_drop_empty_file (void);

/* glove-launch-etc.c */
void glove_launch_etc_add (GloveLaunchSandbox *self);

/* glove-launch-proc.c; quotas are written when nothing more is mounted */
void glove_launch_proc_mount (GloveLaunchSandbox *self);
void glove_launch_proc_set_quotas (GloveLaunchSandbox *self);
void glove_launch_proc_seal (GloveLaunchSandbox *self);

/* glove-launch-dev.c */
void glove_launch_dev_add (GloveLaunchSandbox *self);
void glove_launch_dev_open_terminal (GloveLaunchSandbox *self);

/* glove-launch-grants.c: all are cloned before anything is mounted */
void glove_launch_grants_clone (GloveLaunchSandbox *self);
void glove_launch_grants_attach (GloveLaunchSandbox *self);

/* glove-launch-files.c */
void glove_launch_files_write (GloveLaunchSandbox *self);
/* Makes every missing directory above the relative @path. 0, or -1 with errno. */
int glove_launch_files_make_parents (const char *path);

/* glove-launch-network.c */
void glove_launch_network_up (GloveLaunchSandbox *self);
void glove_launch_network_listen (GloveLaunchSandbox *self);

/* glove-launch-ids.c */
void glove_launch_ids_write_own_maps (const GloveLaunchOrder *order);
int glove_launch_ids_write_maps_of (const GloveLaunchOrder *order, pid_t pid);
void glove_launch_ids_become (const GloveLaunchOrder *order);
void glove_launch_ids_drop_capabilities (void);
void glove_launch_ids_set_rlimits (const GloveLaunchOrder *order);

/* glove-launch-landlock.c */
int glove_launch_landlock_abi (void);
void glove_launch_landlock_restrict (const GloveLaunchSandbox *self);

/* glove-launch-seccomp.c. The names are the two programs. */
void glove_launch_seccomp_load_agent (void);
void glove_launch_seccomp_load_init (void);

/* glove-launch-agent.c: the last steps and exec; @status is its end of the socket to PID 1 */
_Noreturn void glove_launch_agent_run (GloveLaunchSandbox *self, int status);

/* glove-launch-init.c: what PID 1 does, from its first instruction to its end */
_Noreturn void glove_launch_init_run (const GloveLaunchOrder *order, int channel, int landlock_abi, bool wait_for_go);

/* glove-launch-monitor.c: what stays outside */
int glove_launch_monitor_run (const GloveLaunchOrder *order);

/* glove-launch-cgroup.c */
int glove_launch_cgroup_enter (const GloveLaunchOrder *order, pid_t pid);
void glove_launch_cgroup_kill (const GloveLaunchOrder *order);
int glove_launch_cgroup_freeze (const GloveLaunchOrder *order, bool frozen);
/* Fills the counters of an ENDED or USAGE_REPLY message. */
void glove_launch_cgroup_count (const GloveLaunchOrder *order, GloveLaunchMessage *message);
void glove_launch_cgroup_remove (const GloveLaunchOrder *order);
