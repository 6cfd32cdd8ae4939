/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-limits.h"

G_BEGIN_DECLS

/* What `glove exec` and `glove run` were told, parsed but not yet looked up. */
typedef struct {
  char *workspace;     /* (nullable): as typed */
  char **read;
  char **write;
  char **environment;  /* names */
  char **allow_hosts;
  char **forwards;
  char **allow_sockets;
  char **limits;
  char *audit;
  char *backend;
  char *catalog;
  gboolean tty;
  gboolean no_tty;
  gboolean quiet;
  gboolean help;
  gboolean mask_sockets;
  gboolean allow_git_config;
  gboolean as_root_id;

  /* glove run only */
  char *prompt_file;
  char *executable;
  char **search_paths;
  char *provider_url;
  char *model;

  char *runtime;       /* (nullable): the operand of glove run */
  char **command;      /* what follows: the command of glove exec, further arguments of glove run */
} GloveCliLaunchOptions;

/* @with_runtime: `glove run`. FALSE with @ret_status: the program is over with that status (usage error, --help). */
gboolean glove_cli_launch_options_parse (GloveCliLaunchOptions *self, gboolean with_runtime, int argc, char **argv,
                                         int *ret_status);
void glove_cli_launch_options_clear (GloveCliLaunchOptions *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GloveCliLaunchOptions, glove_cli_launch_options_clear)

G_END_DECLS
