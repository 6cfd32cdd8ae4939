/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-grant-resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-git-protection.h"
#include "glove-link-check.h"
#include "glove-mount-scan.h"
#include "glove-path-pin.h"
#include "glove-path.h"
#include "glove-restricted-paths.h"
#include "glove-socket-scan.h"

typedef struct {
  GloveGrantAccess access;
  GloveGrantOrigin origin;
  GlovePathPin pin;
  char *typed; /* absolute, but nothing resolved */
} Entry;

typedef struct {
  GlovePathPin pin;
  char *quoted; /* as typed */
} AllowedSocket;

struct _GloveGrantResolver {
  GPtrArray *entries; /* of Entry */
  GPtrArray *sockets; /* of AllowedSocket */
  GloveRestrictedPaths *restricted;
  gboolean mask_sockets;
  gboolean allow_git_config;
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  glove_path_pin_clear (&entry->pin);
  g_free (entry->typed);
  g_free (entry);
}

static void
allowed_socket_free (gpointer data)
{
  AllowedSocket *allowed = data;

  glove_path_pin_clear (&allowed->pin);
  g_free (allowed->quoted);
  g_free (allowed);
}

/**
 * glove_grant_resolver_new:
 *
 * Returns: (transfer full): one without a grant. Not thread safe.
 *
 * Since: 1.0
 */
GloveGrantResolver *
glove_grant_resolver_new (void)
{
  GloveGrantResolver *self = g_new0 (GloveGrantResolver, 1);

  self->entries = g_ptr_array_new_with_free_func (entry_free);
  self->sockets = g_ptr_array_new_with_free_func (allowed_socket_free);
  self->restricted = glove_restricted_paths_new (NULL);
  return self;
}

/**
 * glove_grant_resolver_free:
 *
 * Since: 1.0
 */
void
glove_grant_resolver_free (GloveGrantResolver *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->entries);
  g_ptr_array_unref (self->sockets);
  glove_restricted_paths_free (self->restricted);
  g_free (self);
}

/* --- taking what was typed --- */

static gboolean
check_type (const GlovePathPin *pin, const char *quoted, GError **error)
{
  const char *what = NULL;

  if (S_ISREG (pin->identity.mode) || S_ISDIR (pin->identity.mode))
    return TRUE;
  if (S_ISSOCK (pin->identity.mode))
    what = "a socket";
  else if (S_ISFIFO (pin->identity.mode))
    what = "a named pipe";
  else
    what = "a device";
  glove_error_set (error, GLOVE_ERROR_DENIED, "%s can't be granted: it is %s, not a file or a folder", quoted, what);
  if (S_ISSOCK (pin->identity.mode))
    glove_error_set_hint (error, "grant its folder and accept the socket with --allow-socket %s", quoted);
  else
    glove_error_set_hint (error, "name a file or a folder");
  return FALSE;
}

/* One path has one access. What the operator typed twice over is an error; the agent's own files just follow what was typed. */
static gboolean
merge (Entry *there, const Entry *entry, const char *quoted, GError **error)
{
  if (there->access == entry->access)
    {
      there->origin = MIN (there->origin, entry->origin);
      return TRUE;
    }
  if (there->origin != GLOVE_GRANT_ORIGIN_RUNTIME && entry->origin != GLOVE_GRANT_ORIGIN_RUNTIME)
    {
      glove_error_set (error, GLOVE_ERROR_CONFLICT, "%s is granted both for reading and for writing", quoted);
      glove_error_set_hint (error, "drop one of the two");
      return FALSE;
    }
  there->access = GLOVE_GRANT_WRITE;
  there->origin = MIN (there->origin, entry->origin);
  return TRUE;
}

/* As typed all the same: "x/.." of a link isn't what it is of a folder. */
static char *
dup_absolute (const char *path)
{
  g_autofree char *folder = g_path_is_absolute (path) ? NULL : g_get_current_dir ();

  return folder == NULL ? g_strdup (path) : g_strconcat (folder, "/", path, NULL);
}

