/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-error.h"

#include <errno.h>

typedef struct {
  char *hint;
} GloveErrorPrivate;

static void
glove_error_private_init (GloveErrorPrivate *priv)
{
  priv->hint = NULL;
}

static void
glove_error_private_copy (const GloveErrorPrivate *source, GloveErrorPrivate *destination)
{
  destination->hint = g_strdup (source->hint);
}

static void
glove_error_private_clear (GloveErrorPrivate *priv)
{
  g_clear_pointer (&priv->hint, g_free);
}

/* The quark is made at its first use: nothing of this file runs before somebody needs an error. */
G_DEFINE_EXTENDED_ERROR (GloveError, glove_error)

typedef struct {
  const char *name;
  const char *dbus_name;
  const char *hint;
} ErrorInfo;

#define INFO(NAME, CAMEL, HINT)                                                                                          \
  {                                                                                                                      \
    NAME, "org.glove.Glove1.Error." CAMEL, HINT                                                                          \
  }

static const ErrorInfo error_infos[] = {
  [GLOVE_ERROR_FAILED] = INFO ("failed", "Failed", "read the message; run `glove doctor` if it names the host"),
  [GLOVE_ERROR_INVALID_ARGUMENT]
  = INFO ("invalid-argument", "InvalidArgument", "correct the value that the message names; --help lists what is accepted"),
  [GLOVE_ERROR_INVALID_DATA]
  = INFO ("invalid-data", "InvalidData", "correct the file or message at the place that is named"),
  [GLOVE_ERROR_NOT_FOUND] = INFO ("not-found", "NotFound", "check the spelling, and that it exists"),
  [GLOVE_ERROR_EXISTS] = INFO ("exists", "Exists", "choose another name, or remove what is there"),
  [GLOVE_ERROR_PERMISSION]
  = INFO ("permission", "Permission", "check owner and mode, or run as the user who may do this"),
  [GLOVE_ERROR_DENIED] = INFO ("denied", "Denied", "`glove why` names the rule, and the option that would allow it"),
  [GLOVE_ERROR_UNTRUSTED]
  = INFO ("untrusted", "Untrusted", "make it a plain file of yours or root's that nobody else can write"),
  [GLOVE_ERROR_CONFLICT] = INFO ("conflict", "Conflict", "keep one of the two things that the message names"),
  [GLOVE_ERROR_CHANGED] = INFO ("changed", "Changed", "see who changed it, then start again"),
  [GLOVE_ERROR_LIMIT] = INFO ("limit", "Limit", "make it smaller; docs/limits.md lists every maximum"),
  [GLOVE_ERROR_NOT_SUPPORTED]
  = INFO ("not-supported", "NotSupported", "use a build, host or plugin that can do it"),
  [GLOVE_ERROR_UNAVAILABLE]
  = INFO ("unavailable", "Unavailable", "`glove doctor` says what the host lacks and how to get it"),
  [GLOVE_ERROR_NOT_EXECUTABLE]
  = INFO ("not-executable", "NotExecutable", "check that it is a program for this machine, and its mode"),
  [GLOVE_ERROR_BUSY] = INFO ("busy", "Busy", "wait for whoever holds it, or stop them"),
  [GLOVE_ERROR_CLOSED] = INFO ("closed", "Closed", "start the other side again"),
  [GLOVE_ERROR_CANCELLED] = INFO ("cancelled", "Cancelled", "nothing is wrong; start again when you like"),
  [GLOVE_ERROR_TIMED_OUT] = INFO ("timed-out", "TimedOut", "try again, or allow more time"),
  [GLOVE_ERROR_IO] = INFO ("io", "Io", "check the disk, device or connection that the message names"),
  [GLOVE_ERROR_NO_SPACE] = INFO ("no-space", "NoSpace", "free space, memory or descriptors, or raise the quota"),
  [GLOVE_ERROR_CONTRACT] = INFO ("contract", "Contract", "report this to whoever made the plugin that is named"),
};

G_STATIC_ASSERT (G_N_ELEMENTS (error_infos) == GLOVE_N_ERRORS);

static const ErrorInfo *
error_info (GloveError code)
{
  if ((guint) code >= G_N_ELEMENTS (error_infos))
    return &error_infos[GLOVE_ERROR_FAILED];
  return &error_infos[code];
}

/**
 * glove_error_get_name:
 * @code: a #GloveError
 *
 * The stable name that the command line and files use, e.g. `not-found`. A number that is no code counts as `failed`.
 *
 * Returns: (transfer none): the name, constant
 *
 * Since: 1.0
 */
