/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "glove-limits.h"

#include <string.h>

#include "glove-error.h"
#include "glove-text.h"
#include "glove-wire-names-private.h"

#define KIB G_GUINT64_CONSTANT (1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

typedef enum { KIND_BYTES, KIND_COUNT, KIND_DURATION, KIND_CPUS } Kind;

/* The default of `cpus` is the number of processors; a default of 0 is no limit. */
static const struct {
  const char *name;
  Kind kind;
  guint64 otherwise;
} limits[] = {
  [GLOVE_LIMIT_MEMORY] = { "memory", KIND_BYTES, 4 * GIB },
  [GLOVE_LIMIT_PIDS] = { "pids", KIND_COUNT, 1024 },
  [GLOVE_LIMIT_CPUS] = { "cpus", KIND_CPUS, 0 },
  [GLOVE_LIMIT_CPU_TIME] = { "cpu-time", KIND_DURATION, 0 },
  [GLOVE_LIMIT_WALL_TIME] = { "wall-time", KIND_DURATION, 0 },
  [GLOVE_LIMIT_OUTPUT] = { "output", KIND_BYTES, 0 },
  [GLOVE_LIMIT_OPEN_FILES] = { "open-files", KIND_COUNT, 16384 },
  [GLOVE_LIMIT_FILE_SIZE] = { "file-size", KIND_BYTES, 4 * GIB },
  [GLOVE_LIMIT_HOME_SIZE] = { "home-size", KIND_BYTES, 2 * GIB },
  [GLOVE_LIMIT_TMP_SIZE] = { "tmp-size", KIND_BYTES, 2 * GIB },
  [GLOVE_LIMIT_SHM_SIZE] = { "shm-size", KIND_BYTES, 512 * MIB },
};

G_STATIC_ASSERT (G_N_ELEMENTS (limits) == GLOVE_N_LIMITS);

/**
 * glove_limits_init_default: (skip)
 * @self: (out caller-allocates): limits
 *
 * Writes the defaults of `glove exec`, none of them requested. docs/limits.md lists them.
 *
 * Since: 1.0
 */
void
glove_limits_init_default (GloveLimits *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    {
      self->value[i] = limits[i].otherwise;
      self->requested[i] = FALSE;
    }
  self->value[GLOVE_LIMIT_CPUS] = (guint64) g_get_num_processors () * 1000;
}

/* "2", "0.5", "1.25": thousandths; at most three decimals. */
static gboolean
parse_cpus (const char *text, guint64 *ret_value, GError **error)
{
  g_autofree char *shown = glove_text_escape (text, -1);
  gsize whole = strspn (text, "0123456789");
  const char *fraction = text[whole] == '.' ? text + whole + 1 : NULL;
  gsize decimals = fraction != NULL ? strspn (fraction, "0123456789") : 0;
  guint64 value = 0;

  if (whole == 0 || (fraction != NULL ? decimals == 0 || decimals > 3 || fraction[decimals] != '\0' : text[whole] != '\0'))
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is not a value like 2 or 0.5", shown);
      return FALSE;
    }
  for (gsize i = 0; i < whole + 3; i++)
    {
      char digit = i < whole ? text[i] : i - whole < decimals ? fraction[i - whole] : '0';

      if (!g_uint64_checked_mul (&value, value, 10) || !g_uint64_checked_add (&value, value, (guint64) (digit - '0'))
          || value > G_MAXINT64)
        {
          glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is too large", shown);
          return FALSE;
        }
    }
  if (value == 0)
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is zero", shown);
      return FALSE;
    }
  *ret_value = value;
  return TRUE;
}

static gboolean
parse_count (const char *text, guint64 *ret_value, GError **error)
{
  g_autofree char *shown = glove_text_escape (text, -1);
  gsize digits = strspn (text, "0123456789");

  if (digits == 0 || text[digits] != '\0')
    {
      glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "“%s” is not a whole number", shown);
      return FALSE;
    }
  return glove_text_parse_size (text, ret_value, error);
}

static gboolean
parse_value (Kind kind, const char *text, guint64 *ret_value, GError **error)
{
  switch (kind)
    {
    case KIND_BYTES:
      return glove_text_parse_size (text, ret_value, error);
    case KIND_COUNT:
      return parse_count (text, ret_value, error);
    case KIND_DURATION:
      return glove_text_parse_duration (text, ret_value, error);
    case KIND_CPUS:
    default:
      return parse_cpus (text, ret_value, error);
    }
}

static char *
dup_names (void)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < GLOVE_N_LIMITS; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", limits[i].name);
  return g_string_free (g_steal_pointer (&names), FALSE);
}

