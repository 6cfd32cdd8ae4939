/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "glove-alloc.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-file-identity.h"
#include "glove-test.h"

typedef struct {
  char *dir;
  int dirfd;
  guint fds;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  self->fds = glove_test_count_fds ();
  self->dir = glove_test_make_dir ();
  self->dirfd = open (self->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (self->dirfd, >=, 0);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  g_assert_no_errno (close (self->dirfd));
  glove_test_remove_dir (self->dir);
  g_free (self->dir);
  glove_test_assert_fds (self->fds);
}

static void
test_openat2 (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  glove_autofd int fd = -1;

  g_assert_no_errno (symlinkat ("file", self->dirfd, "link"));
  fd = glove_fd_openat2 (self->dirfd, "file", O_WRONLY | O_CREAT | O_EXCL, 0600, RESOLVE_BENEATH, &error);
  if (g_error_matches (error, GLOVE_ERROR, GLOVE_ERROR_NOT_SUPPORTED)
      || g_error_matches (error, GLOVE_ERROR, GLOVE_ERROR_PERMISSION))
    {
      glove_test_skip ("openat2: %s", error->message);
      return;
    }
  g_assert_no_error (error);
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);

  g_assert_cmpint (glove_fd_openat2 (self->dirfd, "link", O_RDONLY, 0, RESOLVE_NO_SYMLINKS, &error), ==, -1);
  glove_test_assert_error (error, GLOVE_ERROR_UNTRUSTED, "can't open link");
  g_clear_error (&error);
  g_assert_cmpint (glove_fd_openat2 (self->dirfd, "../x", O_RDONLY, 0, RESOLVE_BENEATH, &error), ==, -1);
  glove_test_assert_error (error, GLOVE_ERROR_UNTRUSTED, "can't open ../x");
  g_clear_error (&error);
  g_assert_cmpint (glove_fd_openat2 (self->dirfd, "no\x1b", O_RDONLY, 0, 0, &error), ==, -1);
  glove_test_assert_error (error, GLOVE_ERROR_NOT_FOUND, "can't open no\\x1b: ");
}

static void
test_read_all (Fixture *self, gconstpointer data)
{
  static const gsize sizes[] = { 0, 1, 4095, 4096, 4097, 100000 };
  g_autofree char *path = g_build_filename (self->dir, "file", NULL);
  g_autofree char *content = g_malloc0 (100001);

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (int slack = -1; slack <= 1; slack++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (GBytes) bytes = NULL;
        glove_autofd int fd = -1;

        if (sizes[i] == 0 && slack < 0)
          continue;
        glove_test_write_file (path, sizes[i] > 0 ? content : "", (gssize) sizes[i], 0600);
        fd = open (path, O_RDONLY | O_CLOEXEC);
        bytes = glove_fd_read_all (fd, sizes[i] + (gsize) slack, &error);
        if (slack < 0)
          {
            glove_test_assert_error (error, GLOVE_ERROR_LIMIT, NULL);
            continue;
          }
        g_assert_no_error (error);
        g_assert_cmpuint (g_bytes_get_size (bytes), ==, sizes[i]);
      }
}

/* A pipe tells no size beforehand. */
static void
test_read_all_pipe (Fixture *self, gconstpointer data)
{
  char content[20000] = { 0 };

  for (int slack = -1; slack <= 1; slack++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = NULL;
      int ends[2];

      g_assert_no_errno (pipe2 (ends, O_CLOEXEC));
      g_assert_true (glove_fd_write_all (ends[1], content, sizeof content, NULL));
      glove_fd_clear (&ends[1]);
      bytes = glove_fd_read_all (ends[0], (gsize) ((gssize) sizeof content + slack), &error);
      glove_fd_clear (&ends[0]);
      if (slack < 0)
        {
          glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "more than 19999 bytes");
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpuint (g_bytes_get_size (bytes), ==, sizeof content);
    }
}

