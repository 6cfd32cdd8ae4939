/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-launch-spec.h"
#include "glove-output-budget.h"

G_BEGIN_DECLS

/* The three standard streams of a foreground session.
 *
 * Only /dev/null is handed to the agent as it is. Everything else would let it do more than read or write: /proc/self/fd/N opens a file or
 * a pipe again, with other rights; whether a pipe blocks is the same for all who have it, and stays when the agent is gone; a terminal
 * takes ioctls. So it gets a pipe of its own, and a thread copies. */
typedef struct _GloveSessionStdio GloveSessionStdio;

/* Fills @spec's stdio for descriptors 0, 1 and 2 of this process. @terminal: a stream that is our terminal becomes -1, for the agent's own
 * terminal to stand there. @budget counts what goes out. */
GloveSessionStdio *glove_session_stdio_new (GloveLaunchSpec *spec, gboolean terminal, GloveOutputBudget *budget,
                                            GError **error);
/* The backend has its copies: ours of the agent's ends are closed, so that end of file is seen. */
void glove_session_stdio_release (GloveSessionStdio *self);
/* Once the agent is gone: whether everything it wrote has been handed on. The main context is woken up by that. */
gboolean glove_session_stdio_is_drained (GloveSessionStdio *self);
/* No more is waited for. FALSE: some of it could not be written, for another reason than that nobody reads it. */
gboolean glove_session_stdio_finish (GloveSessionStdio *self, GError **error);
void glove_session_stdio_free (GloveSessionStdio *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveSessionStdio, glove_session_stdio_free)

G_END_DECLS
