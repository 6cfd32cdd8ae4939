/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdio.h>

#include "glove-cli-launch.h"

#include <glib-unix.h>
#include <glib/gi18n.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "glove-cli-audit.h"
#include "glove-cli-banner.h"
#include "glove-cli-catalog.h"
#include "glove-cli-output.h"
#include "glove-cli-own-files.h"
#include "glove-cli-verbs.h"
#include "glove-egress-proxy.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-git-review.h"
#include "glove-grant-resolver.h"
#include "glove-random.h"
#include "glove-session-environment.h"
#include "glove-session-record.h"
#include "glove-session-terminal.h"
#include "glove-session.h"
#include "glove-text.h"

#define EGRESS_POLICY "exec"

/* What one launch holds while it runs; each step takes what the steps before it left. */
typedef struct {
  GloveSandboxBackend *backend;
  GloveLaunchSpec *spec;
  GloveEgressProxy *egress;
  GloveCliAudit audit;
  GloveSession *session;
  guint signal_source;
  int signals; /* INT, TERM and HUP, held back from this process */
} Running;

static void
running_clear (Running *self)
{
  g_clear_handle_id (&self->signal_source, g_source_remove);
  glove_fd_clear (&self->signals);
  g_clear_object (&self->session);
  g_clear_object (&self->egress);
  glove_cli_audit_clear (&self->audit);
  g_clear_pointer (&self->spec, glove_launch_spec_unref);
  g_clear_object (&self->backend);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Running, running_clear)

gboolean
glove_cli_launch_init (GloveCliLaunch *self, const GloveCliLaunchOptions *options, GError **error)
{
  self->options = options;
  self->catalog = glove_cli_catalog_new (options->catalog);
  self->runtime_reads = g_ptr_array_new_with_free_func (g_free);
  return glove_cli_network_init (&self->network, (const char *const *) options->allow_hosts,
                                 (const char *const *) options->forwards, error);
}

void
glove_cli_launch_clear (GloveCliLaunch *self)
{
  g_clear_object (&self->catalog);
  glove_cli_network_clear (&self->network);
  g_clear_pointer (&self->runtime_reads, g_ptr_array_unref);
  g_clear_pointer (&self->home, glove_runtime_home_free);
  g_clear_pointer (&self->executable, g_free);
  g_clear_pointer (&self->argv, g_strfreev);
  g_clear_pointer (&self->work_dir, g_free);
  g_clear_pointer (&self->grants, g_ptr_array_unref);
  g_clear_pointer (&self->notes, g_ptr_array_unref);
}

