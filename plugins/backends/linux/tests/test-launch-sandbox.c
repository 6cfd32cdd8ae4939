/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Real sandboxes, made by the real glove-launch from specs of our own:
 *
 *   test-launch-sandbox LAUNCHER [--as-user]
 *
 * With --as-user root first becomes an ordinary user. Without user namespaces every test is skipped. */

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-launch-driver.h"

#define TIMEOUT_MS 20000
#define MAPPED_ID 654321u

static const char *launcher;
static char *missing; /* why no sandbox can be made here */

static const DriverFile passwd[] = { { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0444, "/etc/passwd", "agent:x:1000:1000::/home/agent:/bin/sh\n" } };

typedef struct {
  char *dir; /* a host directory to grant from */
  DriverSpec spec;
  const char *argv[8];
  DriverGrant grants[8];
  Driver driver;
  GString *output;
  GloveLaunchMessage last; /* FAILED or ENDED */
} Fixture;

static void
set_up (Fixture *f, gconstpointer unused)
{
  f->dir = g_dir_make_tmp ("launch-XXXXXX", NULL);
  g_assert_nonnull (f->dir);
  f->argv[0] = "/bin/sh";
  f->argv[1] = "-c";
  driver_spec_init (&f->spec, f->argv);
  f->spec.files = passwd;
  f->spec.n_files = G_N_ELEMENTS (passwd);
  f->spec.grants = f->grants;
  f->driver = (Driver){ -1, -1, -1 };
  f->output = g_string_new (NULL);
  if (missing != NULL)
    g_test_skip (missing);
}

static void
tear_down (Fixture *f, gconstpointer unused)
{
  const char *argv[] = { "rm", "-rf", f->dir, NULL };

  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
  for (gsize i = 0; i < f->spec.n_grants; i++)
    if (f->grants[i].fd >= 0)
      close (f->grants[i].fd);
  g_free (f->dir);
  g_string_free (f->output, TRUE);
}

static char *
below (Fixture *f, const char *name)
{
  return g_build_filename (f->dir, name, NULL);
}