/**
 * glove_grant_resolver_add:
 * @access: %GLOVE_GRANT_READ or %GLOVE_GRANT_WRITE
 * @path: as typed, any bytes
 *
 * The agent sees the object at the path that was found, with no link in it: `--read ~/x` with x a link to `/data/x` grants
 * `/data/x`. The same path with the same access twice is one grant; for reading and for writing it is %GLOVE_ERROR_CONFLICT, unless
 * one of the two is the runtime's own, which then follows the other.
 *
 * Returns: whether it is pinned; %GLOVE_ERROR_NOT_FOUND, %GLOVE_ERROR_DENIED (contracts §5.2 and more, see README.md),
 *   %GLOVE_ERROR_CONFLICT, %GLOVE_ERROR_CHANGED, %GLOVE_ERROR_LIMIT, each with a hint
 *
 * Since: 1.0
 */
gboolean
glove_grant_resolver_add (GloveGrantResolver *self, GloveGrantAccess access, GloveGrantOrigin origin, const char *path,
                          GError **error)
{
  Entry *entry = NULL;
  g_autoptr (GPtrArray) owner = g_ptr_array_new_with_free_func (entry_free);
  g_autofree char *quoted = NULL;

  g_return_val_if_fail (access == GLOVE_GRANT_READ || access == GLOVE_GRANT_WRITE, FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  entry = g_new0 (Entry, 1);
  *entry = (Entry){ access, origin, GLOVE_PATH_PIN_INIT, dup_absolute (path) };
  g_ptr_array_add (owner, entry);
  quoted = glove_path_pin_quote (path);
  if (!glove_path_pin_open (&entry->pin, path, error)
      || !glove_restricted_paths_check (self->restricted, &entry->pin, access, quoted, error)
      || !check_type (&entry->pin, quoted, error))
    return FALSE;
  for (guint i = 0; i < self->entries->len; i++)
    {
      Entry *there = self->entries->pdata[i];

      if (strcmp (there->pin.host_path, entry->pin.host_path) != 0)
        continue;
      if (!glove_file_identity_same_object (&there->pin.identity, &entry->pin.identity))
        {
          glove_error_set (error, GLOVE_ERROR_CHANGED, "%s was replaced while it was looked at", quoted);
          return FALSE;
        }
      return merge (there, entry, quoted, error);
    }
  if (self->entries->len >= GLOVE_GRANTS_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "more than %d grants: %s is one too many", GLOVE_GRANTS_MAX, quoted);
      glove_error_set_hint (error, "grant a folder instead of what is in it");
      return FALSE;
    }
  g_ptr_array_add (self->entries, g_ptr_array_steal_index (owner, 0));
  return TRUE;
}

/**
 * glove_grant_resolver_allow_socket:
 * @path: as typed, links followed
 *
 * Since: 1.0
 */
gboolean
glove_grant_resolver_allow_socket (GloveGrantResolver *self, const char *path, GError **error)
{
  AllowedSocket *allowed = NULL;
  g_autoptr (GPtrArray) owner = g_ptr_array_new_with_free_func (allowed_socket_free);

  g_return_val_if_fail (path != NULL, FALSE);
  allowed = g_new0 (AllowedSocket, 1);
  *allowed = (AllowedSocket){ GLOVE_PATH_PIN_INIT, glove_path_pin_quote (path) };
  g_ptr_array_add (owner, allowed);
  if (!glove_path_pin_open (&allowed->pin, path, error))
    return FALSE;
  if (!S_ISSOCK (allowed->pin.identity.mode))
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "%s is not a socket", allowed->quoted);
      glove_error_set_hint (error, "--allow-socket takes the path of a socket below a grant");
      return FALSE;
    }
  if (self->sockets->len >= GLOVE_GRANTS_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_LIMIT, "more than %d sockets are allowed", GLOVE_GRANTS_MAX);
      return FALSE;
    }
  g_ptr_array_add (self->sockets, g_ptr_array_steal_index (owner, 0));
  return TRUE;
}

/**
 * glove_grant_resolver_set_mask_sockets:
 * @mask: cover what host processes have bound below a grant, instead of refusing
 *
 * Since: 1.0
 */
void
glove_grant_resolver_set_mask_sockets (GloveGrantResolver *self, gboolean mask)
{
  self->mask_sockets = mask;
}

/**
 * glove_grant_resolver_set_allow_git_config:
 * @allow: leave git's hooks and configuration writable where the grant is
 *
 * Since: 1.0
 */
void
glove_grant_resolver_set_allow_git_config (GloveGrantResolver *self, gboolean allow)
{
  self->allow_git_config = allow;
}

/* --- finishing --- */

