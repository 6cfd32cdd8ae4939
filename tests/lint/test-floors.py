#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The compiler itself refuses an include of a floor above: with each floor's own command line, taken from the build, a file that
includes a header of its own floor compiles, and one that includes a header of the floor above does not find it."""
import json
import os
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
from rules import FLOORS  # noqa: E402


def command_of(build, root, floor):
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
        for entry in json.load(file):
            path = os.path.normpath(os.path.join(entry['directory'], entry['file']))
            if os.path.relpath(path, root).startswith(f'core/{floor}/') and 'libglove-' + floor in entry['output']:
                words = shlex.split(entry['command'])
                return [w for w in words if w.startswith(('-I', '-D', '-std', '-isystem', '-pthread'))], words[0]
    return None, None


def compiles(build, compiler, flags, header):
    done = subprocess.run([compiler, *flags, '-fsyntax-only', '-x', 'c', '-'], cwd=build, input=f'#include "{header}"\n', text=True,
                          capture_output=True, check=False)
    return done.returncode == 0, done.stderr


def header_of(root, floor):
    folder = os.path.join(root, 'core', floor)
    return next((n for n in sorted(os.listdir(folder)) if n.endswith('.h') and not n.startswith('glove-plugin.')), None)


def main():
    build, root = sys.argv[1:3]
    failed = number = 0
    for floor, above in zip(FLOORS, FLOORS[1:] + [None]):
        number += 1
        flags, compiler = command_of(build, root, floor)
        own, upper = header_of(root, floor), header_of(root, above) if above else None
        if flags is None or own is None:
            print(f'ok {number} - {floor} # SKIP core/{floor} has no source or no header yet')
            continue
        good, text = compiles(build, compiler, flags, own)
        refused, complaint = True, ''
        if upper:
            found, complaint = compiles(build, compiler, flags, upper)
            refused = not found and 'No such file' in complaint
        print(f'{"ok" if good and refused else "not ok"} {number} - {floor} finds {own} and not {upper or "anything above"}')
        if not (good and refused):
            failed += 1
            print('\n'.join('# ' + line for line in (text + complaint).splitlines()))
    print(f'1..{number}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
