/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-egress-context.h"
#include "glove-endpoint.h"

G_BEGIN_DECLS

/* One socket from inside, from its first byte to its last. Everything but the making happens on the I/O thread. */
typedef struct _GloveEgressConnection GloveEgressConnection;

/* @fd: (transfer full), checked; a place in @context is taken already and is the connection's from now on. @forward: NULL for a
 * proxy connection; borrowed from @context. */
GloveEgressConnection *glove_egress_connection_new (GloveEgressContext *context, int fd, const GloveEndpoint *forward);
/* A GloveEgressLoopFunc, given what new () returned. */
void glove_egress_connection_start (gpointer data, gboolean running);
/* A GloveEgressLoopFunc, given a GloveEgressContext: closes every connection, and lets go of the context. */
void glove_egress_connection_close_all (gpointer data, gboolean running);

G_END_DECLS
