/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-runtime-home.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-identifier.h"
#include "glove-path.h"
#include "glove-text.h"

struct _GloveRuntimeHome {
  gatomicrefcount ref_count;
  GPtrArray *entries;       /* of GloveRuntimeHomeEntry, sorted by path */
  GHashTable *made_parents; /* paths of directories that nobody added: borrowed from the entries */
  gsize bytes;
  GPtrArray *environment; /* the three string lists always end with NULL */
  GPtrArray *arguments;
  GPtrArray *trailing_arguments;
};

static GloveRuntimeHome *
glove_runtime_home_ref (GloveRuntimeHome *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

G_DEFINE_BOXED_TYPE (GloveRuntimeHome, glove_runtime_home, glove_runtime_home_ref, glove_runtime_home_free)

static void
entry_free (gpointer data)
{
  GloveRuntimeHomeEntry *entry = data;

  g_free (entry->path);
  g_clear_pointer (&entry->content, g_bytes_unref);
  g_free (entry);
}

static GPtrArray *
new_list (void)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (list, NULL);
  return list;
}

static void
append (GPtrArray *list, char *string)
{
  g_ptr_array_insert (list, (gint) list->len - 1, string);
}

static const char *const *
as_strv (const GPtrArray *list)
{
  return (const char *const *) list->pdata;
}

/**
 * glove_runtime_home_new: (constructor)
 *
 * Returns: (transfer full): an empty home
 *
 * Since: 1.0
 */
GloveRuntimeHome *
glove_runtime_home_new (void)
{
  GloveRuntimeHome *self = g_new0 (GloveRuntimeHome, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->entries = g_ptr_array_new_with_free_func (entry_free);
  self->made_parents = g_hash_table_new (g_str_hash, g_str_equal);
  self->environment = new_list ();
  self->arguments = new_list ();
  self->trailing_arguments = new_list ();
  return self;
}

/**
 * glove_runtime_home_free:
 * @self: (transfer full) (nullable): a home
 *
 * Since: 1.0
 */
void
glove_runtime_home_free (GloveRuntimeHome *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_hash_table_unref (self->made_parents);
  g_ptr_array_unref (self->entries);
  g_ptr_array_unref (self->environment);
  g_ptr_array_unref (self->arguments);
  g_ptr_array_unref (self->trailing_arguments);
  g_free (self);
}

/* The entry at @path, or NULL; @ret_index is where it is, or belongs. */
static GloveRuntimeHomeEntry *
find (const GloveRuntimeHome *self, const char *path, guint *ret_index)
{
  guint low = 0;
  guint high = self->entries->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      GloveRuntimeHomeEntry *entry = g_ptr_array_index (self->entries, middle);
      int order = strcmp (entry->path, path);

      if (order == 0)
        {
          *ret_index = middle;
          return entry;
        }
      if (order < 0)
        low = middle + 1;
      else
        high = middle;
    }
  *ret_index = low;
  return NULL;
}

static gboolean
refuse (GError **error, GloveError code, const char *path, const char *why)
{
  g_autofree char *shown = glove_text_escape (path, (gssize) strnlen (path, 256));

  glove_error_set (error, code, "“%s” in the private home: %s", shown, why);
  return FALSE;
}

/* Whether the entry can be added as it is, its missing parents with it. Changes nothing. */
static gboolean
check_entry (const GloveRuntimeHome *self, const char *path, guint32 mode, gsize bytes, GError **error)
{
  g_autofree char *parent = NULL;
  guint missing = 1;
  guint at;

  if (strlen (path) > GLOVE_PATH_BYTES_MAX)
    return refuse (error, GLOVE_ERROR_INVALID_ARGUMENT, path, "the path is too long");
  if (!glove_path_is_relative_normal (path))
    return refuse (error, GLOVE_ERROR_INVALID_ARGUMENT, path, "not a relative path without “.” and “..”");
  if ((mode & ~(guint32) 0777) != 0)
    return refuse (error, GLOVE_ERROR_INVALID_ARGUMENT, path, "the mode has more than permission bits");
  if (find (self, path, &at) != NULL)
    return refuse (error, GLOVE_ERROR_INVALID_ARGUMENT, path, "it is there already");

  parent = g_strdup (path);
  for (char *slash = strrchr (parent, '/'); slash != NULL; slash = strrchr (parent, '/'))
    {
      const GloveRuntimeHomeEntry *entry;

      *slash = '\0';
      entry = find (self, parent, &at);
      if (entry != NULL && entry->content != NULL)
        return refuse (error, GLOVE_ERROR_INVALID_ARGUMENT, path, "a file stands where a directory is needed");
      if (entry != NULL)
        break;
      missing++;
    }
  if (missing > GLOVE_HOME_FILES_MAX - self->entries->len)
    return refuse (error, GLOVE_ERROR_LIMIT, path, "there would be more than " G_STRINGIFY (GLOVE_HOME_FILES_MAX) " files");
  if (bytes > GLOVE_HOME_BYTES_MAX - self->bytes)
    return refuse (error, GLOVE_ERROR_LIMIT, path, "the files would be larger than 16 MiB together");
  return TRUE;
}

static GloveRuntimeHomeEntry *
insert (GloveRuntimeHome *self, const char *path, GBytes *content, guint32 mode)
{
  GloveRuntimeHomeEntry *entry = g_new0 (GloveRuntimeHomeEntry, 1);
  guint at;

  entry->path = g_strdup (path);
  entry->content = content;
  entry->mode = mode;
  (void) find (self, path, &at);
  g_ptr_array_insert (self->entries, (gint) at, entry);
  return entry;
}

