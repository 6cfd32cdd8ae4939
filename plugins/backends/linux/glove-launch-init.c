/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

#define BACK_OFF_MS 100

/* What PID 1 holds once the agent is there. */
typedef struct {
  int channel, status, signals, egress, terminal, agent_fd;
  pid_t agent;
  bool ready, started, stopped;
  uint64_t early; /* signals that came before the agent was executed: 1 << number - 1 */
  bool backing_off;     /* descriptors or memory are short: listeners rest until the time is over */
  int waiting;          /* an accepted socket that the egress channel has no room for, or -1 */
  uint32_t waiting_tag;
  uint32_t n_listeners;
  int listeners[GLOVE_LAUNCH_LISTENERS_MAX];
  uint32_t tags[GLOVE_LAUNCH_LISTENERS_MAX];
} Init;

static void
tell (const Init *self, uint32_t type, uint32_t value, int flags)
{
  GloveLaunchMessage message = { .type = type, .arg = { value } };

  if (glove_launch_send (self->channel, &message, -1, flags) < 0 && errno != EAGAIN)
    _exit (1); /* the monitor is gone, and this ends the whole tree */
}

static void
signal_agent (Init *self, int number)
{
  pid_t group = self->agent;

  if (number < 1 || number > SIGRTMAX)
    return;
  if (!self->started)
    {
      self->early |= UINT64_C (1) << (number - 1);
      return;
    }
  if (self->terminal >= 0 && number == SIGCONT && self->stopped)
    {
      if (tcsetpgrp (self->terminal, group) < 0)
        group = self->agent; /* it goes on without the foreground */
    }
  else if (self->terminal >= 0)
    {
      pid_t foreground = tcgetpgrp (self->terminal);

      if (foreground > 1)
        group = foreground;
    }
  if (kill (-group, number) < 0 && sys_pidfd_signal (self->agent_fd, number) < 0 && errno != ESRCH)
    _exit (1);
}

static void
on_channel (Init *self)
{
  GloveLaunchMessage message;
  int got = glove_launch_receive (self->channel, &message, NULL, MSG_DONTWAIT);

  if (got < 0 && errno == EAGAIN)
    return;
  if (got <= 0)
    _exit (1);
  if (message.type == GLOVE_LAUNCH_START)
    {
      if (glove_launch_send (self->status, &message, -1, 0) < 0)
        _exit (1);
    }
  else if (message.type == GLOVE_LAUNCH_SIGNAL)
    signal_agent (self, (int) message.arg[0]);
}

/* A request to end that came while the sandbox was made is not lost. */
static void
signal_early (Init *self)
{
  for (int number = 1; number <= SIGRTMAX && self->early != 0; number++)
    if ((self->early & UINT64_C (1) << (number - 1)) != 0)
      signal_agent (self, number);
  self->early = 0;
}

/* The agent's own report: ready, failed, or the end of file that its exec makes. */
static void
on_status (Init *self)
{
  GloveLaunchMessage message;
  int got = glove_launch_receive (self->status, &message, NULL, MSG_DONTWAIT);

  if (got < 0 && errno == EAGAIN)
    return;
  if (got == 1 && message.type == GLOVE_LAUNCH_FAILED)
    {
      if (glove_launch_send (self->channel, &message, -1, 0) < 0)
        _exit (2);
      _exit (1);
    }
  if (got == 1 && message.type == GLOVE_LAUNCH_AGENT_READY && !self->ready)
    {
      self->ready = true;
      tell (self, GLOVE_LAUNCH_READY, 0, 0);
      return;
    }
  if (got != 0)
    glove_launch_fail_with (GLOVE_LAUNCH_STAGE_INTERNAL, EPROTO, GLOVE_LAUNCH_NO_INDEX);
  close (self->status);
  self->status = -1;
  if (!self->ready)
    return; /* it died before it could say why; its status will */
  self->started = true;
  tell (self, GLOVE_LAUNCH_STARTED, 0, 0);
  signal_early (self);
}