const char *
glove_error_get_name (GloveError code)
{
  return error_info (code)->name;
}

/**
 * glove_error_get_dbus_name:
 * @code: a #GloveError
 *
 * The name on D-Bus, e.g. `org.glove.Glove1.Error.NotFound`. The first call registers the domain with GDBus, which then
 * maps it both ways; a program that never speaks D-Bus never pays for that. Any thread.
 *
 * Returns: (transfer none): the name, constant
 *
 * Since: 1.0
 */
const char *
glove_error_get_dbus_name (GloveError code)
{
  static gsize registered = 0;

  if (g_once_init_enter (&registered))
    {
      for (guint i = 0; i < G_N_ELEMENTS (error_infos); i++)
        (void) g_dbus_error_register_error (GLOVE_ERROR, (int) i, error_infos[i].dbus_name);
      g_once_init_leave (&registered, 1);
    }
  return error_info (code)->dbus_name;
}

/**
 * glove_error_get_default_hint:
 * @code: a #GloveError
 *
 * Returns: (transfer none): what to do about an error of this code when the error itself has no hint, constant
 *
 * Since: 1.0
 */
const char *
glove_error_get_default_hint (GloveError code)
{
  return error_info (code)->hint;
}

/**
 * glove_error_set: (skip)
 * @error: (out) (optional): where to put it
 * @code: the code
 * @format: printf() format: lower case, no full stop, names the thing
 * @...: arguments
 *
 * Sets a new error of %GLOVE_ERROR.
 *
 * Since: 1.0
 */
void
glove_error_set (GError **error, GloveError code, const char *format, ...)
{
  va_list args;

  if (error == NULL)
    return;
  g_return_if_fail (*error == NULL);

  va_start (args, format);
  *error = g_error_new_valist (GLOVE_ERROR, (int) code, format, args);
  va_end (args);
}

/**
 * glove_error_set_literal: (skip)
 * @error: (out) (optional): where to put it
 * @code: the code
 * @message: the message as it is
 *
 * Since: 1.0
 */
void
glove_error_set_literal (GError **error, GloveError code, const char *message)
{
  g_set_error_literal (error, GLOVE_ERROR, (int) code, message);
}

/**
 * glove_error_set_errno: (skip)
 * @error: (out) (optional): where to put it
 * @errsv: an errno value
 * @format: printf() format, to which the error's text is appended after a colon
 * @...: arguments
 *
 * Sets a new error with the code of glove_error_from_errno().
 *
 * Since: 1.0
 */
void
glove_error_set_errno (GError **error, int errsv, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  if (error == NULL)
    return;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GLOVE_ERROR, (int) glove_error_from_errno (errsv), "%s: %s", what, g_strerror (errsv));
}

/**
 * glove_error_set_hint: (skip)
 * @error: (inout) (optional): an error that is set
 * @format: printf() format of the repair: an order, lower case, no full stop
 * @...: arguments
 *
 * Gives the error a hint of its own, in place of any it had. An error of another domain is converted first. Nothing happens
 * when @error or what it points to is %NULL.
 *
 * Since: 1.0
 */
void
glove_error_set_hint (GError **error, const char *format, ...)
{
  GloveErrorPrivate *priv;
  va_list args;

  if (error == NULL || *error == NULL)
    return;

  glove_error_convert (error);
  priv = glove_error_get_private (*error);
  g_free (priv->hint);
  va_start (args, format);
  priv->hint = g_strdup_vprintf (format, args);
  va_end (args);
}

/**
 * glove_error_get_hint:
 * @error: any error
 *
 * Returns: (transfer none) (nullable): the error's own hint, else its code's; %NULL for an error of another domain
 *
 * Since: 1.0
 */
const char *
glove_error_get_hint (const GError *error)
{
  const GloveErrorPrivate *priv;

  g_return_val_if_fail (error != NULL, NULL);

  if (error->domain != GLOVE_ERROR)
    return NULL;
  priv = glove_error_get_private (error);
  return priv->hint != NULL ? priv->hint : glove_error_get_default_hint ((GloveError) error->code);
}

typedef struct {
  int from;
  GloveError to;
} CodeMap;

