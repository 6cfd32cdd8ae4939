/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-limits.h"
#include "glove-macros.h"

G_BEGIN_DECLS

/**
 * GloveTermination:
 *
 * Why a session ended (contracts §10); the nicks are the wire names with underscores.
 *
 * Since: 1.0
 */
typedef enum {
  GLOVE_TERMINATION_EXITED,
  GLOVE_TERMINATION_SIGNALED,
  GLOVE_TERMINATION_CPU_TIME_LIMIT,
  GLOVE_TERMINATION_MEMORY_LIMIT,
  GLOVE_TERMINATION_PID_LIMIT,
  GLOVE_TERMINATION_WALL_TIME_LIMIT,
  GLOVE_TERMINATION_DISK_LIMIT,
  GLOVE_TERMINATION_TERMINAL_OUTPUT_LIMIT,
  GLOVE_TERMINATION_SUPERVISOR_ERROR,
} GloveTermination;

/**
 * GloveUsage:
 *
 * What was used, as the kernel counted it; G_MAXUINT64 where nothing counted.
 *
 * Since: 1.0
 */
typedef struct {
  guint64 cpu_time_ms;
  guint64 peak_memory_bytes;
  guint64 peak_pids;
  guint64 wall_time_ms;
  guint64 disk_bytes;
  guint64 output_bytes;
} GloveUsage;

/**
 * GloveOutcome:
 * @exit_code: 0..255, with %GLOVE_TERMINATION_EXITED
 * @signal: the signal that ended the agent, or 0; set beside a limit's cause too
 * @pid_limit_hits: forks refused by the limit on processes
 *
 * Since: 1.0
 */
typedef struct {
  GloveTermination cause;
  guint8 exit_code;
  guint8 signal;
  guint64 pid_limit_hits;
  GloveUsage usage;
} GloveOutcome;

GLOVE_AVAILABLE_IN_1_0 const char *glove_termination_get_name (GloveTermination cause);
/* What a shell would say: the exit code, or 128 + signal; 137 for a limit that killed. */
GLOVE_AVAILABLE_IN_1_0 int glove_outcome_get_shell_status (const GloveOutcome *self);

G_END_DECLS
