/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sockets of every kind. Facts: host-port (a listener on the host's loopback), abstract (a name without its NUL), socket-before,
 * socket-after, socket-read (paths below grants). */

#include "glove-escape-probe.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static ProbeVerdict
try_socket (int family, int type, int protocol)
{
  int fd = socket (family, type | SOCK_CLOEXEC, protocol);
  ProbeVerdict verdict = PROBE_MUST_FAIL (fd, EPERM, EACCES, EAFNOSUPPORT, ENOSYS, EPROTONOSUPPORT, ESOCKTNOSUPPORT);

  if (fd >= 0)
    (void) close (fd);
  return verdict;
}

#define REFUSE_SOCKET(NAME, FAMILY, TYPE, PROTOCOL)                                                                      \
  static ProbeVerdict probe_##NAME (void)                                                                                \
  {                                                                                                                      \
    return try_socket (FAMILY, TYPE, PROTOCOL);                                                                          \
  }

REFUSE_SOCKET (vsock, AF_VSOCK, SOCK_STREAM, 0)
REFUSE_SOCKET (packet, AF_PACKET, SOCK_RAW, 0)
REFUSE_SOCKET (packet_dgram, AF_PACKET, SOCK_DGRAM, 0)
REFUSE_SOCKET (raw_icmp, AF_INET, SOCK_RAW, IPPROTO_ICMP)
REFUSE_SOCKET (raw_tcp, AF_INET, SOCK_RAW, IPPROTO_TCP)
REFUSE_SOCKET (raw_ipv6, AF_INET6, SOCK_RAW, IPPROTO_ICMPV6)
REFUSE_SOCKET (alg, 38, SOCK_SEQPACKET, 0)
REFUSE_SOCKET (bluetooth, AF_BLUETOOTH, SOCK_RAW, 1)
REFUSE_SOCKET (key, AF_KEY, SOCK_RAW, 2)
REFUSE_SOCKET (xdp, 44, SOCK_RAW, 0)
REFUSE_SOCKET (can, AF_CAN, SOCK_RAW, 1)
REFUSE_SOCKET (netfilter, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER)
REFUSE_SOCKET (audit, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT)
REFUSE_SOCKET (uevent, AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT)
REFUSE_SOCKET (xfrm, AF_NETLINK, SOCK_RAW, NETLINK_XFRM)
REFUSE_SOCKET (diag, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG)

static ProbeVerdict
try_connect (const char *address, unsigned port, int type)
{
  struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons ((uint16_t) port) };
  int fd = socket (AF_INET, type | SOCK_CLOEXEC, 0);
  ProbeVerdict verdict;

  (void) inet_pton (AF_INET, address, &to.sin_addr);
  verdict = PROBE_MUST_FAIL (connect (fd, (const struct sockaddr *) &to, sizeof to), ENETUNREACH, ECONNREFUSED, EPERM,
                             EHOSTUNREACH);
  if (fd >= 0)
    (void) close (fd);
  return verdict;
}

static ProbeVerdict
probe_internet (void)
{
  return try_connect ("192.0.2.1", 443, SOCK_STREAM);
}

static ProbeVerdict
probe_udp (void)
{
  return try_connect ("192.0.2.1", 53, SOCK_DGRAM);
}

static ProbeVerdict
probe_metadata (void)
{
  return try_connect ("169.254.169.254", 80, SOCK_STREAM);
}

static ProbeVerdict
probe_host_loopback (void)
{
  return try_connect ("127.0.0.1", (unsigned) strtoul (probe_fact ("host-port"), NULL, 10), SOCK_STREAM);
}

static ProbeVerdict
probe_interfaces (void)
{
  struct if_nameindex *list = if_nameindex ();
  ProbeVerdict verdict = PROBE_CONTAINED;

  for (struct if_nameindex *item = list; item != NULL && item->if_index != 0; item++)
    if (strcmp (item->if_name, "lo") != 0)
      {
        probe_detail ("%s is there", item->if_name);
        verdict = PROBE_ESCAPED;
      }
  if (list != NULL)
    if_freenameindex (list);
  return verdict;
}

