/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-audit-runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-identifier.h"

#define AUDIT_FILE "audit.jsonl"
/* What a run's folder may hold before it is left alone instead of removed. */
#define REMOVE_DEPTH 4
#define REMOVE_ENTRIES 4096
#define CREATE_ATTEMPTS 3

typedef struct {
  char *name;
  gint64 when; /* nanoseconds */
} Run;

static void
run_clear (gpointer data)
{
  g_free (((Run *) data)->name);
}

/* Newest first; of two of one instant, the one whose name is greater. */
static int
compare_runs (gconstpointer a, gconstpointer b)
{
  const Run *left = a;
  const Run *right = b;

  if (left->when != right->when)
    return left->when < right->when ? 1 : -1;
  return strcmp (right->name, left->name);
}

static int
open_folder_at (int dirfd, const char *name)
{
  return openat (dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

/* The entries of @dirfd that can be runs, newest first. Whatever else lies there is not looked into. */
static GArray *
list_runs (int dirfd)
{
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (Run));
  int copy = open_folder_at (dirfd, ".");
  DIR *dir = copy < 0 ? NULL : fdopendir (copy);
  struct dirent *entry = NULL;

  g_array_set_clear_func (runs, run_clear);
  if (dir == NULL)
    {
      glove_fd_clear (&copy);
      return g_steal_pointer (&runs);
    }
  for (guint seen = 0; seen < GLOVE_AUDIT_RUNS_SCANNED && (entry = readdir (dir)) != NULL; seen++)
    {
      struct stat st;
      Run run = { 0 };

      if (!glove_identifier_is_session (entry->d_name)
          || fstatat (dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR (st.st_mode)
          || st.st_uid != geteuid ())
        continue;
      run.name = g_strdup (entry->d_name);
      run.when = (gint64) st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
      g_array_append_val (runs, run);
    }
  (void) closedir (dir);
  g_array_sort (runs, compare_runs);
  return g_steal_pointer (&runs);
}

static gboolean empty_folder (int dirfd, dev_t dev, guint depth, guint *budget);

static gboolean
remove_entry (int dirfd, const char *name, dev_t dev, guint depth, guint *budget)
{
  glove_autofd int child = -1;
  struct stat st;

  if (fstatat (dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return FALSE;
  if (!S_ISDIR (st.st_mode))
    return unlinkat (dirfd, name, 0) == 0;
  if (st.st_dev != dev || depth == 0)
    return FALSE;
  child = open_folder_at (dirfd, name);
  return child >= 0 && empty_folder (child, dev, depth - 1, budget) && unlinkat (dirfd, name, AT_REMOVEDIR) == 0;
}

static gboolean
empty_folder (int dirfd, dev_t dev, guint depth, guint *budget)
{
  int copy = open_folder_at (dirfd, ".");
  DIR *dir = copy < 0 ? NULL : fdopendir (copy);
  struct dirent *entry = NULL;
  gboolean ok = TRUE;

  if (dir == NULL)
    {
      glove_fd_clear (&copy);
      return FALSE;
    }
  while (ok && (entry = readdir (dir)) != NULL)
    {
      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      ok = *budget > 0 && remove_entry (dirfd, entry->d_name, dev, depth, budget);
      if (*budget > 0)
        (*budget)--;
    }
  (void) closedir (dir);
  return ok;
}

/* Best effort: what is held by a live process, is not a folder of ours or holds more than a run does stays. */
static void
remove_run (int runs_fd, const char *name)
{
  glove_autofd int fd = open_folder_at (runs_fd, name);
  guint budget = REMOVE_ENTRIES;
  struct stat st;

  if (fd < 0 || flock (fd, LOCK_EX | LOCK_NB) < 0 || fstat (fd, &st) < 0)
    return;
  if (empty_folder (fd, st.st_dev, REMOVE_DEPTH, &budget))
    (void) unlinkat (runs_fd, name, AT_REMOVEDIR);
}

static void
prune (int runs_fd)
{
  g_autoptr (GArray) runs = list_runs (runs_fd);

  for (guint i = GLOVE_AUDIT_RUNS_KEPT; i < runs->len; i++)
    remove_run (runs_fd, g_array_index (runs, Run, i).name);
}

/* The base directory specification: a relative one is to be ignored. So is a relative $HOME: the current folder is an agent's workspace,
 * often. */
static char *
dup_state_home (const char *state_home)
{
  const char *home = state_home != NULL ? state_home : g_get_user_state_dir ();
  g_autofree char *buffer = NULL;
  struct passwd entry;
  struct passwd *found = NULL;

  if (g_path_is_absolute (home))
    return g_strdup (home);
  buffer = g_malloc (GLOVE_AUDIT_LINE_MAX);
  if (getpwuid_r (geteuid (), &entry, buffer, GLOVE_AUDIT_LINE_MAX, &found) != 0 || found == NULL
      || !g_path_is_absolute (found->pw_dir))
    return g_strdup ("/.local/state");
  return g_build_filename (found->pw_dir, ".local", "state", NULL);
}

static gboolean
check_folder (int fd, const char *path, GError **error)
{
  struct stat st;

  if (fstat (fd, &st) < 0)
    {
      glove_error_set_errno (error, errno, "looking at %s", path);
      return FALSE;
    }
  if (st.st_uid == geteuid () && (st.st_mode & 0022) == 0)
    return TRUE;
  glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "the folder %s belongs to somebody else or others may write to it", path);
  glove_error_set_hint (error, "make it yours alone (chown, chmod 0700), or set XDG_STATE_HOME to another folder");
  return FALSE;
}

/* Opens @name in @dirfd as a folder of ours; makes it first when @create. */
static int
enter (int dirfd, const char *name, const char *path, gboolean create, GError **error)
{
  glove_autofd int fd = -1;

  if (create && mkdirat (dirfd, name, 0700) < 0 && errno != EEXIST)
    {
      glove_error_set_errno (error, errno, "making the folder %s", path);
      return -1;
    }
  fd = open_folder_at (dirfd, name);
  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "opening the folder %s", path);
      return -1;
    }
  return check_folder (fd, path, error) ? g_steal_fd (&fd) : -1;
}

/* The folder that holds the runs; @ret_path: its path. */
static int
open_runs (const char *state_home, gboolean create, char **ret_path, GError **error)
{
  g_autofree char *home = dup_state_home (state_home);
  g_autofree char *glove_path = g_build_filename (home, "glove", NULL);
  g_autofree char *runs_path = g_build_filename (glove_path, "runs", NULL);
  glove_autofd int home_fd = -1;
  glove_autofd int glove_fd = -1;
  glove_autofd int runs_fd = -1;

  if (create && g_mkdir_with_parents (home, 0700) < 0)
    {
      glove_error_set_errno (error, errno, "making the folder %s", home);
      glove_error_set_hint (error, "set XDG_STATE_HOME to a folder you can write to, or give --audit FILE");
      return -1;
    }
  home_fd = open (home, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (home_fd < 0)
    {
      glove_error_set_errno (error, errno, "opening the folder %s", home);
      return -1;
    }
  glove_fd = enter (home_fd, "glove", glove_path, create, error);
  if (glove_fd < 0)
    return -1;
  runs_fd = enter (glove_fd, "runs", runs_path, create, error);
  if (runs_fd >= 0)
    *ret_path = g_steal_pointer (&runs_path);
  return g_steal_fd (&runs_fd);
}

/* Makes the folder and locks it. -1 without an error: somebody's pruning took it away meanwhile. */
static int
make_run (int runs_fd, const char *run_id, GError **error)
{
  glove_autofd int fd = -1;
  struct stat here, there;

  if (mkdirat (runs_fd, run_id, 0700) < 0)
    {
      glove_error_set_errno (error, errno, "making the folder of run %s", run_id);
      return -1;
    }
  fd = open_folder_at (runs_fd, run_id);
  if (fd < 0 || flock (fd, LOCK_EX | LOCK_NB) < 0 || fstat (fd, &here) < 0
      || fstatat (runs_fd, run_id, &there, AT_SYMLINK_NOFOLLOW) < 0 || here.st_ino != there.st_ino
      || here.st_dev != there.st_dev)
    return -1;
  if (fchmod (fd, 0700) < 0)
    {
      glove_error_set_errno (error, errno, "setting the mode of the folder of run %s", run_id);
      return -1;
    }
  return g_steal_fd (&fd);
}

/**
 * glove_audit_runs_create:
 * @state_home: (nullable): %NULL: `$XDG_STATE_HOME`, or `~/.local/state`
 * @run_id: a session id (contracts §0) that was not used before
 * @ret_path: (out) (optional): the folder's path, for messages
 *
 * The folder is 0700 and locked for as long as the descriptor (or a copy) is open. Runs past the newest
 * GLOVE_AUDIT_RUNS_KEPT are removed unless a live process holds them; what can't be removed stays without a complaint.
 *
 * Returns: an owned directory descriptor; -1 with %GLOVE_ERROR_EXISTS, %GLOVE_ERROR_UNTRUSTED (the folder is not ours alone) or
 *   what the operating system says
 *
 * Since: 1.0
 */
int
glove_audit_runs_create (const char *state_home, const char *run_id, char **ret_path, GError **error)
{
  g_autofree char *runs_path = NULL;
  glove_autofd int runs_fd = -1;
  glove_autofd int fd = -1;

  g_return_val_if_fail (run_id != NULL, -1);
  if (!glove_identifier_is_session (run_id))
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "the run's id is not a session id");
      return -1;
    }
  runs_fd = open_runs (state_home, TRUE, &runs_path, error);
  if (runs_fd < 0)
    return -1;
  for (guint attempt = 0; fd < 0 && attempt < CREATE_ATTEMPTS; attempt++)
    {
      g_autoptr (GError) local_error = NULL;

      fd = make_run (runs_fd, run_id, &local_error);
      if (fd < 0 && local_error != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&local_error));
          return -1;
        }
    }
  if (fd < 0)
    {
      glove_error_set (error, GLOVE_ERROR_BUSY, "the folder of run %s was taken by another process", run_id);
      return -1;
    }
  prune (runs_fd);
  if (ret_path != NULL)
    *ret_path = g_build_filename (runs_path, run_id, NULL);
  return g_steal_fd (&fd);
}

