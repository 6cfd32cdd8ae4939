/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The main of a fuzz target that is built without libFuzzer: feeds every file of the folders given to the target, one subtest a
 * file. An empty corpus is a failure: it would prove nothing. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPLAY_BYTES_MAX (64 * 1024 * 1024)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static int
replay_skip_dots (const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

/* A buffer of exactly the file's size, so that a read past its end is seen by the address sanitizer. */
static uint8_t *
replay_read (int dirfd, const char *name, size_t *ret_size)
{
  int fd = openat (dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat st;
  uint8_t *data = NULL;
  size_t filled = 0;

  if (fd < 0)
    return NULL;
  if (fstat (fd, &st) == 0 && S_ISREG (st.st_mode) && st.st_size <= REPLAY_BYTES_MAX)
    data = malloc (st.st_size > 0 ? (size_t) st.st_size : 1);
  while (data != NULL && filled < (size_t) st.st_size)
    {
      ssize_t n = read (fd, data + filled, (size_t) st.st_size - filled);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break;
      filled += (size_t) n;
    }
  (void) close (fd);
  *ret_size = filled;
  return data;
}

static int
replay_folder (const char *path, unsigned *number)
{
  int dirfd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct dirent **entries = NULL;
  int n = dirfd < 0 ? -1 : scandir (path, &entries, replay_skip_dots, alphasort);
  int failures = 0;

  if (n <= 0)
    {
      printf ("not ok %u - %s has no input\n", ++*number, path);
      failures = 1;
    }
  for (int i = 0; i < n; i++)
    {
      size_t size = 0;
      uint8_t *data = replay_read (dirfd, entries[i]->d_name, &size);

      if (data != NULL)
        (void) LLVMFuzzerTestOneInput (data, size);
      else
        failures++;
      printf ("%s %u - %s\n", data != NULL ? "ok" : "not ok", ++*number, entries[i]->d_name);
      (void) fflush (stdout);
      free (data);
      free (entries[i]);
    }
  free (entries);
  if (dirfd >= 0)
    (void) close (dirfd);
  return failures;
}

int
main (int argc, char **argv)
{
  unsigned number = 0;
  int failures = 0;

  for (int i = 1; i < argc; i++)
    failures += replay_folder (argv[i], &number);
  if (argc < 2)
    {
      printf ("not ok %u - no corpus was named\n", ++number);
      failures++;
    }
  printf ("1..%u\n", number);
  return failures == 0 ? 0 : 1;
}
