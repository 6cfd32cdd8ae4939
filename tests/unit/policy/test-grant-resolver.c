/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pwd.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-grant-resolver.h"
#include "glove-path-pin.h"
#include "glove-restricted-paths.h"
#include "glove-test.h"
#include "glove-text.h"

typedef struct {
  char *root;
  GloveGrantResolver *resolver;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->root = glove_test_make_dir ();
  fixture->resolver = glove_grant_resolver_new ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  glove_grant_resolver_free (fixture->resolver);
  glove_test_remove_dir (fixture->root);
  g_free (fixture->root);
}

static char *
at (Fixture *fixture, const char *path)
{
  return g_build_filename (fixture->root, path, NULL);
}

static void
make_folder (Fixture *fixture, const char *path)
{
  g_autofree char *full = at (fixture, path);

  g_assert_cmpint (g_mkdir_with_parents (full, 0755), ==, 0);
}

static void
make_file (Fixture *fixture, const char *path)
{
  g_autofree char *full = at (fixture, path);

  glove_test_write_file (full, "x", -1, 0644);
}

static void
make_link (Fixture *fixture, const char *target, const char *path)
{
  g_autofree char *full = at (fixture, path);

  g_assert_cmpint (symlink (target, full), ==, 0);
}

static gboolean
add_as (Fixture *fixture, GloveGrantAccess access, GloveGrantOrigin origin, const char *path, GError **error)
{
  g_autofree char *full = at (fixture, path);

  return glove_grant_resolver_add (fixture->resolver, access, origin, full, error);
}

static void
add (Fixture *fixture, GloveGrantAccess access, const char *path)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (add_as (fixture, access, GLOVE_GRANT_ORIGIN_OPTION, path, &error));
  g_assert_no_error (error);
}

/* "r PATH" and so on, in the order of the list. */
static void
assert_grants (Fixture *fixture, const GPtrArray *grants, const char *const *expected)
{
  guint count = g_strv_length ((char **) expected);

  for (guint i = 0; i < grants->len; i++)
    {
      const GloveGrant *grant = grants->pdata[i];
      g_autofree char *path = at (fixture, i < count ? expected[i] + 2 : "");
      g_autofree char *shown = glove_text_escape (grant->target_path, -1);
      struct stat st;

      g_test_message ("%s %s", glove_grant_access_get_name (grant->access), shown);
      g_assert_cmpuint (i, <, count);
      g_assert_cmpint ("rwm"[grant->access], ==, expected[i][0]);
      g_assert_cmpstr (grant->target_path, ==, path);
      g_assert_cmpstr (grant->host_path, ==, path);
      /* pinned: the descriptor is the object at the path */
      g_assert_cmpint (fcntl (grant->fd, F_GETFL) & O_PATH, ==, O_PATH);
      g_assert_cmpint (fcntl (grant->fd, F_GETFD) & FD_CLOEXEC, ==, FD_CLOEXEC);
      g_assert_cmpint (lstat (path, &st), ==, 0);
      g_assert_cmpuint (grant->identity.ino, ==, st.st_ino);
      g_assert_cmpuint (grant->identity.dev, ==, st.st_dev);
    }
  g_assert_cmpuint (grants->len, ==, count);
}

static void
finish (Fixture *fixture, const char *const *expected)
{
  g_autoptr (GPtrArray) notes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) grants = glove_grant_resolver_finish (fixture->resolver, &notes, &error);

  g_assert_no_error (error);
  assert_grants (fixture, grants, expected);
}

#define FINISH(...) finish (fixture, (const char *const[]){ __VA_ARGS__, NULL })

static void
test_names (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { "a b", "new\nline", "\377\376", "tab\t", "-x", "'q'", "%s", "x (deleted)" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      make_file (fixture, names[i]);
      add (fixture, GLOVE_GRANT_READ, names[i]);
    }
  FINISH ("r %s", "r 'q'", "r -x", "r a b", "r new\nline", "r tab\t", "r x (deleted)", "r \377\376");
}

