/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The command: finds the verb and hands over. */

#include "config.h"

#include <stdio.h>

#include <glib/gi18n.h>
#include <locale.h>
#include <string.h>

#include "glove-cli-environ.h"
#include "glove-cli-output.h"
#include "glove-cli-verbs.h"

static const struct
{
  const char *name;
  int (*run) (int argc, char **argv);
  const char *summary; /* NULL: not listed */
} verbs[] = {
  { "exec", glove_cli_exec, N_("run a command contained") },
  { "run", glove_cli_run, N_("run an agent program contained, set up by its adapter") },
  { "why", glove_cli_why, N_("what was denied in the last run, and what would allow it") },
  { "doctor", glove_cli_doctor, N_("what this host can enforce, and what it lacks") },
  { "plugin", glove_cli_plugin, N_("the plugins in the catalog: list them, show one, check a file") },
  { "demo", glove_cli_demo, NULL },
};

static void
print_help (void)
{
  g_print (_("Usage: glove VERB [OPTION…] [ARGUMENT…]\n\nRuns untrusted agent programs inside a perimeter.\n\n"));
  for (gsize i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (verbs[i].summary != NULL)
      g_print ("  %-8s %s\n", verbs[i].name, _(verbs[i].summary));
  g_print (_("\nEach verb explains itself: glove VERB --help\n"));
}

/* "glove exec" is what the help of a verb calls itself. */
static int
run_verb (gsize i, int argc, char **argv)
{
  g_autofree char *name = g_strconcat ("glove ", verbs[i].name, NULL);

  g_set_prgname (name);
  return verbs[i].run (argc, argv);
}

int
main (int argc, char **argv)
{
  glove_cli_environ_settle ();
  glove_cli_environ_scrub (argv);
  /* the two that matter: every further category is files to open at each start */
  (void) setlocale (LC_CTYPE, "");
  (void) setlocale (LC_MESSAGES, "");
  (void) bindtextdomain (GETTEXT_PACKAGE, GLOVE_LOCALEDIR);
  (void) bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  (void) textdomain (GETTEXT_PACKAGE);

  if (argc < 2)
    return glove_cli_output_usage (NULL, _("no verb is given"));
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 || strcmp (argv[1], "help") == 0)
    {
      print_help ();
      return 0;
    }
  if (strcmp (argv[1], "--version") == 0)
    {
      g_print ("glove %s\n", GLOVE_VERSION);
      return 0;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (strcmp (argv[1], verbs[i].name) == 0)
      return run_verb (i, argc - 1, argv + 1);
  return glove_cli_output_usage (NULL, _("there is no verb '%s'"), argv[1]);
}
