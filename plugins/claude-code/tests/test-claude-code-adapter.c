/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-claude-code-adapter.h"

#include "glove-test-home.h"

#define URL "http://127.0.0.1:4000"

#define HEAD "dir 0700 .claude\n"
#define KEY_HELPER                                                                                                      \
  "file 0600 .claude/settings.json <<<{\"apiKeyHelper\":\"printf %s \\\"${ANTHROPIC_API_KEY:-glove}\\\"\"}>>>\n"
#define QUIET "env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\nenv DISABLE_AUTOUPDATER=1\n"

static const GloveTestHomeCase cases[] = {
  { .name = "plain", .expected = HEAD QUIET },
  { .name = "model", .model = "opus", .expected = HEAD QUIET "env ANTHROPIC_MODEL=opus\n" },
  { .name = "provider",
    .provider_url = URL,
    .model = "stub",
    .expected = HEAD KEY_HELPER QUIET "env ANTHROPIC_MODEL=stub\nenv ANTHROPIC_BASE_URL=" URL
                                      "\nenv ANTHROPIC_DEFAULT_HAIKU_MODEL=stub\n" },
  { .name = "provider-without-model",
    .provider_url = URL,
    .expected = HEAD KEY_HELPER QUIET "env ANTHROPIC_BASE_URL=" URL "\n" },
  { .name = "prompt",
    .prompt = "do it",
    .expected = HEAD QUIET "arg --dangerously-skip-permissions\narg -p\ntrailing --\ntrailing do it\n" },
  { .name = "quotes",
    .provider_url = URL "/a\"b$(id)",
    .model = "m\" `id`",
    .expected = HEAD KEY_HELPER QUIET "env ANTHROPIC_MODEL=m\" `id`\nenv ANTHROPIC_BASE_URL=" URL
                                      "/a\"b$(id)\nenv ANTHROPIC_DEFAULT_HAIKU_MODEL=m\" `id`\n" },
};

static void
test_identity (void)
{
  g_autoptr (GloveRuntimeAdapter) adapter = g_object_new (GLOVE_TYPE_CLAUDE_CODE_ADAPTER, NULL);

  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (adapter), ==, "claude-code");
  g_assert_cmpstr (glove_runtime_adapter_get_executable_name (adapter), ==, "claude");
  g_assert_cmpstr (glove_runtime_adapter_get_skills_root (adapter), ==, ".claude/skills");
  g_assert_cmpstr (glove_runtime_adapter_get_credential_target (adapter), ==, ".claude/.credentials.json");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/claude-code/identity", test_identity);
  glove_test_home_add_cases ("/claude-code", GLOVE_TYPE_CLAUDE_CODE_ADAPTER, cases, G_N_ELEMENTS (cases));
  glove_test_home_add_hostile_cases ("/claude-code", GLOVE_TYPE_CLAUDE_CODE_ADAPTER);
  return g_test_run ();
}
