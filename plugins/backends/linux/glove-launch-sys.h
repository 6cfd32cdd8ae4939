/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* System calls that an older libc has no function for, and constants that older headers lack. All of those numbers are the same on
 * every architecture. */

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#define MOVE_MOUNT_T_EMPTY_PATH 0x00000040
#endif
#ifndef MOUNT_ATTR_RDONLY
#define MOUNT_ATTR_RDONLY 0x00000001
#define MOUNT_ATTR_NOSUID 0x00000002
#define MOUNT_ATTR_NODEV 0x00000004
#define MOUNT_ATTR_NOEXEC 0x00000008
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif
#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x00002000
#endif

typedef struct {
  uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
} SysCloneArgs;

typedef struct {
  uint64_t attr_set, attr_clr, propagation, userns_fd;
} SysMountAttr;

static inline int
sys_openat2 (int directory, const char *path, uint64_t flags, uint64_t resolve)
{
  struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };

  return (int) syscall (SYS_openat2, directory, path, &how, sizeof how);
}

/* A detached copy of the tree at @path below @directory. */
static inline int
sys_clone_tree (int directory, const char *path)
{
  return (int) syscall (SYS_open_tree, directory, path,
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
}

/* Sets @attributes on the whole tree of @mount, and makes it private: nothing that the host mounts later shows up in it. */
static inline int
sys_seal_tree (int mount, uint64_t attributes)
{
  SysMountAttr attr = { .attr_set = attributes, .propagation = MS_PRIVATE };

  return (int) syscall (SYS_mount_setattr, mount, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr);
}

static inline int
sys_attach (int mount, int target_directory, const char *target)
{
  return (int) syscall (SYS_move_mount, mount, "", target_directory, target,
                        MOVE_MOUNT_F_EMPTY_PATH | (*target == '\0' ? MOVE_MOUNT_T_EMPTY_PATH : 0));
}

static inline int
sys_pidfd_signal (int pidfd, int number)
{
  return (int) syscall (SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}

static inline int
sys_close_range (unsigned first, unsigned last)
{
  return (int) syscall (SYS_close_range, first, last, 0);
}