/* Most specific rules, whatever the order it was typed in: shallow first, and what is mounted later covers (FS-04). */
static void
test_nested (Fixture *fixture, gconstpointer data)
{
  const char *const paths[] = { "t", "t/ws", "t/ws/p", "t/ws/p/file" };

  make_folder (fixture, "t/ws/p");
  make_file (fixture, "t/ws/p/file");
  for (guint order = 0; order < 2; order++)
    {
      g_clear_pointer (&fixture->resolver, glove_grant_resolver_free);
      fixture->resolver = glove_grant_resolver_new ();
      for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
        {
          guint which = order == 0 ? i : G_N_ELEMENTS (paths) - 1 - i;

          add (fixture, which % 2 == 0 ? GLOVE_GRANT_READ : GLOVE_GRANT_WRITE, paths[which]);
        }
      FINISH ("r t", "w t/ws", "r t/ws/p", "w t/ws/p/file");
    }
}

static void
test_links (Fixture *fixture, gconstpointer data)
{
  make_folder (fixture, "data/x/in");
  make_link (fixture, "data/x", "short");
  make_link (fixture, "short/in", "chain");
  make_link (fixture, "gone", "dangling");
  make_link (fixture, "loop", "loop");
  add (fixture, GLOVE_GRANT_READ, "short");
  add (fixture, GLOVE_GRANT_WRITE, "chain");
  FINISH ("r data/x", "w data/x/in");
  {
    g_autoptr (GError) dangling = NULL;
    g_autoptr (GError) loop = NULL;
    g_autoptr (GError) missing = NULL;

    g_assert_false (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, "dangling", &dangling));
    glove_test_assert_error (dangling, GLOVE_ERROR_NOT_FOUND, "dangling");
    g_assert_nonnull (glove_error_get_hint (dangling));
    g_assert_false (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, "loop", &loop));
    g_assert_true (loop->domain == GLOVE_ERROR);
    g_assert_false (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, "missing", &missing));
    glove_test_assert_error (missing, GLOVE_ERROR_NOT_FOUND, "missing");
  }
}

static void
test_relative (Fixture *fixture, gconstpointer data)
{
  g_autofree char *cwd = g_get_current_dir ();
  g_autofree char *sub = at (fixture, "a/b");
  gboolean ok = FALSE;

  make_folder (fixture, "a/b");
  g_assert_cmpint (chdir (sub), ==, 0);
  ok = glove_grant_resolver_add (fixture->resolver, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, ".", NULL)
       && glove_grant_resolver_add (fixture->resolver, GLOVE_GRANT_WRITE, GLOVE_GRANT_ORIGIN_OPTION, "..//", NULL);
  g_assert_cmpint (chdir (cwd), ==, 0);
  g_assert_true (ok);
  FINISH ("w a", "r a/b");
}

/* A node_modules/.bin entry works because its tree is granted, and the tree follows what was typed. */
static void
test_runtime_tree (Fixture *fixture, gconstpointer data)
{
  make_folder (fixture, "ws/node_modules");
  make_folder (fixture, "tools");
  g_assert_true (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_RUNTIME, "ws/node_modules", NULL));
  g_assert_true (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_RUNTIME, "tools", NULL));
  add (fixture, GLOVE_GRANT_WRITE, "ws");
  FINISH ("r tools", "w ws");
}

static void
test_twice (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) reverse = NULL;

  make_folder (fixture, "a");
  make_folder (fixture, "b");
  make_folder (fixture, "c");
  make_link (fixture, "a", "alias");
  add (fixture, GLOVE_GRANT_READ, "a");
  add (fixture, GLOVE_GRANT_READ, "a/");
  add (fixture, GLOVE_GRANT_READ, "alias");
  g_assert_false (add_as (fixture, GLOVE_GRANT_WRITE, GLOVE_GRANT_ORIGIN_OPTION, "alias", &error));
  glove_test_assert_error (error, GLOVE_ERROR_CONFLICT, "both for reading and for writing");
  add (fixture, GLOVE_GRANT_WRITE, "b");
  g_assert_false (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_WORKSPACE, "b", &reverse));
  glove_test_assert_error (reverse, GLOVE_ERROR_CONFLICT, "b'");
  /* the runtime's own follows */
  g_assert_true (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_RUNTIME, "b", NULL));
  g_assert_true (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_RUNTIME, "c", NULL));
  add (fixture, GLOVE_GRANT_WRITE, "c");
  FINISH ("r a", "w b", "w c");
}

