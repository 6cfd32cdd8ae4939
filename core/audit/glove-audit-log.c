/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-audit-log.h"

#include "glove-audit-log-private.h"
#include "glove-bounds.h"
#include "glove-error.h"

/* How it works. Every event becomes an Entry at the end of one queue. Whoever waits for an entry while nobody writes becomes
 * the writer: it takes what is queued as one group, hands it to every sink without holding the lock, and wakes the others, whose
 * entries were most likely in that group: sixteen threads that record at once pay for one or two syncs. The log's own thread, which is
 * there only once something was recorded without waiting, does the same and calls the callbacks. */

typedef struct {
  GloveAuditEvent *event;
  GError *error;  /* why a sink does not have it */
  guint64 folded; /* how many denials it stands for; 0: an event of its own */
  gboolean waited; /* somebody in this process waits and frees it */
  gboolean finished;
  GloveAuditLogDone done;
  gpointer user_data;
  GloveAuditLog *log; /* a reference while @done is owed */
} Entry;

/* Shared by the object and its thread, so that the last reference to the log may be dropped on that thread. */
typedef struct {
  gatomicrefcount ref_count;
  char *session_id;
  GPtrArray *sinks; /* not changed after the first record */
  GMutex lock;
  GCond changed;
  /* guarded by @lock */
  GQueue queue;    /* of Entry, not yet written */
  GQueue finished; /* of Entry with a callback that the thread owes */
  gboolean writing;
  gboolean closed;
  guint64 denials;
  guint64 recorded_denials;
  gint64 window_start; /* monotonic */
  guint window_count;
  guint64 folded; /* denials that no event stands for yet */
  GloveAuditEvent *last_folded;
  gboolean overflowed;
  guint64 total_max;  /* as glove-bounds.h says, but for tests */
  guint64 budget_max;
  GThread *thread;
} State;

struct _GloveAuditLog {
  GObject parent_instance;
  State *state;
  GMutex handler_lock;
  GloveAuditLogOverflow handler;
  gpointer handler_data;
};

G_DEFINE_FINAL_TYPE (GloveAuditLog, glove_audit_log, G_TYPE_OBJECT)

static void
entry_free (Entry *entry)
{
  glove_audit_event_unref (entry->event);
  g_clear_error (&entry->error);
  g_free (entry);
}

static State *
state_ref (State *state)
{
  g_atomic_ref_count_inc (&state->ref_count);
  return state;
}

static void
state_unref (State *state)
{
  if (!g_atomic_ref_count_dec (&state->ref_count))
    return;
  g_queue_clear_full (&state->queue, (GDestroyNotify) entry_free);
  g_queue_clear_full (&state->finished, (GDestroyNotify) entry_free);
  g_clear_pointer (&state->last_folded, glove_audit_event_unref);
  g_ptr_array_unref (state->sinks);
  g_free (state->session_id);
  g_cond_clear (&state->changed);
  g_mutex_clear (&state->lock);
  g_free (state);
}

/* --- folding --- */

/* One event for all that were folded; it says what the last of them was. Called with the lock. */
static Entry *
queue_folded (State *state)
{
  g_autoptr (GloveAuditEvent) last = g_steal_pointer (&state->last_folded);
  g_autoptr (GloveAuditEvent) event = NULL;
  g_autofree char *arguments = NULL;
  g_autofree char *text = NULL;
  Entry *entry = NULL;

  event = glove_audit_event_new (last->action, last->status, state->session_id, last->tool);
  arguments = g_strdup_printf ("{\"folded\":%" G_GUINT64_FORMAT ",\"last_ns\":%" G_GINT64_FORMAT "}", state->folded,
                               last->timestamp_ns);
  text = g_strdup_printf ("%" G_GUINT64_FORMAT " denials folded into this event, which shows the last of them",
                          state->folded);
  glove_audit_event_set_arguments (event, arguments);
  glove_audit_event_set_error (event, text);
  glove_audit_event_set_verdict (event, last->plane, last->rule, last->allow);

  entry = g_new0 (Entry, 1);
  entry->event = g_steal_pointer (&event);
  entry->folded = state->folded;
  state->folded = 0;
  g_queue_push_tail (&state->queue, entry);
  return entry;
}

