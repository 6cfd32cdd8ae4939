/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "glove-jsonl-chain.h"
#include "glove-jsonl-sink.h"

#define NAME "audit.jsonl"

/* --- helpers --- */

typedef struct {
  char *folder;
  char *path;
  int dirfd;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  fixture->folder = g_dir_make_tmp ("glove-jsonl-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->path = g_build_filename (fixture->folder, NAME, NULL);
  fixture->dirfd = open (fixture->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (fixture->dirfd, >=, 0);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  const char *name = NULL;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (fixture->folder, name, NULL);

      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0);
  g_assert_cmpint (close (fixture->dirfd), ==, 0);
  g_free (fixture->folder);
  g_free (fixture->path);
}

static void
assert_error (const GError *error, int code, const char *part)
{
  g_assert_error (error, GLOVE_ERROR, code);
  if (strstr (error->message, part) == NULL)
    g_error ("'%s' does not hold '%s'", error->message, part);
}

static GloveAuditSink *
open_sink (Fixture *fixture, GError **error)
{
  g_autoptr (GloveAuditSink) sink = g_object_new (GLOVE_TYPE_JSONL_SINK, NULL);

  return glove_audit_sink_open (sink, fixture->dirfd, NAME, error) ? g_steal_pointer (&sink) : NULL;
}

static GloveAuditSink *
open_ok (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  GloveAuditSink *sink = open_sink (fixture, &error);

  g_assert_no_error (error);
  return sink;
}

static gboolean
record (GloveAuditSink *sink, const char *tool, guint count, GError **error)
{
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_audit_event_unref);

  for (guint i = 0; i < count; i++)
    {
      GloveAuditEvent *event = glove_audit_event_new (GLOVE_AUDIT_ACTION_EGRESS, GLOVE_AUDIT_STATUS_OK, "s-1", tool);

      glove_audit_event_set_verdict (event, "network", "rule", "--allow-host x");
      g_ptr_array_add (events, event);
    }
  return glove_audit_sink_record (sink, (GloveAuditEvent *const *) events->pdata, count, error);
}

static void
record_ok (GloveAuditSink *sink, const char *tool, guint count)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (record (sink, tool, count, &error));
  g_assert_no_error (error);
}

/* A file of @count events, and its bytes. */
static char *
make_file (Fixture *fixture, guint count, gsize *ret_length)
{
  g_autoptr (GloveAuditSink) sink = open_ok (fixture);
  char *bytes = NULL;

  record_ok (sink, "x", count);
  g_assert_true (g_file_get_contents (fixture->path, &bytes, ret_length, NULL));
  return bytes;
}

static void
write_file (Fixture *fixture, const char *bytes, gsize length)
{
  int fd = open (fixture->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, bytes, length), ==, (gssize) length);
  g_assert_cmpint (fchmod (fd, 0600), ==, 0);
  g_assert_cmpint (close (fd), ==, 0);
}

static goffset
get_size (Fixture *fixture)
{
  struct stat st;

  g_assert_cmpint (stat (fixture->path, &st), ==, 0);
  return st.st_size;
}