static void
test_read_all_failures (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  glove_autofd int dir = open (self->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  guint failures = 0;

  g_assert_null (glove_fd_read_all (dir, 10, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "can't read");

  /* Out of memory at every place: an error each time, and in the end none. */
  for (int n = 0;; n++)
    {
      g_autoptr (GError) fault = NULL;
      g_autoptr (GBytes) bytes = NULL;
      char content[20000] = { 0 };
      int ends[2];

      g_assert_no_errno (pipe2 (ends, O_CLOEXEC));
      g_assert_true (glove_fd_write_all (ends[1], content, sizeof content, NULL));
      glove_fd_clear (&ends[1]);
      glove_alloc_fail_after (n);
      bytes = glove_fd_read_all (ends[0], 1 << 20, &fault);
      glove_alloc_fail_after (-1);
      glove_fd_clear (&ends[0]);
      if (bytes != NULL)
        break;
      glove_test_assert_error (fault, GLOVE_ERROR_NO_SPACE, "out of memory");
      failures++;
    }
  g_assert_cmpuint (failures, >=, 3);
}

static void
test_write_all (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  int ends[2];

  g_assert_no_errno (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
  g_assert_true (glove_fd_write_all (ends[0], NULL, 0, &error));
  g_assert_true (glove_fd_write_all (ends[0], "abc", 3, &error));
  g_assert_no_error (error);
  glove_fd_clear (&ends[0]);
  glove_fd_clear (&ends[1]);

  g_assert_false (glove_fd_write_all (self->dirfd, "abc", 3, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "can't write");
}

static void
test_sealed (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  glove_autofd int fd = glove_fd_new_sealed ("test", "hello", 5, &error);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  glove_autofd int again = -1;

  g_assert_no_error (error);
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  g_assert_cmpint (fcntl (fd, F_GET_SEALS) & (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL), ==,
                   F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
  bytes = glove_fd_read_all (fd, 5, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), "hello", 5);
  g_assert_cmpint (write (fd, "x", 1), ==, -1);
  g_assert_cmpint (errno, ==, EPERM);
  g_assert_cmpint (ftruncate (fd, 0), ==, -1);
  again = open (path, O_RDWR | O_CLOEXEC);
  if (again >= 0)
    g_assert_cmpint (write (again, "x", 1), ==, -1);
}

static void
test_nonblocking (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  int ends[2];

  g_assert_no_errno (pipe2 (ends, O_CLOEXEC));
  g_assert_true (glove_fd_set_nonblocking (ends[0], TRUE, &error));
  g_assert_cmpint (fcntl (ends[0], F_GETFL) & O_NONBLOCK, !=, 0);
  g_assert_true (glove_fd_set_nonblocking (ends[0], FALSE, &error));
  g_assert_cmpint (fcntl (ends[0], F_GETFL) & O_NONBLOCK, ==, 0);
  glove_fd_clear (&ends[0]);
  glove_fd_clear (&ends[1]);
  g_assert_cmpint (ends[0], ==, -1);
  g_assert_false (glove_fd_set_nonblocking (-1, TRUE, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "mode");
}

static void
test_identity (Fixture *self, gconstpointer data)
{
  g_autofree char *path = g_build_filename (self->dir, "a", NULL);
  g_autofree char *linked = g_build_filename (self->dir, "b", NULL);
  g_autofree char *other = g_build_filename (self->dir, "c", NULL);
  g_autoptr (GError) error = NULL;
  GloveFileIdentity before;
  GloveFileIdentity after;
  glove_autofd int fd = -1;
  glove_autofd int other_fd = -1;

  glove_test_write_file (path, "x", -1, 0600);
  glove_test_write_file (other, "x", -1, 0600);
  fd = open (path, O_PATH | O_CLOEXEC);
  other_fd = open (other, O_PATH | O_CLOEXEC);
  g_assert_true (glove_file_identity_from_fd (&before, fd, &error));
  g_assert_cmpuint (before.uid, ==, getuid ());
  g_assert_cmpuint (before.mode, ==, S_IFREG | 0600);
  g_assert_true (glove_file_identity_equal (&before, &before));

  g_assert_no_errno (link (path, linked));
  g_assert_true (glove_file_identity_from_fd (&after, fd, &error));
  g_assert_cmpuint (after.nlink, ==, 2);
  g_assert_true (glove_file_identity_same_object (&before, &after));
  g_assert_false (glove_file_identity_equal (&before, &after));
  g_assert_true (glove_file_identity_from_fd (&after, other_fd, &error));
  g_assert_false (glove_file_identity_same_object (&before, &after));
  g_assert_true (glove_file_identity_from_fd (&after, self->dirfd, &error));
  g_assert_false (glove_file_identity_same_object (&before, &after));

  /* One field at a time: none may be forgotten. */
  for (int field = 0; field < 5; field++)
    {
      GloveFileIdentity changed = before;

      changed.dev += field == 0;
      changed.ino += field == 1;
      changed.uid += field == 2;
      changed.mode ^= field == 3;
      changed.nlink += field == 4;
      g_assert_false (glove_file_identity_equal (&before, &changed));
      g_assert_cmpint (glove_file_identity_same_object (&before, &changed), ==, field >= 2);
    }
  g_assert_false (glove_file_identity_from_fd (&after, -1, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "examine");
}

#define ADD(NAME, FUNC) g_test_add ("/base/fd/" NAME, Fixture, NULL, set_up, FUNC, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("openat2", test_openat2);
  ADD ("read-all", test_read_all);
  ADD ("read-all-pipe", test_read_all_pipe);
  ADD ("read-all-failures", test_read_all_failures);
  ADD ("write-all", test_write_all);
  ADD ("sealed", test_sealed);
  ADD ("nonblocking", test_nonblocking);
  ADD ("identity", test_identity);
  return g_test_run ();
}
