/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every stage of a failed launch becomes an error that names the thing and the repair. */

#include <errno.h>
#include <fcntl.h>

#include "glove-linux-failure.h"

static const GloveLinuxFailureHost plain_host = { FALSE, FALSE, FALSE, FALSE };

static GloveLaunchSpec *
new_spec (void)
{
  GloveLaunchSpec *spec = glove_launch_spec_new ("s");
  g_autoptr (GError) error = NULL;
  GloveLaunchListener listener = { .port = 8080, .tag = 1 };
  GloveGrant *grant;

  g_strfreev (spec->argv);
  spec->argv = g_strsplit ("tool --flag", " ", -1);
  grant = glove_grant_new (GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, open ("/usr", O_PATH | O_CLOEXEC), "/usr", "/srv/tree",
                           &error);
  g_assert_no_error (error);
  g_ptr_array_add (spec->grants, grant);
  g_array_append_val (spec->listeners, listener);
  spec->home = glove_runtime_home_new ();
  g_assert_true (glove_runtime_home_add_file (spec->home, "settings.json", "{}", 2, 0600, &error));
  return spec;
}

static void
assert_failure (const GloveLinuxFailureHost *host, guint32 stage, int errsv, guint32 index, GloveError code, const char *message,
                const char *hint)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  g_autoptr (GError) error = NULL;

  glove_linux_failure_set (&error, spec, host, stage, errsv, index);
  g_assert_error (error, GLOVE_ERROR, (int) code);
  if (strstr (error->message, message) == NULL)
    g_error ("“%s” is not in “%s”", message, error->message);
  g_assert_nonnull (glove_error_get_hint (error));
  if (strstr (glove_error_get_hint (error), hint) == NULL)
    g_error ("“%s” is not in “%s”", hint, glove_error_get_hint (error));
}

