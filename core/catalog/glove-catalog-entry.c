/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-catalog-entry.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-identifier.h"
#include "glove-plugin-descriptor.h"

/* GLib's key file parser takes the last of two equal keys and merges groups of one name; here both are mistakes that somebody
 * has to hear of, so the dozen lines of grammar are our own. */

typedef enum {
  GROUP_NONE,
  GROUP_MODULE,
  GROUP_SETTINGS,
} Group;

typedef struct {
  GloveCatalogEntry *entry; /* borrowed */
  Group group;
  guint line;
  guint seen; /* bit per key of module_keys */
} Parser;

typedef gboolean (*TakeValue) (Parser *parser, const char *value, GError **error);

static gboolean G_GNUC_PRINTF (3, 4)
refuse (const Parser *parser, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "%s:%u: %s", parser->entry->file, parser->line, what);
  glove_error_set_hint (error, "correct %s", parser->entry->file);
  return FALSE;
}

static gboolean
take_library (Parser *parser, const char *value, GError **error)
{
  if (*value == '\0' || strlen (value) > 255 || strchr (value, '/') != NULL || strcmp (value, ".") == 0
      || strcmp (value, "..") == 0)
    return refuse (parser, error, "Library= must be a plain file name in the module directory, not '%s'", value);

  parser->entry->library = g_strdup (value);
  return TRUE;
}

static gboolean
take_abi (Parser *parser, const char *value, GError **error)
{
  guint64 abi;

  if (!g_ascii_isdigit (*value) || !g_ascii_string_to_unsigned (value, 10, 1, G_MAXUINT32, &abi, NULL))
    return refuse (parser, error, "Abi= must be a number from 1, not '%s'", value);

  parser->entry->abi = (guint) abi;
  return TRUE;
}

/* An id as contracts §2.2 has them: no colon, which parts it from its kind, and no name of a directory. */
static gboolean
is_plain_id (const char *text)
{
  return glove_identifier_is_id128 (text) && strchr (text, ':') == NULL && strcmp (text, ".") != 0
         && strcmp (text, "..") != 0;
}

static gboolean
is_provision (const char *text)
{
  static const struct {
    const char *prefix;
    gboolean (*is_id) (const char *text);
  } kinds[] = {
    { "runtime:", glove_identifier_is_runtime },
    { "schema:", is_plain_id },
    { "backend:", is_plain_id },
    { "sink:", is_plain_id },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_prefix (text, kinds[i].prefix))
      return kinds[i].is_id (text + strlen (kinds[i].prefix));

  return FALSE;
}

static gboolean
take_provides (Parser *parser, const char *value, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_auto (GStrv) parts = NULL;
  guint n = 0;

  parts = g_strsplit (value, ";", GLOVE_CATALOG_PROVIDES_MAX + 2);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      const char *part = g_strstrip (parts[i]);

      if (*part == '\0' && parts[i + 1] == NULL)
        break; /* a closing semicolon */
      if (++n > GLOVE_CATALOG_PROVIDES_MAX)
        return refuse (parser, error, "Provides= names more than %d things", GLOVE_CATALOG_PROVIDES_MAX);
      if (!is_provision (part))
        return refuse (parser, error, "Provides= takes runtime:ID, schema:ID, backend:ID and sink:ID, not '%s'", part);
      if (!g_hash_table_add (seen, (gpointer) part))
        return refuse (parser, error, "Provides= names '%s' twice", part);
      g_strv_builder_add (builder, part);
    }

  if (n == 0)
    return refuse (parser, error, "Provides= is empty");

  parser->entry->provides = g_strv_builder_end (builder);
  return TRUE;
}

static gboolean
take_sha256 (Parser *parser, const char *value, GError **error)
{
  if (!glove_identifier_is_hex64 (value))
    return refuse (parser, error, "Sha256= must be 64 lower case hex digits, not '%s'", value);

  parser->entry->sha256 = g_strdup (value);
  return TRUE;
}

