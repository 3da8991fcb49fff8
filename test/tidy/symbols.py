"""What the built library needs and shows.  The pure floors need only what their allow-lists name; every
symbol others could clash with starts sc_ or scaler_; the shared library shows what doc/abi/scaler.symbols
lists; nothing in it is a mutable global; it has its soname and stays mapped; every file was compiled with
assertions on and without variable-length arrays.

    symbols.py TOP BUILD            check
    symbols.py TOP BUILD --write    write doc/abi/scaler.symbols anew
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

import tree

PURE = {**{floor: tree.BENEATH[floor] for floor in ('base', 'msg', 'wire', 'core')},
        'role_pure': ['base', 'msg', 'wire', 'core', 'role_pure']}  # library -> libraries it may need
HEADING = '# The symbols that libscaler.so shows.  Written by: python3 test/tidy/symbols.py . build --write\n'


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(library, *options):
    """(name, section or type) of an archive's or library's symbols, from nm's table."""
    found = set()
    for line in output('nm', '-f', 'sysv', *options, str(library)).splitlines():
        cells = [cell.strip() for cell in line.split('|')]
        if len(cells) == 7 and cells[0] != 'Name':
            found.add((cells[0], cells[6]))
    return found


def names(library, *options):
    return {name for name, _ in symbols(library, *options)}


def matches(name, patterns):
    return any(name == p or (p.endswith('*') and name.startswith(p[:-1])) for p in patterns)


def check_floors(check, build):
    """Undefined symbols of the pure floors."""
    tidy = check.top / 'test/tidy'
    libraries = {name: build / f'lib/libsc_{name}.a' for name in PURE}
    libraries = {name: library for name, library in libraries.items() if library.exists()}
    defined = {name: names(library, '-g', '--defined-only') for name, library in libraries.items()}
    for name, library in libraries.items():
        allowed = tree.read_list(tidy / f'{name}.allow') + tree.read_list(tidy / 'compiler.allow')
        beneath = set().union(*(defined.get(each, set()) for each in PURE[name]))
        for needed in sorted(names(library, '-u') - beneath):
            if not matches(needed, allowed):
                check.say(f'lib/{name}', 0, 'needs', needed)


def check_archive(check, build):
    for name, section in sorted(symbols(build / 'lib/libscaler.a', '--defined-only')):
        if re.match(r'\.(data|bss)(?!\.rel\.ro)|\*COM\*', section):
            check.say(f'libscaler.a/{name}', 0, 'mutable-global', section)
    for name in sorted(names(build / 'lib/libscaler.a', '-g', '--defined-only')):
        if not name.startswith(('sc_', 'scaler_')):
            check.say('libscaler.a', 0, 'name', f'{name} starts neither sc_ nor scaler_')


def check_shared(check, build):
    shown = names(build / 'lib/libscaler.so', '-D', '--defined-only')
    listed = set(tree.read_list(check.top / 'doc/abi/scaler.symbols'))
    for name in sorted(shown - listed):
        check.say('libscaler.so', 0, 'abi', f'{name} is shown and not in doc/abi/scaler.symbols')
    for name in sorted(listed - shown):
        check.say('libscaler.so', 0, 'abi', f'{name} is in doc/abi/scaler.symbols and not shown')
    dynamic = output('readelf', '-d', str(build / 'lib/libscaler.so'))
    if '[libscaler.so.0]' not in dynamic:
        check.say('libscaler.so', 0, 'soname', 'it is not libscaler.so.0')
    if 'NODELETE' not in dynamic:
        check.say('libscaler.so', 0, 'nodelete', 'the flag is not set')


def check_commands(check, build):
    commands = json.loads((build / 'compile_commands.json').read_text())
    for entry in commands:
        arguments = shlex.split(entry['command'])
        if '-DNDEBUG' in arguments:
            check.say(entry['file'], 0, 'ndebug', 'compiled without assertions')
        for flag in ('-Wvla', '-Werror', '-std=c11'):
            if entry['file'].endswith('.c') and flag not in arguments:
                check.say(entry['file'], 0, 'flags', f'compiled without {flag}')
    return len(commands)


def run(top, build):
    if '--write' in sys.argv:
        shown = sorted(names(build / 'lib/libscaler.so', '-D', '--defined-only'))
        (top / 'doc/abi').mkdir(parents=True, exist_ok=True)
        (top / 'doc/abi/scaler.symbols').write_text(HEADING + ''.join(name + '\n' for name in shown))
        return 0
    check = tree.Check(top)
    check_floors(check, build)
    check_archive(check, build)
    check_shared(check, build)
    return check.done(check_commands(check, build))


if __name__ == '__main__':
    sys.exit(run(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
