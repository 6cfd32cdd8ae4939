/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdio.h>

#include "glove-cli-launch-options.h"

#include <glib/gi18n.h>
#include <string.h>

#include "glove-cli-output.h"
#include "glove-cli-verbs.h"

static GOptionContext *
new_context (GloveCliLaunchOptions *self, gboolean with_runtime)
{
  const GOptionEntry common[] = {
    { "workspace", 'w', 0, G_OPTION_ARG_FILENAME, &self->workspace, N_("Project folder the agent may change; it starts there"), N_("DIR") },
    { "read", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, &self->read, N_("File or folder the agent may read"), N_("PATH") },
    { "write", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->write, N_("File or folder the agent may read and change"), N_("PATH") },
    { "env", 'e', 0, G_OPTION_ARG_STRING_ARRAY, &self->environment, N_("Environment variable to pass on"), N_("NAME") },
    { "allow-host", 0, 0, G_OPTION_ARG_STRING_ARRAY, &self->allow_hosts, N_("Host the agent may reach through the proxy (port 443 unless given)"), N_("HOST[:PORT]") },
    { "forward", 0, 0, G_OPTION_ARG_STRING_ARRAY, &self->forwards, N_("Loopback port inside that leads to exactly one target"), N_("[PORT=]HOST:PORT") },
    { "allow-socket", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->allow_sockets, N_("Host socket below a grant that the agent may connect to: as good as running code outside"), N_("PATH") },
    { "mask-sockets", 0, 0, G_OPTION_ARG_NONE, &self->mask_sockets, N_("Cover every host socket below a grant with an empty file"), NULL },
    { "allow-git-config", 0, 0, G_OPTION_ARG_NONE, &self->allow_git_config, N_("Let the agent change git hooks and configuration, which run on the host later"), NULL },
    { "limit", 0, 0, G_OPTION_ARG_STRING_ARRAY, &self->limits, N_("Limit to enforce: memory, pids, cpus, cpu-time, wall-time, output, open-files, file-size, home-size, tmp-size, shm-size"), N_("NAME=VALUE") },
    { "audit", 0, 0, G_OPTION_ARG_FILENAME, &self->audit, N_("Audit file, outside of what the agent sees"), N_("FILE") },
    { "backend", 0, 0, G_OPTION_ARG_STRING, &self->backend, N_("Sandbox backend"), N_("ID") },
    { "tty", 't', 0, G_OPTION_ARG_NONE, &self->tty, N_("Give the agent a terminal of its own"), NULL },
    { "no-tty", 'T', 0, G_OPTION_ARG_NONE, &self->no_tty, N_("Give it pipes, also when standard input is a terminal"), NULL },
    { "as-root-id", 0, 0, G_OPTION_ARG_NONE, &self->as_root_id, N_("Run by root: let the agent have the host's user id 0, where a grant can't be mapped"), NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &self->quiet, N_("Don't print the grants"), NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &self->help, N_("Show this help"), NULL },
    { "catalog", 0, 0, G_OPTION_ARG_FILENAME, &self->catalog, N_("Folder of catalog entries and modules, instead of the installed ones"), N_("DIR") },
    G_OPTION_ENTRY_NULL
  };
  const GOptionEntry runtime[] = {
    { "prompt-file", 'p', 0, G_OPTION_ARG_FILENAME, &self->prompt_file, N_("Task to work on without asking"), N_("FILE") },
    { "executable", 0, 0, G_OPTION_ARG_FILENAME, &self->executable, N_("The agent's program"), N_("PATH") },
    { "search-path", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->search_paths, N_("Folder to look for the agent's program in"), N_("DIR") },
    { "provider-url", 0, 0, G_OPTION_ARG_STRING, &self->provider_url, N_("Model server to use instead of the agent's own"), N_("URL") },
    { "model", 0, 0, G_OPTION_ARG_STRING, &self->model, N_("Model to ask for"), N_("NAME") },
    G_OPTION_ENTRY_NULL
  };
  GOptionContext *context = g_option_context_new (with_runtime ? _("RUNTIME [-- ARGUMENT…]") : _("[--] COMMAND [ARGUMENT…]"));

  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_strict_posix (context, !with_runtime);
  g_option_context_add_main_entries (context, common, GETTEXT_PACKAGE);
  if (with_runtime)
    g_option_context_add_main_entries (context, runtime, GETTEXT_PACKAGE);
  return context;
}

