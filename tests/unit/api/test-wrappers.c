/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "glove-audit-sink.h"
#include "glove-channel-schema.h"
#include "glove-error.h"
#include "glove-runtime-adapter.h"
#include "glove-sandbox-backend.h"
#include "glove-sandbox.h"
#include "glove-test.h"

/* One object implements the interfaces, and does as the test says. */
typedef enum {
  SUCCEED,
  SUCCEED_WITH_ERROR,
  FAIL,
  FAIL_SILENTLY,
  FAIL_FOREIGN,
  N_BEHAVIOURS
} Behaviour;

static Behaviour behaviour;
static guint calls;

/* What each behaviour must come out as: an error code, or -1. */
static const struct {
  int code;
  const char *message;
} outcomes[] = {
  [SUCCEED] = { -1, NULL },
  [SUCCEED_WITH_ERROR] = { GLOVE_ERROR_CONTRACT, "succeeded and set an error: no room" },
  [FAIL] = { GLOVE_ERROR_NO_SPACE, ": no room" },
  [FAIL_SILENTLY] = { GLOVE_ERROR_CONTRACT, "failed without an error" },
  [FAIL_FOREIGN] = { GLOVE_ERROR_BUSY, ": taken" },
};

static gboolean
behave (GError **error)
{
  calls++;
  if (behaviour == FAIL || behaviour == SUCCEED_WITH_ERROR)
    {
      glove_error_set (error, GLOVE_ERROR_NO_SPACE, "no room");
      glove_error_set_hint (error, "make room");
    }
  if (behaviour == FAIL_FOREIGN)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_BUSY, "taken");
  return behaviour == SUCCEED || behaviour == SUCCEED_WITH_ERROR;
}

/* The sandbox */

#define TEST_TYPE_SANDBOX (test_sandbox_get_type ())
G_DECLARE_FINAL_TYPE (TestSandbox, test_sandbox, TEST, SANDBOX, GloveSandbox)
struct _TestSandbox {
  GloveSandbox parent_instance;
};
G_DEFINE_FINAL_TYPE (TestSandbox, test_sandbox, GLOVE_TYPE_SANDBOX)

static GloveTermination cause_given = GLOVE_TERMINATION_EXITED;

static void
sandbox_async (GloveSandbox *self, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);

  g_task_return_boolean (task, TRUE);
}

static gboolean
sandbox_start_finish (GloveSandbox *self, GAsyncResult *result, GError **error)
{
  return behave (error);
}

static gboolean
sandbox_finish_finish (GloveSandbox *self, GAsyncResult *result, GloveOutcome *ret_outcome, GError **error)
{
  ret_outcome->cause = cause_given;
  ret_outcome->exit_code = 3;
  return behave (error);
}

static int
sandbox_dup_terminal (GloveSandbox *self, GError **error)
{
  return behave (error) ? open ("/dev/null", O_RDWR | O_CLOEXEC) : -1;
}

static gboolean
sandbox_resize (GloveSandbox *self, guint16 rows, guint16 columns, GError **error)
{
  return behave (error);
}

static gboolean
sandbox_int (GloveSandbox *self, int value, GError **error)
{
  return behave (error);
}

static gboolean
sandbox_read_usage (GloveSandbox *self, GloveUsage *ret_usage, GError **error)
{
  ret_usage->cpu_time_ms = 7;
  return behave (error);
}

static gssize
sandbox_write_input (GloveSandbox *self, const guint8 *data, gsize length, GError **error)
{
  return behave (error) ? (gssize) length : -1;
}

