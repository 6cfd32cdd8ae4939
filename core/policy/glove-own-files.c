/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-own-files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "glove-error.h"
#include "glove-fd.h"
#include "glove-grant.h"
#include "glove-path-pin.h"

typedef struct {
  const GPtrArray *grants;
  GHashTable *walked; /* of utf8: folders that were walked up from */
  GArray *folders;    /* of GloveFileIdentity: what no grant may lie in */
} Check;

static void
check_clear (Check *self)
{
  g_hash_table_unref (self->walked);
  g_array_unref (self->folders);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Check, check_clear)

static gboolean
refuse (const GloveGrant *grant, const char *path, GError **error)
{
  g_autofree char *granted = glove_path_pin_quote (grant->host_path);
  g_autofree char *own = glove_path_pin_quote (path);

  glove_error_set (error, GLOVE_ERROR_DENIED, "%s can't be granted for writing: Glove itself uses %s, and what an agent "
                   "wrote there would count the next time", granted, own);
  glove_error_set_hint (error, "grant a narrower folder, or use a Glove that is installed outside of what is granted");
  return FALSE;
}

static gboolean
is_for_writing (const GloveGrant *grant)
{
  return grant->access == GLOVE_GRANT_WRITE && grant->origin != GLOVE_GRANT_ORIGIN_PROTECTION;
}

static const GloveGrant *
find_grant (const GPtrArray *grants, const GloveFileIdentity *identity)
{
  for (guint i = 0; i < grants->len; i++)
    {
      const GloveGrant *grant = grants->pdata[i];

      if (is_for_writing (grant) && glove_file_identity_same_object (&grant->identity, identity))
        return grant;
    }
  return NULL;
}

typedef struct {
  const Check *check;
  const GloveGrant *grant; /* found */
  gboolean inside;         /* found: lies in one of our folders */
} Search;

static gboolean
visit_above_own (const GloveFileIdentity *identity, int fd, gpointer user_data)
{
  Search *search = user_data;

  search->grant = find_grant (search->check->grants, identity);
  return search->grant == NULL;
}

static gboolean
visit_above_grant (const GloveFileIdentity *identity, int fd, gpointer user_data)
{
  Search *search = user_data;

  for (guint i = 0; !search->inside && i < search->check->folders->len; i++)
    search->inside = glove_file_identity_same_object (&g_array_index (search->check->folders, GloveFileIdentity, i), identity);
  return !search->inside;
}

/* The folder, or the nearest above it that exists: in that, what is missing could be made. */
static int
open_nearest (const char *folder)
{
  g_autofree char *path = g_strdup (folder);

  for (;;)
    {
      glove_autofd int fd = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
      char *above = NULL;

      if (fd >= 0 || strcmp (path, "/") == 0 || strcmp (path, ".") == 0)
        return g_steal_fd (&fd);
      above = g_path_get_dirname (path);
      g_free (path);
      path = above;
    }
}

static gboolean
check_way (Check *self, const char *folder, const char *path, GError **error)
{
  glove_autofd int fd = -1;
  Search search = { self, NULL, FALSE };
  gboolean complete = FALSE;

  if (!g_hash_table_add (self->walked, g_strdup (folder)))
    return TRUE;
  fd = open_nearest (folder);
  if (fd < 0 || glove_path_pin_walk_up (fd, visit_above_own, &search, &complete))
    return TRUE;
  return refuse (search.grant, path, error);
}

static gboolean
check_file (Check *self, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  glove_autofd int fd = open (path, O_PATH | O_CLOEXEC);
  GloveFileIdentity identity;
  const GloveGrant *grant = NULL;

  if (fd >= 0 && glove_path_pin_identify (fd, &identity, NULL))
    grant = find_grant (self->grants, &identity);
  return grant != NULL ? refuse (grant, path, error) : check_way (self, folder, path, error);
}

static gboolean
check_folder (Check *self, const char *path, GError **error)
{
  glove_autofd int fd = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  GloveFileIdentity identity;

  if (fd >= 0 && glove_path_pin_identify (fd, &identity, NULL))
    g_array_append_val (self->folders, identity);
  return check_way (self, path, path, error);
}

static gboolean
check_grant (const Check *self, const GloveGrant *grant, GError **error)
{
  g_autofree char *folder
      = glove_grant_is_directory (grant) ? g_strdup (grant->host_path) : g_path_get_dirname (grant->host_path);
  glove_autofd int fd = open (folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  Search search = { self, NULL, FALSE };
  gboolean complete = FALSE;

  if (fd < 0 || glove_path_pin_walk_up (fd, visit_above_grant, &search, &complete))
    return TRUE;
  return refuse (grant, folder, error);
}

/**
 * glove_own_files_check:
 *
 * By identity, so that another path to the same place counts too. What lies behind a link is looked at where it leads.
 *
 * Returns: FALSE with %GLOVE_ERROR_DENIED, which names the grant and what of ours lies there
 *
 * Since: 1.0
 */
gboolean
glove_own_files_check (const GPtrArray *grants, const char *const *folders, const char *const *files, GError **error)
{
  g_auto (Check) self = { grants, g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                          g_array_new (FALSE, FALSE, sizeof (GloveFileIdentity)) };

  for (gsize i = 0; folders[i] != NULL; i++)
    if (!check_folder (&self, folders[i], error))
      return FALSE;
  for (gsize i = 0; files[i] != NULL; i++)
    if (!check_file (&self, files[i], error))
      return FALSE;
  for (guint i = 0; i < grants->len; i++)
    if (is_for_writing (grants->pdata[i]) && !check_grant (&self, grants->pdata[i], error))
      return FALSE;
  return TRUE;
}
