/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_CODEX_ADAPTER (glove_codex_adapter_get_type ())
G_DECLARE_FINAL_TYPE (GloveCodexAdapter, glove_codex_adapter, GLOVE, CODEX_ADAPTER, GObject)

G_END_DECLS
