/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The encoder against the launcher's own parser. */

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-launch-order.h"
#include "glove-linux-encoder.h"
#include "glove-linux-files.h"

static GloveLaunchSpec *
new_spec (void)
{
  GloveLaunchSpec *spec = glove_launch_spec_new ("session-1");
  const char *const argv[] = { "prog", "", "a b\nc", "\xff\xfe", "--bind", NULL };
  const char *const env[] = { "PATH=/usr/bin", "EMPTY=", "BYTES=\xff", NULL };

  g_strfreev (spec->argv);
  g_strfreev (spec->env);
  spec->argv = g_strdupv ((char **) argv);
  spec->env = g_strdupv ((char **) env);
  return spec;
}

static void
add_grant (GloveLaunchSpec *spec, GloveGrantAccess access, const char *path, const char *target)
{
  g_autoptr (GError) error = NULL;
  GloveGrant *grant = glove_grant_new (access, GLOVE_GRANT_ORIGIN_OPTION, open (path, O_PATH | O_CLOEXEC), path, target, &error);

  g_assert_no_error (error);
  g_ptr_array_add (spec->grants, grant);
}

static GloveLinuxEncoding
plain_encoding (const GloveLinuxEncodedGrant *grants)
{
  return (GloveLinuxEncoding){ .host_uid = 4711,
                               .host_gid = 4712,
                               .fds = { .monitor = 10, .egress = 11, .in = -1, .out = 13, .err = 14, .cgroup = -1,
                                        .cgroup_parent = -1 },
                               .grants = grants };
}

static guint8 *
encode (const GloveLaunchSpec *spec, const GloveLinuxEncoding *encoding, gsize *ret_length)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = glove_linux_encoder_encode (spec, encoding, &error);

  g_assert_no_error (error);
  return g_memdup2 (g_bytes_get_data (bytes, ret_length), g_bytes_get_size (bytes));
}

static void
test_head (void)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  GloveLinuxEncoding encoding = plain_encoding (NULL);
  g_autofree guint8 *bytes = NULL;
  GloveLaunchOrder order;
  gsize length = 0;

  spec->limits.value[GLOVE_LIMIT_HOME_SIZE] = 1u << 20;
  spec->limits.value[GLOVE_LIMIT_TMP_SIZE] = G_GUINT64_CONSTANT (1) << 40;
  spec->limits.value[GLOVE_LIMIT_SHM_SIZE] = 4096;
  bytes = encode (spec, &encoding, &length);
  g_assert_true (glove_launch_order_parse (&order, bytes, length));
  g_assert_cmpuint (order.uid, ==, 1000);
  g_assert_cmpuint (order.host_uid, ==, 4711);
  g_assert_cmpuint (order.host_gid, ==, 4712);
  g_assert_cmpint (order.monitor, ==, 10);
  g_assert_cmpint (order.egress, ==, 11);
  g_assert_cmpint (order.stdio[0], ==, -1);
  g_assert_cmpint (order.stdio[2], ==, 14);
  g_assert_cmpint (order.cgroup, ==, -1);
  g_assert_cmpuint (order.rows, ==, 0);
  g_assert_cmpstr (order.host_name, ==, "glove");
  g_assert_cmpstr (order.home, ==, "/home/agent");
  g_assert_cmpstr (order.work_dir, ==, "/home/agent");
  g_assert_cmpstr (order.executable, ==, "");
  g_assert_cmpuint (order.bytes[GLOVE_LAUNCH_SIZE_HOME], ==, 1u << 20);
  g_assert_cmpuint (order.inodes[GLOVE_LAUNCH_SIZE_HOME], ==, 4096);
  g_assert_cmpuint (order.bytes[GLOVE_LAUNCH_SIZE_TMP], ==, G_GUINT64_CONSTANT (1) << 40);
  g_assert_cmpuint (order.inodes[GLOVE_LAUNCH_SIZE_TMP], ==, 1u << 20);
  g_assert_cmpuint (order.bytes[GLOVE_LAUNCH_SIZE_SHM], ==, 4096);
  glove_launch_order_clear (&order);
}