/* ELOOP and EXDEV are what openat2 (2) says when a RESOLVE_* flag refused: the path is not of the shape that was required. */
static const CodeMap errno_map[] = {
  { ENOENT, GLOVE_ERROR_NOT_FOUND },         { ENOTDIR, GLOVE_ERROR_NOT_FOUND },
  { ESRCH, GLOVE_ERROR_NOT_FOUND },          { ENXIO, GLOVE_ERROR_NOT_FOUND },
  { ENODEV, GLOVE_ERROR_NOT_FOUND },         { EEXIST, GLOVE_ERROR_EXISTS },
  { ENOTEMPTY, GLOVE_ERROR_EXISTS },         { EADDRINUSE, GLOVE_ERROR_EXISTS },
  { EACCES, GLOVE_ERROR_PERMISSION },        { EPERM, GLOVE_ERROR_PERMISSION },
  { EROFS, GLOVE_ERROR_PERMISSION },         { ELOOP, GLOVE_ERROR_UNTRUSTED },
  { EXDEV, GLOVE_ERROR_UNTRUSTED },          { ESTALE, GLOVE_ERROR_CHANGED },
  { E2BIG, GLOVE_ERROR_LIMIT },              { EFBIG, GLOVE_ERROR_LIMIT },
  { ENAMETOOLONG, GLOVE_ERROR_LIMIT },       { EMSGSIZE, GLOVE_ERROR_LIMIT },
  { EOVERFLOW, GLOVE_ERROR_LIMIT },          { ENOSYS, GLOVE_ERROR_NOT_SUPPORTED },
  { EOPNOTSUPP, GLOVE_ERROR_NOT_SUPPORTED }, { EAFNOSUPPORT, GLOVE_ERROR_NOT_SUPPORTED },
  { ENOEXEC, GLOVE_ERROR_NOT_EXECUTABLE },   { EBUSY, GLOVE_ERROR_BUSY },
  { ETXTBSY, GLOVE_ERROR_BUSY },             { EAGAIN, GLOVE_ERROR_BUSY },
  { EPIPE, GLOVE_ERROR_CLOSED },             { ECONNRESET, GLOVE_ERROR_CLOSED },
  { ECONNREFUSED, GLOVE_ERROR_CLOSED },      { ECONNABORTED, GLOVE_ERROR_CLOSED },
  { ENOTCONN, GLOVE_ERROR_CLOSED },          { ECANCELED, GLOVE_ERROR_CANCELLED },
  { ETIMEDOUT, GLOVE_ERROR_TIMED_OUT },      { ETIME, GLOVE_ERROR_TIMED_OUT },
  { EIO, GLOVE_ERROR_IO },                   { EHOSTUNREACH, GLOVE_ERROR_IO },
  { ENETUNREACH, GLOVE_ERROR_IO },           { ENOSPC, GLOVE_ERROR_NO_SPACE },
  { EDQUOT, GLOVE_ERROR_NO_SPACE },          { ENOMEM, GLOVE_ERROR_NO_SPACE },
  { EMFILE, GLOVE_ERROR_NO_SPACE },          { ENFILE, GLOVE_ERROR_NO_SPACE },
  { EINVAL, GLOVE_ERROR_INVALID_ARGUMENT },  { EISDIR, GLOVE_ERROR_INVALID_ARGUMENT },
  { EBADF, GLOVE_ERROR_INVALID_ARGUMENT },   { EILSEQ, GLOVE_ERROR_INVALID_DATA },
};