static gboolean
all_spent (State *state)
{
  return state->recorded_denials >= state->total_max;
}

/* Counts @event and decides whether it is written as it is. Called with the lock. @ret_folded: an entry that was queued to
 * stand for folded denials, owned by the queue. */
static gboolean
admit (State *state, GloveAuditEvent *event, Entry **ret_folded, gboolean *ret_overflow)
{
  gint64 now = g_get_monotonic_time ();

  *ret_folded = NULL;
  *ret_overflow = FALSE;
  if (now - state->window_start >= G_USEC_PER_SEC)
    {
      state->window_start = now;
      state->window_count = 0;
      if (state->folded > 0 && !all_spent (state))
        *ret_folded = queue_folded (state);
    }
  if (!glove_audit_event_is_denial (event))
    return TRUE;

  state->denials++;
  if (state->denials > state->budget_max && !state->overflowed)
    *ret_overflow = state->overflowed = TRUE;
  if (state->window_count < GLOVE_AUDIT_RATE_PER_SECOND && !all_spent (state))
    {
      state->window_count++;
      state->recorded_denials++;
      return TRUE;
    }
  state->folded++;
  g_clear_pointer (&state->last_folded, glove_audit_event_unref);
  state->last_folded = glove_audit_event_ref (event);
  if (state->folded >= GLOVE_AUDIT_FOLD_MAX)
    *ret_folded = queue_folded (state);
  return FALSE;
}

/* --- writing --- */

/* Hands a group to one sink. When it fails as a group, each event is tried alone, so that one event that can't be written does
 * not take its neighbours along. */
static void
write_to_sink (GloveAuditSink *sink, GPtrArray *entries)
{
  g_autofree GloveAuditEvent **events = g_new (GloveAuditEvent *, entries->len);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < entries->len; i++)
    events[i] = ((Entry *) entries->pdata[i])->event;
  if (glove_audit_sink_record (sink, events, entries->len, &error))
    return;
  for (guint i = 0; i < entries->len; i++)
    {
      Entry *entry = entries->pdata[i];
      g_autoptr (GError) local_error = NULL;

      if (entries->len == 1)
        local_error = g_steal_pointer (&error);
      else if (glove_audit_sink_record (sink, &events[i], 1, &local_error))
        continue;
      if (entry->error == NULL)
        entry->error = g_steal_pointer (&local_error);
    }
}

/* What becomes of an entry that the sinks have, or refused. Called with the lock. */
static void
finish_entry (State *state, Entry *entry)
{
  entry->finished = TRUE;
  if (entry->folded > 0 && entry->error != NULL)
    {
      /* Not lost: the next counted event stands for them too. */
      state->folded += entry->folded;
      if (state->last_folded == NULL)
        state->last_folded = glove_audit_event_ref (entry->event);
    }
  if (entry->log != NULL)
    g_queue_push_tail (&state->finished, entry);
  else if (!entry->waited)
    entry_free (entry);
}

/* Writes one group. Called with the lock, which is released meanwhile, when nobody writes and something is queued. */
static void
write_group (State *state)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new ();

  state->writing = TRUE;
  while (entries->len < GLOVE_AUDIT_GROUP_MAX && !g_queue_is_empty (&state->queue))
    g_ptr_array_add (entries, g_queue_pop_head (&state->queue));
  g_mutex_unlock (&state->lock);

  for (guint i = 0; i < state->sinks->len; i++)
    write_to_sink (state->sinks->pdata[i], entries);

  g_mutex_lock (&state->lock);
  state->writing = FALSE;
  for (guint i = 0; i < entries->len; i++)
    finish_entry (state, entries->pdata[i]);
  g_cond_broadcast (&state->changed);
}

/* Waits for an entry of the caller's, writing groups while nobody else does. Called with the lock. */
static gboolean
wait_for (State *state, Entry *entry, GError **error)
{
  gboolean ok = FALSE;

  while (!entry->finished)
    if (state->writing)
      g_cond_wait (&state->changed, &state->lock);
    else
      write_group (state);
  ok = entry->error == NULL;
  if (!ok)
    g_propagate_error (error, g_steal_pointer (&entry->error));
  entry_free (entry);
  return ok;
}

