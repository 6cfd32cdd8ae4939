/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <fcntl.h>
#include <glib/gi18n.h>
#include <string.h>

#include "glove-bounds.h"
#include "glove-cli-launch.h"
#include "glove-cli-output.h"
#include "glove-cli-verbs.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-executable.h"
#include "glove-fd.h"
#include "glove-launch-spec.h"
#include "glove-link-check.h"
#include "glove-path-pin.h"
#include "glove-runtime-adapter.h"
#include "glove-text.h"

/* The inherited PATH is never one of them. */
static const char *const default_search_paths[] = { "/usr/local/bin", "/usr/bin", NULL };

static char *
read_prompt (const char *file, GloveFileIdentity *ret_identity, GError **error)
{
  glove_autofd int fd = glove_fd_openat2 (AT_FDCWD, file, O_RDONLY, 0, 0, error);
  g_autoptr (GBytes) bytes = NULL;
  const char *data;
  gsize length;

  if (fd >= 0 && glove_path_pin_identify (fd, ret_identity, error))
    bytes = glove_fd_read_all (fd, GLOVE_PROMPT_BYTES_MAX, error);
  if (bytes == NULL)
    {
      g_prefix_error (error, "can't read the prompt: ");
      return NULL;
    }
  data = g_bytes_get_data (bytes, &length);
  if (length == 0 || memchr (data, '\0', length) != NULL)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_DATA, "the prompt file %s is %s", file,
                       length == 0 ? "empty" : "not text: it holds a zero byte");
      glove_error_set_hint (error, "name a text file with the task in it");
      return NULL;
    }
  return g_strndup (data, length);
}

/* Finds the agent's program, and what has to be granted for it to run. */
static gboolean
find_executable (GloveCliLaunch *launch, GloveRuntimeAdapter *adapter, char **ret_argv0, GError **error)
{
  const GloveCliLaunchOptions *options = launch->options;
  g_autofree char *found = NULL;
  g_autofree char *tree = NULL;
  g_autoptr (GError) local_error = NULL;

  if (options->executable != NULL)
    {
      found = g_strdup (options->executable);
    }
  else
    {
      const char *const *paths
          = options->search_paths != NULL ? (const char *const *) options->search_paths : default_search_paths;

      found = glove_executable_search (glove_runtime_adapter_get_executable_name (adapter), paths, error);
      if (found == NULL)
        return FALSE;
    }
  launch->executable = glove_executable_resolve (found, ret_argv0, error);
  if (launch->executable == NULL)
    return FALSE;
  tree = glove_executable_dup_tree (launch->executable, &local_error);
  if (local_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }
  if (tree != NULL)
    g_ptr_array_add (launch->runtime_reads, g_steal_pointer (&tree));
  return TRUE;
}

/* "https" can't be relayed as it is: the agent would ask 127.0.0.1 for another name's certificate. It goes through the proxy instead. */
static char *
set_up_provider (GloveCliLaunch *launch, GloveRuntimeAdapter *adapter, GError **error)
{
  const char *url = launch->options->provider_url;
  g_autofree char *scheme = NULL;
  g_autofree char *path = NULL;
  g_autofree char *target = NULL;
  g_autoptr (GloveEndpoint) endpoint = NULL;
  guint16 port = 0;

  if (!glove_runtime_adapter_accepts_provider_url (adapter))
    {
      glove_error_set (error, GLOVE_ERROR_NOT_SUPPORTED, "the runtime %s can't be pointed at another provider",
                       launch->options->runtime);
      glove_error_set_hint (error, "leave out --provider-url and allow its own end points with --allow-host");
      return NULL;
    }
  endpoint = glove_endpoint_parse_url (url, &scheme, &path, error);
  if (endpoint == NULL)
    {
      g_autofree char *shown = glove_text_escape (url, -1);

      g_prefix_error (error, "--provider-url %s: ", shown);
      return NULL;
    }
  while (g_str_has_suffix (path, "/"))
    path[strlen (path) - 1] = '\0';
  if (g_str_has_suffix (path, "/v1"))
    path[strlen (path) - strlen ("/v1")] = '\0';
  target = glove_endpoint_to_string (endpoint);
  if (strcmp (scheme, "https") == 0)
    {
      g_ptr_array_add (launch->network.allow, g_steal_pointer (&endpoint));
      return g_strdup_printf ("https://%s%s", target, path);
    }
  if (!glove_cli_network_add_forward (&launch->network, target, &port, error))
    return NULL;
  return g_strdup_printf ("http://127.0.0.1:%u%s", port, path);
}