static void
test_sandbox_class_init (TestSandboxClass *klass)
{
  GloveSandboxClass *sandbox_class = GLOVE_SANDBOX_CLASS (klass);

  sandbox_class->start_async = sandbox_async;
  sandbox_class->start_finish = sandbox_start_finish;
  sandbox_class->finish_async = sandbox_async;
  sandbox_class->finish_finish = sandbox_finish_finish;
  sandbox_class->dup_terminal = sandbox_dup_terminal;
  sandbox_class->resize = sandbox_resize;
  sandbox_class->send_signal = sandbox_int;
  sandbox_class->freeze = sandbox_int;
  sandbox_class->read_usage = sandbox_read_usage;
  sandbox_class->write_input = sandbox_write_input;
  sandbox_class->attach = sandbox_int;
}

static void
test_sandbox_init (TestSandbox *self)
{
}

/* A sandbox with nothing of its own. */
#define TEST_TYPE_BARE_SANDBOX (test_bare_sandbox_get_type ())
G_DECLARE_FINAL_TYPE (TestBareSandbox, test_bare_sandbox, TEST, BARE_SANDBOX, GloveSandbox)
struct _TestBareSandbox {
  GloveSandbox parent_instance;
};
G_DEFINE_FINAL_TYPE (TestBareSandbox, test_bare_sandbox, GLOVE_TYPE_SANDBOX)

static void
test_bare_sandbox_class_init (TestBareSandboxClass *klass)
{
}

static void
test_bare_sandbox_init (TestBareSandbox *self)
{
}

/* The plugin */

#define TEST_TYPE_PLUGIN (test_plugin_get_type ())
G_DECLARE_FINAL_TYPE (TestPlugin, test_plugin, TEST, PLUGIN, GObject)
struct _TestPlugin {
  GObject parent_instance;
};

static const char *
get_id (gpointer self)
{
  return "plug";
}

static gboolean
sink_open (GloveAuditSink *self, int dirfd, const char *name, GError **error)
{
  return behave (error);
}

static gboolean
sink_record (GloveAuditSink *self, GloveAuditEvent *const *events, gsize n_events, GError **error)
{
  return behave (error);
}

static gboolean
sink_flush (GloveAuditSink *self, GError **error)
{
  return behave (error);
}

static const char *
sink_get_id (GloveAuditSink *self)
{
  return get_id (self);
}

static void
sink_init (GloveAuditSinkInterface *iface)
{
  iface->get_sink_id = sink_get_id;
  iface->open = sink_open;
  iface->record = sink_record;
  iface->flush = sink_flush;
}

static GloveChannelBounds bounds_given = { 4096, 10, 600000, 30000 };

static const char *
schema_get_id (GloveChannelSchema *self)
{
  return get_id (self);
}

static const char *
schema_get_transport (GloveChannelSchema *self)
{
  return "";
}

static void
schema_get_bounds (GloveChannelSchema *self, GloveChannelBounds *ret_bounds)
{
  *ret_bounds = bounds_given;
}

static gboolean
schema_validate (GloveChannelSchema *self, GBytes *body, GError **error)
{
  return behave (error);
}

static void
schema_init (GloveChannelSchemaInterface *iface)
{
  iface->get_schema_id = schema_get_id;
  iface->get_transport_id = schema_get_transport;
  iface->get_bounds = schema_get_bounds;
  iface->validate_body = schema_validate;
}

static const char *path_given = ".x/skills";
static gboolean accepts_url;

static const char *
adapter_get_id (GloveRuntimeAdapter *self)
{
  return get_id (self);
}

static const char *
adapter_get_path (GloveRuntimeAdapter *self)
{
  return path_given;
}

static gboolean
adapter_accepts (GloveRuntimeAdapter *self)
{
  return accepts_url;
}

static GloveRuntimeHome *
adapter_build_home (GloveRuntimeAdapter *self, const GloveRuntimeRequest *request, GError **error)
{
  return behave (error) ? glove_runtime_home_new () : NULL;
}

static void
adapter_init (GloveRuntimeAdapterInterface *iface)
{
  iface->get_runtime_id = adapter_get_id;
  iface->get_executable_name = adapter_get_path;
  iface->get_skills_root = adapter_get_path;
  iface->get_credential_target = adapter_get_path;
  iface->accepts_provider_url = adapter_accepts;
  iface->build_home = adapter_build_home;
}

