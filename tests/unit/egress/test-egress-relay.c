/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The proxy as a whole, on real sockets of the loopback: bytes, bounds, and those who behave badly. */

#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "egress-fixture.h"
#include "glove-bounds.h"
#include "glove-egress-proxy-private.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-fd.h"

/* ---- bytes ---- */

#define BULK (100 * 1024 * 1024)

static guint64
fill_and_send (int fd, gsize total)
{
  g_autofree guint32 *block = g_new (guint32, 65536 / 4);
  guint64 sum = 0;

  for (gsize sent = 0; sent < total; sent += 65536)
    {
      for (gsize i = 0; i < 65536 / 4; i++)
        block[i] = (guint32) (sent / 4 + i) * 2654435761u;
      for (gsize i = 0; i < 65536 / 4; i++)
        sum = sum * 31 + block[i];
      send_all (fd, (const char *) block, 65536);
    }
  return sum;
}

static guint64
receive_and_sum (int fd, gsize total)
{
  g_autofree guint32 *block = g_new (guint32, 65536 / 4);
  guint64 sum = 0;

  for (gsize received = 0; received < total; received += 65536)
    {
      g_assert_cmpint (recv (fd, block, 65536, MSG_WAITALL), ==, 65536);
      for (gsize i = 0; i < 65536 / 4; i++)
        sum = sum * 31 + block[i];
    }
  return sum;
}

static guint64 server_sum;

static void
serve_source (int fd)
{
  server_sum = fill_and_send (fd, BULK);
}

static void
serve_sum (int fd)
{
  guint64 sum = receive_and_sum (fd, BULK);

  send_all (fd, (const char *) &sum, sizeof sum);
}

static void
test_bulk_down (void)
{
  Server *server = server_start (serve_source);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  guint64 sum = receive_and_sum (fd, BULK);
  char byte;

  g_assert_cmpint (recv (fd, &byte, 1, 0), ==, 0);
  close (fd);
  fixture_free (f);
  server_stop (server);
  g_assert_cmpuint (sum, ==, server_sum);
}

static void
test_bulk_up (void)
{
  Server *server = server_start (serve_sum);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  guint64 sent = fill_and_send (fd, BULK);
  guint64 sum = 0;

  g_assert_cmpint (recv (fd, &sum, sizeof sum, MSG_WAITALL), ==, sizeof sum);
  g_assert_cmpuint (sum, ==, sent);
  close (fd);
  fixture_free (f);
  server_stop (server);
}

/* Out of descriptors in the middle: bytes go on without a pipe, and come out whole. */
static void
test_bulk_without_pipes (void)
{
  Server *server = server_start (serve_sum);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  struct rlimit before, none;
  guint64 sent = 0, sum = 0;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  none = (struct rlimit) { 3, before.rlim_max };
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &none), ==, 0);
  sent = fill_and_send (fd, BULK);
  g_assert_cmpint (recv (fd, &sum, sizeof sum, MSG_WAITALL), ==, sizeof sum);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);
  g_assert_cmpuint (sum, ==, sent);
  close (fd);
  fixture_free (f);
  server_stop (server);
}

static void
test_no_descriptor_to_dial (void)
{
  Server *server = server_start (serve_echo);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int first = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  g_autofree char *request = g_strdup_printf ("CONNECT 127.0.0.1:%u HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n",
                                              server->port, f->credential);
  struct rlimit before, none;

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  none = (struct rlimit) { 3, before.rlim_max };
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &none), ==, 0);
  send_text (first, request);
  assert_refused (first, 503, "busy");
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);
  close (guest_tunnel (f, "127.0.0.1", server->port));
  fixture_free (f);
  server_stop (server);
}

static char *seen_bytes;

static void
serve_answer_after_end (int fd)
{
  g_autofree char *all = receive_rest (fd);
  g_autofree char *answer = g_strdup_printf ("got %s", all);

  send_text (fd, answer);
}

static void
serve_end_then_read (int fd)
{
  g_autofree char *all = NULL;

  send_text (fd, "first");
  shutdown (fd, SHUT_WR);
  all = receive_rest (fd);
  g_free (seen_bytes);
  seen_bytes = g_steal_pointer (&all);
}

