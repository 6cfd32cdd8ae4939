/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What enforces a limit, how an end is told, and what else is pure computation. */

#include <signal.h>
#include <sys/resource.h>

#include "glove-linux-idmap.h"
#include "glove-linux-mechanisms.h"
#include "glove-linux-mounts.h"
#include "glove-linux-outcome.h"
#include "glove-linux-quota.h"

#define EXITED(code) ((guint32) (code) << 8)
#define KILLED(number) ((guint32) (number))

static void
test_with_cgroup (void)
{
  g_auto (GloveLinuxMechanisms) mechanisms = { 0 };
  GloveLimits limits = { { 0 } };
  g_autoptr (GError) error = NULL;

  glove_linux_mechanisms_init_for_status (&mechanisms, GLOVE_LINUX_CGROUP_AVAILABLE, NULL, FALSE, FALSE);
  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    {
      limits.value[i] = 1;
      limits.requested[i] = TRUE;
      g_assert_cmpint (mechanisms.mechanism[i], !=, GLOVE_LIMIT_MECHANISM_UNAVAILABLE);
      g_assert_null (glove_linux_mechanisms_dup_repair (&mechanisms, i));
    }
  g_assert_cmpint (mechanisms.mechanism[GLOVE_LIMIT_MEMORY], ==, GLOVE_LIMIT_MECHANISM_CGROUP_V2);
  g_assert_cmpint (mechanisms.mechanism[GLOVE_LIMIT_PIDS], ==, GLOVE_LIMIT_MECHANISM_CGROUP_V2);
  g_assert_true (glove_linux_mechanisms_check (&mechanisms, &limits, &error));
  g_assert_true (glove_linux_mechanisms_need_cgroup (&mechanisms, &limits));
}

/* A default is named in the banner, a request is refused, never dropped. */
static void
test_without_cgroup (void)
{
  static const GloveLimit gone[] = { GLOVE_LIMIT_MEMORY, GLOVE_LIMIT_CPUS, GLOVE_LIMIT_CPU_TIME };
  g_auto (GloveLinuxMechanisms) mechanisms = { 0 };
  g_autoptr (GError) error = NULL;

  glove_linux_mechanisms_init_for_status (&mechanisms, GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE, g_strdup ("because"), FALSE,
                                          FALSE);
  g_assert_cmpint (mechanisms.mechanism[GLOVE_LIMIT_PIDS], ==, GLOVE_LIMIT_MECHANISM_RLIMIT);
  g_assert_cmpint (mechanisms.mechanism[GLOVE_LIMIT_WALL_TIME], ==, GLOVE_LIMIT_MECHANISM_WATCHDOG);
  g_assert_cmpint (mechanisms.mechanism[GLOVE_LIMIT_OUTPUT], ==, GLOVE_LIMIT_MECHANISM_BYTE_COUNTER);
  g_assert_cmpint (mechanisms.mechanism[GLOVE_LIMIT_TMP_SIZE], ==, GLOVE_LIMIT_MECHANISM_FILESYSTEM_QUOTA);
  for (gsize i = 0; i < G_N_ELEMENTS (gone); i++)
    {
      GloveLimits limits = { { 0 } };
      g_autofree char *repair = glove_linux_mechanisms_dup_repair (&mechanisms, gone[i]);

      g_assert_nonnull (strstr (repair, "because"));
      g_assert_nonnull (strstr (repair, "systemd-run --user --scope"));
      limits.value[gone[i]] = 1;
      g_assert_true (glove_linux_mechanisms_check (&mechanisms, &limits, &error));
      limits.requested[gone[i]] = TRUE;
      g_assert_false (glove_linux_mechanisms_check (&mechanisms, &limits, &error));
      g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNAVAILABLE);
      g_assert_nonnull (strstr (error->message, glove_limit_get_name (gone[i])));
      g_assert_nonnull (strstr (glove_error_get_hint (error), "systemd-run"));
      g_clear_error (&error);
      g_assert_false (glove_linux_mechanisms_need_cgroup (&mechanisms, &limits));
    }
}

