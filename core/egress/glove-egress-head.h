/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Finds the end of a request head as its bytes arrive, looking at each byte once, and stops at the first byte that can't be in
 * one: a control character, NUL, a CR or LF alone, a folded line. Zero-initialised. Pure. */
typedef struct {
  guint state;
  gsize scanned;
} GloveEgressHead;

typedef enum {
  GLOVE_EGRESS_HEAD_MORE,
  GLOVE_EGRESS_HEAD_COMPLETE, /* @scanned is its length, the empty line included */
  GLOVE_EGRESS_HEAD_BAD,
} GloveEgressHeadResult;

/* @bytes: everything so far, @length of them. */
GloveEgressHeadResult glove_egress_head_scan (GloveEgressHead *self, const char *bytes, gsize length);

G_END_DECLS
