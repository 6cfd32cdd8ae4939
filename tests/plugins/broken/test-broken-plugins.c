/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <elf.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glove-catalog.h"
#include "glove-digest.h"
#include "glove-error.h"
#include "glove-fd.h"
#include "glove-runtime-adapter.h"

/* A catalog directory of its own, with a good module (alpha) and one that has something wrong with it. */
typedef struct {
  char *directory;
  char *library; /* path of the bad one */
  char *entry;   /* path of its catalog file */
} Fixture;

typedef void (*Spoil) (Fixture *fixture);

typedef struct {
  const char *path;    /* of the test */
  const char *fixture; /* module that is copied there as bad.so */
  const char *name;    /* as [Module NAME] and runtime:NAME; NULL: as the fixture */
  const char *more;    /* lines after Provides= */
  guint abi;           /* 0: 1 */
  Spoil spoil;         /* what is done to the files, or NULL */
  GloveError code;
  const char *message; /* must stand in the error */
  const char *hint;    /* must stand in its hint */
} BrokenCase;

static void
write_file (const char *path, const void *data, gssize length, guint mode)
{
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, length, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_chmod (path, mode), ==, 0);
}

static void
copy_module (const char *fixture, const char *to)
{
  g_autofree char *from = g_strconcat (FIXTURES "/libfixture-", fixture, ".so", NULL);
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  g_file_get_contents (from, &data, &length, &error);
  g_assert_no_error (error);
  write_file (to, data, (gssize) length, 0755);
}

static char *
add_module (const char *directory, const char *fixture, const char *library, const char *name, guint abi,
            const char *more)
{
  g_autofree char *path = g_build_filename (directory, library, NULL);
  g_autofree char *entry = g_strconcat (directory, "/", library, ".conf", NULL);
  g_autofree char *text = g_strdup_printf ("[Module %s]\nLibrary=%s\nAbi=%u\nProvides=runtime:%s;\n%s", name, library,
                                           abi, name, more != NULL ? more : "");

  copy_module (fixture, path);
  write_file (entry, text, -1, 0644);
  return g_steal_pointer (&entry);
}

static void
fixture_init (Fixture *fixture, const BrokenCase *broken)
{
  const char *name = broken->name != NULL ? broken->name : broken->fixture;
  g_autofree char *good = NULL;

  fixture->directory = g_dir_make_tmp ("glove-broken-XXXXXX", NULL);
  g_assert_nonnull (fixture->directory);
  g_assert_cmpint (g_chmod (fixture->directory, 0755), ==, 0);
  good = add_module (fixture->directory, "alpha", "alpha.so", "alpha", 1, NULL);
  fixture->library = g_build_filename (fixture->directory, "bad.so", NULL);
  fixture->entry = add_module (fixture->directory, broken->fixture, "bad.so", name, MAX (broken->abi, 1), broken->more);
}

static void
fixture_clear (Fixture *fixture)
{
  g_autoptr (GDir) dir = NULL;
  const char *name;

  if (fixture->directory == NULL)
    return;
  g_assert_cmpint (g_chmod (fixture->directory, 0755), ==, 0);
  dir = g_dir_open (fixture->directory, 0, NULL);
  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (fixture->directory, name, NULL);

      g_assert_cmpint (g_remove (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (fixture->directory), ==, 0);
  g_free (fixture->directory);
  g_free (fixture->library);
  g_free (fixture->entry);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static GObject *
create (GloveCatalog *catalog, const char *id, GError **error)
{
  return glove_catalog_create (catalog, "runtime", id, GLOVE_TYPE_RUNTIME_ADAPTER, error);
}

static void
assert_loads (GloveCatalog *catalog, const char *id)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GObject) object = create (catalog, id, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (GLOVE_RUNTIME_ADAPTER (object)), ==, id);
}

static void
assert_contains (const char *text, const char *part)
{
  if (text == NULL || strstr (text, part) == NULL)
    g_error ("'%s' does not contain '%s'", text, part);
}

static void
test_broken (gconstpointer data)
{
  const BrokenCase *broken = data;
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (GloveCatalog) catalog = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GObject) object = NULL;
  guint before;

  fixture_init (&fixture, broken);
  if (broken->spoil != NULL)
    broken->spoil (&fixture);
  catalog = glove_catalog_new_for_directory (fixture.directory);

  /* The good one first, so that its descriptor is no part of the count. */
  if (g_strcmp0 (broken->path, "/broken/world-writable-directory") != 0)
    assert_loads (catalog, "alpha");
  before = glove_fd_count_open ();
  object = create (catalog, broken->name != NULL ? broken->name : broken->fixture, &error);
  g_assert_null (object);
  g_test_message ("%s", error->message);
  g_assert_error (error, GLOVE_ERROR, (int) broken->code);
  assert_contains (error->message, broken->message);
  assert_contains (glove_error_get_hint (error), broken->hint);
  /* What runs stays; what was refused before leaves nothing open. */
  g_assert_cmpuint (glove_fd_count_open (), <=, before + 1);

  if (g_strcmp0 (broken->path, "/broken/world-writable-directory") != 0)
    assert_loads (catalog, "alpha");
}