static const char *
backend_get_id (GloveSandboxBackend *self)
{
  return get_id (self);
}

static GPtrArray *
backend_probe (GloveSandboxBackend *self, GCancellable *cancellable, GError **error)
{
  return behave (error) ? g_ptr_array_new_with_free_func ((GDestroyNotify) glove_probe_result_free) : NULL;
}

static void
backend_query (GloveSandboxBackend *self, GloveLimitMechanism ret_mechanisms[GLOVE_N_LIMITS], char **ret_repairs)
{
  ret_mechanisms[GLOVE_LIMIT_MEMORY] = GLOVE_LIMIT_MECHANISM_RLIMIT;
  ret_mechanisms[GLOVE_LIMIT_PIDS] = (GloveLimitMechanism) 99;
  if (ret_repairs != NULL)
    ret_repairs[GLOVE_LIMIT_PIDS] = g_strdup ("repair");
}

static GloveSandbox *
backend_prepare (GloveSandboxBackend *self, GloveLaunchSpec *spec, GError **error)
{
  return behave (error) ? g_object_new (TEST_TYPE_SANDBOX, NULL) : NULL;
}

static GloveSandbox *
backend_adopt (GloveSandboxBackend *self, const char *session_id, GError **error)
{
  return backend_prepare (self, NULL, error);
}

static void
backend_init (GloveSandboxBackendInterface *iface)
{
  iface->get_backend_id = backend_get_id;
  iface->probe = backend_probe;
  iface->query_mechanisms = backend_query;
  iface->prepare = backend_prepare;
  iface->adopt = backend_adopt;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (TestPlugin, test_plugin, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_AUDIT_SINK, sink_init)
                                   G_IMPLEMENT_INTERFACE (GLOVE_TYPE_CHANNEL_SCHEMA, schema_init)
                                       G_IMPLEMENT_INTERFACE (GLOVE_TYPE_RUNTIME_ADAPTER, adapter_init)
                                           G_IMPLEMENT_INTERFACE (GLOVE_TYPE_SANDBOX_BACKEND, backend_init))

static void
test_plugin_class_init (TestPluginClass *klass)
{
}

static void
test_plugin_init (TestPlugin *self)
{
}

/* A plugin that fills no slot in. */
#define TEST_TYPE_BARE_PLUGIN (test_bare_plugin_get_type ())
G_DECLARE_FINAL_TYPE (TestBarePlugin, test_bare_plugin, TEST, BARE_PLUGIN, GObject)
struct _TestBarePlugin {
  GObject parent_instance;
};
G_DEFINE_FINAL_TYPE_WITH_CODE (TestBarePlugin, test_bare_plugin, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_AUDIT_SINK, NULL)
                                   G_IMPLEMENT_INTERFACE (GLOVE_TYPE_CHANNEL_SCHEMA, NULL)
                                       G_IMPLEMENT_INTERFACE (GLOVE_TYPE_RUNTIME_ADAPTER, NULL)
                                           G_IMPLEMENT_INTERFACE (GLOVE_TYPE_SANDBOX_BACKEND, NULL))

static void
test_bare_plugin_class_init (TestBarePluginClass *klass)
{
}

static void
test_bare_plugin_init (TestBarePlugin *self)
{
}

static GloveLaunchSpec *
make_spec (void)
{
  GloveLaunchSpec *spec = glove_launch_spec_new ("s-1");

  g_strfreev (spec->argv);
  spec->argv = g_strsplit ("true", " ", -1);
  return spec;
}

static const GloveRuntimeRequest request = { .home = "/home/agent", .workspace = "/w" };

