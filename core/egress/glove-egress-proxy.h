/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-audit-log.h"
#include "glove-endpoint.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_EGRESS_PROXY (glove_egress_proxy_get_type ())
G_DECLARE_FINAL_TYPE (GloveEgressProxy, glove_egress_proxy, GLOVE, EGRESS_PROXY, GObject)

/* The allow-listing network proxy (contracts §13, issue "Egress"). One I/O thread, started at the first socket; no listening
 * socket of its own: it is handed connected sockets that were accepted inside the sandbox. */

#define GLOVE_EGRESS_TAG_PROXY 0      /* an HTTP proxy connection */
#define GLOVE_EGRESS_TAG_FORWARD(i) ((guint32) (i) + 1) /* a raw relay to forward number i */

/* @allow, @forwards: (element-type GloveEndpoint), copied. */
GloveEgressProxy *glove_egress_proxy_new (const char *session_id, const char *policy_id, GPtrArray *allow,
                                          GPtrArray *forwards, GloveAuditLog *audit, GError **error);
/* "http://glove:SECRET@127.0.0.1:PORT": the per-run credential is in it. */
char *glove_egress_proxy_dup_url (GloveEgressProxy *self, guint16 port);
/* Takes @fd, which came from inside: type, family and state are checked, and it is closed when they are wrong. Any thread. */
void glove_egress_proxy_take_socket (GloveEgressProxy *self, guint32 tag, int fd);
/* Closes every connection and ends the thread; idempotent. */
void glove_egress_proxy_shutdown (GloveEgressProxy *self);

G_END_DECLS
