# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rules. Each takes a Tree and yields (path, line, what is wrong); `warnings` does the same for what is only worth a look."""
import re

import quote

LICENCE = 'SPDX-License-Identifier: LGPL-2.1-or-later'
FLOORS = ['base', 'model', 'api', 'catalog', 'audit', 'policy', 'egress', 'session', 'cli']
FUNCTION_WARN, FUNCTION_MAX = 60, 100
FILE_WARN, FILE_MAX = 600, 1000
LINE_MAX = 140  # a row of a table may hold a longer string
STRING = re.compile(r'"(?:\\.|[^"\\])*"')

# Runtimes, schemas and mechanisms: what core/ has to do without knowing.
PLUGIN_NAMES = ['codex', 'pi', 'claude', 'anthropic', 'openai', 'copilot', 'opencode', 'sage', 'seccomp', 'landlock', 'cgroup',
                'cgroups', 'bwrap', 'bubblewrap', 'journald']
WIRE_NAMES = 'core/model/glove-wire-names-private.h'
# The one value of a public enumeration whose name is the wire's word (contracts §11.2).
WIRE_IDENTIFIERS = ['GLOVE_LIMIT_MECHANISM_CGROUP_V2', 'GLOVE_WIRE_MECHANISM_CGROUP_V2']


def snake(type_name):
    return re.sub(r'(?<=[a-z0-9])(?=[A-Z])', '_', type_name).lower()


def includes(source):
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', source.code, re.MULTILINE):
        yield source.line_of(match.start()), match[1], match[2]


def floor_order(tree):
    """A file of core/ includes its own floor's headers and those of lower floors."""
    floor_of = {}
    for source in tree.under('core'):
        part = source.path.split('/')[1]
        if source.extension == '.h' and part in FLOORS:
            floor_of[source.name] = part
    for source in tree.under('core'):
        own = source.path.split('/')[1]
        if not source.is_c or own not in FLOORS:
            continue
        for line, quote, name in includes(source):
            if '/' in name and (quote == '"' or name.startswith(('glove/', '..'))):
                yield source.path, line, f'"{name}" is included by path; headers are included by plain name'
            elif floor_of.get(name) and FLOORS.index(floor_of[name]) > FLOORS.index(own):
                yield source.path, line, f'core/{own} includes "{name}" of core/{floor_of[name]}, a floor above it'
            elif quote == '"' and name not in floor_of and not is_generated(name):
                yield source.path, line, f'"{name}" is not a header of this floor or a lower one'


def is_generated(name):
    return name in ('config.h', 'glove-version.h') or name.endswith(('-enums.h', '-generated.h', '.inc'))


def own_prefixes(source, header):
    """What public functions of a file may begin with: the file's own name, or an enumeration or plain struct in its header."""
    stem = source.stem.removesuffix('-private').replace('-', '_')
    prefixes = {stem}
    if stem.startswith('glove_launch_') and source.path.startswith('plugins/'):
        prefixes.add('glove_launch')  # one small program, without types
    for text in (source.bare, header.bare if header else ''):
        for name in re.findall(r'^\} *(Glove\w+);|^typedef [^\n{;]*?\b(Glove\w+);', text, re.MULTILINE):
            prefixes.add(snake(name[0] or name[1]))
    return prefixes


def one_name(tree):
    """One type, one file, one prefix."""
    for source in tree.under('core', 'plugins'):
        if not source.is_c or '/tests/' in source.path:
            continue
        if not source.name.startswith('glove'):
            yield source.path, 1, 'the file name does not begin with "glove-"'
            continue
        stem = source.stem.removesuffix('-private').replace('-', '_')
        header = tree.find(f'{source.folder}/{source.stem}.h') or tree.find(f'{source.folder}/{source.stem}-private.h')
        declared = re.findall(r'\bG_DE(?:CLARE|FINE)_(?:FINAL|DERIVABLE|ABSTRACT|INTERFACE|BOXED)?_?(?:TYPE|INTERFACE)?'
                              r'(?:_EXTENDED|_WITH_CODE|_WITH_PRIVATE)? *\( *(Glove\w+)', source.bare)
        objects = {d for d in declared if not is_plain(d, source, header)}
        for name in sorted(objects):
            if snake(name) != stem:
                yield source.path, 1, f'{name} belongs in a file of its own name'
        if source.extension == '.c':
            prefixes = own_prefixes(source, header)
            for name, line, _, is_static in source.functions:
                if not is_static and name != 'main' and not any(name == p or name.startswith(p + '_') for p in prefixes):
                    yield source.path, line, f'{name} does not begin with {stem}_'


def is_plain(name, source, header):
    """A struct or enumeration of values that lives in its owner's header."""
    text = source.bare + (header.bare if header else '')
    return bool(re.search(r'^\} *' + name + r';', text, re.MULTILINE))


