/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "glove-audit-sink.h"
#include "glove-catalog-reader.h"
#include "glove-channel-schema.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-module-loader.h"
#include "glove-runtime-adapter.h"
#include "glove-sandbox-backend.h"

struct _GloveCatalog {
  GObject parent_instance;
  char *package_directory;
  char *administrator_directory; /* NULL: none */
  char *module_directory;
  gboolean must_exist;
  GloveCatalogReader *content; /* NULL until somebody asks */
  GHashTable *loaded;          /* GloveCatalogEntry (borrowed) → GlovePluginDescriptor */
};

G_DEFINE_FINAL_TYPE (GloveCatalog, glove_catalog, G_TYPE_OBJECT)

/* The kinds a module can provide: the interface each must have, and how an object says which one it is. */
static const char *
get_runtime_id (GObject *object)
{
  return glove_runtime_adapter_get_runtime_id (GLOVE_RUNTIME_ADAPTER (object));
}

static const char *
get_schema_id (GObject *object)
{
  return glove_channel_schema_get_schema_id (GLOVE_CHANNEL_SCHEMA (object));
}

static const char *
get_backend_id (GObject *object)
{
  return glove_sandbox_backend_get_backend_id (GLOVE_SANDBOX_BACKEND (object));
}

static const char *
get_sink_id (GObject *object)
{
  return glove_audit_sink_get_sink_id (GLOVE_AUDIT_SINK (object));
}

typedef struct {
  const char *name;
  GType (*get_interface) (void);
  const char *(*get_id) (GObject *object);
} Kind;

static const Kind kinds[] = {
  { "runtime", glove_runtime_adapter_get_type, get_runtime_id },
  { "schema", glove_channel_schema_get_type, get_schema_id },
  { "backend", glove_sandbox_backend_get_type, get_backend_id },
  { "sink", glove_audit_sink_get_type, get_sink_id },
};

static const Kind *
find_kind (const char *provision)
{
  gsize length = strcspn (provision, ":");

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strlen (kinds[i].name) == length && strncmp (kinds[i].name, provision, length) == 0)
      return &kinds[i];

  return NULL;
}

static void
glove_catalog_finalize (GObject *object)
{
  GloveCatalog *self = GLOVE_CATALOG (object);

  g_hash_table_unref (self->loaded);
  g_clear_pointer (&self->content, glove_catalog_reader_free);
  g_free (self->package_directory);
  g_free (self->administrator_directory);
  g_free (self->module_directory);

  G_OBJECT_CLASS (glove_catalog_parent_class)->finalize (object);
}

static void
glove_catalog_class_init (GloveCatalogClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_catalog_finalize;
}

static void
glove_catalog_init (GloveCatalog *self)
{
  self->loaded = g_hash_table_new (NULL, NULL);
}

/*
 * glove_catalog_new:
 * @package_directory: (nullable): %NULL: the installed one
 * @administrator_directory: (nullable): %NULL: the installed one
 * @module_directory: (nullable): %NULL: the installed one
 *
 * Nothing is opened before the first question.
 *
 * Returns: (transfer full): a catalog
 */
GloveCatalog *
glove_catalog_new (const char *package_directory, const char *administrator_directory, const char *module_directory)
{
  GloveCatalog *self = g_object_new (GLOVE_TYPE_CATALOG, NULL);

  self->package_directory = g_strdup (package_directory != NULL ? package_directory : GLOVE_DATADIR "/catalog.d");
  self->administrator_directory
      = g_strdup (administrator_directory != NULL ? administrator_directory : GLOVE_SYSCONFDIR "/catalog.d");
  self->module_directory = g_strdup (module_directory != NULL ? module_directory : GLOVE_MODULEDIR);
  return self;
}

/*
 * glove_catalog_new_for_directory:
 * @directory: holds catalog files and modules; it must exist
 *
 * Returns: (transfer full): a catalog of nothing but @directory
 */
GloveCatalog *
glove_catalog_new_for_directory (const char *directory)
{
  GloveCatalog *self = g_object_new (GLOVE_TYPE_CATALOG, NULL);

  self->package_directory = g_strdup (directory);
  self->module_directory = g_strdup (directory);
  self->must_exist = TRUE;
  return self;
}

