/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-grant.h"
#include "glove-limits.h"
#include "glove-macros.h"
#include "glove-runtime-home.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_LAUNCH_SPEC (glove_launch_spec_get_type ())

/**
 * GLOVE_HOME_DIRECTORY:
 *
 * The private home, as the agent sees it.
 */
#define GLOVE_HOME_DIRECTORY "/home/agent"

/* A port on which something inside the sandbox is listened for; accepted sockets go to the sandbox's socket handler. */
typedef struct {
  guint16 port; /* 0: any free one; the backend writes the chosen port back before the agent starts */
  guint32 tag;  /* the caller's own number, handed back with each socket */
} GloveLaunchListener;

/**
 * GloveLaunchSpec:
 *
 * Everything a backend needs to make one sandbox: values and pinned descriptors, no decision left open. Built by the policy
 * floor, read by the backend. Reference counted; not changed after it was handed to a backend.
 *
 * Since: 1.0
 */
typedef struct {
  /*< private >*/
  gatomicrefcount ref_count;
  /*< public >*/
  char *session_id;       /* contracts §0 session id */
  char **argv;            /* at least one; any bytes; argv[0] is looked up in the PATH of @env inside the sandbox unless it
                             has a slash, and is handed over unchanged */
  char *executable;       /* (nullable): absolute path inside, executed instead of looking argv[0] up */
  char **env;             /* "NAME=VALUE", complete: nothing is inherited */
  char *work_dir;         /* as the agent sees it */
  GPtrArray *grants;      /* of GloveGrant, ordered by depth of target_path, shallow first */
  GloveRuntimeHome *home; /* (nullable): what stands in the private home at the start */
  GArray *listeners;      /* of GloveLaunchListener */
  GloveLimits limits;
  gboolean tty;           /* a terminal of its own, where @stdio has -1 */
  guint16 rows, columns;  /* of that terminal, 1..4096 */
  int stdio[3];           /* borrowed; pipes or /dev/null only; -1: /dev/null inside, or the terminal with @tty */
  gboolean as_root_id;    /* run by root, the operator accepts host uid 0 for the agent */
  guint8 term_signal;     /* reserved: 0 */
} GloveLaunchSpec;

GLOVE_AVAILABLE_IN_1_0 GType glove_launch_spec_get_type (void);
/* An empty one: default limits, no grant, stdio -1. */
GLOVE_AVAILABLE_IN_1_0 GloveLaunchSpec *glove_launch_spec_new (const char *session_id);
GLOVE_AVAILABLE_IN_1_0 GloveLaunchSpec *glove_launch_spec_ref (GloveLaunchSpec *self);
GLOVE_AVAILABLE_IN_1_0 void glove_launch_spec_unref (GloveLaunchSpec *self);
/* Bounds of glove-bounds.h, grammar of names and paths, order of grants. Called by the backend's wrapper. */
GLOVE_AVAILABLE_IN_1_0 gboolean glove_launch_spec_validate (const GloveLaunchSpec *self, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveLaunchSpec, glove_launch_spec_unref)

G_END_DECLS
