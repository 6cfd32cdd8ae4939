#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""glove plugin list, info and check: what is printed where, as text and as JSON, and the exit status.
test-plugin-verb.py GLOVE EXAMPLE-CATALOG BROKEN-MODULES"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

GLOVE, EXAMPLE, BROKEN = sys.argv[1:]
results = []


def glove(*arguments):
    return subprocess.run([GLOVE, 'plugin', *arguments], capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C.UTF-8'})


def expect(name, done, status, out=None, err=None):
    good = done.returncode == status
    good &= (out is None and done.stdout == '') or (out is not None and out in done.stdout)
    good &= (err is None and done.stderr == '') or (err is not None and err in done.stderr)
    if not good:
        print(f'# {done.returncode}\n# out: {done.stdout!r}\n# err: {done.stderr!r}')
    results.append((name, good))


def usage():
    expect('no action', glove(), 2, err='error[usage]: say list, info ID or check FILE')
    expect('an unknown action', glove('frobnicate'), 2, err="unknown action 'frobnicate'")
    expect('list with an argument', glove('list', 'x'), 2, err="unexpected argument 'x'")
    expect('info without an id', glove('info'), 2, err="'info' takes one plugin's ID")
    expect('check with two files', glove('check', 'a', 'b'), 2, err="'check' takes one FILE")
    expect('an unknown option', glove('list', '--frob'), 2, err='--frob')
    expect('help', glove('--help'), 0, out='list | info ID | check FILE')


def good(catalog):
    listed = glove('list', '--catalog', catalog)
    expect('list', listed, 0, out='example  runtime:example schema:example.note.v1 sink:example  enabled')
    entry = json.loads(glove('list', '--json', '--catalog', catalog).stdout)[0]
    results.append(('list as JSON', entry['module'] == 'example' and entry['abi'] == 1 and entry['enabled'] is True
                    and entry['provides'] == ['runtime:example', 'schema:example.note.v1', 'sink:example']
                    and entry['source'] == 'package' and entry['sha256'] is None))
    for name in ('example', 'runtime:example', 'example.note.v1', 'sink:example'):
        expect(f'info {name}', glove('info', name, '--catalog', catalog), 0, out='Greeting=good morning')
    info = json.loads(glove('info', 'example', '--json', '--catalog', catalog).stdout)
    results.append(('info as JSON', info['version'] == '1.0' and info['settings'] == {'Greeting': 'good morning'}
                    and info['gettext_domain'] == 'glove-example' and info['refused'] is None))
    module = os.path.join(catalog, 'libglove-example.so')
    expect('check', glove('check', module), 0, out='every check passed')
    checked = json.loads(glove('check', '--json', module).stdout)
    results.append(('check as JSON', checked['module'] == 'example' and checked['licence'] == 'LGPL-2.1-or-later'))


def bad(catalog):
    expect('info of what is not there', glove('info', 'other', '--catalog', catalog), 125, err="no plugin is called 'other'")
    expect('a catalog that is not there', glove('list', '--catalog', '/nonexistent'), 125, err='error[not-found]: catalog /nonexistent')
    expect('check of what is not there', glove('check', '/nonexistent/x.so'), 125, err='error[not-found]')
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        other = shutil.copy(os.path.join(BROKEN, 'libfixture-wrong-abi.so'), folder)
        os.chmod(other, 0o644)
        expect('check of a module for another Glove', glove('check', other), 125,
               err='its note says ABI 99; this Glove takes 1\nTry: ')
        for name in ('example.conf', 'libglove-example.so'):
            shutil.copy(os.path.join(catalog, name), folder)
        with open(os.path.join(folder, 'worse.conf'), 'w', encoding='utf-8') as file:
            file.write('[Module worse]\nColour=red\n')
        with open(os.path.join(folder, 'masked.conf'), 'w', encoding='utf-8') as file:
            file.write('[Module masked]\nEnabled=false\n')
        for name in os.listdir(folder):
            os.chmod(os.path.join(folder, name), 0o644)
        done = glove('list', '--catalog', folder)
        expect('a bad file beside good ones', done, 125, out='example', err="worse.conf:2: unknown key 'Colour'")
        results.append(('what is masked is listed as such', 'masked   -  ' in done.stdout and 'masked' in done.stdout))
        expect('info of a mask', glove('info', 'masked', '--catalog', folder), 0, out='masked')
        os.chmod(os.path.join(folder, 'libglove-example.so'), 0o666)
        done = glove('info', 'example', '--catalog', folder)
        expect('info of what is refused', done, 125, out='example', err='is writable by everybody (mode 0666)\nTry: chmod go-w')


def main():
    usage()
    good(EXAMPLE)
    bad(EXAMPLE)
    print(f'1..{len(results)}')
    for number, (name, passed) in enumerate(results, 1):
        print(f'{"ok" if passed else "not ok"} {number} - {name}')
    return 0 if all(passed for _, passed in results) else 1


if __name__ == '__main__':
    sys.exit(main())
