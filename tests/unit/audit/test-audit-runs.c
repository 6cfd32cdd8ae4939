/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-audit-runs.h"
#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-test.h"

typedef struct {
  char *home;
  char *runs;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->home = glove_test_make_dir ();
  fixture->runs = g_build_filename (fixture->home, "glove", "runs", NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  glove_test_remove_dir (fixture->home);
  g_free (fixture->home);
  g_free (fixture->runs);
}

static int
create (Fixture *fixture, const char *id)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  g_autofree char *expected = g_build_filename (fixture->runs, id, NULL);
  int fd = glove_audit_runs_create (fixture->home, id, &path, &error);

  g_assert_no_error (error);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpstr (path, ==, expected);
  return fd;
}

static void
make_old (Fixture *fixture, const char *id, gint64 seconds)
{
  g_autofree char *path = g_build_filename (fixture->runs, id, NULL);
  struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

  g_assert_cmpint (utimensat (AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), ==, 0);
}

static void
put (Fixture *fixture, const char *id, const char *name)
{
  g_autofree char *path = g_build_filename (fixture->runs, id, name, NULL);

  glove_test_write_file (path, "x\n", -1, 0600);
}

static gboolean
is_there (Fixture *fixture, const char *id)
{
  g_autofree char *path = g_build_filename (fixture->runs, id, NULL);
  struct stat st;

  return lstat (path, &st) == 0;
}

static void
test_create (Fixture *fixture, gconstpointer data)
{
  glove_autofd int fd = create (fixture, "run-1");
  const char *const folders[] = { "glove", "glove/runs", "glove/runs/run-1" };
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (fixture->runs, "run-1", NULL);
  glove_autofd int again = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat st;

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *folder = g_build_filename (fixture->home, folders[i], NULL);

      g_assert_cmpint (stat (folder, &st), ==, 0);
      g_assert_cmpuint (st.st_mode & 07777, ==, 0700);
    }
  g_assert_cmpint (fcntl (fd, F_GETFD) & FD_CLOEXEC, !=, 0);
  g_assert_cmpint (flock (again, LOCK_EX | LOCK_NB), <, 0);
  g_assert_cmpint (errno, ==, EWOULDBLOCK);
  g_assert_cmpint (glove_audit_runs_create (fixture->home, "run-1", NULL, &error), ==, -1);
  glove_test_assert_error (error, GLOVE_ERROR_EXISTS, "run-1");
}

static void
test_bad_id (Fixture *fixture, gconstpointer data)
{
  const char *const ids[] = { "", ".", "..", "a/b", "../x", "a b", "x\n" };

  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_cmpint (glove_audit_runs_create (fixture->home, ids[i], NULL, &error), ==, -1);
      glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "session id");
    }
}

/* 49, 50 and 51 older runs: the newest 50 stay, the new one among them. */
static void
test_keep (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < GLOVE_AUDIT_RUNS_KEPT + 5; i++)
    {
      g_autofree char *id = g_strdup_printf ("old-%03u", i);
      int fd = create (fixture, id);

      put (fixture, id, "audit.jsonl");
      put (fixture, id, "audit.jsonl.torn-17");
      glove_fd_clear (&fd);
      make_old (fixture, id, 1000000 + i);
      /* with this one there are i + 1 */
      g_assert_true (is_there (fixture, "old-000") == (i + 1 <= GLOVE_AUDIT_RUNS_KEPT));
    }
  g_assert_false (is_there (fixture, "old-004"));
  g_assert_true (is_there (fixture, "old-005"));
}

static void
test_live_run_stays (Fixture *fixture, gconstpointer data)
{
  glove_autofd int live = create (fixture, "live");

  put (fixture, "live", "audit.jsonl");
  make_old (fixture, "live", 1);
  for (guint i = 0; i < GLOVE_AUDIT_RUNS_KEPT + 3; i++)
    {
      g_autofree char *id = g_strdup_printf ("r-%03u", i);
      int fd = create (fixture, id);

      glove_fd_clear (&fd);
      make_old (fixture, id, 1000 + i);
    }
  g_assert_true (is_there (fixture, "live/audit.jsonl"));
  glove_fd_clear (&live);
  glove_fd_clear (&(int){ create (fixture, "last") });
  g_assert_false (is_there (fixture, "live"));
}

