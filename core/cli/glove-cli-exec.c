/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-cli-launch.h"
#include "glove-cli-output.h"
#include "glove-cli-verbs.h"

int
glove_cli_exec (int argc, char **argv)
{
  g_auto (GloveCliLaunchOptions) options = { 0 };
  g_auto (GloveCliLaunch) launch = { 0 };
  g_autoptr (GError) error = NULL;
  int status = 0;

  if (!glove_cli_launch_options_parse (&options, FALSE, argc, argv, &status))
    return status;
  if (!glove_cli_launch_init (&launch, &options, &error) || !glove_cli_launch_resolve (&launch, &error))
    {
      glove_cli_output_error (error);
      return GLOVE_CLI_STATUS_FAILED;
    }
  launch.argv = g_strdupv (options.command);
  return glove_cli_launch_perform (&launch);
}
