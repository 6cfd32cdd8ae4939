/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* System calls that must not be there, or must refuse. */

#include "glove-escape-probe.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <pty.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#define REFUSE(NAME, CALL, ...)                                                                                          \
  static ProbeVerdict probe_##NAME (void)                                                                                \
  {                                                                                                                      \
    return PROBE_MUST_FAIL (CALL, __VA_ARGS__);                                                                          \
  }

/* the mount interface, old and new */
REFUSE (mount_tmpfs, mount ("none", "/tmp", "tmpfs", 0, NULL), EPERM)
REFUSE (mount_bind, mount ("/usr", "/tmp", NULL, MS_BIND, NULL), EPERM)
REFUSE (mount_remount, mount (NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL), EPERM)
REFUSE (mount_propagation, mount (NULL, "/", NULL, MS_SHARED | MS_REC, NULL), EPERM)
REFUSE (umount, umount2 ("/proc", MNT_DETACH), EPERM)
REFUSE (fsopen, syscall (SYS_fsopen, "tmpfs", 0), EPERM)
REFUSE (fsconfig, syscall (SYS_fsconfig, 0, 0, NULL, NULL, 0), EPERM)
REFUSE (fsmount, syscall (SYS_fsmount, 0, 0, 0), EPERM)
REFUSE (fspick, syscall (SYS_fspick, AT_FDCWD, "/", 0), EPERM)
REFUSE (open_tree, syscall (SYS_open_tree, AT_FDCWD, "/usr", 1), EPERM)
REFUSE (move_mount, syscall (SYS_move_mount, AT_FDCWD, "/usr", AT_FDCWD, "/tmp", 0), EPERM)
REFUSE (mount_setattr, syscall (SYS_mount_setattr, AT_FDCWD, "/usr", 0, NULL, 0), EPERM)
REFUSE (pivot_root, syscall (SYS_pivot_root, "/", "/tmp"), EPERM)
REFUSE (chroot, chroot ("/tmp"), EPERM)

/* interfaces with a record of their own */
static char io_uring_parameters[256];
REFUSE (io_uring_setup, syscall (SYS_io_uring_setup, 4, io_uring_parameters), ENOSYS)
REFUSE (io_uring_enter, syscall (SYS_io_uring_enter, 0, 0, 0, 0, NULL, 0), ENOSYS)
REFUSE (io_uring_register, syscall (SYS_io_uring_register, 0, 0, NULL, 0), ENOSYS)
REFUSE (bpf, syscall (SYS_bpf, 0, NULL, 0), ENOSYS, EPERM)
REFUSE (userfaultfd, syscall (SYS_userfaultfd, 1), ENOSYS, EPERM)
REFUSE (perf_event_open, syscall (SYS_perf_event_open, NULL, 0, -1, -1, 0), ENOSYS, EPERM)
REFUSE (fanotify_init, syscall (SYS_fanotify_init, 0, 0), ENOSYS, EPERM)
REFUSE (memfd_secret, syscall (SYS_memfd_secret, 0), ENOSYS, EPERM)
REFUSE (openat2, syscall (SYS_openat2, AT_FDCWD, "/", NULL, 0), ENOSYS)
REFUSE (fchmodat2, syscall (SYS_fchmodat2, AT_FDCWD, "/tmp", 04755, 0), ENOSYS)
REFUSE (unknown_number, syscall (9999), ENOSYS)
REFUSE (keyctl, syscall (SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0), EPERM, ENOSYS)
REFUSE (add_key, syscall (SYS_add_key, "user", "glove", "x", 1, KEY_SPEC_PROCESS_KEYRING), EPERM, ENOSYS)
REFUSE (request_key, syscall (SYS_request_key, "user", "glove", NULL, 0), EPERM, ENOSYS)
REFUSE (open_by_handle, syscall (SYS_open_by_handle_at, AT_FDCWD, NULL, 0), EPERM, ENOSYS)
REFUSE (name_to_handle, syscall (SYS_name_to_handle_at, AT_FDCWD, "/", NULL, NULL, 0), EPERM, ENOSYS)

