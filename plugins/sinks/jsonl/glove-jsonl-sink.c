/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-jsonl-sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-jsonl-chain.h"

#define FILE_MODE 0600
#define TORN_NAMES 16

struct _GloveJsonlSink {
  GObject parent_instance;
  int dirfd; /* our copy */
  int fd;
  char *name;
  dev_t dev;
  ino_t ino;
  GloveJsonlChain chain; /* @end is the size that every acknowledged event needs */
  gboolean dirty;        /* a failed group could not be taken back yet */
};

static void glove_jsonl_sink_iface_init (GloveAuditSinkInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveJsonlSink, glove_jsonl_sink, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_AUDIT_SINK, glove_jsonl_sink_iface_init))

static void
close_fd (int *fd)
{
  if (*fd >= 0)
    (void) close (*fd);
  *fd = -1;
}

static gboolean
write_at (int fd, const char *data, gsize length, goffset offset)
{
  while (length > 0)
    {
      gssize written = pwrite (fd, data, length, offset);

      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        {
          if (written == 0)
            errno = EIO;
          return FALSE;
        }
      data += written;
      length -= written;
      offset += written;
    }
  return TRUE;
}

static gboolean
sync_folder (GloveJsonlSink *self, GError **error)
{
  int fd = openat (self->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  gboolean ok = fd >= 0 && fsync (fd) == 0;
  int saved = errno;

  close_fd (&fd);
  if (!ok)
    glove_error_set_errno (error, saved, "syncing the folder of the audit file");
  return ok;
}

/* --- opening --- */

static gboolean
check_name (const char *name, GError **error)
{
  if (name[0] != '\0' && strchr (name, '/') == NULL && strcmp (name, ".") != 0 && strcmp (name, "..") != 0
      && strlen (name) <= NAME_MAX)
    return TRUE;
  glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "the audit file's name is not a plain file name");
  return FALSE;
}

/* Makes the file or opens the one that is there. */
static int
open_or_make (GloveJsonlSink *self, gboolean *ret_made, GError **error)
{
  const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int fd = openat (self->dirfd, self->name, flags | O_CREAT | O_EXCL, FILE_MODE);

  *ret_made = fd >= 0;
  if (fd < 0 && errno == EEXIST)
    fd = openat (self->dirfd, self->name, flags);
  if (fd < 0 && errno == ELOOP)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "the audit file '%s' is a symbolic link", self->name);
      glove_error_set_hint (error, "name the file itself");
    }
  else if (fd < 0)
    glove_error_set_errno (error, errno, "opening the audit file '%s'", self->name);
  else if (*ret_made && fchmod (fd, FILE_MODE) < 0)
    {
      glove_error_set_errno (error, errno, "setting the mode of the audit file '%s'", self->name);
      close_fd (&fd);
    }
  return fd;
}

static gboolean
check_file (GloveJsonlSink *self, const struct stat *st, GError **error)
{
  const char *fault = NULL;

  if (!S_ISREG (st->st_mode))
    fault = "is not a regular file";
  else if (st->st_uid != geteuid ())
    fault = "belongs to somebody else";
  else if ((st->st_mode & 07777) != FILE_MODE)
    fault = "does not have mode 0600";
  else if (st->st_nlink != 1)
    fault = "has other names (hard links)";
  else if (st->st_size > GLOVE_JSONL_SINK_FILE_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "the audit file '%s' is larger than %d bytes", self->name,
                       GLOVE_JSONL_SINK_FILE_MAX);
      glove_error_set_hint (error, "move it away, and start a new one");
      return FALSE;
    }
  if (fault == NULL)
    return TRUE;
  glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "the audit file '%s' %s", self->name, fault);
  glove_error_set_hint (error, "name a file that is not there yet, or one that glove made");
  return FALSE;
}

/* Whether the name still leads to the open file, and nobody else wrote to it. */
static gboolean
check_unchanged (GloveJsonlSink *self, goffset size, GError **error)
{
  struct stat here, there;

  if (fstat (self->fd, &here) < 0)
    {
      glove_error_set_errno (error, errno, "looking at the audit file '%s'", self->name);
      return FALSE;
    }
  if (fstatat (self->dirfd, self->name, &there, AT_SYMLINK_NOFOLLOW) < 0 || there.st_dev != self->dev
      || there.st_ino != self->ino || here.st_nlink != 1)
    {
      glove_error_set (error, GLOVE_ERROR_CHANGED, "the audit file '%s' was moved, removed or replaced", self->name);
      return FALSE;
    }
  if (size >= 0 && here.st_size != size)
    {
      glove_error_set (error, GLOVE_ERROR_CHANGED, "the audit file '%s' was changed by somebody else", self->name);
      return FALSE;
    }
  return TRUE;
}

