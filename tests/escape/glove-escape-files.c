/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files, mounts, links, devices. Facts: workspace, read-grant (holds "secret"), ssh (the operator's), outside (a file of the host),
 * host-file (standard input comes from it). The working directory is the workspace, a git repository. */

#include "glove-escape-probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *
below (const char *folder, const char *name)
{
  static char path[4096];

  (void) snprintf (path, sizeof path, "%s/%s", folder, name);
  return path;
}

#define REFUSE_WRITE(NAME, PATH)                                                                                         \
  static ProbeVerdict probe_write_##NAME (void)                                                                          \
  {                                                                                                                      \
    return PROBE_OPEN_MUST_FAIL (PATH, O_WRONLY | O_CREAT, EROFS, EACCES);                                               \
  }
#define ABSENT(NAME, PATH)                                                                                               \
  static ProbeVerdict probe_absent_##NAME (void)                                                                         \
  {                                                                                                                      \
    return probe_must_be_absent (PATH);                                                                                  \
  }

REFUSE_WRITE (root, "/escaped")
REFUSE_WRITE (usr, "/usr/escaped")
REFUSE_WRITE (usr_bin, "/usr/bin/true")
REFUSE_WRITE (etc, "/etc/escaped")
REFUSE_WRITE (passwd, "/etc/passwd")
REFUSE_WRITE (home_parent, "/home/escaped")
REFUSE_WRITE (dev, "/dev/escaped")
REFUSE_WRITE (read_grant, below (probe_fact ("read-grant"), "secret"))
REFUSE_WRITE (read_grant_new, below (probe_fact ("read-grant"), "new"))
REFUSE_WRITE (git_hook, ".git/hooks/pre-commit")
REFUSE_WRITE (git_config, ".git/config")
REFUSE_WRITE (git_common, ".git/commondir")
REFUSE_WRITE (submodule_common, ".git/modules/sub/commondir")
REFUSE_WRITE (submodule_config, ".git/modules/sub/config")
REFUSE_WRITE (submodule_hook, ".git/modules/sub/hooks/post-checkout")
REFUSE_WRITE (worktree_config, ".git/worktrees/wt/config.worktree")

ABSENT (shadow, "/etc/shadow")
ABSENT (machine_id, "/etc/machine-id")
ABSENT (etc_ssh, "/etc/ssh")
ABSENT (root_home, "/root")
ABSENT (sys, "/sys/kernel")
ABSENT (run, "/run/systemd")
ABSENT (boot, "/boot")
ABSENT (dev_mem, "/dev/mem")
ABSENT (dev_kmsg, "/dev/kmsg")
ABSENT (dev_fuse, "/dev/fuse")
ABSENT (dev_kvm, "/dev/kvm")
ABSENT (dev_tun, "/dev/net/tun")
ABSENT (dev_disk, "/dev/vda")
ABSENT (dev_loop, "/dev/loop-control")
ABSENT (ssh, probe_fact ("ssh"))
ABSENT (outside, probe_fact ("outside"))

static ProbeVerdict
probe_link_out (void)
{
  return PROBE_MUST_FAIL (link (below (probe_fact ("read-grant"), "secret"), "linked"), EXDEV, EPERM, EACCES, EROFS);
}

static ProbeVerdict
probe_rename_out (void)
{
  return PROBE_MUST_FAIL (rename (below (probe_fact ("read-grant"), "secret"), "renamed"), EXDEV, EROFS, EACCES);
}

static ProbeVerdict
probe_unlink_read_only (void)
{
  return PROBE_MUST_FAIL (unlink (below (probe_fact ("read-grant"), "secret")), EROFS, EACCES);
}

static ProbeVerdict
probe_chmod_read_only (void)
{
  return PROBE_MUST_FAIL (chmod (below (probe_fact ("read-grant"), "secret"), 0777), EROFS, EPERM);
}

static ProbeVerdict
probe_xattr_read_only (void)
{
  return PROBE_MUST_FAIL (setxattr (below (probe_fact ("read-grant"), "secret"), "user.x", "y", 1, 0), EROFS, EPERM,
                          EACCES, ENOTSUP);
}

/* "*" of the mount, not of the name: a link in the workspace is resolved inside */
static ProbeVerdict
probe_symlink_to_host (void)
{
  (void) unlink ("to-shadow");
  if (symlink ("/etc/shadow", "to-shadow") != 0)
    return PROBE_SKIPPED;
  return PROBE_OPEN_MUST_FAIL ("to-shadow", O_RDONLY, ENOENT);
}

static ProbeVerdict
probe_dot_dot (void)
{
  char path[4096];

  (void) snprintf (path, sizeof path, "%s/../../../../../../../../../..%s", probe_fact ("workspace"),
                   probe_fact ("outside"));
  return PROBE_OPEN_MUST_FAIL (path, O_RDONLY, ENOENT);
}

static ProbeVerdict
probe_git_renamed_away (void)
{
  return PROBE_MUST_FAIL (rename (".git", "git-away"), EBUSY, EXDEV);
}

static ProbeVerdict
probe_git_hooks_renamed (void)
{
  return PROBE_MUST_FAIL (rename (".git/hooks", ".git/hooks-away"), EBUSY, EXDEV, EROFS);
}

static ProbeVerdict
probe_git_config_removed (void)
{
  return PROBE_MUST_FAIL (unlink (".git/config"), EBUSY, EROFS);
}

static ProbeVerdict
probe_git_config_replaced (void)
{
  int fd = open (".git/config.new", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

  if (fd >= 0)
    (void) close (fd);
  return PROBE_MUST_FAIL (rename (".git/config.new", ".git/config"), EBUSY, EXDEV, EROFS);
}

static ProbeVerdict
probe_suid_is_off (void)
{
  static const char *const places[] = { "/", "/usr", "/tmp", "/dev/shm", "/home/agent", "." };
  struct statvfs vfs;

  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (statvfs (places[i], &vfs) != 0 || (vfs.f_flag & ST_NOSUID) == 0)
      {
        probe_detail ("%s honours setuid bits", places[i]);
        return PROBE_ESCAPED;
      }
  return PROBE_CONTAINED;
}

static ProbeVerdict
probe_devices_are_off (void)
{
  static const char *const places[] = { "/tmp", "/home/agent", ".", "/usr" };
  struct statvfs vfs;

  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (statvfs (places[i], &vfs) != 0 || (vfs.f_flag & ST_NODEV) == 0)
      {
        probe_detail ("%s honours device nodes", places[i]);
        return PROBE_ESCAPED;
      }
  return PROBE_CONTAINED;
}

static ProbeVerdict
probe_dev_holds_only_the_known (void)
{
  static const char *const known[] = { ".",      "..",   "null", "zero", "full", "random", "urandom", "tty",
                                       "ptmx",   "pts",  "shm",  "fd",   "stdin", "stdout", "stderr",  "core",
                                       "mqueue", "console" };
  DIR *folder = opendir ("/dev");
  const struct dirent *entry;
  ProbeVerdict verdict = folder != NULL ? PROBE_CONTAINED : PROBE_ESCAPED;

  while (folder != NULL && (entry = readdir (folder)) != NULL)
    {
      int found = 0;

      for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        found |= strcmp (known[i], entry->d_name) == 0;
      if (!found)
        {
          probe_detail ("/dev/%s", entry->d_name);
          verdict = PROBE_ESCAPED;
        }
    }
  if (folder != NULL)
    (void) closedir (folder);
  return verdict;
}

static ProbeVerdict
probe_home_is_private (void)
{
  DIR *folder = opendir ("/home");
  const struct dirent *entry;
  ProbeVerdict verdict = folder != NULL ? PROBE_CONTAINED : PROBE_ESCAPED;

  while (folder != NULL && (entry = readdir (folder)) != NULL)
    if (entry->d_name[0] != '.' && strcmp (entry->d_name, "agent") != 0)
      {
        probe_detail ("/home/%s", entry->d_name);
        verdict = PROBE_ESCAPED;
      }
  if (folder != NULL)
    (void) closedir (folder);
  return verdict;
}

/* A file as standard input could be opened again for writing through /proc. */
static ProbeVerdict
probe_stdin_is_no_file (void)
{
  for (int fd = 0; fd < 3; fd++)
    {
      struct stat st;

      if (fstat (fd, &st) == 0 && !S_ISFIFO (st.st_mode) && !S_ISCHR (st.st_mode))
        {
          probe_detail ("descriptor %d has mode %o", fd, st.st_mode);
          return PROBE_ESCAPED;
        }
    }
  return PROBE_CONTAINED;
}

static ProbeVerdict
probe_inotify_quota (void)
{
  int instances = 0;

  while (instances < 4096 && inotify_init1 (IN_CLOEXEC) >= 0)
    instances++;
  probe_detail ("%d instances, then %s", instances, strerrorname_np (errno));
  for (int fd = 3; fd < instances + 64; fd++)
    (void) close (fd);
  return instances < 4096 && instances > 0 ? PROBE_CONTAINED : PROBE_ESCAPED;
}

const Probe probes_files[] = {
  { "write into /", probe_write_root },
  { "write into /usr", probe_write_usr },
  { "overwrite a program", probe_write_usr_bin },
  { "write into /etc", probe_write_etc },
  { "overwrite /etc/passwd", probe_write_passwd },
  { "write into /home", probe_write_home_parent },
  { "write into /dev", probe_write_dev },
  { "overwrite a file of a read grant", probe_write_read_grant },
  { "make a file in a read grant", probe_write_read_grant_new },
  { "write a git hook", probe_write_git_hook },
  { "write git's configuration", probe_write_git_config },
  { "say that git's configuration is elsewhere", probe_write_git_common },
  { "say that a submodule's configuration is elsewhere", probe_write_submodule_common },
  { "write a submodule's configuration", probe_write_submodule_config },
  { "write a submodule's hook", probe_write_submodule_hook },
  { "write a worktree's configuration", probe_write_worktree_config },
  { "rename .git away", probe_git_renamed_away },
  { "rename the hooks away", probe_git_hooks_renamed },
  { "remove git's configuration", probe_git_config_removed },
  { "replace git's configuration", probe_git_config_replaced },
  { "see /etc/shadow", probe_absent_shadow },
  { "see /etc/machine-id", probe_absent_machine_id },
  { "see /etc/ssh", probe_absent_etc_ssh },
  { "see /root", probe_absent_root_home },
  { "see /sys", probe_absent_sys },
  { "see /run", probe_absent_run },
  { "see /boot", probe_absent_boot },
  { "see /dev/mem", probe_absent_dev_mem },
  { "see /dev/kmsg", probe_absent_dev_kmsg },
  { "see /dev/fuse", probe_absent_dev_fuse },
  { "see /dev/kvm", probe_absent_dev_kvm },
  { "see /dev/net/tun", probe_absent_dev_tun },
  { "see a disk", probe_absent_dev_disk },
  { "see the loop devices", probe_absent_dev_loop },
  { "see the operator's ~/.ssh", probe_absent_ssh },
  { "see a file beside the workspace", probe_absent_outside },
  { "see another device", probe_dev_holds_only_the_known },
  { "see another home", probe_home_is_private },
  { "hard link out of a read grant", probe_link_out },
  { "rename out of a read grant", probe_rename_out },
  { "remove from a read grant", probe_unlink_read_only },
  { "chmod in a read grant", probe_chmod_read_only },
  { "set an attribute in a read grant", probe_xattr_read_only },
  { "a link to a file of the host", probe_symlink_to_host },
  { "climb out of the workspace", probe_dot_dot },
  { "setuid bits count somewhere", probe_suid_is_off },
  { "device nodes count somewhere", probe_devices_are_off },
  { "standard input is a file of the host", probe_stdin_is_no_file },
  { "use up inotify instances", probe_inotify_quota },
  { NULL, NULL },
};
