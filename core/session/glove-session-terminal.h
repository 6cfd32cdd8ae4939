/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-launch-spec.h"
#include "glove-output-budget.h"
#include "glove-sandbox.h"

G_BEGIN_DECLS

/* The operator's terminal while an agent has one of its own: raw mode, sizes, job control, and the way back. One at a time in a
 * process. Main thread. */
typedef struct _GloveSessionTerminal GloveSessionTerminal;

/* Whether standard input is a terminal of which we are the foreground process group. */
gboolean glove_session_terminal_is_usable (void);
/* Notes the terminal's modes, and writes its size into @spec. */
GloveSessionTerminal *glove_session_terminal_new (GloveLaunchSpec *spec, GError **error);
/* The agent runs: switches to raw mode, copies both ways, follows the size, and suspends us when the agent suspends. The modes are put
 * back by _free (), at exit, and on a signal that ends us. */
gboolean glove_session_terminal_attach (GloveSessionTerminal *self, GloveSandbox *sandbox, GloveOutputBudget *budget,
                                        GError **error);
/* The agent is gone: whether all that it wrote is shown. The main context is woken up by that. */
gboolean glove_session_terminal_is_drained (GloveSessionTerminal *self);
/* No more is waited for; puts the modes back. */
void glove_session_terminal_finish (GloveSessionTerminal *self);
void glove_session_terminal_free (GloveSessionTerminal *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveSessionTerminal, glove_session_terminal_free)

G_END_DECLS
