/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-thing.h"

static const GOptionEntry entries[] = {
  { "show-it", 's', 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
  { "show", 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
};