static void
spoil_world_writable (Fixture *fixture)
{
  g_assert_cmpint (g_chmod (fixture->library, 0757), ==, 0);
}

static void
spoil_group_writable (Fixture *fixture)
{
  g_assert_cmpint (g_chmod (fixture->library, 0775), ==, 0);
}

static void
spoil_directory (Fixture *fixture)
{
  g_assert_cmpint (g_chmod (fixture->directory, 0777), ==, 0);
}

static void
spoil_symlink (Fixture *fixture)
{
  g_assert_cmpint (g_remove (fixture->library), ==, 0);
  g_assert_cmpint (symlink ("alpha.so", fixture->library), ==, 0);
}

static void
spoil_pipe (Fixture *fixture)
{
  g_assert_cmpint (g_remove (fixture->library), ==, 0);
  g_assert_cmpint (mkfifo (fixture->library, 0644), ==, 0);
}

static void
spoil_missing (Fixture *fixture)
{
  g_assert_cmpint (g_remove (fixture->library), ==, 0);
}

static void
spoil_empty (Fixture *fixture)
{
  write_file (fixture->library, "", 0, 0755);
}

static void
spoil_text (Fixture *fixture)
{
  write_file (fixture->library, "#!/bin/sh\n", -1, 0755);
}

static void
patch (Fixture *fixture, goffset offset, const void *bytes, gsize length)
{
  glove_autofd int fd = open (fixture->library, O_WRONLY | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (pwrite (fd, bytes, length, offset), ==, length);
}

static void
spoil_class (Fixture *fixture)
{
  patch (fixture, EI_CLASS, &(guint8){ sizeof (ElfW (Addr)) == 8 ? ELFCLASS32 : ELFCLASS64 }, 1);
}

static void
spoil_byte_order (Fixture *fixture)
{
  patch (fixture, EI_DATA, &(guint8){ G_BYTE_ORDER == G_LITTLE_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB }, 1);
}

static void
spoil_machine (Fixture *fixture)
{
  patch (fixture, G_STRUCT_OFFSET (ElfW (Ehdr), e_machine), &(guint16){ EM_VAX }, 2);
}

static void
spoil_executable (Fixture *fixture)
{
  patch (fixture, G_STRUCT_OFFSET (ElfW (Ehdr), e_type), &(guint16){ ET_EXEC }, 2);
}

static void
spoil_truncate (Fixture *fixture)
{
  struct stat st;

  g_assert_cmpint (stat (fixture->library, &st), ==, 0);
  g_assert_cmpint (truncate (fixture->library, st.st_size - 1), ==, 0);
}

#define NONE NULL
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static const BrokenCase cases[] = {
  { "/broken/missing-symbol", "no-symbol", NONE, NONE, 0, NULL, GLOVE_ERROR_UNTRUSTED,
    "bad.so: does not export 'glove_plugin_descriptor_1'", "GLOVE_DEFINE_PLUGIN" },
  { "/broken/two-symbols", "two-symbols", NONE, NONE, 0, NULL, GLOVE_ERROR_UNTRUSTED,
    "bad.so: exports 'glove_plugin_descriptor_2' besides", "version script" },
  { "/broken/missing-note", "no-note", NONE, NONE, 0, NULL, GLOVE_ERROR_UNTRUSTED, "bad.so: has no plugin note",
    "GLOVE_DEFINE_PLUGIN" },
  { "/broken/abi-in-the-note", "wrong-abi", NONE, NONE, 0, NULL, GLOVE_ERROR_UNTRUSTED,
    "bad.so: its note says ABI 99; this Glove takes 1", "install a build" },
  { "/broken/abi-in-the-catalog", "beta", NONE, NONE, 2, NULL, GLOVE_ERROR_UNTRUSTED,
    "bad.so.conf says Abi=2; this Glove takes 1", "install a build of 'beta'" },
  { "/broken/name-in-the-note", "beta", "gamma", NONE, 0, NULL, GLOVE_ERROR_UNTRUSTED,
    "its note names the module 'beta'", "[Module gamma]" },
  { "/broken/world-writable-file", "beta", NONE, NONE, 0, spoil_world_writable, GLOVE_ERROR_UNTRUSTED,
    "bad.so: is writable by everybody (mode 0757)", "chmod go-w /" },
  { "/broken/group-writable-file", "beta", NONE, NONE, 0, spoil_group_writable, GLOVE_ERROR_UNTRUSTED,
    "bad.so: is writable by its group (mode 0775)", "chmod go-w /" },
  { "/broken/world-writable-directory", "beta", NONE, NONE, 0, spoil_directory, GLOVE_ERROR_UNTRUSTED,
    ": is writable by everybody (mode 0777)", "chmod go-w /" },
  { "/broken/symlink", "beta", NONE, NONE, 0, spoil_symlink, GLOVE_ERROR_UNTRUSTED, "bad.so: is a symbolic link",
    "Library=" },
  { "/broken/pipe", "beta", NONE, NONE, 0, spoil_pipe, GLOVE_ERROR_UNTRUSTED,
    "bad.so: is a named pipe, not a regular file", "put a regular file there" },
  { "/broken/missing-file", "beta", NONE, NONE, 0, spoil_missing, GLOVE_ERROR_NOT_FOUND, "bad.so: does not exist",
    "install the module" },
  { "/broken/digest", "beta", NONE, "Sha256=" ZEROS "\n", 0, NULL, GLOVE_ERROR_UNTRUSTED, "pins " ZEROS,
    "find out who changed the file" },
  { "/broken/relative-path", "relative-path", NONE, NONE, 0, NULL, GLOVE_ERROR_UNTRUSTED,
    "bad.so: looks for libraries in 'libraries', which depends on the current folder", "-rpath" },
  { "/broken/empty-path", "empty-path", NONE, NONE, 0, NULL, GLOVE_ERROR_UNTRUSTED,
    "bad.so: looks for libraries in '', which depends on the current folder", "-rpath" },
  { "/broken/open-path", "open-path", NONE, NONE, 0, NULL, GLOVE_ERROR_UNTRUSTED,
    "bad.so: looks for libraries in '/tmp/glove-no-such-folder/libraries', which somebody else can make", "-rpath" },
  { "/broken/library-by-path", "library-by-path", NONE, NONE, 0, NULL, GLOVE_ERROR_UNTRUSTED,
    "bad.so: needs the library 'libraries/libother.so', which depends on the current folder", "by name" },
  { "/broken/empty", "beta", NONE, NONE, 0, spoil_empty, GLOVE_ERROR_INVALID_DATA, "bad.so: has 0 bytes",
    "install the module again" },
  { "/broken/text", "beta", NONE, NONE, 0, spoil_text, GLOVE_ERROR_INVALID_DATA, "bad.so: is not an ELF file",
    "install the module again" },
  { "/broken/other-class", "beta", NONE, NONE, 0, spoil_class, GLOVE_ERROR_INVALID_DATA, "-bit ELF file",
    "install the module again" },
  { "/broken/other-byte-order", "beta", NONE, NONE, 0, spoil_byte_order, GLOVE_ERROR_INVALID_DATA, "other byte order",
    "install the module again" },
  { "/broken/other-machine", "beta", NONE, NONE, 0, spoil_machine, GLOVE_ERROR_INVALID_DATA, "for machine 75; this one is",
    "install the module again" },
  { "/broken/executable", "beta", NONE, NONE, 0, spoil_executable, GLOVE_ERROR_INVALID_DATA, "no shared object",
    "install the module again" },
  { "/broken/truncated", "beta", NONE, NONE, 0, spoil_truncate, GLOVE_ERROR_INVALID_DATA,
    "bad.so: is cut short before the end of its section header table", "install the module again" },
  { "/broken/descriptor-abi", "descriptor-abi", NONE, NONE, 0, NULL, GLOVE_ERROR_CONTRACT,
    "its descriptor says ABI 2, and its note 1", "tell its author" },
  { "/broken/descriptor-name", "descriptor-name", NONE, NONE, 0, NULL, GLOVE_ERROR_CONTRACT,
    "its descriptor names the module 'somebody-else', and its note 'descriptor-name'", "tell its author" },
  { "/broken/descriptor-size", "descriptor-size", NONE, NONE, 0, NULL, GLOVE_ERROR_CONTRACT,
    "its descriptor has 8 bytes", "tell its author" },
  { "/broken/other-type", "other-type", NONE, NONE, 0, NULL, GLOVE_ERROR_CONTRACT,
    "does not implement GloveRuntimeAdapter", "tell its author" },
  { "/broken/abstract-type", "abstract-type", NONE, NONE, 0, NULL, GLOVE_ERROR_CONTRACT, "is abstract",
    "tell its author" },
  { "/broken/no-type", "no-type", NONE, NONE, 0, NULL, GLOVE_ERROR_CONTRACT, "its type is no object type",
    "tell its author" },
  { "/broken/other-id", "other-id", NONE, NONE, 0, NULL, GLOVE_ERROR_CONTRACT, "the object says it is 'somebody-else'",
    "tell its author" },
  { "/broken/unresolved", "unresolved", NONE, NONE, 0, NULL, GLOVE_ERROR_FAILED,
    "bad.so: can't be loaded: undefined symbol: glove_fixture_that_nobody_defines", "ldd " },
  { "/broken/no-settings", "beta", NONE, "[Settings]\nA=b\n", 0, NULL, GLOVE_ERROR_INVALID_DATA,
    "module 'beta' takes no settings", "remove [Settings]" },
  { "/broken/unknown-key", "beta", NONE, "Colour=red\n", 0, NULL, GLOVE_ERROR_NOT_FOUND,
    "no plugin provides runtime:beta", "unknown key 'Colour'" },
};

static void
skip (const char *reason)
{
  if (g_strcmp0 (g_getenv ("GLOVE_TESTS_MUST_RUN"), "1") == 0)
    g_test_fail_printf ("nothing may be skipped here, and this %s", reason);
  else
    g_test_skip (reason);
}

static void
test_foreign_owner (void)
{
  const BrokenCase broken = { "", "beta" };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (GloveCatalog) catalog = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GObject) object = NULL;

  if (geteuid () != 0)
    {
      skip ("needs root: a file of another user");
      return;
    }

  fixture_init (&fixture, &broken);
  if (chown (fixture.library, 4242, 4242) != 0)
    {
      skip ("needs a second user id in this user namespace");
      return;
    }
  catalog = glove_catalog_new_for_directory (fixture.directory);
  object = create (catalog, "beta", &error);
  g_assert_null (object);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNTRUSTED);
  assert_contains (error->message, "bad.so: belongs to user 4242");
  assert_contains (glove_error_get_hint (error), "chown root");
  assert_loads (catalog, "alpha");
}

