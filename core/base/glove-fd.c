/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "glove-alloc.h"
#include "glove-error.h"
#include "glove-text.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* since Linux 6.3 */
#endif

/* A rename under RESOLVE_BENEATH or RESOLVE_IN_ROOT makes the kernel give up with EAGAIN: openat2 (2). */
#define RACE_RETRIES 16

int
glove_fd_openat2 (int dirfd, const char *path, guint64 flags, guint64 mode, guint64 resolve, GError **error)
{
  struct open_how how = { .flags = flags | O_CLOEXEC, .mode = mode, .resolve = resolve };
  g_autofree char *shown = NULL;
  int races = 0;

  g_return_val_if_fail (path != NULL, -1);

  for (;;)
    {
      long fd = syscall (SYS_openat2, dirfd, path, &how, sizeof how);
      int errsv = errno;

      if (fd >= 0)
        return (int) fd;
      if (errsv == EINTR)
        continue;
      if (errsv == EAGAIN && (resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) != 0 && ++races < RACE_RETRIES)
        continue;

      shown = glove_text_escape (path, -1);
      glove_error_set_errno (error, errsv, "can't open %s", shown);
      if (errsv == ENOSYS)
        glove_error_set_hint (error, "use a kernel with openat2 (Linux 5.6 or newer)");
      return -1;
    }
}

/* Makes room for @capacity bytes, keeping the @length there are. */
static gboolean
grow (guint8 **buffer, gsize length, gsize capacity, GError **error)
{
  guint8 *bigger = glove_alloc_try (capacity, error);

  if (bigger == NULL)
    return FALSE;
  if (length > 0)
    memcpy (bigger, *buffer, length);
  g_free (*buffer);
  *buffer = bigger;
  return TRUE;
}

static gsize
expected_size (int fd)
{
  struct stat st;

  if (fstat (fd, &st) < 0 || !S_ISREG (st.st_mode) || st.st_size <= 0)
    return 0;
  return (guint64) st.st_size > G_MAXSSIZE ? G_MAXSSIZE : (gsize) st.st_size;
}

GBytes *
glove_fd_read_all (int fd, gsize max, GError **error)
{
  g_autofree guint8 *buffer = NULL;
  gsize bound = MIN (max, (gsize) G_MAXSSIZE - 1) + 1; /* one more than allowed tells too much from enough */
  gsize expected = expected_size (fd);
  gsize capacity = MIN (MAX (expected, 4095) + 1, bound);
  gsize length = 0;

  if (expected >= bound)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "file is larger than %" G_GSIZE_FORMAT " bytes", max);
      return NULL;
    }
  if (!grow (&buffer, 0, capacity, error))
    return NULL;

  for (;;)
    {
      ssize_t n = read (fd, buffer + length, capacity - length);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          glove_error_set_errno (error, errno, "can't read");
          return NULL;
        }
      if (n == 0)
        return g_bytes_new_take (g_steal_pointer (&buffer), length);
      length += (gsize) n;
      if (length > max)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "there are more than %" G_GSIZE_FORMAT " bytes", max);
          return NULL;
        }
      if (length < capacity)
        continue;
      capacity = capacity > bound / 2 ? bound : capacity * 2;
      if (!grow (&buffer, length, capacity, error))
        return NULL;
    }
}

gboolean
glove_fd_write_all (int fd, const void *data, gsize length, GError **error)
{
  const guint8 *bytes = data;

  g_return_val_if_fail (data != NULL || length == 0, FALSE);

  while (length > 0)
    {
      ssize_t n = write (fd, bytes, length);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          glove_error_set_errno (error, n < 0 ? errno : EIO, "can't write");
          return FALSE;
        }
      bytes += n;
      length -= (gsize) n;
    }
  return TRUE;
}

/* Hosts may insist on files that can't be executed (vm.memfd_noexec = 2); kernels before 6.3 do not know the flag. */
static int
make_memfd (const char *name)
{
  int fd = memfd_create (name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

  if (fd < 0 && errno == EINVAL)
    fd = memfd_create (name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return fd;
}

int
glove_fd_new_sealed (const char *name, const void *data, gsize length, GError **error)
{
  glove_autofd int fd = -1;

  g_return_val_if_fail (name != NULL, -1);

  fd = make_memfd (name);
  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "can't make a file in memory");
      return -1;
    }
  if (!glove_fd_write_all (fd, data, length, error))
    return -1;
  if (lseek (fd, 0, SEEK_SET) != 0
      || fcntl (fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
    {
      glove_error_set_errno (error, errno, "can't seal a file in memory");
      return -1;
    }
  return g_steal_fd (&fd);
}

gboolean
glove_fd_set_nonblocking (int fd, gboolean nonblocking, GError **error)
{
  int flags = fcntl (fd, F_GETFL);

  if (flags < 0 || fcntl (fd, F_SETFL, nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) < 0)
    {
      glove_error_set_errno (error, errno, "can't change a descriptor's mode");
      return FALSE;
    }
  return TRUE;
}

guint
glove_fd_count_open (void)
{
  DIR *dir = opendir ("/proc/self/fd");
  guint count = 0;

  g_return_val_if_fail (dir != NULL, 0);

  for (const struct dirent *entry = readdir (dir); entry != NULL; entry = readdir (dir))
    if (entry->d_name[0] != '.')
      count++;
  (void) closedir (dir);
  return count - 1; /* without the directory itself */
}
