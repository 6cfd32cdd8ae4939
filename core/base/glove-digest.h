/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/* The canonical binary encoder of contracts §0, feeding SHA-256: big-endian integers, strings with a u32 length in front. */
typedef struct _GloveDigest GloveDigest;

GLOVE_PRIVATE_API GloveDigest *glove_digest_new (void);
GLOVE_PRIVATE_API void glove_digest_free (GloveDigest *self);
GLOVE_PRIVATE_API void glove_digest_add_u8 (GloveDigest *self, guint8 value);
GLOVE_PRIVATE_API void glove_digest_add_u32 (GloveDigest *self, guint32 value);
GLOVE_PRIVATE_API void glove_digest_add_u64 (GloveDigest *self, guint64 value);
GLOVE_PRIVATE_API void glove_digest_add_string (GloveDigest *self, const char *string);
GLOVE_PRIVATE_API void glove_digest_add_string_len (GloveDigest *self, const char *string, gsize length);
/* u32 count, then each string. NULL counts as empty. */
GLOVE_PRIVATE_API void glove_digest_add_strv (GloveDigest *self, const char *const *strings);
GLOVE_PRIVATE_API void glove_digest_add_raw (GloveDigest *self, const void *data, gsize length);
/* 64 lower-case hex digits, owned by the caller. The digest can't be used afterwards. */
GLOVE_PRIVATE_API char *glove_digest_finish (GloveDigest *self);
GLOVE_PRIVATE_API char *glove_digest_of_data (const void *data, gsize length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveDigest, glove_digest_free)

G_END_DECLS
