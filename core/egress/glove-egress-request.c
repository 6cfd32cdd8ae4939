/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The request head is written by the untrusted side. Everything about which two readers of HTTP have ever disagreed is refused,
 * not repaired: folded lines, space before a colon, a second Host, Content-Length or Transfer-Encoding, both of the latter
 * at once, a Host that names another place than the URL. What is forwarded is printed anew from what was parsed. */

#include "config.h"

#include "glove-egress-request.h"

#include <string.h>

#include "glove-bounds.h"
#include "glove-endpoint.h"
#include "glove-error.h"
#include "glove-secret.h"

typedef struct {
  const char *at; /* NULL: absent */
  gsize length;
} Span;

typedef struct {
  Span name;
  Span value;
} Field;

/* Fields that may stand once only. */
enum { HOST, CONTENT_LENGTH, TRANSFER_ENCODING, PROXY_AUTHORIZATION, N_SINGLE };
static const char *const single_names[N_SINGLE] = { "host", "content-length", "transfer-encoding", "proxy-authorization" };

typedef struct {
  Span method;
  Span target;
  guint minor;
  GArray *fields; /* Field */
  Span single[N_SINGLE];
  GloveEgressReason reason;
} Parse;

static gboolean
refuse (Parse *parse, GloveEgressReason reason, GError **error, const char *message)
{
  parse->reason = reason;
  glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, message);
  return FALSE;
}

static gboolean
span_is (Span span, const char *text)
{
  return span.length == strlen (text) && g_ascii_strncasecmp (span.at, text, span.length) == 0;
}

static gboolean
span_starts (Span span, const char *text)
{
  gsize length = strlen (text);

  return span.length >= length && g_ascii_strncasecmp (span.at, text, length) == 0;
}

static Span
span_skip (Span span, gsize count)
{
  return (Span) { span.at + count, span.length - count };
}

static Span
span_trim (Span span)
{
  while (span.length > 0 && (span.at[0] == ' ' || span.at[0] == '\t'))
    span = span_skip (span, 1);
  while (span.length > 0 && (span.at[span.length - 1] == ' ' || span.at[span.length - 1] == '\t'))
    span.length--;
  return span;
}

/* Takes everything up to the first @separator off @rest, and the separator too. */
static gboolean
span_take (Span *rest, const char *separator, Span *ret_taken)
{
  gsize separator_length = strlen (separator);
  const char *end = memmem (rest->at, rest->length, separator, separator_length);

  if (end == NULL)
    return FALSE;
  *ret_taken = (Span) { rest->at, (gsize) (end - rest->at) };
  *rest = span_skip (*rest, ret_taken->length + separator_length);
  return TRUE;
}

static gboolean
span_is_token (Span span)
{
  for (gsize i = 0; i < span.length; i++)
    if (!g_ascii_isalnum (span.at[i]) && (span.at[i] == '\0' || strchr ("!#$%&'*+-.^_`|~", span.at[i]) == NULL))
      return FALSE;
  return span.length > 0;
}

static gboolean
parse_number (Span span, guint64 max, guint64 *ret_number)
{
  guint64 number = 0;

  if (span.length == 0 || span.length > 19)
    return FALSE;
  for (gsize i = 0; i < span.length; i++)
    {
      if (!g_ascii_isdigit (span.at[i]))
        return FALSE;
      number = number * 10 + (guint64) (span.at[i] - '0');
    }
  if (number > max)
    return FALSE;
  *ret_number = number;
  return TRUE;
}

/* One spelling: no sign, no leading zero. */
static gboolean
parse_port (Span span, guint16 *ret_port)
{
  guint64 number = 0;

  if (span.length == 0 || span.length > 5 || span.at[0] == '0' || !parse_number (span, 65535, &number))
    return FALSE;
  *ret_port = (guint16) number;
  return TRUE;
}

/* Every host is judged in the one form that the model's canonicaliser gives it. Brackets hold an IPv6 address, and nothing
 * else does: a colon outside of them is the port's. */
