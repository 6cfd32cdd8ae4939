/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A launcher that makes nothing: argv[0] of the spec says how it misbehaves. A spec of the word "inherit" makes it report what it
 * has to whatever descriptor it was given. */

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-launch-order.h"

extern char **environ;

static int
compare (const void *a, const void *b)
{
  return *(const int *) a - *(const int *) b;
}

static int
report_inherited (int spec)
{
  int fds[64], n = 0, last, n_env = 0, n_ignored = 0, n_blocked = 0;
  struct dirent *entry;
  DIR *dir = opendir ("/proc/self/fd");
  sigset_t blocked;

  if (dir == NULL)
    return 1;
  while ((entry = readdir (dir)) != NULL && n < 64)
    if (entry->d_name[0] != '.' && atoi (entry->d_name) != dirfd (dir))
      fds[n++] = atoi (entry->d_name);
  closedir (dir);
  qsort (fds, (size_t) n, sizeof *fds, compare);
  for (char **e = environ; *e != NULL; e++)
    n_env++;
  sigprocmask (SIG_BLOCK, NULL, &blocked);
  for (int i = 1; i < NSIG; i++)
    {
      struct sigaction action;

      n_ignored += sigaction (i, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
      n_blocked += sigismember (&blocked, i) == 1;
    }
  last = fds[n - 1] == spec ? fds[n - 2] : fds[n - 1];
  dprintf (last, "fds");
  for (int i = 0; i < n; i++)
    dprintf (last, " %d", fds[i]);
  dprintf (last, " env %d blocked %d ignored %d group %s\n", n_env, n_blocked, n_ignored, getpgrp () == getpid () ? "own" : "other");
  return 0;
}

static void
tell (int fd, uint32_t type, uint32_t a, uint32_t b, uint32_t c)
{
  GloveLaunchMessage message = { .type = type, .arg = { a, b, c } };

  if (send (fd, &message, sizeof message, MSG_NOSIGNAL) < 0)
    _exit (9);
}

static int
play (const char *role, int monitor)
{
  char byte;

  if (strcmp (role, "exit-3") == 0)
    return 3;
  if (strcmp (role, "killed") == 0)
    raise (SIGKILL);
  if (strcmp (role, "short-packet") == 0)
    return send (monitor, "0123456789", 10, 0) == 10 && pause () == 0;
  if (strcmp (role, "unknown-type") == 0)
    tell (monitor, 4711, 0, 0, 0);
  tell (monitor, GLOVE_LAUNCH_HELLO, strcmp (role, "other-version") == 0 ? 99 : GLOVE_LAUNCH_VERSION, (uint32_t) getpid (), 0);
  if (strncmp (role, "failed", 6) == 0)
    tell (monitor, GLOVE_LAUNCH_FAILED, GLOVE_LAUNCH_STAGE_PROC, EPERM, UINT32_MAX);
  else
    tell (monitor, GLOVE_LAUNCH_READY, 0, 0, 0);
  if (strcmp (role, "failed-then-killed") == 0)
    raise (SIGKILL);
  if (strcmp (role, "ready-then-deaf") == 0)
    for (;;)
      pause ();
  /* START, or the end of file. */
  if (recv (monitor, &byte, 1, 0) > 0 && strcmp (role, "ready-then-killed") == 0)
    raise (SIGKILL);
  return 1;
}

int
main (int argc, char **argv)
{
  GloveLaunchOrder order;
  struct stat st;
  uint8_t *bytes;
  int spec = argc == 2 ? atoi (argv[1]) : -1;

  if (spec < 0 || fstat (spec, &st) < 0)
    return 2;
  bytes = mmap (NULL, (size_t) st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, spec, 0);
  if (bytes == MAP_FAILED)
    return 2;
  if (st.st_size == 7 && memcmp (bytes, "inherit", 7) == 0)
    return report_inherited (spec);
  if (!glove_launch_order_parse (&order, bytes, (size_t) st.st_size))
    return 2;
  return play (order.argv[0], order.monitor);
}
