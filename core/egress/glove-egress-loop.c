/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-loop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "glove-error.h"
#include "glove-fd.h"

#define EVENTS_PER_WAIT 64

typedef struct {
  GloveEgressLoopFunc func;
  gpointer data;
} Call;

struct _GloveEgressLoop {
  gatomicrefcount ref_count;
  int epoll_fd;
  int wake_fd;
  GThread *thread;
  GMutex lock; /* of what follows */
  GArray *posted; /* Call */
  gboolean stopping;
  gboolean ended;
  /* The I/O thread's own. */
  GArray *deferred; /* Call */
  GPtrArray *timers; /* a binary heap, the earliest first */
};

static void
run_calls (GArray *calls, gboolean running)
{
  for (guint i = 0; i < calls->len; i++)
    {
      const Call call = g_array_index (calls, Call, i);

      call.func (call.data, running);
    }
}

/* Swaps a list for an empty one, so that what its calls add is run the next time. */
static GArray *
take_calls (GArray **calls)
{
  GArray *taken = *calls;

  *calls = g_array_new (FALSE, FALSE, sizeof (Call));
  return taken;
}

static gboolean
run_posted (GloveEgressLoop *self)
{
  g_autoptr (GArray) calls = NULL;
  gboolean stopping = FALSE;

  g_mutex_lock (&self->lock);
  stopping = self->stopping;
  if (self->posted->len > 0)
    calls = take_calls (&self->posted);
  g_mutex_unlock (&self->lock);
  if (calls != NULL)
    run_calls (calls, TRUE);
  return !stopping;
}

static void
run_deferred (GloveEgressLoop *self, gboolean running)
{
  g_autoptr (GArray) calls = NULL;

  if (self->deferred->len == 0)
    return;
  calls = take_calls (&self->deferred);
  run_calls (calls, running);
}

static GloveEgressTimer *
timer_at (GloveEgressLoop *self, guint index)
{
  return g_ptr_array_index (self->timers, index);
}

static void
timer_place (GloveEgressLoop *self, guint index, GloveEgressTimer *timer)
{
  g_ptr_array_index (self->timers, index) = timer;
  timer->slot = index + 1;
}

/* Moves the timer at @index to where its deadline belongs. */
static void
timer_sift (GloveEgressLoop *self, guint index)
{
  GloveEgressTimer *timer = timer_at (self, index);

  while (index > 0 && timer_at (self, (index - 1) / 2)->at > timer->at)
    {
      timer_place (self, index, timer_at (self, (index - 1) / 2));
      index = (index - 1) / 2;
    }
  for (guint child = 2 * index + 1; child < self->timers->len; child = 2 * index + 1)
    {
      if (child + 1 < self->timers->len && timer_at (self, child + 1)->at < timer_at (self, child)->at)
        child++;
      if (timer_at (self, child)->at >= timer->at)
        break;
      timer_place (self, index, timer_at (self, child));
      index = child;
    }
  timer_place (self, index, timer);
}

void
glove_egress_loop_clear_timer (GloveEgressLoop *self, GloveEgressTimer *timer)
{
  guint index = timer->slot - 1;

  if (timer->slot == 0)
    return;
  timer->slot = 0;
  g_ptr_array_remove_index_fast (self->timers, index);
  if (index < self->timers->len)
    {
      timer_at (self, index)->slot = index + 1;
      timer_sift (self, index);
    }
}

void
glove_egress_loop_set_timer (GloveEgressLoop *self, GloveEgressTimer *timer, GloveDeadline at)
{
  timer->at = at;
  if (timer->slot == 0)
    {
      g_ptr_array_add (self->timers, timer);
      timer->slot = self->timers->len;
    }
  timer_sift (self, timer->slot - 1);
}

static void
run_timers (GloveEgressLoop *self)
{
  gint64 now = 0;

  if (self->timers->len == 0)
    return;
  now = g_get_monotonic_time ();
  while (self->timers->len > 0 && timer_at (self, 0)->at <= now)
    {
      GloveEgressTimer *timer = timer_at (self, 0);

      glove_egress_loop_clear_timer (self, timer);
      timer->expired (timer->data);
    }
}

static int
wait_ms (GloveEgressLoop *self)
{
  if (self->deferred->len > 0)
    return 0;
  return self->timers->len == 0 ? -1 : glove_deadline_remaining_ms (timer_at (self, 0)->at);
}

