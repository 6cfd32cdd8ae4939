/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-secret.h"

#include <string.h>

/* The lengths are no secret: only the contents are compared in constant time. */
gboolean
glove_secret_equal (const void *a, gsize a_length, const void *b, gsize b_length)
{
  const volatile guint8 *left = a;
  const volatile guint8 *right = b;
  guint8 difference = 0;

  if (a_length != b_length)
    return FALSE;
  for (gsize i = 0; i < a_length; i++)
    difference |= left[i] ^ right[i];
  return difference == 0;
}

void
glove_secret_wipe (void *data, gsize length)
{
  if (data != NULL && length > 0)
    explicit_bzero (data, length);
}

void
glove_secret_free (char *secret)
{
  if (secret == NULL)
    return;
  glove_secret_wipe (secret, strlen (secret));
  g_free (secret);
}
