/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-catalog-entry.h"
#include "glove-error.h"
#include "glove-plugin-descriptor.h"

#define HEAD "[Module codex]\nLibrary=libx.so\nAbi=1\nProvides=runtime:codex\n"
#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static GloveCatalogEntry *
parse (const char *text, gssize length, GError **error)
{
  return glove_catalog_entry_parse ("/c/x.conf", text, length < 0 ? strlen (text) : (gsize) length, FALSE, error);
}

static void
test_full (void)
{
  static const char text[] = "# a comment\n\n  [Module my-agent-2]\n\tLibrary = libmy.so \nAbi=1\n"
                             "Provides= runtime:my-agent-2 ;schema:my.note.v1;backend:b_1; sink:S ;\n"
                             "Sha256=" HEX "\nEnabled=true\n[Settings]\nUrl=http://x/?a=b;c\nEmpty=\n# no\nA-b.c_d= two  words \n";
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveCatalogEntry) entry
      = glove_catalog_entry_parse ("/c/x.conf", text, strlen (text), /* from_administrator= */ TRUE, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (entry->file, ==, "/c/x.conf");
  g_assert_cmpstr (entry->name, ==, "my-agent-2");
  g_assert_cmpstr (entry->library, ==, "libmy.so");
  g_assert_cmpuint (entry->abi, ==, 1);
  g_assert_cmpuint (g_strv_length (entry->provides), ==, 4);
  g_assert_cmpstr (entry->provides[0], ==, "runtime:my-agent-2");
  g_assert_cmpstr (entry->provides[1], ==, "schema:my.note.v1");
  g_assert_cmpstr (entry->provides[2], ==, "backend:b_1");
  g_assert_cmpstr (entry->provides[3], ==, "sink:S");
  g_assert_cmpstr (entry->sha256, ==, HEX);
  g_assert_true (entry->enabled);
  g_assert_true (entry->from_administrator);
  g_assert_cmpuint (g_hash_table_size (entry->settings), ==, 3);
  g_assert_cmpstr (g_hash_table_lookup (entry->settings, "Url"), ==, "http://x/?a=b;c");
  g_assert_cmpstr (g_hash_table_lookup (entry->settings, "Empty"), ==, "");
  g_assert_cmpstr (g_hash_table_lookup (entry->settings, "A-b.c_d"), ==, "two  words");
}

static void
test_mask (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveCatalogEntry) entry = parse ("[Module codex]\nEnabled=false\n", -1, &error);

  g_assert_no_error (error);
  g_assert_false (entry->enabled);
  g_assert_null (entry->library);
  g_assert_null (entry->provides);
  g_assert_null (entry->settings);
}