static void
run_batch (GloveEgressLoop *self)
{
  struct epoll_event events[EVENTS_PER_WAIT];
  int count = epoll_wait (self->epoll_fd, events, EVENTS_PER_WAIT, wait_ms (self));

  for (int i = 0; i < count; i++)
    {
      GloveEgressWatch *watch = events[i].data.ptr;

      if (watch != NULL)
        watch->ready (watch->data, events[i].events);
    }
  run_timers (self);
  run_deferred (self, TRUE);
}

/* Whatever is still queued, or queued by that, is told that it is too late. */
static void
end (GloveEgressLoop *self)
{
  while (TRUE)
    {
      g_autoptr (GArray) calls = NULL;

      run_deferred (self, FALSE);
      g_mutex_lock (&self->lock);
      calls = take_calls (&self->posted);
      self->ended = calls->len == 0 && self->deferred->len == 0;
      g_mutex_unlock (&self->lock);
      if (calls->len == 0 && self->deferred->len == 0)
        return;
      run_calls (calls, FALSE);
    }
}

static gpointer
loop_thread (gpointer data)
{
  GloveEgressLoop *self = data;
  sigset_t all;

  /* SIGPIPE among them: splice (2) has no flag against it. */
  sigfillset (&all);
  (void) pthread_sigmask (SIG_SETMASK, &all, NULL);
  while (run_posted (self))
    run_batch (self);
  end (self);
  return NULL;
}

GloveEgressLoop *
glove_egress_loop_new (GError **error)
{
  GloveEgressLoop *self = g_new0 (GloveEgressLoop, 1);
  struct epoll_event event = { .events = EPOLLIN | EPOLLET };

  g_atomic_ref_count_init (&self->ref_count);
  g_mutex_init (&self->lock);
  self->posted = g_array_new (FALSE, FALSE, sizeof (Call));
  self->deferred = g_array_new (FALSE, FALSE, sizeof (Call));
  self->timers = g_ptr_array_new ();
  self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->epoll_fd < 0 || self->wake_fd < 0
      || epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, self->wake_fd, &event) < 0)
    glove_error_set_errno (error, errno, "making the network proxy's event descriptors");
  else
    self->thread = g_thread_try_new ("glove-egress", loop_thread, self, error);
  if (self->thread == NULL)
    {
      glove_error_convert (error);
      self->ended = TRUE;
      g_clear_pointer (&self, glove_egress_loop_unref);
    }
  return self;
}

GloveEgressLoop *
glove_egress_loop_ref (GloveEgressLoop *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
glove_egress_loop_unref (GloveEgressLoop *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_assert (self->thread == NULL);
  glove_fd_clear (&self->epoll_fd);
  glove_fd_clear (&self->wake_fd);
  g_mutex_clear (&self->lock);
  g_array_unref (self->posted);
  g_array_unref (self->deferred);
  g_ptr_array_unref (self->timers);
  g_free (self);
}

/* The descriptor is edge-triggered: each write is one event, and nobody reads it. Its counter can't overflow. */
static void
wake (GloveEgressLoop *self)
{
  const guint64 one = 1;

  while (write (self->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
    ;
}

void
glove_egress_loop_stop (GloveEgressLoop *self)
{
  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  g_mutex_unlock (&self->lock);
  wake (self);
  g_thread_join (g_steal_pointer (&self->thread));
}

void
glove_egress_loop_post (GloveEgressLoop *self, GloveEgressLoopFunc func, gpointer data)
{
  const Call call = { func, data };
  gboolean first = FALSE;
  gboolean ended = FALSE;

  g_mutex_lock (&self->lock);
  ended = self->ended;
  if (!ended)
    {
      g_array_append_val (self->posted, call);
      first = self->posted->len == 1;
    }
  g_mutex_unlock (&self->lock);
  if (ended)
    func (data, FALSE);
  else if (first)
    wake (self);
}

gboolean
glove_egress_loop_watch (GloveEgressLoop *self, int fd, GloveEgressWatch *watch)
{
  struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = watch };

  return epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

void
glove_egress_loop_unwatch (GloveEgressLoop *self, int fd)
{
  struct epoll_event event = { 0 };

  (void) epoll_ctl (self->epoll_fd, EPOLL_CTL_DEL, fd, &event);
}

void
glove_egress_loop_defer (GloveEgressLoop *self, GloveEgressLoopFunc func, gpointer data)
{
  const Call call = { func, data };

  g_array_append_val (self->deferred, call);
}
