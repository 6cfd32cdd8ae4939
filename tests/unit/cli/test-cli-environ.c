/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <glib.h>

#include "glove-cli-environ.h"

static const struct
{
  const char *name;
  const char *value;
  gboolean stays;
} cases[] = {
  { "GCONV_PATH", "/x", FALSE },
  { "GCONV_PATHS", "/x", TRUE },
  { "GIO_EXTRA_MODULES", "/x", FALSE },
  { "GIO_USE_TLS", "x", FALSE },
  { "GLIBC_TUNABLES", "x", FALSE },
  { "HOSTALIASES", "/x", FALSE },
  { "LOCALDOMAIN", "example.org", FALSE },
  { "LOCPATH", "/x", FALSE },
  { "NLSPATH", "/x/%N", FALSE },
  { "LANGUAGE", "de:fr", TRUE },
  { "LANGUAGE", "../../x", FALSE },
  { "LANGUAGE", "de:../../x", FALSE },
  { "LANG", "de_DE.UTF-8", TRUE },
  { "TERM", "x", TRUE },
};

static void
test_variables (void)
{
  g_auto (GStrv) names = g_listenv ();

  /* what the loader saw makes the program execute itself again */
  for (gsize i = 0; names[i] != NULL; i++)
    if (g_str_has_prefix (names[i], "LD_"))
      g_unsetenv (names[i]);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      char *arguments[] = { (char *) "glove", NULL };

      g_assert_true (g_setenv (cases[i].name, cases[i].value, TRUE));
      glove_cli_environ_scrub (arguments);
      g_test_message ("%s=%s", cases[i].name, cases[i].value);
      g_assert_cmpstr (g_getenv (cases[i].name), ==, cases[i].stays ? cases[i].value : NULL);
    }
  g_assert_cmpstr (g_getenv ("GIO_USE_VFS"), ==, "local");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/environ/variables", test_variables);
  return g_test_run ();
}
