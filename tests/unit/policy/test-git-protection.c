/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-git-review.h"
#include "glove-grant-resolver.h"
#include "glove-test.h"

typedef struct {
  char *root;
  char *work; /* what is granted for writing */
  GloveGrantResolver *resolver;
  GPtrArray *grants;
  GPtrArray *notes;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  *fixture = (Fixture){ .root = glove_test_make_dir (), .resolver = glove_grant_resolver_new () };
  fixture->work = g_build_filename (fixture->root, "work", NULL);
  g_assert_cmpint (g_mkdir (fixture->work, 0755), ==, 0);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_clear_pointer (&fixture->grants, g_ptr_array_unref);
  g_clear_pointer (&fixture->notes, g_ptr_array_unref);
  glove_grant_resolver_free (fixture->resolver);
  glove_test_remove_dir (fixture->root);
  g_free (fixture->work);
  g_free (fixture->root);
}

static void
make_file (Fixture *fixture, const char *path, const char *content)
{
  g_autofree char *full = g_build_filename (fixture->root, path, NULL);
  g_autofree char *folder = g_path_get_dirname (full);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  glove_test_write_file (full, content, -1, 0644);
}

static void
make_folder (Fixture *fixture, const char *path)
{
  g_autofree char *full = g_build_filename (fixture->root, path, NULL);

  g_assert_cmpint (g_mkdir_with_parents (full, 0755), ==, 0);
}

static void
make_link (Fixture *fixture, const char *target, const char *path)
{
  g_autofree char *full = g_build_filename (fixture->root, path, NULL);

  g_assert_cmpint (symlink (target, full), ==, 0);
}

/* What `git init` leaves, as far as it matters, and what the first session adds. */
static void
make_repository (Fixture *fixture, const char *path)
{
  g_autofree char *head = g_build_filename (path, "HEAD", NULL);
  g_autofree char *config = g_build_filename (path, "config", NULL);
  g_autofree char *objects = g_build_filename (path, "objects", NULL);
  g_autofree char *hooks = g_build_filename (path, "hooks", NULL);
  g_autofree char *common = g_build_filename (path, "commondir", NULL);

  make_file (fixture, common, ".\n");
  make_file (fixture, head, "ref: refs/heads/main\n");
  make_file (fixture, config, "[core]\n\tbare = false\n");
  make_folder (fixture, objects);
  make_folder (fixture, hooks);
}

static void
grant (Fixture *fixture, GloveGrantAccess access, const char *path)
{
  g_autofree char *full = g_build_filename (fixture->root, path, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_grant_resolver_add (fixture->resolver, access, GLOVE_GRANT_ORIGIN_OPTION, full, &error));
  g_assert_no_error (error);
}

static void
finish (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  fixture->grants = glove_grant_resolver_finish (fixture->resolver, &fixture->notes, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < fixture->notes->len; i++)
    g_test_message ("note: %s", (char *) fixture->notes->pdata[i]);
}

/* Each "r PATH" or "w PATH", relative to the root, with origin PROTECTION; and no other. */
static void
assert_protected (Fixture *fixture, const char *const *expected)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < fixture->grants->len; i++)
    {
      const GloveGrant *grant = fixture->grants->pdata[i];

      g_assert_cmpstr (grant->host_path, ==, grant->target_path);
      if (grant->origin == GLOVE_GRANT_ORIGIN_PROTECTION)
        g_ptr_array_add (found, g_strdup_printf ("%c %s", grant->access == GLOVE_GRANT_WRITE ? 'w' : 'r',
                                                 grant->host_path + strlen (fixture->root) + 1));
    }
  for (guint i = 0; i < found->len; i++)
    {
      g_test_message ("%s", (char *) found->pdata[i]);
      if (!g_strv_contains (expected, found->pdata[i]))
        g_error ("'%s' was not expected", (char *) found->pdata[i]);
    }
  for (guint i = 0; expected[i] != NULL; i++)
    if (!g_ptr_array_find_with_equal_func (found, expected[i], g_str_equal, NULL))
      g_error ("'%s' is missing", expected[i]);
  g_assert_cmpuint (found->len, ==, g_strv_length ((char **) expected));
}