static const struct {
  const char *text;
  const char *message;
} refused[] = {
  { "", "/c/x.conf: no [Module NAME]" },
  { "# nothing\n", "/c/x.conf: no [Module NAME]" },
  { "[Module codex]\n", "/c/x.conf: [Module codex] lacks Library=" },
  { "[Module codex]\nLibrary=a.so\n", "/c/x.conf: [Module codex] lacks Abi=" },
  { "[Module codex]\nLibrary=a.so\nAbi=1\n", "/c/x.conf: [Module codex] lacks Provides=" },
  { "[Module codex]\nEnabled=true\n", "/c/x.conf: [Module codex] lacks Library=" },
  { HEAD "Colour=red\n", "/c/x.conf:5: unknown key 'Colour'" },
  { HEAD "library=a.so\n", "/c/x.conf:5: unknown key 'library'" },
  { HEAD "Library[de]=a.so\n", "/c/x.conf:5: 'Library[de]' is no key" },
  { HEAD "[Other]\n", "/c/x.conf:5: unknown group '[Other]'" },
  { HEAD "[Module pi]\n", "/c/x.conf:5: a second [Module NAME]" },
  { HEAD "[Settings]\nA=1\n[Settings]\n", "/c/x.conf:7: a second [Settings]" },
  { HEAD "[Settings]\nA=1\nA=2\n", "/c/x.conf:7: setting 'A' stands there twice" },
  { HEAD "[Settings]\n1A=2\n", "/c/x.conf:6: '1A' is no key" },
  { HEAD "[Settings\n", "/c/x.conf:5: a group's line must end with ']'" },
  { "[Settings]\n" HEAD, "/c/x.conf:1: [Settings] stands before [Module NAME]" },
  { "Abi=1\n" HEAD, "/c/x.conf:1: key 'Abi' stands before [Module NAME]" },
  { HEAD "Abi=1\n", "/c/x.conf:5: Abi= stands there twice" },
  { HEAD "just words\n", "/c/x.conf:5: neither a [Group], a KEY=VALUE nor a # comment" },
  { HEAD "=1\n", "/c/x.conf:5: '' is no key" },
  { HEAD "# \x1b[31m\n", "/c/x.conf:5: a control character (0x1b)" },
  { "[Module x]\r\n", "/c/x.conf:1: a control character (0x0d)" },
  { HEAD "# \xff\n", "/c/x.conf: not UTF-8 text" },
  { "[Module Codex]\n", "/c/x.conf:1: a module's name is lower case letters" },
  { "[Module ]\n", "/c/x.conf:1: a module's name is lower case letters" },
  { "[Module a/b]\n", "/c/x.conf:1: a module's name is lower case letters" },
  { "[Module]\n", "/c/x.conf:1: unknown group '[Module]'" },
  { "[Module x]\nLibrary=\n", "/c/x.conf:2: Library= must be a plain file name" },
  { "[Module x]\nLibrary=/usr/lib/a.so\n", "/c/x.conf:2: Library= must be a plain file name" },
  { "[Module x]\nLibrary=../a.so\n", "/c/x.conf:2: Library= must be a plain file name" },
  { "[Module x]\nLibrary=..\n", "/c/x.conf:2: Library= must be a plain file name" },
  { "[Module x]\nAbi=0\n", "/c/x.conf:2: Abi= must be a number from 1, not '0'" },
  { "[Module x]\nAbi=-1\n", "/c/x.conf:2: Abi= must be a number from 1, not '-1'" },
  { "[Module x]\nAbi=+1\n", "/c/x.conf:2: Abi= must be a number from 1, not '+1'" },
  { "[Module x]\nAbi=0x1\n", "/c/x.conf:2: Abi= must be a number from 1, not '0x1'" },
  { "[Module x]\nAbi=4294967296\n", "/c/x.conf:2: Abi= must be a number from 1, not '4294967296'" },
  { "[Module x]\nAbi=\n", "/c/x.conf:2: Abi= must be a number from 1, not ''" },
  { "[Module x]\nProvides=\n", "/c/x.conf:2: Provides= is empty" },
  { "[Module x]\nProvides=;\n", "/c/x.conf:2: Provides= takes runtime:ID" },
  { "[Module x]\nProvides=runtime:a;;runtime:b\n", "/c/x.conf:2: Provides= takes runtime:ID" },
  { "[Module x]\nProvides=runtime:A\n", "/c/x.conf:2: Provides= takes runtime:ID" },
  { "[Module x]\nProvides=tool:a\n", "/c/x.conf:2: Provides= takes runtime:ID" },
  { "[Module x]\nProvides=sink:a:b\n", "/c/x.conf:2: Provides= takes runtime:ID" },
  { "[Module x]\nProvides=sink:..\n", "/c/x.conf:2: Provides= takes runtime:ID" },
  { "[Module x]\nProvides=sink:a,sink:b\n", "/c/x.conf:2: Provides= takes runtime:ID" },
  { "[Module x]\nProvides=sink:a;sink:a\n", "/c/x.conf:2: Provides= names 'sink:a' twice" },
  { "[Module x]\nSha256=abc\n", "/c/x.conf:2: Sha256= must be 64 lower case hex digits" },
  { "[Module x]\nSha256=" HEX "0\n", "/c/x.conf:2: Sha256= must be 64 lower case hex digits" },
  { "[Module x]\nEnabled=yes\n", "/c/x.conf:2: Enabled= must be true or false, not 'yes'" },
  { "[Module x]\nEnabled=FALSE\n", "/c/x.conf:2: Enabled= must be true or false, not 'FALSE'" },
};

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveCatalogEntry) entry = parse (refused[i].text, -1, &error);

      g_assert_null (entry);
      g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_INVALID_DATA);
      if (!g_str_has_prefix (error->message, refused[i].message))
        g_error ("'%s' does not begin with '%s'", error->message, refused[i].message);
      g_assert_nonnull (strstr (glove_error_get_hint (error), "/c/x.conf"));
    }
}

