"""Manual pages of the library, made from the comments of scaler.h, which are the truth.  Functions that share
a noun share a page, scaler_blob(3); each function and type also has a page of its own name that leads there.

    make_pages.py list HEADER             the names of all pages, one a line
    make_pages.py make HEADER FOLDER      writes them
    make_pages.py check HEADER            says which comment lacks its thread tag, its errors, its owner or its blocking
"""
import pathlib
import re
import sys

TITLES = {
    'scaler_version': 'which library this is',
    'scaler_status': 'what can go wrong, in numbers and words',
    'scaler_init': 'structs that may grow',
    'scaler_id': 'names of tasks, workers and clients',
    'scaler_runtime': 'memory, log and the thread that turns',
    'scaler_blob': 'immutable, counted bytes',
    'scaler_security': 'who may come in',
    'scaler_scheduler': 'places tasks on workers',
    'scaler_worker': 'runs functions and commands',
    'scaler_task': 'a task, seen by the function that runs it',
    'scaler_client': 'submits tasks and looks at a cluster',
    'scaler_arg': 'arguments of a function',
    'scaler_future': 'how a task stands, and how it ended',
    'scaler_queue': 'futures as they end',
    'scaler_local': 'a whole cluster in one process',
}
HOMES = {  # what does not say by its name where it belongs
    'scaler_strerror': 'scaler_status', 'scaler_error': 'scaler_status', 'scaler_reason_name': 'scaler_future',
    'scaler_reason': 'scaler_future', 'scaler_failure': 'scaler_future', 'scaler_exit': 'scaler_future',
    'scaler_exit_how': 'scaler_future', 'scaler_task_state': 'scaler_future', 'scaler_allocator': 'scaler_runtime',
    'scaler_log_level': 'scaler_runtime', 'scaler_log_record': 'scaler_runtime', 'scaler_log_fn': 'scaler_runtime',
    'scaler_release_fn': 'scaler_blob', 'scaler_function': 'scaler_worker', 'scaler_plugin_init_fn': 'scaler_worker',
    'scaler_command': 'scaler_client', 'scaler_spec': 'scaler_client', 'scaler_cancel_outcome': 'scaler_client',
    'scaler_worker_info': 'scaler_client', 'scaler_task_info': 'scaler_client',
    'scaler_task_info_state_name': 'scaler_client',
}
THREADS = {
    'any': 'May be called from any thread.',
    'setup': 'Part of setting up: not to race with another such call on the object; not for callbacks.',
    'task': 'Belongs to the thread that runs the task.',
    'host': 'Belongs to the one thread that turns the host-driven runtime.',
    'last': 'The last call on its object, racing with no other; not for callbacks.',
}
RETURNS = '0 or a count on success, a negative status on failure: see scaler_status(3). Out pointers are written on ' \
          'success only. Every function may also give SCALER_E_INVALID for an argument that breaks the rules of ' \
          'scaler(3).'
SECTION = re.compile(r'/\* -+ (\d+)\. (.*?) -+ \*/$')


class Item:
    """One declaration: its page, its name, its code as written, the comment before it."""

    def __init__(self, kind, name, code, doc):
        self.kind, self.name, self.code, self.doc = kind, name, code, doc
        noun = re.match(r'scaler_[a-z]+', name)
        self.page = HOMES.get(name) or (noun.group(0) if noun else name)

    def tag(self):
        found = re.match(r'\[(\w+)\] *', self.doc)
        return found.group(1) if found else None

    def text(self):
        """(what it does, its errors), without the tag."""
        words = re.sub(r'^\[\w+\] *', '', self.doc)
        what, _, errors = words.partition('Errors:')
        return what.strip(), errors.strip()


def words_of(comment):
    """A comment without its stars, as one paragraph."""
    inner = re.sub(r'^/\*|\*/$', '', comment.strip())
    return ' '.join(re.sub(r'^\s*\*?', '', line).strip() for line in inner.split('\n')).strip()


def chunks(text):
    """The header in pieces: comments that stand alone, directives, blank lines, and declarations to their end."""
    lines = iter(text.split('\n'))
    for line in lines:
        if line.startswith('/*'):
            while '*/' not in line:
                line += '\n' + next(lines)
        elif line.startswith('#'):
            while line.endswith('\\'):
                line += '\n' + next(lines)
        elif line.strip():
            bare = re.sub(r'/\*.*?\*/', '', line)
            while not complete(bare):
                more = next(lines)
                line += '\n' + more
                bare = re.sub(r'/\*.*?\*/', '', line, flags=re.S)
        yield line