#define EXPECT(...) assert_protected (fixture, (const char *const[]){ __VA_ARGS__, NULL })
#define EXPECT_NOTHING() assert_protected (fixture, (const char *const[]){ NULL })

static void
assert_note (Fixture *fixture, const char *part)
{
  for (guint i = 0; i < fixture->notes->len; i++)
    if (strstr (fixture->notes->pdata[i], part) != NULL)
      return;
  g_error ("no note says '%s'", part);
}

static void
test_plain (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("w work/.git", "r work/.git/hooks", "r work/.git/config", "r work/.git/commondir");
  g_assert_cmpuint (fixture->notes->len, ==, 0);
}

static void
test_read_only_or_none (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  make_folder (fixture, "other");
  grant (fixture, GLOVE_GRANT_READ, "work");
  grant (fixture, GLOVE_GRANT_WRITE, "other");
  finish (fixture);
  EXPECT_NOTHING ();
}

static void
test_allowed (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  glove_grant_resolver_set_allow_git_config (fixture->resolver, TRUE);
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  grant (fixture, GLOVE_GRANT_WRITE, "work/.git/hooks");
  finish (fixture);
  EXPECT_NOTHING ();
}

static void
test_missing_parts (Fixture *fixture, gconstpointer data)
{
  g_autofree char *hooks = g_build_filename (fixture->work, ".git", "hooks", NULL);
  g_autofree char *config = g_build_filename (fixture->work, ".git", "config", NULL);
  g_autofree char *common = g_build_filename (fixture->work, ".git", "commondir", NULL);
  g_autofree char *text = NULL;
  struct stat st;

  make_folder (fixture, "work/.git");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("w work/.git", "r work/.git/hooks", "r work/.git/config", "r work/.git/commondir");
  assert_note (fixture, "hooks' was missing: one that changes nothing was made");
  assert_note (fixture, "config' was missing: one that changes nothing was made");
  assert_note (fixture, "commondir' was missing: one that changes nothing was made");
  g_assert_cmpint (stat (hooks, &st), ==, 0);
  g_assert_true (S_ISDIR (st.st_mode));
  g_assert_cmpint (stat (config, &st), ==, 0);
  g_assert_cmpint (st.st_size, ==, 0);
  g_assert_true (g_file_get_contents (common, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, ".\n");
}

/* An agent may make a folder look like a repository, or a repository look like none: the next session protects as much. */
static void
test_disguised (Fixture *fixture, gconstpointer data)
{
  static const char *const gone[] = { "work/.git/modules/m/HEAD", "work/bare.git/HEAD", "work/.git/worktrees/w/HEAD" };

  make_repository (fixture, "work/.git");
  make_repository (fixture, "work/.git/modules/m");
  make_repository (fixture, "work/bare.git");
  make_repository (fixture, "work/lib/deep/.git");
  make_file (fixture, "work/.git/worktrees/w/HEAD", "x\n");
  make_file (fixture, "work/.git/worktrees/w/commondir", "../..\n");
  make_file (fixture, "work/.git/worktrees/w/gitdir", "/elsewhere/.git\n");
  for (guint i = 0; i < G_N_ELEMENTS (gone); i++)
    {
      g_autofree char *path = g_build_filename (fixture->root, gone[i], NULL);

      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  make_repository (fixture, "work");
  make_repository (fixture, "work/lib");
  make_repository (fixture, "work/.git/modules");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("r work/hooks", "r work/config", "r work/commondir", "w work/.git", "r work/.git/hooks", "r work/.git/config",
          "r work/.git/commondir", "w work/.git/modules", "r work/.git/modules/hooks", "r work/.git/modules/config",
          "r work/.git/modules/commondir", "w work/.git/modules/m", "r work/.git/modules/m/hooks",
          "r work/.git/modules/m/config", "r work/.git/modules/m/commondir", "w work/.git/worktrees",
          "w work/.git/worktrees/w", "r work/.git/worktrees/w/commondir", "r work/.git/worktrees/w/gitdir", "w work/bare.git",
          "r work/bare.git/hooks", "r work/bare.git/config", "r work/bare.git/commondir", "w work/lib", "r work/lib/hooks",
          "r work/lib/config", "r work/lib/commondir", "w work/lib/deep", "w work/lib/deep/.git",
          "r work/lib/deep/.git/hooks", "r work/lib/deep/.git/config", "r work/lib/deep/.git/commondir");
}

static void
test_missing_worktree_config (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  make_file (fixture, "work/.git/config", "[core]\n[extensions]\n\tworktreeConfig = true\n");
  make_file (fixture, "work/.git/worktrees/w/HEAD", "x\n");
  make_file (fixture, "work/.git/worktrees/w/commondir", "../..\n");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("w work/.git", "r work/.git/hooks", "r work/.git/config", "r work/.git/commondir", "r work/.git/config.worktree",
          "w work/.git/worktrees", "w work/.git/worktrees/w", "r work/.git/worktrees/w/commondir",
          "r work/.git/worktrees/w/config.worktree");
  assert_note (fixture, "worktrees/w/config.worktree' was missing");
}

/* What root makes in somebody else's repository is theirs; and root stays root. */
static void
test_owner (Fixture *fixture, gconstpointer data)
{
  static const char *const made[] = { "work/.git/hooks", "work/.git/config", "work/.git/commondir" };
  g_autofree char *folder = g_build_filename (fixture->work, ".git", NULL);
  g_autofree char *own = g_build_filename (fixture->root, "own", NULL);
  struct stat st;

  if (geteuid () != 0)
    {
      glove_test_skip ("root");
      return;
    }
  make_folder (fixture, "work/.git");
  g_assert_cmpint (chown (folder, 4711, 4712), ==, 0);
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  for (gsize i = 0; i < G_N_ELEMENTS (made); i++)
    {
      g_autofree char *path = g_build_filename (fixture->root, made[i], NULL);

      g_assert_cmpint (lstat (path, &st), ==, 0);
      g_assert_cmpuint (st.st_uid, ==, 4711);
      g_assert_cmpuint (st.st_gid, ==, 4712);
    }
  g_assert_cmpint (g_mkdir (own, 0700), ==, 0);
  g_assert_cmpint (stat (own, &st), ==, 0);
  g_assert_cmpuint (st.st_uid, ==, 0);
}

static void
test_worktrees_and_modules (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  make_file (fixture, "work/.git/config", "[extensions]\n\tworktreeConfig = true\n");
  make_file (fixture, "work/.git/worktrees/w1/HEAD", "x\n");
  make_file (fixture, "work/.git/worktrees/w1/commondir", "../..\n");
  make_file (fixture, "work/.git/worktrees/w1/gitdir", "/elsewhere/.git\n");
  make_file (fixture, "work/.git/worktrees/w1/config.worktree", "");
  make_repository (fixture, "work/.git/modules/libs/one");
  make_repository (fixture, "work/.git/modules/libs/one/modules/inner");
  make_file (fixture, "work/libs/one/.git", "gitdir: ../../.git/modules/libs/one\n");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("w work/.git", "r work/.git/hooks", "r work/.git/config", "r work/.git/commondir", "r work/.git/config.worktree", "w work/.git/worktrees",
          "w work/.git/worktrees/w1", "r work/.git/worktrees/w1/commondir", "r work/.git/worktrees/w1/gitdir",
          "r work/.git/worktrees/w1/config.worktree", "w work/.git/modules", "w work/.git/modules/libs",
          "w work/.git/modules/libs/one", "r work/.git/modules/libs/one/hooks", "r work/.git/modules/libs/one/config", "r work/.git/modules/libs/one/commondir",
          "w work/.git/modules/libs/one/modules", "w work/.git/modules/libs/one/modules/inner",
          "r work/.git/modules/libs/one/modules/inner/hooks", "r work/.git/modules/libs/one/modules/inner/config", "r work/.git/modules/libs/one/modules/inner/commondir",
          "w work/libs", "w work/libs/one", "r work/libs/one/.git");
}

/* Shallow before deep: each mount lies on what was mounted before. */
static void
test_order (Fixture *fixture, gconstpointer data)
{
  test_worktrees_and_modules (fixture, data);
  for (guint i = 0; i < fixture->grants->len; i++)
    for (guint j = i + 1; j < fixture->grants->len; j++)
      {
        const GloveGrant *earlier = fixture->grants->pdata[i];
        const GloveGrant *later = fixture->grants->pdata[j];
        g_autofree char *prefix = g_strconcat (later->target_path, "/", NULL);

        g_assert_cmpstr (earlier->target_path, !=, later->target_path);
        g_assert_false (g_str_has_prefix (earlier->target_path, prefix));
      }
}

/* FS-32: nothing is granted because a file in the workspace says so. */
static void
test_worktree (Fixture *fixture, gconstpointer data)
{
  g_autofree char *text = g_strdup_printf ("gitdir: %s/main/.git/worktrees/w\n", fixture->root);
  g_autofree char *note = g_strdup_printf ("add --write '%s/main/.git'", fixture->root);

  make_repository (fixture, "main/.git");
  make_file (fixture, "work/.git", text);
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("r work/.git");
  assert_note (fixture, note);
  g_assert_cmpuint (fixture->grants->len, ==, 2);
}

static void
test_worktree_granted (Fixture *fixture, gconstpointer data)
{
  g_autofree char *text = g_strdup_printf ("gitdir: %s/main/.git/worktrees/w\n", fixture->root);

  make_repository (fixture, "main/.git");
  make_file (fixture, "main/.git/worktrees/w/HEAD", "x\n");
  make_file (fixture, "main/.git/worktrees/w/commondir", "../..\n");
  make_file (fixture, "work/.git", text);
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  grant (fixture, GLOVE_GRANT_WRITE, "main/.git");
  finish (fixture);
  EXPECT ("r work/.git", "r main/.git/hooks", "r main/.git/config", "r main/.git/commondir", "w main/.git/worktrees", "w main/.git/worktrees/w",
          "r main/.git/worktrees/w/commondir");
  g_assert_cmpuint (fixture->notes->len, ==, 0);
}

static void
test_hostile_pointer (Fixture *fixture, gconstpointer data)
{
  static const char *const texts[] = { "", "gitdir:", "gitdir: \n", "nonsense\n", "gitdir: /etc\033[31m\n" };
  g_autofree char *big = g_strnfill (GLOVE_GIT_FILE_MAX + 1, 'x');

  for (guint i = 0; i <= G_N_ELEMENTS (texts); i++)
    {
      make_file (fixture, "work/.git", i < G_N_ELEMENTS (texts) ? texts[i] : big);
      glove_grant_resolver_free (fixture->resolver);
      fixture->resolver = glove_grant_resolver_new ();
      g_clear_pointer (&fixture->grants, g_ptr_array_unref);
      g_clear_pointer (&fixture->notes, g_ptr_array_unref);
      grant (fixture, GLOVE_GRANT_WRITE, "work");
      finish (fixture);
      EXPECT ("r work/.git");
      g_assert_cmpuint (fixture->notes->len, ==, i == 4 ? 1 : 0);
      if (i == 4)
        g_assert_null (strchr (fixture->notes->pdata[0], '\033'));
    }
}

/* FS-05, FS-08, FS-29: links in git's folder neither crash nor widen. */
static void
test_links (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  make_folder (fixture, "work/.githooks");
  make_file (fixture, "outside/config", "");
  {
    g_autofree char *hooks = g_build_filename (fixture->work, ".git", "hooks", NULL);
    g_autofree char *config = g_build_filename (fixture->work, ".git", "config", NULL);

    g_assert_cmpint (g_rmdir (hooks), ==, 0);
    g_assert_cmpint (g_unlink (config), ==, 0);
  }
  make_link (fixture, "../.githooks", "work/.git/hooks");
  make_link (fixture, "../../outside/config", "work/.git/config");
  make_link (fixture, "nowhere", "work/.git/config.worktree");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("w work/.git", "r work/.githooks", "r work/.git/commondir");
  assert_note (fixture, "hooks' is a symbolic link: what it leads to is read-only");
  assert_note (fixture, "config' is a symbolic link out of the grant");
  assert_note (fixture, "config.worktree' is a symbolic link that leads nowhere");
}

static void
test_git_is_link (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/real");
  make_link (fixture, "real", "work/.git");
  make_folder (fixture, "work/sub");
  make_link (fixture, "../..", "work/sub/.git");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  /* the folder itself is read-only, and protected as the repository it is */
  EXPECT ("r work/real", "r work/real/hooks", "r work/real/config", "r work/real/commondir");
  assert_note (fixture, "work/.git' is a symbolic link");
  assert_note (fixture, "sub/.git' is a symbolic link out of the grant");
}

static void
test_odd_types (Fixture *fixture, gconstpointer data)
{
  g_autofree char *fifo = g_build_filename (fixture->work, ".git", "config", NULL);
  g_autofree char *hooks = g_build_filename (fixture->work, ".git", "hooks", NULL);

  make_repository (fixture, "work/.git");
  g_assert_cmpint (g_unlink (fifo), ==, 0);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  g_assert_cmpint (g_rmdir (hooks), ==, 0);
  make_file (fixture, "work/.git/hooks", "a file");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("w work/.git", "r work/.git/hooks", "r work/.git/commondir");
  assert_note (fixture, "config' is neither a file nor a folder");
}

static void
test_nested (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/1/2/3/4/5/.git");
  make_repository (fixture, "work/1/2/3/4/5/6/.git"); /* one too deep */
  make_repository (fixture, "work/bare.git");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("w work/1", "w work/1/2", "w work/1/2/3", "w work/1/2/3/4", "w work/1/2/3/4/5", "w work/1/2/3/4/5/.git",
          "r work/1/2/3/4/5/.git/hooks", "r work/1/2/3/4/5/.git/config", "r work/1/2/3/4/5/.git/commondir", "w work/bare.git", "r work/bare.git/hooks",
          "r work/bare.git/config", "r work/bare.git/commondir");
}

/* What was typed rules where it lies: a read grant needs no protection, and is never opened up by one. */
static void
test_typed_rules (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  make_repository (fixture, "work/vendor/x/.git");
  make_repository (fixture, "work/vendor/open/.git");
  grant (fixture, GLOVE_GRANT_READ, "work/.git");
  grant (fixture, GLOVE_GRANT_READ, "work/vendor");
  grant (fixture, GLOVE_GRANT_WRITE, "work/vendor/open");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("w work/vendor/open/.git", "r work/vendor/open/.git/hooks", "r work/vendor/open/.git/config", "r work/vendor/open/.git/commondir");
}

static void
test_subfolder (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  make_folder (fixture, "work/src");
  grant (fixture, GLOVE_GRANT_WRITE, "work/src");
  finish (fixture);
  EXPECT_NOTHING ();
}

/* FS-02 */
static void
test_file (Fixture *fixture, gconstpointer data)
{
  make_file (fixture, "work/file", "x");
  grant (fixture, GLOVE_GRANT_WRITE, "work/file");
  finish (fixture);
  EXPECT_NOTHING ();
}

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  const char *const paths[] = { "work/.git/hooks",         "work/.git/config",  "work/.git/hooks/pre-commit",
                                "work/.git/modules/m/hooks", "work/linked/.git", "work/.git/worktrees/w/commondir" };

  make_repository (fixture, "work/.git");
  make_repository (fixture, "work/.git/modules/m");
  make_file (fixture, "work/.git/hooks/pre-commit", "x");
  make_file (fixture, "work/linked/.git", "gitdir: x\n");
  make_file (fixture, "work/.git/worktrees/w/HEAD", "x\n");
  make_file (fixture, "work/.git/worktrees/w/commondir", "../..\n");
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr (GloveGrantResolver) resolver = glove_grant_resolver_new ();
      g_autofree char *path = g_build_filename (fixture->root, paths[i], NULL);
      g_autoptr (GError) error = NULL;

      g_assert_true (glove_grant_resolver_add (resolver, GLOVE_GRANT_WRITE, GLOVE_GRANT_ORIGIN_OPTION, path, NULL));
      g_assert_null (glove_grant_resolver_finish (resolver, NULL, &error));
      glove_test_assert_error (error, GLOVE_ERROR_DENIED, path);
      glove_test_assert_contains (glove_error_get_hint (error), "--allow-git-config");
    }
  grant (fixture, GLOVE_GRANT_READ, "work/.git/hooks");
  grant (fixture, GLOVE_GRANT_WRITE, "work/.git/objects");
  finish (fixture);
  EXPECT_NOTHING ();
}

