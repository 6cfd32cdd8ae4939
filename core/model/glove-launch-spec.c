/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-launch-spec.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-identifier.h"
#include "glove-path.h"
#include "glove-text.h"

#define DIMENSION_MAX 4096

G_DEFINE_BOXED_TYPE (GloveLaunchSpec, glove_launch_spec, glove_launch_spec_ref, glove_launch_spec_unref)

/**
 * glove_launch_spec_new: (constructor)
 * @session_id: the session's identifier
 *
 * Returns: (transfer full): a spec without a command: default limits, no grant, no standard stream
 *
 * Since: 1.0
 */
GloveLaunchSpec *
glove_launch_spec_new (const char *session_id)
{
  GloveLaunchSpec *self;

  g_return_val_if_fail (session_id != NULL, NULL);

  self = g_new0 (GloveLaunchSpec, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->session_id = g_strdup (session_id);
  self->argv = g_new0 (char *, 1);
  self->env = g_new0 (char *, 1);
  self->work_dir = g_strdup (GLOVE_HOME_DIRECTORY);
  self->grants = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_grant_unref);
  self->listeners = g_array_new (FALSE, TRUE, sizeof (GloveLaunchListener));
  glove_limits_init_default (&self->limits);
  self->rows = 24;
  self->columns = 80;
  for (gsize i = 0; i < G_N_ELEMENTS (self->stdio); i++)
    self->stdio[i] = -1;
  return self;
}

/**
 * glove_launch_spec_ref:
 * @self: a spec
 *
 * Returns: (transfer full): @self
 *
 * Since: 1.0
 */
GloveLaunchSpec *
glove_launch_spec_ref (GloveLaunchSpec *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

/**
 * glove_launch_spec_unref:
 * @self: (transfer full) (nullable): a spec
 *
 * Since: 1.0
 */
void
glove_launch_spec_unref (GloveLaunchSpec *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_free (self->session_id);
  g_strfreev (self->argv);
  g_free (self->executable);
  g_strfreev (self->env);
  g_free (self->work_dir);
  g_clear_pointer (&self->grants, g_ptr_array_unref);
  glove_runtime_home_free (self->home);
  g_clear_pointer (&self->listeners, g_array_unref);
  g_free (self);
}

static gboolean
check_strings (char *const *strings, gsize max, const char *what, gsize *total, GError **error)
{
  for (gsize i = 0; strings[i] != NULL; i++)
    {
      gsize size = strlen (strings[i]) + 1;

      if (i == max)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "more than %" G_GSIZE_FORMAT " %s", max, what);
          return FALSE;
        }
      if (size > GLOVE_ARG_BYTES_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "one of the %s is longer than %d bytes", what,
                           GLOVE_ARG_BYTES_MAX - 1);
          return FALSE;
        }
      *total += size;
      if (*total > GLOVE_ARGS_TOTAL_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "arguments and environment are larger than %d bytes together",
                           GLOVE_ARGS_TOTAL_MAX);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
check_env_names (char *const *env, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (gsize i = 0; env[i] != NULL; i++)
    {
      const char *equals = strchr (env[i], '=');
      g_autofree char *name = g_strndup (env[i], equals != NULL ? (gsize) (equals - env[i]) : GLOVE_ENV_NAME_MAX);

      if (equals == NULL || !glove_identifier_is_env_name (name))
        {
          g_autofree char *shown = glove_text_escape (name, (gssize) strnlen (name, GLOVE_ENV_NAME_MAX));

          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is not a name of an environment variable", shown);
          return FALSE;
        }
      if (g_hash_table_contains (names, name))
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "environment variable %s is set twice", name);
          return FALSE;
        }
      (void) g_hash_table_add (names, g_steal_pointer (&name));
    }
  return TRUE;
}