static void
make_parents (GloveRuntimeHome *self, const char *path)
{
  g_autofree char *parent = g_strdup (path);
  guint at;

  for (char *slash = strrchr (parent, '/'); slash != NULL; slash = strrchr (parent, '/'))
    {
      *slash = '\0';
      if (find (self, parent, &at) != NULL)
        return;
      (void) g_hash_table_add (self->made_parents, insert (self, parent, NULL, 0700)->path);
    }
}

/**
 * glove_runtime_home_add_directory:
 * @self: a home
 * @path: relative to the home
 * @mode: permission bits
 * @error: return location
 *
 * A directory that was made as somebody's parent can still be added, and then has @mode.
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT, or %GLOVE_ERROR_LIMIT when there would be too many entries
 *
 * Since: 1.0
 */
gboolean
glove_runtime_home_add_directory (GloveRuntimeHome *self, const char *path, guint32 mode, GError **error)
{
  guint at;

  g_return_val_if_fail (self != NULL && path != NULL, FALSE);

  if (g_hash_table_contains (self->made_parents, path) && (mode & ~(guint32) 0777) == 0)
    {
      (void) g_hash_table_remove (self->made_parents, path);
      find (self, path, &at)->mode = mode;
      return TRUE;
    }
  if (!check_entry (self, path, mode, 0, error))
    return FALSE;
  make_parents (self, path);
  (void) insert (self, path, NULL, mode);
  return TRUE;
}

/**
 * glove_runtime_home_add_file:
 * @self: a home
 * @path: relative to the home
 * @content: (array length=length) (element-type guint8): the bytes
 * @length: how many; -1: to the NUL
 * @mode: permission bits
 * @error: return location
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT, or %GLOVE_ERROR_LIMIT when there would be too many entries or bytes
 *
 * Since: 1.0
 */
gboolean
glove_runtime_home_add_file (GloveRuntimeHome *self, const char *path, const char *content, gssize length, guint32 mode,
                             GError **error)
{
  gsize bytes;

  g_return_val_if_fail (self != NULL && path != NULL, FALSE);
  g_return_val_if_fail (content != NULL || length == 0, FALSE);

  bytes = length < 0 ? strlen (content) : (gsize) length;
  if (!check_entry (self, path, mode, bytes, error))
    return FALSE;
  make_parents (self, path);
  (void) insert (self, path, g_bytes_new (content, bytes), mode);
  self->bytes += bytes;
  return TRUE;
}

/**
 * glove_runtime_home_set_environment:
 * @self: a home
 * @name: `[A-Za-z_][A-Za-z0-9_]*`
 * @value: any text
 * @error: return location
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT when the name is malformed or was set before
 *
 * Since: 1.0
 */
gboolean
glove_runtime_home_set_environment (GloveRuntimeHome *self, const char *name, const char *value, GError **error)
{
  gsize length;

  g_return_val_if_fail (self != NULL && name != NULL && value != NULL, FALSE);

  if (!glove_identifier_is_env_name (name))
    {
      g_autofree char *shown = glove_text_escape (name, (gssize) strnlen (name, GLOVE_ENV_NAME_MAX));

      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is not a name of an environment variable", shown);
      return FALSE;
    }
  length = strlen (name);
  for (guint i = 0; i + 1 < self->environment->len; i++)
    {
      const char *entry = g_ptr_array_index (self->environment, i);

      if (strncmp (entry, name, length) == 0 && entry[length] == '=')
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "environment variable %s is set twice", name);
          return FALSE;
        }
    }
  if (self->environment->len > GLOVE_ENV_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "more than %d environment variables", GLOVE_ENV_MAX);
      return FALSE;
    }
  append (self->environment, g_strdup_printf ("%s=%s", name, value));
  return TRUE;
}

/**
 * glove_runtime_home_add_argument:
 * @self: a home
 * @argument: one argument, as it is
 *
 * Since: 1.0
 */
void
glove_runtime_home_add_argument (GloveRuntimeHome *self, const char *argument)
{
  g_return_if_fail (self != NULL && argument != NULL);

  append (self->arguments, g_strdup (argument));
}

/**
 * glove_runtime_home_add_trailing_argument:
 * @self: a home
 * @argument: one argument, as it is
 *
 * Since: 1.0
 */
void
glove_runtime_home_add_trailing_argument (GloveRuntimeHome *self, const char *argument)
{
  g_return_if_fail (self != NULL && argument != NULL);

  append (self->trailing_arguments, g_strdup (argument));
}

/**
 * glove_runtime_home_get_entries: (skip)
 * @self: a home
 *
 * Returns: (transfer none) (element-type GloveRuntimeHomeEntry): the entries, sorted by the bytes of their paths
 *
 * Since: 1.0
 */
const GPtrArray *
glove_runtime_home_get_entries (const GloveRuntimeHome *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->entries;
}

/**
 * glove_runtime_home_get_environment:
 * @self: a home
 *
 * Returns: (transfer none) (array zero-terminated=1): `NAME=VALUE`, in the order set
 *
 * Since: 1.0
 */
const char *const *
glove_runtime_home_get_environment (const GloveRuntimeHome *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return as_strv (self->environment);
}

/**
 * glove_runtime_home_get_arguments:
 * @self: a home
 *
 * Returns: (transfer none) (array zero-terminated=1): the arguments in front of the operator's
 *
 * Since: 1.0
 */
const char *const *
glove_runtime_home_get_arguments (const GloveRuntimeHome *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return as_strv (self->arguments);
}

/**
 * glove_runtime_home_get_trailing_arguments:
 * @self: a home
 *
 * Returns: (transfer none) (array zero-terminated=1): the arguments behind the operator's
 *
 * Since: 1.0
 */
const char *const *
glove_runtime_home_get_trailing_arguments (const GloveRuntimeHome *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return as_strv (self->trailing_arguments);
}
