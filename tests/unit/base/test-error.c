/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <errno.h>

#include "glove-error.h"
#include "glove-test.h"

/* Every code has all three, and no two share a name: a new code without them fails here. */
static void
test_table (void)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GRegex) kebab = g_regex_new ("^[a-z]+(-[a-z]+)*$", 0, 0, NULL);
  g_autoptr (GRegex) camel = g_regex_new ("^org\\.glove\\.Glove1\\.Error\\.([A-Z][a-z]*)+$", 0, 0, NULL);

  for (int code = 0; code < GLOVE_N_ERRORS; code++)
    {
      const char *name = glove_error_get_name ((GloveError) code);
      const char *dbus_name = glove_error_get_dbus_name ((GloveError) code);
      const char *hint = glove_error_get_default_hint ((GloveError) code);
      g_autoptr (GString) from_dbus = g_string_new (NULL);

      g_test_message ("%d %s %s %s", code, name, dbus_name, hint);
      g_assert_true (g_regex_match (kebab, name, 0, NULL));
      g_assert_true (g_regex_match (camel, dbus_name, 0, NULL));
      g_assert_cmpuint (strlen (hint), >, 10);
      g_assert_false (g_str_has_suffix (hint, "."));
      g_assert_true (g_hash_table_add (names, (gpointer) name));

      /* The D-Bus name is the same words. */
      for (const char *c = strrchr (dbus_name, '.') + 1; *c != '\0'; c++)
        {
          if (g_ascii_isupper (*c) && from_dbus->len > 0)
            g_string_append_c (from_dbus, '-');
          g_string_append_c (from_dbus, g_ascii_tolower (*c));
        }
      g_assert_cmpstr (from_dbus->str, ==, name);
    }
  g_assert_cmpstr (glove_error_get_name ((GloveError) GLOVE_N_ERRORS), ==, "failed");
  g_assert_cmpstr (glove_error_get_name ((GloveError) -1), ==, "failed");
}

static void
test_dbus (void)
{
  for (int code = 0; code < GLOVE_N_ERRORS; code++)
    {
      const char *dbus_name = glove_error_get_dbus_name ((GloveError) code);
      g_autoptr (GError) sent = g_error_new_literal (GLOVE_ERROR, code, "text");
      g_autofree char *encoded = g_dbus_error_encode_gerror (sent);
      g_autoptr (GError) received = g_dbus_error_new_for_dbus_error (dbus_name, "text");

      g_assert_cmpstr (encoded, ==, dbus_name);
      g_assert_error (received, GLOVE_ERROR, code);
    }
}

static void
test_hint (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) copy = NULL;
  g_autoptr (GError) foreign = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_BUSY, "taken");

  glove_error_set_hint (NULL, "nothing happens");
  glove_error_set_hint (&error, "nothing happens");
  g_assert_null (error);

  glove_error_set (&error, GLOVE_ERROR_LIMIT, "%s is %d", "it", 7);
  glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "it is 7");
  g_assert_cmpstr (glove_error_get_hint (error), ==, glove_error_get_default_hint (GLOVE_ERROR_LIMIT));
  glove_error_set_hint (&error, "first");
  glove_error_set_hint (&error, "use %d", 6);
  g_assert_cmpstr (glove_error_get_hint (error), ==, "use 6");
  copy = g_error_copy (error);
  g_assert_cmpstr (glove_error_get_hint (copy), ==, "use 6");
  g_prefix_error (&error, "there: ");
  g_assert_cmpstr (glove_error_get_hint (error), ==, "use 6");

  g_assert_null (glove_error_get_hint (foreign));
  glove_error_set_hint (&foreign, "wait");
  glove_test_assert_error (foreign, GLOVE_ERROR_BUSY, "taken");
  g_assert_cmpstr (glove_error_get_hint (foreign), ==, "wait");

  glove_error_set (NULL, GLOVE_ERROR_IO, "dropped");
  glove_error_set_literal (NULL, GLOVE_ERROR_IO, "dropped");
  glove_error_set_errno (NULL, EIO, "dropped");
}

