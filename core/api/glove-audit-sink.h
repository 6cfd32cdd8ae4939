/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-audit-event.h"
#include "glove-macros.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_AUDIT_SINK (glove_audit_sink_get_type ())
GLOVE_AVAILABLE_IN_1_0 G_DECLARE_INTERFACE (GloveAuditSink, glove_audit_sink, GLOVE, AUDIT_SINK, GObject)

/**
 * GloveAuditSinkInterface:
 * @get_sink_id: the id that the catalog entry provides; borrowed, constant
 * @open: takes the place to write to: @name in the directory @dirfd (borrowed); default: nothing to open
 * @record: appends @n_events events in order; durable, all of them, when it returns %TRUE (one sync for the group is
 *   enough). On failure none of them may be half there. Called from one thread at a time, which may not be the main one.
 * @flush: nothing is held back afterwards; default: nothing to do
 * @is_durable: whether a recorded event survives a power failure; default: %FALSE
 *
 * Where audit events go. A sink never drops, reorders or rewrites an event.
 *
 * Since: 1.0
 */
struct _GloveAuditSinkInterface {
  /*< private >*/
  GTypeInterface parent_iface;
  /*< public >*/
  const char *(*get_sink_id) (GloveAuditSink *self);
  gboolean (*open) (GloveAuditSink *self, int dirfd, const char *name, GError **error);
  gboolean (*record) (GloveAuditSink *self, GloveAuditEvent *const *events, gsize n_events, GError **error);
  gboolean (*flush) (GloveAuditSink *self, GError **error);
  gboolean (*is_durable) (GloveAuditSink *self);
  /*< private >*/
  gpointer reserved[8];
};

GLOVE_AVAILABLE_IN_1_0 const char *glove_audit_sink_get_sink_id (GloveAuditSink *self);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_audit_sink_open (GloveAuditSink *self, int dirfd, const char *name,
                                                       GError **error);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_audit_sink_record (GloveAuditSink *self, GloveAuditEvent *const *events,
                                                         gsize n_events, GError **error);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_audit_sink_flush (GloveAuditSink *self, GError **error);
GLOVE_AVAILABLE_IN_1_0 gboolean glove_audit_sink_is_durable (GloveAuditSink *self);

G_END_DECLS
