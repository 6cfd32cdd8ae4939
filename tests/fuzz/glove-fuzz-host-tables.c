/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-host-tables.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* The first byte chooses the table. Whatever comes, there is a list or an error, and what the list holds is as promised. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const char *text = (const char *) data + 1;
  g_autoptr (GPtrArray) list = NULL;
  g_autoptr (GError) error = NULL;

  if (size == 0)
    return 0;
  if (data[0] == 'm')
    list = glove_host_tables_parse_mounts (text, size - 1, &error);
  else if (data[0] == 's')
    list = glove_host_tables_parse_sockets (text, size - 1, &error);
  else
    list = glove_host_tables_parse_virtual_types (text, size - 1, &error);
  g_assert_true ((list == NULL) == (error != NULL));
  if (error != NULL)
    g_assert_true (error->domain == GLOVE_ERROR && error->message[0] != '\0');
  for (guint i = 0; list != NULL && i < list->len; i++)
    if (data[0] == 'm')
      {
        const GloveHostMount *mount = list->pdata[i];

        g_assert_true (mount->mount_point[0] == '/' && mount->fs_type[0] != '\0');
      }
    else
      g_assert_true (((const char *) list->pdata[i])[0] != '\0');
  return 0;
}