static void
test_elsewhere_note (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  make_file (fixture, "work/.git/config", "[core]\n\thooksPath = .husky\n");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  assert_note (fixture, "names hooks or configuration elsewhere");
}

static void
test_gave_up (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  for (guint i = 0; i < GLOVE_GIT_SCAN_FOLDERS + 10; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/d%05u", fixture->work, i);

      g_assert_cmpint (g_mkdir (path, 0755), ==, 0);
    }
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  EXPECT ("w work/.git", "r work/.git/hooks", "r work/.git/config", "r work/.git/commondir");
  assert_note (fixture, "has too many folders to look through");
}

static void
test_too_many (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < GLOVE_GRANTS_MAX / 3; i++)
    {
      g_autofree char *path = g_strdup_printf ("work/r%u/.git", i);

      make_repository (fixture, path);
    }
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  g_assert_null (glove_grant_resolver_finish (fixture->resolver, NULL, &error));
  glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "more git repositories than can be protected");
  g_assert_nonnull (glove_error_get_hint (error));
}

/* --- after the end --- */

static gboolean
is_there (Fixture *fixture, const char *path)
{
  g_autofree char *full = g_build_filename (fixture->root, path, NULL);
  struct stat st;

  return lstat (full, &st) == 0;
}

/* As if no "commondir" had been there, and none could be made. */
static void
forget_common (Fixture *fixture)
{
  for (guint i = fixture->grants->len; i > 0; i--)
    {
      const GloveGrant *grant = fixture->grants->pdata[i - 1];

      if (!g_str_has_suffix (grant->host_path, "/commondir") || strstr (grant->host_path, "/worktrees/") != NULL)
        continue;
      g_assert_cmpint (g_unlink (grant->host_path), ==, 0);
      g_ptr_array_remove_index (fixture->grants, i - 1);
    }
}

