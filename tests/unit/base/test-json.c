/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-json.h"
#include "glove-test.h"

/* With their length, for the ones with a NUL. */
#define TEXT(literal) literal, sizeof (literal) - 1

static void
test_accepted (void)
{
  static const struct {
    const char *text;
    const char *written;
  } cases[] = {
    { "{}", "{}" },
    { " \t\r\n[ ] ", "[]" },
    { "null", "null" },
    { "[true,false,null]", "[true,false,null]" },
    { "0", "0" },
    { "-1", "-1" },
    { "9223372036854775807", "9223372036854775807" },
    { "-9223372036854775808", "-9223372036854775808" },
    { "\"\\u00e9\\ud83d\\ude00\\/\\b\"", "\"é😀/\\b\"" },
    { "{\"\":{\"a\":[1,{\"b\":2}]}}", "{\"\":{\"a\":[1,{\"b\":2}]}}" },
    { "\"\\uFFFF\"", "\"\xef\xbf\xbf\"" },
    { "\"\xf4\x8f\xbf\xbf\"", "\"\xf4\x8f\xbf\xbf\"" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (JsonNode) root = glove_json_parse (cases[i].text, strlen (cases[i].text), &error);
      g_autofree char *written = NULL;

      g_assert_no_error (error);
      written = json_to_string (root, FALSE);
      g_assert_cmpstr (written, ==, cases[i].written);
    }
}

static void
test_refused (void)
{
  static const struct {
    const char *text;
    gsize length;
    const char *message;
  } cases[] = {
    { TEXT (""), "unexpected end at byte 0, pointer “”" },
    { TEXT ("{\"a\":1,\"a\":2}"), "duplicate key at byte 7, pointer “/a”" },
    { TEXT ("{\"a\":1,\"\\u0061\":2}"), "duplicate key at byte 7, pointer “/a”" },
    { TEXT ("{} x"), "trailing bytes at byte 3" },
    { TEXT ("{}{}"), "trailing bytes at byte 2" },
    { TEXT ("{\"k\":[0,1.5]}"), "number is not an exact integer at byte 8, pointer “/k/1”" },
    { TEXT ("[1e5]"), "number is not an exact integer at byte 1, pointer “/0”" },
    { TEXT ("9223372036854775808"), "number out of range at byte 0" },
    { TEXT ("-9223372036854775809"), "number out of range at byte 0" },
    { TEXT ("18446744073709551615"), "number out of range at byte 0" },
    { TEXT ("[01]"), "malformed number at byte 1" },
    { TEXT ("-0"), "malformed number at byte 0" },
    { TEXT ("-"), "malformed number at byte 0" },
    { TEXT ("+1"), "expected a value at byte 0" },
    { TEXT (".5"), "expected a value at byte 0" },
    { TEXT ("NaN"), "expected a value at byte 0" },
    { TEXT ("[0x10]"), "expected “,” or “]” at byte 2" },
    { TEXT ("/* c */ 1"), "expected a value at byte 0" },
    { TEXT ("1 // c"), "trailing bytes at byte 2" },
    { TEXT ("{'a':1}"), "expected a key at byte 1, pointer “”" },
    { TEXT ("{a:1}"), "expected a key at byte 1" },
    { TEXT ("[1,]"), "expected a value at byte 3, pointer “/1”" },
    { TEXT ("{\"a\":1,}"), "expected a key at byte 7, pointer “”" },
    { TEXT ("{\"a\" 1}"), "expected “:” at byte 5, pointer “/a”" },
    { TEXT ("{\"a\":}"), "expected a value at byte 5, pointer “/a”" },
    { TEXT ("{\"a\":1"), "expected “,” or “}” at byte 6" },
    { TEXT ("[1"), "expected “,” or “]” at byte 2" },
    { TEXT ("[\"abc"), "string without an end at byte 1, pointer “/0”" },
    { TEXT ("\"\\x41\""), "unknown escape at byte 1" },
    { TEXT ("\"\\u12g4\""), "malformed \\u escape at byte 1" },
    { TEXT ("\"\\u0000\""), "a string holds a NUL character at byte 1" },
    { TEXT ("\"\\ud800\""), "unpaired surrogate at byte 1" },
    { TEXT ("\"\\udc00\\ud800\""), "unpaired surrogate at byte 1" },
    { TEXT ("\"\\ud800\\u0041\""), "unpaired surrogate at byte 1" },
    { TEXT ("\"\x01\""), "control character in a string at byte 1" },
    { TEXT ("\"\n\""), "control character in a string at byte 1" },
    { TEXT ("[\"\xff\"]"), "invalid UTF-8 at byte 2" },
    { TEXT ("\"\xc0\xaf\""), "invalid UTF-8 at byte 1" },
    { TEXT ("\"\xed\xa0\x80\""), "invalid UTF-8 at byte 1" },
    { TEXT ("\"\xf4\x90\x80\x80\""), "invalid UTF-8 at byte 1" },
    { TEXT ("1\0"), "NUL byte at byte 1" },
    { TEXT ("\xef\xbb\xbf{}"), "expected a value at byte 0" },
    { TEXT ("[\v1]"), "expected a value at byte 1" },
    { TEXT ("TRUE"), "expected a value at byte 0" },
    { TEXT ("{\"a/b\":{\"~c\":[0,{\"d\":x}]}}"), "expected a value at byte 21, pointer “/a~1b/~0c/1/d”" },
    { TEXT ("{\"\\u202e\\u001b\":x}"), "pointer “/\\u{202e}\\x1b”" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("case %" G_GSIZE_FORMAT, i);
      g_assert_null (glove_json_parse (cases[i].text, cases[i].length, &error));
      glove_test_assert_error (error, GLOVE_ERROR_INVALID_DATA, cases[i].message);
    }
}

static void
test_depth (void)
{
  for (gsize depth = GLOVE_JSON_DEPTH_MAX - 1; depth <= GLOVE_JSON_DEPTH_MAX + 1; depth++)
    for (int object = 0; object < 2; object++)
      {
        g_autoptr (GString) text = g_string_new (NULL);
        g_autoptr (GError) error = NULL;
        g_autoptr (JsonNode) root = NULL;

        for (gsize i = 0; i < depth; i++)
          g_string_append (text, object ? "{\"k\":" : "[");
        g_string_append_c (text, '0');
        for (gsize i = 0; i < depth; i++)
          g_string_append_c (text, object ? '}' : ']');
        root = glove_json_parse (text->str, text->len, &error);
        if (depth <= GLOVE_JSON_DEPTH_MAX)
          g_assert_no_error (error);
        else
          glove_test_assert_error (error, GLOVE_ERROR_INVALID_DATA, object ? "nested too deep at byte 160" : "nested too deep at byte 32");
      }
}

static void
test_size (void)
{
  g_autoptr (GError) error = NULL;

  /* The length is judged before the bytes are. */
  g_assert_null (glove_json_parse ("1", (gsize) GLOVE_JSON_BYTES_MAX + 1, &error));
  glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "larger than");
}

static void
test_values (void)
{
  /* The array is a value too: at the bound minus one, at it, and past it. */
  for (guint elements = GLOVE_JSON_VALUES_MAX - 2; elements <= GLOVE_JSON_VALUES_MAX; elements++)
    {
      g_autoptr (GString) text = g_string_new ("[");
      g_autoptr (GError) error = NULL;
      g_autoptr (JsonNode) root = NULL;

      for (guint i = 0; i < elements; i++)
        g_string_append (text, i > 0 ? ",0" : "0");
      g_string_append_c (text, ']');
      root = glove_json_parse (text->str, text->len, &error);
      if (elements < GLOVE_JSON_VALUES_MAX)
        g_assert_no_error (error);
      else
        glove_test_assert_error (error, GLOVE_ERROR_INVALID_DATA, "too many values");
    }
}

static void
test_append (void)
{
  static const struct {
    const char *text;
    const char *written;
  } cases[] = {
    { "", "\"\"" },
    { "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
    { "\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"" },
    { "é😀", "\"é😀\"" },
    { "a\xff", "\"a\xef\xbf\xbd\"" },
    { "\xf0\x9f\x98", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
    { "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) out = g_string_new ("x");
      g_autoptr (JsonNode) again = NULL;

      glove_json_append_string (out, cases[i].text);
      g_assert_cmpstr (out->str + 1, ==, cases[i].written);
      again = glove_json_parse (out->str + 1, out->len - 1, NULL);
      g_assert_nonnull (again);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/json/accepted", test_accepted);
  g_test_add_func ("/base/json/refused", test_refused);
  g_test_add_func ("/base/json/depth", test_depth);
  g_test_add_func ("/base/json/size", test_size);
  g_test_add_func ("/base/json/values", test_values);
  g_test_add_func ("/base/json/append", test_append);
  return g_test_run ();
}