static void
test_nul (void)
{
  static const char text[] = HEAD "\0Colour=red\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveCatalogEntry) entry = parse (text, sizeof text - 1, &error);

  g_assert_null (entry);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_INVALID_DATA);
  g_assert_cmpstr (error->message, ==, "/c/x.conf: not UTF-8 text");
}

static char *
make_long (guint file_bytes, guint provides, guint settings, guint name_length)
{
  GString *text = g_string_new ("[Module ");

  for (guint i = 0; i < name_length; i++)
    g_string_append_c (text, 'a');
  g_string_append (text, "]\nLibrary=a.so\nAbi=1\nProvides=");
  for (guint i = 0; i < provides; i++)
    g_string_append_printf (text, "sink:s%u;", i);
  g_string_append (text, "\n[Settings]\n");
  for (guint i = 0; i < settings; i++)
    g_string_append_printf (text, "S%u=v\n", i);
  if (text->len < file_bytes)
    g_string_append_c (text, '#');
  while (text->len < file_bytes)
    g_string_append_c (text, ' ');

  return g_string_free (text, FALSE);
}

static void
test_bounds (void)
{
  static const struct {
    guint file_bytes, provides, settings, name_length;
    int code; /* -1: taken */
  } sizes[] = {
    { GLOVE_CATALOG_FILE_MAX - 1, 1, 1, 1, -1 },
    { GLOVE_CATALOG_FILE_MAX, 1, 1, 1, -1 },
    { GLOVE_CATALOG_FILE_MAX + 1, 1, 1, 1, GLOVE_ERROR_LIMIT },
    { 0, GLOVE_CATALOG_PROVIDES_MAX - 1, 1, 1, -1 },
    { 0, GLOVE_CATALOG_PROVIDES_MAX, 1, 1, -1 },
    { 0, GLOVE_CATALOG_PROVIDES_MAX + 1, 1, 1, GLOVE_ERROR_INVALID_DATA },
    { 0, 10 * GLOVE_CATALOG_PROVIDES_MAX, 1, 1, GLOVE_ERROR_INVALID_DATA },
    { 0, 1, GLOVE_CATALOG_SETTINGS_MAX - 1, 1, -1 },
    { 0, 1, GLOVE_CATALOG_SETTINGS_MAX, 1, -1 },
    { 0, 1, GLOVE_CATALOG_SETTINGS_MAX + 1, 1, GLOVE_ERROR_INVALID_DATA },
    { 0, 1, 1, GLOVE_PLUGIN_NOTE_NAME_MAX - 2, -1 },
    { 0, 1, 1, GLOVE_PLUGIN_NOTE_NAME_MAX - 1, -1 },
    { 0, 1, 1, GLOVE_PLUGIN_NOTE_NAME_MAX, GLOVE_ERROR_INVALID_DATA },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *text
          = make_long (sizes[i].file_bytes, sizes[i].provides, sizes[i].settings, sizes[i].name_length);
      g_autoptr (GError) error = NULL;
      g_autoptr (GloveCatalogEntry) entry = parse (text, -1, &error);

      if (sizes[i].code >= 0)
        g_assert_error (error, GLOVE_ERROR, sizes[i].code);
      else
        g_assert_no_error (error);
      g_assert_true ((entry != NULL) == (sizes[i].code < 0));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/catalog-entry/full", test_full);
  g_test_add_func ("/catalog-entry/mask", test_mask);
  g_test_add_func ("/catalog-entry/refused", test_refused);
  g_test_add_func ("/catalog-entry/nul", test_nul);
  g_test_add_func ("/catalog-entry/bounds", test_bounds);

  return g_test_run ();
}