/* Calls the slot number @slot of the interfaces; FALSE: there is no such slot. */
static gboolean
call_slot (gpointer plugin, int slot, gboolean *ret_ok, GError **error)
{
  g_autoptr (GloveLaunchSpec) spec = make_spec ();
  g_autoptr (GBytes) body = g_bytes_new_static ("x", 1);
  g_autoptr (GPtrArray) results = NULL;
  g_autoptr (GloveRuntimeHome) home = NULL;
  g_autoptr (GloveSandbox) sandbox = NULL;
  g_autoptr (GloveAuditEvent) event
      = glove_audit_event_new (GLOVE_AUDIT_ACTION_CONTROL, GLOVE_AUDIT_STATUS_OK, NULL, NULL);

  switch (slot)
    {
    case 0:
      *ret_ok = glove_audit_sink_record (plugin, &event, 1, error);
      return TRUE;
    case 1:
      *ret_ok = glove_channel_schema_validate_body (plugin, body, error);
      return TRUE;
    case 2:
      home = glove_runtime_adapter_build_home (plugin, &request, error);
      *ret_ok = home != NULL;
      return TRUE;
    case 3:
      results = glove_sandbox_backend_probe (plugin, NULL, error);
      *ret_ok = results != NULL;
      return TRUE;
    case 4:
      sandbox = glove_sandbox_backend_prepare (plugin, spec, error);
      *ret_ok = sandbox != NULL;
      return TRUE;
    case 5:
      sandbox = glove_sandbox_backend_adopt (plugin, "s-1", error);
      *ret_ok = sandbox != NULL;
      return TRUE;
    case 6:
      *ret_ok = glove_audit_sink_open (plugin, 0, "name", error);
      return TRUE;
    case 7:
      *ret_ok = glove_audit_sink_flush (plugin, error);
      return TRUE;
    default:
      return FALSE;
    }
}

static void
assert_outcome (gboolean ok, const GError *error, const char *prefix)
{
  g_assert_cmpint (ok, ==, behaviour == SUCCEED);
  if (behaviour == SUCCEED)
    {
      g_assert_no_error (error);
      return;
    }
  glove_test_assert_error (error, outcomes[behaviour].code, outcomes[behaviour].message);
  g_assert_true (g_str_has_prefix (error->message, prefix));
  if (behaviour == FAIL)
    g_assert_cmpstr (glove_error_get_hint (error), ==, "make room");
}

static void
test_contract (void)
{
  g_autoptr (TestPlugin) plugin = g_object_new (TEST_TYPE_PLUGIN, NULL);
  gboolean ok;

  for (behaviour = SUCCEED; behaviour < N_BEHAVIOURS; behaviour++)
    for (int slot = 0;; slot++)
      {
        g_autoptr (GError) error = NULL;
        guint before = calls;

        if (!call_slot (plugin, slot, &ok, &error))
          break;
        g_test_message ("behaviour %d, slot %d", behaviour, slot);
        g_assert_cmpuint (calls, ==, before + 1);
        assert_outcome (ok, error, "plug: ");
      }
}