/**
 * glove_audit_runs_find_last:
 * @state_home: (nullable): as in glove_audit_runs_create()
 *
 * Returns: (transfer full): path of the newest run's audit file, a regular file of ours when it was looked at; %NULL with
 *   %GLOVE_ERROR_NOT_FOUND when no run has one
 *
 * Since: 1.0
 */
char *
glove_audit_runs_find_last (const char *state_home, GError **error)
{
  g_autofree char *runs_path = NULL;
  g_autoptr (GArray) runs = NULL;
  g_autoptr (GError) local_error = NULL;
  glove_autofd int runs_fd = open_runs (state_home, FALSE, &runs_path, &local_error);

  if (runs_fd < 0 && !g_error_matches (local_error, GLOVE_ERROR, GLOVE_ERROR_NOT_FOUND))
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return NULL;
    }
  if (runs_fd >= 0)
    runs = list_runs (runs_fd);
  for (guint i = 0; runs != NULL && i < runs->len; i++)
    {
      const char *name = g_array_index (runs, Run, i).name;
      glove_autofd int fd = open_folder_at (runs_fd, name);
      struct stat st;

      if (fd >= 0 && fstatat (fd, AUDIT_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG (st.st_mode)
          && st.st_uid == geteuid ())
        return g_build_filename (runs_path, name, AUDIT_FILE, NULL);
    }
  glove_error_set_literal (error, GLOVE_ERROR_NOT_FOUND, "no run has left an audit file");
  glove_error_set_hint (error, "run something first, or name a file with --audit FILE");
  return NULL;
}

char *
glove_audit_runs_dup_folder (const char *state_home)
{
  g_autofree char *home = dup_state_home (state_home);

  return g_build_filename (home, "glove", "runs", NULL);
}
