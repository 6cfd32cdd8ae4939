/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_COPILOT_ADAPTER (glove_copilot_adapter_get_type ())
G_DECLARE_FINAL_TYPE (GloveCopilotAdapter, glove_copilot_adapter, GLOVE, COPILOT_ADAPTER, GObject)

G_END_DECLS