static char *
parse_host (Span text, gboolean bracketed, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  char *host = NULL;

  if (bracketed != (text.length > 0 && memchr (text.at, ':', text.length) != NULL))
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, "brackets do not hold an IPv6 address");
      return NULL;
    }
  host = glove_endpoint_canonicalise_host (text.at, text.length, &local_error);
  if (host == NULL)
    glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, local_error->message);
  return host;
}

/* "host", "host:port", "[v6]", "[v6]:port"; the port is 0 when there is none. */
static char *
parse_authority (Span text, guint16 *ret_port, GError **error)
{
  gboolean bracketed = text.length > 0 && text.at[0] == '[';
  Span host = text;
  Span rest = bracketed ? span_skip (text, 1) : text;
  g_autofree char *canonical = NULL;
  guint16 port = 0;

  if (bracketed && !span_take (&rest, "]", &host))
    host.length = 0;
  else if (!bracketed && span_take (&rest, ":", &host))
    rest = (Span) { rest.at - 1, rest.length + 1 };
  else if (!bracketed)
    rest.length = 0;
  canonical = parse_host (host, bracketed, error);
  if (canonical == NULL)
    return NULL;
  if (rest.length > 0 && (rest.at[0] != ':' || !parse_port (span_skip (rest, 1), &port)))
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_DATA, "a port is malformed");
      return NULL;
    }
  *ret_port = port;
  return g_steal_pointer (&canonical);
}

static gboolean
parse_request_line (Parse *parse, Span line, GError **error)
{
  if (!span_take (&line, " ", &parse->method) || !span_take (&line, " ", &parse->target)
      || !span_is_token (parse->method))
    return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "the request line is malformed");
  for (gsize i = 0; i < parse->target.length; i++)
    if (parse->target.at[i] <= 0x20 || parse->target.at[i] >= 0x7f || parse->target.at[i] == '#')
      return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "the request target is malformed");
  if (line.length != 8 || memcmp (line.at, "HTTP/1.", 7) != 0 || (line.at[7] != '0' && line.at[7] != '1'))
    return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "the request is not HTTP/1.0 or HTTP/1.1");
  parse->minor = (guint) (line.at[7] - '0');
  return TRUE;
}

static gboolean
parse_field (Parse *parse, Span line, GError **error)
{
  Field field = { 0 };

  if (!span_take (&line, ":", &field.name) || !span_is_token (field.name))
    return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "a field name is malformed");
  field.value = span_trim (line);
  for (guint i = 0; i < N_SINGLE; i++)
    {
      if (!span_is (field.name, single_names[i]))
        continue;
      if (parse->single[i].at != NULL)
        return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "a field that may stand once stands twice");
      parse->single[i] = field.value;
    }
  g_array_append_val (parse->fields, field);
  return TRUE;
}

static gboolean
parse_lines (Parse *parse, Span rest, GError **error)
{
  Span line;

  if (!span_take (&rest, "\r\n", &line))
    return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "the request head is not complete");
  if (!parse_request_line (parse, line, error))
    return FALSE;
  while (span_take (&rest, "\r\n", &line))
    {
      if (line.length == 0)
        return rest.length == 0
               || refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "bytes follow the request head");
      if (!parse_field (parse, line, error))
        return FALSE;
    }
  return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "the request head is not complete");
}

/* The n-th element of a Connection field's list, or an absent span. */
static gboolean
list_next (Span *rest, Span *ret_element)
{
  if (rest->length == 0)
    return FALSE;
  if (!span_take (rest, ",", ret_element))
    {
      *ret_element = *rest;
      rest->length = 0;
    }
  *ret_element = span_trim (*ret_element);
  return TRUE;
}

static gboolean
is_nominated (const Parse *parse, Span name)
{
  for (guint i = 0; i < parse->fields->len; i++)
    {
      const Field *field = &g_array_index (parse->fields, Field, i);
      Span rest = field->value;
      Span element;

      if (!span_is (field->name, "connection"))
        continue;
      while (list_next (&rest, &element))
        if (element.length == name.length && g_ascii_strncasecmp (element.at, name.at, name.length) == 0)
          return TRUE;
    }
  return FALSE;
}

