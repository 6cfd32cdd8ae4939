/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

G_BEGIN_DECLS

/* One test case of a suite; the table ends with a NULL name. */
typedef struct {
  const char *name;
  void (*run) (gconstpointer object);
} GloveContractCase;

extern const GloveContractCase glove_contract_runtime_cases[];
extern const GloveContractCase glove_contract_schema_cases[];
extern const GloveContractCase glove_contract_backend_cases[];
extern const GloveContractCase glove_contract_sink_cases[];

/* How many descriptors this process has open; G_MAXUINT where /proc is not mounted. */
guint glove_contract_count_descriptors (void);
/* [A-Za-z0-9._-]{1,128}, not "." or "..". */
gboolean glove_contract_is_id (const char *text);
/* What a failing call must leave: an error of the one domain, with a text. */
void glove_contract_assert_error (const GError *error);

G_END_DECLS
