/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-claude-code-adapter.h"

struct _GloveClaudeCodeAdapter {
  GObject parent_instance;
};

static void glove_claude_code_adapter_iface_init (GloveRuntimeAdapterInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveClaudeCodeAdapter, glove_claude_code_adapter, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_RUNTIME_ADAPTER, glove_claude_code_adapter_iface_init))

static const char *
glove_claude_code_adapter_get_runtime_id (GloveRuntimeAdapter *adapter)
{
  return "claude-code";
}

static const char *
glove_claude_code_adapter_get_executable_name (GloveRuntimeAdapter *adapter)
{
  return "claude";
}

static const char *
glove_claude_code_adapter_get_skills_root (GloveRuntimeAdapter *adapter)
{
  return ".claude/skills";
}

static const char *
glove_claude_code_adapter_get_credential_target (GloveRuntimeAdapter *adapter)
{
  return ".claude/.credentials.json";
}

static const char *const *
glove_claude_code_adapter_list_provider_endpoints (GloveRuntimeAdapter *adapter)
{
  static const char *const endpoints[] = { "api.anthropic.com:443", NULL };

  return endpoints;
}

static gboolean
glove_claude_code_adapter_accepts_provider_url (GloveRuntimeAdapter *adapter)
{
  return TRUE;
}

/* Without a key the agent would ask for a login. A helper comes before the variable, so it hands on the one that the operator
 * passed with --env, if any. Constant: nothing of the request goes into a shell. */
static const char settings_with_key[] = "{\"apiKeyHelper\":\"printf %s \\\"${ANTHROPIC_API_KEY:-glove}\\\"\"}";

static gboolean
point_at_provider (GloveRuntimeHome *home, const GloveRuntimeRequest *request, GError **error)
{
  if (!glove_runtime_home_set_environment (home, "ANTHROPIC_BASE_URL", request->provider_url, error)
      || !glove_runtime_home_add_file (home, ".claude/settings.json", settings_with_key, -1, 0600, error))
    return FALSE;
  /* What it would ask a small model of its own maker's, it asks the one there is. */
  return request->model == NULL
         || glove_runtime_home_set_environment (home, "ANTHROPIC_DEFAULT_HAIKU_MODEL", request->model, error);
}

static void
add_prompt (GloveRuntimeHome *home, const char *prompt)
{
  glove_runtime_home_add_argument (home, "--dangerously-skip-permissions");
  glove_runtime_home_add_argument (home, "-p");
  glove_runtime_home_add_trailing_argument (home, "--");
  glove_runtime_home_add_trailing_argument (home, prompt);
}

static GloveRuntimeHome *
glove_claude_code_adapter_build_home (GloveRuntimeAdapter *adapter, const GloveRuntimeRequest *request, GError **error)
{
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();

  if (!glove_runtime_home_add_directory (home, ".claude", 0700, error)
      || !glove_runtime_home_set_environment (home, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1", error)
      || !glove_runtime_home_set_environment (home, "DISABLE_AUTOUPDATER", "1", error))
    return NULL;
  if (request->model != NULL
      && !glove_runtime_home_set_environment (home, "ANTHROPIC_MODEL", request->model, error))
    return NULL;
  if (request->provider_url != NULL && !point_at_provider (home, request, error))
    return NULL;
  if (request->prompt != NULL)
    add_prompt (home, request->prompt);
  return g_steal_pointer (&home);
}

static void
glove_claude_code_adapter_class_init (GloveClaudeCodeAdapterClass *class)
{
}

static void
glove_claude_code_adapter_init (GloveClaudeCodeAdapter *self)
{
}

static void
glove_claude_code_adapter_iface_init (GloveRuntimeAdapterInterface *iface)
{
  iface->get_runtime_id = glove_claude_code_adapter_get_runtime_id;
  iface->get_executable_name = glove_claude_code_adapter_get_executable_name;
  iface->get_skills_root = glove_claude_code_adapter_get_skills_root;
  iface->get_credential_target = glove_claude_code_adapter_get_credential_target;
  iface->list_provider_endpoints = glove_claude_code_adapter_list_provider_endpoints;
  iface->accepts_provider_url = glove_claude_code_adapter_accepts_provider_url;
  iface->build_home = glove_claude_code_adapter_build_home;
}
