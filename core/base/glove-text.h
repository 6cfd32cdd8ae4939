/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/* Bytes from a guest, a workspace or a peer, made safe to show: C0/C1 controls, DEL, bidirectional and zero-width
 * characters, backslashes and bytes that are not UTF-8 become \xNN or \u{N}. Everything else stays. @length -1: to the NUL. */
GLOVE_PRIVATE_API char *glove_text_escape (const char *bytes, gssize length);
/* "64M", "1G", "4096" → bytes. Suffixes K M G T are powers of 1024. Digits only; 0, signs, spaces and anything past 2^63 - 1
 * are refused. */
GLOVE_PRIVATE_API gboolean glove_text_parse_size (const char *text, guint64 *ret_bytes, GError **error);
/* "90s", "5m", "2h", "250ms", "90" (seconds) → milliseconds; the same refusals. */
GLOVE_PRIVATE_API gboolean glove_text_parse_duration (const char *text, guint64 *ret_ms, GError **error);
/* "1.5 GiB", "512 KiB", "4095 bytes": for people. */
GLOVE_PRIVATE_API char *glove_text_format_size (guint64 bytes);

G_END_DECLS