/* Every line an event, numbered and linked; how many. */
static guint
assert_chain (Fixture *fixture)
{
  gsize length = 0;
  g_autofree char *bytes = NULL;
  g_autofree char *last = g_strnfill (64, '0');
  const char *at = NULL;
  guint count = 0;

  g_assert_true (g_file_get_contents (fixture->path, &bytes, &length, NULL));
  for (at = bytes; at < bytes + length; at = strchr (at, '\n') + 1)
    {
      const char *newline = memchr (at, '\n', bytes + length - at);
      g_autoptr (GloveAuditEvent) event = NULL;
      g_autofree char *prev = NULL;
      g_autofree char *hash = NULL;
      g_autoptr (GError) error = NULL;
      guint64 seq = 0;

      g_assert_nonnull (newline);
      event = glove_audit_event_from_line (at, newline - at, &seq, &prev, &hash, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (seq, ==, ++count);
      g_assert_cmpstr (prev, ==, last);
      g_free (last);
      last = g_steal_pointer (&hash);
    }
  return count;
}

/* --- opening --- */

static void
test_made (Fixture *fixture, gconstpointer data)
{
  mode_t old = umask (0777);
  g_autoptr (GloveAuditSink) sink = open_ok (fixture);
  struct stat st;

  (void) umask (old);
  g_assert_cmpint (lstat (fixture->path, &st), ==, 0);
  g_assert_true (S_ISREG (st.st_mode));
  g_assert_cmpuint (st.st_mode & 07777, ==, 0600);
  g_assert_true (glove_audit_sink_is_durable (sink));
  g_assert_cmpstr (glove_audit_sink_get_sink_id (sink), ==, "jsonl");
  record_ok (sink, "one", 1);
  record_ok (sink, "many", 100);
  g_assert_true (glove_audit_sink_flush (sink, NULL));
  g_assert_cmpuint (assert_chain (fixture), ==, 101);
}

static void
test_continued (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr (GloveAuditSink) sink = open_ok (fixture);

      g_assert_cmpuint (assert_chain (fixture), ==, i * 3);
      record_ok (sink, "again", 3);
    }
  g_assert_cmpuint (assert_chain (fixture), ==, 15);
}

/* A chain of many lines crosses the buffer it is verified in. */
static void
test_big (Fixture *fixture, gconstpointer data)
{
  g_autofree char *tool = g_strnfill (2000, 't');
  GloveAuditSink *sink = open_ok (fixture);

  for (guint i = 0; i < 10; i++)
    record_ok (sink, tool, 50);
  g_object_unref (sink);
  g_assert_cmpint (get_size (fixture), >, 8 * GLOVE_JSONL_SINK_LINE_MAX);
  sink = open_ok (fixture);
  record_ok (sink, tool, 1);
  g_object_unref (sink);
  g_assert_cmpuint (assert_chain (fixture), ==, 501);
}

static void
test_locked (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GloveAuditSink) sink = open_ok (fixture);
  g_autoptr (GError) error = NULL;

  g_assert_null (open_sink (fixture, &error));
  assert_error (error, GLOVE_ERROR_BUSY, "in use by another process");
  g_clear_object (&sink);
  sink = open_ok (fixture);
}

static void
test_bad_name (Fixture *fixture, gconstpointer data)
{
  const char *const names[] = { ".", "..", "a/b", "/etc/passwd", "../x" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GloveAuditSink) sink = g_object_new (GLOVE_TYPE_JSONL_SINK, NULL);
      g_autoptr (GError) error = NULL;

      g_assert_false (glove_audit_sink_open (sink, fixture->dirfd, names[i], &error));
      g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_INVALID_ARGUMENT);
    }
}

static void
test_untrusted (Fixture *fixture, gconstpointer data)
{
  static const char *const parts[] = { "symbolic link", "regular file", "mode 0600", "hard links", "somebody else" };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *other = g_build_filename (fixture->folder, "other", NULL);
      g_autoptr (GError) error = NULL;
      gboolean possible = TRUE;

      if (i == 0)
        g_assert_cmpint (symlink (other, fixture->path), ==, 0);
      else if (i == 1)
        g_assert_cmpint (mkfifo (fixture->path, 0600), ==, 0);
      else
        write_file (fixture, "", 0);
      if (i == 2)
        g_assert_cmpint (chmod (fixture->path, 0640), ==, 0);
      if (i == 3)
        g_assert_cmpint (link (fixture->path, other), ==, 0);
      if (i == 4) /* an ordinary user can't, nor root of a user namespace without such an id */
        possible = geteuid () == 0 && chown (fixture->path, 1000, 1000) == 0;
      if (possible)
        {
          g_assert_null (open_sink (fixture, &error));
          assert_error (error, GLOVE_ERROR_UNTRUSTED, parts[i]);
          g_assert_nonnull (glove_error_get_hint (error));
        }
      g_assert_cmpint (g_remove (fixture->path), ==, 0);
      (void) g_remove (other);
    }
}