static int
compare_grants (gconstpointer a, gconstpointer b)
{
  const GloveGrant *left = *(const GloveGrant *const *) a;
  const GloveGrant *right = *(const GloveGrant *const *) b;
  guint left_depth = glove_path_get_depth (left->target_path);
  guint right_depth = glove_path_get_depth (right->target_path);

  if (left_depth != right_depth)
    return left_depth < right_depth ? -1 : 1;
  return strcmp (left->target_path, right->target_path);
}

/* The agent's own tree needs no grant where it is seen anyway, and must not narrow what was typed. */
static gboolean
is_seen_anyway (const GloveGrantResolver *self, const Entry *entry)
{
  if (entry->origin != GLOVE_GRANT_ORIGIN_RUNTIME)
    return FALSE;
  for (guint i = 0; i < self->entries->len; i++)
    {
      const Entry *other = self->entries->pdata[i];

      if (other->origin != GLOVE_GRANT_ORIGIN_RUNTIME
          && glove_path_contains (other->pin.host_path, entry->pin.host_path))
        return TRUE;
    }
  return FALSE;
}

static void
note_mounts (GPtrArray *notes, const char *host_path, GPtrArray *mounts)
{
  g_autofree char *quoted = glove_path_pin_quote (host_path);
  g_autofree char *first = glove_path_pin_quote (mounts->pdata[0]);

  if (mounts->len == 1)
    g_ptr_array_add (notes, g_strdup_printf ("%s brings along what is mounted at %s", quoted, first));
  else
    g_ptr_array_add (notes, g_strdup_printf ("%s brings along what is mounted at %s and %u more places below it", quoted,
                                             first, mounts->len - 1));
}

static void
note_secrets (GPtrArray *notes, const Entry *entry)
{
  const char *const *names = glove_restricted_paths_list_secret_names ();

  for (guint i = 0; S_ISDIR (entry->pin.identity.mode) && names[i] != NULL; i++)
    {
      g_autofree char *path = NULL;
      g_autofree char *quoted = NULL;
      struct stat st;

      if (fstatat (entry->pin.fd, names[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
        continue;
      path = g_build_filename (entry->pin.host_path, names[i], NULL);
      quoted = glove_path_pin_quote (path);
      g_ptr_array_add (notes, g_strdup_printf ("%s is in a grant: the agent sees it", quoted));
    }
}

static GloveGrant *
build_grant (GloveGrantResolver *self, GloveMountScan *mounts, const Entry *entry, GPtrArray *notes, GError **error)
{
  g_autoptr (GPtrArray) below = NULL;
  GloveGrant *grant = NULL;
  int fd = -1;

  if (!glove_mount_scan_check (mounts, self->restricted, entry->pin.host_path, entry->access, &below, error))
    return NULL;
  if (entry->access == GLOVE_GRANT_WRITE && !self->allow_git_config
      && !glove_git_protection_check (entry->pin.fd, entry->pin.host_path, error))
    return NULL;
  fd = fcntl (entry->pin.fd, F_DUPFD_CLOEXEC, 3);
  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "copying a descriptor");
      return NULL;
    }
  grant = glove_grant_new (entry->access, entry->origin, fd, entry->pin.host_path, entry->pin.host_path, error);
  if (grant == NULL)
    return NULL;
  grant->brings_mounts = below->len > 0;
  if (below->len > 0)
    note_mounts (notes, entry->pin.host_path, below);
  note_secrets (notes, entry);
  return grant;
}

static GPtrArray *
build_typed (GloveGrantResolver *self, GPtrArray *notes, GError **error)
{
  g_autoptr (GPtrArray) grants = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_grant_unref);
  g_autoptr (GloveMountScan) mounts = NULL;

  if (self->entries->len == 0)
    return g_steal_pointer (&grants);
  mounts = glove_mount_scan_new (error);
  if (mounts == NULL)
    return NULL;
  for (guint i = 0; i < self->entries->len; i++)
    {
      const Entry *entry = self->entries->pdata[i];
      GloveGrant *grant = NULL;

      if (is_seen_anyway (self, entry))
        continue;
      grant = build_grant (self, mounts, entry, notes, error);
      if (grant == NULL)
        return NULL;
      g_ptr_array_add (grants, grant);
    }
  g_ptr_array_sort (grants, compare_grants);
  return g_steal_pointer (&grants);
}

