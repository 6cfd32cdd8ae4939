/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-audit-event.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-digest.h"
#include "glove-error.h"
#include "glove-identifier.h"
#include "glove-json.h"

G_DEFINE_BOXED_TYPE (GloveAuditEvent, glove_audit_event, glove_audit_event_ref, glove_audit_event_unref)

static const char *const action_names[] = {
  [GLOVE_AUDIT_ACTION_LIST_TOOLS] = "list_tools",       [GLOVE_AUDIT_ACTION_CALL_TOOL] = "call_tool",
  [GLOVE_AUDIT_ACTION_INITIALIZE] = "initialize",       [GLOVE_AUDIT_ACTION_AGENT_LAUNCH] = "agent_launch",
  [GLOVE_AUDIT_ACTION_AGENT_EXIT] = "agent_exit",       [GLOVE_AUDIT_ACTION_EGRESS] = "egress",
  [GLOVE_AUDIT_ACTION_OBSERVATION] = "observation",     [GLOVE_AUDIT_ACTION_LOCAL_SERVICE] = "local_service",
  [GLOVE_AUDIT_ACTION_CONTROL] = "control",
};

static const char *const status_names[] = {
  [GLOVE_AUDIT_STATUS_OK] = "ok",
  [GLOVE_AUDIT_STATUS_TOOL_NOT_FOUND] = "tool_not_found",
  [GLOVE_AUDIT_STATUS_INVALID_ARGUMENTS] = "invalid_arguments",
  [GLOVE_AUDIT_STATUS_EXECUTION_ERROR] = "execution_error",
  [GLOVE_AUDIT_STATUS_TRANSPORT_ERROR] = "transport_error",
};

/**
 * glove_audit_action_get_name:
 * @action: an action
 *
 * Returns: (transfer none) (nullable): the wire name, constant; %NULL for a number that is no action
 *
 * Since: 1.0
 */
const char *
glove_audit_action_get_name (GloveAuditAction action)
{
  return (guint) action < G_N_ELEMENTS (action_names) ? action_names[action] : NULL;
}

/**
 * glove_audit_status_get_name:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): the wire name, constant; %NULL for a number that is no status
 *
 * Since: 1.0
 */
const char *
glove_audit_status_get_name (GloveAuditStatus status)
{
  return (guint) status < G_N_ELEMENTS (status_names) ? status_names[status] : NULL;
}

/* The longest start of @text that takes at most @max bytes as JSON, whole characters only. */
static gsize
fitting_length (const char *text, gsize max)
{
  g_autoptr (GString) encoded = g_string_sized_new (64);
  const char *at = text;
  gsize used = 0;

  while (*at != '\0')
    {
      char unit[8] = { 0 };
      gsize width = 1;

      if ((guchar) *at >= 0x80 && (gint) g_utf8_get_char_validated (at, -1) >= 0)
        width = (gsize) g_utf8_skip[(guchar) *at];
      memcpy (unit, at, width);
      g_string_truncate (encoded, 0);
      glove_json_append_string (encoded, unit);
      used += encoded->len - 2;
      if (used > max)
        break;
      at += width;
    }
  return (gsize) (at - text);
}

static gsize
encoded_length (const char *text)
{
  g_autoptr (GString) encoded = g_string_new (NULL);

  glove_json_append_string (encoded, text);
  return encoded->len - 2;
}

/* A line must stay readable, so no text may outgrow its share of it: what is left out is counted in the text itself. */
static char *
dup_bounded (const char *text)
{
  gsize length;
  gsize kept;

  if (text == NULL)
    return g_strdup ("");
  length = strlen (text);
  if (length <= GLOVE_AUDIT_TEXT_MAX / 6 || encoded_length (text) <= GLOVE_AUDIT_TEXT_MAX)
    return g_strdup (text);
  kept = fitting_length (text, GLOVE_AUDIT_TEXT_MAX - 64);
  return g_strdup_printf ("%.*s… (%" G_GSIZE_FORMAT " more bytes)", (int) kept, text, length - kept);
}

static void
replace (char **field, const char *text)
{
  char *copy = dup_bounded (text);

  g_free (*field);
  *field = copy;
}

/**
 * glove_audit_event_new: (constructor)
 * @action: what happened
 * @status: how it ended
 * @session: (nullable): the session's identifier
 * @tool: (nullable): what it was about
 *
 * Stamped with the wall clock. A text that would take more than GLOVE_AUDIT_TEXT_MAX bytes in the line is cut, here and in
 * the setters, and says how many bytes are missing.
 *
 * Returns: (transfer full): a new event
 *
 * Since: 1.0
 */
