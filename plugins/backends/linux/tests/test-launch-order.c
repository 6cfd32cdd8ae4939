/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The launch spec's parser: each field at its bound and past it, cut short at every byte, and lengthened by one. */

#include <glib.h>
#include <string.h>
#include <sys/stat.h>

#include "glove-bounds.h"
#include "glove-launch-driver.h"
#include "glove-launch-order.h"

static const char *const plain_argv[] = { "/bin/true", NULL };

static const DriverRlimit a_rlimit = { 7, 64, 128 };
static const DriverQuota a_quota = { "max_user_namespaces", 0 };
static const DriverFile some_files[] = { { GLOVE_LAUNCH_FILE_DIRECTORY, 0700, "/home/agent/d", "" },
                                         { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0444, "/etc/passwd", "agent" } };
static const DriverListener a_listener = { 5, 8080 };
static const DriverGrant a_mask = { GLOVE_LAUNCH_ACCESS_MASK, 0, -1, "/srv/s", "/srv/s" };

static void
fill (DriverSpec *spec)
{
  driver_spec_init (spec, plain_argv);
  spec->monitor = 3;
  spec->egress = 4;
  spec->rlimits = &a_rlimit;
  spec->n_rlimits = 1;
  spec->quotas = &a_quota;
  spec->n_quotas = 1;
  spec->files = some_files;
  spec->n_files = G_N_ELEMENTS (some_files);
  spec->listeners = &a_listener;
  spec->n_listeners = 1;
  spec->grants = &a_mask;
  spec->n_grants = 1;
}

/* Parses an exact allocation, so that a sanitizer sees one byte too far. */
static gboolean
parse_bytes (const guint8 *bytes, gsize length)
{
  g_autofree guint8 *copy = g_memdup2 (bytes, length);
  GloveLaunchOrder order;
  gboolean parsed = glove_launch_order_parse (&order, copy, length);

  glove_launch_order_clear (&order);
  return parsed;
}

static gboolean
parse_spec (const DriverSpec *spec)
{
  gsize length;
  g_autofree guint8 *bytes = driver_spec_encode (spec, &length);

  g_assert_nonnull (bytes);
  return parse_bytes (bytes, length);
}

static void
test_values (void)
{
  DriverSpec spec;
  GloveLaunchOrder order;
  gsize length;
  g_autofree guint8 *bytes = NULL;

  fill (&spec);
  spec.executable = "/usr/bin/env";
  bytes = driver_spec_encode (&spec, &length);
  g_assert_true (glove_launch_order_parse (&order, bytes, length));
  g_assert_cmpint (order.monitor, ==, 3);
  g_assert_cmpint (order.egress, ==, 4);
  g_assert_cmpint (order.cgroup, ==, -1);
  g_assert_cmpstr (order.host_name, ==, "glove");
  g_assert_cmpstr (order.work_dir, ==, "/home/agent");
  g_assert_cmpstr (order.executable, ==, "/usr/bin/env");
  g_assert_cmpstr (order.home, ==, "/home/agent");
  g_assert_cmpuint (order.bytes[GLOVE_LAUNCH_SIZE_SHM], ==, 256 << 20);
  g_assert_cmpuint (order.inodes[GLOVE_LAUNCH_SIZE_ROOT], ==, 16384);
  g_assert_cmpuint (order.n_rlimits, ==, 1);
  g_assert_cmpuint (order.rlimits[0].soft, ==, 64);
  g_assert_cmpuint (order.rlimits[0].hard, ==, 128);
  g_assert_cmpstr (order.quotas[0].name, ==, "max_user_namespaces");
  g_assert_cmpstr (order.argv[0], ==, "/bin/true");
  g_assert_null (order.argv[1]);
  g_assert_cmpuint (order.n_env, ==, 3);
  g_assert_cmpstr (order.env[1], ==, "HOME=/home/agent");
  g_assert_null (order.env[3]);
  g_assert_cmpstr (order.grants[0].target, ==, "/srv/s");
  g_assert_cmpint (order.grants[0].fd, ==, -1);
  g_assert_cmpuint (order.files[1].length, ==, 5);
  g_assert_cmpint (memcmp (order.files[1].content, "agent", 5), ==, 0);
  g_assert_cmpuint (order.listeners[0].port, ==, 8080);
  glove_launch_order_clear (&order);
}