static gboolean
add_all (GloveGrantResolver *resolver, GloveGrantAccess access, char **paths, GError **error)
{
  for (gsize i = 0; paths != NULL && paths[i] != NULL; i++)
    if (!glove_grant_resolver_add (resolver, access, GLOVE_GRANT_ORIGIN_OPTION, paths[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
add_grants (GloveCliLaunch *self, GloveGrantResolver *resolver, GError **error)
{
  const GloveCliLaunchOptions *options = self->options;

  glove_grant_resolver_set_mask_sockets (resolver, options->mask_sockets);
  glove_grant_resolver_set_allow_git_config (resolver, options->allow_git_config);
  if (options->workspace != NULL
      && !glove_grant_resolver_add (resolver, GLOVE_GRANT_WRITE, GLOVE_GRANT_ORIGIN_WORKSPACE, options->workspace,
                                    error))
    return FALSE;
  if (!add_all (resolver, GLOVE_GRANT_READ, options->read, error)
      || !add_all (resolver, GLOVE_GRANT_WRITE, options->write, error))
    return FALSE;
  for (guint i = 0; i < self->runtime_reads->len; i++)
    if (!glove_grant_resolver_add (resolver, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_RUNTIME,
                                   g_ptr_array_index (self->runtime_reads, i), error))
      return FALSE;
  for (gsize i = 0; options->allow_sockets != NULL && options->allow_sockets[i] != NULL; i++)
    if (!glove_grant_resolver_allow_socket (resolver, options->allow_sockets[i], error))
      return FALSE;
  return TRUE;
}

gboolean
glove_cli_launch_resolve (GloveCliLaunch *self, GError **error)
{
  g_autoptr (GloveGrantResolver) resolver = glove_grant_resolver_new ();

  if (!add_grants (self, resolver, error))
    return FALSE;
  self->grants = glove_grant_resolver_finish (resolver, &self->notes, error);
  if (self->grants == NULL || !glove_cli_own_files_check (self->catalog, self->grants, error))
    return FALSE;
  self->work_dir = g_strdup (GLOVE_HOME_DIRECTORY);
  for (guint i = 0; i < self->grants->len; i++)
    {
      const GloveGrant *grant = g_ptr_array_index (self->grants, i);

      if (grant->origin != GLOVE_GRANT_ORIGIN_WORKSPACE)
        continue;
      if (!glove_grant_is_directory (grant))
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the workspace %s is not a folder",
                           self->options->workspace);
          glove_error_set_hint (error, "grant a single file with --write");
          return FALSE;
        }
      g_free (self->work_dir);
      self->work_dir = g_strdup (grant->target_path);
    }
  return TRUE;
}

/* Sorts by time, so that the newest run is the last. */
static char *
new_session_id (GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *stamp = g_date_time_format (now, "%Y%m%dT%H%M%S");
  g_autofree char *random = glove_random_hex (4, error);

  if (random == NULL)
    return NULL;
  return g_strdup_printf ("%s.%06d-%s", stamp, g_date_time_get_microsecond (now), random);
}

static gboolean
set_limits (GloveCliLaunch *self, GloveLimits *limits, GError **error)
{
  for (gsize i = 0; self->options->limits != NULL && self->options->limits[i] != NULL; i++)
    if (!glove_limits_parse_option (limits, self->options->limits[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
build_spec (GloveCliLaunch *self, Running *running, const char *session_id, GError **error)
{
  GloveLaunchSpec *spec = glove_launch_spec_new (session_id);

  running->spec = spec;
  if (!set_limits (self, &spec->limits, error))
    return FALSE;
  g_strfreev (spec->argv);
  spec->argv = g_strdupv (self->argv);
  spec->executable = g_strdup (self->executable);
  g_free (spec->work_dir);
  spec->work_dir = g_strdup (self->work_dir);
  g_clear_pointer (&spec->grants, g_ptr_array_unref);
  spec->grants = g_ptr_array_ref (self->grants);
  spec->home = g_steal_pointer (&self->home);
  spec->as_root_id = self->options->as_root_id;
  spec->tty = self->options->tty
              || (!self->options->no_tty && !self->no_input && glove_session_terminal_is_usable ());
  glove_cli_network_fill_listeners (&self->network, spec);
  return TRUE;
}

static gboolean
build_egress (GloveCliLaunch *self, Running *running, GError **error)
{
  if (self->network.allow->len == 0 && self->network.forwards->len == 0)
    return TRUE;
  running->egress = glove_egress_proxy_new (running->spec->session_id, EGRESS_POLICY, self->network.allow,
                                            self->network.forwards, running->audit.log, error);
  return running->egress != NULL;
}

static gboolean
build_environment (GloveCliLaunch *self, Running *running, GError **error)
{
  g_auto (GStrv) host = g_get_environ ();
  g_autofree char *proxy_url = NULL;
  GloveSessionEnvironment environment = {
    .names = (const char *const *) self->options->environment,
    .host_environment = (const char *const *) host,
    .home = running->spec->home,
    .work_dir = self->work_dir,
  };

  if (self->network.proxy_port != 0)
    proxy_url = glove_egress_proxy_dup_url (running->egress, self->network.proxy_port);
  environment.proxy_url = proxy_url;
  g_clear_pointer (&running->spec->env, g_strfreev);
  running->spec->env = glove_session_environment_build (&environment, error);
  return running->spec->env != NULL;
}

static gboolean
build (GloveCliLaunch *self, Running *running, GError **error)
{
  const char *backend_id = self->options->backend != NULL ? self->options->backend : GLOVE_DEFAULT_BACKEND;
  g_autofree char *session_id = new_session_id (error);

  if (session_id == NULL)
    return FALSE;
  running->backend = GLOVE_SANDBOX_BACKEND (
      glove_catalog_create (self->catalog, "backend", backend_id, GLOVE_TYPE_SANDBOX_BACKEND, error));
  if (running->backend == NULL)
    return FALSE;
  glove_cli_network_choose_proxy_port (&self->network);
  glove_cli_audit_init (&running->audit, session_id);
  return build_spec (self, running, session_id, error) && build_egress (self, running, error) && build_environment (self, running, error);
}

static gboolean
on_signal (int fd, GIOCondition condition, gpointer user_data)
{
  Running *running = user_data;
  struct signalfd_siginfo info;

  if (read (fd, &info, sizeof info) == (ssize_t) sizeof info)
    glove_session_signal (running->session, (int) info.ssi_signo);
  return G_SOURCE_CONTINUE;
}

/* Before the first thread, which inherits the mask. A descriptor, because GLib's own way makes a thread, and ends the program where
 * none can be made. */
static gboolean
hold_signals (Running *running, GError **error)
{
  sigset_t set;

  sigemptyset (&set);
  sigaddset (&set, SIGINT);
  sigaddset (&set, SIGTERM);
  sigaddset (&set, SIGHUP);
  running->signals = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (running->signals < 0)
    {
      glove_error_set_errno (error, errno, "can't watch signals");
      glove_error_set_hint (error, "raise the limit on open files (ulimit -n)");
      return FALSE;
    }
  errno = pthread_sigmask (SIG_BLOCK, &set, NULL);
  if (errno != 0)
    {
      glove_error_set_errno (error, errno, "can't hold signals back");
      return FALSE;
    }
  return TRUE;
}

static int
status_of_error (const GError *error)
{
  if (g_error_matches (error, GLOVE_ERROR, GLOVE_ERROR_NOT_FOUND))
    return GLOVE_CLI_STATUS_NOT_FOUND;
  if (g_error_matches (error, GLOVE_ERROR, GLOVE_ERROR_NOT_EXECUTABLE))
    return GLOVE_CLI_STATUS_NOT_EXECUTABLE;
  return GLOVE_CLI_STATUS_FAILED;
}

/* A limit that ended the agent would otherwise look like a crash of the agent. */
static void
explain_outcome (const GloveLimits *limits, const GloveOutcome *outcome)
{
  GloveLimit limit = glove_session_record_limit_of_cause (outcome->cause);

  if (limit < GLOVE_N_LIMITS)
    {
      g_autofree char *value = glove_limit_format_value (limit, limits->value[limit]);

      g_printerr (_("glove: the agent was stopped: it reached the limit %s, %s (see: glove why)\n"),
                  glove_limit_get_name (limit), value);
    }
  else if (outcome->cause != GLOVE_TERMINATION_EXITED && outcome->cause != GLOVE_TERMINATION_SIGNALED)
    g_printerr (_("glove: the agent was stopped: %s (see: glove why)\n"), glove_termination_get_name (outcome->cause));
}

static void
print_refusals (GloveSession *session)
{
  const GPtrArray *refusals = glove_session_get_refusals (session);

  for (guint i = 0; refusals != NULL && i < refusals->len; i++)
    {
      const GloveGitRefusal *refusal = g_ptr_array_index (refusals, i);
      g_autofree char *path = glove_text_escape (refusal->path, -1);

      g_printerr (_("glove: refused  %s: %s\n"), path, refusal->detail);
    }
}

static gboolean
open_audit (GloveCliLaunch *self, Running *running, GError **error)
{
  return glove_cli_audit_open (&running->audit, self->catalog, running->spec->session_id, self->options->audit,
                               self->grants, error);
}

/* An agent that was given its task may read standard input to its end all the same, and wait for ever where that never comes. */
static gboolean
close_input (GError **error)
{
  glove_autofd int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  if (fd >= 0 && dup2 (fd, STDIN_FILENO) >= 0)
    return TRUE;
  glove_error_set_errno (error, errno, "can't put /dev/null in the place of standard input");
  return FALSE;
}

/* The trail is opened while the launcher makes the sandbox; what can't be made is still recorded. */
static gboolean
prepare (GloveCliLaunch *self, Running *running, GError **error)
{
  g_autoptr (GError) reason = NULL;

  if (self->no_input && !running->spec->tty && !close_input (error))
    return FALSE;

  running->session = glove_session_new (running->backend, running->spec, running->audit.log, running->egress);
  running->signal_source = g_unix_fd_add (running->signals, G_IO_IN, on_signal, running);
  if (!glove_session_prepare (running->session, &reason))
    {
      if (open_audit (self, running, NULL))
        glove_session_record_refusal (running->session, reason);
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  if (!open_audit (self, running, error))
    return FALSE;
  if (!self->options->quiet)
    glove_cli_banner_print (running->backend, running->spec, &self->network, self->notes, running->audit.path);
  return glove_session_record (running->session, error);
}

int
glove_cli_launch_perform (GloveCliLaunch *self)
{
  g_auto (Running) running = { .audit = { .run_folder = -1 }, .signals = -1 };
  g_autoptr (GError) error = NULL;
  GloveOutcome outcome = { 0 };
  gboolean ended;

  if (!hold_signals (&running, &error) || !build (self, &running, &error) || !prepare (self, &running, &error))
    {
      glove_cli_output_error (error);
      return GLOVE_CLI_STATUS_FAILED;
    }
  ended = glove_session_run (running.session, &outcome, &error);
  print_refusals (running.session);
  if (!ended)
    {
      glove_cli_output_error (error);
      return status_of_error (error);
    }
  explain_outcome (&running.spec->limits, &outcome);
  return glove_outcome_get_shell_status (&outcome);
}
