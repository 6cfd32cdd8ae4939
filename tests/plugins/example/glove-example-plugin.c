/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glove/glove-plugin.h>

#include "glove-example-adapter.h"
#include "glove-example-schema.h"
#include "glove-example-sink.h"

/* doc: version */
#if !GLOVE_CHECK_VERSION(0, 1, 0)
#error "needs Glove 0.1.0 or newer"
#endif
/* doc: end */

/* doc: register */
GLOVE_DEFINE_PLUGIN ("example", "1.0", "LGPL-2.1-or-later", "glove-example",
                     { "runtime:example", glove_example_adapter_get_type },
                     { "schema:example.note.v1", glove_example_schema_get_type },
                     { "sink:example", glove_example_sink_get_type });
/* doc: end */