def plugin_includes(tree):
    """A plugin knows <glove/glove-plugin.h>, the system, and its own folder."""
    for source in tree.under('plugins', 'tests/plugins'):
        if not source.is_c or '/tests/' in source.path.removeprefix('tests/') or source.name.startswith('test-'):
            continue
        beside = {s.name for s in tree.sources if s.folder == source.folder}
        build = tree.find(f'{source.folder}/meson.build')
        for line, quote, name in includes(source):
            if quote == '"' and name not in beside and not (build and f"'{name}'" in build.text):
                yield source.path, line, f'"{name}" is not a header of this folder, and not made there'
            elif quote == '<' and name.startswith('glove') and name not in ('glove/glove-plugin.h', 'glove-plugin.h'):
                yield source.path, line, f'<{name}>: a plugin includes <glove/glove-plugin.h> and nothing else of Glove'


def core_names(tree):
    """core/ names no runtime, schema or mechanism."""
    pattern = re.compile(r'(?<![A-Za-z])(' + '|'.join(PLUGIN_NAMES) + r')(?![A-Za-z])', re.IGNORECASE)
    for source in tree.under('core'):
        if source.path == WIRE_NAMES or not (source.is_c or source.name == 'meson.build'):
            continue
        text = re.sub('|'.join(WIRE_IDENTIFIERS), lambda m: ' ' * len(m[0]), source.text)
        for match in pattern.finditer(text):
            yield source.path, source.line_of(match.start()), f'"{match[1]}" is the name of a plugin\'s business'


def translatable(tree):
    """The files with text for people, sorted."""
    return sorted(s.path for s in tree.under('core', 'plugins')
                  if s.is_c and re.search(r'\b(N?_|N?C_|ngettext|Q_) ?\(', re.sub(r'^[ \t]*#.*', '', s.bare, flags=re.MULTILINE)))


def potfiles(tree):
    """po/POTFILES lists exactly the files with translatable text."""
    listing = tree.find('po/POTFILES')
    if listing is None:
        yield 'po/POTFILES', 1, 'is missing'
        return
    listed = [line.strip() for line in listing.text.splitlines() if line.strip() and not line.startswith('#')]
    marked = translatable(tree)
    for path in sorted(set(marked) - set(listed)):
        yield path, 1, 'has translatable text and is not in po/POTFILES'
    for path in listed:
        if path not in marked:
            yield 'po/POTFILES', 1, f'{path} has no translatable text, or is not there'
    if listed != sorted(listed):
        yield 'po/POTFILES', 1, 'is not sorted'


def sizes(tree, function_limit=FUNCTION_MAX, file_limit=FILE_MAX):
    """Functions of at most 100 lines, files of at most 1,000."""
    for source in tree.sources:
        if not source.is_c and not source.is_script:
            continue
        lines = source.text.count('\n')
        if lines > file_limit:
            yield source.path, 1, f'{lines} lines, more than {file_limit}'
        for name, first, last, _ in source.functions if source.is_c else []:
            if last - first + 1 > function_limit:
                yield source.path, first, f'{name} has {last - first + 1} lines, more than {function_limit}'


def readmes(tree):
    """Every folder has a README.md that lists its files."""
    folders = {}
    for source in tree.sources:
        if source.folder and not source.folder.startswith('.'):
            folders.setdefault(source.folder, []).append(source)
    for folder, sources in sorted(folders.items()):
        wanted = [s for s in sources if s.name not in ('meson.build', 'README.md')]
        readme = tree.find(f'{folder}/README.md')
        if readme is None:
            if wanted or len(folder.split('/')) <= 2:
                yield folder, 1, 'has no README.md'
            continue
        for source in wanted:
            stem = re.sub(r'(-private)?(\.in)?(\.[a-z0-9]+)?(\.in)?$', '', source.name) or source.name
            if stem not in readme.text:
                yield readme.path, 1, f'does not mention {source.name}'


def licence(tree):
    """The licence is the first line of every source."""
    for source in tree.sources:
        lines = source.text.split('\n', 2)
        if source.is_c:
            if lines[0] != f'/* {LICENCE} */':
                yield source.path, 1, f'does not begin with /* {LICENCE} */'
        elif source.is_script or source.name == 'meson.build':
            line = lines[1] if lines[0].startswith('#!') and len(lines) > 1 else lines[0]
            if line not in (f'# {LICENCE}', f'// {LICENCE}'):
                yield source.path, 1, f'does not begin with # {LICENCE}'


def no_goto(tree):
    """No goto."""
    for source in tree.sources:
        if source.is_c:
            for match in re.finditer(r'\bgoto\b', source.bare):
                yield source.path, source.line_of(match.start()), 'goto'


def comments(tree):
    """Comments are /* … */."""
    for source in tree.sources:
        if source.is_c:
            for match in re.finditer(r'/\*.*?\*/|//|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', source.text, re.DOTALL):
                if match[0] == '//':
                    yield source.path, source.line_of(match.start()), 'a // comment'


