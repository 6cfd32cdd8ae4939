/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <glove/glove-plugin.h>

#include "glove-launch-protocol.h"

G_BEGIN_DECLS

typedef enum {
  GLOVE_LINUX_MONITOR_MESSAGE,
  GLOVE_LINUX_MONITOR_NOTHING, /* nothing arrived in time */
  GLOVE_LINUX_MONITOR_CLOSED,
  GLOVE_LINUX_MONITOR_BROKEN, /* error set */
} GloveLinuxMonitorResult;

/* Two connected packet sockets, both close-on-exec. */
gboolean glove_linux_monitor_new_pair (int ret_fds[2], GError **error);
/* Never waits and never raises SIGPIPE. */
gboolean glove_linux_monitor_send (int fd, guint32 type, guint32 argument, GError **error);
/* Waits at most @timeout_ms (0: not at all). @ret_fd: the one descriptor that came along, owned by the caller, or -1; a second one
 * breaks the protocol. */
GloveLinuxMonitorResult glove_linux_monitor_receive (int fd, int timeout_ms, GloveLaunchMessage *ret_message, int *ret_fd,
                                                     GError **error);
/* One packet of the egress channel: its tag and its socket. What arrives was chosen inside the sandbox: a malformed packet is
 * skipped (NOTHING), its descriptors closed. */
GloveLinuxMonitorResult glove_linux_monitor_receive_socket (int fd, guint32 *ret_tag, int *ret_fd);

G_END_DECLS
