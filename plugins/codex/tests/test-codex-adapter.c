/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-codex-adapter.h"

#include "glove-test-home.h"

#define URL "http://127.0.0.1:4000"

#define HEAD "dir 0700 .codex\nfile 0600 .codex/config.toml <<<check_for_update_on_startup = false\n"
#define QUIET                                                                                                           \
  "\n[analytics]\nenabled = false\n\n[feedback]\nenabled = false\n"                                                      \
  "\n[features]\napps = false\ndaemon_auto_start = false\nplugins = false\nunbounded_connection_retries = false\n"         \
  "\n[projects.\"/home/agent\"]\ntrust_level = \"trusted\"\n"
#define PROVIDER(URL_TEXT)                                                                                              \
  "\n[model_providers.glove]\nname = \"glove\"\nbase_url = \"" URL_TEXT "/v1\"\nwire_api = \"responses\"\n"
#define TAIL ">>>\nenv CODEX_HOME=/home/agent/.codex\narg --dangerously-bypass-approvals-and-sandbox\n"

static const char *const key_setting[] = { "ProviderKeyVariable", "OPENAI_API_KEY", NULL };
static const char *const bad_name[] = { "ProviderKeyVarible", "OPENAI_API_KEY", NULL };
static const char *const bad_value[] = { "ProviderKeyVariable", "A\"\nmodel = \"b", NULL };

static const GloveTestHomeCase cases[] = {
  { .name = "plain", .expected = HEAD QUIET TAIL },
  { .name = "model", .model = "gpt-5", .expected = HEAD "model = \"gpt-5\"\n" QUIET TAIL },
  { .name = "provider",
    .provider_url = URL,
    .model = "stub",
    .expected = HEAD "model = \"stub\"\nmodel_provider = \"glove\"\n" QUIET PROVIDER (URL) TAIL },
  { .name = "provider-without-model",
    .provider_url = URL,
    .expected = HEAD "model_provider = \"glove\"\n" QUIET PROVIDER (URL) TAIL },
  { .name = "provider-key",
    .provider_url = URL,
    .settings = key_setting,
    .expected = HEAD "model_provider = \"glove\"\n" QUIET PROVIDER (URL) "env_key = \"OPENAI_API_KEY\"\n" TAIL },
  { .name = "prompt",
    .prompt = "do it",
    .expected = HEAD QUIET TAIL "arg exec\narg --skip-git-repo-check\ntrailing --\ntrailing do it\n" },
  { .name = "quotes",
    .provider_url = URL "/a\"b",
    .model = "m\" # \\",
    .expected = HEAD "model = \"m\\\" # \\\\\"\nmodel_provider = \"glove\"\n" QUIET PROVIDER (URL "/a\\\"b") TAIL },
  { .name = "unknown-setting", .settings = bad_name, .code = GLOVE_ERROR_INVALID_DATA, .telling = "ProviderKeyVarible" },
  { .name = "bad-setting", .settings = bad_value, .code = GLOVE_ERROR_INVALID_DATA, .telling = "not a variable name" },
};

static void
test_identity (void)
{
  g_autoptr (GloveRuntimeAdapter) adapter = g_object_new (GLOVE_TYPE_CODEX_ADAPTER, NULL);

  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (adapter), ==, "codex");
  g_assert_cmpstr (glove_runtime_adapter_get_executable_name (adapter), ==, "codex");
  g_assert_cmpstr (glove_runtime_adapter_get_skills_root (adapter), ==, ".codex/skills");
  g_assert_cmpstr (glove_runtime_adapter_get_credential_target (adapter), ==, ".codex/auth.json");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/codex/identity", test_identity);
  glove_test_home_add_cases ("/codex", GLOVE_TYPE_CODEX_ADAPTER, cases, G_N_ELEMENTS (cases));
  glove_test_home_add_hostile_cases ("/codex", GLOVE_TYPE_CODEX_ADAPTER);
  return g_test_run ();
}
