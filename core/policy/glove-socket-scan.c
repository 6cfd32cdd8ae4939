/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-socket-scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-host-tables.h"
#include "glove-path-pin.h"
#include "glove-path.h"

#define PROCESSES_MAX 65536

typedef struct {
  const GPtrArray *grants;
  GHashTable *folders; /* path of a folder → GStrv of what it is called inside */
  GHashTable *known;   /* target paths in @hits */
  GPtrArray *hits;
} Match;

static void
hit_free (gpointer data)
{
  GloveSocketHit *hit = data;

  glove_fd_clear (&hit->fd);
  g_free (hit->target_path);
  g_free (hit);
}

static int
compare_hits (gconstpointer a, gconstpointer b)
{
  const GloveSocketHit *const *left = a;
  const GloveSocketHit *const *right = b;

  return strcmp ((*left)->target_path, (*right)->target_path);
}

static char *
dup_descriptor_path (int fd)
{
  char link[64];
  g_autofree char *buffer = g_malloc (GLOVE_PATH_BYTES_MAX + 1);
  gssize length = 0;

  (void) g_snprintf (link, sizeof (link), "/proc/self/fd/%d", fd);
  length = readlink (link, buffer, GLOVE_PATH_BYTES_MAX);
  if (length <= 0)
    return NULL;
  buffer[length] = '\0';
  return g_steal_pointer (&buffer);
}

typedef struct {
  const GPtrArray *grants;
  const char *folder; /* real path of the socket's folder */
  GPtrArray *names;   /* what that folder is called inside */
} Climb;

/* Is the folder we came to one that is granted? Then what lies below it is seen inside under the grant's target. */
static gboolean
visit_above (const GloveFileIdentity *identity, int fd, gpointer user_data)
{
  Climb *climb = user_data;

  for (guint i = 0; i < climb->grants->len; i++)
    {
      const GloveGrant *grant = climb->grants->pdata[i];
      g_autofree char *above = NULL;

      if (grant->access == GLOVE_GRANT_MASK || !glove_file_identity_same_object (&grant->identity, identity))
        continue;
      above = dup_descriptor_path (fd);
      if (above != NULL && glove_path_contains (above, climb->folder))
        g_ptr_array_add (climb->names, g_build_filename (grant->target_path,
                                                         climb->folder + (above[1] == '\0' ? 1 : strlen (above)), NULL));
    }
  return TRUE;
}

/* What the folder is called inside; empty when it is not seen there. */
static GStrv
name_folder (const GPtrArray *grants, int dirfd)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *folder = dup_descriptor_path (dirfd);
  Climb climb = { grants, folder, names };
  gboolean complete = FALSE;

  if (folder != NULL)
    (void) glove_path_pin_walk_up (dirfd, visit_above, &climb, &complete);
  g_ptr_array_add (names, NULL);
  return (GStrv) g_ptr_array_steal (names, NULL);
}

static void
add_hits (Match *match, int dirfd, const char *base, const char *const *names)
{
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *target = g_build_filename (names[i], base, NULL);
      glove_autofd int fd = -1;
      GloveFileIdentity identity;
      GloveSocketHit *hit = NULL;

      if (g_hash_table_contains (match->known, target))
        continue;
      /* No socket of that name any more: nothing to connect to. */
      fd = openat (dirfd, base, O_PATH | O_NOFOLLOW | O_CLOEXEC);
      if (fd < 0 || !glove_path_pin_identify (fd, &identity, NULL) || !S_ISSOCK (identity.mode))
        continue;
      hit = g_new0 (GloveSocketHit, 1);
      hit->fd = g_steal_fd (&fd);
      hit->identity = identity;
      hit->target_path = g_strdup (target);
      g_hash_table_add (match->known, g_steal_pointer (&target));
      g_ptr_array_add (match->hits, hit);
    }
}