static const CodeMap io_map[] = {
  { G_IO_ERROR_NOT_FOUND, GLOVE_ERROR_NOT_FOUND },
  { G_IO_ERROR_NOT_DIRECTORY, GLOVE_ERROR_NOT_FOUND },
  { G_IO_ERROR_NOT_MOUNTED, GLOVE_ERROR_NOT_FOUND },
  { G_IO_ERROR_HOST_NOT_FOUND, GLOVE_ERROR_NOT_FOUND },
  { G_IO_ERROR_EXISTS, GLOVE_ERROR_EXISTS },
  { G_IO_ERROR_NOT_EMPTY, GLOVE_ERROR_EXISTS },
  { G_IO_ERROR_ADDRESS_IN_USE, GLOVE_ERROR_EXISTS },
  { G_IO_ERROR_PERMISSION_DENIED, GLOVE_ERROR_PERMISSION },
  { G_IO_ERROR_READ_ONLY, GLOVE_ERROR_PERMISSION },
  { G_IO_ERROR_PROXY_NOT_ALLOWED, GLOVE_ERROR_DENIED },
  { G_IO_ERROR_TOO_MANY_LINKS, GLOVE_ERROR_UNTRUSTED },
  { G_IO_ERROR_WRONG_ETAG, GLOVE_ERROR_CHANGED },
  { G_IO_ERROR_FILENAME_TOO_LONG, GLOVE_ERROR_LIMIT },
  { G_IO_ERROR_MESSAGE_TOO_LARGE, GLOVE_ERROR_LIMIT },
  { G_IO_ERROR_NOT_SUPPORTED, GLOVE_ERROR_NOT_SUPPORTED },
  { G_IO_ERROR_BUSY, GLOVE_ERROR_BUSY },
  { G_IO_ERROR_WOULD_BLOCK, GLOVE_ERROR_BUSY },
  { G_IO_ERROR_PENDING, GLOVE_ERROR_BUSY },
  { G_IO_ERROR_CLOSED, GLOVE_ERROR_CLOSED },
  { G_IO_ERROR_BROKEN_PIPE, GLOVE_ERROR_CLOSED },
  { G_IO_ERROR_CONNECTION_REFUSED, GLOVE_ERROR_CLOSED },
  { G_IO_ERROR_NOT_CONNECTED, GLOVE_ERROR_CLOSED },
  { G_IO_ERROR_CANCELLED, GLOVE_ERROR_CANCELLED },
  { G_IO_ERROR_TIMED_OUT, GLOVE_ERROR_TIMED_OUT },
  { G_IO_ERROR_HOST_UNREACHABLE, GLOVE_ERROR_IO },
  { G_IO_ERROR_NETWORK_UNREACHABLE, GLOVE_ERROR_IO },
  { G_IO_ERROR_NO_SPACE, GLOVE_ERROR_NO_SPACE },
  { G_IO_ERROR_TOO_MANY_OPEN_FILES, GLOVE_ERROR_NO_SPACE },
  { G_IO_ERROR_INVALID_ARGUMENT, GLOVE_ERROR_INVALID_ARGUMENT },
  { G_IO_ERROR_INVALID_FILENAME, GLOVE_ERROR_INVALID_ARGUMENT },
  { G_IO_ERROR_IS_DIRECTORY, GLOVE_ERROR_INVALID_ARGUMENT },
  { G_IO_ERROR_INVALID_DATA, GLOVE_ERROR_INVALID_DATA },
  { G_IO_ERROR_PARTIAL_INPUT, GLOVE_ERROR_INVALID_DATA },
};

static const CodeMap file_map[] = {
  { G_FILE_ERROR_NOENT, GLOVE_ERROR_NOT_FOUND },        { G_FILE_ERROR_NOTDIR, GLOVE_ERROR_NOT_FOUND },
  { G_FILE_ERROR_NXIO, GLOVE_ERROR_NOT_FOUND },         { G_FILE_ERROR_NODEV, GLOVE_ERROR_NOT_FOUND },
  { G_FILE_ERROR_EXIST, GLOVE_ERROR_EXISTS },           { G_FILE_ERROR_PERM, GLOVE_ERROR_PERMISSION },
  { G_FILE_ERROR_ACCES, GLOVE_ERROR_PERMISSION },       { G_FILE_ERROR_ROFS, GLOVE_ERROR_PERMISSION },
  { G_FILE_ERROR_LOOP, GLOVE_ERROR_UNTRUSTED },         { G_FILE_ERROR_NAMETOOLONG, GLOVE_ERROR_LIMIT },
  { G_FILE_ERROR_NOSYS, GLOVE_ERROR_NOT_SUPPORTED },    { G_FILE_ERROR_TXTBSY, GLOVE_ERROR_BUSY },
  { G_FILE_ERROR_AGAIN, GLOVE_ERROR_BUSY },             { G_FILE_ERROR_PIPE, GLOVE_ERROR_CLOSED },
  { G_FILE_ERROR_IO, GLOVE_ERROR_IO },                  { G_FILE_ERROR_NOSPC, GLOVE_ERROR_NO_SPACE },
  { G_FILE_ERROR_NOMEM, GLOVE_ERROR_NO_SPACE },         { G_FILE_ERROR_MFILE, GLOVE_ERROR_NO_SPACE },
  { G_FILE_ERROR_NFILE, GLOVE_ERROR_NO_SPACE },         { G_FILE_ERROR_INVAL, GLOVE_ERROR_INVALID_ARGUMENT },
  { G_FILE_ERROR_ISDIR, GLOVE_ERROR_INVALID_ARGUMENT }, { G_FILE_ERROR_BADF, GLOVE_ERROR_INVALID_ARGUMENT },
};

static const CodeMap key_file_map[] = {
  { G_KEY_FILE_ERROR_NOT_FOUND, GLOVE_ERROR_NOT_FOUND },
  { G_KEY_FILE_ERROR_KEY_NOT_FOUND, GLOVE_ERROR_NOT_FOUND },
  { G_KEY_FILE_ERROR_GROUP_NOT_FOUND, GLOVE_ERROR_NOT_FOUND },
};