static void
test_host_root (void)
{
  g_auto (GloveLinuxMechanisms) mechanisms = { 0 };
  g_autofree char *repair = NULL;

  glove_linux_mechanisms_init_for_status (&mechanisms, GLOVE_LINUX_CGROUP_V2_UNAVAILABLE, g_strdup ("none"), TRUE, TRUE);
  g_assert_cmpint (mechanisms.mechanism[GLOVE_LIMIT_PIDS], ==, GLOVE_LIMIT_MECHANISM_UNAVAILABLE);
  repair = glove_linux_mechanisms_dup_repair (&mechanisms, GLOVE_LIMIT_PIDS);
  g_assert_nonnull (strstr (repair, "host uid 0"));
}

static const struct {
  const char *name;
  gboolean counted, forced, ended_before_force;
  guint32 status, by_cgroup;
  guint64 oom, refused;
  GloveTermination cause;
  guint exit_code, signal, hits;
} ends[] = {
  { "exit 0", TRUE, FALSE, FALSE, EXITED (0), 0, 0, 0, GLOVE_TERMINATION_EXITED, 0, 0, 0 },
  { "exit 255", TRUE, FALSE, FALSE, EXITED (255), 1, 0, 0, GLOVE_TERMINATION_EXITED, 255, 0, 0 },
  { "abort", TRUE, FALSE, FALSE, KILLED (SIGABRT), 0, 0, 0, GLOVE_TERMINATION_SIGNALED, 0, SIGABRT, 0 },
  { "abort with core", TRUE, FALSE, FALSE, KILLED (SIGABRT) | 0x80, 0, 0, 0, GLOVE_TERMINATION_SIGNALED, 0, SIGABRT, 0 },
  { "kill -9", TRUE, FALSE, FALSE, KILLED (SIGKILL), 1, 0, 0, GLOVE_TERMINATION_SIGNALED, 0, SIGKILL, 0 },
  { "memory", TRUE, FALSE, FALSE, KILLED (SIGKILL), 1, 3, 0, GLOVE_TERMINATION_MEMORY_LIMIT, 0, SIGKILL, 0 },
  { "no cgroup, no cause", TRUE, FALSE, FALSE, KILLED (SIGKILL), 0, 3, 9, GLOVE_TERMINATION_SIGNALED, 0, SIGKILL, 0 },
  { "refused forks", TRUE, FALSE, FALSE, EXITED (1), 1, 0, 9, GLOVE_TERMINATION_EXITED, 1, 0, 9 },
  { "forced", TRUE, TRUE, FALSE, KILLED (SIGKILL), 1, 0, 0, GLOVE_TERMINATION_WALL_TIME_LIMIT, 0, SIGKILL, 0 },
  { "forced before memory", TRUE, TRUE, FALSE, KILLED (SIGKILL), 1, 1, 0, GLOVE_TERMINATION_WALL_TIME_LIMIT, 0, SIGKILL, 0 },
  { "forced too late", TRUE, TRUE, TRUE, EXITED (3), 0, 0, 0, GLOVE_TERMINATION_EXITED, 3, 0, 0 },
  { "launcher lost", FALSE, FALSE, FALSE, 0, 0, 0, 0, GLOVE_TERMINATION_SUPERVISOR_ERROR, 0, SIGKILL, 0 },
  { "forced and lost", FALSE, TRUE, FALSE, 0, 0, 0, 0, GLOVE_TERMINATION_WALL_TIME_LIMIT, 0, SIGKILL, 0 },
};

static void
test_outcomes (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      GloveLinuxEnd end = { .counted = ends[i].counted,
                            .forced = ends[i].forced,
                            .forced_cause = GLOVE_TERMINATION_WALL_TIME_LIMIT,
                            .ended_before_force = ends[i].ended_before_force,
                            .started_us = 1000000,
                            .finished_us = 3500000,
                            .message = { .arg = { ends[i].status, ends[i].by_cgroup },
                                         .value = { 7000, 8, 9, ends[i].oom, ends[i].refused, 11000 } } };
      GloveOutcome outcome;

      g_test_message ("%s", ends[i].name);
      glove_linux_outcome_init (&outcome, &end);
      g_assert_cmpint (outcome.cause, ==, ends[i].cause);
      g_assert_cmpuint (outcome.exit_code, ==, ends[i].exit_code);
      g_assert_cmpuint (outcome.signal, ==, ends[i].signal);
      g_assert_cmpuint (outcome.pid_limit_hits, ==, ends[i].hits);
      g_assert_cmpuint (outcome.usage.wall_time_ms, ==, 2500);
      if (!ends[i].counted)
        g_assert_cmpuint (outcome.usage.cpu_time_ms, ==, G_MAXUINT64);
      else
        g_assert_cmpuint (outcome.usage.cpu_time_ms, ==, ends[i].by_cgroup != 0 ? 7 : 11);
      g_assert_cmpuint (outcome.usage.peak_memory_bytes, ==, ends[i].by_cgroup != 0 ? 8 : G_MAXUINT64);
    }
}

