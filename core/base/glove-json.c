/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-json.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-text.h"

/* Where in the document we are: a member of an object, or an element of an array. */
typedef struct {
  const char *key; /* NULL in an array */
  guint index;
} Step;

typedef struct {
  const char *start;
  const char *end;
  const char *at;
  guint depth; /* of open objects and arrays */
  guint values;
  Step steps[GLOVE_JSON_DEPTH_MAX];
} Parser;

static JsonNode *parse_value (Parser *self, GError **error);

static char *
dup_pointer (const Parser *self)
{
  g_autoptr (GString) pointer = g_string_new (NULL);

  for (guint i = 0; i < self->depth; i++)
    {
      const char *key = self->steps[i].key;

      g_string_append_c (pointer, '/');
      if (key == NULL)
        {
          g_string_append_printf (pointer, "%u", self->steps[i].index);
          continue;
        }
      for (; *key != '\0'; key++)
        {
          if (*key == '~')
            g_string_append (pointer, "~0");
          else if (*key == '/')
            g_string_append (pointer, "~1");
          else
            g_string_append_c (pointer, *key);
        }
    }
  return glove_text_escape (pointer->str, (gssize) pointer->len);
}

static void
set_fault (const Parser *self, const char *at, const char *what, GError **error)
{
  g_autofree char *pointer = dup_pointer (self);

  glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "json: %s at byte %" G_GSIZE_FORMAT ", pointer “%s”", what,
                   (gsize) (at - self->start), pointer);
}

static void
skip_space (Parser *self)
{
  while (self->at < self->end
         && (*self->at == ' ' || *self->at == '\t' || *self->at == '\n' || *self->at == '\r'))
    self->at++;
}

/* '\0' at the end; a NUL in the text is a fault wherever it stands, so the two need no telling apart. */
static char
peek (const Parser *self)
{
  return self->at < self->end ? *self->at : '\0';
}

static gboolean
parse_hex4 (Parser *self, guint32 *ret_unit)
{
  guint32 unit = 0;

  if (self->end - self->at < 4)
    return FALSE;
  for (int i = 0; i < 4; i++)
    {
      int digit = g_ascii_xdigit_value (self->at[i]);

      if (digit < 0)
        return FALSE;
      unit = unit << 4 | (guint32) digit;
    }
  self->at += 4;
  *ret_unit = unit;
  return TRUE;
}

