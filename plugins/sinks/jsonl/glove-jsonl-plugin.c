/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glove/glove-plugin.h>

#include "glove-jsonl-sink.h"

GLOVE_DEFINE_PLUGIN ("jsonl", "1.0", "LGPL-2.1-or-later", NULL, { "sink:jsonl", glove_jsonl_sink_get_type });
