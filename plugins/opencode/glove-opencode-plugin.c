/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-opencode-adapter.h"

GLOVE_DEFINE_PLUGIN ("opencode", PLUGIN_VERSION, "LGPL-2.1-or-later", NULL,
                     { "runtime:opencode", glove_opencode_adapter_get_type });
