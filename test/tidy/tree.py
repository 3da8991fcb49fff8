"""The source tree as the tidy checks see it: which files there are, their text with comments and strings
blanked out, and where functions begin and end.  A check collects findings, and tells the exit code.
"""
import pathlib
import re
import sys

FLOORS = ['base', 'msg', 'wire', 'core', 'port', 'role']
BENEATH = {
    'base': ['base'],
    'msg': ['base', 'msg'],
    'wire': ['base', 'msg', 'wire'],
    'core': ['base', 'msg', 'core'],
    'port': ['base', 'msg', 'wire', 'core', 'port'],
    'role': ['base', 'msg', 'wire', 'core', 'port', 'role'],
}
FOLDERS = ['lib', 'tools', 'test', 'examples', 'doc', '.ci']


class Check:
    """Findings as `file:line: what`, less those that excused.allow names with a reason."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.findings = 0
        self.excused = set()
        for line in read_list(self.top / 'test/tidy/excused.allow'):
            self.excused.add(tuple(line.split()[:2]))

    def say(self, path, line, rule, what):
        name = str(path.relative_to(self.top)) if isinstance(path, pathlib.Path) else path
        if (name, rule) not in self.excused:
            self.findings += 1
            print(f'{name}:{line}: {rule}: {what}')

    def done(self, looked_at):
        if looked_at == 0:
            print('nothing was looked at')
            return 1
        print(f'{self.findings} findings in {looked_at}')
        return 1 if self.findings else 0


def read_list(path):
    """The lines of an allow-list: `#` starts a comment."""
    if not path.exists():
        return []
    lines = (line.split('#')[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def files(top, *endings):
    """Every file of the project whose name ends so, in a fixed order."""
    top = pathlib.Path(top)
    found = [path for path in top.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += [path for path in (top / folder).rglob('*') if path.is_file()]
    return sorted(path for path in found if path.name.endswith(endings) and '__pycache__' not in path.parts)


def folder_of(top, path):
    """('lib', 'core') for lib/core/sched.c, ('',) for a file at the top."""
    return path.relative_to(top).parts[:-1] or ('',)


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text, keep_strings=False):
    """C source with comments (and strings) turned to blanks, line breaks and columns kept."""

    def replace(match):
        token = match.group(0)
        if token[0] in '"\'':
            return token if keep_strings else token[0] + ' ' * (len(token) - 2) + token[-1]
        return re.sub(r'[^\n]', ' ', token)

    return TOKEN.sub(replace, text)


def functions(code):
    """(first line, last line) of each function body, braces included; `code` is blanked source."""
    start = None
    for number, line in enumerate(code.splitlines(), 1):
        if start is None and (line.rstrip() == '{' or re.match(r'\w.*\)\s*\{\s*$', line)):
            start = number
        elif start is not None and line.startswith('}'):
            yield start, number
            start = None


def main(check):
    """Runs check(top) for the tree given on the command line, or the one this file is in."""
    top = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    sys.exit(check(pathlib.Path(top)))
