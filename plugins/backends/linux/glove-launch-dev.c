/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO ('T', 0x41)
#endif

static const struct {
  const char *host_path;
  unsigned major, minor;
} devices[] = {
  { "/dev/null", 1, 3 },   { "/dev/zero", 1, 5 },    { "/dev/full", 1, 7 },
  { "/dev/random", 1, 8 }, { "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 },
};

static const struct {
  const char *target, *path;
} links[] = {
  { "pts/ptmx", "dev/ptmx" },       { "/proc/self/fd", "dev/fd" },       { "/proc/self/fd/0", "dev/stdin" },
  { "/proc/self/fd/1", "dev/stdout" }, { "/proc/self/fd/2", "dev/stderr" },
};

/* The host's device node, which is what it should be: a link or a file in its place is not bound. */
static void
bind_device (unsigned index)
{
  const char *path = devices[index].host_path + 1;
  int tree = sys_clone_tree (AT_FDCWD, devices[index].host_path);
  struct stat st;

  if (tree < 0 || fstat (tree, &st) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_DEV, index);
  if (!S_ISCHR (st.st_mode) || st.st_rdev != makedev (devices[index].major, devices[index].minor))
    glove_launch_fail_with (GLOVE_LAUNCH_STAGE_DEV, ENODEV, index);
  if (sys_seal_tree (tree, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC) < 0 || mknod (path, S_IFREG | 0666, 0) < 0
      || sys_attach (tree, AT_FDCWD, path) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_DEV, index);
  close (tree);
}

/* A few nodes of the host, and a devpts of its own. No gid= there: the group of terminals has no id inside. max=, since all mounts of
 * devpts together have 3072 (kernel.pty.max less kernel.pty.reserve). */
void
glove_launch_dev_add (GloveLaunchSandbox *self)
{
  if (mkdir ("dev", 0755) < 0 || mkdir ("dev/shm", 0755) < 0 || mkdir ("dev/pts", 0755) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_DEV, GLOVE_LAUNCH_NO_INDEX);
  for (unsigned i = 0; i < sizeof devices / sizeof *devices; i++)
    bind_device (i);
  for (unsigned i = 0; i < sizeof links / sizeof *links; i++)
    if (symlink (links[i].target, links[i].path) < 0)
      glove_launch_fail (GLOVE_LAUNCH_STAGE_DEV, 100 + i);
  if (mount ("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,max=256") < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_DEVPTS, GLOVE_LAUNCH_NO_INDEX);
}

/* A pair of the sandbox's own devpts: the master goes out, the slave stays. */
void
glove_launch_dev_open_terminal (GloveLaunchSandbox *self)
{
  GloveLaunchMessage message = { .type = GLOVE_LAUNCH_TERMINAL };
  struct winsize size = { .ws_row = self->order->rows, .ws_col = self->order->columns };
  int master, unlocked = 0;

  if ((self->order->flags & GLOVE_LAUNCH_FLAG_TTY) == 0)
    return;
  master = open ("dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || ioctl (master, TIOCSPTLCK, &unlocked) < 0 || ioctl (master, TIOCSWINSZ, &size) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_TERMINAL, GLOVE_LAUNCH_NO_INDEX);
  self->terminal = ioctl (master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (self->terminal < 0 || glove_launch_send (self->channel, &message, master, 0) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_TERMINAL, GLOVE_LAUNCH_NO_INDEX);
  close (master);
}
