/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs one command in a sandbox made from a spec of its own, for people who work on glove-launch:
 *
 *   glove-launch-try LAUNCHER [-r PATH]... [-w PATH]... [-m PATH]... [-i HOSTID] [-t] [-n COUNT [-f FLOOR]] CMD ARG...
 *
 * Its exit status is the command's. With -n it runs it that often and prints the median time; with -f
 * too, in turn with that program. */

#include "glove-launch-driver.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const DriverFile files[] = {
  { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0644, "/etc/passwd", "agent:x:1000:1000::/home/agent:/bin/sh\n" },
  { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0644, "/etc/group", "agent:x:1000:\n" },
  { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0644, "/etc/hosts", "127.0.0.1 localhost glove\n" },
  { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0644, "/etc/resolv.conf", "" },
};
static const DriverQuota quotas[] = { { "max_user_namespaces", 0 }, { "max_inotify_instances", 128 } };

static int
once (const char *launcher, DriverSpec *spec, bool loud)
{
  Driver driver;
  GloveLaunchMessage message;
  int status = 125;

  if (driver_start (&driver, launcher, spec) < 0 || driver_send (&driver, GLOVE_LAUNCH_START, 0) < 0)
    {
      perror (launcher);
      return 125;
    }
  while (driver_receive (&driver, &message, NULL, -1) == 1)
    {
      if (loud && message.type == GLOVE_LAUNCH_FAILED)
        fprintf (stderr, "failed: stage %u, %s, index %d\n", message.arg[0], strerror ((int) message.arg[1]),
                 (int) message.arg[2]);
      if (message.type == GLOVE_LAUNCH_ENDED)
        status = WIFEXITED ((int) message.arg[0]) ? WEXITSTATUS ((int) message.arg[0]) : 128 + WTERMSIG ((int) message.arg[0]);
    }
  driver_finish (&driver);
  return status;
}

static int
compare (const void *a, const void *b)
{
  double left = *(const double *) a, right = *(const double *) b;

  return (left > right) - (left < right);
}

static double
now_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static int
run_floor (const char *floor_program, const DriverSpec *spec)
{
  char *argv[] = { (char *) floor_program, (char *) spec->argv[0], NULL };
  int status = -1;
  pid_t pid;

  if (posix_spawn (&pid, floor_program, NULL, NULL, argv, environ) != 0 || waitpid (pid, &status, 0) < 0)
    return -1;
  return status;
}

static double
print (const char *name, double *times, int count)
{
  qsort (times, (size_t) count, sizeof *times, compare);
  printf ("%s: median %.3f ms, p10 %.3f, p90 %.3f, %d runs\n", name, times[count / 2], times[count / 10],
          times[count * 9 / 10], count);
  return times[count / 2];
}

/* The two in turn, so that whatever else the machine does meets both. */
static int
measure (const char *launcher, const char *floor_program, DriverSpec *spec, int count)
{
  double *times = calloc ((size_t) count * 2, sizeof *times), *floor_times = times + count, ours;

  if (times == NULL)
    return 125;
  for (int i = 0; i < count; i++)
    {
      double start = now_ms (), middle;

      if (once (launcher, spec, true) != 0)
        return 1;
      middle = now_ms ();
      times[i] = middle - start;
      if (floor_program != NULL && run_floor (floor_program, spec) != 0)
        return 1;
      floor_times[i] = now_ms () - middle;
    }
  ours = print ("glove-launch", times, count);
  if (floor_program != NULL)
    printf ("ratio %.3f\n", ours / print ("floor", floor_times, count));
  free (times);
  return 0;
}

int
main (int argc, char **argv)
{
  DriverGrant grants[64];
  DriverSpec spec;
  size_t n_grants = 0;
  int option, count = 0;
  const char *launcher = argc > 1 ? argv[1] : "", *work_dir = NULL, *floor_program = NULL;

  driver_spec_init (&spec, NULL);
  optind = 2;
  while ((option = getopt (argc, argv, "+r:w:m:i:tln:f:")) != -1)
    {
      struct stat st;

      if (option == 't')
        {
          spec.flags |= GLOVE_LAUNCH_FLAG_TTY;
          spec.rows = 24;
          spec.columns = 80;
        }
      else if (option == 'i')
        {
          spec.flags |= GLOVE_LAUNCH_FLAG_MAP_ID;
          spec.host_uid = spec.host_gid = (uint32_t) atoi (optarg);
        }
      else if (option == 'l')
        spec.flags |= GLOVE_LAUNCH_FLAG_NO_LANDLOCK;
      else if (option == 'n')
        count = atoi (optarg);
      else if (option == 'f')
        floor_program = optarg;
      else if (option != '?' && n_grants < 64)
        {
          DriverGrant *grant = &grants[n_grants++];

          *grant = (DriverGrant){ .access = option == 'w', .fd = -1, .host_path = optarg, .target = optarg };
          if (option == 'm')
            {
              grant->access = GLOVE_LAUNCH_ACCESS_MASK;
              continue;
            }
          if ((spec.flags & GLOVE_LAUNCH_FLAG_MAP_ID) != 0)
            {
              grant->fd = driver_open_mapped (optarg, spec.host_uid);
              grant->flags |= GLOVE_LAUNCH_GRANT_DETACHED;
            }
          else
            grant->fd = open (optarg, O_PATH | O_CLOEXEC);
          if (grant->fd < 0 || fstat (grant->fd, &st) < 0)
            {
              perror (optarg);
              return 125;
            }
          if (S_ISDIR (st.st_mode))
            grant->flags |= GLOVE_LAUNCH_GRANT_DIRECTORY;
          if (S_ISDIR (st.st_mode) && option == 'w')
            work_dir = optarg;
        }
      else
        return 125;
    }
  if (optind >= argc)
    return 125;
  spec.argv = (const char *const *) argv + optind;
  spec.grants = grants;
  spec.n_grants = n_grants;
  spec.files = files;
  spec.n_files = sizeof files / sizeof *files;
  spec.quotas = quotas;
  spec.n_quotas = sizeof quotas / sizeof *quotas;
  if (work_dir != NULL)
    spec.work_dir = work_dir;
  for (uint32_t i = 0; i < 3; i++)
    spec.stdio[i] = i;
  return count > 0 ? measure (launcher, floor_program, &spec, count) : once (launcher, &spec, true);
}
