/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where session groups may be made: decided on trees of plain files, and done in a real hierarchy where there is one. */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-linux-cgroup-session.h"
#include "glove-linux-cgroup.h"
#include "glove-linux-fd.h"

#define ALL "cpuset cpu io memory pids\n"

typedef struct {
  char *dir;
  GloveLinuxCgroupHost host;
} Tree;

static void
put (const char *dir, const char *group, const char *file, const char *text)
{
  g_autofree char *path = g_build_filename (dir, group, file, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, &error));
}

static void
put_group (Tree *tree, const char *group, const char *controllers, const char *subtree, const char *procs)
{
  put (tree->dir, group, "cgroup.controllers", controllers);
  put (tree->dir, group, "cgroup.subtree_control", subtree);
  put (tree->dir, group, "cgroup.procs", procs);
}

static void
tree_init (Tree *tree, const char *own)
{
  g_autoptr (GError) error = NULL;

  *tree = (Tree){ .dir = g_dir_make_tmp ("glove-cgroup-XXXXXX", &error) };
  g_assert_no_error (error);
  tree->host = (GloveLinuxCgroupHost){ .root = open (tree->dir, O_PATH | O_DIRECTORY | O_CLOEXEC), .own = g_strdup (own),
                                       .is_kernel_root = TRUE };
}

static void
tree_clear (Tree *tree)
{
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", tree->dir);

  g_assert_cmpint (system (command), ==, 0);
  g_free (tree->dir);
  glove_linux_cgroup_host_clear (&tree->host);
}

static char *
own_pid (void)
{
  return g_strdup_printf ("%d\n", (int) getpid ());
}

static void
assert_place (Tree *tree, GloveLinuxCgroupPlace place)
{
  g_autofree char *reason = NULL;
  GloveLinuxCgroupPlace found;

  g_assert_cmpint (glove_linux_cgroup_find (&tree->host, &found, &reason), ==, GLOVE_LINUX_CGROUP_AVAILABLE);
  g_assert_cmpint (found, ==, place);
  g_assert_null (reason);
}

static void
assert_none (Tree *tree, GloveLinuxCgroupStatus status, const char *telling)
{
  g_autofree char *reason = NULL;
  g_autoptr (GError) error = NULL;
  GloveLinuxCgroupPlace place;

  g_assert_cmpint (glove_linux_cgroup_find (&tree->host, &place, &reason), ==, (int) status);
  if (strstr (reason, telling) == NULL)
    g_error ("“%s” is not in “%s”", telling, reason);
  g_assert_null (glove_linux_cgroup_claim (&tree->host, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNAVAILABLE);
  g_assert_cmpstr (glove_error_get_hint (error), ==, glove_linux_cgroup_status_get_repair (status, tree->host.privileged));
}

/* A user manager's slice: ours, divided already, nobody in it. */
static void
test_parent (void)
{
  Tree tree;

  tree_init (&tree, "user/app.slice/x.scope");
  put_group (&tree, ".", ALL, ALL, "1\n");
  put_group (&tree, "user/app.slice", ALL, "memory pids cpu\n", "");
  put_group (&tree, "user/app.slice/x.scope", "memory pids cpu\n", "", "1\n2\n");
  assert_place (&tree, GLOVE_LINUX_CGROUP_PARENT);
  tree_clear (&tree);
}

/* A unit with Delegate= and DelegateSubgroup=: its own group is empty and not divided yet. */
static void
test_claim_parent (void)
{
  g_autoptr (GloveLinuxCgroup) cgroup = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  Tree tree;

  tree_init (&tree, "unit/supervisor");
  put_group (&tree, ".", ALL, ALL, "1\n");
  put_group (&tree, "unit", ALL, "", "");
  put_group (&tree, "unit/supervisor", "", "", "1\n");
  assert_place (&tree, GLOVE_LINUX_CGROUP_PARENT);
  cgroup = glove_linux_cgroup_claim (&tree.host, &error);
  g_assert_no_error (error);
  path = g_build_filename (tree.dir, "unit/cgroup.subtree_control", NULL);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "+cpu +memory +pids");
  g_clear_object (&cgroup);
  tree_clear (&tree);
}

