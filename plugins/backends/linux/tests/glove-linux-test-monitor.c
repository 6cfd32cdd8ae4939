/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Packets that a launcher, or what took its place, may send. */

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "glove-linux-fd.h"
#include "glove-linux-monitor.h"

static guint
count_fds (void)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  if (dir == NULL)
    return 0;
  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
send_packet (int fd, const void *data, gsize length, guint n_fds)
{
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE (8 * sizeof (int))];
  } control = { 0 };
  struct iovec vector = { (void *) data, length };
  struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

  if (n_fds > 0)
    {
      struct cmsghdr *c;

      message.msg_control = &control;
      message.msg_controllen = CMSG_SPACE (n_fds * sizeof (int));
      c = CMSG_FIRSTHDR (&message);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN (n_fds * sizeof (int));
      for (guint i = 0; i < n_fds; i++)
        memcpy (CMSG_DATA (c) + i * sizeof (int), &fd, sizeof fd);
    }
  g_assert_cmpint (sendmsg (fd, &message, MSG_NOSIGNAL), ==, (gssize) length);
}

static void
test_sizes (void)
{
  static const gsize wrong[] = { 1, sizeof (GloveLaunchMessage) - 1, sizeof (GloveLaunchMessage) + 1, 4096 };
  int pair[2];
  g_autoptr (GError) error = NULL;
  GloveLaunchMessage message = { .type = GLOVE_LAUNCH_READY, .arg = { 1, 2, 3 } }, received;
  g_autofree char *zeroes = g_malloc0 (4096);
  int fd = -1;

  g_assert_true (glove_linux_monitor_new_pair (pair, &error));
  send_packet (pair[1], &message, sizeof message, 0);
  g_assert_cmpint (glove_linux_monitor_receive (pair[0], 1000, &received, &fd, &error), ==, GLOVE_LINUX_MONITOR_MESSAGE);
  g_assert_cmpmem (&message, sizeof message, &received, sizeof received);
  g_assert_cmpint (fd, ==, -1);
  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      send_packet (pair[1], zeroes, wrong[i], 0);
      g_assert_cmpint (glove_linux_monitor_receive (pair[0], 1000, &received, &fd, &error), ==, GLOVE_LINUX_MONITOR_BROKEN);
      g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_INVALID_DATA);
      g_clear_error (&error);
    }
  g_assert_cmpint (glove_linux_monitor_receive (pair[0], 0, &received, &fd, &error), ==, GLOVE_LINUX_MONITOR_NOTHING);
  g_assert_cmpint (glove_linux_monitor_receive (pair[0], 30, &received, &fd, &error), ==, GLOVE_LINUX_MONITOR_NOTHING);
  close (pair[1]);
  g_assert_cmpint (glove_linux_monitor_receive (pair[0], 1000, &received, &fd, &error), ==, GLOVE_LINUX_MONITOR_CLOSED);
  g_assert_no_error (error);
  g_assert_false (glove_linux_monitor_send (pair[0], GLOVE_LAUNCH_START, 0, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_CLOSED);
  close (pair[0]);
}

/* Zero, one, two and more descriptors: one is taken, none is leaked, all are close-on-exec. */
static void
test_descriptors (void)
{
  GloveLaunchMessage message = { .type = GLOVE_LAUNCH_TERMINAL };
  g_autoptr (GError) error = NULL;
  guint before = count_fds ();
  int pair[2];

  g_assert_true (glove_linux_monitor_new_pair (pair, &error));
  for (guint n = 0; n <= 8; n++)
    {
      GloveLaunchMessage received;
      int fd = -1;

      send_packet (pair[1], &message, sizeof message, n);
      g_assert_cmpint (glove_linux_monitor_receive (pair[0], 1000, &received, &fd, &error), ==,
                       n <= 1 ? GLOVE_LINUX_MONITOR_MESSAGE : GLOVE_LINUX_MONITOR_BROKEN);
      g_clear_error (&error);
      if (n != 1)
        {
          g_assert_cmpint (fd, ==, -1);
          continue;
        }
      g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
      close (fd);
    }
  close (pair[0]);
  close (pair[1]);
  g_assert_cmpuint (count_fds (), ==, before);
}

/* The agent's own side chooses these: what is malformed is skipped, not fatal. */
static void
test_sockets (void)
{
  g_autoptr (GError) error = NULL;
  guint before = count_fds ();
  guint32 tag = 77, got = 0;
  int pair[2];
  int fd = -1;

  g_assert_true (glove_linux_monitor_new_pair (pair, &error));
  g_assert_cmpint (glove_linux_monitor_receive_socket (pair[0], &got, &fd), ==, GLOVE_LINUX_MONITOR_NOTHING);
  for (guint n = 0; n <= 5; n++)
    {
      send_packet (pair[1], &tag, sizeof tag, n);
      g_assert_cmpint (glove_linux_monitor_receive_socket (pair[0], &got, &fd), ==,
                       n == 1 ? GLOVE_LINUX_MONITOR_MESSAGE : GLOVE_LINUX_MONITOR_NOTHING);
      if (n == 1)
        {
          g_assert_cmpuint (got, ==, 77);
          close (fd);
        }
    }
  send_packet (pair[1], "abcdefgh", 8, 1);
  g_assert_cmpint (glove_linux_monitor_receive_socket (pair[0], &got, &fd), ==, GLOVE_LINUX_MONITOR_NOTHING);
  send_packet (pair[1], "abc", 3, 1);
  g_assert_cmpint (glove_linux_monitor_receive_socket (pair[0], &got, &fd), ==, GLOVE_LINUX_MONITOR_NOTHING);
  close (pair[1]);
  g_assert_cmpint (glove_linux_monitor_receive_socket (pair[0], &got, &fd), ==, GLOVE_LINUX_MONITOR_CLOSED);
  close (pair[0]);
  g_assert_cmpuint (count_fds (), ==, before);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/linux/monitor/sizes", test_sizes);
  g_test_add_func ("/linux/monitor/descriptors", test_descriptors);
  g_test_add_func ("/linux/monitor/sockets", test_sockets);
  return g_test_run ();
}
