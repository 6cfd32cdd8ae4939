/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "glove-sandbox.h"

G_BEGIN_DECLS

/* Whose sandbox this is: the name that stands in front of its errors. */
G_GNUC_INTERNAL void glove_sandbox_set_backend_id (GloveSandbox *self, const char *backend_id);

G_END_DECLS
