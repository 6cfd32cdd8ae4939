# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the rules look at: the files of a tree, and C source with its comments and strings told apart."""
import functools
import os
import re

# Not written by hand for people, or wrong on purpose.
SKIPPED = re.compile(r'^(\.git|build[^/]*|\.cache|tests/lint/(good|bad)|tests/fuzz/corpus|tests/.*/(fixtures|data))(/|$)|(^|/)__pycache__(/|$)')
# In C: a comment, a string, a character, in the order in which they open.
C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def blank(text):
    return re.sub(r'[^\n]', ' ', text)


class Source:
    """One text file."""

    def __init__(self, root, path):
        self.path = path
        self.name = os.path.basename(path)
        self.stem, self.extension = os.path.splitext(self.name)
        self.folder = os.path.dirname(path)
        self.full = os.path.join(root, path)

    @functools.cached_property
    def raw(self):
        with open(self.full, 'rb') as file:
            return file.read()

    @functools.cached_property
    def text(self):
        return self.raw.decode('utf-8', errors='replace')

    @functools.cached_property
    def is_text(self):
        return b'\0' not in self.raw[:4096]

    @property
    def is_c(self):
        return self.extension in ('.c', '.h')

    @property
    def is_script(self):
        return self.extension in ('.py', '.sh', '.mjs', '.js') or self.raw.startswith(b'#!')

    @functools.cached_property
    def code(self):
        """The text with comments blanked; strings stay. Lines keep their numbers."""
        return C_TOKEN.sub(lambda m: blank(m[0]) if m[0].startswith('/') else m[0], self.text)

    @functools.cached_property
    def bare(self):
        """The text with comments and the insides of strings blanked."""
        return C_TOKEN.sub(lambda m: blank(m[0]), self.text)

    @functools.cached_property
    def functions(self):
        """(name, first line, last line, static) of each function defined in GNU style."""
        found = []
        lines = self.bare.split('\n')
        for number, line in enumerate(lines):
            if line.rstrip() != '{':
                continue
            start = number - 1
            while start > 0 and lines[start].strip() and not re.match(r'^[#}]', lines[start]):
                start -= 1
            head = ' '.join(lines[start:number])
            match = re.search(r'\b([A-Za-z_]\w*) *\(', head)
            end = next((n for n in range(number, len(lines)) if lines[n].startswith('}')), len(lines) - 1)
            if match and not re.search(r'^\s*(typedef|struct|enum|union)\b[^(]*$', head):
                found.append((match[1], start + 2, end + 1, bool(re.search(r'\bstatic\b', head))))
        return found

    def line_of(self, offset):
        return self.text.count('\n', 0, offset) + 1


class Tree:
    """A tree to look at: the project, or a sample."""

    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.sources = []
        for folder, folders, names in os.walk(self.root):
            relative = os.path.relpath(folder, self.root)
            relative = '' if relative == '.' else relative
            folders[:] = sorted(f for f in folders if not SKIPPED.search(os.path.join(relative, f)))
            for name in sorted(names):
                path = os.path.join(relative, name)
                if not os.path.islink(os.path.join(self.root, path)) and not name.endswith(('.pyc', '.orig', '~')):
                    self.sources.append(Source(self.root, path))

    def under(self, *folders):
        return [s for s in self.sources if any(s.path.startswith(f + '/') for f in folders)]

    def find(self, path):
        return next((s for s in self.sources if s.path == path), None)
