/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glib-object.h>

#include "glove-nowhere.h"

/* How it is. */
typedef enum {
  GLOVE_MOOD_CALM,
  GLOVE_MOOD_CROSS,
} GloveMood;

#define GLOVE_TYPE_THING (glove_thing_get_type ())
G_DECLARE_FINAL_TYPE (GloveThing, glove_thing, GLOVE, THING, GObject)

const char *glove_mood_get_name (GloveMood mood);
gboolean glove_thing_check (GloveThing *self, GError **error);