/* Splits what GOption left: [RUNTIME] [--] rest. */
static gboolean
take_operands (GloveCliLaunchOptions *self, gboolean with_runtime, char **arguments, int *ret_status)
{
  const char *verb = with_runtime ? "run" : "exec";
  gsize next = 1;

  if (with_runtime)
    {
      if (arguments[next] == NULL || strcmp (arguments[next], "--") == 0)
        {
          *ret_status = glove_cli_output_usage (verb, _("no runtime is named"));
          return FALSE;
        }
      self->runtime = g_strdup (arguments[next++]);
    }
  if (arguments[next] != NULL && strcmp (arguments[next], "--") == 0)
    next++;
  else if (with_runtime && arguments[next] != NULL)
    {
      *ret_status = glove_cli_output_usage (verb, _("'%s' is neither an option nor behind --"), arguments[next]);
      return FALSE;
    }
  self->command = g_strdupv (arguments + next);
  if (!with_runtime && self->command[0] == NULL)
    {
      *ret_status = glove_cli_output_usage (verb, _("no command is given"));
      return FALSE;
    }
  return TRUE;
}

/* GOption drops the "--" in some places and keeps it in others: what follows the first one is kept away from it. For exec the command
 * begins at the first operand. */
static char **
split_at_separator (char **arguments)
{
  for (gsize i = 1; arguments[i] != NULL; i++)
    if (strcmp (arguments[i], "--") == 0)
      {
        char **rest = g_strdupv (arguments + i);

        for (gsize j = i; arguments[j] != NULL; j++)
          g_clear_pointer (&arguments[j], g_free);
        return rest;
      }
  return NULL;
}

/* An operand of exec in front of the separator means that the "--" belongs to the command. */
static gboolean
separator_is_ours (char **arguments)
{
  return arguments[1] == NULL;
}

static char **
join (char **left, char **rest)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  g_strv_builder_addv (builder, (const char **) left);
  if (rest != NULL)
    g_strv_builder_addv (builder, (const char **) rest);
  return g_strv_builder_end (builder);
}

gboolean
glove_cli_launch_options_parse (GloveCliLaunchOptions *self, gboolean with_runtime, int argc, char **argv,
                                int *ret_status)
{
  const char *verb = with_runtime ? "run" : "exec";
  g_auto (GStrv) arguments = g_strdupv (argv);
  g_auto (GStrv) rest = NULL;
  g_auto (GStrv) operands = NULL;
  g_autoptr (GOptionContext) context = new_context (self, with_runtime);
  g_autoptr (GError) error = NULL;

  rest = split_at_separator (arguments);
  if (!g_option_context_parse_strv (context, &arguments, &error))
    {
      *ret_status = glove_cli_output_usage (verb, "%s", error->message);
      return FALSE;
    }
  if (self->help)
    {
      g_autofree char *help = g_option_context_get_help (context, TRUE, NULL);

      g_print ("%s", help);
      *ret_status = 0;
      return FALSE;
    }
  operands = join (arguments, rest);
  if (!with_runtime && !separator_is_ours (arguments))
    {
      self->command = g_strdupv (operands + 1);
    }
  else if (!take_operands (self, with_runtime, operands, ret_status))
    {
      return FALSE;
    }
  if (!with_runtime && self->command[0][0] == '\0')
    {
      *ret_status = glove_cli_output_usage (verb, _("the command is empty"));
      return FALSE;
    }
  if (self->tty && self->no_tty)
    {
      *ret_status = glove_cli_output_usage (verb, _("--tty and --no-tty exclude each other"));
      return FALSE;
    }
  if (self->executable != NULL && self->search_paths != NULL)
    {
      *ret_status = glove_cli_output_usage (verb, _("--executable and --search-path exclude each other"));
      return FALSE;
    }
  return TRUE;
}

void
glove_cli_launch_options_clear (GloveCliLaunchOptions *self)
{
  g_free (self->workspace);
  g_strfreev (self->read);
  g_strfreev (self->write);
  g_strfreev (self->environment);
  g_strfreev (self->allow_hosts);
  g_strfreev (self->forwards);
  g_strfreev (self->allow_sockets);
  g_strfreev (self->limits);
  g_free (self->audit);
  g_free (self->backend);
  g_free (self->catalog);
  g_free (self->prompt_file);
  g_free (self->executable);
  g_strfreev (self->search_paths);
  g_free (self->provider_url);
  g_free (self->model);
  g_free (self->runtime);
  g_strfreev (self->command);
  memset (self, 0, sizeof *self);
}