static char **
build_argv (const GloveCliLaunch *launch, const char *argv0)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  g_strv_builder_add (builder, argv0);
  g_strv_builder_addv (builder, (const char **) glove_runtime_home_get_arguments (launch->home));
  g_strv_builder_addv (builder, (const char **) launch->options->command);
  g_strv_builder_addv (builder, (const char **) glove_runtime_home_get_trailing_arguments (launch->home));
  return g_strv_builder_end (builder);
}

/* A link in a grant must choose neither what is handed to the agent nor what is granted with its program. */
static gboolean
check_links (const GloveCliLaunch *launch, const GloveFileIdentity *prompt, GError **error)
{
  const GloveCliLaunchOptions *options = launch->options;

  return (options->executable == NULL || glove_link_check_run (launch->grants, options->executable, NULL, error))
         && (options->prompt_file == NULL || glove_link_check_run (launch->grants, options->prompt_file, prompt, error));
}

/* Without a model server an agent only tries again and again. */
static void
note_missing_provider (GloveCliLaunch *launch, GloveRuntimeAdapter *adapter)
{
  const GloveCliLaunchOptions *options = launch->options;
  const char *const *endpoints = glove_runtime_adapter_list_provider_endpoints (adapter);
  g_autofree char *hosts = NULL;

  if (options->provider_url != NULL || options->allow_hosts != NULL || options->forwards != NULL || endpoints[0] == NULL)
    return;
  hosts = g_strjoinv (" --allow-host ", (char **) endpoints);
  g_ptr_array_add (launch->notes, g_strdup_printf (_("the agent can't reach a model: allow its own with --allow-host %s"), hosts));
}

static gboolean
set_up_runtime (GloveCliLaunch *launch, GError **error)
{
  const GloveCliLaunchOptions *options = launch->options;
  g_autoptr (GObject) object = NULL;
  g_autofree char *provider_url = NULL;
  g_autofree char *prompt = NULL;
  g_autofree char *argv0 = NULL;
  GloveFileIdentity prompt_identity = { 0 };
  GloveRuntimeRequest request = { .home = GLOVE_HOME_DIRECTORY, .model = options->model };

  object = glove_catalog_create (launch->catalog, "runtime", options->runtime, GLOVE_TYPE_RUNTIME_ADAPTER, error);
  if (object == NULL || !find_executable (launch, GLOVE_RUNTIME_ADAPTER (object), &argv0, error))
    return FALSE;
  if (options->provider_url != NULL)
    {
      provider_url = set_up_provider (launch, GLOVE_RUNTIME_ADAPTER (object), error);
      if (provider_url == NULL)
        return FALSE;
    }
  if (options->prompt_file != NULL)
    {
      prompt = read_prompt (options->prompt_file, &prompt_identity, error);
      if (prompt == NULL)
        return FALSE;
      launch->no_input = TRUE;
    }
  if (!glove_cli_launch_resolve (launch, error) || !check_links (launch, &prompt_identity, error))
    return FALSE;
  note_missing_provider (launch, GLOVE_RUNTIME_ADAPTER (object));
  request.workspace = launch->work_dir;
  request.provider_url = provider_url;
  request.prompt = prompt;
  launch->home = glove_runtime_adapter_build_home (GLOVE_RUNTIME_ADAPTER (object), &request, error);
  if (launch->home == NULL)
    return FALSE;
  launch->argv = build_argv (launch, argv0);
  return TRUE;
}

int
glove_cli_run (int argc, char **argv)
{
  g_auto (GloveCliLaunchOptions) options = { 0 };
  g_auto (GloveCliLaunch) launch = { 0 };
  g_autoptr (GError) error = NULL;
  int status = 0;

  if (!glove_cli_launch_options_parse (&options, TRUE, argc, argv, &status))
    return status;
  if (!glove_cli_launch_init (&launch, &options, &error) || !set_up_runtime (&launch, &error))
    {
      glove_cli_output_error (error);
      return GLOVE_CLI_STATUS_FAILED;
    }
  return glove_cli_launch_perform (&launch);
}