static void
test_not_open (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GloveAuditSink) sink = g_object_new (GLOVE_TYPE_JSONL_SINK, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) twice = NULL;

  g_assert_false (record (sink, "x", 1, &error));
  assert_error (error, GLOVE_ERROR_CLOSED, "no audit file");
  g_assert_true (glove_audit_sink_open (sink, fixture->dirfd, NAME, NULL));
  g_assert_false (glove_audit_sink_open (sink, fixture->dirfd, NAME, &twice));
  assert_error (twice, GLOVE_ERROR_EXISTS, "already");
}

static void
test_file_limit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  write_file (fixture, "", 0);
  g_assert_cmpint (truncate (fixture->path, (goffset) GLOVE_JSONL_SINK_FILE_MAX + 1), ==, 0);
  g_assert_null (open_sink (fixture, &error));
  assert_error (error, GLOVE_ERROR_LIMIT, "larger than");
}

/* --- what a crash leaves, and what a forger leaves --- */

static void
test_torn (Fixture *fixture, gconstpointer data)
{
  gsize length = 0;
  g_autofree char *bytes = make_file (fixture, 2, &length);
  gsize first = strchr (bytes, '\n') - bytes + 1;

  for (gsize cut = 0; cut <= length; cut += g_test_thorough () || ABS ((gssize) (cut - first)) < 6 || cut + 6 >= length ? 1 : 5)
    {
      gsize whole = cut >= length ? length : cut >= first ? first : 0;
      g_autofree char *name = g_strdup_printf ("%s.torn-%" G_GSIZE_FORMAT, fixture->path, whole);
      g_autofree char *kept = NULL;
      gsize kept_length = 0;
      GloveAuditSink *sink = NULL;

      write_file (fixture, bytes, cut);
      sink = open_ok (fixture);
      g_assert_cmpint (get_size (fixture), ==, (goffset) whole);
      record_ok (sink, "y", 1);
      g_object_unref (sink);
      g_assert_cmpuint (assert_chain (fixture), ==, (whole == 0 ? 0 : whole == first ? 1 : 2) + 1);
      if (cut == whole)
        {
          g_assert_false (g_file_test (name, G_FILE_TEST_EXISTS));
          continue;
        }
      g_assert_true (g_file_get_contents (name, &kept, &kept_length, NULL));
      g_assert_cmpmem (kept, kept_length, bytes + whole, cut - whole);
      g_assert_cmpint (g_remove (name), ==, 0);
    }
}

/* Evidence that is there already stays: the next name is taken. */
static void
test_torn_twice (Fixture *fixture, gconstpointer data)
{
  g_autofree char *first = g_strdup_printf ("%s.torn-0", fixture->path);
  g_autofree char *second = g_strdup_printf ("%s.torn-0-1", fixture->path);
  g_autofree char *kept = NULL;
  g_autofree char *kept_too = NULL;

  g_assert_true (g_file_set_contents (first, "old", -1, NULL));
  write_file (fixture, "{\"half", 6);
  g_object_unref (open_ok (fixture));
  g_assert_true (g_file_get_contents (first, &kept, NULL, NULL));
  g_assert_cmpstr (kept, ==, "old");
  g_assert_true (g_file_get_contents (second, &kept_too, NULL, NULL));
  g_assert_cmpstr (kept_too, ==, "{\"half");
}

/* A bit of any byte of 20 lines: refused, and the file stays as it is. */
static void
test_tampered (Fixture *fixture, gconstpointer data)
{
  gsize length = 0;
  g_autofree char *bytes = make_file (fixture, 20, &length);

  /* The last byte is a newline: without it the line is torn, not forged. */
  for (gsize i = 0; i + 1 < length; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *after = NULL;
      gsize after_length = 0;

      bytes[i] ^= 1;
      write_file (fixture, bytes, length);
      g_assert_null (open_sink (fixture, &error));
      assert_error (error, GLOVE_ERROR_UNTRUSTED, "tampered with");
      g_assert_nonnull (glove_error_get_hint (error));
      g_assert_true (g_file_get_contents (fixture->path, &after, &after_length, NULL));
      g_assert_cmpmem (after, after_length, bytes, length);
      bytes[i] ^= 1;
    }
}

