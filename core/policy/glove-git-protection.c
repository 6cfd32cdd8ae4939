/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-git-protection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-deadline.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-path-pin.h"
#include "glove-path.h"

/* How it works. A mount can't be removed, renamed or replaced from inside the sandbox, and what is mounted read-only can't be
 * written: so each protected thing is a read-only grant of its own, and each folder on the way to it, from the grant down, is a
 * writable grant of itself, so that it can't be moved away with all that is in it and made anew. The folders below the grant are
 * looked through breadth first, near ones before far ones, within bounds. Every one of them is opened from the pinned grant, with no
 * link on the way: what lies in a workspace was perhaps put there by an agent. */

#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)
#define WORKTREES "worktrees"
#define MODULES "modules"
#define COMMON "commondir"

typedef struct _Node Node;
struct _Node {
  Node *parent; /* NULL: the grant itself */
  char *path;   /* relative to the grant; "" for itself */
  guint depth;
  gboolean bound; /* has a grant of its own */
};

typedef struct {
  const GloveGrant *grant;
  const GPtrArray *typed;
  GPtrArray *protections;
  GPtrArray *notes;
  GPtrArray *nodes; /* of Node: found so far, looked at in order */
  guint entries;
  gboolean gave_up;
} Scan;

static void
node_free (gpointer data)
{
  Node *node = data;

  g_free (node->path);
  g_free (node);
}

static char *
dup_host_path (const Scan *scan, const char *relative)
{
  return relative[0] == '\0' ? g_strdup (scan->grant->host_path)
                             : g_build_filename (scan->grant->host_path, relative, NULL);
}

static char *
join (const char *folder, const char *name)
{
  return folder[0] == '\0' ? g_strdup (name) : g_build_filename (folder, name, NULL);
}

