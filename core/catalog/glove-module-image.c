/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-module-image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-digest.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-module-needs.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif

static const char *
describe_type (mode_t mode)
{
  switch (mode & S_IFMT)
    {
    case S_IFDIR: return "a directory";
    case S_IFLNK: return "a symbolic link";
    case S_IFREG: return "a regular file";
    case S_IFIFO: return "a named pipe";
    case S_IFSOCK: return "a socket";
    default: return "a device";
    }
}

/*
 * glove_module_image_check_trust:
 * @fd: an open file or directory
 * @path: for messages
 * @type: S_IFREG or S_IFDIR
 *
 * Checks type, owner (root or the effective user) and mode (no write bit for group or others; an access control list that lets
 * somebody write shows in the group bits too, acl(5)). Errors are %GLOVE_ERROR_UNTRUSTED and name path, rule and repair.
 */
gboolean
glove_module_image_check_trust (int fd, const char *path, mode_t type, GError **error)
{
  struct stat st;

  if (fstat (fd, &st) != 0)
    {
      glove_error_set_errno (error, errno, "%s: can't be examined", path);
      return FALSE;
    }
  if ((st.st_mode & S_IFMT) != type)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: is %s, not %s", path, describe_type (st.st_mode),
                       describe_type (type));
      glove_error_set_hint (error, "put %s there", describe_type (type));
      return FALSE;
    }
  if (st.st_uid != 0 && st.st_uid != geteuid ())
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: belongs to user %u, not to root or to the user who loads it", path,
                       st.st_uid);
      glove_error_set_hint (error, "chown root %s", path);
      return FALSE;
    }
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: is writable by %s (mode %04o)", path,
                       (st.st_mode & S_IWOTH) != 0 ? "everybody" : "its group", st.st_mode & 07777);
      glove_error_set_hint (error, "chmod go-w %s", path);
      return FALSE;
    }

  return TRUE;
}

static int
open_module (int dirfd, const char *library, const char *path, const GloveCatalogEntry *entry, GError **error)
{
  /* O_NONBLOCK: a named pipe in its place must not hold us up. */
  glove_autofd int fd = openat (dirfd, library, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

  if (fd >= 0)
    return g_steal_fd (&fd);

  if (errno == ELOOP)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: is a symbolic link, not a regular file", path);
      glove_error_set_hint (error, "put the module itself there, or name its own file with Library=");
    }
  else if (errno == ENOENT)
    {
      glove_error_set (error, GLOVE_ERROR_NOT_FOUND, "%s: does not exist", path);
      if (entry != NULL)
        glove_error_set_hint (error, "install the module, or correct Library= in %s", entry->file);
    }
  else
    glove_error_set_errno (error, errno, "%s: can't be opened", path);

  return -1;
}

static int
new_memfd (const char *library, GError **error)
{
  /* Where the kernel knows it: not executable by execve, which a host may demand of every memfd (vm.memfd_noexec). */
  glove_autofd int fd = memfd_create (library, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

  if (fd < 0 && errno == EINVAL)
    fd = memfd_create (library, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0)
    glove_error_set_errno (error, errno, "no memory file for module '%s'", library);

  return g_steal_fd (&fd);
}

/* Copies the file once, whole, and seals the copy. From here on only the copy is looked at. */
static int
copy_sealed (int fd, const char *library, const char *path, gsize *ret_length, GError **error)
{
  glove_autofd int copy = -1;
  struct stat st;
  gsize length = 0;

  if (fstat (fd, &st) != 0)
    {
      glove_error_set_errno (error, errno, "%s: can't be examined", path);
      return -1;
    }
  if (st.st_size <= 0 || st.st_size > GLOVE_MODULE_BYTES_MAX)
    {
      glove_error_set (error, st.st_size <= 0 ? GLOVE_ERROR_INVALID_DATA : GLOVE_ERROR_LIMIT,
                       "%s: has %" G_GINT64_FORMAT " bytes; a module has 1 to %d", path, (gint64) st.st_size,
                       GLOVE_MODULE_BYTES_MAX);
      glove_error_set_hint (error, "install the module again");
      return -1;
    }

  copy = new_memfd (library, error);
  if (copy < 0)
    return -1;

  for (;;)
    {
      /* One byte more than there should be, so that a file that grows meanwhile is noticed. */
      gssize n = sendfile (copy, fd, NULL, (gsize) st.st_size + 1 - length);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          glove_error_set_errno (error, errno, "%s: can't be read", path);
          return -1;
        }
      length += n;
      if (n == 0 || length > (gsize) st.st_size)
        break;
    }

  if (length != (gsize) st.st_size)
    {
      glove_error_set (error, GLOVE_ERROR_CHANGED, "%s: changed while it was read", path);
      return -1;
    }
  if (fcntl (copy, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
    {
      glove_error_set_errno (error, errno, "%s: its copy can't be sealed", path);
      return -1;
    }

  *ret_length = length;
  return g_steal_fd (&copy);
}

static gboolean
compare_note (const GloveModuleNote *note, const GloveCatalogEntry *entry, const char *path, GError **error)
{
  if (entry != NULL && entry->abi != GLOVE_PLUGIN_ABI)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: %s says Abi=%u; this Glove takes %d", path, entry->file,
                       entry->abi, GLOVE_PLUGIN_ABI);
      glove_error_set_hint (error, "install a build of '%s' for this Glove", entry->name);
      return FALSE;
    }
  if (note->abi != GLOVE_PLUGIN_ABI)
    {
      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: its note says ABI %u; this Glove takes %d", path, note->abi,
                       GLOVE_PLUGIN_ABI);
      glove_error_set_hint (error, "install a build of the module for this Glove");
      return FALSE;
    }
  if (entry != NULL && strcmp (note->name, entry->name) != 0)
    {
      g_autofree char *shown = g_strescape (note->name, NULL);

      glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: its note names the module '%s'; %s says '%s'", path, shown,
                       entry->file, entry->name);
      glove_error_set_hint (error, "correct [Module %s] or Library= in %s", entry->name, entry->file);
      return FALSE;
    }

  return TRUE;
}