static gboolean
ensure_content (GloveCatalog *self, GError **error)
{
  if (self->content == NULL)
    self->content = glove_catalog_reader_new (self->package_directory, self->administrator_directory,
                                              self->must_exist, error);

  return self->content != NULL;
}

/*
 * glove_catalog_list:
 * @ret_problems: (out) (optional): element type #GError, transfer full
 *
 * What the catalog files say; no module is opened. Masked entries are in the list, with `enabled` unset.
 *
 * Returns: (transfer full): element type #GloveCatalogEntry, sorted by name; or %NULL when a directory can't be read or trusted
 */
GPtrArray *
glove_catalog_list (GloveCatalog *self, GPtrArray **ret_problems, GError **error)
{
  g_autoptr (GPtrArray) entries = NULL;

  g_return_val_if_fail (GLOVE_IS_CATALOG (self), NULL);

  if (!ensure_content (self, error))
    return NULL;

  entries = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_catalog_entry_unref);
  for (guint i = 0; i < self->content->entries->len; i++)
    g_ptr_array_add (entries, glove_catalog_entry_ref (g_ptr_array_index (self->content->entries, i)));

  if (ret_problems != NULL)
    {
      *ret_problems = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free);
      for (guint i = 0; i < self->content->problems->len; i++)
        g_ptr_array_add (*ret_problems, g_error_copy (g_ptr_array_index (self->content->problems, i)));
    }

  return g_steal_pointer (&entries);
}

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/*
 * glove_catalog_list_ids:
 * @kind: "runtime", "schema", "backend" or "sink"
 *
 * Returns: (transfer full): the ids of @kind that can be asked for, sorted; %NULL with an error when a directory can't be read
 */
char **
glove_catalog_list_ids (GloveCatalog *self, const char *kind, GError **error)
{
  g_autofree char *prefix = NULL;
  GPtrArray *ids;
  GHashTableIter iter;
  gpointer id;

  g_return_val_if_fail (GLOVE_IS_CATALOG (self), NULL);
  g_return_val_if_fail (kind != NULL, NULL);

  if (!ensure_content (self, error))
    return NULL;

  ids = g_ptr_array_new ();
  prefix = g_strconcat (kind, ":", NULL);
  g_hash_table_iter_init (&iter, self->content->provisions);
  while (g_hash_table_iter_next (&iter, &id, NULL))
    if (g_str_has_prefix (id, prefix) && !g_hash_table_contains (self->content->conflicts, id))
      g_ptr_array_add (ids, g_strdup ((const char *) id + strlen (prefix)));

  g_ptr_array_sort (ids, compare_ids);
  g_ptr_array_add (ids, NULL);
  return (char **) g_ptr_array_free (ids, FALSE);
}

/* Says what else there is, and whether the file that was meant may be one of the bad or masked ones. */
static void
explain_missing (GloveCatalog *self, const char *kind, const char *provision, GError **error)
{
  g_autoptr (GString) hint = g_string_new (NULL);
  g_auto (GStrv) ids = glove_catalog_list_ids (self, kind, NULL);

  glove_error_set (error, GLOVE_ERROR_NOT_FOUND, "no plugin provides %s", provision);

  if (ids != NULL && ids[0] != NULL)
    {
      g_autofree char *joined = g_strjoinv (", ", ids);

      g_string_append_printf (hint, "there are: %s", joined);
    }
  else
    g_string_append_printf (hint, "install one, or name another folder with --catalog; no %s is in the catalog %s", kind,
                            self->package_directory);

  for (guint i = 0; i < self->content->entries->len; i++)
    {
      const GloveCatalogEntry *entry = g_ptr_array_index (self->content->entries, i);

      if (!entry->enabled)
        g_string_append_printf (hint, "; %s masks '%s'", entry->file, entry->name);
    }
  for (guint i = 0; i < self->content->problems->len; i++)
    g_string_append_printf (hint, "; refused: %s",
                            ((const GError *) g_ptr_array_index (self->content->problems, i))->message);

  glove_error_set_hint (error, "%s", hint->str);
}