static void
test_missing_slots (void)
{
  g_autoptr (TestBarePlugin) plugin = g_object_new (TEST_TYPE_BARE_PLUGIN, NULL);
  GloveLimitMechanism mechanisms[GLOVE_N_LIMITS];
  GloveChannelBounds bounds = { 1, 2, 3, 4 };
  g_autoptr (GError) bounds_error = NULL;
  gboolean ok;

  for (int slot = 0;; slot++)
    {
      g_autoptr (GError) error = NULL;

      if (!call_slot (plugin, slot, &ok, &error))
        break;
      g_test_message ("slot %d", slot);
      g_assert_cmpint (ok, ==, slot >= 6); /* open and flush have defaults that succeed */
      if (!ok)
        glove_test_assert_error (error, GLOVE_ERROR_NOT_SUPPORTED, "TestBarePlugin: ");
    }
  g_assert_cmpstr (glove_audit_sink_get_sink_id (GLOVE_AUDIT_SINK (plugin)), ==, "TestBarePlugin");
  g_assert_false (glove_audit_sink_is_durable (GLOVE_AUDIT_SINK (plugin)));
  g_assert_cmpstr (glove_channel_schema_get_schema_id (GLOVE_CHANNEL_SCHEMA (plugin)), ==, "TestBarePlugin");
  g_assert_null (glove_channel_schema_get_adapter_id (GLOVE_CHANNEL_SCHEMA (plugin)));
  g_assert_null (glove_channel_schema_get_transport_id (GLOVE_CHANNEL_SCHEMA (plugin)));
  g_assert_null (glove_channel_schema_list_runtime_ids (GLOVE_CHANNEL_SCHEMA (plugin))[0]);
  g_assert_false (glove_channel_schema_get_bounds (GLOVE_CHANNEL_SCHEMA (plugin), &bounds, &bounds_error));
  glove_test_assert_error (bounds_error, GLOVE_ERROR_NOT_SUPPORTED, "get_bounds");
  g_assert_cmpuint (bounds.max_items, ==, 1);
  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (GLOVE_RUNTIME_ADAPTER (plugin)), ==, "TestBarePlugin");
  g_assert_null (glove_runtime_adapter_get_executable_name (GLOVE_RUNTIME_ADAPTER (plugin)));
  g_assert_null (glove_runtime_adapter_get_skills_root (GLOVE_RUNTIME_ADAPTER (plugin)));
  g_assert_null (glove_runtime_adapter_get_credential_target (GLOVE_RUNTIME_ADAPTER (plugin)));
  g_assert_null (glove_runtime_adapter_list_provider_endpoints (GLOVE_RUNTIME_ADAPTER (plugin))[0]);
  g_assert_false (glove_runtime_adapter_accepts_provider_url (GLOVE_RUNTIME_ADAPTER (plugin)));
  g_assert_cmpstr (glove_sandbox_backend_get_backend_id (GLOVE_SANDBOX_BACKEND (plugin)), ==, "TestBarePlugin");
  memset (mechanisms, 0x55, sizeof mechanisms);
  glove_sandbox_backend_query_mechanisms (GLOVE_SANDBOX_BACKEND (plugin), mechanisms, NULL);
  for (int i = 0; i < GLOVE_N_LIMITS; i++)
    g_assert_cmpint (mechanisms[i], ==, GLOVE_LIMIT_MECHANISM_UNAVAILABLE);
}

