/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-deadline.h"

GloveDeadline
glove_deadline_in_ms (guint64 ms)
{
  gint64 now = g_get_monotonic_time ();

  if (ms > (guint64) (G_MAXINT64 - now) / 1000)
    return G_MAXINT64;
  return now + (gint64) ms * 1000;
}

int
glove_deadline_remaining_ms (GloveDeadline deadline)
{
  gint64 now;
  gint64 left_ms;

  if (deadline == G_MAXINT64)
    return -1;
  now = g_get_monotonic_time ();
  if (deadline <= now)
    return 0;
  left_ms = (deadline - now - 1) / 1000 + 1;
  return (int) MIN (left_ms, G_MAXINT);
}
