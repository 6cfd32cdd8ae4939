/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-session-environment.h"

#include <string.h>

#include "glove-error.h"
#include "glove-identifier.h"
#include "glove-launch-spec.h"

#define BASE_PATH "/usr/local/bin:/usr/bin:/bin"
#define NO_PROXY_HOSTS "127.0.0.1,localhost,::1"
#define DEFAULT_TERM "xterm-256color"

static const char *const managed_names[] = {
  "ALL_PROXY", "HOME", "HTTPS_PROXY", "HTTP_PROXY", "LOGNAME", "NODE_USE_ENV_PROXY", "NO_PROXY", "PATH", "PWD",
  "TERM", "TMPDIR", "USER", "all_proxy", "http_proxy", "https_proxy", "no_proxy",
};

gboolean
glove_session_environment_is_managed (const char *name)
{
  if (g_str_has_prefix (name, "GLOVE_"))
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (managed_names); i++)
    if (strcmp (managed_names[i], name) == 0)
      return TRUE;
  return FALSE;
}

static const char *
find_value (const char *const *environment, const char *name)
{
  gsize length = strlen (name);

  for (gsize i = 0; environment != NULL && environment[i] != NULL; i++)
    if (strncmp (environment[i], name, length) == 0 && environment[i][length] == '=')
      return environment[i] + length + 1;
  return NULL;
}

/* The terminal's name is the one value that is taken from the host unasked: only if it is a plain name. */
static const char *
choose_term (const char *const *environment)
{
  const char *term = find_value (environment, "TERM");

  if (term == NULL || *term == '\0' || strlen (term) > 64)
    return DEFAULT_TERM;
  if (strspn (term, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_.+") != strlen (term))
    return DEFAULT_TERM;
  return term;
}

static void
append (GStrvBuilder *builder, const char *name, const char *value)
{
  g_autofree char *entry = g_strconcat (name, "=", value, NULL);

  g_strv_builder_add (builder, entry);
}

static void
append_base (const GloveSessionEnvironment *self, GStrvBuilder *builder)
{
  append (builder, "PATH", BASE_PATH);
  append (builder, "TERM", choose_term (self->host_environment));
  append (builder, "HOME", GLOVE_HOME_DIRECTORY);
  append (builder, "USER", "agent");
  append (builder, "LOGNAME", "agent");
  append (builder, "TMPDIR", "/tmp");
  append (builder, "PWD", self->work_dir);
  append (builder, "GLOVE_SANDBOXED", "1");
}

static void
append_proxy (const GloveSessionEnvironment *self, GStrvBuilder *builder)
{
  static const char *const names[] = { "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
                                       "http_proxy", "https_proxy", "all_proxy" };

  if (self->proxy_url == NULL)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    append (builder, names[i], self->proxy_url);
  append (builder, "NO_PROXY", NO_PROXY_HOSTS);
  append (builder, "no_proxy", NO_PROXY_HOSTS);
  append (builder, "NODE_USE_ENV_PROXY", "1");
}

static gboolean
append_named (const GloveSessionEnvironment *self, GStrvBuilder *builder, GError **error)
{
  const char *const *managed
      = self->home != NULL ? glove_runtime_home_get_environment (self->home) : NULL;

  for (gsize i = 0; self->names != NULL && self->names[i] != NULL; i++)
    {
      const char *name = self->names[i];
      const char *value;

      if (!glove_identifier_is_env_name (name))
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "'%s' is not the name of an environment variable",
                           name);
          glove_error_set_hint (error, "give the name only, as in --env LANG; the value is taken from your environment");
          return FALSE;
        }
      if (glove_session_environment_is_managed (name) || find_value (managed, name) != NULL)
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the environment variable %s is managed by glove", name);
          glove_error_set_hint (error, "leave out --env %s", name);
          return FALSE;
        }
      if (g_strv_contains (self->names + i + 1, name))
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the environment variable %s is named twice", name);
          glove_error_set_hint (error, "leave out one --env %s", name);
          return FALSE;
        }
      value = find_value (self->host_environment, name);
      if (value == NULL)
        {
          glove_error_set (error, GLOVE_ERROR_NOT_FOUND, "the environment variable %s is not set", name);
          glove_error_set_hint (error, "set it, or leave out --env %s", name);
          return FALSE;
        }
      append (builder, name, value);
    }
  return TRUE;
}

char **
glove_session_environment_build (const GloveSessionEnvironment *self, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  append_base (self, builder);
  append_proxy (self, builder);
  if (!append_named (self, builder, error))
    return NULL;
  if (self->home != NULL)
    g_strv_builder_addv (builder, (const char **) glove_runtime_home_get_environment (self->home));
  return g_strv_builder_end (builder);
}