/* What a wrapper refuses never reaches the plugin; what a plugin answers is judged. */
static void
test_judged (void)
{
  g_autoptr (TestPlugin) plugin = g_object_new (TEST_TYPE_PLUGIN, NULL);
  GloveChannelSchema *schema = GLOVE_CHANNEL_SCHEMA (plugin);
  GloveRuntimeAdapter *adapter = GLOVE_RUNTIME_ADAPTER (plugin);
  GloveSandboxBackend *backend = GLOVE_SANDBOX_BACKEND (plugin);
  GloveRuntimeRequest with_url = request;
  GloveLimitMechanism mechanisms[GLOVE_N_LIMITS];
  char *repairs[GLOVE_N_LIMITS];
  GloveChannelBounds bounds;
  g_autoptr (GloveRuntimeHome) home = NULL;
  g_autoptr (GloveLaunchSpec) empty_spec = glove_launch_spec_new ("s-1");
  g_autoptr (GError) error = NULL;
  guint before = calls;

  behaviour = SUCCEED;
  for (gsize size = 9; size <= 11; size++)
    {
      g_autoptr (GBytes) body = g_bytes_new ("0123456789a", size);

      g_assert_cmpint (glove_channel_schema_validate_body (schema, body, &error), ==, size <= 10);
    }
  glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "plug: body is larger than 10 bytes");
  g_clear_error (&error);
  g_assert_cmpuint (calls, ==, before + 2);
  bounds_given.max_items = 0;
  g_assert_false (glove_channel_schema_get_bounds (schema, &bounds, &error));
  glove_test_assert_error (error, GLOVE_ERROR_CONTRACT, "plug: channel bound max_items");
  g_clear_error (&error);
  bounds_given.max_items = 1;
  g_assert_true (glove_channel_schema_get_bounds (schema, &bounds, &error));
  g_assert_cmpuint (bounds.max_body_bytes, ==, 10);
  g_assert_null (glove_channel_schema_get_transport_id (schema));

  g_assert_cmpstr (glove_runtime_adapter_get_skills_root (adapter), ==, ".x/skills");
  g_assert_null (glove_runtime_adapter_get_executable_name (adapter)); /* it has a slash */
  path_given = "../skills";
  g_assert_null (glove_runtime_adapter_get_skills_root (adapter));
  g_assert_null (glove_runtime_adapter_get_credential_target (adapter));
  path_given = "agent";
  g_assert_cmpstr (glove_runtime_adapter_get_executable_name (adapter), ==, "agent");

  with_url.provider_url = "http://127.0.0.1:1";
  before = calls;
  g_assert_null (glove_runtime_adapter_build_home (adapter, &with_url, &error));
  glove_test_assert_error (error, GLOVE_ERROR_NOT_SUPPORTED, "plug: ");
  g_clear_error (&error);
  g_assert_cmpuint (calls, ==, before);
  accepts_url = TRUE;
  home = glove_runtime_adapter_build_home (adapter, &with_url, &error);
  g_assert_no_error (error);

  before = calls;
  g_assert_null (glove_sandbox_backend_prepare (backend, empty_spec, &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "there is no command");
  g_clear_error (&error);
  g_assert_null (glove_sandbox_backend_adopt (backend, "a/b", &error));
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "malformed session id");
  g_assert_cmpuint (calls, ==, before);
  glove_sandbox_backend_query_mechanisms (backend, mechanisms, repairs);
  g_assert_cmpint (mechanisms[GLOVE_LIMIT_MEMORY], ==, GLOVE_LIMIT_MECHANISM_RLIMIT);
  g_assert_cmpint (mechanisms[GLOVE_LIMIT_PIDS], ==, GLOVE_LIMIT_MECHANISM_UNAVAILABLE);
  g_assert_cmpstr (repairs[GLOVE_LIMIT_PIDS], ==, "repair");
  g_assert_null (repairs[GLOVE_LIMIT_MEMORY]);
  g_free (repairs[GLOVE_LIMIT_PIDS]);
}

static void
keep_result (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GAsyncResult **ret_result = user_data;

  *ret_result = g_object_ref (result);
}

static GAsyncResult *
wait_for (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return g_steal_pointer (result);
}

static gboolean
call_sandbox_slot (GloveSandbox *sandbox, int slot, gboolean *ret_ok, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;
  GAsyncResult *pending = NULL;
  GloveOutcome outcome;
  GloveUsage usage;
  int fd;

  switch (slot)
    {
    case 0:
      glove_sandbox_start_async (sandbox, NULL, keep_result, &pending);
      result = wait_for (&pending);
      *ret_ok = glove_sandbox_start_finish (sandbox, result, error);
      return TRUE;
    case 1:
      glove_sandbox_finish_async (sandbox, NULL, keep_result, &pending);
      result = wait_for (&pending);
      *ret_ok = glove_sandbox_finish_finish (sandbox, result, &outcome, error);
      return TRUE;
    case 2:
      fd = glove_sandbox_dup_terminal (sandbox, error);
      *ret_ok = fd >= 0;
      if (fd >= 0)
        g_assert_no_errno (close (fd));
      return TRUE;
    case 3:
      *ret_ok = glove_sandbox_resize (sandbox, 1, 4096, error);
      return TRUE;
    case 4:
      *ret_ok = glove_sandbox_send_signal (sandbox, SIGTERM, error);
      return TRUE;
    case 5:
      *ret_ok = glove_sandbox_freeze (sandbox, TRUE, error);
      return TRUE;
    case 6:
      *ret_ok = glove_sandbox_read_usage (sandbox, &usage, error);
      return TRUE;
    case 7:
      *ret_ok = glove_sandbox_write_input (sandbox, (const guint8 *) "x", 1, error) >= 0;
      return TRUE;
    case 8:
      *ret_ok = glove_sandbox_attach (sandbox, 0, error);
      return TRUE;
    default:
      return FALSE;
    }
}

