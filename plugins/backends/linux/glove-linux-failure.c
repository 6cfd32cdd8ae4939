/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-failure.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "glove-linux-fd.h"
#include "glove-linux-files.h"

#define ANY_ERRNO 0
#define BY_ERRNO ((GloveError) -1) /* what the errno maps to */

typedef enum {
  NAME_NOTHING,
  NAME_GRANT,
  NAME_FILE,
  NAME_PROGRAM,
  NAME_WORK_DIR,
  NAME_LISTENER,
} Name;

/* One row a cause; the first that fits is taken, so a stage's rows with an errno stand before the one without. */
typedef struct {
  guint32 stage;
  int errsv;
  GloveError code;
  Name name;
  const char *what; /* "%s" is the name */
  const char *hint;
} Row;

#define CONTAINER_HINT                                                                                                   \
  "a container runtime hides parts of /proc: start the outer container with unmasked paths (podman: "                   \
  "--security-opt unmask=ALL; docker: --security-opt systempaths=unconfined), or run glove outside of it"
#define CLONE_HINT                                                                                                       \
  "an outer container or its system-call filter forbids namespaces: allow user namespaces there, or run glove outside of it"
#define LOOKUP_HINT                                                                                                      \
  "only the host's /usr and what is granted is seen: grant its directory with --read and give its full path, or install it"
#define REPORT_HINT "run “glove doctor”; if it finds nothing, this is a fault in glove"

