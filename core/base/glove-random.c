/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-random.h"

#include <errno.h>
#include <sys/random.h>

#include "glove-error.h"
#include "glove-secret.h"

gboolean
glove_random_bytes (void *buffer, gsize length, GError **error)
{
  guint8 *bytes = buffer;
  gsize done = 0;

  g_return_val_if_fail (buffer != NULL || length == 0, FALSE);

  while (done < length)
    {
      ssize_t n = getrandom (bytes + done, length - done, 0);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          glove_error_set_errno (error, n < 0 ? errno : EIO, "can't get random bytes from the kernel");
          return FALSE;
        }
      done += (gsize) n;
    }
  return TRUE;
}

char *
glove_random_hex (gsize bytes, GError **error)
{
  static const char digits[] = "0123456789abcdef";
  guint8 raw[64];
  g_autoptr (GString) hex = g_string_sized_new (bytes * 2);

  while (bytes > 0)
    {
      gsize part = MIN (bytes, sizeof raw);

      if (!glove_random_bytes (raw, part, error))
        return NULL;
      for (gsize i = 0; i < part; i++)
        {
          g_string_append_c (hex, digits[raw[i] >> 4]);
          g_string_append_c (hex, digits[raw[i] & 15]);
        }
      bytes -= part;
    }
  glove_secret_wipe (raw, sizeof raw);
  return g_string_free (g_steal_pointer (&hex), FALSE);
}
