/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "glove-catalog.h"

G_BEGIN_DECLS

/* The catalog that a command works with: the installed one, or @directory (nullable) of --catalog. */
GloveCatalog *glove_cli_catalog_new (const char *directory);

G_END_DECLS
