/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-launch-driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-launch-sys.h"

#define ATTRIBUTE_IDMAP 0x00100000

extern char **environ;

typedef struct {
  uint8_t *bytes;
  size_t length, room;
  bool failed;
} Writer;

static void
put (Writer *writer, const void *bytes, size_t length)
{
  if (writer->failed)
    return;
  if (writer->length + length > writer->room)
    {
      size_t room = (writer->length + length) * 2;
      uint8_t *larger = realloc (writer->bytes, room);

      if (larger == NULL)
        {
          writer->failed = true;
          return;
        }
      writer->bytes = larger;
      writer->room = room;
    }
  if (length > 0)
    memcpy (writer->bytes + writer->length, bytes, length);
  writer->length += length;
}

static void
put_u32 (Writer *writer, uint32_t value)
{
  const uint8_t bytes[4] = { (uint8_t) (value >> 24), (uint8_t) (value >> 16), (uint8_t) (value >> 8), (uint8_t) value };

  put (writer, bytes, sizeof bytes);
}

static void
put_u64 (Writer *writer, uint64_t value)
{
  put_u32 (writer, (uint32_t) (value >> 32));
  put_u32 (writer, (uint32_t) value);
}

static void
put_string (Writer *writer, const char *text)
{
  put_u32 (writer, (uint32_t) strlen (text));
  put (writer, text, strlen (text));
}

static void
put_strings (Writer *writer, const char *const *strings)
{
  uint32_t n = 0;

  while (strings[n] != NULL)
    n++;
  put_u32 (writer, n);
  for (uint32_t i = 0; i < n; i++)
    put_string (writer, strings[i]);
}

static void
put_grant (Writer *writer, const DriverGrant *grant)
{
  struct stat st = { 0 };

  if (grant->fd >= 0 && fstat (grant->fd, &st) < 0)
    writer->failed = true;
  put_u32 (writer, grant->access);
  put_u32 (writer, grant->flags);
  put_u32 (writer, grant->fd >= 0 ? (uint32_t) grant->fd : GLOVE_LAUNCH_NO_FD);
  put_string (writer, grant->host_path);
  put_string (writer, grant->target);
  put_u64 (writer, st.st_dev);
  put_u64 (writer, st.st_ino);
  put_u32 (writer, st.st_mode);
}

void
driver_spec_init (DriverSpec *spec, const char *const *argv)
{
  static const char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/agent", "TERM=xterm", NULL };

  *spec = (DriverSpec){
    .uid = 1000, .gid = 1000, .host_uid = geteuid (), .host_gid = getegid (),
    .monitor = GLOVE_LAUNCH_NO_FD, .egress = GLOVE_LAUNCH_NO_FD,
    .stdio = { GLOVE_LAUNCH_NO_FD, GLOVE_LAUNCH_NO_FD, GLOVE_LAUNCH_NO_FD },
    .cgroup = GLOVE_LAUNCH_NO_FD, .cgroup_parent = GLOVE_LAUNCH_NO_FD,
    .cgroup_name = "", .host_name = "glove", .work_dir = "/home/agent", .executable = "", .home = "/home/agent",
    .bytes = { 16 << 20, 1 << 30, 1 << 30, 256 << 20 }, .inodes = { 16384, 262144, 262144, 65536 },
    .argv = argv, .env = env,
  };
}

