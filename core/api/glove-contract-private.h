/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What every wrapper of a plugin's slot does after the call (architecture §3): failed ⇔ error set, domain GLOVE_ERROR, the
 * plugin's name in front. @inner is what the slot was given to set, and is taken. Returns TRUE when the slot succeeded and kept the
 * contract; otherwise sets @error, and the caller drops whatever the slot returned. */
G_GNUC_INTERNAL gboolean glove_contract_check (gboolean succeeded, const char *plugin, const char *slot, GError *inner,
                                               GError **error);
/* The plugin does not have the slot. */
G_GNUC_INTERNAL void glove_contract_set_missing (const char *plugin, const char *slot, GError **error);

G_END_DECLS
