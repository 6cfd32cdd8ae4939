/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Times programs in turn, so that what the machine does meanwhile hits all of them alike:
 *
 *   glove-bench-run ROUNDS , NAME EVERY CMD ARG... [, NAME EVERY CMD ARG...]...
 *
 * EVERY 1 runs in every round, 10 in each tenth. The order turns by one from round to round; one round before the first is not
 * counted. CMD "@launcher" with the path of glove-launch as its one ARG is a launch of /bin/true: the spec in a memfd, to the launcher's
 * own exit. Each line of the output is NAME, then the nanoseconds of each run. A program that fails ends everything: 1. */

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "glove-launch-driver.h"

#define SUBJECTS_MAX 16

extern char **environ;

typedef struct {
  const char *name;
  long every;
  char **argv;
  uint64_t *samples;
  size_t n_samples;
} Subject;

static const DriverFile files[] = {
  { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0444, "/etc/passwd", "agent:x:1000:1000::/home/agent:/bin/sh\n" },
  { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0444, "/etc/group", "agent:x:1000:\n" },
  { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0444, "/etc/hosts", "127.0.0.1 localhost glove\n" },
  { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0444, "/etc/resolv.conf", "" },
};
static const DriverQuota quotas[] = { { "max_user_namespaces", 0 }, { "max_inotify_instances", 128 } };
static const DriverRlimit rlimits[] = { { RLIMIT_CORE, 0, 0 }, { RLIMIT_NOFILE, 1024, 1024 } };

static int
run_launcher (const char *launcher)
{
  static const char *const argv[] = { "/bin/true", NULL };
  GloveLaunchMessage message;
  DriverSpec spec;
  Driver driver;
  int status = -1;

  driver_spec_init (&spec, argv);
  spec.files = files;
  spec.n_files = sizeof files / sizeof *files;
  spec.quotas = quotas;
  spec.n_quotas = sizeof quotas / sizeof *quotas;
  spec.rlimits = rlimits;
  spec.n_rlimits = sizeof rlimits / sizeof *rlimits;
  if (driver_start (&driver, launcher, &spec) < 0 || driver_send (&driver, GLOVE_LAUNCH_START, 0) < 0)
    return -1;
  while (driver_receive (&driver, &message, NULL, 10000) == 1)
    if (message.type == GLOVE_LAUNCH_ENDED)
      status = (int) message.arg[0];
  return driver_finish (&driver) < 0 ? -1 : status;
}

static int
run_program (char **argv)
{
  posix_spawn_file_actions_t actions;
  int status = -1;
  pid_t pid;

  if (posix_spawn_file_actions_init (&actions) != 0)
    return -1;
  for (int fd = 0; fd <= 2; fd++)
    if (posix_spawn_file_actions_addopen (&actions, fd, "/dev/null", O_RDWR, 0) != 0)
      return -1;
  if (posix_spawnp (&pid, argv[0], &actions, NULL, argv, environ) != 0)
    return -1;
  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  posix_spawn_file_actions_destroy (&actions);
  return status;
}

static bool
run_once (Subject *subject, bool counted)
{
  struct timespec before, after;
  int status;

  clock_gettime (CLOCK_MONOTONIC, &before);
  status = strcmp (subject->argv[0], "@launcher") == 0 ? run_launcher (subject->argv[1]) : run_program (subject->argv);
  clock_gettime (CLOCK_MONOTONIC, &after);
  if (status != 0)
    {
      fprintf (stderr, "%s: wait status %d\n", subject->name, status);
      return false;
    }
  if (counted)
    subject->samples[subject->n_samples++]
        = (uint64_t) (after.tv_sec - before.tv_sec) * 1000000000u + (uint64_t) after.tv_nsec - (uint64_t) before.tv_nsec;
  return true;
}

/* The arguments from one comma to the next. */
static size_t
parse (int argc, char **argv, long rounds, Subject *subjects)
{
  size_t n = 0;

  for (int i = 2; i < argc; i++)
    {
      if (strcmp (argv[i], ",") != 0)
        continue;
      argv[i] = NULL;
      if (n == SUBJECTS_MAX || i + 3 >= argc)
        return 0;
      subjects[n] = (Subject){ argv[i + 1], strtol (argv[i + 2], NULL, 10), argv + i + 3,
                               calloc ((size_t) rounds, sizeof (uint64_t)), 0 };
      if (subjects[n].every < 1 || subjects[n].samples == NULL)
        return 0;
      n++;
    }
  return n;
}

int
main (int argc, char **argv)
{
  static Subject subjects[SUBJECTS_MAX];
  long rounds = argc > 1 ? strtol (argv[1], NULL, 10) : 0;
  size_t n = rounds > 0 && rounds <= 1000000 ? parse (argc, argv, rounds, subjects) : 0;

  if (n == 0)
    {
      fprintf (stderr, "usage: glove-bench-run ROUNDS , NAME EVERY CMD ARG... [, ...]\n");
      return 2;
    }
  for (long round = -1; round < rounds; round++)
    for (size_t i = 0; i < n; i++)
      {
        Subject *subject = &subjects[(i + (size_t) (round + 1)) % n];

        if ((round < 0 || round % subject->every == 0) && !run_once (subject, round >= 0))
          return 1;
      }
  for (size_t i = 0; i < n; i++)
    {
      printf ("%s", subjects[i].name);
      for (size_t k = 0; k < subjects[i].n_samples; k++)
        printf (" %llu", (unsigned long long) subjects[i].samples[k]);
      printf ("\n");
      free (subjects[i].samples);
    }
  return 0;
}
