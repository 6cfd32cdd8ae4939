/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-restricted-paths.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-path.h"
#include "glove-wire-names-private.h"

typedef enum {
  KIND_TREE,   /* it and all in it, for reading too */
  KIND_EXACT,  /* it, but not what lies in it */
  KIND_SYSTEM, /* it and all in it, for writing */
} Kind;

typedef struct {
  Kind kind;
  const char *path;
  const char *why;
  const char *repair;
} Rule;

#define REPAIR_KERNEL "the sandbox has its own; grant something else"
#define REPAIR_SECRET "nothing lets an agent see it; hand over what it needs with --env or a file of its own"
#define REPAIR_PRIVATE "the sandbox has a private one; grant a folder in it"
#define REPAIR_HOME "grant a folder in it, not the whole of it"
#define REPAIR_CONTAINS "grant only what is needed of what lies in it"
#define REPAIR_SYSTEM "what is written there runs as somebody else later; grant a folder of yours"

static const Rule rules[] = {
  { KIND_TREE, "/dev", "it holds devices", REPAIR_KERNEL },
  { KIND_TREE, "/proc", "it shows the host's processes", REPAIR_KERNEL },
  { KIND_TREE, "/run", "it holds the sockets and secrets of running services", REPAIR_KERNEL },
  { KIND_TREE, "/sys", "it controls the kernel", REPAIR_KERNEL },
  { KIND_TREE, "/etc/gshadow", "it holds passwords", REPAIR_SECRET },
  { KIND_TREE, "/etc/gshadow-", "it holds passwords", REPAIR_SECRET },
  { KIND_TREE, "/etc/shadow", "it holds passwords", REPAIR_SECRET },
  { KIND_TREE, "/etc/shadow-", "it holds passwords", REPAIR_SECRET },
  { KIND_TREE, "/etc/security/opasswd", "it holds passwords", REPAIR_SECRET },
  { KIND_TREE, "/etc/krb5.keytab", "it holds keys", REPAIR_SECRET },
  { KIND_TREE, "/etc/ssh", "it holds the host's keys", REPAIR_SECRET },
  { KIND_TREE, "/etc/ssl/private", "it holds the host's keys", REPAIR_SECRET },
  { KIND_TREE, "/etc/sudoers", "it says who may become root", REPAIR_SECRET },
  { KIND_TREE, "/etc/sudoers.d", "it says who may become root", REPAIR_SECRET },
  { KIND_EXACT, "/root", "it is a whole home", REPAIR_HOME },
  { KIND_EXACT, "/var/root", "it is a whole home", REPAIR_HOME },
  { KIND_EXACT, "/home", "it holds whole homes", REPAIR_HOME },
  { KIND_EXACT, "/Users", "it holds whole homes", REPAIR_HOME },
  { KIND_EXACT, "/tmp", "everybody on the host uses it", REPAIR_PRIVATE },
  { KIND_EXACT, "/var/tmp", "everybody on the host uses it", REPAIR_PRIVATE },
  { KIND_SYSTEM, "/bin", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/boot", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/efi", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/etc", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/lib", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/lib32", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/lib64", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/libx32", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/sbin", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/usr", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/var/lib/dpkg", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/var/lib/rpm", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/var/lib/systemd", "it is the system's", REPAIR_SYSTEM },
  { KIND_SYSTEM, "/var/spool/cron", "it is the system's", REPAIR_SYSTEM },
};

/* contracts §5.2; nobody's project has a need for one of them. */
static const char *const secret_names[] = { ".aws", ".azure", ".gnupg", ".kube", GLOVE_WIRE_RESTRICTED_CONTROLLER,
                                           ".ssh", NULL };

/* An object that exists, so that another path to it (a bind mount, a link) is refused too. */
typedef struct {
  GloveFileIdentity identity;
  Kind kind;
  const Rule *rule;
} Object;

struct _GloveRestrictedPaths {
  char *home;     /* as the user database says, links resolved */
  Rule home_rule; /* points to @home */
  GArray *objects; /* of Object */
};

static const Rule secret_rule = { KIND_TREE, NULL, "it holds credentials", REPAIR_SECRET };
static const Rule above_rule = { KIND_EXACT, NULL, "it contains what may never be granted", REPAIR_CONTAINS };
static const Rule root_rule = { KIND_EXACT, "/", "it is the whole host", "grant the folders that are needed" };

