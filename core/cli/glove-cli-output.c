/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdio.h>

#include "glove-cli-output.h"

#include <glib/gi18n.h>
#include <string.h>
#include <unistd.h>

#include "glove-cli-verbs.h"
#include "glove-error.h"
#include "glove-text.h"

gboolean
glove_cli_output_has_colour (int fd)
{
  const char *no_colour = g_getenv ("NO_COLOR");

  return isatty (fd) && (no_colour == NULL || *no_colour == '\0') && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
}

/* A message may quote a file's name or an argument as it is: what could move the cursor or hide text isn't shown as such. Backslashes are
 * left: most are of names that were escaped already. */
static char *
make_safe (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "\\", -1);

  for (gsize i = 0; parts[i] != NULL; i++)
    {
      char *safe = glove_text_escape (parts[i], -1);

      g_free (parts[i]);
      parts[i] = safe;
    }
  return g_strjoinv ("\\", parts);
}

void
glove_cli_output_error (const GError *error)
{
  gboolean colour = glove_cli_output_has_colour (STDERR_FILENO);
  const char *code = error->domain == GLOVE_ERROR ? glove_error_get_name ((GloveError) error->code) : "failed";
  const char *hint = error->domain == GLOVE_ERROR ? glove_error_get_hint (error) : NULL;
  g_autofree char *message = make_safe (error->message);
  g_autofree char *repair = make_safe (hint != NULL ? hint : "");

  g_printerr ("%serror[%s]:%s %s\n", colour ? "\033[1;31m" : "", code, colour ? "\033[0m" : "", message);
  if (*repair != '\0')
    g_printerr (_("Try: %s\n"), repair);
}

int
glove_cli_output_usage (const char *verb, const char *format, ...)
{
  g_autofree char *text = NULL;
  g_autofree char *safe = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  safe = make_safe (text);
  g_printerr ("error[usage]: %s\n", safe);
  if (verb != NULL)
    g_printerr (_("Try: glove %s --help\n"), verb);
  else
    g_printerr (_("Try: glove --help\n"));
  return GLOVE_CLI_STATUS_USAGE;
}

static glong
cell_width (const char *cell)
{
  return g_utf8_validate (cell, -1, NULL) ? g_utf8_strlen (cell, -1) : (glong) strlen (cell);
}

static void
print_row (FILE *out, guint columns, const glong *widths, const char *const *cells)
{
  for (guint column = 0; column < columns; column++)
    {
      (void) fputs (cells[column], out);
      if (column + 1 < columns)
        (void) fprintf (out, "%*s", (int) (widths[column] - cell_width (cells[column]) + 2), "");
    }
  (void) fputc ('\n', out);
}

void
glove_cli_output_table (FILE *out, guint columns, const char *const *header, GPtrArray *rows)
{
  g_autofree glong *widths = g_new0 (glong, columns);

  for (guint column = 0; column < columns; column++)
    {
      if (header != NULL)
        widths[column] = cell_width (header[column]);
      for (guint row = 0; row < rows->len; row++)
        {
          const char *const *cells = g_ptr_array_index (rows, row);

          widths[column] = MAX (widths[column], cell_width (cells[column]));
        }
    }
  if (header != NULL)
    print_row (out, columns, widths, header);
  for (guint row = 0; row < rows->len; row++)
    print_row (out, columns, widths, g_ptr_array_index (rows, row));
}

const char *
glove_cli_output_subject (const GloveAuditEvent *event)
{
  const char *policy;

  if (event->action != GLOVE_AUDIT_ACTION_EGRESS || event->session == NULL || *event->session == '\0'
      || !g_str_has_prefix (event->tool, event->session) || event->tool[strlen (event->session)] != ':')
    return event->tool;
  policy = event->tool + strlen (event->session) + 1;
  return strchr (policy, ':') != NULL ? strchr (policy, ':') + 1 : event->tool;
}
