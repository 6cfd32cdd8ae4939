/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <stdint.h>

#include "glove-error.h"
#include "glove-json.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* What was read is written by json-glib and read again: the two must agree, unless json-glib writes something that is not strict. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) root = glove_json_parse ((const char *) data, size, &error);
  g_autoptr (JsonNode) again = NULL;
  g_autofree char *text = NULL;

  g_assert_true ((root == NULL) == (error != NULL));
  if (root == NULL)
    {
      g_assert_true (error->domain == GLOVE_ERROR);
      g_assert_true (error->code == GLOVE_ERROR_INVALID_DATA || error->code == GLOVE_ERROR_LIMIT);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      return 0;
    }
  text = json_to_string (root, FALSE);
  again = glove_json_parse (text, strlen (text), NULL);
  g_assert_nonnull (again);
  g_assert_true (json_node_equal (root, again));
  return 0;
}
