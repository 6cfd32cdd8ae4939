/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <string.h>

#include "glove-alloc.h"
#include "glove-bounds.h"
#include "glove-deadline.h"
#include "glove-digest.h"
#include "glove-error.h"
#include "glove-identifier.h"
#include "glove-path.h"
#include "glove-random.h"
#include "glove-secret.h"
#include "glove-test.h"
#include "glove-text.h"

static void
test_alloc (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *zeros = glove_alloc_try0 (16, 4, &error);
  g_autofree void *nothing = glove_alloc_try (0, &error);

  g_assert_no_error (error);
  g_assert_nonnull (nothing);
  for (int i = 0; i < 64; i++)
    g_assert_cmpuint (zeros[i], ==, 0);

  g_assert_null (glove_alloc_try0 (G_MAXSIZE / 2, 3, &error));
  glove_test_assert_error (error, GLOVE_ERROR_NO_SPACE, "out of memory");
  g_clear_error (&error);

  /* The second and every later one. */
  glove_alloc_fail_after (1);
  for (int i = 0; i < 4; i++)
    {
      g_autofree void *memory = i % 2 == 0 ? glove_alloc_try (8, &error) : glove_alloc_try0 (2, 4, &error);

      g_assert_cmpint (memory != NULL, ==, i == 0);
      if (i > 0)
        glove_test_assert_error (error, GLOVE_ERROR_NO_SPACE, "8 bytes");
      g_clear_error (&error);
    }
  glove_alloc_fail_after (-1);
  g_free (glove_alloc_try (8, &error));
  g_assert_no_error (error);
}

static void
test_deadline (void)
{
  GloveDeadline soon = glove_deadline_in_ms (60000);

  g_assert_cmpint (glove_deadline_remaining_ms (G_MAXINT64), ==, -1);
  g_assert_cmpint (glove_deadline_in_ms (G_MAXUINT64), ==, G_MAXINT64);
  g_assert_cmpint (glove_deadline_in_ms (G_MAXINT64 / 1000), ==, G_MAXINT64);
  g_assert_cmpint (glove_deadline_remaining_ms (glove_deadline_in_ms (0)), ==, 0);
  g_assert_cmpint (glove_deadline_remaining_ms (0), ==, 0);
  g_assert_cmpint (glove_deadline_remaining_ms (G_MININT64), ==, 0);
  g_assert_cmpint (glove_deadline_remaining_ms (soon), >, 50000);
  g_assert_cmpint (glove_deadline_remaining_ms (soon), <=, 60000);
  g_assert_cmpint (glove_deadline_remaining_ms (g_get_monotonic_time () + 500000), >, 0);
  g_assert_cmpint (glove_deadline_remaining_ms (G_MAXINT64 - 1), ==, G_MAXINT);
}