static void
test_half_close_by_guest (void)
{
  Server *server = server_start (serve_answer_after_end);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  g_autofree char *answer = NULL;

  send_text (fd, "all");
  g_assert_cmpint (shutdown (fd, SHUT_WR), ==, 0);
  answer = receive_rest (fd);
  g_assert_cmpstr (answer, ==, "got all");
  wait_for_connections (f, 0);
  close (fd);
  fixture_free (f);
  server_stop (server);
}

static void
test_half_close_by_server (void)
{
  Server *server = server_start (serve_end_then_read);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  g_autofree char *first = receive_rest (fd);

  g_assert_cmpstr (first, ==, "first");
  send_text (fd, "later");
  close (fd);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (server);
  g_assert_cmpstr (seen_bytes, ==, "later");
  g_clear_pointer (&seen_bytes, g_free);
}

static gint64
cpu_time (void)
{
  struct rusage usage;

  g_assert_cmpint (getrusage (RUSAGE_SELF, &usage), ==, 0);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * G_USEC_PER_SEC + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* NE-13: a client that is gone is dropped at the first error, and its server with it. */
static void
test_client_gone (void)
{
  Server *server = server_start (serve_forever);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  const struct linger reset = { 1, 0 };

  for (guint i = 0; i < 2; i++)
    {
      int fd = guest_tunnel (f, "127.0.0.1", server->port);
      char bytes[4096];

      g_assert_cmpint (recv (fd, bytes, sizeof bytes, MSG_WAITALL), ==, sizeof bytes);
      if (i == 1)
        g_assert_cmpint (setsockopt (fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), ==, 0);
      close (fd);
      wait_for_connections (f, 0);
    }
  fixture_free (f);
  server_stop (server);
}

/* Who does not read holds nobody up, and nobody spins. */
static void
test_never_reads (void)
{
  Server *flood = server_start (serve_forever);
  Server *echo = server_start (serve_echo);
  g_autofree char *flood_rule = g_strdup_printf ("127.0.0.1:%u", flood->port);
  g_autofree char *echo_rule = g_strdup_printf ("127.0.0.1:%u", echo->port);
  Fixture *f = fixture_new ((const char *[]) { flood_rule, echo_rule, NULL }, NULL);
  int stuck = guest_tunnel (f, "127.0.0.1", flood->port);
  int fd = guest_tunnel (f, "127.0.0.1", echo->port);
  g_autofree char *echoed = NULL;
  gint64 before = 0;

  g_usleep (300 * 1000); /* every buffer is full by now */
  before = cpu_time ();
  g_usleep (300 * 1000);
  g_assert_cmpint (cpu_time () - before, <, 100 * 1000);
  send_text (fd, "still there\r\n\r\n");
  echoed = receive_head (fd);
  g_assert_cmpstr (echoed, ==, "still there\r\n\r\n");
  close (fd);
  close (stuck);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (flood);
  server_stop (echo);
}

static void
serve_reset (int fd)
{
  const struct linger reset = { 1, 0 };
  char byte;

  send_text (fd, "part");
  g_assert_cmpint (recv (fd, &byte, 1, 0), ==, 1);
  g_assert_cmpint (setsockopt (fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), ==, 0);
}

/* A reset stays one: what the client has is not all there was. */
static void
test_server_resets (void)
{
  Server *server = server_start (serve_reset);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int fd = guest_tunnel (f, "127.0.0.1", server->port);
  g_autofree char *part = receive_until (fd, "part");
  char byte;

  g_assert_cmpstr (part, ==, "part");
  send_text (fd, "x");
  g_assert_cmpint (recv (fd, &byte, 1, 0), ==, -1);
  g_assert_cmpint (errno, ==, ECONNRESET);
  close (fd);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (server);
}

/* ---- bounds ---- */

static void
test_many (void)
{
  enum { MANY = 300 };
  Server *server = server_start (serve_echo);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  g_autofree char *request = NULL;
  Fixture *f = NULL;
  struct rlimit limit;
  int fds[MANY];

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  if (limit.rlim_max < 2048)
    {
      g_test_skip ("needs 2048 open files");
      server_stop (server);
      return;
    }
  limit.rlim_cur = MAX (limit.rlim_cur, 2048);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  request = g_strdup_printf ("CONNECT 127.0.0.1:%u HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\nping\r\n\r\n", server->port,
                             f->credential);
  for (guint i = 0; i < MANY; i++)
    fds[i] = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  for (guint i = 0; i < GLOVE_EGRESS_CONNECTIONS_MAX; i++)
    {
      g_autofree char *established = NULL;
      g_autofree char *echoed = NULL;

      send_text (fds[i], request);
      established = receive_head (fds[i]);
      echoed = receive_head (fds[i]);
      g_assert_true (g_str_has_prefix (established, "HTTP/1.1 200"));
      g_assert_cmpstr (echoed, ==, "ping\r\n\r\n");
    }
  for (guint i = GLOVE_EGRESS_CONNECTIONS_MAX; i < MANY; i++)
    assert_refused (fds[i], 503, "busy");
  g_assert_cmpuint (glove_egress_proxy_get_n_connections (f->proxy), ==, GLOVE_EGRESS_CONNECTIONS_MAX);
  close (fds[0]);
  wait_for_connections (f, GLOVE_EGRESS_CONNECTIONS_MAX - 1);
  close (guest_tunnel (f, "127.0.0.1", server->port));
  for (guint i = 1; i < GLOVE_EGRESS_CONNECTIONS_MAX; i++)
    close (fds[i]);
  wait_for_connections (f, 0);
  fixture_free (f);
  server_stop (server);
}

/* NE-16 and slow clients: the head has its time, and then the place is free. */
static void
test_slow_head (void)
{
  Fixture *f = fixture_new (NULL, NULL);
  int silent = -1;
  int slow = -1;
  char byte;

  glove_egress_proxy_set_deadlines (f->proxy, 150, 1000);
  silent = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  slow = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  send_text (slow, "CONNECT evil.org:443 HTTP/1.1\r\nX: ");
  for (guint i = 0; i < 10; i++)
    {
      g_usleep (10 * 1000);
      send_all (slow, "y", 1);
    }
  assert_refused (slow, 408, "request-timeout");
  g_assert_cmpint (recv (silent, &byte, 1, 0), ==, 0);
  close (silent);
  wait_for_connections (f, 0);
  fixture_free (f);
}

static void
test_client_ends_before_request (void)
{
  Fixture *f = fixture_new (NULL, NULL);
  int fd = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);

  send_text (fd, "CONNECT evil.org:443 HTTP/1.1\r\n");
  close (fd);
  wait_for_connections (f, 0);
  fixture_free (f);
}

