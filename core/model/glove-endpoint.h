/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_ENDPOINT (glove_endpoint_get_type ())

/**
 * GloveEndpoint:
 * @host: a name in canonical form (lower case, no trailing dot), an address literal without brackets, or a suffix rule that
 *   starts with a dot
 * @port: 1..65535
 * @allow_private: an address that is not public may be dialled. Set by the parser when @host itself is an address literal or
 *   "localhost": naming it is allowing it.
 * @local_port: for a forward, the loopback port inside the sandbox (0: any free one); 0 otherwise
 *
 * A place on the network that a rule names. Immutable once made.
 *
 * Since: 1.0
 */
typedef struct {
  char *host;
  guint16 port;
  gboolean allow_private;
  guint16 local_port;
} GloveEndpoint;

GLOVE_AVAILABLE_IN_1_0 GType glove_endpoint_get_type (void);
/* "HOST[:PORT]"; port 443 when absent. "[v6]:PORT" for IPv6. */
GLOVE_AVAILABLE_IN_1_0 GloveEndpoint *glove_endpoint_parse (const char *text, GError **error);
/* "[PORT=]HOST:PORT". A suffix rule is refused. */
GLOVE_AVAILABLE_IN_1_0 GloveEndpoint *glove_endpoint_parse_forward (const char *text, GError **error);
/* Scheme, host and port of an absolute http or https URL; the scheme's port when none is given. User information, a
 * fragment, control characters and other schemes are refused. */
GLOVE_AVAILABLE_IN_1_0 GloveEndpoint *glove_endpoint_parse_url (const char *url, char **ret_scheme, char **ret_path,
                                                                GError **error);
GLOVE_AVAILABLE_IN_1_0 GloveEndpoint *glove_endpoint_copy (const GloveEndpoint *self);
GLOVE_AVAILABLE_IN_1_0 void glove_endpoint_free (GloveEndpoint *self);
/* "host:port", IPv6 in brackets. */
GLOVE_AVAILABLE_IN_1_0 char *glove_endpoint_to_string (const GloveEndpoint *self);
/* Lower case, trailing dot removed; rejects empty labels, controls, NUL, spaces, "..", names over 253 bytes, and numbers that are
 * not a dotted quad in its one canonical spelling. Bytes are judged, so that what is judged is what is dialled.
 * @length counts the bytes of @host. */
GLOVE_AVAILABLE_IN_1_0 char *glove_endpoint_canonicalise_host (const char *host, gsize length, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveEndpoint, glove_endpoint_free)

G_END_DECLS
