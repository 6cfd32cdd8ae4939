/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs the generated programs in an interpreter of our own, so that the verdicts of all four architectures are seen on any machine. The
 * numbers of the calls are written out here: the generator's source for them is libseccomp, this table's are the kernel's headers. */

#include <errno.h>
#include <glib.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "glove-seccomp-programs.h"

#define ALLOW SECCOMP_RET_ALLOW
#define KILL SECCOMP_RET_KILL_PROCESS
#define NO(e) (SECCOMP_RET_ERRNO | (e))
#define N_ARCHITECTURES 4

static const struct {
  const char *name;
  guint32 audit;
  const struct sock_filter *agent, *init;
  gsize agent_length, init_length;
} architectures[N_ARCHITECTURES] = {
  { "x86_64", AUDIT_ARCH_X86_64, glove_seccomp_agent_x86_64, glove_seccomp_init_x86_64,
    G_N_ELEMENTS (glove_seccomp_agent_x86_64), G_N_ELEMENTS (glove_seccomp_init_x86_64) },
  { "aarch64", AUDIT_ARCH_AARCH64, glove_seccomp_agent_aarch64, glove_seccomp_init_aarch64,
    G_N_ELEMENTS (glove_seccomp_agent_aarch64), G_N_ELEMENTS (glove_seccomp_init_aarch64) },
  { "i386", AUDIT_ARCH_I386, glove_seccomp_agent_i386, glove_seccomp_init_i386, G_N_ELEMENTS (glove_seccomp_agent_i386),
    G_N_ELEMENTS (glove_seccomp_init_i386) },
  { "arm", AUDIT_ARCH_ARM, glove_seccomp_agent_arm, glove_seccomp_init_arm, G_N_ELEMENTS (glove_seccomp_agent_arm),
    G_N_ELEMENTS (glove_seccomp_init_arm) },
};

/* The instructions that seccomp takes (kernel/seccomp.c, seccomp_check_filter) and libseccomp makes. Anything else fails the test. */
static guint32
interpret (const struct sock_filter *program, gsize length, const struct seccomp_data *data)
{
  guint32 accumulator = 0;

  for (gsize at = 0; at < length; at++)
    {
      const struct sock_filter *i = &program[at];
      gboolean taken;

      switch (i->code)
        {
        case BPF_LD | BPF_W | BPF_ABS:
          g_assert_cmpuint (i->k, <=, sizeof *data - 4);
          memcpy (&accumulator, (const guint8 *) data + i->k, 4);
          continue;
        case BPF_ALU | BPF_AND | BPF_K:
          accumulator &= i->k;
          continue;
        case BPF_JMP | BPF_JA:
          at += i->k;
          continue;
        case BPF_RET | BPF_K:
          return i->k;
        case BPF_JMP | BPF_JEQ | BPF_K:
          taken = accumulator == i->k;
          break;
        case BPF_JMP | BPF_JGT | BPF_K:
          taken = accumulator > i->k;
          break;
        case BPF_JMP | BPF_JGE | BPF_K:
          taken = accumulator >= i->k;
          break;
        case BPF_JMP | BPF_JSET | BPF_K:
          taken = (accumulator & i->k) != 0;
          break;
        default:
          g_error ("an instruction that seccomp does not take: 0x%x", i->code);
        }
      at += taken ? i->jt : i->jf;
    }
  g_error ("the program runs over its end");
}

/* -1: the architecture does not have the call; SAME: one number everywhere, the first. */
#define NONE -1
#define SAME -2

typedef struct {
  const char *name;
  int number[N_ARCHITECTURES];
  guint64 argument[3];
  guint32 verdict;
} Case;

#define EVERYWHERE(n) { n, SAME, SAME, SAME }
#define HIGH G_GUINT64_CONSTANT (0x100000000)
#define JUNK G_GUINT64_CONSTANT (0xdeadbeef00000000)

