/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-example-sink.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct _GloveExampleSink {
  GObject parent_instance;
  int fd; /* -1 before it is opened */
};

static void glove_example_sink_audit_init (GloveAuditSinkInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveExampleSink, glove_example_sink, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_AUDIT_SINK, glove_example_sink_audit_init))

static const char *
get_sink_id (GloveAuditSink *sink)
{
  return "example";
}

/* doc: sink-open */
static gboolean
open_file (GloveAuditSink *sink, int dirfd, const char *name, GError **error)
{
  GloveExampleSink *self = GLOVE_EXAMPLE_SINK (sink);
  int fd;

  if (self->fd >= 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_EXISTS, "the sink is open already");
      return FALSE;
    }

  fd = openat (dirfd, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  /* Durable before visible: a new file is there after a power failure only when its directory is on disk too. */
  if (fd < 0 || fsync (dirfd) != 0)
    {
      glove_error_set_errno (error, errno, "can't make the audit file '%s'", name);
      if (fd >= 0)
        (void) close (fd);
      return FALSE;
    }

  self->fd = fd;
  return TRUE;
}
/* doc: end */

static gboolean
write_all (int fd, const char *data, gsize length)
{
  while (length > 0)
    {
      gssize n = write (fd, data, length);

      if (n < 0 && errno != EINTR)
        return FALSE;
      if (n > 0)
        {
          data += n;
          length -= (gsize) n;
        }
    }

  return TRUE;
}

/* doc: sink-record */
static gboolean
record (GloveAuditSink *sink, GloveAuditEvent *const *events, gsize n_events, GError **error)
{
  GloveExampleSink *self = GLOVE_EXAMPLE_SINK (sink);
  g_autoptr (GString) lines = g_string_new (NULL);
  off_t start;

  if (self->fd < 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_CLOSED, "the sink is not open");
      return FALSE;
    }

  for (gsize i = 0; i < n_events; i++)
    {
      glove_audit_event_append_json_open (events[i], lines);
      g_string_append (lines, "}\n");
    }

  start = lseek (self->fd, 0, SEEK_END);
  if (start >= 0 && write_all (self->fd, lines->str, lines->len) && fdatasync (self->fd) == 0)
    return TRUE;

  glove_error_set_errno (error, errno, "can't write the audit file");
  /* All of them or none. */
  if (start >= 0 && ftruncate (self->fd, start) != 0)
    g_prefix_error (error, "a half-written group stays: ");
  return FALSE;
}
/* doc: end */

static gboolean
is_durable (GloveAuditSink *sink)
{
  return TRUE;
}

static void
glove_example_sink_audit_init (GloveAuditSinkInterface *iface)
{
  iface->get_sink_id = get_sink_id;
  iface->open = open_file;
  iface->record = record;
  iface->is_durable = is_durable;
}

static void
glove_example_sink_finalize (GObject *object)
{
  GloveExampleSink *self = GLOVE_EXAMPLE_SINK (object);

  if (self->fd >= 0)
    (void) close (self->fd);

  G_OBJECT_CLASS (glove_example_sink_parent_class)->finalize (object);
}

static void
glove_example_sink_class_init (GloveExampleSinkClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_example_sink_finalize;
}

static void
glove_example_sink_init (GloveExampleSink *self)
{
  self->fd = -1;
}
