/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glove/glove-plugin.h>

#include "glove-linux-backend.h"

GLOVE_DEFINE_PLUGIN ("linux", "0.1.0", "LGPL-2.1-or-later", NULL, { "backend:linux", glove_linux_backend_get_type });
