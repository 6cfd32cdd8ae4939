/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-backend.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "glove-linux-cgroup-session.h"
#include "glove-linux-cgroup.h"
#include "glove-linux-encoder.h"
#include "glove-linux-fd.h"
#include "glove-linux-idmap.h"
#include "glove-linux-launcher.h"
#include "glove-linux-mechanisms.h"
#include "glove-linux-monitor.h"
#include "glove-linux-probe.h"
#include "glove-linux-sandbox.h"

#define PIPEFS_MAGIC 0x50495045

struct _GloveLinuxBackend {
  GObject parent_instance;
  GHashTable *settings;
  char *launcher;
  GloveLinuxCgroup *cgroup; /* claimed at the first session that needs it */
};

enum { PROP_0, PROP_SETTINGS, N_PROPS };

static GParamSpec *props[N_PROPS];

static void glove_linux_backend_iface_init (GloveSandboxBackendInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (GloveLinuxBackend, glove_linux_backend, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_SANDBOX_BACKEND, glove_linux_backend_iface_init))

/* What one prepare holds until the launcher has it. */
typedef struct {
  GloveLinuxEncoding encoding;
  GloveLinuxEncodedGrant *grants;
  GArray *inherited; /* of int, borrowed */
  GArray *mounts;    /* of int, owned: detached mounts */
  GloveLinuxIdmap *idmap;
  GloveLinuxCgroupSession *cgroup;
  int monitor[2], egress[2];
} Preparation;

static void
close_mount (int *fd)
{
  glove_linux_fd_clear (fd);
}

static void
preparation_init (Preparation *self)
{
  *self = (Preparation){ .monitor = { -1, -1 }, .egress = { -1, -1 } };
  self->encoding.fds = (GloveLinuxEncodedFds){ -1, -1, -1, -1, -1, -1, -1 };
  self->inherited = g_array_new (FALSE, FALSE, sizeof (int));
  self->mounts = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_set_clear_func (self->mounts, (GDestroyNotify) close_mount);
}

static void
preparation_clear (Preparation *self)
{
  g_free (self->grants);
  g_array_unref (self->inherited);
  g_array_unref (self->mounts);
  g_clear_object (&self->idmap);
  g_clear_object (&self->cgroup);
  for (gsize i = 0; i < 2; i++)
    {
      glove_linux_fd_clear (&self->monitor[i]);
      glove_linux_fd_clear (&self->egress[i]);
    }
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Preparation, preparation_clear)

/* Lists @fd among the inherited ones; returned unchanged. */
static int
inherit (Preparation *self, int fd)
{
  if (fd >= 0)
    g_array_append_val (self->inherited, fd);
  return fd;
}

/* The agent's own pipes are opened again by name (/dev/stdout) as often as not, and a pipe belongs to who made it. Only nameless
 * ones: a fifo in the file system is the operator's. */
