/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-copilot-adapter.h"

#include "glove-test-home.h"

#define URL "http://127.0.0.1:4000"

#define HEAD "dir 0700 .copilot\nenv COPILOT_HOME=/home/agent/.copilot\nenv COPILOT_AUTO_UPDATE=false\n"
#define TAIL "env COPILOT_OFFLINE=true\n"

static const char *const responses[] = { "ProviderApi", "openai-responses", NULL };
static const char *const anthropic[] = { "ProviderApi", "anthropic-messages", NULL };
static const char *const bad_name[] = { "Api", "openai-responses", NULL };
static const char *const bad_value[] = { "ProviderApi", "telnet", NULL };

static const GloveTestHomeCase cases[] = {
  { .name = "plain", .expected = HEAD },
  { .name = "model", .model = "gpt-5", .expected = HEAD "env COPILOT_MODEL=gpt-5\n" },
  { .name = "provider",
    .provider_url = URL,
    .model = "stub",
    .expected = HEAD "env COPILOT_MODEL=stub\nenv COPILOT_PROVIDER_BASE_URL=" URL
                     "/v1\nenv COPILOT_PROVIDER_TYPE=openai\nenv COPILOT_PROVIDER_WIRE_API=completions\n" TAIL },
  { .name = "provider-responses",
    .provider_url = URL,
    .model = "stub",
    .settings = responses,
    .expected = HEAD "env COPILOT_MODEL=stub\nenv COPILOT_PROVIDER_BASE_URL=" URL
                     "/v1\nenv COPILOT_PROVIDER_TYPE=openai\nenv COPILOT_PROVIDER_WIRE_API=responses\n" TAIL },
  { .name = "provider-messages",
    .provider_url = URL,
    .model = "stub",
    .settings = anthropic,
    .expected = HEAD "env COPILOT_MODEL=stub\nenv COPILOT_PROVIDER_BASE_URL=" URL
                     "\nenv COPILOT_PROVIDER_TYPE=anthropic\n" TAIL },
  { .name = "provider-without-model", .provider_url = URL, .code = GLOVE_ERROR_INVALID_ARGUMENT, .telling = "model name" },
  { .name = "prompt", .prompt = "do it", .expected = HEAD "arg --allow-all-tools\ntrailing --prompt=do it\n" },
  { .name = "unknown-setting", .settings = bad_name, .code = GLOVE_ERROR_INVALID_DATA, .telling = "Api" },
  { .name = "bad-setting", .settings = bad_value, .code = GLOVE_ERROR_INVALID_DATA, .telling = "telnet" },
};

static void
test_identity (void)
{
  g_autoptr (GloveRuntimeAdapter) adapter = g_object_new (GLOVE_TYPE_COPILOT_ADAPTER, NULL);

  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (adapter), ==, "copilot");
  g_assert_cmpstr (glove_runtime_adapter_get_executable_name (adapter), ==, "copilot");
  g_assert_cmpstr (glove_runtime_adapter_get_skills_root (adapter), ==, ".copilot/skills");
  g_assert_cmpstr (glove_runtime_adapter_get_credential_target (adapter), ==, ".copilot/config.json");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/copilot/identity", test_identity);
  glove_test_home_add_cases ("/copilot", GLOVE_TYPE_COPILOT_ADAPTER, cases, G_N_ELEMENTS (cases));
  glove_test_home_add_hostile_cases ("/copilot", GLOVE_TYPE_COPILOT_ADAPTER);
  return g_test_run ();
}
