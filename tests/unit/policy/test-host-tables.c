/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-host-tables.h"
#include "glove-test.h"

#define HEADING "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define ENTRY "0000000000000000: 00000002 00000000 00010000 0001 01 "

static void
test_mounts (void)
{
  static const struct
  {
    const char *text;
    const char *point; /* of the only mount; NULL: refused */
    const char *type;
  } cases[] = {
    { "36 35 98:0 / / rw - ext4 /dev/x rw\n", "/", "ext4" },
    { "36 35 98:0 / /a rw,nosuid shared:1 master:2 - fuse.x src rw", "/a", "fuse.x" },
    { "36 35 0:5 /x /a\\040b\\011c\\012d\\134e rw - tmpfs none rw\n", "/a b\tc\nd\\e", "tmpfs" },
    { "36 35 0:5 /x /\\377\\303 rw - tmpfs none rw\n", "/\377\303", "tmpfs" },
    { "36 35 0:5 /x /a\\04 rw - tmpfs none rw\n", NULL, NULL },
    { "36 35 0:5 /x /a\\048 rw - tmpfs none rw\n", NULL, NULL },
    { "36 35 0:5 /x /a\\000 rw - tmpfs none rw\n", NULL, NULL },
    { "36 35 0:5 /x /a\\777 rw - tmpfs none rw\n", NULL, NULL },
    { "36 35 0:5 /x a rw - tmpfs none rw\n", NULL, NULL },
    { "36 35 0:5 /x /a rw tmpfs none rw\n", NULL, NULL },
    { "36 35 0:5 /x /a rw -\n", NULL, NULL },
    { "36 35 5 /x /a rw - tmpfs none rw\n", NULL, NULL },
    { "36 x 0:5 /x /a rw - tmpfs none rw\n", NULL, NULL },
    { "36  35 0:5 /x /a rw - tmpfs none rw\n", NULL, NULL },
    { "\n", NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) mounts = glove_host_tables_parse_mounts (cases[i].text, strlen (cases[i].text), &error);

      g_test_message ("%s", cases[i].text);
      if (cases[i].point == NULL)
        {
          g_assert_null (mounts);
          glove_test_assert_error (error, GLOVE_ERROR_INVALID_DATA, "line 1 of the kernel's list of mounts is malformed");
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpuint (mounts->len, ==, 1);
      g_assert_cmpstr (((GloveHostMount *) mounts->pdata[0])->mount_point, ==, cases[i].point);
      g_assert_cmpstr (((GloveHostMount *) mounts->pdata[0])->fs_type, ==, cases[i].type);
    }
}

static void
test_mount_count (void)
{
  static const char line[] = "1 1 0:1 / /a rw - tmpfs x rw\n";

  for (int extra = -1; extra <= 1; extra++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (GPtrArray) mounts = NULL;
      g_autoptr (GError) error = NULL;

      for (int i = 0; i < GLOVE_HOST_MOUNTS_MAX + extra; i++)
        g_string_append (text, line);
      mounts = glove_host_tables_parse_mounts (text->str, text->len, &error);
      g_assert_true ((mounts != NULL) == (extra <= 0));
      if (extra > 0)
        glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "more than 65536 mounts");
    }
}