uint8_t *
driver_spec_encode (const DriverSpec *spec, size_t *ret_length)
{
  Writer writer = { 0 };
  const uint32_t head[] = { GLOVE_LAUNCH_VERSION, 0, spec->flags, spec->uid, spec->gid, spec->host_uid, spec->host_gid,
                            spec->rows, spec->columns, spec->monitor, spec->egress, spec->stdio[0], spec->stdio[1],
                            spec->stdio[2], spec->cgroup, spec->cgroup_parent };

  put (&writer, GLOVE_LAUNCH_MAGIC, 8);
  for (size_t i = 0; i < sizeof head / sizeof *head; i++)
    put_u32 (&writer, head[i]);
  put_string (&writer, spec->cgroup_name);
  put_string (&writer, spec->host_name);
  put_string (&writer, spec->work_dir);
  put_string (&writer, spec->executable);
  put_string (&writer, spec->home);
  for (size_t i = 0; i < 4; i++)
    put_u64 (&writer, spec->bytes[i]);
  for (size_t i = 0; i < 4; i++)
    put_u32 (&writer, spec->inodes[i]);
  put_u32 (&writer, (uint32_t) spec->n_rlimits);
  for (size_t i = 0; i < spec->n_rlimits; i++)
    {
      put_u32 (&writer, spec->rlimits[i].resource);
      put_u64 (&writer, spec->rlimits[i].soft);
      put_u64 (&writer, spec->rlimits[i].hard);
    }
  put_u32 (&writer, (uint32_t) spec->n_quotas);
  for (size_t i = 0; i < spec->n_quotas; i++)
    {
      put_string (&writer, spec->quotas[i].name);
      put_u64 (&writer, spec->quotas[i].value);
    }
  put_strings (&writer, spec->argv);
  put_strings (&writer, spec->env);
  put_u32 (&writer, (uint32_t) spec->n_grants);
  for (size_t i = 0; i < spec->n_grants; i++)
    put_grant (&writer, &spec->grants[i]);
  put_u32 (&writer, (uint32_t) spec->n_files);
  for (size_t i = 0; i < spec->n_files; i++)
    {
      put_u32 (&writer, spec->files[i].flags);
      put_u32 (&writer, spec->files[i].mode);
      put_string (&writer, spec->files[i].path);
      put_string (&writer, spec->files[i].content);
    }
  put_u32 (&writer, (uint32_t) spec->n_listeners);
  for (size_t i = 0; i < spec->n_listeners; i++)
    {
      put_u32 (&writer, spec->listeners[i].tag);
      put_u32 (&writer, spec->listeners[i].port);
    }
  if (writer.failed)
    {
      free (writer.bytes);
      return NULL;
    }
  for (int i = 0; i < 4; i++)
    writer.bytes[12 + i] = (uint8_t) (writer.length >> (24 - 8 * i));
  *ret_length = writer.length;
  return writer.bytes;
}

int
driver_make_memfd (const uint8_t *bytes, size_t length, bool sealed)
{
  int fd = memfd_create ("launch-spec", MFD_ALLOW_SEALING | MFD_CLOEXEC);

  if (fd < 0 || write (fd, bytes, length) != (ssize_t) length
      || (sealed && fcntl (fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0))
    {
      if (fd >= 0)
        close (fd);
      return -1;
    }
  return fd;
}

static int
write_map (pid_t pid, const char *name, uint32_t from, uint32_t to)
{
  char path[64], map[64];
  int length = snprintf (map, sizeof map, "%u %u 1", from, to), file;
  ssize_t n;

  snprintf (path, sizeof path, "/proc/%d/%s", (int) pid, name);
  file = open (path, O_WRONLY | O_CLOEXEC);
  n = file >= 0 ? write (file, map, (size_t) length) : -1;
  if (file >= 0)
    close (file);
  return n == length ? 0 : -1;
}

/* A user namespace that maps @uid and @gid to @host_id; its one process is gone again. */
static int
open_namespace (uint32_t uid, uint32_t gid, uint32_t host_id)
{
  char path[64];
  int fd = -1;
  pid_t pid = (pid_t) syscall (SYS_clone, (unsigned long) (CLONE_NEWUSER | SIGCHLD), NULL, NULL, NULL, NULL);

  if (pid == 0)
    {
      pause ();
      _exit (0);
    }
  if (pid < 0)
    return -1;
  snprintf (path, sizeof path, "/proc/%d/ns/user", (int) pid);
  if (write_map (pid, "uid_map", uid, host_id) == 0 && write_map (pid, "gid_map", gid, host_id) == 0)
    fd = open (path, O_RDONLY | O_CLOEXEC);
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  return fd;
}

int
driver_open_mapped (const char *path, uint32_t host_id)
{
  int tree = sys_clone_tree (AT_FDCWD, path), namespace;
  SysMountAttr attr = { .attr_set = ATTRIBUTE_IDMAP };
  struct stat st;

  if (tree < 0 || fstat (tree, &st) < 0 || (namespace = open_namespace (st.st_uid, st.st_gid, host_id)) < 0)
    return -1;
  attr.userns_fd = (uint64_t) namespace;
  if (syscall (SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) < 0)
    return -1;
  close (namespace);
  return tree;
}

/* posix_spawn keeps a descriptor that is "duplicated" to its own number. */
static int
inherit (posix_spawn_file_actions_t *actions, uint32_t fd)
{
  return fd == GLOVE_LAUNCH_NO_FD ? 0 : posix_spawn_file_actions_adddup2 (actions, (int) fd, (int) fd);
}

static int
spawn (Driver *driver, const char *launcher, const DriverSpec *spec, int memfd)
{
  posix_spawn_file_actions_t actions;
  char number[16];
  char *argv[] = { (char *) launcher, number, NULL };
  int error;

  snprintf (number, sizeof number, "%d", memfd);
  posix_spawn_file_actions_init (&actions);
  error = inherit (&actions, (uint32_t) memfd) | inherit (&actions, spec->monitor) | inherit (&actions, spec->egress)
          | inherit (&actions, spec->cgroup) | inherit (&actions, spec->cgroup_parent);
  for (size_t i = 0; i < 3; i++)
    error |= inherit (&actions, spec->stdio[i]);
  for (size_t i = 0; i < spec->n_grants; i++)
    error |= inherit (&actions, spec->grants[i].fd >= 0 ? (uint32_t) spec->grants[i].fd : GLOVE_LAUNCH_NO_FD);
  if (error == 0)
    error = posix_spawn (&driver->pid, launcher, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy (&actions);
  errno = error;
  return error == 0 ? 0 : -1;
}

int
driver_start (Driver *driver, const char *launcher, DriverSpec *spec)
{
  int monitor[2], egress[2], memfd, result;
  size_t length;
  uint8_t *bytes;

  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, monitor) < 0
      || socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, egress) < 0)
    return -1;
  spec->monitor = (uint32_t) monitor[1];
  spec->egress = (uint32_t) egress[1];
  bytes = driver_spec_encode (spec, &length);
  if (bytes == NULL)
    return -1;
  memfd = driver_make_memfd (bytes, length, true);
  free (bytes);
  if (memfd < 0)
    return -1;
  result = spawn (driver, launcher, spec, memfd);
  close (memfd);
  close (monitor[1]);
  close (egress[1]);
  driver->monitor = monitor[0];
  driver->egress = egress[0];
  return result;
}

