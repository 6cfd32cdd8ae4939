/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-cli-own-files.h"

#include <string.h>

#include "glove-audit-runs.h"
#include "glove-error.h"
#include "glove-grant.h"
#include "glove-own-files.h"

/* The program and its libraries: whatever is mapped executable and comes from a file (proc(5)). */
static gboolean
add_mapped (GStrvBuilder *files, GError **error)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents ("/proc/self/maps", &text, NULL, NULL))
    {
      glove_error_set_literal (error, GLOVE_ERROR_UNAVAILABLE, "what this program consists of can't be told");
      glove_error_set_hint (error, "mount /proc");
      return FALSE;
    }
  lines = g_strsplit (text, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++)
    {
      const char *mode = strchr (lines[i], ' ');
      const char *path = strchr (lines[i], '/');

      if (mode != NULL && path != NULL && strlen (mode) > 3 && mode[3] == 'x')
        g_strv_builder_add (files, path);
    }
  return TRUE;
}

/* What a setting names by its path, such as a helper program. */
static gboolean
add_settings (GStrvBuilder *files, GloveCatalog *catalog, GError **error)
{
  g_autoptr (GPtrArray) entries = glove_catalog_list (catalog, NULL, error);

  for (guint i = 0; entries != NULL && i < entries->len; i++)
    {
      const GloveCatalogEntry *entry = entries->pdata[i];
      GHashTableIter iter;
      gpointer value;

      if (entry->settings == NULL)
        continue;
      g_hash_table_iter_init (&iter, entry->settings);
      while (g_hash_table_iter_next (&iter, NULL, &value))
        if (g_path_is_absolute (value))
          g_strv_builder_add (files, value);
    }
  return entries != NULL;
}

static gboolean
may_write (const GPtrArray *grants)
{
  for (guint i = 0; i < grants->len; i++)
    if (((const GloveGrant *) grants->pdata[i])->access == GLOVE_GRANT_WRITE)
      return TRUE;
  return FALSE;
}

gboolean
glove_cli_own_files_check (GloveCatalog *catalog, const GPtrArray *grants, GError **error)
{
  g_autoptr (GStrvBuilder) folders = g_strv_builder_new ();
  g_autoptr (GStrvBuilder) files = g_strv_builder_new ();
  g_auto (GStrv) own_folders = glove_catalog_dup_folders (catalog);
  g_auto (GStrv) all_folders = NULL;
  g_auto (GStrv) all_files = NULL;
  g_autofree char *runs = glove_audit_runs_dup_folder (NULL);

  if (!may_write (grants))
    return TRUE;
  g_strv_builder_addv (folders, (const char **) own_folders);
  g_strv_builder_add_many (folders, GLOVE_LIBEXECDIR, GLOVE_LOCALEDIR, runs, NULL);
  if (!add_mapped (files, error) || !add_settings (files, catalog, error))
    return FALSE;
  all_folders = g_strv_builder_end (folders);
  all_files = g_strv_builder_end (files);
  return glove_own_files_check (grants, (const char *const *) all_folders, (const char *const *) all_files, error);
}
