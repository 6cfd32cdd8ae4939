/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-module-needs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-error.h"
#include "glove-fd.h"

#define TAGS_MAX 4096

typedef struct {
  const guint8 *data;
  gsize length;
  ElfW (Ehdr) header;
  const char *strings;
  gsize strings_length;
} Image;

static gboolean
refuse (GError **error, const char *what)
{
  glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, what);
  glove_error_set_hint (error, "install the module again, from a build for this machine");
  return FALSE;
}

static gboolean
copy_at (const Image *image, guint64 offset, void *to, gsize length)
{
  if (offset > image->length || length > image->length - offset)
    return FALSE;

  memcpy (to, image->data + offset, length);
  return TRUE;
}

static gboolean
read_segment (const Image *image, guint number, ElfW (Phdr) *segment)
{
  return image->header.e_phentsize == sizeof *segment && number < image->header.e_phnum
         && image->header.e_phoff <= image->length
         && copy_at (image, image->header.e_phoff + (guint64) number * sizeof *segment, segment, sizeof *segment);
}

/* The tables of the dynamic linker are named by address. */
static gboolean
find_address (const Image *image, guint64 address, guint64 length, guint64 *ret_offset)
{
  ElfW (Phdr) segment;

  for (guint i = 0; read_segment (image, i, &segment); i++)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr <= segment.p_filesz
        && length <= segment.p_filesz - (address - segment.p_vaddr))
      {
        *ret_offset = segment.p_offset + (address - segment.p_vaddr);
        return *ret_offset <= image->length && length <= image->length - *ret_offset;
      }
  return FALSE;
}

static gboolean
find_strings (Image *image, const ElfW (Phdr) *dynamic)
{
  guint64 address = 0, length = 0, offset = 0;
  ElfW (Dyn) tag = { 0 };

  for (guint i = 0; i < TAGS_MAX && copy_at (image, dynamic->p_offset + (guint64) i * sizeof tag, &tag, sizeof tag); i++)
    {
      if (tag.d_tag == DT_NULL)
        break;
      if (tag.d_tag == DT_STRTAB)
        address = tag.d_un.d_ptr;
      else if (tag.d_tag == DT_STRSZ)
        length = tag.d_un.d_val;
    }
  if (length == 0 || !find_address (image, address, length, &offset))
    return FALSE;
  image->strings = (const char *) image->data + offset;
  image->strings_length = length;
  return image->strings[length - 1] == '\0';
}

/* --- what is looked for, and where --- */

static gboolean
refuse_place (const char *kind, const char *place, const char *why, GError **error)
{
  g_autofree char *shown = g_strescape (place, NULL);

  glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s '%.256s', %s", kind, shown, why);
  glove_error_set_hint (error, "build it without that path (no -rpath, libraries by name), or take it out with patchelf");
  return FALSE;
}

