/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-alloc.h"

#include "glove-error.h"

static int fail_after = -1;

/* Counts down to 0 and stays there. */
static gboolean
budget_is_spent (void)
{
  int left = g_atomic_int_get (&fail_after);

  while (left > 0)
    {
      if (g_atomic_int_compare_and_exchange (&fail_after, left, left - 1))
        return FALSE;
      left = g_atomic_int_get (&fail_after);
    }
  return left == 0;
}

static void *
checked (void *memory, gsize size, GError **error)
{
  if (memory == NULL)
    glove_error_set (error, GLOVE_ERROR_NO_SPACE, "out of memory: %" G_GSIZE_FORMAT " bytes", size);
  return memory;
}

/* A size of 0 gives one byte, so that NULL always means failure. */
void *
glove_alloc_try (gsize size, GError **error)
{
  return checked (budget_is_spent () ? NULL : g_try_malloc (MAX (size, 1)), size, error);
}

void *
glove_alloc_try0 (gsize count, gsize size, GError **error)
{
  gsize total;

  if (!g_size_checked_mul (&total, count, size))
    return checked (NULL, G_MAXSIZE, error);
  return checked (budget_is_spent () ? NULL : g_try_malloc0 (MAX (total, 1)), total, error);
}

void
glove_alloc_fail_after (int n)
{
  g_atomic_int_set (&fail_after, MAX (n, -1));
}
