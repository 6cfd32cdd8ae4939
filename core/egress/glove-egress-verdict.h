/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-egress-reason.h"

G_BEGIN_DECLS

/* What the rules say about a name and port, before anything is resolved. Pure. */
typedef struct {
  GloveEgressReason reason; /* NONE, HOST_NOT_ALLOWED or PORT_NOT_ALLOWED */
  gboolean allow_private;   /* an address that is not public may be dialled */
} GloveEgressVerdict;

/* @rules: (element-type GloveEndpoint). @host: canonical. */
GloveEgressVerdict glove_egress_verdict_judge (const GPtrArray *rules, const char *host, guint16 port);

G_END_DECLS
