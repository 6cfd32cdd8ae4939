/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-egress-chunks.h"
#include "glove-egress-pipes.h"

G_BEGIN_DECLS

/* Bytes between two connected sockets, both ways, by splice (2) through a pipe: what one side does not read, the other is not
 * read for; what one side ends, the other is told. Where no pipe can be had, and where a body's framing must be seen, bytes
 * are peeked, sent, and only then consumed, so nothing is ever buffered here. The I/O thread only. */

#define GLOVE_EGRESS_RELAY_SCRATCH (16 * 1024)

typedef struct {
  int fd;
  gboolean readable; /* until the kernel says otherwise */
  gboolean writable;
} GloveEgressRelayEnd;

typedef struct {
  GString *first; /* what goes ahead of anything read, or NULL */
  gsize first_sent;
  int pipe[2];
  gsize held; /* bytes in the pipe */
  gboolean bounded;
  guint64 left; /* if bounded: bytes still to be read */
  gboolean chunked;
  GloveEgressChunks chunks;
  gboolean ended; /* nothing more will be read */
  gboolean shut;  /* and the receiver knows */
} GloveEgressRelayWay;

typedef struct {
  GloveEgressRelayEnd guest;
  GloveEgressRelayEnd server;
  GloveEgressRelayWay up;   /* guest to server */
  GloveEgressRelayWay down; /* server to guest */
  gboolean one_exchange;    /* done when the server is */
  GloveEgressPipes *pipes;  /* borrowed, like @scratch, of GLOVE_EGRESS_RELAY_SCRATCH bytes */
  char *scratch;
} GloveEgressRelay;

typedef enum {
  GLOVE_EGRESS_RELAY_WAIT, /* for an event */
  GLOVE_EGRESS_RELAY_MORE, /* there is more to do; others first */
  GLOVE_EGRESS_RELAY_DONE,
  GLOVE_EGRESS_RELAY_FAILED, /* a side was reset or is gone */
} GloveEgressRelayResult;

void glove_egress_relay_init (GloveEgressRelay *self, GloveEgressPipes *pipes, char *scratch);
/* What the server gets first: @head (transfer full, may be NULL), then as many of @bytes as belong to the request. */
gboolean glove_egress_relay_feed (GloveEgressRelay *self, GString *head, const char *bytes, gsize length);
/* Takes in what epoll (7) reported. */
void glove_egress_relay_note (GloveEgressRelayEnd *end, guint32 events);
GloveEgressRelayResult glove_egress_relay_pump (GloveEgressRelay *self);
/* Gives the pipes back; the sockets are the owner's. */
void glove_egress_relay_clear (GloveEgressRelay *self);

G_END_DECLS
