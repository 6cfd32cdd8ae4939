/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-jsonl-chain.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "glove-jsonl-sink.h"

/* Every line ends with ,"prev":"<64 hex>","hash":"<64 hex>"} */
#define PREV_KEY ",\"prev\":\""
#define HASH_KEY ",\"hash\":\""
#define HEX 64
#define HASH_TAIL (sizeof (HASH_KEY) - 1 + HEX + 2)
#define PREV_TAIL (sizeof (PREV_KEY) - 1 + HEX + 1)
#define BUFFER_SIZE (4 * GLOVE_JSONL_SINK_LINE_MAX)

static gboolean
refuse (guint64 line, const char *why, GError **error)
{
  glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "line %" G_GUINT64_FORMAT " of the audit file %s: it was tampered with",
                   line, why);
  glove_error_set_hint (error, "keep the file as evidence under another name, and start a new one");
  return FALSE;
}

/* The bytes are hashed as they stand: a line need not be parsed to be verified. */
static gboolean
verify_line (GloveJsonlChain *self, const char *line, gsize length, GError **error)
{
  g_autofree char *computed = NULL;
  const char *prev = NULL;
  const char *hash = NULL;
  guint64 number = self->seq + 1;

  if (length <= PREV_TAIL + HASH_TAIL)
    return refuse (number, "carries no hash", error);
  hash = line + length - HASH_TAIL;
  prev = hash - PREV_TAIL;
  if (memcmp (hash, HASH_KEY, sizeof (HASH_KEY) - 1) != 0 || memcmp (line + length - 2, "\"}", 2) != 0
      || memcmp (prev, PREV_KEY, sizeof (PREV_KEY) - 1) != 0)
    return refuse (number, "carries no hash", error);
  computed = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) line, length - HASH_TAIL);
  if (memcmp (computed, hash + sizeof (HASH_KEY) - 1, HEX) != 0)
    return refuse (number, "does not have the hash it carries", error);
  if (memcmp (prev + sizeof (PREV_KEY) - 1, self->hash, HEX) != 0)
    return refuse (number, "does not link to the line before", error);
  memcpy (self->hash, computed, HEX + 1);
  self->seq = number;
  return TRUE;
}

/* The last line is parsed: its sequence number, with the links, pins the number of lines before it. */
static gboolean
verify_end (GloveJsonlChain *self, const char *line, gsize length, GError **error)
{
  g_autoptr (GloveAuditEvent) event = NULL;
  guint64 seq = 0;

  event = glove_audit_event_from_line (line, length, &seq, NULL, NULL, NULL);
  if (event == NULL)
    return refuse (self->seq, "is not an event", error);
  if (seq != self->seq)
    return refuse (self->seq, "does not have the number it carries", error);
  return TRUE;
}

/* Takes the whole lines of @buffer. Returns the bytes used, or -1. @last: (inout): the last line, for the end. */
static gssize
verify_lines (GloveJsonlChain *self, const char *buffer, gsize filled, GString *last, GError **error)
{
  gsize used = 0;
  const char *newline = NULL;

  while (used < filled && (newline = memchr (buffer + used, '\n', filled - used)) != NULL)
    {
      const char *line = buffer + used;
      gsize length = newline - line;

      if (length >= GLOVE_JSONL_SINK_LINE_MAX)
        return refuse (self->seq + 1, "is longer than any line may be", error) ? 0 : -1;
      if (!verify_line (self, line, length, error))
        return -1;
      g_string_truncate (last, 0);
      g_string_append_len (last, line, length);
      used += length + 1;
    }
  return used;
}

/**
 * glove_jsonl_chain_init:
 *
 * Where an empty file stands.
 */
void
glove_jsonl_chain_init (GloveJsonlChain *self)
{
  *self = (GloveJsonlChain){ 0 };
  memset (self->hash, '0', HEX);
}

/**
 * glove_jsonl_chain_verify:
 * @fd: borrowed
 * @size: at most %GLOVE_JSONL_SINK_FILE_MAX
 *
 * Returns: whether the chain holds; %GLOVE_ERROR_UNTRUSTED where it does not, %GLOVE_ERROR_CHANGED when the file shrank meanwhile
 */
gboolean
glove_jsonl_chain_verify (GloveJsonlChain *self, int fd, goffset size, GError **error)
{
  g_autofree char *buffer = g_malloc (BUFFER_SIZE);
  g_autoptr (GString) last = g_string_new (NULL);
  gsize filled = 0;
  goffset offset = 0;

  glove_jsonl_chain_init (self);
  while (offset < size)
    {
      gssize got = pread (fd, buffer + filled, MIN ((goffset) (BUFFER_SIZE - filled), size - offset), offset);
      gssize used = 0;

      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        {
          if (got < 0)
            glove_error_set_errno (error, errno, "reading the audit file");
          else
            glove_error_set_literal (error, GLOVE_ERROR_CHANGED, "the audit file shrank while it was read");
          return FALSE;
        }
      offset += got;
      filled += got;
      used = verify_lines (self, buffer, filled, last, error);
      if (used < 0)
        return FALSE;
      self->end += used;
      filled -= used;
      memmove (buffer, buffer + used, filled);
      if (filled == BUFFER_SIZE)
        return refuse (self->seq + 1, "is longer than any line may be", error);
    }
  return self->seq == 0 || verify_end (self, last->str, last->len, error);
}