/* What lies there is not believed: links are not followed, foreign things stay, too much stays. */
static void
test_hostile (Fixture *fixture, gconstpointer data)
{
  g_autofree char *victim = g_build_filename (fixture->home, "victim", NULL);
  g_autofree char *kept = g_build_filename (victim, "kept", NULL);
  g_autofree char *link = NULL;
  g_autofree char *inner = NULL;
  g_autofree char *deep = NULL;
  g_autofree char *fifo = NULL;
  g_autofree char *last = NULL;
  g_autoptr (GError) error = NULL;

  glove_fd_clear (&(int){ create (fixture, "has-link") });
  g_assert_cmpint (g_mkdir (victim, 0700), ==, 0);
  glove_test_write_file (kept, "x", -1, 0600);
  inner = g_build_filename (fixture->runs, "has-link", "out", NULL);
  g_assert_cmpint (symlink (victim, inner), ==, 0);
  make_old (fixture, "has-link", 1);

  link = g_build_filename (fixture->runs, "a-link", NULL);
  g_assert_cmpint (symlink (victim, link), ==, 0);
  deep = g_build_filename (fixture->runs, "deep", "1", "2", "3", "4", "5", "6", NULL);
  g_assert_cmpint (g_mkdir_with_parents (deep, 0700), ==, 0);
  make_old (fixture, "deep", 2);
  fifo = g_build_filename (fixture->runs, "fifo", NULL);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  {
    g_autofree char *odd = g_build_filename (fixture->runs, "odd name\n", NULL);

    g_assert_cmpint (g_mkdir (odd, 0700), ==, 0);
  }

  for (guint i = 0; i < GLOVE_AUDIT_RUNS_KEPT + 2; i++)
    {
      g_autofree char *id = g_strdup_printf ("r-%03u", i);

      glove_fd_clear (&(int){ create (fixture, id) });
    }
  g_assert_false (is_there (fixture, "has-link"));
  g_assert_true (is_there (fixture, "a-link"));
  g_assert_true (is_there (fixture, "fifo"));
  g_assert_true (is_there (fixture, "odd name\n"));
  g_assert_true (is_there (fixture, "deep"));
  g_assert_cmpint (g_access (kept, F_OK), ==, 0);
  last = glove_audit_runs_find_last (fixture->home, &error);
  g_assert_null (last);
  glove_test_assert_error (error, GLOVE_ERROR_NOT_FOUND, "no run has left an audit file");
}

static void
test_untrusted_folder (Fixture *fixture, gconstpointer data)
{
  g_autofree char *elsewhere = g_build_filename (fixture->home, "elsewhere", NULL);
  g_autofree char *glove = g_build_filename (fixture->home, "glove", NULL);
  g_autoptr (GError) link_error = NULL;
  g_autoptr (GError) mode_error = NULL;

  g_assert_cmpint (g_mkdir (elsewhere, 0700), ==, 0);
  g_assert_cmpint (symlink (elsewhere, glove), ==, 0);
  g_assert_cmpint (glove_audit_runs_create (fixture->home, "x", NULL, &link_error), ==, -1);
  g_assert_true (link_error->domain == GLOVE_ERROR);
  g_assert_cmpint (g_rmdir (elsewhere), ==, 0);
  g_assert_cmpint (g_unlink (glove), ==, 0);

  glove_fd_clear (&(int){ create (fixture, "x") });
  g_assert_cmpint (chmod (fixture->runs, 0777), ==, 0);
  g_assert_cmpint (glove_audit_runs_create (fixture->home, "y", NULL, &mode_error), ==, -1);
  glove_test_assert_error (mode_error, GLOVE_ERROR_UNTRUSTED, "others may write");
  g_assert_nonnull (glove_error_get_hint (mode_error));
}