static void
grant (Fixture *f, guint32 access, const char *path)
{
  DriverGrant *added = &f->grants[f->spec.n_grants++];
  struct stat st;

  *added = (DriverGrant){ .access = access, .fd = -1, .host_path = path, .target = path };
  if (access == GLOVE_LAUNCH_ACCESS_MASK)
    return;
  if ((f->spec.flags & GLOVE_LAUNCH_FLAG_MAP_ID) != 0)
    {
      added->fd = driver_open_mapped (path, f->spec.host_uid);
      added->flags = GLOVE_LAUNCH_GRANT_DETACHED;
    }
  else
    added->fd = open (path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
  g_assert_cmpint (added->fd, >=, 0);
  g_assert_no_errno (fstat (added->fd, &st));
  if (S_ISDIR (st.st_mode))
    added->flags |= GLOVE_LAUNCH_GRANT_DIRECTORY;
}

/* A detached mount is used up by a launch. */
static void
renew_mounts (Fixture *f)
{
  for (gsize i = 0; i < f->spec.n_grants; i++)
    if ((f->grants[i].flags & GLOVE_LAUNCH_GRANT_DETACHED) != 0)
      {
        close (f->grants[i].fd);
        f->grants[i].fd = driver_open_mapped (f->grants[i].host_path, f->spec.host_uid);
        g_assert_cmpint (f->grants[i].fd, >=, 0);
      }
}

/* Runs the sandbox to its end, and collects what the agent wrote. */
static void
run (Fixture *f)
{
  GloveLaunchMessage message;
  int out[2], got;
  char buffer[4096];
  gssize n;

  g_assert_no_errno (pipe2 (out, O_CLOEXEC));
  f->spec.stdio[1] = f->spec.stdio[2] = (guint32) out[1];
  g_assert_no_errno (driver_start (&f->driver, launcher, &f->spec));
  close (out[1]);
  if (driver_send (&f->driver, GLOVE_LAUNCH_START, 0) < 0)
    g_assert_cmpint (errno, ==, EPIPE); /* it has failed already, and left its word */
  while ((n = read (out[0], buffer, sizeof buffer)) > 0)
    g_string_append_len (f->output, buffer, n);
  close (out[0]);
  memset (&f->last, 0, sizeof f->last);
  while ((got = driver_receive (&f->driver, &message, NULL, TIMEOUT_MS)) == 1)
    if (message.type == GLOVE_LAUNCH_FAILED || message.type == GLOVE_LAUNCH_ENDED)
      f->last = message;
  g_assert_cmpint (got, ==, 0);
  driver_finish (&f->driver);
  renew_mounts (f);
}

static void
run_script (Fixture *f, const char *script)
{
  f->argv[2] = script;
  run (f);
  if (f->last.type == GLOVE_LAUNCH_FAILED)
    g_error ("the launch failed: stage %u, %s, index %d", f->last.arg[0], g_strerror ((int) f->last.arg[1]), (int) f->last.arg[2]);
  g_assert_cmpuint (f->last.type, ==, GLOVE_LAUNCH_ENDED);
}

static void
assert_failed (Fixture *f, guint32 stage, int error)
{
  g_assert_cmpuint (f->last.type, ==, GLOVE_LAUNCH_FAILED);
  g_assert_cmpuint (f->last.arg[0], ==, stage);
  g_assert_cmpstr (g_strerror ((int) f->last.arg[1]), ==, g_strerror (error));
}

static void
assert_output (Fixture *f, const char *script, const char *expected)
{
  g_string_truncate (f->output, 0);
  run_script (f, script);
  g_assert_cmpstr (f->output->str, ==, expected);
}

/* Once with the host's own id and, as root, once more with an id that nobody has. */
#define FOR_BOTH_IDS(f)                                                                                                \
  for (guint round = 0, rounds = missing != NULL ? 0 : count_ids (f); round < rounds; use_id (f, ++round))

/* Before Linux 6.3 a tmpfs, and an overlay for long, can't map an owner's id to another. */
static guint
count_ids (Fixture *f)
{
  int mount = geteuid () == 0 ? driver_open_mapped (f->dir, MAPPED_ID) : -1;

  if (mount < 0)
    {
      if (geteuid () == 0)
        g_test_message ("the file system of %s can't map ids: not tried with one that nobody has", f->dir);
      return 1;
    }
  close (mount);
  return 2;
}

static void
use_id (Fixture *f, guint round)
{
  for (gsize i = 0; i < f->spec.n_grants; i++)
    if (f->grants[i].fd >= 0)
      close (f->grants[i].fd);
  f->spec.n_grants = 0;
  if (round == 1)
    {
      f->spec.flags |= GLOVE_LAUNCH_FLAG_MAP_ID;
      f->spec.host_uid = f->spec.host_gid = MAPPED_ID;
    }
}

static void
test_ids (Fixture *f, gconstpointer unused)
{
  FOR_BOTH_IDS (f)
    {
      g_autofree char *map = g_strdup_printf ("1000 %u 1\ndeny\n5\n", f->spec.host_uid);

      assert_output (f, "id -u; id -g; id -un", "1000\n1000\nagent\n");
      assert_output (f, "echo $(cat /proc/self/uid_map); cat /proc/self/setgroups; grep -c '^Cap.*:.0000000000000000$' /proc/self/status",
                     map);
      assert_output (f, "grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status", "NoNewPrivs:\t1\nSeccomp:\t2\n");
      assert_output (f, "unshare -U true 2>/dev/null || echo refused", "refused\n");
      assert_output (f, "hostname; cat /proc/sys/kernel/hostname; ulimit -c", "glove\nglove\n0\n");
    }
}

static void
test_root (Fixture *f, gconstpointer unused)
{
  FOR_BOTH_IDS (f)
    {
      assert_output (f, "for p in / /etc /usr /dev /proc/sys/kernel /proc/self/.. ; do (: > $p/x) 2>/dev/null && echo $p; done; true", "");
      assert_output (f, "ls -d /sys /root /run /boot /etc/shadow /etc/ssh /etc/machine-id /.empty 2>/dev/null; true", "");
      assert_output (f, "stat -c '%n %a' /tmp /var/tmp /dev/shm /home/agent", "/tmp 1777\n/var/tmp 1777\n/dev/shm 1777\n/home/agent 700\n");
      assert_output (f, "for d in /tmp /var/tmp /dev/shm $HOME; do echo x > $d/f && cat $d/f; done; ls /var/tmp", "x\nx\nx\nx\nf\n");
      assert_output (f, "for l in bin sbin lib lib64; do test -h /usr/../$l && readlink /$l; done; true",
                     g_file_test ("/bin", G_FILE_TEST_IS_SYMLINK) ? "usr/bin\nusr/sbin\nusr/lib\nusr/lib64\n" : "");
      assert_output (f, "grep -v -e ' /proc' -e ' /dev' /proc/self/mounts | grep -v nosuid,nodev; true", "");
    }
}

static void
test_proc (Fixture *f, gconstpointer unused)
{
  FOR_BOTH_IDS (f)
    {
      assert_output (f, "for p in kcore keys timer_list kallsyms; do test ! -e /proc/$p || { test -f /proc/$p && wc -c < /proc/$p; }; done | sort -u", "0\n");
      assert_output (f, "for p in sys/kernel/core_pattern sysrq-trigger irq/default_smp_affinity; do (: > /proc/$p) 2>/dev/null && echo $p; done; true", "");
      assert_output (f, "cat /proc/1/environ /proc/1/maps /proc/1/mem 2>/dev/null; readlink /proc/1/exe /proc/1/root /proc/1/fd/*; true", "");
      assert_output (f, "ls /proc > /tmp/seen; grep -c '^[0-9]' /tmp/seen", "3\n"); /* PID 1, the shell, ls */
      assert_output (f, "echo 500 > /proc/self/oom_score_adj && cat /proc/self/oom_score_adj", "500\n");
    }
}

static void
test_dev (Fixture *f, gconstpointer unused)
{
  FOR_BOTH_IDS (f)
    {
      assert_output (f, "echo $(ls /dev)", "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero\n");
      assert_output (f, "echo x > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; cat < /dev/null", "3\n3\n");
      assert_output (f, "(head -c 1 /dev/zero > /dev/full) 2>&1 | grep -o 'No space.*'", "No space left on device\n");
      assert_output (f, "ls /dev/pts", "ptmx\n");
    }
}

static void
test_quotas (Fixture *f, gconstpointer unused)
{
  const DriverQuota quotas[] = { { "max_user_namespaces", 0 }, { "max_inotify_instances", 3 }, { "max_no_such_thing", 1 } };
  const DriverRlimit rlimits[] = { { 7 /* RLIMIT_NOFILE */, 61, 62 } };

  f->spec.quotas = quotas;
  f->spec.n_quotas = G_N_ELEMENTS (quotas);
  f->spec.rlimits = rlimits;
  f->spec.n_rlimits = G_N_ELEMENTS (rlimits);
  FOR_BOTH_IDS (f)
    {
      assert_output (f, "cat /proc/sys/user/max_user_namespaces /proc/sys/user/max_inotify_instances; ulimit -n; ulimit -Hn", "0\n3\n61\n62\n");
    }
}

static void
test_sizes (Fixture *f, gconstpointer unused)
{
  if (missing != NULL)
    return;
  f->spec.bytes[1] = 1 << 20;
  f->spec.bytes[2] = 2 << 20;
  f->spec.bytes[3] = 3 << 20;
  f->spec.inodes[1] = 8;
  assert_output (f, "for d in $HOME /tmp /dev/shm; do head -c 9999999 /dev/zero > $d/f 2>/dev/null; stat -c %s $d/f; done", "1048576\n2097152\n3145728\n");
  assert_output (f, "i=0; while touch $HOME/$i; do i=$((i+1)); done 2>/dev/null; echo $i", "7\n");
}

static void
test_grants (Fixture *f, gconstpointer unused)
{
  g_autofree char *ws = below (f, "ws");
  g_autofree char *git = below (f, "ws/git");
  g_autofree char *secret = below (f, "ws/secret");
  g_autofree char *deep = below (f, "ws/git/rw dir\n\xff");
  g_autofree char *file = below (f, "file");
  const gsize n = 5;

  g_assert_no_errno (g_mkdir (ws, 0755));
  g_assert_no_errno (g_mkdir (git, 0755));
  g_assert_no_errno (g_mkdir (deep, 0755));
  g_assert_true (g_file_set_contents (secret, "secret", -1, NULL));
  g_assert_true (g_file_set_contents (file, "alone", -1, NULL));
  FOR_BOTH_IDS (f)
    {
      g_assert_no_errno (g_chmod (f->dir, 0755));
      grant (f, GLOVE_LAUNCH_ACCESS_READ, file);
      grant (f, GLOVE_LAUNCH_ACCESS_WRITE, ws);
      grant (f, GLOVE_LAUNCH_ACCESS_READ, git);
      grant (f, GLOVE_LAUNCH_ACCESS_MASK, secret);
      grant (f, GLOVE_LAUNCH_ACCESS_WRITE, deep);
      g_assert_cmpuint (f->spec.n_grants, ==, n);
      f->spec.work_dir = ws;
      assert_output (f, "cat ../file; (echo x > ../file) 2>/dev/null || echo ro", "alonero\n");
      assert_output (f, "echo x > new && cat new; mkdir -p d && mv new d/ && ls d && rm -r d", "x\nnew\n");
      assert_output (f, "(: > git/x) 2>/dev/null || echo ro; cd git/rw* && echo y > z && cat z && rm z", "ro\ny\n");
      assert_output (f, "wc -c < secret; (echo x > secret) 2>/dev/null || echo ro", "0\nro\n");
      assert_output (f, "ls -A ..; ls -A", "file\nws\ngit\nsecret\n");
      assert_output (f, "ln -s ~/x l && ln git/nothing h 2>/dev/null; ln ../file h 2>/dev/null || echo no; rm l", "no\n");
      assert_output (f, "cp /bin/true t && chmod u+s t 2>/dev/null || echo no; ./t && echo ran; rm t", "no\nran\n");
    }
}

/* What is read-only in something writable can't be moved aside with a directory above it. */
static void
test_grant_way (Fixture *f, gconstpointer unused)
{
  g_autofree char *ws = below (f, "ws");
  g_autofree char *deep = below (f, "ws/a/b");
  g_autofree char *keep = below (f, "ws/a/b/keep");

  g_assert_no_errno (g_mkdir_with_parents (deep, 0755));
  g_assert_true (g_file_set_contents (keep, "kept", -1, NULL));
  FOR_BOTH_IDS (f)
    {
      g_assert_no_errno (g_chmod (f->dir, 0755));
      grant (f, GLOVE_LAUNCH_ACCESS_WRITE, ws);
      grant (f, GLOVE_LAUNCH_ACCESS_READ, keep);
      f->spec.work_dir = ws;
      assert_output (f, "for d in a a/b a/b/keep; do mv -T $d x 2>/dev/null || rm -r $d 2>/dev/null || echo $d; done; cat a/b/keep", "a\na/b\na/b/keep\nkept");
      assert_output (f, "echo x > a/b/new && mv a/b/new a/b/newer && cat a/b/newer && rm a/b/newer; mkdir c && mv c d && rmdir d && echo ok", "x\nok\n");
    }
}

/* What is pinned is what is bound, or nothing is. */
static void
test_grant_changed (Fixture *f, gconstpointer unused)
{
  g_autofree char *a = below (f, "a");
  g_autofree char *b = below (f, "b");

  if (missing != NULL)
    return;
  g_assert_no_errno (g_mkdir (a, 0755));
  grant (f, GLOVE_LAUNCH_ACCESS_WRITE, a);
  g_assert_no_errno (g_rename (a, b));
  f->argv[2] = "true";
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_GRANT_OPEN, ENOENT);
  g_assert_no_errno (g_mkdir (a, 0755));
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_GRANT_CHANGED, ESTALE);
  g_assert_no_errno (g_rmdir (a));
  g_assert_no_errno (symlink (b, a));
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_GRANT_OPEN, ELOOP);
  g_assert_no_errno (g_remove (a));
  g_assert_no_errno (g_rename (b, a));
  run (f);
  g_assert_cmpuint (f->last.type, ==, GLOVE_LAUNCH_ENDED);
}

