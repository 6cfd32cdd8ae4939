/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_EXAMPLE_ADAPTER (glove_example_adapter_get_type ())
G_DECLARE_FINAL_TYPE (GloveExampleAdapter, glove_example_adapter, GLOVE, EXAMPLE_ADAPTER, GObject)

G_END_DECLS
