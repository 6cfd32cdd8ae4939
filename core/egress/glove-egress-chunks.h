/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Follows the framing of a chunked body to know where it ends, so that nothing after it is taken for a part of it.
 * Zero-initialised. Pure. */
typedef struct {
  guint state;
  guint digits;
  guint extra;   /* bytes of extensions and trailers so far */
  guint64 left;  /* of the present chunk */
} GloveEgressChunks;

/* Looks at @length bytes; @ret_used of them belong to the body. FALSE when they are no chunked body. */
gboolean glove_egress_chunks_scan (GloveEgressChunks *self, const char *bytes, gsize length, gsize *ret_used);
gboolean glove_egress_chunks_is_complete (const GloveEgressChunks *self);

G_END_DECLS
