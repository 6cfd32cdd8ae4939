/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <string.h>

#include "glove-audit-event.h"
#include "glove-bounds.h"
#include "glove-digest.h"
#include "glove-error.h"
#include "glove-test.h"

static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";

static GloveAuditEvent *
make_event (void)
{
  GloveAuditEvent *event = glove_audit_event_new (GLOVE_AUDIT_ACTION_EGRESS, GLOVE_AUDIT_STATUS_INVALID_ARGUMENTS, "s-1",
                                                  "s-1:exec:example.com:443");

  glove_audit_event_set_arguments (event, "{\"method\":\"CONNECT\"}");
  glove_audit_event_set_error (event, "not allowed\n");
  glove_audit_event_set_verdict (event, "network", "no-rule", "--allow-host example.com");
  glove_audit_event_set_latency (event, 42);
  event->timestamp_ns = 1700000000000000001;
  return event;
}

/* contracts §4, written out by hand. */
static const char seven[]
    = "{\"action\":\"egress\",\"tool\":\"s-1:exec:example.com:443\",\"arguments\":\"{\\\"method\\\":\\\"CONNECT\\\"}\","
      "\"status\":\"invalid_arguments\",\"error\":\"not allowed\\n\",\"timestamp_ns\":1700000000000000001,\"latency_ns\":42";
static const char chain[] = ",\"seq\":1,\"session\":\"s-1\",\"plane\":\"network\",\"rule\":\"no-rule\","
                            "\"allow\":\"--allow-host example.com\",\"prev\":\"";

static void
test_format (void)
{
  g_autoptr (GloveAuditEvent) event = make_event ();
  g_autoptr (GString) open = g_string_new (NULL);
  g_autofree char *body = g_strconcat (seven, chain, zeros, "\"", NULL);
  g_autofree char *expected_hash = glove_digest_of_data (body, strlen (body));
  g_autofree char *expected = g_strconcat (body, ",\"hash\":\"", expected_hash, "\"}", NULL);
  g_autofree char *hash = NULL;
  g_autofree char *line = glove_audit_event_to_chained_line (event, 1, zeros, &hash);

  glove_audit_event_append_json_open (event, open);
  g_assert_cmpstr (open->str, ==, seven);
  g_assert_cmpstr (line, ==, expected);
  g_assert_cmpstr (hash, ==, expected_hash);
  g_assert_true (glove_audit_event_is_denial (event));
}

static void
test_empty_keys (void)
{
  g_autoptr (GloveAuditEvent) event
      = glove_audit_event_new (GLOVE_AUDIT_ACTION_AGENT_EXIT, GLOVE_AUDIT_STATUS_OK, NULL, NULL);
  g_autofree char *line = NULL;
  gint64 now = g_get_real_time () * 1000;

  g_assert_cmpint (event->timestamp_ns, <=, now);
  g_assert_cmpint (event->timestamp_ns, >, now - G_GINT64_CONSTANT (60000000000));
  event->timestamp_ns = 5;
  line = glove_audit_event_to_chained_line (event, 7, zeros, NULL);
  g_assert_true (g_str_has_prefix (line, "{\"action\":\"agent_exit\",\"tool\":\"\",\"arguments\":\"\",\"status\":\"ok\",\"error\":\"\","
                                         "\"timestamp_ns\":5,\"latency_ns\":0,\"seq\":7,\"prev\":\"000"));
  g_assert_false (glove_audit_event_is_denial (event));
  glove_audit_event_set_error (event, NULL);
  glove_audit_event_set_arguments (event, NULL);
  glove_audit_event_set_verdict (event, NULL, NULL, NULL);
  g_assert_cmpstr (event->rule, ==, "");
}

static void
test_names (void)
{
  static const char *const actions[] = { "list_tools", "call_tool",   "initialize",    "agent_launch", "agent_exit",
                                         "egress",     "observation", "local_service", "control" };
  static const char *const statuses[]
      = { "ok", "tool_not_found", "invalid_arguments", "execution_error", "transport_error" };

  for (gsize i = 0; i < G_N_ELEMENTS (actions); i++)
    g_assert_cmpstr (glove_audit_action_get_name ((GloveAuditAction) i), ==, actions[i]);
  g_assert_null (glove_audit_action_get_name ((GloveAuditAction) G_N_ELEMENTS (actions)));
  for (gsize i = 0; i < G_N_ELEMENTS (statuses); i++)
    g_assert_cmpstr (glove_audit_status_get_name ((GloveAuditStatus) i), ==, statuses[i]);
  g_assert_null (glove_audit_status_get_name ((GloveAuditStatus) G_N_ELEMENTS (statuses)));
}

