/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-audit-log.h"
#include "glove-catalog.h"

G_BEGIN_DECLS

/* Where a foreground run's audit trail goes. */
typedef struct {
  GloveAuditLog *log;
  char *path;      /* for the banner */
  int run_folder;  /* the run's locked folder, or -1 with --audit */
} GloveCliAudit;

/* A log that nothing is recorded in yet. */
void glove_cli_audit_init (GloveCliAudit *self, const char *session_id);
/* Opens its file. @file (nullable): --audit, which must lie outside of @grants; NULL: a new folder of the run. */
gboolean glove_cli_audit_open (GloveCliAudit *self, GloveCatalog *catalog, const char *session_id, const char *file,
                               const GPtrArray *grants, GError **error);
void glove_cli_audit_clear (GloveCliAudit *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GloveCliAudit, glove_cli_audit_clear)

G_END_DECLS
