/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "glove-linux-fd.h"

static const char *const needed[] = { "cpu", "memory", "pids", NULL };

struct _GloveLinuxCgroup {
  GObject parent_instance;
  int fd;      /* session groups are made here */
  char *leaf;  /* we moved ourselves into this one, below fd; NULL: we did not */
  gboolean enabled; /* we enabled the controllers */
};

G_DEFINE_FINAL_TYPE (GloveLinuxCgroup, glove_linux_cgroup, G_TYPE_OBJECT)

void
glove_linux_cgroup_host_clear (GloveLinuxCgroupHost *self)
{
  glove_linux_fd_clear (&self->root);
  g_clear_pointer (&self->own, g_free);
}

char *
glove_linux_cgroup_parse_own (const char *proc_self_cgroup)
{
  g_auto (GStrv) lines = g_strsplit (proc_self_cgroup, "\n", -1);

  for (gsize i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "0::/"))
      return g_strdup (lines[i] + strlen ("0::"));
  return NULL;
}

/* Is @path at or below @top? Both absolute. */
static gboolean
is_below (const char *path, const char *top)
{
  gsize n = strlen (top);

  if (g_str_equal (top, "/"))
    return TRUE;
  return strncmp (path, top, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

gboolean
glove_linux_cgroup_parse_mount (const char *mountinfo, const char *own, char **ret_point, char **ret_root)
{
  g_auto (GStrv) lines = g_strsplit (mountinfo, "\n", -1);

  for (gsize i = 0; lines[i] != NULL; i++)
    {
      /* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG…] - TYPE SOURCE SUPER */
      g_auto (GStrv) halves = g_strsplit (lines[i], " - ", 2);
      g_auto (GStrv) fields = NULL;

      if (halves[0] == NULL || halves[1] == NULL || !g_str_has_prefix (halves[1], "cgroup2 "))
        continue;
      fields = g_strsplit (halves[0], " ", -1);
      if (g_strv_length (fields) < 6 || !is_below (own, fields[3]))
        continue;
      *ret_root = g_strcompress (fields[3]);
      *ret_point = g_strcompress (fields[4]);
      return TRUE;
    }
  return FALSE;
}

GloveLinuxCgroupStatus
glove_linux_cgroup_host_init (GloveLinuxCgroupHost *self)
{
  g_autofree char *groups = glove_linux_fd_read_text_at (AT_FDCWD, "/proc/self/cgroup", /* error= */ NULL);
  g_autofree char *own = groups != NULL ? glove_linux_cgroup_parse_own (groups) : NULL;
  g_autofree char *mountinfo = NULL;
  g_autofree char *point = NULL;
  g_autofree char *root = NULL;
  const char *rest;

  *self = (GloveLinuxCgroupHost){ .root = -1, .privileged = geteuid () == 0,
                                  .systemd = g_file_test ("/run/systemd/system", G_FILE_TEST_IS_DIR) };
  if (own == NULL || g_str_has_prefix (own, "/..") || !g_file_get_contents ("/proc/self/mountinfo", &mountinfo, NULL, NULL)
      || !glove_linux_cgroup_parse_mount (mountinfo, own, &point, &root))
    return GLOVE_LINUX_CGROUP_V2_UNAVAILABLE;
  self->root = open (point, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (self->root < 0)
    return GLOVE_LINUX_CGROUP_V2_UNAVAILABLE;
  rest = own + (g_str_equal (root, "/") ? 0 : strlen (root));
  self->own = g_strdup (rest[0] == '/' ? rest + 1 : rest);
  /* The true root has no cgroup.type; a namespace's root has. */
  self->is_kernel_root = faccessat (self->root, "cgroup.type", F_OK, 0) < 0 && errno == ENOENT;
  return GLOVE_LINUX_CGROUP_AVAILABLE;
}

static int
open_group (const GloveLinuxCgroupHost *host, const char *path)
{
  return openat (host->root, path[0] == '\0' ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* Every needed controller is named in @file of the group. */
static gboolean
has_controllers (int group, const char *file)
{
  g_autofree char *text = glove_linux_fd_read_text_at (group, file, /* error= */ NULL);
  g_auto (GStrv) words = NULL;

  if (text == NULL)
    return FALSE;
  words = g_strsplit_set (text, " \n", -1);
  for (gsize i = 0; needed[i] != NULL; i++)
    if (!g_strv_contains ((const char *const *) words, needed[i]))
      return FALSE;
  return TRUE;
}

/* How many processes sit in the group itself, and whether one of them is not @pid; 0 in the file is a process we can't see. */
static gboolean
count_processes (int group, pid_t pid, guint *ret_count, gboolean *ret_others)
{
  g_autofree char *text = glove_linux_fd_read_text_at (group, "cgroup.procs", /* error= */ NULL);
  g_auto (GStrv) lines = NULL;

  if (text == NULL)
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  *ret_count = 0;
  *ret_others = FALSE;
  for (gsize i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0')
      {
        (*ret_count)++;
        if (g_ascii_strtoll (lines[i], NULL, 10) != pid)
          *ret_others = TRUE;
      }
  return TRUE;
}

/* May we divide it: its own directory and the two files that delegation hands over. */
static gboolean
is_writable (int group)
{
  return faccessat (group, ".", W_OK | X_OK, AT_EACCESS) == 0 && faccessat (group, "cgroup.procs", W_OK, AT_EACCESS) == 0
         && faccessat (group, "cgroup.subtree_control", W_OK, AT_EACCESS) == 0;
}

/* Root may write everywhere, so under a service manager only the mark that it leaves on what it hands over counts. Whoever
 * lies below a delegated group is delegated too. */
static gboolean
is_delegated (const GloveLinuxCgroupHost *host, const char *path)
{
  g_autofree char *at = g_strdup (path);

  if (!host->privileged || !host->systemd)
    return TRUE;
  while (at[0] != '\0')
    {
      glove_linux_autofd int group = open_group (host, at);
      char value[8];
      char *slash = strrchr (at, '/');

      if (group >= 0
          && ((fgetxattr (group, "trusted.delegate", value, sizeof value) == 1 && value[0] == '1')
              || (fgetxattr (group, "user.delegate", value, sizeof value) == 1 && value[0] == '1')))
        return TRUE;
      *(slash != NULL ? slash : at) = '\0';
    }
  return FALSE;
}

static char *
parent_of (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL ? g_strndup (path, (gsize) (slash - path)) : g_strdup ("");
}

static GloveLinuxCgroupStatus
try_parent (const GloveLinuxCgroupHost *host, char **ret_reason)
{
  g_autofree char *path = parent_of (host->own);
  glove_linux_autofd int group = open_group (host, path);
  gboolean others = FALSE;
  guint count = 0;

  if (host->own[0] == '\0' || group < 0 || !is_writable (group) || !is_delegated (host, path))
    {
      *ret_reason = g_strdup ("the group above our own is not ours to divide");
      return GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE;
    }
  if (!has_controllers (group, "cgroup.controllers"))
    {
      *ret_reason = g_strdup ("cpu, memory or pids is not handed down to the group above our own");
      return GLOVE_LINUX_CGROUP_CONTROLLERS_UNAVAILABLE;
    }
  if (!count_processes (group, 0, &count, &others) || (count > 0 && !(path[0] == '\0' && host->is_kernel_root)))
    {
      *ret_reason = g_strdup ("processes sit in the group above our own");
      return GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE;
    }
  return GLOVE_LINUX_CGROUP_AVAILABLE;
}

static GloveLinuxCgroupStatus
try_own (const GloveLinuxCgroupHost *host, char **ret_reason)
{
  glove_linux_autofd int group = open_group (host, host->own);
  gboolean exempt = host->own[0] == '\0' && host->is_kernel_root;
  gboolean others = FALSE;
  guint count = 0;

  if (group < 0 || !is_writable (group) || !is_delegated (host, host->own) || (exempt && host->systemd))
    {
      *ret_reason = g_strdup ("our control group is not ours to divide");
      return GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE;
    }
  if (!has_controllers (group, "cgroup.controllers"))
    {
      *ret_reason = g_strdup ("cpu, memory or pids is not handed down to our control group");
      return GLOVE_LINUX_CGROUP_CONTROLLERS_UNAVAILABLE;
    }
  if (!count_processes (group, getpid (), &count, &others) || (others && !exempt))
    {
      *ret_reason = g_strdup ("other processes share our control group, so its controllers can't be enabled");
      return GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE;
    }
  return GLOVE_LINUX_CGROUP_AVAILABLE;
}

GloveLinuxCgroupStatus
glove_linux_cgroup_find (const GloveLinuxCgroupHost *host, GloveLinuxCgroupPlace *ret_place, char **ret_reason)
{
  g_autofree char *above = NULL;
  g_autofree char *own = NULL;
  glove_linux_autofd int root = -1;
  GloveLinuxCgroupStatus status;

  if (host->root < 0 || host->own == NULL)
    {
      if (ret_reason != NULL)
        *ret_reason = g_strdup ("no cgroup version 2 hierarchy is mounted here");
      return GLOVE_LINUX_CGROUP_V2_UNAVAILABLE;
    }
  if (try_parent (host, &above) == GLOVE_LINUX_CGROUP_AVAILABLE)
    {
      *ret_place = GLOVE_LINUX_CGROUP_PARENT;
      return GLOVE_LINUX_CGROUP_AVAILABLE;
    }
  status = try_own (host, &own);
  if (status == GLOVE_LINUX_CGROUP_AVAILABLE)
    {
      *ret_place = host->own[0] == '\0' && host->is_kernel_root ? GLOVE_LINUX_CGROUP_ROOT : GLOVE_LINUX_CGROUP_OWN;
      return status;
    }
  /* A hierarchy without the controllers at its very top will never hand any down, whoever owns what. */
  root = open_group (host, "");
  if (root < 0 || !has_controllers (root, "cgroup.controllers"))
    {
      status = GLOVE_LINUX_CGROUP_CONTROLLERS_UNAVAILABLE;
      g_free (own);
      own = g_strdup ("the cgroup version 2 hierarchy has no cpu, memory and pids controllers");
    }
  if (ret_reason != NULL)
    *ret_reason = g_steal_pointer (&own);
  return status;
}

const char *
glove_linux_cgroup_status_get_repair (GloveLinuxCgroupStatus status, gboolean privileged)
{
  switch (status)
    {
    case GLOVE_LINUX_CGROUP_AVAILABLE:
      return "";
    case GLOVE_LINUX_CGROUP_V2_UNAVAILABLE:
      return "mount cgroup version 2 (boot with systemd.unified_cgroup_hierarchy=1)";
    case GLOVE_LINUX_CGROUP_CONTROLLERS_UNAVAILABLE:
      return privileged ? "boot with cgroup_no_v1=all, so that version 2 has the controllers"
                        : "let root set Delegate=cpu memory pids for user@.service; where version 1 owns the controllers, boot "
                          "with cgroup_no_v1=all";
    case GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE:
    default:
      return privileged ? "start glove in a delegated group: systemd-run --scope -p Delegate=yes glove …"
                        : "start glove in a delegated group: systemd-run --user --scope -p Delegate=yes glove …";
    }
}

/* A group is left for its leaf by the whole process: "0" is the caller's thread group. */
static gboolean
move_to_leaf (GloveLinuxCgroup *self, GError **error)
{
  g_autofree char *name = g_strdup_printf ("glove-host-%d", (int) getpid ());
  glove_linux_autofd int leaf = -1;

  if (mkdirat (self->fd, name, 0755) < 0 && errno != EEXIST)
    {
      glove_error_set_errno (error, errno, "can't make the control group “%s”", name);
      return FALSE;
    }
  self->leaf = g_steal_pointer (&name);
  leaf = openat (self->fd, self->leaf, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (leaf < 0)
    {
      glove_error_set_errno (error, errno, "can't open the control group “%s”", self->leaf);
      return FALSE;
    }
  return glove_linux_fd_write_text_at (leaf, "cgroup.procs", "0", error);
}

GloveLinuxCgroup *
glove_linux_cgroup_claim (const GloveLinuxCgroupHost *host, GError **error)
{
  g_autoptr (GloveLinuxCgroup) self = g_object_new (GLOVE_LINUX_TYPE_CGROUP, NULL);
  g_autofree char *reason = NULL;
  g_autofree char *above = NULL;
  GloveLinuxCgroupPlace place = GLOVE_LINUX_CGROUP_PARENT;
  GloveLinuxCgroupStatus status = glove_linux_cgroup_find (host, &place, &reason);

  if (status != GLOVE_LINUX_CGROUP_AVAILABLE)
    {
      glove_error_set_literal (error, GLOVE_ERROR_UNAVAILABLE, reason);
      glove_error_set_hint (error, "%s", glove_linux_cgroup_status_get_repair (status, host->privileged));
      return NULL;
    }
  above = place == GLOVE_LINUX_CGROUP_PARENT ? parent_of (host->own) : g_strdup (host->own);
  self->fd = open_group (host, above);
  if (self->fd < 0)
    {
      glove_error_set_errno (error, errno, "can't open the control group");
      return NULL;
    }
  if (place == GLOVE_LINUX_CGROUP_OWN && !move_to_leaf (self, error))
    return NULL;
  if (!has_controllers (self->fd, "cgroup.subtree_control"))
    {
      if (!glove_linux_fd_write_text_at (self->fd, "cgroup.subtree_control", "+cpu +memory +pids", error))
        return NULL;
      /* In our own group alone: in its parent, others may have come to rely on it. */
      self->enabled = place == GLOVE_LINUX_CGROUP_OWN;
    }
  return g_steal_pointer (&self);
}

int
glove_linux_cgroup_get_fd (GloveLinuxCgroup *self)
{
  return self->fd;
}

/* The other way round: a group with processes of its own can't have controllers for its children. What fails here fails
 * because others use the group by now; then it stays divided. */
static void
leave_leaf (GloveLinuxCgroup *self)
{
  if (self->enabled
      && !glove_linux_fd_write_text_at (self->fd, "cgroup.subtree_control", "-cpu -memory -pids", /* error= */ NULL))
    return;
  if (self->leaf != NULL && glove_linux_fd_write_text_at (self->fd, "cgroup.procs", "0", /* error= */ NULL))
    (void) unlinkat (self->fd, self->leaf, AT_REMOVEDIR);
}

static void
glove_linux_cgroup_finalize (GObject *object)
{
  GloveLinuxCgroup *self = GLOVE_LINUX_CGROUP (object);

  if (self->fd >= 0)
    leave_leaf (self);
  glove_linux_fd_clear (&self->fd);
  g_free (self->leaf);
  G_OBJECT_CLASS (glove_linux_cgroup_parent_class)->finalize (object);
}

static void
glove_linux_cgroup_class_init (GloveLinuxCgroupClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_linux_cgroup_finalize;
}

static void
glove_linux_cgroup_init (GloveLinuxCgroup *self)
{
  self->fd = -1;
}
