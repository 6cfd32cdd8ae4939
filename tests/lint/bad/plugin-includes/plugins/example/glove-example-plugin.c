/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <glove/glove-plugin.h>
#include <glove/glove-error.h>

static int
answer (void)
{
  return 42;
}
