/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>
#include <netinet/in.h>
#include <sys/socket.h>

G_BEGIN_DECLS

/* An address and port that can be dialled. A value; pure. */
typedef union {
  sa_family_t family;
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} GloveEgressAddress;

/* An address literal in its canonical spelling, an IPv6 one without brackets. */
gboolean glove_egress_address_parse (const char *literal, guint16 port, GloveEgressAddress *ret_address);
/* From a resolver; other families than IPv4 and IPv6 are refused. A scope id is dropped. */
gboolean glove_egress_address_from_sockaddr (const struct sockaddr *any, socklen_t length, guint16 port,
                                             GloveEgressAddress *ret_address);
socklen_t glove_egress_address_get_length (const GloveEgressAddress *self);
/* Without the port. */
char *glove_egress_address_to_string (const GloveEgressAddress *self);
/* Ports are not compared. */
gboolean glove_egress_address_equal (const GloveEgressAddress *a, const GloveEgressAddress *b);
/* Whether it is an address of the public Internet: not loopback, private, link-local, shared, multicast, unspecified, for
 * benchmarks or documentation, nor any of these embedded in an IPv6 address. What is unknown is not public. */
gboolean glove_egress_address_is_public (const GloveEgressAddress *self);

G_END_DECLS
