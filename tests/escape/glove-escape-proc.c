/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* /proc: other processes, and the host's knobs. Facts: host-pid, marker (a string in the supervisor's environment). */

#include "glove-escape-probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REFUSE(NAME, PATH, FLAGS)                                                                                        \
  static ProbeVerdict probe_##NAME (void)                                                                                \
  {                                                                                                                      \
    return PROBE_OPEN_MUST_FAIL (PATH, FLAGS, EACCES, EPERM, EROFS, ENOENT, EIO);                                        \
  }

REFUSE (init_root, "/proc/1/root/etc", O_RDONLY)
REFUSE (init_cwd, "/proc/1/cwd/.", O_RDONLY)
REFUSE (init_mem, "/proc/1/mem", O_RDONLY)
REFUSE (init_environ, "/proc/1/environ", O_RDONLY)
REFUSE (init_fd, "/proc/1/fd/0", O_RDONLY)
REFUSE (init_maps, "/proc/1/maps", O_RDONLY)
REFUSE (core_pattern, "/proc/sys/kernel/core_pattern", O_WRONLY)
REFUSE (sysrq, "/proc/sysrq-trigger", O_WRONLY)
REFUSE (modprobe, "/proc/sys/kernel/modprobe", O_WRONLY)
REFUSE (max_user_namespaces, "/proc/sys/user/max_user_namespaces", O_WRONLY)
REFUSE (ip_forward, "/proc/sys/net/ipv4/ip_forward", O_WRONLY)
REFUSE (ping_group, "/proc/sys/net/ipv4/ping_group_range", O_WRONLY)
REFUSE (binfmt, "/proc/sys/fs/binfmt_misc/register", O_WRONLY)
REFUSE (pressure, "/proc/pressure/memory", O_RDWR)
REFUSE (irq, "/proc/irq/default_smp_affinity", O_WRONLY)

static ProbeVerdict
probe_init_mem_write (void)
{
  return PROBE_OPEN_MUST_FAIL ("/proc/1/mem", O_RDWR, EACCES, EPERM);
}

static ProbeVerdict
probe_init_fd_list (void)
{
  DIR *folder = opendir ("/proc/1/fd");

  if (folder == NULL)
    return PROBE_CONTAINED;
  (void) closedir (folder);
  probe_detail ("the folder opens");
  return PROBE_ESCAPED;
}

