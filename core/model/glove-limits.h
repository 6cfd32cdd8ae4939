/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/**
 * GloveLimit:
 *
 * A thing of which a session may use only so much. The nick is the name that `--limit NAME=VALUE` takes.
 *
 * Since: 1.0
 */
typedef enum {
  GLOVE_LIMIT_MEMORY,     /* "memory": bytes, the whole session */
  GLOVE_LIMIT_PIDS,       /* "pids": processes and threads, the whole session */
  GLOVE_LIMIT_CPUS,       /* "cpus": thousandths of a processor, the whole session */
  GLOVE_LIMIT_CPU_TIME,   /* "cpu-time": milliseconds of processor time, the whole session */
  GLOVE_LIMIT_WALL_TIME,  /* "wall-time": milliseconds */
  GLOVE_LIMIT_OUTPUT,     /* "output": bytes written to stdout, stderr or the terminal */
  GLOVE_LIMIT_OPEN_FILES, /* "open-files": descriptors, each process */
  GLOVE_LIMIT_FILE_SIZE,  /* "file-size": bytes of one file */
  GLOVE_LIMIT_HOME_SIZE,  /* "home-size": bytes of the private home */
  GLOVE_LIMIT_TMP_SIZE,   /* "tmp-size": bytes of /tmp and /var/tmp together */
  GLOVE_LIMIT_SHM_SIZE,   /* "shm-size": bytes of /dev/shm */
  GLOVE_N_LIMITS
} GloveLimit;

/**
 * GloveLimitMechanism:
 *
 * What enforces a limit (contracts §11.2 "mechanism names").
 *
 * Since: 1.0
 */
typedef enum {
  GLOVE_LIMIT_MECHANISM_UNAVAILABLE,
  GLOVE_LIMIT_MECHANISM_RLIMIT,
  GLOVE_LIMIT_MECHANISM_CGROUP_V2,
  GLOVE_LIMIT_MECHANISM_WATCHDOG,
  GLOVE_LIMIT_MECHANISM_FILESYSTEM_QUOTA,
  GLOVE_LIMIT_MECHANISM_BYTE_COUNTER,
} GloveLimitMechanism;

/**
 * GloveLimits:
 * @value: the limit, by #GloveLimit; 0 is no limit
 * @requested: the operator asked for it by name, so it is enforced or the start is refused
 *
 * Since: 1.0
 */
typedef struct {
  guint64 value[GLOVE_N_LIMITS];
  gboolean requested[GLOVE_N_LIMITS];
} GloveLimits;

/* The defaults of `glove exec`: documented in glove-exec(1). */
GLOVE_AVAILABLE_IN_1_0 void glove_limits_init_default (GloveLimits *self);
/* One "NAME=VALUE" as typed: unknown name, 0, a malformed value or one past 2^63 - 1 is GLOVE_ERROR_INVALID_ARGUMENT. */
GLOVE_AVAILABLE_IN_1_0 gboolean glove_limits_parse_option (GloveLimits *self, const char *text, GError **error);
GLOVE_AVAILABLE_IN_1_0 const char *glove_limit_get_name (GloveLimit limit);
/* "2 GiB", "90 s", "512": for people. */
GLOVE_AVAILABLE_IN_1_0 char *glove_limit_format_value (GloveLimit limit, guint64 value);
GLOVE_AVAILABLE_IN_1_0 const char *glove_limit_mechanism_get_name (GloveLimitMechanism mechanism);

G_END_DECLS