/* Somebody swaps the path all the time. The agent never sees the other one. */
static void
test_grant_swapped (Fixture *f, gconstpointer unused)
{
  g_autofree char *a = below (f, "a");
  g_autofree char *b = below (f, "b");
  g_autofree char *mark = below (f, "b/wrong");
  guint bound = 0, refused = 0;
  pid_t pid;

  if (missing != NULL)
    return;
  g_assert_no_errno (g_mkdir (a, 0755));
  g_assert_no_errno (g_mkdir (b, 0755));
  g_assert_true (g_file_set_contents (mark, "", -1, NULL));
  grant (f, GLOVE_LAUNCH_ACCESS_READ, a);
  f->spec.work_dir = a;
  f->argv[2] = "test ! -e wrong";
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    for (;;)
      if (syscall (SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) < 0)
        _exit (1);
  for (guint i = 0; i < 60; i++)
    {
      run (f);
      if (f->last.type == GLOVE_LAUNCH_FAILED)
        {
          assert_failed (f, GLOVE_LAUNCH_STAGE_GRANT_CHANGED, ESTALE);
          refused++;
        }
      else
        {
          g_assert_cmpuint (f->last.arg[0], ==, 0);
          bound++;
        }
    }
  g_assert_no_errno (kill (pid, SIGKILL));
  g_assert_cmpint (waitpid (pid, NULL, 0), ==, pid);
  g_assert_cmpuint (bound + refused, ==, 60);
  g_assert_cmpuint (refused, >, 0);
}