/* The sums are those of sha256sum over the bytes written out by hand. */
static void
test_digest (void)
{
  const char *list[] = { "a", "bc", NULL };
  g_autoptr (GloveDigest) digest = glove_digest_new ();
  g_autoptr (GloveDigest) by_hand = glove_digest_new ();
  static const char bytes[] = "\x07" "\0\0\0\1" "\0\0\0\0\0\0\1\2" "\0\0\0\2xy" "\0\0\0\2z\0" "\0\0\0\2\0\0\0\1a\0\0\0\2bc" "\0\0\0\0" "raw";
  g_autofree char *empty = glove_digest_of_data (NULL, 0);
  g_autofree char *abc = glove_digest_of_data ("abc", 3);
  g_autofree char *got = NULL;
  g_autofree char *expected = NULL;

  g_assert_cmpstr (empty, ==, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  g_assert_cmpstr (abc, ==, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");

  glove_digest_add_u8 (digest, 7);
  glove_digest_add_u32 (digest, 1);
  glove_digest_add_u64 (digest, 0x102);
  glove_digest_add_string (digest, "xy");
  glove_digest_add_string_len (digest, "z\0", 2);
  glove_digest_add_strv (digest, list);
  glove_digest_add_strv (digest, NULL);
  glove_digest_add_raw (digest, "raw", 3);
  got = glove_digest_finish (digest);
  glove_digest_add_raw (by_hand, bytes, sizeof bytes - 1);
  expected = glove_digest_finish (by_hand);
  g_assert_cmpstr (got, ==, expected);
}

/* contracts §15: the key id of the bytes 00, 01, …, 1f */
static void
test_digest_vector (void)
{
  g_autoptr (GloveDigest) digest = glove_digest_new ();
  g_autofree char *key_id = NULL;
  guint8 key[32];

  for (guint8 i = 0; i < sizeof key; i++)
    key[i] = i;
  glove_digest_add_string (digest, "glove.audit-key-id");
  glove_digest_add_u8 (digest, 1);
  glove_digest_add_u32 (digest, sizeof key);
  glove_digest_add_raw (digest, key, sizeof key);
  key_id = glove_digest_finish (digest);
  g_assert_cmpstr (key_id, ==, "b97d6f8d2ae381761ea00f360c230cf75e8de5fdc6a8d25624a5c36b97f0d475");
}

typedef gboolean (*IdentifierCheck) (const char *text);

static void
test_identifiers (void)
{
  static const struct {
    const char *name;
    IdentifierCheck check;
    gsize max;
    const char *good[8];
    const char *bad[12];
  } cases[] = {
    { "id128", glove_identifier_is_id128, GLOVE_ID_MAX, { "session-1", "a:b.c_D", ".", "..", "9" }, { "", "a/b", "a b", "é", "a\n" } },
    { "session", glove_identifier_is_session, GLOVE_SESSION_ID_MAX, { "s-1", "a.b_C", "...", "9" }, { "", ".", "..", "a:b", "a/b", "a b" } },
    { "runtime", glove_identifier_is_runtime, GLOVE_RUNTIME_ID_MAX, { "pi", "a", "claude-code", "x9-" }, { "", "Pi", "pI", "9a", "-a", "a_b", "a.b" } },
    { "alias", glove_identifier_is_alias, GLOVE_ALIAS_MAX, { "sage-observe", "A.b_c", "..." }, { "", ".", "..", "a:b", "a/b" } },
    { "env", glove_identifier_is_env_name, GLOVE_ENV_NAME_MAX, { "PATH", "_", "a9_B" }, { "", "9A", "A-B", "A=B", "A.B", "é" } },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("%s", cases[i].name);
      for (gsize j = 0; cases[i].good[j] != NULL; j++)
        g_assert_true (cases[i].check (cases[i].good[j]));
      for (gsize j = 0; cases[i].bad[j] != NULL; j++)
        g_assert_false (cases[i].check (cases[i].bad[j]));
      for (gsize length = cases[i].max - 1; length <= cases[i].max + 1; length++)
        {
          g_autofree char *text = g_strnfill (length, 'a');

          g_assert_cmpint (cases[i].check (text), ==, length <= cases[i].max);
        }
    }
}

static void
test_hex64 (void)
{
  g_autofree char *text = g_strnfill (65, 'a');

  g_assert_false (glove_identifier_is_hex64 (text));
  text[64] = '\0';
  g_assert_true (glove_identifier_is_hex64 (text));
  text[63] = 'A';
  g_assert_false (glove_identifier_is_hex64 (text));
  text[63] = 'g';
  g_assert_false (glove_identifier_is_hex64 (text));
  text[63] = '\0';
  g_assert_false (glove_identifier_is_hex64 (text));
  g_assert_false (glove_identifier_is_hex64 (""));
  g_assert_false (glove_identifier_is_hex64 ("not-a-digest"));
}

static void
test_paths (void)
{
  static const struct {
    const char *path;
    gboolean absolute;
    gboolean relative;
    guint depth;
  } cases[] = {
    { "/", TRUE, FALSE, 0 },           { "/a", TRUE, FALSE, 1 },          { "/a/b.c/..d", TRUE, FALSE, 3 },
    { "/ \n\xff", TRUE, FALSE, 1 },    { "a", FALSE, TRUE, 1 },           { ".codex/x", FALSE, TRUE, 2 },
    { "...", FALSE, TRUE, 1 },         { "", FALSE, FALSE, 0 },           { "//", FALSE, FALSE, 0 },
    { "/a/", FALSE, FALSE, 1 },        { "//a", FALSE, FALSE, 1 },        { "/a//b", FALSE, FALSE, 2 },
    { "/.", FALSE, FALSE, 1 },         { "/a/.", FALSE, FALSE, 2 },       { "/..", FALSE, FALSE, 1 },
    { "/a/../b", FALSE, FALSE, 3 },    { "a/", FALSE, FALSE, 1 },         { "a/./b", FALSE, FALSE, 3 },
    { "..", FALSE, FALSE, 1 },         { ".", FALSE, FALSE, 1 },          { "a/..", FALSE, FALSE, 2 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_test_message ("case %" G_GSIZE_FORMAT, i);
      g_assert_cmpint (glove_path_is_absolute_normal (cases[i].path), ==, cases[i].absolute);
      g_assert_cmpint (glove_path_is_relative_normal (cases[i].path), ==, cases[i].relative);
      g_assert_cmpuint (glove_path_get_depth (cases[i].path), ==, cases[i].depth);
    }
  g_assert_true (glove_path_contains ("/a/b", "/a/b"));
  g_assert_true (glove_path_contains ("/a/b", "/a/b/c"));
  g_assert_true (glove_path_contains ("/", "/a"));
  g_assert_true (glove_path_contains ("/", "/"));
  g_assert_false (glove_path_contains ("/a/b", "/a/bc"));
  g_assert_false (glove_path_contains ("/a/b", "/a"));
}

static void
test_random (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *one = glove_random_hex (100, &error);
  g_autofree char *other = glove_random_hex (100, &error);
  g_autofree char *none = glove_random_hex (0, &error);
  guint8 bytes[300] = { 0 };
  guint zeros = 0;

  g_assert_no_error (error);
  g_assert_cmpuint (strlen (one), ==, 200);
  g_assert_cmpuint (strspn (one, "0123456789abcdef"), ==, 200);
  g_assert_cmpstr (one, !=, other);
  g_assert_cmpstr (none, ==, "");
  g_assert_true (glove_random_bytes (bytes, sizeof bytes, &error));
  for (gsize i = 0; i < sizeof bytes; i++)
    zeros += bytes[i] == 0;
  g_assert_cmpuint (zeros, <, 30);
}

static void
test_secret (void)
{
  char text[] = "secret";

  g_assert_true (glove_secret_equal ("abc", 3, "abc", 3));
  g_assert_true (glove_secret_equal (NULL, 0, "", 0));
  g_assert_false (glove_secret_equal ("abc", 3, "abd", 3));
  g_assert_false (glove_secret_equal ("abc", 3, "xbc", 3));
  g_assert_false (glove_secret_equal ("abc", 3, "abcd", 4));
  glove_secret_wipe (text, 6);
  g_assert_cmpmem (text, sizeof text, "\0\0\0\0\0\0\0", 7);
  glove_secret_wipe (NULL, 0);
  glove_secret_free (NULL);
  glove_secret_free (g_strdup ("secret"));
}

static void
test_escape (void)
{
  static const struct {
    const char *bytes;
    gssize length;
    const char *shown;
  } cases[] = {
    { "plain é 😀 <b>", -1, "plain é 😀 <b>" },
    { "a\nb\x1b[0m\x7f", -1, "a\\x0ab\\x1b[0m\\x7f" },
    { "\xc2\x9b", -1, "\\u{9b}" },
    { "\xe2\x80\xae", -1, "\\u{202e}" },
    { "\xe2\x81\xa6\xe2\x81\xa9", -1, "\\u{2066}\\u{2069}" },
    { "\xe2\x80\x8b\xef\xbb\xbf", -1, "\\u{200b}\\u{feff}" },
    { "\xe2\x80\xa8", -1, "\\u{2028}" },
    { "\xe3\x85\xa4", -1, "\\u{3164}" },
    { "\xf3\xa0\x81\x81", -1, "\\u{e0041}" },
    { "\\x41", -1, "\\x5cx41" },
    { "\xff\xc0\xaf", -1, "\\xff\\xc0\\xaf" },
    { "\xf0\x9f\x98\x80", 3, "\\xf0\\x9f\\x98" },
    { "\xed\xa0\x80", -1, "\\xed\\xa0\\x80" },
    { "a\0b", 3, "a\\x00b" },
    { "e\xcc\x81", -1, "e\xcc\x81" },
    { "", 0, "" },
    { NULL, 0, "" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = glove_text_escape (cases[i].bytes, cases[i].length);

      g_assert_cmpstr (shown, ==, cases[i].shown);
      g_assert_true (g_utf8_validate (shown, -1, NULL));
    }
}

typedef gboolean (*NumberParser) (const char *text, guint64 *ret_value, GError **error);

static void
test_numbers (void)
{
  static const struct {
    NumberParser parse;
    const char *text;
    guint64 value; /* 0: refused */
    const char *message;
  } cases[] = {
    { glove_text_parse_size, "1", 1, NULL },
    { glove_text_parse_size, "4096", 4096, NULL },
    { glove_text_parse_size, "1K", 1024, NULL },
    { glove_text_parse_size, "64M", 64 << 20, NULL },
    { glove_text_parse_size, "1G", 1 << 30, NULL },
    { glove_text_parse_size, "3T", G_GUINT64_CONSTANT (3) << 40, NULL },
    { glove_text_parse_size, "9223372036854775806", G_MAXINT64 - 1, NULL },
    { glove_text_parse_size, "9223372036854775807", G_MAXINT64, NULL },
    { glove_text_parse_size, "9223372036854775808", 0, "too large" },
    { glove_text_parse_size, "18446744073709551616", 0, "too large" },
    { glove_text_parse_size, "99999999999999999999999", 0, "too large" },
    { glove_text_parse_size, "8388607T", G_GUINT64_CONSTANT (8388607) << 40, NULL },
    { glove_text_parse_size, "8388608T", 0, "too large" },
    { glove_text_parse_size, "16777217T", 0, "too large" },
    { glove_text_parse_size, "0", 0, "zero" },
    { glove_text_parse_size, "0K", 0, "zero" },
    { glove_text_parse_size, "", 0, "not a value" },
    { glove_text_parse_size, "K", 0, "not a value" },
    { glove_text_parse_size, "-1", 0, "not a value" },
    { glove_text_parse_size, "+1", 0, "not a value" },
    { glove_text_parse_size, " 1", 0, "not a value" },
    { glove_text_parse_size, "1 ", 0, "not a value" },
    { glove_text_parse_size, "1k", 0, "not a value" },
    { glove_text_parse_size, "1KB", 0, "not a value" },
    { glove_text_parse_size, "1.5G", 0, "not a value" },
    { glove_text_parse_size, "0x10", 0, "not a value" },
    { glove_text_parse_size, "1P\x1b", 0, "“1P\\x1b”" },
    { glove_text_parse_duration, "250ms", 250, NULL },
    { glove_text_parse_duration, "90s", 90000, NULL },
    { glove_text_parse_duration, "90", 90000, NULL },
    { glove_text_parse_duration, "5m", 300000, NULL },
    { glove_text_parse_duration, "2h", 7200000, NULL },
    { glove_text_parse_duration, "9223372036854775807ms", G_MAXINT64, NULL },
    { glove_text_parse_duration, "9223372036854775808ms", 0, "too large" },
    { glove_text_parse_duration, "9223372036854775s", G_GUINT64_CONSTANT (9223372036854775000), NULL },
    { glove_text_parse_duration, "9223372036854776s", 0, "too large" },
    { glove_text_parse_duration, "0s", 0, "zero" },
    { glove_text_parse_duration, "1d", 0, "not a value" },
    { glove_text_parse_duration, "s", 0, "not a value" },
    { glove_text_parse_duration, "-5m", 0, "not a value" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      guint64 value = 77;
      gboolean ok = cases[i].parse (cases[i].text, &value, &error);

      g_test_message ("%s", cases[i].text);
      if (cases[i].value != 0)
        {
          g_assert_no_error (error);
          g_assert_true (ok);
          g_assert_cmpuint (value, ==, cases[i].value);
          continue;
        }
      g_assert_false (ok);
      glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, cases[i].message);
      g_assert_cmpuint (value, ==, 77);
    }
}

static void
test_format_size (void)
{
  static const struct {
    guint64 bytes;
    const char *text;
  } cases[] = {
    { 0, "0 bytes" },
    { 1, "1 byte" },
    { 1024, "1 KiB" },
    { 1536, "1536 bytes" },
    { 4095, "4095 bytes" },
    { 4096, "4 KiB" },
    { 4097, "4 KiB" },
    { 512 << 10, "512 KiB" },
    { (1 << 20) - 1, "1 MiB" },
    { 1 << 20, "1 MiB" },
    { 123456789, "117.7 MiB" },
    { G_GUINT64_CONSTANT (3) << 29, "1.5 GiB" },
    { G_GUINT64_CONSTANT (4) << 30, "4 GiB" },
    { G_MAXINT64, "8 EiB" },
    { G_MAXUINT64, "16 EiB" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = glove_text_format_size (cases[i].bytes);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/alloc", test_alloc);
  g_test_add_func ("/base/deadline", test_deadline);
  g_test_add_func ("/base/digest", test_digest);
  g_test_add_func ("/base/digest/vector", test_digest_vector);
  g_test_add_func ("/base/identifiers", test_identifiers);
  g_test_add_func ("/base/identifiers/hex64", test_hex64);
  g_test_add_func ("/base/paths", test_paths);
  g_test_add_func ("/base/random", test_random);
  g_test_add_func ("/base/secret", test_secret);
  g_test_add_func ("/base/text/escape", test_escape);
  g_test_add_func ("/base/text/numbers", test_numbers);
  g_test_add_func ("/base/text/format-size", test_format_size);
  return g_test_run ();
}