static void
test_types (Fixture *fixture, gconstpointer data)
{
  g_autofree char *fifo = at (fixture, "fifo");
  g_autofree char *sock = at (fixture, "sock");
  g_autoptr (GError) fifo_error = NULL;
  g_autoptr (GError) socket_error = NULL;
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  glove_autofd int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  g_assert_cmpuint (g_strlcpy (address.sun_path, sock, sizeof (address.sun_path)), <, sizeof (address.sun_path));
  g_assert_cmpint (bind (fd, (struct sockaddr *) &address, sizeof (address)), ==, 0);
  g_assert_false (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, "fifo", &fifo_error));
  glove_test_assert_error (fifo_error, GLOVE_ERROR_DENIED, "a named pipe");
  g_assert_false (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, "sock", &socket_error));
  glove_test_assert_error (socket_error, GLOVE_ERROR_DENIED, "a socket");
  glove_test_assert_contains (glove_error_get_hint (socket_error), "--allow-socket");
}

static void
test_restricted (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *path;
    gboolean read;  /* may be read */
    gboolean write; /* may be written */
  } cases[] = {
    { "/", FALSE, FALSE },          { "//", FALSE, FALSE },           { "/usr/..", FALSE, FALSE },
    { "/proc", FALSE, FALSE },      { "/proc/self", FALSE, FALSE },   { "/proc/self/root", FALSE, FALSE },
    { "/proc/self/cwd", FALSE, FALSE }, { "/dev", FALSE, FALSE },     { "/dev/null", FALSE, FALSE },
    { "/sys", FALSE, FALSE },       { "/run", FALSE, FALSE },         { "/var/run", FALSE, FALSE },
    { "/root", FALSE, FALSE },      { "/home", FALSE, FALSE },        { "/tmp", FALSE, FALSE },
    { "/var/tmp", FALSE, FALSE },   { "/var", FALSE, FALSE },         { "/etc", FALSE, FALSE },
    { "/etc/shadow", FALSE, FALSE }, { "/etc/passwd", TRUE, FALSE },  { "/usr", TRUE, FALSE },
    { "/usr/bin", TRUE, FALSE },    { "/bin", TRUE, FALSE },          { "/boot", TRUE, FALSE },
    { "/var/lib/dpkg", TRUE, FALSE }, { "/var/lib", TRUE, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint write = 0; write < 2; write++)
      {
        g_autoptr (GloveGrantResolver) resolver = glove_grant_resolver_new ();
        g_autoptr (GError) error = NULL;
        gboolean expected = write ? cases[i].write : cases[i].read;
        gboolean ok = FALSE;

        if (access (cases[i].path, F_OK) < 0)
          continue;
        ok = glove_grant_resolver_add (resolver, write ? GLOVE_GRANT_WRITE : GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION,
                                       cases[i].path, &error);
        g_test_message ("%s: %s", cases[i].path, ok ? "granted" : error->message);
        g_assert_cmpint (ok, ==, expected);
        if (ok)
          continue;
        /* /proc/self/root and the like are the kernel's links, which are not followed at all */
        g_assert_true (error->domain == GLOVE_ERROR);
        if (!g_str_has_prefix (cases[i].path, "/proc/self/"))
          {
            glove_test_assert_error (error, GLOVE_ERROR_DENIED, "can't be granted");
            g_assert_nonnull (glove_error_get_hint (error));
          }
      }
}