static void
test_truncation (void)
{
  DriverSpec spec;
  gsize length;
  g_autofree guint8 *bytes = NULL;
  g_autofree guint8 *longer = NULL;

  fill (&spec);
  bytes = driver_spec_encode (&spec, &length);
  for (gsize n = 0; n < length; n++)
    {
      g_autofree guint8 *copy = g_memdup2 (bytes, length);

      g_assert_false (parse_bytes (copy, n));
      /* the same with a length that agrees */
      if (n >= 16)
        for (int i = 0; i < 4; i++)
          copy[12 + i] = (guint8) (n >> (24 - 8 * i));
      g_assert_false (parse_bytes (copy, n));
    }
  g_assert_true (parse_bytes (bytes, length));
  longer = g_malloc0 (length + 1);
  memcpy (longer, bytes, length);
  g_assert_false (parse_bytes (longer, length + 1));
  for (int i = 0; i < 4; i++)
    longer[12 + i] = (guint8) ((length + 1) >> (24 - 8 * i));
  g_assert_false (parse_bytes (longer, length + 1));
}

/* Every byte set to each extreme: it parses or not, but touches nothing that is not there. */
static void
test_corruption (void)
{
  static const guint8 values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
  DriverSpec spec;
  gsize length;
  g_autofree guint8 *bytes = NULL;

  fill (&spec);
  bytes = driver_spec_encode (&spec, &length);
  for (gsize at = 0; at < length; at++)
    for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
      {
        g_autofree guint8 *copy = g_memdup2 (bytes, length);

        copy[at] = values[i];
        (void) parse_bytes (copy, length);
      }
}

static void
check (const char *what, const DriverSpec *spec, gboolean expected)
{
  if (parse_spec (spec) != expected)
    g_error ("%s was %s", what, expected ? "refused" : "taken");
}

#define CHECK(statement, expected)                                                                                     \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    DriverSpec spec;                                                                                                   \
    fill (&spec);                                                                                                      \
    statement;                                                                                                         \
    check (#statement, &spec, expected);                                                                               \
  }                                                                                                                    \
  G_STMT_END

static void
test_head (void)
{
  CHECK (spec.flags = GLOVE_LAUNCH_FLAG_NO_LANDLOCK, TRUE);
  CHECK (spec.flags = GLOVE_LAUNCH_FLAGS_ALL + 1, FALSE);
  CHECK (spec.uid = 0, FALSE);
  CHECK (spec.uid = 999, FALSE);
  CHECK (spec.gid = 1001, FALSE);
  CHECK (spec.host_uid = 0, TRUE); /* the operator's word for it */
  CHECK (spec.host_uid = G_MAXUINT32, FALSE);
  CHECK (spec.flags = GLOVE_LAUNCH_FLAG_MAP_ID; spec.host_uid = 0, FALSE);
  CHECK (spec.flags = GLOVE_LAUNCH_FLAG_MAP_ID; spec.host_uid = 100000; spec.host_gid = 0, FALSE);
  CHECK (spec.flags = GLOVE_LAUNCH_FLAG_MAP_ID; spec.host_uid = spec.host_gid = 100000, TRUE);
  CHECK (spec.rows = 1, FALSE);
  CHECK (spec.flags = GLOVE_LAUNCH_FLAG_TTY, FALSE);
  CHECK (spec.flags = GLOVE_LAUNCH_FLAG_TTY; spec.rows = spec.columns = 1, TRUE);
  CHECK (spec.flags = GLOVE_LAUNCH_FLAG_TTY; spec.rows = spec.columns = 4096, TRUE);
  CHECK (spec.flags = GLOVE_LAUNCH_FLAG_TTY; spec.rows = 4097; spec.columns = 1, FALSE);
  CHECK (spec.flags = GLOVE_LAUNCH_FLAG_TTY; spec.rows = 1; spec.columns = 4097, FALSE);
  CHECK (spec.monitor = GLOVE_LAUNCH_NO_FD, FALSE);
  CHECK (spec.stdio[0] = G_MAXINT, TRUE);
  CHECK (spec.stdio[0] = (guint32) G_MAXINT + 1, FALSE);
  CHECK (spec.egress = GLOVE_LAUNCH_NO_FD, FALSE); /* there is a listener */
  CHECK (spec.egress = GLOVE_LAUNCH_NO_FD; spec.n_listeners = 0, TRUE);
}

