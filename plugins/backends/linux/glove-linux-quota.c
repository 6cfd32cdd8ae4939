/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-quota.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "glove-linux-fd.h"

/* Pages that one process may lock, signals it may queue, bytes of POSIX message queues: kept small, since the kernel counts each by host
 * uid too. No core file is ever written: the host's core_pattern would be told of it. */
static const GloveLinuxRlimit fixed_rlimits[] = {
  { RLIMIT_CORE, 0, 0 },
  { RLIMIT_MEMLOCK, 8 * 1024 * 1024, 8 * 1024 * 1024 },
  { RLIMIT_SIGPENDING, 4096, 4096 },
  { RLIMIT_MSGQUEUE, 819200, 819200 },
  { RLIMIT_NICE, 0, 0 },
  { RLIMIT_RTPRIO, 0, 0 },
};

/* 0 forbids. A name that this kernel doesn't have is left out. max_mnt_namespaces is not here: each detached mount that the launcher
 * makes counts as one, and without a user namespace of its own nobody inside can make another. */
static const GloveLinuxUserQuota user_quotas[] = {
  { "max_inotify_instances", 128 }, { "max_inotify_watches", 524288 }, { "max_fanotify_groups", 0 },
  { "max_fanotify_marks", 0 },      { "max_user_namespaces", 0 },      { "max_pid_namespaces", 0 },
  { "max_net_namespaces", 0 },      { "max_ipc_namespaces", 0 },       { "max_uts_namespaces", 0 },
  { "max_cgroup_namespaces", 0 },   { "max_time_namespaces", 0 },
};

/* An operator who has less than a limit hands less on: raising a hard limit needs privilege. */
static GloveLinuxRlimit
lowered (guint32 resource, guint64 value)
{
  struct rlimit own = { RLIM_INFINITY, RLIM_INFINITY };

  if (getrlimit (resource, &own) == 0 && own.rlim_max != RLIM_INFINITY)
    value = MIN (value, own.rlim_max);
  return (GloveLinuxRlimit){ resource, value, value };
}

static void
append (GArray *rlimits, guint32 resource, guint64 value)
{
  GloveLinuxRlimit limit = lowered (resource, value);

  if (value != 0)
    g_array_append_val (rlimits, limit);
}

GArray *
glove_linux_quota_list_rlimits (const GloveLimits *limits, gboolean pids)
{
  GArray *rlimits = g_array_new (FALSE, FALSE, sizeof (GloveLinuxRlimit));

  for (gsize i = 0; i < G_N_ELEMENTS (fixed_rlimits); i++)
    {
      GloveLinuxRlimit limit = lowered (fixed_rlimits[i].resource, fixed_rlimits[i].hard);

      g_array_append_val (rlimits, limit);
    }
  append (rlimits, RLIMIT_NOFILE, limits->value[GLOVE_LIMIT_OPEN_FILES]);
  append (rlimits, RLIMIT_FSIZE, limits->value[GLOVE_LIMIT_FILE_SIZE]);
  if (pids)
    append (rlimits, RLIMIT_NPROC, limits->value[GLOVE_LIMIT_PIDS]);
  return rlimits;
}

GArray *
glove_linux_quota_list_user (void)
{
  GArray *quotas = g_array_new (FALSE, FALSE, sizeof (GloveLinuxUserQuota));
  glove_linux_autofd int dir = open ("/proc/sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC);

  for (gsize i = 0; dir >= 0 && i < G_N_ELEMENTS (user_quotas); i++)
    {
      GloveLinuxUserQuota quota = user_quotas[i];
      g_autofree char *text = glove_linux_fd_read_text_at (dir, quota.name, /* error= */ NULL);

      if (text == NULL)
        continue;
      quota.value = MIN (quota.value, g_ascii_strtoull (text, NULL, 10) / 2);
      g_array_append_val (quotas, quota);
    }
  return quotas;
}
