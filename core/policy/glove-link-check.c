/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-link-check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-grant-resolver.h"
#include "glove-path-pin.h"

#define LINKS_MAX 40 /* as the kernel: path_resolution(7) */

typedef struct {
  const GPtrArray *grants;
  char *quoted;
  int fd;          /* the folder that was come to; at the end what the path leads to */
  GQueue left;     /* of utf8: components still to go */
  GPtrArray *in;   /* of GloveGrant: in which links lay */
  guint links;
  gboolean opaque; /* a link of the kernel's own, which leads wherever it does */
} Walk;

static void
walk_clear (Walk *self)
{
  g_free (self->quoted);
  glove_fd_clear (&self->fd);
  g_queue_clear_full (&self->left, g_free);
  g_ptr_array_unref (self->in);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Walk, walk_clear)

static void
push_components (Walk *self, const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);

  for (guint i = g_strv_length (parts); i > 0; i--)
    if (parts[i - 1][0] != '\0')
      g_queue_push_head (&self->left, g_strdup (parts[i - 1]));
}

static gboolean
start (Walk *self, const char *path, GError **error)
{
  glove_fd_clear (&self->fd);
  self->fd = glove_fd_openat2 (AT_FDCWD, path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY, 0, 0, error);
  return self->fd >= 0;
}

typedef struct {
  const GPtrArray *grants;
  const GloveGrant *outermost;
} Search;

static gboolean
visit_above (const GloveFileIdentity *identity, int fd, gpointer user_data)
{
  Search *search = user_data;

  for (guint i = 0; i < search->grants->len; i++)
    {
      const GloveGrant *grant = search->grants->pdata[i];

      if ((grant->origin == GLOVE_GRANT_ORIGIN_WORKSPACE || grant->origin == GLOVE_GRANT_ORIGIN_OPTION)
          && glove_file_identity_same_object (&grant->identity, identity))
        search->outermost = grant;
    }
  return TRUE;
}

static gboolean
follow (Walk *self, int link, GError **error)
{
  Search search = { self->grants, NULL };
  g_autofree char *target = g_malloc (GLOVE_PATH_BYTES_MAX + 1);
  struct statfs sfs;
  gboolean complete = FALSE;
  gssize length = 0;

  (void) glove_path_pin_walk_up (self->fd, visit_above, &search, &complete);
  if (search.outermost != NULL)
    g_ptr_array_add (self->in, (gpointer) search.outermost);
  if (fstatfs (link, &sfs) == 0 && sfs.f_type == PROC_SUPER_MAGIC)
    {
      self->opaque = TRUE;
      return TRUE;
    }
  length = readlinkat (link, "", target, GLOVE_PATH_BYTES_MAX);
  if (length <= 0 || ++self->links > LINKS_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_CHANGED, "the links of %s can't be followed", self->quoted);
      return FALSE;
    }
  target[length] = '\0';
  push_components (self, target);
  return target[0] != '/' || start (self, target, error);
}

static gboolean
walk (Walk *self, GError **error)
{
  while (!self->opaque && !g_queue_is_empty (&self->left))
    {
      g_autofree char *name = g_queue_pop_head (&self->left);
      glove_autofd int child = glove_fd_openat2 (self->fd, name, O_PATH | O_NOFOLLOW, 0, 0, error);
      struct stat st;

      if (child < 0)
        return FALSE;
      if (fstatat (child, "", &st, AT_EMPTY_PATH | AT_NO_AUTOMOUNT) < 0)
        {
          glove_error_set_errno (error, errno, "looking at a part of %s", self->quoted);
          return FALSE;
        }
      if (S_ISLNK (st.st_mode))
        {
          if (!follow (self, child, error))
            return FALSE;
          continue;
        }
      glove_fd_clear (&self->fd);
      self->fd = g_steal_fd (&child);
    }
  return TRUE;
}

/* Whether all of what the links lay in holds what they lead to. */
static gboolean
check_within (Walk *self, GError **error)
{
  for (guint i = 0; i < self->in->len; i++)
    {
      const GloveGrant *grant = self->in->pdata[i];
      g_autoptr (GPtrArray) one = g_ptr_array_new ();
      g_autofree char *holder = glove_path_pin_quote (grant->host_path);
      gboolean covered = FALSE;

      g_ptr_array_add (one, (gpointer) grant);
      if (!self->opaque && !glove_grant_resolver_covers (one, self->fd, &covered, error))
        return FALSE;
      if (covered)
        continue;
      glove_error_set (error, GLOVE_ERROR_DENIED, "%s leads through a link in %s to a place outside of it: whoever filled that "
                       "folder chose the place", self->quoted, holder);
      glove_error_set_hint (error, "look where the link leads; if that is what you want, name the place itself");
      return FALSE;
    }
  return TRUE;
}

/**
 * glove_link_check_run:
 * @grants: (element-type GloveGrant): those of the workspace and of options count
 * @path: as typed, any bytes; it exists
 * @expected: (nullable): what it was opened as
 *
 * Walks the path as the kernel does, link by link. An agent of an earlier run, or whoever made the workspace, may have put a link where
 * the operator expects a file: `--prompt-file ./task.txt` must not hand over a key, nor `--read ./assets` a home.
 *
 * Returns: FALSE with %GLOVE_ERROR_DENIED, %GLOVE_ERROR_CHANGED, or what the operating system says
 *
 * Since: 1.0
 */
gboolean
glove_link_check_run (const GPtrArray *grants, const char *path, const GloveFileIdentity *expected, GError **error)
{
  g_auto (Walk) self = { grants, glove_path_pin_quote (path), -1, G_QUEUE_INIT, g_ptr_array_new (), 0, FALSE };
  GloveFileIdentity identity;

  push_components (&self, path);
  if (!start (&self, path, error) || !walk (&self, error) || !check_within (&self, error))
    return FALSE;
  if (expected == NULL || self.opaque)
    return TRUE;
  if (!glove_path_pin_identify (self.fd, &identity, error))
    return FALSE;
  if (glove_file_identity_same_object (&identity, expected))
    return TRUE;
  glove_error_set (error, GLOVE_ERROR_CHANGED, "%s was replaced while it was looked at", self.quoted);
  glove_error_set_hint (error, "make sure that nothing moves it, and try again");
  return FALSE;
}
