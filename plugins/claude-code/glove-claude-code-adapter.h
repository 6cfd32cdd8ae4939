/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_CLAUDE_CODE_ADAPTER (glove_claude_code_adapter_get_type ())
G_DECLARE_FINAL_TYPE (GloveClaudeCodeAdapter, glove_claude_code_adapter, GLOVE, CLAUDE_CODE_ADAPTER, GObject)

G_END_DECLS