static void
test_odd_sockets (void)
{
  Fixture *f = fixture_new (NULL, (const char *[]) { "127.0.0.1:1", NULL });
  guint before = glove_fd_count_open ();
  int pair[2];
  int pipes[2];
  int accepted = -1;
  int fd = -1;
  guint16 port;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  glove_egress_proxy_take_socket (f->proxy, 0, pair[0]);
  close (pair[1]);
  glove_egress_proxy_take_socket (f->proxy, 0, socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  glove_egress_proxy_take_socket (f->proxy, 0, socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  glove_egress_proxy_take_socket (f->proxy, 0, listen_anywhere (&port));
  glove_egress_proxy_take_socket (f->proxy, 0, open ("/dev/null", O_RDWR | O_CLOEXEC));
  glove_egress_proxy_take_socket (f->proxy, 0, -1);
  g_assert_cmpint (pipe2 (pipes, O_CLOEXEC), ==, 0);
  glove_egress_proxy_take_socket (f->proxy, 0, pipes[0]);
  close (pipes[1]);
  for (guint32 tag = 2; tag != 1; tag = tag == 2 ? G_MAXUINT32 : 1)
    {
      fd = guest_pair (f, &accepted);
      glove_egress_proxy_take_socket (f->proxy, tag, accepted);
      close (fd);
    }
  g_assert_cmpuint (glove_fd_count_open (), ==, before);
  g_assert_cmpuint (glove_egress_proxy_get_n_connections (f->proxy), ==, 0);
  fixture_free (f);
}

/* ---- the end ---- */

static void
test_shutdown (void)
{
  Server *server = server_start (serve_forever);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  int relaying = guest_tunnel (f, "127.0.0.1", server->port);
  int reading = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  int late = -1;
  char bytes[65536];

  glove_egress_proxy_shutdown (f->proxy);
  g_assert_cmpuint (glove_egress_proxy_get_n_connections (f->proxy), ==, 0);
  while (recv (relaying, bytes, sizeof bytes, 0) > 0)
    ;
  g_assert_cmpint (recv (reading, bytes, 1, 0), <=, 0);
  late = guest_connect (f, GLOVE_EGRESS_TAG_PROXY);
  g_assert_cmpint (recv (late, bytes, 1, 0), ==, 0);
  glove_egress_proxy_shutdown (f->proxy);
  close (relaying);
  close (reading);
  close (late);
  fixture_free (f);
  server_stop (server);
}

/* Who shares the open file can make it block again, and then not read: that holds the thread, but not the end. */
static void
test_shutdown_of_a_blocked_thread (void)
{
  Server *server = server_start (serve_forever);
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server->port);
  Fixture *f = fixture_new ((const char *[]) { rule, NULL }, NULL);
  g_autofree char *request = g_strdup_printf ("CONNECT 127.0.0.1:%u HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n",
                                              server->port, f->credential);
  int accepted = -1;
  int fd = guest_pair (f, &accepted);
  int shared = fcntl (accepted, F_DUPFD_CLOEXEC, 3);

  glove_egress_proxy_take_socket (f->proxy, GLOVE_EGRESS_TAG_PROXY, accepted);
  g_assert_cmpint (fcntl (shared, F_SETFL, 0), ==, 0);
  send_text (fd, request);
  g_usleep (300 * 1000);
  glove_egress_proxy_shutdown (f->proxy);
  close (shared);
  close (fd);
  fixture_free (f);
  server_stop (server);
}

static gpointer
keep_arriving (gpointer data)
{
  Fixture *f = data;

  for (guint i = 0; i < 200; i++)
    close (guest_connect (f, GLOVE_EGRESS_TAG_PROXY));
  return NULL;
}

/* Sockets that arrive at the very end are closed like the others. */
static void
test_shutdown_while_sockets_arrive (void)
{
  for (guint round = 0; round < 20; round++)
    {
      Fixture *f = fixture_new (NULL, NULL);
      GThread *arriving = g_thread_new ("arriving", keep_arriving, f);

      g_usleep (round * 300);
      glove_egress_proxy_shutdown (f->proxy);
      g_thread_join (arriving);
      g_assert_cmpuint (glove_egress_proxy_get_n_connections (f->proxy), ==, 0);
      fixture_free (f);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  RETURN_WITHOUT_LOOPBACK ();
  g_test_add_func ("/egress/relay/bulk-down", test_bulk_down);
  g_test_add_func ("/egress/relay/bulk-up", test_bulk_up);
  g_test_add_func ("/egress/relay/bulk-without-pipes", test_bulk_without_pipes);
  g_test_add_func ("/egress/relay/no-descriptor-to-dial", test_no_descriptor_to_dial);
  g_test_add_func ("/egress/relay/half-close-by-guest", test_half_close_by_guest);
  g_test_add_func ("/egress/relay/half-close-by-server", test_half_close_by_server);
  g_test_add_func ("/egress/relay/client-gone", test_client_gone);
  g_test_add_func ("/egress/relay/never-reads", test_never_reads);
  g_test_add_func ("/egress/relay/server-resets", test_server_resets);
  g_test_add_func ("/egress/relay/many", test_many);
  g_test_add_func ("/egress/relay/slow-head", test_slow_head);
  g_test_add_func ("/egress/relay/client-ends-before-request", test_client_ends_before_request);
  g_test_add_func ("/egress/relay/odd-sockets", test_odd_sockets);
  g_test_add_func ("/egress/relay/shutdown", test_shutdown);
  g_test_add_func ("/egress/relay/shutdown-of-a-blocked-thread", test_shutdown_of_a_blocked_thread);
  g_test_add_func ("/egress/relay/shutdown-while-sockets-arrive", test_shutdown_while_sockets_arrive);
  return g_test_run ();
}
