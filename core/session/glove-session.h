/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-audit-log.h"
#include "glove-egress-proxy.h"
#include "glove-launch-spec.h"
#include "glove-outcome.h"
#include "glove-sandbox-backend.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_SESSION (glove_session_get_type ())
G_DECLARE_FINAL_TYPE (GloveSession, glove_session, GLOVE, SESSION, GObject)

/* One agent, from prepare to the end (architecture §5), in the foreground: prepare → record → run. The state lives here; nothing else
 * holds any. Main thread. */

/* @egress (nullable): what the listeners of @spec feed. */
GloveSession *glove_session_new (GloveSandboxBackend *backend, GloveLaunchSpec *spec, GloveAuditLog *audit,
                                 GloveEgressProxy *egress);
/* Begins to make the sandbox, in which the agent waits. What has to be done meanwhile (opening the audit trail) goes on beside it. */
gboolean glove_session_prepare (GloveSession *self, GError **error);
/* Records the launch: the agent is let go only if every sink has it. */
gboolean glove_session_record (GloveSession *self, GError **error);
/* A launch that was refused is recorded too; the refusal counts, whether or not that works. */
void glove_session_record_refusal (GloveSession *self, const GError *reason);
/* Lets the agent go, runs the thread-default main context until it ended and everything of it is gone, and records the end. FALSE: it
 * never ran, or how it ended can't be told. With a record of the end that failed, @ret_outcome is set all the same. */
gboolean glove_session_run (GloveSession *self, GloveOutcome *ret_outcome, GError **error);
/* (element-type GloveGitRefusal): what was undone after the end; borrowed, NULL before it. */
const GPtrArray *glove_session_get_refusals (GloveSession *self);
/* Kills the agent and everything it started; the outcome says @cause. Idempotent. */
void glove_session_stop (GloveSession *self, GloveTermination cause);
/* To the agent; the operator's second request to end is a stop. */
void glove_session_signal (GloveSession *self, int signum);

G_END_DECLS
