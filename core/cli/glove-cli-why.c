/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdio.h>

#include <fcntl.h>
#include <glib/gi18n.h>
#include <string.h>

#include "glove-audit-reader.h"
#include "glove-audit-runs.h"
#include "glove-cli-output.h"
#include "glove-cli-verbs.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-json.h"
#include "glove-text.h"

typedef struct {
  char *audit;
  gboolean json;
} Options;

static void
options_clear (Options *self)
{
  g_free (self->audit);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
print_json (GPtrArray *denials)
{
  g_autoptr (GString) out = g_string_new ("[");

  for (guint i = 0; i < denials->len; i++)
    {
      const GloveAuditEvent *event = g_ptr_array_index (denials, i);
      g_autofree char *tool = glove_text_escape (event->tool, -1);

      g_string_append (out, i > 0 ? ",\n{\"what\":" : "\n{\"what\":");
      glove_json_append_string (out, tool);
      g_string_append (out, ",\"plane\":");
      glove_json_append_string (out, event->plane);
      g_string_append (out, ",\"detail\":");
      glove_json_append_string (out, event->error);
      g_string_append (out, ",\"rule\":");
      glove_json_append_string (out, event->rule);
      g_string_append (out, ",\"allow\":");
      glove_json_append_string (out, event->allow);
      g_string_append_printf (out, ",\"timestamp_ns\":%" G_GINT64_FORMAT "}", event->timestamp_ns);
    }
  g_print ("%s\n]\n", out->str);
}

static void
row_free (gpointer row)
{
  g_strfreev (row);
}

enum { PLANE, WHAT, WHY, RULE, ALLOWED_BY, TIMES, N_COLUMNS };

static char **
new_row (const GloveAuditEvent *event)
{
  char **row = g_new0 (char *, N_COLUMNS + 1);

  row[PLANE] = glove_text_escape (event->plane, -1);
  row[WHAT] = glove_text_escape (glove_cli_output_subject (event), -1);
  row[WHY] = glove_text_escape (event->error, -1);
  row[RULE] = glove_text_escape (event->rule, -1);
  row[ALLOWED_BY] = glove_text_escape (event->allow, -1);
  return row;
}

/* Denials that are the same but for the time are one row: a program that is refused tries again. */
static GPtrArray *
make_rows (GPtrArray *denials)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func (row_free);
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < denials->len; i++)
    {
      char **row = new_row (g_ptr_array_index (denials, i));
      g_autofree char *key = g_strjoinv ("\n", row);
      guint at = GPOINTER_TO_UINT (g_hash_table_lookup (known, key));
      guint one = 1;

      if (at > 0)
        {
          g_array_index (times, guint, at - 1)++;
          row_free (row);
          continue;
        }
      g_ptr_array_add (rows, row);
      g_array_append_val (times, one);
      g_hash_table_insert (known, g_steal_pointer (&key), GUINT_TO_POINTER (rows->len));
    }
  for (guint i = 0; i < rows->len; i++)
    ((char **) g_ptr_array_index (rows, i))[TIMES] = g_strdup_printf ("%u", g_array_index (times, guint, i));
  return rows;
}

static void
print_table (GPtrArray *denials)
{
  const char *const header[N_COLUMNS] = { _("PLANE"), _("WHAT"), _("WHY"), _("RULE"), _("ALLOWED BY"), _("TIMES") };
  g_autoptr (GPtrArray) rows = make_rows (denials);

  glove_cli_output_table (stdout, N_COLUMNS, header, rows);
}

/* Why nothing was denied, when the reader may wonder. */
static void
print_nothing (GPtrArray *events)
{
  g_print (_("nothing was denied\n"));
  for (guint i = 0; i < events->len; i++)
    {
      const GloveAuditEvent *event = g_ptr_array_index (events, i);

      if (event->action == GLOVE_AUDIT_ACTION_AGENT_LAUNCH && event->status != GLOVE_AUDIT_STATUS_OK)
        {
          g_autofree char *reason = glove_text_escape (event->error, -1);

          g_print (_("the agent was not started: %s\n"), reason);
          return;
        }
    }
  g_print (_("What is neither granted nor allowed is not there for the agent, and leaves no denial: files without --read or\n"
             "--write, and without --allow-host and --forward the whole network.\n"));
}

static GPtrArray *
select_denials (GPtrArray *events)
{
  GPtrArray *denials = g_ptr_array_new ();

  for (guint i = 0; i < events->len; i++)
    if (glove_audit_event_is_denial (g_ptr_array_index (events, i)))
      g_ptr_array_add (denials, g_ptr_array_index (events, i));
  return denials;
}

static gboolean
explain (const char *file, gboolean json, GError **error)
{
  GloveAuditReaderState state;
  g_autofree char *fault = NULL;
  g_autoptr (GPtrArray) events = NULL;
  g_autoptr (GPtrArray) denials = NULL;
  glove_autofd int fd = glove_fd_openat2 (AT_FDCWD, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, 0, error);

  if (fd < 0)
    return FALSE;
  events = glove_audit_reader_read (fd, &state, &fault, error);
  if (events == NULL)
    return FALSE;
  denials = select_denials (events);
  if (json)
    print_json (denials);
  else if (denials->len == 0 && state != GLOVE_AUDIT_READER_TAMPERED)
    print_nothing (events);
  else if (denials->len > 0)
    print_table (denials);
  if (state == GLOVE_AUDIT_READER_TAMPERED)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "the audit file is not intact: %s", fault);
      glove_error_set_hint (error, "don't rely on what stands behind that line");
      return FALSE;
    }
  if (state == GLOVE_AUDIT_READER_TORN)
    g_printerr (_("glove: the last line of the audit file is incomplete, as after a power failure\n"));
  return TRUE;
}

int
glove_cli_why (int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "audit", 0, 0, G_OPTION_ARG_FILENAME, &options.audit, N_("Audit file to read, instead of the last run's"), N_("FILE") },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, N_("Print JSON"), NULL },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *file = NULL;

  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return glove_cli_output_usage ("why", "%s", error->message);
  if (argc > 1)
    return glove_cli_output_usage ("why", _("unexpected argument '%s'"), argv[1]);
  file = options.audit != NULL ? g_strdup (options.audit) : glove_audit_runs_find_last (NULL, &error);
  if (file == NULL || !explain (file, options.json, &error))
    {
      glove_cli_output_error (error);
      return GLOVE_CLI_STATUS_FAILED;
    }
  return 0;
}
