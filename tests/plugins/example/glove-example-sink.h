/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_EXAMPLE_SINK (glove_example_sink_get_type ())
G_DECLARE_FINAL_TYPE (GloveExampleSink, glove_example_sink, GLOVE, EXAMPLE_SINK, GObject)

G_END_DECLS