/**
 * glove_limits_parse_option: (skip)
 * @self: limits
 * @text: `NAME=VALUE`
 * @error: return location
 *
 * On success the limit has the value, and is marked as requested; on failure nothing changes.
 *
 * Returns: %FALSE with %GLOVE_ERROR_INVALID_ARGUMENT that names the limit
 *
 * Since: 1.0
 */
gboolean
glove_limits_parse_option (GloveLimits *self, const char *text, GError **error)
{
  g_autofree char *shown = NULL;
  g_autofree char *names = NULL;
  const char *equals;
  guint64 value;

  g_return_val_if_fail (self != NULL && text != NULL, FALSE);

  equals = strchr (text, '=');
  for (guint i = 0; equals != NULL && i < GLOVE_N_LIMITS; i++)
    {
      gsize length = strlen (limits[i].name);

      if ((gsize) (equals - text) != length || strncmp (text, limits[i].name, length) != 0)
        continue;
      if (!parse_value (limits[i].kind, equals + 1, &value, error))
        {
          g_prefix_error (error, "limit %s: ", limits[i].name);
          return FALSE;
        }
      self->value[i] = value;
      self->requested[i] = TRUE;
      return TRUE;
    }

  names = dup_names ();
  shown = glove_text_escape (text, equals != NULL ? equals - text : -1);
  if (equals == NULL)
    glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "limit “%s” is not NAME=VALUE", shown);
  else
    glove_error_set (error, GLOVE_ERROR_INVALID_ARGUMENT, "there is no limit “%s”", shown);
  glove_error_set_hint (error, "use NAME=VALUE with one of %s", names);
  return FALSE;
}

/**
 * glove_limit_get_name:
 * @limit: a limit
 *
 * Returns: (transfer none) (nullable): the name as `--limit` takes it, constant; %NULL for a number that is no limit
 *
 * Since: 1.0
 */
const char *
glove_limit_get_name (GloveLimit limit)
{
  return (guint) limit < GLOVE_N_LIMITS ? limits[limit].name : NULL;
}

static char *
format_duration (guint64 ms)
{
  if (ms % 1000 != 0)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " ms", ms);
  if (ms % 3600000 == 0)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " h", ms / 3600000);
  if (ms % 60000 == 0)
    return g_strdup_printf ("%" G_GUINT64_FORMAT " min", ms / 60000);
  return g_strdup_printf ("%" G_GUINT64_FORMAT " s", ms / 1000);
}

static char *
format_cpus (guint64 thousandths)
{
  char *text;
  gsize length;

  if (thousandths % 1000 == 0)
    return g_strdup_printf ("%" G_GUINT64_FORMAT, thousandths / 1000);
  text = g_strdup_printf ("%" G_GUINT64_FORMAT ".%03u", thousandths / 1000, (guint) (thousandths % 1000));
  for (length = strlen (text); text[length - 1] == '0'; length--)
    text[length - 1] = '\0';
  return text;
}

/**
 * glove_limit_format_value:
 * @limit: a limit
 * @value: a value of it
 *
 * Returns: (transfer full): the value for people; "none" for 0
 *
 * Since: 1.0
 */
char *
glove_limit_format_value (GloveLimit limit, guint64 value)
{
  g_return_val_if_fail ((guint) limit < GLOVE_N_LIMITS, NULL);

  if (value == 0)
    return g_strdup ("none");
  switch (limits[limit].kind)
    {
    case KIND_BYTES:
      return glove_text_format_size (value);
    case KIND_DURATION:
      return format_duration (value);
    case KIND_CPUS:
      return format_cpus (value);
    case KIND_COUNT:
    default:
      return g_strdup_printf ("%" G_GUINT64_FORMAT, value);
    }
}

/**
 * glove_limit_mechanism_get_name:
 * @mechanism: a mechanism
 *
 * Returns: (transfer none) (nullable): the wire name (contracts §11.2), constant; %NULL for a number that is no mechanism
 *
 * Since: 1.0
 */
const char *
glove_limit_mechanism_get_name (GloveLimitMechanism mechanism)
{
  static const char *const names[] = {
    [GLOVE_LIMIT_MECHANISM_UNAVAILABLE] = "unavailable",
    [GLOVE_LIMIT_MECHANISM_RLIMIT] = "rlimit",
    [GLOVE_LIMIT_MECHANISM_CGROUP_V2] = GLOVE_WIRE_MECHANISM_CGROUP_V2,
    [GLOVE_LIMIT_MECHANISM_WATCHDOG] = "watchdog",
    [GLOVE_LIMIT_MECHANISM_FILESYSTEM_QUOTA] = "filesystem_quota",
    [GLOVE_LIMIT_MECHANISM_BYTE_COUNTER] = "byte_counter",
  };

  return (guint) mechanism < G_N_ELEMENTS (names) ? names[mechanism] : NULL;
}