static const GlovePluginDescriptor *
load_from (const char *directory, const char *library, const GloveCatalogEntry *entry, GError **error)
{
  glove_autofd int dirfd = open (directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (dirfd < 0)
    {
      glove_error_set_errno (error, errno, "module directory %s: can't be opened", directory);
      return NULL;
    }

  return glove_module_loader_load (dirfd, directory, library, entry, error);
}

static gboolean G_GNUC_PRINTF (4, 5)
break_contract (GError **error, const char *name, const char *provision, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  glove_error_set (error, GLOVE_ERROR_CONTRACT, "module '%s': %s: %s", name, provision, what);
  glove_error_set_hint (error, "this is a mistake in the module; tell its author");
  return FALSE;
}

static gboolean
check_type (GType type, const Kind *kind, const char *module, const char *provision, GError **error)
{
  if (type == G_TYPE_INVALID || !g_type_is_a (type, G_TYPE_OBJECT))
    return break_contract (error, module, provision, "its type is no object type");
  if (!g_type_is_a (type, kind->get_interface ()))
    return break_contract (error, module, provision, "%s does not implement %s", g_type_name (type),
                           g_type_name (kind->get_interface ()));
  if (G_TYPE_IS_ABSTRACT (type))
    return break_contract (error, module, provision, "%s is abstract", g_type_name (type));

  return TRUE;
}

static gboolean
takes_settings (GType type)
{
  g_autoptr (GTypeClass) klass = NULL;
  const GParamSpec *property;

  if (type == G_TYPE_INVALID || !g_type_is_a (type, G_TYPE_OBJECT))
    return FALSE;

  klass = g_type_class_ref (type);
  property = g_object_class_find_property (G_OBJECT_CLASS (klass), "settings");
  return property != NULL && g_type_is_a (property->value_type, G_TYPE_HASH_TABLE)
         && (property->flags & G_PARAM_WRITABLE) != 0
         && (property->flags & (G_PARAM_CONSTRUCT | G_PARAM_CONSTRUCT_ONLY)) != 0;
}

/* Settings that nothing in the module takes would be silently ignored. */
static gboolean
check_settings (const GlovePluginDescriptor *descriptor, const GloveCatalogEntry *entry, GError **error)
{
  if (entry == NULL || entry->settings == NULL)
    return TRUE;

  for (const GlovePluginProvision *p = descriptor->provisions; p->id != NULL; p++)
    if (takes_settings (p->get_type ()))
      return TRUE;

  glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "%s: module '%s' takes no settings", entry->file, entry->name);
  glove_error_set_hint (error, "remove [Settings] from %s", entry->file);
  return FALSE;
}

static GObject *
instantiate (const GlovePluginProvision *provision, const GlovePluginDescriptor *descriptor,
             const GloveCatalogEntry *entry, GError **error)
{
  g_autoptr (GObject) object = NULL;
  g_auto (GValue) settings = G_VALUE_INIT;
  const char *names[] = { "settings" };
  const Kind *kind = find_kind (provision->id);
  const char *id;
  gboolean has_settings;
  GType type;

  if (kind == NULL)
    {
      break_contract (error, descriptor->name, provision->id, "no such kind");
      return NULL;
    }
  type = provision->get_type ();
  if (!check_type (type, kind, descriptor->name, provision->id, error))
    return NULL;

  has_settings = entry != NULL && entry->settings != NULL && takes_settings (type);
  g_value_init (&settings, G_TYPE_HASH_TABLE);
  if (has_settings)
    g_value_set_boxed (&settings, entry->settings);
  object = g_object_new_with_properties (type, has_settings ? 1 : 0, names, &settings);

  /* What can fail (a setting that makes no sense) is said by a type that is a GInitable. */
  if (G_IS_INITABLE (object) && !g_initable_init (G_INITABLE (object), /* cancellable= */ NULL, error))
    {
      glove_error_convert (error);
      g_prefix_error (error, "module '%s': ", descriptor->name);
      return NULL;
    }

  id = kind->get_id (object);
  if (g_strcmp0 (id, provision->id + strlen (kind->name) + 1) != 0)
    {
      break_contract (error, descriptor->name, provision->id, "the object says it is '%s'", id != NULL ? id : "");
      return NULL;
    }

  return g_steal_pointer (&object);
}

static const GlovePluginDescriptor *
load_entry (GloveCatalog *self, GloveCatalogEntry *entry, GError **error)
{
  const GlovePluginDescriptor *descriptor = g_hash_table_lookup (self->loaded, entry);

  if (descriptor != NULL)
    return descriptor;

  descriptor = load_from (self->module_directory, entry->library, entry, error);
  if (descriptor == NULL || !check_settings (descriptor, entry, error))
    return NULL;

  g_hash_table_insert (self->loaded, entry, (gpointer) descriptor);
  return descriptor;
}