static gboolean
copy_tail (GloveJsonlSink *self, int to, goffset from, goffset end)
{
  g_autofree char *buffer = g_malloc (GLOVE_JSONL_SINK_LINE_MAX);
  goffset offset = from;

  while (offset < end)
    {
      gssize got = pread (self->fd, buffer, MIN (GLOVE_JSONL_SINK_LINE_MAX, end - offset), offset);

      if (got < 0 && errno == EINTR)
        continue;
      if (got == 0)
        errno = EIO;
      if (got <= 0 || !write_at (to, buffer, got, offset - from))
        return FALSE;
      offset += got;
    }
  return fsync (to) == 0;
}

/* Keeps what stands behind the last whole line as NAME.torn-OFFSET, and only then cuts it off: evidence is never destroyed. */
static gboolean
set_torn_tail_aside (GloveJsonlSink *self, goffset size, GError **error)
{
  g_autofree char *name = NULL;
  int fd = -1;
  int saved = 0;
  gboolean ok = FALSE;

  for (guint i = 0; fd < 0 && i < TORN_NAMES; i++)
    {
      g_free (name);
      name = g_strdup_printf (i == 0 ? "%s.torn-%" G_GINT64_FORMAT : "%s.torn-%" G_GINT64_FORMAT "-%u", self->name,
                              (gint64) self->chain.end, i);
      fd = openat (self->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
      if (fd < 0 && errno != EEXIST)
        break;
    }
  ok = fd >= 0 && copy_tail (self, fd, self->chain.end, size);
  saved = errno;
  close_fd (&fd);
  if (!ok)
    {
      glove_error_set_errno (error, saved, "keeping the torn end of the audit file '%s'", self->name);
      return FALSE;
    }
  if (!sync_folder (self, error))
    return FALSE;
  if (ftruncate (self->fd, self->chain.end) == 0 && fdatasync (self->fd) == 0)
    return TRUE;
  glove_error_set_errno (error, errno, "cutting the torn end off the audit file '%s'", self->name);
  return FALSE;
}

static gboolean
lock_file (GloveJsonlSink *self, GError **error)
{
  int rc = 0;

  do
    rc = flock (self->fd, LOCK_EX | LOCK_NB);
  while (rc < 0 && errno == EINTR);
  if (rc == 0)
    return TRUE;
  if (errno != EWOULDBLOCK)
    {
      glove_error_set_errno (error, errno, "locking the audit file '%s'", self->name);
      return FALSE;
    }
  glove_error_set (error, GLOVE_ERROR_BUSY, "the audit file '%s' is in use by another process", self->name);
  glove_error_set_hint (error, "give each run a file of its own");
  return FALSE;
}

static gboolean
take_place (GloveJsonlSink *self, GError **error)
{
  gboolean made = FALSE;
  struct stat st;

  self->fd = open_or_make (self, &made, error);
  if (self->fd < 0)
    return FALSE;
  if (!lock_file (self, error))
    return FALSE;
  if (fstat (self->fd, &st) < 0)
    {
      glove_error_set_errno (error, errno, "looking at the audit file '%s'", self->name);
      return FALSE;
    }
  if (!check_file (self, &st, error))
    return FALSE;
  self->dev = st.st_dev;
  self->ino = st.st_ino;
  if (!check_unchanged (self, st.st_size, error))
    return FALSE;
  if (made)
    {
      glove_jsonl_chain_init (&self->chain);
      return sync_folder (self, error);
    }
  if (!glove_jsonl_chain_verify (&self->chain, self->fd, st.st_size, error))
    return FALSE;
  return self->chain.end == st.st_size || set_torn_tail_aside (self, st.st_size, error);
}

static gboolean
sink_open (GloveAuditSink *sink, int dirfd, const char *name, GError **error)
{
  GloveJsonlSink *self = GLOVE_JSONL_SINK (sink);

  if (self->fd >= 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_EXISTS, "the sink has an audit file already");
      return FALSE;
    }
  if (!check_name (name, error))
    return FALSE;
  /* Not F_DUPFD_CLOEXEC: AT_FDCWD may be given. */
  self->dirfd = openat (dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (self->dirfd < 0)
    {
      glove_error_set_errno (error, errno, "opening the folder of the audit file '%s'", name);
      return FALSE;
    }
  self->name = g_strdup (name);
  self->dirty = FALSE;
  if (take_place (self, error))
    return TRUE;
  close_fd (&self->fd);
  close_fd (&self->dirfd);
  g_clear_pointer (&self->name, g_free);
  return FALSE;
}

/* --- recording --- */

/* Back to the size before, durably, so that the next line does not fuse with half of this one. */
static gboolean
take_back (GloveJsonlSink *self)
{
  self->dirty = ftruncate (self->fd, self->chain.end) < 0 || fdatasync (self->fd) < 0;
  return !self->dirty;
}

/* The lines of a group, and where the chain stands behind them. */
static GString *
build_lines (GloveJsonlSink *self, GloveAuditEvent *const *events, gsize n_events, GloveJsonlChain *next, GError **error)
{
  g_autoptr (GString) lines = g_string_new (NULL);

  for (gsize i = 0; i < n_events; i++)
    {
      g_autofree char *hash = NULL;
      g_autofree char *line = glove_audit_event_to_chained_line (events[i], next->seq + 1, next->hash, &hash);
      gsize length = strlen (line) + 1;

      if (length > GLOVE_JSONL_SINK_LINE_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "an audit event takes %" G_GSIZE_FORMAT " bytes, more than %d", length,
                           GLOVE_JSONL_SINK_LINE_MAX);
          return NULL;
        }
      if (next->end + (goffset) length > GLOVE_JSONL_SINK_FILE_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "the audit file '%s' is full: it has %d bytes at most", self->name,
                           GLOVE_JSONL_SINK_FILE_MAX);
          glove_error_set_hint (error, "move it away, and start a new one");
          return NULL;
        }
      g_string_append (lines, line);
      g_string_append_c (lines, '\n');
      next->seq++;
      next->end += length;
      g_strlcpy (next->hash, hash, sizeof (next->hash));
    }
  return g_steal_pointer (&lines);
}

