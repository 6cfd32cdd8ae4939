/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-cli-launch-options.h"
#include "glove-cli-verbs.h"

typedef struct {
  const char *name;
  gboolean with_runtime;
  const char *argv[10];
  int status;           /* -1: parsed */
  const char *command;  /* joined by "|" */
  const char *runtime;
} Row;

static const Row rows[] = {
  { "plain", FALSE, { "exec", "ls", "-la" }, -1, "ls|-la", NULL },
  { "separator", FALSE, { "exec", "--", "--bind" }, -1, "--bind", NULL },
  { "separator of the command", FALSE, { "exec", "ls", "--", "-x" }, -1, "ls|--|-x", NULL },
  { "two separators", FALSE, { "exec", "--", "ls", "--", "x" }, -1, "ls|--|x", NULL },
  { "option then command", FALSE, { "exec", "--read", "/x", "cat", "--help" }, -1, "cat|--help", NULL },
  { "command keeps options", FALSE, { "exec", "-w", "/x", "cat", "--read" }, -1, "cat|--read", NULL },
  { "nothing", FALSE, { "exec" }, GLOVE_CLI_STATUS_USAGE, NULL, NULL },
  { "nothing behind the separator", FALSE, { "exec", "--" }, GLOVE_CLI_STATUS_USAGE, NULL, NULL },
  { "unknown option", FALSE, { "exec", "--nonsense", "ls" }, GLOVE_CLI_STATUS_USAGE, NULL, NULL },
  { "missing value", FALSE, { "exec", "--read" }, GLOVE_CLI_STATUS_USAGE, NULL, NULL },
  { "terminal both ways", FALSE, { "exec", "--tty", "--no-tty", "ls" }, GLOVE_CLI_STATUS_USAGE, NULL, NULL },
  { "runtime option of exec", FALSE, { "exec", "--model", "x", "ls" }, GLOVE_CLI_STATUS_USAGE, NULL, NULL },
  { "runtime", TRUE, { "run", "codex" }, -1, "", "codex" },
  { "runtime with options behind", TRUE, { "run", "codex", "--model", "m" }, -1, "", "codex" },
  { "runtime with arguments", TRUE, { "run", "--model", "m", "codex", "--", "--model", "n" }, -1, "--model|n", "codex" },
  { "no runtime", TRUE, { "run" }, GLOVE_CLI_STATUS_USAGE, NULL, NULL },
  { "no runtime but arguments", TRUE, { "run", "--", "x" }, GLOVE_CLI_STATUS_USAGE, NULL, NULL },
  { "argument without separator", TRUE, { "run", "codex", "x" }, GLOVE_CLI_STATUS_USAGE, NULL, NULL },
  { "two ways to the program", TRUE, { "run", "codex", "--executable", "/x", "--search-path", "/y" },
    GLOVE_CLI_STATUS_USAGE, NULL, NULL },
};

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  g_auto (GloveCliLaunchOptions) options = { 0 };
  int argc = (int) g_strv_length ((char **) row->argv);
  int status = -1;
  gboolean parsed
      = glove_cli_launch_options_parse (&options, row->with_runtime, argc, (char **) row->argv, &status);
  g_autofree char *command = NULL;

  g_assert_cmpint (parsed ? -1 : status, ==, row->status);
  if (!parsed)
    return;
  command = g_strjoinv ("|", options.command);
  g_assert_cmpstr (command, ==, row->command);
  g_assert_cmpstr (options.runtime, ==, row->runtime);
}

static void
test_values (void)
{
  const char *argv[] = { "exec", "-w", "/w", "-r", "/a", "--read", "/b", "--write", "/c", "-e", "LANG", "--allow-host", "h",
                         "--forward", "f:1", "--limit", "pids=3", "--audit", "/d", "--backend", "e", "-q", "-T",
                         "--mask-sockets", "--allow-git-config", "--as-root-id", "--allow-socket", "/s", "--", "x", NULL };
  const char *const expected_read[] = { "/a", "/b", NULL };
  g_auto (GloveCliLaunchOptions) options = { 0 };
  int status = -1;

  g_assert_true (glove_cli_launch_options_parse (&options, FALSE, G_N_ELEMENTS (argv) - 1, (char **) argv, &status));
  g_assert_cmpstr (options.workspace, ==, "/w");
  g_assert_true (g_strv_equal ((const char *const *) options.read, expected_read));
  g_assert_cmpstr (options.write[0], ==, "/c");
  g_assert_cmpstr (options.environment[0], ==, "LANG");
  g_assert_cmpstr (options.allow_hosts[0], ==, "h");
  g_assert_cmpstr (options.forwards[0], ==, "f:1");
  g_assert_cmpstr (options.limits[0], ==, "pids=3");
  g_assert_cmpstr (options.audit, ==, "/d");
  g_assert_cmpstr (options.backend, ==, "e");
  g_assert_cmpstr (options.allow_sockets[0], ==, "/s");
  g_assert_true (options.quiet && options.no_tty && options.mask_sockets && options.allow_git_config
                 && options.as_root_id);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strconcat ("/cli/launch-options/", rows[i].name, NULL);

      g_test_add_data_func (path, &rows[i], test_row);
    }
  g_test_add_func ("/cli/launch-options/values", test_values);
  return g_test_run ();
}
