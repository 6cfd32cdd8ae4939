/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

#define GLOVE_TYPE_JSONL_SINK (glove_jsonl_sink_get_type ())
G_DECLARE_FINAL_TYPE (GloveJsonlSink, glove_jsonl_sink, GLOVE, JSONL_SINK, GObject)

/* The durable sink of contracts §4: a file of one chained JSON object a line. */

/* Bytes of one line with its newline, and of the whole file. */
#define GLOVE_JSONL_SINK_LINE_MAX (64 * 1024)
#define GLOVE_JSONL_SINK_FILE_MAX (256 * 1024 * 1024)

G_END_DECLS
