#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Code that a page quotes. In the source it stands between `doc: NAME` and `doc: end`; in the page it follows a line
`<!-- quote: PATH#NAME -->` in a fenced block. `quote.py ROOT` writes what the sources say into the pages below ROOT/docs."""
import os
import re
import sys

QUOTE = re.compile(r'^<!-- quote: ([^#\n]+)#([\w-]+) -->\n(```[a-z]*\n)(.*?)^```$', re.MULTILINE | re.DOTALL)
MARK = re.compile(r'^[^\w\n]*\bdoc: ([\w-]+)[^\w\n]*$', re.MULTILINE)


def passages(text):
    """{name: lines} of one source."""
    found, name, start = {}, None, 0
    for mark in MARK.finditer(text):
        if mark[1] == 'end':
            if name is not None:
                found[name] = text[start:mark.start()]
            name = None
        else:
            name, start = mark[1], mark.end() + 1
    return found


def update(root):
    folder = os.path.join(root, 'docs')
    for page in sorted(os.listdir(folder)):
        path = os.path.join(folder, page)
        if not page.endswith('.md'):
            continue

        def fill(match):
            with open(os.path.join(root, match[1]), encoding='utf-8') as source:
                passage = passages(source.read())[match[2]]
            return f'<!-- quote: {match[1]}#{match[2]} -->\n{match[3]}{passage}```'

        with open(path, encoding='utf-8') as file:
            old = file.read()
        new = QUOTE.sub(fill, old)
        if new != old:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(new)
            print(path)


if __name__ == '__main__':
    update(sys.argv[1])