/* Reaps everything that ended. The agent's end is the end of the tree. */
static void
on_child (Init *self)
{
  struct signalfd_siginfo ignored;
  int status;
  pid_t pid;

  if (read (self->signals, &ignored, sizeof ignored) < 0 && errno != EAGAIN)
    _exit (1);
  while ((pid = waitpid (-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0)
    {
      if (pid != self->agent)
        continue;
      if (WIFSTOPPED (status))
        {
          self->stopped = true;
          tell (self, GLOVE_LAUNCH_STOPPED, (uint32_t) WSTOPSIG (status), MSG_DONTWAIT);
        }
      else if (WIFCONTINUED (status))
        self->stopped = false;
      else
        {
          while (self->status >= 0)
            on_status (self); /* an error that it reported, or its exec, comes first */
          tell (self, GLOVE_LAUNCH_AGENT_ENDED, (uint32_t) status, 0);
          _exit (0);
        }
    }
}

static bool
is_shortage (int error)
{
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM || error == ETOOMANYREFS;
}

static void
stop_listening (Init *self)
{
  for (uint32_t i = 0; i < self->n_listeners; i++)
    close (self->listeners[i]);
  self->n_listeners = 0;
  if (self->waiting >= 0)
    close (self->waiting);
  self->waiting = -1;
  if (self->egress >= 0)
    close (self->egress);
  self->egress = -1;
}

/* Hands the waiting socket out. */
static void
pass_on (Init *self)
{
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control = { .header = { .cmsg_len = CMSG_LEN (sizeof (int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
  struct iovec io = { .iov_base = &self->waiting_tag, .iov_len = sizeof self->waiting_tag };
  struct msghdr packet = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes };

  memcpy (CMSG_DATA (&control.header), &self->waiting, sizeof self->waiting);
  if (sendmsg (self->egress, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
    {
      close (self->waiting);
      self->waiting = -1;
    }
  else if (is_shortage (errno))
    self->backing_off = true;
  else if (errno != EAGAIN && errno != EINTR)
    stop_listening (self); /* nobody takes them any more: connections are refused from now on */
}

static void
on_connection (Init *self, uint32_t which)
{
  int accepted = accept4 (self->listeners[which], NULL, NULL, SOCK_CLOEXEC);

  if (accepted < 0)
    {
      if (is_shortage (errno))
        self->backing_off = true;
      return; /* anything else was that one connection's */
    }
  self->waiting = accepted;
  self->waiting_tag = self->tags[which];
  pass_on (self);
}

static _Noreturn void
serve (Init *self)
{
  for (;;)
    {
      enum { CHANNEL, SIGNALS, STATUS, EGRESS, LISTENERS };
      struct pollfd polled[LISTENERS + GLOVE_LAUNCH_LISTENERS_MAX] = {
        [CHANNEL] = { .fd = self->channel, .events = POLLIN },
        [SIGNALS] = { .fd = self->signals, .events = POLLIN },
        [STATUS] = { .fd = self->status, .events = POLLIN },
        [EGRESS] = { .fd = self->waiting >= 0 && !self->backing_off ? self->egress : -1, .events = POLLOUT },
      };
      bool accepting = self->waiting < 0 && !self->backing_off;
      uint32_t n = accepting ? self->n_listeners : 0;
      int got;

      for (uint32_t i = 0; i < n; i++)
        polled[LISTENERS + i] = (struct pollfd){ .fd = self->listeners[i], .events = POLLIN };
      got = poll (polled, LISTENERS + n, self->backing_off ? BACK_OFF_MS : -1);
      if (got < 0 && errno != EINTR)
        _exit (1);
      if (got == 0)
        self->backing_off = false;
      if (got <= 0)
        continue;
      if (polled[STATUS].revents != 0)
        on_status (self);
      if (polled[SIGNALS].revents != 0)
        on_child (self);
      if (polled[CHANNEL].revents != 0)
        on_channel (self);
      if (polled[EGRESS].revents != 0)
        pass_on (self);
      for (uint32_t i = 0; i < n && i < self->n_listeners && self->waiting < 0 && !self->backing_off; i++)
        if (polled[LISTENERS + i].revents != 0)
          on_connection (self, i);
    }
}

/* Dies with the monitor: by a signal, and where that was set too late, by the end of file that is there already. */
static void
follow_monitor (int channel)
{
  char byte;

  if (prctl (PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, GLOVE_LAUNCH_NO_INDEX);
  if (recv (channel, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
    _exit (1);
}

static void
enter_namespaces (const GloveLaunchOrder *order, int channel, bool wait_for_go)
{
  GloveLaunchMessage message;

  if (wait_for_go && (glove_launch_receive (channel, &message, NULL, 0) != 1 || message.type != GLOVE_LAUNCH_GO))
    _exit (1);
  if ((order->flags & GLOVE_LAUNCH_FLAG_MAP_ID) == 0)
    glove_launch_ids_write_own_maps (order);
  glove_launch_ids_become (order);
  /* Else /proc/1/mem and /proc/1/fd would be open to the agent, which has the same id. */
  if (prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_CREDENTIALS, GLOVE_LAUNCH_NO_INDEX);
  follow_monitor (channel);
  /* Only from within the cgroup is it the root of the new cgroup namespace. */
  if (order->cgroup >= 0 && unshare (CLONE_NEWCGROUP) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_CGROUP, GLOVE_LAUNCH_NO_INDEX);
  if (sethostname (order->host_name, strlen (order->host_name)) < 0 || setdomainname ("", 0) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_ROOT, 1);
  if (setsid () < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, GLOVE_LAUNCH_NO_INDEX);
}

static void
make_file_systems (GloveLaunchSandbox *sandbox)
{
  umask (0);
  glove_launch_mounts_make_root (sandbox);
  glove_launch_mounts_add_system (sandbox);
  glove_launch_etc_add (sandbox);
  glove_launch_proc_mount (sandbox);
  glove_launch_proc_seal (sandbox);
  glove_launch_dev_add (sandbox);
  glove_launch_mounts_add_private (sandbox);
  glove_launch_files_write (sandbox);
  glove_launch_grants_attach (sandbox);
  glove_launch_mounts_drop_empty_file ();
  glove_launch_dev_open_terminal (sandbox);
  glove_launch_proc_set_quotas (sandbox);
  glove_launch_mounts_enter (sandbox);
  umask (022);
}

static void
take_terminal (const GloveLaunchSandbox *sandbox)
{
  if (sandbox->terminal >= 0 && ioctl (sandbox->terminal, TIOCSCTTY, 0) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_TERMINAL, GLOVE_LAUNCH_NO_INDEX);
}

/* The agent, and a descriptor of it. Plain clone: here no libc state needs to know. */
static pid_t
fork_agent (int *ret_fd)
{
  int fd = -1;
  pid_t pid = (pid_t) syscall (SYS_clone, (unsigned long) (SIGCHLD | CLONE_PIDFD), NULL, &fd, NULL, NULL);

  *ret_fd = fd;
  return pid;
}

static void
keep_only (Init *self)
{
  int keep[6 + GLOVE_LAUNCH_LISTENERS_MAX] = { self->channel, self->status,   self->signals,
                                               self->egress,  self->terminal, self->agent_fd };

  memcpy (keep + 6, self->listeners, sizeof *self->listeners * self->n_listeners);
  if (glove_launch_close_all_but (keep, 6 + self->n_listeners) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, GLOVE_LAUNCH_NO_INDEX);
}

_Noreturn void
glove_launch_init_run (const GloveLaunchOrder *order, int channel, int landlock_abi, bool wait_for_go)
{
  static GloveLaunchSandbox sandbox;
  static Init self;
  sigset_t all;
  int status[2];

  glove_launch_report_to (channel);
  sandbox = (GloveLaunchSandbox){
    .order = order, .channel = channel, .root = -1, .quotas = -1, .landlock_abi = landlock_abi, .terminal = -1
  };
  sigfillset (&all);
  if (sigprocmask (SIG_SETMASK, &all, NULL) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, GLOVE_LAUNCH_NO_INDEX);
  enter_namespaces (order, channel, wait_for_go);
  glove_launch_network_up (&sandbox);
  glove_launch_network_listen (&sandbox);
  make_file_systems (&sandbox);
  take_terminal (&sandbox);
  self = (Init){ .channel = channel, .egress = order->egress, .terminal = sandbox.terminal, .waiting = -1,
                 .n_listeners = order->n_listeners };
  memcpy (self.listeners, sandbox.listeners, sizeof self.listeners);
  for (uint32_t i = 0; i < order->n_listeners; i++)
    self.tags[i] = order->listeners[i].tag;
  self.signals = signalfd (-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (self.signals < 0 || socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, status) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, GLOVE_LAUNCH_NO_INDEX);
  self.agent = fork_agent (&self.agent_fd);
  if (self.agent < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_INTERNAL, GLOVE_LAUNCH_NO_INDEX);
  if (self.agent == 0)
    glove_launch_agent_run (&sandbox, status[1]);
  self.status = status[0];
  glove_launch_mounts_leave_host ();
  glove_launch_ids_drop_capabilities ();
  keep_only (&self);
  glove_launch_seccomp_load_init ();
  serve (&self);
}
