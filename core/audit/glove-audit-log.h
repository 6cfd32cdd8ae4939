/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-audit-event.h"
#include "glove-audit-sink.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_AUDIT_LOG (glove_audit_log_get_type ())
G_DECLARE_FINAL_TYPE (GloveAuditLog, glove_audit_log, GLOVE, AUDIT_LOG, GObject)

/* One session's stream of events, fanned out to its sinks, floods folded (architecture rule 9). Thread safe. */
GloveAuditLog *glove_audit_log_new (const char *session_id);
/* Before the first record. */
void glove_audit_log_add_sink (GloveAuditLog *self, GloveAuditSink *sink);
/* Every sink has it (durably, where the sink is durable) when this returns TRUE. */
gboolean glove_audit_log_record (GloveAuditLog *self, GloveAuditEvent *event, GError **error);

/* @error is NULL when every sink has the event. Called on the log's writer thread. */
typedef void (*GloveAuditLogDone) (GloveAuditLog *self, const GError *error, gpointer user_data);
/* The same without waiting: one writer thread, started at the first use, takes whatever is queued as one group. @done may be NULL. */
void glove_audit_log_record_async (GloveAuditLog *self, GloveAuditEvent *event, GloveAuditLogDone done,
                                   gpointer user_data);
/* Waits until the queue is written and the counted event of folded denials, if any, too. */
gboolean glove_audit_log_close (GloveAuditLog *self, GError **error);
/* Called once, on the thread that records, when the hard budget is spent: the session must be stopped. */
typedef void (*GloveAuditLogOverflow) (GloveAuditLog *self, gpointer user_data);
void glove_audit_log_set_overflow_handler (GloveAuditLog *self, GloveAuditLogOverflow handler, gpointer user_data);
guint64 glove_audit_log_get_denials (GloveAuditLog *self);

G_END_DECLS
