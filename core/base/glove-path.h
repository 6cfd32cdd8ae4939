/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/* Absolute and lexically normal: starts with a slash, no empty, "." or ".." component, no slash at the end but in "/" itself.
 * Any other bytes. Says nothing about length. */
GLOVE_PRIVATE_API gboolean glove_path_is_absolute_normal (const char *path);
/* The same for a path that does not start with a slash; "" is not one. */
GLOVE_PRIVATE_API gboolean glove_path_is_relative_normal (const char *path);
/* How many components: 0 for "/". */
GLOVE_PRIVATE_API guint glove_path_get_depth (const char *path);
/* @path is @ancestor or lies below it, by components: "/a/b" contains "/a/b/c", not "/a/bc". Both absolute and normal. */
GLOVE_PRIVATE_API gboolean glove_path_contains (const char *ancestor, const char *path);

G_END_DECLS
