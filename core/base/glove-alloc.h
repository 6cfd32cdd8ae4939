/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/* The fallible allocator: for sizes and counts that a peer or a file picks. Freed with g_free (). Both set
 * GLOVE_ERROR_NO_SPACE and return NULL when memory, or the test's budget, is out. */
GLOVE_PRIVATE_API void *glove_alloc_try (gsize size, GError **error);
GLOVE_PRIVATE_API void *glove_alloc_try0 (gsize count, gsize size, GError **error);

/* Tests only: the allocation number @n from now on (0 is the next one), and every later one, fails; -1 switches it off. */
GLOVE_PRIVATE_API void glove_alloc_fail_after (int n);

G_END_DECLS
