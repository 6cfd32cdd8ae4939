/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdio.h>

#include <glib/gi18n.h>

#include "glove-cli-catalog.h"
#include "glove-cli-output.h"
#include "glove-cli-verbs.h"
#include "glove-error.h"
#include "glove-json.h"
#include "glove-sandbox-backend.h"

typedef struct {
  char *backend;
  char *catalog;
  gboolean json;
} Options;

static void
options_clear (Options *self)
{
  g_free (self->backend);
  g_free (self->catalog);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
print_json (GPtrArray *results)
{
  g_autoptr (GString) out = g_string_new ("[");

  for (guint i = 0; i < results->len; i++)
    {
      const GloveProbeResult *result = g_ptr_array_index (results, i);

      g_string_append (out, i > 0 ? ",\n{\"code\":" : "\n{\"code\":");
      glove_json_append_string (out, result->code);
      g_string_append (out, ",\"status\":");
      glove_json_append_string (out, glove_probe_status_get_name (result->status));
      g_string_append (out, ",\"message\":");
      glove_json_append_string (out, result->message);
      g_string_append (out, ",\"recovery\":");
      glove_json_append_string (out, result->repair);
      g_string_append_c (out, '}');
    }
  g_print ("%s\n]\n", out->str);
}

static void
print_table (GPtrArray *results)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < results->len; i++)
    {
      const GloveProbeResult *result = g_ptr_array_index (results, i);
      const char **row = g_new0 (const char *, 4);

      row[0] = glove_probe_status_get_name (result->status);
      row[1] = result->code;
      row[2] = result->message;
      g_ptr_array_add (rows, row);
    }
  glove_cli_output_table (stdout, 3, NULL, rows);
  for (guint i = 0; i < results->len; i++)
    {
      const GloveProbeResult *result = g_ptr_array_index (results, i);

      if (result->status != GLOVE_PROBE_OK && *result->repair != '\0')
        g_print (_("\n%s: %s\nTry: %s\n"), result->code, result->message, result->repair);
    }
}

static gboolean
nothing_is_missing (GPtrArray *results)
{
  for (guint i = 0; i < results->len; i++)
    if (((const GloveProbeResult *) g_ptr_array_index (results, i))->status == GLOVE_PROBE_MISSING)
      return FALSE;
  return TRUE;
}

int
glove_cli_doctor (int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "backend", 0, 0, G_OPTION_ARG_STRING, &options.backend, N_("Sandbox backend"), N_("ID") },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, N_("Print JSON"), NULL },
    { "catalog", 0, 0, G_OPTION_ARG_FILENAME, &options.catalog, N_("Folder of catalog entries and modules, instead of the installed ones"), N_("DIR") },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GloveCatalog) catalog = NULL;
  g_autoptr (GObject) backend = NULL;
  g_autoptr (GPtrArray) results = NULL;
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return glove_cli_output_usage ("doctor", "%s", error->message);
  if (argc > 1)
    return glove_cli_output_usage ("doctor", _("unexpected argument '%s'"), argv[1]);
  catalog = glove_cli_catalog_new (options.catalog);
  backend = glove_catalog_create (catalog, "backend", options.backend != NULL ? options.backend : GLOVE_DEFAULT_BACKEND,
                                  GLOVE_TYPE_SANDBOX_BACKEND, &error);
  if (backend != NULL)
    results = glove_sandbox_backend_probe (GLOVE_SANDBOX_BACKEND (backend), NULL, &error);
  if (results == NULL)
    {
      glove_cli_output_error (error);
      return GLOVE_CLI_STATUS_FAILED;
    }
  if (options.json)
    print_json (results);
  else
    print_table (results);
  return nothing_is_missing (results) ? 0 : GLOVE_CLI_STATUS_FAILED;
}
