/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-codex-adapter.h"

GLOVE_DEFINE_PLUGIN ("codex", PLUGIN_VERSION, "LGPL-2.1-or-later", NULL,
                     { "runtime:codex", glove_codex_adapter_get_type });
