/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define EMPTY_FILE ".empty"

/* Mounts a tmpfs of the size @which at the relative @path, and remembers that mount points may be made in it. */
static void
mount_tmpfs (GloveLaunchSandbox *self, const char *path, GloveLaunchSize which, unsigned mode, GloveLaunchStage stage)
{
  char options[96];
  struct stat st;

  snprintf (options, sizeof options, "size=%llu,nr_inodes=%u,mode=%o", (unsigned long long) self->order->bytes[which],
            self->order->inodes[which], mode);
  if (mount ("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
    glove_launch_fail (stage, which);
  if (which == GLOVE_LAUNCH_SIZE_ROOT)
    {
      /* It lies on top of "/", where a path from our own root does not reach it: fetched as what ".." of it is. */
      self->root = sys_openat2 (AT_FDCWD, "/..", O_PATH | O_DIRECTORY, 0);
      if (self->root < 0 || fchdir (self->root) < 0)
        glove_launch_fail (stage, which);
      path = ".";
    }
  if (stat (path, &st) < 0)
    glove_launch_fail (stage, which);
  self->own[self->n_own++] = st.st_dev;
}

void
glove_launch_mounts_make_root (GloveLaunchSandbox *self)
{
  /* Nothing that the host mounts from now on shows up here, nor the other way round. */
  if (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ROOT, GLOVE_LAUNCH_NO_INDEX);
  glove_launch_grants_clone (self);
  mount_tmpfs (self, "/", GLOVE_LAUNCH_SIZE_ROOT, 0755, GLOVE_LAUNCH_STAGE_ROOT);
}

static void
bind_system (const char *host_path, const char *path)
{
  int tree = sys_clone_tree (AT_FDCWD, host_path);

  if (tree < 0 || sys_seal_tree (tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) < 0
      || mkdir (path, 0755) < 0 || sys_attach (tree, AT_FDCWD, path) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_SYSTEM, GLOVE_LAUNCH_NO_INDEX);
  close (tree);
}

/* /usr, and beside it what the host has there: links into it where /usr is merged, directories where it is not. */
void
glove_launch_mounts_add_system (GloveLaunchSandbox *self)
{
  static const char *const beside[] = { "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libo32" };

  bind_system ("/usr", "usr");
  for (unsigned i = 0; i < sizeof beside / sizeof *beside; i++)
    {
      char target[256];
      struct stat st;
      ssize_t length;

      if (lstat (beside[i], &st) < 0)
        {
          if (errno != ENOENT)
            glove_launch_fail (GLOVE_LAUNCH_STAGE_SYSTEM, i);
          continue;
        }
      if (S_ISDIR (st.st_mode))
        {
          bind_system (beside[i], beside[i] + 1);
          continue;
        }
      if (!S_ISLNK (st.st_mode))
        continue;
      length = readlink (beside[i], target, sizeof target - 1);
      if (length < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_SYSTEM, i);
      target[length] = '\0';
      if (symlink (target, beside[i] + 1) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_SYSTEM, i);
    }
}

static void
bind_part (const char *part, const char *path)
{
  int tree = sys_clone_tree (AT_FDCWD, part);

  if (tree < 0 || sys_attach (tree, AT_FDCWD, path) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_TMPFS, GLOVE_LAUNCH_SIZE_TMP);
  close (tree);
}

/* The home, and one tmpfs behind both /tmp and /var/tmp: two directories of it, mounted over its own root. */
void
glove_launch_mounts_add_private (GloveLaunchSandbox *self)
{
  const char *home = self->order->home + 1;

  if (glove_launch_files_make_parents (home) < 0 || mkdir (home, 0700) < 0 || mkdir ("tmp", 0755) < 0
      || (mkdir ("var", 0755) < 0 && errno != EEXIST) || mkdir ("var/tmp", 0755) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_TMPFS, GLOVE_LAUNCH_NO_INDEX);
  mount_tmpfs (self, home, GLOVE_LAUNCH_SIZE_HOME, 0700, GLOVE_LAUNCH_STAGE_TMPFS);
  mount_tmpfs (self, "tmp", GLOVE_LAUNCH_SIZE_TMP, 0755, GLOVE_LAUNCH_STAGE_TMPFS);
  if (mkdir ("tmp/tmp", 01777) < 0 || mkdir ("tmp/var", 01777) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_TMPFS, GLOVE_LAUNCH_SIZE_TMP);
  bind_part ("tmp/var", "var/tmp");
  bind_part ("tmp/tmp", "tmp");
  mount_tmpfs (self, "dev/shm", GLOVE_LAUNCH_SIZE_SHM, 01777, GLOVE_LAUNCH_STAGE_TMPFS);
}

int
glove_launch_mounts_empty_file (void)
{
  int file = open (EMPTY_FILE, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0444);
  int tree;

  if (file < 0)
    return -1;
  tree = sys_clone_tree (file, "");
  close (file);
  if (tree >= 0
      && sys_seal_tree (tree, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC) < 0)
    {
      close (tree);
      return -1;
    }
  return tree;
}

/* Its mounts keep it; its name is gone. */
void
glove_launch_mounts_drop_empty_file (void)
{
  if (unlink (EMPTY_FILE) < 0 && errno != ENOENT)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_PROC_SEAL, GLOVE_LAUNCH_NO_INDEX);
}

/* The root becomes read-only, then ours. The host's lies on top of it, where no path of ours leads: "/" is what is below. */
void
glove_launch_mounts_enter (GloveLaunchSandbox *self)
{
  SysMountAttr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };

  if (syscall (SYS_mount_setattr, self->root, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0
      || syscall (SYS_pivot_root, ".", ".") < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_PIVOT, GLOVE_LAUNCH_NO_INDEX);
}

/* The host's root is detached, and with it the last way to it. This waits for every processor (RCU), a millisecond at times, so the
 * agent's process gets ready meanwhile; it is not let go before. */
void
glove_launch_mounts_leave_host (void)
{
  if (umount2 (".", MNT_DETACH) < 0 || chdir ("/") < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_PIVOT, 1);
}
