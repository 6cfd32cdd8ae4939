/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Written by a process of host uid 0 these change the host, capability or not; into pressure anybody writes triggers, for which the
 * kernel wakes up. */
static const char *const read_only[] = { "proc/sys", "proc/sysrq-trigger", "proc/irq",  "proc/bus",
                                         "proc/fs",  "proc/acpi",          "proc/scsi", "proc/pressure" };
/* What is read from these helps to attack the kernel, or tells of other sessions. */
static const char *const emptied[] = { "proc/kcore", "proc/keys", "proc/timer_list", "proc/kallsyms" };

void
glove_launch_proc_mount (GloveLaunchSandbox *self)
{
  if (mkdir ("proc", 0555) < 0 || mount ("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_PROC, GLOVE_LAUNCH_NO_INDEX);
  self->quotas = open ("proc/sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (self->quotas < 0 && self->order->n_quotas > 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_PROC, GLOVE_LAUNCH_NO_INDEX);
}

/* Quotas of the session's own user namespace. One that this kernel does not know is no quota it could exceed. The last thing that
 * is made: every tree that is cloned counts as a mount namespace, of which the agent gets none. The descriptor is older than the seal on
 * /proc/sys. */
void
glove_launch_proc_set_quotas (GloveLaunchSandbox *self)
{
  for (uint32_t i = 0; i < self->order->n_quotas; i++)
    {
      char value[24];
      int file, length;

      length = snprintf (value, sizeof value, "%llu", (unsigned long long) self->order->quotas[i].value);
      file = openat (self->quotas, self->order->quotas[i].name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
      if (file < 0 && errno == ENOENT)
        continue;
      if (file < 0 || write (file, value, (size_t) length) != length)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_QUOTA, i);
      close (file);
    }
}

void
glove_launch_proc_seal (GloveLaunchSandbox *self)
{
  for (uint32_t i = 0; i < sizeof read_only / sizeof *read_only; i++)
    {
      int tree = sys_clone_tree (AT_FDCWD, read_only[i]);

      if (tree < 0 && errno == ENOENT)
        continue;
      if (tree < 0
          || sys_seal_tree (tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC) < 0
          || sys_attach (tree, AT_FDCWD, read_only[i]) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_PROC_SEAL, i);
      close (tree);
    }
  for (uint32_t i = 0; i < sizeof emptied / sizeof *emptied; i++)
    {
      struct stat st;
      int tree;

      if (lstat (emptied[i], &st) < 0 && errno == ENOENT)
        continue;
      tree = glove_launch_mounts_empty_file ();
      if (tree < 0 || sys_attach (tree, AT_FDCWD, emptied[i]) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_PROC_SEAL, 100 + i);
      close (tree);
    }
}
