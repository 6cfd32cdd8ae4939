/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Real sandboxes, by the real launcher, as whoever runs this: root and an ordinary user see the same inside. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "glove-linux-backend.h"
#include "glove-linux-fd.h"

typedef struct {
  GloveSandboxBackend *backend;
  GloveLaunchSpec *spec;
  GloveSandbox *sandbox;
  char *dir;
  int out[2];
  gboolean started, finished;
  GError *start_error;
  GloveOutcome outcome;
  guint sockets;
  guint32 last_tag;
} Fixture;

static gboolean must_run;
static char *unavailable; /* why no sandbox can be made here */

static GloveSandboxBackend *
new_backend (void)
{
  g_autoptr (GHashTable) settings = g_hash_table_new (g_str_hash, g_str_equal);

  g_hash_table_insert (settings, (gpointer) "launcher", (gpointer) LAUNCHER);
  return g_object_new (GLOVE_LINUX_TYPE_BACKEND, "settings", settings, NULL);
}

static GloveLaunchSpec *
new_spec (const char *const *argv)
{
  static guint n;
  g_autofree char *id = g_strdup_printf ("test-%d-%u", (int) getpid (), n++);
  const char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=dumb", "HOME=/home/agent", NULL };
  GloveLaunchSpec *spec = glove_launch_spec_new (id);

  g_strfreev (spec->argv);
  g_strfreev (spec->env);
  spec->argv = g_strdupv ((char **) argv);
  spec->env = g_strdupv ((char **) env);
  return spec;
}

static void
use_script (Fixture *fixture, const char *script)
{
  const char *const argv[] = { "/bin/sh", "-c", script, NULL };

  fixture->spec = new_spec (argv);
  g_assert_cmpint (pipe2 (fixture->out, O_CLOEXEC), ==, 0);
  fixture->spec->stdio[1] = fixture->out[1];
  fixture->spec->stdio[2] = fixture->out[1];
}

