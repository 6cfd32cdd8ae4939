/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-output-budget.h"

G_BEGIN_DECLS

/* One thread that copies from one descriptor to another until end of file. The host's descriptors are never switched to
 * non-blocking: their open file description is shared with whoever started us. */
typedef struct _GloveStreamPump GloveStreamPump;

/* Takes @source and @sink on every path. @budget (nullable). The thread-default main context is woken up by the end. */
GloveStreamPump *glove_stream_pump_new (int source, int sink, GloveOutputBudget *budget, GError **error);
/* The stream has ended, and everything is written, or never will be. */
gboolean glove_stream_pump_has_ended (GloveStreamPump *self);
/* Waits until the stream has ended and everything is written. Frees it. 0, or the errno of the write that failed. */
int glove_stream_pump_join (GloveStreamPump *self);
/* Lets it go: it ends with its stream, or with the process. */
void glove_stream_pump_abandon (GloveStreamPump *self);
/* Joins it when it has ended, else lets it go: never waits. Frees it. */
int glove_stream_pump_finish (GloveStreamPump *self);

G_END_DECLS