static void
add_note (const Scan *scan, const char *relative, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
add_note (const Scan *scan, const char *relative, const char *format, ...)
{
  g_autofree char *path = dup_host_path (scan, relative);
  g_autofree char *quoted = glove_path_pin_quote (path);
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (scan->notes, g_strdup_printf ("%s %s", quoted, text));
}

static gboolean
is_granted (const GPtrArray *grants, const char *host_path)
{
  for (guint i = 0; i < grants->len; i++)
    if (strcmp (((GloveGrant *) grants->pdata[i])->host_path, host_path) == 0)
      return TRUE;
  return FALSE;
}

/* Adds a grant of the object at @relative, which is opened anew from the pinned grant. */
static gboolean
add_protection (Scan *scan, const char *relative, GloveGrantAccess access, GError **error)
{
  g_autofree char *host_path = dup_host_path (scan, relative);
  g_autofree char *target_path = NULL;
  glove_autofd int fd = -1;
  GloveGrant *grant = NULL;

  if (is_granted (scan->typed, host_path) || is_granted (scan->protections, host_path))
    return TRUE;
  if (scan->protections->len + scan->typed->len >= GLOVE_GRANTS_MAX)
    {
      g_autofree char *quoted = glove_path_pin_quote (scan->grant->host_path);

      glove_error_set (error, GLOVE_ERROR_LIMIT, "%s holds more git repositories than can be protected (%d grants)", quoted,
                       GLOVE_GRANTS_MAX);
      glove_error_set_hint (error, "grant a narrower folder, or accept with --allow-git-config that an agent may change "
                                   "what git runs");
      return FALSE;
    }
  fd = glove_fd_openat2 (scan->grant->fd, relative, O_PATH | O_NOFOLLOW, 0, BENEATH, error);
  if (fd < 0)
    {
      g_prefix_error (error, "protecting git's files in a grant: ");
      return FALSE;
    }
  target_path = g_build_filename (scan->grant->target_path, relative, NULL);
  grant = glove_grant_new (access, GLOVE_GRANT_ORIGIN_PROTECTION, g_steal_fd (&fd), host_path, target_path, error);
  if (grant == NULL)
    return FALSE;
  g_ptr_array_add (scan->protections, grant);
  return TRUE;
}

/* Makes @node and every folder above it, up to the grant, a mount of its own. */
static gboolean
bind_way (Scan *scan, Node *node, GError **error)
{
  if (node->parent == NULL || node->bound)
    return TRUE;
  node->bound = TRUE;
  return bind_way (scan, node->parent, error) && add_protection (scan, node->path, GLOVE_GRANT_WRITE, error);
}

static void
add_node (Scan *scan, Node *parent, const char *name, guint depth)
{
  g_autofree char *path = join (parent->path, name);
  g_autofree char *host_path = dup_host_path (scan, path);
  Node *node = NULL;

  /* Another grant rules there: a writable one is looked through by itself. */
  if (is_granted (scan->typed, host_path))
    return;
  if (scan->nodes->len >= GLOVE_GIT_SCAN_FOLDERS)
    {
      scan->gave_up = TRUE;
      return;
    }
  node = g_new0 (Node, 1);
  node->parent = parent;
  node->path = g_steal_pointer (&path);
  node->depth = depth;
  g_ptr_array_add (scan->nodes, node);
}

static mode_t
get_type (int dirfd, const char *name)
{
  struct stat st;

  return fstatat (dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode & S_IFMT : 0;
}

/* The whole of a small file, opened without following; NULL when it can't be had. */
static char *
read_small (int dirfd, const char *name, gsize max)
{
  glove_autofd int fd = openat (dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  g_autoptr (GBytes) bytes = NULL;
  struct stat st;

  if (fd < 0 || fstat (fd, &st) < 0 || !S_ISREG (st.st_mode))
    return NULL;
  bytes = glove_fd_read_all (fd, max, NULL);
  return bytes == NULL ? NULL : g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static gboolean
config_says (int dirfd, const char *config, const char *word)
{
  g_autofree char *text = read_small (dirfd, config, GLOVE_GIT_CONFIG_MAX);
  g_autofree char *lower = text == NULL ? NULL : g_ascii_strdown (text, -1);

  return lower != NULL && strstr (lower, word) != NULL;
}

/* As git tells: HEAD, and objects of its own or a pointer to where they are. Any of these an agent can take away in one session and
 * put back in the next, so what it can't take away tells too: what was protected before. */
static gboolean
is_repository (int dirfd)
{
  struct stat config;

  if (get_type (dirfd, "HEAD") != 0 && (get_type (dirfd, "objects") != 0 || get_type (dirfd, "commondir") != 0))
    return TRUE;
  if (get_type (dirfd, "commondir") == S_IFREG && get_type (dirfd, "gitdir") == S_IFREG)
    return TRUE;
  return get_type (dirfd, "hooks") == S_IFDIR && fstatat (dirfd, "config", &config, AT_SYMLINK_NOFOLLOW) == 0
         && S_ISREG (config.st_mode) && (config.st_size == 0 || config_says (dirfd, "config", "[core"));
}

/* --- one repository --- */

/* What root makes in somebody's repository is made as its owner, from the first instant: what were handed over by name afterwards could be
 * another file by then, put there by that owner. */
static void
take_owner (int dirfd)
{
  struct stat st;

  if (geteuid () != 0 || fstat (dirfd, &st) < 0 || st.st_uid == 0)
    return;
  (void) setfsgid (st.st_gid);
  (void) setfsuid (st.st_uid);
}

static void
be_oneself (void)
{
  (void) setfsuid (geteuid ());
  (void) setfsgid (getegid ());
}

static gboolean
make_file (int dirfd, const char *name, const char *content)
{
  glove_autofd int fd = openat (dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  int saved = 0;

  if (fd < 0)
    return FALSE;
  if (glove_fd_write_all (fd, content, strlen (content), NULL))
    return TRUE;
  saved = errno;
  (void) unlinkat (dirfd, name, 0);
  errno = saved;
  return FALSE;
}

/* What is missing could be made by the agent: so it is made here, such that it means the same to git. @content: NULL for a folder.
 * FALSE: it can't be. */
static gboolean
make_neutral (int dirfd, const char *name, const char *content)
{
  gboolean made = FALSE;
  int saved = 0;

  take_owner (dirfd);
  made = content == NULL ? mkdirat (dirfd, name, 0755) == 0 : make_file (dirfd, name, content);
  saved = errno;
  be_oneself ();
  errno = saved;
  return made;
}

/* A link can be replaced by the agent, for nothing can be mounted on it: what it leads to is protected, and the operator told. */
static gboolean
protect_link (Scan *scan, const char *relative, GError **error)
{
  g_autofree char *path = dup_host_path (scan, relative);
  g_auto (GlovePathPin) pin = GLOVE_PATH_PIN_INIT;
  const char *below = NULL;

  if (!glove_path_pin_open (&pin, path, NULL))
    {
      add_note (scan, relative, "is a symbolic link that leads nowhere: the agent can replace it (see --allow-git-config)");
      return TRUE;
    }
  if (!glove_path_contains (scan->grant->host_path, pin.host_path)
      || strcmp (pin.host_path, scan->grant->host_path) == 0
      || !(S_ISREG (pin.identity.mode) || S_ISDIR (pin.identity.mode)))
    {
      add_note (scan, relative, "is a symbolic link out of the grant: the agent can replace the link");
      return TRUE;
    }
  below = pin.host_path + strlen (scan->grant->host_path) + 1;
  add_note (scan, relative, "is a symbolic link: what it leads to is read-only, but the agent can replace the link");
  return add_protection (scan, below, GLOVE_GRANT_READ, error);
}

static gboolean
protect (Scan *scan, Node *node, int dirfd, const char *name, GError **error)
{
  g_autofree char *relative = join (node->path, name);
  mode_t type = get_type (dirfd, name);

  if (type == S_IFLNK)
    return protect_link (scan, relative, error);
  if (type == S_IFREG || type == S_IFDIR)
    return add_protection (scan, relative, GLOVE_GRANT_READ, error);
  if (type != 0)
    add_note (scan, relative, "is neither a file nor a folder: it is not protected");
  return TRUE;
}

/* Protects @name, and makes it first when it is missing. */
static gboolean
protect_or_make (Scan *scan, Node *node, int dirfd, const char *name, const char *content, GError **error)
{
  g_autofree char *relative = join (node->path, name);

  if (get_type (dirfd, name) == 0)
    {
      if (make_neutral (dirfd, name, content))
        add_note (scan, relative, "was missing: one that changes nothing was made, so that the agent can't make it");
      else if (errno != EEXIST)
        {
          add_note (scan, relative, "is missing, and could not be made (%s)", g_strerror (errno));
          return TRUE;
        }
    }
  return protect (scan, node, dirfd, name, error);
}

/* Words that make git look elsewhere: only the operator can judge what lies there. */
static gboolean
look_into_config (Scan *scan, Node *node, int dirfd, GError **error)
{
  g_autofree char *relative = join (node->path, "config");

  if (config_says (dirfd, "config", "hookspath") || config_says (dirfd, "config", "[include"))
    add_note (scan, relative, "names hooks or configuration elsewhere (core.hooksPath, include): what of it lies in a writable "
                              "grant is not protected");
  return !config_says (dirfd, "config", "worktreeconfig")
         || protect_or_make (scan, node, dirfd, "config.worktree", "", error);
}

/* Where this file names another folder, git reads configuration and hooks from there: also in a repository that never had one. */
static gboolean
protect_common (Scan *scan, Node *node, int dirfd, GError **error)
{
  g_autofree char *text = read_small (dirfd, COMMON, GLOVE_GIT_FILE_MAX);

  if (get_type (dirfd, COMMON) != 0 && (text == NULL || strcmp (g_strchomp (text), ".") != 0))
    add_note (scan, node->path, "takes its configuration from elsewhere (commondir): only what lies in it is protected");
  return protect_or_make (scan, node, dirfd, COMMON, ".\n", error);
}

static gboolean
is_worktree (const Node *node, int dirfd)
{
  g_autofree char *folder = g_path_get_dirname (node->path);
  g_autofree char *name = g_path_get_basename (folder);

  return get_type (dirfd, COMMON) != 0 && strcmp (name, WORKTREES) == 0;
}

static gboolean
protect_worktree (Scan *scan, Node *node, int dirfd, GError **error)
{
  if (!protect (scan, node, dirfd, COMMON, error) || !protect (scan, node, dirfd, "gitdir", error))
    return FALSE;
  return config_says (dirfd, "../../config", "worktreeconfig")
           ? protect_or_make (scan, node, dirfd, "config.worktree", "", error)
           : protect (scan, node, dirfd, "config.worktree", error);
}

static gboolean
protect_repository (Scan *scan, Node *node, int dirfd, GError **error)
{
  if (!bind_way (scan, node, error))
    return FALSE;
  if (is_worktree (node, dirfd))
    return protect_worktree (scan, node, dirfd, error);
  if (!protect_common (scan, node, dirfd, error) || !protect_or_make (scan, node, dirfd, "hooks", NULL, error)
      || !protect_or_make (scan, node, dirfd, "config", "", error)
      || !protect (scan, node, dirfd, "config.worktree", error) || !look_into_config (scan, node, dirfd, error))
    return FALSE;
  if (get_type (dirfd, MODULES) == S_IFDIR)
    add_node (scan, node, MODULES, 0);
  if (get_type (dirfd, WORKTREES) == S_IFDIR)
    add_node (scan, node, WORKTREES, 0);
  return TRUE;
}

/* --- a .git that is a file --- */

/* "gitdir: PATH": what it names is never granted because it says so: an agent may have written it. */
static char *
dup_pointer (const Scan *scan, const Node *node, int dirfd)
{
  g_autofree char *text = read_small (dirfd, ".git", GLOVE_GIT_FILE_MAX);
  g_autofree char *folder = dup_host_path (scan, node->path);

  if (text == NULL || !g_str_has_prefix (text, "gitdir:"))
    return NULL;
  g_strchug (memmove (text, text + strlen ("gitdir:"), strlen (text) - strlen ("gitdir:") + 1));
  text[strcspn (text, "\r\n")] = '\0';
  return text[0] == '\0' ? NULL : g_canonicalize_filename (text, folder);
}

static gboolean
protect_pointer (Scan *scan, Node *node, int dirfd, GError **error)
{
  g_autofree char *relative = join (node->path, ".git");
  g_autofree char *repository = dup_pointer (scan, node, dirfd);
  g_autofree char *quoted = NULL;
  char *worktree = NULL;

  if (!bind_way (scan, node, error) || !add_protection (scan, relative, GLOVE_GRANT_READ, error))
    return FALSE;
  if (repository == NULL)
    return TRUE;
  /* A worktree needs the whole repository, not its own folder in it. */
  worktree = g_strrstr (repository, "/" WORKTREES "/");
  if (worktree != NULL)
    *worktree = '\0';
  for (guint i = 0; i < scan->typed->len; i++)
    {
      const GloveGrant *grant = scan->typed->pdata[i];

      if (grant->access == GLOVE_GRANT_WRITE && glove_path_contains (grant->host_path, repository))
        return TRUE;
    }
  quoted = glove_path_pin_quote (repository);
  add_note (scan, relative, "says that its repository is elsewhere, which is not granted: for git to work there, add --write %s",
            quoted);
  return TRUE;
}

/* --- looking through folders --- */

static gboolean
look_for_repository (Scan *scan, Node *node, int dirfd, GError **error)
{
  g_autofree char *relative = join (node->path, ".git");
  g_autofree char *host_path = dup_host_path (scan, relative);
  mode_t type = get_type (dirfd, ".git");

  if (type == 0 || is_granted (scan->typed, host_path))
    return TRUE;
  if (type == S_IFREG)
    return protect_pointer (scan, node, dirfd, error);
  if (type == S_IFLNK)
    return protect_link (scan, relative, error);
  if (type == S_IFDIR)
    add_node (scan, node, ".git", node->depth);
  return TRUE;
}

/* Objects by the first byte of their names: up to 256 folders, in none of which anything else belongs. */
static gboolean
is_fan_out (const Node *node, const char *name)
{
  g_autofree char *folder = g_path_get_basename (node->path);

  return strcmp (folder, "objects") == 0 && strlen (name) == 2 && g_ascii_isxdigit (name[0]) && g_ascii_isxdigit (name[1]);
}

/* @repository: its modules and worktrees are nodes already. */
static void
list_folders (Scan *scan, Node *node, int dirfd, gboolean repository)
{
  glove_autofd int copy = openat (dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = copy < 0 ? NULL : fdopendir (copy);
  struct dirent *entry = NULL;

  if (dir == NULL)
    return;
  (void) g_steal_fd (&copy);
  while (!scan->gave_up && (entry = readdir (dir)) != NULL)
    {
      if (++scan->entries > GLOVE_GIT_SCAN_ENTRIES)
        scan->gave_up = TRUE;
      else if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
        continue;
      else if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0
               || strcmp (entry->d_name, ".git") == 0 || is_fan_out (node, entry->d_name)
               || (repository && (strcmp (entry->d_name, MODULES) == 0 || strcmp (entry->d_name, WORKTREES) == 0)))
        continue;
      else if (entry->d_type == DT_DIR || get_type (dirfd, entry->d_name) == S_IFDIR)
        add_node (scan, node, entry->d_name, node->depth + 1);
    }
  (void) closedir (dir);
}

static gboolean
is_named_git (const Scan *scan, const Node *node)
{
  g_autofree char *path = dup_host_path (scan, node->path);

  return g_str_has_suffix (path, "/.git");
}

static gboolean
visit (Scan *scan, Node *node, GError **error)
{
  glove_autofd int fd = glove_fd_openat2 (scan->grant->fd, node->path[0] == '\0' ? "." : node->path,
                                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK, 0, BENEATH, NULL);
  gboolean repository = FALSE;

  /* Gone, or not ours to read: nor is it the agent's. A repository's own folder is another matter. */
  if (fd < 0)
    return !is_named_git (scan, node) || bind_way (scan, node, error);
  repository = is_named_git (scan, node) || is_repository (fd);
  if (repository && !protect_repository (scan, node, fd, error))
    return FALSE;
  if (is_named_git (scan, node))
    return TRUE;
  /* What looks like a repository was perhaps made to look so, in a folder that holds others. */
  if (!look_for_repository (scan, node, fd, error))
    return FALSE;
  if (node->depth < GLOVE_GIT_SCAN_DEPTH)
    list_folders (scan, node, fd, repository);
  return TRUE;
}

/**
 * glove_git_protection_add:
 * @grant: a writable folder
 * @typed: (element-type GloveGrant): every grant that was asked for, @grant among them: where one lies, its own access counts
 *
 * Repositories more than GLOVE_GIT_SCAN_DEPTH folders below the grant are not looked for; when there are more folders than
 * GLOVE_GIT_SCAN_FOLDERS, or GLOVE_GIT_SCAN_MS are over, a note says that some were not looked at.
 *
 * Returns: FALSE with %GLOVE_ERROR_LIMIT when there is more to protect than can be, or what the operating system says
 *
 * Since: 1.0
 */
gboolean
glove_git_protection_add (const GloveGrant *grant, const GPtrArray *typed, GPtrArray *protections, GPtrArray *notes,
                          GError **error)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new_with_free_func (node_free);
  GloveDeadline deadline = glove_deadline_in_ms (GLOVE_GIT_SCAN_MS);
  Scan scan = { .grant = grant, .typed = typed, .protections = protections, .notes = notes, .nodes = nodes };
  Node *root = g_new0 (Node, 1);

  root->path = g_strdup ("");
  g_ptr_array_add (nodes, root);
  for (guint i = 0; i < nodes->len; i++)
    {
      if (!visit (&scan, nodes->pdata[i], error))
        return FALSE;
      if (glove_deadline_remaining_ms (deadline) == 0 && i + 1 < nodes->len)
        {
          scan.gave_up = TRUE;
          break;
        }
    }
  if (scan.gave_up)
    add_note (&scan, "", "has too many folders to look through: git repositories deep in it may not be protected");
  return TRUE;
}

/* --- refusing --- */

typedef struct {
  char *repository; /* path of the nearest one above */
} Above;

static gboolean
visit_above (const GloveFileIdentity *identity, int fd, gpointer user_data)
{
  Above *above = user_data;
  g_autofree char *link = NULL;

  if (!is_repository (fd))
    return TRUE;
  link = g_strdup_printf ("/proc/self/fd/%d", fd);
  above->repository = g_file_read_link (link, NULL);
  return FALSE;
}

/* Whether @host_path is, or lies in, something in the repository that git acts on. */
static gboolean
is_acted_on (const char *host_path, const char *repository)
{
  static const char *const names[] = { "commondir", "config", "config.worktree", "gitdir", "hooks", NULL };
  g_autofree char *first = NULL;
  const char *rest = NULL;

  if (!glove_path_contains (repository, host_path) || strlen (host_path) <= strlen (repository) + 1)
    return FALSE;
  rest = host_path + strlen (repository) + 1;
  first = g_strndup (rest, strcspn (rest, "/"));
  return g_strv_contains (names, first);
}

/**
 * glove_git_protection_check:
 * @fd: what is to be granted for writing
 *
 * Returns: FALSE with %GLOVE_ERROR_DENIED when git on the host acts on what is written there
 *
 * Since: 1.0
 */
gboolean
glove_git_protection_check (int fd, const char *host_path, GError **error)
{
  Above above = { NULL };
  g_autofree char *folder = NULL;
  g_autofree char *repository = NULL;
  g_autofree char *name = g_path_get_basename (host_path);
  glove_autofd int folder_fd = -1;
  struct stat st;
  gboolean complete = FALSE;
  gboolean pointer = FALSE;

  if (fstat (fd, &st) < 0)
    {
      glove_error_set_errno (error, errno, "looking at a pinned object");
      return FALSE;
    }
  pointer = !S_ISDIR (st.st_mode) && strcmp (name, ".git") == 0;
  folder = S_ISDIR (st.st_mode) ? g_strdup (host_path) : g_path_get_dirname (host_path);
  folder_fd = open (folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_fd >= 0)
    (void) glove_path_pin_walk_up (folder_fd, visit_above, &above, &complete);
  repository = above.repository;
  if (pointer || (repository != NULL && is_acted_on (host_path, repository)))
    {
      g_autofree char *quoted = glove_path_pin_quote (host_path);

      glove_error_set (error, GLOVE_ERROR_DENIED, "%s can't be granted for writing: git on the host acts on what it says", quoted);
      glove_error_set_hint (error, "grant it for reading, or add --allow-git-config");
      return FALSE;
    }
  return TRUE;
}
