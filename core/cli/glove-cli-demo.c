/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdio.h>

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "glove-audit-reader.h"
#include "glove-cli-output.h"
#include "glove-cli-verbs.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-text.h"

#define MEMORY_LIMIT "memory=256M"

/* What the demonstration agent tries, and what the policy of this run says about it. */
static const struct
{
  const char *name;
  const char *what;
  gboolean allowed;
} attempts[] = {
  { "write-workspace", N_("write a file in the workspace"), TRUE },
  { "read-workspace", N_("read it back"), TRUE },
  { "read-outside", N_("read a file outside of the workspace"), FALSE },
  { "read-ssh", N_("read the operator's ~/.ssh"), FALSE },
  { "read-own-ssh", N_("read ~/.ssh of its own home"), FALSE },
  { "reach-allowed", N_("reach the allowed end point"), TRUE },
  { "reach-other", N_("reach another one"), FALSE },
  { "bypass-proxy", N_("reach it without the proxy"), FALSE },
  { "see-host", N_("see the host's processes"), FALSE },
  { "become-root", N_("become root"), FALSE },
  { "new-user-namespace", N_("make a user namespace"), FALSE },
  { "mount", N_("mount a file system"), FALSE },
  { "host-socket", N_("connect to a host's socket in the workspace"), FALSE },
};

typedef struct {
  char *folder;    /* temporary; everything below is in it */
  char *workspace;
  char *outside;
  char *socket;
  char *audit;
  char *agent;
  char *catalog;   /* (nullable) */
  guint16 allowed_port;
  guint16 other_port;
  GSocketService *service;
  GHashTable *found; /* name → "done"/"refused" TAB detail */
  gboolean as_expected;
  GPtrArray *rows;
} Demo;

static void
remove_tree (const char *path)
{
  GDir *folder = g_dir_open (path, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      if (g_file_test (child, G_FILE_TEST_IS_DIR) && !g_file_test (child, G_FILE_TEST_IS_SYMLINK))
        remove_tree (child);
      else
        (void) g_unlink (child);
    }
  g_clear_pointer (&folder, g_dir_close);
  (void) g_rmdir (path);
}

static void
demo_clear (Demo *self)
{
  if (self->service != NULL)
    g_socket_service_stop (self->service);
  g_clear_object (&self->service);
  if (self->folder != NULL)
    remove_tree (self->folder);
  g_free (self->folder);
  g_free (self->workspace);
  g_free (self->outside);
  g_free (self->socket);
  g_free (self->audit);
  g_free (self->agent);
  g_free (self->catalog);
  g_clear_pointer (&self->found, g_hash_table_unref);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Demo, demo_clear)

/* Answers anything with 200, and closes. */
static gboolean
on_connection (GSocketService *service, GSocketConnection *connection, GObject *source, gpointer user_data)
{
  static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
  char request[1024];
  GInputStream *in = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  GOutputStream *out = g_io_stream_get_output_stream (G_IO_STREAM (connection));

  if (g_input_stream_read (in, request, sizeof request, NULL, NULL) > 0)
    (void) g_output_stream_write_all (out, reply, sizeof reply - 1, NULL, NULL, NULL);
  (void) g_io_stream_close (G_IO_STREAM (connection), NULL, NULL);
  return TRUE;
}

static gboolean
listen_on_loopback (Demo *self, guint16 *ret_port, GError **error)
{
  g_autoptr (GInetAddress) loopback = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  g_autoptr (GSocketAddress) address = g_inet_socket_address_new (loopback, 0);
  g_autoptr (GSocketAddress) effective = NULL;

  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (self->service), address, G_SOCKET_TYPE_STREAM,
                                      G_SOCKET_PROTOCOL_TCP, NULL, &effective, error))
    return FALSE;
  *ret_port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (effective));
  return TRUE;
}

static gboolean
set_up_host (Demo *self, GError **error)
{
  g_autoptr (GSocketAddress) address = NULL;

  self->folder = g_dir_make_tmp ("glove-demo-XXXXXX", error);
  if (self->folder == NULL)
    return FALSE;
  self->workspace = g_build_filename (self->folder, "workspace", NULL);
  self->outside = g_build_filename (self->folder, "outside.txt", NULL);
  self->socket = g_build_filename (self->workspace, "host.sock", NULL);
  self->audit = g_build_filename (self->folder, "audit.jsonl", NULL);
  if (g_mkdir (self->workspace, 0755) != 0)
    {
      glove_error_set_errno (error, errno, "can't make the folder %s", self->workspace);
      return FALSE;
    }
  if (!g_file_set_contents (self->outside, "not for the agent\n", -1, error))
    return FALSE;
  self->service = g_threaded_socket_service_new (4);
  g_signal_connect (self->service, "run", G_CALLBACK (on_connection), NULL);
  address = g_unix_socket_address_new (self->socket);
  return listen_on_loopback (self, &self->allowed_port, error) && listen_on_loopback (self, &self->other_port, error)
         && g_socket_listener_add_address (G_SOCKET_LISTENER (self->service), address, G_SOCKET_TYPE_STREAM,
                                           G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, error);
}

