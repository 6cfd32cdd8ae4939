/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The floor of P1a: the least that the kernel must do for what glove-launch does. The same namespaces, the same mounts, pivot_root, a
 * PID 1 that forks, exec. No spec, no check of anything, no capability dropped, no filter, nobody told.
 *
 *   glove-floor-launch CMD ARG...
 *
 * Exits with the command's status, or 125. Linked statically. */

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

struct attributes {
  uint64_t set, clear, propagation, userns;
};

static void
must (long result, const char *what)
{
  if (result >= 0)
    return;
  perror (what);
  _exit (125);
}

static void
write_file (const char *path, const char *text)
{
  int file = open (path, O_WRONLY);

  must (file, path);
  must (write (file, text, strlen (text)), path);
  close (file);
}

static void
bind_tree (const char *from, const char *to, uint64_t attributes)
{
  struct attributes attr = { .set = attributes };
  int tree = (int) syscall (SYS_open_tree, AT_FDCWD, from, 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC | AT_RECURSIVE);

  must (tree, from);
  must (syscall (SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr), from);
  must (syscall (SYS_move_mount, tree, "", AT_FDCWD, to, 4 /* MOVE_MOUNT_F_EMPTY_PATH */), to);
  close (tree);
}

static void
bind_directory (const char *from, const char *to)
{
  if (access (from, F_OK) < 0)
    return;
  must (mkdir (to, 0755), to);
  bind_tree (from, to, 1 | 2 | 4);
}

static void
bind_file (const char *from, const char *to, uint64_t attributes)
{
  must (mknod (to, S_IFREG | 0666, 0), to);
  bind_tree (from, to, attributes);
}

static void
make_root (void)
{
  static const char *const proc_parts[] = { "proc/sys", "proc/sysrq-trigger", "proc/irq", "proc/bus", "proc/fs", "proc/acpi",
                                            "proc/scsi" };
  static const char *const proc_empty[] = { "proc/kcore", "proc/keys", "proc/timer_list", "proc/kallsyms" };
  static const char *const devices[] = { "null", "zero", "full", "random", "urandom", "tty" };
  static const char *const trees[] = { "ssl/certs", "ca-certificates", "alternatives", "ld.so.conf.d", "fonts" };
  static const char *const links[] = { "bin", "sbin", "lib", "lib32", "lib64" };
  char from[64], to[64];

  must (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private");
  must (mount ("tmpfs", "/", "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=755"), "root");
  must (chdir ("/.."), "/..");
  bind_directory ("/usr", "usr");
  for (unsigned i = 0; i < sizeof links / sizeof *links; i++)
    {
      snprintf (from, sizeof from, "usr/%s", links[i]);
      must (symlink (from, links[i]), links[i]);
    }
  must (mkdir ("etc", 0755), "etc");
  must (mkdir ("etc/ssl", 0755), "etc/ssl");
  for (unsigned i = 0; i < sizeof trees / sizeof *trees; i++)
    {
      snprintf (from, sizeof from, "/etc/%s", trees[i]);
      bind_directory (from, from + 1);
    }
  must (mkdir ("proc", 0755), "proc");
  must (mount ("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), "proc");
  for (unsigned i = 0; i < sizeof proc_parts / sizeof *proc_parts; i++)
    if (access (proc_parts[i], F_OK) == 0)
      bind_tree (proc_parts[i], proc_parts[i], 1 | 2 | 4 | 8);
  must (mknod (".empty", S_IFREG | 0444, 0), ".empty");
  for (unsigned i = 0; i < sizeof proc_empty / sizeof *proc_empty; i++)
    if (access (proc_empty[i], F_OK) == 0)
      bind_tree (".empty", proc_empty[i], 1);
  must (mkdir ("dev", 0755), "dev");
  for (unsigned i = 0; i < sizeof devices / sizeof *devices; i++)
    {
      snprintf (from, sizeof from, "/dev/%s", devices[i]);
      snprintf (to, sizeof to, "dev/%s", devices[i]);
      bind_file (from, to, 2 | 8);
    }
  must (mkdir ("dev/pts", 0755), "dev/pts");
  must (mount ("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"), "devpts");
}

static void
make_private (void)
{
  static const char *const directories[] = { "dev/shm", "home", "home/agent", "tmp", "var", "var/tmp" };

  for (unsigned i = 0; i < sizeof directories / sizeof *directories; i++)
    must (mkdir (directories[i], 0755), directories[i]);
  must (mount ("tmpfs", "home/agent", "tmpfs", MS_NOSUID | MS_NODEV, "size=1g,mode=700"), "home");
  must (mount ("tmpfs", "tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1g,mode=755"), "tmp");
  must (mkdir ("tmp/tmp", 01777), "tmp/tmp");
  must (mkdir ("tmp/var", 01777), "tmp/var");
  bind_tree ("tmp/var", "var/tmp", 0);
  bind_tree ("tmp/tmp", "tmp", 0);
  must (mount ("tmpfs", "dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "size=256m,mode=1777"), "shm");
}

static void
enter (void)
{
  struct attributes attr = { .set = 1 | 2 | 4 };

  must (syscall (SYS_mount_setattr, AT_FDCWD, ".", 0, &attr, sizeof attr), "read-only root");
  must (syscall (SYS_pivot_root, ".", "."), "pivot_root");
  must (umount2 (".", MNT_DETACH), "umount");
  must (chdir ("/"), "/");
}

static _Noreturn void
be_init (uid_t uid, gid_t gid, char **argv)
{
  struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
  char map[64];
  int s, status = 0;
  pid_t agent;

  write_file ("/proc/self/setgroups", "deny");
  snprintf (map, sizeof map, "1000 %u 1", gid);
  write_file ("/proc/self/gid_map", map);
  snprintf (map, sizeof map, "1000 %u 1", uid);
  write_file ("/proc/self/uid_map", map);
  s = socket (AF_INET, SOCK_DGRAM, 0);
  must (ioctl (s, SIOCSIFFLAGS, &request), "lo");
  close (s);
  make_root ();
  make_private ();
  enter ();
  agent = fork ();
  must (agent, "fork");
  if (agent == 0)
    {
      execvp (argv[0], argv);
      _exit (127);
    }
  while (wait (&status) != agent)
    ;
  _exit (WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status));
}

int
main (int argc, char **argv)
{
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
  } args = { .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP,
             .exit_signal = SIGCHLD };
  uid_t uid = geteuid ();
  gid_t gid = getegid ();
  int status = 0;
  long pid;

  if (argc < 2)
    return 125;
  pid = syscall (SYS_clone3, &args, sizeof args);
  must (pid, "clone3");
  if (pid == 0)
    be_init (uid, gid, argv + 1);
  while (waitpid ((pid_t) pid, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED (status) ? WEXITSTATUS (status) : 125;
}