/* An agent's own map can't be widened, whatever the file's mode says. */
static ProbeVerdict
probe_map_write (void)
{
  int fd = open ("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
  ProbeVerdict verdict;

  if (fd < 0)
    return PROBE_CONTAINED;
  verdict = PROBE_MUST_FAIL (write (fd, "0 0 1\n", 6), EPERM, EINVAL, EACCES);
  (void) close (fd);
  return verdict;
}

static ProbeVerdict
must_be_empty (const char *path)
{
  char byte;
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n;

  if (fd < 0)
    return PROBE_CONTAINED;
  n = read (fd, &byte, 1);
  (void) close (fd);
  if (n == 0)
    return PROBE_CONTAINED;
  probe_detail ("%s can be read", path);
  return PROBE_ESCAPED;
}

#define EMPTY(NAME, PATH)                                                                                                \
  static ProbeVerdict probe_empty_##NAME (void)                                                                          \
  {                                                                                                                      \
    return must_be_empty (PATH);                                                                                         \
  }

EMPTY (kcore, "/proc/kcore")
EMPTY (keys, "/proc/keys")
EMPTY (timer_list, "/proc/timer_list")
EMPTY (kallsyms, "/proc/kallsyms")
EMPTY (kmsg, "/proc/kmsg")

static int
is_number (const char *name)
{
  return name[strspn (name, "0123456789")] == '\0';
}

/* Files that anybody may open for writing and that reach nobody else. */
static int
is_harmless (const char *path)
{
  return strncmp (path, "/proc/self", 10) == 0 || strncmp (path, "/proc/thread-self", 17) == 0;
}

static int
find_writable (const char *folder, int depth)
{
  DIR *stream = opendir (folder);
  const struct dirent *entry;
  int found = 0;

  while (stream != NULL && (entry = readdir (stream)) != NULL)
    {
      char path[4096];
      struct stat st;
      int fd;

      if (entry->d_name[0] == '.' || (depth == 0 && is_number (entry->d_name)))
        continue;
      (void) snprintf (path, sizeof path, "%s/%s", folder, entry->d_name);
      if (is_harmless (path) || lstat (path, &st) != 0)
        continue;
      if (S_ISDIR (st.st_mode) && depth < 8)
        found += find_writable (path, depth + 1);
      if (!S_ISREG (st.st_mode))
        continue;
      fd = open (path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
      if (fd < 0)
        continue;
      (void) close (fd);
      probe_detail ("%s opens for writing", path);
      found++;
    }
  if (stream != NULL)
    (void) closedir (stream);
  return found;
}

static ProbeVerdict
probe_every_writable_file (void)
{
  return find_writable ("/proc", 0) == 0 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

static ProbeVerdict
probe_host_processes (void)
{
  DIR *stream = opendir ("/proc");
  const struct dirent *entry;
  unsigned count = 0;
  char path[64];

  while (stream != NULL && (entry = readdir (stream)) != NULL)
    count += (unsigned) (is_number (entry->d_name) && entry->d_name[0] != '\0');
  if (stream != NULL)
    (void) closedir (stream);
  (void) snprintf (path, sizeof path, "/proc/%.20s", probe_fact ("host-pid"));
  probe_detail ("%u processes", count);
  return count <= 4 && access (path, F_OK) != 0 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

/* No environment that can be read holds the supervisor's marker. */
static ProbeVerdict
probe_supervisor_environment (void)
{
  const char *marker = probe_fact ("marker");
  static const char *const files[] = { "/proc/self/environ", "/proc/1/environ", "/proc/2/environ", "/proc/thread-self/environ" };
  static char buffer[65536];

  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    {
      int fd = open (files[i], O_RDONLY | O_CLOEXEC);
      ssize_t n = fd >= 0 ? read (fd, buffer, sizeof buffer) : -1;

      if (fd >= 0)
        (void) close (fd);
      if (n > 0 && memmem (buffer, (size_t) n, marker, strlen (marker)) != NULL && *marker != '\0')
        {
          probe_detail ("%s holds it", files[i]);
          return PROBE_ESCAPED;
        }
    }
  return PROBE_CONTAINED;
}

/* The folders of /proc that hold the host's state are mounts of their own, read-only. */
static ProbeVerdict
probe_sealed_parts (void)
{
  static const char *const parts[] = { "/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus",
                                       "/proc/fs",  "/proc/acpi",          "/proc/scsi" };
  FILE *file = fopen ("/proc/self/mountinfo", "re");
  char line[4096];
  unsigned sealed = 0, present = 0;

  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    present += access (parts[i], F_OK) == 0;
  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
      {
        char pattern[64];

        (void) snprintf (pattern, sizeof pattern, " %s ro,", parts[i]);
        sealed += strstr (line, pattern) != NULL;
      }
  if (file != NULL)
    (void) fclose (file);
  probe_detail ("%u of %u are read-only", sealed, present);
  return sealed == present && present > 0 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

static ProbeVerdict
probe_cgroup_path (void)
{
  char line[4096] = "";
  FILE *file = fopen ("/proc/self/cgroup", "re");
  ProbeVerdict verdict = PROBE_CONTAINED;

  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    if (strncmp (line, "0::", 3) == 0 && strcmp (line, "0::/\n") != 0)
      {
        probe_detail ("%s", strtok (line, "\n"));
        verdict = PROBE_ESCAPED;
      }
  if (file != NULL)
    (void) fclose (file);
  return verdict;
}

const Probe probes_proc[] = {
  { "reach the host through /proc/1/root", probe_init_root },
  { "reach the host through /proc/1/cwd", probe_init_cwd },
  { "read /proc/1/mem", probe_init_mem },
  { "write /proc/1/mem", probe_init_mem_write },
  { "read /proc/1/environ", probe_init_environ },
  { "open a descriptor of PID 1", probe_init_fd },
  { "list the descriptors of PID 1", probe_init_fd_list },
  { "read /proc/1/maps", probe_init_maps },
  { "write core_pattern", probe_core_pattern },
  { "write sysrq-trigger", probe_sysrq },
  { "write the path of modprobe", probe_modprobe },
  { "raise the namespace quotas", probe_max_user_namespaces },
  { "write ip_forward", probe_ip_forward },
  { "write ping_group_range", probe_ping_group },
  { "register a binary format", probe_binfmt },
  { "write an interrupt's affinity", probe_irq },
  { "set a pressure trigger", probe_pressure },
  { "widen its own map", probe_map_write },
  { "any file of /proc that opens for writing", probe_every_writable_file },
  { "the host's parts of /proc are not read-only", probe_sealed_parts },
  { "read /proc/kcore", probe_empty_kcore },
  { "read /proc/keys", probe_empty_keys },
  { "read /proc/timer_list", probe_empty_timer_list },
  { "read /proc/kallsyms", probe_empty_kallsyms },
  { "read /proc/kmsg", probe_empty_kmsg },
  { "see the host's processes", probe_host_processes },
  { "read the supervisor's environment", probe_supervisor_environment },
  { "see its control group's path on the host", probe_cgroup_path },
  { NULL, NULL },
};
