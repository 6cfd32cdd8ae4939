/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/* An absolute instant of the monotonic clock, in microseconds; G_MAXINT64 is never. */
typedef gint64 GloveDeadline;

GLOVE_PRIVATE_API GloveDeadline glove_deadline_in_ms (guint64 ms);
/* For poll (2): milliseconds left, rounded up; 0 when passed; -1 for never. */
GLOVE_PRIVATE_API int glove_deadline_remaining_ms (GloveDeadline deadline);

G_END_DECLS
