#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each sample below bad/, laid over the tree good/, is reported by the rule that its name begins with, and by no other."""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import rules  # noqa: E402
import tree   # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def reported(sample):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(HERE, 'good'), folder, dirs_exist_ok=True)
        if sample:
            shutil.copytree(os.path.join(HERE, 'bad', sample), folder, dirs_exist_ok=True)
        looked_at = tree.Tree(folder)
        return {name for name, rule in rules.RULES.items() if list(rule(looked_at))}


def rule_of(sample):
    return max((r for r in rules.RULES if sample == r or sample.startswith(r + '-')), key=len, default=None)


def main():
    samples = sorted(os.listdir(os.path.join(HERE, 'bad')))
    results = [('the good tree is reported by none', reported(None) == set())]
    for sample in samples:
        found = reported(sample)
        results.append((f'{sample} is reported by {", ".join(sorted(found)) or "none"}', found == {rule_of(sample)}))
    for rule in rules.RULES:
        results.append((f'{rule} has a sample', any(rule_of(s) == rule for s in samples)))
    print(f'1..{len(results)}')
    for number, (what, good) in enumerate(results, 1):
        print(f'{"ok" if good else "not ok"} {number} - {what}')
    return 0 if all(good for _, good in results) else 1


if __name__ == '__main__':
    sys.exit(main())
