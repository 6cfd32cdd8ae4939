/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <stdint.h>

/* What the backend module and glove-launch say to each other. No GLib here: glove-launch has none.
 *
 * THE LAUNCH SPEC, version 1: one sealed memfd, inherited as descriptor GLOVE_LAUNCH_SPEC_FD; argv[1] of glove-launch is its number in
 * decimal. All integers big-endian. string = u32 length, then the bytes, no NUL among them, no terminator. Descriptors are numbers in
 * glove-launch's own table (the module lets them be inherited under their own numbers); GLOVE_LAUNCH_NO_FD is none. Unknown flags, a
 * trailing byte, a count past its bound: the spec is refused as a whole.
 *
 *   8 bytes  magic GLOVE_LAUNCH_MAGIC
 *   u32      version
 *   u32      length of the whole spec in bytes
 *   u32      flags (GLOVE_LAUNCH_FLAG_*)
 *   u32      uid and u32 gid inside;  u32 uid and u32 gid on the host
 *   u32      rows, u32 columns (0 without a terminal)
 *   u32 × 7  descriptors: monitor socket, egress channel, stdin, stdout, stderr, cgroup directory, its parent directory
 *   string   cgroup name below the parent (empty: none), removed at the end
 *   string   host name inside
 *   string   working directory
 *   string   executable (empty: look argv[0] up in PATH)
 *   string   home directory
 *   u64 × 4  bytes of: the root tmpfs, home, tmp, shm
 *   u32 × 4  inodes of the same
 *   u32 n    rlimits: { u32 resource, u64 soft, u64 hard }
 *   u32 n    user-namespace quotas: { string name below /proc/sys/user, u64 value }
 *   u32 n    argv: string …
 *   u32 n    environment: string …
 *   u32 n    grants: { u32 access, u32 flags, u32 fd, string host path, string target path, u64 dev, u64 ino, u32 mode }
 *   u32 n    files: { u32 flags, u32 mode, string absolute path inside, string content }, a directory before what lies in it
 *   u32 n    listeners: { u32 tag, u32 port }
 */
#define GLOVE_LAUNCH_MAGIC "GLVLSPEC"
#define GLOVE_LAUNCH_VERSION 1u
#define GLOVE_LAUNCH_NO_FD 0xffffffffu

#define GLOVE_LAUNCH_FLAG_TTY (1u << 0)      /* a terminal of its own */
#define GLOVE_LAUNCH_FLAG_MAP_ID (1u << 1)   /* run by root: the host ids above are foreign, so the maps are written from outside
                                                and every grant is already a detached, id-mapped mount */
#define GLOVE_LAUNCH_FLAG_NO_LANDLOCK (1u << 2) /* tests of the fall-back only */
#define GLOVE_LAUNCH_FLAGS_ALL 7u

#define GLOVE_LAUNCH_ACCESS_READ 0u
#define GLOVE_LAUNCH_ACCESS_WRITE 1u
#define GLOVE_LAUNCH_ACCESS_MASK 2u

#define GLOVE_LAUNCH_GRANT_DIRECTORY (1u << 0)
#define GLOVE_LAUNCH_GRANT_DETACHED (1u << 1) /* fd is a detached mount, not an O_PATH descriptor */

#define GLOVE_LAUNCH_FILE_DIRECTORY (1u << 0)
#define GLOVE_LAUNCH_FILE_OWNER_ROOT (1u << 1) /* not the agent's: /etc/passwd and the like */

/* bounds, as in core/base/glove-bounds.h (a unit test compares them) */
#define GLOVE_LAUNCH_SPEC_MAX (32u * 1024 * 1024)
#define GLOVE_LAUNCH_STRING_MAX (128u * 1024)
#define GLOVE_LAUNCH_ARGV_MAX 4096u
#define GLOVE_LAUNCH_ENV_MAX 1024u
#define GLOVE_LAUNCH_GRANTS_MAX (512u + 4096u)
#define GLOVE_LAUNCH_FILES_MAX 512u
#define GLOVE_LAUNCH_FILE_BYTES_MAX (16u * 1024 * 1024)
#define GLOVE_LAUNCH_LISTENERS_MAX 64u
#define GLOVE_LAUNCH_RLIMITS_MAX 16u
#define GLOVE_LAUNCH_QUOTAS_MAX 32u

/* THE MONITOR SOCKET: AF_UNIX, SOCK_SEQPACKET. Each packet is one message of 64 bytes, integers in host order (both ends are one
 * build on one machine; the version travels in HELLO). Unused fields are 0. A packet of another size or type ends the session.
 * End of file on the module's side: the sandbox is killed and everything removed. */
typedef struct {
  uint32_t type;
  uint32_t arg[3];
  uint64_t value[6];
} GloveLaunchMessage;

/* from glove-launch */
#define GLOVE_LAUNCH_HELLO 1u    /* arg: version, pid of PID 1 (host's view), Landlock ABI in force (0: none);
                                    value[0]: start time of PID 1 in ticks (field 22 of /proc/PID/stat) */