static void
test_lines_missing (Fixture *fixture, gconstpointer data)
{
  gsize length = 0;
  g_autofree char *bytes = make_file (fixture, 3, &length);
  const char *second = strchr (bytes, '\n') + 1;
  g_autoptr (GError) error = NULL;

  write_file (fixture, second, bytes + length - second);
  g_assert_null (open_sink (fixture, &error));
  assert_error (error, GLOVE_ERROR_UNTRUSTED, "line 1");
}

static void
test_changed_under_its_feet (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr (GloveAuditSink) sink = open_ok (fixture);
      g_autofree char *other = g_build_filename (fixture->folder, "other", NULL);
      g_autoptr (GError) error = NULL;

      record_ok (sink, "x", 1);
      if (i == 0)
        g_assert_cmpint (g_rename (fixture->path, other), ==, 0);
      else if (i == 1)
        g_assert_cmpint (g_remove (fixture->path), ==, 0);
      else if (i == 2)
        g_assert_cmpint (link (fixture->path, other), ==, 0);
      else
        g_assert_cmpint (truncate (fixture->path, i == 3 ? get_size (fixture) + 1 : 0), ==, 0);
      g_assert_false (record (sink, "y", 1, &error));
      assert_error (error, GLOVE_ERROR_CHANGED, i < 3 ? "moved, removed or replaced" : "changed by somebody else");
      g_clear_object (&sink);
      (void) g_remove (fixture->path);
      (void) g_remove (other);
    }
}

/* --- a write that can't be finished --- */

/* A group that hits a limit half-way leaves nothing of itself, and the next that fits is recorded (LG-01, LG-02). */
static void
test_short_write (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GloveAuditSink) sink = open_ok (fixture);
  struct rlimit old;
  goffset before = 0;
  void (*old_handler) (int) = signal (SIGXFSZ, SIG_IGN);

  record_ok (sink, "x", 3);
  before = get_size (fixture);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &old), ==, 0);
  for (guint room = 0; room < 1200; room += 7)
    {
      struct rlimit tight = { .rlim_cur = before + room, .rlim_max = old.rlim_max };
      g_autoptr (GError) error = NULL;
      gboolean ok = FALSE;

      g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &tight), ==, 0);
      ok = record (sink, "too much", 4, &error);
      g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &old), ==, 0);
      g_assert_false (ok);
      assert_error (error, error->code, "writing to the audit file");
      g_assert_cmpint (get_size (fixture), ==, before);
    }
  record_ok (sink, "fits", 2);
  g_assert_cmpuint (assert_chain (fixture), ==, 5);
  (void) signal (SIGXFSZ, old_handler);
}

