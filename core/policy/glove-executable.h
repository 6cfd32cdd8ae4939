/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Finding an agent's executable (contracts §6.4): never by the inherited PATH. */

/* An operator's explicit path: resolved, must be a regular executable file. Returns the absolute, link-free path; @ret_argv0 (optional):
 * the absolute path as typed, for the agent's argv[0]. */
char *glove_executable_resolve (const char *path, char **ret_argv0, GError **error);
/* Looks for @name in each of @search_paths (absolute). A directory, or an ancestor of it, that is not owned by root or us, or is
 * writable by others (unless root's and sticky), is an error that names it. Returns the path where it was found, links not followed. */
char *glove_executable_search (const char *name, const char *const *search_paths, GError **error);
/* What has to be granted for reading so that the program at @path runs: the installation around the resolved file or the outermost
 * "node_modules" of its path, else its own folder, else the file alone; never something restricted. NULL without an error when it
 * lies in /usr. */
char *glove_executable_dup_tree (const char *path, GError **error);

G_END_DECLS
