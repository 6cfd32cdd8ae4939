/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-mount-scan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-path.h"
#include "glove-host-tables.h"

struct _GloveMountScan {
  GPtrArray *mounts;        /* of GloveHostMount */
  GPtrArray *virtual_types; /* of char*; read when first needed */
};

/* File systems that hold somebody's files. Every other one that needs no device (/proc/filesystems, "nodev") is a window into the kernel:
 * what a name in it does when it is opened or written, nobody can say here. */
static const char *const plain_types[] = { "9p",     "afs",      "aufs", "autofs", "bcachefs", "btrfs",   "ceph",  "cifs",     "ecryptfs",
                                           "erofs",  "ext4",     "fuse", "nfs",    "nfs4",     "overlay", "ramfs", "shiftfs",  "smb3",
                                           "smbfs",  "squashfs", "tmpfs", "ubifs", "vboxsf",   "virtiofs", "xfs",  "zfs",      NULL };

static GBytes *
read_table (const char *path, GError **error)
{
  glove_autofd int fd = open (path, O_RDONLY | O_CLOEXEC);
  GBytes *bytes = NULL;

  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "opening %s", path);
      glove_error_set_hint (error, "mount /proc");
      return NULL;
    }
  bytes = glove_fd_read_all (fd, GLOVE_HOST_TABLE_BYTES_MAX, error);
  if (bytes == NULL)
    g_prefix_error (error, "reading %s: ", path);
  return bytes;
}

/**
 * glove_mount_scan_new:
 *
 * Returns: (transfer full): what is mounted now; %NULL when that can't be told
 *
 * Since: 1.0
 */
GloveMountScan *
glove_mount_scan_new (GError **error)
{
  g_autoptr (GBytes) bytes = read_table ("/proc/self/mountinfo", error);
  g_autoptr (GPtrArray) mounts = NULL;
  GloveMountScan *self = NULL;

  if (bytes == NULL)
    return NULL;
  mounts = glove_host_tables_parse_mounts (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
  if (mounts == NULL)
    return NULL;
  self = g_new0 (GloveMountScan, 1);
  self->mounts = g_steal_pointer (&mounts);
  return self;
}

void
glove_mount_scan_free (GloveMountScan *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->mounts);
  g_clear_pointer (&self->virtual_types, g_ptr_array_unref);
  g_free (self);
}

/* "fuse.sshfs" is a "fuse". */
static char *
dup_base_type (const char *type)
{
  const char *dot = strchr (type, '.');

  return dot != NULL ? g_strndup (type, dot - type) : g_strdup (type);
}

static gboolean
is_window (GloveMountScan *self, const char *type, gboolean *ret_window, GError **error)
{
  g_autofree char *base = dup_base_type (type);

  *ret_window = FALSE;
  if (g_strv_contains (plain_types, base))
    return TRUE;
  if (self->virtual_types == NULL)
    {
      g_autoptr (GBytes) bytes = read_table ("/proc/filesystems", error);

      if (bytes != NULL)
        self->virtual_types = glove_host_tables_parse_virtual_types (g_bytes_get_data (bytes, NULL),
                                                                     g_bytes_get_size (bytes), error);
      if (self->virtual_types == NULL)
        return FALSE;
    }
  for (guint i = 0; !*ret_window && i < self->virtual_types->len; i++)
    *ret_window = strcmp (self->virtual_types->pdata[i], base) == 0;
  return TRUE;
}

static gboolean
refuse_window (const char *host_path, const GloveHostMount *mount, GError **error)
{
  g_autofree char *quoted = glove_path_pin_quote (host_path);
  g_autofree char *point = glove_path_pin_quote (mount->mount_point);
  g_autofree char *type = glove_path_pin_quote (mount->fs_type);

  glove_error_set (error, GLOVE_ERROR_DENIED,
                   "%s can't be granted: a file system of type %s is mounted at %s, which is a window into the kernel", quoted,
                   type, point);
  glove_error_set_hint (error, "unmount it, or grant a folder that does not contain it");
  return FALSE;
}

static gboolean
refuse_restricted (const char *host_path, const GloveHostMount *mount, GError **error)
{
  g_autofree char *quoted = glove_path_pin_quote (host_path);
  g_autofree char *point = glove_path_pin_quote (mount->mount_point);

  glove_error_set (error, GLOVE_ERROR_DENIED, "%s can't be granted: what is mounted at %s may never be granted", quoted, point);
  glove_error_set_hint (error, "unmount it, or grant a folder that does not contain it");
  return FALSE;
}

static gboolean
check_below (GloveMountScan *self, const GloveRestrictedPaths *restricted, const char *host_path,
             GloveGrantAccess access, const GloveHostMount *mount, GError **error)
{
  glove_autofd int fd = -1;
  GloveFileIdentity identity;
  gboolean window = FALSE;

  if (!is_window (self, mount->fs_type, &window, error))
    return FALSE;
  if (window)
    return refuse_window (host_path, mount, error);
  fd = open (mount->mount_point, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && glove_path_pin_identify (fd, &identity, NULL)
      && glove_restricted_paths_is_restricted_object (restricted, &identity, access))
    return refuse_restricted (host_path, mount, error);
  return TRUE;
}

/**
 * glove_mount_scan_check:
 * @host_path: absolute, no link in it
 *
 * Returns: whether it may be granted as far as mounts go
 *
 * Since: 1.0
 */
gboolean
glove_mount_scan_check (GloveMountScan *self, const GloveRestrictedPaths *restricted, const char *host_path,
                        GloveGrantAccess access, GPtrArray **ret_mounts, GError **error)
{
  g_autoptr (GPtrArray) below = g_ptr_array_new_with_free_func (g_free);
  const GloveHostMount *own = NULL;
  gboolean window = FALSE;

  for (guint i = 0; i < self->mounts->len; i++)
    {
      const GloveHostMount *mount = self->mounts->pdata[i];

      if (glove_path_contains (mount->mount_point, host_path))
        {
          if (own == NULL || strlen (mount->mount_point) >= strlen (own->mount_point))
            own = mount;
        }
      else if (glove_path_contains (host_path, mount->mount_point))
        {
          if (!check_below (self, restricted, host_path, access, mount, error))
            return FALSE;
          g_ptr_array_add (below, g_strdup (mount->mount_point));
        }
    }
  if (own != NULL && !is_window (self, own->fs_type, &window, error))
    return FALSE;
  if (window)
    return refuse_window (host_path, own, error);
  *ret_mounts = g_steal_pointer (&below);
  return TRUE;
}
