/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* P11: what the network proxy costs. Bulk throughput and connect latency through it (with a memory sink, and with the durable JSONL
 * sink) beside the same over the loopback directly, and through tinyproxy and squid where they are installed. All of them are
 * measured in turn, round after round, and the medians compared. Prints a JSON array of rows.
 *
 * One round trip is: connect, be let through, send one small request, receive its one-byte answer. */

#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-audit-log.h"
#include "glove-audit-memory.h"
#include "glove-egress-proxy.h"
#include "glove-endpoint.h"
#include "glove-jsonl-sink.h"

#define BULK_BYTES (G_GUINT64_CONSTANT (512) * 1024 * 1024)
#define BULK_ROUNDS 9
#define LATENCY_ROUNDS 15
#define LATENCY_BATCH 30

extern char **environ;

typedef enum { VIA_NOTHING, VIA_GLOVE, VIA_GLOVE_DURABLE, VIA_TINYPROXY, VIA_SQUID, N_VIA } Via;

static const char *const via_names[N_VIA] = { "direct", "glove", "glove, durable", "tinyproxy", "squid" };

typedef struct {
  gboolean present;
  guint16 port;       /* where a client connects */
  char *field;        /* the credential's */
  pid_t pid;          /* a peer's */
  GloveEgressProxy *proxy;
  GloveAuditLog *log;
  int listener;
  GThread *thread;
  GArray *bulk;    /* MB/s */
  GArray *latency; /* µs */
} Way;

static Way ways[N_VIA];
static guint16 server_port;

static void
check (gboolean ok, const char *what)
{
  if (ok)
    return;
  g_printerr ("glove-bench-egress: %s: %s\n", what, g_strerror (errno));
  exit (1);
}

static struct sockaddr_in
loopback (guint16 port)
{
  return (struct sockaddr_in) {
    .sin_family = AF_INET, .sin_port = htons (port), .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
  };
}

static int
listen_anywhere (guint16 *ret_port)
{
  struct sockaddr_in address = loopback (0);
  socklen_t length = sizeof address;
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  check (fd >= 0 && bind (fd, (struct sockaddr *) &address, sizeof address) == 0 && listen (fd, 128) == 0
             && getsockname (fd, (struct sockaddr *) &address, &length) == 0,
         "listening");
  *ret_port = ntohs (address.sin_port);
  return fd;
}

/* --- the server, a process of its own --- */

static void
serve (int fd)
{
  static char block[256 * 1024];
  guint64 wanted = 0;

  if (recv (fd, &wanted, sizeof wanted, MSG_WAITALL) != sizeof wanted)
    return;
  wanted = MAX (wanted, 1);
  while (wanted > 0)
    {
      ssize_t count = send (fd, block, (gsize) MIN (wanted, sizeof block), MSG_NOSIGNAL);

      if (count <= 0)
        return;
      wanted -= (guint64) count;
    }
}

static pid_t
start_server (void)
{
  int listener = listen_anywhere (&server_port);
  const int one = 1;
  pid_t pid = fork ();

  check (pid >= 0, "starting the server");
  if (pid > 0)
    {
      close (listener);
      return pid;
    }
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  while (TRUE)
    {
      int fd = accept4 (listener, NULL, NULL, SOCK_CLOEXEC);

      if (fd < 0)
        continue;
      (void) setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      serve (fd);
      close (fd);
    }
}

/* --- the client --- */

static int
client_connect (guint16 port)
{
  struct sockaddr_in address = loopback (port);
  const int one = 1;
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  check (fd >= 0, "making a socket");
  (void) setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect (fd, (struct sockaddr *) &address, sizeof address) < 0)
    {
      close (fd);
      return -1;
    }
  return fd;
}

static int
client_enter (const Way *way)
{
  int fd = client_connect (way->port);
  char request[512];
  char answer[2048];
  gsize filled = 0;

  check (fd >= 0, "connecting");
  if (way->port == server_port)
    return fd;
  g_snprintf (request, sizeof request, "CONNECT 127.0.0.1:%u HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n", server_port,
              server_port, way->field == NULL ? "" : way->field);
  check (send (fd, request, strlen (request), MSG_NOSIGNAL) == (ssize_t) strlen (request), "asking the proxy");
  while (filled < 4 || memcmp (answer + filled - 4, "\r\n\r\n", 4) != 0)
    {
      ssize_t count = recv (fd, answer + filled, sizeof answer - filled, 0);

      check (count > 0, "reading the proxy's answer");
      filled += (gsize) count;
    }
  errno = 0;
  check (filled > 12 && memcmp (answer + 8, " 200", 4) == 0, "the proxy refused");
  return fd;
}

static double
measure_bulk (const Way *way)
{
  static char block[256 * 1024];
  const guint64 wanted = BULK_BYTES;
  guint64 got = 0;
  int fd = client_enter (way);
  gint64 start = g_get_monotonic_time ();

  check (send (fd, &wanted, sizeof wanted, MSG_NOSIGNAL) == sizeof wanted, "asking the server");
  while (got < wanted)
    {
      ssize_t count = recv (fd, block, sizeof block, 0);

      check (count > 0, "receiving");
      got += (guint64) count;
    }
  start = g_get_monotonic_time () - start;
  close (fd);
  return (double) wanted / (double) start;
}