static const CodeMap spawn_map[] = {
  { G_SPAWN_ERROR_NOENT, GLOVE_ERROR_NOT_FOUND },
  { G_SPAWN_ERROR_NOTDIR, GLOVE_ERROR_NOT_FOUND },
  { G_SPAWN_ERROR_ACCES, GLOVE_ERROR_NOT_EXECUTABLE },
  { G_SPAWN_ERROR_PERM, GLOVE_ERROR_NOT_EXECUTABLE },
  { G_SPAWN_ERROR_NOEXEC, GLOVE_ERROR_NOT_EXECUTABLE },
  { G_SPAWN_ERROR_LIBBAD, GLOVE_ERROR_NOT_EXECUTABLE },
  { G_SPAWN_ERROR_TXTBUSY, GLOVE_ERROR_BUSY },
  { G_SPAWN_ERROR_TOO_BIG, GLOVE_ERROR_LIMIT },
  { G_SPAWN_ERROR_NAMETOOLONG, GLOVE_ERROR_LIMIT },
  { G_SPAWN_ERROR_NOMEM, GLOVE_ERROR_NO_SPACE },
  { G_SPAWN_ERROR_MFILE, GLOVE_ERROR_NO_SPACE },
  { G_SPAWN_ERROR_NFILE, GLOVE_ERROR_NO_SPACE },
  { G_SPAWN_ERROR_LOOP, GLOVE_ERROR_UNTRUSTED },
  { G_SPAWN_ERROR_IO, GLOVE_ERROR_IO },
};

static const CodeMap resolver_map[] = {
  { G_RESOLVER_ERROR_NOT_FOUND, GLOVE_ERROR_NOT_FOUND },
  { G_RESOLVER_ERROR_TEMPORARY_FAILURE, GLOVE_ERROR_IO },
};

/* Quarks are taken by function, at the time of the conversion. */
static const struct {
  GQuark (*quark) (void);
  GloveError otherwise;
  const CodeMap *map;
  gsize length;
} domains[] = {
  { g_io_error_quark, GLOVE_ERROR_FAILED, io_map, G_N_ELEMENTS (io_map) },
  { g_file_error_quark, GLOVE_ERROR_FAILED, file_map, G_N_ELEMENTS (file_map) },
  { g_key_file_error_quark, GLOVE_ERROR_INVALID_DATA, key_file_map, G_N_ELEMENTS (key_file_map) },
  { g_spawn_error_quark, GLOVE_ERROR_FAILED, spawn_map, G_N_ELEMENTS (spawn_map) },
  { g_resolver_error_quark, GLOVE_ERROR_FAILED, resolver_map, G_N_ELEMENTS (resolver_map) },
  { g_option_error_quark, GLOVE_ERROR_INVALID_ARGUMENT, NULL, 0 },
  { g_number_parser_error_quark, GLOVE_ERROR_INVALID_ARGUMENT, NULL, 0 },
  { g_shell_error_quark, GLOVE_ERROR_INVALID_ARGUMENT, NULL, 0 },
  { g_convert_error_quark, GLOVE_ERROR_INVALID_DATA, NULL, 0 },
};

static GloveError
map_code (const CodeMap *map, gsize length, int code, GloveError otherwise)
{
  for (gsize i = 0; i < length; i++)
    if (map[i].from == code)
      return map[i].to;
  return otherwise;
}

/**
 * glove_error_from_errno:
 * @errsv: an errno value
 *
 * Returns: the code that describes it; %GLOVE_ERROR_FAILED when none does
 *
 * Since: 1.0
 */
GloveError
glove_error_from_errno (int errsv)
{
  return map_code (errno_map, G_N_ELEMENTS (errno_map), errsv, GLOVE_ERROR_FAILED);
}

/**
 * glove_error_convert: (skip)
 * @error: (inout) (optional): an error of any domain
 *
 * Replaces an error of another domain by one of %GLOVE_ERROR with the same message, for the place where it leaves the code
 * that knows the other domain. Nothing happens when there is no error, or when it is ours.
 *
 * Since: 1.0
 */
void
glove_error_convert (GError **error)
{
  GloveError code = GLOVE_ERROR_FAILED;
  GError *ours;

  if (error == NULL || *error == NULL || (*error)->domain == GLOVE_ERROR)
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (domains); i++)
    if ((*error)->domain == domains[i].quark ())
      code = map_code (domains[i].map, domains[i].length, (*error)->code, domains[i].otherwise);

  ours = g_error_new_literal (GLOVE_ERROR, (int) code, (*error)->message);
  g_error_free (*error);
  *error = ours;
}
