/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-session-record.h"

#include <string.h>

#include "glove-digest.h"
#include "glove-json.h"
#include "glove-text.h"

/* An event whose arguments are too long is recorded without them: what the agent was told to do, a prompt of 100 KiB, must not push out
 * what it was granted. The line that they are written in is at most twice as long as they are. */
#define TEXT_MAX 512
#define ARGV_MAX 5120
#define GRANTS_MAX 8192

/* FALSE: it was cut. */
static gboolean
append_escaped (GString *json, const char *bytes)
{
  g_autofree char *text = glove_text_escape (bytes, strnlen (bytes, TEXT_MAX));
  gboolean whole = strlen (bytes) <= TEXT_MAX;

  if (strlen (text) > TEXT_MAX)
    {
      const char *end = NULL;

      (void) g_utf8_validate (text, TEXT_MAX, &end);
      text[end - text] = '\0';
      whole = FALSE;
    }
  if (whole)
    {
      glove_json_append_string (json, text);
    }
  else
    {
      g_autofree char *cut = g_strconcat (text, "…", NULL);

      glove_json_append_string (json, cut);
    }
  return whole;
}

static void
append_grants (GString *json, const GloveLaunchSpec *spec)
{
  gsize start = json->len;
  guint i = 0;

  g_string_append (json, "\"grants\":[");
  for (; i < spec->grants->len && json->len - start < GRANTS_MAX; i++)
    {
      const GloveGrant *grant = g_ptr_array_index (spec->grants, i);

      g_string_append_printf (json, "%s{\"access\":\"%s\",\"path\":", i > 0 ? "," : "",
                              glove_grant_access_get_name (grant->access));
      (void) append_escaped (json, grant->target_path);
      g_string_append_printf (json, ",\"device\":%" G_GUINT64_FORMAT ",\"inode\":%" G_GUINT64_FORMAT "}",
                              grant->identity.dev, grant->identity.ino);
    }
  g_string_append_c (json, ']');
  if (i < spec->grants->len)
    g_string_append_printf (json, ",\"grants_omitted\":%u", spec->grants->len - i);
}

static void
append_limits (GString *json, GloveSandboxBackend *backend, const GloveLaunchSpec *spec)
{
  GloveLimitMechanism mechanisms[GLOVE_N_LIMITS];
  gboolean first = TRUE;

  glove_sandbox_backend_query_mechanisms (backend, mechanisms, NULL);
  g_string_append (json, "\"limits\":{");
  for (int limit = 0; limit < GLOVE_N_LIMITS; limit++)
    {
      if (spec->limits.value[limit] == 0)
        continue;
      g_string_append_printf (json, "%s\"%s\":{\"value\":%" G_GUINT64_FORMAT ",\"mechanism\":\"%s\"}",
                              first ? "" : ",", glove_limit_get_name (limit), spec->limits.value[limit],
                              glove_limit_mechanism_get_name (mechanisms[limit]));
      first = FALSE;
    }
  g_string_append_c (json, '}');
}

/* Of all arguments, each with the zero that ends it. */
static void
append_argv_digest (GString *json, const GloveLaunchSpec *spec)
{
  g_autoptr (GString) all = g_string_new (NULL);
  g_autofree char *digest = NULL;

  for (guint i = 0; spec->argv[i] != NULL; i++)
    g_string_append_len (all, spec->argv[i], (gssize) strlen (spec->argv[i]) + 1);
  digest = glove_digest_of_data ((const guint8 *) all->str, all->len);
  g_string_append_printf (json, ",\"argc\":%u,\"argv_sha256\":\"%s\"", g_strv_length (spec->argv), digest);
}

static void
append_argv (GString *json, const GloveLaunchSpec *spec)
{
  gsize start = json->len;
  gboolean whole = TRUE;
  guint i = 0;

  g_string_append (json, "\"argv\":[");
  for (; spec->argv[i] != NULL && json->len - start < ARGV_MAX; i++)
    {
      if (i > 0)
        g_string_append_c (json, ',');
      whole &= append_escaped (json, spec->argv[i]);
    }
  g_string_append_c (json, ']');
  if (!whole || spec->argv[i] != NULL)
    append_argv_digest (json, spec);
}

GloveAuditEvent *
glove_session_record_launch (GloveSandboxBackend *backend, const GloveLaunchSpec *spec, const GError *error)
{
  g_autoptr (GloveAuditEvent) event
      = glove_audit_event_new (GLOVE_AUDIT_ACTION_AGENT_LAUNCH,
                               error != NULL ? GLOVE_AUDIT_STATUS_EXECUTION_ERROR : GLOVE_AUDIT_STATUS_OK,
                               spec->session_id, spec->argv[0]);
  g_autoptr (GString) json = g_string_new ("{\"backend\":");

  glove_json_append_string (json, glove_sandbox_backend_get_backend_id (backend));
  g_string_append_c (json, ',');
  append_argv (json, spec);
  g_string_append_c (json, ',');
  append_grants (json, spec);
  g_string_append_c (json, ',');
  append_limits (json, backend, spec);
  g_string_append_printf (json, ",\"listeners\":%u,\"terminal\":%s,\"as_root_id\":%s}", spec->listeners->len,
                          spec->tty ? "true" : "false", spec->as_root_id ? "true" : "false");
  glove_audit_event_set_arguments (event, json->str);
  if (error != NULL)
    {
      glove_audit_event_set_error (event, error->message);
      glove_audit_event_set_verdict (event, "launch", "", "");
    }
  return g_steal_pointer (&event);
}

