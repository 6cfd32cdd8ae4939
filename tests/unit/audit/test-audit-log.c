/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include <string.h>

#include "glove-audit-log-private.h"
#include "glove-audit-memory.h"
#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-test.h"

/* --- a sink that can be told to fail --- */

#define TEST_TYPE_SINK (test_sink_get_type ())
G_DECLARE_FINAL_TYPE (TestSink, test_sink, TEST, SINK, GObject)

struct _TestSink {
  GObject parent_instance;
  GMutex lock;
  GPtrArray *tools;      /* what was recorded */
  const char *poison;    /* an event of this tool is refused, and its group with it */
  guint fail_next;       /* so many calls fail */
  guint calls;
  guint flushes;
  gint inside;           /* atomic: only one thread at a time */
  gulong delay_us;
};

static gboolean
test_record (GloveAuditSink *sink, GloveAuditEvent *const *events, gsize n_events, GError **error)
{
  TestSink *self = TEST_SINK (sink);
  gboolean ok = TRUE;
  gulong delay = 0;

  g_assert_true (g_atomic_int_compare_and_exchange (&self->inside, 0, 1));
  g_mutex_lock (&self->lock);
  delay = self->delay_us;
  g_mutex_unlock (&self->lock);
  if (delay > 0)
    g_usleep (delay);
  g_mutex_lock (&self->lock);
  self->calls++;
  for (gsize i = 0; i < n_events; i++)
    if (g_strcmp0 (events[i]->tool, self->poison) == 0)
      ok = FALSE;
  if (self->fail_next > 0)
    {
      self->fail_next--;
      ok = FALSE;
    }
  for (gsize i = 0; ok && i < n_events; i++)
    g_ptr_array_add (self->tools, g_strdup (events[i]->tool));
  g_mutex_unlock (&self->lock);
  g_atomic_int_set (&self->inside, 0);
  if (!ok)
    glove_error_set_literal (error, GLOVE_ERROR_NO_SPACE, "the disk is full");
  return ok;
}

static gboolean
test_flush (GloveAuditSink *sink, GError **error)
{
  TEST_SINK (sink)->flushes++;
  return TRUE;
}

static const char *
test_get_sink_id (GloveAuditSink *sink)
{
  return "test";
}

static void
test_sink_iface_init (GloveAuditSinkInterface *iface)
{
  iface->get_sink_id = test_get_sink_id;
  iface->record = test_record;
  iface->flush = test_flush;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (TestSink, test_sink, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (GLOVE_TYPE_AUDIT_SINK, test_sink_iface_init))

static void
test_sink_finalize (GObject *object)
{
  g_ptr_array_unref (TEST_SINK (object)->tools);
  g_mutex_clear (&TEST_SINK (object)->lock);
  G_OBJECT_CLASS (test_sink_parent_class)->finalize (object);
}

static void
test_sink_class_init (TestSinkClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = test_sink_finalize;
}

static void
test_sink_init (TestSink *self)
{
  g_mutex_init (&self->lock);
  self->tools = g_ptr_array_new_with_free_func (g_free);
}

/* --- helpers --- */

static GloveAuditEvent *
new_event (const char *tool, gboolean denial)
{
  GloveAuditEvent *event = glove_audit_event_new (
      GLOVE_AUDIT_ACTION_EGRESS, denial ? GLOVE_AUDIT_STATUS_INVALID_ARGUMENTS : GLOVE_AUDIT_STATUS_OK, "s-1", tool);

  if (denial)
    glove_audit_event_set_verdict (event, "network", "allow-host", "--allow-host example.org");
  g_assert_cmpint (glove_audit_event_is_denial (event), ==, denial);
  return event;
}

static void
record_ok (GloveAuditLog *log, const char *tool, gboolean denial)
{
  g_autoptr (GloveAuditEvent) event = new_event (tool, denial);
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_audit_log_record (log, event, &error));
  g_assert_no_error (error);
}

static void
close_ok (GloveAuditLog *log)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (glove_audit_log_close (log, &error));
  g_assert_no_error (error);
}

static guint64
sum_folded (GPtrArray *events, guint *ret_own)
{
  guint64 sum = 0;

  *ret_own = 0;
  for (guint i = 0; i < events->len; i++)
    {
      const GloveAuditEvent *event = events->pdata[i];

      if (g_str_has_prefix (event->arguments, "{\"folded\":"))
        {
          sum += g_ascii_strtoull (event->arguments + strlen ("{\"folded\":"), NULL, 10);
          g_assert_cmpstr (event->rule, ==, "allow-host");
          g_assert_cmpstr (event->allow, ==, "--allow-host example.org");
          g_assert_cmpstr (event->session, ==, "s-1");
          g_assert_true (glove_audit_event_is_denial (event));
        }
      else
        (*ret_own)++;
    }
  return sum;
}