static void
test_round_trip (void)
{
  g_autoptr (GloveAuditEvent) event = make_event ();
  g_autofree char *hash = NULL;
  g_autofree char *line = glove_audit_event_to_chained_line (event, 9, zeros, &hash);
  g_autofree char *read_prev = NULL;
  g_autofree char *read_hash = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveAuditEvent) read = NULL;
  guint64 seq = 0;

  read = glove_audit_event_from_line (line, strlen (line), &seq, &read_prev, &read_hash, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (seq, ==, 9);
  g_assert_cmpstr (read_prev, ==, zeros);
  g_assert_cmpstr (read_hash, ==, hash);
  g_assert_cmpint (read->action, ==, event->action);
  g_assert_cmpint (read->status, ==, event->status);
  g_assert_cmpint (read->timestamp_ns, ==, event->timestamp_ns);
  g_assert_cmpint (read->latency_ns, ==, event->latency_ns);
  g_assert_cmpstr (read->tool, ==, event->tool);
  g_assert_cmpstr (read->arguments, ==, event->arguments);
  g_assert_cmpstr (read->error, ==, event->error);
  g_assert_cmpstr (read->session, ==, event->session);
  g_assert_cmpstr (read->plane, ==, event->plane);
  g_assert_cmpstr (read->rule, ==, event->rule);
  g_assert_cmpstr (read->allow, ==, event->allow);
}

/* No byte of a line can be changed, and no end of it cut off, without being told. */
static void
test_tampering (void)
{
  g_autoptr (GloveAuditEvent) event = make_event ();
  g_autofree char *line = glove_audit_event_to_chained_line (event, 9, zeros, NULL);
  gsize length = strlen (line);

  for (gsize i = 0; i < length; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) cut_error = NULL;
      char kept = line[i];

      line[i] ^= 1;
      g_assert_null (glove_audit_event_from_line (line, length, NULL, NULL, NULL, &error));
      g_assert_true (error->domain == GLOVE_ERROR);
      line[i] = kept;
      g_assert_null (glove_audit_event_from_line (line, i, NULL, NULL, NULL, &cut_error));
      g_assert_true (cut_error->domain == GLOVE_ERROR);
    }
}

static void
test_refused (void)
{
  g_autofree char *seven_closed = g_strconcat (seven, "}", NULL);
  g_autofree char *chained = g_strconcat (seven, chain, zeros, "\"", NULL);
  g_autofree char *hash = glove_digest_of_data (chained, strlen (chained));
  const struct {
    char *line;
    GloveError code; /* FAILED: accepted */
    const char *message;
  } cases[] = {
    { g_strdup (seven_closed), GLOVE_ERROR_FAILED, NULL },
    { g_strconcat (seven, ",\"session\":\"x\"}", NULL), GLOVE_ERROR_FAILED, NULL },
    { g_strconcat (chained, ",\"hash\":\"", hash, "\"}", NULL), GLOVE_ERROR_FAILED, NULL },
    { g_strconcat (chained, ",\"hash\":\"", zeros, "\"}", NULL), GLOVE_ERROR_CHANGED, "hash is not that of the line" },
    { g_strconcat (chained, ", \"hash\":\"", hash, "\"}", NULL), GLOVE_ERROR_INVALID_DATA, "does not end with its hash" },
    { g_strconcat (chained, ",\"hash\":\"", hash, "\"} ", NULL), GLOVE_ERROR_INVALID_DATA, "does not end with its hash" },
    { g_strconcat (chained, "}", NULL), GLOVE_ERROR_INVALID_DATA, "are not a chain" },
    { g_strconcat (seven, ",\"seq\":1}", NULL), GLOVE_ERROR_INVALID_DATA, "are not a chain" },
    { g_strconcat (seven, ",\"prev\":\"", zeros, "\",\"hash\":\"", zeros, "\"}", NULL), GLOVE_ERROR_INVALID_DATA, "are not a chain" },
    { g_strconcat (seven, ",\"seq\":1,\"prev\":\"0\",\"hash\":\"", zeros, "\"}", NULL), GLOVE_ERROR_INVALID_DATA, "are not a chain" },
    { g_strconcat (seven, ",\"seq\":-1,\"prev\":\"", zeros, "\",\"hash\":\"", zeros, "\"}", NULL), GLOVE_ERROR_INVALID_DATA, "are not a chain" },
    { g_strconcat (seven, ",\"x\":1}", NULL), GLOVE_ERROR_INVALID_DATA, "unknown key" },
    { g_strconcat (seven, ",\"rule\":\"r\",\"session\":\"s\"}", NULL), GLOVE_ERROR_INVALID_DATA, "unknown key, or key out of order" },
    { g_strconcat (seven, ",\"rule\":7}", NULL), GLOVE_ERROR_INVALID_DATA, "“rule” has the wrong type" },
    { g_strdup ("{\"tool\":\"t\",\"action\":\"egress\"}"), GLOVE_ERROR_INVALID_DATA, "“action” is missing or out of order" },
    { g_strdup ("{\"action\":\"egress\"}"), GLOVE_ERROR_INVALID_DATA, "“tool” is missing" },
    { g_strdup ("{\"action\":\"sing\",\"tool\":\"\",\"arguments\":\"\",\"status\":\"ok\",\"error\":\"\",\"timestamp_ns\":1,\"latency_ns\":0}"),
      GLOVE_ERROR_INVALID_DATA, "unknown action" },
    { g_strdup ("{\"action\":\"egress\",\"tool\":null,\"arguments\":\"\",\"status\":\"ok\",\"error\":\"\",\"timestamp_ns\":1,\"latency_ns\":0}"),
      GLOVE_ERROR_INVALID_DATA, "“tool” has the wrong type" },
    { g_strdup ("[]"), GLOVE_ERROR_INVALID_DATA, "not an object" },
    { g_strdup (""), GLOVE_ERROR_INVALID_DATA, "unexpected end" },
    { g_strconcat (seven, "}\n{}", NULL), GLOVE_ERROR_INVALID_DATA, "trailing bytes" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      guint64 seq = 77;
      g_autoptr (GloveAuditEvent) event
          = glove_audit_event_from_line (cases[i].line, strlen (cases[i].line), &seq, NULL, NULL, &error);

      g_test_message ("case %" G_GSIZE_FORMAT, i);
      if (cases[i].code == GLOVE_ERROR_FAILED)
        g_assert_no_error (error);
      else
        {
          glove_test_assert_error (error, cases[i].code, cases[i].message);
          g_assert_cmpuint (seq, ==, 77);
        }
      g_free (cases[i].line);
    }
}

static void
test_line_length (void)
{
  for (gsize length = GLOVE_AUDIT_LINE_MAX - 1; length <= GLOVE_AUDIT_LINE_MAX + 1; length++)
    {
      g_autofree char *line = g_malloc (length);
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveAuditEvent) event = NULL;

      memset (line, ' ', length);
      memcpy (line, seven, sizeof seven - 1);
      line[length - 1] = '}';
      event = glove_audit_event_from_line (line, length, NULL, NULL, NULL, &error);
      if (length <= GLOVE_AUDIT_LINE_MAX)
        g_assert_no_error (error);
      else
        glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "longer than 65536 bytes");
    }
}

