/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-launch-spec.h"

G_BEGIN_DECLS

/* The network part of a launch: what may be reached, and by which ports inside. */
typedef struct {
  GPtrArray *allow;     /* of GloveEndpoint */
  GPtrArray *forwards;  /* of GloveEndpoint, each with its local_port chosen */
  guint16 proxy_port;   /* 0: nothing is allowed through the proxy */
} GloveCliNetwork;

/* @allow_hosts, @forwards: (nullable): as typed. Ports inside are chosen here: the network namespace is empty, so a port is taken only
 * by another of ours. */
gboolean glove_cli_network_init (GloveCliNetwork *self, const char *const *allow_hosts, const char *const *forwards,
                                 GError **error);
/* One more forward, to the host and port of @endpoint; returns the port inside. */
gboolean glove_cli_network_add_forward (GloveCliNetwork *self, const char *text, guint16 *ret_port, GError **error);
void glove_cli_network_choose_proxy_port (GloveCliNetwork *self);
void glove_cli_network_fill_listeners (const GloveCliNetwork *self, GloveLaunchSpec *spec);
void glove_cli_network_clear (GloveCliNetwork *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GloveCliNetwork, glove_cli_network_clear)

G_END_DECLS
