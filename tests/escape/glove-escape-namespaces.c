/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Namespaces, new and of others. */

#include "glove-escape-probe.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static long
clone_with (unsigned long flags)
{
  long child = syscall (SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

  if (child == 0)
    _exit (0);
  if (child > 0)
    (void) waitpid ((pid_t) child, NULL, 0);
  return child;
}

#define NAMESPACE(NAME, FLAG)                                                                                            \
  static ProbeVerdict probe_unshare_##NAME (void)                                                                        \
  {                                                                                                                      \
    return PROBE_MUST_FAIL (unshare (FLAG), EPERM);                                                                      \
  }                                                                                                                      \
  static ProbeVerdict probe_clone_##NAME (void)                                                                          \
  {                                                                                                                      \
    return PROBE_MUST_FAIL (clone_with (FLAG), EPERM);                                                                   \
  }

NAMESPACE (user, CLONE_NEWUSER)
NAMESPACE (mount, CLONE_NEWNS)
NAMESPACE (pid, CLONE_NEWPID)
NAMESPACE (net, CLONE_NEWNET)
NAMESPACE (ipc, CLONE_NEWIPC)
NAMESPACE (uts, CLONE_NEWUTS)
NAMESPACE (cgroup, CLONE_NEWCGROUP)

static ProbeVerdict
probe_unshare_time (void)
{
  return PROBE_MUST_FAIL (unshare (CLONE_NEWTIME), EPERM);
}

static ProbeVerdict
probe_clone_user_among_others (void)
{
  return PROBE_MUST_FAIL (clone_with (CLONE_NEWUSER | CLONE_FS | CLONE_FILES), EPERM, EINVAL);
}

static ProbeVerdict
probe_clone3 (void)
{
  return PROBE_MUST_FAIL (syscall (SYS_clone3, NULL, 0), ENOSYS);
}

static ProbeVerdict
try_setns (const char *path)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ProbeVerdict verdict = PROBE_MUST_FAIL (setns (fd, 0), EPERM, EBADF);

  if (fd >= 0)
    (void) close (fd);
  return verdict;
}

static ProbeVerdict
probe_setns_own (void)
{
  return try_setns ("/proc/self/ns/user");
}

static ProbeVerdict
probe_setns_init (void)
{
  return try_setns ("/proc/1/ns/mnt");
}

static ProbeVerdict
probe_setns_pidfd (void)
{
  int fd = (int) syscall (SYS_pidfd_open, 1, 0);
  ProbeVerdict verdict = PROBE_MUST_FAIL (setns (fd, CLONE_NEWNS | CLONE_NEWUSER), EPERM, EBADF);

  if (fd >= 0)
    (void) close (fd);
  return verdict;
}

static ProbeVerdict
probe_owner_of_namespace (void)
{
  int fd = open ("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  /* NS_GET_USERNS, NS_GET_PARENT: the parent lies outside of what we may know */
  ProbeVerdict verdict = PROBE_MUST_FAIL (syscall (SYS_ioctl, fd, 0xb702, 0), EPERM, EINVAL);

  (void) close (fd);
  return verdict;
}

const Probe probes_namespaces[] = {
  { "unshare a user namespace", probe_unshare_user },
  { "unshare a mount namespace", probe_unshare_mount },
  { "unshare a PID namespace", probe_unshare_pid },
  { "unshare a network namespace", probe_unshare_net },
  { "unshare an IPC namespace", probe_unshare_ipc },
  { "unshare a UTS namespace", probe_unshare_uts },
  { "unshare a control group namespace", probe_unshare_cgroup },
  { "unshare a time namespace", probe_unshare_time },
  { "clone into a user namespace", probe_clone_user },
  { "clone into a mount namespace", probe_clone_mount },
  { "clone into a PID namespace", probe_clone_pid },
  { "clone into a network namespace", probe_clone_net },
  { "clone into an IPC namespace", probe_clone_ipc },
  { "clone into a UTS namespace", probe_clone_uts },
  { "clone into a control group namespace", probe_clone_cgroup },
  { "clone with a namespace flag among others", probe_clone_user_among_others },
  { "clone3 is absent, so that libc falls back", probe_clone3 },
  { "setns to its own user namespace", probe_setns_own },
  { "setns through /proc/1", probe_setns_init },
  { "setns through a pidfd", probe_setns_pidfd },
  { "ask for the parent of a namespace", probe_owner_of_namespace },
  { NULL, NULL },
};