/* --- tests --- */

static void
test_fan_out (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (GloveAuditMemory) memory = glove_audit_memory_new ();
  g_autoptr (TestSink) sink = g_object_new (TEST_TYPE_SINK, NULL);
  g_autoptr (GPtrArray) events = NULL;
  g_autoptr (GPtrArray) none = NULL;
  g_autoptr (GloveAuditEvent) late = new_event ("late", FALSE);
  g_autoptr (GError) error = NULL;

  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (memory));
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (sink));
  record_ok (log, "one", FALSE);
  record_ok (log, "two", TRUE);
  record_ok (log, "three", FALSE);
  g_assert_cmpuint (glove_audit_log_get_denials (log), ==, 1);
  g_assert_cmpuint (sink->flushes, ==, 0);
  close_ok (log);
  close_ok (log);
  g_assert_cmpuint (sink->flushes, ==, 1);
  g_assert_false (glove_audit_log_record (log, late, &error));
  glove_test_assert_error (error, GLOVE_ERROR_CLOSED, "audit log is closed");

  events = glove_audit_memory_take (memory);
  g_assert_cmpuint (events->len, ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpstr (((GloveAuditEvent *) events->pdata[i])->tool, ==, sink->tools->pdata[i]);
  g_assert_cmpstr (sink->tools->pdata[2], ==, "three");
  none = glove_audit_memory_take (memory);
  g_assert_cmpuint (none->len, ==, 0);
}

static void
test_failure_is_not_sticky (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (TestSink) bad = g_object_new (TEST_TYPE_SINK, NULL);
  g_autoptr (GloveAuditMemory) good = glove_audit_memory_new ();
  g_autoptr (GPtrArray) events = NULL;
  g_autoptr (GloveAuditEvent) event = new_event ("lost", FALSE);
  g_autoptr (GError) error = NULL;

  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (bad));
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (good));
  bad->fail_next = 1;
  g_assert_false (glove_audit_log_record (log, event, &error));
  glove_test_assert_error (error, GLOVE_ERROR_NO_SPACE, "the disk is full");
  record_ok (log, "kept", FALSE);
  close_ok (log);
  g_assert_cmpuint (bad->tools->len, ==, 1);
  g_assert_cmpstr (bad->tools->pdata[0], ==, "kept");
  events = glove_audit_memory_take (good);
  g_assert_cmpuint (events->len, ==, 2);
}

typedef struct {
  GMutex lock;
  GCond changed;
  guint done;
  guint failed;
  GThread *thread;
} Collect;

static void
collect (GloveAuditLog *log, const GError *error, gpointer user_data)
{
  Collect *data = user_data;

  g_mutex_lock (&data->lock);
  data->done++;
  data->failed += error != NULL;
  if (data->thread == NULL)
    data->thread = g_thread_self ();
  g_assert_true (data->thread == g_thread_self ());
  g_cond_broadcast (&data->changed);
  g_mutex_unlock (&data->lock);
}

static void
wait_done (Collect *data, guint count)
{
  g_mutex_lock (&data->lock);
  while (data->done < count)
    g_cond_wait (&data->changed, &data->lock);
  g_mutex_unlock (&data->lock);
}

/* One event that can't be written does not take its group along; groups are formed while a sink is slow. */
static void
test_async_groups (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (TestSink) sink = g_object_new (TEST_TYPE_SINK, NULL);
  Collect data = { 0 };

  sink->poison = "poison";
  sink->delay_us = 2000;
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (sink));
  for (guint i = 0; i < 200; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);
      g_autoptr (GloveAuditEvent) event = new_event (i == 100 ? "poison" : name, FALSE);

      glove_audit_log_record_async (log, event, collect, &data);
    }
  wait_done (&data, 200);
  g_assert_true (data.thread != g_thread_self ());
  close_ok (log);
  g_assert_cmpuint (data.failed, ==, 1);
  g_assert_cmpuint (sink->tools->len, ==, 199);
  for (guint i = 0; i < 199; i++)
    g_assert_cmpuint (g_ascii_strtoull (sink->tools->pdata[i], NULL, 10), ==, i < 100 ? i : i + 1);
  /* One by one it is at most for the group with the bad one; the first event was alone. */
  g_assert_cmpuint (sink->calls, <=, 205);
}

