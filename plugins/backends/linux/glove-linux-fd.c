/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static gboolean
write_all (int fd, const char *data, gsize length)
{
  while (length > 0)
    {
      ssize_t n = write (fd, data, length);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return FALSE;
      data += n;
      length -= (gsize) n;
    }
  return TRUE;
}

int
glove_linux_fd_new_sealed (const char *name, const void *data, gsize length, GError **error)
{
  glove_linux_autofd int fd = memfd_create (name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

  if (fd < 0 || !write_all (fd, data, length) || lseek (fd, 0, SEEK_SET) < 0
      || fcntl (fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
    {
      glove_error_set_errno (error, errno, "can't make the sealed memory file “%s”", name);
      return -1;
    }
  return g_steal_fd (&fd);
}

char *
glove_linux_fd_read_text_at (int dirfd, const char *path, GError **error)
{
  glove_linux_autofd int fd = openat (dirfd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  g_autoptr (GString) text = g_string_new (NULL);
  char buffer[4096];

  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "can't open “%s”", path);
      return NULL;
    }
  while (TRUE)
    {
      ssize_t n = read (fd, buffer, sizeof buffer);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          glove_error_set_errno (error, errno, "can't read “%s”", path);
          return NULL;
        }
      if (n == 0)
        return g_string_free (g_steal_pointer (&text), FALSE);
      if (text->len + (gsize) n > GLOVE_LINUX_SMALL_FILE_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "“%s” has more than %d bytes", path, GLOVE_LINUX_SMALL_FILE_MAX);
          return NULL;
        }
      g_string_append_len (text, buffer, n);
    }
}

gboolean
glove_linux_fd_write_text_at (int dirfd, const char *path, const char *text, GError **error)
{
  glove_linux_autofd int fd = openat (dirfd, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  ssize_t n;

  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "can't open “%s” for writing", path);
      return FALSE;
    }
  do
    n = write (fd, text, strlen (text));
  while (n < 0 && errno == EINTR);
  if (n != (ssize_t) strlen (text))
    {
      glove_error_set_errno (error, n < 0 ? errno : EIO, "can't write “%s” to “%s”", text, path);
      return FALSE;
    }
  return TRUE;
}

int
glove_linux_fd_open_tree (int dirfd, const char *path, unsigned int flags)
{
  return (int) syscall (SYS_open_tree, dirfd, path, flags);
}
