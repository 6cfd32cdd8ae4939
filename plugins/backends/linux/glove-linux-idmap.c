/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-linux-failure.h"
#include "glove-linux-fd.h"
#include "glove-linux-mounts.h"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

#define CHILD_STACK (64 * 1024)

/* A user namespace that maps one owner to the session's id. */
typedef struct {
  uid_t uid;
  gid_t gid;
  int fd;
} Owner;

struct _GloveLinuxIdmap {
  GObject parent_instance;
  guint32 host_id;
  GArray *owners; /* of Owner */
};

G_DEFINE_FINAL_TYPE (GloveLinuxIdmap, glove_linux_idmap, G_TYPE_OBJECT)

gboolean
glove_linux_idmap_choose_host_id (guint32 *ret_id, GError **error)
{
  const guint32 range = GLOVE_LINUX_HOST_ID_MAX - GLOVE_LINUX_HOST_ID_MIN + 1;
  const guint32 usable = G_MAXUINT32 - G_MAXUINT32 % range;
  guint32 value;

  do
    if (getrandom (&value, sizeof value, 0) != sizeof value)
      {
        glove_error_set_errno (error, errno, "the system has no random numbers");
        return FALSE;
      }
  while (value >= usable);
  *ret_id = GLOVE_LINUX_HOST_ID_MIN + value % range;
  return TRUE;
}

GloveLinuxIdmap *
glove_linux_idmap_new (guint32 host_id)
{
  GloveLinuxIdmap *self = g_object_new (GLOVE_LINUX_TYPE_IDMAP, NULL);

  self->host_id = host_id;
  return self;
}

static int
child_ends (void *unused)
{
  (void) syscall (SYS_exit, 0);
  return 0;
}

/* A process that lives in a new user namespace just long enough to end: like posix_spawn (3), it shares our memory and we sleep until
 * it has ended (no copy of this process is ever made, no code of ours runs in it), and until it is reaped the namespace can be
 * opened and its maps written. It sends no SIGCHLD. */