static void
give_pipe (int fd, guint32 uid, guint32 gid)
{
  struct statfs fs;
  struct stat st;

  if (fd >= 0 && fstatfs (fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC && fstat (fd, &st) == 0 && st.st_uid == geteuid ()
      && fchown (fd, uid, gid) < 0)
    g_debug ("a pipe stays ours: %s", g_strerror (errno));
}

static gboolean
prepare_ids (Preparation *self, const GloveLaunchSpec *spec, GError **error)
{
  guint32 id = 0;

  self->encoding.host_uid = geteuid ();
  self->encoding.host_gid = getegid ();
  if (geteuid () != 0 || spec->as_root_id)
    return TRUE;
  if (!glove_linux_idmap_choose_host_id (&id, error))
    return FALSE;
  self->encoding.host_uid = self->encoding.host_gid = id;
  self->encoding.flags |= GLOVE_LAUNCH_FLAG_MAP_ID;
  self->idmap = glove_linux_idmap_new (id);
  for (gsize i = 0; i < G_N_ELEMENTS (spec->stdio); i++)
    give_pipe (spec->stdio[i], id, id);
  return TRUE;
}

static gboolean
prepare_grants (Preparation *self, const GloveLaunchSpec *spec, GError **error)
{
  guint n = spec->grants != NULL ? spec->grants->len : 0;

  self->grants = g_new0 (GloveLinuxEncodedGrant, n);
  self->encoding.grants = self->grants;
  for (guint i = 0; i < n; i++)
    {
      const GloveGrant *grant = g_ptr_array_index (spec->grants, i);

      self->grants[i].fd = -1;
      if (grant->access == GLOVE_GRANT_MASK)
        continue; /* what covers it is the launcher's own */
      self->grants[i].fd = grant->fd;
      if (self->idmap != NULL)
        {
          int mount = glove_linux_idmap_open_grant (self->idmap, grant, error);

          if (mount < 0)
            return FALSE;
          g_array_append_val (self->mounts, mount);
          self->grants[i] = (GloveLinuxEncodedGrant){ mount, TRUE };
        }
      (void) inherit (self, self->grants[i].fd);
    }
  return TRUE;
}

static gboolean
prepare_sockets (Preparation *self, const GloveLaunchSpec *spec, GError **error)
{
  GloveLinuxEncodedFds *fds = &self->encoding.fds;

  if (!glove_linux_monitor_new_pair (self->monitor, error))
    return FALSE;
  if (spec->listeners != NULL && spec->listeners->len > 0 && !glove_linux_monitor_new_pair (self->egress, error))
    return FALSE;
  fds->monitor = inherit (self, self->monitor[1]);
  fds->egress = inherit (self, self->egress[1]);
  fds->in = inherit (self, spec->stdio[0]);
  fds->out = inherit (self, spec->stdio[1]);
  fds->err = inherit (self, spec->stdio[2]);
  return TRUE;
}

/* Fails for a limit that was asked for by name and that nothing here enforces. */
static gboolean
prepare_limits (GloveLinuxBackend *backend, Preparation *self, const GloveLaunchSpec *spec, GError **error)
{
  gboolean host_root = geteuid () == 0 && spec->as_root_id;
  g_auto (GloveLinuxMechanisms) mechanisms = { 0 };

  glove_linux_mechanisms_init (&mechanisms, backend->cgroup != NULL, host_root);
  if (!glove_linux_mechanisms_check (&mechanisms, &spec->limits, error))
    return FALSE;
  self->encoding.count_pids_by_rlimit = mechanisms.mechanism[GLOVE_LIMIT_PIDS] == GLOVE_LIMIT_MECHANISM_RLIMIT;
  if (!glove_linux_mechanisms_need_cgroup (&mechanisms, &spec->limits))
    return TRUE;
  if (backend->cgroup == NULL)
    {
      g_auto (GloveLinuxCgroupHost) host = { .root = -1 };

      (void) glove_linux_cgroup_host_init (&host);
      backend->cgroup = glove_linux_cgroup_claim (&host, error);
      if (backend->cgroup == NULL)
        return FALSE;
    }
  self->cgroup = glove_linux_cgroup_session_new (backend->cgroup, spec->session_id, &spec->limits, error);
  if (self->cgroup == NULL)
    return FALSE;
  self->encoding.fds.cgroup = inherit (self, glove_linux_cgroup_session_get_fd (self->cgroup));
  self->encoding.fds.cgroup_parent = inherit (self, glove_linux_cgroup_session_get_parent_fd (self->cgroup));
  self->encoding.cgroup_name = glove_linux_cgroup_session_get_name (self->cgroup);
  return TRUE;
}

static gboolean
launch (GloveLinuxBackend *self, Preparation *preparation, const GloveLaunchSpec *spec, GloveLinuxLaunch *ret_launch,
        GError **error)
{
  g_autoptr (GBytes) bytes = glove_linux_encoder_encode (spec, &preparation->encoding, error);
  glove_linux_autofd int launcher = -1;
  glove_linux_autofd int memory = -1;
  gsize length = 0;
  gconstpointer data;

  if (bytes == NULL)
    return FALSE;
  data = g_bytes_get_data (bytes, &length);
  memory = glove_linux_fd_new_sealed ("glove-launch-spec", data, length, error);
  launcher = memory >= 0 ? glove_linux_launcher_open (self->launcher, error) : -1;
  if (launcher < 0
      || !glove_linux_launcher_spawn (launcher, memory, (const int *) (gconstpointer) preparation->inherited->data,
                                      preparation->inherited->len, &ret_launch->pid, &ret_launch->pidfd, error))
    return FALSE;
  ret_launch->monitor = g_steal_fd (&preparation->monitor[0]);
  ret_launch->egress = g_steal_fd (&preparation->egress[0]);
  /* Theirs now: as long as we hold one, its end is never seen. */
  glove_linux_fd_clear (&preparation->monitor[1]);
  glove_linux_fd_clear (&preparation->egress[1]);
  return TRUE;
}

static GloveSandbox *
glove_linux_backend_prepare (GloveSandboxBackend *backend, GloveLaunchSpec *spec, GError **error)
{
  GloveLinuxBackend *self = GLOVE_LINUX_BACKEND (backend);
  g_auto (Preparation) preparation;
  GloveLinuxLaunch spawned = { 0, -1, -1, -1 };
  GloveLinuxSandbox *sandbox;

  preparation_init (&preparation);
  if (!prepare_ids (&preparation, spec, error) || !prepare_limits (self, &preparation, spec, error)
      || !prepare_grants (&preparation, spec, error) || !prepare_sockets (&preparation, spec, error)
      || !launch (self, &preparation, spec, &spawned, error))
    return NULL;
  sandbox = glove_linux_sandbox_new (spec, &spawned, preparation.cgroup, error);
  return sandbox != NULL ? GLOVE_SANDBOX (sandbox) : NULL;
}

static const char *
glove_linux_backend_get_backend_id (GloveSandboxBackend *backend)
{
  return "linux";
}

static void
glove_linux_backend_query_mechanisms (GloveSandboxBackend *backend, GloveLimitMechanism ret_mechanisms[GLOVE_N_LIMITS],
                                      char **ret_repairs)
{
  GloveLinuxBackend *self = GLOVE_LINUX_BACKEND (backend);
  g_auto (GloveLinuxMechanisms) mechanisms = { 0 };

  glove_linux_mechanisms_init (&mechanisms, self->cgroup != NULL, /* host_root= */ FALSE);
  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    {
      ret_mechanisms[i] = mechanisms.mechanism[i];
      if (ret_repairs != NULL)
        ret_repairs[i] = glove_linux_mechanisms_dup_repair (&mechanisms, i);
    }
}

static GPtrArray *
glove_linux_backend_probe (GloveSandboxBackend *backend, GCancellable *cancellable, GError **error)
{
  return glove_linux_probe_run (backend, GLOVE_LINUX_BACKEND (backend)->launcher, cancellable, error);
}

static void
glove_linux_backend_iface_init (GloveSandboxBackendInterface *iface)
{
  iface->get_backend_id = glove_linux_backend_get_backend_id;
  iface->probe = glove_linux_backend_probe;
  iface->query_mechanisms = glove_linux_backend_query_mechanisms;
  iface->prepare = glove_linux_backend_prepare;
}

static void
glove_linux_backend_constructed (GObject *object)
{
  GloveLinuxBackend *self = GLOVE_LINUX_BACKEND (object);
  const char *set = self->settings != NULL ? g_hash_table_lookup (self->settings, "launcher") : NULL;

  self->launcher = g_strdup (set != NULL && set[0] != '\0' ? set : GLOVE_LIBEXECDIR "/glove-launch");
  G_OBJECT_CLASS (glove_linux_backend_parent_class)->constructed (object);
}

static void
glove_linux_backend_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_SETTINGS)
    GLOVE_LINUX_BACKEND (object)->settings = g_value_dup_boxed (value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
glove_linux_backend_finalize (GObject *object)
{
  GloveLinuxBackend *self = GLOVE_LINUX_BACKEND (object);

  g_clear_pointer (&self->settings, g_hash_table_unref);
  g_clear_object (&self->cgroup);
  g_free (self->launcher);
  G_OBJECT_CLASS (glove_linux_backend_parent_class)->finalize (object);
}

static void
glove_linux_backend_class_init (GloveLinuxBackendClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = glove_linux_backend_constructed;
  object_class->set_property = glove_linux_backend_set_property;
  object_class->finalize = glove_linux_backend_finalize;
  props[PROP_SETTINGS] = g_param_spec_boxed ("settings", NULL, NULL, G_TYPE_HASH_TABLE,
                                             G_PARAM_WRITABLE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
glove_linux_backend_init (GloveLinuxBackend *self)
{
}
