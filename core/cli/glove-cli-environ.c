/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-cli-environ.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* What GIO, the C library and gettext load code or data by, or look names up by. */
static const char *const dropped[] = { "GIO_EXTRA_MODULES", "GIO_MODULE_DIR", "GCONV_PATH",  "GETCONF_DIR",  "GLIBC_TUNABLES",
                                       "HOSTALIASES",       "LOCALDOMAIN",    "LOCPATH",     "MALLOC_TRACE", "NLSPATH" };
static const char *const dropped_prefixes[] = { "GIO_USE_", "LD_" };

static int
is_dropped (const char *entry)
{
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
    {
      size_t length = strlen (dropped[i]);

      if (strncmp (entry, dropped[i], length) == 0 && entry[length] == '=')
        return 1;
    }
  for (size_t i = 0; i < sizeof dropped_prefixes / sizeof *dropped_prefixes; i++)
    if (strncmp (entry, dropped_prefixes[i], strlen (dropped_prefixes[i])) == 0)
      return 1;
  /* gettext appends it to the folder of translations as it is, and a translation is a format */
  return strncmp (entry, "LANGUAGE=", strlen ("LANGUAGE=")) == 0 && strchr (entry, '/') != NULL;
}

void
glove_cli_environ_settle (void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0 && open ("/dev/null", O_RDWR) != fd)
      _exit (125);
  (void) signal (SIGPIPE, SIG_IGN);
  (void) signal (SIGXFSZ, SIG_IGN);
}

void
glove_cli_environ_scrub (char **argv)
{
  int loader_saw_one = 0;
  char **out = environ;

  if (environ == NULL)
    return;
  for (char **in = environ; *in != NULL; in++)
    {
      if (!is_dropped (*in))
        *out++ = *in;
      else if (strncmp (*in, "LD_", 3) == 0)
        loader_saw_one = 1;
    }
  *out = NULL;

  if (loader_saw_one)
    {
      (void) execv ("/proc/self/exe", argv);
      perror ("glove: can't execute itself again without LD_*");
      _exit (125);
    }
  if (setenv ("GIO_USE_VFS", "local", 1) != 0)
    _exit (125);
}
