#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-symbols.py NM LIBRARY PUBLIC-HEADER… -- PRIVATE-HEADER…

The library exports what its headers declare, each function under the version node that its marker says, and nothing else. Prints TAP.
"""
import re
import subprocess
import sys


def declared(headers, marker):
    names = set()
    for header in headers:
        with open(header, encoding='utf-8') as file:
            text = re.sub(r'/\*.*?\*/', '', file.read(), flags=re.S)
        text = re.sub(r'^\s*#.*$', '', text, flags=re.M)
        for declaration in re.findall(marker + r'\b([^;{]*)', text):
            declare = re.match(r'\s*G_DECLARE_\w+\s*\(\s*\w+\s*,\s*(\w+)', declaration)
            function = re.search(r'\b(glove_\w+)\s*\(', declaration)
            if declare:
                names.add(declare.group(1) + '_get_type')
            elif function:
                names.add(function.group(1))
    return names


def exported(nm, library):
    nodes = {}
    output = subprocess.run([nm, '-D', '--defined-only', '--with-symbol-versions', library], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    for line in output.splitlines():
        kind, symbol = line.split()[-2:]
        name, _, node = symbol.partition('@@')
        if kind == 'A' and node == name or kind == 'A' and not node:
            continue  # the node itself
        nodes.setdefault(node, set()).add(name)
    return nodes


def main():
    nm, library, headers = sys.argv[1], sys.argv[2], sys.argv[3:]
    split = headers.index('--')
    wanted = {
        'GLOVE_1': declared(headers[:split], 'GLOVE_AVAILABLE_IN_1_0'),
        'GLOVE_1_PRIVATE': declared(headers[split + 1:], 'GLOVE_PRIVATE_API'),
    }
    found = exported(nm, library)
    failed = False
    print('1..3')
    for number, node in enumerate(wanted, 1):
        missing = wanted[node] - found.get(node, set())
        extra = found.get(node, set()) - wanted[node]
        enough = len(wanted[node]) > 20
        failed |= bool(missing or extra) or not enough
        print('%s %d - %s: %d functions' % ('not ok' if missing or extra or not enough else 'ok', number, node,
                                            len(wanted[node])))
        for name in sorted(missing):
            print('# declared, not exported: ' + name)
        for name in sorted(extra):
            print('# exported, not declared: ' + name)
    others = sorted(set(found) - set(wanted))
    failed |= bool(others)
    print('%s 3 - no other node' % ('not ok' if others else 'ok'))
    for node in others:
        print('# %s: %s' % (node or 'no node', ' '.join(sorted(found[node]))))
    return 1 if failed else 0


sys.exit(main())