static gboolean
take_enabled (Parser *parser, const char *value, GError **error)
{
  if (strcmp (value, "true") != 0 && strcmp (value, "false") != 0)
    return refuse (parser, error, "Enabled= must be true or false, not '%s'", value);

  parser->entry->enabled = strcmp (value, "true") == 0;
  return TRUE;
}

static const struct {
  const char *name;
  TakeValue take;
  gboolean required;
} module_keys[] = {
  { "Library", take_library, TRUE }, { "Abi", take_abi, TRUE },           { "Provides", take_provides, TRUE },
  { "Sha256", take_sha256, FALSE },  { "Enabled", take_enabled, FALSE },
};

static gboolean
take_module_key (Parser *parser, const char *key, const char *value, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (module_keys); i++)
    {
      if (strcmp (key, module_keys[i].name) != 0)
        continue;
      if ((parser->seen & (1U << i)) != 0)
        return refuse (parser, error, "%s= stands there twice", key);
      parser->seen |= 1U << i;
      return module_keys[i].take (parser, value, error);
    }

  return refuse (parser, error, "unknown key '%s'; [Module] takes Library, Abi, Provides, Sha256 and Enabled", key);
}

static gboolean
take_setting (Parser *parser, const char *key, const char *value, GError **error)
{
  GHashTable *settings = parser->entry->settings;

  if (g_hash_table_contains (settings, key))
    return refuse (parser, error, "setting '%s' stands there twice", key);
  if (g_hash_table_size (settings) >= GLOVE_CATALOG_SETTINGS_MAX)
    return refuse (parser, error, "more than %d settings", GLOVE_CATALOG_SETTINGS_MAX);

  g_hash_table_insert (settings, g_strdup (key), g_strdup (value));
  return TRUE;
}

static gboolean
is_key (const char *key)
{
  if (!g_ascii_isalpha (*key))
    return FALSE;

  for (; *key != '\0'; key++)
    if (!g_ascii_isalnum (*key) && *key != '-' && *key != '_' && *key != '.')
      return FALSE;

  return TRUE;
}

static gboolean
take_group (Parser *parser, char *line, GError **error)
{
  gsize length = strlen (line);
  const char *name;

  if (line[length - 1] != ']')
    return refuse (parser, error, "a group's line must end with ']'");
  line[length - 1] = '\0';

  if (strcmp (line, "[Settings") == 0)
    {
      if (parser->entry->settings != NULL)
        return refuse (parser, error, "a second [Settings]");
      if (parser->group == GROUP_NONE)
        return refuse (parser, error, "[Settings] stands before [Module NAME]");
      parser->entry->settings = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      parser->group = GROUP_SETTINGS;
      return TRUE;
    }

  if (!g_str_has_prefix (line, "[Module "))
    return refuse (parser, error, "unknown group '%s]'; there are [Module NAME] and [Settings]", line);
  name = line + strlen ("[Module ");
  if (parser->entry->name != NULL)
    return refuse (parser, error, "a second [Module NAME]; a file describes one module");
  if (strlen (name) >= GLOVE_PLUGIN_NOTE_NAME_MAX || !glove_identifier_is_runtime (name))
    return refuse (parser, error, "a module's name is lower case letters, digits and '-', at most %d bytes; not '%s'",
                   GLOVE_PLUGIN_NOTE_NAME_MAX - 1, name);

  parser->entry->name = g_strdup (name);
  parser->group = GROUP_MODULE;
  return TRUE;
}

