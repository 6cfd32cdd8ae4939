/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why a request was not carried out. Each has one code (`X-Glove-Reason`, and `reason` in the body) and one HTTP status; the
 * codes are stable. NONE is not a refusal. */
typedef enum {
  GLOVE_EGRESS_REASON_NONE,
  GLOVE_EGRESS_REASON_MALFORMED_REQUEST,
  GLOVE_EGRESS_REASON_BAD_HOST,
  GLOVE_EGRESS_REASON_HOST_MISMATCH,
  GLOVE_EGRESS_REASON_UNSUPPORTED_SCHEME,
  GLOVE_EGRESS_REASON_NOT_A_PROXY_REQUEST,
  GLOVE_EGRESS_REASON_REQUEST_TOO_LARGE,
  GLOVE_EGRESS_REASON_REQUEST_TIMEOUT,
  GLOVE_EGRESS_REASON_CREDENTIAL_MISSING,
  GLOVE_EGRESS_REASON_CREDENTIAL_WRONG,
  GLOVE_EGRESS_REASON_HOST_NOT_ALLOWED,
  GLOVE_EGRESS_REASON_PORT_NOT_ALLOWED,
  GLOVE_EGRESS_REASON_ADDRESS_NOT_PUBLIC,
  GLOVE_EGRESS_REASON_NAME_NOT_RESOLVED,
  GLOVE_EGRESS_REASON_CONNECT_FAILED,
  GLOVE_EGRESS_REASON_RESOLVE_TIMEOUT,
  GLOVE_EGRESS_REASON_CONNECT_TIMEOUT,
  GLOVE_EGRESS_REASON_AUDIT_FAILED,
  GLOVE_EGRESS_REASON_BUSY,
} GloveEgressReason;

#define GLOVE_EGRESS_N_REASONS (GLOVE_EGRESS_REASON_BUSY + 1)

const char *glove_egress_reason_get_code (GloveEgressReason self);
guint glove_egress_reason_get_status (GloveEgressReason self);
/* A sentence for people, without a host path or an address in it. */
const char *glove_egress_reason_get_text (GloveEgressReason self);
/* Whether the policy itself refused, as opposed to the network, a peer or a full table. */
gboolean glove_egress_reason_is_denial (GloveEgressReason self);
/* What would permit it, as typed on the command line, or NULL when no option would. */
char *glove_egress_reason_dup_option (GloveEgressReason self, const char *host, guint16 port);
/* The whole HTTP answer. @host may be NULL: the request named none that could be read. */
GString *glove_egress_reason_to_reply (GloveEgressReason self, const char *host, guint16 port);

G_END_DECLS
