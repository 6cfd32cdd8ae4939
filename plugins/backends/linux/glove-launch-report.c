/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "glove-launch-sys.h"

static int report_socket = -1;

int
glove_launch_send (int socket, const GloveLaunchMessage *message, int passed, int flags)
{
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control = { 0 };
  struct iovec io = { .iov_base = (void *) message, .iov_len = sizeof *message };
  struct msghdr packet = { .msg_iov = &io, .msg_iovlen = 1 };
  ssize_t n;

  if (passed >= 0)
    {
      packet.msg_control = &control;
      packet.msg_controllen = sizeof control.bytes;
      control.header.cmsg_level = SOL_SOCKET;
      control.header.cmsg_type = SCM_RIGHTS;
      control.header.cmsg_len = CMSG_LEN (sizeof (int));
      memcpy (CMSG_DATA (&control.header), &passed, sizeof passed);
    }
  do
    n = sendmsg (socket, &packet, MSG_NOSIGNAL | flags);
  while (n < 0 && errno == EINTR);
  return n == (ssize_t) sizeof *message ? 0 : -1;
}

int
glove_launch_receive (int socket, GloveLaunchMessage *message, int *ret_passed, int flags)
{
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control = { 0 };
  struct iovec io = { .iov_base = message, .iov_len = sizeof *message };
  struct msghdr packet = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes };
  struct cmsghdr *header;
  int passed = -1;
  ssize_t n;

  memset (message, 0, sizeof *message);
  if (ret_passed != NULL)
    *ret_passed = -1;
  /* A peer that left something of ours unread makes one ECONNRESET, which comes before what it sent. Its last word still counts. */
  do
    n = recvmsg (socket, &packet, MSG_CMSG_CLOEXEC | flags);
  while (n < 0 && (errno == EINTR || errno == ECONNRESET));
  if (n < 0)
    return -1;
  header = CMSG_FIRSTHDR (&packet);
  if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
      && header->cmsg_len == CMSG_LEN (sizeof (int)))
    memcpy (&passed, CMSG_DATA (header), sizeof passed);
  if (passed >= 0 && ret_passed == NULL)
    close (passed);
  else if (ret_passed != NULL)
    *ret_passed = passed;
  if (n == 0)
    return 0;
  if (n == (ssize_t) sizeof *message && (packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
    return 1;
  if (ret_passed != NULL && *ret_passed >= 0)
    {
      close (*ret_passed);
      *ret_passed = -1;
    }
  errno = EBADMSG;
  return -1;
}

void
glove_launch_hang_up (int socket)
{
  GloveLaunchMessage unread;

  if (socket >= 0 && shutdown (socket, SHUT_RD) == 0)
    while (glove_launch_receive (socket, &unread, NULL, MSG_DONTWAIT) == 1)
      ;
}

void
glove_launch_report_to (int socket)
{
  report_socket = socket;
}

_Noreturn void
glove_launch_fail_with (GloveLaunchStage stage, int error, uint32_t index)
{
  GloveLaunchMessage message = { .type = GLOVE_LAUNCH_FAILED, .arg = { stage, (uint32_t) error, index } };

  if (report_socket >= 0 && glove_launch_send (report_socket, &message, -1, 0) < 0)
    _exit (2); /* nobody is left to hear it */
  glove_launch_hang_up (report_socket);
  _exit (1);
}

_Noreturn void
glove_launch_fail (GloveLaunchStage stage, uint32_t index)
{
  glove_launch_fail_with (stage, errno, index);
}

static int
compare_descriptors (const void *a, const void *b)
{
  int left = *(const int *) a, right = *(const int *) b;

  return (left > right) - (left < right);
}

int
glove_launch_close_all_but (int *keep, unsigned count)
{
  unsigned next = 0;

  qsort (keep, count, sizeof *keep, compare_descriptors);
  for (unsigned i = 0; i < count; i++)
    {
      if (keep[i] < 0)
        continue;
      if ((unsigned) keep[i] > next && sys_close_range (next, (unsigned) keep[i] - 1) < 0)
        return -1;
      next = (unsigned) keep[i] + 1;
    }
  return sys_close_range (next, UINT_MAX);
}
