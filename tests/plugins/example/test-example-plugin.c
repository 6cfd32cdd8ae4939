/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <libintl.h>
#include <string.h>

#include "glove-audit-sink.h"
#include "glove-catalog.h"
#include "glove-channel-schema.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-runtime-adapter.h"

static GObject *
create (const char *kind, const char *id, GType type)
{
  g_autoptr (GloveCatalog) catalog = glove_catalog_new_for_directory (EXAMPLE);
  g_autoptr (GError) error = NULL;
  GObject *object = glove_catalog_create (catalog, kind, id, type, &error);

  g_assert_no_error (error);
  return object;
}

/* The setting of the catalog entry stands in the agent's configuration. */
static void
test_settings (void)
{
  const GloveRuntimeRequest request = { .home = "/home/agent", .workspace = "/w", .model = "m1" };
  g_autoptr (GObject) adapter = create ("runtime", "example", GLOVE_TYPE_RUNTIME_ADAPTER);
  g_autoptr (GloveRuntimeHome) home = NULL;
  g_autoptr (GError) error = NULL;
  const GloveRuntimeHomeEntry *file = NULL;
  const GPtrArray *entries;

  home = glove_runtime_adapter_build_home (GLOVE_RUNTIME_ADAPTER (adapter), &request, &error);
  g_assert_no_error (error);
  entries = glove_runtime_home_get_entries (home);
  for (guint i = 0; i < entries->len; i++)
    if (((const GloveRuntimeHomeEntry *) g_ptr_array_index (entries, i))->content != NULL)
      file = g_ptr_array_index (entries, i);
  g_assert_nonnull (file);
  g_assert_cmpstr (file->path, ==, ".config/example/agent.conf");
  g_assert_cmpmem (g_bytes_get_data (file->content, NULL), g_bytes_get_size (file->content),
                   "greeting good morning\nmodel m1\n", strlen ("greeting good morning\nmodel m1\n"));
}

/* Its messages are looked for where ours are. */
static void
test_message_domain (void)
{
  g_autoptr (GObject) schema = create ("schema", "example.note.v1", GLOVE_TYPE_CHANNEL_SCHEMA);

  g_assert_nonnull (schema);
  g_assert_cmpstr (bindtextdomain ("glove-example", NULL), ==, GLOVE_LOCALEDIR);
}

/* A setting that the plugin does not know is refused by the plugin, with the module's name in front. */
static void
test_unknown_setting (void)
{
  static const char entry[] = "[Module example]\nLibrary=libglove-example.so\nAbi=1\n"
                              "Provides=runtime:example;schema:example.note.v1;sink:example\n[Settings]\nColour=red\n";
  g_autofree char *directory = g_dir_make_tmp ("glove-example-XXXXXX", NULL);
  g_autofree char *module = g_build_filename (directory, "libglove-example.so", NULL);
  g_autofree char *file = g_build_filename (directory, "example.conf", NULL);
  g_autofree char *bytes = NULL;
  g_autoptr (GloveCatalog) catalog = glove_catalog_new_for_directory (directory);
  g_autoptr (GObject) adapter = NULL;
  g_autoptr (GObject) sink = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (EXAMPLE "/libglove-example.so", &bytes, &length, NULL));
  g_assert_true (g_file_set_contents_full (module, bytes, (gssize) length, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  g_assert_true (g_file_set_contents_full (file, entry, -1, G_FILE_SET_CONTENTS_NONE, 0644, NULL));

  adapter = glove_catalog_create (catalog, "runtime", "example", GLOVE_TYPE_RUNTIME_ADAPTER, &error);
  g_assert_null (adapter);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_INVALID_DATA);
  g_assert_cmpstr (error->message, ==, "module 'example': unknown setting 'Colour'");
  g_assert_cmpstr (glove_error_get_hint (error), ==, "there is one setting: Greeting");

  /* What takes no settings is made without them. */
  g_clear_error (&error);
  sink = glove_catalog_create (catalog, "sink", "example", GLOVE_TYPE_AUDIT_SINK, &error);
  g_assert_no_error (error);
  g_assert_nonnull (sink);

  g_assert_cmpint (g_remove (module), ==, 0);
  g_assert_cmpint (g_remove (file), ==, 0);
  g_assert_cmpint (g_rmdir (directory), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/example/settings", test_settings);
  g_test_add_func ("/example/message-domain", test_message_domain);
  g_test_add_func ("/example/unknown-setting", test_unknown_setting);

  return g_test_run ();
}
