#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts subtests: of meson's test logs, or of a TAP stream on stdin.

tally.py [--label NAME] [--must-run] LOG...    LOG is a testlog*.json of meson, NAME=FILE puts a name before its tests,
                                               and .tap files are plain TAP
Lists what failed and what was skipped with its reason, and closes with `NAME: N passed, N failed, N skipped`.
Exit status 1 if anything failed, nothing ran, or, with --must-run, anything was skipped.
"""
import argparse
import collections
import json
import re
import sys

LINE = re.compile(r'^(not ok|ok)\b\s*(\d*)\s*-?\s*(.*?)(?:\s*(?<!\\)#\s*(SKIP)\S*\s*(.*))?$', re.IGNORECASE)
PLAN = re.compile(r'^1\.\.(\d+)(?:\s*#\s*SKIP\S*\s*(.*))?$', re.IGNORECASE)
CONTROL = re.compile(r'[\x00-\x08\x0b-\x1f\x7f-\x9f]')


class Tally:
    """What was seen so far: counters, and the lines to show."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.skips = []

    def fail(self, name, why):
        self.failures.append(f'{name}: {why}' if why else name)

    def skip(self, name, why):
        self.skips.append((why or 'no reason given', name))

    def tap(self, name, text):
        """Counts a TAP stream; returns whether it had a line that counts, and whether one of them failed."""
        seen = failed = 0
        planned = None
        for line in text.splitlines():
            plan = PLAN.match(line)
            if plan:
                planned = int(plan[1])
                if planned == 0:
                    self.skip(name, plan[2])
                    return True, False
                continue
            match = LINE.match(line)
            if not match:
                continue
            seen += 1
            what = f'{name} {match[3]}'.strip()
            directive = (match[4] or '').upper()
            if directive == 'SKIP':
                self.skip(what, match[5])
            elif match[1].lower() == 'ok':
                self.passed += 1
            else:
                failed += 1
                self.fail(what, match[5])
        if seen and planned is not None and planned != seen:
            failed += 1
            self.fail(name, f'{planned} subtests planned, {seen} ran')
        return bool(seen), bool(failed)

    def meson_test(self, prefix, record):
        name = prefix + record['name'].split(':')[-1].strip()
        result = record['result']
        counted, failed = False, False
        text = record.get('stdout') or ''
        if re.search(r'^(ok|not ok|1\.\.\d)', text, re.MULTILINE):
            counted, failed = self.tap(name, text)
        if result in ('FAIL', 'TIMEOUT', 'ERROR', 'INTERRUPT', 'UNEXPECTEDPASS'):
            if not failed:
                self.fail(name, f'{result.lower()}, exit status {record.get("returncode")}')
        elif not counted and result == 'SKIP':
            lines = (text + '\n' + (record.get('stderr') or '')).strip().splitlines()
            self.skip(name, lines[-1] if lines else '')
        elif not counted:
            self.passed += 1


def read_log(tally, argument):
    prefix, _, path = argument.rpartition('=')
    prefix = f'[{prefix}] ' if prefix else ''
    with open(path, encoding='utf-8', errors='replace') as log:
        if path.endswith('.tap'):
            counted, _ = tally.tap(prefix.strip() or path, log.read())
            if not counted:
                tally.fail(prefix.strip() or path, 'the log holds no test')
            return
        for line in log:
            if line.strip():
                tally.meson_test(prefix, json.loads(line))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--label', default='')
    parser.add_argument('--must-run', action='store_true')
    parser.add_argument('logs', nargs='*')
    options = parser.parse_args()
    tally = Tally()
    if options.logs:
        for log in options.logs:
            read_log(tally, log)
    else:
        tally.tap(options.label, sys.stdin.read())

    by_reason = collections.defaultdict(list)
    for why, name in tally.skips:
        by_reason[why].append(name)
    for why, names in sorted(by_reason.items()):
        shown = ', '.join(names[:4]) + (f' and {len(names) - 4} more' if len(names) > 4 else '')
        print(CONTROL.sub('?', f'skipped: {why} ({shown})'))
    for failure in tally.failures:
        print(CONTROL.sub('?', f'FAILED: {failure}'))
    label = f'{options.label}: ' if options.label else ''
    print(f'{label}{tally.passed} passed, {len(tally.failures)} failed, {len(tally.skips)} skipped')
    bad = tally.failures or (options.must_run and tally.skips) or not (tally.passed or tally.skips)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