static const struct {
  guint32 stage;
  int errsv;
  guint32 index;
  GloveError code;
  const char *message, *hint;
} cases[] = {
  { GLOVE_LAUNCH_STAGE_SPEC, EINVAL, ~0u, GLOVE_ERROR_INVALID_DATA, "launch specification", "one build" },
  { GLOVE_LAUNCH_STAGE_CLONE, EPERM, ~0u, GLOVE_ERROR_UNAVAILABLE, "forbids new namespaces", "outer container" },
  { GLOVE_LAUNCH_STAGE_CLONE, ENOSPC, ~0u, GLOVE_ERROR_UNAVAILABLE, "limit on namespaces", "max_user_namespaces" },
  { GLOVE_LAUNCH_STAGE_CLONE, EAGAIN, ~0u, GLOVE_ERROR_UNAVAILABLE, "limit on processes", "ulimit -u" },
  { GLOVE_LAUNCH_STAGE_CLONE, ENOMEM, ~0u, GLOVE_ERROR_UNAVAILABLE, "can't make the namespaces", "container" },
  { GLOVE_LAUNCH_STAGE_USERNS_MAP, EPERM, ~0u, GLOVE_ERROR_UNAVAILABLE, "id map", "container" },
  { GLOVE_LAUNCH_STAGE_CGROUP, EACCES, ~0u, GLOVE_ERROR_UNAVAILABLE, "not delegated", "systemd-run" },
  { GLOVE_LAUNCH_STAGE_LOOPBACK, EPERM, ~0u, GLOVE_ERROR_UNAVAILABLE, "network namespace", "container" },
  { GLOVE_LAUNCH_STAGE_LISTEN, EADDRINUSE, 0, GLOVE_ERROR_CONFLICT, "8080", "port of its own" },
  { GLOVE_LAUNCH_STAGE_LISTEN, EACCES, 0, GLOVE_ERROR_PERMISSION, "8080", "1023" },
  { GLOVE_LAUNCH_STAGE_LISTEN, EACCES, 9, GLOVE_ERROR_PERMISSION, "number 9", "1023" },
  { GLOVE_LAUNCH_STAGE_QUOTA, EROFS, 0, GLOVE_ERROR_PERMISSION, "quotas", "/proc" },
  { GLOVE_LAUNCH_STAGE_GRANT_OPEN, ENOENT, 0, GLOVE_ERROR_CHANGED, "“/srv/tree” is gone", "exists" },
  { GLOVE_LAUNCH_STAGE_GRANT_OPEN, EACCES, 0, GLOVE_ERROR_PERMISSION, "“/srv/tree”", "search permission" },
  { GLOVE_LAUNCH_STAGE_GRANT_OPEN, ELOOP, 0, GLOVE_ERROR_CHANGED, "symbolic link", "replaces" },
  { GLOVE_LAUNCH_STAGE_GRANT_CHANGED, ESTALE, 0, GLOVE_ERROR_CHANGED, "“/srv/tree” was replaced", "replaces" },
  { GLOVE_LAUNCH_STAGE_GRANT_CLONE, EINVAL, 0, GLOVE_ERROR_NOT_SUPPORTED, "unbindable", "another mount" },
  { GLOVE_LAUNCH_STAGE_GRANT_SEAL, EPERM, 0, GLOVE_ERROR_PERMISSION, "“/srv/tree”", "read-only" },
  { GLOVE_LAUNCH_STAGE_GRANT_TARGET, EROFS, 0, GLOVE_ERROR_CONFLICT, "read-only grant", "make it first" },
  { GLOVE_LAUNCH_STAGE_GRANT_TARGET, ENOTDIR, 0, GLOVE_ERROR_CONFLICT, "is a file", "another place" },
  { GLOVE_LAUNCH_STAGE_GRANT_TARGET, ENOSPC, 0, GLOVE_ERROR_NO_SPACE, "no room", "fewer" },
  { GLOVE_LAUNCH_STAGE_GRANT_ATTACH, ENOSPC, 0, GLOVE_ERROR_NO_SPACE, "too many mounts", "mount-max" },
  { GLOVE_LAUNCH_STAGE_GRANT_ATTACH, EPERM, 7, GLOVE_ERROR_PERMISSION, "grant 7", "doctor" },
  { GLOVE_LAUNCH_STAGE_ROOT, EACCES, ~0u, GLOVE_ERROR_UNAVAILABLE, "security module", "profile" },
  { GLOVE_LAUNCH_STAGE_ROOT, EPERM, ~0u, GLOVE_ERROR_UNAVAILABLE, "forbids mounts", "container" },
  { GLOVE_LAUNCH_STAGE_ROOT, ENOMEM, ~0u, GLOVE_ERROR_NO_SPACE, "root of the sandbox", "container" },
  { GLOVE_LAUNCH_STAGE_GRANT_TARGET, EMFILE, 0, GLOVE_ERROR_NO_SPACE, "mount point of", "open files" },
  { GLOVE_LAUNCH_STAGE_SYSTEM, ENOENT, ~0u, GLOVE_ERROR_UNAVAILABLE, "no /usr", "system that has one" },
  { GLOVE_LAUNCH_STAGE_ETC, EIO, ~0u, GLOVE_ERROR_IO, "/etc", "doctor" },
  { GLOVE_LAUNCH_STAGE_DEV, ENOENT, ~0u, GLOVE_ERROR_UNAVAILABLE, "/dev", "urandom" },
  { GLOVE_LAUNCH_STAGE_DEVPTS, ENODEV, ~0u, GLOVE_ERROR_UNAVAILABLE, "devpts", "devpts" },
  { GLOVE_LAUNCH_STAGE_PROC, EPERM, ~0u, GLOVE_ERROR_UNAVAILABLE, "too revealing", "unmask" },
  { GLOVE_LAUNCH_STAGE_PROC_SEAL, EPERM, ~0u, GLOVE_ERROR_PERMISSION, "dangerous parts of /proc", "doctor" },
  { GLOVE_LAUNCH_STAGE_TMPFS, ENOMEM, ~0u, GLOVE_ERROR_NO_SPACE, "private home", "smaller sizes" },
  { GLOVE_LAUNCH_STAGE_FILE, ENOSPC, 5, GLOVE_ERROR_NO_SPACE, "/home/agent/settings.json", "home-size" },
  { GLOVE_LAUNCH_STAGE_FILE, EIO, 0, GLOVE_ERROR_IO, "/etc/passwd", "doctor" },
  { GLOVE_LAUNCH_STAGE_PIVOT, EPERM, ~0u, GLOVE_ERROR_PERMISSION, "root", "container" },
  { GLOVE_LAUNCH_STAGE_TERMINAL, ENOSPC, ~0u, GLOVE_ERROR_UNAVAILABLE, "no terminal left", "--no-tty" },
  { GLOVE_LAUNCH_STAGE_RLIMIT, EPERM, 0, GLOVE_ERROR_PERMISSION, "resource limit", "hard limits" },
  { GLOVE_LAUNCH_STAGE_CREDENTIALS, EPERM, ~0u, GLOVE_ERROR_PERMISSION, "privileges", "doctor" },
  { GLOVE_LAUNCH_STAGE_LANDLOCK, E2BIG, ~0u, GLOVE_ERROR_LIMIT, "Landlock", "doctor" },
  { GLOVE_LAUNCH_STAGE_SECCOMP, EINVAL, ~0u, GLOVE_ERROR_UNAVAILABLE, "system-call filters", "SECCOMP" },
  { GLOVE_LAUNCH_STAGE_WORK_DIR, ENOENT, ~0u, GLOVE_ERROR_INVALID_ARGUMENT, "“/home/agent”", "--workspace" },
  { GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, ENOENT, ~0u, GLOVE_ERROR_NOT_FOUND, "no program “tool” inside", "--read" },
  { GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, EACCES, ~0u, GLOVE_ERROR_NOT_EXECUTABLE, "“tool”", "chmod" },
  { GLOVE_LAUNCH_STAGE_EXEC, ENOENT, ~0u, GLOVE_ERROR_NOT_EXECUTABLE, "interpreter is not seen", "--read" },
  { GLOVE_LAUNCH_STAGE_EXEC, EACCES, ~0u, GLOVE_ERROR_NOT_EXECUTABLE, "not executable", "chmod" },
  { GLOVE_LAUNCH_STAGE_EXEC, ENOEXEC, ~0u, GLOVE_ERROR_NOT_EXECUTABLE, "neither a program", "interpreter" },
  { GLOVE_LAUNCH_STAGE_EXEC, E2BIG, ~0u, GLOVE_ERROR_LIMIT, "too long", "standard input" },
  { GLOVE_LAUNCH_STAGE_EXEC, ETXTBSY, ~0u, GLOVE_ERROR_NOT_EXECUTABLE, "can't execute “tool”", "another program" },
  { GLOVE_LAUNCH_STAGE_SUPERVISOR_GONE, 0, ~0u, GLOVE_ERROR_CLOSED, "supervisor", "doctor" },
  { GLOVE_LAUNCH_STAGE_INTERNAL, EIO, ~0u, GLOVE_ERROR_FAILED, "the launcher failed", "doctor" },
};

