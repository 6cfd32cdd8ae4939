/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-claude-code-adapter.h"

GLOVE_DEFINE_PLUGIN ("claude-code", PLUGIN_VERSION, "LGPL-2.1-or-later", NULL,
                     { "runtime:claude-code", glove_claude_code_adapter_get_type });
