/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int
glove_launch_files_make_parents (const char *path)
{
  char parent[GLOVE_LAUNCH_PATH_MAX + 1];

  for (const char *slash = strchr (path, '/'); slash != NULL; slash = strchr (slash + 1, '/'))
    {
      memcpy (parent, path, (size_t) (slash - path));
      parent[slash - path] = '\0';
      if (mkdir (parent, 0755) < 0 && errno != EEXIST)
        return -1;
    }
  return 0;
}

static void
write_one (const GloveLaunchOrderFile *file, uint32_t index)
{
  const char *path = file->path + 1;
  uint32_t done = 0;
  int copy;

  if (glove_launch_files_make_parents (path) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_FILE, index);
  if ((file->flags & GLOVE_LAUNCH_FILE_DIRECTORY) != 0)
    {
      if ((mkdir (path, file->mode) < 0 && errno != EEXIST) || chmod (path, file->mode) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_FILE, index);
      return;
    }
  copy = open (path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file->mode);
  if (copy < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_FILE, index);
  while (done < file->length)
    {
      ssize_t n = write (copy, file->content + done, file->length - done);

      if (n < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_FILE, index);
      done += (uint32_t) n;
    }
  close (copy);
}

/* In the sandbox there is one id, so "not the agent's" means that it lies in the root, which becomes read-only. */
static bool
is_in_root (const GloveLaunchSandbox *self, const GloveLaunchOrderFile *file)
{
  static const char *const writable[] = { "/tmp", "/var/tmp", "/dev/shm" };
  size_t length = strlen (self->order->home);

  if (strncmp (file->path, self->order->home, length) == 0 && (file->path[length] == '/' || file->path[length] == '\0'))
    return false;
  for (unsigned i = 0; i < sizeof writable / sizeof *writable; i++)
    if (strncmp (file->path, writable[i], strlen (writable[i])) == 0)
      return false;
  return true;
}

void
glove_launch_files_write (GloveLaunchSandbox *self)
{
  for (uint32_t i = 0; i < self->order->n_files; i++)
    {
      const GloveLaunchOrderFile *file = &self->order->files[i];

      if ((file->flags & GLOVE_LAUNCH_FILE_OWNER_ROOT) != 0 && !is_in_root (self, file))
        glove_launch_fail_with (GLOVE_LAUNCH_STAGE_FILE, EPERM, i);
      write_one (file, i);
    }
}
