/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-resolver.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "glove-bounds.h"

struct _GloveEgressResolver {
  gatomicrefcount ref_count;
  GloveEgressResolverFunc func;
  gpointer func_data;
  GMutex lock; /* of what follows */
  GQueue waiting;
  guint threads;
};

struct _GloveEgressLookup {
  gatomicrefcount ref_count;
  gint released;
  char *host;
  guint16 port;
  GloveEgressResolverDone done;
  gpointer user_data;
};

static GArray *
lookup_by_system (const char *host, guint16 port, gpointer user_data)
{
  GArray *addresses = g_array_new (FALSE, FALSE, sizeof (GloveEgressAddress));
  const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP };
  struct addrinfo *found = NULL;

  if (getaddrinfo (host, NULL, &hints, &found) != 0)
    return addresses;
  for (struct addrinfo *one = found; one != NULL && addresses->len < GLOVE_EGRESS_RESOLVED_MAX; one = one->ai_next)
    {
      GloveEgressAddress address;

      if (glove_egress_address_from_sockaddr (one->ai_addr, one->ai_addrlen, port, &address))
        g_array_append_val (addresses, address);
    }
  freeaddrinfo (found);
  return addresses;
}

GArray *
glove_egress_resolver_known (const char *host, guint16 port)
{
  static const char *const loopback[] = { "127.0.0.1", "::1" };
  GArray *addresses = g_array_new (FALSE, FALSE, sizeof (GloveEgressAddress));
  GloveEgressAddress address;

  if (glove_egress_address_parse (host, port, &address))
    g_array_append_val (addresses, address);
  for (guint i = 0; i < G_N_ELEMENTS (loopback) && strcmp (host, "localhost") == 0; i++)
    if (glove_egress_address_parse (loopback[i], port, &address))
      g_array_append_val (addresses, address);
  return addresses;
}

GloveEgressResolver *
glove_egress_resolver_new (GloveEgressResolverFunc func, gpointer func_data)
{
  GloveEgressResolver *self = g_new0 (GloveEgressResolver, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->func = func == NULL ? lookup_by_system : func;
  self->func_data = func_data;
  g_mutex_init (&self->lock);
  g_queue_init (&self->waiting);
  return self;
}

GloveEgressResolver *
glove_egress_resolver_ref (GloveEgressResolver *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

void
glove_egress_resolver_unref (GloveEgressResolver *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  g_mutex_clear (&self->lock);
  g_free (self);
}

static void
lookup_unref (GloveEgressLookup *lookup)
{
  if (!g_atomic_ref_count_dec (&lookup->ref_count))
    return;
  g_free (lookup->host);
  g_free (lookup);
}

static GloveEgressLookup *
take_waiting (GloveEgressResolver *self)
{
  GloveEgressLookup *lookup = NULL;

  g_mutex_lock (&self->lock);
  lookup = g_queue_pop_head (&self->waiting);
  if (lookup == NULL)
    self->threads--;
  g_mutex_unlock (&self->lock);
  return lookup;
}

static gpointer
resolver_thread (gpointer data)
{
  GloveEgressResolver *self = data;
  GloveEgressLookup *lookup = NULL;
  sigset_t all;

  sigfillset (&all);
  (void) pthread_sigmask (SIG_SETMASK, &all, NULL);
  while ((lookup = take_waiting (self)) != NULL)
    {
      GArray *addresses = NULL;

      if (g_atomic_int_get (&lookup->released))
        addresses = g_array_new (FALSE, FALSE, sizeof (GloveEgressAddress));
      else
        addresses = self->func (lookup->host, lookup->port, self->func_data);
      lookup->done (lookup->user_data, addresses);
      lookup_unref (lookup);
    }
  glove_egress_resolver_unref (self);
  return NULL;
}

/* Whether there is, or will be, a thread for what waits. */
static gboolean
ensure_thread (GloveEgressResolver *self)
{
  GThread *thread = NULL;

  if (self->threads >= GLOVE_EGRESS_RESOLVER_THREADS_MAX)
    return TRUE;
  glove_egress_resolver_ref (self);
  thread = g_thread_try_new ("glove-resolve", resolver_thread, self, NULL);
  if (thread == NULL)
    {
      glove_egress_resolver_unref (self);
      return self->threads > 0;
    }
  g_thread_unref (thread);
  self->threads++;
  return TRUE;
}

GloveEgressLookup *
glove_egress_resolver_start (GloveEgressResolver *self, const char *host, guint16 port, GloveEgressResolverDone done,
                             gpointer user_data)
{
  GloveEgressLookup *lookup = g_new0 (GloveEgressLookup, 1);
  gboolean accepted = FALSE;

  g_atomic_ref_count_init (&lookup->ref_count);
  lookup->host = g_strdup (host);
  lookup->port = port;
  lookup->done = done;
  lookup->user_data = user_data;

  g_mutex_lock (&self->lock);
  accepted = ensure_thread (self);
  if (accepted)
    {
      g_atomic_ref_count_inc (&lookup->ref_count);
      g_queue_push_tail (&self->waiting, lookup);
    }
  g_mutex_unlock (&self->lock);
  if (!accepted)
    done (user_data, g_array_new (FALSE, FALSE, sizeof (GloveEgressAddress)));
  return lookup;
}

void
glove_egress_resolver_release (GloveEgressLookup *lookup)
{
  if (lookup == NULL)
    return;
  g_atomic_int_set (&lookup->released, TRUE);
  lookup_unref (lookup);
}
