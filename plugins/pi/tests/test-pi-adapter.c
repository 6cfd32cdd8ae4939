/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-pi-adapter.h"

#include "glove-test-home.h"

#define URL "http://127.0.0.1:4000"

#define DIRS "dir 0700 .pi\ndir 0700 .pi/agent\n"
#define MODELS(URL_TEXT, API, KEY, MODEL)                                                                               \
  "file 0600 .pi/agent/models.json <<<{\"providers\":{\"glove\":{\"baseUrl\":\"" URL_TEXT "\",\"api\":\"" API            \
  "\",\"apiKey\":\"" KEY "\",\"models\":[{\"id\":\"" MODEL "\"}]}}}>>>\n"
#define SETTINGS "file 0600 .pi/agent/settings.json <<<{\"packages\":[],\"enableSkillCommands\":true}>>>\n"
#define ENV "env PI_OFFLINE=1\nenv PI_TELEMETRY=0\n"
#define PROVIDER_ARGS(MODEL) "arg --provider\narg glove\narg --model\narg " MODEL "\n"

static const char *const responses[] = { "ProviderApi", "openai-responses", "ProviderKeyVariable", "OPENAI_API_KEY", NULL };
static const char *const messages[] = { "ProviderApi", "anthropic-messages", NULL };
static const char *const bad_name[] = { "ProviderAPI", "openai-responses", NULL };
static const char *const bad_api[] = { "ProviderApi", "telnet", NULL };
static const char *const bad_key[] = { "ProviderKeyVariable", "!id", NULL };

static const GloveTestHomeCase cases[] = {
  { .name = "plain", .expected = DIRS SETTINGS ENV },
  { .name = "model", .model = "gpt-5", .expected = DIRS SETTINGS ENV "arg --model\narg gpt-5\n" },
  { .name = "provider",
    .provider_url = URL,
    .model = "stub",
    .expected = DIRS MODELS (URL "/v1", "openai-completions", "glove", "stub") SETTINGS ENV PROVIDER_ARGS ("stub") },
  { .name = "provider-responses",
    .provider_url = URL,
    .model = "stub",
    .settings = responses,
    .expected = DIRS MODELS (URL "/v1", "openai-responses", "OPENAI_API_KEY", "stub") SETTINGS ENV PROVIDER_ARGS ("stub") },
  { .name = "provider-messages",
    .provider_url = URL,
    .model = "stub",
    .settings = messages,
    .expected = DIRS MODELS (URL, "anthropic-messages", "glove", "stub") SETTINGS ENV PROVIDER_ARGS ("stub") },
  { .name = "provider-without-model", .provider_url = URL, .code = GLOVE_ERROR_INVALID_ARGUMENT, .telling = "model name" },
  { .name = "prompt", .prompt = "do it", .expected = DIRS SETTINGS ENV "trailing -p\ntrailing do it\n" },
  { .name = "prompt-option", .prompt = "-x", .expected = DIRS SETTINGS ENV "trailing -p\ntrailing  -x\n" },
  { .name = "prompt-file", .prompt = "@x", .expected = DIRS SETTINGS ENV "trailing -p\ntrailing  @x\n" },
  { .name = "quotes",
    .provider_url = URL "/a\"b",
    .model = "m\",\"x\\",
    .expected = DIRS MODELS (URL "/a\\\"b/v1", "openai-completions", "glove", "m\\\",\\\"x\\\\") SETTINGS ENV
        PROVIDER_ARGS ("m\",\"x\\") },
  { .name = "unknown-setting", .settings = bad_name, .code = GLOVE_ERROR_INVALID_DATA, .telling = "ProviderAPI" },
  { .name = "bad-api", .settings = bad_api, .code = GLOVE_ERROR_INVALID_DATA, .telling = "telnet" },
  { .name = "bad-key", .settings = bad_key, .code = GLOVE_ERROR_INVALID_DATA, .telling = "not a variable name" },
};

static void
test_identity (void)
{
  g_autoptr (GloveRuntimeAdapter) adapter = g_object_new (GLOVE_TYPE_PI_ADAPTER, NULL);

  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (adapter), ==, "pi");
  g_assert_cmpstr (glove_runtime_adapter_get_executable_name (adapter), ==, "pi");
  g_assert_cmpstr (glove_runtime_adapter_get_skills_root (adapter), ==, ".pi/agent/skills");
  g_assert_cmpstr (glove_runtime_adapter_get_credential_target (adapter), ==, ".pi/agent/auth.json");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pi/identity", test_identity);
  glove_test_home_add_cases ("/pi", GLOVE_TYPE_PI_ADAPTER, cases, G_N_ELEMENTS (cases));
  glove_test_home_add_hostile_cases ("/pi", GLOVE_TYPE_PI_ADAPTER);
  return g_test_run ();
}