static gboolean
take_line (Parser *parser, char *line, GError **error)
{
  char *equals;

  for (const char *p = line; *p != '\0'; p++)
    if (g_ascii_iscntrl (*p) && *p != '\t')
      return refuse (parser, error, "a control character (0x%02x)", (guint8) *p);

  line = g_strstrip (line);
  if (*line == '\0' || *line == '#')
    return TRUE;
  if (*line == '[')
    return take_group (parser, line, error);

  equals = strchr (line, '=');
  if (equals == NULL)
    return refuse (parser, error, "neither a [Group], a KEY=VALUE nor a # comment");
  *equals = '\0';
  line = g_strchomp (line);
  if (!is_key (line))
    return refuse (parser, error, "'%s' is no key", line);
  if (parser->group == GROUP_NONE)
    return refuse (parser, error, "key '%s' stands before [Module NAME]", line);

  return parser->group == GROUP_MODULE ? take_module_key (parser, line, g_strchug (equals + 1), error)
                                       : take_setting (parser, line, g_strchug (equals + 1), error);
}

static gboolean
check_complete (Parser *parser, GError **error)
{
  const GloveCatalogEntry *entry = parser->entry;

  if (entry->name == NULL)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "%s: no [Module NAME]", entry->file);
      glove_error_set_hint (error, "correct or remove %s", entry->file);
      return FALSE;
    }
  if (!entry->enabled)
    return TRUE; /* a mask needs no more than its name */

  for (guint i = 0; i < G_N_ELEMENTS (module_keys); i++)
    if (module_keys[i].required && (parser->seen & (1U << i)) == 0)
      {
        glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "%s: [Module %s] lacks %s=", entry->file, entry->name,
                         module_keys[i].name);
        glove_error_set_hint (error, "correct or remove %s", entry->file);
        return FALSE;
      }

  return TRUE;
}

/*
 * glove_catalog_entry_parse:
 * @file: the file's path, for messages
 * @data: its bytes
 * @length: how many
 * @from_administrator: whether it lies in the administrator's directory
 *
 * Parses one catalog file (architecture §3): UTF-8 lines; `#` comments on lines of their own; exactly one `[Module NAME]` with
 * Library=, Abi= and Provides= (separated by semicolons), and perhaps Sha256= and Enabled=; then perhaps `[Settings]`, whose values are
 * taken as they stand, without blanks at either end. With `Enabled=false` the name is enough. Any thread.
 *
 * Returns: (transfer full): the entry, or %NULL with %GLOVE_ERROR_INVALID_DATA or %GLOVE_ERROR_LIMIT that names @file and line
 */
GloveCatalogEntry *
glove_catalog_entry_parse (const char *file, const char *data, gsize length, gboolean from_administrator,
                           GError **error)
{
  g_autoptr (GloveCatalogEntry) self = NULL;
  g_autofree char *text = NULL;
  Parser parser = { 0 };
  char *next;

  if (length > GLOVE_CATALOG_FILE_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "%s: more than %d bytes", file, GLOVE_CATALOG_FILE_MAX);
      glove_error_set_hint (error, "a catalog file describes one module; correct or remove %s", file);
      return NULL;
    }

  self = g_new0 (GloveCatalogEntry, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->file = g_strdup (file);
  self->enabled = TRUE;
  self->from_administrator = from_administrator;
  parser.entry = self;

  if (!g_utf8_validate_len (data, length, NULL)) /* which refuses NUL too */
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "%s: not UTF-8 text", file);
      glove_error_set_hint (error, "correct or remove %s", file);
      return NULL;
    }

  text = g_strndup (data, length);
  for (char *line = text; line != NULL; line = next)
    {
      next = strchr (line, '\n');
      if (next != NULL)
        *next++ = '\0';
      parser.line++;
      if (!take_line (&parser, line, error))
        return NULL;
    }

  if (!check_complete (&parser, error))
    return NULL;

  return g_steal_pointer (&self);
}

GloveCatalogEntry *
glove_catalog_entry_ref (GloveCatalogEntry *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
glove_catalog_entry_unref (GloveCatalogEntry *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_free (self->file);
  g_free (self->name);
  g_free (self->library);
  g_strfreev (self->provides);
  g_free (self->sha256);
  g_clear_pointer (&self->settings, g_hash_table_unref);
  g_free (self);
}
