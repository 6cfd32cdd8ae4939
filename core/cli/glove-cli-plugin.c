/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdio.h>
#include <string.h>

#include <glib/gi18n.h>

#include "glove-catalog.h"
#include "glove-cli-catalog.h"
#include "glove-cli-output.h"
#include "glove-cli-verbs.h"
#include "glove-error.h"
#include "glove-json.h"
#include "glove-text.h"

typedef struct {
  char *catalog;
  gboolean json;
} Options;

static void
options_clear (Options *self)
{
  g_free (self->catalog);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
append_member (GString *out, const char *name, const char *value)
{
  g_string_append_printf (out, ",\"%s\":", name);
  if (value != NULL)
    glove_json_append_string (out, value);
  else
    g_string_append (out, "null");
}

static void
append_settings (GString *out, const GloveCatalogEntry *entry)
{
  g_autoptr (GList) names = entry->settings != NULL ? g_hash_table_get_keys (entry->settings) : NULL;

  g_string_append (out, ",\"settings\":{");
  names = g_list_sort (names, (GCompareFunc) strcmp);
  for (const GList *l = names; l != NULL; l = l->next)
    {
      glove_json_append_string (out, l->data);
      g_string_append_c (out, ':');
      glove_json_append_string (out, g_hash_table_lookup (entry->settings, l->data));
      if (l->next != NULL)
        g_string_append_c (out, ',');
    }
  g_string_append_c (out, '}');
}

/* The object's members, without the closing brace. */
static void
append_entry (GString *out, const GloveCatalogEntry *entry)
{
  g_string_append (out, "{\"module\":");
  glove_json_append_string (out, entry->name);
  g_string_append (out, ",\"provides\":[");
  for (guint i = 0; entry->provides != NULL && entry->provides[i] != NULL; i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      glove_json_append_string (out, entry->provides[i]);
    }
  g_string_append_printf (out, "],\"enabled\":%s,\"abi\":%u", entry->enabled ? "true" : "false", entry->abi);
  append_member (out, "library", entry->library);
  append_member (out, "sha256", entry->sha256);
  append_member (out, "file", entry->file);
  append_member (out, "source", entry->from_administrator ? "administrator" : "package");
}

static void
print_list_json (GPtrArray *entries)
{
  g_autoptr (GString) out = g_string_new ("[");

  for (guint i = 0; i < entries->len; i++)
    {
      g_string_append (out, i > 0 ? ",\n" : "\n");
      append_entry (out, g_ptr_array_index (entries, i));
      g_string_append_c (out, '}');
    }
  g_print ("%s\n]\n", out->str);
}

static void
free_row (gpointer data)
{
  char **row = data;

  g_free (row[1]); /* the one cell that is made for the row */
  g_free (row);
}

static void
print_list_table (GPtrArray *entries)
{
  const char *const header[] = { _("MODULE"), _("PROVIDES"), _("STATE"), _("CATALOG FILE") };
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (free_row);

  for (guint i = 0; i < entries->len; i++)
    {
      const GloveCatalogEntry *entry = g_ptr_array_index (entries, i);
      char **row = g_new0 (char *, 4);

      row[0] = entry->name;
      row[1] = entry->provides != NULL ? g_strjoinv (" ", entry->provides) : g_strdup ("-");
      row[2] = (char *) (entry->enabled ? _("enabled") : _("masked"));
      row[3] = entry->file;
      g_ptr_array_add (rows, row);
    }

  glove_cli_output_table (stdout, G_N_ELEMENTS (header), header, rows);
}

/* Says each on standard error; whether there was none. */
static gboolean
report_problems (GPtrArray *problems)
{
  for (guint i = 0; i < problems->len; i++)
    glove_cli_output_error (g_ptr_array_index (problems, i));

  return problems->len == 0;
}

static int
list_plugins (GloveCatalog *catalog, const Options *options)
{
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GError) error = NULL;

  entries = glove_catalog_list (catalog, &problems, &error);
  if (entries == NULL)
    {
      glove_cli_output_error (error);
      return GLOVE_CLI_STATUS_FAILED;
    }

  if (options->json)
    print_list_json (entries);
  else if (entries->len > 0)
    print_list_table (entries);
  else
    g_printerr (_("glove: the catalog is empty: install plugins, or name another folder with --catalog\n"));

  return report_problems (problems) ? 0 : GLOVE_CLI_STATUS_FAILED;
}

