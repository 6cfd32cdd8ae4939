/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-context.h"

#include <string.h>
#include <sys/socket.h>

#include "glove-bounds.h"
#include "glove-egress-relay.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-random.h"
#include "glove-secret.h"
#include "glove-text.h"

#define SECRET_BYTES 24

static GPtrArray *
copy_endpoints (GPtrArray *endpoints)
{
  GPtrArray *copies = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_endpoint_free);

  for (guint i = 0; endpoints != NULL && i < endpoints->len; i++)
    g_ptr_array_add (copies, glove_endpoint_copy (g_ptr_array_index (endpoints, i)));
  return copies;
}

static gboolean
check_count (GPtrArray *endpoints, guint max, const char *what, GError **error)
{
  if (endpoints == NULL || endpoints->len <= max)
    return TRUE;
  glove_error_set (error, GLOVE_ERROR_LIMIT, "%u %s are more than %u", endpoints->len, what, max);
  glove_error_set_hint (error, "name fewer; a rule that starts with a dot stands for every name below it");
  return FALSE;
}

GloveEgressContext *
glove_egress_context_new (const char *session_id, const char *policy_id, GPtrArray *allow, GPtrArray *forwards,
                          GloveAuditLog *audit, GError **error)
{
  GloveEgressContext *self = NULL;
  char *secret = NULL;
  char *pair = NULL;

  if (!check_count (allow, GLOVE_EGRESS_RULES_MAX, "network rules", error)
      || !check_count (forwards, GLOVE_LISTENERS_MAX - 1, "forwards", error))
    return NULL;
  secret = glove_random_hex (SECRET_BYTES, error);
  if (secret == NULL)
    return NULL;

  self = g_new0 (GloveEgressContext, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->session_id = g_strdup (session_id);
  self->policy_id = g_strdup (policy_id);
  self->allow = copy_endpoints (allow);
  self->forwards = copy_endpoints (forwards);
  self->audit = g_object_ref (audit);
  self->secret = secret;
  pair = g_strconcat ("glove:", secret, NULL);
  self->credential = g_base64_encode ((const guchar *) pair, strlen (pair));
  glove_secret_free (pair);
  self->handshake_ms = GLOVE_EGRESS_HANDSHAKE_SECONDS * 1000;
  self->connect_ms = GLOVE_EGRESS_CONNECT_SECONDS * 1000;
  self->resolver = glove_egress_resolver_new (NULL, NULL);
  self->pipes = glove_egress_pipes_new ();
  self->scratch = g_malloc (GLOVE_EGRESS_RELAY_SCRATCH);
  g_mutex_init (&self->lock);
  self->connections = g_ptr_array_new ();
  self->guests = g_array_new (FALSE, FALSE, sizeof (int));
  return self;
}

GloveEgressContext *
glove_egress_context_ref (GloveEgressContext *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
glove_egress_context_unref (GloveEgressContext *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_free (self->session_id);
  g_free (self->policy_id);
  g_ptr_array_unref (self->allow);
  g_ptr_array_unref (self->forwards);
  glove_secret_free (self->secret);
  glove_secret_free (self->credential);
  g_object_unref (self->audit);
  glove_egress_resolver_unref (self->resolver);
  if (self->loop != NULL)
    glove_egress_loop_unref (self->loop);
  glove_egress_pipes_free (self->pipes);
  g_free (self->scratch);
  g_mutex_clear (&self->lock);
  g_array_unref (self->guests);
  g_ptr_array_unref (self->connections);
  g_free (self);
}

gboolean
glove_egress_context_take_place (GloveEgressContext *self)
{
  gboolean taken = FALSE;

  g_mutex_lock (&self->lock);
  taken = self->n_places < GLOVE_EGRESS_CONNECTIONS_MAX;
  if (taken)
    self->n_places++;
  g_mutex_unlock (&self->lock);
  return taken;
}

void
glove_egress_context_leave_place (GloveEgressContext *self)
{
  g_mutex_lock (&self->lock);
  self->n_places--;
  g_mutex_unlock (&self->lock);
}

void
glove_egress_context_add_guest (GloveEgressContext *self, int fd)
{
  g_mutex_lock (&self->lock);
  g_array_append_val (self->guests, fd);
  g_mutex_unlock (&self->lock);
}

void
glove_egress_context_remove_guest (GloveEgressContext *self, int fd)
{
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->guests->len; i++)
    if (g_array_index (self->guests, int, i) == fd)
      {
        g_array_remove_index_fast (self->guests, i);
        break;
      }
  g_mutex_unlock (&self->lock);
}

void
glove_egress_context_shut_guests (GloveEgressContext *self)
{
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->guests->len; i++)
    (void) shutdown (g_array_index (self->guests, int, i), SHUT_RDWR);
  g_mutex_unlock (&self->lock);
}

GloveEgressReason
glove_egress_context_check_credential (const GloveEgressContext *self, const char *credential)
{
  if (credential == NULL)
    return GLOVE_EGRESS_REASON_CREDENTIAL_MISSING;
  if (!glove_secret_equal (credential, strlen (credential), self->credential, strlen (self->credential)))
    return GLOVE_EGRESS_REASON_CREDENTIAL_WRONG;
  return GLOVE_EGRESS_REASON_NONE;
}

GloveAuditEvent *
glove_egress_context_make_event (const GloveEgressContext *self, GloveEgressReason reason, const char *host, guint16 port,
                                 const char *detail, const char *option)
{
  g_autofree char *escaped = glove_text_escape (host == NULL ? "" : host, -1);
  const GloveEndpoint place = { .host = escaped, .port = port };
  g_autofree char *endpoint = host == NULL ? g_strdup (":0") : glove_endpoint_to_string (&place);
  g_autofree char *tool = g_strdup_printf ("%s:%s:%s", self->session_id, self->policy_id, endpoint);
  gboolean denied = glove_egress_reason_is_denial (reason);
  /* A request without a credential is not refused for its destination and is usually repeated with one; the network's own
   * failures do not make an allowed destination a denied one. */
  gboolean ok = !denied && reason != GLOVE_EGRESS_REASON_CREDENTIAL_MISSING;
  GloveAuditEvent *event = glove_audit_event_new (
      GLOVE_AUDIT_ACTION_EGRESS, ok ? GLOVE_AUDIT_STATUS_OK : GLOVE_AUDIT_STATUS_INVALID_ARGUMENTS, self->session_id, tool);

  if (reason != GLOVE_EGRESS_REASON_NONE)
    glove_audit_event_set_error (event, detail == NULL ? glove_egress_reason_get_text (reason) : detail);
  if (denied)
    {
      g_autofree char *own = option == NULL ? glove_egress_reason_dup_option (reason, host, port) : g_strdup (option);

      glove_audit_event_set_verdict (event, "network", glove_egress_reason_get_code (reason), own == NULL ? "" : own);
    }
  else
    glove_audit_event_set_verdict (event, "network", "", "");
  return event;
}