static gboolean
parse_framing (Parse *parse, GloveEgressRequest *request, GError **error)
{
  Span length = parse->single[CONTENT_LENGTH];
  Span coding = parse->single[TRANSFER_ENCODING];

  if (length.at != NULL && coding.at != NULL)
    return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error,
                   "the request has both Content-Length and Transfer-Encoding");
  if (length.at != NULL && !parse_number (length, G_MAXINT64, &request->body_length))
    return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "Content-Length is malformed");
  if (coding.at != NULL && (!span_is (coding, "chunked") || parse->minor == 0))
    return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "Transfer-Encoding is not just chunked");
  request->chunked = coding.at != NULL;
  for (guint i = 0; i < PROXY_AUTHORIZATION; i++)
    if (is_nominated (parse, (Span) { single_names[i], strlen (single_names[i]) }))
      return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error,
                     "Connection names a field that frames the request");
  if (request->connect && (request->chunked || request->body_length > 0))
    return refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "CONNECT with a body");
  return TRUE;
}

/* The Host field names the place that the target names: the same name, and the same port (a tunnel's may leave it out). */
static gboolean
check_host (Parse *parse, const GloveEgressRequest *request, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autofree char *host = NULL;
  guint16 port = 0;

  if (parse->single[HOST].at == NULL)
    return request->connect || parse->minor == 0
           || refuse (parse, GLOVE_EGRESS_REASON_MALFORMED_REQUEST, error, "an HTTP/1.1 request has no Host");
  host = parse_authority (parse->single[HOST], &port, &local_error);
  if (host == NULL)
    return refuse (parse, GLOVE_EGRESS_REASON_BAD_HOST, error, "the Host field is malformed");
  if (port == 0)
    port = request->connect ? request->port : 80;
  if (strcmp (host, request->host) != 0 || port != request->port)
    return refuse (parse, GLOVE_EGRESS_REASON_HOST_MISMATCH, error, "the Host field names another destination");
  return TRUE;
}

static gboolean
parse_target (Parse *parse, GloveEgressRequest *request, Span *ret_path, GError **error)
{
  Span authority = parse->target;

  *ret_path = (Span) { "", 0 };
  if (!request->connect)
    {
      if (!span_starts (parse->target, "http://"))
        {
          gboolean absolute = memmem (parse->target.at, parse->target.length, "://", 3) != NULL
                              && parse->target.at[0] != '/';

          return refuse (parse,
                         absolute ? GLOVE_EGRESS_REASON_UNSUPPORTED_SCHEME : GLOVE_EGRESS_REASON_NOT_A_PROXY_REQUEST,
                         error, absolute ? "the scheme is not http" : "the request target is not absolute");
        }
      authority = span_skip (parse->target, strlen ("http://"));
      for (gsize i = 0; i < authority.length; i++)
        if (authority.at[i] == '/' || authority.at[i] == '?')
          {
            *ret_path = span_skip (authority, i);
            authority.length = i;
          }
    }
  request->host = parse_authority (authority, &request->port, error);
  if (request->host == NULL)
    {
      parse->reason = GLOVE_EGRESS_REASON_BAD_HOST;
      return FALSE;
    }
  if (request->port == 0 && request->connect)
    return refuse (parse, GLOVE_EGRESS_REASON_BAD_HOST, error, "CONNECT without a port");
  if (request->port == 0)
    request->port = 80;
  return TRUE;
}