/* The paths, relative to the root, one a word. */
static void
review (Fixture *fixture, const char *expected, const char *detail)
{
  g_autoptr (GPtrArray) refusals = glove_git_review_run (fixture->grants);
  g_autoptr (GString) found = g_string_new (NULL);

  for (guint i = 0; i < refusals->len; i++)
    {
      const GloveGitRefusal *refusal = refusals->pdata[i];

      g_string_append_printf (found, "%s%s", i > 0 ? " " : "", refusal->path + strlen (fixture->root) + 1);
      g_test_message ("%s", refusal->detail);
      if (strstr (refusal->detail, detail) == NULL)
        g_error ("'%s' does not say '%s'", refusal->detail, detail);
    }
  g_assert_cmpstr (found->str, ==, expected);
}

static void
test_review (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work/.git");
  make_repository (fixture, "work/.git/modules/sub");
  make_repository (fixture, "work/bare.git");
  make_repository (fixture, "work/untouched/.git");
  make_folder (fixture, "work/.git/worktrees/tree");
  make_file (fixture, "work/.git/worktrees/tree/HEAD", "x\n");
  make_file (fixture, "work/.git/worktrees/tree/commondir", "../..\n");
  make_file (fixture, "work/.git/worktrees/tree/gitdir", "/x/.git\n");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  forget_common (fixture);
  review (fixture, "", "");
  make_file (fixture, "work/.git/commondir", "/tmp/evil\n");
  make_link (fixture, "/tmp/evil", "work/.git/modules/sub/commondir");
  make_folder (fixture, "work/bare.git/commondir");
  make_file (fixture, "work/elsewhere/commondir", "not git's\n");
  review (fixture, "work/.git/commondir work/bare.git/commondir work/.git/modules/sub/commondir",
          "renamed to commondir.refused-by-glove");
  g_assert_false (is_there (fixture, "work/.git/commondir"));
  g_assert_true (is_there (fixture, "work/.git/commondir.refused-by-glove"));
  g_assert_true (is_there (fixture, "work/.git/modules/sub/commondir.refused-by-glove"));
  g_assert_true (is_there (fixture, "work/bare.git/commondir.refused-by-glove"));
  g_assert_true (is_there (fixture, "work/.git/worktrees/tree/commondir"));
  g_assert_true (is_there (fixture, "work/elsewhere/commondir"));
  review (fixture, "", "");
}

