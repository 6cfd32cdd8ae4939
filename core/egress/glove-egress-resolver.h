/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-egress-address.h"

G_BEGIN_DECLS

/* Names to addresses, on a few threads that exist only while there is something to look up. The system's resolver can't be
 * interrupted, so its caller is not made to wait for it: who is no longer interested cancels, and a thread that is stuck holds
 * nothing but itself. Any thread. */
typedef struct _GloveEgressResolver GloveEgressResolver;
typedef struct _GloveEgressLookup GloveEgressLookup;

#define GLOVE_EGRESS_RESOLVER_THREADS_MAX 8

/* Blocks. Returns (element-type GloveEgressAddress), at most GLOVE_EGRESS_RESOLVED_MAX, empty when there is none. */
typedef GArray *(*GloveEgressResolverFunc) (const char *host, guint16 port, gpointer user_data);
/* Called once for every lookup, on a resolver thread or, when no thread could be made, within the call itself. @addresses is
 * (transfer full). */
typedef void (*GloveEgressResolverDone) (gpointer user_data, GArray *addresses);

/* The addresses of a host for which nobody need be asked: an address itself, and `localhost`, which is always this host. Empty
 * for any other name. */
GArray *glove_egress_resolver_known (const char *host, guint16 port);
/* @func: NULL: the system's. */
GloveEgressResolver *glove_egress_resolver_new (GloveEgressResolverFunc func, gpointer func_data);
GloveEgressResolver *glove_egress_resolver_ref (GloveEgressResolver *self);
void glove_egress_resolver_unref (GloveEgressResolver *self);
GloveEgressLookup *glove_egress_resolver_start (GloveEgressResolver *self, const char *host, guint16 port,
                                                GloveEgressResolverDone done, gpointer user_data);
/* Gives up the caller's hold on it. A lookup that no thread has begun is answered without looking anything up. */
void glove_egress_resolver_release (GloveEgressLookup *lookup);

G_END_DECLS
