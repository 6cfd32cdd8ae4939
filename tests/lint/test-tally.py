#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tests/tally.py counts what ran, fails on what failed, and believes no log that is cut short."""
import json
import os
import subprocess
import sys
import tempfile

TALLY = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tally.py')


def record(result, stdout='', code=0):
    return json.dumps({'name': 'glove:x / one', 'result': result, 'stdout': stdout, 'returncode': code})


# what, log file, text, more arguments, closing line, exit status
CASES = [
    ('tap', 'a.tap', 'ok 1 - a\nok 2 - b # SKIP no such thing\n1..2\n', [], '1 passed, 0 failed, 1 skipped', 0),
    ('a failed subtest', 'a.tap', 'ok 1 - a\nnot ok 2 - b\n1..2\n', [], '1 passed, 1 failed, 0 skipped', 1),
    ('a stream cut short', 'a.tap', '1..3\nok 1 - a\n', [], '1 passed, 1 failed, 0 skipped', 1),
    ('an empty stream', 'a.tap', '', [], '0 passed, 1 failed, 0 skipped', 1),
    ('a plan that skips all', 'a.tap', '1..0 # SKIP not here\n', [], '0 passed, 0 failed, 1 skipped', 0),
    ('a skip that must not be', 'a.tap', 'ok 1 - a # SKIP x\nok 2 - b\n1..2\n', ['--must-run'], '1 passed, 0 failed, 1 skipped', 1),
    ('meson, tap', 'a.json', record('OK', 'TAP version 13\nok 1 /a\nok 2 /b\n1..2\n'), [], '2 passed, 0 failed, 0 skipped', 0),
    ('meson, exit status', 'a.json', record('OK') + '\n' + record('SKIP', 'needs x\n', 77), [], '1 passed, 0 failed, 1 skipped', 0),
    ('meson, crash after a pass', 'a.json', record('ERROR', 'ok 1 /a\n', -11), [], '1 passed, 1 failed, 0 skipped', 1),
    ('meson, time-out', 'a.json', record('TIMEOUT', '', -15), [], '0 passed, 1 failed, 0 skipped', 1),
    ('meson, one failure counts once', 'a.json', record('FAIL', 'not ok 1 /a\n1..1\n', 1), [], '0 passed, 1 failed, 0 skipped', 1),
    ('no test at all', 'a.json', '', [], '0 passed, 0 failed, 0 skipped', 1),
]


def main():
    failed = 0
    print(f'1..{len(CASES)}')
    for number, (what, name, text, arguments, closing, status) in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            done = subprocess.run([sys.executable, TALLY, '--label', 'x', *arguments, path], capture_output=True, text=True, check=False)
        good = done.stdout.splitlines()[-1:] == ['x: ' + closing] and done.returncode == status
        failed += not good
        print(f'{"ok" if good else "not ok"} {number} - {what}')
        if not good:
            print('# ' + (done.stdout + done.stderr).replace('\n', '\n# '))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
