/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Does the emulated machine have what its tests are there for? As TAP; static and without GLib, since a dynamic start is slow
 * there. The delegated cgroup is $VM_CGROUP, or else the parent of this process's own. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

static unsigned number;
static unsigned failures;

static void __attribute__ ((format (printf, 2, 3)))
report (bool good, const char *format, ...)
{
  va_list args;

  if (!good)
    failures++;
  printf ("%s %u - ", good ? "ok" : "not ok", ++number);
  va_start (args, format);
  vprintf (format, args);
  va_end (args);
  putchar ('\n');
}

static void
read_file (const char *folder, const char *name, char *buffer, size_t size)
{
  char path[PATH_MAX];
  int fd;
  ssize_t n = -1;

  (void) snprintf (path, sizeof path, "%s/%s", folder, name);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0)
    {
      n = read (fd, buffer, size - 1);
      (void) close (fd);
    }
  buffer[n > 0 ? n : 0] = '\0';
}

static bool
write_file (const char *folder, const char *name, const char *text)
{
  char path[PATH_MAX];
  int fd;
  bool done;

  (void) snprintf (path, sizeof path, "%s/%s", folder, name);
  fd = open (path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  done = write (fd, text, strlen (text)) == (ssize_t) strlen (text);
  (void) close (fd);
  return done;
}

/* The folder below which this process may make cgroups. */
static void
find_cgroup (char *folder, size_t size)
{
  const char *given = getenv ("VM_CGROUP");
  char line[1024];

  if (given != NULL && *given != '\0')
    {
      (void) snprintf (folder, size, "%s", given);
      return;
    }
  read_file ("/proc/self", "cgroup", line, sizeof line);
  line[strcspn (line, "\n")] = '\0';
  (void) snprintf (folder, size, "/sys/fs/cgroup%s", strncmp (line, "0::", 3) == 0 ? line + 3 : "");
}

/* A scope's own processes stand in the way of its controllers: they move to a leaf first. */
static void
make_room (const char *folder)
{
  char leaf[PATH_MAX + 16], pid[32];

  if (getenv ("VM_CGROUP") != NULL)
    return;
  (void) snprintf (leaf, sizeof leaf, "%s/leaf", folder);
  (void) snprintf (pid, sizeof pid, "%d", (int) getpid ());
  report (mkdir (leaf, 0755) == 0 && write_file (leaf, "cgroup.procs", pid), "a leaf below %s takes this process", folder);
  report (write_file (folder, "cgroup.subtree_control", "+memory +pids +cpu"), "the scope passes its controllers on");
}

static void
check_memory_limit (const char *group)
{
  int status = 0;
  pid_t child = fork ();

  if (child == 0)
    {
      size_t size = 64 * 1024 * 1024;
      volatile char *block;

      if (!write_file (group, "cgroup.procs", "0"))
        _exit (1);
      block = malloc (size);
      for (size_t i = 0; block != NULL && i < size; i += 4096)
        block[i] = 1;
      _exit (0);
    }
  if (child < 0 || waitpid (child, &status, 0) != child)
    status = 0;
  report (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL, "64 MiB in a group of 16 MiB are killed (status %#x)",
          (unsigned) status);
}

static void
check_cgroup (void)
{
  static const char *const wanted[] = { "memory", "pids", "cpu" };
  char folder[1200], group[1216], text[512];

  find_cgroup (folder, sizeof folder);
  make_room (folder);
  read_file (folder, "cgroup.subtree_control", text, sizeof text);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    report (strstr (text, wanted[i]) != NULL, "%s is delegated", wanted[i]);
  (void) snprintf (group, sizeof group, "%s/probe", folder);
  report (mkdir (group, 0755) == 0, "a group below %s can be made", folder);
  report (write_file (group, "memory.max", "16777216") && write_file (group, "memory.swap.max", "0"), "its memory can be limited");
  report (write_file (group, "pids.max", "8"), "its processes can be limited");
  report (write_file (group, "cpu.max", "50000 100000"), "its processor can be limited");
  check_memory_limit (group);
  report (write_file (group, "cgroup.kill", "1"), "it can be killed as a whole");
  report (rmdir (group) == 0, "it can be removed");
}

static void
check_user_namespace (void)
{
  int status = -1;
  pid_t child = fork ();

  if (child == 0)
    _exit (unshare (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET) == 0 ? 0 : 1);
  report (child > 0 && waitpid (child, &status, 0) == child && status == 0, "uid %d can make user namespaces", (int) getuid ());
}

int
main (void)
{
  struct utsname name;
  long abi = syscall (SYS_landlock_create_ruleset, NULL, 0, 1);

  (void) setvbuf (stdout, NULL, _IONBF, 0);
  report (uname (&name) == 0 && strstr (name.release, "-amd64") != NULL, "the kernel is Debian's: %s", name.release);
  report (abi >= 2, "Landlock is there, ABI %ld", abi);
  check_user_namespace ();
  check_cgroup ();
  if (getuid () == 0)
    report (access ("/dev/loop-control", R_OK | W_OK) == 0, "loop devices can be made");
  printf ("1..%u\n", number);
  return failures == 0 ? 0 : 1;
}