/* Behind "\u". */
static gboolean
parse_unicode_escape (Parser *self, GString *out, GError **error)
{
  const char *fault_at = self->at - 2;
  guint32 unit;
  guint32 low;

  if (!parse_hex4 (self, &unit))
    {
      set_fault (self, fault_at, "malformed \\u escape", error);
      return FALSE;
    }
  if (unit == 0)
    {
      set_fault (self, fault_at, "a string holds a NUL character", error);
      return FALSE;
    }
  if (unit >= 0xd800 && unit <= 0xdfff)
    {
      if (unit > 0xdbff || self->end - self->at < 6 || self->at[0] != '\\' || self->at[1] != 'u')
        {
          set_fault (self, fault_at, "unpaired surrogate", error);
          return FALSE;
        }
      self->at += 2;
      if (!parse_hex4 (self, &low) || low < 0xdc00 || low > 0xdfff)
        {
          set_fault (self, fault_at, "unpaired surrogate", error);
          return FALSE;
        }
      unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
  g_string_append_unichar (out, unit);
  return TRUE;
}

/* Behind the backslash. */
static gboolean
parse_escape (Parser *self, GString *out, GError **error)
{
  static const char letters[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  char letter = peek (self);
  const char *found = letter != '\0' ? strchr (letters, letter) : NULL;

  if (letter == 'u')
    {
      self->at++;
      return parse_unicode_escape (self, out, error);
    }
  if (found == NULL)
    {
      set_fault (self, self->at - 1, "unknown escape", error);
      return FALSE;
    }
  self->at++;
  g_string_append_c (out, meanings[found - letters]);
  return TRUE;
}

/* At the opening quote. The text was found to be UTF-8 before. */
static char *
parse_string (Parser *self, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  const char *opening = self->at++;

  for (;;)
    {
      const char *run = self->at;

      while (self->at < self->end && (guchar) *self->at >= 0x20 && *self->at != '"' && *self->at != '\\')
        self->at++;
      g_string_append_len (out, run, self->at - run);
      if (self->at == self->end)
        {
          set_fault (self, opening, "string without an end", error);
          return NULL;
        }
      if ((guchar) *self->at < 0x20)
        {
          set_fault (self, self->at, "control character in a string", error);
          return NULL;
        }
      if (*self->at++ == '"')
        return g_string_free (g_steal_pointer (&out), FALSE);
      if (!parse_escape (self, out, error))
        return NULL;
    }
}

static JsonNode *
parse_number (Parser *self, GError **error)
{
  const char *first = self->at;
  gboolean negative = *first == '-';
  guint64 value = 0;
  guint64 bound = negative ? (guint64) G_MAXINT64 + 1 : (guint64) G_MAXINT64;
  const char *digits;
  JsonNode *node;

  if (negative)
    self->at++;
  digits = self->at;
  for (; g_ascii_isdigit (peek (self)); self->at++)
    {
      guint64 digit = (guint64) (*self->at - '0');

      if (value > (bound - digit) / 10)
        {
          set_fault (self, first, "number out of range", error);
          return NULL;
        }
      value = value * 10 + digit;
    }
  if (self->at == digits || (*digits == '0' && (negative || self->at - digits > 1)))
    {
      set_fault (self, first, "malformed number", error);
      return NULL;
    }
  if (peek (self) == '.' || peek (self) == 'e' || peek (self) == 'E')
    {
      set_fault (self, first, "number is not an exact integer", error);
      return NULL;
    }
  node = json_node_new (JSON_NODE_VALUE);
  json_node_set_int (node, negative ? (gint64) (0 - value) : (gint64) value);
  return node;
}

static gboolean
enter (Parser *self, GError **error)
{
  if (self->depth == GLOVE_JSON_DEPTH_MAX)
    {
      set_fault (self, self->at, "nested too deep", error);
      return FALSE;
    }
  self->steps[self->depth++] = (Step){ NULL, 0 };
  self->at++;
  skip_space (self);
  return TRUE;
}

/* After a value in a container that ends with @closing: whether another one follows. */
static gboolean
parse_separator (Parser *self, char closing, gboolean *ret_more, GError **error)
{
  skip_space (self);
  if (peek (self) != ',' && peek (self) != closing)
    {
      set_fault (self, self->at, closing == '}' ? "expected “,” or “}”" : "expected “,” or “]”", error);
      return FALSE;
    }
  *ret_more = *self->at++ == ',';
  if (*ret_more)
    skip_space (self);
  return TRUE;
}

static gboolean
parse_member (Parser *self, JsonObject *object, GError **error)
{
  Step *step = &self->steps[self->depth - 1];
  const char *key_at = self->at;
  g_autofree char *key = NULL;
  JsonNode *value;

  step->key = NULL;
  if (peek (self) != '"')
    {
      self->depth--; /* there is no member yet: the object itself is at fault */
      set_fault (self, self->at, "expected a key", error);
      self->depth++;
      return FALSE;
    }
  key = parse_string (self, error);
  if (key == NULL)
    return FALSE;
  step->key = key;
  if (json_object_has_member (object, key))
    {
      set_fault (self, key_at, "duplicate key", error);
      return FALSE;
    }
  skip_space (self);
  if (peek (self) != ':')
    {
      set_fault (self, self->at, "expected “:”", error);
      return FALSE;
    }
  self->at++;
  skip_space (self);
  value = parse_value (self, error);
  if (value == NULL)
    return FALSE;
  json_object_set_member (object, key, value);
  step->key = NULL;
  return TRUE;
}

static JsonNode *
parse_object (Parser *self, GError **error)
{
  g_autoptr (JsonObject) object = json_object_new ();
  JsonNode *node;
  gboolean more;

  if (!enter (self, error))
    return NULL;
  more = peek (self) != '}';
  if (!more)
    self->at++;
  while (more)
    if (!parse_member (self, object, error) || !parse_separator (self, '}', &more, error))
      return NULL;
  self->depth--;
  node = json_node_new (JSON_NODE_OBJECT);
  json_node_take_object (node, g_steal_pointer (&object));
  return node;
}

static JsonNode *
parse_array (Parser *self, GError **error)
{
  g_autoptr (JsonArray) array = json_array_new ();
  JsonNode *node;
  gboolean more;

  if (!enter (self, error))
    return NULL;
  more = peek (self) != ']';
  if (!more)
    self->at++;
  while (more)
    {
      JsonNode *value = parse_value (self, error);

      if (value == NULL)
        return NULL;
      json_array_add_element (array, value);
      if (!parse_separator (self, ']', &more, error))
        return NULL;
      self->steps[self->depth - 1].index++;
    }
  self->depth--;
  node = json_node_new (JSON_NODE_ARRAY);
  json_node_take_array (node, g_steal_pointer (&array));
  return node;
}

static JsonNode *
parse_literal (Parser *self, GError **error)
{
  static const char *const words[] = { "true", "false", "null" };

  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    {
      gsize length = strlen (words[i]);
      JsonNode *node;

      if ((gsize) (self->end - self->at) < length || memcmp (self->at, words[i], length) != 0)
        continue;
      self->at += length;
      node = json_node_new (i < 2 ? JSON_NODE_VALUE : JSON_NODE_NULL);
      if (i < 2)
        json_node_set_boolean (node, i == 0);
      return node;
    }
  set_fault (self, self->at, self->at == self->end ? "unexpected end" : "expected a value", error);
  return NULL;
}

static JsonNode *
parse_value (Parser *self, GError **error)
{
  g_autofree char *text = NULL;
  JsonNode *node;

  if (self->values++ == GLOVE_JSON_VALUES_MAX)
    {
      set_fault (self, self->at, "too many values", error);
      return NULL;
    }
  switch (peek (self))
    {
    case '{':
      return parse_object (self, error);
    case '[':
      return parse_array (self, error);
    case '"':
      text = parse_string (self, error);
      if (text == NULL)
        return NULL;
      node = json_node_new (JSON_NODE_VALUE);
      json_node_set_string (node, text);
      return node;
    default:
      if (peek (self) == '-' || g_ascii_isdigit (peek (self)))
        return parse_number (self, error);
      return parse_literal (self, error);
    }
}

/**
 * glove_json_parse:
 * @data: the text; need not end with a NUL
 * @length: bytes of it
 * @error: return location
 *
 * Any thread. A string that holds U+0000 is refused: json-glib's tree can't carry it. So is "-0", which is no integer's only
 * spelling.
 *
 * Returns: (transfer full): the root, or %NULL with %GLOVE_ERROR_INVALID_DATA, or with %GLOVE_ERROR_LIMIT when @length is past
 *   GLOVE_JSON_BYTES_MAX
 */
JsonNode *
glove_json_parse (const char *data, gsize length, GError **error)
{
  Parser parser = { .start = data, .end = data + length, .at = data };
  g_autoptr (JsonNode) root = NULL;
  const char *valid_end;

  g_return_val_if_fail (data != NULL || length == 0, NULL);

  if (length > GLOVE_JSON_BYTES_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "json: text is larger than %d bytes", GLOVE_JSON_BYTES_MAX);
      return NULL;
    }
  if (length > 0 && !g_utf8_validate_len (data, length, &valid_end))
    {
      set_fault (&parser, valid_end, *valid_end == '\0' ? "NUL byte" : "invalid UTF-8", error);
      return NULL;
    }
  skip_space (&parser);
  root = parse_value (&parser, error);
  if (root == NULL)
    return NULL;
  skip_space (&parser);
  if (parser.at != parser.end)
    {
      set_fault (&parser, parser.at, "trailing bytes", error);
      return NULL;
    }
  return g_steal_pointer (&root);
}

void
glove_json_append_string (GString *out, const char *text)
{
  static const char controls[] = "\b\t\n\f\r\"\\";
  static const char letters[] = "btnfr\"\\";

  g_return_if_fail (out != NULL && text != NULL);

  g_string_append_c (out, '"');
  while (*text != '\0')
    {
      guchar byte = (guchar) *text;
      const char *short_form = strchr (controls, *text);
      gunichar c = byte < 0x80 ? byte : g_utf8_get_char_validated (text, -1);
      gsize width = byte < 0x80 ? 1 : (gsize) g_utf8_skip[byte];

      if (short_form != NULL)
        g_string_append_printf (out, "\\%c", letters[short_form - controls]);
      else if (byte < 0x20)
        g_string_append_printf (out, "\\u%04x", byte);
      else if (c == (gunichar) -1 || c == (gunichar) -2)
        {
          g_string_append (out, "\xef\xbf\xbd");
          width = 1;
        }
      else
        g_string_append_len (out, text, (gssize) width);
      text += width;
    }
  g_string_append_c (out, '"');
}
