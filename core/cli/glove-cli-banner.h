/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-cli-network.h"
#include "glove-launch-spec.h"
#include "glove-sandbox-backend.h"

G_BEGIN_DECLS

/* What the agent is granted, on standard error before it starts: files, network, limits and which of them nothing enforces here.
 * @notes: (element-type utf8). */
void glove_cli_banner_print (GloveSandboxBackend *backend, const GloveLaunchSpec *spec, const GloveCliNetwork *network,
                             const GPtrArray *notes, const char *audit_path);

G_END_DECLS
