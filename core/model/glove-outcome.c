/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-outcome.h"

/**
 * glove_termination_get_name:
 * @cause: a cause
 *
 * Returns: (transfer none) (nullable): the wire name (contracts §10), constant; %NULL for a number that is no cause
 *
 * Since: 1.0
 */
const char *
glove_termination_get_name (GloveTermination cause)
{
  static const char *const names[] = {
    [GLOVE_TERMINATION_EXITED] = "exited",
    [GLOVE_TERMINATION_SIGNALED] = "signaled",
    [GLOVE_TERMINATION_CPU_TIME_LIMIT] = "cpu_time_limit",
    [GLOVE_TERMINATION_MEMORY_LIMIT] = "memory_limit",
    [GLOVE_TERMINATION_PID_LIMIT] = "pid_limit",
    [GLOVE_TERMINATION_WALL_TIME_LIMIT] = "wall_time_limit",
    [GLOVE_TERMINATION_DISK_LIMIT] = "disk_limit",
    [GLOVE_TERMINATION_TERMINAL_OUTPUT_LIMIT] = "terminal_output_limit",
    [GLOVE_TERMINATION_SUPERVISOR_ERROR] = "supervisor_error",
  };

  return (guint) cause < G_N_ELEMENTS (names) ? names[cause] : NULL;
}

/**
 * glove_outcome_get_shell_status:
 * @self: an outcome
 *
 * Returns: the exit code; 128 + the signal; 137 for a limit; 125 when glove itself failed
 *
 * Since: 1.0
 */
int
glove_outcome_get_shell_status (const GloveOutcome *self)
{
  g_return_val_if_fail (self != NULL, 125);

  switch (self->cause)
    {
    case GLOVE_TERMINATION_EXITED:
      return self->exit_code;
    case GLOVE_TERMINATION_SIGNALED:
      return 128 + (self->signal & 127);
    case GLOVE_TERMINATION_SUPERVISOR_ERROR:
      return 125;
    case GLOVE_TERMINATION_CPU_TIME_LIMIT:
    case GLOVE_TERMINATION_MEMORY_LIMIT:
    case GLOVE_TERMINATION_PID_LIMIT:
    case GLOVE_TERMINATION_WALL_TIME_LIMIT:
    case GLOVE_TERMINATION_DISK_LIMIT:
    case GLOVE_TERMINATION_TERMINAL_OUTPUT_LIMIT:
    default:
      return 137;
    }
}
