/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Up to here a copy costs less than a mount (some ten microseconds, and as much again at the end). */
#define COPY_MAX (16 * 1024)

/* What of the host's /etc is seen, where it exists. No secret, nothing that names the machine, and no ld.so.preload, which would be
 * the host's code in every program inside. */
static const char *const allowed[] = {
  "nsswitch.conf", "ssl/certs",     "ssl/openssl.cnf", "ca-certificates", "alternatives", "ld.so.cache", "ld.so.conf",
  "ld.so.conf.d",  "localtime",     "locale.alias",    "locale.conf",     "fonts",        "mime.types",
};

static void
bind_tree (const char *host_path, const char *path, bool directory, uint32_t index)
{
  int tree, made;

  tree = open (host_path, O_PATH | O_CLOEXEC);
  if (tree < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, index);
  made = sys_clone_tree (tree, "");
  close (tree);
  if (made < 0 || sys_seal_tree (made, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, index);
  if (directory ? mkdir (path, 0755) < 0 : mknod (path, S_IFREG | 0444, 0) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, index);
  if (sys_attach (made, AT_FDCWD, path) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, index);
  close (made);
}

static void
copy_file (int source, const char *path, uint32_t index)
{
  char buffer[COPY_MAX];
  ssize_t n;
  int copy = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

  if (copy < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, index);
  while ((n = read (source, buffer, sizeof buffer)) > 0)
    if (write (copy, buffer, (size_t) n) != n)
      glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, index);
  if (n < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, index);
  close (copy);
}

/* A link into /usr stays a link (localtime says its zone by it). True if it was one. */
static bool
copy_link (const char *host_path, const char *path, uint32_t index)
{
  char target[PATH_MAX];
  ssize_t length = readlink (host_path, target, sizeof target - 1);

  if (length < 0)
    return false;
  target[length] = '\0';
  if (strncmp (target, "/usr/", 5) != 0 && strncmp (target, "../usr/", 7) != 0)
    return false;
  if (symlink (target, path) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, index);
  return true;
}

static void
add_one (const char *name, uint32_t index)
{
  char host_path[64];
  const char *path = host_path + 1;
  struct stat st;
  int source;

  snprintf (host_path, sizeof host_path, "/etc/%s", name);
  if (copy_link (host_path, path, index))
    return;
  source = open (host_path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (source < 0 || fstat (source, &st) < 0)
    {
      if (errno != ENOENT && errno != EACCES && errno != ENOTDIR)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, index);
      return;
    }
  if (S_ISDIR (st.st_mode))
    bind_tree (host_path, path, true, index);
  else if (S_ISREG (st.st_mode) && st.st_size <= COPY_MAX)
    copy_file (source, path, index);
  else if (S_ISREG (st.st_mode))
    bind_tree (host_path, path, false, index);
  close (source);
}

void
glove_launch_etc_add (GloveLaunchSandbox *self)
{
  if (mkdir ("etc", 0755) < 0 || mkdir ("etc/ssl", 0755) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ETC, GLOVE_LAUNCH_NO_INDEX);
  for (uint32_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
    add_one (allowed[i], i);
}
