/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-contract.h"

#include <dirent.h>
#include <string.h>

#include "glove-contract-cases-private.h"

guint
glove_contract_count_descriptors (void)
{
  DIR *directory = opendir ("/proc/self/fd");
  guint n = 0;

  if (directory == NULL)
    return G_MAXUINT;

  while (readdir (directory) != NULL)
    n++;
  (void) closedir (directory);
  return n;
}

gboolean
glove_contract_is_id (const char *text)
{
  if (text == NULL || *text == '\0' || strlen (text) > 128 || strcmp (text, ".") == 0 || strcmp (text, "..") == 0)
    return FALSE;

  for (; *text != '\0'; text++)
    if (!g_ascii_isalnum (*text) && strchr ("._-", *text) == NULL)
      return FALSE;

  return TRUE;
}

void
glove_contract_assert_error (const GError *error)
{
  g_assert_nonnull (error);
  g_assert_cmpstr (g_quark_to_string (error->domain), ==, g_quark_to_string (GLOVE_ERROR));
  g_assert_nonnull (error->message);
  g_assert_cmpstr (error->message, !=, "");
}

static void
add_cases (const char *kind, const char *id, const GloveContractCase *cases, gpointer object)
{
  if (!glove_contract_is_id (id))
    g_error ("the %s says its id is '%s'", G_OBJECT_TYPE_NAME (object), id != NULL ? id : "(null)");

  for (; cases->name != NULL; cases++)
    {
      g_autofree char *path = g_strdup_printf ("/contract/%s/%s/%s", kind, id, cases->name);

      g_test_add_data_func_full (path, g_object_ref (object), cases->run, g_object_unref);
    }
}

void
glove_contract_check_runtime_adapter (GloveRuntimeAdapter *adapter)
{
  g_return_if_fail (GLOVE_IS_RUNTIME_ADAPTER (adapter));

  add_cases ("runtime", glove_runtime_adapter_get_runtime_id (adapter), glove_contract_runtime_cases, adapter);
}

void
glove_contract_check_channel_schema (GloveChannelSchema *schema)
{
  g_return_if_fail (GLOVE_IS_CHANNEL_SCHEMA (schema));

  add_cases ("schema", glove_channel_schema_get_schema_id (schema), glove_contract_schema_cases, schema);
}

void
glove_contract_check_sandbox_backend (GloveSandboxBackend *backend)
{
  g_return_if_fail (GLOVE_IS_SANDBOX_BACKEND (backend));

  add_cases ("backend", glove_sandbox_backend_get_backend_id (backend), glove_contract_backend_cases, backend);
}

void
glove_contract_check_audit_sink (GloveAuditSink *sink)
{
  g_return_if_fail (GLOVE_IS_AUDIT_SINK (sink));

  add_cases ("sink", glove_audit_sink_get_sink_id (sink), glove_contract_sink_cases, sink);
}
