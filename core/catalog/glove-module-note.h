/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-plugin-descriptor.h"

G_BEGIN_DECLS

/* What the bytes of a module say about it: read without running or mapping any of it. */
typedef struct {
  guint32 abi;
  char name[GLOVE_PLUGIN_NOTE_NAME_MAX];
} GloveModuleNote;

gboolean glove_module_note_read (const guint8 *data, gsize length, GloveModuleNote *ret_note, GError **error);

G_END_DECLS