/* --- the thread --- */

static void
call_back (State *state)
{
  Entry *entry = g_queue_pop_head (&state->finished);

  g_mutex_unlock (&state->lock);
  if (entry->done != NULL)
    entry->done (entry->log, entry->error, entry->user_data);
  /* May be the last reference: the object then leaves this thread to end by itself. */
  g_object_unref (entry->log);
  entry_free (entry);
  g_mutex_lock (&state->lock);
}

/* Sleeps until something is to do; with denials folded, no longer than to the end of the second they came in. */
static void
sleep_a_while (State *state)
{
  gint64 end = state->window_start + G_USEC_PER_SEC;

  if (state->folded == 0 || all_spent (state))
    g_cond_wait (&state->changed, &state->lock);
  else if (!g_cond_wait_until (&state->changed, &state->lock, end) && state->folded > 0)
    {
      (void) queue_folded (state);
      state->window_start = g_get_monotonic_time ();
      state->window_count = 0;
    }
}

static gpointer
run (gpointer data)
{
  State *state = data;

  g_mutex_lock (&state->lock);
  while (TRUE)
    if (!g_queue_is_empty (&state->finished))
      call_back (state);
    else if (!g_queue_is_empty (&state->queue) && !state->writing)
      write_group (state);
    else if (state->closed && !state->writing && g_queue_is_empty (&state->queue))
      break;
    else
      sleep_a_while (state);
  g_mutex_unlock (&state->lock);
  state_unref (state);
  return NULL;
}

/* Called with the lock. */
static gboolean
ensure_thread (State *state, GError **error)
{
  g_autoptr (GError) local_error = NULL;

  if (state->thread != NULL)
    return TRUE;
  state->thread = g_thread_try_new ("glove-audit", run, state_ref (state), &local_error);
  if (state->thread != NULL)
    return TRUE;
  state_unref (state);
  glove_error_set (error, GLOVE_ERROR_FAILED, "starting the audit writer: %s", local_error->message);
  return FALSE;
}


static void
glove_audit_log_finalize (GObject *object)
{
  GloveAuditLog *self = GLOVE_AUDIT_LOG (object);
  GThread *thread = NULL;

  g_mutex_lock (&self->state->lock);
  self->state->closed = TRUE;
  thread = g_steal_pointer (&self->state->thread);
  g_cond_broadcast (&self->state->changed);
  g_mutex_unlock (&self->state->lock);
  if (thread == g_thread_self ())
    g_thread_unref (thread);
  else if (thread != NULL)
    g_thread_join (thread);
  state_unref (self->state);
  g_mutex_clear (&self->handler_lock);
  G_OBJECT_CLASS (glove_audit_log_parent_class)->finalize (object);
}

static void
glove_audit_log_class_init (GloveAuditLogClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = glove_audit_log_finalize;
}

static void
glove_audit_log_init (GloveAuditLog *self)
{
  State *state = g_new0 (State, 1);

  g_mutex_init (&self->handler_lock);
  g_atomic_ref_count_init (&state->ref_count);
  g_mutex_init (&state->lock);
  g_cond_init (&state->changed);
  g_queue_init (&state->queue);
  g_queue_init (&state->finished);
  state->sinks = g_ptr_array_new_with_free_func (g_object_unref);
  state->window_start = g_get_monotonic_time ();
  state->total_max = GLOVE_AUDIT_EVENTS_PER_SESSION;
  state->budget_max = GLOVE_AUDIT_DENIALS_BUDGET;
  self->state = state;
}

/**
 * glove_audit_log_new:
 * @session_id: stands in the events that the log makes itself
 *
 * Returns: (transfer full): a log without a sink
 *
 * Since: 1.0
 */
GloveAuditLog *
glove_audit_log_new (const char *session_id)
{
  GloveAuditLog *self = NULL;

  g_return_val_if_fail (session_id != NULL, NULL);
  self = g_object_new (GLOVE_TYPE_AUDIT_LOG, NULL);
  self->state->session_id = g_strdup (session_id);
  return self;
}