/* the machine */
REFUSE (reboot, syscall (SYS_reboot, 0xfee1dead, 672274793, 0, NULL), EPERM, ENOSYS)
REFUSE (kexec_load, syscall (SYS_kexec_load, 0, 0, NULL, 0), EPERM, ENOSYS)
REFUSE (init_module, syscall (SYS_init_module, NULL, 0, ""), EPERM, ENOSYS)
REFUSE (finit_module, syscall (SYS_finit_module, 0, "", 0), EPERM, ENOSYS)
REFUSE (delete_module, syscall (SYS_delete_module, "loop", 0), EPERM, ENOSYS)
REFUSE (swapon, syscall (SYS_swapon, "/tmp/x", 0), EPERM, ENOSYS)
REFUSE (acct, syscall (SYS_acct, NULL), EPERM, ENOSYS)
REFUSE (quotactl, syscall (SYS_quotactl, 0, NULL, 0, NULL), EPERM, ENOSYS)
REFUSE (syslog, syscall (SYS_syslog, 3, NULL, 0), EPERM, ENOSYS)
REFUSE (sethostname, sethostname ("escaped", 7), EPERM, ENOSYS)
REFUSE (settimeofday, clock_settime (CLOCK_REALTIME, &(struct timespec){ 1, 0 }), EPERM, ENOSYS)
REFUSE (vhangup, vhangup (), EPERM, ENOSYS)
#ifdef SYS_iopl
REFUSE (iopl, syscall (SYS_iopl, 3), EPERM, ENOSYS)
REFUSE (ioperm, syscall (SYS_ioperm, 0, 1, 1), EPERM, ENOSYS)
#endif

/* other processes */
REFUSE (ptrace_attach, ptrace (PTRACE_ATTACH, 1, NULL, NULL), EPERM, ENOSYS)
REFUSE (ptrace_seize_parent, ptrace (PTRACE_SEIZE, getppid (), NULL, NULL), EPERM, ENOSYS)
REFUSE (process_vm_readv, process_vm_readv (1, NULL, 0, NULL, 0, 0), EPERM, ENOSYS)
REFUSE (process_vm_writev, process_vm_writev (1, NULL, 0, NULL, 0, 0), EPERM, ENOSYS)
REFUSE (kcmp, syscall (SYS_kcmp, 1, getpid (), 0, 0, 0), EPERM, ENOSYS)
REFUSE (pidfd_getfd, syscall (SYS_pidfd_getfd, 0, 0, 0), EPERM, ENOSYS)

/* bits that would stay on the host's file */
REFUSE (chmod_setuid, chmod ("probe-file", 04755), EPERM)
REFUSE (chmod_setgid, chmod ("probe-file", 02755), EPERM)
REFUSE (fchmodat_setuid, fchmodat (AT_FDCWD, "probe-file", 04755, 0), EPERM)
REFUSE (open_setuid, open ("probe-setuid", O_CREAT | O_WRONLY | O_CLOEXEC, 04755), EPERM)
REFUSE (mknod_setuid, mknod ("probe-node", S_IFREG | 04755, 0), EPERM)
REFUSE (mknod_device, mknod ("probe-device", S_IFCHR | 0666, makedev (1, 1)), EPERM, EACCES)
REFUSE (mknod_block, mknod ("probe-block", S_IFBLK | 0666, makedev (254, 0)), EPERM, EACCES)

