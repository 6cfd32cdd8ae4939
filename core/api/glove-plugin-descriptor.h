/* SPDX-License-Identifier: LGPL-2.1-or-later */

#pragma once

#include <gio/gio.h>

#include "glove-macros.h"

G_BEGIN_DECLS

/**
 * GLOVE_PLUGIN_ABI:
 *
 * The number that the catalog entry (`Abi=`), the ELF note and the descriptor of a module must all carry.
 */
#define GLOVE_PLUGIN_ABI 1

/**
 * GLOVE_PLUGIN_SYMBOL:
 *
 * The one symbol a module exports: a constant #GlovePluginDescriptor. Data, not code: nothing is computed when it is taken.
 */
#define GLOVE_PLUGIN_SYMBOL "glove_plugin_descriptor_1"

/**
 * GlovePluginProvision:
 * @id: `kind:name` as in the catalog's `Provides=`; kinds are "runtime", "schema", "backend" and "sink"
 * @get_type: a GObject type that implements the kind's interface. It is instantiated with no arguments, or, when the catalog
 *   entry has a `[Settings]` group, with the construct property "settings" (a boxed #GHashTable of strings to strings): a
 *   type without that property takes no settings
 *
 * Since: 1.0
 */
typedef struct {
  const char *id;
  GType (*get_type) (void);
} GlovePluginProvision;

/**
 * GlovePluginDescriptor:
 * @abi: #GLOVE_PLUGIN_ABI
 * @name: the module's name, as in the catalog's `[Module NAME]` and the ELF note
 * @version: of the plugin, for people
 * @licence: SPDX identifier
 * @gettext_domain: (nullable): message domain of its user-visible text, bound when the module is loaded
 * @provisions: ended by one with a %NULL id
 *
 * Since: 1.0
 */
typedef struct {
  guint32 abi;
  guint32 size; /* of this structure, so that it can grow */
  const char *name;
  const char *version;
  const char *licence;
  const char *gettext_domain;
  const GlovePluginProvision *provisions;
  gpointer reserved[8];
} GlovePluginDescriptor;

/* name size, descriptor size, type; then "Glove\0" padded to 8; then the ABI, then the module's name and NUL. gabi "Note Section". */
#define GLOVE_PLUGIN_NOTE_SECTION ".note.glove"
#define GLOVE_PLUGIN_NOTE_OWNER "Glove"
#define GLOVE_PLUGIN_NOTE_TYPE 1
#define GLOVE_PLUGIN_NOTE_NAME_MAX 64

typedef struct {
  guint32 namesz;
  guint32 descsz;
  guint32 type;
  char owner[8];
  guint32 abi;
  char name[GLOVE_PLUGIN_NOTE_NAME_MAX];
} GlovePluginNote;

/**
 * GLOVE_DEFINE_PLUGIN:
 * @NAME: the module's name, a string literal of at most 63 bytes
 * @VERSION: a string literal
 * @LICENCE: a string literal
 * @DOMAIN: a string literal, or %NULL
 * @...: the provisions, each `{ "kind:name", type_function }`
 *
 * Defines the module: the ELF note that is read before any of its code runs, and the descriptor.
 *
 * Since: 1.0
 */
#define GLOVE_DEFINE_PLUGIN(NAME, VERSION, LICENCE, DOMAIN, ...)                                                         \
  GLOVE_DEFINE_PLUGIN_WITH_ABI (GLOVE_PLUGIN_ABI, NAME, VERSION, LICENCE, DOMAIN, __VA_ARGS__)

/* For tests of the loader, which need a wrong one. */
#define GLOVE_DEFINE_PLUGIN_WITH_ABI(ABI, NAME, VERSION, LICENCE, DOMAIN, ...)                                           \
  G_STATIC_ASSERT (sizeof (NAME) <= GLOVE_PLUGIN_NOTE_NAME_MAX);                                                         \
  static const GlovePluginNote glove_plugin_note                                                                         \
      __attribute__ ((section (GLOVE_PLUGIN_NOTE_SECTION), used, aligned (4)))                                           \
      = { sizeof (GLOVE_PLUGIN_NOTE_OWNER), 4 + GLOVE_PLUGIN_NOTE_NAME_MAX, GLOVE_PLUGIN_NOTE_TYPE,                      \
          GLOVE_PLUGIN_NOTE_OWNER, (ABI), NAME };                                                                        \
  static const GlovePluginProvision glove_plugin_provisions[] = { __VA_ARGS__, { NULL, NULL } };                         \
  extern const GlovePluginDescriptor glove_plugin_descriptor_1;                                                          \
  __attribute__ ((visibility ("default"))) const GlovePluginDescriptor glove_plugin_descriptor_1                         \
      = { (ABI), sizeof (GlovePluginDescriptor), NAME, VERSION, LICENCE, DOMAIN, glove_plugin_provisions, { NULL } }

G_END_DECLS