/**
 * glove_audit_log_add_sink:
 * @sink: opened; referenced, and called from one thread at a time, which may be any
 *
 * Since: 1.0
 */
void
glove_audit_log_add_sink (GloveAuditLog *self, GloveAuditSink *sink)
{
  g_return_if_fail (GLOVE_IS_AUDIT_LOG (self));
  g_return_if_fail (GLOVE_IS_AUDIT_SINK (sink));
  g_ptr_array_add (self->state->sinks, g_object_ref (sink));
}

static void
tell_overflow (GloveAuditLog *self)
{
  GloveAuditLogOverflow handler = NULL;
  gpointer data = NULL;

  g_mutex_lock (&self->handler_lock);
  handler = self->handler;
  data = self->handler_data;
  g_mutex_unlock (&self->handler_lock);
  if (handler != NULL)
    handler (self, data);
}

static gboolean
refuse_closed (GError **error)
{
  glove_error_set_literal (error, GLOVE_ERROR_CLOSED, "the audit log is closed");
  return FALSE;
}

/**
 * glove_audit_log_record:
 * @event: not changed any more; a denial past GLOVE_AUDIT_RATE_PER_SECOND or GLOVE_AUDIT_EVENTS_PER_SESSION is counted instead of
 *   written, and the counted event follows when the second is over, when GLOVE_AUDIT_FOLD_MAX are folded, or at the close
 *
 * Any thread. The first error of any sink is returned; the other sinks still get the event, and a later record is tried afresh.
 *
 * Returns: whether every sink has it
 *
 * Since: 1.0
 */
gboolean
glove_audit_log_record (GloveAuditLog *self, GloveAuditEvent *event, GError **error)
{
  State *state = NULL;
  Entry *entry = NULL;
  gboolean overflow = FALSE;
  gboolean ok = TRUE;

  g_return_val_if_fail (GLOVE_IS_AUDIT_LOG (self), FALSE);
  g_return_val_if_fail (event != NULL, FALSE);
  state = self->state;
  g_mutex_lock (&state->lock);
  if (state->closed)
    {
      g_mutex_unlock (&state->lock);
      return refuse_closed (error);
    }
  if (admit (state, event, &entry, &overflow))
    {
      entry = g_new0 (Entry, 1);
      entry->event = glove_audit_event_ref (event);
      g_queue_push_tail (&state->queue, entry);
    }
  if (entry != NULL)
    {
      entry->waited = TRUE;
      ok = wait_for (state, entry, error);
    }
  g_mutex_unlock (&state->lock);
  if (overflow)
    tell_overflow (self);
  return ok;
}

/**
 * glove_audit_log_record_async:
 * @done: (nullable): called on the log's thread, once, whatever happens; may record again, but not close the log
 *
 * Any thread. At most GLOVE_AUDIT_QUEUE_MAX events wait; one more is answered with %GLOVE_ERROR_LIMIT.
 *
 * Since: 1.0
 */
void
glove_audit_log_record_async (GloveAuditLog *self, GloveAuditEvent *event, GloveAuditLogDone done, gpointer user_data)
{
  State *state = NULL;
  Entry *entry = NULL;
  Entry *counted = NULL;
  g_autoptr (GError) error = NULL;
  gboolean overflow = FALSE;
  gboolean threaded = FALSE;

  g_return_if_fail (GLOVE_IS_AUDIT_LOG (self));
  g_return_if_fail (event != NULL);
  state = self->state;
  entry = g_new0 (Entry, 1);
  entry->event = glove_audit_event_ref (event);
  entry->done = done;
  entry->user_data = user_data;

  g_mutex_lock (&state->lock);
  if (!state->closed)
    threaded = ensure_thread (state, &error);
  else
    (void) refuse_closed (&error);
  if (threaded)
    {
      entry->log = g_object_ref (self);
      if (g_queue_get_length (&state->queue) >= GLOVE_AUDIT_QUEUE_MAX)
        glove_error_set (&entry->error, GLOVE_ERROR_LIMIT, "more than %d audit events wait to be written",
                         GLOVE_AUDIT_QUEUE_MAX);
      if (entry->error == NULL && admit (state, event, &counted, &overflow))
        g_queue_push_tail (&state->queue, entry);
      else
        g_queue_push_tail (&state->finished, entry);
      g_cond_broadcast (&state->changed);
    }
  g_mutex_unlock (&state->lock);
  if (!threaded)
    {
      /* There is no thread to answer on. */
      if (done != NULL)
        done (self, error, user_data);
      entry_free (entry);
    }
  if (overflow)
    tell_overflow (self);
}

