/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-module-note.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "glove-error.h"

/* Sections of a shared object are a few dozen; a table past this is not one of ours. */
#define SECTIONS_MAX 4096
#define SYMBOLS_MAX 65536
/* The address size decides the width of every table, so these are named once. */
#define NATIVE_CLASS (sizeof (ElfW (Addr)) == 8 ? ELFCLASS64 : ELFCLASS32)
#define NATIVE_BITS ((int) sizeof (ElfW (Addr)) * 8)
#define NATIVE_DATA (G_BYTE_ORDER == G_LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)

/* The header of the object this code is part of, as the linker provides it: the machine to compare with needs no table. */
extern const ElfW (Ehdr) __ehdr_start __attribute__ ((visibility ("hidden")));

typedef struct {
  const guint8 *data;
  gsize length;
} Image;

static gboolean
refuse (GError **error, const char *what)
{
  glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, what);
  glove_error_set_hint (error, "install the module again, from a build for this machine");
  return FALSE;
}

/* @length bytes at @offset, copied out (nothing in the file is aligned for sure), or NULL past the end. */
static gboolean
copy_at (const Image *image, guint64 offset, void *to, gsize length)
{
  if (offset > image->length || length > image->length - offset)
    return FALSE;

  memcpy (to, image->data + offset, length);
  return TRUE;
}

static gboolean
is_inside (const Image *image, guint64 offset, guint64 length)
{
  return offset <= image->length && length <= image->length - offset;
}

static gboolean
read_header (const Image *image, ElfW (Ehdr) *header, GError **error)
{
  guint8 ident[EI_NIDENT];

  if (!copy_at (image, 0, ident, sizeof ident) || memcmp (ident, ELFMAG, SELFMAG) != 0)
    return refuse (error, "is not an ELF file");
  if (ident[EI_CLASS] != NATIVE_CLASS)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "is not a %d-bit ELF file", NATIVE_BITS);
      glove_error_set_hint (error, "install the module again, from a build for this machine");
      return FALSE;
    }
  if (ident[EI_DATA] != NATIVE_DATA)
    return refuse (error, "is an ELF file of the other byte order");
  if (ident[EI_VERSION] != EV_CURRENT)
    return refuse (error, "is an ELF file of an unknown version");
  if (!copy_at (image, 0, header, sizeof *header))
    return refuse (error, "is cut short inside its ELF header");
  if (header->e_machine != __ehdr_start.e_machine)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "is an ELF file for machine %u; this one is %u",
                       header->e_machine, __ehdr_start.e_machine);
      glove_error_set_hint (error, "install the module again, from a build for this machine");
      return FALSE;
    }
  if (header->e_type != ET_DYN)
    return refuse (error, "is an ELF file, but no shared object");

  return TRUE;
}

/* What the dynamic loader will map has to be there; it would answer a missing page with SIGBUS. */
static gboolean
check_segments (const Image *image, const ElfW (Ehdr) *header, GError **error)
{
  gboolean has_load = FALSE;

  if (header->e_phentsize != sizeof (ElfW (Phdr)) || header->e_phnum == 0 || header->e_phnum == PN_XNUM)
    return refuse (error, "has no usable program header table");

  for (guint i = 0; i < header->e_phnum; i++)
    {
      ElfW (Phdr) segment;

      if (!is_inside (image, header->e_phoff, (guint64) (i + 1) * sizeof segment)
          || !copy_at (image, header->e_phoff + (guint64) i * sizeof segment, &segment, sizeof segment))
        return refuse (error, "is cut short inside its program header table");
      if (segment.p_type == PT_LOAD && !is_inside (image, segment.p_offset, segment.p_filesz))
        return refuse (error, "is cut short inside a segment");
      if (segment.p_type == PT_LOAD && segment.p_filesz > segment.p_memsz)
        return refuse (error, "has a segment that is larger in the file than in memory");
      has_load |= segment.p_type == PT_LOAD;
    }

  if (!has_load)
    return refuse (error, "has no segment to load");

  return TRUE;
}