#define OPENAT { 257, 56, 295, 322 }
#define OPEN { 2, NONE, 5, 5 }
#define CLONE { 56, 220, 120, 120 }
#define IOCTL { 16, 29, 54, 54 }
#define SOCKET { 41, 198, 359, 281 }
#define FCNTL { 72, 25, 55, 55 }
#define PRCTL { 157, 167, 172, 172 }
#define SOCKETPAIR { 53, 199, 360, 288 }
#define FCHMODAT { 268, 53, 306, 333 }
#define MKNODAT { 259, 33, 297, 324 }
#define PERSONALITY { 135, 92, 136, 136 }
#define SOCKETCALL { NONE, NONE, 102, NONE }

static const Case cases[] = {
  /* what everything needs */
  { "read", { 0, 63, 3, 3 }, { 0 }, ALLOW },
  { "execve", { 59, 221, 11, 11 }, { 0 }, ALLOW },
  { "execveat", { 322, 281, 358, 387 }, { 0 }, ALLOW },
  { "futex", { 202, 98, 240, 240 }, { 0 }, ALLOW },
  { "rseq", { 334, 293, 386, 398 }, { 0 }, ALLOW },
  { "set_robust_list", { 273, 99, 311, 338 }, { 0 }, ALLOW },
  { "membarrier", { 324, 283, 375, 389 }, { 0 }, ALLOW },
  { "statx", { 332, 291, 383, 397 }, { 0 }, ALLOW },
  { "copy_file_range", { 326, 285, 377, 391 }, { 0 }, ALLOW },
  { "splice", { 275, 76, 313, 340 }, { 0 }, ALLOW },
  { "sendfile", { 40, 71, 187, 187 }, { 0 }, ALLOW },
  { "getrandom", { 318, 278, 355, 384 }, { 0 }, ALLOW },
  { "memfd_create", { 319, 279, 356, 385 }, { 0 }, ALLOW },
  { "inotify_init1", { 294, 26, 332, 360 }, { 0 }, ALLOW },
  { "epoll_create1", { 291, 20, 329, 357 }, { 0 }, ALLOW },
  { "timerfd_create", { 283, 85, 322, 350 }, { 0 }, ALLOW },
  { "signalfd4", { 289, 74, 327, 355 }, { 0 }, ALLOW },
  { "prlimit64", { 302, 261, 340, 369 }, { 0 }, ALLOW },
  { "sched_setaffinity", { 203, 122, 241, 241 }, { 0 }, ALLOW },
  { "mlock", { 149, 228, 150, 150 }, { 0 }, ALLOW },
  { "get_mempolicy", { 239, 236, 275, 320 }, { 0 }, ALLOW },
  { "clock_gettime64", { NONE, NONE, 403, 403 }, { 0 }, ALLOW },
  { "cacheflush", { NONE, NONE, NONE, 0xf0002 }, { 0 }, ALLOW },
  { "set_tls", { NONE, NONE, NONE, 0xf0005 }, { 0 }, ALLOW },
  { "arch_prctl", { 158, NONE, 384, NONE }, { 0 }, ALLOW },
  { "pidfd_open", EVERYWHERE (434), { 0 }, ALLOW },
  { "pidfd_send_signal", EVERYWHERE (424), { 0 }, ALLOW },
  { "close_range", EVERYWHERE (436), { 0 }, ALLOW },
  { "faccessat2", EVERYWHERE (439), { 0 }, ALLOW },
  { "epoll_pwait2", EVERYWHERE (441), { 0 }, ALLOW },
  { "landlock_create_ruleset", EVERYWHERE (444), { 0 }, ALLOW },
  { "landlock_restrict_self", EVERYWHERE (446), { 0 }, ALLOW },
  { "futex_waitv", EVERYWHERE (449), { 0 }, ALLOW },
  { "cachestat", EVERYWHERE (451), { 0 }, ALLOW },
  { "futex_wait", EVERYWHERE (455), { 0 }, ALLOW },
  { "mseal", EVERYWHERE (462), { 0 }, ALLOW },
  /* what should look as if this kernel did not have it */
  { "clone3", EVERYWHERE (435), { 0 }, NO (ENOSYS) },
  { "openat2", EVERYWHERE (437), { 0 }, NO (ENOSYS) },
  { "fchmodat2", EVERYWHERE (452), { 0 }, NO (ENOSYS) },
  { "io_setup", { 206, 0, 245, 243 }, { 0 }, NO (ENOSYS) },
  { "io_submit", { 209, 2, 248, 246 }, { 0 }, NO (ENOSYS) },
  { "io_uring_setup", EVERYWHERE (425), { 0 }, NO (ENOSYS) },
  { "io_uring_enter", EVERYWHERE (426), { 0 }, NO (ENOSYS) },
  { "io_uring_register", EVERYWHERE (427), { 0 }, NO (ENOSYS) },
  { "memfd_secret", EVERYWHERE (447), { 0 }, NO (ENOSYS) },
  { "bpf", { 321, 280, 357, 386 }, { 0 }, NO (ENOSYS) },
  { "userfaultfd", { 323, 282, 374, 388 }, { 0 }, NO (ENOSYS) },
  { "perf_event_open", { 298, 241, 336, 364 }, { 0 }, NO (ENOSYS) },
  { "setxattrat", EVERYWHERE (463), { 0 }, NO (ENOSYS) },
  { "file_setattr", EVERYWHERE (469), { 0 }, NO (ENOSYS) },
  { "one that is not there yet", EVERYWHERE (999), { 0 }, NO (ENOSYS) },
  { "a skipped call", EVERYWHERE (-1), { 0 }, NO (ENOSYS) },
  /* what is refused */
  { "mount", { 165, 40, 21, 21 }, { 0 }, NO (EPERM) },
  { "umount2", { 166, 39, 52, 52 }, { 0 }, NO (EPERM) },
  { "pivot_root", { 155, 41, 217, 218 }, { 0 }, NO (EPERM) },
  { "chroot", { 161, 51, 61, 61 }, { 0 }, NO (EPERM) },
  { "open_tree", EVERYWHERE (428), { 0 }, NO (EPERM) },
  { "move_mount", EVERYWHERE (429), { 0 }, NO (EPERM) },
  { "fsopen", EVERYWHERE (430), { 0 }, NO (EPERM) },
  { "fsconfig", EVERYWHERE (431), { 0 }, NO (EPERM) },
  { "fsmount", EVERYWHERE (432), { 0 }, NO (EPERM) },
  { "fspick", EVERYWHERE (433), { 0 }, NO (EPERM) },
  { "mount_setattr", EVERYWHERE (442), { 0 }, NO (EPERM) },
  { "statmount", EVERYWHERE (457), { 0 }, NO (EPERM) },
  { "listmount", EVERYWHERE (458), { 0 }, NO (EPERM) },
  { "open_tree_attr", EVERYWHERE (467), { 0 }, NO (EPERM) },
  { "unshare", { 272, 97, 310, 337 }, { 0 }, NO (EPERM) },
  { "setns", { 308, 268, 346, 375 }, { 0 }, NO (EPERM) },
  { "ptrace", { 101, 117, 26, 26 }, { 0 }, NO (EPERM) },
  { "process_vm_readv", { 310, 270, 347, 376 }, { 0 }, NO (EPERM) },
  { "process_vm_writev", { 311, 271, 348, 377 }, { 0 }, NO (EPERM) },
  { "pidfd_getfd", EVERYWHERE (438), { 0 }, NO (EPERM) },
  { "keyctl", { 250, 219, 288, 311 }, { 0 }, NO (EPERM) },
  { "add_key", { 248, 217, 286, 309 }, { 0 }, NO (EPERM) },
  { "request_key", { 249, 218, 287, 310 }, { 0 }, NO (EPERM) },
  { "open_by_handle_at", { 304, 265, 342, 371 }, { 0 }, NO (EPERM) },
  { "name_to_handle_at", { 303, 264, 341, 370 }, { 0 }, NO (EPERM) },
  { "fanotify_init", { 300, 262, 338, 367 }, { 0 }, NO (EPERM) },
  { "kexec_load", { 246, 104, 283, 347 }, { 0 }, NO (EPERM) },
  { "init_module", { 175, 105, 128, 128 }, { 0 }, NO (EPERM) },
  { "finit_module", { 313, 273, 350, 379 }, { 0 }, NO (EPERM) },
  { "delete_module", { 176, 106, 129, 129 }, { 0 }, NO (EPERM) },
  { "iopl", { 172, NONE, 110, NONE }, { 0 }, NO (EPERM) },
  { "modify_ldt", { 154, NONE, 123, NONE }, { 0 }, NO (EPERM) },
  { "syslog", { 103, 116, 103, 103 }, { 0 }, NO (EPERM) },
  /* clone: threads and processes, no namespace */
  { "clone a process", CLONE, { 17 }, ALLOW },
  { "clone a thread", CLONE, { 0x3d0f00 }, ALLOW },
  { "clone with only high bits", CLONE, { JUNK | 17 }, ALLOW },
  { "clone NEWNS", CLONE, { 0x00020000 }, NO (EPERM) },
  { "clone NEWCGROUP", CLONE, { 0x02000000 }, NO (EPERM) },
  { "clone NEWUTS", CLONE, { 0x04000000 }, NO (EPERM) },
  { "clone NEWIPC", CLONE, { 0x08000000 }, NO (EPERM) },
  { "clone NEWUSER", CLONE, { 0x10000000 }, NO (EPERM) },
  { "clone NEWPID", CLONE, { 0x20000000 }, NO (EPERM) },
  { "clone NEWNET", CLONE, { 0x40000000 }, NO (EPERM) },
  { "clone NEWUSER among others", CLONE, { JUNK | 0x10000000 | 0x3d0f00 }, NO (EPERM) },
  /* modes */
  { "openat to read, junk for a mode", OPENAT, { 0, 0, 0 }, ALLOW },
  { "open to read, junk for a mode", OPEN, { 0, 0, 07777 }, ALLOW },
  { "open to make 0755", OPEN, { 0, 0101, 0755 }, ALLOW },
  { "open to make 01777", OPEN, { 0, 0101, 01777 }, ALLOW },
  { "open to make 04755", OPEN, { 0, 0101, 04755 }, NO (EPERM) },
  { "open to make 02755", OPEN, { 0, 0101, 02755 }, NO (EPERM) },
  { "open O_TMPFILE 04755", OPEN, { 0, 020200002, 04755 }, NO (EPERM) },
  { "open O_TMPFILE 0600", OPEN, { 0, 020200002, 0600 }, ALLOW },
  { "open to make 04755, high bits", OPEN, { 0, JUNK | 0101, JUNK | 04755 }, NO (EPERM) },
  { "creat 04755", { 85, NONE, 8, 8 }, { 0, 04755 }, NO (EPERM) },
  { "creat 0644", { 85, NONE, 8, 8 }, { 0, 0644 }, ALLOW },
  { "chmod 04755", { 90, NONE, 15, 15 }, { 0, 04755 }, NO (EPERM) },
  { "chmod 01755", { 90, NONE, 15, 15 }, { 0, 01755 }, ALLOW },
  { "fchmod 02755", { 91, 52, 94, 94 }, { 0, 02755 }, NO (EPERM) },
  { "fchmod 0755", { 91, 52, 94, 94 }, { 0, 0755 }, ALLOW },
  { "fchmodat 06755", FCHMODAT, { 0, 0, 06755 }, NO (EPERM) },
  { "fchmodat 0644", FCHMODAT, { 0, 0, 0644 }, ALLOW },
  { "mknod 0104755", { 133, NONE, 14, 14 }, { 0, 0104755 }, NO (EPERM) },
  { "mknodat fifo", MKNODAT, { 0, 0, 0010644 }, ALLOW },
  { "mknodat 0102644", MKNODAT, { 0, 0, 0102644 }, NO (EPERM) },
  /* terminals */
  { "ioctl TCGETS", IOCTL, { 0, 0x5401 }, ALLOW },
  { "ioctl TIOCSTI", IOCTL, { 0, 0x5412 }, NO (EPERM) },
  { "ioctl TIOCSTI + 2^32", IOCTL, { 0, HIGH | 0x5412 }, NO (EPERM) },
  { "ioctl TIOCSTI, sign extended", IOCTL, { 0, G_GUINT64_CONSTANT (0xffffffff00005412) }, NO (EPERM) },
  { "ioctl TIOCLINUX", IOCTL, { 0, 0x541c }, NO (EPERM) },
  { "ioctl TIOCLINUX + 2^32", IOCTL, { 0, HIGH | 0x541c }, NO (EPERM) },
  { "ioctl TIOCCONS", IOCTL, { 0, 0x541d }, NO (EPERM) },
  { "ioctl TIOCSETD", IOCTL, { 0, 0x5423 }, NO (EPERM) },
  { "ioctl TIOCGWINSZ", IOCTL, { 0, 0x5413 }, ALLOW },
  { "ioctl FICLONE", IOCTL, { 0, 0x40049409 }, ALLOW },
  { "ioctl FICLONERANGE", IOCTL, { 0, 0x4020940d }, ALLOW },
  { "ioctl FIDEDUPERANGE", IOCTL, { 0, 0xc0189436 }, ALLOW },
  { "ioctl BTRFS_IOC_SNAP_CREATE", IOCTL, { 0, 0x50009401 }, NO (EPERM) },
  { "ioctl BTRFS_IOC_SNAP_CREATE_V2 + 2^32", IOCTL, { 0, HIGH | 0x50009417 }, NO (EPERM) },
  { "ioctl FICLONE of another size", IOCTL, { 0, 0x40089409 }, NO (EPERM) },
  { "ioctl BCH_IOCTL_SUBVOLUME_CREATE", IOCTL, { 0, 0x4020bc10 }, NO (EPERM) },
  { "ioctl FS_IOC_ADD_ENCRYPTION_KEY", IOCTL, { 0, 0xc0506617 }, NO (EPERM) },
  { "ioctl FS_IOC_REMOVE_ENCRYPTION_KEY", IOCTL, { 0, JUNK | 0xc0406618 }, NO (EPERM) },
  { "ioctl FS_IOC_REMOVE_ENCRYPTION_KEY_ALL_USERS", IOCTL, { 0, 0xc0406619 }, NO (EPERM) },
  { "ioctl FS_IOC_SET_ENCRYPTION_POLICY", IOCTL, { 0, 0x800c6613 }, NO (EPERM) },
  { "ioctl FS_IOC_GETFLAGS", IOCTL, { 0, 0x80086601 }, ALLOW },
  { "ioctl FIONREAD", IOCTL, { 0, 0x541b }, ALLOW },
  /* leases and notices */
  { "fcntl F_GETFL", FCNTL, { 0, 3 }, ALLOW },
  { "fcntl F_OFD_SETLKW", FCNTL, { 0, 38 }, ALLOW },
  { "fcntl F_DUPFD_CLOEXEC", FCNTL, { 0, 1030 }, ALLOW },
  { "fcntl F_ADD_SEALS", FCNTL, { 0, 1033 }, ALLOW },
  { "fcntl F_SETLEASE", FCNTL, { 0, 1024 }, NO (EPERM) },
  { "fcntl F_SETLEASE + 2^32", FCNTL, { 0, HIGH | 1024 }, NO (EPERM) },
  { "fcntl F_NOTIFY", FCNTL, { 0, 1026 }, NO (EPERM) },
  { "fcntl F_SETDELEG", FCNTL, { 0, 1040 }, NO (EPERM) },
  { "fcntl64 F_SETLEASE", { NONE, NONE, 221, 221 }, { 0, 1024 }, NO (EPERM) },
  { "fcntl64 F_SETFL", { NONE, NONE, 221, 221 }, { 0, 4 }, ALLOW },
  /* prctl */
  { "prctl PR_SET_NAME", PRCTL, { 15 }, ALLOW },
  { "prctl PR_SET_NO_NEW_PRIVS", PRCTL, { 38 }, ALLOW },
  { "prctl PR_SCHED_CORE", PRCTL, { 62 }, NO (EPERM) },
  { "prctl PR_SCHED_CORE, high bits", PRCTL, { JUNK | 62 }, NO (EPERM) },
  /* sockets */
  { "socket AF_UNIX", SOCKET, { 1, 1, 0 }, ALLOW },
  { "socket AF_INET", SOCKET, { 2, 1, 6 }, ALLOW },
  { "socket AF_INET6", SOCKET, { 10, 2, 0 }, ALLOW },
  { "socket AF_INET, flags", SOCKET, { 2, 02004001, 0 }, ALLOW },
  { "socket AF_INET ping", SOCKET, { 2, 2, 1 }, ALLOW },
  { "socket AF_INET6 ping", SOCKET, { 10, 2, 58 }, ALLOW },
  { "socket AF_INET raw, for the kernel to refuse", SOCKET, { 2, 3, 1 }, ALLOW },
  { "socket AF_INET SCTP", SOCKET, { 2, 1, 132 }, NO (EPROTONOSUPPORT) },
  { "socket AF_INET6 UDP-Lite", SOCKET, { 10, 2, 136 }, NO (EPROTONOSUPPORT) },
  { "socket AF_INET MPTCP", SOCKET, { 2, 1, 262 }, NO (EPROTONOSUPPORT) },
  { "socket AF_INET L2TP + 2^32", SOCKET, { HIGH | 2, HIGH | 2, HIGH | 115 }, NO (EPROTONOSUPPORT) },
  { "socket AF_INET DCCP", SOCKET, { 2, 6, 0 }, NO (ESOCKTNOSUPPORT) },
  { "socket AF_INET SEQPACKET", SOCKET, { 2, 5, 132 }, NO (ESOCKTNOSUPPORT) },
  { "socket AF_INET PACKET", SOCKET, { 2, 02000012, 0 }, NO (ESOCKTNOSUPPORT) },
  { "socket AF_NETLINK route", SOCKET, { 16, 3, 0 }, ALLOW },
  { "socket AF_NETLINK audit", SOCKET, { 16, 3, 9 }, NO (EAFNOSUPPORT) },
  { "socket AF_NETLINK netfilter", SOCKET, { 16, 3, 12 }, NO (EAFNOSUPPORT) },
  { "socket AF_NETLINK + 2^32", SOCKET, { HIGH | 16, 3, 15 }, NO (EAFNOSUPPORT) },
  { "socket AF_PACKET", SOCKET, { 17, 3, 0 }, NO (EAFNOSUPPORT) },
  { "socket AF_ALG", SOCKET, { 38, 5, 0 }, NO (EAFNOSUPPORT) },
  { "socket AF_VSOCK", SOCKET, { 40, 1, 0 }, NO (EAFNOSUPPORT) },
  { "socket AF_XDP", SOCKET, { 44, 3, 0 }, NO (EAFNOSUPPORT) },
  { "socket AF_KEY", SOCKET, { 15, 3, 2 }, NO (EAFNOSUPPORT) },
  { "socketpair AF_UNIX", SOCKETPAIR, { 1, 1, 0 }, ALLOW },
  { "socketpair AF_TIPC", SOCKETPAIR, { 30, 5, 0 }, NO (EAFNOSUPPORT) },
  { "socketcall socket", SOCKETCALL, { 1 }, NO (ENOSYS) },
  { "socketcall socketpair", SOCKETCALL, { 8 }, NO (ENOSYS) },
  { "socketcall connect", SOCKETCALL, { 3 }, ALLOW },
  { "socketcall sendmsg", SOCKETCALL, { 16 }, ALLOW },
  /* personality */
  { "personality, asked", PERSONALITY, { 0xffffffff }, ALLOW },
  { "personality PER_LINUX", PERSONALITY, { 0 }, ALLOW },
  { "personality ADDR_NO_RANDOMIZE", PERSONALITY, { 0x0040000 }, NO (EPERM) },
  { "personality READ_IMPLIES_EXEC", PERSONALITY, { 0x0400000 }, NO (EPERM) },
};

