/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/* getrandom (2); fails only where the kernel has no such call. */
GLOVE_PRIVATE_API gboolean glove_random_bytes (void *buffer, gsize length, GError **error);
/* 2 × @bytes lower-case hex digits. */
GLOVE_PRIVATE_API char *glove_random_hex (gsize bytes, GError **error);

G_END_DECLS