/* A link that lies in a workspace is the agent's word: no mount point is found through it, and none is made on the host. */
static void
test_grant_target (Fixture *f, gconstpointer unused)
{
  g_autofree char *ws = below (f, "ws");
  g_autofree char *link = below (f, "ws/link");
  g_autofree char *through = below (f, "ws/link/cron");
  g_autofree char *absent = below (f, "ws/absent");
  g_autofree char *other = below (f, "other");
  DriverGrant *second;

  g_assert_no_errno (g_mkdir (ws, 0755));
  g_assert_no_errno (g_mkdir (other, 0755));
  g_assert_no_errno (symlink ("/etc", link));
  FOR_BOTH_IDS (f)
    {
      g_assert_no_errno (g_chmod (f->dir, 0755));
      grant (f, GLOVE_LAUNCH_ACCESS_WRITE, ws);
      grant (f, GLOVE_LAUNCH_ACCESS_WRITE, other);
      second = &f->grants[1];
      f->argv[2] = "true";
      second->target = through;
      run (f);
      assert_failed (f, GLOVE_LAUNCH_STAGE_GRANT_TARGET, ELOOP);
      g_assert_cmpuint (f->last.arg[2], ==, 1);
      second->target = link;
      run (f);
      assert_failed (f, GLOVE_LAUNCH_STAGE_GRANT_TARGET, ELOOP);
      second->target = absent;
      run (f);
      assert_failed (f, GLOVE_LAUNCH_STAGE_GRANT_TARGET, ENOENT);
      g_assert_false (g_file_test (absent, G_FILE_TEST_EXISTS));
      second->target = "/proc/sys";
      run (f);
      assert_failed (f, GLOVE_LAUNCH_STAGE_GRANT_TARGET, EINVAL);
      second->target = "/srv/made/for/it";
      run (f);
      g_assert_cmpuint (f->last.type, ==, GLOVE_LAUNCH_ENDED);
    }
}

static void
test_files (Fixture *f, gconstpointer unused)
{
  const DriverFile files[] = { { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0444, "/etc/passwd", "one" },
                               { GLOVE_LAUNCH_FILE_DIRECTORY, 0700, "/home/agent/.config", "" },
                               { 0, 0600, "/home/agent/.config/c", "two" } };
  const DriverFile wrong[] = { { GLOVE_LAUNCH_FILE_OWNER_ROOT, 0444, "/home/agent/f", "" } };

  if (missing != NULL)
    return;
  f->spec.files = files;
  f->spec.n_files = G_N_ELEMENTS (files);
  assert_output (f, "cat /etc/passwd ~/.config/c; stat -c %a ~/.config ~/.config/c; echo x > ~/.config/c; (: > /etc/passwd) 2>/dev/null || echo ro", "onetwo700\n600\nro\n");
  f->spec.files = wrong;
  f->spec.n_files = 1;
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_FILE, EPERM);
}

