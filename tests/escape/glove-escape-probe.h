/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <errno.h>
#include <stddef.h>

/* Runs inside the sandbox, where nothing of Glove is: the C library only. A probe tries one way out. */

typedef enum {
  PROBE_CONTAINED,
  PROBE_ESCAPED,
  PROBE_SKIPPED, /* the detail names what the host lacks */
} ProbeVerdict;

typedef ProbeVerdict (*ProbeFunc) (void);

typedef struct {
  const char *name;
  ProbeFunc run;
} Probe;

/* One table a file, ended by a NULL name. */
extern const Probe probes_syscalls[];
extern const Probe probes_namespaces[];
extern const Probe probes_files[];
extern const Probe probes_proc[];
extern const Probe probes_network[];
extern const Probe probes_process[];

/* What was found, for the report. */
void probe_detail (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
/* A fact about the host, given as KEY=VALUE on the command line; "" when it was not given. */
const char *probe_fact (const char *key);

/* The call must have failed with one of the errnos (ended by 0); notes what it did. */
ProbeVerdict probe_must_fail (long result, const int *errnos);
#define PROBE_MUST_FAIL(result, ...) probe_must_fail ((result), (const int[]){ __VA_ARGS__, 0 })
/* Nothing may be there. */
ProbeVerdict probe_must_be_absent (const char *path);
/* Opening must fail with one of the errnos. */
ProbeVerdict probe_open_must_fail (const char *path, int flags, const int *errnos);
#define PROBE_OPEN_MUST_FAIL(path, flags, ...) probe_open_must_fail ((path), (flags), (const int[]){ __VA_ARGS__, 0 })
/* The value behind "NAME:" of /proc/self/status, or -1. Base 16. */
long long probe_status_value (const char *name);
