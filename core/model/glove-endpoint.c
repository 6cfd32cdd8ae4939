/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-endpoint.h"

#include <arpa/inet.h>
#include <string.h>

#include "glove-bounds.h"
#include "glove-error.h"
#include "glove-text.h"

#define LABEL_MAX 63
#define DEFAULT_PORT 443

G_DEFINE_BOXED_TYPE (GloveEndpoint, glove_endpoint, glove_endpoint_copy, glove_endpoint_free)

static gboolean
refuse (GError **error, const char *host, gsize length, const char *why)
{
  g_autofree char *shown = glove_text_escape (host, (gssize) MIN (length, GLOVE_EGRESS_HOST_MAX));

  glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "host “%s”: %s", shown, why);
  return FALSE;
}

/* Every address has one spelling: the one that inet_ntop () gives, and IPv4 when it is IPv4 mapped into IPv6. */
static char *
canonicalise_ipv6 (const char *host, gsize length, GError **error)
{
  static const guint8 mapped[12] = { [10] = 0xff, [11] = 0xff };
  struct in6_addr address;
  char text[INET6_ADDRSTRLEN];

  if (memchr (host, '%', length) != NULL)
    {
      (void) refuse (error, host, length, "an address with a zone is not accepted");
      return NULL;
    }
  if (length >= sizeof text)
    {
      (void) refuse (error, host, length, "not an IPv6 address");
      return NULL;
    }
  memcpy (text, host, length);
  text[length] = '\0';
  if (strlen (text) != length || inet_pton (AF_INET6, text, &address) != 1)
    {
      (void) refuse (error, host, length, "not an IPv6 address");
      return NULL;
    }
  if (memcmp (&address, mapped, sizeof mapped) == 0)
    (void) inet_ntop (AF_INET, (const guint8 *) &address + sizeof mapped, text, sizeof text);
  else
    (void) inet_ntop (AF_INET6, &address, text, sizeof text);
  return g_strdup (text);
}

static gboolean
is_label_byte (guchar c)
{
  return g_ascii_isalnum (c) || c == '-' || c == '_';
}

/* The first fault of a name of labels, or NULL. */
static const char *
find_name_fault (const char *name, gsize length)
{
  gsize label = 0;

  for (gsize i = 0; i <= length; i++)
    {
      guchar c = i < length ? (guchar) name[i] : '.';

      if (c == '.')
        {
          if (label == 0)
            return "empty label";
          if (label > LABEL_MAX)
            return "a label is longer than 63 bytes";
          if (name[i - label] == '-' || name[i - 1] == '-')
            return "a label starts or ends with a hyphen";
          label = 0;
          continue;
        }
      if (c >= 0x80)
        return "not ASCII; write an international name in its xn-- form";
      if (c <= ' ' || c == 0x7f)
        return "control character or space";
      if (!is_label_byte (c))
        return "character that no host name has";
      label++;
    }
  return NULL;
}

/* Whether a resolver could take @name, which has only label bytes and dots, for a number: its last label is digits, or hexadecimal
 * behind 0x. */
static gboolean
looks_numeric (const char *name)
{
  const char *dot = strrchr (name, '.');
  const char *last = dot != NULL ? dot + 1 : name;

  if (last[0] == '0' && last[1] == 'x')
    return strspn (last + 2, "0123456789abcdef") == strlen (last + 2);
  return strspn (last, "0123456789") == strlen (last);
}

/* Four decimal numbers of 0..255 without a leading zero: inet_pton () takes exactly these. */
static gboolean
is_dotted_quad (const char *name)
{
  struct in_addr address;
  char text[INET_ADDRSTRLEN];

  return inet_pton (AF_INET, name, &address) == 1 && inet_ntop (AF_INET, &address, text, sizeof text) != NULL
         && g_str_equal (text, name);
}

/**
 * glove_endpoint_canonicalise_host:
 * @host: any bytes
 * @length: bytes of @host
 * @error: return location
 *
 * The one place where a host is put into the form that rules, verdicts and dialling use. Any thread.
 *
 * Returns: (transfer full): a name, a dotted quad, or an IPv6 address without brackets; %NULL with
 *   %GLOVE_ERROR_INVALID_ARGUMENT that says what is wrong
 *
 * Since: 1.0
 */
char *
glove_endpoint_canonicalise_host (const char *host, gsize length, GError **error)
{
  g_autofree char *name = NULL;
  const char *fault;

  g_return_val_if_fail (host != NULL || length == 0, NULL);

  if (length == 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "host is empty");
      return NULL;
    }
  if (memchr (host, ':', length) != NULL)
    return canonicalise_ipv6 (host, length, error);

  if (host[length - 1] == '.')
    length--;
  if (length > GLOVE_EGRESS_HOST_MAX)
    {
      (void) refuse (error, host, length, "longer than 253 bytes");
      return NULL;
    }
  fault = find_name_fault (host, length);
  if (fault != NULL)
    {
      (void) refuse (error, host, length, fault);
      return NULL;
    }
  name = g_ascii_strdown (host, (gssize) length);
  if (looks_numeric (name) && !is_dotted_quad (name))
    {
      (void) refuse (error, host, length, "a number that is not four decimal parts");
      return NULL;
    }
  return g_steal_pointer (&name);
}

