/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/* Takes the same time wherever the first difference is. */
GLOVE_PRIVATE_API gboolean glove_secret_equal (const void *a, gsize a_length, const void *b, gsize b_length);
GLOVE_PRIVATE_API void glove_secret_wipe (void *data, gsize length);
/* Wipes and frees a string. */
GLOVE_PRIVATE_API void glove_secret_free (char *secret);

G_END_DECLS