static gboolean
is_hop_by_hop (const Parse *parse, Span name)
{
  static const char *const names[] = { "connection", "keep-alive", "te", "trailer", "upgrade", "host", "http2-settings" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (span_is (name, names[i]))
      return TRUE;
  return span_starts (name, "proxy-") || is_nominated (parse, name);
}

static void
print_head (const Parse *parse, GloveEgressRequest *request, Span path)
{
  const GloveEndpoint place = { .host = request->host, .port = request->port };
  g_autofree char *host = glove_endpoint_to_string (&place);
  GString *head = g_string_sized_new (GLOVE_EGRESS_REQUEST_MAX / 4);

  /* The default port stays out: servers compare the field with their names. */
  if (request->port == 80)
    host[strlen (host) - strlen (":80")] = '\0';
  g_string_append_len (head, parse->method.at, (gssize) parse->method.length);
  g_string_append_c (head, ' ');
  if (path.length == 0)
    g_string_append (head, span_is (parse->method, "OPTIONS") ? "*" : "/");
  else if (path.at[0] == '?')
    g_string_append_c (head, '/');
  g_string_append_len (head, path.at, (gssize) path.length);
  g_string_append_printf (head, " HTTP/1.%u\r\nHost: %s\r\n", parse->minor, host);
  for (guint i = 0; i < parse->fields->len; i++)
    {
      const Field *field = &g_array_index (parse->fields, Field, i);

      if (is_hop_by_hop (parse, field->name))
        continue;
      g_string_append_len (head, field->name.at, (gssize) field->name.length);
      g_string_append (head, ": ");
      g_string_append_len (head, field->value.at, (gssize) field->value.length);
      g_string_append (head, "\r\n");
    }
  g_string_append (head, "Connection: close\r\n\r\n");
  request->head = head;
}

static void
take_credential (const Parse *parse, GloveEgressRequest *request)
{
  Span value = parse->single[PROXY_AUTHORIZATION];

  if (value.at == NULL)
    return;
  /* Another scheme is a credential too, and never the right one. */
  value = span_starts (value, "basic ") ? span_trim (span_skip (value, strlen ("basic "))) : (Span) { "", 0 };
  request->credential = g_strndup (value.at, value.length);
}

static GloveEgressRequest *
parse_all (Parse *parse, Span head, GError **error)
{
  g_autoptr (GloveEgressRequest) request = g_new0 (GloveEgressRequest, 1);
  Span path;

  if (head.length > GLOVE_EGRESS_REQUEST_MAX)
    {
      refuse (parse, GLOVE_EGRESS_REASON_REQUEST_TOO_LARGE, error, "the request head is too large");
      return NULL;
    }
  if (!parse_lines (parse, head, error))
    return NULL;
  request->connect = parse->method.length == strlen ("CONNECT") && memcmp (parse->method.at, "CONNECT", 7) == 0;
  if (!parse_target (parse, request, &path, error) || !parse_framing (parse, request, error)
      || !check_host (parse, request, error))
    return NULL;
  take_credential (parse, request);
  if (!request->connect)
    print_head (parse, request, path);
  return g_steal_pointer (&request);
}

/**
 * glove_egress_request_parse:
 * @head: a complete request head, its empty line included
 * @length: its bytes, at most GLOVE_EGRESS_REQUEST_MAX
 * @ret_reason: (out): on failure, how to answer
 * @error: on failure, GLOVE_ERROR_INVALID_DATA and what is wrong
 *
 * Any thread. Source: RFC 9112 §3, §5, §6; contracts §13.
 *
 * Returns: (transfer full): the request, or NULL
 */
GloveEgressRequest *
glove_egress_request_parse (const char *head, gsize length, GloveEgressReason *ret_reason, GError **error)
{
  g_autoptr (GArray) fields = g_array_new (FALSE, FALSE, sizeof (Field));
  Parse parse = { .fields = fields };
  GloveEgressRequest *request = parse_all (&parse, (Span) { head, length }, error);

  *ret_reason = parse.reason;
  return request;
}

void
glove_egress_request_free (GloveEgressRequest *self)
{
  if (self == NULL)
    return;
  g_free (self->host);
  if (self->credential != NULL)
    glove_secret_free (self->credential);
  if (self->head != NULL)
    g_string_free (self->head, TRUE);
  g_free (self);
}