static void
test_find_last (Fixture *fixture, gconstpointer data)
{
  g_autofree char *last = NULL;
  g_autofree char *expected = g_build_filename (fixture->runs, "newer", "audit.jsonl", NULL);
  g_autofree char *link = g_build_filename (fixture->runs, "newest", "audit.jsonl", NULL);
  g_autoptr (GError) none = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_null (glove_audit_runs_find_last (fixture->home, &none));
  glove_test_assert_error (none, GLOVE_ERROR_NOT_FOUND, "no run");
  glove_fd_clear (&(int){ create (fixture, "older") });
  glove_fd_clear (&(int){ create (fixture, "newer") });
  glove_fd_clear (&(int){ create (fixture, "newest") });
  put (fixture, "older", "audit.jsonl");
  put (fixture, "newer", "audit.jsonl");
  g_assert_cmpint (symlink (expected, link), ==, 0);
  make_old (fixture, "older", 10);
  make_old (fixture, "newer", 20);
  make_old (fixture, "newest", 30);
  last = glove_audit_runs_find_last (fixture->home, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (last, ==, expected);
}

static gpointer
create_some (gpointer data)
{
  Fixture *fixture = data;

  for (guint i = 0; i < 40; i++)
    {
      g_autofree char *id = g_strdup_printf ("%p-%u", (void *) g_thread_self (), i);

      glove_fd_clear (&(int){ create (fixture, id) });
    }
  return NULL;
}

static void
test_at_once (Fixture *fixture, gconstpointer data)
{
  GThread *threads[4];
  g_autoptr (GDir) dir = NULL;
  guint count = 0;

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("runs", create_some, fixture);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  glove_fd_clear (&(int){ create (fixture, "last") });
  dir = g_dir_open (fixture->runs, 0, NULL);
  while (g_dir_read_name (dir) != NULL)
    count++;
  g_assert_cmpuint (count, ==, GLOVE_AUDIT_RUNS_KEPT);
}

/* Never in the current folder, whatever $XDG_STATE_HOME and $HOME say. */
static void
test_relative (Fixture *fixture, gconstpointer data)
{
  g_autofree char *absolute = glove_audit_runs_dup_folder (fixture->home);

  g_assert_cmpstr (absolute, ==, fixture->runs);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *folder = NULL;

      g_setenv ("HOME", i == 0 ? "relative" : "", TRUE);
      folder = glove_audit_runs_dup_folder ("relative");
      g_test_message ("%s", folder);
      g_assert_true (g_path_is_absolute (folder));
      g_assert_null (strstr (folder, "relative"));
      g_assert_true (g_str_has_suffix (folder, "/.local/state/glove/runs"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  g_test_add ("/audit/runs/create", Fixture, NULL, set_up, test_create, tear_down);
  g_test_add ("/audit/runs/bad-id", Fixture, NULL, set_up, test_bad_id, tear_down);
  g_test_add ("/audit/runs/keep", Fixture, NULL, set_up, test_keep, tear_down);
  g_test_add ("/audit/runs/live-run-stays", Fixture, NULL, set_up, test_live_run_stays, tear_down);
  g_test_add ("/audit/runs/hostile", Fixture, NULL, set_up, test_hostile, tear_down);
  g_test_add ("/audit/runs/untrusted-folder", Fixture, NULL, set_up, test_untrusted_folder, tear_down);
  g_test_add ("/audit/runs/find-last", Fixture, NULL, set_up, test_find_last, tear_down);
  g_test_add ("/audit/runs/relative", Fixture, NULL, set_up, test_relative, tear_down);
  g_test_add ("/audit/runs/at-once", Fixture, NULL, set_up, test_at_once, tear_down);
  return g_test_run ();
}