#define GLOVE_LAUNCH_PORT 2u     /* arg: tag, port that is listened on; one for each listener, before READY */
#define GLOVE_LAUNCH_READY 3u    /* everything is made; the agent waits */
#define GLOVE_LAUNCH_TERMINAL 4u /* with one descriptor: the terminal's master side; before READY */
#define GLOVE_LAUNCH_STARTED 5u  /* the agent executes */
#define GLOVE_LAUNCH_STOPPED 6u  /* arg: signal by which the agent stopped itself */
#define GLOVE_LAUNCH_FAILED 7u   /* arg: stage (GloveLaunchStage), errno, index of the grant, file, … (or ~0); then end of file */
#define GLOVE_LAUNCH_ENDED 8u    /* arg: wait status, 1 if value[0..4] were counted by a cgroup; value: CPU time in microseconds, peak
                                    memory in bytes (~0: not counted), peak pids (~0), processes killed for memory, forks refused;
                                    value[5]: CPU time of the reaped processes in microseconds, without a cgroup. Then end of file */
/* to glove-launch */
#define GLOVE_LAUNCH_START 16u
#define GLOVE_LAUNCH_SIGNAL 17u /* arg: signal number */
#define GLOVE_LAUNCH_KILL 18u
#define GLOVE_LAUNCH_FREEZE 19u /* arg: 1 freeze, 0 thaw; with a cgroup only */
#define GLOVE_LAUNCH_USAGE 20u  /* answered with a USAGE of the same fields as ENDED */
#define GLOVE_LAUNCH_USAGE_REPLY 9u

/* THE EGRESS CHANNEL: AF_UNIX, SOCK_SEQPACKET, from PID 1 to the module. Each packet: u32 tag in host order and exactly one descriptor, a
 * socket accepted on that tag's listener. What arrives is judged as the agent's. */

/* Where a launch failed. The module turns stage, errno and index into a message with a repair. Append only. */
typedef enum {
  GLOVE_LAUNCH_STAGE_SPEC = 1,       /* the spec is malformed */
  GLOVE_LAUNCH_STAGE_CLONE,          /* clone3 with the namespaces */
  GLOVE_LAUNCH_STAGE_USERNS_MAP,     /* uid_map, gid_map, setgroups */
  GLOVE_LAUNCH_STAGE_CGROUP,         /* CLONE_INTO_CGROUP */
  GLOVE_LAUNCH_STAGE_LOOPBACK,       /* bringing lo up */
  GLOVE_LAUNCH_STAGE_LISTEN,         /* a listener; index */
  GLOVE_LAUNCH_STAGE_QUOTA,          /* /proc/sys/user/max_*; index */
  GLOVE_LAUNCH_STAGE_GRANT_OPEN,     /* opening a grant again; index */
  GLOVE_LAUNCH_STAGE_GRANT_CHANGED,  /* it is not the pinned object; index */
  GLOVE_LAUNCH_STAGE_GRANT_CLONE,    /* open_tree; index */
  GLOVE_LAUNCH_STAGE_GRANT_SEAL,     /* mount_setattr; index */
  GLOVE_LAUNCH_STAGE_GRANT_TARGET,   /* making the mount point; index */
  GLOVE_LAUNCH_STAGE_GRANT_ATTACH,   /* move_mount; index */
  GLOVE_LAUNCH_STAGE_ROOT,           /* the root tmpfs */
  GLOVE_LAUNCH_STAGE_SYSTEM,         /* /usr and the merged-usr links */
  GLOVE_LAUNCH_STAGE_ETC,
  GLOVE_LAUNCH_STAGE_DEV,
  GLOVE_LAUNCH_STAGE_DEVPTS,
  GLOVE_LAUNCH_STAGE_PROC,           /* EPERM: mount too revealing */
  GLOVE_LAUNCH_STAGE_PROC_SEAL,      /* the read-only and empty parts of /proc */
  GLOVE_LAUNCH_STAGE_TMPFS,          /* home, tmp, shm */
  GLOVE_LAUNCH_STAGE_FILE,           /* a file of the spec; index */
  GLOVE_LAUNCH_STAGE_PIVOT,
  GLOVE_LAUNCH_STAGE_TERMINAL,
  GLOVE_LAUNCH_STAGE_RLIMIT,
  GLOVE_LAUNCH_STAGE_CREDENTIALS,    /* ids, capabilities, no_new_privs */
  GLOVE_LAUNCH_STAGE_LANDLOCK,
  GLOVE_LAUNCH_STAGE_SECCOMP,
  GLOVE_LAUNCH_STAGE_WORK_DIR,
  GLOVE_LAUNCH_STAGE_EXEC_LOOKUP,    /* no such program in PATH (ENOENT) */
  GLOVE_LAUNCH_STAGE_EXEC,           /* execve: ENOENT with the file there means its interpreter is missing */
  GLOVE_LAUNCH_STAGE_SUPERVISOR_GONE,
  GLOVE_LAUNCH_STAGE_INTERNAL,
} GloveLaunchStage;
