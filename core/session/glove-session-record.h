/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-audit-event.h"
#include "glove-git-review.h"
#include "glove-launch-spec.h"
#include "glove-outcome.h"
#include "glove-sandbox-backend.h"

G_BEGIN_DECLS

/* What a session writes into the audit trail: what was enforced at the start, and how it ended. */

/* @error (nullable): why it did not start. */
GloveAuditEvent *glove_session_record_launch (GloveSandboxBackend *backend, const GloveLaunchSpec *spec,
                                              const GError *error);
GloveAuditEvent *glove_session_record_exit (const GloveLaunchSpec *spec, const GloveOutcome *outcome);
/* The denial of a limit that ended the session or refused something, or NULL when none did. */
GloveAuditEvent *glove_session_record_limit (const GloveLaunchSpec *spec, const GloveOutcome *outcome);
/* The denial of what the agent did to a protected repository. */
GloveAuditEvent *glove_session_record_git (const GloveLaunchSpec *spec, const GloveGitRefusal *refusal);
/* The limit behind @cause, or GLOVE_N_LIMITS. */
GloveLimit glove_session_record_limit_of_cause (GloveTermination cause);

G_END_DECLS
