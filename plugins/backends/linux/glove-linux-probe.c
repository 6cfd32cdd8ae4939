/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "glove-linux-cgroup.h"
#include "glove-linux-failure.h"
#include "glove-linux-fd.h"
#include "glove-linux-files.h"
#include "glove-linux-idmap.h"
#include "glove-linux-launcher.h"
#include "glove-linux-mounts.h"

#define LANDLOCK_CREATE_RULESET_VERSION (1u << 0)
/* The first with everything that is needed: mount_setattr (5.12), limits counted by user namespace (5.14). */
#define KERNEL_MAJOR 5
#define KERNEL_MINOR 14

static void
add (GPtrArray *results, const char *code, GloveProbeStatus status, const char *repair, const char *format, ...)
    G_GNUC_PRINTF (5, 6);

static void
add (GPtrArray *results, const char *code, GloveProbeStatus status, const char *repair, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (results, glove_probe_result_new (code, status, message, repair));
}

static void
add_error (GPtrArray *results, const char *code, GloveProbeStatus status, const GError *error)
{
  const char *hint = glove_error_get_hint (error);

  add (results, code, status, hint != NULL ? hint : "", "%s", error->message);
}

static void
probe_kernel (GPtrArray *results)
{
  struct utsname name;
  int major = 0, minor = 0;

  if (uname (&name) < 0 || sscanf (name.release, "%d.%d", &major, &minor) != 2)
    add (results, "kernel", GLOVE_PROBE_UNKNOWN, "", "the kernel doesn't say its version");
  else if (major < KERNEL_MAJOR || (major == KERNEL_MAJOR && minor < KERNEL_MINOR))
    add (results, "kernel", GLOVE_PROBE_MISSING, "run a kernel of 5.14 or later", "Linux %s is too old", name.release);
  else
    add (results, "kernel", GLOVE_PROBE_OK, "", "Linux %s", name.release);
}

static void
probe_launcher (GPtrArray *results, const char *launcher)
{
  g_autoptr (GError) error = NULL;
  glove_linux_autofd int fd = glove_linux_launcher_open (launcher, &error);

  if (fd < 0)
    add_error (results, "launcher", GLOVE_PROBE_MISSING, error);
  else
    add (results, "launcher", GLOVE_PROBE_OK, "", "%s", launcher);
}

static void
probe_user_namespaces (GPtrArray *results, const GloveLinuxFailureHost *host)
{
  if (access ("/proc/self/ns/user", F_OK) < 0)
    add (results, "user_namespaces", GLOVE_PROBE_MISSING, "run a kernel with CONFIG_USER_NS", "the kernel has no user namespaces");
  else if (host->no_user_namespaces)
    add (results, "user_namespaces", GLOVE_PROBE_MISSING, "sysctl -w user.max_user_namespaces=15000",
         "user namespaces are switched off (user.max_user_namespaces is 0)");
  else if (host->clone_disabled && !host->privileged)
    add (results, "user_namespaces", GLOVE_PROBE_MISSING, "sysctl -w kernel.unprivileged_userns_clone=1",
         "user namespaces are for root only here");
  else
    add (results, "user_namespaces", GLOVE_PROBE_OK, "", "allowed");
}

/* Whether a profile lifts the restriction for the launcher is told by the launch alone. */
static void
probe_apparmor (GPtrArray *results, const GloveLinuxFailureHost *host, gboolean launched)
{
  if (!host->apparmor_restricts)
    add (results, "apparmor", GLOVE_PROBE_OK, "", "AppArmor doesn't restrict user namespaces");
  else if (host->privileged || launched)
    add (results, "apparmor", GLOVE_PROBE_OK, "", "AppArmor restricts user namespaces, not those of the launcher");
  else
    add (results, "apparmor", GLOVE_PROBE_MISSING, GLOVE_LINUX_FAILURE_APPARMOR_HINT,
         "AppArmor restricts user namespaces of ordinary users");
}

