"""Which way the stairs go: a floor includes itself and what is beneath, system headers only where the system
may be seen, and everything above the library includes its public header alone.  The compiler refuses most of
this by itself; this check also sees what lies on the system's own include path.
"""
import re

import tree

INCLUDE = re.compile(r'\s*#\s*include\s+(["<])([^">]+)[">]')
PURE = {'stdalign.h', 'stdarg.h', 'stdatomic.h', 'stdbool.h', 'stddef.h', 'stdint.h', 'stdnoreturn.h', 'string.h',
        'limits.h', 'inttypes.h', 'float.h'}
SYSTEM = {
    'base': PURE | {'stdlib.h', 'unistd.h'},
    'msg': PURE,
    'wire': PURE,
    'core': PURE,
    'role': PURE | {'stdlib.h', 'stdio.h', 'pthread.h', 'time.h', 'errno.h'},
}
NNG_FILES = ('lib/port/net_nng', 'test/nng/', 'test/bench/')  # net_nng.c and what it was split into, not its header


def wrong_system(name, path, header, floor):
    if header.startswith('nng/') or header == 'nng.h':
        return not name.startswith(NNG_FILES) or name == 'lib/port/net_nng.h'
    if header.startswith('msgpack'):
        return not name.startswith(('test/unit/wire/', 'test/bench/'))
    return floor in SYSTEM and header not in SYSTEM[floor]


def wrong_own(check, path, header, folder, homes):
    """Why a quoted include is wrong, or None."""
    if '..' in header.split('/'):
        return 'a path that climbs'
    if folder[0] == 'lib' and len(folder) > 1:
        home = homes.get(header)
        if header == 'scaler.h':
            return None if folder[1] == 'role' else 'the public header is for role alone'
        if home and home not in tree.BENEATH[folder[1]]:
            return f'{folder[1]} does not see {home}'
        return None if home else 'no such header in lib'
    if folder[0] in ('tools', 'examples') or folder[:2] == ('test', 'integration'):
        return 'only scaler.h is seen here' if header in homes and not (path.parent / header).exists() else None
    return None


def run(top):
    check = tree.Check(top)
    homes = {}
    for path in tree.files(top, '.h'):
        folder = tree.folder_of(top, path)
        if folder[0] == 'lib' and len(folder) > 1:
            if path.name in homes:
                check.say(path, 1, 'include', f'{homes[path.name]} has a header of this name too')
            homes[path.name] = folder[1]
    looked_at = 0
    for path in tree.files(top, '.c', '.h', '.cc'):
        looked_at += 1
        folder = tree.folder_of(top, path)
        floor = folder[1] if folder[0] == 'lib' and len(folder) > 1 else None
        name = str(path.relative_to(top))
        for number, line in enumerate(tree.blank(path.read_text(errors='replace'), True).splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            kind, header = match.groups()
            if kind == '<' and wrong_system(name, path, header, floor):
                check.say(path, number, 'include', f'<{header}> is not for this file')
            why = wrong_own(check, path, header, folder, homes) if kind == '"' else None
            if why:
                check.say(path, number, 'include', f'"{header}": {why}')
    return check.done(looked_at)


if __name__ == '__main__':
    tree.main(run)