/* @id: a module's name, "kind:id", or the id alone. */
static gboolean
is_meant (const GloveCatalogEntry *entry, const char *id)
{
  if (strcmp (entry->name, id) == 0)
    return TRUE;

  for (guint i = 0; entry->provides != NULL && entry->provides[i] != NULL; i++)
    if (strcmp (entry->provides[i], id) == 0 || strcmp (strchr (entry->provides[i], ':') + 1, id) == 0)
      return TRUE;

  return FALSE;
}

static void
print_info_json (const GloveCatalogEntry *entry, const GlovePluginDescriptor *descriptor, const GError *refusal)
{
  g_autoptr (GString) out = g_string_new (NULL);

  append_entry (out, entry);
  append_settings (out, entry);
  append_member (out, "version", descriptor != NULL ? descriptor->version : NULL);
  append_member (out, "licence", descriptor != NULL ? descriptor->licence : NULL);
  append_member (out, "gettext_domain", descriptor != NULL ? descriptor->gettext_domain : NULL);
  append_member (out, "refused", refusal != NULL ? refusal->message : NULL);
  g_print ("%s}\n", out->str);
}

static void
add_pair (GPtrArray *rows, const char *name, const char *value)
{
  char **row = g_new0 (char *, 2);

  row[0] = (char *) name;
  row[1] = glove_text_escape (value, -1);
  g_ptr_array_add (rows, row);
}

static void
add_descriptor_pairs (GPtrArray *rows, const GlovePluginDescriptor *descriptor)
{
  add_pair (rows, _("Version:"), descriptor->version);
  add_pair (rows, _("Licence:"), descriptor->licence);
  if (descriptor->gettext_domain != NULL)
    add_pair (rows, _("Messages:"), descriptor->gettext_domain);
}

static void
print_info_table (const GloveCatalogEntry *entry, const GlovePluginDescriptor *descriptor)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (free_row);
  g_autofree char *provides = entry->provides != NULL ? g_strjoinv (" ", entry->provides) : NULL;
  g_autoptr (GList) names = entry->settings != NULL ? g_hash_table_get_keys (entry->settings) : NULL;

  add_pair (rows, _("Module:"), entry->name);
  if (provides != NULL)
    add_pair (rows, _("Provides:"), provides);
  add_pair (rows, _("State:"), entry->enabled ? _("enabled") : _("masked"));
  add_pair (rows, _("Catalog file:"), entry->file);
  if (entry->library != NULL)
    add_pair (rows, _("Library:"), entry->library);
  if (entry->sha256 != NULL)
    add_pair (rows, _("Pinned digest:"), entry->sha256);

  names = g_list_sort (names, (GCompareFunc) strcmp);
  for (const GList *l = names; l != NULL; l = l->next)
    {
      g_autofree char *setting
          = g_strconcat (l->data, "=", (const char *) g_hash_table_lookup (entry->settings, l->data), NULL);

      add_pair (rows, l == names ? _("Settings:") : "", setting);
    }
  if (descriptor != NULL)
    add_descriptor_pairs (rows, descriptor);

  glove_cli_output_table (stdout, 2, NULL, rows);
}

static gboolean
show_entry (GloveCatalog *catalog, GloveCatalogEntry *entry, const Options *options)
{
  g_autofree char *path = glove_catalog_dup_module_path (catalog, entry);
  const GlovePluginDescriptor *descriptor = NULL;
  g_autoptr (GError) error = NULL;

  if (entry->enabled)
    descriptor = glove_catalog_check_file (catalog, path, entry, &error);
  if (options->json)
    print_info_json (entry, descriptor, error);
  else
    print_info_table (entry, descriptor);
  if (error != NULL)
    glove_cli_output_error (error);

  return error == NULL;
}