/* The notes of one section; sets *@found when ours is among them. gabi, "Note Section". */
static gboolean
read_notes (const Image *image, const ElfW (Shdr) *section, GloveModuleNote *note, gboolean *found, GError **error)
{
  guint64 align = section->sh_addralign == 8 ? 8 : 4;
  guint64 offset = 0;

  while (offset < section->sh_size)
    {
      ElfW (Nhdr) head;
      guint64 at = section->sh_offset + offset;
      guint64 rest = section->sh_size - offset;
      guint64 desc, end;

      if (rest < sizeof head || !copy_at (image, at, &head, sizeof head))
        return refuse (error, "has a note that is cut short");
      desc = (sizeof head + (guint64) head.n_namesz + align - 1) / align * align;
      end = (desc + (guint64) head.n_descsz + align - 1) / align * align;
      if (desc > rest || head.n_descsz > rest - desc)
        return refuse (error, "has a note that is longer than its section");

      if (head.n_type == GLOVE_PLUGIN_NOTE_TYPE && head.n_namesz == sizeof GLOVE_PLUGIN_NOTE_OWNER
          && memcmp (image->data + at + sizeof head, GLOVE_PLUGIN_NOTE_OWNER, sizeof GLOVE_PLUGIN_NOTE_OWNER) == 0)
        {
          gsize name_length;

          if (*found)
            return refuse (error, "has two plugin notes");
          if (head.n_descsz <= sizeof note->abi || head.n_descsz > sizeof note->abi + sizeof note->name)
            return refuse (error, "has a plugin note of a wrong size");
          name_length = head.n_descsz - sizeof note->abi;
          memset (note, 0, sizeof *note);
          memcpy (&note->abi, image->data + at + desc, sizeof note->abi);
          memcpy (note->name, image->data + at + desc + sizeof note->abi, name_length);
          if (note->name[0] == '\0' || memchr (note->name, '\0', name_length) == NULL)
            return refuse (error, "has a plugin note without a name");
          *found = TRUE;
        }
      offset += MIN (end, rest);
    }

  return TRUE;
}

static gboolean
judge_symbol (const Image *image, const ElfW (Sym) *symbol, const ElfW (Shdr) *strings, gboolean *found,
              GError **error)
{
  const guint8 binding = ELF64_ST_BIND (symbol->st_info); /* the same in both classes */
  const guint8 visibility = ELF64_ST_VISIBILITY (symbol->st_other);
  const char *name;

  if (symbol->st_shndx == SHN_UNDEF || binding == STB_LOCAL || visibility == STV_HIDDEN
      || visibility == STV_INTERNAL)
    return TRUE;

  if (symbol->st_name >= strings->sh_size)
    return refuse (error, "has a symbol whose name is outside the string table");
  name = (const char *) image->data + strings->sh_offset + symbol->st_name;
  if (memchr (name, '\0', strings->sh_size - symbol->st_name) == NULL)
    return refuse (error, "has a symbol whose name does not end");

  if (strcmp (name, GLOVE_PLUGIN_SYMBOL) != 0)
    {
      g_autofree char *shown = g_strescape (name, NULL);

      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "exports '%.128s' besides '" GLOVE_PLUGIN_SYMBOL "'", shown);
      glove_error_set_hint (error, "link it with a version script that keeps every other symbol local");
      return FALSE;
    }
  if (*found)
    return refuse (error, "exports '" GLOVE_PLUGIN_SYMBOL "' twice");
  if (ELF64_ST_TYPE (symbol->st_info) != STT_OBJECT || symbol->st_size < sizeof (GlovePluginDescriptor))
    return refuse (error, "exports a '" GLOVE_PLUGIN_SYMBOL "' that is no descriptor");

  *found = TRUE;
  return TRUE;
}