int
driver_send (Driver *driver, uint32_t type, uint32_t arg)
{
  GloveLaunchMessage message = { .type = type, .arg = { arg } };

  return send (driver->monitor, &message, sizeof message, MSG_NOSIGNAL) == (ssize_t) sizeof message ? 0 : -1;
}

int
driver_receive (Driver *driver, GloveLaunchMessage *message, int *ret_fd, int timeout_ms)
{
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE (sizeof (int))];
  } control = { 0 };
  struct iovec io = { .iov_base = message, .iov_len = sizeof *message };
  struct msghdr packet = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes };
  struct pollfd polled = { .fd = driver->monitor, .events = POLLIN };
  int fd = -1, ready = poll (&polled, 1, timeout_ms);
  ssize_t n;

  if (ready == 0)
    errno = ETIMEDOUT;
  if (ready <= 0)
    return -1;
  n = recvmsg (driver->monitor, &packet, MSG_CMSG_CLOEXEC);
  if (n < 0)
    return -1; /* not even ECONNRESET: glove-launch reads what it was sent before it leaves */
  if (CMSG_FIRSTHDR (&packet) != NULL && CMSG_FIRSTHDR (&packet)->cmsg_type == SCM_RIGHTS)
    memcpy (&fd, CMSG_DATA (CMSG_FIRSTHDR (&packet)), sizeof fd);
  if (ret_fd != NULL)
    *ret_fd = fd;
  else if (fd >= 0)
    close (fd);
  if (n == 0)
    return 0;
  errno = EBADMSG;
  return n == (ssize_t) sizeof *message ? 1 : -1;
}

int
driver_receive_until (Driver *driver, uint32_t type, GloveLaunchMessage *message, int timeout_ms)
{
  int got;

  while ((got = driver_receive (driver, message, NULL, timeout_ms)) == 1)
    if (message->type == type || message->type == GLOVE_LAUNCH_FAILED || message->type == GLOVE_LAUNCH_ENDED)
      return message->type == type;
  return got;
}

int
driver_finish (Driver *driver)
{
  int status = -1;

  if (driver->monitor >= 0)
    close (driver->monitor);
  if (driver->egress >= 0)
    close (driver->egress);
  driver->monitor = driver->egress = -1;
  while (waitpid (driver->pid, &status, 0) < 0 && errno == EINTR)
    ;
  return status;
}