/* The name aside is taken, and the folder can't be written: both are the agent's to do. */
static void
test_review_resisted (Fixture *fixture, gconstpointer data)
{
  g_autofree char *folder = g_build_filename (fixture->work, ".git", NULL);

  make_repository (fixture, "work/.git");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  forget_common (fixture);
  make_file (fixture, "work/.git/commondir.refused-by-glove/x", "x");
  make_file (fixture, "work/.git/commondir", "/tmp/evil\n");
  g_assert_cmpint (g_chmod (folder, 0), ==, 0);
  review (fixture, "work/.git/commondir", "renamed to commondir.refused-by-glove-");
  g_assert_cmpint (g_chmod (folder, 0), ==, 0);
  review (fixture, "", "");
  g_assert_cmpint (g_chmod (folder, 0700), ==, 0);
  g_assert_false (is_there (fixture, "work/.git/commondir"));
}

/* The grant is the repository itself; and where git's files are the agent's to change, nothing is looked at. */
static void
test_review_itself (Fixture *fixture, gconstpointer data)
{
  make_repository (fixture, "work");
  glove_grant_resolver_set_allow_git_config (fixture->resolver, GPOINTER_TO_INT (data));
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  forget_common (fixture);
  make_file (fixture, "work/commondir", "/tmp/evil\n");
  review (fixture, GPOINTER_TO_INT (data) ? "" : "work/commondir", "renamed");
  g_assert_cmpint (is_there (fixture, "work/commondir"), ==, GPOINTER_TO_INT (data));
}

