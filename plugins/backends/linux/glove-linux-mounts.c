/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-mounts.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "glove-linux-fd.h"

static gboolean
is_at_or_below (const char *point, const char *path)
{
  gsize n = strlen (path);

  return strncmp (point, path, n) == 0 && (point[n] == '/' || point[n] == '\0');
}

GPtrArray *
glove_linux_mounts_parse_below (const char *mountinfo, const char *path)
{
  GPtrArray *points = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) lines = g_strsplit (mountinfo, "\n", -1);

  for (gsize i = 0; lines[i] != NULL; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], " ", 6);
      g_autofree char *point = NULL;

      if (g_strv_length (fields) < 6)
        continue;
      point = g_strcompress (fields[4]);
      if (is_at_or_below (point, path))
        g_ptr_array_add (points, g_steal_pointer (&point));
    }
  return points;
}

GPtrArray *
glove_linux_mounts_list_below (const char *path)
{
  g_autofree char *mountinfo = NULL;

  if (!g_file_get_contents ("/proc/self/mountinfo", &mountinfo, NULL, NULL))
    return g_ptr_array_new_with_free_func (g_free);
  return glove_linux_mounts_parse_below (mountinfo, path);
}

/* By device number, as mountinfo has it; an overlay's or a subvolume's may differ there, and then the magic number must do. */
char *
glove_linux_mounts_get_type (int fd)
{
  g_autofree char *mountinfo = NULL;
  g_autofree char *device = NULL;
  g_auto (GStrv) lines = NULL;
  struct statfs fs = { 0 };
  struct stat st;

  if (fstat (fd, &st) == 0 && g_file_get_contents ("/proc/self/mountinfo", &mountinfo, NULL, NULL))
    {
      device = g_strdup_printf (" %u:%u ", major (st.st_dev), minor (st.st_dev));
      lines = g_strsplit (mountinfo, "\n", -1);
    }
  for (gsize i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      const char *type = strstr (lines[i], " - ");

      if (type != NULL && strstr (lines[i], device) != NULL)
        return g_strndup (type + 3, strcspn (type + 3, " "));
    }
  (void) fstatfs (fd, &fs);
  return g_strdup_printf ("magic 0x%lx", (unsigned long) fs.f_type);
}
