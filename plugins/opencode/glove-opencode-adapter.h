/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_OPENCODE_ADAPTER (glove_opencode_adapter_get_type ())
G_DECLARE_FINAL_TYPE (GloveOpencodeAdapter, glove_opencode_adapter, GLOVE, OPENCODE_ADAPTER, GObject)

G_END_DECLS
