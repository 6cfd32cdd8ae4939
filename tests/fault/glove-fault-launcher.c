/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stands in for glove-launch: executes it under what the file "inject" beside this program says, a word a line, and passes its own
 * argument on. So a fault counts from the launcher's first system call, not from glove's. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 32

int
main (int argc, char **argv)
{
  static char text[8192], path[4096];
  char *words[WORDS_MAX + 2];
  int n = 0;
  ssize_t length = readlink ("/proc/self/exe", path, sizeof path - sizeof "inject");
  FILE *file;

  if (argc != 2 || length <= 0)
    return 2;
  path[length] = '\0';
  strcpy (strrchr (path, '/') + 1, "inject");
  file = fopen (path, "re");
  if (file == NULL)
    return 2;
  length = (ssize_t) fread (text, 1, sizeof text - 1, file);
  if (fclose (file) != 0)
    return 2;
  text[length] = '\0';
  for (char *word = strtok (text, "\n"); word != NULL && n < WORDS_MAX; word = strtok (NULL, "\n"))
    words[n++] = word;
  if (n == 0)
    return 2;
  words[n++] = argv[1];
  words[n] = NULL;
  execv (words[0], words);
  return 2;
}
