/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-module-loader.h"

#include <dlfcn.h>
#include <libintl.h>
#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-module-image.h"

typedef struct {
  GloveModuleImage *image;
  const GlovePluginDescriptor *descriptor;
} Resident;

/* Every module this process has loaded. Its descriptor stays open with it: glibc recognises a loaded object by the name it was
 * loaded under, so a descriptor number that were used again would return the previous module. */
static GPtrArray *residents;

static const Resident *
find_resident (const GloveModuleImage *image)
{
  for (guint i = 0; residents != NULL && i < residents->len; i++)
    {
      const Resident *resident = g_ptr_array_index (residents, i);

      if (resident->image->length == image->length
          && memcmp (resident->image->data, image->data, image->length) == 0)
        return resident;
    }

  return NULL;
}

/* Runs the module's constructors. */
static void *
open_image (const GloveModuleImage *image, const char *path, GError **error)
{
  g_autofree char *name = g_strdup_printf ("/proc/self/fd/%d", image->fd);
  /* Resident: a module registers static types, which can't be registered twice. */
  void *handle = dlopen (name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const char *reason;

  if (handle != NULL)
    return handle;

  reason = dlerror ();
  if (reason == NULL)
    reason = "no reason given";
  if (g_str_has_prefix (reason, name))
    reason += strlen (name) + (reason[strlen (name)] == ':' ? 1 : 0);
  glove_error_set (error, GLOVE_ERROR_FAILED, "%s: can't be loaded: %s", path, reason + strspn (reason, " "));
  glove_error_set_hint (error, "install what the module needs: ldd %s", path);
  return NULL;
}

static gboolean G_GNUC_PRINTF (3, 4)
refuse (GError **error, const char *path, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  glove_error_set (error, GLOVE_ERROR_CONTRACT, "%s: its descriptor %s", path, what);
  glove_error_set_hint (error, "this is a mistake in the module; tell its author");
  return FALSE;
}

static gboolean
check_provisions (const GlovePluginDescriptor *descriptor, const GloveCatalogEntry *entry, const char *path,
                  GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = 0;

  for (const GlovePluginProvision *p = descriptor->provisions; p->id != NULL; p++)
    {
      if (++n > GLOVE_CATALOG_PROVIDES_MAX)
        return refuse (error, path, "provides more than %d things", GLOVE_CATALOG_PROVIDES_MAX);
      if (p->get_type == NULL)
        return refuse (error, path, "has no type for '%s'", p->id);
      if (!g_hash_table_add (seen, (gpointer) p->id))
        return refuse (error, path, "provides '%s' twice", p->id);
      if (entry != NULL && !g_strv_contains ((const char *const *) entry->provides, p->id))
        return refuse (error, path, "provides '%s', which Provides= in %s does not name", p->id, entry->file);
    }

  if (n == 0)
    return refuse (error, path, "provides nothing");
  for (guint i = 0; entry != NULL && entry->provides[i] != NULL; i++)
    if (!g_hash_table_contains (seen, entry->provides[i]))
      return refuse (error, path, "does not provide '%s', which Provides= in %s names", entry->provides[i],
                     entry->file);

  return TRUE;
}

static gboolean
check_descriptor (const GlovePluginDescriptor *descriptor, const GloveModuleImage *image,
                  const GloveCatalogEntry *entry, const char *path, GError **error)
{
  if (descriptor->abi != GLOVE_PLUGIN_ABI)
    return refuse (error, path, "says ABI %u, and its note %u", descriptor->abi, image->note.abi);
  if (descriptor->size < sizeof *descriptor)
    return refuse (error, path, "has %u bytes; ABI %d has at least %" G_GSIZE_FORMAT, descriptor->size,
                   GLOVE_PLUGIN_ABI, sizeof *descriptor);
  if (g_strcmp0 (descriptor->name, image->note.name) != 0)
    return refuse (error, path, "names the module '%s', and its note '%s'",
                   descriptor->name != NULL ? descriptor->name : "", image->note.name);
  if (descriptor->version == NULL || descriptor->licence == NULL || descriptor->provisions == NULL)
    return refuse (error, path, "lacks its version, licence or provisions");

  return check_provisions (descriptor, entry, path, error);
}

static void
bind_messages (const GlovePluginDescriptor *descriptor)
{
  if (descriptor->gettext_domain == NULL || *descriptor->gettext_domain == '\0')
    return;

  (void) bindtextdomain (descriptor->gettext_domain, GLOVE_LOCALEDIR);
  (void) bind_textdomain_codeset (descriptor->gettext_domain, "UTF-8");
}

/*
 * glove_module_loader_load:
 * @dirfd: the module directory
 * @directory: its path, for messages
 * @library: plain file name in it
 * @entry: (nullable): what the catalog says; %NULL: what the module says is believed
 *
 * Checks a module, loads exactly the bytes that were checked, and checks its descriptor against note and catalog. The same bytes are
 * loaded once, however often and under whatever name they are asked for. Main thread.
 *
 * Returns: (transfer none): the descriptor, valid for the process's life; or %NULL with an error that names file, rule and repair.
 *   Up to %GLOVE_ERROR_FAILED "can't be loaded" none of the module's code has run
 */
const GlovePluginDescriptor *
glove_module_loader_load (int dirfd, const char *directory, const char *library, const GloveCatalogEntry *entry,
                          GError **error)
{
  g_autoptr (GloveModuleImage) image = NULL;
  g_autofree char *path = g_build_filename (directory, library, NULL);
  const Resident *known;
  Resident *resident;
  void *handle;

  image = glove_module_image_open (dirfd, directory, library, entry, error);
  if (image == NULL)
    return NULL;

  known = find_resident (image);
  if (known == NULL)
    {
      handle = open_image (image, path, error);
      if (handle == NULL)
        return NULL;

      if (residents == NULL)
        residents = g_ptr_array_new ();
      resident = g_new0 (Resident, 1);
      resident->image = g_steal_pointer (&image);
      resident->descriptor = dlsym (handle, GLOVE_PLUGIN_SYMBOL);
      g_ptr_array_add (residents, resident);
      known = resident;
    }

  if (known->descriptor == NULL)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: does not export '" GLOVE_PLUGIN_SYMBOL "'", path);
      return NULL;
    }
  if (!check_descriptor (known->descriptor, known->image, entry, path, error))
    return NULL;

  if (image == NULL) /* loaded just now */
    bind_messages (known->descriptor);
  return known->descriptor;
}
