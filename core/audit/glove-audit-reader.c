/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-audit-reader.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-alloc.h"
#include "glove-bounds.h"
#include "glove-error.h"

/* What the first line links to. */
static const char first_prev[] = "0000000000000000000000000000000000000000000000000000000000000000";

typedef struct {
  GPtrArray *events;
  guint64 seq;  /* of the last good line */
  char *hash;   /* of the last good line */
  guint64 line; /* number of the line looked at */
  gboolean bare; /* a line without a chain was seen */
  char *fault;
} Chain;

static gboolean
spoil (Chain *chain, const char *why)
{
  chain->fault = g_strdup_printf ("line %" G_GUINT64_FORMAT ": %s", chain->line, why);
  return FALSE;
}

/* Takes one line without its newline, whose hash the parser has verified. FALSE: the chain ends here, and @chain says why. */
static gboolean
take_line (Chain *chain, const char *line, gsize length)
{
  g_autoptr (GloveAuditEvent) event = NULL;
  g_autofree char *prev = NULL;
  g_autofree char *hash = NULL;
  g_autoptr (GError) error = NULL;
  guint64 seq = 0;

  chain->line++;
  event = glove_audit_event_from_line (line, length, &seq, &prev, &hash, &error);
  if (event == NULL)
    return spoil (chain, error->message);
  if (hash == NULL)
    {
      if (chain->hash != NULL)
        return spoil (chain, "carries no hash, unlike the line before");
      chain->bare = TRUE;
      g_ptr_array_add (chain->events, g_steal_pointer (&event));
      return TRUE;
    }
  if (chain->bare)
    return spoil (chain, "carries a hash, unlike the line before");
  if (seq != chain->seq + 1)
    return spoil (chain, "the sequence number does not follow");
  if (g_strcmp0 (prev, chain->hash != NULL ? chain->hash : first_prev) != 0)
    return spoil (chain, "does not link to the line before");
  chain->seq = seq;
  g_free (chain->hash);
  chain->hash = g_steal_pointer (&hash);
  g_ptr_array_add (chain->events, g_steal_pointer (&event));
  return TRUE;
}

/* Takes every whole line of @buffer; returns how many bytes were used, or -1 when the chain ended. */
static gssize
take_lines (Chain *chain, const char *buffer, gsize filled)
{
  gsize used = 0;

  while (used < filled)
    {
      const char *newline = memchr (buffer + used, '\n', filled - used);

      if (newline == NULL)
        break;
      if (!take_line (chain, buffer + used, newline - (buffer + used)))
        return -1;
      used = newline - buffer + 1;
    }
  return used;
}

static gboolean
check_file (int fd, GError **error)
{
  struct stat st;

  if (fstat (fd, &st) < 0)
    {
      glove_error_set_errno (error, errno, "looking at the audit file");
      return FALSE;
    }
  if (!S_ISREG (st.st_mode))
    {
      glove_error_set_literal (error, GLOVE_ERROR_UNTRUSTED, "the audit file is not a regular file");
      return FALSE;
    }
  if (st.st_size > GLOVE_AUDIT_FILE_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "the audit file is larger than %d bytes", GLOVE_AUDIT_FILE_MAX);
      return FALSE;
    }
  return TRUE;
}

/* Reads line by line. @ret_torn: bytes stand behind the last newline. */
static gboolean
read_chain (int fd, Chain *chain, gboolean *ret_torn, GError **error)
{
  const gsize size = GLOVE_AUDIT_LINE_MAX + 1;
  g_autofree char *buffer = glove_alloc_try (size, error);
  gsize filled = 0;
  goffset offset = 0;

  if (buffer == NULL)
    return FALSE;
  while (TRUE)
    {
      gssize got = pread (fd, buffer + filled, size - filled, offset);
      gssize used = 0;

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        {
          glove_error_set_errno (error, errno, "reading the audit file");
          return FALSE;
        }
      if (got == 0)
        break;
      offset += got;
      filled += got;
      used = take_lines (chain, buffer, filled);
      if (used < 0)
        return TRUE;
      filled -= used;
      memmove (buffer, buffer + used, filled);
      if (filled == size)
        {
          /* Longer than any line of ours. A newline further on makes it a forged line, none a torn one: either way it is no
           * line that was ever acknowledged, and a torn one is never this long. */
          chain->line++;
          (void) spoil (chain, "longer than any line may be");
          return TRUE;
        }
      if (offset > GLOVE_AUDIT_FILE_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "the audit file grew past %d bytes", GLOVE_AUDIT_FILE_MAX);
          return FALSE;
        }
    }
  *ret_torn = filled > 0;
  return TRUE;
}

/**
 * glove_audit_reader_read:
 * @fd: borrowed; read from its start with pread (2), so that its offset does not matter
 * @ret_state: (out): whether the chain holds
 * @ret_fault: (out) (optional) (nullable): where it does not, for people; escape it before showing it
 *
 * Reads up to the first line that is not what it has to be. An unterminated last line is torn, and not an event: it was never
 * acknowledged. Lines of the seven keys alone, without a chain, are read as events, but nothing proves such a file, so it
 * counts as tampered with (contracts §4).
 *
 * What a chain inside the file can't show is lines cut off whole at its end: whoever must know that keeps the last hash elsewhere.
 *
 * Returns: (transfer full) (element-type GloveAuditEvent): the events before the fault; %NULL with an error when the file can't
 *   be read (%GLOVE_ERROR_UNTRUSTED, %GLOVE_ERROR_LIMIT, or what the operating system says)
 *
 * Since: 1.0
 */
GPtrArray *
glove_audit_reader_read (int fd, GloveAuditReaderState *ret_state, char **ret_fault, GError **error)
{
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_audit_event_unref);
  g_autofree char *fault = NULL;
  Chain chain = { .events = events };
  gboolean torn = FALSE;
  gboolean ok = FALSE;

  g_return_val_if_fail (ret_state != NULL, NULL);
  ok = check_file (fd, error) && read_chain (fd, &chain, &torn, error);
  g_free (chain.hash);
  fault = g_steal_pointer (&chain.fault);
  if (!ok)
    return NULL;

  *ret_state = GLOVE_AUDIT_READER_INTACT;
  if (fault != NULL)
    *ret_state = GLOVE_AUDIT_READER_TAMPERED;
  else if (chain.bare)
    {
      *ret_state = GLOVE_AUDIT_READER_TAMPERED;
      fault = g_strdup ("no line carries a hash: nothing proves this file");
    }
  else if (torn)
    {
      *ret_state = GLOVE_AUDIT_READER_TORN;
      fault = g_strdup_printf ("line %" G_GUINT64_FORMAT ": has no newline", chain.line + 1);
    }
  if (ret_fault != NULL)
    *ret_fault = g_steal_pointer (&fault);
  return g_steal_pointer (&events);
}
