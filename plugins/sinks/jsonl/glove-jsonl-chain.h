/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

/* Where a chain stands: what the next line continues. */
typedef struct {
  guint64 seq;   /* of the last line; 0: there is none */
  char hash[65]; /* of the last line; 64 zeros: there is none */
  goffset end;   /* behind the last whole line; what follows it is torn */
} GloveJsonlChain;

void glove_jsonl_chain_init (GloveJsonlChain *self);
/* Verifies every line of the file at @fd, which has @size bytes. An unterminated last line is not a fault: @end lies in front of it. */
gboolean glove_jsonl_chain_verify (GloveJsonlChain *self, int fd, goffset size, GError **error);

G_END_DECLS
