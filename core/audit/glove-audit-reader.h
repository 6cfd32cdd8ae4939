/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-audit-event.h"

G_BEGIN_DECLS

/* Reads a JSONL audit file strictly, line by line. */
typedef enum {
  GLOVE_AUDIT_READER_INTACT,
  GLOVE_AUDIT_READER_TORN,     /* the last line has no newline: what a power failure leaves */
  GLOVE_AUDIT_READER_TAMPERED, /* a hash, sequence or link is wrong */
} GloveAuditReaderState;

/* Element type GloveAuditEvent, transfer full. @ret_state tells whether the chain holds; @ret_fault says where not (or NULL). Bounded by
 * GLOVE_AUDIT_FILE_MAX. */
GPtrArray *glove_audit_reader_read (int fd, GloveAuditReaderState *ret_state, char **ret_fault, GError **error);

G_END_DECLS
