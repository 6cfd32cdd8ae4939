/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-error.h"
#include "glove-session-environment.h"

static const char *const host[] = { "LANG=C.UTF-8", "TERM=screen", "EMPTY=", "LD_PRELOAD=/evil.so", "TOKEN=a=b", NULL };

static char **
build (const char *const *names, const char *proxy, const GloveRuntimeHome *home, GError **error)
{
  const GloveSessionEnvironment environment = {
    .names = names, .host_environment = host, .home = home, .work_dir = "/w", .proxy_url = proxy,
  };

  return glove_session_environment_build (&environment, error);
}

static void
test_base (void)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) got = build (NULL, NULL, NULL, &error);
  const char *const expected[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
                                   "TERM=screen",
                                   "HOME=/home/agent",
                                   "USER=agent",
                                   "LOGNAME=agent",
                                   "TMPDIR=/tmp",
                                   "PWD=/w",
                                   "GLOVE_SANDBOXED=1",
                                   NULL };

  g_assert_no_error (error);
  g_assert_true (g_strv_equal ((const char *const *) got, expected));
}

static void
test_proxy (void)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) got = build (NULL, "http://glove:s@127.0.0.1:3128", NULL, &error);
  const char *const expected[] = { "HTTP_PROXY=http://glove:s@127.0.0.1:3128",  "HTTPS_PROXY=http://glove:s@127.0.0.1:3128",
                                   "ALL_PROXY=http://glove:s@127.0.0.1:3128",   "http_proxy=http://glove:s@127.0.0.1:3128",
                                   "https_proxy=http://glove:s@127.0.0.1:3128", "all_proxy=http://glove:s@127.0.0.1:3128",
                                   "NO_PROXY=127.0.0.1,localhost,::1",          "no_proxy=127.0.0.1,localhost,::1",
                                   "NODE_USE_ENV_PROXY=1" };

  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_true (g_strv_contains ((const char *const *) got, expected[i]));
}

static void
test_named (void)
{
  const char *const names[] = { "LANG", "EMPTY", "TOKEN", NULL };
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) got = build (names, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (g_strv_contains ((const char *const *) got, "LANG=C.UTF-8"));
  g_assert_true (g_strv_contains ((const char *const *) got, "EMPTY="));
  g_assert_true (g_strv_contains ((const char *const *) got, "TOKEN=a=b"));
  for (gsize i = 0; got[i] != NULL; i++)
    g_assert_false (g_str_has_prefix (got[i], "LD_"));
}

static void
test_refused (void)
{
  const struct
  {
    const char *names[3];
    GloveError code;
    const char *part;
  } rows[] = {
    { { "HOME", NULL }, GLOVE_ERROR_INVALID_ARGUMENT, "managed" },
    { { "PATH", NULL }, GLOVE_ERROR_INVALID_ARGUMENT, "managed" },
    { { "https_proxy", NULL }, GLOVE_ERROR_INVALID_ARGUMENT, "managed" },
    { { "GLOVE_ANYTHING", NULL }, GLOVE_ERROR_INVALID_ARGUMENT, "managed" },
    { { "NOT_SET", NULL }, GLOVE_ERROR_NOT_FOUND, "NOT_SET is not set" },
    { { "A=B", NULL }, GLOVE_ERROR_INVALID_ARGUMENT, "not the name" },
    { { "", NULL }, GLOVE_ERROR_INVALID_ARGUMENT, "not the name" },
    { { "1A", NULL }, GLOVE_ERROR_INVALID_ARGUMENT, "not the name" },
    { { "LANG", "LANG", NULL }, GLOVE_ERROR_INVALID_ARGUMENT, "twice" },
    { { "ADAPTER", NULL }, GLOVE_ERROR_INVALID_ARGUMENT, "managed" },
  };
  g_autoptr (GloveRuntimeHome) home = glove_runtime_home_new ();
  g_autoptr (GError) home_error = NULL;

  g_assert_true (glove_runtime_home_set_environment (home, "ADAPTER", "x", &home_error));
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (build (rows[i].names, NULL, home, &error));
      g_assert_error (error, GLOVE_ERROR, (int) rows[i].code);
      g_assert_nonnull (strstr (error->message, rows[i].part));
      g_assert_nonnull (glove_error_get_hint (error));
    }
}

static void
test_term (void)
{
  const struct
  {
    const char *given;
    const char *expected;
  } rows[] = {
    { "TERM=xterm-kitty", "TERM=xterm-kitty" },
    { "TERM=", "TERM=xterm-256color" },
    { "TERM=../../evil", "TERM=xterm-256color" },
    { "TERM=a b", "TERM=xterm-256color" },
    { "OTHER=x", "TERM=xterm-256color" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const char *const environment[] = { rows[i].given, NULL };
      const GloveSessionEnvironment request = { .host_environment = environment, .work_dir = "/" };
      g_auto (GStrv) got = glove_session_environment_build (&request, NULL);

      g_assert_true (g_strv_contains ((const char *const *) got, rows[i].expected));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/environment/base", test_base);
  g_test_add_func ("/session/environment/proxy", test_proxy);
  g_test_add_func ("/session/environment/named", test_named);
  g_test_add_func ("/session/environment/refused", test_refused);
  g_test_add_func ("/session/environment/term", test_term);
  return g_test_run ();
}