static void
test_duplicate (void)
{
  const BrokenCase broken = { "", "beta", "alpha" }; /* says runtime:alpha, as alpha.so.conf does */
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (GloveCatalog) catalog = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GObject) object = NULL;
  g_autofree char *other = NULL;

  fixture_init (&fixture, &broken);
  other = add_module (fixture.directory, "beta", "beta.so", "beta", 1, NULL);
  catalog = glove_catalog_new_for_directory (fixture.directory);
  object = create (catalog, "alpha", &error);
  g_assert_null (object);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_CONFLICT);
  assert_contains (error->message, "runtime:alpha is provided by two files: ");
  assert_contains (error->message, "/alpha.so.conf and /");
  assert_contains (error->message, "/bad.so.conf");
  assert_contains (glove_error_get_hint (error), "Enabled=false");
  assert_loads (catalog, "beta");
}

static void
test_provisions_differ (void)
{
  static const struct {
    const char *provides;
    const char *id;
    const char *message;
  } differences[] = {
    { "runtime:beta;runtime:delta", "beta", "does not provide 'runtime:delta', which Provides= in" },
    { "runtime:delta", "delta", "provides 'runtime:beta', which Provides= in" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (differences); i++)
    {
      const BrokenCase broken = { "", "beta" };
      g_auto (Fixture) fixture = { 0 };
      g_autoptr (GloveCatalog) catalog = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GObject) object = NULL;
      g_autofree char *text = g_strdup_printf ("[Module beta]\nLibrary=bad.so\nAbi=1\nProvides=%s\n",
                                               differences[i].provides);

      fixture_init (&fixture, &broken);
      write_file (fixture.entry, text, -1, 0644);
      catalog = glove_catalog_new_for_directory (fixture.directory);
      object = create (catalog, differences[i].id, &error);
      g_assert_null (object);
      g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_CONTRACT);
      assert_contains (error->message, differences[i].message);
      assert_loads (catalog, "alpha");
    }
}

