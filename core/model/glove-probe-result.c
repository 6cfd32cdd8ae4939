/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-probe-result.h"

G_DEFINE_BOXED_TYPE (GloveProbeResult, glove_probe_result, glove_probe_result_copy, glove_probe_result_free)

/**
 * glove_probe_result_new: (constructor)
 * @code: stable name
 * @status: what was found
 * @message: the same in words
 * @repair: (nullable): what to do about it
 *
 * Returns: (transfer full): a result
 *
 * Since: 1.0
 */
GloveProbeResult *
glove_probe_result_new (const char *code, GloveProbeStatus status, const char *message, const char *repair)
{
  GloveProbeResult *self;

  g_return_val_if_fail (code != NULL && message != NULL, NULL);
  g_return_val_if_fail (glove_probe_status_get_name (status) != NULL, NULL);

  self = g_new0 (GloveProbeResult, 1);
  self->code = g_strdup (code);
  self->status = status;
  self->message = g_strdup (message);
  self->repair = g_strdup (repair != NULL ? repair : "");
  return self;
}

/**
 * glove_probe_result_copy:
 * @self: a result
 *
 * Returns: (transfer full): another one like it
 *
 * Since: 1.0
 */
GloveProbeResult *
glove_probe_result_copy (const GloveProbeResult *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return glove_probe_result_new (self->code, self->status, self->message, self->repair);
}

/**
 * glove_probe_result_free:
 * @self: (transfer full) (nullable): a result
 *
 * Since: 1.0
 */
void
glove_probe_result_free (GloveProbeResult *self)
{
  if (self == NULL)
    return;
  g_free (self->code);
  g_free (self->message);
  g_free (self->repair);
  g_free (self);
}

/**
 * glove_probe_status_get_name:
 * @status: a status
 *
 * Returns: (transfer none) (nullable): "ok", "degraded", "missing" or "unknown", constant; %NULL for a number that is no status
 *
 * Since: 1.0
 */
const char *
glove_probe_status_get_name (GloveProbeStatus status)
{
  static const char *const names[] = {
    [GLOVE_PROBE_OK] = "ok",
    [GLOVE_PROBE_DEGRADED] = "degraded",
    [GLOVE_PROBE_MISSING] = "missing",
    [GLOVE_PROBE_UNKNOWN] = "unknown",
  };

  return (guint) status < G_N_ELEMENTS (names) ? names[status] : NULL;
}