static gboolean
read_section (const Image *image, const ElfW (Ehdr) *header, guint number, ElfW (Shdr) *section)
{
  return number < header->e_shnum
         && copy_at (image, header->e_shoff + (guint64) number * sizeof *section, section, sizeof *section)
         && (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL
             || is_inside (image, section->sh_offset, section->sh_size));
}

static gboolean
judge_symbols (const Image *image, const ElfW (Ehdr) *header, const ElfW (Shdr) *section, gboolean *found,
               GError **error)
{
  ElfW (Shdr) strings;
  const guint64 n_symbols = section->sh_size / sizeof (ElfW (Sym));

  if (section->sh_entsize != sizeof (ElfW (Sym)) || n_symbols > SYMBOLS_MAX)
    return refuse (error, "has an unusable symbol table");
  if (!read_section (image, header, section->sh_link, &strings) || strings.sh_type != SHT_STRTAB)
    return refuse (error, "has a symbol table without names");

  for (guint64 i = 1; i < n_symbols; i++)
    {
      ElfW (Sym) symbol;

      memcpy (&symbol, image->data + section->sh_offset + i * sizeof symbol, sizeof symbol);
      if (!judge_symbol (image, &symbol, &strings, found, error))
        return FALSE;
    }

  return TRUE;
}

/*
 * glove_module_note_read:
 * @data: a whole module file
 * @length: its length
 * @ret_note: (out caller-allocates): written on success only
 *
 * Judges the file as a module of this machine: an ELF shared object of the native class, byte order and machine, complete to the
 * end of its tables, with exactly one plugin note, and exactly one exported symbol, the descriptor. Every offset and count in the
 * bytes is checked before it is used. Any thread.
 *
 * Errors are %GLOVE_ERROR_INVALID_DATA, or %GLOVE_ERROR_UNTRUSTED for a symbol too many; the caller puts the file's name in front.
 * Source: gabi chapters 4 and 5, architecture §3 "Catalog".
 */
gboolean
glove_module_note_read (const guint8 *data, gsize length, GloveModuleNote *ret_note, GError **error)
{
  const Image image = { data, length };
  ElfW (Ehdr) header;
  GloveModuleNote note = { 0 };
  gboolean note_found = FALSE, symbol_found = FALSE;

  if (!read_header (&image, &header, error) || !check_segments (&image, &header, error))
    return FALSE;

  if (header.e_shentsize != sizeof (ElfW (Shdr)) || header.e_shnum == 0 || header.e_shnum > SECTIONS_MAX)
    return refuse (error, "has no usable section header table");
  if (!is_inside (&image, header.e_shoff, (guint64) header.e_shnum * sizeof (ElfW (Shdr))))
    return refuse (error, "is cut short before the end of its section header table");

  for (guint i = 0; i < header.e_shnum; i++)
    {
      ElfW (Shdr) section;

      if (!read_section (&image, &header, i, &section))
        return refuse (error, "is cut short inside a section");
      if (section.sh_type == SHT_NOTE && !read_notes (&image, &section, &note, &note_found, error))
        return FALSE;
      if (section.sh_type == SHT_DYNSYM && !judge_symbols (&image, &header, &section, &symbol_found, error))
        return FALSE;
    }

  if (!note_found)
    {
      glove_error_set_literal (error, GLOVE_ERROR_UNTRUSTED, "has no plugin note");
      glove_error_set_hint (error, "a plugin is defined with GLOVE_DEFINE_PLUGIN, which writes the note");
      return FALSE;
    }
  if (!symbol_found)
    {
      glove_error_set_literal (error, GLOVE_ERROR_UNTRUSTED, "does not export '" GLOVE_PLUGIN_SYMBOL "'");
      glove_error_set_hint (error, "a plugin is defined with GLOVE_DEFINE_PLUGIN, and its version script exports the symbol");
      return FALSE;
    }

  *ret_note = note;
  return TRUE;
}
