/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/**
 * GloveChannelBounds:
 *
 * Of one guest-channel schema (contracts §2.1).
 *
 * Since: 1.0
 */
typedef struct {
  guint32 max_items;      /* 1..4096 */
  guint32 max_body_bytes; /* 1..65536 */
  guint32 max_ttl_ms;     /* 1..600000 */
  guint32 max_skew_ms;    /* 0..30000 */
} GloveChannelBounds;

GLOVE_AVAILABLE_IN_1_0 gboolean glove_channel_bounds_validate (const GloveChannelBounds *self, GError **error);

G_END_DECLS
