/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

typedef struct {
  const GloveLaunchOrder *order;
  int socket;  /* to the module, -1 after its end of file */
  int channel; /* to PID 1, -1 after its end of file */
  int pidfd;
  pid_t pid;
  bool failed; /* the first error was told, nothing else follows */
  bool ended;  /* PID 1 said how the agent ended */
  int status;
} Monitor;

/* The tree dies with PID 1; the cgroup is told too, in case that takes long. */
static void
kill_tree (Monitor *self)
{
  if (sys_pidfd_signal (self->pidfd, SIGKILL) < 0 && errno != ESRCH)
    kill (self->pid, SIGKILL);
  if (self->order->cgroup >= 0)
    {
      glove_launch_cgroup_kill (self->order);
      (void) glove_launch_cgroup_freeze (self->order, false);
    }
}

static void
lose_module (Monitor *self)
{
  if (self->socket >= 0)
    close (self->socket);
  self->socket = -1;
  kill_tree (self);
}

/* A module that does not read gets no more: STOPPED is the one kind that the agent can cause without end. */
static void
tell (Monitor *self, const GloveLaunchMessage *message, int passed)
{
  int flags = message->type == GLOVE_LAUNCH_STOPPED ? MSG_DONTWAIT : 0;

  if (self->socket >= 0 && glove_launch_send (self->socket, message, passed, flags) < 0 && errno != EAGAIN)
    lose_module (self);
}

static void
tell_failure (Monitor *self, GloveLaunchStage stage, int error)
{
  GloveLaunchMessage message = {
    .type = GLOVE_LAUNCH_FAILED, .arg = { stage, (uint32_t) error, GLOVE_LAUNCH_NO_INDEX }
  };

  if (!self->failed)
    tell (self, &message, -1);
  self->failed = true;
}

