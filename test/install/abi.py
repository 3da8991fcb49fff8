"""The library against the ABI that was promised: additions are fine, and so is a struct that starts with `size` and
grows beyond its old end, because scaler.h says how; any other change is not.

    abi.py TOP LIBRARY            compares with doc/abi/scaler.abi
    abi.py TOP LIBRARY --write    writes doc/abi/scaler.abi anew: at a release, never to silence the test
    abi.py TOP LIBRARY --self     a library is changed in each way there is, to see what is said of it
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FAILED = 3  # bits of abidiff's exit code: it could not compare
DUMP = ['--drop-private-types', '--exported-interfaces-only', '--no-corpus-path', '--no-comp-dir-path',
        '--no-show-locs', '--no-elf-needed', '--type-id-style', 'hash']

HEADER = '''#include <stddef.h>
typedef enum scaler_kind { SCALER_A = 0, SCALER_B = 1 } scaler_kind;
typedef struct scaler_options { size_t size; int first; scaler_kind kind; } scaler_options;
typedef struct scaler_stats { size_t size; int handle_at; } scaler_stats;
typedef struct scaler_id { unsigned long hi; unsigned long lo; } scaler_id;
int scaler_open(const scaler_options *options, scaler_id id);
int scaler_close(int handle);
int scaler_count(scaler_stats *out);
'''
SOURCE = '''#include "scaler.h"
int scaler_open(const scaler_options *options, scaler_id id) { return options->first + (int)id.lo; }
int scaler_close(int handle) { return handle; }
int scaler_count(scaler_stats *out) { return out->handle_at; }
'''
# what is done: (file, old, new), and whether it may be
DEEDS = [
    ('nothing', [], True),
    ('a function more', [('h', 'int scaler_close', 'int scaler_more(void);\nint scaler_close'),
                         ('c', 'int scaler_close', 'int scaler_more(void) { return 1; }\nint scaler_close')], True),
    ('a value more', [('h', 'SCALER_B = 1', 'SCALER_B = 1, SCALER_C = 2')], True),
    ('a field more at the end', [('h', 'kind; }', 'kind; const char *more; }')], True),
    ('fields more at the end, one by one', [('h', 'kind; }', 'kind; char *more; char end; }')], True),
    ('padding that gets a name', [('h', 'handle_at; }', 'handle_at; int reserved; int late; }')], True),
    ('a field more where padding was', [('h', 'handle_at; }', 'handle_at; int late; }')], False),
    ('a field more in between', [('h', 'int first;', 'int before; int first;')], False),
    ('a field of another type', [('h', 'int first;', 'long first;')], False),
    ('a field less', [('h', ' scaler_kind kind;', '')], False),
    ('another number for a value', [('h', 'SCALER_B = 1', 'SCALER_B = 3')], False),
    ('a frozen struct that grows', [('h', 'lo; }', 'lo; unsigned long more; }')], False),
    ('a function less', [('h', 'int scaler_close(int handle);', ''),
                         ('c', 'int scaler_close(int handle) { return handle; }', '')], False),
    ('another parameter', [('h', 'close(int', 'close(long'), ('c', 'close(int', 'close(long'),
                           ('c', 'return handle', 'return (int)handle')], False),
    ('another result', [('h', 'int scaler_close', 'long scaler_close'),
                        ('c', 'int scaler_close', 'long scaler_close')], False),
]


def dump(library, header, out):
    """What the library shows, as far as the header tells it; a struct that is told must be there whole."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(header, folder)
        subprocess.run(['abidw', '--headers-dir', folder, *DUMP, '--out-file', str(out), str(library)], check=True)
    whole = set(re.findall(r"<class-decl name='(\w+)' size-in-bits", out.read_text()))
    blind = may_grow(header) - whole
    if blind or not whole:
        sys.exit(f'abidw does not show these structs: {" ".join(sorted(blind))}')


def may_grow(header):
    """The structs whose first field is their size."""
    return set(re.findall(r'typedef struct (\w+) \{[^;{}]*?\bsize_t\s+size;', header.read_text()))


def is_growth(report, growing):
    """Whether abidiff reports nothing but growing structs with fields beyond their old end."""
    old_size = None
    for line in report.splitlines():
        line = line.strip()
        struct = re.fullmatch(r"'struct (\w+)' changed:", line)
        size = re.fullmatch(r'type size changed from (\d+) to \d+ \(in bits\)', line)
        field = re.fullmatch(r"'(.*)', at offset (\d+) \(in bits\)", line)
        if struct and struct.group(1) in growing:
            old_size = None
        elif size:
            old_size = int(size.group(1))
        elif field and old_size is not None:
            if int(field.group(2)) < old_size and not field.group(1).endswith(' reserved'):
                return False  # a program of before has whatever bytes there
        elif line and not re.search(r'^(Leaf changes|Changed leaf types|Removed/Changed/Added) .*summary:', line) \
                and not re.fullmatch(r'\d+ data member insertions?:', line):
            return False
    return True


def compare(header, old, new):
    """(is the new one as good, what abidiff says)."""
    done = subprocess.run(['abidiff', '--leaf-changes-only', '--no-added-syms', '--no-show-locs', str(old), str(new)],
                          capture_output=True, text=True)
    good = done.returncode == 0 or not done.returncode & FAILED and is_growth(done.stdout, may_grow(header))
    return good, f'{done.stdout}{done.stderr}abidiff: exit {done.returncode}'


def build(folder, changes):
    folder.mkdir()
    texts = {'h': HEADER, 'c': SOURCE}
    for which, old, new in changes:
        if old not in texts[which]:
            sys.exit(f'{old!r} is not in the example')
        texts[which] = texts[which].replace(old, new)
    (folder / 'scaler.h').write_text(texts['h'])
    (folder / 'a.c').write_text(texts['c'])
    subprocess.run(['cc', '-g', '-shared', '-fPIC', '-Wl,-soname,libscaler.so.0', '-o', 'lib.so', 'a.c'], cwd=folder,
                   check=True)
    dump(folder / 'lib.so', folder / 'scaler.h', folder / 'abi')
    return folder / 'abi'


def self_test():
    wrong = 0
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        old = build(where / 'old', [])
        for number, (deed, changes, wanted) in enumerate(DEEDS):
            good, said = compare(where / 'old/scaler.h', old, build(where / str(number), changes))
            if good != wanted:
                wrong += 1
                print(f'{deed}:\n{said}')
    print(f'{len(DEEDS) - wrong} passed, {wrong} failed')
    return 1 if wrong else 0


def main(top, library, what=None):
    top = pathlib.Path(top).resolve()
    if not shutil.which('abidw') or not shutil.which('abidiff'):
        print('abidw and abidiff are not installed')
        return 77
    if what == '--self':
        return self_test()
    sections = subprocess.run(['readelf', '-S', library], capture_output=True, text=True).stdout
    if '.debug_info' not in sections:
        print('the library has no debug information to read its types from')
        return 77
    baseline = top / 'doc/abi/scaler.abi'
    if what == '--write':
        dump(library, top / 'scaler.h', baseline)
        return 0
    with tempfile.TemporaryDirectory() as where:
        now = pathlib.Path(where) / 'now.abi'
        dump(library, top / 'scaler.h', now)
        good, said = compare(top / 'scaler.h', baseline, now)
    print(said)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