static void
test_secret_components (Fixture *fixture, gconstpointer data)
{
  static const char *const names[] = { ".aws", ".azure", ".gnupg", ".kube", ".sage", ".ssh" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *deep = g_build_filename (names[i], "a", NULL);
      g_autofree char *near = g_strconcat (names[i], "x", NULL);
      g_autofree char *link = g_strconcat ("to", names[i], NULL);
      g_autoptr (GError) error = NULL;

      make_folder (fixture, deep);
      make_folder (fixture, near);
      make_link (fixture, deep, link);
      g_assert_false (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, deep, &error));
      glove_test_assert_error (error, GLOVE_ERROR_DENIED, "it holds credentials");
      g_clear_error (&error);
      g_assert_false (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, link, &error));
      glove_test_assert_error (error, GLOVE_ERROR_DENIED, link);
      add (fixture, GLOVE_GRANT_READ, near);
    }
  {
    /* one in a grant is named */
    g_autoptr (GPtrArray) notes = NULL;
    g_autoptr (GPtrArray) grants = NULL;

    add (fixture, GLOVE_GRANT_READ, "");
    grants = glove_grant_resolver_finish (fixture->resolver, &notes, NULL);
    g_assert_nonnull (grants);
    g_assert_cmpuint (notes->len, ==, G_N_ELEMENTS (names));
    glove_test_assert_contains (notes->pdata[5], ".ssh' is in a grant");
  }
}

/* The operator's home, its parents, and what lies in it, wherever it is. */
static void
test_home (Fixture *fixture, gconstpointer data)
{
  g_autofree char *home = at (fixture, "homes/me");
  static const struct
  {
    const char *path;
    gboolean ok;
  } cases[] = { { "homes/me", FALSE }, { "homes", FALSE }, { "homes/me/project", TRUE }, { "homes/me2", TRUE },
                { "other", TRUE },     { "alias", FALSE }, { "homes/me/keys", FALSE } };
  g_autoptr (GloveRestrictedPaths) restricted = NULL;

  make_folder (fixture, "homes/me/project");
  make_folder (fixture, "homes/me/.ssh");
  make_folder (fixture, "homes/me2");
  make_folder (fixture, "other");
  make_link (fixture, "homes/me", "alias");
  make_link (fixture, ".ssh", "homes/me/keys");
  restricted = glove_restricted_paths_new (home);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = at (fixture, cases[i].path);
      g_auto (GlovePathPin) pin = GLOVE_PATH_PIN_INIT;
      g_autoptr (GError) error = NULL;

      g_assert_true (glove_path_pin_open (&pin, path, NULL));
      g_assert_cmpint (glove_restricted_paths_check (restricted, &pin, GLOVE_GRANT_READ, path, &error), ==, cases[i].ok);
      if (!cases[i].ok)
        glove_test_assert_error (error, GLOVE_ERROR_DENIED, path);
    }
}

/* The real one, from the user database, whatever $HOME says. */
static void
test_own_home (Fixture *fixture, gconstpointer data)
{
  const struct passwd *entry = getpwuid (geteuid ());
  g_autoptr (GError) error = NULL;

  if (entry == NULL || g_strcmp0 (entry->pw_dir, "/") == 0 || access (entry->pw_dir, F_OK) < 0)
    {
      glove_test_skip ("this user has no home");
      return;
    }
  g_assert_false (glove_grant_resolver_add (fixture->resolver, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, entry->pw_dir, &error));
  glove_test_assert_error (error, GLOVE_ERROR_DENIED, "whole home");
}

/* A hard link is the same object under another name. */
static void
test_alias_by_hard_link (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = at (fixture, "harmless");
  g_autoptr (GError) error = NULL;

  if (link ("/etc/shadow", path) < 0)
    {
      glove_test_skip ("/etc/shadow can't be linked to from here: %s", g_strerror (errno));
      return;
    }
  g_assert_false (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, "harmless", &error));
  glove_test_assert_error (error, GLOVE_ERROR_DENIED, "is the same as '/etc/shadow'");
}

