/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Empty pipes between two uses. A connection holds one only while bytes are in it, so that many idle connections cost two
 * descriptors each. The I/O thread only. */
typedef struct _GloveEgressPipes GloveEgressPipes;

GloveEgressPipes *glove_egress_pipes_new (void);
void glove_egress_pipes_free (GloveEgressPipes *self);
/* FALSE when the process is out of descriptors. Both ends are close-on-exec and never block. */
gboolean glove_egress_pipes_take (GloveEgressPipes *self, int pipe[2]);
/* @held: bytes left in it; only an empty one is kept. @pipe becomes -1, -1. */
void glove_egress_pipes_give (GloveEgressPipes *self, int pipe[2], gsize held);

G_END_DECLS