static AllowedSocket *
find_allowed (GloveGrantResolver *self, const GloveFileIdentity *identity)
{
  for (guint i = 0; i < self->sockets->len; i++)
    {
      AllowedSocket *allowed = self->sockets->pdata[i];

      if (glove_file_identity_same_object (&allowed->pin.identity, identity))
        return allowed;
    }
  return NULL;
}

static gboolean
check_allowed (GloveGrantResolver *self, const GPtrArray *grants, GPtrArray *notes, GError **error)
{
  for (guint i = 0; i < self->sockets->len; i++)
    {
      const AllowedSocket *allowed = self->sockets->pdata[i];
      g_autofree char *real = glove_path_pin_quote (allowed->pin.host_path);
      gboolean covered = FALSE;

      if (!glove_grant_resolver_covers (grants, allowed->pin.fd, &covered, error))
        return FALSE;
      if (!covered)
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the socket %s does not lie below a grant", allowed->quoted);
          glove_error_set_hint (error, "grant the folder it lies in");
          return FALSE;
        }
      g_ptr_array_add (notes, g_strdup_printf ("escape-grade: through the socket %s the agent can ask whatever its host "
                                               "process will do for it", real));
    }
  return TRUE;
}

static gboolean
handle_hit (GloveGrantResolver *self, const GloveSocketHit *hit, GPtrArray *masks, GError **error)
{
  g_autofree char *quoted = glove_path_pin_quote (hit->target_path);
  GloveGrant *grant = NULL;
  int fd = -1;

  if (find_allowed (self, &hit->identity) != NULL)
    return TRUE;
  if (!self->mask_sockets)
    {
      glove_error_set (error, GLOVE_ERROR_DENIED, "a host process has bound the socket %s below a grant: the agent could use it",
                       quoted);
      glove_error_set_hint (error, "cover it with --mask-sockets, or accept it with --allow-socket %s", quoted);
      return FALSE;
    }
  fd = fcntl (hit->fd, F_DUPFD_CLOEXEC, 3);
  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "copying a descriptor");
      return FALSE;
    }
  grant = glove_grant_new (GLOVE_GRANT_MASK, GLOVE_GRANT_ORIGIN_PROTECTION, fd, hit->target_path, hit->target_path, error);
  if (grant == NULL)
    return FALSE;
  g_ptr_array_add (masks, grant);
  return TRUE;
}

static gboolean
handle_sockets (GloveGrantResolver *self, const GPtrArray *grants, GPtrArray *masks, GPtrArray *notes, GError **error)
{
  g_autoptr (GPtrArray) hits = NULL;

  if (!check_allowed (self, grants, notes, error))
    return FALSE;
  if (grants->len == 0)
    return TRUE;
  hits = glove_socket_scan_run (grants, error);
  if (hits == NULL)
    return FALSE;
  for (guint i = 0; i < hits->len; i++)
    if (!handle_hit (self, hits->pdata[i], masks, error))
      return FALSE;
  if (masks->len > 0)
    g_ptr_array_add (notes, masks->len == 1
                                ? g_strdup ("1 socket of a host process below the grants is covered")
                                : g_strdup_printf ("%u sockets of host processes below the grants are covered", masks->len));
  return TRUE;
}

