/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-cli-audit.h"

#include <fcntl.h>
#include <string.h>

#include "glove-audit-runs.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-grant-resolver.h"
#include "glove-text.h"

static gboolean
check_outside (int folder, const char *file, const GPtrArray *grants, GError **error)
{
  gboolean covered = FALSE;
  g_autofree char *shown = NULL;

  if (!glove_grant_resolver_covers (grants, folder, &covered, error))
    return FALSE;
  if (!covered)
    return TRUE;
  shown = glove_text_escape (file, -1);
  glove_error_set (error, GLOVE_ERROR_DENIED, "the audit file %s lies in a folder that the agent sees", shown);
  glove_error_set_hint (error, "name a file with --audit that is outside of the workspace and of every --read and --write");
  return FALSE;
}

/* The folder is opened once, links followed: it is the operator's own path. The file in it is never followed. */
static int
open_folder (const char *file, const GPtrArray *grants, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (file);
  glove_autofd int fd = glove_fd_openat2 (AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0, 0, error);

  if (fd < 0)
    {
      g_prefix_error (error, "can't open the folder of the audit file: ");
      glove_error_set_hint (error, "make the folder, or name another file with --audit");
      return -1;
    }
  return check_outside (fd, file, grants, error) ? g_steal_fd (&fd) : -1;
}

static gboolean
open_file (GloveCliAudit *self, GloveAuditSink *sink, const char *file, const GPtrArray *grants, GError **error)
{
  g_autofree char *name = g_path_get_basename (file);
  glove_autofd int folder = -1;

  if (strcmp (name, ".") == 0 || strcmp (name, "..") == 0 || strcmp (name, "/") == 0 || g_str_has_suffix (file, "/"))
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "'%s' is not the name of an audit file", file);
      glove_error_set_hint (error, "--audit takes a file, such as ./audit.jsonl");
      return FALSE;
    }
  folder = open_folder (file, grants, error);
  if (folder < 0)
    return FALSE;
  self->path = g_strdup (file);
  return glove_audit_sink_open (sink, folder, name, error);
}

static gboolean
open_run (GloveCliAudit *self, GloveAuditSink *sink, const char *session_id, const GPtrArray *grants, GError **error)
{
  g_autofree char *folder = NULL;

  self->run_folder = glove_audit_runs_create (NULL, session_id, &folder, error);
  if (self->run_folder < 0)
    return FALSE;
  self->path = g_build_filename (folder, "audit.jsonl", NULL);
  return check_outside (self->run_folder, self->path, grants, error)
         && glove_audit_sink_open (sink, self->run_folder, "audit.jsonl", error);
}

void
glove_cli_audit_init (GloveCliAudit *self, const char *session_id)
{
  self->run_folder = -1;
  self->log = glove_audit_log_new (session_id);
}

gboolean
glove_cli_audit_open (GloveCliAudit *self, GloveCatalog *catalog, const char *session_id, const char *file,
                      const GPtrArray *grants, GError **error)
{
  g_autoptr (GObject) sink = NULL;
  gboolean opened;

  sink = glove_catalog_create (catalog, "sink", GLOVE_DEFAULT_SINK, GLOVE_TYPE_AUDIT_SINK, error);
  if (sink == NULL)
    return FALSE;
  opened = file != NULL ? open_file (self, GLOVE_AUDIT_SINK (sink), file, grants, error)
                        : open_run (self, GLOVE_AUDIT_SINK (sink), session_id, grants, error);
  if (!opened)
    return FALSE;
  glove_audit_log_add_sink (self->log, GLOVE_AUDIT_SINK (sink));
  return TRUE;
}

void
glove_cli_audit_clear (GloveCliAudit *self)
{
  g_clear_object (&self->log);
  g_clear_pointer (&self->path, g_free);
  glove_fd_clear (&self->run_folder);
}