/* Called with the lock: everything queued is written, and what is folded stands in an event. */
static gboolean
drain (State *state, GError **error)
{
  Entry *counted = NULL;
  gboolean ok = TRUE;

  while (state->writing || !g_queue_is_empty (&state->queue))
    if (state->writing)
      g_cond_wait (&state->changed, &state->lock);
    else
      write_group (state);
  if (state->folded > 0)
    {
      counted = queue_folded (state);
      counted->waited = TRUE;
      ok = wait_for (state, counted, error);
    }
  return ok;
}

/**
 * glove_audit_log_close:
 *
 * Not from a callback of the log. Later records fail with %GLOVE_ERROR_CLOSED; a second close does nothing.
 *
 * Returns: whether everything that was counted is written and every sink has flushed
 *
 * Since: 1.0
 */
gboolean
glove_audit_log_close (GloveAuditLog *self, GError **error)
{
  State *state = NULL;
  GThread *thread = NULL;
  gboolean ok = FALSE;

  g_return_val_if_fail (GLOVE_IS_AUDIT_LOG (self), FALSE);
  state = self->state;
  g_mutex_lock (&state->lock);
  if (state->thread == g_thread_self ())
    {
      g_mutex_unlock (&state->lock);
      glove_error_set_literal (error, GLOVE_ERROR_CONTRACT, "the audit log was closed from its own callback");
      return FALSE;
    }
  if (state->closed)
    {
      g_mutex_unlock (&state->lock);
      return TRUE;
    }
  state->closed = TRUE;
  ok = drain (state, error);
  thread = g_steal_pointer (&state->thread);
  g_cond_broadcast (&state->changed);
  g_mutex_unlock (&state->lock);
  if (thread != NULL)
    g_thread_join (thread);

  for (guint i = 0; i < state->sinks->len; i++)
    {
      g_autoptr (GError) local_error = NULL;

      if (glove_audit_sink_flush (state->sinks->pdata[i], &local_error))
        continue;
      if (ok)
        g_propagate_error (error, g_steal_pointer (&local_error));
      ok = FALSE;
    }
  return ok;
}

/**
 * glove_audit_log_set_overflow_handler:
 * @handler: (nullable): called once, on the thread whose denial went past GLOVE_AUDIT_DENIALS_BUDGET, without a lock
 *
 * Since: 1.0
 */
void
glove_audit_log_set_overflow_handler (GloveAuditLog *self, GloveAuditLogOverflow handler, gpointer user_data)
{
  g_return_if_fail (GLOVE_IS_AUDIT_LOG (self));
  g_mutex_lock (&self->handler_lock);
  self->handler = handler;
  self->handler_data = user_data;
  g_mutex_unlock (&self->handler_lock);
}

/**
 * glove_audit_log_set_limits:
 *
 * Before the first record.
 */
void
glove_audit_log_set_limits (GloveAuditLog *self, guint64 total_max, guint64 budget_max)
{
  self->state->total_max = total_max;
  self->state->budget_max = budget_max;
}

/**
 * glove_audit_log_get_denials:
 *
 * Returns: how many denials were recorded, the folded ones among them
 *
 * Since: 1.0
 */
guint64
glove_audit_log_get_denials (GloveAuditLog *self)
{
  g_autoptr (GMutexLocker) locker = NULL;

  g_return_val_if_fail (GLOVE_IS_AUDIT_LOG (self), 0);
  locker = g_mutex_locker_new (&self->state->lock);
  return self->state->denials;
}
