/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-pi-adapter.h"

GLOVE_DEFINE_PLUGIN ("pi", PLUGIN_VERSION, "LGPL-2.1-or-later", NULL,
                     { "runtime:pi", glove_pi_adapter_get_type });
