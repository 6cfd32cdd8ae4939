/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "glove-error.h"
#include "glove-module-note.h"

typedef struct {
  guint8 *data;
  gsize length;
} Module;

static void
module_init (Module *module)
{
  g_autoptr (GError) error = NULL;
  char *data;

  g_file_get_contents (NOTE_MODULE, &data, &module->length, &error);
  g_assert_no_error (error);
  module->data = (guint8 *) data;
}

static void
module_clear (Module *module)
{
  g_free (module->data);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Module, module_clear)

static ElfW (Ehdr) *
get_header (const Module *module)
{
  return (ElfW (Ehdr) *) (gpointer) module->data;
}

static ElfW (Shdr) *
get_section (const Module *module, guint type)
{
  ElfW (Shdr) *sections = (ElfW (Shdr) *) (gpointer) (module->data + get_header (module)->e_shoff);

  for (guint i = 0; i < get_header (module)->e_shnum; i++)
    if (sections[i].sh_type == type)
      return &sections[i];

  g_assert_not_reached ();
}

/* Our note among the notes of the file. */
static guint8 *
find_note (const Module *module)
{
  guint8 *owner = memmem (module->data, module->length, "Glove\0\0", 8);

  g_assert_nonnull (owner);
  return owner - 12;
}

static void
assert_refused (const Module *module, GloveError code, const char *message)
{
  g_autoptr (GError) error = NULL;
  GloveModuleNote note;

  g_assert_false (glove_module_note_read (module->data, module->length, &note, &error));
  g_assert_error (error, GLOVE_ERROR, (int) code);
  if (strstr (error->message, message) == NULL)
    g_error ("'%s' does not contain '%s'", error->message, message);
  g_assert_nonnull (glove_error_get_hint (error));
}

static void
test_good (void)
{
  g_auto (Module) module = { 0 };
  g_autoptr (GError) error = NULL;
  GloveModuleNote note;

  module_init (&module);
  g_assert_true (glove_module_note_read (module.data, module.length, &note, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (note.abi, ==, GLOVE_PLUGIN_ABI);
  g_assert_cmpstr (note.name, ==, "unit-note");
}

/* Cut at every byte of the file, headers and tables included: each is refused, and nothing past the end is read (a block of exactly
 * that size under the address sanitizer). */
static void
test_cut (void)
{
  g_auto (Module) module = { 0 };
  const gsize step = g_test_thorough () ? 1 : 7;
  const ElfW (Ehdr) *header;

  module_init (&module);
  header = get_header (&module);
  for (gsize length = 0; length < module.length;
       length += length < 2048 || length >= header->e_shoff - 64 ? 1 : step)
    {
      g_autofree guint8 *copy = g_memdup2 (module.data, length);
      g_autoptr (GError) error = NULL;
      GloveModuleNote note;

      g_assert_false (glove_module_note_read (copy, length, &note, &error));
      g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_INVALID_DATA);
    }
}

/* At each boundary, one byte to either side, with the very message. */
static void
test_boundaries (void)
{
  g_auto (Module) module = { 0 };
  const ElfW (Ehdr) *header;
  gsize full, segments;

  module_init (&module);
  header = get_header (&module);
  full = module.length;
  segments = header->e_phoff + (gsize) header->e_phnum * header->e_phentsize;

  module.length = SELFMAG - 1;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is not an ELF file");
  module.length = EI_NIDENT - 1;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is not an ELF file");
  module.length = EI_NIDENT;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is cut short inside its ELF header");
  module.length = sizeof *header - 1;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is cut short inside its ELF header");
  module.length = sizeof *header;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is cut short inside its program header table");
  module.length = segments - 1;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is cut short inside");
  module.length = segments;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is cut short inside a segment");
  module.length = header->e_shoff;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is cut short before the end of its section header table");
  module.length = full - 1;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is cut short before the end of its section header table");
}

/* Every byte of the headers, tables and notes, changed in several ways: no answer is wrong in memory, whatever it is. */
static void
test_changed (void)
{
  static const guint8 masks[] = { 0x01, 0x80, 0xff };
  g_auto (Module) module = { 0 };
  gsize table;

  module_init (&module);
  table = get_header (&module)->e_shoff;
  for (gsize at = 0; at < module.length; at = at + 1 == 4096 ? table : at + 1)
    for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
      {
        g_autoptr (GError) error = NULL;
        GloveModuleNote note;
        gboolean good;

        module.data[at] ^= masks[i];
        good = glove_module_note_read (module.data, module.length, &note, &error);
        module.data[at] ^= masks[i];
        g_assert_true (good == (error == NULL));
        if (good)
          g_assert_nonnull (memchr (note.name, '\0', sizeof note.name));
      }
}

static void
test_header_fields (void)
{
  g_auto (Module) module = { 0 };
  ElfW (Ehdr) *header;
  ElfW (Ehdr) saved;

  module_init (&module);
  header = get_header (&module);
  saved = *header;

  header->e_ident[EI_CLASS] = sizeof (ElfW (Addr)) == 8 ? ELFCLASS32 : ELFCLASS64;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, sizeof (ElfW (Addr)) == 8 ? "is not a 64-bit ELF file" : "is not a 32-bit");
  *header = saved;
  header->e_ident[EI_DATA] = G_BYTE_ORDER == G_LITTLE_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "other byte order");
  *header = saved;
  header->e_ident[EI_VERSION] = 2;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "unknown version");
  *header = saved;
  header->e_machine = EM_VAX;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is an ELF file for machine 75");
  *header = saved;
  header->e_type = ET_REL;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "no shared object");
  *header = saved;
  header->e_phnum = 0;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "no usable program header table");
  *header = saved;
  header->e_phoff = G_MAXUINT32;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "program header table");
  *header = saved;
  header->e_shnum = 0;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "no usable section header table");
  *header = saved;
  header->e_shoff = (ElfW (Off)) -1;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "section header table");
}