static void
add_object (GloveRestrictedPaths *self, const char *path, Kind kind, const Rule *rule)
{
  glove_autofd int fd = open (path, O_PATH | O_CLOEXEC);
  Object object = { .kind = kind, .rule = rule };

  if (fd >= 0 && glove_path_pin_identify (fd, &object.identity, NULL))
    g_array_append_val (self->objects, object);
}

/* With the folders above it, which contain it under whatever name they have. */
static void
add_objects (GloveRestrictedPaths *self, const char *path, Kind kind, const Rule *rule)
{
  g_autofree char *above = g_path_get_dirname (path);
  struct stat st;

  add_object (self, path, kind, rule);
  if (kind == KIND_SYSTEM || lstat (path, &st) < 0)
    return;
  for (; strcmp (above, "/") != 0;)
    {
      char *next = g_path_get_dirname (above);

      add_object (self, above, KIND_EXACT, &above_rule);
      g_free (above);
      above = next;
    }
}

/* The home of whoever runs this. $HOME is not asked: it is the caller's to choose. */
static char *
dup_home (void)
{
  g_autofree char *buffer = g_malloc (GLOVE_AUDIT_LINE_MAX);
  struct passwd entry;
  struct passwd *found = NULL;

  if (getpwuid_r (geteuid (), &entry, buffer, GLOVE_AUDIT_LINE_MAX, &found) != 0 || found == NULL
      || found->pw_dir == NULL || found->pw_dir[0] != '/')
    return NULL;
  return g_strdup (found->pw_dir);
}

static void
add_home (GloveRestrictedPaths *self, const char *home)
{
  g_auto (GlovePathPin) pin = GLOVE_PATH_PIN_INIT;

  if (home == NULL || !glove_path_pin_open (&pin, home, NULL) || strcmp (pin.host_path, "/") == 0)
    return;
  self->home = g_strdup (pin.host_path);
  self->home_rule = (Rule){ KIND_EXACT, self->home, "it is your whole home", REPAIR_HOME };
  add_objects (self, self->home, KIND_EXACT, &self->home_rule);
  for (guint i = 0; secret_names[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (self->home, secret_names[i], NULL);

      add_object (self, path, KIND_TREE, &secret_rule);
    }
}

/**
 * glove_restricted_paths_new:
 * @home: (nullable): the operator's home; %NULL: as the user database says
 *
 * Returns: (transfer full): the table
 *
 * Since: 1.0
 */
GloveRestrictedPaths *
glove_restricted_paths_new (const char *home)
{
  GloveRestrictedPaths *self = g_new0 (GloveRestrictedPaths, 1);
  g_autofree char *own = home == NULL ? dup_home () : NULL;

  self->objects = g_array_new (FALSE, FALSE, sizeof (Object));
  add_object (self, "/", KIND_EXACT, &root_rule);
  for (gsize i = 0; i < G_N_ELEMENTS (rules); i++)
    add_objects (self, rules[i].path, rules[i].kind, &rules[i]);
  add_home (self, home != NULL ? home : own);
  return self;
}

void
glove_restricted_paths_free (GloveRestrictedPaths *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->objects);
  g_free (self->home);
  g_free (self);
}

static gboolean
refuse (const Rule *rule, const char *quoted, const char *relation, GError **error)
{
  if (rule->path != NULL && relation != NULL)
    glove_error_set (error, GLOVE_ERROR_DENIED, "%s can't be granted: it %s '%s', and %s", quoted, relation, rule->path,
                     rule->why);
  else
    glove_error_set (error, GLOVE_ERROR_DENIED, "%s can't be granted: %s", quoted, rule->why);
  glove_error_set_hint (error, "%s", g_strcmp0 (relation, "contains") == 0 ? REPAIR_CONTAINS : rule->repair);
  return FALSE;
}

/* /home/X and /Users/X, whoever's they are. */
static gboolean
is_a_home (const char *path)
{
  const char *rest = NULL;

  if (g_str_has_prefix (path, "/home/"))
    rest = path + strlen ("/home/");
  else if (g_str_has_prefix (path, "/Users/"))
    rest = path + strlen ("/Users/");
  return rest != NULL && rest[0] != '\0' && strchr (rest, '/') == NULL;
}