static void
test_budget (void)
{
  static const struct {
    guint64 left_us, cpus;
    guint processors, delay_ms;
  } cases[] = { { 1000000, 1000, 8, 1000 }, { 1000000, 2000, 8, 500 },  { 1000000, 500, 8, 2000 }, { 1000000, 0, 4, 250 },
                { 1000000, 64000, 4, 250 }, { 1, 1000, 1, 1 },          { 1001, 1000, 1, 2 },       { 1000, 1000, 1, 1 },
                { G_MAXUINT64, 1000, 1, G_MAXUINT } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GloveLimits limits = { { 0 } };

      limits.value[GLOVE_LIMIT_CPUS] = cases[i].cpus;
      g_assert_cmpuint (glove_linux_outcome_get_budget_delay_ms (cases[i].left_us, &limits, cases[i].processors), ==,
                        cases[i].delay_ms);
    }
}

static void
test_mounts (void)
{
  static const char info[] = "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
                             "28 27 0:5 / /srv/a rw - tmpfs tmpfs rw\n"
                             "29 28 0:6 / /srv/a/b\\040c rw - tmpfs tmpfs rw\n"
                             "30 27 0:7 / /srv/ab rw - tmpfs tmpfs rw\nshort\n";
  g_autoptr (GPtrArray) points = glove_linux_mounts_parse_below (info, "/srv/a");

  g_assert_cmpuint (points->len, ==, 2);
  g_assert_cmpstr (g_ptr_array_index (points, 0), ==, "/srv/a");
  g_assert_cmpstr (g_ptr_array_index (points, 1), ==, "/srv/a/b c");
}

static void
test_quotas (void)
{
  g_autoptr (GArray) quotas = glove_linux_quota_list_user ();
  GloveLimits limits = { { 0 } };
  g_autoptr (GArray) rlimits = glove_linux_quota_list_rlimits (&limits, TRUE);

  for (guint i = 0; i < quotas->len; i++)
    {
      const GloveLinuxUserQuota *quota = &g_array_index (quotas, GloveLinuxUserQuota, i);

      if (g_str_has_suffix (quota->name, "_namespaces"))
        g_assert_cmpuint (quota->value, ==, 0);
    }
  /* A limit of 0 is none, and none is set. */
  for (guint i = 0; i < rlimits->len; i++)
    {
      const GloveLinuxRlimit *limit = &g_array_index (rlimits, GloveLinuxRlimit, i);

      g_assert_cmpuint (limit->soft, <=, limit->hard);
      g_assert_true (limit->resource != RLIMIT_NPROC && limit->resource != RLIMIT_NOFILE && limit->resource != RLIMIT_FSIZE);
    }
}

static void
test_host_ids (void)
{
  guint32 first = 0, same = 0;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 1000; i++)
    {
      guint32 id = 0;

      g_assert_true (glove_linux_idmap_choose_host_id (&id, &error));
      g_assert_cmpuint (id, >=, GLOVE_LINUX_HOST_ID_MIN);
      g_assert_cmpuint (id, <=, GLOVE_LINUX_HOST_ID_MAX);
      if (i == 0)
        first = id;
      else if (id == first)
        same++;
    }
  g_assert_cmpuint (same, <, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/linux/mechanisms/with-cgroup", test_with_cgroup);
  g_test_add_func ("/linux/mechanisms/without-cgroup", test_without_cgroup);
  g_test_add_func ("/linux/mechanisms/host-root", test_host_root);
  g_test_add_func ("/linux/outcome/ends", test_outcomes);
  g_test_add_func ("/linux/outcome/budget", test_budget);
  g_test_add_func ("/linux/mounts/below", test_mounts);
  g_test_add_func ("/linux/quota/lists", test_quotas);
  g_test_add_func ("/linux/idmap/host-ids", test_host_ids);
  return g_test_run ();
}
