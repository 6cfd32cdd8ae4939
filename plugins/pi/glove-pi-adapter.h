/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_PI_ADAPTER (glove_pi_adapter_get_type ())
G_DECLARE_FINAL_TYPE (GlovePiAdapter, glove_pi_adapter, GLOVE, PI_ADAPTER, GObject)

G_END_DECLS
