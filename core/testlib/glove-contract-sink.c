/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "glove-contract-cases-private.h"

#define FILE_NAME "audit.jsonl"

/* Where the sink under test writes; it lives as long as the sink. */
typedef struct {
  char *path;
  int dirfd;
} Place;

static void
place_free (gpointer data)
{
  Place *place = data;
  g_autofree char *file = g_build_filename (place->path, FILE_NAME, NULL);

  (void) g_remove (file);
  (void) g_rmdir (place->path);
  (void) g_close (place->dirfd, NULL);
  g_free (place->path);
  g_free (place);
}

/* Opens the sink the first time. */
static Place *
get_place (GloveAuditSink *sink)
{
  Place *place = g_object_get_data (G_OBJECT (sink), "glove-contract-place");
  g_autoptr (GError) error = NULL;

  if (place != NULL)
    return place;

  place = g_new0 (Place, 1);
  place->path = g_dir_make_tmp ("glove-contract-XXXXXX", &error);
  g_assert_no_error (error);
  place->dirfd = open (place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_cmpint (place->dirfd, >=, 0);
  g_object_set_data_full (G_OBJECT (sink), "glove-contract-place", place, place_free);

  g_assert_true (glove_audit_sink_open (sink, place->dirfd, FILE_NAME, &error));
  g_assert_no_error (error);
  return place;
}

/* -1: this sink makes no file. */
static gint64
get_size (const Place *place)
{
  struct stat st;

  return fstatat (place->dirfd, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (gint64) st.st_size : -1;
}

static GloveAuditEvent *
make_event (const char *tool)
{
  GloveAuditEvent *event
      = glove_audit_event_new (GLOVE_AUDIT_ACTION_EGRESS, GLOVE_AUDIT_STATUS_EXECUTION_ERROR, "contract-session", tool);

  glove_audit_event_set_arguments (event, "{\"n\":1}");
  glove_audit_event_set_error (event, "denied by the contract");
  glove_audit_event_set_verdict (event, "network", "contract-rule", "--allow-host contract.example");
  return event;
}

static char *
describe (const GloveAuditEvent *event)
{
  g_autoptr (GString) text = g_string_new (NULL);

  glove_audit_event_append_json_open (event, text);
  g_string_append_printf (text, "|%s|%s|%s|%s", event->session, event->plane, event->rule, event->allow);
  return g_strdup (text->str);
}

/* Records a group and checks that the sink left the events as they were. */
static void
record (GloveAuditSink *sink, GPtrArray *events)
{
  g_autoptr (GPtrArray) before = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < events->len; i++)
    g_ptr_array_add (before, describe (g_ptr_array_index (events, i)));

  g_assert_true (glove_audit_sink_record (sink, (GloveAuditEvent *const *) events->pdata, events->len, &error));
  g_assert_no_error (error);

  for (guint i = 0; i < events->len; i++)
    {
      g_autofree char *after = describe (g_ptr_array_index (events, i));

      g_assert_cmpstr (after, ==, g_ptr_array_index (before, i));
    }
}

static GPtrArray *
make_events (const char *tool, guint n)
{
  GPtrArray *events = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_audit_event_unref);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s-%u", tool, i);

      g_ptr_array_add (events, make_event (name));
    }

  return events;
}

static void
check_constants (gconstpointer object)
{
  GloveAuditSink *sink = GLOVE_AUDIT_SINK ((gpointer) object);

  g_assert_true (glove_audit_sink_get_sink_id (sink) == glove_audit_sink_get_sink_id (sink));
  g_assert_cmpint (glove_audit_sink_is_durable (sink), ==, glove_audit_sink_is_durable (sink));
}