static gboolean
sink_record (GloveAuditSink *sink, GloveAuditEvent *const *events, gsize n_events, GError **error)
{
  GloveJsonlSink *self = GLOVE_JSONL_SINK (sink);
  GloveJsonlChain next = self->chain;
  g_autoptr (GString) lines = NULL;
  int saved = 0;

  if (self->fd < 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_CLOSED, "the sink has no audit file");
      return FALSE;
    }
  if (self->dirty && !take_back (self))
    {
      glove_error_set_errno (error, errno, "taking a failed record back from the audit file '%s'", self->name);
      return FALSE;
    }
  if (!check_unchanged (self, self->chain.end, error))
    return FALSE;
  lines = build_lines (self, events, n_events, &next, error);
  if (lines == NULL)
    return FALSE;
  if (write_at (self->fd, lines->str, lines->len, self->chain.end) && fdatasync (self->fd) == 0)
    {
      self->chain = next;
      return TRUE;
    }
  saved = errno;
  (void) take_back (self);
  glove_error_set_errno (error, saved, "writing to the audit file '%s'", self->name);
  return FALSE;
}

static gboolean
sink_flush (GloveAuditSink *sink, GError **error)
{
  GloveJsonlSink *self = GLOVE_JSONL_SINK (sink);

  if (self->fd < 0 || !self->dirty)
    return TRUE; /* every record is durable when it returns */
  if (take_back (self))
    return TRUE;
  glove_error_set_errno (error, errno, "taking a failed record back from the audit file '%s'", self->name);
  return FALSE;
}

static gboolean
sink_is_durable (GloveAuditSink *sink)
{
  return TRUE;
}

static const char *
sink_get_sink_id (GloveAuditSink *sink)
{
  return "jsonl";
}

static void
glove_jsonl_sink_iface_init (GloveAuditSinkInterface *iface)
{
  iface->get_sink_id = sink_get_sink_id;
  iface->open = sink_open;
  iface->record = sink_record;
  iface->flush = sink_flush;
  iface->is_durable = sink_is_durable;
}

static void
glove_jsonl_sink_finalize (GObject *object)
{
  GloveJsonlSink *self = GLOVE_JSONL_SINK (object);

  close_fd (&self->fd);
  close_fd (&self->dirfd);
  g_free (self->name);
  G_OBJECT_CLASS (glove_jsonl_sink_parent_class)->finalize (object);
}

static void
glove_jsonl_sink_class_init (GloveJsonlSinkClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_jsonl_sink_finalize;
}

static void
glove_jsonl_sink_init (GloveJsonlSink *self)
{
  self->fd = -1;
  self->dirfd = -1;
}