static void
test_async_groups_well (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (TestSink) sink = g_object_new (TEST_TYPE_SINK, NULL);
  Collect data = { 0 };

  sink->delay_us = 50000;
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (sink));
  for (guint i = 0; i < GLOVE_AUDIT_GROUP_MAX; i++)
    {
      g_autoptr (GloveAuditEvent) event = new_event ("x", FALSE);

      glove_audit_log_record_async (log, event, collect, &data);
    }
  close_ok (log);
  g_assert_cmpuint (data.done, ==, GLOVE_AUDIT_GROUP_MAX);
  g_assert_cmpuint (sink->tools->len, ==, GLOVE_AUDIT_GROUP_MAX);
  g_assert_cmpuint (sink->calls, <=, 16);
}

static void
test_queue_limit (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (TestSink) sink = g_object_new (TEST_TYPE_SINK, NULL);
  Collect data = { 0 };
  const guint count = GLOVE_AUDIT_QUEUE_MAX + 3 * GLOVE_AUDIT_GROUP_MAX;

  sink->delay_us = 300000;
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (sink));
  for (guint i = 0; i < count; i++)
    {
      g_autoptr (GloveAuditEvent) event = new_event ("x", FALSE);

      glove_audit_log_record_async (log, event, collect, &data);
    }
  g_mutex_lock (&sink->lock);
  sink->delay_us = 0;
  g_mutex_unlock (&sink->lock);
  wait_done (&data, count);
  close_ok (log);
  g_assert_cmpuint (data.failed, >, 0);
  g_assert_cmpuint (data.failed, <=, 3 * GLOVE_AUDIT_GROUP_MAX);
  g_assert_cmpuint (sink->tools->len, ==, count - data.failed);
}

static void
record_again (GloveAuditLog *log, const GError *error, gpointer user_data)
{
  g_autoptr (GloveAuditEvent) event = new_event ("again", FALSE);
  g_autoptr (GError) close_error = NULL;

  g_assert_no_error (error);
  g_assert_true (glove_audit_log_record (log, event, NULL));
  g_assert_false (glove_audit_log_close (log, &close_error));
  glove_test_assert_error (close_error, GLOVE_ERROR_CONTRACT, "its own callback");
  collect (log, error, user_data);
}

/* A callback may record, may not close, and may hold the last reference. */
static void
test_last_reference (void)
{
  GloveAuditLog *log = glove_audit_log_new ("s-1");
  g_autoptr (TestSink) sink = g_object_new (TEST_TYPE_SINK, NULL);
  g_autoptr (GloveAuditEvent) event = new_event ("first", FALSE);
  Collect data = { 0 };

  sink->delay_us = 20000;
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (sink));
  glove_audit_log_record_async (log, event, record_again, &data);
  g_object_unref (log);
  wait_done (&data, 1);
  g_assert_cmpuint (sink->tools->len, ==, 2);
  /* The thread ends by itself: leak checkers see to it. */
  g_usleep (50000);
}

#define THREADS 16
#define EACH 250

typedef struct {
  GloveAuditLog *log;
  guint number;
} Job;

static gpointer
record_many (gpointer user_data)
{
  Job *job = user_data;

  for (guint i = 0; i < EACH; i++)
    {
      g_autofree char *tool = g_strdup_printf ("%u:%u", job->number, i);

      record_ok (job->log, tool, FALSE);
    }
  return NULL;
}

static void
test_threads (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (GloveAuditMemory) memory = glove_audit_memory_new ();
  g_autoptr (TestSink) sink = g_object_new (TEST_TYPE_SINK, NULL);
  g_autoptr (GPtrArray) events = NULL;
  GThread *threads[THREADS];
  Job jobs[THREADS];
  guint next[THREADS] = { 0 };

  sink->delay_us = 200;
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (memory));
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (sink));
  for (guint i = 0; i < THREADS; i++)
    {
      jobs[i] = (Job){ log, i };
      threads[i] = g_thread_new ("recorder", record_many, &jobs[i]);
    }
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
  close_ok (log);

  events = glove_audit_memory_take (memory);
  g_assert_cmpuint (events->len, ==, THREADS * EACH);
  for (guint i = 0; i < events->len; i++)
    {
      const char *tool = ((GloveAuditEvent *) events->pdata[i])->tool;
      guint thread = g_ascii_strtoull (tool, NULL, 10);

      /* every sink has one and the same order, and each thread's own is kept */
      g_assert_cmpstr (tool, ==, sink->tools->pdata[i]);
      g_assert_cmpuint (g_ascii_strtoull (strchr (tool, ':') + 1, NULL, 10), ==, next[thread]);
      next[thread]++;
    }
  /* waiting callers share groups */
  g_assert_cmpuint (sink->calls, <, THREADS * EACH / 2);
}

