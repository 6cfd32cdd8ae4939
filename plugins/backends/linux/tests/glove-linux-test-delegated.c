/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits that need a control group which the host delegates: they end a session, are counted, and leave nothing. */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "glove-linux-backend.h"
#include "glove-linux-cgroup.h"
#include "glove-linux-fd.h"

typedef struct {
  GloveSandboxBackend *backend;
  GloveLaunchSpec *spec;
  GloveSandbox *sandbox;
  gboolean started, finished;
  GloveOutcome outcome;
} Fixture;

static char *unavailable;

static GloveSandboxBackend *
new_backend (void)
{
  g_autoptr (GHashTable) settings = g_hash_table_new (g_str_hash, g_str_equal);

  g_hash_table_insert (settings, (gpointer) "launcher", (gpointer) LAUNCHER);
  return g_object_new (GLOVE_LINUX_TYPE_BACKEND, "settings", settings, NULL);
}

static void
set_up (Fixture *fixture, gconstpointer script)
{
  static guint n;
  g_autofree char *id = g_strdup_printf ("limits-%d-%u", (int) getpid (), n++);
  const char *const argv[] = { "/bin/sh", "-c", script, NULL };
  const char *const env[] = { "PATH=/usr/bin:/bin", NULL };

  fixture->backend = new_backend ();
  fixture->spec = glove_launch_spec_new (id);
  g_strfreev (fixture->spec->argv);
  g_strfreev (fixture->spec->env);
  fixture->spec->argv = g_strdupv ((char **) argv);
  fixture->spec->env = g_strdupv ((char **) env);
}

/* Where the session groups were made, nothing with our name is left. */
static void
assert_nothing_left (const char *session_id)
{
  g_auto (GloveLinuxCgroupHost) host = { .root = -1 };
  g_autofree char *own = NULL;
  g_autofree char *beside = NULL;

  g_assert_cmpint (glove_linux_cgroup_host_init (&host), ==, GLOVE_LINUX_CGROUP_AVAILABLE);
  own = g_strdup_printf ("./%s/glove-session-%s", host.own, session_id);
  beside = g_strdup_printf ("./%s/../glove-session-%s", host.own, session_id);
  g_assert_cmpint (faccessat (host.root, own, F_OK, 0), ==, -1);
  g_assert_cmpint (faccessat (host.root, beside, F_OK, 0), ==, -1);
}

static void
tear_down (Fixture *fixture, gconstpointer script)
{
  g_clear_object (&fixture->sandbox);
  if (unavailable == NULL)
    assert_nothing_left (fixture->spec->session_id);
  g_clear_object (&fixture->backend);
  g_clear_pointer (&fixture->spec, glove_launch_spec_unref);
}

static gboolean
skip_unavailable (void)
{
  if (unavailable == NULL)
    return FALSE;
  if (g_strcmp0 (g_getenv ("GLOVE_TESTS_MUST_RUN"), "1") == 0)
    g_error ("%s", unavailable);
  g_test_skip (unavailable);
  return TRUE;
}

static void
limit (Fixture *fixture, GloveLimit which, guint64 value)
{
  fixture->spec->limits.value[which] = value;
  fixture->spec->limits.requested[which] = TRUE;
}

static void
on_finished (GObject *object, GAsyncResult *result, gpointer user_data)
{
  Fixture *fixture = user_data;
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_sandbox_finish_finish (GLOVE_SANDBOX (object), result, &fixture->outcome, &error));
  fixture->finished = TRUE;
}

static void
on_started (GObject *object, GAsyncResult *result, gpointer user_data)
{
  Fixture *fixture = user_data;
  g_autoptr (GError) error = NULL;

  fixture->started = glove_sandbox_start_finish (GLOVE_SANDBOX (object), result, &error);
  g_assert_no_error (error);
}

static void
start (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  fixture->sandbox = glove_sandbox_backend_prepare (fixture->backend, fixture->spec, &error);
  g_assert_no_error (error);
  glove_sandbox_start_async (fixture->sandbox, NULL, on_started, fixture);
  glove_sandbox_finish_async (fixture->sandbox, NULL, on_finished, fixture);
  while (!fixture->started)
    g_main_context_iteration (NULL, TRUE);
}

static void
run (Fixture *fixture)
{
  start (fixture);
  while (!fixture->finished)
    g_main_context_iteration (NULL, TRUE);
}

