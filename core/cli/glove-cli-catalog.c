/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-cli-catalog.h"

GloveCatalog *
glove_cli_catalog_new (const char *directory)
{
  return directory != NULL ? glove_catalog_new_for_directory (directory) : glove_catalog_new (NULL, NULL, NULL);
}