static void
test_removed (Fixture *fixture, gconstpointer data)
{
  g_autofree char *cwd = g_get_current_dir ();
  g_autofree char *gone = at (fixture, "gone");
  g_autoptr (GError) error = NULL;
  gboolean ok = FALSE;

  make_folder (fixture, "gone");
  g_assert_cmpint (chdir (gone), ==, 0);
  g_assert_cmpint (g_rmdir (gone), ==, 0);
  make_folder (fixture, "gone (deleted)");
  ok = glove_grant_resolver_add (fixture->resolver, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, ".", &error);
  g_assert_cmpint (chdir (cwd), ==, 0);
  g_assert_false (ok);
  glove_test_assert_error (error, GLOVE_ERROR_CHANGED, "was removed, replaced or covered");
}

static void
test_limits (Fixture *fixture, gconstpointer data)
{
  g_autofree char *long_path = g_strnfill (GLOVE_PATH_BYTES_MAX + 1, 'x');
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) too_long = NULL;
  g_autoptr (GError) empty = NULL;
  guint before = glove_test_count_fds ();

  g_assert_false (glove_grant_resolver_add (fixture->resolver, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, "", &empty));
  glove_test_assert_error (empty, GLOVE_ERROR_INVALID_ARGUMENT, "empty");
  g_assert_false (glove_grant_resolver_add (fixture->resolver, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, long_path, &too_long));
  glove_test_assert_error (too_long, GLOVE_ERROR_INVALID_ARGUMENT, "longer than");
  for (guint i = 0; i <= GLOVE_GRANTS_MAX; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u", i);

      make_file (fixture, name);
      g_assert_cmpint (add_as (fixture, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, name, &error), ==, i < GLOVE_GRANTS_MAX);
    }
  glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "more than 512 grants");
  glove_grant_resolver_free (fixture->resolver);
  fixture->resolver = NULL;
  glove_test_assert_fds (before);
}

/* --- sockets --- */

static int
listen_at (const char *path, int type)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, type | SOCK_CLOEXEC, 0);

  g_assert_cmpuint (g_strlcpy (address.sun_path, path, sizeof (address.sun_path)), <, sizeof (address.sun_path));
  g_assert_cmpint (bind (fd, (struct sockaddr *) &address, sizeof (address)), ==, 0);
  if (type == SOCK_STREAM)
    g_assert_cmpint (listen (fd, 1), ==, 0);
  return fd;
}

static gboolean
can_see_sockets (void)
{
  if (access ("/proc/net/unix", R_OK) == 0)
    return TRUE;
  glove_test_skip ("/proc/net/unix can't be read");
  return FALSE;
}

static void
assert_refused (Fixture *fixture, const char *part)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (glove_grant_resolver_finish (fixture->resolver, NULL, &error));
  glove_test_assert_error (error, GLOVE_ERROR_DENIED, part);
  glove_test_assert_contains (glove_error_get_hint (error), "--mask-sockets");
  glove_test_assert_contains (glove_error_get_hint (error), "--allow-socket");
}