def whitespace(tree):
    """No tabs, no blanks at the end of a line, a newline at the end of a file, no line over the limit."""
    for source in tree.sources:
        if not source.is_text or not source.text or source.name == 'COPYING' or source.extension in ('.map', '.pot', '.po'):
            continue
        for number, line in enumerate(source.text.split('\n'), 1):
            if '\t' in line:
                yield source.path, number, 'a tab'
            if line != line.rstrip() and not source.name.endswith('.md'):
                yield source.path, number, 'blanks at the end of the line'
            if source.is_c and len(STRING.sub('""', line)) > LINE_MAX:
                yield source.path, number, f'{len(line)} columns, more than {LINE_MAX}'
        if not source.text.endswith('\n'):
            yield source.path, source.text.count('\n') + 1, 'no newline at the end of the file'


def unfinished(tree):
    """Nothing says that it is unfinished."""
    words = re.compile(r'\b(TO' r'DO|FIX' r'ME|X' r'XX|HA' r'CK)\b')
    for source in tree.sources:
        if source.is_text and source.name != 'COPYING':
            for match in words.finditer(source.text):
                yield source.path, source.line_of(match.start()), f'"{match[1]}"'


def error_text(tree):
    """An error's text begins in lower case and has no full stop: it is put behind a prefix and in front of a reason."""
    call = re.compile(r'\bglove_error_set(?:_literal|_errno)? *\(((?:[^";{}]|\n)*?)((?:"(?:\\.|[^"\\\n])*"\s*)+)')
    for source in tree.under('core', 'plugins'):
        if not source.is_c:
            continue
        for match in call.finditer(source.code):
            text = ''.join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match[2]))
            line = source.line_of(match.start())
            if re.match(r'[A-Z][a-z]*(\b|$)', text) and not re.match(r'[A-Z]\b|[A-Z][A-Z]', text) \
                    and not re.match(r'[A-Z]\w*[A-Z_=]', text):
                yield source.path, line, f'the error "{text}" begins with a capital'
            if re.search(r'[.!]$', text) and not text.endswith('..'):
                yield source.path, line, f'the error "{text}" ends in a full stop'


def limits(tree):
    """docs/limits.md lists exactly the names of core/base/glove-bounds.h."""
    bounds, page = tree.find('core/base/glove-bounds.h'), tree.find('docs/limits.md')
    if bounds is None:
        return
    defined = set(re.findall(r'^#define (GLOVE_\w+)', bounds.code, re.MULTILINE))
    listed = set(re.findall(r'`(GLOVE_\w+)`', page.text if page else ''))
    for name in sorted(defined - listed):
        yield bounds.path, 1, f'{name} is not in docs/limits.md'
    for name in sorted(listed - defined):
        yield 'docs/limits.md', 1, f'{name} is not in {bounds.path}'


def manual(tree):
    """Every option that the command knows is in a manual page."""
    pages = ' '.join(s.text for s in tree.under('data/man')).replace('\\-', '-')
    for source in tree.under('core/cli'):
        for match in re.finditer(r'^ *\{ "([a-z][a-z-]*)", (?:0|\'.\'),[^}]*?G_OPTION_ARG_', source.code, re.MULTILINE):
            if not re.search(r'--' + match[1] + r'(?![a-z-])', pages):
                yield source.path, source.line_of(match.start()), f'--{match[1]} is in no manual page'


def quotes(tree):
    """The code in a page of docs/ is the code of the file that it names (quote.py writes it there)."""
    quoted = set()
    for page in tree.under('docs'):
        if page.extension != '.md':
            continue
        matches = list(quote.QUOTE.finditer(page.text))
        if len(matches) != page.text.count('<!-- quote:'):
            yield page.path, 1, 'a quote without its block'
        for match in matches:
            source = tree.find(match[1])
            passage = quote.passages(source.text).get(match[2]) if source else None
            quoted.add((match[1], match[2]))
            if passage is None:
                yield page.path, page.line_of(match.start()), f'{match[1]} has no "doc: {match[2]}"'
            elif passage != match[4]:
                yield page.path, page.line_of(match.start()), f'is not what {match[1]} says; run tests/lint/quote.py'
    for source in tree.under('tests/plugins'):
        if source.is_text and source.extension != '.md':
            for name in quote.passages(source.text):
                if (source.path, name) not in quoted:
                    yield source.path, 1, f'"doc: {name}" is in no page'


RULES = {
    'floor-order': floor_order,
    'one-name': one_name,
    'plugin-includes': plugin_includes,
    'core-names': core_names,
    'potfiles': potfiles,
    'sizes': sizes,
    'readmes': readmes,
    'readmes': readmes,
    'licence': licence,
    'no-goto': no_goto,
    'comments': comments,
    'whitespace': whitespace,
    'unfinished': unfinished,
    'error-text': error_text,
    'limits': limits,
    'quotes': quotes,
    'manual': manual,
}


def warnings(tree):
    yield from sizes(tree, FUNCTION_WARN, FILE_WARN)