static void
test_note_fields (void)
{
  g_auto (Module) module = { 0 };
  GlovePluginNote *note;
  GlovePluginNote saved;

  module_init (&module);
  note = (GlovePluginNote *) (gpointer) find_note (&module);
  saved = *note;

  note->type = 2;
  assert_refused (&module, GLOVE_ERROR_UNTRUSTED, "has no plugin note");
  *note = saved;
  note->owner[0] = 'X';
  assert_refused (&module, GLOVE_ERROR_UNTRUSTED, "has no plugin note");
  *note = saved;
  note->namesz = G_MAXUINT32;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "longer than its section");
  *note = saved;
  note->descsz = G_MAXUINT32;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "longer than its section");
  *note = saved;
  note->descsz = 4; /* an ABI and no name; what is left over is no note either */
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "has a plugin note of a wrong size");
  *note = saved;
  memset (note->name, 'x', sizeof note->name);
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "has a plugin note without a name");
  *note = saved;
  note->name[0] = '\0';
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "has a plugin note without a name");
}

static void
test_symbol_fields (void)
{
  g_auto (Module) module = { 0 };
  ElfW (Shdr) *section;
  ElfW (Shdr) saved;
  ElfW (Sym) *symbols;
  ElfW (Sym) *exported = NULL;

  module_init (&module);
  section = get_section (&module, SHT_DYNSYM);
  saved = *section;
  symbols = (ElfW (Sym) *) (gpointer) (module.data + section->sh_offset);
  for (gsize i = 1; i < section->sh_size / sizeof *symbols; i++)
    if (symbols[i].st_shndx != SHN_UNDEF)
      exported = &symbols[i];
  g_assert_nonnull (exported);

  section->sh_link = G_MAXUINT16;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "symbol table without names");
  *section = saved;
  section->sh_entsize = 1;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "unusable symbol table");
  *section = saved;
  section->sh_size = G_MAXINT32;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is cut short inside a section");
  *section = saved;

  exported->st_size--;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "is no descriptor");
  exported->st_size++;
  exported->st_name = G_MAXUINT32;
  assert_refused (&module, GLOVE_ERROR_INVALID_DATA, "outside the string table");
  exported->st_name = 0; /* the empty name */
  assert_refused (&module, GLOVE_ERROR_UNTRUSTED, "exports '' besides");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/module-note/good", test_good);
  g_test_add_func ("/module-note/cut", test_cut);
  g_test_add_func ("/module-note/boundaries", test_boundaries);
  g_test_add_func ("/module-note/changed", test_changed);
  g_test_add_func ("/module-note/header-fields", test_header_fields);
  g_test_add_func ("/module-note/note-fields", test_note_fields);
  g_test_add_func ("/module-note/symbol-fields", test_symbol_fields);

  return g_test_run ();
}