static void
set_up (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;

  fixture->backend = new_backend ();
  fixture->out[0] = fixture->out[1] = -1;
  fixture->dir = g_dir_make_tmp ("glove-run-XXXXXX", &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", fixture->dir);

  g_clear_object (&fixture->sandbox);
  g_clear_object (&fixture->backend);
  g_clear_pointer (&fixture->spec, glove_launch_spec_unref);
  g_clear_error (&fixture->start_error);
  glove_linux_fd_clear (&fixture->out[0]);
  glove_linux_fd_clear (&fixture->out[1]);
  g_assert_cmpint (system (command), ==, 0);
  g_free (fixture->dir);
}

static void
add_grant (Fixture *fixture, GloveGrantAccess access, const char *path)
{
  g_autoptr (GError) error = NULL;
  GloveGrant *grant = glove_grant_new (access, GLOVE_GRANT_ORIGIN_OPTION, open (path, O_PATH | O_CLOEXEC | O_NOFOLLOW), path,
                                       path, &error);

  g_assert_no_error (error);
  g_ptr_array_add (fixture->spec->grants, grant);
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

  fixture->started = glove_sandbox_start_finish (GLOVE_SANDBOX (object), result, &fixture->start_error);
}

static void
prepare (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  fixture->sandbox = glove_sandbox_backend_prepare (fixture->backend, fixture->spec, &error);
  if (error != NULL)
    g_error ("%s (%s)", error->message, glove_error_get_hint (error));
}

static void
start (Fixture *fixture)
{
  if (fixture->sandbox == NULL)
    prepare (fixture);
  glove_sandbox_start_async (fixture->sandbox, NULL, on_started, fixture);
  glove_sandbox_finish_async (fixture->sandbox, NULL, on_finished, fixture);
  while (!fixture->started && fixture->start_error == NULL)
    g_main_context_iteration (NULL, TRUE);
}

static void
wait_end (Fixture *fixture)
{
  while (!fixture->finished)
    g_main_context_iteration (NULL, TRUE);
}

/* Less than a pipe holds, so that nobody has to read meanwhile. */
static char *
run (Fixture *fixture)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char buffer[4096];
  ssize_t n;

  start (fixture);
  wait_end (fixture);
  glove_linux_fd_clear (&fixture->out[1]);
  while ((n = read (fixture->out[0], buffer, sizeof buffer)) > 0)
    g_string_append_len (text, buffer, n);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
assert_exit (const Fixture *fixture, guint code)
{
  g_assert_no_error (fixture->start_error);
  g_assert_cmpint (fixture->outcome.cause, ==, GLOVE_TERMINATION_EXITED);
  g_assert_cmpuint (fixture->outcome.exit_code, ==, code);
}

static gboolean
skip_unavailable (void)
{
  if (unavailable == NULL)
    return FALSE;
  if (must_run)
    g_error ("%s", unavailable);
  g_test_skip (unavailable);
  return TRUE;
}

/* ------------------------------------------------------------------------------------------------------------------------------ */

static void
test_inside (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *text = NULL;

  if (skip_unavailable ())
    return;
  use_script (fixture, "id -u; id -g; id -un; hostname; pwd; echo $HOME; cat /proc/sys/kernel/ostype; echo out >/dev/stdout;"
                       "test -w /etc/passwd || echo read-only; ls -A /home/agent; exit 7");
  text = run (fixture);
  assert_exit (fixture, 7);
  g_assert_cmpstr (text, ==, "1000\n1000\nagent\nglove\n/home/agent\n/home/agent\nLinux\nout\nread-only\n");
  g_assert_cmpuint (fixture->outcome.usage.cpu_time_ms, !=, G_MAXUINT64);
  g_assert_cmpuint (fixture->outcome.usage.wall_time_ms, <, 60000);
}

/* Whom the host sees. */
static void
test_host_id (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *text = NULL;
  unsigned inside = 0, outside = 0, n = 0;

  if (skip_unavailable ())
    return;
  use_script (fixture, "cat /proc/self/uid_map");
  text = run (fixture);
  assert_exit (fixture, 0);
  g_assert_cmpint (sscanf (text, "%u %u %u", &inside, &outside, &n), ==, 3);
  g_assert_cmpuint (inside, ==, 1000);
  g_assert_cmpuint (n, ==, 1);
  if (geteuid () != 0)
    g_assert_cmpuint (outside, ==, geteuid ());
  else
    {
      g_assert_cmpuint (outside, >=, 1879048192u);
      g_assert_cmpuint (outside, <=, 2147352575u);
    }
}

static void
test_root_id (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *text = NULL;
  unsigned inside = 0, outside = 1;

  if (skip_unavailable ())
    return;
  if (geteuid () != 0)
    {
      g_test_skip ("not root");
      return;
    }
  use_script (fixture, "cat /proc/self/uid_map; echo x > \"$PWD\"/made");
  fixture->spec->as_root_id = TRUE;
  add_grant (fixture, GLOVE_GRANT_WRITE, fixture->dir);
  g_free (fixture->spec->work_dir);
  fixture->spec->work_dir = g_strdup (fixture->dir);
  text = run (fixture);
  assert_exit (fixture, 0);
  g_assert_cmpint (sscanf (text, "%u %u", &inside, &outside), ==, 2);
  g_assert_cmpuint (outside, ==, 0);
}

/* What the agent makes belongs on the disk to whom the workspace belongs. */
static void
test_workspace (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *made = g_build_filename (fixture->dir, "made", NULL);
  g_autofree char *secret = g_build_filename (fixture->dir, "private", NULL);
  g_autofree char *text = NULL;
  struct stat st;
  uid_t owner = geteuid () == 0 ? 4242 : geteuid ();

  if (skip_unavailable ())
    return;
  g_assert_true (g_file_set_contents_full (secret, "mine\n", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  if (geteuid () == 0)
    {
      g_assert_cmpint (chown (fixture->dir, owner, owner), ==, 0);
      g_assert_cmpint (chown (secret, owner, owner), ==, 0);
    }
  use_script (fixture, "cat private; echo made > made && stat -c '%u %a' made; chmod 4755 made; mkdir -p a/b; ls");
  add_grant (fixture, GLOVE_GRANT_WRITE, fixture->dir);
  g_free (fixture->spec->work_dir);
  fixture->spec->work_dir = g_strdup (fixture->dir);
  text = run (fixture);
  assert_exit (fixture, 0);
  g_assert_nonnull (strstr (text, "mine\n1000 644\n"));
  g_assert_nonnull (strstr (text, "a\nmade\nprivate\n"));
  g_assert_cmpint (stat (made, &st), ==, 0);
  g_assert_cmpuint (st.st_uid, ==, owner);
  g_assert_cmpuint (st.st_mode & S_ISUID, ==, 0);
}

static void
test_read_grant (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *file = g_build_filename (fixture->dir, "file with space\n\xff", NULL);
  g_autofree char *text = NULL;

  if (skip_unavailable ())
    return;
  g_assert_true (g_file_set_contents_full (file, "seen\n", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  use_script (fixture, "cat file*; echo no > new || echo refused; echo no >> file* || echo refused; touch file* || echo refused");
  add_grant (fixture, GLOVE_GRANT_READ, fixture->dir);
  g_free (fixture->spec->work_dir);
  fixture->spec->work_dir = g_strdup (fixture->dir);
  text = run (fixture);
  g_assert_true (g_str_has_prefix (text, "seen\n"));
  g_assert_nonnull (strstr (text, "Read-only file system"));
  assert_exit (fixture, 0);
}

static const struct {
  const char *name, *argv0;
  GloveError code;
  const char *telling;
} refusals[] = {
  { "not-found", "glove-no-such-program", GLOVE_ERROR_NOT_FOUND, "glove-no-such-program" },
  { "not-found-path", "/usr/bin/glove-no-such-program", GLOVE_ERROR_NOT_FOUND, "/usr/bin/glove-no-such-program" },
  { "not-executable", "/etc/passwd", GLOVE_ERROR_NOT_EXECUTABLE, "/etc/passwd" },
  { "directory", "/usr/bin", GLOVE_ERROR_NOT_EXECUTABLE, "/usr/bin" },
};

static void
test_refused_program (Fixture *fixture, gconstpointer data)
{
  const char *const argv[] = { refusals[GPOINTER_TO_UINT (data)].argv0, NULL };

  if (skip_unavailable ())
    return;
  fixture->spec = new_spec (argv);
  start (fixture);
  wait_end (fixture);
  g_assert_error (fixture->start_error, GLOVE_ERROR, (int) refusals[GPOINTER_TO_UINT (data)].code);
  g_assert_nonnull (strstr (fixture->start_error->message, refusals[GPOINTER_TO_UINT (data)].telling));
  g_assert_nonnull (glove_error_get_hint (fixture->start_error));
}

/* FS-35: it is the interpreter that is missing, and the error says so. */
static void
test_missing_interpreter (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *script = g_build_filename (fixture->dir, "script", NULL);
  const char *const argv[] = { script, NULL };

  if (skip_unavailable ())
    return;
  g_assert_true (g_file_set_contents_full (script, "#!/opt/no/such/interpreter\n", -1, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  fixture->spec = new_spec (argv);
  add_grant (fixture, GLOVE_GRANT_READ, fixture->dir);
  start (fixture);
  wait_end (fixture);
  g_assert_error (fixture->start_error, GLOVE_ERROR, GLOVE_ERROR_NOT_EXECUTABLE);
  g_assert_nonnull (strstr (fixture->start_error->message, "interpreter"));
}

static void
test_signals (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  char ready[1];

  if (skip_unavailable ())
    return;
  use_script (fixture, "trap 'echo terminated; exit 9' TERM; printf r; while :; do sleep 0.05; done");
  start (fixture);
  g_assert_no_error (fixture->start_error);
  g_assert_cmpint (read (fixture->out[0], ready, 1), ==, 1);
  g_assert_false (glove_sandbox_send_signal (fixture->sandbox, SIGSEGV, &error));
  g_clear_error (&error);
  g_assert_true (glove_sandbox_send_signal (fixture->sandbox, SIGTERM, &error));
  wait_end (fixture);
  assert_exit (fixture, 9);
}

static void
test_killed (Fixture *fixture, gconstpointer unused)
{
  if (skip_unavailable ())
    return;
  use_script (fixture, "kill -ABRT $$");
  g_free (run (fixture));
  g_assert_cmpint (fixture->outcome.cause, ==, GLOVE_TERMINATION_SIGNALED);
  g_assert_cmpuint (fixture->outcome.signal, ==, SIGABRT);
  g_assert_cmpint (glove_outcome_get_shell_status (&fixture->outcome), ==, 134);
}

/* PR-05, PR-11: a background process that holds the pipe dies with the agent's tree. */
static void
test_stop (Fixture *fixture, gconstpointer unused)
{
  char buffer[16];

  if (skip_unavailable ())
    return;
  use_script (fixture, "setsid sh -c 'trap \"\" TERM HUP; sleep 1000' & sleep 1000");
  start (fixture);
  glove_linux_fd_clear (&fixture->out[1]);
  glove_sandbox_stop (fixture->sandbox, GLOVE_TERMINATION_WALL_TIME_LIMIT);
  glove_sandbox_stop (fixture->sandbox, GLOVE_TERMINATION_SUPERVISOR_ERROR);
  wait_end (fixture);
  g_assert_cmpint (fixture->outcome.cause, ==, GLOVE_TERMINATION_WALL_TIME_LIMIT);
  g_assert_cmpint (read (fixture->out[0], buffer, sizeof buffer), ==, 0);
}

/* Whoever drops it has nothing left: the pipe's other ends are all closed when the call returns. */
static void
test_drop (Fixture *fixture, gconstpointer data)
{
  gboolean started = GPOINTER_TO_INT (data);
  char buffer[16];

  if (skip_unavailable ())
    return;
  use_script (fixture, "sleep 1000 & sleep 1000");
  prepare (fixture);
  if (started)
    {
      glove_sandbox_start_async (fixture->sandbox, NULL, on_started, fixture);
      while (!fixture->started)
        g_main_context_iteration (NULL, TRUE);
    }
  glove_linux_fd_clear (&fixture->out[1]);
  g_clear_object (&fixture->sandbox);
  g_assert_cmpint (fcntl (fixture->out[0], F_SETFL, O_NONBLOCK), ==, 0);
  g_assert_cmpint (read (fixture->out[0], buffer, sizeof buffer), ==, 0);
}

static void
test_limits (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *text = NULL;

  if (skip_unavailable ())
    return;
  use_script (fixture, "ulimit -n; ulimit -c; df -B1 --output=size /tmp /dev/shm $HOME | tail -n3 | tr -d ' ';"
                       "head -c 2000000 /dev/zero > /tmp/big || echo full; trap '' XFSZ; head -c 100000 /dev/zero > f || echo small");
  fixture->spec->limits.value[GLOVE_LIMIT_OPEN_FILES] = 77;
  fixture->spec->limits.value[GLOVE_LIMIT_TMP_SIZE] = 1 << 20;
  fixture->spec->limits.value[GLOVE_LIMIT_SHM_SIZE] = 1 << 16;
  fixture->spec->limits.value[GLOVE_LIMIT_HOME_SIZE] = 1 << 21;
  fixture->spec->limits.value[GLOVE_LIMIT_FILE_SIZE] = 1 << 21;
  text = run (fixture);
  assert_exit (fixture, 0);
  g_assert_true (g_str_has_prefix (text, "77\n0\n1048576\n65536\n2097152\n"));
  g_assert_nonnull (strstr (text, "full\n"));
  g_assert_null (strstr (text, "small\n"));
}

/* The limit is the session's own: as many processes again run outside under the same uid. */
static void
test_pids (Fixture *fixture, gconstpointer unused)
{
  g_autofree char *text = NULL;
  GPid others[40];
  const char *const sleeper[] = { "/bin/sleep", "60", NULL };

  if (skip_unavailable ())
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    g_assert_true (g_spawn_async (NULL, (char **) sleeper, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &others[i], NULL));
  use_script (fixture, "i=0; while [ $i -lt 60 ]; do sleep 30 & i=$((i+1)); done 2>/dev/null; echo unlimited");
  fixture->spec->limits.value[GLOVE_LIMIT_PIDS] = 20;
  fixture->spec->limits.requested[GLOVE_LIMIT_PIDS] = TRUE;
  text = run (fixture);
  g_assert_cmpstr (text, ==, "");
  g_assert_cmpint (fixture->outcome.cause, ==, GLOVE_TERMINATION_EXITED);
  g_assert_cmpuint (fixture->outcome.exit_code, ==, 2);
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    {
      kill (others[i], SIGKILL);
      waitpid (others[i], NULL, 0);
    }
}

static void
test_requested_limit (Fixture *fixture, gconstpointer unused)
{
  const char *const argv[] = { "/bin/true", NULL };
  GloveLimitMechanism mechanisms[GLOVE_N_LIMITS];
  char *repairs[GLOVE_N_LIMITS] = { NULL };
  g_autoptr (GError) error = NULL;

  glove_sandbox_backend_query_mechanisms (fixture->backend, mechanisms, repairs);
  fixture->spec = new_spec (argv);
  fixture->spec->limits.value[GLOVE_LIMIT_MEMORY] = 1 << 28;
  fixture->spec->limits.requested[GLOVE_LIMIT_MEMORY] = TRUE;
  if (mechanisms[GLOVE_LIMIT_MEMORY] == GLOVE_LIMIT_MECHANISM_UNAVAILABLE)
    {
      g_assert_null (glove_sandbox_backend_prepare (fixture->backend, fixture->spec, &error));
      g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNAVAILABLE);
      g_assert_nonnull (strstr (error->message, "memory"));
      g_assert_nonnull (glove_error_get_hint (error));
      g_assert_nonnull (repairs[GLOVE_LIMIT_MEMORY]);
    }
  else if (!skip_unavailable ())
    {
      start (fixture);
      wait_end (fixture);
      assert_exit (fixture, 0);
      g_assert_cmpuint (fixture->outcome.usage.peak_memory_bytes, !=, G_MAXUINT64);
    }
  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    g_free (repairs[i]);
}

static void
test_usage (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  GloveUsage usage;

  if (skip_unavailable ())
    return;
  use_script (fixture, "sleep 1000");
  start (fixture);
  g_assert_true (glove_sandbox_read_usage (fixture->sandbox, &usage, &error));
  g_assert_no_error (error);
  glove_sandbox_stop (fixture->sandbox, GLOVE_TERMINATION_SUPERVISOR_ERROR);
  wait_end (fixture);
  g_assert_false (glove_sandbox_read_usage (fixture->sandbox, &usage, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_CLOSED);
}

static void
test_terminal (Fixture *fixture, gconstpointer unused)
{
  const char *const argv[] = { "/bin/sh", "-c", "stty size; read x; stty size; tty", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  glove_linux_autofd int terminal = -1;
  char buffer[512];
  ssize_t n;

  if (skip_unavailable ())
    return;
  fixture->spec = new_spec (argv);
  fixture->spec->tty = TRUE;
  fixture->spec->rows = 33;
  fixture->spec->columns = 99;
  start (fixture);
  g_assert_no_error (fixture->start_error);
  terminal = glove_sandbox_dup_terminal (fixture->sandbox, &error);
  g_assert_no_error (error);
  while (strstr (text->str, "33 99") == NULL && (n = read (terminal, buffer, sizeof buffer)) > 0)
    g_string_append_len (text, buffer, n);
  g_assert_true (glove_sandbox_resize (fixture->sandbox, 44, 111, &error));
  g_assert_cmpint (write (terminal, "\n", 1), ==, 1);
  while ((n = read (terminal, buffer, sizeof buffer)) > 0)
    g_string_append_len (text, buffer, n);
  wait_end (fixture);
  assert_exit (fixture, 0);
  g_assert_nonnull (strstr (text->str, "44 111"));
  g_assert_nonnull (strstr (text->str, "/dev/pts/0"));
}

static void
on_socket (GloveSandbox *sandbox, guint32 tag, int fd, gpointer user_data)
{
  Fixture *fixture = user_data;

  fixture->sockets++;
  fixture->last_tag = tag;
  g_assert_cmpint (send (fd, "hello\n", 6, MSG_NOSIGNAL), ==, 6);
  close (fd);
}

static void
test_listener (Fixture *fixture, gconstpointer unused)
{
  GloveLaunchListener listener = { .port = 0, .tag = 4711 };
  g_autofree char *script = g_build_filename (fixture->dir, "connect", NULL);
  const char *const argv[] = { "/bin/bash", script, NULL };
  g_autofree char *text = NULL;
  g_autofree char *body = NULL;
  guint16 port;

  if (skip_unavailable ())
    return;
  if (access ("/usr/bin/bash", X_OK) < 0)
    {
      g_test_skip ("no bash");
      return;
    }
  use_script (fixture, "true");
  g_strfreev (fixture->spec->argv);
  fixture->spec->argv = g_strdupv ((char **) argv);
  g_array_append_val (fixture->spec->listeners, listener);
  add_grant (fixture, GLOVE_GRANT_READ, fixture->dir);
  g_assert_true (g_file_set_contents (script, "", 0, NULL));
  prepare (fixture);
  port = g_array_index (fixture->spec->listeners, GloveLaunchListener, 0).port;
  g_assert_cmpuint (port, >, 0);
  body = g_strdup_printf ("exec 3<>/dev/tcp/127.0.0.1/%u\ncat <&3\n", port);
  g_assert_cmpint (truncate (script, 0), ==, 0);
  {
    glove_linux_autofd int fd = open (script, O_WRONLY | O_CLOEXEC);

    g_assert_cmpint (write (fd, body, strlen (body)), ==, (gssize) strlen (body));
  }
  glove_sandbox_set_socket_handler (fixture->sandbox, on_socket, fixture, NULL);
  text = run (fixture);
  assert_exit (fixture, 0);
  g_assert_cmpstr (text, ==, "hello\n");
  g_assert_cmpuint (fixture->sockets, ==, 1);
  g_assert_cmpuint (fixture->last_tag, ==, 4711);
}

/* A file system that can't map ids, in a mount namespace of this test's own. */
static void
test_unmappable (Fixture *fixture, gconstpointer data)
{
  gboolean below = GPOINTER_TO_INT (data);
  g_autofree char *sub = g_build_filename (fixture->dir, "sub", NULL);
  const char *point = below ? sub : fixture->dir;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (skip_unavailable ())
    return;
  if (geteuid () != 0)
    {
      g_test_skip ("not root");
      return;
    }
  g_assert_cmpint (mkdir (sub, 0755), ==, 0);
  if (mount ("glove-test", point, "ramfs", 0, "mode=0700") < 0)
    {
      g_test_skip ("ramfs can't be mounted");
      return;
    }
  use_script (fixture, "true");
  add_grant (fixture, GLOVE_GRANT_WRITE, fixture->dir);
  g_assert_null (glove_sandbox_backend_prepare (fixture->backend, fixture->spec, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_NOT_SUPPORTED);
  g_assert_nonnull (strstr (error->message, "ramfs"));
  g_assert_nonnull (strstr (error->message, point));
  g_assert_nonnull (strstr (glove_error_get_hint (error), "--as-root-id"));
  g_clear_error (&error);
  /* Nobody else may read the root: a read grant is refused likewise. When everybody may, it is bound as it is. */
  g_ptr_array_set_size (fixture->spec->grants, 0);
  add_grant (fixture, GLOVE_GRANT_READ, fixture->dir);
  if (!below)
    {
      g_assert_null (glove_sandbox_backend_prepare (fixture->backend, fixture->spec, &error));
      g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_NOT_SUPPORTED);
      g_clear_error (&error);
    }
  g_assert_cmpint (chmod (fixture->dir, 0755), ==, 0);
  g_ptr_array_set_size (fixture->spec->grants, 0);
  add_grant (fixture, GLOVE_GRANT_READ, fixture->dir);
  text = run (fixture);
  assert_exit (fixture, 0);
  g_assert_cmpint (umount2 (point, MNT_DETACH), ==, 0);
}

static void
test_probe (Fixture *fixture, gconstpointer unused)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) results = glove_sandbox_backend_probe (fixture->backend, NULL, &error);
  const GloveProbeResult *last;

  g_assert_no_error (error);
  g_assert_cmpuint (results->len, >=, 10);
  for (guint i = 0; i < results->len; i++)
    {
      const GloveProbeResult *result = g_ptr_array_index (results, i);

      g_test_message ("%s %s: %s; %s", result->code, glove_probe_status_get_name (result->status), result->message,
                      result->repair);
      g_assert_true (g_regex_match_simple ("^[a-z0-9_]+$", result->code, 0, 0));
      g_assert_cmpstr (result->message, !=, "");
      if (result->status == GLOVE_PROBE_MISSING || result->status == GLOVE_PROBE_DEGRADED)
        g_assert_cmpstr (result->repair, !=, "");
    }
  last = g_ptr_array_index (results, results->len - 1);
  g_assert_cmpstr (last->code, ==, "launch");
  if (unavailable == NULL)
    g_assert_cmpint (last->status, ==, GLOVE_PROBE_OK);
}

static guint
count_fds (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
test_no_leak (Fixture *fixture, gconstpointer unused)
{
  guint before = 0;

  if (skip_unavailable ())
    return;
  for (guint i = 0; i < 5; i++)
    {
      use_script (fixture, "exit 0");
      add_grant (fixture, GLOVE_GRANT_WRITE, fixture->dir);
      g_free (run (fixture));
      g_clear_object (&fixture->sandbox);
      g_clear_pointer (&fixture->spec, glove_launch_spec_unref);
      glove_linux_fd_clear (&fixture->out[0]);
      fixture->started = fixture->finished = FALSE;
      /* The first one may have claimed a control group, for all that follow. */
      if (i == 0)
        before = count_fds ();
      g_assert_cmpuint (count_fds (), ==, before);
    }
}

/* One launch decides whether the others can be tried at all. */
static void
find_out (void)
{
  const char *const argv[] = { "/bin/true", NULL };
  g_autoptr (GloveSandboxBackend) backend = new_backend ();
  g_autoptr (GloveLaunchSpec) spec = new_spec (argv);
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveSandbox) sandbox = NULL;
  /* A port that has to be chosen makes prepare wait until the sandbox is there, or can't be. */
  GloveLaunchListener listener = { 0 };

  g_array_append_val (spec->listeners, listener);
  sandbox = glove_sandbox_backend_prepare (backend, spec, &error);
  if (sandbox != NULL)
    return;
  if (!g_error_matches (error, GLOVE_ERROR, GLOVE_ERROR_UNAVAILABLE))
    g_error ("%s", error->message);
  unavailable = g_strdup (error->message);
}

#define ADD(name, data, function) g_test_add ("/linux/run/" name, Fixture, data, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  must_run = g_strcmp0 (g_getenv ("GLOVE_TESTS_MUST_RUN"), "1") == 0;
  if (geteuid () == 0 && unshare (CLONE_NEWNS) == 0)
    g_assert_cmpint (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), ==, 0);
  find_out ();
  ADD ("inside", NULL, test_inside);
  ADD ("host-id", NULL, test_host_id);
  ADD ("root-id", NULL, test_root_id);
  ADD ("workspace", NULL, test_workspace);
  ADD ("read-grant", NULL, test_read_grant);
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_autofree char *path = g_strconcat ("/linux/run/refused/", refusals[i].name, NULL);

      g_test_add (path, Fixture, GUINT_TO_POINTER (i), set_up, test_refused_program, tear_down);
    }
  ADD ("missing-interpreter", NULL, test_missing_interpreter);
  ADD ("signals", NULL, test_signals);
  ADD ("killed", NULL, test_killed);
  ADD ("stop", NULL, test_stop);
  ADD ("drop/prepared", GINT_TO_POINTER (FALSE), test_drop);
  ADD ("drop/started", GINT_TO_POINTER (TRUE), test_drop);
  ADD ("limits", NULL, test_limits);
  ADD ("pids", NULL, test_pids);
  ADD ("requested-limit", NULL, test_requested_limit);
  ADD ("usage", NULL, test_usage);
  ADD ("terminal", NULL, test_terminal);
  ADD ("listener", NULL, test_listener);
  ADD ("unmappable/itself", GINT_TO_POINTER (FALSE), test_unmappable);
  ADD ("unmappable/below", GINT_TO_POINTER (TRUE), test_unmappable);
  ADD ("probe", NULL, test_probe);
  ADD ("no-leak", NULL, test_no_leak);
  status = g_test_run ();
  g_free (unavailable);
  return status;
}
