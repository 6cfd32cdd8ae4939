/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-grant.h"

G_BEGIN_DECLS

/* What an agent added to a protected repository, so that git on the host would take hooks and configuration from elsewhere. */
typedef struct {
  char *path;   /* where it was found, any bytes */
  char *detail; /* what became of it */
} GloveGitRefusal;

void glove_git_refusal_free (GloveGitRefusal *self);

/* After the end of everything that could write: renames aside what was added, and tells what was replaced.
 * Element type GloveGitRefusal, mostly none. */
GPtrArray *glove_git_review_run (const GPtrArray *grants);

G_END_DECLS
