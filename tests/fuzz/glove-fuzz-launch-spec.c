/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The launch spec's parser. What it takes must be within its own words: strings end, counts agree, and it is taken twice alike. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "glove-launch-order.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static size_t
walk (const GloveLaunchOrder *order)
{
  size_t total = strlen (order->host_name) + strlen (order->work_dir) + strlen (order->home) + strlen (order->executable)
                 + strlen (order->cgroup_name);

  for (uint32_t i = 0; i < order->n_argv; i++)
    total += strlen (order->argv[i]);
  for (uint32_t i = 0; i < order->n_env; i++)
    total += strlen (order->env[i]);
  for (uint32_t i = 0; i < order->n_quotas; i++)
    total += strlen (order->quotas[i].name);
  for (uint32_t i = 0; i < order->n_grants; i++)
    total += strlen (order->grants[i].host_path) + strlen (order->grants[i].target);
  for (uint32_t i = 0; i < order->n_files; i++)
    {
      total += strlen (order->files[i].path);
      for (uint32_t at = 0; at < order->files[i].length; at++)
        total += order->files[i].content[at] & 1;
    }
  if (order->argv[order->n_argv] != NULL || order->env[order->n_env] != NULL)
    abort ();
  if (order->uid != GLOVE_LAUNCH_ID_INSIDE || order->home[0] != '/' || strstr (order->home, "/../") != NULL)
    abort ();
  return total;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  uint8_t *copy = malloc (size > 0 ? size : 1);
  GloveLaunchOrder order;

  if (copy == NULL)
    return 0;
  if (size > 0)
    memcpy (copy, data, size);
  /* A length that disagrees ends everything early: let most inputs come further than that. */
  if (size >= 16 && size < GLOVE_LAUNCH_SPEC_MAX && data[size - 1] != 0xaa)
    for (int i = 0; i < 4; i++)
      copy[12 + i] = (uint8_t) (size >> (24 - 8 * i));
  if (glove_launch_order_parse (&order, copy, size))
    {
      if (walk (&order) > size)
        abort ();
      glove_launch_order_clear (&order);
    }
  else if (glove_launch_order_peek_monitor (data, size) < -1)
    abort ();
  free (copy);
  return 0;
}
