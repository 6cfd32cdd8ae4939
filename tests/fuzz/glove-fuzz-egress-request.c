/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A request head as the guest's bytes arrive: found in pieces and at once, parsed, printed for the server, and read again by
 * the same parser's rules. What is after the head is taken for a chunked body. */

#include "config.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-egress-chunks.h"
#include "glove-egress-head.h"
#include "glove-egress-request.h"
#include "glove-egress-verdict.h"
#include "glove-endpoint.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_forwarded (const GloveEgressRequest *request)
{
  GloveEgressHead head = { 0 };
  g_autofree char *lower = g_ascii_strdown (request->head->str, (gssize) request->head->len);

  g_assert_cmpint (glove_egress_head_scan (&head, request->head->str, request->head->len), ==, GLOVE_EGRESS_HEAD_COMPLETE);
  g_assert_cmpuint (head.scanned, ==, request->head->len);
  g_assert_null (strstr (lower, "\r\nproxy-"));
  g_assert_nonnull (strstr (lower, "\r\nconnection: close\r\n"));
  g_assert_true (strstr (lower, "\r\nhost: ") == g_strrstr (lower, "\r\nhost: "));
}

static void
check_request (const GloveEgressRequest *request)
{
  g_autoptr (GPtrArray) rules = g_ptr_array_new ();
  g_autofree char *again = glove_endpoint_canonicalise_host (request->host, strlen (request->host), NULL);
  GloveEndpoint rule = { .host = request->host, .port = request->port };

  g_assert_cmpstr (again, ==, request->host);
  g_assert_cmpuint (request->port, !=, 0);
  g_assert_true (request->connect == (request->head == NULL));
  if (request->head != NULL)
    check_forwarded (request);
  g_assert_cmpint (glove_egress_verdict_judge (rules, request->host, request->port).reason, !=, GLOVE_EGRESS_REASON_NONE);
  g_ptr_array_add (rules, &rule);
  g_assert_cmpint (glove_egress_verdict_judge (rules, request->host, request->port).reason, ==, GLOVE_EGRESS_REASON_NONE);
}

static void
check_body (const char *bytes, gsize length)
{
  GloveEgressChunks whole = { 0 };
  GloveEgressChunks pieces = { 0 };
  gsize used = 0;
  gsize used_in_pieces = 0;
  gboolean sound = glove_egress_chunks_scan (&whole, bytes, length, &used);
  gboolean sound_in_pieces = TRUE;

  for (gsize i = 0; i < length && sound_in_pieces && !glove_egress_chunks_is_complete (&pieces); i++)
    {
      gsize one = 0;

      sound_in_pieces = glove_egress_chunks_scan (&pieces, bytes + i, 1, &one);
      used_in_pieces += one;
    }
  g_assert_cmpint (sound, ==, sound_in_pieces);
  if (sound)
    g_assert_cmpuint (used, ==, used_in_pieces);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const char *bytes = (const char *) data;
  GloveEgressHead whole = { 0 };
  GloveEgressHead pieces = { 0 };
  GloveEgressHeadResult result = glove_egress_head_scan (&whole, bytes, size);
  GloveEgressHeadResult in_pieces = GLOVE_EGRESS_HEAD_MORE;
  GloveEgressReason reason = GLOVE_EGRESS_REASON_NONE;
  g_autoptr (GloveEgressRequest) request = NULL;
  g_autoptr (GError) error = NULL;

  for (gsize i = 1; i <= size && in_pieces == GLOVE_EGRESS_HEAD_MORE; i++)
    in_pieces = glove_egress_head_scan (&pieces, bytes, i);
  g_assert_cmpint (result, ==, in_pieces);
  g_assert_cmpuint (whole.scanned, ==, pieces.scanned);
  if (result != GLOVE_EGRESS_HEAD_COMPLETE)
    return 0;
  request = glove_egress_request_parse (bytes, whole.scanned, &reason, &error);
  g_assert_true ((request == NULL) == (error != NULL));
  g_assert_true ((request == NULL) == (reason != GLOVE_EGRESS_REASON_NONE));
  if (request != NULL)
    check_request (request);
  check_body (bytes + whole.scanned, size - whole.scanned);
  return 0;
}
