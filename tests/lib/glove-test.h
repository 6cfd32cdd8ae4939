/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What test programs share. Everything here aborts the test on a failure of its own: a test has nothing to decide about it. */

/* A new, empty directory (0700) below the test's temporary folder; the absolute, link-free path, owned by the caller. */
char *glove_test_make_dir (void);
/* Removes it and all below it, following no link. Asserts that nothing is left. */
void glove_test_remove_dir (const char *path);
/* A file with these bytes (-1: to the NUL) and exactly this mode, whatever the umask. Parents must exist. */
void glove_test_write_file (const char *path, const char *content, gssize length, guint mode);
/* The parts joined by slashes, below the build or source root that meson names; NULL-terminated. */
char *glove_test_build_path (const char *first, ...) G_GNUC_NULL_TERMINATED;
char *glove_test_source_path (const char *first, ...) G_GNUC_NULL_TERMINATED;

typedef struct {
  int exit_code;      /* -1 when a signal ended it, or the deadline passed */
  int signal;         /* that signal, or 0 */
  gboolean timed_out; /* it was killed, with its session, because the deadline passed */
  char *out;          /* what it wrote to stdout, and a NUL behind it */
  gsize out_length;
  char *err;
  gsize err_length;
} GloveTestResult;

typedef struct {
  const char *const *argv; /* argv[0] is looked up in PATH unless it has a slash */
  const char *const *env;  /* complete; NULL: inherited */
  const char *cwd;         /* NULL: inherited */
  const char *input;       /* for stdin; NULL: /dev/null */
  gssize input_length;     /* -1 or 0: to the NUL */
  guint timeout_ms;        /* 0: 30 s */
} GloveTestCommand;

/* Runs a program in a session of its own to its end, or kills it at the deadline, and collects what it wrote (64 MiB at most).
 * Descriptors that are not close-on-exec are inherited. Output of processes that outlive it is waited for one second more. */
GloveTestResult *glove_test_run (const GloveTestCommand *command);
/* The same with nothing but a command line, NULL-terminated. */
GloveTestResult *glove_test_run_argv (const char *first, ...) G_GNUC_NULL_TERMINATED;
void glove_test_result_free (GloveTestResult *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveTestResult, glove_test_result_free)

/* Fails with everything that the program wrote. */
void glove_test_assert_exit (const GloveTestResult *result, int exit_code);
/* Fails unless @text holds @part; shows @text. */
void glove_test_assert_contains (const char *text, const char *part);
void glove_test_assert_lacks (const char *text, const char *part);
/* Fails unless @error is of GLOVE_ERROR with @code and a message that holds @part (NULL: any). */
void glove_test_assert_error (const GError *error, int code, const char *part);

/* Descriptors: `guint before = glove_test_count_fds ();` … `glove_test_assert_fds (before);` shows those that are open. */
guint glove_test_count_fds (void);
void glove_test_assert_fds (guint before);

/* Marks the running test as skipped, naming what is missing; with GLOVE_TESTS_MUST_RUN=1 it fails instead. The caller returns. */
void glove_test_skip (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* For a whole program, before g_test_run (): exits 77 with the missing prerequisite on stderr, 1 when it must run. */
G_NORETURN void glove_test_skip_all (const char *format, ...) G_GNUC_PRINTF (1, 2);

G_END_DECLS
