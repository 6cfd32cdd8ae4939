/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT64_MAX
#define REMOVE_TRIES 20
#define REMOVE_WAIT_MS 500

static int
write_file (int directory, const char *name, const char *text)
{
  int file = openat (directory, name, O_WRONLY | O_CLOEXEC);
  ssize_t n;

  if (file < 0)
    return -1;
  n = write (file, text, strlen (text));
  close (file);
  return n == (ssize_t) strlen (text) ? 0 : -1;
}

/* Where the kernel could not put PID 1 into its cgroup by cloning it there. */
int
glove_launch_cgroup_enter (const GloveLaunchOrder *order, pid_t pid)
{
  char text[16];

  snprintf (text, sizeof text, "%d", (int) pid);
  return write_file (order->cgroup, "cgroup.procs", text);
}

/* Best effort: PID 1's death kills the same processes. */
void
glove_launch_cgroup_kill (const GloveLaunchOrder *order)
{
  if (order->cgroup >= 0 && write_file (order->cgroup, "cgroup.kill", "1") < 0)
    return;
}

int
glove_launch_cgroup_freeze (const GloveLaunchOrder *order, bool frozen)
{
  return order->cgroup < 0 ? 0 : write_file (order->cgroup, "cgroup.freeze", frozen ? "1" : "0");
}

static bool
read_file (int directory, const char *name, char *buffer, size_t size)
{
  int file = openat (directory, name, O_RDONLY | O_CLOEXEC);
  ssize_t n;

  if (file < 0)
    return false;
  n = read (file, buffer, size - 1);
  close (file);
  if (n < 0)
    return false;
  buffer[n] = '\0';
  return true;
}

/* One number from a file of one number (@key NULL), or of lines "key number". */
static uint64_t
read_number (int directory, const char *name, const char *key)
{
  char buffer[2048];
  const char *line = buffer;

  if (!read_file (directory, name, buffer, sizeof buffer))
    return UNKNOWN;
  while (key != NULL && !(strncmp (line, key, strlen (key)) == 0 && line[strlen (key)] == ' '))
    {
      line = strchr (line, '\n');
      if (line == NULL)
        return UNKNOWN;
      line++;
    }
  if (key != NULL)
    line += strlen (key) + 1;
  return *line >= '0' && *line <= '9' ? strtoull (line, NULL, 10) : UNKNOWN;
}

static uint64_t
or_zero (uint64_t number)
{
  return number == UNKNOWN ? 0 : number;
}

void
glove_launch_cgroup_count (const GloveLaunchOrder *order, GloveLaunchMessage *message)
{
  uint64_t cpu;

  message->value[1] = message->value[2] = UNKNOWN;
  if (order->cgroup < 0)
    return;
  cpu = read_number (order->cgroup, "cpu.stat", "usage_usec");
  if (cpu == UNKNOWN)
    return;
  message->arg[1] = 1;
  message->value[0] = cpu;
  message->value[1] = read_number (order->cgroup, "memory.peak", NULL);
  message->value[2] = read_number (order->cgroup, "pids.peak", NULL);
  message->value[3] = or_zero (read_number (order->cgroup, "memory.events.local", "oom_kill"));
  message->value[4] = or_zero (read_number (order->cgroup, "pids.events", "max"));
}

/* All its processes are reaped, but the kernel may still be taking the last of them apart: cgroup.events says when it is done. */
void
glove_launch_cgroup_remove (const GloveLaunchOrder *order)
{
  struct pollfd events = { .events = POLLPRI };

  if (order->cgroup < 0)
    return;
  events.fd = openat (order->cgroup, "cgroup.events", O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < REMOVE_TRIES; i++)
    {
      char buffer[256];

      if (unlinkat (order->cgroup_parent, order->cgroup_name, AT_REMOVEDIR) == 0 || errno != EBUSY)
        break;
      if (events.fd >= 0 && lseek (events.fd, 0, SEEK_SET) == 0 && read (events.fd, buffer, sizeof buffer - 1) < 0)
        break;
      if (poll (&events, 1, REMOVE_WAIT_MS) < 0)
        break;
    }
  if (events.fd >= 0)
    close (events.fd);
}
