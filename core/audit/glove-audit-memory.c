/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-audit-memory.h"

#include "glove-bounds.h"
#include "glove-error.h"

struct _GloveAuditMemory {
  GObject parent_instance;
  GMutex lock;
  GPtrArray *events; /* guarded by @lock */
};

static gboolean
record (GloveAuditSink *sink, GloveAuditEvent *const *events, gsize n_events, GError **error)
{
  GloveAuditMemory *self = GLOVE_AUDIT_MEMORY (sink);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);

  if (n_events > GLOVE_AUDIT_MEMORY_MAX - self->events->len)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "the memory sink holds its maximum of %d events",
                       GLOVE_AUDIT_MEMORY_MAX);
      return FALSE;
    }
  for (gsize i = 0; i < n_events; i++)
    g_ptr_array_add (self->events, glove_audit_event_ref (events[i]));
  return TRUE;
}

static const char *
get_sink_id (GloveAuditSink *sink)
{
  return "memory";
}

static void
glove_audit_memory_sink_init (GloveAuditSinkInterface *iface)
{
  iface->get_sink_id = get_sink_id;
  iface->record = record;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveAuditMemory, glove_audit_memory, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_AUDIT_SINK, glove_audit_memory_sink_init))

static GPtrArray *
new_events (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) glove_audit_event_unref);
}

static void
glove_audit_memory_finalize (GObject *object)
{
  GloveAuditMemory *self = GLOVE_AUDIT_MEMORY (object);

  g_ptr_array_unref (self->events);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (glove_audit_memory_parent_class)->finalize (object);
}

static void
glove_audit_memory_class_init (GloveAuditMemoryClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_audit_memory_finalize;
}

static void
glove_audit_memory_init (GloveAuditMemory *self)
{
  g_mutex_init (&self->lock);
  self->events = new_events ();
}

/**
 * glove_audit_memory_new:
 *
 * Returns: (transfer full): an empty sink, which holds at most GLOVE_AUDIT_MEMORY_MAX events; past that a record fails with
 *   %GLOVE_ERROR_LIMIT and nothing of its group is kept
 *
 * Since: 1.0
 */
GloveAuditMemory *
glove_audit_memory_new (void)
{
  return g_object_new (GLOVE_TYPE_AUDIT_MEMORY, NULL);
}

/**
 * glove_audit_memory_take:
 *
 * Drains the sink (contracts §4). Any thread.
 *
 * Returns: (transfer full) (element-type GloveAuditEvent): what was recorded, in order
 *
 * Since: 1.0
 */
GPtrArray *
glove_audit_memory_take (GloveAuditMemory *self)
{
  g_autoptr (GMutexLocker) locker = NULL;
  GPtrArray *taken = NULL;

  g_return_val_if_fail (GLOVE_IS_AUDIT_MEMORY (self), NULL);
  locker = g_mutex_locker_new (&self->lock);
  taken = g_steal_pointer (&self->events);
  self->events = new_events ();
  return taken;
}