static void
test_sandbox (void)
{
  g_autoptr (TestPlugin) plugin = g_object_new (TEST_TYPE_PLUGIN, NULL);
  g_autoptr (GloveSandbox) warm_up = g_object_new (TEST_TYPE_SANDBOX, NULL);
  gboolean ok;
  guint fds;

  behaviour = SUCCEED;
  g_assert_true (call_sandbox_slot (warm_up, 0, &ok, NULL)); /* GLib opens its own descriptors now */
  fds = glove_test_count_fds ();
  for (Behaviour wanted = SUCCEED; wanted < N_BEHAVIOURS; wanted++)
    for (int slot = 0;; slot++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (GloveSandbox) sandbox = NULL;

        behaviour = SUCCEED;
        sandbox = glove_sandbox_backend_adopt (GLOVE_SANDBOX_BACKEND (plugin), "s-1", NULL);
        behaviour = wanted;
        if (!call_sandbox_slot (sandbox, slot, &ok, &error))
          break;
        g_test_message ("behaviour %d, slot %d", wanted, slot);
        assert_outcome (ok, error, "plug: ");
      }
  glove_test_assert_fds (fds);
}

static void
test_bare_sandbox (void)
{
  g_autoptr (GloveSandbox) sandbox = g_object_new (TEST_TYPE_BARE_SANDBOX, NULL);
  gboolean ok;

  for (int slot = 0;; slot++)
    {
      g_autoptr (GError) error = NULL;

      if (!call_sandbox_slot (sandbox, slot, &ok, &error))
        break;
      g_test_message ("slot %d", slot);
      g_assert_false (ok);
      glove_test_assert_error (error, GLOVE_ERROR_NOT_SUPPORTED, "TestBareSandbox: ");
    }
  glove_sandbox_stop (sandbox, GLOVE_TERMINATION_SIGNALED);
}

static void
test_sandbox_input (void)
{
  static const int refused[] = { SIGKILL, SIGSTOP, SIGSEGV, 0, -1, 64 };
  static const guint16 sizes[][2] = { { 0, 80 }, { 24, 0 }, { 4097, 80 }, { 24, 4097 } };
  g_autoptr (GloveSandbox) sandbox = g_object_new (TEST_TYPE_SANDBOX, NULL);
  g_autoptr (GAsyncResult) result = NULL;
  GAsyncResult *pending = NULL;
  GloveOutcome outcome = { .exit_code = 77 };
  g_autoptr (GError) error = NULL;
  gboolean ok;
  guint before;

  behaviour = SUCCEED;
  before = calls;
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_assert_false (glove_sandbox_send_signal (sandbox, refused[i], &error));
      glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "signal");
      g_clear_error (&error);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_assert_false (glove_sandbox_resize (sandbox, sizes[i][0], sizes[i][1], &error));
      glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "1..4096");
      g_clear_error (&error);
    }
  g_assert_cmpuint (calls, ==, before);

  g_assert_true (call_sandbox_slot (sandbox, 0, &ok, &error) && ok);
  g_assert_true (call_sandbox_slot (sandbox, 0, &ok, &error));
  g_assert_false (ok);
  glove_test_assert_error (error, GLOVE_ERROR_INVALID_ARGUMENT, "was started before");
  g_clear_error (&error);

  cause_given = (GloveTermination) 99;
  glove_sandbox_finish_async (sandbox, NULL, keep_result, &pending);
  result = wait_for (&pending);
  g_assert_false (glove_sandbox_finish_finish (sandbox, result, &outcome, &error));
  glove_test_assert_error (error, GLOVE_ERROR_CONTRACT, "no cause that there is");
  g_assert_cmpuint (outcome.exit_code, ==, 77);
  g_clear_error (&error);
  cause_given = GLOVE_TERMINATION_EXITED;
  g_assert_true (glove_sandbox_finish_finish (sandbox, result, &outcome, &error));
  g_assert_cmpuint (outcome.exit_code, ==, 3);
}

