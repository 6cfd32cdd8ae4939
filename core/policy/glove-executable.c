/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-executable.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-path-pin.h"
#include "glove-path.h"
#include "glove-restricted-paths.h"
#include "glove-text.h"

#define PACKAGES "node_modules"

/* --- an explicit path --- */

/* Regular, and executable by somebody: as root access (2) would say yes to a file without any x bit. */
static gboolean
is_executable (const char *path, mode_t mode)
{
  return S_ISREG (mode) && (mode & 0111) != 0 && faccessat (AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

static gboolean
check_executable (const GlovePathPin *pin, const char *typed, GError **error)
{
  g_autofree char *quoted = NULL;

  if (is_executable (pin->host_path, pin->identity.mode))
    return TRUE;
  quoted = glove_path_pin_quote (typed);
  if (!S_ISREG (pin->identity.mode))
    {
      glove_error_set (error, GLOVE_ERROR_NOT_EXECUTABLE, "%s is not a regular file", quoted);
      glove_error_set_hint (error, "name the program itself");
    }
  else
    {
      glove_error_set (error, GLOVE_ERROR_NOT_EXECUTABLE, "%s is not executable", quoted);
      glove_error_set_hint (error, "chmod +x it");
    }
  return FALSE;
}

/* Made absolute, but otherwise as typed: taking ".." out would be wrong behind a link. */
static char *
make_absolute (const char *path)
{
  g_autofree char *cwd = NULL;

  if (path[0] == '/')
    return g_strdup (path);
  cwd = g_get_current_dir ();
  return g_build_filename (cwd, path, NULL);
}

/**
 * glove_executable_resolve:
 * @path: as typed, relative to the current directory; it must hold a slash or be in that directory: no PATH is searched
 * @ret_argv0: (out) (optional): @path made absolute
 *
 * Returns: (transfer full): the absolute path with no link in it; %NULL with %GLOVE_ERROR_NOT_FOUND,
 *   %GLOVE_ERROR_NOT_EXECUTABLE, or as the operating system says (contracts §6.4)
 *
 * Since: 1.0
 */
char *
glove_executable_resolve (const char *path, char **ret_argv0, GError **error)
{
  g_auto (GlovePathPin) pin = GLOVE_PATH_PIN_INIT;

  g_return_val_if_fail (path != NULL, NULL);
  if (!glove_path_pin_open (&pin, path, error) || !check_executable (&pin, path, error))
    return NULL;
  if (ret_argv0 != NULL)
    *ret_argv0 = make_absolute (path);
  return g_steal_pointer (&pin.host_path);
}

/* --- searching --- */

typedef struct {
  char *fault; /* path of the folder that is not to be trusted */
} Trust;

/* Root's or ours, and nobody else's to write, but for root's sticky folders. */
static gboolean
is_trusted (const GloveFileIdentity *identity)
{
  if (identity->uid != 0 && identity->uid != geteuid ())
    return FALSE;
  if ((identity->mode & 0022) == 0)
    return TRUE;
  return identity->uid == 0 && (identity->mode & S_ISVTX) != 0;
}

static gboolean
visit_above (const GloveFileIdentity *identity, int fd, gpointer user_data)
{
  Trust *trust = user_data;
  g_autofree char *link = NULL;

  if (is_trusted (identity))
    return TRUE;
  link = g_strdup_printf ("/proc/self/fd/%d", fd);
  trust->fault = g_file_read_link (link, NULL);
  return FALSE;
}

static gboolean
refuse_folder (const char *folder, GError **error)
{
  g_autofree char *quoted = glove_path_pin_quote (folder);

  glove_error_set (error, GLOVE_ERROR_UNTRUSTED, "the search folder %s belongs to somebody else or others may write to it",
                   quoted);
  glove_error_set_hint (error, "make it root's or yours alone (chown, chmod go-w), or name the program with --executable");
  return FALSE;
}

/* The way as typed: whoever owns a folder that a link lies in decides where the link leads. */
static gboolean
check_typed_way (const char *folder, GError **error)
{
  for (const char *slash = strchr (folder, '/'); slash != NULL; slash = strchr (slash + 1, '/'))
    {
      g_autofree char *prefix = g_strndup (folder, MAX (slash - folder, 1));
      glove_autofd int fd = open (prefix, O_PATH | O_DIRECTORY | O_CLOEXEC);
      GloveFileIdentity identity;

      if (fd >= 0 && glove_path_pin_identify (fd, &identity, NULL) && !is_trusted (&identity))
        return refuse_folder (prefix, error);
    }
  return TRUE;
}

/* Looks in one folder. FALSE: an error; @ret_found stays NULL when it is not there. */
static gboolean
search_folder (const char *name, const char *folder, char **ret_found, GError **error)
{
  g_autofree char *quoted = glove_path_pin_quote (folder);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  glove_autofd int fd = -1;
  g_autofree char *fault = NULL;
  Trust trust = { NULL };
  gboolean complete = FALSE;
  struct stat st;

  if (folder[0] != '/' || strlen (folder) > GLOVE_PATH_BYTES_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the search folder %s is not an absolute path", quoted);
      glove_error_set_hint (error, "write it from / on");
      return FALSE;
    }
  fd = open (folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
    return TRUE;
  if (fd < 0)
    {
      glove_error_set_errno (error, errno, "opening the search folder %s", quoted);
      return FALSE;
    }
  if (!check_typed_way (folder, error))
    return FALSE;
  (void) glove_path_pin_walk_up (fd, visit_above, &trust, &complete);
  fault = trust.fault;
  if (fault != NULL || !complete)
    return refuse_folder (fault != NULL ? fault : folder, error);
  if (stat (path, &st) == 0 && is_executable (path, st.st_mode))
    *ret_found = g_steal_pointer (&path);
  return TRUE;
}

/**
 * glove_executable_search:
 * @name: a plain file name
 * @search_paths: (array zero-terminated=1): absolute folders, in order; one that is not there is passed over
 *
 * Every folder up to the one it is found in has to be trustworthy: an error in one is an error, not a reason to go on.
 *
 * Returns: (transfer full): the path where it was found, links not followed; %NULL with %GLOVE_ERROR_NOT_FOUND,
 *   %GLOVE_ERROR_UNTRUSTED (which names the folder) or %GLOVE_ERROR_INVALID_ARGUMENT (contracts §6.4)
 *
 * Since: 1.0
 */
char *
glove_executable_search (const char *name, const char *const *search_paths, GError **error)
{
  g_autofree char *quoted = NULL;
  g_autofree char *folders = NULL;
  g_autofree char *escaped = NULL;

  g_return_val_if_fail (name != NULL && search_paths != NULL, NULL);
  quoted = glove_path_pin_quote (name);
  if (name[0] == '\0' || strchr (name, '/') != NULL || strcmp (name, ".") == 0 || strcmp (name, "..") == 0)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the program's name %s is not a plain file name", quoted);
      return NULL;
    }
  for (guint i = 0; search_paths[i] != NULL; i++)
    {
      char *found = NULL;

      if (!search_folder (name, search_paths[i], &found, error))
        return NULL;
      if (found != NULL)
        return found;
    }
  folders = g_strjoinv (":", (char **) search_paths);
  escaped = glove_text_escape (folders, -1);
  glove_error_set (error, GLOVE_ERROR_NOT_FOUND, "there is no program %s in %s", quoted,
                   escaped[0] == '\0' ? "any folder: none was given" : escaped);
  glove_error_set_hint (error, "name it with --executable PATH, or its folder with --search-path DIR");
  return NULL;
}

/* --- the tree around it --- */

/* The part of @path up to and with its first @name, or NULL. */
static char *
cut_behind (const char *path, const char *name)
{
  gsize length = strlen (name);

  for (const char *at = strstr (path, name); at != NULL; at = strstr (at + 1, name))
    if (at > path && at[-1] == '/' && (at[length] == '/' || at[length] == '\0'))
      return g_strndup (path, at + length - path);
  return NULL;
}

static gboolean
may_be_granted (const GloveRestrictedPaths *restricted, const char *folder)
{
  g_auto (GlovePathPin) pin = GLOVE_PATH_PIN_INIT;

  return glove_path_pin_open (&pin, folder, NULL)
         && glove_restricted_paths_check (restricted, &pin, GLOVE_GRANT_READ, "", NULL);
}

/* PREFIX/lib/node_modules beside PREFIX/bin: one installation, interpreter and all. ~/.local has the same shape, and much more in it
 * than programs. */
static char *
dup_prefix (const char *packages)
{
  g_autofree char *lib = g_path_get_dirname (packages);
  g_autofree char *lib_name = g_path_get_basename (lib);
  g_autofree char *prefix = g_path_get_dirname (lib);
  g_autofree char *prefix_name = g_path_get_basename (prefix);
  g_autofree char *interpreter = g_build_filename (prefix, "bin", "node", NULL);
  struct stat st;

  if (strcmp (lib_name, "lib") != 0 || strcmp (prefix_name, ".local") == 0 || lstat (interpreter, &st) < 0
      || !S_ISREG (st.st_mode))
    return NULL;
  return g_steal_pointer (&prefix);
}

/**
 * glove_executable_dup_tree:
 * @path: of a program, links followed
 *
 * The first of these that may be granted (contracts §5.2): for a program below a "node_modules", the installation it belongs to (when an
 * interpreter lies beside it: PREFIX/bin/node and PREFIX/lib/node_modules), else the outermost "node_modules" itself (a program in it needs
 * nothing of the folder around, which is somebody's project or home); for any other program, its own folder; then the file.
 *
 * Returns: (transfer full) (nullable): what has to be granted for reading; %NULL without an error when it lies in /usr, which is seen
 *   anyway; %NULL with %GLOVE_ERROR_NOT_FOUND and the like when there is no such program
 *
 * Since: 1.0
 */
char *
glove_executable_dup_tree (const char *path, GError **error)
{
  g_auto (GlovePathPin) pin = GLOVE_PATH_PIN_INIT;
  g_autoptr (GloveRestrictedPaths) restricted = NULL;
  g_autofree char *packages = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *prefix = NULL;

  g_return_val_if_fail (path != NULL, NULL);
  if (!glove_path_pin_open (&pin, path, error))
    return NULL;
  if (glove_path_contains ("/usr", pin.host_path))
    return NULL;
  restricted = glove_restricted_paths_new (NULL);
  packages = cut_behind (pin.host_path, PACKAGES);
  if (packages != NULL)
    {
      prefix = dup_prefix (packages);
      if (prefix != NULL && may_be_granted (restricted, prefix))
        return g_steal_pointer (&prefix);
      if (may_be_granted (restricted, packages))
        return g_steal_pointer (&packages);
    }
  folder = g_path_get_dirname (pin.host_path);
  if (may_be_granted (restricted, folder))
    return g_steal_pointer (&folder);
  return g_steal_pointer (&pin.host_path);
}