static ProbeVerdict
probe_fchmod_setuid (void)
{
  int fd = open ("probe-file", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ProbeVerdict verdict = PROBE_MUST_FAIL (fchmod (fd, 06755), EPERM);

  (void) close (fd);
  return verdict;
}

/* What would hold up the operator's own programs, or take from a store that the whole machine shares. */
static ProbeVerdict
try_fcntl (int command, long argument)
{
  int fd = open (".", O_RDONLY | O_CLOEXEC);
  ProbeVerdict verdict = PROBE_MUST_FAIL (fcntl (fd, command, argument), EPERM);

  (void) close (fd);
  return verdict;
}

static ProbeVerdict
probe_lease (void)
{
  return try_fcntl (F_SETLEASE, F_WRLCK);
}

static ProbeVerdict
probe_dnotify (void)
{
  return try_fcntl (F_NOTIFY, DN_CREATE);
}

static ProbeVerdict
probe_io_setup (void)
{
  unsigned long context = 0;

  return PROBE_MUST_FAIL (syscall (SYS_io_setup, 1, &context), ENOSYS);
}

REFUSE (core_scheduling, syscall (SYS_prctl, 62, 1, 0, 0, 0), EPERM)
REFUSE (sctp, socket (AF_INET, SOCK_STREAM, 132), EPROTONOSUPPORT)
REFUSE (dccp, socket (AF_INET6, 6, 0), ESOCKTNOSUPPORT)

static ProbeVerdict
try_folder_ioctl (unsigned long request)
{
  static char argument[8192];
  int fd = open (".", O_RDONLY | O_CLOEXEC);
  ProbeVerdict verdict = PROBE_MUST_FAIL (syscall (SYS_ioctl, fd, request, argument), EPERM);

  (void) close (fd);
  return verdict;
}

static ProbeVerdict
probe_snapshot (void)
{
  return try_folder_ioctl (0x50009417); /* BTRFS_IOC_SNAP_CREATE_V2 */
}

static ProbeVerdict
probe_encryption_key (void)
{
  return try_folder_ioctl (0xc0406618); /* FS_IOC_REMOVE_ENCRYPTION_KEY */
}

static ProbeVerdict
probe_terminals (void)
{
  int count = 0;

  while (count < 4096 && open ("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) >= 0)
    count++;
  probe_detail ("%d terminals, then %s", count, strerrorname_np (errno));
  (void) close_range (3, ~0U, 0);
  return count <= 256 && errno == ENOSPC ? PROBE_CONTAINED : PROBE_ESCAPED;
}

/* ioctls of terminals, on a terminal of our own: the number is compared as the kernel does, in its low 32 bits */
static ProbeVerdict
try_ioctl (unsigned long request)
{
  int master, slave;
  char byte = 'x';
  ProbeVerdict verdict;

  if (openpty (&master, &slave, NULL, NULL, NULL) != 0)
    {
      probe_detail ("no terminal can be made");
      return PROBE_ESCAPED;
    }
  verdict = PROBE_MUST_FAIL (syscall (SYS_ioctl, slave, request, &byte), EPERM);
  (void) close (master);
  (void) close (slave);
  return verdict;
}

#define REFUSE_IOCTL(NAME, REQUEST)                                                                                      \
  static ProbeVerdict probe_##NAME (void)                                                                                \
  {                                                                                                                      \
    return try_ioctl (REQUEST);                                                                                          \
  }

REFUSE_IOCTL (tiocsti, TIOCSTI)
REFUSE_IOCTL (tioclinux, TIOCLINUX)
REFUSE_IOCTL (tiocsetd, TIOCSETD)
REFUSE_IOCTL (tioccons, TIOCCONS)
#if UINTPTR_MAX > UINT32_MAX
REFUSE_IOCTL (tiocsti_high_bits, TIOCSTI + 0x100000000UL)
REFUSE_IOCTL (tioclinux_high_bits, TIOCLINUX + 0xff00000000UL)
#endif

#ifdef __x86_64__
REFUSE (x32_number, syscall (0x40000000 + SYS_getpid), ENOSYS)
REFUSE (x32_ptrace, syscall (0x40000000 + 521, 16, 1, 0, 0), ENOSYS)

/* getpid by the 32-bit gate: another architecture must end the process */
static ProbeVerdict
probe_foreign_architecture (void)
{
  pid_t child = fork ();
  int status = 0;

  if (child == 0)
    {
      long result = 20;

      __asm__ volatile ("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
      _exit (result > 0 ? 1 : 2);
    }
  (void) waitpid (child, &status, 0);
  probe_detail ("status %x", (unsigned) status);
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGSYS)
    return PROBE_CONTAINED;
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGSEGV)
    {
      probe_detail ("the kernel has no 32-bit system calls");
      return PROBE_SKIPPED;
    }
  return PROBE_ESCAPED;
}
#endif

const Probe probes_syscalls[] = {
  { "mount a tmpfs", probe_mount_tmpfs },
  { "bind a folder", probe_mount_bind },
  { "remount /usr for writing", probe_mount_remount },
  { "change mount propagation", probe_mount_propagation },
  { "umount /proc", probe_umount },
  { "fsopen", probe_fsopen },
  { "fsconfig", probe_fsconfig },
  { "fsmount", probe_fsmount },
  { "fspick", probe_fspick },
  { "open_tree with a clone", probe_open_tree },
  { "move_mount", probe_move_mount },
  { "mount_setattr", probe_mount_setattr },
  { "pivot_root", probe_pivot_root },
  { "chroot", probe_chroot },
  { "io_uring_setup", probe_io_uring_setup },
  { "io_uring_enter", probe_io_uring_enter },
  { "io_uring_register", probe_io_uring_register },
  { "bpf", probe_bpf },
  { "userfaultfd", probe_userfaultfd },
  { "perf_event_open", probe_perf_event_open },
  { "fanotify_init", probe_fanotify_init },
  { "memfd_secret", probe_memfd_secret },
  { "openat2 is absent, so that libc falls back", probe_openat2 },
  { "fchmodat2 is absent, so that libc falls back", probe_fchmodat2 },
  { "a system call number nobody knows", probe_unknown_number },
  { "keyctl", probe_keyctl },
  { "add_key", probe_add_key },
  { "request_key", probe_request_key },
  { "open_by_handle_at", probe_open_by_handle },
  { "name_to_handle_at", probe_name_to_handle },
  { "reboot", probe_reboot },
  { "kexec_load", probe_kexec_load },
  { "init_module", probe_init_module },
  { "finit_module", probe_finit_module },
  { "delete_module", probe_delete_module },
  { "swapon", probe_swapon },
  { "acct", probe_acct },
  { "quotactl", probe_quotactl },
  { "read the kernel log", probe_syslog },
  { "sethostname", probe_sethostname },
  { "set the clock", probe_settimeofday },
  { "vhangup", probe_vhangup },
#ifdef SYS_iopl
  { "iopl", probe_iopl },
  { "ioperm", probe_ioperm },
#endif
  { "ptrace PID 1", probe_ptrace_attach },
  { "ptrace the parent", probe_ptrace_seize_parent },
  { "process_vm_readv", probe_process_vm_readv },
  { "process_vm_writev", probe_process_vm_writev },
  { "kcmp", probe_kcmp },
  { "pidfd_getfd", probe_pidfd_getfd },
  { "fchmod with setuid and setgid", probe_fchmod_setuid },
  { "chmod with setuid", probe_chmod_setuid },
  { "chmod with setgid", probe_chmod_setgid },
  { "fchmodat with setuid", probe_fchmodat_setuid },
  { "open with setuid", probe_open_setuid },
  { "mknod with setuid", probe_mknod_setuid },
  { "make a character device", probe_mknod_device },
  { "make a block device", probe_mknod_block },
  { "take a lease", probe_lease },
  { "have notices of a folder without a quota", probe_dnotify },
  { "io_setup, whose places the machine shares", probe_io_setup },
  { "take a core from the others", probe_core_scheduling },
  { "have the kernel load a protocol", probe_sctp },
  { "have the kernel load a type of socket", probe_dccp },
  { "make a snapshot of a subvolume", probe_snapshot },
  { "remove a key of encrypted folders", probe_encryption_key },
  { "use up the terminals", probe_terminals },
  { "TIOCSTI", probe_tiocsti },
  { "TIOCLINUX", probe_tioclinux },
  { "TIOCSETD", probe_tiocsetd },
  { "TIOCCONS", probe_tioccons },
#if UINTPTR_MAX > UINT32_MAX
  { "TIOCSTI with high bits", probe_tiocsti_high_bits },
  { "TIOCLINUX with high bits", probe_tioclinux_high_bits },
#endif
#ifdef __x86_64__
  { "an x32 number", probe_x32_number },
  { "ptrace by its x32 number", probe_x32_ptrace },
  { "a 32-bit system call", probe_foreign_architecture },
#endif
  { NULL, NULL },
};