typedef struct {
  guint sockets;
  guint32 tag;
  guint destroyed;
  gboolean replace;
} Handler;

static void
handler_destroy (gpointer data)
{
  Handler *handler = data;

  handler->destroyed++;
}

static void
handle_socket (GloveSandbox *sandbox, guint32 tag, int fd, gpointer user_data)
{
  Handler *handler = user_data;

  handler->sockets++;
  handler->tag = tag;
  g_assert_no_errno (close (fd));
  if (handler->replace)
    glove_sandbox_set_socket_handler (sandbox, NULL, NULL, NULL);
  g_assert_cmpuint (handler->destroyed, ==, 0); /* not while it runs */
}

static void
count_stops (GloveSandbox *sandbox, guint *stops)
{
  (*stops)++;
}

static void
test_sockets (void)
{
  g_autoptr (GloveSandbox) sandbox = g_object_new (TEST_TYPE_SANDBOX, NULL);
  guint fds = glove_test_count_fds ();
  Handler first = { 0 };
  Handler second = { .replace = TRUE };
  Handler third = { 0 };
  guint stops = 0;

  glove_sandbox_deliver_socket (sandbox, 1, open ("/dev/null", O_RDWR | O_CLOEXEC));
  glove_test_assert_fds (fds);
  glove_sandbox_set_socket_handler (sandbox, handle_socket, &first, handler_destroy);
  glove_sandbox_deliver_socket (sandbox, 7, open ("/dev/null", O_RDWR | O_CLOEXEC));
  g_assert_cmpuint (first.sockets, ==, 1);
  g_assert_cmpuint (first.tag, ==, 7);
  glove_sandbox_set_socket_handler (sandbox, handle_socket, &second, handler_destroy);
  g_assert_cmpuint (first.destroyed, ==, 1);
  glove_sandbox_deliver_socket (sandbox, 8, open ("/dev/null", O_RDWR | O_CLOEXEC));
  g_assert_cmpuint (second.sockets, ==, 1);
  g_assert_cmpuint (second.destroyed, ==, 1);
  glove_sandbox_deliver_socket (sandbox, 9, open ("/dev/null", O_RDWR | O_CLOEXEC));
  glove_test_assert_fds (fds);

  g_signal_connect (sandbox, "agent-stopped", G_CALLBACK (count_stops), &stops);
  glove_sandbox_emit_agent_stopped (sandbox);
  g_assert_cmpuint (stops, ==, 1);

  glove_sandbox_set_socket_handler (sandbox, handle_socket, &third, handler_destroy);
  g_clear_object (&sandbox);
  g_assert_cmpuint (third.destroyed, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/api/contract", test_contract);
  g_test_add_func ("/api/missing-slots", test_missing_slots);
  g_test_add_func ("/api/judged", test_judged);
  g_test_add_func ("/api/sandbox", test_sandbox);
  g_test_add_func ("/api/sandbox/bare", test_bare_sandbox);
  g_test_add_func ("/api/sandbox/input", test_sandbox_input);
  g_test_add_func ("/api/sandbox/sockets", test_sockets);
  return g_test_run ();
}
