/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-address.h"

#include <arpa/inet.h>
#include <string.h>

typedef struct {
  guint32 network;
  guint bits;
} Block4;

/* The IPv4 special-purpose registry (RFC 6890 and its updates), and class D and E. */
static const Block4 reserved4[] = {
  { 0x00000000, 8 },  /* this network */
  { 0x0a000000, 8 },  /* private */
  { 0x64400000, 10 }, /* shared by carriers */
  { 0x7f000000, 8 },  /* loopback */
  { 0xa9fe0000, 16 }, /* link-local, cloud metadata */
  { 0xac100000, 12 }, /* private */
  { 0xc0000000, 24 }, /* protocol assignments */
  { 0xc0000200, 24 }, /* documentation */
  { 0xc0586300, 24 }, /* 6to4 relays */
  { 0xc0a80000, 16 }, /* private */
  { 0xc6120000, 15 }, /* benchmarks */
  { 0xc6336400, 24 }, /* documentation */
  { 0xcb007100, 24 }, /* documentation */
  { 0xe0000000, 4 },  /* multicast */
  { 0xf0000000, 4 },  /* reserved, broadcast */
};

gboolean
glove_egress_address_parse (const char *literal, guint16 port, GloveEgressAddress *ret_address)
{
  GloveEgressAddress address = { 0 };

  if (inet_pton (AF_INET, literal, &address.v4.sin_addr) == 1)
    {
      address.v4.sin_family = AF_INET;
      address.v4.sin_port = htons (port);
    }
  else if (inet_pton (AF_INET6, literal, &address.v6.sin6_addr) == 1)
    {
      address.v6.sin6_family = AF_INET6;
      address.v6.sin6_port = htons (port);
    }
  else
    return FALSE;
  *ret_address = address;
  return TRUE;
}

gboolean
glove_egress_address_from_sockaddr (const struct sockaddr *any, socklen_t length, guint16 port,
                                    GloveEgressAddress *ret_address)
{
  GloveEgressAddress address = { 0 };

  if (any->sa_family == AF_INET && length >= sizeof address.v4)
    {
      memcpy (&address.v4, any, sizeof address.v4);
      address.v4.sin_port = htons (port);
    }
  else if (any->sa_family == AF_INET6 && length >= sizeof address.v6)
    {
      memcpy (&address.v6, any, sizeof address.v6);
      address.v6.sin6_port = htons (port);
      address.v6.sin6_flowinfo = 0;
      address.v6.sin6_scope_id = 0;
    }
  else
    return FALSE;
  *ret_address = address;
  return TRUE;
}

socklen_t
glove_egress_address_get_length (const GloveEgressAddress *self)
{
  return self->family == AF_INET ? sizeof self->v4 : sizeof self->v6;
}

char *
glove_egress_address_to_string (const GloveEgressAddress *self)
{
  const void *bytes = self->family == AF_INET ? (const void *) &self->v4.sin_addr : &self->v6.sin6_addr;
  char literal[INET6_ADDRSTRLEN];

  return g_strdup (inet_ntop (self->family, bytes, literal, sizeof literal));
}

gboolean
glove_egress_address_equal (const GloveEgressAddress *a, const GloveEgressAddress *b)
{
  if (a->family != b->family)
    return FALSE;
  if (a->family == AF_INET)
    return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
  return memcmp (&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr) == 0;
}

static gboolean
is_public4 (guint32 address)
{
  for (guint i = 0; i < G_N_ELEMENTS (reserved4); i++)
    if (((address ^ reserved4[i].network) >> (32 - reserved4[i].bits)) == 0)
      return FALSE;
  return TRUE;
}

static guint32
embedded4 (const guint8 *bytes)
{
  return (guint32) bytes[0] << 24 | (guint32) bytes[1] << 16 | (guint32) bytes[2] << 8 | bytes[3];
}

static gboolean
is_public6 (const guint8 *b)
{
  static const guint8 nat64[12] = { 0x00, 0x64, 0xff, 0x9b };

  if (memcmp (b, nat64, sizeof nat64) == 0)
    return is_public4 (embedded4 (b + 12));
  /* Only 2000::/3 is given out: loopback, mapped, compatible, link-local, unique local and multicast lie outside. */
  if ((b[0] & 0xe0) != 0x20)
    return FALSE;
  if (b[0] == 0x20 && b[1] == 0x02) /* 6to4 */
    return is_public4 (embedded4 (b + 2));
  if (b[0] == 0x20 && b[1] == 0x01 && b[2] < 0x02) /* 2001::/23: Teredo, benchmarks, ORCHID */
    return FALSE;
  if (b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8) /* documentation */
    return FALSE;
  if (b[0] == 0x3f && b[1] == 0xff && b[2] < 0x10) /* 3fff::/20: documentation */
    return FALSE;
  if (b[0] == 0x3f && b[1] == 0xfe) /* 6bone, returned */
    return FALSE;
  return TRUE;
}

gboolean
glove_egress_address_is_public (const GloveEgressAddress *self)
{
  if (self->family == AF_INET)
    return is_public4 (ntohl (self->v4.sin_addr.s_addr));
  if (self->family == AF_INET6)
    return is_public6 (self->v6.sin6_addr.s6_addr);
  return FALSE;
}
