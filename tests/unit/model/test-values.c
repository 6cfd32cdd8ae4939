/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <string.h>

#include "glove-channel-bounds.h"
#include "glove-error.h"
#include "glove-launch-template.h"
#include "glove-limits.h"
#include "glove-outcome.h"
#include "glove-probe-result.h"
#include "glove-test.h"

static void
test_limit_defaults (void)
{
  GloveLimits limits;

  memset (&limits, 0xff, sizeof limits);
  glove_limits_init_default (&limits);
  for (int i = 0; i < GLOVE_N_LIMITS; i++)
    g_assert_false (limits.requested[i]);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_MEMORY], ==, G_GUINT64_CONSTANT (4) << 30);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_PIDS], ==, 1024);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_CPUS], ==, g_get_num_processors () * 1000);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_CPU_TIME], ==, 0);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_WALL_TIME], ==, 0);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_OUTPUT], ==, 0);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_OPEN_FILES], ==, 16384);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_FILE_SIZE], ==, G_GUINT64_CONSTANT (4) << 30);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_HOME_SIZE], ==, G_GUINT64_CONSTANT (2) << 30);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_TMP_SIZE], ==, G_GUINT64_CONSTANT (2) << 30);
  g_assert_cmpuint (limits.value[GLOVE_LIMIT_SHM_SIZE], ==, 512 << 20);
}

