/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-monitor.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "glove-linux-fd.h"

/* More than one descriptor never belongs there; room for a few, so that they are received, counted and closed. */
#define FDS_ROOM 4

gboolean
glove_linux_monitor_new_pair (int ret_fds[2], GError **error)
{
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) == 0)
    return TRUE;
  glove_error_set_errno (error, errno, "can't make a socket pair");
  return FALSE;
}

gboolean
glove_linux_monitor_send (int fd, guint32 type, guint32 argument, GError **error)
{
  GloveLaunchMessage message = { .type = type, .arg = { argument } };
  ssize_t n;

  do
    n = send (fd, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n == (ssize_t) sizeof message)
    return TRUE;
  if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
    glove_error_set_literal (error, GLOVE_ERROR_CLOSED, "the sandbox has ended");
  else
    glove_error_set_errno (error, n < 0 ? errno : EIO, "can't reach the launcher");
  return FALSE;
}

/* One packet; every descriptor but the first is closed and counted. Returns as recvmsg (2). */
static ssize_t
receive_packet (int fd, void *data, gsize size, int *ret_fd, guint *ret_n_fds, gboolean *ret_truncated)
{
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE (FDS_ROOM * sizeof (int))];
  } control;
  struct iovec vector = { data, size };
  struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
  ssize_t n;

  *ret_fd = -1;
  *ret_n_fds = 0;
  do
    n = recvmsg (fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return n;
  for (struct cmsghdr *c = CMSG_FIRSTHDR (&message); c != NULL; c = CMSG_NXTHDR (&message, c))
    {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        continue;
      for (gsize i = 0; i < (c->cmsg_len - CMSG_LEN (0)) / sizeof (int); i++)
        {
          glove_linux_autofd int received = -1;

          memcpy (&received, CMSG_DATA (c) + i * sizeof (int), sizeof (int));
          if ((*ret_n_fds)++ == 0)
            *ret_fd = g_steal_fd (&received);
        }
    }
  *ret_truncated = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  return n;
}

static GloveLinuxMonitorResult
wait_readable (int fd, int timeout_ms, GError **error)
{
  gint64 until = g_get_monotonic_time () + (gint64) timeout_ms * 1000;

  while (TRUE)
    {
      struct pollfd p = { .fd = fd, .events = POLLIN };
      gint64 left = MAX (until - g_get_monotonic_time (), 0);
      int n = poll (&p, 1, (int) ((left + 999) / 1000));

      if (n > 0)
        return GLOVE_LINUX_MONITOR_MESSAGE;
      if (n == 0)
        return GLOVE_LINUX_MONITOR_NOTHING;
      if (errno != EINTR)
        {
          glove_error_set_errno (error, errno, "can't wait for the launcher");
          return GLOVE_LINUX_MONITOR_BROKEN;
        }
    }
}

GloveLinuxMonitorResult
glove_linux_monitor_receive (int fd, int timeout_ms, GloveLaunchMessage *ret_message, int *ret_fd, GError **error)
{
  /* One byte more than a message has, so that a longer packet is told from a right one. */
  char data[sizeof (GloveLaunchMessage) + 1];
  glove_linux_autofd int received = -1;
  gboolean truncated = FALSE;
  guint n_fds = 0;
  ssize_t n;
  GloveLinuxMonitorResult result = wait_readable (fd, timeout_ms, error);

  if (result != GLOVE_LINUX_MONITOR_MESSAGE)
    return result;
  n = receive_packet (fd, data, sizeof data, &received, &n_fds, &truncated);
  if (n == 0 || (n < 0 && errno == ECONNRESET))
    return GLOVE_LINUX_MONITOR_CLOSED;
  if (n < 0 && errno == EAGAIN)
    return GLOVE_LINUX_MONITOR_NOTHING;
  if (n < 0)
    {
      glove_error_set_errno (error, errno, "can't hear the launcher");
      return GLOVE_LINUX_MONITOR_BROKEN;
    }
  if (n != (ssize_t) sizeof *ret_message || truncated || n_fds > 1)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_DATA,
                       "the launcher sent a packet of %" G_GSSIZE_FORMAT " bytes and %u descriptors", (gssize) n, n_fds);
      return GLOVE_LINUX_MONITOR_BROKEN;
    }
  memcpy (ret_message, data, sizeof *ret_message);
  *ret_fd = g_steal_fd (&received);
  return GLOVE_LINUX_MONITOR_MESSAGE;
}

GloveLinuxMonitorResult
glove_linux_monitor_receive_socket (int fd, guint32 *ret_tag, int *ret_fd)
{
  char data[sizeof (guint32) + 1];
  glove_linux_autofd int received = -1;
  gboolean truncated = FALSE;
  guint n_fds = 0;
  ssize_t n = receive_packet (fd, data, sizeof data, &received, &n_fds, &truncated);

  if (n < 0 && errno == EAGAIN)
    return GLOVE_LINUX_MONITOR_NOTHING;
  if (n <= 0)
    return GLOVE_LINUX_MONITOR_CLOSED;
  if (n != sizeof *ret_tag || truncated || n_fds != 1)
    return GLOVE_LINUX_MONITOR_NOTHING;
  memcpy (ret_tag, data, sizeof *ret_tag);
  *ret_fd = g_steal_fd (&received);
  return GLOVE_LINUX_MONITOR_MESSAGE;
}
