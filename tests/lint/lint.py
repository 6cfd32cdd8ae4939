#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""lint.py ROOT [RULE…]: every rule, or those named, over a tree, as TAP: one subtest a rule, its findings below it."""
import os
import sys

sys.dont_write_bytecode = True
import rules  # noqa: E402
import tree   # noqa: E402


def main():
    looked_at = tree.Tree(sys.argv[1])
    names = sys.argv[2:] or list(rules.RULES)
    failed = 0
    print(f'1..{len(names)}')
    for number, name in enumerate(names, 1):
        findings = sorted(set(rules.RULES[name](looked_at)))
        failed += bool(findings)
        print(f'{"not ok" if findings else "ok"} {number} - {name}')
        for path, line, what in findings:
            print(f'# {path}:{line}: {what}')
    for path, line, what in rules.warnings(looked_at):
        print(f'# worth a look: {path}:{line}: {what}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
