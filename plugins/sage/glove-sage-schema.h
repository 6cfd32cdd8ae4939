/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_SAGE_SCHEMA (glove_sage_schema_get_type ())
G_DECLARE_FINAL_TYPE (GloveSageSchema, glove_sage_schema, GLOVE, SAGE_SCHEMA, GObject)

G_END_DECLS