static void
test_names (void)
{
  g_autofree char *long_name = g_strnfill (255, 'n');
  g_autofree char *longer_name = g_strnfill (256, 'n');
  g_autofree char *host_64 = g_strnfill (64, 'h');
  g_autofree char *host_65 = g_strnfill (65, 'h');
  g_autofree char *component_255 = g_strconcat ("/", long_name, NULL);
  g_autofree char *component_256 = g_strconcat ("/", longer_name, NULL);
  g_autoptr (GString) deep = g_string_new (NULL);

  for (guint i = 0; i < 15; i++)
    g_string_append (deep, component_255);
  g_string_append_printf (deep, "%.*s", 255, component_255); /* 15 × 256 + 255 */
  g_assert_cmpuint (deep->len, ==, GLOVE_LAUNCH_PATH_MAX);
  CHECK (spec.cgroup = spec.cgroup_parent = 5; spec.cgroup_name = "s", TRUE);
  CHECK (spec.cgroup = spec.cgroup_parent = 5; spec.cgroup_name = long_name, TRUE);
  CHECK (spec.cgroup = spec.cgroup_parent = 5; spec.cgroup_name = longer_name, FALSE);
  CHECK (spec.cgroup = spec.cgroup_parent = 5; spec.cgroup_name = "..", FALSE);
  CHECK (spec.cgroup = spec.cgroup_parent = 5; spec.cgroup_name = "a/b", FALSE);
  CHECK (spec.cgroup = spec.cgroup_parent = 5; spec.cgroup_name = "", FALSE);
  CHECK (spec.cgroup = 5; spec.cgroup_name = "s", FALSE);
  CHECK (spec.cgroup_name = "s", FALSE);
  CHECK (spec.host_name = "", FALSE);
  CHECK (spec.host_name = host_64, TRUE);
  CHECK (spec.host_name = host_65, FALSE);
  CHECK (spec.work_dir = "/", TRUE);
  CHECK (spec.work_dir = "relative", FALSE);
  CHECK (spec.work_dir = "", FALSE);
  CHECK (spec.executable = "/usr/bin/env", TRUE);
  CHECK (spec.executable = "env", FALSE);
  CHECK (spec.executable = "/usr/../bin/env", FALSE);
  CHECK (spec.home = "/", FALSE);
  CHECK (spec.home = "/home/agent/", FALSE);
  CHECK (spec.home = "/home//agent", FALSE);
  CHECK (spec.home = "/home/./agent", FALSE);
  CHECK (spec.home = "/home/..", FALSE);
  CHECK (spec.home = "home", FALSE);
  CHECK (spec.home = "/home/.agent", TRUE);
  CHECK (spec.home = "/home/..agent", TRUE);
  CHECK (spec.home = component_255, TRUE);
  CHECK (spec.home = component_256, FALSE);
  CHECK (spec.home = deep->str, TRUE);
  g_string_append_c (deep, 'x');
  CHECK (spec.home = deep->str, FALSE);
}