static gboolean
check_path (const char *path, const char *what, GError **error)
{
  g_autofree char *shown = NULL;

  if (path == NULL || strlen (path) > GLOVE_PATH_BYTES_MAX || !glove_path_is_absolute_normal (path))
    {
      shown = glove_text_escape (path != NULL ? path : "", (gssize) (path != NULL ? strnlen (path, 256) : 0));
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "%s is not an absolute, normal path: “%s”", what, shown);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_command (const GloveLaunchSpec *self, GError **error)
{
  gsize total = 0;

  if (!glove_identifier_is_session (self->session_id))
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "malformed session id");
      return FALSE;
    }
  if (self->argv == NULL || self->argv[0] == NULL)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "there is no command");
      return FALSE;
    }
  return check_strings (self->argv, GLOVE_ARGV_MAX, "arguments", &total, error)
         && check_strings (self->env, GLOVE_ENV_MAX, "environment variables", &total, error)
         && check_env_names (self->env, error) && check_path (self->work_dir, "the working directory", error)
         && (self->executable == NULL || check_path (self->executable, "the executable", error));
}

/* Masks have a bound of their own; parents come before what lies in them; no place is taken twice. */
static gboolean
check_grants (const GPtrArray *grants, GError **error)
{
  g_autoptr (GHashTable) targets = g_hash_table_new (g_str_hash, g_str_equal);
  guint masks = 0;
  guint depth = 0;

  for (guint i = 0; i < grants->len; i++)
    {
      const GloveGrant *grant = g_ptr_array_index (grants, i);
      guint grant_depth = glove_path_get_depth (grant->target_path);

      masks += grant->access == GLOVE_GRANT_MASK;
      if (i + 1 - masks > GLOVE_GRANTS_MAX || masks > GLOVE_MASKS_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "more than %d grants, or more than %d masks", GLOVE_GRANTS_MAX,
                           GLOVE_MASKS_MAX);
          return FALSE;
        }
      if (grant_depth < depth)
        {
          glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "grants are not ordered by depth");
          return FALSE;
        }
      depth = grant_depth;
      if (!g_hash_table_add (targets, grant->target_path))
        {
          g_autofree char *shown = glove_text_escape (grant->target_path, -1);

          glove_error_set (error, GLOVE_ERROR_CONFLICT, "two grants claim “%s”", shown);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
check_listeners (const GArray *listeners, GError **error)
{
  if (listeners->len > GLOVE_LISTENERS_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "more than %d listeners", GLOVE_LISTENERS_MAX);
      return FALSE;
    }
  for (guint i = 0; i < listeners->len; i++)
    for (guint j = 0; j < i; j++)
      {
        guint16 port = g_array_index (listeners, GloveLaunchListener, i).port;

        if (port != 0 && port == g_array_index (listeners, GloveLaunchListener, j).port)
          {
            glove_error_set (error, GLOVE_ERROR_CONFLICT, "two listeners claim port %u", port);
            return FALSE;
          }
      }
  return TRUE;
}

static gboolean
check_rest (const GloveLaunchSpec *self, GError **error)
{
  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    if (self->limits.value[i] > G_MAXINT64 || (self->limits.requested[i] && self->limits.value[i] == 0))
      {
        glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "limit %s is out of range",
                         glove_limit_get_name ((GloveLimit) i));
        return FALSE;
      }
  if (self->tty
      && (self->rows < 1 || self->rows > DIMENSION_MAX || self->columns < 1 || self->columns > DIMENSION_MAX))
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "a terminal of %u × %u is not 1..%d each way", self->rows,
                       self->columns, DIMENSION_MAX);
      return FALSE;
    }
  if (self->term_signal != 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "a reserved field is not 0");
      return FALSE;
    }
  return TRUE;
}

/**
 * glove_launch_spec_validate:
 * @self: a spec
 * @error: return location
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT for a malformed value, %GLOVE_ERROR_LIMIT for one past a maximum,
 *   %GLOVE_ERROR_CONFLICT for two that claim one place
 *
 * Since: 1.0
 */
gboolean
glove_launch_spec_validate (const GloveLaunchSpec *self, GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (self->session_id != NULL && self->env != NULL, FALSE);
  g_return_val_if_fail (self->grants != NULL && self->listeners != NULL, FALSE);

  return check_command (self, error) && check_grants (self->grants, error)
         && check_listeners (self->listeners, error) && check_rest (self, error);
}