static guint32
judge (gsize architecture, guint32 audit, int number, const guint64 *argument)
{
  struct seccomp_data data = { .nr = number, .arch = audit, .args = { argument[0], argument[1], argument[2] } };

  return interpret (architectures[architecture].agent, architectures[architecture].agent_length, &data);
}

static void
test_verdicts (void)
{
  for (gsize a = 0; a < N_ARCHITECTURES; a++)
    for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
      {
        int number = cases[i].number[a] == SAME ? cases[i].number[0] : cases[i].number[a];
        guint32 verdict;

        if (number == NONE && cases[i].number[1] != SAME)
          continue;
        verdict = judge (a, architectures[a].audit, number, cases[i].argument);
        if (verdict != cases[i].verdict)
          g_error ("%s, %s: 0x%x instead of 0x%x", architectures[a].name, cases[i].name, verdict, cases[i].verdict);
      }
}

/* The architecture is looked at first: the same number means something else there. */
static void
test_foreign_architectures (void)
{
  const guint64 none[3] = { 0 };
  const guint32 others[] = { AUDIT_ARCH_RISCV64, AUDIT_ARCH_S390X, 0, 0xffffffff };

  for (gsize a = 0; a < N_ARCHITECTURES; a++)
    {
      for (gsize b = 0; b < N_ARCHITECTURES; b++)
        for (int number = 0; number < 512; number++)
          if (a != b)
            g_assert_cmphex (judge (a, architectures[b].audit, number, none), ==, KILL);
      for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
        g_assert_cmphex (judge (a, others[i], 0, none), ==, KILL);
    }
}