static void
test_lists (void)
{
  g_autofree DriverRlimit *rlimits = g_new0 (DriverRlimit, GLOVE_LAUNCH_RLIMITS_MAX + 1);
  g_autofree DriverQuota *quotas = g_new0 (DriverQuota, GLOVE_LAUNCH_QUOTAS_MAX + 1);
  g_autofree DriverGrant *grants = g_new0 (DriverGrant, GLOVE_LAUNCH_GRANTS_MAX + 1);
  g_autofree DriverFile *files = g_new0 (DriverFile, GLOVE_LAUNCH_FILES_MAX + 1);
  g_autofree DriverListener *listeners = g_new0 (DriverListener, GLOVE_LAUNCH_LISTENERS_MAX + 1);

  for (guint i = 0; i <= GLOVE_LAUNCH_QUOTAS_MAX; i++)
    quotas[i] = a_quota;
  for (guint i = 0; i <= GLOVE_LAUNCH_GRANTS_MAX; i++)
    grants[i] = a_mask;
  for (guint i = 0; i <= GLOVE_LAUNCH_FILES_MAX; i++)
    files[i] = some_files[1];
  CHECK (spec.rlimits = rlimits; spec.n_rlimits = GLOVE_LAUNCH_RLIMITS_MAX, TRUE);
  CHECK (spec.rlimits = rlimits; spec.n_rlimits = GLOVE_LAUNCH_RLIMITS_MAX + 1, FALSE);
  CHECK (spec.quotas = quotas; spec.n_quotas = GLOVE_LAUNCH_QUOTAS_MAX, TRUE);
  CHECK (spec.quotas = quotas; spec.n_quotas = GLOVE_LAUNCH_QUOTAS_MAX + 1, FALSE);
  CHECK (spec.grants = grants; spec.n_grants = GLOVE_LAUNCH_GRANTS_MAX, TRUE);
  CHECK (spec.grants = grants; spec.n_grants = GLOVE_LAUNCH_GRANTS_MAX + 1, FALSE);
  CHECK (spec.files = files; spec.n_files = GLOVE_LAUNCH_FILES_MAX, TRUE);
  CHECK (spec.files = files; spec.n_files = GLOVE_LAUNCH_FILES_MAX + 1, FALSE);
  CHECK (spec.listeners = listeners; spec.n_listeners = GLOVE_LAUNCH_LISTENERS_MAX, TRUE);
  CHECK (spec.listeners = listeners; spec.n_listeners = GLOVE_LAUNCH_LISTENERS_MAX + 1, FALSE);
}

static void
test_command (void)
{
  g_autofree const char **many = g_new0 (const char *, GLOVE_LAUNCH_ARGV_MAX + 2);
  g_autofree const char **much = g_new0 (const char *, GLOVE_LAUNCH_ENV_MAX + 2);
  g_autofree char *long_argument = g_strnfill (GLOVE_LAUNCH_STRING_MAX + 1, 'a');
  const char *const with_long[] = { "x", long_argument, NULL };
  const char *const none[] = { NULL };
  const char *const empty[] = { "", NULL };
  const char *const odd[] = { "x", "", "a\nb", "\xff", "--bind", NULL };
  const char *const no_value[] = { "A=", NULL };
  const char *const no_sign[] = { "AB", NULL };
  const char *const no_name[] = { "=b", NULL };

  for (guint i = 0; i < GLOVE_LAUNCH_ARGV_MAX; i++)
    many[i] = "x";
  for (guint i = 0; i < GLOVE_LAUNCH_ENV_MAX; i++)
    much[i] = "A=b";
  CHECK (spec.argv = many, TRUE);
  many[GLOVE_LAUNCH_ARGV_MAX] = "x";
  CHECK (spec.argv = many, FALSE);
  CHECK (spec.env = much, TRUE);
  much[GLOVE_LAUNCH_ENV_MAX] = "A=b";
  CHECK (spec.env = much, FALSE);
  CHECK (spec.argv = with_long, FALSE);
  long_argument[GLOVE_LAUNCH_STRING_MAX] = '\0';
  CHECK (spec.argv = with_long, TRUE);
  CHECK (spec.argv = none, FALSE);
  CHECK (spec.argv = empty, FALSE);
  CHECK (spec.argv = empty; spec.executable = "/bin/true", TRUE);
  CHECK (spec.argv = odd, TRUE);
  CHECK (spec.env = none, TRUE);
  CHECK (spec.env = no_value, TRUE);
  CHECK (spec.env = no_sign, FALSE);
  CHECK (spec.env = no_name, FALSE);
}

