/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-linux-fd.h"

static gboolean
check_trusted (int fd, const char *path, GError **error)
{
  struct stat st;

  if (fstat (fd, &st) < 0)
    {
      glove_error_set_errno (error, errno, "can't examine the launcher “%s”", path);
      return FALSE;
    }
  if (!S_ISREG (st.st_mode) || (st.st_mode & 0111) == 0)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "the launcher “%s” is not an executable regular file", path);
      glove_error_set_hint (error, "install glove again, or name the launcher in the catalog entry of the backend");
      return FALSE;
    }
  if (st.st_uid != 0 && st.st_uid != geteuid ())
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "the launcher “%s” belongs to user %u", path, st.st_uid);
      glove_error_set_hint (error, "chown root “%s”", path);
      return FALSE;
    }
  if ((st.st_mode & 0022) != 0)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "the launcher “%s” can be written by others (mode %04o)", path,
                       st.st_mode & 07777);
      glove_error_set_hint (error, "chmod go-w “%s”", path);
      return FALSE;
    }
  return TRUE;
}

int
glove_linux_launcher_open (const char *path, GError **error)
{
  glove_linux_autofd int fd = open (path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "can't open the launcher “%s”", path);
      glove_error_set_hint (error, "install glove again, or name the launcher in the catalog entry of the backend");
      return -1;
    }
  if (!check_trusted (fd, path, error))
    return -1;
  return g_steal_fd (&fd);
}

static gboolean
is_listed (int fd, int spec_fd, const int *fds, gsize n_fds)
{
  for (gsize i = 0; i < n_fds; i++)
    if (fds[i] == fd)
      return TRUE;
  return fd == spec_fd;
}

/* What somebody left open for this process without close-on-exec is not for the launcher: everything between the listed ones is
 * closed, and everything after them. @launcher closes itself when it is executed. */
static int
add_closes (posix_spawn_file_actions_t *actions, int launcher, int spec_fd, const int *fds, gsize n_fds)
{
  int last = MAX (launcher, spec_fd);
  int rc = 0;

  for (gsize i = 0; i < n_fds; i++)
    last = MAX (last, fds[i]);
  for (int fd = 3; rc == 0 && fd < last; fd++)
    if (fd != launcher && !is_listed (fd, spec_fd, fds, n_fds))
      rc = posix_spawn_file_actions_addclose (actions, fd);
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 34)
  if (rc == 0)
    rc = posix_spawn_file_actions_addclosefrom_np (actions, MAX (last, 2) + 1);
#endif
  return rc;
}

/* dup2 onto itself clears close-on-exec in the child alone: the number stays, and no other thread's spawn inherits it. */
static int
add_actions (posix_spawn_file_actions_t *actions, int launcher, int spec_fd, const int *fds, gsize n_fds)
{
  int rc = posix_spawn_file_actions_adddup2 (actions, spec_fd, spec_fd);

  for (gsize i = 0; rc == 0 && i < n_fds; i++)
    if (fds[i] >= 0)
      rc = posix_spawn_file_actions_adddup2 (actions, fds[i], fds[i]);
  for (int fd = 0; rc == 0 && fd <= 2; fd++)
    if (fd != launcher && !is_listed (fd, spec_fd, fds, n_fds))
      rc = posix_spawn_file_actions_addopen (actions, fd, "/dev/null", O_RDWR, 0);
  return rc == 0 ? add_closes (actions, launcher, spec_fd, fds, n_fds) : rc;
}

static int
set_attributes (posix_spawnattr_t *attributes)
{
  sigset_t all, none;
  int rc;

  sigfillset (&all);
  sigemptyset (&none);
  rc = posix_spawnattr_setsigdefault (attributes, &all);
  if (rc == 0)
    rc = posix_spawnattr_setsigmask (attributes, &none);
  if (rc == 0)
    rc = posix_spawnattr_setpgroup (attributes, 0);
  if (rc == 0)
    rc = posix_spawnattr_setflags (attributes,
                                   POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  return rc;
}

static int
spawn (int fd, int spec_fd, const int *fds, gsize n_fds, pid_t *ret_pid)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  char path[sizeof "/proc/self/fd/" + 11], number[12];
  char *argv[] = { (char *) "glove-launch", number, NULL };
  char *envp[] = { NULL };
  int rc;

  g_snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
  g_snprintf (number, sizeof number, "%d", spec_fd);
  rc = posix_spawn_file_actions_init (&actions);
  if (rc != 0)
    return rc;
  rc = posix_spawnattr_init (&attributes);
  if (rc == 0)
    {
      rc = add_actions (&actions, fd, spec_fd, fds, n_fds);
      if (rc == 0)
        rc = set_attributes (&attributes);
      if (rc == 0)
        rc = posix_spawn (ret_pid, path, &actions, &attributes, argv, envp);
      (void) posix_spawnattr_destroy (&attributes);
    }
  (void) posix_spawn_file_actions_destroy (&actions);
  return rc;
}

gboolean
glove_linux_launcher_spawn (int fd, int spec_fd, const int *fds, gsize n_fds, pid_t *ret_pid, int *ret_pidfd,
                            GError **error)
{
  pid_t pid = 0;
  int pidfd;
  int rc = spawn (fd, spec_fd, fds, n_fds, &pid);

  if (rc != 0)
    {
      glove_error_set_errno (error, rc, "can't execute the launcher");
      return FALSE;
    }
  pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
  if (pidfd < 0)
    {
      int errsv = errno;

      /* Not reaped yet, so the number is still its own. */
      (void) kill (pid, SIGKILL);
      while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
        continue;
      glove_error_set_errno (error, errsv, "can't watch the launcher");
      return FALSE;
    }
  *ret_pid = pid;
  *ret_pidfd = pidfd;
  return TRUE;
}