static void
test_terminal_and_cgroup (void)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  GloveLinuxEncoding encoding = plain_encoding (NULL);
  g_autofree guint8 *bytes = NULL;
  GloveLaunchOrder order;
  gsize length = 0;

  spec->tty = TRUE;
  spec->rows = 50;
  spec->columns = 4096;
  encoding.fds.cgroup = 20;
  encoding.fds.cgroup_parent = 21;
  encoding.cgroup_name = "glove-session-session-1";
  encoding.flags = GLOVE_LAUNCH_FLAG_MAP_ID;
  bytes = encode (spec, &encoding, &length);
  g_assert_true (glove_launch_order_parse (&order, bytes, length));
  g_assert_cmpuint (order.flags, ==, GLOVE_LAUNCH_FLAG_TTY | GLOVE_LAUNCH_FLAG_MAP_ID);
  g_assert_cmpuint (order.rows, ==, 50);
  g_assert_cmpuint (order.columns, ==, 4096);
  g_assert_cmpint (order.cgroup, ==, 20);
  g_assert_cmpint (order.cgroup_parent, ==, 21);
  g_assert_cmpstr (order.cgroup_name, ==, "glove-session-session-1");
  glove_launch_order_clear (&order);
}

/* Any bytes but NUL come through as they are. */
static void
test_command (void)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  GloveLinuxEncoding encoding = plain_encoding (NULL);
  g_autofree guint8 *bytes = NULL;
  GloveLaunchOrder order;
  gsize length = 0;

  bytes = encode (spec, &encoding, &length);
  g_assert_true (glove_launch_order_parse (&order, bytes, length));
  g_assert_true (g_strv_equal ((const char *const *) order.argv, (const char *const *) spec->argv));
  g_assert_true (g_strv_equal ((const char *const *) order.env, (const char *const *) spec->env));
  glove_launch_order_clear (&order);
}

static void
test_limits (void)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  GloveLinuxEncoding encoding = plain_encoding (NULL);
  g_autofree guint8 *bytes = NULL;
  GloveLaunchOrder order;
  gsize length = 0;
  gboolean seen[RLIM_NLIMITS] = { FALSE };

  encoding.count_pids_by_rlimit = TRUE;
  spec->limits.value[GLOVE_LIMIT_PIDS] = 7;
  spec->limits.value[GLOVE_LIMIT_OPEN_FILES] = 64;
  spec->limits.value[GLOVE_LIMIT_FILE_SIZE] = 1 << 20;
  bytes = encode (spec, &encoding, &length);
  g_assert_true (glove_launch_order_parse (&order, bytes, length));
  for (guint32 i = 0; i < order.n_rlimits; i++)
    {
      const GloveLaunchOrderRlimit *limit = &order.rlimits[i];

      g_assert_cmpuint (limit->resource, <, RLIM_NLIMITS);
      g_assert_false (seen[limit->resource]);
      seen[limit->resource] = TRUE;
      if (limit->resource == RLIMIT_NPROC)
        g_assert_cmpuint (limit->hard, ==, 7);
      if (limit->resource == RLIMIT_NOFILE)
        g_assert_cmpuint (limit->hard, ==, 64);
      if (limit->resource == RLIMIT_FSIZE)
        g_assert_cmpuint (limit->hard, ==, 1 << 20);
      if (limit->resource == RLIMIT_CORE)
        g_assert_cmpuint (limit->hard, ==, 0);
    }
  g_assert_true (seen[RLIMIT_NPROC] && seen[RLIMIT_NOFILE] && seen[RLIMIT_FSIZE] && seen[RLIMIT_CORE]);
  glove_launch_order_clear (&order);
}

