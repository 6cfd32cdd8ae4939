/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static int
write_text (const char *directory, const char *name, const char *text)
{
  char path[64];
  int file;
  ssize_t n;

  snprintf (path, sizeof path, "/proc/%s/%s", directory, name);
  file = open (path, O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return -1;
  n = write (file, text, strlen (text));
  close (file);
  return n == (ssize_t) strlen (text) ? 0 : -1;
}

static int
write_maps (const GloveLaunchOrder *order, const char *directory)
{
  char map[64];

  if (write_text (directory, "setgroups", "deny") < 0)
    return -1;
  snprintf (map, sizeof map, "%u %u 1\n", order->gid, order->host_gid);
  if (write_text (directory, "gid_map", map) < 0)
    return -1;
  snprintf (map, sizeof map, "%u %u 1\n", order->uid, order->host_uid);
  return write_text (directory, "uid_map", map);
}

/* One id and one group, from inside: a process may map the ids that it has itself. */
void
glove_launch_ids_write_own_maps (const GloveLaunchOrder *order)
{
  if (write_maps (order, "self") < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_USERNS_MAP, GLOVE_LAUNCH_NO_INDEX);
}

/* From outside, with privilege: ids that nobody has. */
int
glove_launch_ids_write_maps_of (const GloveLaunchOrder *order, pid_t pid)
{
  char directory[16];

  snprintf (directory, sizeof directory, "%d", (int) pid);
  return write_maps (order, directory);
}

/* What is made from here on belongs to the agent. Capabilities stay for now: none of these ids is root's. */
void
glove_launch_ids_become (const GloveLaunchOrder *order)
{
  if (setresgid (order->gid, order->gid, order->gid) < 0 || setresuid (order->uid, order->uid, order->uid) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_CREDENTIALS, GLOVE_LAUNCH_NO_INDEX);
}

/* All five sets, and no way back by exec; then looked at, because half of it would be worse than an error. */
void
glove_launch_ids_drop_capabilities (void)
{
  cap_t none = cap_init (), now;

  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || none == NULL)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_CREDENTIALS, 1);
  for (cap_value_t cap = 0; cap_drop_bound (cap) == 0; cap++)
    ; /* EINVAL: past the last one that this kernel has; looked at below */
  if ((cap_reset_ambient () < 0 && errno != EINVAL) || cap_set_proc (none) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_CREDENTIALS, 3);
  now = cap_get_proc ();
  if (now == NULL || cap_compare (none, now) != 0 || prctl (PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
    glove_launch_fail_with (GLOVE_LAUNCH_STAGE_CREDENTIALS, EPERM, 4);
  for (cap_value_t cap = 0; cap_get_bound (cap) >= 0; cap++)
    if (cap_get_bound (cap) != 0)
      glove_launch_fail_with (GLOVE_LAUNCH_STAGE_CREDENTIALS, EPERM, 5);
  cap_free (none);
  cap_free (now);
}

void
glove_launch_ids_set_rlimits (const GloveLaunchOrder *order)
{
  static const struct rlimit no_core = { 0, 0 };

  for (uint32_t i = 0; i < order->n_rlimits; i++)
    {
      struct rlimit limit = { order->rlimits[i].soft, order->rlimits[i].hard }, now;

      /* Where the host's own hard limit is lower, that one holds. */
      if (getrlimit ((int) order->rlimits[i].resource, &now) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_RLIMIT, i);
      if (limit.rlim_max > now.rlim_max)
        limit.rlim_max = now.rlim_max;
      if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
      if (setrlimit ((int) order->rlimits[i].resource, &limit) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_RLIMIT, i);
    }
  if (setrlimit (RLIMIT_CORE, &no_core) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_RLIMIT, GLOVE_LAUNCH_NO_INDEX);
}
