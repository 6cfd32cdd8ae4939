/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-mechanisms.h"

#include <unistd.h>

/* Those that need no control group. */
static const GloveLimitMechanism always[GLOVE_N_LIMITS] = {
  [GLOVE_LIMIT_WALL_TIME] = GLOVE_LIMIT_MECHANISM_WATCHDOG,
  [GLOVE_LIMIT_OUTPUT] = GLOVE_LIMIT_MECHANISM_BYTE_COUNTER,
  [GLOVE_LIMIT_OPEN_FILES] = GLOVE_LIMIT_MECHANISM_RLIMIT,
  [GLOVE_LIMIT_FILE_SIZE] = GLOVE_LIMIT_MECHANISM_RLIMIT,
  [GLOVE_LIMIT_HOME_SIZE] = GLOVE_LIMIT_MECHANISM_FILESYSTEM_QUOTA,
  [GLOVE_LIMIT_TMP_SIZE] = GLOVE_LIMIT_MECHANISM_FILESYSTEM_QUOTA,
  [GLOVE_LIMIT_SHM_SIZE] = GLOVE_LIMIT_MECHANISM_FILESYSTEM_QUOTA,
};

static const GloveLimit by_cgroup[] = { GLOVE_LIMIT_MEMORY, GLOVE_LIMIT_PIDS, GLOVE_LIMIT_CPUS, GLOVE_LIMIT_CPU_TIME };

void
glove_linux_mechanisms_init_for_status (GloveLinuxMechanisms *self, GloveLinuxCgroupStatus status, char *reason,
                                        gboolean privileged, gboolean host_root)
{
  *self = (GloveLinuxMechanisms){ .cgroup = status, .reason = reason, .privileged = privileged, .host_root = host_root };
  memcpy (self->mechanism, always, sizeof always);
  if (status == GLOVE_LINUX_CGROUP_AVAILABLE)
    {
      for (gsize i = 0; i < G_N_ELEMENTS (by_cgroup); i++)
        self->mechanism[by_cgroup[i]] = GLOVE_LIMIT_MECHANISM_CGROUP_V2;
      return;
    }
  /* Counted for each user namespace since Linux 5.14, so it is the session's own; host uid 0 is exempt from it. */
  if (!host_root)
    self->mechanism[GLOVE_LIMIT_PIDS] = GLOVE_LIMIT_MECHANISM_RLIMIT;
}

void
glove_linux_mechanisms_init (GloveLinuxMechanisms *self, gboolean claimed, gboolean host_root)
{
  g_auto (GloveLinuxCgroupHost) host = { .root = -1 };
  GloveLinuxCgroupStatus status = GLOVE_LINUX_CGROUP_AVAILABLE;
  GloveLinuxCgroupPlace place;
  char *reason = NULL;

  if (!claimed)
    {
      (void) glove_linux_cgroup_host_init (&host);
      status = glove_linux_cgroup_find (&host, &place, &reason);
    }
  glove_linux_mechanisms_init_for_status (self, status, reason, geteuid () == 0, host_root);
}

void
glove_linux_mechanisms_clear (GloveLinuxMechanisms *self)
{
  g_clear_pointer (&self->reason, g_free);
}

static const char *
get_reason (const GloveLinuxMechanisms *self, GloveLimit limit)
{
  if (limit == GLOVE_LIMIT_PIDS && self->host_root)
    return "the kernel counts no processes of host uid 0, and there is no control group to count them";
  return self->reason != NULL ? self->reason : "nothing here enforces it";
}

char *
glove_linux_mechanisms_dup_repair (const GloveLinuxMechanisms *self, GloveLimit limit)
{
  if (self->mechanism[limit] != GLOVE_LIMIT_MECHANISM_UNAVAILABLE)
    return NULL;
  return g_strdup_printf ("%s; %s", get_reason (self, limit),
                          glove_linux_cgroup_status_get_repair (self->cgroup, self->privileged));
}

gboolean
glove_linux_mechanisms_check (const GloveLinuxMechanisms *self, const GloveLimits *limits, GError **error)
{
  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    {
      if (!limits->requested[i] || limits->value[i] == 0 || self->mechanism[i] != GLOVE_LIMIT_MECHANISM_UNAVAILABLE)
        continue;
      glove_error_set (error, GLOVE_ERROR_UNAVAILABLE, "the limit “%s” can't be enforced here: %s",
                       glove_limit_get_name (i), get_reason (self, i));
      glove_error_set_hint (error, "%s", glove_linux_cgroup_status_get_repair (self->cgroup, self->privileged));
      return FALSE;
    }
  return TRUE;
}

gboolean
glove_linux_mechanisms_need_cgroup (const GloveLinuxMechanisms *self, const GloveLimits *limits)
{
  for (gsize i = 0; i < G_N_ELEMENTS (by_cgroup); i++)
    if (self->mechanism[by_cgroup[i]] == GLOVE_LIMIT_MECHANISM_CGROUP_V2 && limits->value[by_cgroup[i]] != 0)
      return TRUE;
  return FALSE;
}
