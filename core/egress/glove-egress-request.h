/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-egress-reason.h"

G_BEGIN_DECLS

/* One proxy request, parsed from a complete head. Pure: no I/O, no policy.
 *
 * What is in here is what is judged and dialled: the Host field, the credential and everything else that a client sends twice
 * is compared or refused here, once. */
typedef struct {
  gboolean connect;    /* a tunnel; else one plain HTTP request */
  char *host;          /* canonical; an IPv6 literal without brackets */
  guint16 port;
  char *credential;    /* what follows "Basic " in Proxy-Authorization, or NULL; wiped when freed */
  GString *head;       /* plain HTTP: the head in origin form, as the server gets it; NULL for a tunnel */
  gboolean chunked;    /* plain HTTP: the body ends where its chunks say */
  guint64 body_length; /* plain HTTP: or after this many bytes */
} GloveEgressRequest;

/* @head: a complete head, as glove_egress_head_scan () found it. On failure @ret_reason says how to answer, and @error why. */
GloveEgressRequest *glove_egress_request_parse (const char *head, gsize length, GloveEgressReason *ret_reason,
                                                GError **error);
void glove_egress_request_free (GloveEgressRequest *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveEgressRequest, glove_egress_request_free)

G_END_DECLS
