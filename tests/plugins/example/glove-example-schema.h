/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_EXAMPLE_SCHEMA (glove_example_schema_get_type ())
G_DECLARE_FINAL_TYPE (GloveExampleSchema, glove_example_schema, GLOVE, EXAMPLE_SCHEMA, GObject)

G_END_DECLS