GloveAuditEvent *
glove_audit_event_new (GloveAuditAction action, GloveAuditStatus status, const char *session, const char *tool)
{
  GloveAuditEvent *self;

  g_return_val_if_fail (glove_audit_action_get_name (action) != NULL, NULL);
  g_return_val_if_fail (glove_audit_status_get_name (status) != NULL, NULL);

  self = g_new0 (GloveAuditEvent, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->action = action;
  self->status = status;
  self->tool = dup_bounded (tool);
  self->arguments = g_strdup ("");
  self->error = g_strdup ("");
  self->timestamp_ns = g_get_real_time () * 1000;
  self->session = dup_bounded (session);
  self->plane = g_strdup ("");
  self->rule = g_strdup ("");
  self->allow = g_strdup ("");
  return self;
}

/**
 * glove_audit_event_set_arguments:
 * @self: an event not shared yet
 * @json: (nullable): JSON text
 *
 * Text that would take more than GLOVE_AUDIT_ARGUMENTS_MAX bytes in the line is recorded as
 * `{"omitted_bytes":N,"sha256":"…"}`.
 *
 * Since: 1.0
 */
void
glove_audit_event_set_arguments (GloveAuditEvent *self, const char *json)
{
  gsize length;

  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->arguments, g_free);
  length = json != NULL ? strlen (json) : 0;
  if (length > GLOVE_AUDIT_ARGUMENTS_MAX
      || (length > GLOVE_AUDIT_ARGUMENTS_MAX / 6 && encoded_length (json) > GLOVE_AUDIT_ARGUMENTS_MAX))
    {
      g_autofree char *digest = glove_digest_of_data (json, length);

      self->arguments
          = g_strdup_printf ("{\"omitted_bytes\":%" G_GSIZE_FORMAT ",\"sha256\":\"%s\"}", length, digest);
      return;
    }
  self->arguments = g_strdup (json != NULL ? json : "");
}

/**
 * glove_audit_event_set_error:
 * @self: an event not shared yet
 * @detail: (nullable): the detail
 *
 * Since: 1.0
 */
void
glove_audit_event_set_error (GloveAuditEvent *self, const char *detail)
{
  g_return_if_fail (self != NULL);

  replace (&self->error, detail);
}

/**
 * glove_audit_event_set_verdict:
 * @self: an event not shared yet
 * @plane: (nullable): where it was decided
 * @rule: (nullable): the rule that denied it
 * @allow: (nullable): what would permit it
 *
 * Since: 1.0
 */
void
glove_audit_event_set_verdict (GloveAuditEvent *self, const char *plane, const char *rule, const char *allow)
{
  g_return_if_fail (self != NULL);

  replace (&self->plane, plane);
  replace (&self->rule, rule);
  replace (&self->allow, allow);
}

/**
 * glove_audit_event_set_latency:
 * @self: an event not shared yet
 * @latency_ns: how long it took
 *
 * Since: 1.0
 */
void
glove_audit_event_set_latency (GloveAuditEvent *self, gint64 latency_ns)
{
  g_return_if_fail (self != NULL);

  self->latency_ns = latency_ns;
}

/**
 * glove_audit_event_ref:
 * @self: an event
 *
 * Returns: (transfer full): @self
 *
 * Since: 1.0
 */