/* What hides a part of /proc makes the kernel refuse a new one in a user namespace. */
static void
probe_proc (GPtrArray *results, gboolean launched)
{
  g_autoptr (GPtrArray) mounts = glove_linux_mounts_list_below ("/proc");
  const char *masked = NULL;

  for (guint i = 0; i < mounts->len; i++)
    {
      const char *point = g_ptr_array_index (mounts, i);

      /* An empty directory that exists to be mounted on hides nothing. */
      if (!g_str_equal (point, "/proc") && !g_str_equal (point, "/proc/sys/fs/binfmt_misc")
          && !g_str_equal (point, "/proc/fs/nfsd"))
        masked = point;
    }
  if (masked == NULL)
    add (results, "mount_proc", GLOVE_PROBE_OK, "", "/proc is whole");
  else if (launched)
    add (results, "mount_proc", GLOVE_PROBE_OK, "", "“%s” is masked, and a private /proc works all the same", masked);
  else
    add (results, "mount_proc", GLOVE_PROBE_MISSING,
         "start the outer container with unmasked paths (podman: --security-opt unmask=ALL; docker: --security-opt "
         "systempaths=unconfined), or run glove outside of it",
         "“%s” is masked, so a private /proc can't be mounted", masked);
}

static void
probe_present (GPtrArray *results, const char *code, const char *path, const char *repair)
{
  if (access (path, F_OK) == 0)
    add (results, code, GLOVE_PROBE_OK, "", "%s", path);
  else
    add (results, code, GLOVE_PROBE_MISSING, repair, "there is no %s", path);
}

static void
probe_landlock (GPtrArray *results)
{
  long abi = syscall (SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

  if (abi > 0)
    add (results, "landlock", GLOVE_PROBE_OK, "", "Landlock, version %ld", abi);
  else if (errno == EOPNOTSUPP)
    add (results, "landlock", GLOVE_PROBE_DEGRADED, "boot with landlock in the list lsm=…",
         "the kernel has Landlock, and it is switched off: the second wall around files is missing");
  else
    add (results, "landlock", GLOVE_PROBE_DEGRADED, "run a kernel with CONFIG_SECURITY_LANDLOCK",
         "the kernel has no Landlock: the second wall around files is missing");
}

static void
probe_cgroup (GPtrArray *results, const GloveLinuxFailureHost *host)
{
  static const char *const names[] = { "available", "cgroup_v2_unavailable", "cgroup_controllers_unavailable",
                                       "cgroup_delegation_unavailable" };
  g_auto (GloveLinuxCgroupHost) cgroups = { .root = -1 };
  g_autofree char *reason = NULL;
  GloveLinuxCgroupPlace place;
  GloveLinuxCgroupStatus status;

  (void) glove_linux_cgroup_host_init (&cgroups);
  status = glove_linux_cgroup_find (&cgroups, &place, &reason);
  if (status == GLOVE_LINUX_CGROUP_AVAILABLE)
    add (results, "cgroup", GLOVE_PROBE_OK, "", "limits on memory, processors and processes are counted by the kernel");
  else
    add (results, "cgroup", GLOVE_PROBE_DEGRADED, glove_linux_cgroup_status_get_repair (status, host->privileged),
         "%s: %s; limits on memory and processor time are not enforced", names[status], reason);
}

static void
probe_idmap (GPtrArray *results, const GloveLinuxFailureHost *host)
{
  int errsv = 0;

  if (!host->privileged)
    return;
  if (glove_linux_idmap_probe (&errsv))
    add (results, "idmapped_mounts", GLOVE_PROBE_OK, "", "grants can be mapped to a host id of the agent's own");
  else
    add (results, "idmapped_mounts", GLOVE_PROBE_DEGRADED,
         "run glove as an ordinary user, or keep what is granted on ext4, xfs, btrfs or tmpfs (6.3 and later)",
         "the file system of the temporary directory can't map ids: %s", g_strerror (errsv));
}

/* The launch ---------------------------------------------------------------------------------------------------------------- */

typedef struct {
  GloveOutcome outcome;
  GError *error;
  gboolean done;
} Run;

static void
on_finished (GObject *object, GAsyncResult *result, gpointer user_data)
{
  Run *run = user_data;
  g_autoptr (GError) error = NULL;

  run->done = TRUE;
  if (!glove_sandbox_finish_finish (GLOVE_SANDBOX (object), result, &run->outcome, &error) && run->error == NULL)
    run->error = g_steal_pointer (&error);
}

static void
on_started (GObject *object, GAsyncResult *result, gpointer user_data)
{
  Run *run = user_data;
  g_autoptr (GError) error = NULL;

  if (!glove_sandbox_start_finish (GLOVE_SANDBOX (object), result, &error))
    run->error = g_steal_pointer (&error);
}

static GloveLaunchSpec *
new_spec (void)
{
  g_autofree char *id = g_strdup_printf ("probe-%d-%" G_GINT64_FORMAT, (int) getpid (), g_get_monotonic_time ());
  GloveLaunchSpec *spec = glove_launch_spec_new (id);
  const char *const argv[] = { "/bin/true", NULL };
  const char *const env[] = { "PATH=/usr/bin:/bin", "TERM=dumb", NULL };

  g_strfreev (spec->argv);
  g_strfreev (spec->env);
  g_free (spec->work_dir);
  spec->argv = g_strdupv ((char **) argv);
  spec->env = g_strdupv ((char **) env);
  spec->work_dir = g_strdup (GLOVE_HOME_DIRECTORY);
  return spec;
}

/* On a context of its own, so that nothing of the caller's runs meanwhile. */
static gboolean
launch_true (GloveSandboxBackend *backend, GCancellable *cancellable, GError **error)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (GloveLaunchSpec) spec = new_spec ();
  g_autoptr (GloveSandbox) sandbox = NULL;
  Run run = { 0 };

  g_main_context_push_thread_default (context);
  sandbox = glove_sandbox_backend_prepare (backend, spec, error);
  if (sandbox != NULL)
    {
      glove_sandbox_start_async (sandbox, cancellable, on_started, &run);
      glove_sandbox_finish_async (sandbox, cancellable, on_finished, &run);
      while (!run.done)
        (void) g_main_context_iteration (context, /* may_block= */ TRUE);
    }
  g_clear_object (&sandbox);
  g_main_context_pop_thread_default (context);
  if (run.error != NULL)
    g_propagate_error (error, run.error);
  else if (run.done && (run.outcome.cause != GLOVE_TERMINATION_EXITED || run.outcome.exit_code != 0))
    glove_error_set (error, GLOVE_ERROR_FAILED, "/bin/true ended with %s, status %u, signal %u",
                     glove_termination_get_name (run.outcome.cause), run.outcome.exit_code, run.outcome.signal);
  return run.done && run.error == NULL && run.outcome.cause == GLOVE_TERMINATION_EXITED && run.outcome.exit_code == 0;
}

