/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "glove-egress-proxy.h"

#include "glove-egress-resolver.h"

G_BEGIN_DECLS

/* For tests, before the first socket: names are looked up by @func, and the deadlines are these. */
void glove_egress_proxy_set_resolver (GloveEgressProxy *self, GloveEgressResolverFunc func, gpointer func_data);
void glove_egress_proxy_set_deadlines (GloveEgressProxy *self, guint handshake_ms, guint connect_ms);
/* How many places are taken. */
guint glove_egress_proxy_get_n_connections (GloveEgressProxy *self);

G_END_DECLS
