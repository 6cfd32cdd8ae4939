#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example plugin as a stranger builds it: Glove is installed below a folder of its own, and nothing but what is installed there, a
compiler and pkg-config is used. test-out-of-tree.py MESON CC BUILD SOURCE [FLAG…]"""
import os
import shlex
import subprocess
import sys
import tempfile

MESON, CC, BUILD, SOURCE, *FLAGS = sys.argv[1:]
EXAMPLE = os.path.join(SOURCE, 'tests', 'plugins', 'example')
CONTRACT = '''
#include <glove/glove-contract.h>
extern const GlovePluginDescriptor glove_plugin_descriptor_1;
int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (const GlovePluginProvision *p = glove_plugin_descriptor_1.provisions; p->id != NULL; p++)
    {
      GObject *object = g_object_new (p->get_type (), NULL);
      if (GLOVE_IS_RUNTIME_ADAPTER (object))
        glove_contract_check_runtime_adapter (GLOVE_RUNTIME_ADAPTER (object));
      else if (GLOVE_IS_CHANNEL_SCHEMA (object))
        glove_contract_check_channel_schema (GLOVE_CHANNEL_SCHEMA (object));
      else
        glove_contract_check_audit_sink (GLOVE_AUDIT_SINK (object));
      g_object_unref (object);
    }
  return g_test_run ();
}
'''
results = []


def step(name, command, **options):
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', **options)
    results.append((name, done.returncode == 0))
    if done.returncode != 0:
        print('\n'.join('# ' + line for line in (done.stdout + done.stderr).splitlines()[-40:]))
    return done.stdout


def find(root, name):
    for folder, _, files in os.walk(root):
        if name in files:
            return os.path.join(folder, name)
    return None


def main():
    with tempfile.TemporaryDirectory(prefix='glove-out-of-tree-') as root:
        os.chmod(root, 0o755)
        step('installs', [MESON, 'install', '-C', BUILD, '--no-rebuild', '--quiet'], env={**os.environ, 'DESTDIR': root})
        pc = os.path.dirname(find(root, 'glove-1.pc') or '')
        environment = {**os.environ, 'PKG_CONFIG_PATH': pc}
        system = shlex.split(step('asks for GLib', ['pkg-config', '--cflags', '--libs', 'gobject-2.0', 'gio-unix-2.0']))
        # What is installed says where it will be; here it is below another root.
        include = step('says where its headers are', ['pkg-config', '--variable=includedir', 'glove-1'], env=environment).strip()
        step('has pkg-config modules', ['pkg-config', '--exists', '--print-errors', 'glove-1', 'glove-test-1'], env=environment)
        library = os.path.dirname(find(root, 'libglove-1.so.1.0.0') or '')
        sources = [os.path.join(EXAMPLE, f) for f in sorted(os.listdir(EXAMPLE)) if f.startswith('glove-') and f.endswith('.c')]
        script = find(root, 'glove-plugin.map') or 'no-version-script'
        catalog = os.path.join(root, 'catalog')
        os.mkdir(catalog, 0o755)
        module = os.path.join(catalog, 'libglove-example.so')
        common = [CC, *FLAGS, '-Wall', '-Werror', '-O1', '-g', '-fPIC', f'-I{root}{include}/glove-1', f'-L{library}']
        step('builds the module', [*common, '-shared', '-fvisibility=hidden', f'-Wl,--version-script,{script}', '-o', module,
                                   *sources, '-lglove-1', *system])
        if os.path.exists(module):
            os.chmod(module, 0o755)
        with open(os.path.join(EXAMPLE, 'example.conf'), encoding='utf-8') as entry:
            text = entry.read()
        with open(os.path.join(catalog, 'example.conf'), 'w', encoding='utf-8') as entry:
            entry.write(text)
        os.chmod(os.path.join(catalog, 'example.conf'), 0o644)
        run = {**environment, 'LD_LIBRARY_PATH': library}
        glove = os.path.join(BUILD, 'core', 'cli', 'glove')
        listed = step('is listed', [glove, 'plugin', 'list', '--catalog', catalog], env=run)
        results.append(('under its name', 'runtime:example schema:example.note.v1 sink:example' in listed))
        step('is loaded', [glove, 'plugin', 'info', 'example', '--catalog', catalog], env=run)
        step('passes every check', [glove, 'plugin', 'check', module], env=run)
        with open(os.path.join(root, 'contract.c'), 'w', encoding='utf-8') as file:
            file.write(CONTRACT)
        program = os.path.join(root, 'contract')
        step('builds the contract suites', [*common, '-o', program, os.path.join(root, 'contract.c'), *sources, f'-I{EXAMPLE}',
                                            '-lglove-test-1', '-lglove-1', *system])
        step('keeps the contracts', [program], env=run)

    print(f'1..{len(results)}')
    for number, (name, good) in enumerate(results, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
    return 0 if all(good for _, good in results) else 1


if __name__ == '__main__':
    sys.exit(main())
