/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/* The one JSON reader (contracts §0): strict RFC 8259, UTF-8, no duplicate key, depth at most GLOVE_JSON_DEPTH_MAX, numbers
 * exact integers that fit gint64 (larger, fractional or exponent forms are errors). Builds json-glib's tree. Errors are
 * GLOVE_ERROR_INVALID_DATA and name the byte offset and the JSON pointer of the fault. */
GLOVE_PRIVATE_API JsonNode *glove_json_parse (const char *data, gsize length, GError **error);
/* Appends @text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD. */
GLOVE_PRIVATE_API void glove_json_append_string (GString *out, const char *text);

G_END_DECLS