#define CHECK_ONE(Type, list, value, expected)                                                                         \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    const Type one = value;                                                                                            \
    CHECK (spec.list = &one; spec.n_##list = 1, expected);                                                             \
  }                                                                                                                    \
  G_STMT_END
#define ONE(...) { __VA_ARGS__ }

static void
test_elements (void)
{
  const guint32 directory = GLOVE_LAUNCH_GRANT_DIRECTORY, detached = GLOVE_LAUNCH_GRANT_DETACHED;
  g_autofree char *quota_64 = g_strnfill (64, 'q');
  g_autofree char *quota_65 = g_strnfill (65, 'q');

  CHECK_ONE (DriverRlimit, rlimits, ONE (G_MAXINT, 1, 1), TRUE);
  CHECK_ONE (DriverRlimit, rlimits, ONE ((guint32) G_MAXINT + 1, 1, 1), FALSE);
  CHECK_ONE (DriverRlimit, rlimits, ONE (1, 2, 1), FALSE);
  CHECK_ONE (DriverQuota, quotas, ONE (quota_64, 1), TRUE);
  CHECK_ONE (DriverQuota, quotas, ONE (quota_65, 1), FALSE);
  CHECK_ONE (DriverQuota, quotas, ONE ("", 1), FALSE);
  CHECK_ONE (DriverQuota, quotas, ONE ("../kernel/core_pattern", 1), FALSE);
  CHECK_ONE (DriverGrant, grants, ONE (0, 0, -1, "/a", "/a"), FALSE); /* nothing to bind */
  CHECK_ONE (DriverGrant, grants, ONE (3, 0, -1, "/a", "/a"), FALSE);
  CHECK_ONE (DriverGrant, grants, ONE (2, directory, -1, "/a", "/a"), FALSE);
  CHECK_ONE (DriverGrant, grants, ONE (2, detached, -1, "/a", "/a"), FALSE);
  CHECK_ONE (DriverGrant, grants, ONE (2, 4, -1, "/a", "/a"), FALSE);
  CHECK_ONE (DriverGrant, grants, ONE (2, 0, -1, "a", "/a"), FALSE);
  CHECK_ONE (DriverGrant, grants, ONE (2, 0, -1, "/a", "/"), FALSE);
  CHECK_ONE (DriverGrant, grants, ONE (2, 0, -1, "/a", "/a/../b"), FALSE);
  CHECK_ONE (DriverGrant, grants, ONE (1, 0, 0, "/a", "/a b\nc\xff"), TRUE); /* fd 0 is one, and no directory here */
  CHECK_ONE (DriverGrant, grants, ONE (1, directory, 0, "/a", "/a"), FALSE);
  CHECK_ONE (DriverGrant, grants, ONE (1, detached, 0, "/a", "/a"), FALSE);
  CHECK_ONE (DriverFile, files, ONE (0, 0777, "/a", "x"), TRUE);
  CHECK_ONE (DriverFile, files, ONE (0, 01000, "/a", "x"), FALSE);
  CHECK_ONE (DriverFile, files, ONE (0, 04755, "/a", "x"), FALSE);
  CHECK_ONE (DriverFile, files, ONE (4, 0644, "/a", "x"), FALSE);
  CHECK_ONE (DriverFile, files, ONE (GLOVE_LAUNCH_FILE_DIRECTORY, 0755, "/a", "x"), FALSE);
  CHECK_ONE (DriverFile, files, ONE (0, 0644, "a", "x"), FALSE);
  CHECK_ONE (DriverListener, listeners, ONE (0, 0), TRUE);
  CHECK_ONE (DriverListener, listeners, ONE (G_MAXUINT32, 65535), TRUE);
  CHECK_ONE (DriverListener, listeners, ONE (0, 65536), FALSE);
}

