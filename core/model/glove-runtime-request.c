/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-runtime-request.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-endpoint.h"
#include "glove-error.h"

static gboolean
check_model (const char *model, GError **error)
{
  gsize length = strnlen (model, GLOVE_MODEL_NAME_MAX + 1);

  if (length == 0 || length > GLOVE_MODEL_NAME_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "the model name does not have 1 to %d bytes",
                       GLOVE_MODEL_NAME_MAX);
      return FALSE;
    }
  if (model[0] == '-')
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT,
                               "the model name begins with “-” and would be taken for an option");
      return FALSE;
    }
  if (!g_utf8_validate (model, -1, NULL))
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "the model name is not UTF-8");
      return FALSE;
    }
  /* It ends up in configuration files of several grammars; in none is a control character part of a name. */
  for (const char *p = model; *p != '\0'; p = g_utf8_next_char (p))
    if (g_unichar_iscntrl (g_utf8_get_char (p)))
      {
        glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "the model name holds a control character");
        return FALSE;
      }
  return TRUE;
}

static gboolean
check_provider_url (const char *url, GError **error)
{
  g_autoptr (GloveEndpoint) endpoint = NULL;

  if (strchr (url, '?') != NULL)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT,
                               "the provider URL has a query, behind which no path can be put");
      return FALSE;
    }
  endpoint = glove_endpoint_parse_url (url, NULL, NULL, error);
  if (endpoint == NULL)
    {
      g_prefix_error_literal (error, "the provider URL: ");
      return FALSE;
    }
  return TRUE;
}

/**
 * glove_runtime_request_validate:
 * @self: a request
 * @error: return location
 *
 * What every adapter may rely on: @model has 1 to 256 bytes of UTF-8 without control characters and does not begin with “-”;
 * @provider_url is a URL that glove_endpoint_parse_url() takes and has no query; @prompt is not empty. The messages repeat none of them.
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT
 *
 * Since: 1.0
 */
gboolean
glove_runtime_request_validate (const GloveRuntimeRequest *self, GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->prompt != NULL && self->prompt[0] == '\0')
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "the prompt is empty");
      return FALSE;
    }
  if (self->model != NULL && !check_model (self->model, error))
    return FALSE;
  return self->provider_url == NULL || check_provider_url (self->provider_url, error);
}
