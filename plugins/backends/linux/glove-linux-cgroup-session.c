/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-cgroup-session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-linux-fd.h"

#define PREFIX "glove-session-"
/* cpu.max: so many microseconds of processor time in each period of this many. */
#define PERIOD_US 100000u

struct _GloveLinuxCgroupSession {
  GObject parent_instance;
  GloveLinuxCgroup *parent;
  int fd;
  char *name;
};

G_DEFINE_FINAL_TYPE (GloveLinuxCgroupSession, glove_linux_cgroup_session, G_TYPE_OBJECT)

static int
open_group (int parent, const char *name)
{
  return openat (parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* A group that no descriptor locks belongs to nobody who lives; one with processes in it can't be removed anyway. */
static void
sweep (int parent)
{
  int copy = openat (parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = copy >= 0 ? fdopendir (copy) : NULL;
  struct dirent *entry;

  if (dir == NULL)
    {
      glove_linux_fd_clear (&copy);
      return;
    }
  while ((entry = readdir (dir)) != NULL)
    {
      glove_linux_autofd int fd = -1;

      if (!g_str_has_prefix (entry->d_name, PREFIX))
        continue;
      fd = open_group (parent, entry->d_name);
      if (fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) == 0)
        (void) unlinkat (parent, entry->d_name, AT_REMOVEDIR);
    }
  (void) closedir (dir);
}

/* Locked, and still the one in the directory: a sweep may have come between making and locking. */
static int
make_locked (int parent, const char *name, GError **error)
{
  for (guint attempt = 0; attempt < 8; attempt++)
    {
      glove_linux_autofd int fd = -1;
      struct stat own, there;

      if (mkdirat (parent, name, 0755) < 0)
        {
          glove_error_set_errno (error, errno, "can't make the control group “%s”", name);
          return -1;
        }
      fd = open_group (parent, name);
      if (fd >= 0 && flock (fd, LOCK_SH | LOCK_NB) == 0 && fstat (fd, &own) == 0
          && fstatat (parent, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && own.st_ino == there.st_ino)
        return g_steal_fd (&fd);
    }
  glove_error_set (error, GLOVE_ERROR_BUSY, "the control group “%s” is removed again and again", name);
  return -1;
}

static gboolean
set_number (int fd, const char *file, guint64 value, GError **error)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);

  return glove_linux_fd_write_text_at (fd, file, text, error);
}

gboolean
glove_linux_cgroup_session_set_limits (int fd, const GloveLimits *limits, GError **error)
{
  guint64 memory = limits->value[GLOVE_LIMIT_MEMORY];
  guint64 pids = limits->value[GLOVE_LIMIT_PIDS];
  guint64 cpus = limits->value[GLOVE_LIMIT_CPUS];

  if (memory != 0)
    {
      /* A kernel without swap accounting has no memory.swap.max, and then there is nothing to forbid. */
      if (!set_number (fd, "memory.max", memory, error)
          || (faccessat (fd, "memory.swap.max", F_OK, 0) == 0 && !set_number (fd, "memory.swap.max", 0, error))
          || !set_number (fd, "memory.oom.group", 1, error))
        return FALSE;
    }
  if (pids != 0 && !set_number (fd, "pids.max", pids, error))
    return FALSE;
  if (cpus != 0)
    {
      /* The kernel takes no quota below 1 ms. */
      guint64 quota = MAX (cpus * PERIOD_US / 1000, 1000);
      g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT " %u", quota, PERIOD_US);

      return glove_linux_fd_write_text_at (fd, "cpu.max", text, error);
    }
  return TRUE;
}

GloveLinuxCgroupSession *
glove_linux_cgroup_session_new (GloveLinuxCgroup *parent, const char *session_id, const GloveLimits *limits, GError **error)
{
  g_autoptr (GloveLinuxCgroupSession) self = g_object_new (GLOVE_LINUX_TYPE_CGROUP_SESSION, NULL);
  int above = glove_linux_cgroup_get_fd (parent);

  self->parent = g_object_ref (parent);
  self->name = g_strconcat (PREFIX, session_id, NULL);
  sweep (above);
  self->fd = make_locked (above, self->name, error);
  if (self->fd < 0 || !glove_linux_cgroup_session_set_limits (self->fd, limits, error))
    return NULL;
  return g_steal_pointer (&self);
}

int
glove_linux_cgroup_session_get_fd (GloveLinuxCgroupSession *self)
{
  return self->fd;
}

int
glove_linux_cgroup_session_get_parent_fd (GloveLinuxCgroupSession *self)
{
  return glove_linux_cgroup_get_fd (self->parent);
}

const char *
glove_linux_cgroup_session_get_name (GloveLinuxCgroupSession *self)
{
  return self->name;
}

gboolean
glove_linux_cgroup_session_read_cpu_time (GloveLinuxCgroupSession *self, guint64 *ret_us)
{
  g_autofree char *text = glove_linux_fd_read_text_at (self->fd, "cpu.stat", /* error= */ NULL);

  if (text == NULL || !g_str_has_prefix (text, "usage_usec "))
    return FALSE;
  *ret_us = g_ascii_strtoull (text + strlen ("usage_usec "), NULL, 10);
  return TRUE;
}

void
glove_linux_cgroup_session_kill (GloveLinuxCgroupSession *self)
{
  (void) glove_linux_fd_write_text_at (self->fd, "cgroup.kill", "1", /* error= */ NULL);
}

static void
glove_linux_cgroup_session_finalize (GObject *object)
{
  GloveLinuxCgroupSession *self = GLOVE_LINUX_CGROUP_SESSION (object);

  if (self->fd >= 0)
    (void) unlinkat (glove_linux_cgroup_get_fd (self->parent), self->name, AT_REMOVEDIR);
  glove_linux_fd_clear (&self->fd);
  g_clear_object (&self->parent);
  g_free (self->name);
  G_OBJECT_CLASS (glove_linux_cgroup_session_parent_class)->finalize (object);
}

static void
glove_linux_cgroup_session_class_init (GloveLinuxCgroupSessionClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_linux_cgroup_session_finalize;
}

static void
glove_linux_cgroup_session_init (GloveLinuxCgroupSession *self)
{
  self->fd = -1;
}
