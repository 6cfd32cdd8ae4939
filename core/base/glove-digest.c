/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-digest.h"

#include <string.h>

struct _GloveDigest {
  GChecksum *checksum;
};

GloveDigest *
glove_digest_new (void)
{
  GloveDigest *self = g_new0 (GloveDigest, 1);

  self->checksum = g_checksum_new (G_CHECKSUM_SHA256);
  return self;
}

void
glove_digest_free (GloveDigest *self)
{
  if (self == NULL)
    return;
  g_checksum_free (self->checksum);
  g_free (self);
}

void
glove_digest_add_raw (GloveDigest *self, const void *data, gsize length)
{
  const guint8 *bytes = data;

  g_return_if_fail (self != NULL);
  g_return_if_fail (data != NULL || length == 0);

  while (length > 0)
    {
      gsize part = MIN (length, (gsize) G_MAXSSIZE);

      g_checksum_update (self->checksum, bytes, (gssize) part);
      bytes += part;
      length -= part;
    }
}

void
glove_digest_add_u8 (GloveDigest *self, guint8 value)
{
  glove_digest_add_raw (self, &value, sizeof value);
}

void
glove_digest_add_u32 (GloveDigest *self, guint32 value)
{
  guint32 big_endian = GUINT32_TO_BE (value);

  glove_digest_add_raw (self, &big_endian, sizeof big_endian);
}

void
glove_digest_add_u64 (GloveDigest *self, guint64 value)
{
  guint64 big_endian = GUINT64_TO_BE (value);

  glove_digest_add_raw (self, &big_endian, sizeof big_endian);
}

void
glove_digest_add_string (GloveDigest *self, const char *string)
{
  g_return_if_fail (string != NULL);

  glove_digest_add_string_len (self, string, strlen (string));
}

void
glove_digest_add_string_len (GloveDigest *self, const char *string, gsize length)
{
  g_return_if_fail (length <= G_MAXUINT32);

  glove_digest_add_u32 (self, (guint32) length);
  glove_digest_add_raw (self, string, length);
}

void
glove_digest_add_strv (GloveDigest *self, const char *const *strings)
{
  guint n = strings != NULL ? g_strv_length ((char **) strings) : 0;

  glove_digest_add_u32 (self, n);
  for (guint i = 0; i < n; i++)
    glove_digest_add_string (self, strings[i]);
}

char *
glove_digest_finish (GloveDigest *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_strdup (g_checksum_get_string (self->checksum));
}

char *
glove_digest_of_data (const void *data, gsize length)
{
  g_autoptr (GloveDigest) digest = glove_digest_new ();

  glove_digest_add_raw (digest, data, length);
  return glove_digest_finish (digest);
}
