/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The demonstration agent: tries what an agent tries, and says how each attempt went, one line each:
 *
 *   NAME <tab> done|refused <tab> DETAIL
 *
 * It is told where things are on the host, as an attacker would find out: glove-demo-agent KEY=VALUE … It runs inside the sandbox and
 * uses nothing but the C library. `glove-demo-agent memory` fills memory until it is stopped. */

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define REPLY_MAX 4096

static const char *const *settings;

static const char *
setting (const char *key)
{
  size_t length = strlen (key);

  for (size_t i = 0; settings[i] != NULL; i++)
    if (strncmp (settings[i], key, length) == 0 && settings[i][length] == '=')
      return settings[i] + length + 1;
  return "";
}

static void __attribute__ ((format (printf, 3, 4)))
say (const char *name, int done, const char *format, ...)
{
  va_list arguments;

  printf ("%s\t%s\t", name, done ? "done" : "refused");
  va_start (arguments, format);
  vprintf (format, arguments);
  va_end (arguments);
  putchar ('\n');
  fflush (stdout);
}

static void
say_result (const char *name, int result)
{
  int errsv = errno;

  say (name, result >= 0, "%s", result >= 0 ? "" : strerror (errsv));
}

static void
try_workspace (void)
{
  static const char text[] = "written by the agent\n";
  char back[sizeof text] = "";
  int fd = open ("notes.txt", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  ssize_t n = fd >= 0 ? write (fd, text, sizeof text - 1) : -1;

  say_result ("write-workspace", n == (ssize_t) sizeof text - 1 ? 0 : -1);
  n = fd >= 0 ? pread (fd, back, sizeof back - 1, 0) : -1;
  say_result ("read-workspace", n > 0 && strcmp (back, text) == 0 ? 0 : -1);
  if (fd >= 0)
    (void) close (fd);
}

static void
try_read (const char *name, const char *path)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);

  say_result (name, fd);
  if (fd >= 0)
    (void) close (fd);
}

static int
connect_loopback (unsigned port)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons ((uint16_t) port) };
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  if (fd >= 0 && connect (fd, (const struct sockaddr *) &address, sizeof address) != 0)
    {
      int errsv = errno;

      (void) close (fd);
      errno = errsv;
      return -1;
    }
  return fd;
}

static void
encode_base64 (const char *in, char *out)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t length = strlen (in);

  for (size_t i = 0; i < length; i += 3)
    {
      unsigned a = (unsigned char) in[i];
      unsigned b = i + 1 < length ? (unsigned char) in[i + 1] : 0;
      unsigned c = i + 2 < length ? (unsigned char) in[i + 2] : 0;

      *out++ = digits[a >> 2];
      *out++ = digits[(a & 3) << 4 | b >> 4];
      *out++ = i + 1 < length ? digits[(b & 15) << 2 | c >> 6] : '=';
      *out++ = i + 2 < length ? digits[c & 63] : '=';
    }
  *out = '\0';
}

/* http://USER:SECRET@127.0.0.1:PORT */
static int
connect_proxy (char credential[256])
{
  const char *url = getenv ("HTTP_PROXY");
  char user[160];
  unsigned port;

  if (url == NULL || sscanf (url, "http://%159[^@]@127.0.0.1:%u", user, &port) != 2)
    {
      errno = ENOENT;
      return -1;
    }
  encode_base64 (user, credential);
  return connect_loopback (port);
}

static void
try_through_proxy (const char *name, const char *target)
{
  char credential[256] = "";
  char request[1024];
  char reply[REPLY_MAX] = "";
  int fd = connect_proxy (credential);
  int status = 0;
  ssize_t n;

  if (fd < 0)
    {
      say (name, 0, "no proxy: %s", strerror (errno));
      return;
    }
  n = snprintf (request, sizeof request,
                "GET http://%s/ HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\nConnection: close\r\n\r\n",
                target, target, credential);
  if (n < 0 || (size_t) n >= sizeof request || write (fd, request, (size_t) n) != n)
    {
      say (name, 0, "the request was not taken");
      (void) close (fd);
      return;
    }
  n = read (fd, reply, sizeof reply - 1);
  if (n <= 0 || sscanf (reply, "HTTP/1.%*c %d", &status) != 1)
    say (name, 0, "no answer");
  else
    say (name, status == 200, "HTTP %d", status);
  (void) close (fd);
}

static void
try_directly (const char *name, const char *target)
{
  const char *colon = strrchr (target, ':');
  int fd = connect_loopback (colon != NULL ? (unsigned) strtoul (colon + 1, NULL, 10) : 0);

  say_result (name, fd);
  if (fd >= 0)
    (void) close (fd);
}

/* Everything that is seen must be PID 1 of the sandbox or come after it; the host's own number must not be there. */
static void
try_processes (const char *name)
{
  DIR *folder = opendir ("/proc");
  unsigned count = 0;
  char path[64];
  struct dirent *entry;

  while (folder != NULL && (entry = readdir (folder)) != NULL)
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
      count++;
  if (folder != NULL)
    (void) closedir (folder);
  (void) snprintf (path, sizeof path, "/proc/%.32s/cmdline", setting ("host-pid"));
  say (name, count > 3 || access (path, F_OK) == 0, "%u processes are visible", count);
}

static void
try_privileges (void)
{
  say_result ("become-root", setuid (0));
  say_result ("new-user-namespace", unshare (CLONE_NEWUSER));
  say_result ("mount", mount ("none", "/tmp", "tmpfs", 0, NULL));
}

static void
try_host_socket (const char *name, const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  (void) snprintf (address.sun_path, sizeof address.sun_path, "%s", path);
  say_result (name, fd >= 0 ? connect (fd, (const struct sockaddr *) &address, sizeof address) : -1);
  if (fd >= 0)
    (void) close (fd);
}

static int
fill_memory (void)
{
  const size_t step = 16u << 20;

  for (size_t total = 0; total < (size_t) 4 << 30; total += step)
    {
      void *block = mmap (NULL, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

      if (block == MAP_FAILED)
        {
          say ("fill-memory", 0, "%s after %zu MiB", strerror (errno), total >> 20);
          return 0;
        }
      memset (block, 1, step);
    }
  say ("fill-memory", 1, "4 GiB were filled");
  return 0;
}

int
main (int argc, char **argv)
{
  char path[4096];

  settings = (const char *const *) argv;
  if (argc > 1 && strcmp (argv[1], "memory") == 0)
    return fill_memory ();
  try_workspace ();
  try_read ("read-outside", setting ("outside"));
  try_read ("read-ssh", setting ("ssh"));
  (void) snprintf (path, sizeof path, "%s/.ssh", getenv ("HOME") != NULL ? getenv ("HOME") : "");
  try_read ("read-own-ssh", path);
  try_through_proxy ("reach-allowed", setting ("allowed"));
  try_through_proxy ("reach-other", setting ("other"));
  try_directly ("bypass-proxy", setting ("other"));
  try_processes ("see-host");
  try_privileges ();
  try_host_socket ("host-socket", setting ("socket"));
  return 0;
}