static void
test_table (void)
{
  guint32 covered = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      assert_failure (&plain_host, cases[i].stage, cases[i].errsv, cases[i].index, cases[i].code, cases[i].message,
                      cases[i].hint);
      covered = MAX (covered, cases[i].stage);
    }
  g_assert_cmpuint (covered, ==, GLOVE_LAUNCH_STAGE_INTERNAL);
}

/* A stage that the header has and the table lacks would be a number to the operator. */
static void
test_every_stage (void)
{
  for (guint32 stage = GLOVE_LAUNCH_STAGE_SPEC; stage <= GLOVE_LAUNCH_STAGE_INTERNAL; stage++)
    {
      g_autoptr (GloveLaunchSpec) spec = new_spec ();
      g_autoptr (GError) error = NULL;

      glove_linux_failure_set (&error, spec, &plain_host, stage, ENOTRECOVERABLE, 0);
      g_assert_nonnull (error);
      g_assert_null (strstr (error->message, "stage"));
      g_assert_null (strstr (error->message, "%s"));
      g_assert_nonnull (glove_error_get_hint (error));
    }
}

static void
test_unknown_stage (void)
{
  assert_failure (&plain_host, GLOVE_LAUNCH_STAGE_INTERNAL + 1, EIO, 0, GLOVE_ERROR_FAILED, "stage", "one build");
}

/* The switch that explains it is named instead of the symptom. */
static void
test_host_switches (void)
{
  GloveLinuxFailureHost off = { .no_user_namespaces = TRUE };
  GloveLinuxFailureHost debian = { .clone_disabled = TRUE };
  GloveLinuxFailureHost debian_root = { .clone_disabled = TRUE, .privileged = TRUE };
  GloveLinuxFailureHost ubuntu = { .apparmor_restricts = TRUE };
  GloveLinuxFailureHost ubuntu_root = { .apparmor_restricts = TRUE, .privileged = TRUE };

  assert_failure (&off, GLOVE_LAUNCH_STAGE_CLONE, ENOSPC, ~0u, GLOVE_ERROR_UNAVAILABLE, "switched off", "sysctl -w user.max");
  assert_failure (&debian, GLOVE_LAUNCH_STAGE_CLONE, EPERM, ~0u, GLOVE_ERROR_UNAVAILABLE, "root only",
                  "unprivileged_userns_clone=1");
  assert_failure (&debian_root, GLOVE_LAUNCH_STAGE_CLONE, EPERM, ~0u, GLOVE_ERROR_UNAVAILABLE, "forbids", "container");
  assert_failure (&ubuntu, GLOVE_LAUNCH_STAGE_LOOPBACK, EPERM, ~0u, GLOVE_ERROR_UNAVAILABLE, "AppArmor", "profile");
  assert_failure (&ubuntu, GLOVE_LAUNCH_STAGE_USERNS_MAP, EACCES, ~0u, GLOVE_ERROR_UNAVAILABLE, "AppArmor", "profile");
  assert_failure (&ubuntu, GLOVE_LAUNCH_STAGE_EXEC, EACCES, ~0u, GLOVE_ERROR_NOT_EXECUTABLE, "not executable", "chmod");
  assert_failure (&ubuntu_root, GLOVE_LAUNCH_STAGE_LOOPBACK, EPERM, ~0u, GLOVE_ERROR_UNAVAILABLE, "forbids", "container");
}

/* What the agent or the operator named is shown escaped when it is no text. */
static void
test_odd_name (void)
{
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  g_autoptr (GError) error = NULL;

  g_free (spec->argv[0]);
  spec->argv[0] = g_strdup ("bad\xff%s");
  glove_linux_failure_set (&error, spec, &plain_host, GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, ENOENT, ~0u);
  g_assert_cmpstr (error->message, ==, "there is no program “bad\\377%s” inside");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/linux/failure/table", test_table);
  g_test_add_func ("/linux/failure/every-stage", test_every_stage);
  g_test_add_func ("/linux/failure/unknown-stage", test_unknown_stage);
  g_test_add_func ("/linux/failure/host-switches", test_host_switches);
  g_test_add_func ("/linux/failure/odd-name", test_odd_name);
  return g_test_run ();
}
