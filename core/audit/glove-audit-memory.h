/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "glove-audit-sink.h"

G_BEGIN_DECLS

#define GLOVE_TYPE_AUDIT_MEMORY (glove_audit_memory_get_type ())
G_DECLARE_FINAL_TYPE (GloveAuditMemory, glove_audit_memory, GLOVE, AUDIT_MEMORY, GObject)

/* The memory sink: keeps events until they are taken. Thread safe. */
GloveAuditMemory *glove_audit_memory_new (void);
/* Element type GloveAuditEvent, transfer full; the sink is empty afterwards. */
GPtrArray *glove_audit_memory_take (GloveAuditMemory *self);

G_END_DECLS