/* A scope that holds us alone: we leave it for a leaf, and come back at the end. */
static void
test_own (void)
{
  g_autoptr (GloveLinuxCgroup) cgroup = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *pid = own_pid ();
  g_autofree char *leaf = g_strdup_printf ("scope/glove-host-%d", (int) getpid ());
  g_autofree char *procs = NULL;
  g_autofree char *control = NULL;
  g_autofree char *text = NULL;
  Tree tree;

  tree_init (&tree, "scope");
  put_group (&tree, ".", ALL, ALL, "1\n");
  tree.host.is_kernel_root = FALSE;
  put_group (&tree, "scope", ALL, "", pid);
  put_group (&tree, leaf, "", "", "");
  assert_place (&tree, GLOVE_LINUX_CGROUP_OWN);
  cgroup = glove_linux_cgroup_claim (&tree.host, &error);
  g_assert_no_error (error);
  procs = g_build_filename (tree.dir, leaf, "cgroup.procs", NULL);
  g_assert_true (g_file_get_contents (procs, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "0");
  control = g_build_filename (tree.dir, "scope/cgroup.subtree_control", NULL);
  g_clear_pointer (&text, g_free);
  g_assert_true (g_file_get_contents (control, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "+cpu +memory +pids");
  g_clear_object (&cgroup);
  g_clear_pointer (&text, g_free);
  g_assert_true (g_file_get_contents (control, &text, NULL, NULL));
  /* A plain file keeps what a kernel file would forget. */
  g_assert_true (g_str_has_prefix (text, "-cpu -memory -pids"));
  tree_clear (&tree);
}

static void
test_shared (void)
{
  g_autofree char *pid = own_pid ();
  g_autofree char *two = g_strconcat (pid, "1\n", NULL);
  Tree tree;

  tree_init (&tree, "scope");
  put_group (&tree, ".", ALL, ALL, "1\n");
  tree.host.is_kernel_root = FALSE;
  put_group (&tree, "scope", ALL, "", two);
  assert_none (&tree, GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE, "other processes share");
  tree_clear (&tree);
}

static void
test_controllers (void)
{
  static const char *const lacking[] = { "", "cpu memory\n", "cpu pids\n", "memory pids\n", "cpuset memory pids\n" };
  g_autofree char *pid = own_pid ();

  for (gsize i = 0; i < G_N_ELEMENTS (lacking); i++)
    {
      Tree tree;

      tree_init (&tree, "scope");
      tree.host.is_kernel_root = FALSE;
      put_group (&tree, ".", ALL, "", "1\n");
      put_group (&tree, "scope", lacking[i], "", pid);
      assert_none (&tree, GLOVE_LINUX_CGROUP_CONTROLLERS_UNAVAILABLE, "not handed down");
      put_group (&tree, ".", lacking[i], "", "1\n");
      assert_none (&tree, GLOVE_LINUX_CGROUP_CONTROLLERS_UNAVAILABLE, "hierarchy has no cpu");
      tree_clear (&tree);
    }
}

static void
test_no_hierarchy (void)
{
  GloveLinuxCgroupHost host = { .root = -1 };
  g_autofree char *reason = NULL;
  GloveLinuxCgroupPlace place;

  g_assert_cmpint (glove_linux_cgroup_find (&host, &place, &reason), ==, GLOVE_LINUX_CGROUP_V2_UNAVAILABLE);
  g_assert_nonnull (strstr (reason, "no cgroup version 2"));
}

/* The hierarchy's true root may hold processes beside groups; a service manager's is not ours, though. */
static void
test_root (void)
{
  Tree tree;

  tree_init (&tree, "");
  put_group (&tree, ".", ALL, "", "1\n2\n");
  assert_place (&tree, GLOVE_LINUX_CGROUP_ROOT);
  tree.host.systemd = TRUE;
  assert_none (&tree, GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE, "not ours");
  tree.host.systemd = FALSE;
  tree.host.is_kernel_root = FALSE;
  assert_none (&tree, GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE, "other processes");
  tree_clear (&tree);
}

/* Root may write everywhere; under a service manager that proves nothing. */
static void
test_root_needs_delegation (void)
{
  Tree tree;

  tree_init (&tree, "system.slice/x.service");
  tree.host.privileged = tree.host.systemd = TRUE;
  put_group (&tree, ".", ALL, ALL, "1\n");
  put_group (&tree, "system.slice", ALL, ALL, "");
  put_group (&tree, "system.slice/x.service", ALL, "", "1\n");
  assert_none (&tree, GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE, "not ours to divide");
  tree.host.systemd = FALSE;
  assert_place (&tree, GLOVE_LINUX_CGROUP_PARENT);
  tree_clear (&tree);
}

static void
test_read_only (void)
{
  g_autofree char *pid = own_pid ();
  g_autofree char *file = NULL;
  Tree tree;

  if (geteuid () == 0)
    {
      g_test_skip ("root can write to a read-only file: run it as an ordinary user");
      return;
    }
  tree_init (&tree, "scope");
  tree.host.is_kernel_root = FALSE;
  put_group (&tree, ".", ALL, ALL, "1\n");
  put_group (&tree, "scope", ALL, "", pid);
  file = g_build_filename (tree.dir, "scope/cgroup.subtree_control", NULL);
  g_assert_cmpint (chmod (file, 0444), ==, 0);
  assert_none (&tree, GLOVE_LINUX_CGROUP_DELEGATION_UNAVAILABLE, "not ours");
  tree_clear (&tree);
}

static void
test_parse (void)
{
  static const struct {
    const char *text, *own;
  } own[] = { { "0::/\n", "/" },
              { "4:memory:/a\n0::/user/b c\n", "/user/b c" },
              { "4:memory:/a\n", NULL },
              { "", NULL },
              { "10::/x\n", NULL } };
  static const char info[] = "31 23 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
                             "41 31 0:35 /pod /sys/fs/cg\\040roup rw,relatime shared:1 - cgroup2 cgroup2 rw\n"
                             "garbage\n42 31 0:35 / /other rw - cgroup2 none rw\n";
  g_autofree char *point = NULL;
  g_autofree char *root = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (own); i++)
    {
      g_autofree char *found = glove_linux_cgroup_parse_own (own[i].text);

      g_assert_cmpstr (found, ==, own[i].own);
    }
  g_assert_true (glove_linux_cgroup_parse_mount (info, "/pod/a", &point, &root));
  g_assert_cmpstr (point, ==, "/sys/fs/cg roup");
  g_assert_cmpstr (root, ==, "/pod");
  g_free (g_steal_pointer (&point));
  g_free (g_steal_pointer (&root));
  /* A name that merely begins alike is another group. */
  g_assert_true (glove_linux_cgroup_parse_mount (info, "/podium", &point, &root));
  g_assert_cmpstr (point, ==, "/other");
  g_assert_false (glove_linux_cgroup_parse_mount ("", "/", &point, &root));
}

/* Files of a session's group, as the kernel will see them. */
static void
test_session_limits (void)
{
  static const struct {
    const char *file, *text;
  } expected[] = { { "memory.max", "1048576" },
                   { "memory.swap.max", "0" },
                   { "memory.oom.group", "1" },
                   { "pids.max", "12" },
                   { "cpu.max", "150000 100000" } };
  g_autofree char *pid = own_pid ();
  g_autoptr (GloveLinuxCgroup) cgroup = NULL;
  g_autoptr (GError) error = NULL;
  glove_linux_autofd int group = -1;
  GloveLimits limits = { { 0 } };
  Tree tree;

  tree_init (&tree, "unit/supervisor");
  put_group (&tree, ".", ALL, ALL, "1\n");
  put_group (&tree, "unit", ALL, ALL, "");
  put_group (&tree, "unit/supervisor", "", "", pid);
  cgroup = glove_linux_cgroup_claim (&tree.host, &error);
  g_assert_no_error (error);
  limits.value[GLOVE_LIMIT_MEMORY] = 1 << 20;
  limits.value[GLOVE_LIMIT_PIDS] = 12;
  limits.value[GLOVE_LIMIT_CPUS] = 1500;
  /* No kernel makes the files here, so the group can't be limited: an error, and nothing is left. */
  g_assert_null (glove_linux_cgroup_session_new (cgroup, "s", &limits, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_cmpint (faccessat (glove_linux_cgroup_get_fd (cgroup), "glove-session-s", F_OK, 0), ==, -1);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    put (tree.dir, "unit/glove-session-t", expected[i].file, "");
  group = openat (glove_linux_cgroup_get_fd (cgroup), "glove-session-t", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_true (glove_linux_cgroup_session_set_limits (group, &limits, &error));
  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autofree char *text = glove_linux_fd_read_text_at (group, expected[i].file, &error);

      g_assert_cmpstr (text, ==, expected[i].text);
    }
  /* One that exists is somebody else's. */
  g_assert_cmpint (flock (group, LOCK_SH), ==, 0);
  g_assert_null (glove_linux_cgroup_session_new (cgroup, "t", &limits, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_EXISTS);
  g_clear_object (&cgroup);
  tree_clear (&tree);
}

/* What nobody lives for is removed, what is locked stays. */
static void
test_sweep (void)
{
  g_autoptr (GloveLinuxCgroup) cgroup = NULL;
  g_autoptr (GloveLinuxCgroupSession) kept = NULL;
  g_autoptr (GloveLinuxCgroupSession) next = NULL;
  g_autoptr (GError) error = NULL;
  GloveLimits none = { { 0 } };
  Tree tree;
  int above;

  tree_init (&tree, "unit/supervisor");
  put_group (&tree, ".", ALL, ALL, "1\n");
  put_group (&tree, "unit", ALL, ALL, "");
  put_group (&tree, "unit/supervisor", "", "", "1\n");
  cgroup = glove_linux_cgroup_claim (&tree.host, &error);
  g_assert_no_error (error);
  above = glove_linux_cgroup_get_fd (cgroup);
  kept = glove_linux_cgroup_session_new (cgroup, "kept", &none, &error);
  g_assert_no_error (error);
  g_assert_cmpint (mkdirat (above, "glove-session-dead", 0755), ==, 0);
  g_assert_cmpint (mkdirat (above, "not-ours", 0755), ==, 0);
  next = glove_linux_cgroup_session_new (cgroup, "next", &none, &error);
  g_assert_no_error (error);
  g_assert_cmpint (faccessat (above, "glove-session-dead", F_OK, 0), ==, -1);
  g_assert_cmpint (faccessat (above, "glove-session-kept", F_OK, 0), ==, 0);
  g_assert_cmpint (faccessat (above, "not-ours", F_OK, 0), ==, 0);
  g_clear_object (&kept);
  g_assert_cmpint (faccessat (above, "glove-session-kept", F_OK, 0), ==, -1);
  g_clear_object (&next);
  g_clear_object (&cgroup);
  tree_clear (&tree);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/linux/cgroup/parent", test_parent);
  g_test_add_func ("/linux/cgroup/claim-parent", test_claim_parent);
  g_test_add_func ("/linux/cgroup/own", test_own);
  g_test_add_func ("/linux/cgroup/shared", test_shared);
  g_test_add_func ("/linux/cgroup/controllers", test_controllers);
  g_test_add_func ("/linux/cgroup/no-hierarchy", test_no_hierarchy);
  g_test_add_func ("/linux/cgroup/root", test_root);
  g_test_add_func ("/linux/cgroup/root-needs-delegation", test_root_needs_delegation);
  g_test_add_func ("/linux/cgroup/read-only", test_read_only);
  g_test_add_func ("/linux/cgroup/parse", test_parse);
  g_test_add_func ("/linux/cgroup/session-limits", test_session_limits);
  g_test_add_func ("/linux/cgroup/sweep", test_sweep);
  return g_test_run ();
}