/* 99, 100 and 101 denials at once; and what is not a denial is never folded. */
static void
test_rate (void)
{
  const guint counts[] = { GLOVE_AUDIT_RATE_PER_SECOND - 1, GLOVE_AUDIT_RATE_PER_SECOND, GLOVE_AUDIT_RATE_PER_SECOND + 1, 750 };

  for (guint c = 0; c < G_N_ELEMENTS (counts); c++)
    {
      g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
      g_autoptr (GloveAuditMemory) memory = glove_audit_memory_new ();
      g_autoptr (GPtrArray) events = NULL;
      gint64 start = g_get_monotonic_time ();
      guint own = 0;
      guint64 folded = 0;

      glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (memory));
      for (guint i = 0; i < counts[c]; i++)
        {
          record_ok (log, "denied", TRUE);
          record_ok (log, "allowed", FALSE);
        }
      close_ok (log);
      events = glove_audit_memory_take (memory);
      folded = sum_folded (events, &own);
      g_assert_cmpuint (own - counts[c] + folded, ==, counts[c]);
      g_assert_cmpuint (glove_audit_log_get_denials (log), ==, counts[c]);
      if (g_get_monotonic_time () - start >= G_USEC_PER_SEC)
        continue; /* too slow a machine to say more */
      g_assert_cmpuint (own, ==, counts[c] + MIN (counts[c], GLOVE_AUDIT_RATE_PER_SECOND));
      g_assert_cmpuint (events->len - own, ==, counts[c] > GLOVE_AUDIT_RATE_PER_SECOND ? 1 : 0);
    }
}

static void
test_next_second (gconstpointer user_data)
{
  gboolean threaded = GPOINTER_TO_INT (user_data);
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (GloveAuditMemory) memory = glove_audit_memory_new ();
  g_autoptr (GPtrArray) events = NULL;
  g_autoptr (GPtrArray) rest = NULL;
  Collect data = { 0 };
  guint own = 0;

  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (memory));
  for (guint i = 0; i < 150; i++)
    if (threaded)
      {
        g_autoptr (GloveAuditEvent) event = new_event ("denied", TRUE);

        glove_audit_log_record_async (log, event, collect, &data);
      }
    else
      record_ok (log, "denied", TRUE);
  if (threaded)
    wait_done (&data, 150);
  g_usleep (1300000);
  if (!threaded)
    record_ok (log, "allowed", FALSE);
  /* With a thread the counted event comes without another one, else with the next. */
  events = glove_audit_memory_take (memory);
  g_assert_cmpuint (sum_folded (events, &own), ==, 50);
  g_assert_cmpuint (own, ==, threaded ? 100 : 101);
  close_ok (log);
  rest = glove_audit_memory_take (memory);
  g_assert_cmpuint (rest->len, ==, 0);
}

static void
test_total (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (GloveAuditMemory) memory = glove_audit_memory_new ();
  g_autoptr (GPtrArray) events = NULL;
  guint own = 0;

  glove_audit_log_set_limits (log, 5, 1000);
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (memory));
  for (guint i = 0; i < 20; i++)
    record_ok (log, "denied", TRUE);
  g_usleep (1100000);
  /* Another second, but the session's own maximum is spent: nothing more is written until the close. */
  record_ok (log, "denied", TRUE);
  close_ok (log);
  events = glove_audit_memory_take (memory);
  g_assert_cmpuint (sum_folded (events, &own), ==, 16);
  g_assert_cmpuint (own, ==, 5);
  g_assert_cmpuint (events->len, ==, 6);
}

static void
count_overflow (GloveAuditLog *log, gpointer user_data)
{
  guint *count = user_data;

  (*count)++;
  g_assert_cmpuint (glove_audit_log_get_denials (log), >, GLOVE_AUDIT_DENIALS_BUDGET);
}