static void
test_memory (Fixture *fixture, gconstpointer script)
{
  if (skip_unavailable ())
    return;
  limit (fixture, GLOVE_LIMIT_MEMORY, 64u << 20);
  run (fixture);
  g_assert_cmpint (fixture->outcome.cause, ==, GLOVE_TERMINATION_MEMORY_LIMIT);
  g_assert_cmpint (glove_outcome_get_shell_status (&fixture->outcome), ==, 137);
  g_assert_cmpuint (fixture->outcome.usage.cpu_time_ms, !=, G_MAXUINT64);
}

static void
test_pids (Fixture *fixture, gconstpointer script)
{
  if (skip_unavailable ())
    return;
  limit (fixture, GLOVE_LIMIT_PIDS, 12);
  run (fixture);
  g_assert_cmpint (fixture->outcome.cause, ==, GLOVE_TERMINATION_EXITED);
  g_assert_cmpuint (fixture->outcome.exit_code, ==, 2);
  g_assert_cmpuint (fixture->outcome.pid_limit_hits, >, 0);
}

/* Two busy processes spend the budget of both; whatever the machine is made of, it ends. */
static void
test_cpu_time (Fixture *fixture, gconstpointer script)
{
  if (skip_unavailable ())
    return;
  limit (fixture, GLOVE_LIMIT_CPU_TIME, 500);
  run (fixture);
  g_assert_cmpint (fixture->outcome.cause, ==, GLOVE_TERMINATION_CPU_TIME_LIMIT);
  g_assert_cmpuint (fixture->outcome.usage.cpu_time_ms, >=, 500);
  g_assert_cmpuint (fixture->outcome.usage.cpu_time_ms, <, 5000);
}

/* Half a processor: work takes twice as long. Making the sandbox counts too, and an emulated machine is slow at it, so not quite. */
static void
test_cpus (Fixture *fixture, gconstpointer script)
{
  if (skip_unavailable ())
    return;
  limit (fixture, GLOVE_LIMIT_CPUS, 500);
  limit (fixture, GLOVE_LIMIT_CPU_TIME, 3000);
  run (fixture);
  g_assert_cmpint (fixture->outcome.cause, ==, GLOVE_TERMINATION_CPU_TIME_LIMIT);
  g_assert_cmpuint (fixture->outcome.usage.wall_time_ms, >=, 4000);
}

static void
test_freeze (Fixture *fixture, gconstpointer script)
{
  g_autoptr (GError) error = NULL;
  GloveUsage first, second;

  if (skip_unavailable ())
    return;
  start (fixture);
  g_assert_true (glove_sandbox_freeze (fixture->sandbox, TRUE, &error));
  g_assert_no_error (error);
  g_usleep (300000);
  g_assert_true (glove_sandbox_read_usage (fixture->sandbox, &first, &error));
  g_usleep (300000);
  g_assert_true (glove_sandbox_read_usage (fixture->sandbox, &second, &error));
  g_assert_cmpuint (second.cpu_time_ms, ==, first.cpu_time_ms);
  g_assert_cmpuint (first.peak_pids, !=, G_MAXUINT64);
  /* A frozen session can be ended as well. */
  glove_sandbox_stop (fixture->sandbox, GLOVE_TERMINATION_WALL_TIME_LIMIT);
  while (!fixture->finished)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (fixture->outcome.cause, ==, GLOVE_TERMINATION_WALL_TIME_LIMIT);
}

#define BUSY "while :; do :; done & while :; do :; done"
#define ADD(name, script, function) g_test_add ("/linux/delegated/" name, Fixture, script, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_auto (GloveLinuxCgroupHost) host = { .root = -1 };
  GloveLinuxCgroupPlace place;
  int status;

  g_test_init (&argc, &argv, NULL);
  (void) glove_linux_cgroup_host_init (&host);
  (void) glove_linux_cgroup_find (&host, &place, &unavailable);
  ADD ("memory", "head -c 200000000 /dev/zero | tail -c 190000000 | wc -c", test_memory);
  ADD ("memory-in-tmp", "head -c 200000000 /dev/zero > /tmp/fill", test_memory);
  ADD ("pids", "i=0; while [ $i -lt 60 ]; do sleep 30 & i=$((i+1)); done 2>/dev/null", test_pids);
  ADD ("cpu-time", BUSY, test_cpu_time);
  ADD ("cpus", BUSY, test_cpus);
  ADD ("freeze", BUSY, test_freeze);
  status = g_test_run ();
  g_free (unavailable);
  return status;
}