static void
test_sockets (Fixture *fixture, gconstpointer data)
{
  g_autofree char *one = at (fixture, "ws/sub/one");
  g_autofree char *two = at (fixture, "alias/two\n");
  g_autofree char *outside = at (fixture, "outside");
  g_autoptr (GPtrArray) notes = NULL;
  g_autoptr (GError) error = NULL;
  glove_autofd int one_fd = -1;
  glove_autofd int two_fd = -1;
  glove_autofd int outside_fd = -1;

  if (!can_see_sockets ())
    return;
  make_folder (fixture, "ws/sub");
  make_link (fixture, "ws/sub", "alias");
  outside_fd = listen_at (outside, SOCK_STREAM);
  add (fixture, GLOVE_GRANT_READ, "ws");
  FINISH ("r ws");

  one_fd = listen_at (one, SOCK_STREAM);
  assert_refused (fixture, one);
  two_fd = listen_at (two, SOCK_DGRAM); /* bound by another name, with a newline in it */
  glove_grant_resolver_set_mask_sockets (fixture->resolver, TRUE);
  FINISH ("r ws", "m ws/sub/one", "m ws/sub/two\n");

  g_assert_true (glove_grant_resolver_allow_socket (fixture->resolver, two, &error));
  g_assert_no_error (error);
  FINISH ("r ws", "m ws/sub/one");
  glove_grant_resolver_set_mask_sockets (fixture->resolver, FALSE);
  assert_refused (fixture, one);
  g_assert_true (glove_grant_resolver_allow_socket (fixture->resolver, one, &error));
  FINISH ("r ws");
  {
    g_autoptr (GPtrArray) grants = glove_grant_resolver_finish (fixture->resolver, &notes, NULL);

    g_assert_nonnull (grants);
    g_assert_cmpuint (notes->len, ==, 2);
    glove_test_assert_contains (notes->pdata[0], "escape-grade");
  }
  /* a name that is gone connects nowhere */
  g_assert_true (glove_grant_resolver_allow_socket (fixture->resolver, outside, &error));
  g_assert_null (glove_grant_resolver_finish (fixture->resolver, NULL, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "does not lie below a grant");
}

static void
test_stale_socket (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = at (fixture, "ws/gone");
  glove_autofd int fd = -1;

  if (!can_see_sockets ())
    return;
  make_folder (fixture, "ws");
  fd = listen_at (path, SOCK_STREAM);
  add (fixture, GLOVE_GRANT_WRITE, "ws");
  assert_refused (fixture, path);
  g_assert_cmpint (g_unlink (path), ==, 0);
  FINISH ("w ws");
}

/* Bound by a relative path: from the grant, or from the folder its process is in. */
static void
test_relative_sockets (Fixture *fixture, gconstpointer data)
{
  g_autofree char *cwd = g_get_current_dir ();
  g_autofree char *deep = at (fixture, "ws/a/b");
  g_autofree char *expected = at (fixture, "ws/a/b/rel.sock");
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) grants = NULL;
  glove_autofd int fd = -1;

  if (!can_see_sockets ())
    return;
  make_folder (fixture, "ws/a/b");
  g_assert_cmpint (chdir (deep), ==, 0);
  fd = listen_at ("rel.sock", SOCK_STREAM);
  add (fixture, GLOVE_GRANT_READ, "ws");
  grants = glove_grant_resolver_finish (fixture->resolver, NULL, &error);
  g_assert_cmpint (chdir (cwd), ==, 0);
  g_assert_null (grants);
  glove_test_assert_error (error, GLOVE_ERROR_DENIED, expected);
}

static void
test_allow_not_a_socket (Fixture *fixture, gconstpointer data)
{
  g_autofree char *file = at (fixture, "file");
  g_autofree char *missing = at (fixture, "missing");
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) missing_error = NULL;

  make_file (fixture, "file");
  g_assert_false (glove_grant_resolver_allow_socket (fixture->resolver, file, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "is not a socket");
  g_assert_false (glove_grant_resolver_allow_socket (fixture->resolver, missing, &missing_error));
  glove_test_assert_error (missing_error, GLOVE_ERROR_NOT_FOUND, "missing");
}

/* --- mounts: in a child with a mount namespace of its own --- */

static gboolean
add_and_finish (Fixture *fixture, const char *path, GPtrArray **ret_notes, GError **error)
{
  g_autoptr (GloveGrantResolver) resolver = glove_grant_resolver_new ();
  g_autofree char *full = at (fixture, path);
  g_autoptr (GPtrArray) grants = NULL;

  if (!glove_grant_resolver_add (resolver, GLOVE_GRANT_READ, GLOVE_GRANT_ORIGIN_OPTION, full, error))
    return FALSE;
  grants = glove_grant_resolver_finish (resolver, ret_notes, error);
  if (grants != NULL)
    g_assert_cmpint (((GloveGrant *) grants->pdata[0])->brings_mounts, ==, (*ret_notes)->len > 0);
  return grants != NULL;
}

