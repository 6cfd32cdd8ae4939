/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-chunks.h"

#include "glove-bounds.h"

enum { SIZE, EXTENSION, SIZE_LF, DATA, DATA_CR, DATA_LF, TRAILER_START, TRAILER, TRAILER_LF, LAST_LF, COMPLETE };

/* 15 hex digits stay far below 2^63. */
#define DIGITS_MAX 15

static gboolean
step_size (GloveEgressChunks *self, char byte)
{
  if (g_ascii_isxdigit (byte))
    {
      self->left = self->left << 4 | (guint64) g_ascii_xdigit_value (byte);
      return ++self->digits <= DIGITS_MAX;
    }
  self->state = byte == '\r' ? SIZE_LF : EXTENSION;
  return self->digits > 0 && (byte == '\r' || byte == ';');
}

/* Extensions and trailers are text, and all of them together are bounded. */
static gboolean
step_text (GloveEgressChunks *self, char byte, guint text_state, guint end_state)
{
  self->state = byte == '\r' ? end_state : text_state;
  return byte == '\r'
         || (++self->extra <= GLOVE_EGRESS_REQUEST_MAX && (byte == '\t' || (guchar) byte >= 0x20) && byte != 0x7f);
}

static gboolean
step (GloveEgressChunks *self, char byte)
{
  switch (self->state)
    {
    case SIZE:
      return step_size (self, byte);
    case EXTENSION:
      return step_text (self, byte, EXTENSION, SIZE_LF);
    case SIZE_LF:
      self->state = self->left == 0 ? TRAILER_START : DATA;
      return byte == '\n';
    case DATA_CR:
      self->state = DATA_LF;
      return byte == '\r';
    case DATA_LF:
      self->state = SIZE;
      self->digits = 0;
      return byte == '\n';
    case TRAILER_START:
      return step_text (self, byte, TRAILER, LAST_LF);
    case TRAILER:
      return step_text (self, byte, TRAILER, TRAILER_LF);
    case TRAILER_LF:
      self->state = TRAILER_START;
      return byte == '\n';
    default: /* LAST_LF */
      self->state = COMPLETE;
      return byte == '\n';
    }
}

gboolean
glove_egress_chunks_scan (GloveEgressChunks *self, const char *bytes, gsize length, gsize *ret_used)
{
  gsize used = 0;

  while (used < length && self->state != COMPLETE)
    {
      if (self->state == DATA)
        {
          gsize take = (gsize) MIN (self->left, length - used);

          used += take;
          self->left -= take;
          if (self->left == 0)
            self->state = DATA_CR;
          continue;
        }
      if (!step (self, bytes[used]))
        return FALSE;
      used++;
    }
  *ret_used = used;
  return TRUE;
}

gboolean
glove_egress_chunks_is_complete (const GloveEgressChunks *self)
{
  return self->state == COMPLETE;
}
