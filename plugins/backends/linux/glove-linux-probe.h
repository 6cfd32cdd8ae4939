/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

/* Prerequisite by prerequisite (element type GloveProbeResult, transfer full), and one real launch of /bin/true at the end, whose
 * verdict is the one that counts. */
GPtrArray *glove_linux_probe_run (GloveSandboxBackend *backend, const char *launcher, GCancellable *cancellable,
                                  GError **error);

G_END_DECLS
