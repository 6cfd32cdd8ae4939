/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-launch-template.h"

#include <string.h>

#include "glove-digest.h"
#include "glove-error.h"
#include "glove-identifier.h"
#include "glove-path.h"

/* contracts §6.4 */
#define PATH_MAX_BYTES 4096
#define LIST_MAX 256
#define STRING_MAX 65536

static char **
new_list (void)
{
  return g_new0 (char *, 1);
}

/**
 * glove_launch_template_new: (skip)
 *
 * Returns: (transfer full): a template with empty strings and lists, which is not valid yet
 *
 * Since: 1.0
 */
GloveLaunchTemplate *
glove_launch_template_new (void)
{
  GloveLaunchTemplate *self = g_new0 (GloveLaunchTemplate, 1);

  self->runtime_discovery = g_strdup ("");
  self->executable_path = g_strdup ("");
  self->executable_search_paths = new_list ();
  self->arguments = new_list ();
  self->environment = new_list ();
  self->read_only_paths = new_list ();
  return self;
}

/**
 * glove_launch_template_free: (skip)
 * @self: (transfer full) (nullable): a template
 *
 * Since: 1.0
 */
void
glove_launch_template_free (GloveLaunchTemplate *self)
{
  if (self == NULL)
    return;
  g_free (self->runtime_discovery);
  g_free (self->executable_path);
  g_strfreev (self->executable_search_paths);
  g_strfreev (self->arguments);
  g_strfreev (self->environment);
  g_strfreev (self->read_only_paths);
  g_free (self);
}

static gboolean
invalid (GError **error, const char *message)
{
  glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "launch template: %s", message);
  return FALSE;
}

static gboolean
check_mode (const GloveLaunchTemplate *self, GError **error)
{
  if (self->runtime_discovery[0] == '\0')
    {
      if (strlen (self->executable_path) > PATH_MAX_BYTES || !glove_path_is_absolute_normal (self->executable_path)
          || g_str_equal (self->executable_path, "/"))
        return invalid (error, "executable_path is not absolute and normal");
      if (self->executable_search_paths[0] != NULL)
        return invalid (error, "executable_search_paths next to executable_path");
      return TRUE;
    }
  if (!glove_identifier_is_runtime (self->runtime_discovery))
    return invalid (error, "runtime_discovery is not a runtime id");
  if (self->executable_path[0] != '\0')
    return invalid (error, "executable_path next to runtime_discovery");
  if (self->executable_search_paths[0] == NULL)
    return invalid (error, "runtime_discovery without executable_search_paths");
  return TRUE;
}

static gboolean
check_list (char *const *list, const char *name, GError **error)
{
  gsize n = 0;

  for (; list[n] != NULL; n++)
    {
      gsize length = strlen (list[n]);

      if (n == LIST_MAX || length == 0 || length > STRING_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT,
                           "launch template: %s has more than %d elements, or one that is not 1..%d bytes", name, LIST_MAX,
                           STRING_MAX);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
check_paths (char *const *list, const char *name, GError **error)
{
  for (gsize i = 0; list[i] != NULL; i++)
    {
      if (!glove_path_is_absolute_normal (list[i]) || g_str_equal (list[i], "/"))
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT,
                           "launch template: %s has one that is not absolute and normal", name);
          return FALSE;
        }
      for (gsize j = 0; j < i; j++)
        if (glove_path_contains (list[i], list[j]) || glove_path_contains (list[j], list[i]))
          {
            glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "launch template: %s has two that overlap", name);
            return FALSE;
          }
    }
  return TRUE;
}

static gboolean
check_environment (char *const *environment, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (gsize i = 0; environment[i] != NULL; i++)
    {
      const char *equals = strchr (environment[i], '=');
      g_autofree char *name = NULL;

      if (equals == NULL)
        return invalid (error, "environment has an entry that is not NAME=VALUE");
      name = g_strndup (environment[i], (gsize) (equals - environment[i]));
      if (!glove_identifier_is_env_name (name))
        return invalid (error, "environment has an entry that is not NAME=VALUE");
      if (!g_hash_table_add (names, g_steal_pointer (&name)))
        return invalid (error, "environment has a name twice");
      if (i > 0 && strcmp (environment[i - 1], environment[i]) >= 0)
        return invalid (error, "environment is not sorted");
    }
  return TRUE;
}

/**
 * glove_launch_template_validate: (skip)
 * @self: a template
 * @error: return location
 *
 * Source: contracts §6.4.
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT that names the field
 *
 * Since: 1.0
 */
gboolean
glove_launch_template_validate (const GloveLaunchTemplate *self, GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (self->runtime_discovery != NULL && self->executable_path != NULL, FALSE);
  g_return_val_if_fail (self->executable_search_paths != NULL && self->arguments != NULL, FALSE);
  g_return_val_if_fail (self->environment != NULL && self->read_only_paths != NULL, FALSE);

  return check_mode (self, error)
         && check_list (self->executable_search_paths, "executable_search_paths", error)
         && check_list (self->arguments, "arguments", error) && check_list (self->environment, "environment", error)
         && check_list (self->read_only_paths, "read_only_paths", error)
         && check_paths (self->executable_search_paths, "executable_search_paths", error)
         && check_environment (self->environment, error)
         && check_paths (self->read_only_paths, "read_only_paths", error);
}

/**
 * glove_launch_template_dup_digest: (skip)
 * @self: a valid template
 *
 * Source: contracts §6.4; vectors in §15.
 *
 * Returns: (transfer full): 64 hex digits
 *
 * Since: 1.0
 */
char *
glove_launch_template_dup_digest (const GloveLaunchTemplate *self)
{
  g_autoptr (GloveDigest) digest = NULL;
  gboolean discovery;

  g_return_val_if_fail (self != NULL, NULL);

  digest = glove_digest_new ();
  discovery = self->runtime_discovery[0] != '\0';
  glove_digest_add_string (digest, "glove.runtime-launch-template");
  glove_digest_add_u8 (digest, discovery ? 2 : 1);
  if (discovery)
    {
      glove_digest_add_string (digest, self->runtime_discovery);
      glove_digest_add_strv (digest, (const char *const *) self->executable_search_paths);
    }
  glove_digest_add_string (digest, self->executable_path);
  glove_digest_add_strv (digest, (const char *const *) self->arguments);
  glove_digest_add_strv (digest, (const char *const *) self->environment);
  glove_digest_add_strv (digest, (const char *const *) self->read_only_paths);
  return glove_digest_finish (digest);
}
