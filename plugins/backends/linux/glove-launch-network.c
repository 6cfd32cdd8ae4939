/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

void
glove_launch_network_up (GloveLaunchSandbox *self)
{
  struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
  int s = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  if (s < 0 || ioctl (s, SIOCSIFFLAGS, &request) < 0)
    glove_launch_fail (GLOVE_LAUNCH_STAGE_LOOPBACK, GLOVE_LAUNCH_NO_INDEX);
  close (s);
}

void
glove_launch_network_listen (GloveLaunchSandbox *self)
{
  for (uint32_t i = 0; i < self->order->n_listeners; i++)
    {
      GloveLaunchMessage message = { .type = GLOVE_LAUNCH_PORT, .arg = { self->order->listeners[i].tag } };
      struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons (self->order->listeners[i].port),
        .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
      };
      socklen_t length = sizeof address;
      int on = 1, s = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

      if (s < 0 || setsockopt (s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0
          || bind (s, (struct sockaddr *) &address, sizeof address) < 0 || listen (s, SOMAXCONN) < 0
          || getsockname (s, (struct sockaddr *) &address, &length) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_LISTEN, i);
      self->listeners[i] = s;
      message.arg[1] = ntohs (address.sin_port);
      if (glove_launch_send (self->channel, &message, -1, 0) < 0)
        glove_launch_fail (GLOVE_LAUNCH_STAGE_SUPERVISOR_GONE, i);
    }
}