static void
test_exec (Fixture *f, gconstpointer unused)
{
  g_autofree char *script = below (f, "script");
  g_autofree char *plain = below (f, "plain");
  const char *const named[] = { "--bind", "-c", "echo $0", NULL };
  const char *const gone[] = { "no-such-program", NULL };
  const char *const gone_path[] = { "/no/such/program", NULL };
  const char *const scripted[] = { script, NULL };
  const char *const plainly[] = { plain, NULL };
  const char *const looked_up[] = { "script", NULL };
  g_autofree char *path = g_strconcat ("PATH=/nowhere:", f->dir, ":/bin", NULL);
  const char *const env[] = { path, NULL };

  if (missing != NULL)
    return;
  g_assert_true (g_file_set_contents_full (script, "#!/no/interpreter\n", -1, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  g_assert_true (g_file_set_contents_full (plain, "plain", -1, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
  grant (f, GLOVE_LAUNCH_ACCESS_READ, f->dir);
  f->spec.argv = gone;
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, ENOENT);
  f->spec.argv = gone_path;
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, ENOENT);
  f->spec.argv = scripted;
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_EXEC, ENOENT);
  f->spec.argv = plainly;
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_EXEC, EACCES);
  f->spec.env = env;
  f->spec.argv = looked_up;
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_EXEC, ENOENT);
  f->spec.argv = named;
  f->spec.executable = "/bin/sh";
  run (f);
  g_assert_cmpuint (f->last.type, ==, GLOVE_LAUNCH_ENDED);
  f->spec.work_dir = "/no/such/directory";
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_WORK_DIR, ENOENT);
}

