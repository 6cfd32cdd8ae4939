/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include "glove-launch-protocol.h"

/* Messages between the parts of glove-launch itself, never seen by the module. */
#define GLOVE_LAUNCH_GO 100u          /* monitor → PID 1: the maps are written, the cgroup is entered */
#define GLOVE_LAUNCH_AGENT_ENDED 101u /* PID 1 → monitor: arg: wait status */
#define GLOVE_LAUNCH_AGENT_READY 102u /* agent → PID 1: everything but exec is done */

#define GLOVE_LAUNCH_NO_INDEX 0xffffffffu

/* Sends one message, with @passed as its only descriptor unless that is -1. @flags: MSG_DONTWAIT or 0. 0, or -1 with errno. */
int glove_launch_send (int socket, const GloveLaunchMessage *message, int passed, int flags);
/* Receives one. 1, 0 at the end of file, -1 with errno (EBADMSG: not one message of ours). At most one descriptor comes with it; it
 * is closed when @ret_passed is NULL. */
int glove_launch_receive (int socket, GloveLaunchMessage *message, int *ret_passed, int flags);

/* Before a socket is closed for good: reads away what the peer sent, so that it gets an end of file, and not ECONNRESET. */
void glove_launch_hang_up (int socket);

/* Where glove_launch_fail() of this process reports to. */
void glove_launch_report_to (int socket);
/* Reports @stage with errno and ends the process: in the sandbox nobody goes on after an error. */
_Noreturn void glove_launch_fail (GloveLaunchStage stage, uint32_t index);
/* The same where the error number is known otherwise. */
_Noreturn void glove_launch_fail_with (GloveLaunchStage stage, int error, uint32_t index);

/* Closes every descriptor but those in @keep (negative ones are skipped). @keep is sorted on return. */
int glove_launch_close_all_but (int *keep, unsigned count);