/* A file may hold any byte; a string may not hold a NUL. */
static void
test_nul (void)
{
  DriverSpec spec;
  gsize length;
  g_autofree guint8 *bytes = NULL;
  guint8 *at;

  fill (&spec);
  bytes = driver_spec_encode (&spec, &length);
  at = memmem (bytes, length, "agent\0\0\0\1", 9); /* the content of the last file, then the count of listeners */
  g_assert_nonnull (at);
  at[2] = '\0';
  g_assert_true (parse_bytes (bytes, length));
  at = memmem (bytes, length, "/bin/true", 9);
  g_assert_nonnull (at);
  at[5] = '\0';
  g_assert_false (parse_bytes (bytes, length));
}

/* A file of exactly the most bytes, and of one more. */
static void
test_file_size (void)
{
  g_autofree char *content = g_strnfill (GLOVE_LAUNCH_FILE_BYTES_MAX + 1, 'x');
  const DriverFile file = { 0, 0644, "/a", content };

  CHECK (spec.files = &file; spec.n_files = 1, FALSE);
  content[GLOVE_LAUNCH_FILE_BYTES_MAX] = '\0';
  CHECK (spec.files = &file; spec.n_files = 1, TRUE);
  {
    const DriverFile two[] = { file, file };

    CHECK (spec.files = two; spec.n_files = 2, FALSE); /* past the size of a whole spec */
  }
}

static void
test_peek (void)
{
  DriverSpec spec;
  gsize length;
  g_autofree guint8 *bytes = NULL;

  fill (&spec);
  spec.uid = 0;
  spec.monitor = 77;
  bytes = driver_spec_encode (&spec, &length);
  g_assert_false (parse_bytes (bytes, length));
  g_assert_cmpint (glove_launch_order_peek_monitor (bytes, length), ==, 77);
  g_assert_cmpint (glove_launch_order_peek_monitor (bytes, 48), ==, 77);
  g_assert_cmpint (glove_launch_order_peek_monitor (bytes, 47), ==, -1);
  bytes[0] ^= 1;
  g_assert_cmpint (glove_launch_order_peek_monitor (bytes, length), ==, -1);
}

/* glove-launch has no header of the floors: its own numbers must be theirs. */
static void
test_bounds (void)
{
  g_assert_cmpuint (GLOVE_LAUNCH_SPEC_MAX, ==, GLOVE_SPEC_BYTES_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_STRING_MAX, ==, GLOVE_ARG_BYTES_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_ARGV_MAX, ==, GLOVE_ARGV_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_ENV_MAX, ==, GLOVE_ENV_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_GRANTS_MAX, ==, GLOVE_GRANTS_MAX + GLOVE_MASKS_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_FILES_MAX, >=, GLOVE_HOME_FILES_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_FILE_BYTES_MAX, ==, GLOVE_HOME_BYTES_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_LISTENERS_MAX, ==, GLOVE_LISTENERS_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_PATH_MAX, ==, GLOVE_PATH_BYTES_MAX);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/linux/launch-order/values", test_values);
  g_test_add_func ("/linux/launch-order/truncation", test_truncation);
  g_test_add_func ("/linux/launch-order/corruption", test_corruption);
  g_test_add_func ("/linux/launch-order/head", test_head);
  g_test_add_func ("/linux/launch-order/names", test_names);
  g_test_add_func ("/linux/launch-order/lists", test_lists);
  g_test_add_func ("/linux/launch-order/command", test_command);
  g_test_add_func ("/linux/launch-order/elements", test_elements);
  g_test_add_func ("/linux/launch-order/nul", test_nul);
  g_test_add_func ("/linux/launch-order/file-size", test_file_size);
  g_test_add_func ("/linux/launch-order/peek", test_peek);
  g_test_add_func ("/linux/launch-order/bounds", test_bounds);
  return g_test_run ();
}
