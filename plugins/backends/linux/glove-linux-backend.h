/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_LINUX_TYPE_BACKEND (glove_linux_backend_get_type ())
G_DECLARE_FINAL_TYPE (GloveLinuxBackend, glove_linux_backend, GLOVE_LINUX, BACKEND, GObject)

/* Settings: `launcher`, the absolute path of glove-launch. */

G_END_DECLS
