/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-egress-loop.h"
#include "glove-egress-reason.h"

G_BEGIN_DECLS

/* Connects to the first of some addresses that answers, one after the other: an address that is silent gets a few seconds, the
 * last one all that is left. The I/O thread only. */
typedef struct {
  GloveEgressLoop *loop; /* borrowed */
  GloveEgressWatch *watch;
  GArray *addresses; /* GloveEgressAddress */
  guint next;
  int fd;
  GloveDeadline deadline;  /* of all of it */
  GloveDeadline attempt;   /* of the present address */
  GloveEgressReason reason; /* why the last address failed */
} GloveEgressDial;

typedef enum {
  GLOVE_EGRESS_DIAL_WAIT, /* for an event, or for @attempt */
  GLOVE_EGRESS_DIAL_CONNECTED,
  GLOVE_EGRESS_DIAL_FAILED,
} GloveEgressDialResult;

/* @addresses: (transfer full). @watch: told of the socket's events from now on, after the connection is made too. */
GloveEgressDialResult glove_egress_dial_start (GloveEgressDial *self, GloveEgressLoop *loop, GloveEgressWatch *watch,
                                               GArray *addresses, GloveDeadline deadline);
/* The socket has an event. */
GloveEgressDialResult glove_egress_dial_ready (GloveEgressDial *self);
/* @attempt has passed. */
GloveEgressDialResult glove_egress_dial_expired (GloveEgressDial *self);
/* Unwatches and closes the socket unless it was taken (@fd set to -1). */
void glove_egress_dial_clear (GloveEgressDial *self);

G_END_DECLS