static gboolean
compare_digest (const GloveModuleImage *self, const GloveCatalogEntry *entry, const char *path, GError **error)
{
  g_autofree char *digest = NULL;

  if (entry == NULL || entry->sha256 == NULL)
    return TRUE;

  digest = glove_digest_of_data (self->data, self->length);
  if (strcmp (digest, entry->sha256) == 0)
    return TRUE;

  glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "%s: its SHA-256 is %s; %s pins %s", path, digest, entry->file,
                   entry->sha256);
  glove_error_set_hint (error, "find out who changed the file; if the change is wanted, put the new digest into %s",
                        entry->file);
  return FALSE;
}

/*
 * glove_module_image_open:
 * @dirfd: the module directory
 * @directory: its path, for messages
 * @library: plain file name in it
 * @entry: (nullable): what the catalog says about it; %NULL: the note is believed
 *
 * Opens a module without following a link, and checks in this order: regular file, owner, mode, the directory's owner and mode,
 * name and ABI of the catalog against the ELF note, the pinned digest, and where its libraries would be looked for. Note and
 * digest are read from a sealed copy: the bytes that were judged are those that will run. None of the module's code runs. Main
 * thread.
 *
 * Returns: (transfer full): the image, or %NULL with an error that names file, rule and repair
 */
GloveModuleImage *
glove_module_image_open (int dirfd, const char *directory, const char *library, const GloveCatalogEntry *entry,
                         GError **error)
{
  g_autoptr (GloveModuleImage) self = NULL;
  g_autofree char *path = g_build_filename (directory, library, NULL);
  glove_autofd int fd = open_module (dirfd, library, path, entry, error);
  void *map;

  if (fd < 0 || !glove_module_image_check_trust (fd, path, S_IFREG, error)
      || !glove_module_image_check_trust (dirfd, directory, S_IFDIR, error))
    return NULL;

  self = g_new0 (GloveModuleImage, 1);
  self->fd = copy_sealed (fd, library, path, &self->length, error);
  if (self->fd < 0)
    return NULL;

  map = mmap (NULL, self->length, PROT_READ, MAP_PRIVATE, self->fd, 0);
  if (map == MAP_FAILED)
    {
      glove_error_set_errno (error, errno, "%s: its copy can't be mapped", path);
      return NULL;
    }
  self->data = map;

  if (!glove_module_note_read (self->data, self->length, &self->note, error))
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }
  if (!compare_note (&self->note, entry, path, error) || !compare_digest (self, entry, path, error))
    return NULL;
  if (!glove_module_needs_check (self->data, self->length, error))
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }

  return g_steal_pointer (&self);
}

void
glove_module_image_free (GloveModuleImage *self)
{
  if (self->data != NULL)
    (void) munmap ((void *) self->data, self->length);
  glove_fd_clear (&self->fd);
  g_free (self);
}