static double
measure_latency (const Way *way)
{
  const guint64 wanted = 0;
  gint64 start = g_get_monotonic_time ();
  int fd = client_enter (way);
  char byte;

  check (send (fd, &wanted, sizeof wanted, MSG_NOSIGNAL) == sizeof wanted, "asking the server");
  check (recv (fd, &byte, 1, 0) == 1, "receiving");
  start = g_get_monotonic_time () - start;
  close (fd);
  return (double) start;
}

/* --- what stands between --- */

static gpointer
accept_all (gpointer data)
{
  Way *way = data;
  int fd = -1;

  while ((fd = accept4 (way->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
    glove_egress_proxy_take_socket (way->proxy, GLOVE_EGRESS_TAG_PROXY, fd);
  return NULL;
}

static void
start_glove (Way *way, GloveAuditSink *sink)
{
  g_autofree char *rule = g_strdup_printf ("127.0.0.1:%u", server_port);
  g_autoptr (GPtrArray) allow = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_endpoint_free);
  g_autoptr (GError) error = NULL;
  g_autofree char *url = NULL;
  g_autofree char *credential = NULL;

  g_ptr_array_add (allow, glove_endpoint_parse (rule, NULL));
  way->log = glove_audit_log_new ("bench");
  glove_audit_log_add_sink (way->log, sink);
  way->proxy = glove_egress_proxy_new ("bench", "bench", allow, NULL, way->log, &error);
  g_assert_no_error (error);
  way->listener = listen_anywhere (&way->port);
  url = glove_egress_proxy_dup_url (way->proxy, way->port);
  *strchr (url + strlen ("http://"), '@') = '\0';
  credential = g_base64_encode ((const guchar *) url + strlen ("http://"), strlen (url + strlen ("http://")));
  way->field = g_strdup_printf ("Proxy-Authorization: Basic %s\r\n", credential);
  way->thread = g_thread_new ("accept", accept_all, way);
  way->present = TRUE;
}

static void
stop_glove (Way *way)
{
  if (!way->present)
    return;
  shutdown (way->listener, SHUT_RDWR);
  g_thread_join (way->thread);
  close (way->listener);
  glove_egress_proxy_shutdown (way->proxy);
  (void) glove_audit_log_close (way->log, NULL);
  g_object_unref (way->proxy);
  g_object_unref (way->log);
}

static guint16
free_port (void)
{
  guint16 port = 0;

  close (listen_anywhere (&port));
  return port;
}

static void
start_peer (Way *way, const char *folder, const char *program, char *const *arguments, const char *file, const char *text)
{
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autofree char *log = g_build_filename (folder, "peer.log", NULL);
  posix_spawn_file_actions_t actions;

  check (g_file_set_contents (path, text, -1, NULL), "writing a peer's configuration");
  check (posix_spawn_file_actions_init (&actions) == 0
             && posix_spawn_file_actions_addopen (&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0600) == 0
             && posix_spawn_file_actions_adddup2 (&actions, 1, 2) == 0,
         "preparing a peer");
  if (posix_spawnp (&way->pid, program, &actions, NULL, arguments, environ) != 0)
    way->pid = 0;
  posix_spawn_file_actions_destroy (&actions);
  for (guint i = 0; way->pid > 0 && i < 200 && !way->present; i++)
    {
      int fd = client_connect (way->port);

      way->present = fd >= 0;
      if (fd >= 0)
        close (fd);
      else
        g_usleep (50 * 1000);
    }
  if (!way->present)
    g_printerr ("glove-bench-egress: %s did not start\n", program);
}

static void
start_tinyproxy (const char *folder)
{
  Way *way = &ways[VIA_TINYPROXY];
  g_autofree char *path = g_build_filename (folder, "tinyproxy.conf", NULL);
  char *arguments[] = { (char *) "tinyproxy", (char *) "-d", (char *) "-c", path, NULL };
  g_autofree char *text = NULL;

  way->port = free_port ();
  text = g_strdup_printf ("Port %u\nListen 127.0.0.1\nTimeout 60\nMaxClients 64\nLogLevel Critical\nConnectPort %u\n", way->port,
                          server_port);
  start_peer (way, folder, "tinyproxy", arguments, "tinyproxy.conf", text);
}

static void
start_squid (const char *folder)
{
  Way *way = &ways[VIA_SQUID];
  g_autofree char *path = g_build_filename (folder, "squid.conf", NULL);
  char *arguments[] = { (char *) "squid", (char *) "-N", (char *) "-f", path, NULL };
  g_autofree char *text = NULL;

  way->port = free_port ();
  text = g_strdup_printf ("http_port 127.0.0.1:%u\nhttp_access allow all\ncache deny all\naccess_log none\n"
                          "cache_log /dev/null\npid_filename none\nnetdb_filename none\ncache_mem 8 MB\n"
                          "shutdown_lifetime 0 seconds\npinger_enable off\nvisible_hostname bench\n",
                          way->port);
  start_peer (way, folder, "squid", arguments, "squid.conf", text);
}

static void
stop_peer (Way *way)
{
  if (way->pid <= 0)
    return;
  kill (way->pid, SIGKILL);
  (void) waitpid (way->pid, NULL, 0);
}

/* --- figures --- */

static int
compare (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *) a;
  const double y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
quantile (GArray *values, double at)
{
  g_array_sort (values, compare);
  return g_array_index (values, double, (guint) (at * (values->len - 1) + 0.5));
}

static double
spread (GArray *values)
{
  return (quantile (values, 0.75) - quantile (values, 0.25)) / quantile (values, 0.5);
}

static GArray *
values_of (Via via, gboolean bulk)
{
  return bulk ? ways[via].bulk : ways[via].latency;
}

static void
print_row (Via via, gboolean bulk, gboolean last)
{
  GArray *values = values_of (via, bulk);
  const char *separator = "";

  g_print ("  {\"id\": \"P11\", \"name\": \"egress %s, %s sink\", \"value\": %.1f, \"unit\": \"%s\", \"better\": \"%s\", "
           "\"floor\": %.1f, \"goal\": \"%s\", \"peers\": {",
           bulk ? "bulk" : "connect", via == VIA_GLOVE ? "memory" : "durable JSONL", quantile (values, 0.5),
           bulk ? "MB/s" : "us", bulk ? "higher" : "lower", quantile (values_of (VIA_NOTHING, bulk), 0.5),
           bulk ? ">= 0.9 x floor" : "<= floor + 150 us");
  for (Via peer = VIA_TINYPROXY; peer < N_VIA; peer++)
    if (ways[peer].present)
      {
        g_print ("%s\"%s\": %.1f", separator, via_names[peer], quantile (values_of (peer, bulk), 0.5));
        separator = ", ";
      }
  g_print ("}, \"runs\": %u, \"spread\": %.3f}%s\n", values->len, spread (values), last ? "" : ",");
}

static void
measure_all (void)
{
  for (guint round = 0; round < BULK_ROUNDS; round++)
    for (guint via = 0; via < N_VIA; via++)
      if (ways[via].present)
        {
          double value = measure_bulk (&ways[via]);

          g_array_append_val (ways[via].bulk, value);
        }
  for (guint round = 0; round < LATENCY_ROUNDS; round++)
    for (guint via = 0; via < N_VIA; via++)
      for (guint i = 0; ways[via].present && i < LATENCY_BATCH; i++)
        {
          double value = measure_latency (&ways[via]);

          g_array_append_val (ways[via].latency, value);
        }
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("glove-bench-egress-XXXXXX", NULL);
  g_autoptr (GloveAuditMemory) memory = NULL;
  g_autoptr (GloveAuditSink) durable = NULL;
  g_autoptr (GError) error = NULL;
  pid_t server = start_server ();
  int folder_fd = -1;

  check (folder != NULL, "making a folder");
  folder_fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (guint via = 0; via < N_VIA; via++)
    {
      ways[via].bulk = g_array_new (FALSE, FALSE, sizeof (double));
      ways[via].latency = g_array_new (FALSE, FALSE, sizeof (double));
    }
  ways[VIA_NOTHING].port = server_port;
  ways[VIA_NOTHING].present = TRUE;
  memory = glove_audit_memory_new ();
  start_glove (&ways[VIA_GLOVE], GLOVE_AUDIT_SINK (memory));
  durable = g_object_new (GLOVE_TYPE_JSONL_SINK, NULL);
  check (glove_audit_sink_open (durable, folder_fd, "audit.jsonl", &error), "opening the durable sink");
  start_glove (&ways[VIA_GLOVE_DURABLE], durable);
  start_tinyproxy (folder);
  start_squid (folder);

  measure_all ();
  g_print ("[\n");
  print_row (VIA_GLOVE, TRUE, FALSE);
  print_row (VIA_GLOVE_DURABLE, TRUE, FALSE);
  print_row (VIA_GLOVE, FALSE, FALSE);
  print_row (VIA_GLOVE_DURABLE, FALSE, TRUE);
  g_print ("]\n");

  stop_glove (&ways[VIA_GLOVE]);
  stop_glove (&ways[VIA_GLOVE_DURABLE]);
  stop_peer (&ways[VIA_TINYPROXY]);
  stop_peer (&ways[VIA_SQUID]);
  kill (server, SIGKILL);
  (void) waitpid (server, NULL, 0);
  {
    static const char *const files[] = { "audit.jsonl", "tinyproxy.conf", "squid.conf", "peer.log" };

    for (guint i = 0; i < G_N_ELEMENTS (files); i++)
      (void) unlinkat (folder_fd, files[i], 0);
  }
  close (folder_fd);
  if (rmdir (folder) < 0)
    g_printerr ("glove-bench-egress: %s is left behind\n", folder);
  return 0;
}