static void
test_errno (void)
{
  static const struct {
    int errsv;
    GloveError code;
  } cases[] = {
    { ENOENT, GLOVE_ERROR_NOT_FOUND },     { EEXIST, GLOVE_ERROR_EXISTS },       { EACCES, GLOVE_ERROR_PERMISSION },
    { ELOOP, GLOVE_ERROR_UNTRUSTED },      { EXDEV, GLOVE_ERROR_UNTRUSTED },     { ENAMETOOLONG, GLOVE_ERROR_LIMIT },
    { ENOSYS, GLOVE_ERROR_NOT_SUPPORTED }, { ENOEXEC, GLOVE_ERROR_NOT_EXECUTABLE }, { EAGAIN, GLOVE_ERROR_BUSY },
    { EPIPE, GLOVE_ERROR_CLOSED },         { ECANCELED, GLOVE_ERROR_CANCELLED }, { ETIMEDOUT, GLOVE_ERROR_TIMED_OUT },
    { EIO, GLOVE_ERROR_IO },               { EMFILE, GLOVE_ERROR_NO_SPACE },     { EINVAL, GLOVE_ERROR_INVALID_ARGUMENT },
    { 0, GLOVE_ERROR_FAILED },             { 99999, GLOVE_ERROR_FAILED },
  };
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (glove_error_from_errno (cases[i].errsv), ==, cases[i].code);
  glove_error_set_errno (&error, ENOENT, "can't open %s", "x");
  glove_test_assert_error (error, GLOVE_ERROR_NOT_FOUND, "can't open x: No such file");
}

static void
test_convert (void)
{
  const struct {
    GQuark domain;
    int from;
    GloveError code;
  } cases[] = {
    { G_IO_ERROR, G_IO_ERROR_NOT_FOUND, GLOVE_ERROR_NOT_FOUND },
    { G_IO_ERROR, G_IO_ERROR_CANCELLED, GLOVE_ERROR_CANCELLED },
    { G_IO_ERROR, G_IO_ERROR_FAILED, GLOVE_ERROR_FAILED },
    { G_FILE_ERROR, G_FILE_ERROR_ACCES, GLOVE_ERROR_PERMISSION },
    { G_FILE_ERROR, G_FILE_ERROR_FAILED, GLOVE_ERROR_FAILED },
    { G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE, GLOVE_ERROR_INVALID_DATA },
    { G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND, GLOVE_ERROR_NOT_FOUND },
    { G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT, GLOVE_ERROR_NOT_FOUND },
    { G_SPAWN_ERROR, G_SPAWN_ERROR_ACCES, GLOVE_ERROR_NOT_EXECUTABLE },
    { G_RESOLVER_ERROR, G_RESOLVER_ERROR_NOT_FOUND, GLOVE_ERROR_NOT_FOUND },
    { G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, GLOVE_ERROR_INVALID_ARGUMENT },
    { G_CONVERT_ERROR, G_CONVERT_ERROR_ILLEGAL_SEQUENCE, GLOVE_ERROR_INVALID_DATA },
    { G_MARKUP_ERROR, G_MARKUP_ERROR_PARSE, GLOVE_ERROR_FAILED },
    { GLOVE_ERROR, GLOVE_ERROR_DENIED, GLOVE_ERROR_DENIED },
  };
  GError *none = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = g_error_new_literal (cases[i].domain, cases[i].from, "the text");

      glove_error_convert (&error);
      glove_test_assert_error (error, cases[i].code, "the text");
    }
  glove_error_convert (NULL);
  glove_error_convert (&none);
  g_assert_null (none);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/error/table", test_table);
  g_test_add_func ("/base/error/dbus", test_dbus);
  g_test_add_func ("/base/error/hint", test_hint);
  g_test_add_func ("/base/error/errno", test_errno);
  g_test_add_func ("/base/error/convert", test_convert);
  return g_test_run ();
}