static gboolean
protect_git (GloveGrantResolver *self, const GPtrArray *typed, GPtrArray *protections, GPtrArray *notes, GError **error)
{
  for (guint i = 0; !self->allow_git_config && i < typed->len; i++)
    {
      const GloveGrant *grant = typed->pdata[i];

      if (grant->access == GLOVE_GRANT_WRITE && glove_grant_is_directory (grant)
          && !glove_git_protection_add (grant, typed, protections, notes, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
check_links (GloveGrantResolver *self, const GPtrArray *grants, GError **error)
{
  for (guint i = 0; i < self->entries->len; i++)
    {
      const Entry *entry = self->entries->pdata[i];

      if (entry->origin != GLOVE_GRANT_ORIGIN_RUNTIME
          && !glove_link_check_run (grants, entry->typed, &entry->pin.identity, error))
        return FALSE;
    }
  return TRUE;
}

static void
move_all (GPtrArray *from, GPtrArray *to)
{
  for (guint i = 0; i < from->len; i++)
    g_ptr_array_add (to, glove_grant_ref (from->pdata[i]));
}

/**
 * glove_grant_resolver_finish:
 * @ret_notes: (out) (optional) (transfer full) (element-type utf8): lines for the banner, made safe to show
 *
 * The most specific grant rules, whatever the order they were typed in: the list goes from shallow to deep, and what is mounted
 * later covers what was mounted before. Folders of writable grants may get an empty `.git/hooks` or `.git/config` where there was
 * none (a note says so).
 *
 * Returns: (transfer full) (element-type GloveGrant): the grants; %NULL with %GLOVE_ERROR_DENIED (a host's socket, a mount that may not
 *   come along, git's own files for writing), %GLOVE_ERROR_INVALID_ARGUMENT (an allowed socket outside), %GLOVE_ERROR_LIMIT, …
 *
 * Since: 1.0
 */
GPtrArray *
glove_grant_resolver_finish (GloveGrantResolver *self, GPtrArray **ret_notes, GError **error)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) protections = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_grant_unref);
  g_autoptr (GPtrArray) masks = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_grant_unref);
  g_autoptr (GPtrArray) grants = build_typed (self, notes, error);

  if (grants == NULL || !check_links (self, grants, error) || !protect_git (self, grants, protections, notes, error)
      || !handle_sockets (self, grants, masks, notes, error))
    return NULL;
  move_all (protections, grants);
  move_all (masks, grants);
  g_ptr_array_sort (grants, compare_grants);
  if (ret_notes != NULL)
    *ret_notes = g_steal_pointer (&notes);
  return g_steal_pointer (&grants);
}

/* --- what is seen --- */

typedef struct {
  const GPtrArray *grants;
  gboolean covered;
} Cover;

static gboolean
visit_above (const GloveFileIdentity *identity, int fd, gpointer user_data)
{
  Cover *cover = user_data;

  for (guint i = 0; !cover->covered && i < cover->grants->len; i++)
    cover->covered = glove_file_identity_same_object (&((GloveGrant *) cover->grants->pdata[i])->identity, identity);
  return !cover->covered;
}

/* The folder that the object at @fd lies in, by the path the kernel gives, which has to lead back to it. */
static int
open_folder_of (int fd, const GloveFileIdentity *identity, GError **error)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *path = g_file_read_link (link, NULL);
  g_autofree char *folder = path == NULL ? NULL : g_path_get_dirname (path);
  g_autofree char *name = path == NULL ? NULL : g_path_get_basename (path);
  glove_autofd int folder_fd = folder == NULL ? -1 : open (folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  GloveFileIdentity there;
  struct stat st;

  if (folder_fd >= 0 && fstatat (folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
    {
      glove_file_identity_from_stat (&there, &st);
      if (glove_file_identity_same_object (&there, identity))
        return g_steal_fd (&folder_fd);
    }
  glove_error_set_literal (error, GLOVE_ERROR_CHANGED, "where the file lies can't be told: it was moved or removed");
  return -1;
}

/**
 * glove_grant_resolver_covers:
 * @grants: (element-type GloveGrant)
 * @fd: of a file or folder
 * @ret_covered: (out): whether the agent sees it
 *
 * Folders are compared by identity, so that another path to the same place counts too.
 *
 * Returns: FALSE with %GLOVE_ERROR_CHANGED when it can't be told
 *
 * Since: 1.0
 */
gboolean
glove_grant_resolver_covers (const GPtrArray *grants, int fd, gboolean *ret_covered, GError **error)
{
  Cover cover = { grants, FALSE };
  GloveFileIdentity identity;
  glove_autofd int folder_fd = -1;
  gboolean complete = FALSE;

  if (!glove_path_pin_identify (fd, &identity, error))
    return FALSE;
  if (!S_ISDIR (identity.mode))
    {
      if (!visit_above (&identity, fd, &cover))
        {
          *ret_covered = TRUE;
          return TRUE;
        }
      folder_fd = open_folder_of (fd, &identity, error);
      if (folder_fd < 0)
        return FALSE;
    }
  if (glove_path_pin_walk_up (S_ISDIR (identity.mode) ? fd : folder_fd, visit_above, &cover, &complete) && !complete)
    {
      glove_error_set_literal (error, GLOVE_ERROR_PERMISSION, "the folders above a file can't be looked at");
      return FALSE;
    }
  *ret_covered = cover.covered;
  return TRUE;
}
