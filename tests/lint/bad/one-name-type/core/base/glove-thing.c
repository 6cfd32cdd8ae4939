/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-thing.h"

#include <glib/gi18n.h>

struct _GloveThing {
  GObject parent_instance;
};

G_DEFINE_FINAL_TYPE (GloveThing, glove_thing, G_TYPE_OBJECT)

/* Neither "// this", nor goto in a comment, nor a string that holds them counts. */
const char *
glove_mood_get_name (GloveMood mood)
{
  return mood == GLOVE_MOOD_CALM ? "calm // goto" : "cross";
}

gboolean
glove_thing_check (GloveThing *self, GError **error)
{
  if (self != NULL)
    return TRUE;
  g_print ("%s\n", _("There is no thing."));
  glove_error_set (error, GLOVE_ERROR_NOT_FOUND, "thing %s is "
                   "missing", "x");
  glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, "JSON has a hole");
  glove_error_set_hint (error, "Make one.");
  return FALSE;
}

static void
glove_thing_class_init (GloveThingClass *klass)
{
}

static void
glove_thing_init (GloveThing *self)
{
}

G_DEFINE_FINAL_TYPE (GloveOther, glove_other, G_TYPE_OBJECT)
