/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/* The identifier grammar of contracts §0. None accepts NULL. */
GLOVE_PRIVATE_API gboolean glove_identifier_is_id128 (const char *text);
GLOVE_PRIVATE_API gboolean glove_identifier_is_session (const char *text);
GLOVE_PRIVATE_API gboolean glove_identifier_is_runtime (const char *text); /* [a-z][a-z0-9-]{0,63} */
GLOVE_PRIVATE_API gboolean glove_identifier_is_alias (const char *text);
GLOVE_PRIVATE_API gboolean glove_identifier_is_hex64 (const char *text);
GLOVE_PRIVATE_API gboolean glove_identifier_is_env_name (const char *text);

G_END_DECLS
