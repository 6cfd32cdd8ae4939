/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "glove-audit-log.h"

G_BEGIN_DECLS

/* Tests only: at a hundred events a second the real ones would take a quarter of an hour to reach. */
void glove_audit_log_set_limits (GloveAuditLog *self, guint64 total_max, guint64 budget_max);

G_END_DECLS