GPtrArray *
glove_linux_probe_run (GloveSandboxBackend *backend, const char *launcher, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_probe_result_free);
  g_autoptr (GError) launch_error = NULL;
  GloveLinuxFailureHost host;
  gboolean launched;

  if (g_cancellable_is_cancelled (cancellable))
    {
      glove_error_set_literal (error, GLOVE_ERROR_CANCELLED, "the probe was cancelled");
      return NULL;
    }
  glove_linux_failure_host_init (&host);
  launched = launch_true (backend, cancellable, &launch_error);
  probe_kernel (results);
  probe_launcher (results, launcher);
  probe_user_namespaces (results, &host);
  probe_apparmor (results, &host, launched);
  probe_present (results, "network_namespace", "/proc/self/ns/net", "run a kernel with CONFIG_NET_NS");
  probe_present (results, "seccomp", "/proc/sys/kernel/seccomp/actions_avail", "run a kernel with CONFIG_SECCOMP_FILTER");
  probe_present (results, "usr", "/usr/bin", "glove shows the host's /usr inside: run it on a system that has one");
  probe_present (results, "terminal", "/dev/ptmx", "run a kernel with CONFIG_UNIX98_PTYS, and mount devpts");
  probe_proc (results, launched);
  probe_landlock (results);
  probe_cgroup (results, &host);
  probe_idmap (results, &host);
  if (launched)
    add (results, "launch", GLOVE_PROBE_OK, "", "/bin/true ran in a sandbox");
  else
    add_error (results, "launch", GLOVE_PROBE_MISSING, launch_error);
  return g_steal_pointer (&results);
}
