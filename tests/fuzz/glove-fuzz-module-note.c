/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "glove-error.h"
#include "glove-module-needs.h"
#include "glove-module-note.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* A module of any bytes. They are copied to a block of exactly their size, so that a read past the end is seen. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree guint8 *copy = g_memdup2 (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) needs_error = NULL;
  GloveModuleNote note;

  memset (&note, 0x5a, sizeof note);
  if (glove_module_note_read (copy, size, &note, &error))
    {
      if (error != NULL || note.name[0] == '\0' || memchr (note.name, '\0', sizeof note.name) == NULL)
        abort ();
    }
  else if (error == NULL || error->domain != GLOVE_ERROR || glove_error_get_hint (error) == NULL
           || note.name[0] != 0x5a)
    abort ();

  if (!glove_module_needs_check (copy, size, &needs_error)
      && (needs_error == NULL || needs_error->domain != GLOVE_ERROR || glove_error_get_hint (needs_error) == NULL))
    abort ();

  return 0;
}
