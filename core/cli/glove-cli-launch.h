/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-catalog.h"
#include "glove-cli-launch-options.h"
#include "glove-cli-network.h"
#include "glove-runtime-home.h"

G_BEGIN_DECLS

/* One launch in the foreground: from what was typed to the agent's end. `glove exec` and `glove run` fill it in differently. */
typedef struct {
  const GloveCliLaunchOptions *options;
  GloveCatalog *catalog;
  GloveCliNetwork network;
  GPtrArray *runtime_reads; /* of path: what the agent's program needs beside the operator's grants */
  GloveRuntimeHome *home;   /* (nullable) */
  char *executable;         /* (nullable): as in GloveLaunchSpec */
  char **argv;
  gboolean no_input;        /* the agent has its task: nothing is read from standard input, unless --tty asks for a terminal */
  char *work_dir;           /* set by _resolve () */
  GPtrArray *grants;        /* of GloveGrant; set by _resolve () */
  GPtrArray *notes;         /* of utf8; set by _resolve () */
} GloveCliLaunch;

gboolean glove_cli_launch_init (GloveCliLaunch *self, const GloveCliLaunchOptions *options, GError **error);
/* Pins every grant. */
gboolean glove_cli_launch_resolve (GloveCliLaunch *self, GError **error);
/* Launches and waits; returns the exit status, after having said on standard error what went wrong. */
int glove_cli_launch_perform (GloveCliLaunch *self);
void glove_cli_launch_clear (GloveCliLaunch *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GloveCliLaunch, glove_cli_launch_clear)

G_END_DECLS
