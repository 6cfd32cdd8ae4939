/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdint.h>

#include "glove-audit-event.h"
#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-identifier.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Any bytes as the texts of an event: its line is short enough, and reads back. */
static void
check_written (const char *text)
{
  static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
  g_autoptr (GloveAuditEvent) event
      = glove_audit_event_new (GLOVE_AUDIT_ACTION_EGRESS, GLOVE_AUDIT_STATUS_OK, text, text);
  g_autoptr (GloveAuditEvent) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *line = NULL;
  g_autofree char *hash = NULL;
  g_autofree char *read_hash = NULL;

  glove_audit_event_set_arguments (event, text);
  glove_audit_event_set_error (event, text);
  glove_audit_event_set_verdict (event, text, text, text);
  line = glove_audit_event_to_chained_line (event, 1, zeros, &hash);
  g_assert_null (strchr (line, '\n'));
  g_assert_cmpuint (strlen (line), <=, GLOVE_AUDIT_LINE_MAX);
  again = glove_audit_event_from_line (line, strlen (line), NULL, NULL, &read_hash, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (read_hash, ==, hash);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autofree char *prev = NULL;
  g_autofree char *hash = NULL;
  g_autoptr (GError) error = NULL;
  guint64 seq = 0;
  g_autoptr (GloveAuditEvent) event
      = glove_audit_event_from_line ((const char *) data, size, &seq, &prev, &hash, &error);

  g_assert_true ((event == NULL) == (error != NULL));
  if (event == NULL)
    g_assert_true (error->domain == GLOVE_ERROR);
  else
    g_assert_true ((prev == NULL) == (hash == NULL) && (hash == NULL || glove_identifier_is_hex64 (hash)));
  check_written (text);
  return 0;
}