def complete(code):
    if code.startswith('extern "C"') or code.strip() == '}':
        return True
    if code.count('{') != code.count('}'):
        return False
    inline = code.startswith('static inline')
    return code.rstrip().endswith('}' if inline else ';')


def read_item(code, doc):
    """An Item, or None for what needs no page."""
    if code.startswith('SCALER_API'):
        return Item('function', re.search(r'(\w+)\(', code[len('SCALER_API'):]).group(1), code, doc)
    if code.startswith('static inline'):
        head = code.split('\n{')[0] + ';'
        return Item('inline', re.search(r'(\w+)\(', head).group(1), head, doc)
    if code.startswith('typedef') and '(*' in code and '{' not in code:
        return Item('type', re.search(r'\(\*(\w+)\)', code).group(1), code, doc)
    if code.startswith('typedef'):
        bare = re.sub(r'/\*.*?\*/', '', code, flags=re.S)
        return Item('type', re.search(r'(\w+);\s*$', bare).group(1), code, doc)
    if code.startswith('enum'):
        return Item('type', 'enum', code, doc)
    return None


class Header:
    """What scaler.h says: `intro` its opening comment, `pages` name -> items and remarks in their order."""

    def __init__(self, path):
        text = pathlib.Path(path).read_text()
        self.version = '.'.join(re.search(rf'VERSION_{part}\s+(\d+)', text).group(1)
                                for part in ('MAJOR', 'MINOR', 'PATCH'))
        opening, _, rest = text.partition('*/\n')
        self.intro = opening.split('\n')[1:]
        self.items, self.remarks = [], {}
        self.read(rest)
        self.pages = {}
        for item in self.items:
            self.pages.setdefault(item.page, []).append(item)

    def read(self, text):
        docs, loose, last = [], [], None
        for chunk in chunks(text):
            if SECTION.match(chunk) or chunk.startswith('#'):
                docs = []
            elif chunk.startswith('/*'):
                docs.append(words_of(chunk))
            elif not chunk.strip():
                loose += docs
                docs = []
            else:
                item = read_item(chunk, ' '.join(docs))
                docs = []
                if not item:
                    continue
                if item.name == 'enum' and last:
                    item.page = last.page
                for remark in loose:
                    self.remarks.setdefault(item.page, []).append(remark)
                loose = []
                self.items.append(item)
                last = item

    def functions(self):
        return [item for item in self.items if item.kind == 'function']

    def names(self):
        """Every page there is."""
        own = {item.name for item in self.items if item.name.startswith('scaler_')}
        return sorted(own | set(self.pages) | {'scaler'})


# ---- roff ----

def escape(text):
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return re.sub(r"^([.'])", r'\\&\1', text, flags=re.M)


def prose(text):
    """Escaped, with the names of this library in bold and sentences as a formatter wants them."""
    text = escape(re.sub(r'\s+', ' ', text).strip())
    text = re.sub(r'\b(scaler_\w+)\(\)', r'\\fB\1\\fP()', text)
    text = re.sub(r'\b(SCALER_\w+)', r'\\fB\1\\fP', text)
    text = re.sub(r"(?<=[.?!]) (?=[A-Z\\])", '\n', text)
    return re.sub(r"^([.'])", r'\\&\1', text, flags=re.M)


def code(text):
    return ['.EX', '\n'.join(line or '\\&' for line in escape(text).split('\n')), '.EE']


def bare_code(item):
    """A prototype without what only a compiler reads."""
    line = re.sub(r'/\*.*?\*/', '', item.code, flags=re.S)
    line = re.sub(r'SCALER_API |SCALER_MUST_USE|static inline ', '', line)
    line = re.sub(r'\s+', ' ', line).replace(' ;', ';').strip()
    out, room = [], 78
    while len(line) > room and line.rfind(', ', 0, room) > 0:
        cut = line.rfind(', ', 0, room) + 1
        out.append(line[:cut])
        line = '        ' + line[cut:].strip()
    return '\n'.join(out + [line])


def head(name, version, others, title):
    names = ', '.join([name] + [other for other in others if other != name])
    return [f'.TH {name.upper()} 3 "" "scaler {version}" "scaler"', '.SH NAME', f'{names} \\- {escape(title)}']


def describe(item):
    what, errors = item.text()
    lines = [f'.SS {item.name}()', *code(bare_code(item))]
    if what:
        lines += ['.PP', prose(what)]
    if item.tag() in THREADS:
        lines += ['.TP', '.B Threads', prose(THREADS[item.tag()])]
    if errors:
        lines += ['.TP', '.B Errors', prose(errors[0].upper() + errors[1:])]
    return lines


