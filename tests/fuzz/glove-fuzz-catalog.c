/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "glove-bounds.h"
#include "glove-catalog-entry.h"
#include "glove-error.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* A catalog file of any bytes: an entry that keeps every promise of its header, or an error that names the file. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GloveCatalogEntry) entry
      = glove_catalog_entry_parse ("fuzz.conf", (const char *) data, size, (size & 1) != 0, &error);

  if (entry == NULL)
    {
      if (error == NULL || error->domain != GLOVE_ERROR || !g_str_has_prefix (error->message, "fuzz.conf:")
          || glove_error_get_hint (error) == NULL)
        abort ();
      return 0;
    }

  if (error != NULL || entry->name == NULL || strlen (entry->name) >= 64)
    abort ();
  if (entry->enabled
      && (entry->library == NULL || strchr (entry->library, '/') != NULL || entry->abi == 0 || entry->provides == NULL
          || entry->provides[0] == NULL || g_strv_length (entry->provides) > GLOVE_CATALOG_PROVIDES_MAX))
    abort ();
  if (entry->sha256 != NULL && strlen (entry->sha256) != 64)
    abort ();
  if (entry->settings != NULL && g_hash_table_size (entry->settings) > GLOVE_CATALOG_SETTINGS_MAX)
    abort ();

  return 0;
}