static void
check_open (gconstpointer object)
{
  GloveAuditSink *sink = GLOVE_AUDIT_SINK ((gpointer) object);
  const Place *place = get_place (sink);
  struct stat st;

  /* What a sink makes is the operator's alone. */
  if (fstatat (place->dirfd, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0)
    {
      g_assert_true (S_ISREG (st.st_mode));
      g_assert_cmpuint (st.st_mode & 077, ==, 0);
    }
}

static void
check_record (gconstpointer object)
{
  GloveAuditSink *sink = GLOVE_AUDIT_SINK ((gpointer) object);
  const Place *place = get_place (sink);
  gint64 size = get_size (place);

  for (guint n = 1; n <= 65; n += 32)
    {
      g_autoptr (GPtrArray) events = make_events ("record", n);

      record (sink, events);
      if (size >= 0)
        g_assert_cmpint (get_size (place), >, size);
      size = get_size (place);
    }
}

/* A sink that writes a file of lines has them in order, one an event, nothing in between. */
static void
check_order (gconstpointer object)
{
  GloveAuditSink *sink = GLOVE_AUDIT_SINK ((gpointer) object);
  const Place *place = get_place (sink);
  const gint64 start = get_size (place);
  g_autofree char *path = g_build_filename (place->path, FILE_NAME, NULL);
  g_autofree char *content = NULL;
  const char *at;

  for (guint group = 0; group < 4; group++)
    {
      g_autofree char *name = g_strdup_printf ("order-%u", group);
      g_autoptr (GPtrArray) events = make_events (name, 7);

      record (sink, events);
    }
  if (start < 0)
    return;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  at = content + start;
  for (guint i = 0; i < 4 * 7; i++)
    {
      g_autofree char *name = g_strdup_printf ("order-%u-%u\"", i / 7, i % 7);
      const char *found = strstr (at, name);
      const char *next = strstr (at, "order-");

      if (i == 0 && found == NULL)
        return; /* not a format that spells names out */
      g_assert_nonnull (found);
      g_assert_true (found == next);
      at = found + strlen (name);
    }
}

static void
check_hostile_bytes (gconstpointer object)
{
  static const char *const texts[] = {
    "a\nb", "a\r\nb", "\"}", "\\", "\x01\x1b[31m", "\xff\xfe\x80", "\xe2\x80\xae", "", "{\"seq\":1}\n{\"seq\":2}",
  };
  GloveAuditSink *sink = GLOVE_AUDIT_SINK ((gpointer) object);
  const Place *place = get_place (sink);
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func ((GDestroyNotify) glove_audit_event_unref);
  g_autofree char *path = g_build_filename (place->path, FILE_NAME, NULL);
  g_autofree char *content = NULL;
  const gint64 start = get_size (place);
  guint lines = 0;

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      GloveAuditEvent *event = make_event (texts[i]);

      glove_audit_event_set_arguments (event, texts[i]);
      glove_audit_event_set_error (event, texts[i]);
      glove_audit_event_set_verdict (event, "network", texts[i], texts[i]);
      g_ptr_array_add (events, event);
    }
  record (sink, events);
  if (start < 0)
    return;

  /* Whatever stands in an event, it can't end its line, or send bytes to a terminal. */
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_true (g_utf8_validate (content + start, -1, NULL));
  for (const char *p = content + start; *p != '\0'; p++)
    {
      lines += *p == '\n';
      g_assert_true (*p == '\n' || !g_ascii_iscntrl (*p));
    }
  g_assert_cmpuint (lines, ==, G_N_ELEMENTS (texts));
}

static gpointer
record_on_thread (gpointer data)
{
  g_autoptr (GPtrArray) events = make_events ("thread", 3);

  record (data, events);
  return NULL;
}

static void
check_other_thread (gconstpointer object)
{
  GloveAuditSink *sink = GLOVE_AUDIT_SINK ((gpointer) object);

  (void) get_place (sink);
  for (guint i = 0; i < 3; i++)
    (void) g_thread_join (g_thread_new ("contract", record_on_thread, sink));
}

static void
check_descriptors (gconstpointer object)
{
  GloveAuditSink *sink = GLOVE_AUDIT_SINK ((gpointer) object);
  g_autoptr (GPtrArray) events = make_events ("descriptors", 1);
  g_autoptr (GError) error = NULL;
  guint before;

  (void) get_place (sink);
  before = glove_contract_count_descriptors ();
  for (guint i = 0; i < 50; i++)
    record (sink, events);
  g_assert_true (glove_audit_sink_flush (sink, &error));
  g_assert_no_error (error);
  g_assert_true (glove_audit_sink_flush (sink, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (glove_contract_count_descriptors (), ==, before);
}

const GloveContractCase glove_contract_sink_cases[] = {
  { "constants", check_constants },
  { "open", check_open },
  { "record", check_record },
  { "order", check_order },
  { "hostile-bytes", check_hostile_bytes },
  { "other-thread", check_other_thread },
  { "descriptors", check_descriptors },
  { NULL, NULL },
};
