/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* glove-escape-probe [KEY=VALUE…]: every probe, as TAP. A probe that finds a way out is "not ok". */

#include "glove-escape-probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char detail[512];
static char **facts;

void
probe_detail (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  (void) vsnprintf (detail, sizeof detail, format, arguments);
  va_end (arguments);
}

const char *
probe_fact (const char *key)
{
  size_t length = strlen (key);

  for (size_t i = 0; facts[i] != NULL; i++)
    if (strncmp (facts[i], key, length) == 0 && facts[i][length] == '=')
      return facts[i] + length + 1;
  return "";
}

ProbeVerdict
probe_must_fail (long result, const int *errnos)
{
  int errsv = errno;

  if (result >= 0)
    {
      probe_detail ("it worked");
      return PROBE_ESCAPED;
    }
  probe_detail ("%s", strerrorname_np (errsv));
  for (size_t i = 0; errnos[i] != 0; i++)
    if (errnos[i] == errsv)
      return PROBE_CONTAINED;
  return PROBE_ESCAPED;
}

ProbeVerdict
probe_must_be_absent (const char *path)
{
  struct stat st;

  if (lstat (path, &st) != 0 && errno == ENOENT)
    return PROBE_CONTAINED;
  probe_detail ("%s is there", path);
  return PROBE_ESCAPED;
}

ProbeVerdict
probe_open_must_fail (const char *path, int flags, const int *errnos)
{
  int fd = open (path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
  ProbeVerdict verdict = probe_must_fail (fd, errnos);

  if (fd >= 0)
    (void) close (fd);
  return verdict;
}

long long
probe_status_value (const char *name)
{
  FILE *file = fopen ("/proc/self/status", "re");
  char line[256];
  long long value = -1;
  size_t length = strlen (name);

  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    if (strncmp (line, name, length) == 0 && line[length] == ':')
      value = strtoll (line + length + 1, NULL, 16);
  if (file != NULL)
    (void) fclose (file);
  return value;
}

static int
run_table (const Probe *table, unsigned *number)
{
  int escaped = 0;

  for (; table->name != NULL; table++)
    {
      ProbeVerdict verdict;

      detail[0] = '\0';
      errno = 0;
      verdict = table->run ();
      escaped += verdict == PROBE_ESCAPED;
      printf ("%s %u - %s%s%s%s\n", verdict == PROBE_ESCAPED ? "not ok" : "ok", ++*number, table->name,
              verdict == PROBE_SKIPPED ? " # SKIP " : "", verdict == PROBE_SKIPPED ? detail : "",
              verdict == PROBE_ESCAPED ? " # ESCAPED" : "");
      if (verdict != PROBE_SKIPPED && detail[0] != '\0')
        printf ("# %s\n", detail);
      fflush (stdout);
    }
  return escaped;
}

/* Most of the probes do real damage where they work: never outside of a sandbox, whoever starts this by mistake. */
static int
is_contained (void)
{
  const char *mark = getenv ("GLOVE_SANDBOXED");

  return mark != NULL && strcmp (mark, "1") == 0 && geteuid () == 1000 && probe_status_value ("CapEff") == 0
         && probe_status_value ("Seccomp") == 2;
}

int
main (int argc __attribute__ ((unused)), char **argv)
{
  const Probe *const tables[] = { probes_syscalls, probes_namespaces, probes_files,
                                  probes_proc,     probes_network,    probes_process };
  unsigned number = 0;
  int escaped = 0;

  facts = argv + 1;
  if (!is_contained ())
    {
      fprintf (stderr, "glove-escape-probe: this is not the inside of a sandbox; nothing was tried\n");
      return 2;
    }
  (void) signal (SIGPIPE, SIG_IGN);
  /* whoever watches the workspace learns that we run */
  (void) close (open ("started", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    escaped += run_table (tables[i], &number);
  printf ("1..%u\n", number);
  return escaped > 0 ? 1 : 0;
}
