/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-audit-sink.h"

#include "glove-contract-private.h"

G_DEFINE_INTERFACE (GloveAuditSink, glove_audit_sink, G_TYPE_OBJECT)

static gboolean
real_open (GloveAuditSink *self, int dirfd, const char *name, GError **error)
{
  return TRUE;
}

static gboolean
real_flush (GloveAuditSink *self, GError **error)
{
  return TRUE;
}

static gboolean
real_is_durable (GloveAuditSink *self)
{
  return FALSE;
}

static void
glove_audit_sink_default_init (GloveAuditSinkInterface *iface)
{
  iface->open = real_open;
  iface->flush = real_flush;
  iface->is_durable = real_is_durable;
}

/**
 * glove_audit_sink_get_sink_id:
 * @self: a sink
 *
 * Returns: (transfer none): its id; the name of its type when it gives none
 *
 * Since: 1.0
 */
const char *
glove_audit_sink_get_sink_id (GloveAuditSink *self)
{
  GloveAuditSinkInterface *iface;
  const char *id;

  g_return_val_if_fail (GLOVE_IS_AUDIT_SINK (self), NULL);

  iface = GLOVE_AUDIT_SINK_GET_IFACE (self);
  id = iface->get_sink_id != NULL ? iface->get_sink_id (self) : NULL;
  return id != NULL ? id : G_OBJECT_TYPE_NAME (self);
}

/**
 * glove_audit_sink_open:
 * @self: a sink
 * @dirfd: a directory, borrowed
 * @name: a file name in it
 * @error: return location
 *
 * Returns: %FALSE with the sink's error, its id in front
 *
 * Since: 1.0
 */
gboolean
glove_audit_sink_open (GloveAuditSink *self, int dirfd, const char *name, GError **error)
{
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_AUDIT_SINK (self), FALSE);
  g_return_val_if_fail (dirfd >= 0, FALSE);
  g_return_val_if_fail (name != NULL && name[0] != '\0', FALSE);

  ok = GLOVE_AUDIT_SINK_GET_IFACE (self)->open (self, dirfd, name, &inner);
  return glove_contract_check (ok, glove_audit_sink_get_sink_id (self), "open", inner, error);
}

/**
 * glove_audit_sink_record: (skip)
 * @self: a sink
 * @events: (array length=n_events): what happened, in order
 * @n_events: how many, at least one
 * @error: return location
 *
 * Returns: %FALSE with the sink's error, its id in front; then none of the events is recorded
 *
 * Since: 1.0
 */
gboolean
glove_audit_sink_record (GloveAuditSink *self, GloveAuditEvent *const *events, gsize n_events, GError **error)
{
  GloveAuditSinkInterface *iface;
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_AUDIT_SINK (self), FALSE);
  g_return_val_if_fail (events != NULL && n_events > 0, FALSE);

  iface = GLOVE_AUDIT_SINK_GET_IFACE (self);
  if (iface->record == NULL)
    {
      glove_contract_set_missing (glove_audit_sink_get_sink_id (self), "record", error);
      return FALSE;
    }
  ok = iface->record (self, events, n_events, &inner);
  return glove_contract_check (ok, glove_audit_sink_get_sink_id (self), "record", inner, error);
}

/**
 * glove_audit_sink_flush:
 * @self: a sink
 * @error: return location
 *
 * Returns: %FALSE with the sink's error, its id in front
 *
 * Since: 1.0
 */
gboolean
glove_audit_sink_flush (GloveAuditSink *self, GError **error)
{
  GError *inner = NULL;
  gboolean ok;

  g_return_val_if_fail (GLOVE_IS_AUDIT_SINK (self), FALSE);

  ok = GLOVE_AUDIT_SINK_GET_IFACE (self)->flush (self, &inner);
  return glove_contract_check (ok, glove_audit_sink_get_sink_id (self), "flush", inner, error);
}

/**
 * glove_audit_sink_is_durable:
 * @self: a sink
 *
 * Returns: whether a recorded event survives a power failure
 *
 * Since: 1.0
 */
gboolean
glove_audit_sink_is_durable (GloveAuditSink *self)
{
  g_return_val_if_fail (GLOVE_IS_AUDIT_SINK (self), FALSE);

  return GLOVE_AUDIT_SINK_GET_IFACE (self)->is_durable (self);
}