static ProbeVerdict
try_unix (const char *path, int abstract, int type)
{
  struct sockaddr_un to = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, type | SOCK_CLOEXEC, 0);
  size_t length = strlen (path);
  ProbeVerdict verdict;

  if (length == 0 || length >= sizeof to.sun_path)
    {
      (void) close (fd);
      probe_detail ("the test gave no such socket");
      return PROBE_ESCAPED;
    }
  memcpy (to.sun_path + (abstract != 0), path, length);
  verdict = PROBE_MUST_FAIL (connect (fd, (const struct sockaddr *) &to,
                                      (socklen_t) (offsetof (struct sockaddr_un, sun_path) + (abstract != 0) + length
                                                   + (abstract == 0))),
                             ECONNREFUSED, EACCES, EPERM, ENOENT, ENOTSOCK);
  (void) close (fd);
  return verdict;
}

static ProbeVerdict
probe_abstract (void)
{
  return try_unix (probe_fact ("abstract"), 1, SOCK_STREAM);
}

static ProbeVerdict
probe_socket_before (void)
{
  return try_unix (probe_fact ("socket-before"), 0, SOCK_STREAM);
}

static ProbeVerdict
probe_socket_read (void)
{
  return try_unix (probe_fact ("socket-read"), 0, SOCK_STREAM);
}

static ProbeVerdict
probe_socket_datagram (void)
{
  return try_unix (probe_fact ("socket-datagram"), 0, SOCK_DGRAM);
}

/* SECURITY.md: what is bound below a grant after the start stays reachable on kernels that can't withhold connecting by path. */
static ProbeVerdict
probe_socket_after (void)
{
  ProbeVerdict verdict;

  for (int i = 0; i < 500 && access (probe_fact ("socket-after"), F_OK) != 0; i++)
    (void) usleep (10000);
  verdict = try_unix (probe_fact ("socket-after"), 0, SOCK_STREAM);
  if (verdict != PROBE_ESCAPED || *probe_fact ("socket-after") == '\0')
    return verdict;
  probe_detail ("this kernel's Landlock has no right to connect by path");
  return PROBE_SKIPPED;
}

static ProbeVerdict
probe_sysv_shared_memory (void)
{
  return PROBE_MUST_FAIL (shmget ((key_t) strtol (probe_fact ("shm-key"), NULL, 0), 0, 0), ENOENT, EPERM, ENOSYS);
}

static ProbeVerdict
probe_sysv_messages (void)
{
  return PROBE_MUST_FAIL (msgget ((key_t) strtol (probe_fact ("shm-key"), NULL, 0), 0), ENOENT, EPERM, ENOSYS);
}

const Probe probes_network[] = {
  { "AF_VSOCK", probe_vsock },
  { "AF_PACKET raw", probe_packet },
  { "AF_PACKET datagram", probe_packet_dgram },
  { "raw ICMP", probe_raw_icmp },
  { "raw TCP", probe_raw_tcp },
  { "raw ICMPv6", probe_raw_ipv6 },
  { "AF_ALG", probe_alg },
  { "AF_BLUETOOTH", probe_bluetooth },
  { "AF_KEY", probe_key },
  { "AF_XDP", probe_xdp },
  { "AF_CAN", probe_can },
  { "netlink: netfilter", probe_netfilter },
  { "netlink: audit", probe_audit },
  { "netlink: uevent", probe_uevent },
  { "netlink: xfrm", probe_xfrm },
  { "netlink: socket diagnosis", probe_diag },
  { "connect to the internet", probe_internet },
  { "send a datagram", probe_udp },
  { "reach a metadata service", probe_metadata },
  { "reach a listener on the host's loopback", probe_host_loopback },
  { "see an interface of the host", probe_interfaces },
  { "connect to an abstract socket of the host", probe_abstract },
  { "connect to a host socket in the workspace", probe_socket_before },
  { "send to a host datagram socket in the workspace", probe_socket_datagram },
  { "connect to a host socket in a read grant", probe_socket_read },
  { "connect to a host socket bound after the start", probe_socket_after },
  { "find the host's shared memory", probe_sysv_shared_memory },
  { "find the host's message queue", probe_sysv_messages },
  { NULL, NULL },
};
