/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>
#include <stdio.h>

#include "glove-audit-event.h"

G_BEGIN_DECLS

/* `error[code]: text` and, where there is one, `Try: …`, on standard error. */
void glove_cli_output_error (const GError *error);
/* For a usage error: the text, and where the help is. Returns GLOVE_CLI_STATUS_USAGE. */
int glove_cli_output_usage (const char *verb, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* Whether @fd takes colour: a terminal, and neither NO_COLOR nor TERM=dumb. */
gboolean glove_cli_output_has_colour (int fd);
/* Columns are padded to their widest cell, counted in characters. @rows: of char *[columns]; borrowed. @header (nullable). */
void glove_cli_output_table (FILE *out, guint columns, const char *const *header, GPtrArray *rows);
/* What @event is about: of the network the end point alone, without the session and the policy in front. Borrowed from @event. */
const char *glove_cli_output_subject (const GloveAuditEvent *event);

G_END_DECLS
