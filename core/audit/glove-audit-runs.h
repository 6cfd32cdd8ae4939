/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The folders $XDG_STATE_HOME/glove/runs/<id>/ of foreground runs, each with its audit.jsonl (architecture rule 9). */

/* Makes the folder (0700) of a new run, removes the oldest past GLOVE_AUDIT_RUNS_KEPT that no live process holds (flock on the
 * folder), and returns an owned directory descriptor, locked. @state_home NULL: XDG_STATE_HOME or ~/.local/state.
 * @ret_path: (out) (optional): for messages. */
int glove_audit_runs_create (const char *state_home, const char *run_id, char **ret_path, GError **error);
/* Path of the newest run's audit file; GLOVE_ERROR_NOT_FOUND when there is none. */
char *glove_audit_runs_find_last (const char *state_home, GError **error);

/* The folder that holds the runs; it need not exist. */
char *glove_audit_runs_dup_folder (const char *state_home);

G_END_DECLS
