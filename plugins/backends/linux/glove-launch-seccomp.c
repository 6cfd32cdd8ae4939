/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "glove-seccomp-programs.h"

#if defined(__x86_64__) && !defined(__ILP32__)
#define PROGRAM(which) glove_seccomp_##which##_x86_64
#elif defined(__aarch64__)
#define PROGRAM(which) glove_seccomp_##which##_aarch64
#elif defined(__i386__)
#define PROGRAM(which) glove_seccomp_##which##_i386
#elif defined(__arm__)
#define PROGRAM(which) glove_seccomp_##which##_arm
#else
#error "no seccomp program for this architecture"
#endif

static void
load (const struct sock_filter *program, size_t length)
{
  struct sock_fprog fprog = { .len = (unsigned short) length, .filter = (struct sock_filter *) program };

  if (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog, 0, 0) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_SECCOMP, GLOVE_LAUNCH_NO_INDEX);
}

void
glove_launch_seccomp_load_agent (void)
{
  load (PROGRAM (agent), sizeof PROGRAM (agent) / sizeof (struct sock_filter));
}

void
glove_launch_seccomp_load_init (void)
{
  load (PROGRAM (init), sizeof PROGRAM (init) / sizeof (struct sock_filter));
}
