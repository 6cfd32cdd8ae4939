/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-git-review.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-file-identity.h"
#include "glove-random.h"

/* gitrepository-layout(5): where it is, git takes configuration and hooks from the folder that it names. Mostly one is
 * there from the start, which can't be changed (glove-git-protection.c); this is for a folder in which it could not be made. */
#define NAME "commondir"
#define ASIDE NAME ".refused-by-glove"

void
glove_git_refusal_free (GloveGitRefusal *self)
{
  g_free (self->path);
  g_free (self->detail);
  g_free (self);
}

static gboolean
is_protection_at (const GloveGrant *grant, const char *folder, const char *name)
{
  gsize length = strlen (folder);

  return grant->origin == GLOVE_GRANT_ORIGIN_PROTECTION && grant->access == GLOVE_GRANT_READ
         && strncmp (grant->host_path, folder, length) == 0 && grant->host_path[length] == '/'
         && strcmp (grant->host_path + length + 1, name) == 0;
}

static gboolean
has_protection (const GPtrArray *grants, const GloveGrant *folder, const char *name)
{
  for (guint i = 0; i < grants->len; i++)
    if (is_protection_at (grants->pdata[i], folder->host_path, name))
      return TRUE;
  return FALSE;
}

/* A folder in which git's files were protected at the start. */
static gboolean
is_protected_repository (const GPtrArray *grants, const GloveGrant *folder)
{
  if (folder->access != GLOVE_GRANT_WRITE || !glove_grant_is_directory (folder))
    return FALSE;
  return has_protection (grants, folder, "config") || has_protection (grants, folder, "hooks")
         || (folder->origin == GLOVE_GRANT_ORIGIN_PROTECTION && g_str_has_suffix (folder->host_path, "/.git"));
}

/* To a name that isn't taken, whatever the agent put there. */
static gboolean
move_aside (int dirfd, char **ret_name)
{
  g_autofree char *random = NULL;

  *ret_name = g_strdup (ASIDE);
  if (renameat2 (dirfd, NAME, dirfd, *ret_name, RENAME_NOREPLACE) == 0)
    return TRUE;
  if (errno != EEXIST)
    return FALSE;
  random = glove_random_hex (4, NULL);
  g_free (*ret_name);
  *ret_name = g_strdup_printf (ASIDE "-%s", random != NULL ? random : "again");
  return renameat2 (dirfd, NAME, dirfd, *ret_name, RENAME_NOREPLACE) == 0;
}

/* An agent that may write a folder may also take that right away from its owner. */
static gboolean
make_accessible (const GloveGrant *folder)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", folder->fd);

  return chmod (link, (folder->identity.mode & 07777) | S_IRWXU) == 0;
}

static gboolean
move_aside_or_make_accessible (const GloveGrant *folder, char **ret_name)
{
  if (move_aside (folder->fd, ret_name))
    return TRUE;
  if (errno != EACCES || !make_accessible (folder))
    return FALSE;
  g_clear_pointer (ret_name, g_free);
  return move_aside (folder->fd, ret_name);
}

/* NULL: there was nothing after all. */
static GloveGitRefusal *
refuse (const GloveGrant *folder)
{
  g_autofree char *name = NULL;
  g_autofree char *detail = NULL;
  GloveGitRefusal *refusal = NULL;

  if (move_aside_or_make_accessible (folder, &name))
    detail = g_strdup_printf ("the agent made git take its configuration from elsewhere: renamed to %s", name);
  else if (errno == ENOENT)
    return NULL;
  else
    detail = g_strdup_printf ("the agent made git take its configuration from elsewhere, and it can't be renamed (%s): "
                              "remove it before git is used there", g_strerror (errno));
  refusal = g_new0 (GloveGitRefusal, 1);
  refusal->path = g_build_filename (folder->host_path, NAME, NULL);
  refusal->detail = g_steal_pointer (&detail);
  return refusal;
}

/* A mount point that is replaced or removed from outside, as git on the host replaces its configuration whenever it changes it, takes
 * the mount with it. What stands there now is perhaps the agent's. NULL: it is what was pinned. */
static GloveGitRefusal *
compare (const GloveGrant *folder, const char *name, const GloveGrant *protection)
{
  GloveFileIdentity now = { 0 };
  GloveGitRefusal *refusal = NULL;
  struct stat st;

  if (fstatat (folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0
      || (errno == EACCES && make_accessible (folder) && fstatat (folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0))
    glove_file_identity_from_stat (&now, &st);
  if (glove_file_identity_same_object (&now, &protection->identity))
    return NULL;
  refusal = g_new0 (GloveGitRefusal, 1);
  refusal->path = g_strdup (protection->host_path);
  refusal->detail = g_strdup ("it was replaced from outside while the agent ran, which could write it from then on: look at it before "
                              "git is used there");
  return refusal;
}

static void
review_protections (const GPtrArray *grants, const GloveGrant *folder, GPtrArray *refusals)
{
  for (guint i = 0; i < grants->len; i++)
    {
      const GloveGrant *protection = grants->pdata[i];
      g_autofree char *name = g_path_get_basename (protection->host_path);
      GloveGitRefusal *refusal = NULL;

      if (is_protection_at (protection, folder->host_path, name))
        refusal = compare (folder, name, protection);
      if (refusal != NULL)
        g_ptr_array_add (refusals, refusal);
    }
}

/**
 * glove_git_review_run:
 * @grants: (element-type GloveGrant): as glove_grant_resolver_finish() gave them, protections among them
 *
 * Looks through the pinned descriptors, not by path. Without protections (`--allow-git-config`) nothing is looked at. What lay
 * there at the start was made read-only, and stays; where it is no longer what it was, that is told. Any thread.
 *
 * Returns: (transfer full) (element-type GloveGitRefusal): what was found
 *
 * Since: 1.0
 */
GPtrArray *
glove_git_review_run (const GPtrArray *grants)
{
  GPtrArray *refusals = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_git_refusal_free);

  for (guint i = 0; i < grants->len; i++)
    {
      const GloveGrant *folder = grants->pdata[i];
      GloveGitRefusal *refusal = NULL;
      struct stat st;

      if (folder->access == GLOVE_GRANT_WRITE && glove_grant_is_directory (folder))
        review_protections (grants, folder, refusals);
      if (!is_protected_repository (grants, folder) || has_protection (grants, folder, NAME))
        continue;
      /* no right to look is no proof that nothing is there */
      if (fstatat (folder->fd, NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno == EACCES)
        refusal = refuse (folder);
      if (refusal != NULL)
        g_ptr_array_add (refusals, refusal);
    }
  return refusals;
}