static pid_t
spawn_namespace (void)
{
  char *stack = mmap (NULL, CHILD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  sigset_t all, before;
  pid_t pid;
  int errsv;

  if (stack == MAP_FAILED)
    return -1;
  sigfillset (&all);
  (void) pthread_sigmask (SIG_BLOCK, &all, &before);
  pid = clone (child_ends, stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | CLONE_NEWUSER, NULL);
  errsv = errno;
  (void) pthread_sigmask (SIG_SETMASK, &before, NULL);
  (void) munmap (stack, CHILD_STACK);
  errno = errsv;
  return pid;
}

static gboolean
write_map (int proc, const char *file, guint32 owner, guint32 host_id, GError **error)
{
  g_autofree char *map = g_strdup_printf ("%u %u 1", owner, host_id);

  return glove_linux_fd_write_text_at (proc, file, map, error);
}

static int
new_namespace (uid_t uid, gid_t gid, guint32 host_id, GError **error)
{
  pid_t pid = spawn_namespace ();
  int errsv = errno;
  g_autofree char *path = g_strdup_printf ("/proc/%d", (int) pid);
  glove_linux_autofd int proc = -1;
  glove_linux_autofd int ns = -1;
  gboolean mapped = FALSE;

  if (pid < 0)
    {
      GloveLinuxFailureHost host;

      glove_linux_failure_host_init (&host);
      glove_linux_failure_set (error, /* spec= */ NULL, &host, GLOVE_LAUNCH_STAGE_CLONE, errsv, GLOVE_LAUNCH_NO_FD);
      return -1;
    }
  proc = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  ns = proc >= 0 ? openat (proc, "ns/user", O_RDONLY | O_CLOEXEC) : -1;
  if (ns < 0)
    glove_error_set_errno (error, errno, "can't open the user namespace of the id map");
  else
    mapped = write_map (proc, "uid_map", uid, host_id, error) && write_map (proc, "gid_map", gid, host_id, error);
  while (waitpid (pid, NULL, __WALL) < 0 && errno == EINTR)
    continue;
  return mapped ? g_steal_fd (&ns) : -1;
}

static int
get_namespace (GloveLinuxIdmap *self, uid_t uid, gid_t gid, GError **error)
{
  Owner owner = { uid, gid, -1 };

  for (guint i = 0; i < self->owners->len; i++)
    {
      const Owner *known = &g_array_index (self->owners, Owner, i);

      if (known->uid == uid && known->gid == gid)
        return known->fd;
    }
  owner.fd = new_namespace (uid, gid, self->host_id, error);
  if (owner.fd >= 0)
    g_array_append_val (self->owners, owner);
  return owner.fd;
}

static gboolean
set_attributes (int mount, guint64 attributes, int userns)
{
  struct mount_attr attr = { .attr_set = attributes };

  if (userns >= 0)
    {
      attr.attr_set |= MOUNT_ATTR_IDMAP;
      attr.userns_fd = (guint64) userns;
    }
  return syscall (SYS_mount_setattr, mount, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) == 0;
}

static int
clone_tree (const GloveGrant *grant, GError **error)
{
  int tree = glove_linux_fd_open_tree (grant->fd, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

  if (tree < 0)
    {
      glove_error_set_errno (error, errno, "can't bind “%s”", grant->host_path);
      glove_error_set_hint (error, "the mount that holds it may be unbindable: grant a path on another mount");
    }
  return tree;
}

/* Which mount of the tree refuses: each one is tried alone. */
static void
set_refusal (const GloveGrant *grant, int userns, int errsv, GError **error)
{
  g_autoptr (GPtrArray) mounts = glove_linux_mounts_list_below (grant->host_path);
  g_autofree char *type = glove_linux_mounts_get_type (grant->fd);
  const char *where = grant->host_path;
  const char *kind = grant->access == GLOVE_GRANT_WRITE ? "--write" : "--read";

  for (guint i = 0; i < mounts->len; i++)
    {
      const char *point = g_ptr_array_index (mounts, i);
      glove_linux_autofd int at = open (point, O_PATH | O_CLOEXEC | O_NOFOLLOW);
      glove_linux_autofd int tree
          = at >= 0 ? glove_linux_fd_open_tree (at, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC) : -1;
      struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (guint64) userns };

      if (tree >= 0 && syscall (SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
        {
          g_free (type);
          type = glove_linux_mounts_get_type (at);
          where = point;
          break;
        }
    }
  glove_error_set (error, GLOVE_ERROR_NOT_SUPPORTED,
                   "the file system of “%s” (%s) can't map the owner's id to the agent's%s%s%s: %s", where, type,
                   where != grant->host_path ? "; it is mounted below “" : "", where != grant->host_path ? grant->host_path : "",
                   where != grant->host_path ? "”" : "", g_strerror (errsv));
  glove_error_set_hint (error,
                        "run glove as the owner instead of root, grant a directory on a file system that can (ext4, xfs, btrfs, "
                        "tmpfs), or accept host uid 0 for the agent with --as-root-id (%s “%s” asked for it)",
                        kind, grant->host_path);
}

static gboolean
everybody_may_read (const GloveGrant *grant)
{
  mode_t need = S_ISDIR (grant->identity.mode) ? S_IROTH | S_IXOTH : S_IROTH;

  return (grant->identity.mode & need) == need;
}

int
glove_linux_idmap_open_grant (GloveLinuxIdmap *self, const GloveGrant *grant, GError **error)
{
  guint64 attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (grant->access == GLOVE_GRANT_WRITE ? 0 : MOUNT_ATTR_RDONLY);
  glove_linux_autofd int tree = clone_tree (grant, error);
  struct stat st;
  int userns;
  int errsv;

  if (tree < 0)
    return -1;
  if (fstat (grant->fd, &st) < 0)
    {
      glove_error_set_errno (error, errno, "can't examine “%s”", grant->host_path);
      return -1;
    }
  userns = get_namespace (self, st.st_uid, st.st_gid, error);
  if (userns < 0)
    return -1;
  if (set_attributes (tree, attributes, userns))
    return g_steal_fd (&tree);
  errsv = errno;
  if (grant->access != GLOVE_GRANT_READ || !everybody_may_read (grant))
    {
      set_refusal (grant, userns, errsv, error);
      return -1;
    }
  if (set_attributes (tree, attributes, /* userns= */ -1))
    return g_steal_fd (&tree);
  glove_error_set_errno (error, errno, "can't make the mount of “%s” read-only", grant->host_path);
  glove_error_set_hint (error, "grant a path on another mount");
  return -1;
}

gboolean
glove_linux_idmap_probe (int *ret_errno)
{
  g_autoptr (GloveLinuxIdmap) self = glove_linux_idmap_new (GLOVE_LINUX_HOST_ID_MIN);
  int userns = get_namespace (self, 0, 0, /* error= */ NULL);
  glove_linux_autofd int tree = -1;

  *ret_errno = EPERM;
  if (userns < 0)
    return FALSE;
  tree = glove_linux_fd_open_tree (AT_FDCWD, g_get_tmp_dir (), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree >= 0)
    {
      struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (guint64) userns };

      if (syscall (SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof attr) == 0)
        return TRUE;
    }
  *ret_errno = errno;
  return FALSE;
}

static void
owner_clear (Owner *owner)
{
  glove_linux_fd_clear (&owner->fd);
}

static void
glove_linux_idmap_finalize (GObject *object)
{
  GloveLinuxIdmap *self = GLOVE_LINUX_IDMAP (object);

  g_array_unref (self->owners);
  G_OBJECT_CLASS (glove_linux_idmap_parent_class)->finalize (object);
}

static void
glove_linux_idmap_class_init (GloveLinuxIdmapClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_linux_idmap_finalize;
}

static void
glove_linux_idmap_init (GloveLinuxIdmap *self)
{
  self->owners = g_array_new (FALSE, FALSE, sizeof (Owner));
  g_array_set_clear_func (self->owners, (GDestroyNotify) owner_clear);
}
