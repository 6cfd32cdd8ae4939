/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/**
 * GLOVE_ERROR:
 *
 * The one error domain. Each code has a stable name, a D-Bus name and a general hint; an error may carry a hint of its
 * own, which the command line prints after `Try:`.
 */
#define GLOVE_ERROR (glove_error_quark ())

/**
 * GloveError:
 * @GLOVE_ERROR_FAILED: something failed that no other code describes
 * @GLOVE_ERROR_INVALID_ARGUMENT: the caller or the operator gave something that can never be right
 * @GLOVE_ERROR_INVALID_DATA: a file or a message is malformed
 * @GLOVE_ERROR_NOT_FOUND: the thing that was named does not exist
 * @GLOVE_ERROR_EXISTS: the thing that would be made exists already
 * @GLOVE_ERROR_PERMISSION: the operating system refused
 * @GLOVE_ERROR_DENIED: the policy refused
 * @GLOVE_ERROR_UNTRUSTED: a file's owner, mode, type, digest or note is not what is required
 * @GLOVE_ERROR_CONFLICT: two things claim the same place or identity
 * @GLOVE_ERROR_CHANGED: a thing is not the one that was checked before
 * @GLOVE_ERROR_LIMIT: a named maximum is exceeded
 * @GLOVE_ERROR_NOT_SUPPORTED: this build, host or plugin can't do it
 * @GLOVE_ERROR_UNAVAILABLE: the host lacks a prerequisite
 * @GLOVE_ERROR_NOT_EXECUTABLE: a program was found and can't be executed
 * @GLOVE_ERROR_BUSY: somebody else holds it
 * @GLOVE_ERROR_CLOSED: the peer is gone
 * @GLOVE_ERROR_CANCELLED: the caller cancelled
 * @GLOVE_ERROR_TIMED_OUT: a deadline passed
 * @GLOVE_ERROR_IO: reading or writing failed
 * @GLOVE_ERROR_NO_SPACE: a disk, a table or a quota is full
 * @GLOVE_ERROR_CONTRACT: a plugin broke the interface's contract
 *
 * Since: 1.0
 */
typedef enum {
  GLOVE_ERROR_FAILED,
  GLOVE_ERROR_INVALID_ARGUMENT,
  GLOVE_ERROR_INVALID_DATA,
  GLOVE_ERROR_NOT_FOUND,
  GLOVE_ERROR_EXISTS,
  GLOVE_ERROR_PERMISSION,
  GLOVE_ERROR_DENIED,
  GLOVE_ERROR_UNTRUSTED,
  GLOVE_ERROR_CONFLICT,
  GLOVE_ERROR_CHANGED,
  GLOVE_ERROR_LIMIT,
  GLOVE_ERROR_NOT_SUPPORTED,
  GLOVE_ERROR_UNAVAILABLE,
  GLOVE_ERROR_NOT_EXECUTABLE,
  GLOVE_ERROR_BUSY,
  GLOVE_ERROR_CLOSED,
  GLOVE_ERROR_CANCELLED,
  GLOVE_ERROR_TIMED_OUT,
  GLOVE_ERROR_IO,
  GLOVE_ERROR_NO_SPACE,
  GLOVE_ERROR_CONTRACT, /*< private, keep last >*/
} GloveError;

#define GLOVE_N_ERRORS (GLOVE_ERROR_CONTRACT + 1)

GLOVE_AVAILABLE_IN_1_0 GQuark glove_error_quark (void);
GLOVE_AVAILABLE_IN_1_0 const char *glove_error_get_name (GloveError code);
GLOVE_AVAILABLE_IN_1_0 const char *glove_error_get_dbus_name (GloveError code);
GLOVE_AVAILABLE_IN_1_0 const char *glove_error_get_default_hint (GloveError code);

GLOVE_AVAILABLE_IN_1_0 void glove_error_set (GError **error, GloveError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
GLOVE_AVAILABLE_IN_1_0 void glove_error_set_literal (GError **error, GloveError code, const char *message);
GLOVE_AVAILABLE_IN_1_0 void glove_error_set_errno (GError **error, int errsv, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
GLOVE_AVAILABLE_IN_1_0 void glove_error_set_hint (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);
GLOVE_AVAILABLE_IN_1_0 const char *glove_error_get_hint (const GError *error);
GLOVE_AVAILABLE_IN_1_0 GloveError glove_error_from_errno (int errsv);
GLOVE_AVAILABLE_IN_1_0 void glove_error_convert (GError **error);

G_END_DECLS