/* A constructor runs when a module is loaded (the control), and never when it is refused. */
static void
test_constructor (void)
{
  const BrokenCase control = { "", "constructor" };
  const BrokenCase behind_wrong_abi = { "", "wrong-abi" };
  g_auto (Fixture) good = { 0 };
  g_auto (Fixture) bad = { 0 };
  g_autoptr (GloveCatalog) good_catalog = NULL;
  g_autoptr (GloveCatalog) bad_catalog = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GObject) object = NULL;

  g_unsetenv ("GLOVE_FIXTURE_CONSTRUCTOR");
  g_unsetenv ("GLOVE_FIXTURE_WRONG_ABI");

  fixture_init (&bad, &behind_wrong_abi);
  bad_catalog = glove_catalog_new_for_directory (bad.directory);
  object = create (bad_catalog, "wrong-abi", &error);
  g_assert_null (object);
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNTRUSTED);
  g_assert_null (g_getenv ("GLOVE_FIXTURE_WRONG_ABI"));
  g_clear_error (&error);
  g_assert_null (glove_catalog_check_file (bad_catalog, bad.library, NULL, &error));
  g_assert_error (error, GLOVE_ERROR, GLOVE_ERROR_UNTRUSTED);
  g_assert_null (g_getenv ("GLOVE_FIXTURE_WRONG_ABI"));

  fixture_init (&good, &control);
  good_catalog = glove_catalog_new_for_directory (good.directory);
  g_assert_null (g_getenv ("GLOVE_FIXTURE_CONSTRUCTOR"));
  assert_loads (good_catalog, "constructor");
  g_assert_cmpstr (g_getenv ("GLOVE_FIXTURE_CONSTRUCTOR"), ==, "1");
}

