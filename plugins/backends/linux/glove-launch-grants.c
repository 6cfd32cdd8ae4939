/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RESOLVE_OURS (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)

/* The kernel refuses to clone a descriptor of another mount namespace, so the path is opened once more in ours, and what it names must
 * be what was pinned. The pinned descriptor is still open, so its inode number belongs to nobody else. */
static int
clone_pinned (const GloveLaunchOrderGrant *grant, uint32_t index)
{
  struct stat pinned, opened;
  int again = sys_openat2 (AT_FDCWD, grant->host_path, O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  int tree;

  if (again < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_GRANT_OPEN, index);
  if (fstat (grant->fd, &pinned) < 0 || fstat (again, &opened) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_GRANT_OPEN, index);
  if (pinned.st_dev != opened.st_dev || pinned.st_ino != opened.st_ino || (pinned.st_mode & S_IFMT) != (opened.st_mode & S_IFMT)
      || pinned.st_dev != grant->dev || pinned.st_ino != grant->ino
      || (pinned.st_mode & S_IFMT) != (grant->mode & S_IFMT))
    glove_launch_fail_with (GLOVE_LAUNCH_STAGE_GRANT_CHANGED, ESTALE, index);
  tree = sys_clone_tree (again, "");
  if (tree < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_GRANT_CLONE, index);
  close (again);
  return tree;
}

void
glove_launch_grants_clone (GloveLaunchSandbox *self)
{
  const GloveLaunchOrder *order = self->order;

  self->trees = calloc (order->n_grants + 1, sizeof *self->trees);
  if (self->trees == NULL)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, GLOVE_LAUNCH_NO_INDEX);
  for (uint32_t i = 0; i < order->n_grants; i++)
    {
      const GloveLaunchOrderGrant *grant = &order->grants[i];
      uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

      self->trees[i] = -1;
      if (grant->access == GLOVE_LAUNCH_ACCESS_MASK)
        continue;
      self->trees[i] = (grant->flags & GLOVE_LAUNCH_GRANT_DETACHED) != 0 ? grant->fd : clone_pinned (grant, i);
      if (grant->access == GLOVE_LAUNCH_ACCESS_READ)
        attributes |= MOUNT_ATTR_RDONLY;
      if (sys_seal_tree (self->trees[i], attributes) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_GRANT_SEAL, i);
    }
}

static bool
is_ours (const GloveLaunchSandbox *self, int directory)
{
  struct stat st;

  if (fstat (directory, &st) < 0)
    return false;
  for (unsigned i = 0; i < self->n_own; i++)
    if (self->own[i] == st.st_dev)
      return true;
  return false;
}

/* One component down from @at, which is closed. A missing one is made, but only in a file system of ours: never on the host. */
static int
step (const GloveLaunchSandbox *self, int at, const char *name, bool directory)
{
  int next = sys_openat2 (at, name, O_PATH, RESOLVE_OURS);

  if (next < 0 && errno == ENOENT && is_ours (self, at))
    {
      if ((directory ? mkdirat (at, name, 0755) : mknodat (at, name, S_IFREG | 0444, 0)) == 0)
        next = sys_openat2 (at, name, O_PATH, RESOLVE_OURS);
    }
  close (at);
  return next;
}

/* The mount point for @target: found beneath the new root through no link at all, because what lies in a workspace is the agent's word,
 * or made where it does not exist yet. */
static int
find_target (const GloveLaunchSandbox *self, const char *target, bool directory)
{
  int at = sys_openat2 (self->root, target + 1, O_PATH, RESOLVE_OURS);

  if (at >= 0 || errno != ENOENT)
    return at;
  at = sys_openat2 (self->root, ".", O_PATH | O_DIRECTORY, RESOLVE_OURS);
  while (at >= 0 && *target == '/')
    {
      char name[NAME_MAX + 1];
      size_t length = strcspn (++target, "/");

      memcpy (name, target, length);
      name[length] = '\0';
      target += length;
      at = step (self, at, name, directory || *target == '/');
    }
  return at;
}