def page(header, name):
    items = header.pages[name]
    functions = [item for item in items if item.kind != 'type']
    types = [item for item in items if item.kind == 'type' and '{' in item.code or '(*' in item.code]
    lines = head(name, header.version, [item.name for item in functions], TITLES.get(name, 'part of the library'))
    lines += ['.SH SYNOPSIS', *code('\n'.join(['#include <scaler.h>', '', *map(bare_code, functions)]))]
    lines.append('.SH DESCRIPTION')
    lines.append('\n.PP\n'.join(map(prose, header.remarks.get(name, []))))
    if not functions and not header.remarks.get(name):
        lines.append('A type of the library.')
    for item in functions:
        lines += describe(item)
    if types:
        lines.append('.SH TYPES')
    for number, item in enumerate(types):
        lines += ['.PP'] if number else []
        lines += [prose(item.doc), '.PP'] if item.doc else []
        lines += code(re.sub(r'\n {8}', '\n    ', item.code))
    if any(re.match(r'SCALER_API int\b', item.code) for item in functions):
        lines += ['.SH RETURN VALUE', prose(RETURNS)]
    others = sorted(set(header.pages) - {name})
    lines += ['.SH SEE ALSO', ',\n'.join(f'.BR {other} (3)' for other in ['scaler', *others]).replace(' (3),', ' (3),')]
    return '\n'.join(line for line in lines if line) + '\n'


def overview(header):
    lines = head('scaler', header.version, [], 'an embeddable distributed task runtime')
    lines += ['.SH SYNOPSIS', *code('#include <scaler.h>\n\ncc $(pkg-config --cflags --libs scaler) ...'),
              '.SH DESCRIPTION']
    text = []
    for line in [re.sub(r'^ \* ?', '', each) for each in header.intro[2:]]:
        term = re.match(r'([A-Z]\w+)\. +(.*)', line)
        if term:
            lines += [prose(' '.join(text)), '.TP', f'.B {term.group(1)}']
            text = [term.group(2)]
        elif re.match(r' +"(takes|borrows|gives|lends)"', line):
            lines += [prose(' '.join(text)), '.br']
            text = [line]
        else:
            text.append(line)
    lines += [prose(' '.join(text).rstrip('/* ')), '.SH PAGES']
    for name in sorted(header.pages):
        lines += ['.TP', f'.BR {name} (3)', escape(TITLES.get(name, 'part of the library')) + '.']
    lines += ['.SH SEE ALSO', '.BR scaler\\-scheduler (1),', '.BR scaler\\-worker (1),', '.BR scaler\\-ctl (1),',
              '.BR scaler\\-run (1)']
    return '\n'.join(line for line in lines if line) + '\n'


def make(header, folder):
    for name in header.names():
        if name == 'scaler':
            text = overview(header)
        elif name in header.pages:
            text = page(header, name)
        else:
            home = next(item.page for item in header.items if item.name == name)
            text = f'.so man3/{home}.3\n'
        (folder / f'{name}.3').write_text(text)


# ---- what every comment must say ----

def lacks(item):
    what, errors = item.text()
    bare = re.sub(r'\s+', ' ', item.code)
    if item.tag() not in THREADS:
        yield 'its thread tag'
    if not what:
        yield 'what it does'
    if re.match(r'SCALER_API int ', bare) and not errors and 'Never fails' not in what:
        yield 'its errors'
    if 'timeout_ms' in bare and 'Blocks up to timeout_ms' not in what:
        yield 'that it blocks'
    if re.search(r'scaler_\w+ \*\*\w*out', bare) and not re.search(r'\b[Gg]ives\b', what):
        yield 'whom its out pointer belongs to'
    if re.match(r'SCALER_API (const |scaler_\w+ )+?\w* ?\*', bare) and not re.search(
            r'[Ll]ends|[Gg]ives|returns text', what):
        yield 'whom what it returns belongs to'
    if re.search(r'const scaler_\w+ \*(options|spec|function)', bare) and not re.search('[Bb]orrows', what):
        yield 'that it borrows'


def check(header):
    findings = [(item.name, lack) for item in header.functions() for lack in lacks(item)]
    for name, lack in findings:
        print(f'scaler.h: {name}: the comment does not say {lack}')
    print(f'{len(findings)} findings in {len(header.functions())} functions')
    return 1 if findings or not header.functions() else 0


def main(what, header, folder=None):
    header = Header(header)
    if what == 'list':
        print(*(f'{name}.3' for name in header.names()), sep='\n')
    elif what == 'make':
        make(header, pathlib.Path(folder))
    else:
        return check(header)
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
