/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Identity, privileges, descriptors, priorities. Facts: host-pid. */

#include "glove-escape-probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static ProbeVerdict
no_capability (const char *set)
{
  long long value = probe_status_value (set);

  probe_detail ("%s is %llx", set, (unsigned long long) value);
  return value == 0 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

#define NO_CAPABILITY(NAME, SET)                                                                                         \
  static ProbeVerdict probe_##NAME (void)                                                                                \
  {                                                                                                                      \
    return no_capability (SET);                                                                                          \
  }

NO_CAPABILITY (inheritable, "CapInh")
NO_CAPABILITY (permitted, "CapPrm")
NO_CAPABILITY (effective, "CapEff")
NO_CAPABILITY (bounding, "CapBnd")
NO_CAPABILITY (ambient, "CapAmb")

static ProbeVerdict
probe_no_new_privileges (void)
{
  return prctl (PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

static ProbeVerdict
probe_filter_in_force (void)
{
  return probe_status_value ("Seccomp") == 2 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

static ProbeVerdict
probe_setuid (void)
{
  return PROBE_MUST_FAIL (setresuid (0, 0, 0), EPERM, EINVAL);
}

static ProbeVerdict
probe_setgid (void)
{
  return PROBE_MUST_FAIL (setresgid (0, 0, 0), EPERM, EINVAL);
}

static ProbeVerdict
probe_setgroups (void)
{
  const gid_t groups[] = { 0 };

  return PROBE_MUST_FAIL (setgroups (1, groups), EPERM, EINVAL);
}

static ProbeVerdict
probe_groups (void)
{
  gid_t groups[64];
  int n = getgroups (64, groups);

  for (int i = 0; i < n; i++)
    if (groups[i] != getgid () && groups[i] != 65534)
      {
        probe_detail ("group %u", groups[i]);
        return PROBE_ESCAPED;
      }
  return PROBE_CONTAINED;
}

static ProbeVerdict
probe_capset (void)
{
  struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
  struct __user_cap_data_struct data[2] = { { UINT32_MAX, UINT32_MAX, 0 }, { UINT32_MAX, UINT32_MAX, 0 } };

  return PROBE_MUST_FAIL (syscall (SYS_capset, &header, data), EPERM, ENOSYS);
}

static ProbeVerdict
probe_ambient_raise (void)
{
  return PROBE_MUST_FAIL (prctl (PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0), EPERM, EINVAL, ENOSYS);
}

static ProbeVerdict
probe_memory_map (void)
{
  return PROBE_MUST_FAIL (prctl (PR_SET_MM, PR_SET_MM_BRK, 0, 0, 0), EPERM, EINVAL, ENOSYS);
}

/* 0, 1, 2 and the one that reads the folder */
static ProbeVerdict
probe_leaked_descriptors (void)
{
  DIR *folder = opendir ("/proc/self/fd");
  const struct dirent *entry;
  ProbeVerdict verdict = folder != NULL ? PROBE_CONTAINED : PROBE_ESCAPED;

  while (folder != NULL && (entry = readdir (folder)) != NULL)
    {
      int fd = atoi (entry->d_name);

      if (entry->d_name[0] == '.' || fd <= 2 || fd == dirfd (folder))
        continue;
      probe_detail ("descriptor %d is open", fd);
      verdict = PROBE_ESCAPED;
    }
  if (folder != NULL)
    (void) closedir (folder);
  return verdict;
}

static ProbeVerdict
probe_kill_host (void)
{
  pid_t pid = (pid_t) strtol (probe_fact ("host-pid"), NULL, 10);

  return PROBE_MUST_FAIL (kill (pid, 0), ESRCH, EPERM);
}

static ProbeVerdict
probe_kill_init (void)
{
  (void) kill (1, SIGKILL);
  (void) kill (1, SIGSTOP);
  return kill (1, 0) == 0 || errno == EPERM ? PROBE_CONTAINED : PROBE_ESCAPED;
}

static ProbeVerdict
probe_priority (void)
{
  return PROBE_MUST_FAIL (setpriority (PRIO_PROCESS, 0, -10), EACCES, EPERM);
}

static ProbeVerdict
probe_realtime (void)
{
  const struct sched_param parameters = { .sched_priority = 1 };

  return PROBE_MUST_FAIL (sched_setscheduler (0, SCHED_FIFO, &parameters), EPERM, ENOSYS);
}

static ProbeVerdict
raise_limit (int resource)
{
  struct rlimit limit;

  if (getrlimit (resource, &limit) != 0 || limit.rlim_max == RLIM_INFINITY)
    {
      probe_detail ("there is no hard limit");
      return PROBE_ESCAPED;
    }
  limit.rlim_max++;
  return PROBE_MUST_FAIL (setrlimit (resource, &limit), EPERM);
}

static ProbeVerdict
probe_limit_files (void)
{
  return raise_limit (RLIMIT_NOFILE);
}

static ProbeVerdict
probe_limit_file_size (void)
{
  return raise_limit (RLIMIT_FSIZE);
}

static ProbeVerdict
probe_limit_pending (void)
{
  return raise_limit (RLIMIT_SIGPENDING);
}

static ProbeVerdict
probe_limit_locked (void)
{
  return raise_limit (RLIMIT_MEMLOCK);
}

static ProbeVerdict
probe_limit_queues (void)
{
  return raise_limit (RLIMIT_MSGQUEUE);
}

static ProbeVerdict
probe_no_core (void)
{
  struct rlimit limit;

  return getrlimit (RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

static ProbeVerdict
probe_host_name (void)
{
  struct utsname names;

  return uname (&names) == 0 && strcmp (names.nodename, "glove") == 0 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

/* A setuid program runs, with no more than we have. */
static ProbeVerdict
probe_setuid_program (void)
{
  int ends[2];
  pid_t child;
  char text[256] = "";
  int status = 0;

  if (access ("/usr/bin/su", X_OK) != 0)
    {
      probe_detail ("there is no /usr/bin/su");
      return PROBE_SKIPPED;
    }
  if (pipe2 (ends, O_CLOEXEC) != 0)
    return PROBE_ESCAPED;
  child = fork ();
  if (child == 0)
    {
      (void) dup2 (ends[1], 1);
      (void) dup2 (ends[1], 2);
      (void) execl ("/usr/bin/su", "su", "-c", "id -u", (char *) NULL);
      _exit (99);
    }
  (void) close (ends[1]);
  if (read (ends[0], text, sizeof text - 1) < 0)
    text[0] = '\0';
  (void) close (ends[0]);
  (void) waitpid (child, &status, 0);
  probe_detail ("status %x", (unsigned) status);
  return WIFEXITED (status) && WEXITSTATUS (status) == 0 && text[0] == '0' ? PROBE_ESCAPED : PROBE_CONTAINED;
}

static ProbeVerdict
probe_identity (void)
{
  probe_detail ("uid %u gid %u", getuid (), getgid ());
  return getuid () == 1000 && geteuid () == 1000 && getgid () == 1000 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

const Probe probes_process[] = {
  { "be somebody else than the agent", probe_identity },
  { "have an inheritable capability", probe_inheritable },
  { "have a permitted capability", probe_permitted },
  { "have an effective capability", probe_effective },
  { "have a capability in the bounding set", probe_bounding },
  { "have an ambient capability", probe_ambient },
  { "gain privileges by executing", probe_no_new_privileges },
  { "run without a system call filter", probe_filter_in_force },
  { "become uid 0", probe_setuid },
  { "become gid 0", probe_setgid },
  { "join a group", probe_setgroups },
  { "be in a group of the operator's", probe_groups },
  { "capset", probe_capset },
  { "raise an ambient capability", probe_ambient_raise },
  { "prctl PR_SET_MM", probe_memory_map },
  { "use a descriptor that leaked", probe_leaked_descriptors },
  { "signal a process of the host", probe_kill_host },
  { "kill PID 1", probe_kill_init },
  { "raise its priority", probe_priority },
  { "become a real-time process", probe_realtime },
  { "raise the limit on open files", probe_limit_files },
  { "raise the limit on file size", probe_limit_file_size },
  { "raise the limit on pending signals", probe_limit_pending },
  { "raise the limit on locked memory", probe_limit_locked },
  { "raise the limit on message queues", probe_limit_queues },
  { "leave a core", probe_no_core },
  { "see the host's name", probe_host_name },
  { "gain by a setuid program", probe_setuid_program },
  { NULL, NULL },
};