GloveAuditEvent *
glove_audit_event_ref (GloveAuditEvent *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

/**
 * glove_audit_event_unref:
 * @self: (transfer full) (nullable): an event
 *
 * Since: 1.0
 */
void
glove_audit_event_unref (GloveAuditEvent *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_free (self->tool);
  g_free (self->arguments);
  g_free (self->error);
  g_free (self->session);
  g_free (self->plane);
  g_free (self->rule);
  g_free (self->allow);
  g_free (self);
}

/**
 * glove_audit_event_is_denial:
 * @self: an event
 *
 * Returns: whether it is a verdict that something was refused: it names the rule that did
 *
 * Since: 1.0
 */
gboolean
glove_audit_event_is_denial (const GloveAuditEvent *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->rule[0] != '\0';
}

static void
append_text (GString *out, const char *key, const char *value)
{
  g_string_append_printf (out, ",\"%s\":", key);
  glove_json_append_string (out, value);
}

static void
append_text_unless_empty (GString *out, const char *key, const char *value)
{
  if (value[0] != '\0')
    append_text (out, key, value);
}

/**
 * glove_audit_event_append_json_open: (skip)
 * @self: an event
 * @out: where to append
 *
 * Source: contracts §4.
 *
 * Since: 1.0
 */
void
glove_audit_event_append_json_open (const GloveAuditEvent *self, GString *out)
{
  g_return_if_fail (self != NULL && out != NULL);

  g_string_append_printf (out, "{\"action\":\"%s\"", glove_audit_action_get_name (self->action));
  append_text (out, "tool", self->tool);
  append_text (out, "arguments", self->arguments);
  g_string_append_printf (out, ",\"status\":\"%s\"", glove_audit_status_get_name (self->status));
  append_text (out, "error", self->error);
  g_string_append_printf (out, ",\"timestamp_ns\":%" G_GINT64_FORMAT ",\"latency_ns\":%" G_GINT64_FORMAT,
                          self->timestamp_ns, self->latency_ns);
}

/**
 * glove_audit_event_to_chained_line:
 * @self: an event
 * @seq: its number in the file, from 1
 * @prev: the hash of the line before, 64 zeros in the first one
 * @ret_hash: (out) (optional) (transfer full): this line's hash
 *
 * Source: contracts §4.
 *
 * Returns: (transfer full): the line, without a newline
 *
 * Since: 1.0
 */
char *
glove_audit_event_to_chained_line (const GloveAuditEvent *self, guint64 seq, const char *prev, char **ret_hash)
{
  g_autoptr (GString) line = NULL;
  g_autofree char *hash = NULL;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (prev != NULL && glove_identifier_is_hex64 (prev), NULL);
  g_return_val_if_fail (seq <= G_MAXINT64, NULL);

  line = g_string_sized_new (512);
  glove_audit_event_append_json_open (self, line);
  g_string_append_printf (line, ",\"seq\":%" G_GUINT64_FORMAT, seq);
  append_text_unless_empty (line, "session", self->session);
  append_text_unless_empty (line, "plane", self->plane);
  append_text_unless_empty (line, "rule", self->rule);
  append_text_unless_empty (line, "allow", self->allow);
  append_text (line, "prev", prev);
  hash = glove_digest_of_data (line->str, line->len);
  append_text (line, "hash", hash);
  g_string_append_c (line, '}');
  if (ret_hash != NULL)
    *ret_hash = g_steal_pointer (&hash);
  return g_string_free (g_steal_pointer (&line), FALSE);
}

/* In the order that contracts §4 gives. */
static const struct {
  const char *key;
  gboolean is_number;
  gboolean required;
} line_keys[] = {
  { "action", FALSE, TRUE },      { "tool", FALSE, TRUE },       { "arguments", FALSE, TRUE },
  { "status", FALSE, TRUE },      { "error", FALSE, TRUE },      { "timestamp_ns", TRUE, TRUE },
  { "latency_ns", TRUE, TRUE },   { "seq", TRUE, FALSE },        { "session", FALSE, FALSE },
  { "plane", FALSE, FALSE },      { "rule", FALSE, FALSE },      { "allow", FALSE, FALSE },
  { "prev", FALSE, FALSE },       { "hash", FALSE, FALSE },
};

static gboolean
member_has_type (JsonObject *object, const char *key, gboolean is_number)
{
  JsonNode *node = json_object_get_member (object, key);

  return JSON_NODE_HOLDS_VALUE (node)
         && json_node_get_value_type (node) == (is_number ? G_TYPE_INT64 : G_TYPE_STRING);
}

/* Known keys only, in their order, none of the required ones missing, each of its type. */
static gboolean
check_keys (JsonObject *object, GError **error)
{
  g_autoptr (GList) members = json_object_get_members (object);
  const GList *member = members;

  for (gsize i = 0; i < G_N_ELEMENTS (line_keys); i++)
    {
      const char *key = line_keys[i].key;

      if (member == NULL || !g_str_equal (member->data, key))
        {
          if (!line_keys[i].required)
            continue;
          glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "audit line: key “%s” is missing or out of order", key);
          return FALSE;
        }
      if (!member_has_type (object, key, line_keys[i].is_number))
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "audit line: key “%s” has the wrong type", key);
          return FALSE;
        }
      member = member->next;
    }
  if (member != NULL)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, "audit line: unknown key, or key out of order");
      return FALSE;
    }
  return TRUE;
}

static gboolean
find_name (const char *const *names, gsize n_names, const char *name, guint *ret_index)
{
  for (gsize i = 0; i < n_names; i++)
    if (g_str_equal (names[i], name))
      {
        *ret_index = (guint) i;
        return TRUE;
      }
  return FALSE;
}