static void
test_grants (void)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  GloveLinuxEncodedGrant grants[] = { { 30, FALSE }, { 31, FALSE }, { -1, FALSE } };
  GloveLinuxEncoding encoding = plain_encoding (grants);
  g_autofree guint8 *bytes = NULL;
  GloveLaunchOrder order;
  gsize length = 0;
  const GloveGrant *first;

  add_grant (spec, GLOVE_GRANT_WRITE, "/usr", "/srv/odd name\n\xff");
  add_grant (spec, GLOVE_GRANT_READ, "/etc/passwd", "/srv/file");
  add_grant (spec, GLOVE_GRANT_MASK, "/usr", "/srv/masked");
  first = g_ptr_array_index (spec->grants, 0);
  bytes = encode (spec, &encoding, &length);
  g_assert_true (glove_launch_order_parse (&order, bytes, length));
  g_assert_cmpuint (order.n_grants, ==, 3);
  g_assert_cmpuint (order.grants[0].access, ==, GLOVE_LAUNCH_ACCESS_WRITE);
  g_assert_cmpuint (order.grants[0].flags, ==, GLOVE_LAUNCH_GRANT_DIRECTORY);
  g_assert_cmpint (order.grants[0].fd, ==, 30);
  g_assert_cmpstr (order.grants[0].host_path, ==, "/usr");
  g_assert_cmpstr (order.grants[0].target, ==, "/srv/odd name\n\xff");
  g_assert_cmpuint (order.grants[0].dev, ==, first->identity.dev);
  g_assert_cmpuint (order.grants[0].ino, ==, first->identity.ino);
  g_assert_cmpuint (order.grants[0].mode, ==, first->identity.mode);
  g_assert_cmpuint (order.grants[1].access, ==, GLOVE_LAUNCH_ACCESS_READ);
  g_assert_cmpuint (order.grants[1].flags, ==, 0);
  g_assert_cmpuint (order.grants[2].access, ==, GLOVE_LAUNCH_ACCESS_MASK);
  g_assert_cmpuint (order.grants[2].flags, ==, 0);
  g_assert_cmpint (order.grants[2].fd, ==, -1);
  glove_launch_order_clear (&order);
}

static void
test_files (void)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  GloveLinuxEncoding encoding = plain_encoding (NULL);
  g_autoptr (GPtrArray) system_files = glove_linux_files_list ();
  g_autofree guint8 *bytes = NULL;
  g_autoptr (GError) error = NULL;
  GloveLaunchOrder order;
  gsize length = 0;

  spec->home = glove_runtime_home_new ();
  g_assert_true (glove_runtime_home_add_file (spec->home, ".tool/config", "a\0b", 3, 0600, &error));
  bytes = encode (spec, &encoding, &length);
  g_assert_true (glove_launch_order_parse (&order, bytes, length));
  g_assert_cmpuint (order.n_files, ==, system_files->len + 2);
  for (guint i = 0; i < system_files->len; i++)
    {
      g_assert_cmpuint (order.files[i].flags, ==, GLOVE_LAUNCH_FILE_OWNER_ROOT);
      g_assert_cmpuint (order.files[i].mode, ==, 0444);
      g_assert_true (g_str_has_prefix (order.files[i].path, "/etc/"));
    }
  g_assert_cmpstr (order.files[system_files->len].path, ==, "/home/agent/.tool");
  g_assert_cmpuint (order.files[system_files->len].flags, ==, GLOVE_LAUNCH_FILE_DIRECTORY);
  g_assert_cmpuint (order.files[system_files->len].mode, ==, 0700);
  g_assert_cmpstr (order.files[system_files->len + 1].path, ==, "/home/agent/.tool/config");
  g_assert_cmpmem (order.files[system_files->len + 1].content, order.files[system_files->len + 1].length, "a\0b", 3);
  glove_launch_order_clear (&order);
}

static void
test_listeners (void)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  GloveLinuxEncoding encoding = plain_encoding (NULL);
  GloveLaunchListener listeners[] = { { .port = 0, .tag = 1 }, { .port = 65535, .tag = G_MAXUINT32 } };
  g_autofree guint8 *bytes = NULL;
  GloveLaunchOrder order;
  gsize length = 0;

  g_array_append_vals (spec->listeners, listeners, 2);
  bytes = encode (spec, &encoding, &length);
  g_assert_true (glove_launch_order_parse (&order, bytes, length));
  g_assert_cmpuint (order.n_listeners, ==, 2);
  g_assert_cmpuint (order.listeners[0].tag, ==, 1);
  g_assert_cmpuint (order.listeners[0].port, ==, 0);
  g_assert_cmpuint (order.listeners[1].tag, ==, G_MAXUINT32);
  g_assert_cmpuint (order.listeners[1].port, ==, 65535);
  glove_launch_order_clear (&order);
}