static void
test_descriptors (Fixture *f, gconstpointer unused)
{
  int leaked = open ("/etc/passwd", O_RDONLY); /* not close-on-exec: glove-launch inherits it */
  struct sigaction ignore = { .sa_handler = SIG_IGN }, before;

  g_assert_cmpint (leaked, >=, 0);
  FOR_BOTH_IDS (f)
    {
      assert_output (f, "i=3; while test $i -lt 300; do readlink /proc/self/fd/$i; i=$((i+1)); done; readlink /proc/self/fd/0", "/dev/null\n");
      g_assert_no_errno (sigaction (SIGPIPE, &ignore, &before));
      assert_output (f, "grep -E 'Sig(Blk|Ign)' /proc/self/status", "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
      g_assert_no_errno (sigaction (SIGPIPE, &before, NULL));
    }
  close (leaked);
}

static void
test_status (Fixture *f, gconstpointer unused)
{
  FOR_BOTH_IDS (f)
    {
      run_script (f, "exit 3");
      g_assert_cmpuint (f->last.arg[0], ==, 3 << 8);
      run_script (f, "kill -9 $$");
      g_assert_cmpuint (f->last.arg[0], ==, SIGKILL);
      run_script (f, "kill -ABRT $$");
      g_assert_cmpuint (f->last.arg[0] & 0x7f, ==, SIGABRT);
      /* what it left behind holds the pipe, and is gone with it: else run() would wait for a minute */
      run_script (f, "(trap '' HUP TERM; setsid sleep 60) & (while :; do sleep 1; done) & exit 0");
      g_assert_cmpuint (f->last.arg[0], ==, 0);
      g_assert_cmpuint (f->last.value[5], >, 0);
      /* orphans are reaped, and are not taken for the agent */
      run_script (f, "for i in 1 2 3 4 5 6 7 8; do (sh -c 'exit 9' &) ; done; sleep 0.2; ps -o stat= -A 2>/dev/null | grep -c Z; exit 4");
      g_assert_cmpuint (f->last.arg[0], ==, 4 << 8);
    }
}

/* A descriptor of PID 1, which becomes readable when it is gone. */
static int
start_sleeping (Fixture *f)
{
  GloveLaunchMessage hello, started;
  int pidfd;

  f->argv[2] = "trap '' TERM INT HUP; (setsid sleep 60) & sleep 60";
  g_assert_no_errno (driver_start (&f->driver, launcher, &f->spec));
  g_assert_cmpint (driver_receive_until (&f->driver, GLOVE_LAUNCH_HELLO, &hello, TIMEOUT_MS), ==, 1);
  g_assert_cmpuint (hello.arg[0], ==, GLOVE_LAUNCH_VERSION);
  g_assert_cmpuint (hello.value[0], >, 0);
  g_assert_no_errno (driver_send (&f->driver, GLOVE_LAUNCH_START, 0));
  g_assert_cmpint (driver_receive_until (&f->driver, GLOVE_LAUNCH_STARTED, &started, TIMEOUT_MS), ==, 1);
  pidfd = (int) syscall (SYS_pidfd_open, (pid_t) hello.arg[1], 0);
  g_assert_cmpint (pidfd, >=, 0);
  return pidfd;
}

static void
assert_gone (int pidfd)
{
  struct pollfd polled = { .fd = pidfd, .events = POLLIN };

  g_assert_cmpint (poll (&polled, 1, TIMEOUT_MS), ==, 1);
  close (pidfd);
}

static void
test_supervisor_dies (Fixture *f, gconstpointer unused)
{
  FOR_BOTH_IDS (f)
    {
      int pidfd = start_sleeping (f);

      /* glove is gone: the end of file is all that is seen of it */
      close (f->driver.monitor);
      f->driver.monitor = -1;
      assert_gone (pidfd);
      driver_finish (&f->driver);

      pidfd = start_sleeping (f);
      g_assert_no_errno (kill (f->driver.pid, SIGKILL));
      assert_gone (pidfd);
      driver_finish (&f->driver);

      pidfd = start_sleeping (f);
      g_assert_no_errno (driver_send (&f->driver, GLOVE_LAUNCH_KILL, 0));
      g_assert_cmpint (driver_receive_until (&f->driver, GLOVE_LAUNCH_ENDED, &f->last, TIMEOUT_MS), ==, 1);
      g_assert_cmpuint (f->last.arg[0], ==, SIGKILL);
      assert_gone (pidfd);
      driver_finish (&f->driver);

      pidfd = start_sleeping (f);
      g_assert_no_errno (driver_send (&f->driver, 99, 0)); /* a message that is none */
      assert_gone (pidfd);
      driver_finish (&f->driver);
    }
}

/* Killed before START, at moments all over the launch, nothing of it stays. */
static void
test_killed_early (Fixture *f, gconstpointer unused)
{
  f->argv[2] = "sleep 60";
  for (guint i = 0; missing == NULL && i < 40; i++)
    {
      g_assert_no_errno (driver_start (&f->driver, launcher, &f->spec));
      g_usleep (i * 200);
      if (i % 2 == 0)
        g_assert_no_errno (kill (f->driver.pid, SIGKILL));
      driver_finish (&f->driver); /* returns only when the process is gone */
    }
}

static void
test_signals (Fixture *f, gconstpointer unused)
{
  GloveLaunchMessage message;

  if (missing != NULL)
    return;
  f->argv[2] = "trap 'exit 7' USR1; kill -STOP $$; while :; do sleep 0.05; done";
  g_assert_no_errno (driver_start (&f->driver, launcher, &f->spec));
  g_assert_no_errno (driver_send (&f->driver, GLOVE_LAUNCH_START, 0));
  g_assert_cmpint (driver_receive_until (&f->driver, GLOVE_LAUNCH_STOPPED, &message, TIMEOUT_MS), ==, 1);
  g_assert_cmpuint (message.arg[0], ==, SIGSTOP);
  g_assert_no_errno (driver_send (&f->driver, GLOVE_LAUNCH_SIGNAL, SIGCONT));
  g_assert_no_errno (driver_send (&f->driver, GLOVE_LAUNCH_SIGNAL, SIGUSR1));
  g_assert_cmpint (driver_receive_until (&f->driver, GLOVE_LAUNCH_ENDED, &message, TIMEOUT_MS), ==, 1);
  g_assert_cmpuint (message.arg[0], ==, 7 << 8);
  driver_finish (&f->driver);
}

static void
test_listeners (Fixture *f, gconstpointer unused)
{
  const DriverListener listeners[] = { { 11, 0 }, { 22, 8123 } };
  const guint32 tags[] = { 11, 22 };
  GloveLaunchMessage message = { 0 };
  int port = -1;

  if (missing != NULL || !g_file_test ("/bin/bash", G_FILE_TEST_EXISTS))
    return;
  f->spec.listeners = listeners;
  f->spec.n_listeners = 2;
  f->argv[0] = "/bin/bash";
  f->argv[2] = "read p; for i in $p 8123; do exec 3<>/dev/tcp/127.0.0.1/$i; echo hi >&3; done; sleep 60";
  {
    int in[2];
    g_autofree char *text = NULL;

    g_assert_no_errno (pipe2 (in, O_CLOEXEC));
    f->spec.stdio[0] = (guint32) in[0];
    g_assert_no_errno (driver_start (&f->driver, launcher, &f->spec));
    for (guint i = 0; i < 2; i++)
      {
        g_assert_cmpint (driver_receive_until (&f->driver, GLOVE_LAUNCH_PORT, &message, TIMEOUT_MS), ==, 1);
        g_assert_cmpuint (message.arg[0], ==, tags[i]);
        if (i == 0)
          port = (int) message.arg[1];
        else
          g_assert_cmpuint (message.arg[1], ==, 8123);
      }
    g_assert_cmpint (port, >, 0);
    g_assert_no_errno (driver_send (&f->driver, GLOVE_LAUNCH_START, 0));
    text = g_strdup_printf ("%d\n", port);
    g_assert_cmpint (write (in[1], text, strlen (text)), ==, (gssize) strlen (text));
    close (in[0]);
    close (in[1]);
  }
  for (guint i = 0; i < 2; i++)
    {
      union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE (sizeof (int))];
      } control = { 0 };
      guint32 tag = 0;
      char buffer[3];
      struct iovec io = { &tag, sizeof tag };
      struct msghdr packet = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes };
      int s;

      g_assert_cmpint (recvmsg (f->driver.egress, &packet, MSG_CMSG_CLOEXEC), ==, sizeof tag);
      g_assert_cmpuint (tag, ==, tags[i]);
      memcpy (&s, CMSG_DATA (CMSG_FIRSTHDR (&packet)), sizeof s);
      g_assert_cmpint (read (s, buffer, 3), ==, 3);
      g_assert_cmpmem (buffer, 3, "hi\n", 3);
      close (s);
    }
  driver_finish (&f->driver);
}

static int
receive_terminal (Fixture *f)
{
  GloveLaunchMessage message;
  int master = -1;

  while (driver_receive (&f->driver, &message, &master, TIMEOUT_MS) == 1)
    if (message.type == GLOVE_LAUNCH_TERMINAL)
      break;
  g_assert_cmpint (master, >=, 0);
  return master;
}

static void
read_until (int fd, GString *seen, const char *text)
{
  char buffer[512];

  while (strstr (seen->str, text) == NULL)
    {
      struct pollfd polled = { .fd = fd, .events = POLLIN };
      gssize n = poll (&polled, 1, TIMEOUT_MS) == 1 ? read (fd, buffer, sizeof buffer) : -1;

      if (n <= 0)
        g_error ("“%s” did not come, but “%s”", text, seen->str);
      g_string_append_len (seen, buffer, n);
    }
}

