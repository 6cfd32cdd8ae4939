/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-audit-log.h"
#include "glove-egress-loop.h"
#include "glove-egress-pipes.h"
#include "glove-egress-reason.h"
#include "glove-egress-resolver.h"

G_BEGIN_DECLS

/* What every connection of one proxy shares. Immutable but for what is said below. */
typedef struct {
  gatomicrefcount ref_count;
  char *session_id;
  char *policy_id;
  GPtrArray *allow;    /* GloveEndpoint */
  GPtrArray *forwards; /* GloveEndpoint */
  char *secret;        /* wiped when freed */
  char *credential;    /* what a client sends: base64 of "glove:SECRET" */
  GloveAuditLog *audit;
  GloveEgressResolver *resolver;
  guint handshake_ms;
  guint connect_ms;
  GloveEgressLoop *loop; /* set before the first connection */

  /* The I/O thread's own. */
  GloveEgressPipes *pipes;
  char *scratch;
  GPtrArray *connections; /* GloveEgressConnection, borrowed */

  GMutex lock;    /* of what follows */
  guint n_places; /* connections that are open or on their way to the I/O thread */
  GArray *guests; /* their sockets, once they are there */
} GloveEgressContext;

GloveEgressContext *glove_egress_context_new (const char *session_id, const char *policy_id, GPtrArray *allow,
                                              GPtrArray *forwards, GloveAuditLog *audit, GError **error);
GloveEgressContext *glove_egress_context_ref (GloveEgressContext *self);
void glove_egress_context_unref (GloveEgressContext *self);

/* FALSE when GLOVE_EGRESS_CONNECTIONS_MAX are taken. Any thread. */
gboolean glove_egress_context_take_place (GloveEgressContext *self);
void glove_egress_context_leave_place (GloveEgressContext *self);
/* The guest's sockets that are open, so that shutting down can wake a thread that one of them holds. */
void glove_egress_context_add_guest (GloveEgressContext *self, int fd);
void glove_egress_context_remove_guest (GloveEgressContext *self, int fd);
void glove_egress_context_shut_guests (GloveEgressContext *self);

/* In the same time wherever they differ. @credential: NULL when there was none. */
GloveEgressReason glove_egress_context_check_credential (const GloveEgressContext *self, const char *credential);
/* The audit event of a verdict (contracts §4). @host may be NULL. @detail and @option: NULL: the reason's own. */
GloveAuditEvent *glove_egress_context_make_event (const GloveEgressContext *self, GloveEgressReason reason, const char *host,
                                                  guint16 port, const char *detail, const char *option);

G_END_DECLS