static int
try_mounts (Fixture *fixture)
{
  static const struct
  {
    const char *path;
    const char *refused; /* NULL: granted */
    const char *note;
  } cases[] = { { "plain", NULL, NULL },
                { "ws", NULL, "brings along what is mounted at" },
                { "ws/tm p", NULL, NULL },
                { "jail", "which is a window into the kernel", NULL },
                { "jail/proc", "which is a window into the kernel", NULL },
                { "keys", "contains what may never be granted", NULL },
                { "keys/apt", NULL, NULL },
                { "keys/shadow", "it is the same as '/etc/shadow'", NULL },
                { "around", "may never be granted", NULL } };
  g_autofree char *tmp = at (fixture, "ws/tm p");
  g_autofree char *proc = at (fixture, "jail/proc");
  g_autofree char *keys = at (fixture, "keys");
  g_autofree char *around = at (fixture, "around/in");
  int status = 0;
  pid_t pid = 0;

  if (unshare (CLONE_NEWNS | CLONE_NEWPID | (geteuid () != 0 ? CLONE_NEWUSER : 0)) < 0)
    return 77;
  pid = fork (); /* a procfs of its own needs a process in the new namespace */
  if (pid != 0)
    return waitpid (pid, &status, 0) == pid && WIFEXITED (status) ? WEXITSTATUS (status) : 1;
  if (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount ("none", tmp, "tmpfs", 0, "size=64k") < 0
      || mount ("none", proc, "proc", 0, NULL) < 0 || mount ("/etc", keys, NULL, MS_BIND | MS_REC, NULL) < 0
      || mount ("/etc", around, NULL, MS_BIND | MS_REC, NULL) < 0 || mount ("none", "/proc", "proc", 0, NULL) < 0)
    return 77;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) notes = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree char *full = at (fixture, cases[i].path);
      gboolean ok = FALSE;

      if (access (full, F_OK) < 0)
        continue;
      ok = add_and_finish (fixture, cases[i].path, &notes, &error);
      if (ok != (cases[i].refused == NULL))
        g_error ("%s: %s", cases[i].path, ok ? "granted" : error->message);
      if (!ok)
        glove_test_assert_error (error, GLOVE_ERROR_DENIED, cases[i].refused);
      if (cases[i].note != NULL)
        glove_test_assert_contains (notes->pdata[0], cases[i].note);
    }
  return 0;
}

static void
test_mounts (Fixture *fixture, gconstpointer data)
{
  int status = 0;
  pid_t pid = 0;

  make_folder (fixture, "plain");
  make_folder (fixture, "ws/tm p");
  make_folder (fixture, "jail/proc");
  make_folder (fixture, "keys");
  make_folder (fixture, "around/in");
  pid = fork ();
  if (pid == 0)
    _exit (try_mounts (fixture));
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  if (WIFEXITED (status) && WEXITSTATUS (status) == 77)
    glove_test_skip ("no mount namespace with a procfs can be made here");
  else
    g_assert_cmpint (status, ==, 0);
}

/* --- covers --- */

