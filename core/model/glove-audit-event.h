/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_AUDIT_EVENT (glove_audit_event_get_type ())

/**
 * GloveAuditAction:
 *
 * What happened (contracts §4); the nicks are the wire names with underscores.
 *
 * Since: 1.0
 */
typedef enum {
  GLOVE_AUDIT_ACTION_LIST_TOOLS,
  GLOVE_AUDIT_ACTION_CALL_TOOL,
  GLOVE_AUDIT_ACTION_INITIALIZE,
  GLOVE_AUDIT_ACTION_AGENT_LAUNCH,
  GLOVE_AUDIT_ACTION_AGENT_EXIT,
  GLOVE_AUDIT_ACTION_EGRESS,
  GLOVE_AUDIT_ACTION_OBSERVATION,
  GLOVE_AUDIT_ACTION_LOCAL_SERVICE,
  GLOVE_AUDIT_ACTION_CONTROL,
} GloveAuditAction;

/**
 * GloveAuditStatus:
 *
 * How it ended (contracts §4).
 *
 * Since: 1.0
 */
typedef enum {
  GLOVE_AUDIT_STATUS_OK,
  GLOVE_AUDIT_STATUS_TOOL_NOT_FOUND,
  GLOVE_AUDIT_STATUS_INVALID_ARGUMENTS,
  GLOVE_AUDIT_STATUS_EXECUTION_ERROR,
  GLOVE_AUDIT_STATUS_TRANSPORT_ERROR,
} GloveAuditStatus;

/**
 * GloveAuditEvent:
 * @tool: what it was about; for egress `<session>:<policy>:<host>:<port>`
 * @arguments: JSON text or empty; written as an escaped string
 * @error: detail, or empty
 * @timestamp_ns: wall clock, nanoseconds since 1970
 * @latency_ns: how long it took, or 0
 * @session: identifier, or empty
 * @plane: "launch", "network", "limit", "file", "channel", "tool", "control", or empty
 * @rule: on a denial, the rule that denied it; empty otherwise
 * @allow: on a denial, what would permit it (an option as typed); empty otherwise
 *
 * One typed event. The strings are never %NULL and hold any bytes; sinks escape them. Reference counted, any thread;
 * immutable once handed to a sink.
 *
 * Since: 1.0
 */
typedef struct {
  /*< private >*/
  gatomicrefcount ref_count;
  /*< public >*/
  GloveAuditAction action;
  GloveAuditStatus status;
  char *tool;
  char *arguments;
  char *error;
  gint64 timestamp_ns;
  gint64 latency_ns;
  char *session;
  char *plane;
  char *rule;
  char *allow;
} GloveAuditEvent;

GLOVE_AVAILABLE_IN_1_0 GType glove_audit_event_get_type (void);
/* Stamped with the wall clock. NULL strings become empty. */
GLOVE_AVAILABLE_IN_1_0 GloveAuditEvent *glove_audit_event_new (GloveAuditAction action, GloveAuditStatus status,
                                                               const char *session, const char *tool);
/* The setters are for the maker, before the event is shared. */
GLOVE_AVAILABLE_IN_1_0 void glove_audit_event_set_arguments (GloveAuditEvent *self, const char *json);
GLOVE_AVAILABLE_IN_1_0 void glove_audit_event_set_error (GloveAuditEvent *self, const char *detail);
GLOVE_AVAILABLE_IN_1_0 void glove_audit_event_set_verdict (GloveAuditEvent *self, const char *plane, const char *rule,
                                                           const char *allow);
GLOVE_AVAILABLE_IN_1_0 void glove_audit_event_set_latency (GloveAuditEvent *self, gint64 latency_ns);
GLOVE_AVAILABLE_IN_1_0 GloveAuditEvent *glove_audit_event_ref (GloveAuditEvent *self);
GLOVE_AVAILABLE_IN_1_0 void glove_audit_event_unref (GloveAuditEvent *self);
/* The line's body up to and without the closing brace, for a sink that appends its own keys (`seq`, then the non-empty ones of
 * `session`, `plane`, `rule`, `allow`, then `prev`, `hash`): the seven keys of contracts §4 in order. */
GLOVE_AVAILABLE_IN_1_0 void glove_audit_event_append_json_open (const GloveAuditEvent *self, GString *out);
/* As a JSONL sink writes it, with @seq and @prev and the closing `hash` (contracts §4): the line without its newline.
 * @ret_hash: (out): the line's 64 hex digits. */
GLOVE_AVAILABLE_IN_1_0 char *glove_audit_event_to_chained_line (const GloveAuditEvent *self, guint64 seq,
                                                                const char *prev, char **ret_hash);
/* Parses one such line, strictly; seven-key lines without a chain are accepted too. Any out may be NULL. */
GLOVE_AVAILABLE_IN_1_0 GloveAuditEvent *glove_audit_event_from_line (const char *line, gsize length, guint64 *ret_seq,
                                                                     char **ret_prev, char **ret_hash,
                                                                     GError **error);
GLOVE_AVAILABLE_IN_1_0 const char *glove_audit_action_get_name (GloveAuditAction action);
GLOVE_AVAILABLE_IN_1_0 const char *glove_audit_status_get_name (GloveAuditStatus status);
/* A verdict that something was refused. */
GLOVE_AVAILABLE_IN_1_0 gboolean glove_audit_event_is_denial (const GloveAuditEvent *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveAuditEvent, glove_audit_event_unref)

G_END_DECLS