static gboolean
is_address (const char *host)
{
  struct in_addr address;

  return strchr (host, ':') != NULL || inet_pton (AF_INET, host, &address) == 1;
}

/* Digits only, no sign, no leading zero, 1..65535. */
static gboolean
parse_port (const char *text, gsize length, guint16 *ret_port, GError **error)
{
  g_autofree char *shown = NULL;
  guint32 port = 0;
  gsize i = 0;

  for (; i < length && i < 5 && g_ascii_isdigit (text[i]); i++)
    port = port * 10 + (guint32) (text[i] - '0');
  if (i > 0 && i == length && text[0] != '0' && port <= G_MAXUINT16)
    {
      *ret_port = (guint16) port;
      return TRUE;
    }
  shown = glove_text_escape (text, (gssize) MIN (length, 32));
  glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "port “%s” is not a number of 1..65535", shown);
  return FALSE;
}

/* Splits "HOST", "HOST:PORT", "[V6]" or "[V6]:PORT". @ret_port_text is NULL when there is none. */
static gboolean
split_authority (const char *text, gsize length, const char **ret_host, gsize *ret_host_length,
                 const char **ret_port_text, gsize *ret_port_length, GError **error)
{
  const char *end = text + length;
  const char *after;

  if (length > 0 && text[0] == '[')
    {
      const char *closing = memchr (text, ']', length);

      if (closing == NULL || memchr (text, ':', (gsize) (closing - text)) == NULL)
        return refuse (error, text, length, "brackets that do not hold an IPv6 address");
      *ret_host = text + 1;
      *ret_host_length = (gsize) (closing - text) - 1;
      after = closing + 1;
      if (after != end && *after != ':')
        return refuse (error, text, length, "something other than a port behind the address");
    }
  else
    {
      after = memchr (text, ':', length);
      if (after == NULL)
        after = end;
      else if (memchr (after + 1, ':', (gsize) (end - after - 1)) != NULL)
        {
          (void) refuse (error, text, length, "more than one colon");
          glove_error_set_hint (error, "write an IPv6 address in brackets, e.g. [::1]:443");
          return FALSE;
        }
      *ret_host = text;
      *ret_host_length = (gsize) (after - text);
    }
  *ret_port_text = after == end ? NULL : after + 1;
  *ret_port_length = after == end ? 0 : (gsize) (end - after - 1);
  return TRUE;
}

/* A suffix rule: a dot, then a name that is no address. */
static char *
canonicalise_suffix (const char *host, gsize length, GError **error)
{
  g_autofree char *name = glove_endpoint_canonicalise_host (host + 1, length - 1, error);

  if (name == NULL)
    return NULL;
  if (is_address (name))
    {
      (void) refuse (error, host, length, "a suffix rule can't be an address");
      return NULL;
    }
  return g_strconcat (".", name, NULL);
}

static gboolean
is_unspecified (const char *host)
{
  return g_str_equal (host, "0.0.0.0") || g_str_equal (host, "::");
}

static GloveEndpoint *
parse_authority (const char *text, gsize length, gboolean allow_suffix, guint16 default_port, GError **error)
{
  g_autofree char *canonical = NULL;
  const char *host = NULL;
  const char *port_text = NULL;
  gsize host_length = 0;
  gsize port_length = 0;
  guint16 port = default_port;
  GloveEndpoint *self;

  if (!split_authority (text, length, &host, &host_length, &port_text, &port_length, error))
    return NULL;
  if (host_length > 0 && host[0] == '.' && allow_suffix)
    canonical = canonicalise_suffix (host, host_length, error);
  else
    canonical = glove_endpoint_canonicalise_host (host, host_length, error);
  if (canonical == NULL)
    return NULL;
  if (is_unspecified (canonical))
    {
      (void) refuse (error, host, host_length, "the unspecified address is no place to connect to");
      glove_error_set_hint (error, "name the address that is meant, e.g. 127.0.0.1");
      return NULL;
    }
  if (port_text != NULL && !parse_port (port_text, port_length, &port, error))
    return NULL;
  if (port == 0)
    {
      (void) refuse (error, text, length, "a port is missing");
      return NULL;
    }

  self = g_new0 (GloveEndpoint, 1);
  self->allow_private = is_address (canonical) || g_str_equal (canonical, "localhost");
  self->host = g_steal_pointer (&canonical);
  self->port = port;
  return self;
}

/**
 * glove_endpoint_parse: (constructor)
 * @text: `HOST[:PORT]`; HOST may be a suffix rule
 * @error: return location
 *
 * Returns: (transfer full): an end point; %NULL with %GLOVE_ERROR_INVALID_ARGUMENT that says what is wrong
 *
 * Since: 1.0
 */
