/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-output-budget.h"

struct _GloveOutputBudget
{
  gatomicrefcount ref_count;
  GMutex lock;
  guint64 limit;
  guint64 bytes;
  gboolean announced;
  GMainContext *context;
  GloveOutputBudgetFunc exceeded; /* context's thread only; NULL once closed */
  gpointer user_data;
};

GloveOutputBudget *
glove_output_budget_new (guint64 limit, GloveOutputBudgetFunc exceeded, gpointer user_data)
{
  GloveOutputBudget *self = g_new0 (GloveOutputBudget, 1);

  g_atomic_ref_count_init (&self->ref_count);
  g_mutex_init (&self->lock);
  self->limit = limit;
  self->context = g_main_context_ref_thread_default ();
  self->exceeded = exceeded;
  self->user_data = user_data;
  return self;
}

GloveOutputBudget *
glove_output_budget_ref (GloveOutputBudget *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
glove_output_budget_unref (GloveOutputBudget *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_main_context_unref (self->context);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static gboolean
announce (gpointer user_data)
{
  GloveOutputBudget *self = user_data;

  if (self->exceeded != NULL)
    self->exceeded (self->user_data);
  return G_SOURCE_REMOVE;
}

gsize
glove_output_budget_take (GloveOutputBudget *self, gsize length)
{
  gboolean tell = FALSE;
  gsize granted = length;

  g_mutex_lock (&self->lock);
  if (self->limit != 0 && length > self->limit - self->bytes)
    {
      granted = self->limit - self->bytes;
      tell = !self->announced;
      self->announced = TRUE;
    }
  self->bytes += granted;
  g_mutex_unlock (&self->lock);

  if (tell)
    g_main_context_invoke_full (self->context, G_PRIORITY_HIGH, announce, glove_output_budget_ref (self),
                                (GDestroyNotify) glove_output_budget_unref);
  return granted;
}

guint64
glove_output_budget_get_bytes (GloveOutputBudget *self)
{
  guint64 bytes;

  g_mutex_lock (&self->lock);
  bytes = self->bytes;
  g_mutex_unlock (&self->lock);
  return bytes;
}

void
glove_output_budget_close (GloveOutputBudget *self)
{
  self->exceeded = NULL;
}