static void
test_x32 (void)
{
  const guint64 none[3] = { 0 };

  for (int number = 0; number < 600; number++)
    g_assert_cmphex (judge (0, AUDIT_ARCH_X86_64, 0x40000000 | number, none), ==, NO (ENOSYS));
}

/* No number does anything but run into one of four verdicts, and none that a newer kernel may give a meaning is allowed. */
static void
test_every_number (void)
{
  const guint64 none[3] = { 0 };

  for (gsize a = 0; a < N_ARCHITECTURES; a++)
    for (int number = 0; number < 2000; number++)
      {
        guint32 verdict = judge (a, architectures[a].audit, number, none);

        g_assert_true (verdict == ALLOW || verdict == NO (EPERM) || verdict == NO (ENOSYS) || verdict == NO (EAFNOSUPPORT));
        if (number > 467)
          g_assert_cmphex (verdict, ==, NO (ENOSYS));
      }
}

/* PID 1 may do what its loop does, and start nothing. */
static void
test_init (void)
{
  const struct {
    int number[N_ARCHITECTURES];
    guint32 verdict;
  } calls[] = {
    { { 47, 212, 372, 297 }, ALLOW },      /* recvmsg */
    { { 61, 260, 114, 114 }, ALLOW },      /* wait4 */
    { { 62, 129, 37, 37 }, ALLOW },        /* kill */
    { { 231, 94, 252, 248 }, ALLOW },      /* exit_group */
    { { 288, 242, 364, 366 }, ALLOW },     /* accept4 */
    { { 59, 221, 11, 11 }, NO (ENOSYS) },  /* execve */
    { { 257, 56, 295, 322 }, NO (ENOSYS) }, /* openat */
    { { 56, 220, 120, 120 }, NO (ENOSYS) }, /* clone */
    { { 41, 198, 359, 281 }, NO (ENOSYS) }, /* socket */
    { { 101, 117, 26, 26 }, NO (ENOSYS) },  /* ptrace */
    { { 165, 40, 21, 21 }, NO (ENOSYS) },   /* mount */
  };

  for (gsize a = 0; a < N_ARCHITECTURES; a++)
    for (gsize i = 0; i < G_N_ELEMENTS (calls); i++)
      {
        struct seccomp_data data = { .nr = calls[i].number[a], .arch = architectures[a].audit };

        g_assert_cmphex (interpret (architectures[a].init, architectures[a].init_length, &data), ==, calls[i].verdict);
        data.arch ^= 1;
        g_assert_cmphex (interpret (architectures[a].init, architectures[a].init_length, &data), ==, KILL);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/linux/seccomp/verdicts", test_verdicts);
  g_test_add_func ("/linux/seccomp/foreign-architectures", test_foreign_architectures);
  g_test_add_func ("/linux/seccomp/x32", test_x32);
  g_test_add_func ("/linux/seccomp/every-number", test_every_number);
  g_test_add_func ("/linux/seccomp/init", test_init);
  return g_test_run ();
}