/* Beside the program in a build tree, in libexec when installed. */
static gboolean
find_agent (Demo *self, GError **error)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", error);
  g_autofree char *folder = NULL;

  if (program == NULL)
    return FALSE;
  folder = g_path_get_dirname (program);
  self->agent = g_build_filename (folder, "glove-demo-agent", NULL);
  if (access (self->agent, X_OK) != 0)
    {
      g_free (self->agent);
      self->agent = g_build_filename (GLOVE_LIBEXECDIR, "glove-demo-agent", NULL);
    }
  return TRUE;
}

static void
take_output (Demo *self, const char *output)
{
  g_auto (GStrv) lines = g_strsplit (output != NULL ? output : "", "\n", 64);

  for (gsize i = 0; lines[i] != NULL; i++)
    {
      char *tab = strchr (lines[i], '\t');

      if (tab != NULL)
        g_hash_table_insert (self->found, g_strndup (lines[i], (gsize) (tab - lines[i])), g_strdup (tab + 1));
    }
}

typedef struct {
  GMainLoop *loop;
  char *output;
  GError *error;
} Finished;

static void
on_finished (GObject *object, GAsyncResult *result, gpointer user_data)
{
  Finished *finished = user_data;

  (void) g_subprocess_communicate_utf8_finish (G_SUBPROCESS (object), result, &finished->output, NULL, &finished->error);
  g_main_loop_quit (finished->loop);
}

/* The program itself, as an operator types it; its banner goes to our standard error. */
static gboolean
run_glove (Demo *self, GPtrArray *arguments, int *ret_status, GError **error)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GSubprocess) process = NULL;
  Finished finished = { .loop = loop };

  g_ptr_array_add (arguments, NULL);
  process = g_subprocess_newv ((const char *const *) arguments->pdata, G_SUBPROCESS_FLAGS_STDOUT_PIPE, error);
  if (process == NULL)
    return FALSE;
  g_subprocess_communicate_utf8_async (process, NULL, NULL, on_finished, &finished);
  g_main_loop_run (loop);
  take_output (self, finished.output);
  g_free (finished.output);
  if (finished.error != NULL)
    {
      g_propagate_error (error, finished.error);
      return FALSE;
    }
  *ret_status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process) : 255;
  return TRUE;
}