static void
test_terminal (Fixture *f, gconstpointer unused)
{
  f->spec.rows = 33;
  f->spec.columns = 101;
  f->spec.flags = GLOVE_LAUNCH_FLAG_TTY;
  FOR_BOTH_IDS (f)
    {
      GloveLaunchMessage message;
      g_autoptr (GString) seen = g_string_new (NULL);
      int master;

      f->argv[2] = "stty size; tty; echo > /dev/tty && echo open; read line; echo got $line; exec cat";
      g_assert_no_errno (driver_start (&f->driver, launcher, &f->spec));
      master = receive_terminal (f);
      g_assert_no_errno (driver_send (&f->driver, GLOVE_LAUNCH_START, 0));
      read_until (master, seen, "33 101\r\n");
      read_until (master, seen, "/dev/pts/0\r\n");
      read_until (master, seen, "open\r\n");
      g_assert_cmpint (write (master, "abc\n", 4), ==, 4);
      read_until (master, seen, "got abc\r\n");
      g_assert_cmpint (write (master, "\032", 1), ==, 1); /* Ctrl-Z */
      g_assert_cmpint (driver_receive_until (&f->driver, GLOVE_LAUNCH_STOPPED, &message, TIMEOUT_MS), ==, 1);
      g_assert_cmpuint (message.arg[0], ==, SIGTSTP);
      g_assert_no_errno (driver_send (&f->driver, GLOVE_LAUNCH_SIGNAL, SIGCONT));
      g_assert_cmpint (write (master, "more\n", 5), ==, 5);
      read_until (master, seen, "more\r\nmore\r\n"); /* the echo, and cat */
      g_assert_cmpint (write (master, "\003", 1), ==, 1); /* Ctrl-C */
      g_assert_cmpint (driver_receive_until (&f->driver, GLOVE_LAUNCH_ENDED, &message, TIMEOUT_MS), ==, 1);
      g_assert_cmpuint (message.arg[0], ==, SIGINT);
      close (master);
      driver_finish (&f->driver);
    }
}

static void
test_spec (Fixture *f, gconstpointer unused)
{
  g_autofree char *number = NULL;
  const char *argv[] = { launcher, NULL, NULL };
  int status = 0, memfd = driver_make_memfd ((const guint8 *) "x", 1, /* sealed= */ FALSE);

  g_assert_cmpint (memfd, >=, 0);
  number = g_strdup_printf ("%d", memfd);
  argv[1] = number;
  g_assert_no_errno (fcntl (memfd, F_SETFD, 0));
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_LEAVE_DESCRIPTORS_OPEN, NULL, NULL, NULL, NULL, &status, NULL));
  g_assert_cmpint (WEXITSTATUS (status), ==, 2);
  close (memfd);
  argv[1] = "no number";
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, NULL));
  g_assert_cmpint (WEXITSTATUS (status), ==, 2);

  f->argv[2] = "true";
  f->spec.uid = 0;
  run (f);
  assert_failed (f, GLOVE_LAUNCH_STAGE_SPEC, EINVAL);
  f->spec.uid = 1000;
  f->spec.cgroup = 999;
  f->spec.cgroup_parent = 999;
  f->spec.cgroup_name = "x";
  f->spec.stdio[0] = 999;
  {
    int out = open ("/dev/null", O_RDWR | O_CLOEXEC);
    GloveLaunchMessage message;

    /* not open there: the number is what the spec says, but nobody hands it over */
    f->spec.cgroup = f->spec.cgroup_parent = GLOVE_LAUNCH_NO_FD;
    f->spec.cgroup_name = "";
    f->spec.stdio[0] = GLOVE_LAUNCH_NO_FD;
    f->spec.host_uid = geteuid () + 1;
    f->spec.stdio[1] = f->spec.stdio[2] = (guint32) out;
    g_assert_no_errno (driver_start (&f->driver, launcher, &f->spec));
    g_assert_cmpint (driver_receive_until (&f->driver, GLOVE_LAUNCH_READY, &message, TIMEOUT_MS), ==, 0);
    g_assert_cmpuint (message.type, ==, GLOVE_LAUNCH_FAILED);
    g_assert_cmpuint (message.arg[0], ==, GLOVE_LAUNCH_STAGE_CREDENTIALS);
    driver_finish (&f->driver);
    close (out);
  }
}

/* The second wall, seen where only it refuses; and what must go on working behind it. */
static void
test_second_wall (Fixture *f, gconstpointer unused)
{
  gboolean there = syscall (444 /* landlock_create_ruleset */, NULL, (gsize) 0, 1u) >= 2;

  FOR_BOTH_IDS (f)
    {
      f->spec.flags &= ~GLOVE_LAUNCH_FLAG_NO_LANDLOCK;
      assert_output (f, "(: > /dev/random) 2>/dev/null || echo refused", there ? "refused\n" : "");
      assert_output (f, "mkfifo /tmp/p && echo ok; mkdir /tmp/a && mv /tmp/p /tmp/a && ls /tmp/a; cd /tmp && ln -s a b && rm b", "ok\np\n");
      f->spec.flags |= GLOVE_LAUNCH_FLAG_NO_LANDLOCK;
      assert_output (f, "(: > /dev/random) 2>/dev/null || echo refused", "");
    }
}