static void
test_sockets (void)
{
  static const struct
  {
    const char *text;
    const char *paths[4]; /* NULL at once: refused */
  } cases[] = {
    { HEADING ENTRY "12 /run/x\n", { "/run/x" } },
    { HEADING ENTRY "    12 /run/a b\n", { "/run/a b" } },
    { HEADING ENTRY "12 @abstract\n" ENTRY "13\n" ENTRY "14 rel/x\n", { "rel/x" } },
    { HEADING ENTRY "12 /a\nb\n\nc\n" ENTRY "13 /d\n", { "/a\nb\n\nc", "/d" } },
    { HEADING ENTRY "12 /same\n" ENTRY "13 /same\n" ENTRY "14 /other", { "/same", "/other" } },
    { HEADING ENTRY "12 /\377\xfe\n", { "/\377\xfe" } },
    { HEADING ENTRY "12 / lead\n", { "/ lead" } },
    { "", { NULL } },
    { "garbage\n", { NULL } },
    { HEADING "garbage\n", { NULL } },
    { HEADING ENTRY "12\ngarbage\n", { NULL } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) paths = glove_host_tables_parse_sockets (cases[i].text, strlen (cases[i].text), &error);
      guint count = 0;

      if (cases[i].paths[0] == NULL)
        {
          g_assert_null (paths);
          glove_test_assert_error (error, GLOVE_ERROR_INVALID_DATA, "kernel's list of sockets");
          continue;
        }
      g_assert_no_error (error);
      for (; cases[i].paths[count] != NULL; count++)
        g_assert_cmpstr (paths->pdata[count], ==, cases[i].paths[count]);
      g_assert_cmpuint (paths->len, ==, count);
    }
}

static void
test_virtual_types (void)
{
  static const char text[] = "nodev\tproc\n\text4\nnodev\ttmpfs\n";
  const char *const bad[] = { "proc\n", "nodev\t\n", "dev\tproc\n", "\n" };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) types = glove_host_tables_parse_virtual_types (text, strlen (text), &error);

  g_assert_no_error (error);
  g_assert_cmpuint (types->len, ==, 2);
  g_assert_cmpstr (types->pdata[0], ==, "proc");
  g_assert_cmpstr (types->pdata[1], ==, "tmpfs");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) bad_error = NULL;

      g_assert_null (glove_host_tables_parse_virtual_types (bad[i], strlen (bad[i]), &bad_error));
      glove_test_assert_error (bad_error, GLOVE_ERROR_INVALID_DATA, "file systems");
    }
}

static void
test_bytes (void)
{
  g_autofree char *big = g_strnfill (GLOVE_HOST_TABLE_BYTES_MAX + 1, 'x');
  g_autoptr (GError) limit = NULL;
  g_autoptr (GError) nul = NULL;

  g_assert_null (glove_host_tables_parse_mounts (big, GLOVE_HOST_TABLE_BYTES_MAX + 1, &limit));
  glove_test_assert_error (limit, GLOVE_ERROR_LIMIT, "bytes");
  g_assert_null (glove_host_tables_parse_mounts ("1 1\0", 4, &nul));
  glove_test_assert_error (nul, GLOVE_ERROR_INVALID_DATA, "holds a NUL");
}

/* What this host says now is understood. */
static void
test_real (void)
{
  g_autofree char *mounts = NULL;
  g_autofree char *sockets = NULL;
  g_autofree char *types = NULL;
  gsize length = 0;

  if (!g_file_get_contents ("/proc/self/mountinfo", &mounts, &length, NULL))
    {
      glove_test_skip ("/proc is not mounted");
      return;
    }
  g_ptr_array_unref (glove_host_tables_parse_mounts (mounts, length, NULL));
  if (g_file_get_contents ("/proc/net/unix", &sockets, &length, NULL))
    g_ptr_array_unref (glove_host_tables_parse_sockets (sockets, length, NULL));
  g_assert_true (g_file_get_contents ("/proc/filesystems", &types, &length, NULL));
  g_ptr_array_unref (glove_host_tables_parse_virtual_types (types, length, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  g_test_add_func ("/policy/host-tables/mounts", test_mounts);
  g_test_add_func ("/policy/host-tables/mount-count", test_mount_count);
  g_test_add_func ("/policy/host-tables/sockets", test_sockets);
  g_test_add_func ("/policy/host-tables/virtual-types", test_virtual_types);
  g_test_add_func ("/policy/host-tables/bytes", test_bytes);
  g_test_add_func ("/policy/host-tables/real", test_real);
  return g_test_run ();
}
