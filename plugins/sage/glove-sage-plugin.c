/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-sage-schema.h"

GLOVE_DEFINE_PLUGIN ("sage", PLUGIN_VERSION, "LGPL-2.1-or-later", NULL,
                     { "schema:sage.glove-observation.v1", glove_sage_schema_get_type });