static void
append_usage (GString *json, const char *name, guint64 value)
{
  if (value != G_MAXUINT64)
    g_string_append_printf (json, ",\"%s\":%" G_GUINT64_FORMAT, name, value);
}

GloveAuditEvent *
glove_session_record_exit (const GloveLaunchSpec *spec, const GloveOutcome *outcome)
{
  gboolean ended_itself
      = outcome->cause == GLOVE_TERMINATION_EXITED || outcome->cause == GLOVE_TERMINATION_SIGNALED;
  g_autoptr (GloveAuditEvent) event
      = glove_audit_event_new (GLOVE_AUDIT_ACTION_AGENT_EXIT,
                               ended_itself ? GLOVE_AUDIT_STATUS_OK : GLOVE_AUDIT_STATUS_EXECUTION_ERROR,
                               spec->session_id, spec->argv[0]);
  g_autoptr (GString) json = g_string_new (NULL);

  g_string_append_printf (json, "{\"cause\":\"%s\"", glove_termination_get_name (outcome->cause));
  if (outcome->cause == GLOVE_TERMINATION_EXITED)
    g_string_append_printf (json, ",\"exit_code\":%u", outcome->exit_code);
  if (outcome->signal != 0)
    g_string_append_printf (json, ",\"signal\":%u", outcome->signal);
  append_usage (json, "cpu_time_ms", outcome->usage.cpu_time_ms);
  append_usage (json, "peak_memory_bytes", outcome->usage.peak_memory_bytes);
  append_usage (json, "peak_pids", outcome->usage.peak_pids);
  append_usage (json, "wall_time_ms", outcome->usage.wall_time_ms);
  append_usage (json, "output_bytes", outcome->usage.output_bytes);
  g_string_append_c (json, '}');
  glove_audit_event_set_arguments (event, json->str);
  if (!ended_itself)
    glove_audit_event_set_error (event, glove_termination_get_name (outcome->cause));
  glove_audit_event_set_latency (event, (gint64) outcome->usage.wall_time_ms * 1000000);
  return g_steal_pointer (&event);
}

GloveLimit
glove_session_record_limit_of_cause (GloveTermination cause)
{
  switch (cause)
    {
    case GLOVE_TERMINATION_CPU_TIME_LIMIT:
      return GLOVE_LIMIT_CPU_TIME;
    case GLOVE_TERMINATION_MEMORY_LIMIT:
      return GLOVE_LIMIT_MEMORY;
    case GLOVE_TERMINATION_PID_LIMIT:
      return GLOVE_LIMIT_PIDS;
    case GLOVE_TERMINATION_WALL_TIME_LIMIT:
      return GLOVE_LIMIT_WALL_TIME;
    case GLOVE_TERMINATION_TERMINAL_OUTPUT_LIMIT:
      return GLOVE_LIMIT_OUTPUT;
    case GLOVE_TERMINATION_DISK_LIMIT:
    case GLOVE_TERMINATION_EXITED:
    case GLOVE_TERMINATION_SIGNALED:
    case GLOVE_TERMINATION_SUPERVISOR_ERROR:
    default:
      return GLOVE_N_LIMITS;
    }
}

GloveAuditEvent *
glove_session_record_limit (const GloveLaunchSpec *spec, const GloveOutcome *outcome)
{
  GloveLimit limit = glove_session_record_limit_of_cause (outcome->cause);
  g_autoptr (GloveAuditEvent) event = NULL;
  g_autofree char *detail = NULL;
  g_autofree char *rule = NULL;
  g_autofree char *allow = NULL;

  if (limit == GLOVE_N_LIMITS && outcome->pid_limit_hits == 0)
    return NULL;
  if (limit == GLOVE_N_LIMITS)
    {
      limit = GLOVE_LIMIT_PIDS;
      detail = g_strdup_printf ("%" G_GUINT64_FORMAT " new processes were refused", outcome->pid_limit_hits);
    }
  else
    {
      detail = g_strdup (glove_termination_get_name (outcome->cause));
    }
  rule = g_strdup_printf ("limit %s=%" G_GUINT64_FORMAT, glove_limit_get_name (limit), spec->limits.value[limit]);
  allow = g_strdup_printf ("--limit %s=%s", glove_limit_get_name (limit), "VALUE");
  event = glove_audit_event_new (GLOVE_AUDIT_ACTION_AGENT_EXIT, GLOVE_AUDIT_STATUS_EXECUTION_ERROR, spec->session_id,
                                 spec->argv[0]);
  glove_audit_event_set_error (event, detail);
  glove_audit_event_set_verdict (event, "limit", rule, allow);
  return g_steal_pointer (&event);
}

GloveAuditEvent *
glove_session_record_git (const GloveLaunchSpec *spec, const GloveGitRefusal *refusal)
{
  g_autofree char *path = glove_text_escape (refusal->path, -1);
  GloveAuditEvent *event = glove_audit_event_new (GLOVE_AUDIT_ACTION_OBSERVATION, GLOVE_AUDIT_STATUS_EXECUTION_ERROR,
                                                  spec->session_id, path);

  glove_audit_event_set_error (event, refusal->detail);
  glove_audit_event_set_verdict (event, "file", "git's configuration is protected", "--allow-git-config");
  return event;
}
