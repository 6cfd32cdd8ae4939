/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-opencode-adapter.h"

#include "glove-test-home.h"

#define URL "http://127.0.0.1:4000"

#define HEAD                                                                                                            \
  "dir 0700 .config\ndir 0700 .config/opencode\nfile 0600 .config/opencode/opencode.json <<<"                            \
  "{\"$schema\":\"https://opencode.ai/config.json\",\"autoupdate\":false,\"share\":\"disabled\""
#define TAIL                                                                                                            \
  "}>>>\nenv XDG_CONFIG_HOME=/home/agent/.config\nenv OPENCODE_DISABLE_AUTOUPDATE=1\n"                                   \
  "env OPENCODE_DISABLE_MODELS_FETCH=1\n"
#define MODEL(NAME) ",\"model\":\"glove/" NAME "\",\"small_model\":\"glove/" NAME "\""
#define PROVIDER(URL_TEXT, PACKAGE, KEY, NAME)                                                                          \
  ",\"provider\":{\"glove\":{\"npm\":\"" PACKAGE "\",\"name\":\"glove\",\"options\":{\"baseURL\":\"" URL_TEXT            \
  "/v1\",\"apiKey\":\"" KEY "\"},\"models\":{\"" NAME "\":{}}}}"

static const char *const responses[] = { "ProviderApi", "openai-responses", "ProviderKeyVariable", "OPENAI_API_KEY", NULL };
static const char *const messages[] = { "ProviderApi", "anthropic-messages", NULL };
static const char *const bad_name[] = { "ProviderAPI", "openai-responses", NULL };
static const char *const bad_api[] = { "ProviderApi", "telnet", NULL };
static const char *const bad_key[] = { "ProviderKeyVariable", "A}{file:/etc/passwd", NULL };

static const GloveTestHomeCase cases[] = {
  { .name = "plain", .expected = HEAD TAIL },
  { .name = "model", .model = "openai/gpt-5", .expected = HEAD ",\"model\":\"openai/gpt-5\"" TAIL },
  { .name = "provider",
    .provider_url = URL,
    .model = "stub",
    .expected = HEAD MODEL ("stub") PROVIDER (URL, "@ai-sdk/openai-compatible", "glove", "stub") TAIL },
  { .name = "provider-responses",
    .provider_url = URL,
    .model = "stub",
    .settings = responses,
    .expected = HEAD MODEL ("stub") PROVIDER (URL, "@ai-sdk/openai", "{env:OPENAI_API_KEY}", "stub") TAIL },
  { .name = "provider-messages",
    .provider_url = URL,
    .model = "stub",
    .settings = messages,
    .expected = HEAD MODEL ("stub") PROVIDER (URL, "@ai-sdk/anthropic", "glove", "stub") TAIL },
  { .name = "provider-without-model", .provider_url = URL, .code = GLOVE_ERROR_INVALID_ARGUMENT, .telling = "model name" },
  { .name = "prompt",
    .prompt = "do it",
    .expected = HEAD ",\"permission\":\"allow\"" TAIL "arg run\ntrailing --\ntrailing do it\n" },
  { .name = "quotes",
    .provider_url = URL "/a\"b",
    .model = "m\":1,\"x\\",
    .expected = HEAD MODEL ("m\\\":1,\\\"x\\\\") PROVIDER (URL "/a\\\"b", "@ai-sdk/openai-compatible", "glove",
                                                          "m\\\":1,\\\"x\\\\") TAIL },
  { .name = "expansion-in-model",
    .model = "m{file:/etc/passwd}",
    .code = GLOVE_ERROR_INVALID_ARGUMENT,
    .telling = "model name holds" },
  { .name = "expansion-in-url",
    .provider_url = URL "/{env:HOME}",
    .model = "stub",
    .code = GLOVE_ERROR_INVALID_ARGUMENT,
    .telling = "provider URL holds" },
  { .name = "unknown-setting", .settings = bad_name, .code = GLOVE_ERROR_INVALID_DATA, .telling = "ProviderAPI" },
  { .name = "bad-api", .settings = bad_api, .code = GLOVE_ERROR_INVALID_DATA, .telling = "telnet" },
  { .name = "bad-key", .settings = bad_key, .code = GLOVE_ERROR_INVALID_DATA, .telling = "not a variable name" },
};

static void
test_identity (void)
{
  g_autoptr (GloveRuntimeAdapter) adapter = g_object_new (GLOVE_TYPE_OPENCODE_ADAPTER, NULL);

  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (adapter), ==, "opencode");
  g_assert_cmpstr (glove_runtime_adapter_get_executable_name (adapter), ==, "opencode");
  g_assert_cmpstr (glove_runtime_adapter_get_skills_root (adapter), ==, ".config/opencode/skills");
  g_assert_cmpstr (glove_runtime_adapter_get_credential_target (adapter), ==, ".local/share/opencode/auth.json");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opencode/identity", test_identity);
  glove_test_home_add_cases ("/opencode", GLOVE_TYPE_OPENCODE_ADAPTER, cases, G_N_ELEMENTS (cases));
  glove_test_home_add_hostile_cases ("/opencode", GLOVE_TYPE_OPENCODE_ADAPTER);
  return g_test_run ();
}
