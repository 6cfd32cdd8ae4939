/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

#include "glove-launch-protocol.h"

G_BEGIN_DECLS

/* What is known when a sandbox has ended. */
typedef struct {
  gboolean counted;           /* @message is the launcher's ENDED */
  GloveLaunchMessage message;
  gboolean forced;            /* glove_sandbox_stop () */
  GloveTermination forced_cause;
  gboolean ended_before_force;
  gint64 started_us, finished_us; /* monotonic; 0: never */
} GloveLinuxEnd;

/* Causes in the order of contracts §10. */
void glove_linux_outcome_init (GloveOutcome *self, const GloveLinuxEnd *end);
/* From ENDED or USAGE_REPLY. */
void glove_linux_outcome_read_usage (GloveUsage *self, const GloveLaunchMessage *message, gint64 started_us, gint64 now_us);
/* The earliest moment at which @left_us of processor time can be spent: on every processor that the limits grant. */
guint glove_linux_outcome_get_budget_delay_ms (guint64 left_us, const GloveLimits *limits, guint n_processors);

G_END_DECLS
