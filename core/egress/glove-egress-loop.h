/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-deadline.h"

G_BEGIN_DECLS

/* The I/O thread: descriptors, deadlines, and messages from other threads. It sleeps until one of these has something, and
 * never ticks. Descriptors are watched edge-triggered for everything at once: whoever watches one remembers what it may do
 * until the kernel says otherwise, and no event can be left unhandled to spin on. */
typedef struct _GloveEgressLoop GloveEgressLoop;

/* @running: FALSE when the loop has ended: nothing may be done but let go of @data. */
typedef void (*GloveEgressLoopFunc) (gpointer data, gboolean running);

typedef struct {
  void (*ready) (gpointer data, guint32 events); /* EPOLL* */
  gpointer data;
} GloveEgressWatch;

typedef struct {
  void (*expired) (gpointer data);
  gpointer data;
  GloveDeadline at;
  guint slot; /* 1 + its place in the heap; 0: not set */
} GloveEgressTimer;

GloveEgressLoop *glove_egress_loop_new (GError **error);
GloveEgressLoop *glove_egress_loop_ref (GloveEgressLoop *self);
void glove_egress_loop_unref (GloveEgressLoop *self);
/* Runs what is queued, ends the thread and waits for it. Not from the I/O thread. */
void glove_egress_loop_stop (GloveEgressLoop *self);
/* Any thread; @func runs on the I/O thread, or here and now when that has ended. */
void glove_egress_loop_post (GloveEgressLoop *self, GloveEgressLoopFunc func, gpointer data);

/* The rest is for the I/O thread only. */
gboolean glove_egress_loop_watch (GloveEgressLoop *self, int fd, GloveEgressWatch *watch);
/* Before the descriptor is closed: another process may hold the same open file, and closing ours would not end its events. An
 * event that was fetched already may still be delivered: the watch lives until the next deferred call. */
void glove_egress_loop_unwatch (GloveEgressLoop *self, int fd);
/* @func runs after the present batch of events, and before the next one is waited for. */
void glove_egress_loop_defer (GloveEgressLoop *self, GloveEgressLoopFunc func, gpointer data);
void glove_egress_loop_set_timer (GloveEgressLoop *self, GloveEgressTimer *timer, GloveDeadline at);
void glove_egress_loop_clear_timer (GloveEgressLoop *self, GloveEgressTimer *timer);

G_END_DECLS
