/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-copilot-adapter.h"

GLOVE_DEFINE_PLUGIN ("copilot", PLUGIN_VERSION, "LGPL-2.1-or-later", NULL,
                     { "runtime:copilot", glove_copilot_adapter_get_type });