static void
test_covers (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *path;
    gboolean covered;
  } cases[] = { { "ws/file", TRUE },   { "ws/deep/er/file", TRUE }, { "ws", TRUE },     { "ws/deep", TRUE },
                { "single", TRUE },    { "other/file", FALSE },     { "wsx/file", FALSE }, { "other", FALSE },
                { "alias/file", TRUE }, { "hard", TRUE } };
  g_autoptr (GPtrArray) grants = NULL;
  g_autofree char *single = at (fixture, "single");
  g_autofree char *hard = at (fixture, "hard");
  g_autofree char *gone = at (fixture, "gone");
  g_autoptr (GError) error = NULL;
  glove_autofd int gone_fd = -1;
  gboolean covered = FALSE;

  make_folder (fixture, "ws/deep/er");
  make_folder (fixture, "other");
  make_folder (fixture, "wsx");
  make_file (fixture, "ws/file");
  make_file (fixture, "ws/deep/er/file");
  make_file (fixture, "other/file");
  make_file (fixture, "wsx/file");
  make_file (fixture, "single");
  make_link (fixture, "ws", "alias");
  g_assert_cmpint (link (single, hard), ==, 0);
  add (fixture, GLOVE_GRANT_WRITE, "ws");
  add (fixture, GLOVE_GRANT_READ, "single");
  grants = glove_grant_resolver_finish (fixture->resolver, NULL, NULL);
  g_assert_nonnull (grants);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = at (fixture, cases[i].path);
      glove_autofd int fd = open (path, O_RDONLY | O_CLOEXEC);

      g_assert_cmpint (fd, >=, 0);
      g_assert_true (glove_grant_resolver_covers (grants, fd, &covered, &error));
      g_assert_no_error (error);
      g_assert_cmpint (covered, ==, cases[i].covered);
    }
  /* fail closed: of a removed file nobody can tell */
  make_file (fixture, "gone");
  gone_fd = open (gone, O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (g_unlink (gone), ==, 0);
  g_assert_false (glove_grant_resolver_covers (grants, gone_fd, &covered, &error));
  glove_test_assert_error (error, GLOVE_ERROR_CHANGED, "can't be told");
}

/* A path that is swapped all the time: whatever is pinned is what its path led to, or an error. */
static gpointer
swap (gpointer data)
{
  Fixture *fixture = data;
  g_autofree char *a = at (fixture, "swap");
  g_autofree char *b = at (fixture, "spare");

  for (guint i = 0; i < 20000; i++)
    {
      (void) renameat2 (AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
      if (i % 64 == 0)
        g_thread_yield ();
    }
  return NULL;
}

static void
test_swapped (Fixture *fixture, gconstpointer data)
{
  GThread *thread = NULL;
  g_autofree char *path = at (fixture, "swap/x");
  g_autofree char *other = at (fixture, "spare/x");
  guint pinned = 0;

  make_folder (fixture, "swap/x");
  make_folder (fixture, "target/.ssh");
  make_link (fixture, "target", "spare");
  make_link (fixture, ".ssh", "target/x");
  thread = g_thread_new ("swap", swap, fixture);
  for (guint i = 0; i < 2000; i++)
    {
      g_auto (GlovePathPin) pin = GLOVE_PATH_PIN_INIT;
      g_autoptr (GError) error = NULL;

      if (!glove_path_pin_open (&pin, path, &error))
        {
          g_assert_true (error->domain == GLOVE_ERROR);
          continue;
        }
      pinned++;
      g_assert_true (strcmp (pin.host_path, path) == 0 || strcmp (pin.host_path, other) == 0
                     || g_str_has_suffix (pin.host_path, "/target/.ssh"));
    }
  g_thread_join (thread);
  g_assert_cmpuint (pinned, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
#define ADD(name, function) g_test_add ("/policy/grant-resolver/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("names", test_names);
  ADD ("nested", test_nested);
  ADD ("links", test_links);
  ADD ("relative", test_relative);
  ADD ("runtime-tree", test_runtime_tree);
  ADD ("twice", test_twice);
  ADD ("types", test_types);
  ADD ("restricted", test_restricted);
  ADD ("secret-components", test_secret_components);
  ADD ("home", test_home);
  ADD ("own-home", test_own_home);
  ADD ("alias-by-hard-link", test_alias_by_hard_link);
  ADD ("removed", test_removed);
  ADD ("limits", test_limits);
  ADD ("sockets", test_sockets);
  ADD ("stale-socket", test_stale_socket);
  ADD ("relative-sockets", test_relative_sockets);
  ADD ("allow-not-a-socket", test_allow_not_a_socket);
  ADD ("mounts", test_mounts);
  ADD ("covers", test_covers);
  ADD ("swapped", test_swapped);
  return g_test_run ();
}