static void
test_budget (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (GloveAuditMemory) memory = glove_audit_memory_new ();
  g_autoptr (GloveAuditEvent) event = new_event ("denied", TRUE);
  g_autoptr (GPtrArray) events = NULL;
  guint overflows = 0;
  guint own = 0;

  glove_audit_log_set_overflow_handler (log, count_overflow, &overflows);
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (memory));
  for (guint i = 0; i < GLOVE_AUDIT_DENIALS_BUDGET; i++)
    g_assert_true (glove_audit_log_record (log, event, NULL));
  g_assert_cmpuint (overflows, ==, 0);
  for (guint i = 0; i < 3; i++)
    g_assert_true (glove_audit_log_record (log, event, NULL));
  g_assert_cmpuint (overflows, ==, 1);
  close_ok (log);
  events = glove_audit_memory_take (memory);
  g_assert_cmpuint (sum_folded (events, &own) + own, ==, GLOVE_AUDIT_DENIALS_BUDGET + 3);
  /* A million denials are a few hundred events. */
  g_assert_cmpuint (events->len, <, 5000);
}

/* The count is not lost when the counted event can't be written. */
static void
test_counted_event_fails (void)
{
  g_autoptr (GloveAuditLog) log = glove_audit_log_new ("s-1");
  g_autoptr (TestSink) sink = g_object_new (TEST_TYPE_SINK, NULL);
  g_autoptr (GloveAuditMemory) memory = glove_audit_memory_new ();
  g_autoptr (GloveAuditEvent) event = new_event ("denied", TRUE);
  g_autoptr (GPtrArray) events = NULL;
  g_autoptr (GError) error = NULL;
  guint own = 0;

  glove_audit_log_set_limits (log, 1, 1000000);
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (sink));
  glove_audit_log_add_sink (log, GLOVE_AUDIT_SINK (memory));
  record_ok (log, "denied", TRUE);
  for (guint i = 0; i < GLOVE_AUDIT_FOLD_MAX - 1; i++)
    g_assert_true (glove_audit_log_record (log, event, NULL));
  sink->fail_next = 1;
  g_assert_false (glove_audit_log_record (log, event, &error));
  glove_test_assert_error (error, GLOVE_ERROR_NO_SPACE, "the disk is full");
  g_ptr_array_unref (glove_audit_memory_take (memory));
  close_ok (log);
  events = glove_audit_memory_take (memory);
  g_assert_cmpuint (sum_folded (events, &own), ==, GLOVE_AUDIT_FOLD_MAX);
}

static void
test_memory_limit (void)
{
  g_autoptr (GloveAuditMemory) memory = glove_audit_memory_new ();
  g_autoptr (GloveAuditEvent) event = new_event ("x", FALSE);
  g_autofree GloveAuditEvent **many = g_new (GloveAuditEvent *, GLOVE_AUDIT_MEMORY_MAX);
  g_autoptr (GPtrArray) events = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < GLOVE_AUDIT_MEMORY_MAX; i++)
    many[i] = event;
  g_assert_true (glove_audit_sink_record (GLOVE_AUDIT_SINK (memory), many, GLOVE_AUDIT_MEMORY_MAX - 1, NULL));
  g_assert_false (glove_audit_sink_record (GLOVE_AUDIT_SINK (memory), many, 2, &error));
  glove_test_assert_error (error, GLOVE_ERROR_LIMIT, "maximum");
  g_assert_true (glove_audit_sink_record (GLOVE_AUDIT_SINK (memory), many, 1, NULL));
  events = glove_audit_memory_take (memory);
  g_assert_cmpuint (events->len, ==, GLOVE_AUDIT_MEMORY_MAX);
  g_assert_false (glove_audit_sink_is_durable (GLOVE_AUDIT_SINK (memory)));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  g_test_add_func ("/audit/log/fan-out", test_fan_out);
  g_test_add_func ("/audit/log/failure-is-not-sticky", test_failure_is_not_sticky);
  g_test_add_func ("/audit/log/async-groups", test_async_groups);
  g_test_add_func ("/audit/log/async-groups-well", test_async_groups_well);
  g_test_add_func ("/audit/log/queue-limit", test_queue_limit);
  g_test_add_func ("/audit/log/last-reference", test_last_reference);
  g_test_add_func ("/audit/log/threads", test_threads);
  g_test_add_func ("/audit/log/rate", test_rate);
  g_test_add_data_func ("/audit/log/next-second", GINT_TO_POINTER (FALSE), test_next_second);
  g_test_add_data_func ("/audit/log/next-second-threaded", GINT_TO_POINTER (TRUE), test_next_second);
  g_test_add_func ("/audit/log/total", test_total);
  g_test_add_func ("/audit/log/budget", test_budget);
  g_test_add_func ("/audit/log/counted-event-fails", test_counted_event_fails);
  g_test_add_func ("/audit/memory/limit", test_memory_limit);
  return g_test_run ();
}
