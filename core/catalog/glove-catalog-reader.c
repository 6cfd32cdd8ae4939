/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-catalog-reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-module-image.h"

static void
close_directory (DIR **directory)
{
  if (*directory != NULL)
    (void) closedir (*directory);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Sorted, so that what is found does not depend on the file system. */
static GPtrArray *
list_files (int dirfd, const char *path, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  __attribute__ ((cleanup (close_directory))) DIR *directory = NULL;
  glove_autofd int copy = fcntl (dirfd, F_DUPFD_CLOEXEC, 3);
  struct dirent *item;

  directory = copy >= 0 ? fdopendir (copy) : NULL;
  if (directory == NULL)
    {
      glove_error_set_errno (error, errno, "%s: can't be listed", path);
      return NULL;
    }
  (void) g_steal_fd (&copy);

  for (errno = 0; (item = readdir (directory)) != NULL; errno = 0)
    {
      if (item->d_name[0] == '.' || !g_str_has_suffix (item->d_name, ".conf"))
        continue;
      if (names->len >= GLOVE_CATALOG_FILES_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "%s: more than %d catalog files", path, GLOVE_CATALOG_FILES_MAX);
          glove_error_set_hint (error, "remove the files that nobody needs");
          return NULL;
        }
      g_ptr_array_add (names, g_strdup (item->d_name));
    }

  if (errno != 0)
    {
      glove_error_set_errno (error, errno, "%s: can't be listed", path);
      return NULL;
    }

  g_ptr_array_sort (names, compare_names);
  return g_steal_pointer (&names);
}

static GloveCatalogEntry *
read_file (int dirfd, const char *directory, const char *name, gboolean from_administrator, GError **error)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  g_autoptr (GBytes) bytes = NULL;
  glove_autofd int fd = openat (dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  const char *data;
  gsize length;

  if (fd < 0 && errno == ELOOP)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: is a symbolic link, not a regular file", path);
      glove_error_set_hint (error, "put the file itself there; to mask a module, say Enabled=false in it");
      return NULL;
    }
  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "%s: can't be opened", path);
      return NULL;
    }
  if (!glove_module_image_check_trust (fd, path, S_IFREG, error))
    return NULL;

  bytes = glove_fd_read_all (fd, GLOVE_CATALOG_FILE_MAX, error);
  if (bytes == NULL)
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }

  data = g_bytes_get_data (bytes, &length);
  return glove_catalog_entry_parse (path, data != NULL ? data : "", length, from_administrator, error);
}

/* @taken: names of files that the administrator's directory replaces; a bad one replaces the package's too. */
static gboolean
read_directory (GloveCatalogReader *self, const char *path, gboolean from_administrator, gboolean must_exist,
                GHashTable *taken, GError **error)
{
  g_autoptr (GPtrArray) names = NULL;
  glove_autofd int dirfd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (dirfd < 0 && errno == ENOENT && !must_exist)
    return TRUE;
  if (dirfd < 0)
    {
      glove_error_set_errno (error, errno, "catalog %s: can't be opened", path);
      return FALSE;
    }
  if (!glove_module_image_check_trust (dirfd, path, S_IFDIR, error))
    return FALSE;

  names = list_files (dirfd, path, error);
  if (names == NULL)
    return FALSE;

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autoptr (GError) problem = NULL;
      GloveCatalogEntry *entry;

      if (!g_hash_table_add (taken, g_strdup (name)))
        continue;
      entry = read_file (dirfd, path, name, from_administrator, &problem);
      if (entry != NULL)
        g_ptr_array_add (self->entries, entry);
      else
        g_ptr_array_add (self->problems, g_steal_pointer (&problem));
    }

  return TRUE;
}

static void
index_entry (GloveCatalogReader *self, GloveCatalogEntry *entry)
{
  for (guint i = 0; entry->enabled && entry->provides[i] != NULL; i++)
    {
      const char *id = entry->provides[i];
      const GloveCatalogEntry *other = g_hash_table_lookup (self->provisions, id);
      GError *conflict = NULL;

      if (other == NULL)
        {
          g_hash_table_insert (self->provisions, (gpointer) id, entry);
          continue;
        }
      glove_error_set (&conflict, GLOVE_ERROR_CONFLICT, "%s is provided by two files: %s and %s", id, other->file,
                       entry->file);
      glove_error_set_hint (&conflict, "remove one of them, or mask it: a file of the same name in the administrator's "
                                       "catalog that says Enabled=false");
      g_ptr_array_add (self->problems, conflict);
      g_hash_table_replace (self->conflicts, (gpointer) id, conflict);
    }
}

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  const GloveCatalogEntry *first = *(GloveCatalogEntry *const *) a;
  const GloveCatalogEntry *second = *(GloveCatalogEntry *const *) b;
  int order = strcmp (first->name, second->name);

  return order != 0 ? order : strcmp (first->file, second->file);
}

static void
free_entry (gpointer entry)
{
  glove_catalog_entry_unref (entry);
}

static void
free_problem (gpointer problem)
{
  g_error_free (problem);
}

/*
 * glove_catalog_reader_new:
 * @package_directory: of packages
 * @administrator_directory: (nullable): whose files replace the package's files of the same name
 * @must_exist: whether a missing @package_directory is an error; otherwise it is an empty one
 *
 * Reads every `*.conf`. What is wrong with one file is a problem in the result, not an error. Any thread.
 *
 * Returns: (transfer full): the catalog's content, or %NULL when a directory can't be read or could have been written by somebody else
 */
GloveCatalogReader *
glove_catalog_reader_new (const char *package_directory, const char *administrator_directory, gboolean must_exist,
                          GError **error)
{
  g_autoptr (GloveCatalogReader) self = g_new0 (GloveCatalogReader, 1);
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  self->entries = g_ptr_array_new_with_free_func (free_entry);
  self->problems = g_ptr_array_new_with_free_func (free_problem);
  self->provisions = g_hash_table_new (g_str_hash, g_str_equal);
  self->conflicts = g_hash_table_new (g_str_hash, g_str_equal);

  if (administrator_directory != NULL
      && !read_directory (self, administrator_directory, TRUE, FALSE, taken, error))
    return NULL;
  if (!read_directory (self, package_directory, FALSE, must_exist, taken, error))
    return NULL;

  g_ptr_array_sort (self->entries, compare_entries);
  for (guint i = 0; i < self->entries->len; i++)
    index_entry (self, g_ptr_array_index (self->entries, i));

  return g_steal_pointer (&self);
}

void
glove_catalog_reader_free (GloveCatalogReader *self)
{
  g_hash_table_unref (self->conflicts);
  g_hash_table_unref (self->provisions);
  g_ptr_array_unref (self->problems);
  g_ptr_array_unref (self->entries);
  g_free (self);
}
