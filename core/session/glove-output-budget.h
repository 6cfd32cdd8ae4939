/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The bytes of every output stream of a session, counted as they are read, and what happens when they are too many. */
typedef struct _GloveOutputBudget GloveOutputBudget;

typedef void (*GloveOutputBudgetFunc) (gpointer user_data);

/* @limit 0: only counted. @exceeded is called once, in the main context that is the caller's thread default now. */
GloveOutputBudget *glove_output_budget_new (guint64 limit, GloveOutputBudgetFunc exceeded, gpointer user_data);
GloveOutputBudget *glove_output_budget_ref (GloveOutputBudget *self);
void glove_output_budget_unref (GloveOutputBudget *self);
/* How many of the next @length bytes may still go out. Any thread. */
gsize glove_output_budget_take (GloveOutputBudget *self, gsize length);
guint64 glove_output_budget_get_bytes (GloveOutputBudget *self);
/* @exceeded is not called afterwards. Main thread. */
void glove_output_budget_close (GloveOutputBudget *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GloveOutputBudget, glove_output_budget_unref)

G_END_DECLS
