/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-encoder.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "glove-linux-files.h"
#include "glove-linux-quota.h"

/* The root holds mount points and the spec's own small files; it is read-only once the agent runs. */
#define ROOT_BYTES (64u * 1024 * 1024)
#define ROOT_INODES 65536u
#define SHM_INODES 16384u

typedef struct {
  GByteArray *bytes;
  GError *error; /* the first one; nothing is appended after it */
} Writer;

static void
writer_clear (Writer *writer)
{
  g_clear_pointer (&writer->bytes, g_byte_array_unref);
  g_clear_error (&writer->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Writer, writer_clear)

static void
put_raw (Writer *writer, const void *data, gsize length)
{
  if (writer->error != NULL)
    return;
  if (length > GLOVE_LAUNCH_SPEC_MAX - writer->bytes->len)
    {
      glove_error_set (&writer->error, GLOVE_ERROR_LIMIT, "the launch specification has more than %u bytes",
                       GLOVE_LAUNCH_SPEC_MAX);
      return;
    }
  g_byte_array_append (writer->bytes, data, (guint) length);
}

static void
put_u32 (Writer *writer, guint32 value)
{
  guint32 big = GUINT32_TO_BE (value);

  put_raw (writer, &big, sizeof big);
}

static void
put_u64 (Writer *writer, guint64 value)
{
  guint64 big = GUINT64_TO_BE (value);

  put_raw (writer, &big, sizeof big);
}

static void
put_fd (Writer *writer, int fd)
{
  put_u32 (writer, fd < 0 ? GLOVE_LAUNCH_NO_FD : (guint32) fd);
}

static void
put_bytes (Writer *writer, const char *what, const void *data, gsize length, gsize max)
{
  if (writer->error != NULL)
    return;
  if (length > max)
    {
      glove_error_set (&writer->error, GLOVE_ERROR_LIMIT, "%s has %" G_GSIZE_FORMAT " bytes, more than %" G_GSIZE_FORMAT,
                       what, length, max);
      return;
    }
  put_u32 (writer, (guint32) length);
  put_raw (writer, data, length);
}

static void
put_string (Writer *writer, const char *what, const char *text)
{
  if (text == NULL)
    text = "";
  put_bytes (writer, what, text, strlen (text), GLOVE_LAUNCH_STRING_MAX);
}

static void
put_count (Writer *writer, const char *what, gsize count, gsize max)
{
  if (writer->error != NULL)
    return;
  if (count > max)
    {
      glove_error_set (&writer->error, GLOVE_ERROR_LIMIT, "%" G_GSIZE_FORMAT " %s, more than %" G_GSIZE_FORMAT, count, what,
                       max);
      return;
    }
  put_u32 (writer, (guint32) count);
}

static void
put_strv (Writer *writer, const char *what, char **strv, gsize max)
{
  gsize n = strv != NULL ? g_strv_length (strv) : 0;

  put_count (writer, what, n, max);
  for (gsize i = 0; i < n; i++)
    put_string (writer, what, strv[i]);
}

/* One inode for each page, so that many small files fit; an inode costs the kernel about as much as a quarter of a page. */
static guint32
inodes_for (guint64 bytes)
{
  return bytes == 0 ? 0 : (guint32) CLAMP (bytes / 4096, 4096, 1u << 20);
}

static void
put_sizes (Writer *writer, const GloveLimits *limits)
{
  put_u64 (writer, ROOT_BYTES);
  put_u64 (writer, limits->value[GLOVE_LIMIT_HOME_SIZE]);
  put_u64 (writer, limits->value[GLOVE_LIMIT_TMP_SIZE]);
  put_u64 (writer, limits->value[GLOVE_LIMIT_SHM_SIZE]);
  put_u32 (writer, ROOT_INODES);
  put_u32 (writer, inodes_for (limits->value[GLOVE_LIMIT_HOME_SIZE]));
  put_u32 (writer, inodes_for (limits->value[GLOVE_LIMIT_TMP_SIZE]));
  put_u32 (writer, SHM_INODES);
}

static void
put_quotas (Writer *writer, const GloveLaunchSpec *spec, gboolean pids)
{
  g_autoptr (GArray) rlimits = glove_linux_quota_list_rlimits (&spec->limits, pids);
  g_autoptr (GArray) quotas = glove_linux_quota_list_user ();

  put_count (writer, "resource limits", rlimits->len, GLOVE_LAUNCH_RLIMITS_MAX);
  for (guint i = 0; i < rlimits->len; i++)
    {
      const GloveLinuxRlimit *limit = &g_array_index (rlimits, GloveLinuxRlimit, i);

      put_u32 (writer, limit->resource);
      put_u64 (writer, limit->soft);
      put_u64 (writer, limit->hard);
    }
  put_count (writer, "namespace quotas", quotas->len, GLOVE_LAUNCH_QUOTAS_MAX);
  for (guint i = 0; i < quotas->len; i++)
    {
      const GloveLinuxUserQuota *quota = &g_array_index (quotas, GloveLinuxUserQuota, i);

      put_string (writer, "the name of a quota", quota->name);
      put_u64 (writer, quota->value);
    }
}

static guint32
access_of (GloveGrantAccess access)
{
  switch (access)
    {
    case GLOVE_GRANT_READ:
      return GLOVE_LAUNCH_ACCESS_READ;
    case GLOVE_GRANT_WRITE:
      return GLOVE_LAUNCH_ACCESS_WRITE;
    case GLOVE_GRANT_MASK:
      return GLOVE_LAUNCH_ACCESS_MASK;
    default:
      g_return_val_if_reached (GLOVE_LAUNCH_ACCESS_READ);
    }
}

static void
put_grants (Writer *writer, const GloveLaunchSpec *spec, const GloveLinuxEncodedGrant *encoded)
{
  guint n = spec->grants != NULL ? spec->grants->len : 0;

  put_count (writer, "grants", n, GLOVE_LAUNCH_GRANTS_MAX);
  for (guint i = 0; i < n; i++)
    {
      const GloveGrant *grant = g_ptr_array_index (spec->grants, i);
      guint32 flags = 0;

      /* What covers is always an empty file of the launcher's. */
      if (S_ISDIR (grant->identity.mode) && grant->access != GLOVE_GRANT_MASK)
        flags |= GLOVE_LAUNCH_GRANT_DIRECTORY;
      if (encoded[i].detached)
        flags |= GLOVE_LAUNCH_GRANT_DETACHED;
      put_u32 (writer, access_of (grant->access));
      put_u32 (writer, flags);
      put_fd (writer, encoded[i].fd);
      put_string (writer, "the path of a grant", grant->host_path);
      put_string (writer, "the target of a grant", grant->target_path);
      put_u64 (writer, grant->identity.dev);
      put_u64 (writer, grant->identity.ino);
      put_u32 (writer, grant->identity.mode);
    }
}

static void
put_file (Writer *writer, guint32 flags, guint32 mode, const char *path, GBytes *content)
{
  gsize length = 0;
  const void *data = content != NULL ? g_bytes_get_data (content, &length) : NULL;

  put_u32 (writer, flags);
  put_u32 (writer, mode);
  put_string (writer, "the path of a file", path);
  put_bytes (writer, "a file of the private home", data != NULL ? data : "", length, GLOVE_LAUNCH_FILE_BYTES_MAX);
}

static void
put_files (Writer *writer, const GloveLaunchSpec *spec)
{
  g_autoptr (GPtrArray) system_files = glove_linux_files_list ();
  const GPtrArray *entries = spec->home != NULL ? glove_runtime_home_get_entries (spec->home) : NULL;

  put_count (writer, "files", system_files->len + (entries != NULL ? entries->len : 0), GLOVE_LAUNCH_FILES_MAX);
  for (guint i = 0; i < system_files->len; i++)
    {
      const GloveLinuxFile *file = g_ptr_array_index (system_files, i);

      put_file (writer, GLOVE_LAUNCH_FILE_OWNER_ROOT, 0444, file->path, file->content);
    }
  for (guint i = 0; entries != NULL && i < entries->len; i++)
    {
      const GloveRuntimeHomeEntry *entry = g_ptr_array_index (entries, i);
      g_autofree char *path = g_strconcat (GLOVE_HOME_DIRECTORY "/", entry->path, NULL);

      put_file (writer, entry->content == NULL ? GLOVE_LAUNCH_FILE_DIRECTORY : 0, entry->mode, path, entry->content);
    }
}

static void
put_listeners (Writer *writer, const GloveLaunchSpec *spec)
{
  guint n = spec->listeners != NULL ? spec->listeners->len : 0;

  put_count (writer, "listeners", n, GLOVE_LAUNCH_LISTENERS_MAX);
  for (guint i = 0; i < n; i++)
    {
      const GloveLaunchListener *listener = &g_array_index (spec->listeners, GloveLaunchListener, i);

      put_u32 (writer, listener->tag);
      put_u32 (writer, listener->port);
    }
}

static void
put_head (Writer *writer, const GloveLaunchSpec *spec, const GloveLinuxEncoding *encoding)
{
  const GloveLinuxEncodedFds *fds = &encoding->fds;

  put_raw (writer, GLOVE_LAUNCH_MAGIC, 8);
  put_u32 (writer, GLOVE_LAUNCH_VERSION);
  put_u32 (writer, 0); /* the length, known at the end */
  put_u32 (writer, encoding->flags | (spec->tty ? GLOVE_LAUNCH_FLAG_TTY : 0));
  put_u32 (writer, GLOVE_LINUX_INNER_UID);
  put_u32 (writer, GLOVE_LINUX_INNER_GID);
  put_u32 (writer, encoding->host_uid);
  put_u32 (writer, encoding->host_gid);
  put_u32 (writer, spec->tty ? spec->rows : 0);
  put_u32 (writer, spec->tty ? spec->columns : 0);
  put_fd (writer, fds->monitor);
  put_fd (writer, fds->egress);
  put_fd (writer, fds->in);
  put_fd (writer, fds->out);
  put_fd (writer, fds->err);
  put_fd (writer, fds->cgroup);
  put_fd (writer, fds->cgroup_parent);
  put_string (writer, "the name of the control group", encoding->cgroup_name);
  put_string (writer, "the host name", GLOVE_LINUX_HOST_NAME);
  put_string (writer, "the working directory", spec->work_dir);
  put_string (writer, "the executable", spec->executable);
  put_string (writer, "the home directory", GLOVE_HOME_DIRECTORY);
}

GBytes *
glove_linux_encoder_encode (const GloveLaunchSpec *spec, const GloveLinuxEncoding *encoding, GError **error)
{
  g_auto (Writer) writer = { g_byte_array_new (), NULL };
  guint32 length;

  put_head (&writer, spec, encoding);
  put_sizes (&writer, &spec->limits);
  put_quotas (&writer, spec, encoding->count_pids_by_rlimit);
  put_strv (&writer, "arguments", spec->argv, GLOVE_LAUNCH_ARGV_MAX);
  put_strv (&writer, "environment variables", spec->env, GLOVE_LAUNCH_ENV_MAX);
  put_grants (&writer, spec, encoding->grants);
  put_files (&writer, spec);
  put_listeners (&writer, spec);
  if (writer.error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&writer.error));
      return NULL;
    }
  length = GUINT32_TO_BE (writer.bytes->len);
  memcpy (writer.bytes->data + 12, &length, sizeof length);
  return g_byte_array_free_to_bytes (g_steal_pointer (&writer.bytes));
}
