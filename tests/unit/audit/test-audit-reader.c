/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "glove-audit-reader.h"
#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-test.h"

#define LINES 20
static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";

/* A chained file of @count lines; @ends: where each line ends, behind its newline. */
static GString *
build_file (guint count, gsize *ends)
{
  GString *file = g_string_new (NULL);
  g_autofree char *prev = g_strdup (zeros);

  for (guint i = 0; i < count; i++)
    {
      g_autofree char *tool = g_strdup_printf ("s-1:open:host-%u.example:443", i);
      g_autoptr (GloveAuditEvent) event
          = glove_audit_event_new (GLOVE_AUDIT_ACTION_EGRESS, GLOVE_AUDIT_STATUS_OK, "s-1", tool);
      g_autofree char *hash = NULL;
      g_autofree char *line = glove_audit_event_to_chained_line (event, i + 1, prev, &hash);

      g_string_append_printf (file, "%s\n", line);
      if (ends != NULL)
        ends[i] = file->len;
      g_free (prev);
      prev = g_steal_pointer (&hash);
    }
  return file;
}

typedef struct {
  GloveAuditReaderState state;
  guint count;
  char *fault;
} Verdict;

static void
read_bytes (const char *bytes, gsize length, Verdict *ret_verdict)
{
  glove_autofd int fd = glove_fd_new_sealed ("audit", bytes, length, NULL);
  g_autoptr (GPtrArray) events = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (fd, >=, 0);
  events = glove_audit_reader_read (fd, &ret_verdict->state, &ret_verdict->fault, &error);
  g_assert_no_error (error);
  ret_verdict->count = events->len;
  for (guint i = 0; i < events->len; i++)
    {
      g_autofree char *tool = g_strdup_printf ("s-1:open:host-%u.example:443", i);

      g_assert_cmpstr (((GloveAuditEvent *) events->pdata[i])->tool, ==, tool);
    }
  g_assert_true ((ret_verdict->state == GLOVE_AUDIT_READER_INTACT) == (ret_verdict->fault == NULL));
}

static void
test_intact (void)
{
  const guint counts[] = { 0, 1, 2, LINES, 2000 };

  for (guint c = 0; c < G_N_ELEMENTS (counts); c++)
    {
      g_autoptr (GString) file = build_file (counts[c], NULL);
      Verdict verdict = { 0 };

      read_bytes (file->str, file->len, &verdict);
      g_assert_cmpint (verdict.state, ==, GLOVE_AUDIT_READER_INTACT);
      g_assert_cmpuint (verdict.count, ==, counts[c]);
    }
}

/* Cut anywhere: torn within a line, intact between lines; and every whole line is read. */
static void
test_truncated (void)
{
  gsize ends[LINES];
  g_autoptr (GString) file = build_file (LINES, ends);

  for (gsize length = 0; length < file->len; length++)
    {
      Verdict verdict = { 0 };
      guint whole = 0;

      while (whole < LINES && ends[whole] <= length)
        whole++;
      read_bytes (file->str, length, &verdict);
      g_assert_cmpuint (verdict.count, ==, whole);
      g_assert_cmpint (verdict.state, ==,
                       length == (whole > 0 ? ends[whole - 1] : 0) ? GLOVE_AUDIT_READER_INTACT : GLOVE_AUDIT_READER_TORN);
      g_free (verdict.fault);
    }
}

/* One bit of any byte changed: never intact. Only the very last newline gone looks like what a crash leaves. */
static void
test_flipped (void)
{
  gsize ends[LINES];
  g_autoptr (GString) file = build_file (LINES, ends);

  for (gsize i = 0; i < file->len; i++)
    for (guint bit = 0; bit < 8; bit += g_test_thorough () ? 1 : 3)
      {
        Verdict verdict = { 0 };
        guint line = 0;

        while (ends[line] <= i)
          line++;
        file->str[i] ^= 1 << bit;
        read_bytes (file->str, file->len, &verdict);
        file->str[i] ^= 1 << bit;
        g_assert_cmpint (verdict.state, ==,
                         i == file->len - 1 ? GLOVE_AUDIT_READER_TORN : GLOVE_AUDIT_READER_TAMPERED);
        g_assert_cmpuint (verdict.count, <=, line);
        g_free (verdict.fault);
      }
}

typedef struct {
  const char *what;
  const char *fault;
  guint count;
} Rearranged;