static bool
is_at_or_below (const char *path, const char *above)
{
  size_t length = strlen (above);

  return strncmp (path, above, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* The writable grant that the target of @index lies in; NULL where it lies in none, or in a read-only one of that. */
static const GloveLaunchOrderGrant *
find_writable_above (const GloveLaunchOrder *order, uint32_t index)
{
  const GloveLaunchOrderGrant *above = NULL;

  for (uint32_t i = 0; i < order->n_grants; i++)
    {
      const GloveLaunchOrderGrant *grant = &order->grants[i];

      if (i != index && (grant->flags & GLOVE_LAUNCH_GRANT_DIRECTORY) != 0
          && is_at_or_below (order->grants[index].target, grant->target)
          && (above == NULL || strlen (grant->target) >= strlen (above->target)))
        above = grant;
    }
  return above != NULL && above->access == GLOVE_LAUNCH_ACCESS_WRITE ? above : NULL;
}

/* What is read-only within something writable could be moved away with a directory above it, and another put in its place, which the
 * host would then find there. A mount point can't be renamed: so each directory on the way becomes one, bound to itself. */
static void
hold_way (const GloveLaunchSandbox *self, uint32_t index)
{
  const char *target = self->order->grants[index].target;
  const GloveLaunchOrderGrant *above = find_writable_above (self->order, index);
  const char *slash = above != NULL ? strchr (target + strlen (above->target), '/') : NULL;

  while (slash != NULL && (slash = strchr (slash + 1, '/')) != NULL)
    {
      char way[GLOVE_LAUNCH_PATH_MAX + 1];
      struct statx stx;
      int directory, tree;

      memcpy (way, target + 1, (size_t) (slash - target - 1));
      way[slash - target - 1] = '\0';
      directory = sys_openat2 (self->root, way, O_PATH | O_DIRECTORY, RESOLVE_OURS);
      if (directory < 0 || statx (directory, "", AT_EMPTY_PATH, STATX_TYPE, &stx) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_GRANT_TARGET, index);
      if ((stx.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0)
        {
          tree = sys_clone_tree (directory, "");
          if (tree < 0 || sys_attach (tree, directory, "") < 0)
            glove_launch_fail (GLOVE_LAUNCH_STAGE_GRANT_ATTACH, index);
          close (tree);
        }
      close (directory);
    }
}

/* In the order of the spec, shallow first, so that the deepest rule wins. */
void
glove_launch_grants_attach (GloveLaunchSandbox *self)
{
  for (uint32_t i = 0; i < self->order->n_grants; i++)
    {
      const GloveLaunchOrderGrant *grant = &self->order->grants[i];
      bool directory = (grant->flags & GLOVE_LAUNCH_GRANT_DIRECTORY) != 0;
      struct stat st;
      int target;

      if (is_at_or_below (grant->target, "/proc") || strcmp (grant->target, "/dev") == 0)
        glove_launch_fail_with (GLOVE_LAUNCH_STAGE_GRANT_TARGET, EINVAL, i);
      if (grant->access == GLOVE_LAUNCH_ACCESS_READ)
        hold_way (self, i);
      target = find_target (self, grant->target, directory);
      if (target < 0 || fstat (target, &st) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_GRANT_TARGET, i);
      if (S_ISDIR (st.st_mode) != directory)
        glove_launch_fail_with (GLOVE_LAUNCH_STAGE_GRANT_TARGET, directory ? ENOTDIR : EISDIR, i);
      if (grant->access == GLOVE_LAUNCH_ACCESS_MASK)
        {
          self->trees[i] = glove_launch_mounts_empty_file ();
          if (self->trees[i] < 0)
            glove_launch_fail (GLOVE_LAUNCH_STAGE_GRANT_CLONE, i);
        }
      if (sys_attach (self->trees[i], target, "") < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_GRANT_ATTACH, i);
      close (target);
      /* The agent's second wall needs the writable ones. */
      if (grant->access != GLOVE_LAUNCH_ACCESS_WRITE)
        {
          close (self->trees[i]);
          self->trees[i] = -1;
        }
    }
}