static void
test_limit_options (void)
{
  static const struct {
    const char *text;
    GloveLimit limit;
    guint64 value; /* 0: refused */
    const char *shown_or_message;
  } cases[] = {
    { "memory=2G", GLOVE_LIMIT_MEMORY, G_GUINT64_CONSTANT (2) << 30, "2 GiB" },
    { "memory=9223372036854775806", GLOVE_LIMIT_MEMORY, G_MAXINT64 - 1, "8 EiB" },
    { "memory=9223372036854775807", GLOVE_LIMIT_MEMORY, G_MAXINT64, "8 EiB" },
    { "pids=512", GLOVE_LIMIT_PIDS, 512, "512" },
    { "pids=1", GLOVE_LIMIT_PIDS, 1, "1" },
    { "cpus=2", GLOVE_LIMIT_CPUS, 2000, "2" },
    { "cpus=0.5", GLOVE_LIMIT_CPUS, 500, "0.5" },
    { "cpus=1.25", GLOVE_LIMIT_CPUS, 1250, "1.25" },
    { "cpus=0.001", GLOVE_LIMIT_CPUS, 1, "0.001" },
    { "cpus=9223372036854775.807", GLOVE_LIMIT_CPUS, G_MAXINT64, "9223372036854775.807" },
    { "cpu-time=60s", GLOVE_LIMIT_CPU_TIME, 60000, "1 min" },
    { "wall-time=10m", GLOVE_LIMIT_WALL_TIME, 600000, "10 min" },
    { "wall-time=90s", GLOVE_LIMIT_WALL_TIME, 90000, "90 s" },
    { "wall-time=2h", GLOVE_LIMIT_WALL_TIME, 7200000, "2 h" },
    { "wall-time=250ms", GLOVE_LIMIT_WALL_TIME, 250, "250 ms" },
    { "output=16M", GLOVE_LIMIT_OUTPUT, 16 << 20, "16 MiB" },
    { "open-files=1024", GLOVE_LIMIT_OPEN_FILES, 1024, "1024" },
    { "file-size=1G", GLOVE_LIMIT_FILE_SIZE, 1 << 30, "1 GiB" },
    { "home-size=1G", GLOVE_LIMIT_HOME_SIZE, 1 << 30, "1 GiB" },
    { "tmp-size=1G", GLOVE_LIMIT_TMP_SIZE, 1 << 30, "1 GiB" },
    { "shm-size=256M", GLOVE_LIMIT_SHM_SIZE, 256 << 20, "256 MiB" },
    { "memory=0", GLOVE_LIMIT_MEMORY, 0, "limit memory: “0” is zero" },
    { "memory=9223372036854775808", GLOVE_LIMIT_MEMORY, 0, "limit memory: “9223372036854775808” is too large" },
    { "memory=-1", GLOVE_LIMIT_MEMORY, 0, "limit memory: “-1” is not a value like" },
    { "memory=", GLOVE_LIMIT_MEMORY, 0, "not a value like" },
    { "pids=1K", GLOVE_LIMIT_PIDS, 0, "limit pids: “1K” is not a whole number" },
    { "pids=0", GLOVE_LIMIT_PIDS, 0, "zero" },
    { "pids=18446744073709551616", GLOVE_LIMIT_PIDS, 0, "too large" },
    { "cpus=0", GLOVE_LIMIT_CPUS, 0, "zero" },
    { "cpus=0.000", GLOVE_LIMIT_CPUS, 0, "zero" },
    { "cpus=1.0001", GLOVE_LIMIT_CPUS, 0, "not a value like" },
    { "cpus=.5", GLOVE_LIMIT_CPUS, 0, "not a value like" },
    { "cpus=1.", GLOVE_LIMIT_CPUS, 0, "not a value like" },
    { "cpus=1.5x", GLOVE_LIMIT_CPUS, 0, "not a value like" },
    { "cpus=9223372036854775.808", GLOVE_LIMIT_CPUS, 0, "too large" },
    { "cpus=18446744073709551616", GLOVE_LIMIT_CPUS, 0, "too large" },
    { "open-files=1.5", GLOVE_LIMIT_OPEN_FILES, 0, "not a whole number" },
    { "wall-time=0s", GLOVE_LIMIT_WALL_TIME, 0, "zero" },
    { "wall-time=1d", GLOVE_LIMIT_WALL_TIME, 0, "not a value like" },
    { "memory", GLOVE_LIMIT_MEMORY, 0, "limit “memory” is not NAME=VALUE" },
    { "", GLOVE_LIMIT_MEMORY, 0, "is not NAME=VALUE" },
    { "=1", GLOVE_LIMIT_MEMORY, 0, "there is no limit “”" },
    { "Memory=1", GLOVE_LIMIT_MEMORY, 0, "there is no limit “Memory”" },
    { "mem=1", GLOVE_LIMIT_MEMORY, 0, "there is no limit “mem”" },
    { "memory2=1", GLOVE_LIMIT_MEMORY, 0, "there is no limit “memory2”" },
    { "cpu\x1b=1", GLOVE_LIMIT_MEMORY, 0, "there is no limit “cpu\\x1b”" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *shown = NULL;
      GloveLimits limits;
      GloveLimits before;
      gboolean ok;

      memset (&limits, 0, sizeof limits);
      glove_limits_init_default (&limits);
      before = limits;
      ok = glove_limits_parse_option (&limits, cases[i].text, &error);
      g_test_message ("case %" G_GSIZE_FORMAT, i);
      if (cases[i].value == 0)
        {
          g_assert_false (ok);
          glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, cases[i].shown_or_message);
          g_assert_cmpmem (&limits, sizeof limits, &before, sizeof before);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpuint (limits.value[cases[i].limit], ==, cases[i].value);
      for (int j = 0; j < GLOVE_N_LIMITS; j++)
        g_assert_cmpint (limits.requested[j], ==, j == (int) cases[i].limit);
      shown = glove_limit_format_value (cases[i].limit, cases[i].value);
      g_assert_cmpstr (shown, ==, cases[i].shown_or_message);
    }
}

/* Every limit has a name that its own parser takes, and the hint of an unknown one lists it. */
static void
test_limit_names (void)
{
  g_autoptr (GError) error = NULL;
  GloveLimits limits;

  glove_limits_init_default (&limits);
  g_assert_false (glove_limits_parse_option (&limits, "x=1", &error));
  for (int i = 0; i < GLOVE_N_LIMITS; i++)
    {
      g_autofree char *option = g_strdup_printf ("%s=1", glove_limit_get_name ((GloveLimit) i));
      g_autofree char *none = glove_limit_format_value ((GloveLimit) i, 0);

      g_assert_true (glove_limits_parse_option (&limits, option, NULL));
      g_assert_true (limits.requested[i]);
      glove_test_assert_contains (glove_error_get_hint (error), glove_limit_get_name ((GloveLimit) i));
      g_assert_cmpstr (none, ==, "none");
    }
  g_assert_null (glove_limit_get_name (GLOVE_N_LIMITS));
}

static void
test_names (void)
{
  static const char *const mechanisms[]
      = { "unavailable", "rlimit", "cgroup_v2", "watchdog", "filesystem_quota", "byte_counter", NULL };
  static const char *const causes[]
      = { "exited",          "signaled",   "cpu_time_limit",        "memory_limit",     "pid_limit",
          "wall_time_limit", "disk_limit", "terminal_output_limit", "supervisor_error", NULL };
  static const char *const statuses[] = { "ok", "degraded", "missing", "unknown", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (mechanisms); i++)
    g_assert_cmpstr (glove_limit_mechanism_get_name ((GloveLimitMechanism) i), ==, mechanisms[i]);
  for (guint i = 0; i < G_N_ELEMENTS (causes); i++)
    g_assert_cmpstr (glove_termination_get_name ((GloveTermination) i), ==, causes[i]);
  for (guint i = 0; i < G_N_ELEMENTS (statuses); i++)
    g_assert_cmpstr (glove_probe_status_get_name ((GloveProbeStatus) i), ==, statuses[i]);
}

static void
test_shell_status (void)
{
  static const struct {
    GloveTermination cause;
    guint8 exit_code;
    guint8 signal;
    int status;
  } cases[] = {
    { GLOVE_TERMINATION_EXITED, 0, 0, 0 },
    { GLOVE_TERMINATION_EXITED, 255, 0, 255 },
    { GLOVE_TERMINATION_SIGNALED, 0, 15, 143 },
    { GLOVE_TERMINATION_SIGNALED, 0, 9, 137 },
    { GLOVE_TERMINATION_MEMORY_LIMIT, 0, 9, 137 },
    { GLOVE_TERMINATION_WALL_TIME_LIMIT, 0, 0, 137 },
    { GLOVE_TERMINATION_TERMINAL_OUTPUT_LIMIT, 0, 15, 137 },
    { GLOVE_TERMINATION_SUPERVISOR_ERROR, 0, 0, 125 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GloveOutcome outcome = { .cause = cases[i].cause, .exit_code = cases[i].exit_code, .signal = cases[i].signal };

      g_assert_cmpint (glove_outcome_get_shell_status (&outcome), ==, cases[i].status);
    }
}

static void
test_probe_result (void)
{
  g_autoptr (GloveProbeResult) result = glove_probe_result_new ("user_namespaces", GLOVE_PROBE_OK, "there", NULL);
  g_autoptr (GloveProbeResult) copy = glove_probe_result_copy (result);

  g_assert_cmpstr (copy->code, ==, "user_namespaces");
  g_assert_cmpint (copy->status, ==, GLOVE_PROBE_OK);
  g_assert_cmpstr (copy->message, ==, "there");
  g_assert_cmpstr (copy->repair, ==, "");
  g_assert_true (copy->code != result->code);
  g_assert_true (G_TYPE_IS_BOXED (GLOVE_TYPE_PROBE_RESULT));
}

static void
test_channel_bounds (void)
{
  static const struct {
    const char *name;
    gsize offset;
    guint32 min;
    guint32 max;
  } cases[] = {
    { "max_items", G_STRUCT_OFFSET (GloveChannelBounds, max_items), 1, 4096 },
    { "max_body_bytes", G_STRUCT_OFFSET (GloveChannelBounds, max_body_bytes), 1, 65536 },
    { "max_ttl_ms", G_STRUCT_OFFSET (GloveChannelBounds, max_ttl_ms), 1, 600000 },
    { "max_skew_ms", G_STRUCT_OFFSET (GloveChannelBounds, max_skew_ms), 0, 30000 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const guint32 values[] = { cases[i].min - 1, cases[i].min, cases[i].max - 1, cases[i].max, cases[i].max + 1 };

      for (gsize j = 0; j < G_N_ELEMENTS (values); j++)
        {
          GloveChannelBounds bounds = { 4096, 8192, 600000, 30000 };
          g_autoptr (GError) error = NULL;
          gboolean ok;

          G_STRUCT_MEMBER (guint32, &bounds, cases[i].offset) = values[j];
          ok = glove_channel_bounds_validate (&bounds, &error);
          if (j == 0 || j == 4)
            glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, cases[i].name);
          g_assert_cmpint (ok, ==, j != 0 && j != 4);
        }
    }
}

static void
set_string (char **field, const char *value)
{
  g_free (*field);
  *field = g_strdup (value);
}

static void
set_list (char ***field, const char *first, ...) G_GNUC_NULL_TERMINATED;

static void
set_list (char ***field, const char *first, ...)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  va_list args;

  va_start (args, first);
  for (const char *item = first; item != NULL; item = va_arg (args, const char *))
    g_strv_builder_add (builder, item);
  va_end (args);
  g_strfreev (*field);
  *field = g_strv_builder_end (builder);
}

static GloveLaunchTemplate *
make_template (void)
{
  GloveLaunchTemplate *template = glove_launch_template_new ();

  set_string (&template->executable_path, "/usr/bin/true");
  set_list (&template->arguments, "--version", NULL);
  set_list (&template->environment, "PATH=/usr/bin:/bin", NULL);
  return template;
}

/* contracts §15 */
static void
test_template_digest (void)
{
  g_autoptr (GloveLaunchTemplate) template = make_template ();
  g_autoptr (GError) error = NULL;
  g_autofree char *digest = glove_launch_template_dup_digest (template);
  g_autofree char *with_paths = NULL;
  g_autofree char *discovery = NULL;

  g_assert_true (glove_launch_template_validate (template, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (digest, ==, "abfd70dfd603913ad00231fb2c955afd980afccdefed3510ec0445cca44798c9");

  set_list (&template->read_only_paths, "/opt/a", NULL);
  with_paths = glove_launch_template_dup_digest (template);
  g_assert_cmpstr (with_paths, !=, digest);
  set_string (&template->executable_path, "");
  set_string (&template->runtime_discovery, "pi");
  set_list (&template->executable_search_paths, "/usr/bin", NULL);
  g_assert_true (glove_launch_template_validate (template, &error));
  discovery = glove_launch_template_dup_digest (template);
  g_assert_cmpstr (discovery, !=, with_paths);
}

static void
test_template_refused (void)
{
  for (int fault = 0; fault < 22; fault++)
    {
      g_autoptr (GloveLaunchTemplate) template = make_template ();
      g_autoptr (GError) error = NULL;
      const char *message = NULL;
      g_autofree char *long_text = NULL;

      switch (fault)
        {
        case 0: set_string (&template->executable_path, "true"); message = "executable_path is not absolute"; break;
        case 1: set_string (&template->executable_path, ""); message = "executable_path is not absolute"; break;
        case 2: set_string (&template->executable_path, "/"); message = "executable_path is not absolute"; break;
        case 3: set_string (&template->executable_path, "/a/../b"); message = "executable_path is not absolute"; break;
        case 4: set_list (&template->executable_search_paths, "/usr/bin", NULL); message = "next to executable_path"; break;
        case 5: set_string (&template->runtime_discovery, "pi"); message = "next to runtime_discovery"; break;
        case 6: set_string (&template->runtime_discovery, "Pi"); message = "not a runtime id"; break;
        case 7: set_string (&template->runtime_discovery, "pi"); set_string (&template->executable_path, "");
                message = "without executable_search_paths"; break;
        case 8: set_list (&template->arguments, "", NULL); message = "arguments has"; break;
        case 9: set_list (&template->environment, "PATH", NULL); message = "not NAME=VALUE"; break;
        case 10: set_list (&template->environment, "9A=1", NULL); message = "not NAME=VALUE"; break;
        case 11: set_list (&template->environment, "=1", NULL); message = "not NAME=VALUE"; break;
        case 12: set_list (&template->environment, "B=1", "A=1", NULL); message = "not sorted"; break;
        case 13: set_list (&template->environment, "A=1", "A=2", NULL); message = "a name twice"; break;
        case 14: set_list (&template->environment, "A=1", "A=1", NULL); message = "a name twice"; break;
        case 15: set_list (&template->read_only_paths, "/", NULL); message = "read_only_paths has one"; break;
        case 16: set_list (&template->read_only_paths, "a", NULL); message = "read_only_paths has one"; break;
        case 17: set_list (&template->read_only_paths, "/a", "/a/b", NULL); message = "two that overlap"; break;
        case 18: set_list (&template->read_only_paths, "/a/b", "/a", NULL); message = "two that overlap"; break;
        case 19: set_list (&template->read_only_paths, "/a", "/a", NULL); message = "two that overlap"; break;
        case 20: long_text = g_strnfill (4097, 'a'); long_text[0] = '/'; set_string (&template->executable_path, long_text);
                 message = "executable_path is not absolute"; break;
        default: long_text = g_strnfill (65537, 'a'); set_list (&template->arguments, long_text, NULL); message = "arguments has"; break;
        }
      g_test_message ("fault %d", fault);
      g_assert_false (glove_launch_template_validate (template, &error));
      glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, message);
    }
}

static void
test_template_bounds (void)
{
  for (guint n = 255; n <= 257; n++)
    {
      g_autoptr (GloveLaunchTemplate) template = make_template ();
      g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
      g_autofree char *text = g_strnfill (65280 + n, 'a'); /* 65535, 65536, 65537 */
      g_autofree char *path = g_strnfill (3840 + n, 'a');   /* 4095, 4096, 4097 */

      for (guint i = 0; i < n; i++)
        g_strv_builder_add (builder, "x");
      g_strfreev (template->arguments);
      template->arguments = g_strv_builder_end (builder);
      g_assert_cmpint (glove_launch_template_validate (template, NULL), ==, n <= 256);
      set_list (&template->arguments, text, NULL);
      g_assert_cmpint (glove_launch_template_validate (template, NULL), ==, n <= 256);
      set_list (&template->arguments, "x", NULL);
      path[0] = '/';
      set_string (&template->executable_path, path);
      g_assert_cmpint (glove_launch_template_validate (template, NULL), ==, n <= 256);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/limits/defaults", test_limit_defaults);
  g_test_add_func ("/model/limits/options", test_limit_options);
  g_test_add_func ("/model/limits/names", test_limit_names);
  g_test_add_func ("/model/names", test_names);
  g_test_add_func ("/model/outcome/shell-status", test_shell_status);
  g_test_add_func ("/model/probe-result", test_probe_result);
  g_test_add_func ("/model/channel-bounds", test_channel_bounds);
  g_test_add_func ("/model/launch-template/digest", test_template_digest);
  g_test_add_func ("/model/launch-template/refused", test_template_refused);
  g_test_add_func ("/model/launch-template/bounds", test_template_bounds);
  return g_test_run ();
}