/* Whole lines taken out, doubled, swapped, or put in front of others. */
static void
test_rearranged (void)
{
  gsize ends[LINES];
  g_autoptr (GString) file = build_file (LINES, ends);
  const Rearranged cases[] = { { "first gone", "line 1: the sequence", 0 },     { "middle gone", "line 10: the sequence", 9 },
                               { "doubled", "line 11: the sequence", 10 },      { "swapped", "line 10: the sequence", 9 },
                               { "another chain", "line 11: does not link", 10 } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_autoptr (GString) changed = g_string_new (NULL);
      Verdict verdict = { 0 };

      for (guint i = 0; i < LINES; i++)
        {
          guint from = i;
          guint times = 1;

          if ((c == 0 && i == 0) || (c == 1 && i == 9))
            times = 0;
          if (c == 2 && i == 9)
            times = 2;
          if (c == 3 && (i == 9 || i == 10))
            from = i == 9 ? 10 : 9;
          if (c == 4 && i == 10)
            {
              /* the right number behind the wrong line */
              g_autoptr (GloveAuditEvent) event
                  = glove_audit_event_new (GLOVE_AUDIT_ACTION_EGRESS, GLOVE_AUDIT_STATUS_OK, "s-1", "forged");
              g_autofree char *line = glove_audit_event_to_chained_line (event, 11, zeros, NULL);

              g_string_append_printf (changed, "%s\n", line);
              continue;
            }
          for (; times > 0; times--)
            g_string_append_len (changed, file->str + (from > 0 ? ends[from - 1] : 0),
                                 ends[from] - (from > 0 ? ends[from - 1] : 0));
        }
      g_test_message ("%s", cases[c].what);
      read_bytes (changed->str, changed->len, &verdict);
      g_assert_cmpint (verdict.state, ==, GLOVE_AUDIT_READER_TAMPERED);
      g_assert_cmpuint (verdict.count, ==, cases[c].count);
      glove_test_assert_contains (verdict.fault, cases[c].fault);
      g_free (verdict.fault);
    }
}

#define BARE                                                                                                             \
  "{\"action\":\"egress\",\"tool\":\"s-1:open:host-0.example:443\",\"arguments\":\"\",\"status\":\"ok\",\"error\":\"\","    \
  "\"timestamp_ns\":1,\"latency_ns\":0}\n"

static void
test_without_chain (void)
{
  g_autoptr (GString) file = build_file (1, NULL);
  g_autofree char *behind = g_strconcat (file->str, BARE, NULL);
  g_autofree char *before = g_strconcat (BARE, file->str, NULL);
  const struct
  {
    const char *bytes;
    const char *fault;
    guint count;
  } cases[] = { { BARE, "no line carries a hash", 1 },
                { behind, "line 2: carries no hash", 1 },
                { before, "line 2: carries a hash", 1 },
                { "\n", "line 1: audit line:", 0 },
                { "{}\n", "line 1: audit line:", 0 },
                { "[1]\n", "line 1: audit line: not an object", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Verdict verdict = { 0 };

      read_bytes (cases[i].bytes, strlen (cases[i].bytes), &verdict);
      g_assert_cmpint (verdict.state, ==, GLOVE_AUDIT_READER_TAMPERED);
      g_assert_cmpuint (verdict.count, ==, cases[i].count);
      glove_test_assert_contains (verdict.fault, cases[i].fault);
      g_free (verdict.fault);
    }
}

static void
test_long_line (void)
{
  const gsize lengths[] = { GLOVE_AUDIT_LINE_MAX, GLOVE_AUDIT_LINE_MAX + 1, 3 * GLOVE_AUDIT_LINE_MAX };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      g_autofree char *bytes = g_malloc (lengths[i]);
      Verdict verdict = { 0 };

      memset (bytes, 'x', lengths[i]);
      read_bytes (bytes, lengths[i], &verdict);
      g_assert_cmpint (verdict.state, ==, i == 0 ? GLOVE_AUDIT_READER_TORN : GLOVE_AUDIT_READER_TAMPERED);
      glove_test_assert_contains (verdict.fault, i == 0 ? "has no newline" : "longer than any line");
      g_free (verdict.fault);
    }
}

static void
test_not_a_file (void)
{
  g_autofree char *folder = glove_test_make_dir ();
  g_autofree char *big = g_build_filename (folder, "big", NULL);
  GloveAuditReaderState state = GLOVE_AUDIT_READER_INTACT;
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) limit = NULL;
  int pipe_fds[2];
  glove_autofd int big_fd = open (big, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

  g_assert_cmpint (pipe2 (pipe_fds, O_CLOEXEC), ==, 0);
  g_assert_null (glove_audit_reader_read (pipe_fds[0], &state, NULL, &error));
  glove_test_assert_error (error, GLOVE_ERROR_UNTRUSTED, "not a regular file");
  glove_fd_clear (&pipe_fds[0]);
  glove_fd_clear (&pipe_fds[1]);

  g_assert_cmpint (ftruncate (big_fd, (goffset) GLOVE_AUDIT_FILE_MAX + 1), ==, 0);
  g_assert_null (glove_audit_reader_read (big_fd, &state, NULL, &limit));
  glove_test_assert_error (limit, GLOVE_ERROR_LIMIT, "larger than");
  glove_test_remove_dir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/audit/reader/intact", test_intact);
  g_test_add_func ("/audit/reader/truncated", test_truncated);
  g_test_add_func ("/audit/reader/flipped", test_flipped);
  g_test_add_func ("/audit/reader/rearranged", test_rearranged);
  g_test_add_func ("/audit/reader/without-chain", test_without_chain);
  g_test_add_func ("/audit/reader/long-line", test_long_line);
  g_test_add_func ("/audit/reader/not-a-file", test_not_a_file);
  return g_test_run ();
}