/* Whatever the texts hold, the line can be read back. */
static void
test_bounded (void)
{
  static const char fills[] = { 'a', '"', '\x01', '\xff' };

  for (gsize i = 0; i < G_N_ELEMENTS (fills); i++)
    for (gsize length = GLOVE_AUDIT_TEXT_MAX - 1; length <= 40 * GLOVE_AUDIT_TEXT_MAX; length = length * 3 + 1)
      {
        g_autofree char *text = g_strnfill (length, fills[i]);
        g_autoptr (GloveAuditEvent) event
            = glove_audit_event_new (GLOVE_AUDIT_ACTION_AGENT_LAUNCH, GLOVE_AUDIT_STATUS_OK, text, text);
        g_autoptr (GloveAuditEvent) read = NULL;
        g_autoptr (GError) error = NULL;
        g_autofree char *line = NULL;

        glove_audit_event_set_arguments (event, text);
        glove_audit_event_set_error (event, text);
        glove_audit_event_set_verdict (event, text, text, text);
        line = glove_audit_event_to_chained_line (event, G_MAXINT64, zeros, NULL);
        g_assert_cmpuint (strlen (line), <=, GLOVE_AUDIT_LINE_MAX);
        read = glove_audit_event_from_line (line, strlen (line), NULL, NULL, NULL, &error);
        g_assert_no_error (error);
      }
}

static void
test_cut (void)
{
  g_autofree char *whole = g_strnfill (GLOVE_AUDIT_TEXT_MAX, 'a');
  g_autofree char *longer = g_strnfill (GLOVE_AUDIT_TEXT_MAX + 1, 'a');
  g_autofree char *json = g_strnfill (GLOVE_AUDIT_ARGUMENTS_MAX + 1, '1');
  g_autofree char *digest = glove_digest_of_data (json, strlen (json));
  g_autofree char *expected = g_strdup_printf ("{\"omitted_bytes\":32769,\"sha256\":\"%s\"}", digest);
  g_autoptr (GloveAuditEvent) event
      = glove_audit_event_new (GLOVE_AUDIT_ACTION_EGRESS, GLOVE_AUDIT_STATUS_OK, "s", whole);

  g_assert_cmpstr (event->tool, ==, whole);
  glove_audit_event_set_error (event, longer);
  g_assert_true (g_str_has_suffix (event->error, "a… (65 more bytes)"));
  glove_audit_event_set_arguments (event, json);
  g_assert_cmpstr (event->arguments, ==, expected);
  json[GLOVE_AUDIT_ARGUMENTS_MAX] = '\0';
  glove_audit_event_set_arguments (event, json);
  g_assert_cmpstr (event->arguments, ==, json);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/audit-event/format", test_format);
  g_test_add_func ("/model/audit-event/empty-keys", test_empty_keys);
  g_test_add_func ("/model/audit-event/names", test_names);
  g_test_add_func ("/model/audit-event/round-trip", test_round_trip);
  g_test_add_func ("/model/audit-event/tampering", test_tampering);
  g_test_add_func ("/model/audit-event/refused", test_refused);
  g_test_add_func ("/model/audit-event/line-length", test_line_length);
  g_test_add_func ("/model/audit-event/bounded", test_bounded);
  g_test_add_func ("/model/audit-event/cut", test_cut);
  return g_test_run ();
}