GloveEndpoint *
glove_endpoint_parse (const char *text, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);

  return parse_authority (text, strlen (text), TRUE, DEFAULT_PORT, error);
}

/**
 * glove_endpoint_parse_forward: (constructor)
 * @text: `[PORT=]HOST:PORT`
 * @error: return location
 *
 * Returns: (transfer full): an end point; %NULL with %GLOVE_ERROR_INVALID_ARGUMENT that says what is wrong
 *
 * Since: 1.0
 */
GloveEndpoint *
glove_endpoint_parse_forward (const char *text, GError **error)
{
  const char *equals;
  guint16 local_port = 0;
  GloveEndpoint *self;

  g_return_val_if_fail (text != NULL, NULL);

  equals = strchr (text, '=');
  if (equals != NULL)
    {
      if (!parse_port (text, (gsize) (equals - text), &local_port, error))
        return NULL;
      text = equals + 1;
    }
  if (text[0] == '.')
    {
      (void) refuse (error, text, strlen (text), "a forward goes to one host, not to a suffix");
      return NULL;
    }
  self = parse_authority (text, strlen (text), FALSE, 0, error);
  if (self != NULL)
    self->local_port = local_port;
  return self;
}

static gboolean
check_url_bytes (const char *url, GError **error)
{
  gsize length = strlen (url);

  if (length > GLOVE_EGRESS_REQUEST_MAX)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "url is longer than %d bytes", GLOVE_EGRESS_REQUEST_MAX);
      return FALSE;
    }
  for (gsize i = 0; i < length; i++)
    if ((guchar) url[i] <= ' ' || (guchar) url[i] >= 0x7f || url[i] == '\\' || url[i] == '#')
      {
        glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT,
                         "url has a control character, space, backslash, fragment or byte that is not ASCII at %" G_GSIZE_FORMAT,
                         i);
        return FALSE;
      }
  return TRUE;
}

/**
 * glove_endpoint_parse_url: (constructor)
 * @url: an absolute `http` or `https` URL
 * @ret_scheme: (out) (optional) (transfer full): "http" or "https"
 * @ret_path: (out) (optional) (transfer full): path and query, "/" when there is none
 * @error: return location
 *
 * The outs are written on success only.
 *
 * Returns: (transfer full): the end point; %NULL with %GLOVE_ERROR_INVALID_ARGUMENT. The message does not repeat the URL, which
 *   may hold a secret
 *
 * Since: 1.0
 */
GloveEndpoint *
glove_endpoint_parse_url (const char *url, char **ret_scheme, char **ret_path, GError **error)
{
  gboolean secure;
  const char *authority;
  gsize length;
  GloveEndpoint *self;

  g_return_val_if_fail (url != NULL, NULL);

  if (!check_url_bytes (url, error))
    return NULL;
  secure = g_ascii_strncasecmp (url, "https://", 8) == 0;
  if (!secure && g_ascii_strncasecmp (url, "http://", 7) != 0)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "url does not start with http:// or https://");
      return NULL;
    }
  authority = url + (secure ? 8 : 7);
  length = strcspn (authority, "/?");
  if (memchr (authority, '@', length) != NULL)
    {
      glove_error_set_literal (error, GLOVE_ERROR_INVALID_ARGUMENT, "url has user information");
      return NULL;
    }
  self = parse_authority (authority, length, FALSE, secure ? 443 : 80, error);
  if (self == NULL)
    return NULL;
  if (ret_scheme != NULL)
    *ret_scheme = g_strdup (secure ? "https" : "http");
  if (ret_path != NULL)
    *ret_path = g_strconcat (authority[length] == '/' ? "" : "/", authority + length, NULL);
  return self;
}

/**
 * glove_endpoint_copy:
 * @self: an end point
 *
 * Returns: (transfer full): another one like it
 *
 * Since: 1.0
 */
GloveEndpoint *
glove_endpoint_copy (const GloveEndpoint *self)
{
  GloveEndpoint *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_new0 (GloveEndpoint, 1);
  *copy = *self;
  copy->host = g_strdup (self->host);
  return copy;
}

/**
 * glove_endpoint_free:
 * @self: (transfer full) (nullable): an end point
 *
 * Since: 1.0
 */
void
glove_endpoint_free (GloveEndpoint *self)
{
  if (self == NULL)
    return;
  g_free (self->host);
  g_free (self);
}

/**
 * glove_endpoint_to_string:
 * @self: an end point
 *
 * Returns: (transfer full): `host:port`, IPv6 in brackets
 *
 * Since: 1.0
 */
char *
glove_endpoint_to_string (const GloveEndpoint *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_strdup_printf (strchr (self->host, ':') != NULL ? "[%s]:%u" : "%s:%u", self->host, self->port);
}
