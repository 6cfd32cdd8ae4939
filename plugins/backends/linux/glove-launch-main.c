/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#ifndef F_GET_SEALS
#define F_GET_SEALS 1034
#define F_SEAL_SHRINK 0x0002
#define F_SEAL_GROW 0x0004
#define F_SEAL_WRITE 0x0008
#endif

static int
parse_number (const char *text)
{
  char *end;
  long number;

  errno = 0;
  number = strtol (text, &end, 10);
  return errno != 0 || end == text || *end != '\0' || number < 0 || number > 1 << 20 ? -1 : (int) number;
}

/* A private copy of the spec. Nobody can change what is read: the file is sealed. */
static uint8_t *
map_spec (int fd, size_t *ret_length)
{
  const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  int seals = fcntl (fd, F_GET_SEALS);
  struct stat st;
  void *bytes;

  if (seals < 0 || (seals & needed) != needed || fstat (fd, &st) < 0 || st.st_size < 1 || st.st_size > GLOVE_LAUNCH_SPEC_MAX)
    return NULL;
  bytes = mmap (NULL, (size_t) st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  close (fd);
  *ret_length = (size_t) st.st_size;
  return bytes == MAP_FAILED ? NULL : bytes;
}

static bool
is_message_socket (int fd)
{
  int domain = 0, type = 0;
  socklen_t length = sizeof domain;

  if (fd < 0 || getsockopt (fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) < 0)
    return false;
  length = sizeof type;
  return getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && domain == AF_UNIX && type == SOCK_SEQPACKET;
}

/* Every descriptor that the spec names is open, and the sockets are what they should be. */
static bool
descriptors_are_there (const GloveLaunchOrder *order)
{
  const int others[] = { order->stdio[0], order->stdio[1], order->stdio[2], order->cgroup, order->cgroup_parent };

  if (!is_message_socket (order->monitor) || (order->egress >= 0 && !is_message_socket (order->egress)))
    return false;
  for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
    if (others[i] >= 0 && fcntl (others[i], F_GETFD) < 0)
      return false;
  for (uint32_t i = 0; i < order->n_grants; i++)
    if (order->grants[i].access != GLOVE_LAUNCH_ACCESS_MASK && fcntl (order->grants[i].fd, F_GETFD) < 0)
      return false;
  return true;
}

int
main (int argc, char **argv)
{
  GloveLaunchOrder order;
  size_t length;
  uint8_t *bytes;
  int fd = argc == 2 ? parse_number (argv[1]) : -1;

  if (fd < 0 || (bytes = map_spec (fd, &length)) == NULL)
    return 2;
  if (!glove_launch_order_parse (&order, bytes, length))
    {
      int monitor = glove_launch_order_peek_monitor (bytes, length);

      if (!is_message_socket (monitor))
        return 2;
      glove_launch_report_to (monitor);
      glove_launch_fail_with (GLOVE_LAUNCH_STAGE_SPEC, EINVAL, GLOVE_LAUNCH_NO_INDEX);
    }
  if (!descriptors_are_there (&order))
    {
      if (is_message_socket (order.monitor))
        glove_launch_report_to (order.monitor);
      glove_launch_fail_with (GLOVE_LAUNCH_STAGE_SPEC, EBADF, GLOVE_LAUNCH_NO_INDEX);
    }
  glove_launch_report_to (order.monitor);
  return glove_launch_monitor_run (&order);
}
