/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_RUNTIME_HOME (glove_runtime_home_get_type ())

/* A file or directory of the private home. */
typedef struct {
  char *path;      /* relative to the home, normal, no "..", e.g. ".agent/config.toml" */
  GBytes *content; /* NULL: a directory */
  guint32 mode;    /* permission bits only */
} GloveRuntimeHomeEntry;

/**
 * GloveRuntimeHome:
 *
 * An adapter's answer: the private home with exact bytes and modes, the managed environment and arguments. Built by the
 * adapter, then owned by the core. Not thread safe while it is built.
 *
 * Since: 1.0
 */
typedef struct _GloveRuntimeHome GloveRuntimeHome;

GLOVE_AVAILABLE_IN_1_0 GType glove_runtime_home_get_type (void);
GLOVE_AVAILABLE_IN_1_0 GloveRuntimeHome *glove_runtime_home_new (void);
GLOVE_AVAILABLE_IN_1_0 void glove_runtime_home_free (GloveRuntimeHome *self);
/* Parents are made with mode 0700 when they were not added. A path that is absolute, has "..", is empty, or is there already
 * is GLOVE_ERROR_INVALID_ARGUMENT. */
GLOVE_AVAILABLE_IN_1_0 gboolean glove_runtime_home_add_directory (GloveRuntimeHome *self, const char *path,
                                                                  guint32 mode, GError **error);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_runtime_home_add_file (GloveRuntimeHome *self, const char *path,
                                                             const char *content, gssize length, guint32 mode,
                                                             GError **error);
/* Managed: the operator may not set the same name. Refuses a malformed or repeated name. */
GLOVE_AVAILABLE_IN_1_0 gboolean glove_runtime_home_set_environment (GloveRuntimeHome *self, const char *name,
                                                                    const char *value, GError **error);
/* In front of the operator's own arguments. */
GLOVE_AVAILABLE_IN_1_0 void glove_runtime_home_add_argument (GloveRuntimeHome *self, const char *argument);
/* Behind them (a prompt, for example). */
GLOVE_AVAILABLE_IN_1_0 void glove_runtime_home_add_trailing_argument (GloveRuntimeHome *self, const char *argument);

/* Sorted: a directory before what lies in it. Element type GloveRuntimeHomeEntry; owned by @self. */
GLOVE_AVAILABLE_IN_1_0 const GPtrArray *glove_runtime_home_get_entries (const GloveRuntimeHome *self);
/* "NAME=VALUE", in the order set; borrowed. */
GLOVE_AVAILABLE_IN_1_0 const char *const *glove_runtime_home_get_environment (const GloveRuntimeHome *self);
GLOVE_AVAILABLE_IN_1_0 const char *const *glove_runtime_home_get_arguments (const GloveRuntimeHome *self);
GLOVE_AVAILABLE_IN_1_0 const char *const *glove_runtime_home_get_trailing_arguments (const GloveRuntimeHome *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveRuntimeHome, glove_runtime_home_free)

G_END_DECLS
