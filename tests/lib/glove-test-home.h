/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

/**
 * GloveTestHomeCase:
 * @name: of the test
 * @provider_url: (nullable): and so on, as in #GloveRuntimeRequest
 * @settings: (nullable): names and values in turn, %NULL-terminated
 * @expected: (nullable): the whole answer as text (see glove_test_home_to_text()); %NULL: the request is refused
 * @code: when it is refused, with which code
 * @telling: when it is refused, a part of the message
 *
 * One request to an adapter. Home is `/home/agent`, the workspace `/work/project`.
 */
typedef struct {
  const char *name;
  const char *provider_url;
  const char *model;
  const char *prompt;
  const char *const *settings;
  const char *expected;
  GloveError code;
  const char *telling;
} GloveTestHomeCase;

/* Each case is one test, PREFIX/NAME. @cases outlive g_test_run(). */
void glove_test_home_add_cases (const char *prefix, GType type, const GloveTestHomeCase *cases, gsize n_cases);
/* Requests that every adapter refuses, and prompts that every adapter hands on byte for byte. */
void glove_test_home_add_hostile_cases (const char *prefix, GType type);
/* A line each: "dir MODE PATH", "file MODE PATH <<<CONTENT>>>", "env NAME=VALUE", "arg WORD", "trailing WORD". */
char *glove_test_home_to_text (const GloveRuntimeHome *home);

G_END_DECLS