static gboolean
has_secret_component (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "/", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (g_strv_contains (secret_names, parts[i]))
      return TRUE;
  return FALSE;
}

static gboolean
exists (const char *path)
{
  struct stat st;

  return lstat (path, &st) == 0;
}

static gboolean
check_rule (const Rule *rule, const char *path, GloveGrantAccess access, const char *quoted, GError **error)
{
  if (rule->kind == KIND_SYSTEM && access != GLOVE_GRANT_WRITE)
    return TRUE;
  if (strcmp (path, rule->path) == 0)
    return refuse (rule, quoted, NULL, error);
  if (rule->kind != KIND_EXACT && glove_path_contains (rule->path, path))
    return refuse (rule, quoted, "lies in", error);
  if (glove_path_contains (path, rule->path) && exists (rule->path))
    return refuse (rule, quoted, "contains", error);
  return TRUE;
}

/* By path: what is typed is most often simply that. */
static gboolean
check_path (const GloveRestrictedPaths *self, const char *path, GloveGrantAccess access, const char *quoted, GError **error)
{
  static const Rule home_rule = { KIND_EXACT, NULL, "it is a whole home", REPAIR_HOME };

  if (strcmp (path, "/") == 0)
    return refuse (&root_rule, quoted, NULL, error);
  if (has_secret_component (path))
    return refuse (&secret_rule, quoted, NULL, error);
  if (self->home != NULL && !check_rule (&self->home_rule, path, access, quoted, error))
    return FALSE;
  if (is_a_home (path))
    return refuse (&home_rule, quoted, NULL, error);
  for (gsize i = 0; i < G_N_ELEMENTS (rules); i++)
    if (!check_rule (&rules[i], path, access, quoted, error))
      return FALSE;
  return TRUE;
}

static const Object *
find_object (const GloveRestrictedPaths *self, const GloveFileIdentity *identity, GloveGrantAccess access, gboolean above)
{
  for (guint i = 0; i < self->objects->len; i++)
    {
      const Object *object = &g_array_index (self->objects, Object, i);

      if ((above && object->kind == KIND_EXACT) || (object->kind == KIND_SYSTEM && access != GLOVE_GRANT_WRITE))
        continue;
      if (glove_file_identity_same_object (&object->identity, identity))
        return object;
    }
  return NULL;
}

gboolean
glove_restricted_paths_is_restricted_object (const GloveRestrictedPaths *self, const GloveFileIdentity *identity,
                                             GloveGrantAccess access)
{
  return find_object (self, identity, access, FALSE) != NULL;
}

const char *const *
glove_restricted_paths_list_secret_names (void)
{
  return secret_names;
}

typedef struct {
  const GloveRestrictedPaths *self;
  GloveGrantAccess access;
  const Object *found;
} Search;

static gboolean
visit_above (const GloveFileIdentity *identity, int fd, gpointer user_data)
{
  Search *search = user_data;

  search->found = find_object (search->self, identity, search->access, TRUE);
  return search->found == NULL;
}

/* By identity: the object itself, and the folders it lies in. */
static gboolean
check_objects (const GloveRestrictedPaths *self, const GlovePathPin *pin, GloveGrantAccess access, const char *quoted,
               GError **error)
{
  const Object *object = find_object (self, &pin->identity, access, FALSE);
  Search search = { self, access, NULL };
  g_autofree char *folder = NULL;
  glove_autofd int fd = -1;
  gboolean complete = FALSE;

  if (object != NULL)
    return refuse (object->rule, quoted, "is the same as", error);
  folder = S_ISDIR (pin->identity.mode) ? g_strdup (pin->host_path) : g_path_get_dirname (pin->host_path);
  fd = open (folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || glove_path_pin_walk_up (fd, visit_above, &search, &complete))
    return TRUE;
  return refuse (search.found->rule, quoted, "lies in", error);
}

/**
 * glove_restricted_paths_check:
 *
 * Returns: whether @pin may be granted; else %GLOVE_ERROR_DENIED, which names the thing, the rule and the repair
 *
 * Since: 1.0
 */
gboolean
glove_restricted_paths_check (const GloveRestrictedPaths *self, const GlovePathPin *pin, GloveGrantAccess access,
                              const char *quoted, GError **error)
{
  return check_path (self, pin->host_path, access, quoted, error) && check_objects (self, pin, access, quoted, error);
}