/* Each count and size at its limit and one past it. */
static void
assert_encodes (const GloveLaunchSpec *spec, gboolean fits, const char *telling)
{
  g_autofree GloveLinuxEncodedGrant *grants = g_new0 (GloveLinuxEncodedGrant, spec->grants->len + 1);
  GloveLinuxEncoding encoding = plain_encoding (grants);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = glove_linux_encoder_encode (spec, &encoding, &error);

  if (fits)
    {
      g_assert_no_error (error);
      g_assert_nonnull (bytes);
      return;
    }
  g_assert_null (bytes);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_LIMIT);
  g_assert_nonnull (strstr (error->message, telling));
}

static char **
repeat (const char *text, gsize n)
{
  char **strv = g_new0 (char *, n + 1);

  for (gsize i = 0; i < n; i++)
    strv[i] = g_strdup (text);
  return strv;
}

static void
test_bounds (void)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();

  for (int past = -1; past <= 1; past++)
    {
      g_strfreev (spec->argv);
      spec->argv = repeat ("x", (gsize) ((int) GLOVE_LAUNCH_ARGV_MAX + past));
      assert_encodes (spec, past <= 0, "arguments");
    }
  g_strfreev (spec->argv);
  spec->argv = repeat ("x", 1);
  for (int past = -1; past <= 1; past++)
    {
      g_strfreev (spec->env);
      spec->env = repeat ("A=b", (gsize) ((int) GLOVE_LAUNCH_ENV_MAX + past));
      assert_encodes (spec, past <= 0, "environment variables");
    }
  g_strfreev (spec->env);
  spec->env = repeat ("A=b", 1);
  for (int past = -1; past <= 1; past++)
    {
      g_strfreev (spec->argv);
      spec->argv = repeat ("x", 1);
      g_free (spec->argv[0]);
      spec->argv[0] = g_strnfill ((gsize) ((int) GLOVE_LAUNCH_STRING_MAX + past), 'x');
      assert_encodes (spec, past <= 0, "arguments");
    }
  g_strfreev (spec->argv);
  spec->argv = repeat ("x", 1);
  for (int past = -1; past <= 1; past++)
    {
      g_array_set_size (spec->listeners, (guint) ((int) GLOVE_LAUNCH_LISTENERS_MAX + past));
      assert_encodes (spec, past <= 0, "listeners");
    }
  g_array_set_size (spec->listeners, 0);
}

/* The largest home that the model lets through fits. */
static void
test_file_bounds (void)
{
  g_autofree char *fill = g_strnfill (GLOVE_LAUNCH_FILE_BYTES_MAX, 'x');
  g_autoptr (GError) error = NULL;

  for (int past = -1; past <= 0; past++)
    {
      g_autoptr (GloveLaunchSpec) spec = new_spec ();

      spec->home = glove_runtime_home_new ();
      g_assert_true (glove_runtime_home_add_file (spec->home, "f", fill, (gssize) GLOVE_LAUNCH_FILE_BYTES_MAX + past, 0600,
                                                  &error));
      assert_encodes (spec, TRUE, NULL);
    }
}

static void
test_same_bounds (void)
{
  g_assert_cmpuint (GLOVE_LAUNCH_SPEC_MAX, ==, GLOVE_SPEC_BYTES_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_STRING_MAX, ==, GLOVE_ARG_BYTES_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_ARGV_MAX, ==, GLOVE_ARGV_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_ENV_MAX, ==, GLOVE_ENV_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_GRANTS_MAX, ==, GLOVE_GRANTS_MAX + GLOVE_MASKS_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_LISTENERS_MAX, ==, GLOVE_LISTENERS_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_FILE_BYTES_MAX, ==, GLOVE_HOME_BYTES_MAX);
  g_assert_cmpuint (GLOVE_LAUNCH_FILES_MAX, >=, GLOVE_HOME_FILES_MAX + 16);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/linux/encoder/head", test_head);
  g_test_add_func ("/linux/encoder/terminal-and-cgroup", test_terminal_and_cgroup);
  g_test_add_func ("/linux/encoder/command", test_command);
  g_test_add_func ("/linux/encoder/limits", test_limits);
  g_test_add_func ("/linux/encoder/grants", test_grants);
  g_test_add_func ("/linux/encoder/files", test_files);
  g_test_add_func ("/linux/encoder/listeners", test_listeners);
  g_test_add_func ("/linux/encoder/bounds", test_bounds);
  g_test_add_func ("/linux/encoder/file-bounds", test_file_bounds);
  g_test_add_func ("/linux/encoder/same-bounds", test_same_bounds);
  return g_test_run ();
}