static void
add (GPtrArray *arguments, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add (GPtrArray *arguments, const char *format, ...)
{
  va_list values;

  va_start (values, format);
  g_ptr_array_add (arguments, g_strdup_vprintf (format, values));
  va_end (values);
}

static GPtrArray *
begin_command (Demo *self)
{
  GPtrArray *arguments = g_ptr_array_new_with_free_func (g_free);

  add (arguments, "/proc/self/exe");
  add (arguments, "exec");
  if (self->catalog != NULL)
    {
      add (arguments, "--catalog");
      add (arguments, "%s", self->catalog);
    }
  add (arguments, "--no-tty");
  add (arguments, "--read");
  add (arguments, "%s", self->agent);
  add (arguments, "--audit");
  add (arguments, "%s", self->audit);
  return arguments;
}

static gboolean
run_attempts (Demo *self, GError **error)
{
  g_autoptr (GPtrArray) arguments = begin_command (self);
  int status = 0;

  add (arguments, "--workspace");
  add (arguments, "%s", self->workspace);
  add (arguments, "--mask-sockets");
  add (arguments, "--allow-host");
  add (arguments, "127.0.0.1:%u", self->allowed_port);
  add (arguments, "--");
  add (arguments, "%s", self->agent);
  add (arguments, "outside=%s", self->outside);
  add (arguments, "ssh=%s/.ssh", g_get_home_dir ());
  add (arguments, "allowed=127.0.0.1:%u", self->allowed_port);
  add (arguments, "other=127.0.0.1:%u", self->other_port);
  add (arguments, "host-pid=%d", (int) getpid ());
  add (arguments, "socket=%s", self->socket);
  if (!run_glove (self, arguments, &status, error))
    return FALSE;
  if (status == 0)
    return TRUE;
  glove_error_set (error, GLOVE_ERROR_FAILED, "the demonstration agent ended with status %d", status);
  glove_error_set_hint (error, "glove doctor");
  return FALSE;
}

static void
add_row (Demo *self, const char *what, gboolean allowed, const char *found, gboolean right)
{
  char **row = g_new0 (char *, 5);

  row[0] = g_strdup (what);
  row[1] = g_strdup (allowed ? _("allowed") : _("refused"));
  row[2] = glove_text_escape (found, -1);
  row[3] = g_strdup (right ? _("as expected") : _("WRONG"));
  g_ptr_array_add (self->rows, row);
  self->as_expected = self->as_expected && right;
}

static void
judge_attempts (Demo *self)
{
  for (gsize i = 0; i < G_N_ELEMENTS (attempts); i++)
    {
      const char *found = g_hash_table_lookup (self->found, attempts[i].name);
      gboolean done = found != NULL && g_str_has_prefix (found, "done");
      const char *detail = found != NULL ? strchr (found, '\t') : NULL;
      g_autofree char *text = NULL;

      if (detail != NULL && detail[1] != '\0')
        text = g_strdup_printf ("%s (%s)", done ? _("done") : _("refused"), detail + 1);
      else
        text = g_strdup (found == NULL ? _("no report") : done ? _("done") : _("refused"));
      add_row (self, _(attempts[i].what), attempts[i].allowed, text, found != NULL && done == attempts[i].allowed);
    }
}

/* A session of its own: the limit ends everything in it. Where nothing can enforce the limit, glove refuses the option, and says why. */
static gboolean
run_memory (Demo *self, GError **error)
{
  g_autoptr (GPtrArray) arguments = begin_command (self);
  const char *found;
  int status = 0;

  add (arguments, "--limit");
  add (arguments, MEMORY_LIMIT);
  add (arguments, "--");
  add (arguments, "%s", self->agent);
  add (arguments, "memory");
  if (!run_glove (self, arguments, &status, error))
    return FALSE;
  found = g_hash_table_lookup (self->found, "fill-memory");
  if (status == 128 + 9 && found == NULL)
    add_row (self, _("fill memory past its limit"), FALSE, _("stopped at the limit"), TRUE);
  else if (status == GLOVE_CLI_STATUS_FAILED && found == NULL)
    add_row (self, _("fill memory past its limit"), FALSE, _("not started: the limit can't be enforced here (see above)"),
             TRUE);
  else
    add_row (self, _("fill memory past its limit"), FALSE, found != NULL ? found : _("no report"), FALSE);
  return TRUE;
}

static void
row_free (gpointer row)
{
  g_strfreev (row);
}

static gboolean
print_trail (Demo *self, GError **error)
{
  static const char *const header[] = { "ACTION", "STATUS", "WHAT", "DETAIL" };
  GloveAuditReaderState state;
  g_autofree char *fault = NULL;
  g_autoptr (GPtrArray) events = NULL;
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free);
  glove_autofd int fd = glove_fd_openat2 (AT_FDCWD, self->audit, O_RDONLY, 0, 0, error);

  events = fd >= 0 ? glove_audit_reader_read (fd, &state, &fault, error) : NULL;
  if (events == NULL)
    return FALSE;
  for (guint i = 0; i < events->len; i++)
    {
      const GloveAuditEvent *event = g_ptr_array_index (events, i);
      char **row = g_new0 (char *, 5);

      row[0] = g_strdup (glove_audit_action_get_name (event->action));
      row[1] = g_strdup (glove_audit_status_get_name (event->status));
      row[2] = glove_text_escape (glove_cli_output_subject (event), -1);
      row[3] = glove_text_escape (event->error, -1);
      g_ptr_array_add (rows, row);
    }
  g_print (_("\nThe audit trail (%u events, chain %s):\n\n"), events->len,
           state == GLOVE_AUDIT_READER_INTACT ? _("intact") : fault);
  glove_cli_output_table (stdout, G_N_ELEMENTS (header), header, rows);
  self->as_expected = self->as_expected && state == GLOVE_AUDIT_READER_INTACT;
  return TRUE;
}

static gboolean
perform (Demo *self, GError **error)
{
  const char *const header[] = { _("THE AGENT TRIES TO"), _("POLICY"), _("FOUND"), _("RESULT") };

  self->as_expected = TRUE;
  self->found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->rows = g_ptr_array_new_with_free_func (row_free);
  if (!find_agent (self, error) || !set_up_host (self, error) || !run_attempts (self, error))
    return FALSE;
  judge_attempts (self);
  if (!run_memory (self, error))
    return FALSE;
  g_print ("\n");
  glove_cli_output_table (stdout, G_N_ELEMENTS (header), header, self->rows);
  return print_trail (self, error);
}

int
glove_cli_demo (int argc, char **argv)
{
  g_auto (Demo) demo = { 0 };
  const GOptionEntry entries[] = {
    { "catalog", 0, 0, G_OPTION_ARG_FILENAME, &demo.catalog, N_("Folder of catalog entries and modules, instead of the installed ones"), N_("DIR") },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, GETTEXT_PACKAGE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return glove_cli_output_usage ("demo", "%s", error->message);
  if (!perform (&demo, &error))
    {
      glove_error_convert (&error);
      glove_cli_output_error (error);
      return GLOVE_CLI_STATUS_FAILED;
    }
  g_print ("\n%s\n", demo.as_expected ? _("Everything came out as the policy says.")
                                      : _("Something came out otherwise than the policy says."));
  return demo.as_expected ? 0 : 1;
}