/* @path is looked for from the folder @from on, links followed as bind (2) did. */
static void
match_path (Match *match, int from, const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  const char *slash = strrchr (path, '/');
  const char *base = slash != NULL ? slash + 1 : path;
  GStrv names = from == AT_FDCWD ? g_hash_table_lookup (match->folders, folder) : NULL;
  g_auto (GStrv) owned = NULL;
  glove_autofd int dirfd = -1;

  if (base[0] == '\0' || (names != NULL && names[0] == NULL))
    return;
  dirfd = glove_fd_openat2 (from, folder, O_PATH | O_DIRECTORY, 0, RESOLVE_NO_MAGICLINKS, NULL);
  if (dirfd < 0)
    return;
  if (names == NULL)
    {
      names = name_folder (match->grants, dirfd);
      if (from == AT_FDCWD)
        g_hash_table_insert (match->folders, g_strdup (folder), names);
      else
        owned = names;
    }
  add_hits (match, dirfd, base, (const char *const *) names);
}

/* A relative path says nothing about where: its process was in a folder of which only the present one is known. */
static void
match_relative (Match *match, const char *path)
{
  DIR *dir = opendir ("/proc");
  struct dirent *entry = NULL;

  for (guint i = 0; i < match->grants->len; i++)
    {
      const GloveGrant *grant = match->grants->pdata[i];

      if (glove_grant_is_directory (grant))
        match_path (match, grant->fd, path);
    }
  for (guint seen = 0; dir != NULL && seen < PROCESSES_MAX && (entry = readdir (dir)) != NULL; seen++)
    {
      g_autofree char *link = NULL;
      glove_autofd int cwd = -1;

      if (!g_ascii_isdigit (entry->d_name[0]))
        continue;
      link = g_build_filename (entry->d_name, "cwd", NULL);
      cwd = openat (dirfd (dir), link, O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (cwd >= 0)
        match_path (match, cwd, path);
    }
  if (dir != NULL)
    (void) closedir (dir);
}

/**
 * glove_socket_scan_match:
 * @paths: (element-type utf8): as glove_host_tables_parse_sockets() gives them
 * @grants: (element-type GloveGrant)
 *
 * A socket is found under whatever name its process used: the folders above it are compared with the grants by identity.
 *
 * Returns: (transfer full) (element-type GloveSocketHit): where an agent would see one; %NULL with %GLOVE_ERROR_LIMIT
 *
 * Since: 1.0
 */
GPtrArray *
glove_socket_scan_match (const GPtrArray *paths, const GPtrArray *grants, GError **error)
{
  g_autoptr (GHashTable) folders = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_strfreev);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) hits = g_ptr_array_new_with_free_func (hit_free);
  Match match = { grants, folders, known, hits };

  for (guint i = 0; i < paths->len; i++)
    {
      const char *path = paths->pdata[i];

      if (path[0] == '/')
        match_path (&match, AT_FDCWD, path);
      else
        match_relative (&match, path);
      if (hits->len > GLOVE_MASKS_MAX)
        {
          glove_error_set (error, GLOVE_ERROR_LIMIT, "host processes have bound more than %d sockets below the grants",
                           GLOVE_MASKS_MAX);
          glove_error_set_hint (error, "grant a narrower folder");
          return NULL;
        }
    }
  g_ptr_array_sort (hits, compare_hits);
  return g_steal_pointer (&hits);
}

/**
 * glove_socket_scan_run:
 *
 * Sockets of other network namespaces are not in the kernel's list and are not found (README.md).
 *
 * Since: 1.0
 */
GPtrArray *
glove_socket_scan_run (const GPtrArray *grants, GError **error)
{
  glove_autofd int fd = open ("/proc/net/unix", O_RDONLY | O_CLOEXEC);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GPtrArray) paths = NULL;

  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "opening the kernel's list of sockets, /proc/net/unix");
      glove_error_set_hint (error, "mount /proc");
      return NULL;
    }
  bytes = glove_fd_read_all (fd, GLOVE_HOST_TABLE_BYTES_MAX, error);
  if (bytes == NULL)
    {
      g_prefix_error (error, "reading the kernel's list of sockets: ");
      return NULL;
    }
  paths = glove_host_tables_parse_sockets (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
  return paths == NULL ? NULL : glove_socket_scan_match (paths, grants, error);
}