static const Row rows[] = {
  { GLOVE_LAUNCH_STAGE_SPEC, ANY_ERRNO, GLOVE_ERROR_INVALID_DATA, NAME_NOTHING, "the launcher refuses the launch specification",
    "the launcher and the backend must be of one build: install glove again" },
  { GLOVE_LAUNCH_STAGE_CLONE, EPERM, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the host forbids new namespaces", CLONE_HINT },
  { GLOVE_LAUNCH_STAGE_CLONE, EINVAL, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the kernel lacks a kind of namespace",
    "run a kernel with user, mount, pid, network, ipc, uts and cgroup namespaces" },
  { GLOVE_LAUNCH_STAGE_CLONE, ENOSPC, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the limit on namespaces is reached",
    "raise user.max_user_namespaces and its neighbours below /proc/sys/user, or end other sandboxes" },
  { GLOVE_LAUNCH_STAGE_CLONE, EUSERS, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "namespaces are nested too deeply", CLONE_HINT },
  { GLOVE_LAUNCH_STAGE_CLONE, EAGAIN, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the limit on processes is reached",
    "end other processes, or raise the limit (ulimit -u, or pids.max of your control group)" },
  { GLOVE_LAUNCH_STAGE_CLONE, ANY_ERRNO, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "can't make the namespaces", CLONE_HINT },
  { GLOVE_LAUNCH_STAGE_USERNS_MAP, EPERM, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the host forbids the id map of a user namespace",
    CLONE_HINT },
  { GLOVE_LAUNCH_STAGE_USERNS_MAP, ANY_ERRNO, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "can't write the id map of the user namespace",
    REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_CGROUP, EACCES, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING,
    "the control group is not delegated as far as it must be",
    "start glove in a delegated one: systemd-run --user --scope -p Delegate=yes glove …" },
  { GLOVE_LAUNCH_STAGE_CGROUP, ANY_ERRNO, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "can't put the agent into its control group",
    "start glove in a delegated one: systemd-run --user --scope -p Delegate=yes glove …" },
  { GLOVE_LAUNCH_STAGE_LOOPBACK, EPERM, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING,
    "the host forbids setting up the network namespace", CLONE_HINT },
  { GLOVE_LAUNCH_STAGE_LOOPBACK, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't bring the loopback interface up", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_LISTEN, EADDRINUSE, GLOVE_ERROR_CONFLICT, NAME_LISTENER, "port %s is forwarded twice",
    "give each --forward a port of its own" },
  { GLOVE_LAUNCH_STAGE_LISTEN, EACCES, GLOVE_ERROR_PERMISSION, NAME_LISTENER, "port %s can't be listened on inside",
    "choose a port above 1023" },
  { GLOVE_LAUNCH_STAGE_LISTEN, ANY_ERRNO, BY_ERRNO, NAME_LISTENER, "can't listen on port %s inside", "choose another port" },
  { GLOVE_LAUNCH_STAGE_QUOTA, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't set the quotas of the user namespace", CONTAINER_HINT },
  { GLOVE_LAUNCH_STAGE_GRANT_OPEN, ENOENT, GLOVE_ERROR_CHANGED, NAME_GRANT, "the granted path “%s” is gone",
    "name a path that exists" },
  { GLOVE_LAUNCH_STAGE_GRANT_OPEN, ELOOP, GLOVE_ERROR_CHANGED, NAME_GRANT,
    "the granted path “%s” became a symbolic link while the sandbox was made", "find out who replaces it, and start again" },
  { GLOVE_LAUNCH_STAGE_GRANT_OPEN, EACCES, GLOVE_ERROR_PERMISSION, NAME_GRANT, "the granted path “%s” can't be reached",
    "you need search permission on every directory above it; FUSE mounts need -o allow_other" },
  { GLOVE_LAUNCH_STAGE_GRANT_OPEN, ANY_ERRNO, BY_ERRNO, NAME_GRANT, "can't open the granted path “%s”",
    "you need search permission on every directory above it" },
  { GLOVE_LAUNCH_STAGE_GRANT_CHANGED, ESTALE, GLOVE_ERROR_CHANGED, NAME_GRANT,
    "the granted path “%s” was replaced while the sandbox was made", "find out who replaces it, and start again" },
  { GLOVE_LAUNCH_STAGE_GRANT_CHANGED, ANY_ERRNO, GLOVE_ERROR_CHANGED, NAME_GRANT,
    "the granted path “%s” was replaced while the sandbox was made", "find out who replaces it, and start again" },
  { GLOVE_LAUNCH_STAGE_GRANT_CLONE, EINVAL, GLOVE_ERROR_NOT_SUPPORTED, NAME_GRANT,
    "the mount that holds “%s” can't be bound (it is unbindable, or a mount below it is locked)",
    "grant a path on another mount" },
  { GLOVE_LAUNCH_STAGE_GRANT_CLONE, ANY_ERRNO, BY_ERRNO, NAME_GRANT, "can't bind the granted path “%s”",
    "grant a path on another mount" },
  { GLOVE_LAUNCH_STAGE_GRANT_SEAL, ANY_ERRNO, BY_ERRNO, NAME_GRANT, "can't restrict the mount of “%s”",
    "a mount below it can't be made read-only: grant a path on another mount" },
  { GLOVE_LAUNCH_STAGE_GRANT_TARGET, EROFS, GLOVE_ERROR_CONFLICT, NAME_GRANT,
    "there is no place to mount “%s”: it lies below a read-only grant in which it does not exist",
    "grant the directory that it lies in, or make it first" },
  { GLOVE_LAUNCH_STAGE_GRANT_TARGET, ENOTDIR, GLOVE_ERROR_CONFLICT, NAME_GRANT,
    "there is no place to mount “%s”: something above it is a file", "grant it at another place" },
  { GLOVE_LAUNCH_STAGE_GRANT_TARGET, ENOSPC, GLOVE_ERROR_NO_SPACE, NAME_GRANT, "there is no room for the mount point of “%s”",
    "grant fewer paths" },
  { GLOVE_LAUNCH_STAGE_GRANT_TARGET, ANY_ERRNO, BY_ERRNO, NAME_GRANT, "can't make the mount point of “%s”",
    "grant it at another place" },
  { GLOVE_LAUNCH_STAGE_GRANT_ATTACH, ENOSPC, GLOVE_ERROR_NO_SPACE, NAME_GRANT,
    "there are too many mounts to attach “%s”", "raise fs.mount-max, or grant fewer paths" },
  { GLOVE_LAUNCH_STAGE_GRANT_ATTACH, ANY_ERRNO, BY_ERRNO, NAME_GRANT, "can't attach “%s”", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_ROOT, ENODEV, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the kernel has no tmpfs",
    "run a kernel with tmpfs" },
  { GLOVE_LAUNCH_STAGE_ROOT, EACCES, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "a security module forbids mounts in the sandbox",
    "allow mounts for the launcher in the security module's profile" },
  { GLOVE_LAUNCH_STAGE_ROOT, EPERM, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the host forbids mounts in a user namespace",
    CLONE_HINT },
  { GLOVE_LAUNCH_STAGE_ROOT, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't make the root of the sandbox", CLONE_HINT },
  { GLOVE_LAUNCH_STAGE_SYSTEM, ENOENT, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the host has no /usr to show",
    "glove shows the host's /usr inside: run it on a system that has one" },
  { GLOVE_LAUNCH_STAGE_SYSTEM, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't show the host's /usr inside", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_ETC, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't lay out /etc of the sandbox", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_DEV, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't lay out /dev of the sandbox",
    "the host's /dev must have null, zero, full, random, urandom and tty" },
  { GLOVE_LAUNCH_STAGE_DEVPTS, ENODEV, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the kernel has no devpts",
    "run a kernel with devpts" },
  { GLOVE_LAUNCH_STAGE_DEVPTS, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't mount a private devpts",
    "run a kernel with devpts, and allow mounts for the launcher" },
  { GLOVE_LAUNCH_STAGE_PROC, EPERM, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING,
    "can't mount a private /proc: the one outside is masked, so the kernel finds a new mount too revealing", CONTAINER_HINT },
  { GLOVE_LAUNCH_STAGE_PROC, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't mount a private /proc", CONTAINER_HINT },
  { GLOVE_LAUNCH_STAGE_PROC_SEAL, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't close the dangerous parts of /proc", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_TMPFS, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't make the private home, /tmp or /dev/shm",
    "give smaller sizes (--limit home-size=…, tmp-size=…, shm-size=…)" },
  { GLOVE_LAUNCH_STAGE_FILE, ENOSPC, GLOVE_ERROR_NO_SPACE, NAME_FILE, "the private home has no room for “%s”",
    "raise --limit home-size" },
  { GLOVE_LAUNCH_STAGE_FILE, ANY_ERRNO, BY_ERRNO, NAME_FILE, "can't write “%s” inside", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_PIVOT, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't change to the sandbox's root", CLONE_HINT },
  { GLOVE_LAUNCH_STAGE_TERMINAL, ENOSPC, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the host has no terminal left",
    "raise kernel.pty.max, or start with --no-tty" },
  { GLOVE_LAUNCH_STAGE_TERMINAL, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't make a terminal", "start with --no-tty" },
  { GLOVE_LAUNCH_STAGE_RLIMIT, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't set a resource limit",
    "ask for no more than your own hard limits allow (ulimit -aH)" },
  { GLOVE_LAUNCH_STAGE_CREDENTIALS, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't drop the privileges of the agent", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_LANDLOCK, ANY_ERRNO, BY_ERRNO, NAME_NOTHING,
    "Landlock is there and can't be put into force", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_SECCOMP, EINVAL, GLOVE_ERROR_UNAVAILABLE, NAME_NOTHING, "the kernel has no system-call filters",
    "run a kernel with CONFIG_SECCOMP_FILTER" },
  { GLOVE_LAUNCH_STAGE_SECCOMP, ANY_ERRNO, BY_ERRNO, NAME_NOTHING, "can't put the system-call filter into force", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_WORK_DIR, ENOENT, GLOVE_ERROR_INVALID_ARGUMENT, NAME_WORK_DIR,
    "the working directory “%s” does not exist inside", "grant it with --workspace, --read or --write" },
  { GLOVE_LAUNCH_STAGE_WORK_DIR, ANY_ERRNO, BY_ERRNO, NAME_WORK_DIR, "can't enter the working directory “%s”",
    "the agent needs search permission on it" },
  { GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, EACCES, GLOVE_ERROR_NOT_EXECUTABLE, NAME_PROGRAM, "“%s” is in PATH and not executable",
    "chmod +x it, or name another program" },
  { GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, ENOENT, GLOVE_ERROR_NOT_FOUND, NAME_PROGRAM, "there is no program “%s” inside",
    LOOKUP_HINT },
  { GLOVE_LAUNCH_STAGE_EXEC_LOOKUP, ANY_ERRNO, GLOVE_ERROR_NOT_FOUND, NAME_PROGRAM, "can't look up the program “%s” inside",
    LOOKUP_HINT },
  { GLOVE_LAUNCH_STAGE_EXEC, ENOENT, GLOVE_ERROR_NOT_EXECUTABLE, NAME_PROGRAM,
    "“%s” is there, but its interpreter is not seen inside",
    "its first line or its ELF header names an interpreter outside of what is granted: grant that with --read" },
  { GLOVE_LAUNCH_STAGE_EXEC, EACCES, GLOVE_ERROR_NOT_EXECUTABLE, NAME_PROGRAM, "“%s” is not executable for the agent",
    "chmod +x it; on a mount with noexec nothing can be executed" },
  { GLOVE_LAUNCH_STAGE_EXEC, ENOEXEC, GLOVE_ERROR_NOT_EXECUTABLE, NAME_PROGRAM,
    "“%s” is neither a program of this machine nor a script with an interpreter line", "run it by its interpreter" },
  { GLOVE_LAUNCH_STAGE_EXEC, E2BIG, GLOVE_ERROR_LIMIT, NAME_PROGRAM, "the arguments of “%s” are too long",
    "pass them in a file or on standard input" },
  { GLOVE_LAUNCH_STAGE_EXEC, ANY_ERRNO, GLOVE_ERROR_NOT_EXECUTABLE, NAME_PROGRAM, "can't execute “%s”",
    "name another program" },
  { GLOVE_LAUNCH_STAGE_SUPERVISOR_GONE, ANY_ERRNO, GLOVE_ERROR_CLOSED, NAME_NOTHING,
    "the launcher lost its supervisor", REPORT_HINT },
  { GLOVE_LAUNCH_STAGE_INTERNAL, ANY_ERRNO, GLOVE_ERROR_FAILED, NAME_NOTHING, "the launcher failed", REPORT_HINT },
};

static gboolean
read_number (const char *path, guint64 *ret_value)
{
  g_autofree char *text = glove_linux_fd_read_text_at (AT_FDCWD, path, /* error= */ NULL);

  return text != NULL && g_ascii_string_to_unsigned (g_strchomp (text), 10, 0, G_MAXUINT64, ret_value, NULL);
}

void
glove_linux_failure_host_init (GloveLinuxFailureHost *self)
{
  guint64 value = 0;

  *self = (GloveLinuxFailureHost){ .privileged = geteuid () == 0 };
  if (read_number ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", &value))
    self->apparmor_restricts = value != 0;
  if (read_number ("/proc/sys/kernel/unprivileged_userns_clone", &value))
    self->clone_disabled = value == 0;
  if (read_number ("/proc/sys/user/max_user_namespaces", &value))
    self->no_user_namespaces = value == 0;
}

/* A switch of the host explains a refused namespace better than the errno does. With AppArmor's restriction the namespace is made,
 * and everything in it that needs a capability is refused. */
static gboolean
set_from_host (GError **error, const GloveLinuxFailureHost *host, guint32 stage, int errsv)
{
  gboolean early = stage == GLOVE_LAUNCH_STAGE_CLONE || stage == GLOVE_LAUNCH_STAGE_USERNS_MAP
                   || stage == GLOVE_LAUNCH_STAGE_LOOPBACK || stage == GLOVE_LAUNCH_STAGE_ROOT
                   || stage == GLOVE_LAUNCH_STAGE_QUOTA;
  gboolean refused = errsv == EPERM || errsv == EACCES || errsv == ENOSPC;

  if (!early || !refused)
    return FALSE;
  if (host->no_user_namespaces)
    {
      glove_error_set (error, GLOVE_ERROR_UNAVAILABLE, "user namespaces are switched off (user.max_user_namespaces is 0)");
      glove_error_set_hint (error, "sysctl -w user.max_user_namespaces=15000");
      return TRUE;
    }
  if (host->clone_disabled && !host->privileged)
    {
      glove_error_set (error, GLOVE_ERROR_UNAVAILABLE,
                       "user namespaces are for root only here (kernel.unprivileged_userns_clone is 0)");
      glove_error_set_hint (error, "sysctl -w kernel.unprivileged_userns_clone=1");
      return TRUE;
    }
  if (host->apparmor_restricts && !host->privileged && errsv != ENOSPC)
    {
      glove_error_set (error, GLOVE_ERROR_UNAVAILABLE, "AppArmor restricts user namespaces of ordinary users on this host");
      glove_error_set_hint (error, "%s", GLOVE_LINUX_FAILURE_APPARMOR_HINT);
      return TRUE;
    }
  return FALSE;
}

static char *
name_of (Name name, const GloveLaunchSpec *spec, guint32 index)
{
  switch (name)
    {
    case NAME_GRANT:
      if (spec->grants != NULL && index < spec->grants->len)
        return g_strdup (((const GloveGrant *) g_ptr_array_index (spec->grants, index))->target_path);
      return g_strdup_printf ("grant %u", index);
    case NAME_FILE:
      {
        g_autoptr (GPtrArray) files = glove_linux_files_list ();
        const GPtrArray *entries = spec->home != NULL ? glove_runtime_home_get_entries (spec->home) : NULL;

        if (index < files->len)
          return g_strdup (((const GloveLinuxFile *) g_ptr_array_index (files, index))->path);
        if (entries != NULL && index - files->len < entries->len)
          return g_strconcat (GLOVE_HOME_DIRECTORY "/",
                              ((const GloveRuntimeHomeEntry *) g_ptr_array_index (entries, index - files->len))->path, NULL);
        return g_strdup_printf ("file %u", index);
      }
    case NAME_PROGRAM:
      if (spec->executable != NULL)
        return g_strdup (spec->executable);
      return g_strdup (spec->argv != NULL && spec->argv[0] != NULL ? spec->argv[0] : "");
    case NAME_WORK_DIR:
      return g_strdup (spec->work_dir);
    case NAME_LISTENER:
      if (spec->listeners != NULL && index < spec->listeners->len)
        return g_strdup_printf ("%u", g_array_index (spec->listeners, GloveLaunchListener, index).port);
      return g_strdup_printf ("number %u", index);
    case NAME_NOTHING:
    default:
      return g_strdup ("");
    }
}

/* Descriptors are not mended at the place where they ran out. NULL: the row's own hint. */
static const char *
hint_of_shortage (int errsv)
{
  if (errsv != EMFILE && errsv != ENFILE)
    return NULL;
  return "raise the limit on open files (ulimit -n), or grant fewer paths";
}

static const Row *
find_row (guint32 stage, int errsv)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].stage == stage && (rows[i].errsv == ANY_ERRNO || rows[i].errsv == errsv))
      return &rows[i];
  return NULL;
}

/* "Not found" and "not executable" are said of the agent's program alone. */
static GloveError
code_of_errno (int errsv)
{
  GloveError code = glove_error_from_errno (errsv);

  return code == GLOVE_ERROR_NOT_FOUND || code == GLOVE_ERROR_NOT_EXECUTABLE ? GLOVE_ERROR_UNAVAILABLE : code;
}

void
glove_linux_failure_set (GError **error, const GloveLaunchSpec *spec, const GloveLinuxFailureHost *host, guint32 stage,
                         int errsv, guint32 index)
{
  const Row *row = find_row (stage, errsv);
  g_autofree char *name = NULL;
  g_autofree char *raw = NULL;
  g_autofree char *shown = NULL;
  g_auto (GStrv) halves = NULL;
  g_autoptr (GString) message = NULL;
  const char *hint = row != NULL && row->errsv == ANY_ERRNO ? hint_of_shortage (errsv) : NULL;

  if (error == NULL || set_from_host (error, host, stage, errsv))
    return;
  if (row == NULL)
    {
      glove_error_set (error, GLOVE_ERROR_FAILED, "the launcher failed at stage %u: %s", stage, g_strerror (errsv));
      glove_error_set_hint (error, "the launcher and the backend must be of one build: install glove again");
      return;
    }
  raw = name_of (row->name, spec, index);
  shown = g_utf8_validate (raw, -1, NULL) ? g_strdup (raw) : g_strescape (raw, NULL);
  halves = g_strsplit (row->what, "%s", 2);
  message = g_string_new (halves[0]);
  if (halves[1] != NULL)
    g_string_append_printf (message, "%s%s", shown, halves[1]);
  if (errsv != 0 && row->errsv == ANY_ERRNO)
    g_string_append_printf (message, ": %s", g_strerror (errsv));
  glove_error_set_literal (error, row->code == BY_ERRNO ? code_of_errno (errsv) : row->code, message->str);
  glove_error_set_hint (error, "%s", hint != NULL ? hint : row->hint);
}
