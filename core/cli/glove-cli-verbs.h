/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* One function a verb: argv[0] is the verb, the result is the exit status. */

#define GLOVE_CLI_STATUS_USAGE 2
#define GLOVE_CLI_STATUS_FAILED 125
#define GLOVE_CLI_STATUS_NOT_EXECUTABLE 126
#define GLOVE_CLI_STATUS_NOT_FOUND 127

int glove_cli_exec (int argc, char **argv);
int glove_cli_run (int argc, char **argv);
int glove_cli_why (int argc, char **argv);
int glove_cli_doctor (int argc, char **argv);
int glove_cli_plugin (int argc, char **argv);
int glove_cli_demo (int argc, char **argv);