/* As "git config" does it on the host, which takes the mount away from over the old one. */
static void
test_review_replaced (Fixture *fixture, gconstpointer data)
{
  g_autofree char *config = g_build_filename (fixture->work, ".git", "config", NULL);
  g_autofree char *lock = g_strconcat (config, ".lock", NULL);
  g_autofree char *hooks = g_build_filename (fixture->work, "sub", ".git", "hooks", NULL);

  make_repository (fixture, "work/.git");
  make_repository (fixture, "work/sub/.git");
  make_file (fixture, "work/file/.git", "gitdir: ../.git\n");
  grant (fixture, GLOVE_GRANT_WRITE, "work");
  finish (fixture);
  review (fixture, "", "");
  make_file (fixture, "work/.git/config.lock", "[core]\n");
  g_assert_cmpint (g_rename (lock, config), ==, 0);
  g_assert_cmpint (g_rmdir (hooks), ==, 0);
  review (fixture, "work/.git/config work/sub/.git/hooks", "was replaced from outside");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
#define ADD(name, function) g_test_add ("/policy/git-protection/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("plain", test_plain);
  ADD ("read-only-or-none", test_read_only_or_none);
  ADD ("allowed", test_allowed);
  ADD ("missing-parts", test_missing_parts);
  ADD ("disguised", test_disguised);
  ADD ("missing-worktree-config", test_missing_worktree_config);
  ADD ("owner", test_owner);
  ADD ("worktrees-and-modules", test_worktrees_and_modules);
  ADD ("order", test_order);
  ADD ("worktree", test_worktree);
  ADD ("worktree-granted", test_worktree_granted);
  ADD ("hostile-pointer", test_hostile_pointer);
  ADD ("links", test_links);
  ADD ("git-is-link", test_git_is_link);
  ADD ("odd-types", test_odd_types);
  ADD ("nested", test_nested);
  ADD ("typed-rules", test_typed_rules);
  ADD ("subfolder", test_subfolder);
  ADD ("file", test_file);
  ADD ("refused", test_refused);
  ADD ("elsewhere-note", test_elsewhere_note);
  ADD ("gave-up", test_gave_up);
  ADD ("too-many", test_too_many);
  ADD ("review", test_review);
  ADD ("review-resisted", test_review_resisted);
  ADD ("review-itself", test_review_itself);
  ADD ("review-replaced", test_review_replaced);
  g_test_add ("/policy/git-protection/review-allowed", Fixture, GINT_TO_POINTER (TRUE), set_up, test_review_itself, tear_down);
  return g_test_run ();
}
