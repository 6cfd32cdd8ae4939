/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

#define STATUS_FD 3

/* Ignored signals and masks survive exec; whoever started us may have left either behind. The libc keeps two numbers for itself and
 * touches neither, so the kernel is asked directly: a zeroed action is the default one. */
static void
reset_signals (void)
{
  static const uint64_t by_default[8];
  sigset_t none;

  for (int number = 1; number <= 64; number++)
    if (number != SIGKILL && number != SIGSTOP && syscall (SYS_rt_sigaction, number, by_default, NULL, (size_t) 8) < 0)
      glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, (uint32_t) number);
  sigemptyset (&none);
  if (sigprocmask (SIG_SETMASK, &none, NULL) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, GLOVE_LAUNCH_NO_INDEX);
}

/* With a terminal PID 1 leads the session, so that the agent's group is never orphaned and Ctrl-Z can stop it. */
static void
take_place (const GloveLaunchSandbox *self)
{
  pid_t group;

  if (self->terminal < 0)
    {
      if (setsid () < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, 1);
      return;
    }
  group = getpid ();
  if (setpgid (0, 0) < 0 || tcsetpgrp (self->terminal, group) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_TERMINAL, 1);
}

/* 0, 1 and 2 are what the spec says, 3 is the way to report, and nothing else is open. The numbers may overlap, so all move out of the
 * way first. */
static void
arrange_descriptors (const GloveLaunchSandbox *self, int status)
{
  int source[4];

  for (int i = 0; i < 3; i++)
    {
      /* beside a terminal, only what was redirected away from the operator's has a descriptor */
      int fd = self->order->stdio[i] >= 0 ? self->order->stdio[i] : self->terminal;

      source[i] = fd >= 0 ? fcntl (fd, F_DUPFD_CLOEXEC, 10) : open ("/dev/null", O_RDWR | O_CLOEXEC);
      if (source[i] >= 0 && source[i] < 10)
        source[i] = fcntl (source[i], F_DUPFD_CLOEXEC, 10);
      if (source[i] < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, (uint32_t) i);
    }
  source[3] = fcntl (status, F_DUPFD_CLOEXEC, 10);
  if (source[3] < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, 3);
  glove_launch_report_to (source[3]);
  for (int i = 0; i < 3; i++)
    if (dup2 (source[i], i) < 0)
      glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, (uint32_t) i);
  if (dup3 (source[3], STATUS_FD, O_CLOEXEC) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, 3);
  glove_launch_report_to (STATUS_FD);
  if (sys_close_range (STATUS_FD + 1, UINT_MAX) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, 4);
}

static const char *
search_path (char *const *env)
{
  for (; *env != NULL; env++)
    if (strncmp (*env, "PATH=", 5) == 0)
      return *env + 5;
  return "/usr/local/bin:/usr/bin:/bin";
}

/* ENOENT from execve has two meanings: no such program, or a program whose interpreter is missing. */
static _Noreturn void
fail_exec (const char *path, int error)
{
  struct stat st;

  if ((error == ENOENT || error == ENOTDIR) && stat (path, &st) < 0)
    glove_launch_fail_with (GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, ENOENT, GLOVE_LAUNCH_NO_INDEX);
  glove_launch_fail_with (GLOVE_LAUNCH_STAGE_EXEC, error, GLOVE_LAUNCH_NO_INDEX);
}

/* As execvp(3), but with the PATH of the agent's environment, and without the shell for what has no interpreter line. */
static _Noreturn void
search_and_execute (char *const *argv, char *const *env)
{
  int denied = 0;

  for (const char *path = search_path (env); path != NULL; path = *path == ':' ? path + 1 : NULL)
    {
      char candidate[PATH_MAX];
      size_t length = strcspn (path, ":");
      struct stat st;
      int n = snprintf (candidate, sizeof candidate, "%.*s%s%s", (int) length, path, length > 0 ? "/" : "", argv[0]);

      path += length;
      if (n < 0 || (size_t) n >= sizeof candidate)
        continue;
      execve (candidate, argv, env);
      if (errno == EACCES)
        denied = EACCES;
      else if ((errno != ENOENT && errno != ENOTDIR) || stat (candidate, &st) == 0)
        fail_exec (candidate, errno == ENOTDIR ? ENOENT : errno);
    }
  if (denied != 0)
    glove_launch_fail_with (GLOVE_LAUNCH_STAGE_EXEC, denied, GLOVE_LAUNCH_NO_INDEX);
  glove_launch_fail_with (GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, ENOENT, GLOVE_LAUNCH_NO_INDEX);
}

_Noreturn void
glove_launch_agent_run (GloveLaunchSandbox *self, int status)
{
  const GloveLaunchOrder *order = self->order;
  GloveLaunchMessage message = { .type = GLOVE_LAUNCH_AGENT_READY };

  glove_launch_report_to (status);
  take_place (self);
  reset_signals ();
  glove_launch_ids_drop_capabilities ();
  glove_launch_landlock_restrict (self);
  arrange_descriptors (self, status);
  glove_launch_ids_set_rlimits (order);
  if (chdir (order->work_dir) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_WORK_DIR, GLOVE_LAUNCH_NO_INDEX);
  glove_launch_seccomp_load_agent ();
  if (glove_launch_send (STATUS_FD, &message, -1, 0) < 0 || glove_launch_receive (STATUS_FD, &message, NULL, 0) != 1
      || message.type != GLOVE_LAUNCH_START)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_SUPERVISOR_GONE, GLOVE_LAUNCH_NO_INDEX);
  if (order->executable[0] == '\0' && strchr (order->argv[0], '/') == NULL)
    search_and_execute (order->argv, order->env);
  else
    {
      const char *path = order->executable[0] != '\0' ? order->executable : order->argv[0];

      execve (path, order->argv, order->env);
      fail_exec (path, errno);
    }
}
