/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-text.h"

#include <string.h>

#include "glove-error.h"

/* Characters that change how the text around them looks, or that are not seen at all. */
static gboolean
is_deceptive (gunichar c)
{
  switch (g_unichar_type (c))
    {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT: /* bidirectional controls, zero-width characters, tags */
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
    case G_UNICODE_SURROGATE:
      return TRUE;
    default:
      /* fillers and the grapheme joiner: drawn as nothing */
      return c == 0x034f || c == 0x115f || c == 0x1160 || c == 0x17b4 || c == 0x17b5 || c == 0x3164 || c == 0xffa0;
    }
}

char *
glove_text_escape (const char *bytes, gssize length)
{
  g_autoptr (GString) out = NULL;
  const char *end;

  g_return_val_if_fail (bytes != NULL || length == 0, NULL);

  end = bytes + (length < 0 ? strlen (bytes) : (gsize) length);
  out = g_string_sized_new ((gsize) (end - bytes) + 1);
  while (bytes < end)
    {
      guchar byte = (guchar) *bytes;
      gunichar c = byte;

      if (byte >= 0x80)
        c = g_utf8_get_char_validated (bytes, end - bytes);
      if (byte < 0x20 || byte == 0x7f || byte == '\\' || c == (gunichar) -1 || c == (gunichar) -2)
        {
          g_string_append_printf (out, "\\x%02x", byte);
          bytes++;
          continue;
        }
      if (is_deceptive (c))
        g_string_append_printf (out, "\\u{%x}", c);
      else
        g_string_append_unichar (out, c);
      bytes += byte < 0x80 ? 1 : g_utf8_skip[byte];
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

typedef struct {
  const char *suffix;
  guint64 factor;
} Unit;

/* Digits, then one of @units, into a number of 1..2^63 - 1. */
static gboolean
parse_with_unit (const char *text, const Unit *units, gsize n_units, const char *example, guint64 *ret_value,
                 GError **error)
{
  g_autofree char *shown = glove_text_escape (text, -1);
  const char *c = text;
  guint64 value = 0;

  for (; g_ascii_isdigit (*c); c++)
    if (!g_uint64_checked_mul (&value, value, 10) || !g_uint64_checked_add (&value, value, (guint64) (*c - '0')))
      break;
  if (c == text)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is not a value like %s", shown, example);
      return FALSE;
    }
  if (g_ascii_isdigit (*c))
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is too large", shown);
      return FALSE;
    }

  for (gsize i = 0; i < n_units; i++)
    {
      if (!g_str_equal (c, units[i].suffix))
        continue;
      if (!g_uint64_checked_mul (&value, value, units[i].factor) || value > G_MAXINT64)
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is too large", shown);
          return FALSE;
        }
      if (value == 0)
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is zero", shown);
          return FALSE;
        }
      *ret_value = value;
      return TRUE;
    }
  glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is not a value like %s", shown, example);
  return FALSE;
}

gboolean
glove_text_parse_size (const char *text, guint64 *ret_bytes, GError **error)
{
  static const Unit units[] = {
    { "", 1 },
    { "K", G_GUINT64_CONSTANT (1) << 10 },
    { "M", G_GUINT64_CONSTANT (1) << 20 },
    { "G", G_GUINT64_CONSTANT (1) << 30 },
    { "T", G_GUINT64_CONSTANT (1) << 40 },
  };

  g_return_val_if_fail (text != NULL && ret_bytes != NULL, FALSE);

  return parse_with_unit (text, units, G_N_ELEMENTS (units), "4096, 64M or 1G", ret_bytes, error);
}

gboolean
glove_text_parse_duration (const char *text, guint64 *ret_ms, GError **error)
{
  static const Unit units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 }, { "h", 3600 * 1000 } };

  g_return_val_if_fail (text != NULL && ret_ms != NULL, FALSE);

  return parse_with_unit (text, units, G_N_ELEMENTS (units), "250ms, 90s, 5m or 2h", ret_ms, error);
}

/* Below 4 KiB the bytes are told, unless they are whole KiB; above, one decimal where it says something. */
char *
glove_text_format_size (guint64 bytes)
{
  static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  guint power = 0;
  guint64 unit;
  guint64 whole;
  guint64 tenths;

  if (bytes < 4096 && (bytes == 0 || bytes % 1024 != 0))
    return bytes == 1 ? g_strdup ("1 byte") : g_strdup_printf ("%" G_GUINT64_FORMAT " bytes", bytes);

  while (power + 1 < G_N_ELEMENTS (names) && bytes >> (10 * (power + 2)) != 0)
    power++;
  for (;; power++)
    {
      unit = G_GUINT64_CONSTANT (1) << (10 * (power + 1));
      whole = bytes / unit;
      tenths = (bytes % unit * 10 + unit / 2) / unit;
      if (tenths == 10)
        {
          whole++;
          tenths = 0;
        }
      if (whole < 1024 || power + 1 == G_N_ELEMENTS (names))
        break;
    }
  if (tenths == 0)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " %s", whole, names[power]);
  return g_strdup_printf ("%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT " %s", whole, tenths, names[power]);
}
