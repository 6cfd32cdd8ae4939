/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-egress-reason.h"

#include "glove-endpoint.h"
#include "glove-json.h"

typedef struct {
  guint status;
  const char *code;
  const char *text;
  gboolean denial;
} Row;

static const Row rows[GLOVE_EGRESS_N_REASONS] = {
  [GLOVE_EGRESS_REASON_NONE] = { 200, "none", "allowed", FALSE },
  [GLOVE_EGRESS_REASON_MALFORMED_REQUEST] = { 400, "malformed-request", "the request is malformed", TRUE },
  [GLOVE_EGRESS_REASON_BAD_HOST] = { 400, "bad-host", "the host or port is malformed", TRUE },
  [GLOVE_EGRESS_REASON_HOST_MISMATCH] = { 400, "host-mismatch", "the Host field names another destination", TRUE },
  [GLOVE_EGRESS_REASON_UNSUPPORTED_SCHEME] = { 400, "unsupported-scheme", "only http URLs and CONNECT are carried", TRUE },
  [GLOVE_EGRESS_REASON_NOT_A_PROXY_REQUEST] = { 400, "not-a-proxy-request", "this is a proxy, not a server", TRUE },
  [GLOVE_EGRESS_REASON_REQUEST_TOO_LARGE] = { 431, "request-too-large", "the request head is too large", TRUE },
  [GLOVE_EGRESS_REASON_REQUEST_TIMEOUT] = { 408, "request-timeout", "the request head did not arrive in time", FALSE },
  [GLOVE_EGRESS_REASON_CREDENTIAL_MISSING] = { 407, "credential-missing", "the proxy credential is missing", FALSE },
  [GLOVE_EGRESS_REASON_CREDENTIAL_WRONG] = { 407, "credential-wrong", "the proxy credential is wrong", TRUE },
  [GLOVE_EGRESS_REASON_HOST_NOT_ALLOWED] = { 403, "host-not-allowed", "no rule allows this host", TRUE },
  [GLOVE_EGRESS_REASON_PORT_NOT_ALLOWED] = { 403, "port-not-allowed", "the host is allowed on another port", TRUE },
  [GLOVE_EGRESS_REASON_ADDRESS_NOT_PUBLIC] = { 502, "address-not-public",
                                               "the name leads to an address that is not public", TRUE },
  [GLOVE_EGRESS_REASON_NAME_NOT_RESOLVED] = { 502, "name-not-resolved", "the name could not be resolved", FALSE },
  [GLOVE_EGRESS_REASON_CONNECT_FAILED] = { 502, "connect-failed", "the destination could not be reached", FALSE },
  [GLOVE_EGRESS_REASON_RESOLVE_TIMEOUT] = { 504, "resolve-timeout", "the name was not resolved in time", FALSE },
  [GLOVE_EGRESS_REASON_CONNECT_TIMEOUT] = { 504, "connect-timeout", "the destination did not answer in time", FALSE },
  [GLOVE_EGRESS_REASON_AUDIT_FAILED] = { 503, "audit-failed", "the verdict could not be recorded", FALSE },
  [GLOVE_EGRESS_REASON_BUSY] = { 503, "busy", "too many connections are open", FALSE },
};

const char *
glove_egress_reason_get_code (GloveEgressReason self)
{
  return rows[self].code;
}

guint
glove_egress_reason_get_status (GloveEgressReason self)
{
  return rows[self].status;
}

const char *
glove_egress_reason_get_text (GloveEgressReason self)
{
  return rows[self].text;
}

gboolean
glove_egress_reason_is_denial (GloveEgressReason self)
{
  return rows[self].denial;
}

char *
glove_egress_reason_dup_option (GloveEgressReason self, const char *host, guint16 port)
{
  GloveEndpoint endpoint = { .host = (char *) host, .port = port };
  g_autofree char *place = NULL;

  if (host == NULL || (self != GLOVE_EGRESS_REASON_HOST_NOT_ALLOWED && self != GLOVE_EGRESS_REASON_PORT_NOT_ALLOWED))
    return NULL;
  place = glove_endpoint_to_string (&endpoint);
  return g_strconcat ("--allow-host ", place, NULL);
}

static const char *
status_phrase (guint status)
{
  switch (status)
    {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 407:
      return "Proxy Authentication Required";
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "OK";
    }
}

GString *
glove_egress_reason_to_reply (GloveEgressReason self, const char *host, guint16 port)
{
  g_autofree char *option = glove_egress_reason_dup_option (self, host, port);
  g_autoptr (GString) body = g_string_new ("{\"error\":\"glove_egress_denied\",\"reason\":");
  GString *reply = g_string_sized_new (512);
  const Row *row = &rows[self];

  glove_json_append_string (body, row->code);
  g_string_append (body, ",\"host\":");
  glove_json_append_string (body, host == NULL ? "" : host);
  g_string_append_printf (body, ",\"port\":%u,\"allow\":", port);
  glove_json_append_string (body, option == NULL ? "" : option);
  g_string_append (body, "}\n");

  g_string_append_printf (reply, "HTTP/1.1 %u %s\r\nX-Glove-Reason: %s\r\n", row->status, status_phrase (row->status),
                          row->code);
  if (row->status == 407)
    g_string_append (reply, "Proxy-Authenticate: Basic realm=\"glove\"\r\n");
  g_string_append_printf (reply,
                          "Content-Type: application/json\r\nContent-Length: %" G_GSIZE_FORMAT
                          "\r\nConnection: close\r\n\r\n%s",
                          body->len, body->str);
  return reply;
}