/* A search path that is nobody else's to write is no fault. */
static void
test_closed_path (void)
{
  const BrokenCase closed = { "", "closed-path" };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (GloveCatalog) catalog = NULL;

  fixture_init (&fixture, &closed);
  catalog = glove_catalog_new_for_directory (fixture.directory);
  assert_loads (catalog, "closed-path");
}

/* What runs is what was checked: a file that is replaced afterwards changes nothing, and one opened by an old number is not mixed up
 * with its predecessor. */
static void
test_one_after_the_other (void)
{
  const BrokenCase both = { "", "beta" };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (GloveCatalog) catalog = NULL;
  g_autoptr (GloveCatalog) again = NULL;
  g_autoptr (GObject) alpha = NULL;
  g_autoptr (GObject) beta = NULL;
  guint open_before;

  fixture_init (&fixture, &both);
  catalog = glove_catalog_new_for_directory (fixture.directory);
  alpha = create (catalog, "alpha", NULL);
  beta = create (catalog, "beta", NULL);
  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (GLOVE_RUNTIME_ADAPTER (alpha)), ==, "alpha");
  g_assert_cmpstr (glove_runtime_adapter_get_runtime_id (GLOVE_RUNTIME_ADAPTER (beta)), ==, "beta");
  g_assert_true (G_OBJECT_TYPE (alpha) != G_OBJECT_TYPE (beta));

  /* A second catalog in this process finds the same bytes loaded: same types, no further descriptor. */
  open_before = glove_fd_count_open ();
  again = glove_catalog_new_for_directory (fixture.directory);
  assert_loads (again, "beta");
  assert_loads (again, "alpha");
  g_assert_cmpuint (glove_fd_count_open (), ==, open_before);
}

static void
test_pinned_digest (void)
{
  const BrokenCase broken = { "", "beta" };
  g_auto (Fixture) fixture = { 0 };
  g_autoptr (GloveCatalog) catalog = NULL;
  g_autofree char *data = NULL;
  g_autofree char *digest = NULL;
  g_autofree char *text = NULL;
  gsize length;

  fixture_init (&fixture, &broken);
  g_assert_true (g_file_get_contents (fixture.library, &data, &length, NULL));
  digest = glove_digest_of_data (data, length);
  text = g_strdup_printf ("[Module beta]\nLibrary=bad.so\nAbi=1\nProvides=runtime:beta\nSha256=%s\n", digest);
  write_file (fixture.entry, text, -1, 0644);
  catalog = glove_catalog_new_for_directory (fixture.directory);
  assert_loads (catalog, "beta");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_test_add_data_func (cases[i].path, &cases[i], test_broken);
  g_test_add_func ("/broken/foreign-owner", test_foreign_owner);
  g_test_add_func ("/broken/duplicate", test_duplicate);
  g_test_add_func ("/broken/provisions", test_provisions_differ);
  g_test_add_func ("/broken/constructor", test_constructor);
  g_test_add_func ("/broken/closed-path", test_closed_path);
  g_test_add_func ("/loader/one-after-the-other", test_one_after_the_other);
  g_test_add_func ("/loader/pinned-digest", test_pinned_digest);

  return g_test_run ();
}