/* A host that hides clone3, as container runtimes did. */
static void
test_without_clone3 (Fixture *f, gconstpointer unused)
{
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, 435, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { G_N_ELEMENTS (code), code };
  int status;
  pid_t pid;

  if (missing != NULL)
    return;
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
        _exit (1);
      f->argv[2] = "exit 5";
      run (f);
      _exit (f->last.type == GLOVE_LAUNCH_ENDED && f->last.arg[0] == 5 << 8 ? 42 : 2);
    }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (WEXITSTATUS (status), ==, 42);
}

static void
test_cgroup (Fixture *f, gconstpointer unused)
{
  const char *const roots[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
  int parent = -1, cgroup;

  for (gsize i = 0; parent < 0 && i < G_N_ELEMENTS (roots); i++)
    {
      g_autofree char *events = g_build_filename (roots[i], "cgroup.controllers", NULL);

      if (g_file_test (events, G_FILE_TEST_EXISTS))
        parent = open (roots[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
  if (parent < 0 || mkdirat (parent, "glove-test-launch", 0755) < 0)
    {
      g_test_skip ("no control group can be made here (cgroup version 2, and the right to write there)");
      return;
    }
  cgroup = openat (parent, "glove-test-launch", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (cgroup, >=, 0);
  f->spec.cgroup = (guint32) cgroup;
  f->spec.cgroup_parent = (guint32) parent;
  f->spec.cgroup_name = "glove-test-launch";
  FOR_BOTH_IDS (f)
    {
      if (round > 0)
        {
          g_assert_no_errno (mkdirat (parent, "glove-test-launch", 0755));
          cgroup = openat (parent, "glove-test-launch", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
          f->spec.cgroup = (guint32) cgroup;
        }
      assert_output (f, "grep ^0: /proc/self/cgroup; (setsid sleep 60) & exit 0", "0::/\n");
      g_assert_cmpuint (f->last.arg[1], ==, 1);
      g_assert_cmpuint (f->last.value[0], >, 0);
      g_assert_cmpint (faccessat (parent, "glove-test-launch", F_OK, 0), ==, -1);
      close (cgroup);
    }
  close (parent);
}

/* Whether this host lets us make one at all. */
static void
probe (void)
{
  const char *const argv[] = { "/bin/true", NULL };
  DriverSpec spec;
  Driver driver;
  GloveLaunchMessage message = { 0 };

  driver_spec_init (&spec, argv);
  g_assert_no_errno (driver_start (&driver, launcher, &spec));
  /* It may have failed and be gone by now: what it said is still to be read. */
  if (driver_send (&driver, GLOVE_LAUNCH_START, 0) < 0)
    g_assert_cmpint (errno, ==, EPIPE);
  if (driver_receive_until (&driver, GLOVE_LAUNCH_ENDED, &message, TIMEOUT_MS) != 1)
    {
      gboolean host = message.arg[0] == GLOVE_LAUNCH_STAGE_CLONE || message.arg[0] == GLOVE_LAUNCH_STAGE_USERNS_MAP
                      || message.arg[0] == GLOVE_LAUNCH_STAGE_PROC || message.arg[0] == GLOVE_LAUNCH_STAGE_ROOT;

      missing = g_strdup_printf ("user namespaces: stage %u, %s", message.arg[0], g_strerror ((int) message.arg[1]));
      if (!host || g_getenv ("GLOVE_TESTS_MUST_RUN") != NULL)
        g_error ("no sandbox: %s", missing);
    }
  driver_finish (&driver);
}

static gboolean
become_user (void)
{
  return geteuid () == 0 && setgroups (0, NULL) == 0 && setresgid (1000, 1000, 1000) == 0 && setresuid (1000, 1000, 1000) == 0
         && prctl (PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*function) (Fixture *, gconstpointer);
  } tests[] = {
    { "ids", test_ids }, { "root", test_root }, { "proc", test_proc }, { "dev", test_dev }, { "quotas", test_quotas },
    { "sizes", test_sizes }, { "grants", test_grants }, { "grant-way", test_grant_way }, { "grant-changed", test_grant_changed },
    { "grant-swapped", test_grant_swapped }, { "grant-target", test_grant_target }, { "files", test_files },
    { "exec", test_exec }, { "descriptors", test_descriptors }, { "status", test_status },
    { "supervisor-dies", test_supervisor_dies }, { "killed-early", test_killed_early }, { "signals", test_signals },
    { "listeners", test_listeners }, { "terminal", test_terminal }, { "spec", test_spec },
    { "second-wall", test_second_wall }, { "without-clone3", test_without_clone3 }, { "cgroup", test_cgroup },
  };

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >=, 2);
  launcher = argv[1];
  if (argc == 3 && !become_user ())
    {
      /* A skip of everything, in TAP. */
      puts ("1..0 # SKIP only root can become an ordinary user");
      return g_strcmp0 (g_getenv ("GLOVE_TESTS_MUST_RUN"), "1") == 0 ? 1 : 0;
    }
  probe ();
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autofree char *path = g_strconcat ("/linux/launch/", tests[i].name, NULL);

      g_test_add (path, Fixture, NULL, set_up, tests[i].function, tear_down);
    }
  return g_test_run ();
}