/*
 * glove_catalog_create:
 * @kind: "runtime", "schema", "backend" or "sink"
 * @id: which one
 * @type: the interface of @kind
 *
 * Makes a new object of what provides @kind and @id; at the first call its module is checked and loaded. With settings in the catalog
 * the object is made with its construct property "settings"; a #GInitable is initialised.
 *
 * Errors: %GLOVE_ERROR_NOT_FOUND when nothing provides it, %GLOVE_ERROR_CONFLICT when two files do, and whatever the loader
 * refuses: each names file, rule and repair.
 *
 * Returns: (transfer full): the object, or %NULL
 */
GObject *
glove_catalog_create (GloveCatalog *self, const char *kind, const char *id, GType type, GError **error)
{
  g_autofree char *provision = NULL;
  const GlovePluginDescriptor *descriptor;
  const GError *conflict;
  GloveCatalogEntry *entry;

  g_return_val_if_fail (GLOVE_IS_CATALOG (self), NULL);
  g_return_val_if_fail (kind != NULL && id != NULL, NULL);

  provision = g_strconcat (kind, ":", id, NULL);
  g_return_val_if_fail (find_kind (provision) != NULL && find_kind (provision)->get_interface () == type, NULL);

  if (!ensure_content (self, error))
    return NULL;

  conflict = g_hash_table_lookup (self->content->conflicts, provision);
  if (conflict != NULL)
    {
      g_propagate_error (error, g_error_copy (conflict));
      return NULL;
    }
  entry = g_hash_table_lookup (self->content->provisions, provision);
  if (entry == NULL)
    {
      explain_missing (self, kind, provision, error);
      return NULL;
    }

  descriptor = load_entry (self, entry, error);
  if (descriptor == NULL)
    return NULL;

  for (const GlovePluginProvision *p = descriptor->provisions; p->id != NULL; p++)
    if (strcmp (p->id, provision) == 0)
      return instantiate (p, descriptor, entry, error);

  g_assert_not_reached (); /* the loader compared Provides= with the descriptor */
}

char **
glove_catalog_dup_folders (GloveCatalog *self)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  g_return_val_if_fail (GLOVE_IS_CATALOG (self), NULL);

  g_strv_builder_add_many (builder, self->package_directory, self->module_directory, NULL);
  if (self->administrator_directory != NULL)
    g_strv_builder_add (builder, self->administrator_directory);
  return g_strv_builder_end (builder);
}

char *
glove_catalog_dup_module_path (GloveCatalog *self, const GloveCatalogEntry *entry)
{
  g_return_val_if_fail (GLOVE_IS_CATALOG (self), NULL);

  return entry->library != NULL ? g_build_filename (self->module_directory, entry->library, NULL) : NULL;
}

/*
 * glove_catalog_check_file:
 * @path: a module file, wherever it lies
 * @entry: (nullable): what a catalog says about it; %NULL: what the module says of itself is believed
 *
 * Every check of the loader, and one object of each thing that the module provides. None of the module's code runs unless all
 * checks that need none have passed.
 *
 * Returns: (transfer none) (nullable): the module's descriptor when all is well
 */
const GlovePluginDescriptor *
glove_catalog_check_file (GloveCatalog *self, const char *path, GloveCatalogEntry *entry, GError **error)
{
  g_autofree char *directory = NULL;
  g_autofree char *library = NULL;
  const GlovePluginDescriptor *descriptor;

  g_return_val_if_fail (GLOVE_IS_CATALOG (self), NULL);
  g_return_val_if_fail (path != NULL, NULL);

  directory = g_path_get_dirname (path);
  library = g_path_get_basename (path);
  descriptor = load_from (directory, library, entry, error);
  if (descriptor == NULL || !check_settings (descriptor, entry, error))
    return NULL;

  for (const GlovePluginProvision *p = descriptor->provisions; p->id != NULL; p++)
    {
      g_autoptr (GObject) object = instantiate (p, descriptor, entry, error);

      if (object == NULL)
        return NULL;
    }

  return descriptor;
}
