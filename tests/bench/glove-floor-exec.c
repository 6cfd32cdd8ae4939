/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The floor of P1b: the least that `glove exec` could be. It links GIO, parses the same options, runs the floor of P1a, waits for it, and
 * makes as many durable appends as the audit file gets: its directory once, then a line before the start and a line after the end.
 *
 *   glove-floor-exec --floor PROGRAM --audit FILE [glove exec's options] -- CMD ARG... */

#include <fcntl.h>
#include <gio/gio.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *floor_program, *audit, *workspace, *backend, *catalog;
static char **reads, **writes, **names, **hosts, **forwards, **sockets, **limits;
static gboolean mask_sockets, git_config, root_id, tty, no_tty, quiet;

static const GOptionEntry entries[] = {
  { "floor", 0, 0, G_OPTION_ARG_FILENAME, &floor_program, NULL, NULL },
  { "audit", 0, 0, G_OPTION_ARG_FILENAME, &audit, NULL, NULL },
  { "workspace", 0, 0, G_OPTION_ARG_FILENAME, &workspace, NULL, NULL },
  { "backend", 0, 0, G_OPTION_ARG_STRING, &backend, NULL, NULL },
  { "catalog", 0, 0, G_OPTION_ARG_FILENAME, &catalog, NULL, NULL },
  { "read", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &reads, NULL, NULL },
  { "write", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &writes, NULL, NULL },
  { "env", 0, 0, G_OPTION_ARG_STRING_ARRAY, &names, NULL, NULL },
  { "allow-host", 0, 0, G_OPTION_ARG_STRING_ARRAY, &hosts, NULL, NULL },
  { "forward", 0, 0, G_OPTION_ARG_STRING_ARRAY, &forwards, NULL, NULL },
  { "allow-socket", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &sockets, NULL, NULL },
  { "limit", 0, 0, G_OPTION_ARG_STRING_ARRAY, &limits, NULL, NULL },
  { "mask-sockets", 0, 0, G_OPTION_ARG_NONE, &mask_sockets, NULL, NULL },
  { "allow-git-config", 0, 0, G_OPTION_ARG_NONE, &git_config, NULL, NULL },
  { "as-root-id", 0, 0, G_OPTION_ARG_NONE, &root_id, NULL, NULL },
  { "tty", 0, 0, G_OPTION_ARG_NONE, &tty, NULL, NULL },
  { "no-tty", 0, 0, G_OPTION_ARG_NONE, &no_tty, NULL, NULL },
  { "quiet", 0, 0, G_OPTION_ARG_NONE, &quiet, NULL, NULL },
  { NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
};

static gboolean
append (int fd, const char *line)
{
  return write (fd, line, strlen (line)) == (ssize_t) strlen (line) && fdatasync (fd) == 0;
}

/* A file whose name is new must have it on the disk too. */
static int
create (const char *path)
{
  g_autofree char *directory = g_path_get_dirname (path);
  int fd = open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int above = open (directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (fd < 0 || above < 0 || fsync (above) < 0)
    return -1;
  (void) close (above);
  return fd;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GFile) directory = NULL;
  g_autofree char **child = NULL;
  int status = 0;
  int fd;
  pid_t pid;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, NULL) || argc < 2 || floor_program == NULL || audit == NULL)
    return 2;
  directory = g_file_new_for_path (workspace != NULL ? workspace : "/");
  fd = create (audit);
  child = g_new0 (char *, (gsize) argc + 1);
  child[0] = floor_program;
  for (int i = 1, n = 1; i < argc; i++)
    if (!g_str_equal (argv[i], "--"))
      child[n++] = argv[i];
  if (fd < 0 || !append (fd, "{\"action\":\"agent_launch\"}\n") || posix_spawn (&pid, child[0], NULL, NULL, child, environ) != 0
      || waitpid (pid, &status, 0) != pid || !append (fd, "{\"action\":\"agent_exit\"}\n"))
    return 125;
  (void) close (fd);
  (void) unlink (audit);
  return WIFEXITED (status) ? WEXITSTATUS (status) : 125;
}