/* The three keys of the chain come together, and the hash is that of the bytes before it. */
static gboolean
check_chain (JsonObject *object, const char *line, gsize length, GError **error)
{
  static const gsize tail = sizeof ",\"hash\":\"\"}" - 1 + 64;
  const char *prev = json_object_get_string_member_with_default (object, "prev", NULL);
  const char *hash = json_object_get_string_member_with_default (object, "hash", NULL);
  gboolean has_seq = json_object_has_member (object, "seq");
  g_autofree char *actual = NULL;
  g_autofree char *expected_tail = NULL;

  if (prev == NULL && hash == NULL && !has_seq)
    return TRUE;
  if (prev == NULL || hash == NULL || !has_seq || !glove_identifier_is_hex64 (prev)
      || !glove_identifier_is_hex64 (hash) || json_object_get_int_member (object, "seq") < 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, "audit line: “seq”, “prev” and “hash” are not a chain");
      return FALSE;
    }
  expected_tail = g_strdup_printf (",\"hash\":\"%s\"}", hash);
  if (length < tail || memcmp (line + length - tail, expected_tail, tail) != 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, "audit line: it does not end with its hash");
      return FALSE;
    }
  actual = glove_digest_of_data (line, length - tail);
  if (!g_str_equal (actual, hash))
    {
      glove_error_set_literal (error, GLOVE_ERROR_CHANGED, "audit line: the hash is not that of the line");
      return FALSE;
    }
  return TRUE;
}

static GloveAuditEvent *
event_from_object (JsonObject *object, GError **error)
{
  GloveAuditEvent *self;
  guint action;
  guint status;

  if (!find_name (action_names, G_N_ELEMENTS (action_names), json_object_get_string_member (object, "action"), &action)
      || !find_name (status_names, G_N_ELEMENTS (status_names), json_object_get_string_member (object, "status"),
                     &status))
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, "audit line: unknown action or status");
      return NULL;
    }
  self = g_new0 (GloveAuditEvent, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->action = (GloveAuditAction) action;
  self->status = (GloveAuditStatus) status;
  self->tool = g_strdup (json_object_get_string_member (object, "tool"));
  self->arguments = g_strdup (json_object_get_string_member (object, "arguments"));
  self->error = g_strdup (json_object_get_string_member (object, "error"));
  self->timestamp_ns = json_object_get_int_member (object, "timestamp_ns");
  self->latency_ns = json_object_get_int_member (object, "latency_ns");
  self->session = g_strdup (json_object_get_string_member_with_default (object, "session", ""));
  self->plane = g_strdup (json_object_get_string_member_with_default (object, "plane", ""));
  self->rule = g_strdup (json_object_get_string_member_with_default (object, "rule", ""));
  self->allow = g_strdup (json_object_get_string_member_with_default (object, "allow", ""));
  return self;
}

/**
 * glove_audit_event_from_line: (skip)
 * @line: the line, without its newline; any bytes
 * @length: bytes of it
 * @ret_seq: (out) (optional): its number; 0 in a line without a chain
 * @ret_prev: (out) (optional) (transfer full) (nullable): the hash of the line before
 * @ret_hash: (out) (optional) (transfer full) (nullable): its own hash, which was found to be right
 * @error: return location
 *
 * The outs are written on success only. Any thread.
 *
 * Returns: (transfer full): the event; %NULL with %GLOVE_ERROR_INVALID_DATA for a malformed line, %GLOVE_ERROR_CHANGED for one
 *   whose hash is wrong, %GLOVE_ERROR_LIMIT for one longer than GLOVE_AUDIT_LINE_MAX
 *
 * Since: 1.0
 */
GloveAuditEvent *
glove_audit_event_from_line (const char *line, gsize length, guint64 *ret_seq, char **ret_prev, char **ret_hash,
                             GError **error)
{
  g_autoptr (JsonNode) root = NULL;
  JsonObject *object;
  GloveAuditEvent *self;

  g_return_val_if_fail (line != NULL || length == 0, NULL);

  if (length > GLOVE_AUDIT_LINE_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "audit line: longer than %d bytes", GLOVE_AUDIT_LINE_MAX);
      return NULL;
    }
  root = glove_json_parse (line, length, error);
  if (root == NULL)
    {
      g_prefix_error_literal (error, "audit line: ");
      return NULL;
    }
  if (!JSON_NODE_HOLDS_OBJECT (root))
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, "audit line: not an object");
      return NULL;
    }
  object = json_node_get_object (root);
  if (!check_keys (object, error) || !check_chain (object, line, length, error))
    return NULL;
  self = event_from_object (object, error);
  if (self == NULL)
    return NULL;
  if (ret_seq != NULL)
    *ret_seq = (guint64) json_object_get_int_member_with_default (object, "seq", 0);
  if (ret_prev != NULL)
    *ret_prev = g_strdup (json_object_get_string_member_with_default (object, "prev", NULL));
  if (ret_hash != NULL)
    *ret_hash = g_strdup (json_object_get_string_member_with_default (object, "hash", NULL));
  return self;
}
