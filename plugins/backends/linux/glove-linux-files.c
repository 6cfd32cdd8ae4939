/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glove-linux-files.h"

/* bash is used as the shell where there is one, as nearly every agent wants it; who has none has sh. */
static const struct {
  const char *path;
  const char *text;
} static_files[] = {
  { "/etc/group", "root:x:0:\n" GLOVE_LINUX_USER_NAME ":x:1000:\nnogroup:x:65534:\n" },
  { "/etc/hosts", "127.0.0.1 localhost " GLOVE_LINUX_HOST_NAME "\n::1 localhost ip6-localhost ip6-loopback\n" },
  { "/etc/hostname", GLOVE_LINUX_HOST_NAME "\n" },
  /* No server is reachable: names are judged and resolved outside. One attempt, so that a look-up fails at once. */
  { "/etc/resolv.conf", "# names are resolved outside of the sandbox\nnameserver 127.0.0.1\noptions attempts:1 timeout:1\n" },
};

static void
file_free (GloveLinuxFile *file)
{
  g_bytes_unref (file->content);
  g_free (file);
}

static void
add (GPtrArray *files, const char *path, const char *text)
{
  GloveLinuxFile *file = g_new0 (GloveLinuxFile, 1);

  file->path = path;
  file->content = g_bytes_new (text, strlen (text));
  g_ptr_array_add (files, file);
}

GPtrArray *
glove_linux_files_list (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func ((GDestroyNotify) file_free);
  const char *shell = g_file_test ("/usr/bin/bash", G_FILE_TEST_IS_EXECUTABLE) ? "/bin/bash" : "/bin/sh";
  g_autofree char *passwd = g_strdup_printf ("root:x:0:0:root:/root:/usr/sbin/nologin\n"
                                             "%s:x:%u:%u:agent:%s:%s\n"
                                             "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
                                             GLOVE_LINUX_USER_NAME, GLOVE_LINUX_INNER_UID, GLOVE_LINUX_INNER_GID,
                                             GLOVE_HOME_DIRECTORY, shell);

  add (files, "/etc/passwd", passwd);
  for (gsize i = 0; i < G_N_ELEMENTS (static_files); i++)
    add (files, static_files[i].path, static_files[i].text);
  return files;
}