/* Every folder on the way is root's or ours, and nobody else makes one in it, or one that is missing. */
static gboolean
check_folder (const char *kind, const char *place, const char *folder, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (folder, "/", -1);
  glove_autofd int fd = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  gboolean others_may_add = FALSE;

  for (gsize i = 0; fd >= 0; i++)
    {
      int next = -1;
      struct stat st;

      if (fstat (fd, &st) < 0)
        break;
      if ((st.st_uid != 0 && st.st_uid != geteuid ()) || ((st.st_mode & 0022) != 0 && (st.st_mode & S_ISVTX) == 0))
        return refuse_place (kind, place, "where somebody else can put a library", error);
      others_may_add = (st.st_mode & 0022) != 0;
      while (parts[i] != NULL && parts[i][0] == '\0')
        i++;
      if (parts[i] == NULL)
        return !others_may_add || refuse_place (kind, place, "where somebody else can put a library", error);
      next = openat (fd, parts[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (next < 0 && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
        break;
      if (next < 0)
        return !others_may_add || refuse_place (kind, place, "which somebody else can make", error);
      glove_fd_clear (&fd);
      fd = next;
    }
  return refuse_place (kind, place, "which can't be looked at", error);
}

/* $ORIGIN of the sealed copy that is loaded is a folder of descriptors, which holds no library: such a path finds nothing. The other
 * substitutions are part of a name: what is in front of them is looked at. */
static gboolean
check_place (const char *kind, const char *place, const char *folder, GError **error)
{
  g_autofree char *fixed = NULL;
  char *dollar = NULL;

  if (g_str_has_prefix (folder, "$ORIGIN") || g_str_has_prefix (folder, "${ORIGIN}"))
    return TRUE;
  if (folder[0] != '/')
    return refuse_place (kind, place, "which depends on the current folder", error);
  fixed = g_strdup (folder);
  dollar = strchr (fixed, '$');
  if (dollar != NULL)
    {
      *dollar = '\0';
      *(strrchr (fixed, '/') + 1) = '\0';
    }
  return check_folder (kind, place, fixed, error);
}

static gboolean
check_search_path (const char *path, GError **error)
{
  g_auto (GStrv) folders = g_strsplit (path, ":", -1);

  for (gsize i = 0; folders[i] != NULL; i++)
    if (!check_place ("looks for libraries in", folders[i], folders[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
check_library (const char *name, GError **error)
{
  g_autofree char *folder = NULL;

  if (strchr (name, '/') == NULL)
    return TRUE;
  folder = g_path_get_dirname (name);
  return check_place ("needs the library", name, folder, error);
}

static gboolean
check_tag (const Image *image, const ElfW (Dyn) *tag, GError **error)
{
  const char *text = NULL;

  switch (tag->d_tag)
    {
    case DT_NEEDED:
    case DT_AUXILIARY:
    case DT_FILTER:
    case DT_RPATH:
    case DT_RUNPATH:
      break;
    default:
      return TRUE;
    }
  if (tag->d_un.d_val >= image->strings_length)
    return refuse (error, "names a library outside of its string table");
  text = image->strings + tag->d_un.d_val;
  return tag->d_tag == DT_RPATH || tag->d_tag == DT_RUNPATH ? check_search_path (text, error) : check_library (text, error);
}

static gboolean
check_dynamic (Image *image, const ElfW (Phdr) *dynamic, GError **error)
{
  ElfW (Dyn) tag = { 0 };

  if (dynamic->p_offset > image->length || !find_strings (image, dynamic))
    return refuse (error, "has an unusable dynamic section");
  for (guint i = 0; i < TAGS_MAX; i++)
    {
      if (!copy_at (image, dynamic->p_offset + (guint64) i * sizeof tag, &tag, sizeof tag))
        return refuse (error, "is cut short inside its dynamic section");
      if (tag.d_tag == DT_NULL)
        return TRUE;
      if (!check_tag (image, &tag, error))
        return FALSE;
    }
  return refuse (error, "has a dynamic section that does not end");
}

/*
 * glove_module_needs_check:
 * @data: a whole module file, as glove_module_note_read() takes it
 * @length: its length
 *
 * The module's own bytes are judged before they run, but the libraries that it names are code too: a search path that depends on the
 * current folder (an agent's workspace, often), or that somebody else can write, would be a way past all of it. Any thread.
 *
 * Errors are %GLOVE_ERROR_UNTRUSTED, or %GLOVE_ERROR_INVALID_DATA; the caller puts the file's name in front.
 * Source: gabi chapter 5, ld.so(8).
 */
gboolean
glove_module_needs_check (const guint8 *data, gsize length, GError **error)
{
  Image image = { .data = data, .length = length };
  ElfW (Phdr) segment;

  if (!copy_at (&image, 0, &image.header, sizeof image.header))
    return refuse (error, "is cut short inside its ELF header");
  for (guint i = 0; read_segment (&image, i, &segment); i++)
    if (segment.p_type == PT_DYNAMIC && !check_dynamic (&image, &segment, error))
      return FALSE;
  return TRUE;
}
