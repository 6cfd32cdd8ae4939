/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

/* Both sides of a proxy under test: the guest, whose sockets are handed to it, and servers on the loopback. */

#include <gio/gio.h>
#include <netinet/in.h>

#include "glove-audit-log.h"
#include "glove-audit-memory.h"
#include "glove-egress-proxy.h"

/* A sink that fails, or is slow. */
#define TEST_TYPE_SINK (test_sink_get_type ())
G_DECLARE_FINAL_TYPE (TestSink, test_sink, TEST, SINK, GObject)

struct _TestSink {
  GObject parent_instance;
  gint fails;
  gint delay_ms;
};

typedef void (*Serve) (int fd);

typedef struct {
  int listener;
  guint16 port;
  Serve serve;
  GThread *thread;
  gint served;
} Server;

typedef struct {
  GloveAuditLog *log;
  GloveAuditMemory *memory;
  TestSink *sink;
  GloveEgressProxy *proxy;
  int listener; /* the guest's */
  guint16 listener_port;
  char *credential;
  guint open_before;
} Fixture;

struct sockaddr_in loopback (guint16 port);
int listen_anywhere (guint16 *ret_port);
void set_timeout (int fd);
void send_all (int fd, const char *bytes, gsize length);
void send_text (int fd, const char *text);
/* Everything until the end, or until it ends with @stop. */
char *receive_until (int fd, const char *stop);
Server *server_start (Serve serve);
void server_stop (Server *server);
void serve_echo (int fd);
void serve_forever (int fd);
Fixture *fixture_new (const char *const *allow, const char *const *forwards);
/* A connection that the guest made: @ret_accepted is what goes to the proxy. */
int guest_pair (Fixture *f, int *ret_accepted);
int guest_connect (Fixture *f, guint32 tag);
/* @format: a request in which AUTH stands for the credential's field. */
int guest_request (Fixture *f, const char *format, ...) G_GNUC_PRINTF (2, 3);
int guest_tunnel (Fixture *f, const char *host, guint16 port);
void wait_for_connections (Fixture *f, guint count);
/* The one event since the last time. */
GloveAuditEvent *take_event (Fixture *f);
void fixture_free (Fixture *f);
/* Reads the answer to its end, and closes. */
void assert_refused (int fd, guint status, const char *code);
gboolean has_loopback (void);

#define receive_head(fd) receive_until ((fd), "\r\n\r\n")
#define receive_rest(fd) receive_until ((fd), NULL)

/* How every program of these starts. */
#define RETURN_WITHOUT_LOOPBACK() \
  G_STMT_START \
  { \
    if (!has_loopback ()) \
      { \
        g_print ("1..0 # SKIP no loopback interface\n"); \
        return g_strcmp0 (g_getenv ("GLOVE_TESTS_MUST_RUN"), "1") == 0 ? 1 : 77; \
      } \
  } \
  G_STMT_END