static int
show_plugin (GloveCatalog *catalog, const char *id, const Options *options)
{
  g_autoptr (GPtrArray) problems = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GError) error = NULL;
  gboolean found = FALSE, well = TRUE;

  entries = glove_catalog_list (catalog, &problems, &error);
  for (guint i = 0; entries != NULL && i < entries->len; i++)
    {
      GloveCatalogEntry *entry = g_ptr_array_index (entries, i);

      if (!is_meant (entry, id))
        continue;
      if (found && !options->json)
        g_print ("\n");
      found = TRUE;
      well &= show_entry (catalog, entry, options);
    }
  if (found)
    return well ? 0 : GLOVE_CLI_STATUS_FAILED;

  if (entries != NULL)
    {
      /* The one that was meant may be among those that could not be read. */
      (void) report_problems (problems);
      glove_error_set (&error, GLOVE_ERROR_NOT_FOUND, _("no plugin is called '%s'"), id);
      glove_error_set_hint (&error, "glove plugin list");
    }
  glove_cli_output_error (error);
  return GLOVE_CLI_STATUS_FAILED;
}

static int
check_module (GloveCatalog *catalog, const char *file, const Options *options)
{
  const GlovePluginDescriptor *descriptor;
  g_autoptr (GString) provides = g_string_new (NULL);
  g_autoptr (GString) out = g_string_new ("{\"module\":");
  g_autoptr (GError) error = NULL;

  descriptor = glove_catalog_check_file (catalog, file, /* entry= */ NULL, &error);
  if (descriptor == NULL)
    {
      glove_cli_output_error (error);
      return GLOVE_CLI_STATUS_FAILED;
    }

  glove_json_append_string (out, descriptor->name);
  append_member (out, "version", descriptor->version);
  append_member (out, "licence", descriptor->licence);
  g_string_append (out, ",\"provides\":[");
  for (const GlovePluginProvision *p = descriptor->provisions; p->id != NULL; p++)
    {
      g_string_append_printf (provides, "%s%s", p == descriptor->provisions ? "" : " ", p->id);
      if (p != descriptor->provisions)
        g_string_append_c (out, ',');
      glove_json_append_string (out, p->id);
    }

  if (options->json)
    g_print ("%s]}\n", out->str);
  else
    g_print (_("%s: module %s, version %s, provides %s: every check passed\n"), file, descriptor->name,
             descriptor->version, provides->str);
  return 0;
}

int
glove_cli_plugin (int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, N_("Print JSON"), NULL },
    { "catalog", 0, 0, G_OPTION_ARG_FILENAME, &options.catalog,
      N_("Folder of catalog entries and modules, instead of the installed ones"), N_("DIR") },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GOptionContext) context = g_option_context_new (N_("list | info ID | check FILE"));
  g_autoptr (GloveCatalog) catalog = NULL;
  g_autoptr (GError) error = NULL;
  const char *action;

  g_option_context_set_summary (context, N_("Shows and checks the plugins in the catalog"));
  g_option_context_set_translation_domain (context, GETTEXT_PACKAGE);
  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return glove_cli_output_usage ("plugin", "%s", error->message);

  action = argc > 1 ? argv[1] : "";
  catalog = glove_cli_catalog_new (options.catalog);
  if (strcmp (action, "list") == 0 && argc == 2)
    return list_plugins (catalog, &options);
  if (strcmp (action, "info") == 0 && argc == 3)
    return show_plugin (catalog, argv[2], &options);
  if (strcmp (action, "check") == 0 && argc == 3)
    return check_module (catalog, argv[2], &options);

  if (strcmp (action, "list") == 0)
    return glove_cli_output_usage ("plugin", _("unexpected argument '%s'"), argv[2]);
  if (strcmp (action, "info") == 0)
    return glove_cli_output_usage ("plugin", _("'info' takes one plugin's ID"));
  if (strcmp (action, "check") == 0)
    return glove_cli_output_usage ("plugin", _("'check' takes one FILE"));
  if (*action == '\0')
    return glove_cli_output_usage ("plugin", _("say list, info ID or check FILE"));
  return glove_cli_output_usage ("plugin", _("unknown action '%s'; there are list, info ID and check FILE"), action);
}