/* A real full disk: in a child, with a small file system of its own. */
static int
fill_disk (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *ballast = g_build_filename (fixture->folder, "ballast", NULL);
  g_autofree char *zeros = g_malloc0 (40000);
  g_autoptr (GloveAuditSink) sink = NULL;
  guint recorded = 0;

  if (unshare (CLONE_NEWNS | (geteuid () != 0 ? CLONE_NEWUSER : 0)) < 0
      || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
      || mount ("tmpfs", fixture->folder, "tmpfs", 0, "size=64k,mode=0700") < 0)
    return 77;
  fixture->dirfd = open (fixture->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  sink = open_ok (fixture);
  g_assert_true (g_file_set_contents_full (ballast, zeros, 40000, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  while (record (sink, "x", 3, &error))
    recorded += 3;
  assert_error (error, GLOVE_ERROR_NO_SPACE, "writing to the audit file");
  g_assert_cmpuint (recorded, >, 0);
  g_assert_cmpuint (assert_chain (fixture), ==, recorded);
  g_assert_cmpint (g_remove (ballast), ==, 0);
  record_ok (sink, "room again", 3);
  g_assert_cmpuint (assert_chain (fixture), ==, recorded + 3);
  return 0;
}

static void
test_full_disk (Fixture *fixture, gconstpointer data)
{
  int status = 0;
  pid_t pid = fork ();

  if (pid == 0)
    _exit (fill_disk (fixture));
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  if (WIFEXITED (status) && WEXITSTATUS (status) == 77 && g_strcmp0 (g_getenv ("GLOVE_TESTS_MUST_RUN"), "1") != 0)
    g_test_skip ("no mount namespace with a tmpfs can be made here");
  else
    g_assert_cmpint (status, ==, 0);
}

/* --- kill -9 in the middle of appends --- */

static void
append_for_ever (Fixture *fixture, int report)
{
  g_autoptr (GloveAuditSink) sink = open_sink (fixture, NULL);
  guint32 acknowledged = 0;

  if (sink == NULL)
    _exit (1);
  for (guint i = 0;; i++)
    {
      guint count = 1 + i % 7;

      if (!record (sink, "a line of some length, so that a write takes its time", count, NULL))
        _exit (2);
      acknowledged += count;
      if (write (report, &acknowledged, sizeof (acknowledged)) != sizeof (acknowledged))
        _exit (3);
    }
}

/* Whatever was acknowledged is there; at most one group more, whose answer did not come through. */
static void
test_killed (Fixture *fixture, gconstpointer data)
{
  const guint rounds = g_test_thorough () ? 200 : 25;
  guint total = 0;

  for (guint round = 0; round < rounds; round++)
    {
      int report[2];
      guint32 acknowledged = 0;
      guint32 value = 0;
      GloveJsonlChain chain;
      pid_t pid = 0;
      int fd = -1;

      g_assert_cmpint (pipe2 (report, O_CLOEXEC), ==, 0);
      pid = fork ();
      if (pid == 0)
        append_for_ever (fixture, report[1]);
      g_assert_cmpint (close (report[1]), ==, 0);
      g_usleep (g_test_rand_int_range (200, 12000));
      g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
      g_assert_cmpint (waitpid (pid, NULL, 0), ==, pid);
      while (read (report[0], &value, sizeof (value)) == sizeof (value))
        acknowledged = value;
      g_assert_cmpint (close (report[0]), ==, 0);

      fd = open (fixture->path, O_RDONLY | O_CLOEXEC);
      if (fd < 0)
        {
          g_assert_cmpuint (acknowledged, ==, 0);
          continue;
        }
      g_assert_true (glove_jsonl_chain_verify (&chain, fd, get_size (fixture), NULL));
      g_assert_cmpint (close (fd), ==, 0);
      g_assert_cmpuint (chain.seq, >=, total + acknowledged);
      g_assert_cmpuint (chain.seq, <=, total + acknowledged + 7);
      total = chain.seq;
      g_object_unref (open_ok (fixture));
      g_assert_cmpuint (assert_chain (fixture), ==, total);
    }
  g_assert_cmpuint (total, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/jsonl/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("made", test_made);
  ADD ("continued", test_continued);
  ADD ("big", test_big);
  ADD ("locked", test_locked);
  ADD ("bad-name", test_bad_name);
  ADD ("untrusted", test_untrusted);
  ADD ("not-open", test_not_open);
  ADD ("file-limit", test_file_limit);
  ADD ("torn", test_torn);
  ADD ("torn-twice", test_torn_twice);
  ADD ("tampered", test_tampered);
  ADD ("lines-missing", test_lines_missing);
  ADD ("changed-under-its-feet", test_changed_under_its_feet);
  ADD ("short-write", test_short_write);
  ADD ("full-disk", test_full_disk);
  ADD ("killed", test_killed);
  return g_test_run ();
}
