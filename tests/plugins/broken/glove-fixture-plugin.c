/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One small runtime adapter, built many times: right (alpha, beta) and wrong in one way each. FIXTURE_NAME is the module's name. */

#include <stdlib.h>

#include <glove/glove-plugin.h>

#ifndef FIXTURE_ABI
#define FIXTURE_ABI GLOVE_PLUGIN_ABI
#endif
#ifndef FIXTURE_DESCRIPTOR_ABI
#define FIXTURE_DESCRIPTOR_ABI FIXTURE_ABI
#endif
#ifndef FIXTURE_RUNTIME_ID
#define FIXTURE_RUNTIME_ID FIXTURE_NAME
#endif
#ifndef FIXTURE_DESCRIPTOR_NAME
#define FIXTURE_DESCRIPTOR_NAME FIXTURE_NAME
#endif
#ifndef FIXTURE_SIZE
#define FIXTURE_SIZE sizeof (GlovePluginDescriptor)
#endif

#ifdef FIXTURE_MARKER
/* Says that code of this module ran: the control (constructor) must, the one behind a wrong ABI never. */
__attribute__ ((constructor)) static void
leave_a_mark (void)
{
  (void) setenv (FIXTURE_MARKER, "1", 1);
#ifdef FIXTURE_ABORT
  abort ();
#endif
}
#endif

#ifdef FIXTURE_UNRESOLVED
extern int glove_fixture_that_nobody_defines (void);
#endif

G_GNUC_UNUSED static const char *
get_runtime_id (GloveRuntimeAdapter *adapter)
{
#ifdef FIXTURE_UNRESOLVED
  if (glove_fixture_that_nobody_defines () != 0)
    return NULL;
#endif
  return FIXTURE_RUNTIME_ID;
}

G_GNUC_UNUSED static const char *
get_executable_name (GloveRuntimeAdapter *adapter)
{
  return FIXTURE_NAME;
}

G_GNUC_UNUSED static GloveRuntimeHome *
build_home (GloveRuntimeAdapter *adapter, const GloveRuntimeRequest *request, GError **error)
{
  return glove_runtime_home_new ();
}

G_GNUC_UNUSED static void
runtime_init (gpointer iface, gpointer data)
{
  GloveRuntimeAdapterInterface *runtime = iface;

  runtime->get_runtime_id = get_runtime_id;
  runtime->get_executable_name = get_executable_name;
  runtime->build_home = build_home;
}

static GType
fixture_get_type (void)
{
  static gsize type;

#ifdef FIXTURE_NO_TYPE
  return G_TYPE_INVALID;
#endif
  if (g_once_init_enter (&type))
    {
#ifdef FIXTURE_ABSTRACT
      const GTypeFlags flags = G_TYPE_FLAG_ABSTRACT;
#else
      const GTypeFlags flags = G_TYPE_FLAG_NONE;
#endif
      GType made = g_type_register_static_simple (G_TYPE_OBJECT, "GloveFixture-" FIXTURE_NAME, sizeof (GObjectClass),
                                                  NULL, sizeof (GObject), NULL, flags);
#ifndef FIXTURE_OTHER_TYPE
      const GInterfaceInfo runtime = { runtime_init, NULL, NULL };

      g_type_add_interface_static (made, GLOVE_TYPE_RUNTIME_ADAPTER, &runtime);
#endif
      g_once_init_leave (&type, made);
    }

  return type;
}

#ifndef FIXTURE_NO_NOTE
static const GlovePluginNote fixture_note
    __attribute__ ((section (GLOVE_PLUGIN_NOTE_SECTION), used, aligned (4)))
    = { sizeof (GLOVE_PLUGIN_NOTE_OWNER), 4 + GLOVE_PLUGIN_NOTE_NAME_MAX, GLOVE_PLUGIN_NOTE_TYPE,
        GLOVE_PLUGIN_NOTE_OWNER, FIXTURE_ABI, FIXTURE_NAME };
#endif

G_GNUC_UNUSED static const GlovePluginProvision fixture_provisions[] = {
  { "runtime:" FIXTURE_NAME, fixture_get_type },
  { NULL, NULL },
};

/* Spelled out rather than by the macro, because each part has to be wrong on its own. The example plugin uses the macro. */
extern const GlovePluginDescriptor FIXTURE_SYMBOL;
__attribute__ ((visibility ("default"))) const GlovePluginDescriptor FIXTURE_SYMBOL
    = { FIXTURE_DESCRIPTOR_ABI, FIXTURE_SIZE, FIXTURE_DESCRIPTOR_NAME, "1.0", "LGPL-2.1-or-later", NULL,
        fixture_provisions, { NULL } };

#ifdef FIXTURE_SECOND_SYMBOL
extern const GlovePluginDescriptor glove_plugin_descriptor_2;
__attribute__ ((visibility ("default"))) const GlovePluginDescriptor glove_plugin_descriptor_2
    = { FIXTURE_ABI, sizeof (GlovePluginDescriptor), FIXTURE_NAME, "1.0", "LGPL-2.1-or-later", NULL,
        fixture_provisions, { NULL } };
#endif