/* Field 22 of /proc/PID/stat; the name in field 2 may hold anything, so it is counted from the last parenthesis. */
static uint64_t
start_time (pid_t pid)
{
  char path[32], buffer[1024];
  const char *at;
  ssize_t n;
  int file;

  snprintf (path, sizeof path, "/proc/%d/stat", (int) pid);
  file = open (path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  n = read (file, buffer, sizeof buffer - 1);
  close (file);
  if (n <= 0)
    return 0;
  buffer[n] = '\0';
  at = strrchr (buffer, ')');
  for (int field = 2; at != NULL && field < 22; field++)
    at = strchr (at + 1, ' ');
  return at != NULL ? strtoull (at + 1, NULL, 10) : 0;
}

static void
on_module (Monitor *self)
{
  GloveLaunchMessage message;
  int got = glove_launch_receive (self->socket, &message, NULL, MSG_DONTWAIT);

  if (got < 0 && errno == EAGAIN)
    return;
  if (got <= 0)
    {
      lose_module (self);
      return;
    }
  switch (message.type)
    {
    case GLOVE_LAUNCH_START:
    case GLOVE_LAUNCH_SIGNAL:
      if (self->channel >= 0 && glove_launch_send (self->channel, &message, -1, 0) < 0 && errno != EPIPE)
        kill_tree (self);
      break;
    case GLOVE_LAUNCH_KILL:
      kill_tree (self);
      break;
    case GLOVE_LAUNCH_FREEZE:
      if (glove_launch_cgroup_freeze (self->order, message.arg[0] != 0) < 0)
        kill_tree (self); /* it asked for a stop and must not go on as if it had one */
      break;
    case GLOVE_LAUNCH_USAGE:
      message = (GloveLaunchMessage){ .type = GLOVE_LAUNCH_USAGE_REPLY };
      glove_launch_cgroup_count (self->order, &message);
      tell (self, &message, -1);
      break;
    default:
      lose_module (self);
      break;
    }
}

/* False when there is nothing more to read for now. */
static bool
on_channel (Monitor *self)
{
  GloveLaunchMessage message;
  int passed, got;

  if (self->channel < 0)
    return false;
  got = glove_launch_receive (self->channel, &message, &passed, MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN)
    return false;
  if (got <= 0)
    {
      close (self->channel);
      self->channel = -1;
      return false;
    }
  if (message.type == GLOVE_LAUNCH_AGENT_ENDED)
    {
      self->ended = true;
      self->status = (int) message.arg[0];
    }
  else if (message.type == GLOVE_LAUNCH_FAILED)
    {
      if (!self->failed)
        tell (self, &message, -1);
      self->failed = true;
    }
  else if (message.type >= GLOVE_LAUNCH_PORT && message.type <= GLOVE_LAUNCH_STOPPED && !self->failed)
    tell (self, &message, message.type == GLOVE_LAUNCH_TERMINAL ? passed : -1);
  if (passed >= 0)
    close (passed);
  return true;
}

static void
finish (Monitor *self)
{
  GloveLaunchMessage message = { .type = GLOVE_LAUNCH_ENDED };
  struct rusage usage = { 0 };
  int status = 0;
  pid_t reaped;

  while (on_channel (self))
    ;
  do
    reaped = wait4 (self->pid, &status, 0, &usage);
  while (reaped < 0 && errno == EINTR);
  if (!self->ended)
    self->status = WIFSIGNALED (status) ? status : SIGKILL;
  if (!self->ended && !self->failed && reaped == self->pid && WIFEXITED (status) && self->socket >= 0)
    tell_failure (self, GLOVE_LAUNCH_STAGE_INTERNAL, ECHILD); /* it may not leave without a word */
  message.arg[0] = (uint32_t) self->status;
  message.value[5] = (uint64_t) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000
                     + (uint64_t) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  glove_launch_cgroup_count (self->order, &message);
  glove_launch_cgroup_remove (self->order);
  if (!self->failed)
    tell (self, &message, -1);
  glove_launch_hang_up (self->socket);
}

static int
watch (Monitor *self)
{
  for (;;)
    {
      struct pollfd polled[3] = { { .fd = self->socket, .events = POLLIN },
                                  { .fd = self->channel, .events = POLLIN },
                                  { .fd = self->pidfd, .events = POLLIN } };

      if (poll (polled, 3, -1) < 0)
        {
          if (errno == EINTR)
            continue;
          tell_failure (self, GLOVE_LAUNCH_STAGE_INTERNAL, errno);
          kill_tree (self);
          finish (self);
          return 1;
        }
      if (polled[2].revents != 0)
        {
          finish (self);
          return self->failed ? 1 : 0;
        }
      if (polled[1].revents != 0)
        on_channel (self);
      if (polled[0].revents != 0 && self->socket >= 0)
        on_module (self);
    }
}

/* clone3 into the cgroup; where a filter around us hides clone3, clone, and the cgroup is entered from here. */
static pid_t
clone_init (const GloveLaunchOrder *order, int *ret_pidfd, bool *ret_in_cgroup)
{
  uint64_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  SysCloneArgs args = { .exit_signal = SIGCHLD, .pidfd = (uint64_t) (uintptr_t) ret_pidfd };
  long pid;

  if (order->cgroup < 0)
    namespaces |= CLONE_NEWCGROUP; /* else PID 1 makes it, from within */
  args.flags = namespaces | CLONE_PIDFD;
  *ret_in_cgroup = order->cgroup >= 0;
  if (order->cgroup >= 0)
    {
      args.flags |= CLONE_INTO_CGROUP;
      args.cgroup = (uint64_t) order->cgroup;
    }
  pid = syscall (SYS_clone3, &args, sizeof args);
  if (pid >= 0 || (errno != ENOSYS && errno != EPERM))
    return (pid_t) pid;
  *ret_in_cgroup = false;
  return (pid_t) syscall (SYS_clone, (unsigned long) (namespaces | CLONE_PIDFD | SIGCHLD), NULL, ret_pidfd, NULL, NULL);
}

static void
greet (Monitor *self, int landlock_abi)
{
  GloveLaunchMessage message = {
    .type = GLOVE_LAUNCH_HELLO,
    .arg = { GLOVE_LAUNCH_VERSION, (uint32_t) self->pid, (uint32_t) landlock_abi },
    .value = { start_time (self->pid) },
  };

  tell (self, &message, -1);
}

/* What PID 1 waits for. False: it was told why not. */
static bool
let_go (Monitor *self, bool in_cgroup)
{
  GloveLaunchMessage message = { .type = GLOVE_LAUNCH_GO };

  if (self->order->cgroup >= 0 && !in_cgroup && glove_launch_cgroup_enter (self->order, self->pid) < 0)
    {
      tell_failure (self, GLOVE_LAUNCH_STAGE_CGROUP, errno);
      return false;
    }
  if ((self->order->flags & GLOVE_LAUNCH_FLAG_MAP_ID) != 0
      && glove_launch_ids_write_maps_of (self->order, self->pid) < 0)
    {
      tell_failure (self, GLOVE_LAUNCH_STAGE_USERNS_MAP, errno);
      return false;
    }
  return glove_launch_send (self->channel, &message, -1, 0) == 0;
}

static void
be_quiet (const Monitor *self)
{
  int keep[] = { self->socket, self->channel, self->pidfd, self->order->cgroup, self->order->cgroup_parent };

  /* The agent's own pipes among them: whoever reads them must see their end when the agent ends. */
  if (glove_launch_close_all_but (keep, sizeof keep / sizeof *keep) < 0 || prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0
      || chdir ("/") < 0)
    _exit (1);
}

/* Signals of the terminal are the module's business; a session of its own keeps them away. All others wait: what ends this process is
 * the end of file on its socket. */
static bool
stand_aside (const GloveLaunchOrder *order)
{
  struct rlimit files;
  sigset_t all;

  (void) setsid (); /* fails for a group leader, which no terminal's group holds by accident */
  sigfillset (&all);
  if (sigprocmask (SIG_SETMASK, &all, NULL) < 0 || getrlimit (RLIMIT_NOFILE, &files) < 0)
    return false;
  files.rlim_cur = files.rlim_max;
  if (setrlimit (RLIMIT_NOFILE, &files) < 0)
    return false;
  /* The groups of whoever runs this would be the agent's too. Only privilege can drop them. */
  return geteuid () != 0 || setgroups (0, NULL) == 0;
}

/* Before there is anything to watch. The cgroup goes with it: nobody else may be left to remove it. */
static _Noreturn void
give_up (const GloveLaunchOrder *order, GloveLaunchStage stage, int error)
{
  glove_launch_cgroup_remove (order);
  glove_launch_fail_with (stage, error, GLOVE_LAUNCH_NO_INDEX);
}

int
glove_launch_monitor_run (const GloveLaunchOrder *order)
{
  Monitor self = { .order = order, .socket = order->monitor, .channel = -1, .pidfd = -1 };
  int abi = (order->flags & GLOVE_LAUNCH_FLAG_NO_LANDLOCK) != 0 ? 0 : glove_launch_landlock_abi ();
  int channel[2];
  bool in_cgroup, mapped_outside = (order->flags & GLOVE_LAUNCH_FLAG_MAP_ID) != 0, wait_for_go = true;

  if (!stand_aside (order) || socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0)
    give_up (order, GLOVE_LAUNCH_STAGE_INTERNAL, errno);
  if (!mapped_outside && (order->host_uid != geteuid () || order->host_gid != getegid ()))
    give_up (order, GLOVE_LAUNCH_STAGE_CREDENTIALS, EPERM);
  self.pid = clone_init (order, &self.pidfd, &in_cgroup);
  if (self.pid < 0)
    {
      GloveLaunchStage stage = order->cgroup >= 0 && (errno == EACCES || errno == EBUSY || errno == EOPNOTSUPP)
                                 ? GLOVE_LAUNCH_STAGE_CGROUP : GLOVE_LAUNCH_STAGE_CLONE;

      give_up (order, stage, errno);
    }
  wait_for_go = mapped_outside || (order->cgroup >= 0 && !in_cgroup);
  if (self.pid == 0)
    {
      close (channel[0]);
      close (order->monitor);
      glove_launch_init_run (order, channel[1], abi, wait_for_go);
    }
  close (channel[1]);
  self.channel = channel[0];
  if (wait_for_go && !let_go (&self, in_cgroup))
    kill_tree (&self);
  be_quiet (&self);
  greet (&self, abi);
  return watch (&self);
}
