/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-head.h"

enum { IN_LINE, AFTER_CR, LINE_START, AFTER_LAST_CR };

static gboolean
step (GloveEgressHead *self, guchar byte)
{
  gboolean control = (byte < 0x20 && byte != '\t') || byte == 0x7f;

  switch (self->state)
    {
    case AFTER_CR:
      self->state = LINE_START;
      return byte == '\n';
    case AFTER_LAST_CR:
      return byte == '\n';
    case LINE_START:
      if (byte == ' ' || byte == '\t')
        return FALSE;
      self->state = byte == '\r' ? AFTER_LAST_CR : IN_LINE;
      return byte == '\r' || !control;
    default:
      if (byte == '\r')
        self->state = AFTER_CR;
      return byte == '\r' || !control;
    }
}

GloveEgressHeadResult
glove_egress_head_scan (GloveEgressHead *self, const char *bytes, gsize length)
{
  while (self->scanned < length)
    {
      gboolean last = self->state == AFTER_LAST_CR;

      if (!step (self, (guchar) bytes[self->scanned]))
        return GLOVE_EGRESS_HEAD_BAD;
      self->scanned++;
      if (last)
        return GLOVE_EGRESS_HEAD_COMPLETE;
    }
  return GLOVE_EGRESS_HEAD_MORE;
}
