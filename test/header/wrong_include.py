"""A wrong #include does not compile: for every floor that has sources, each header of the house is included
with just the options which that floor is compiled with.  Those of the floor and of the floors beneath must be
found, and all others must not.
"""
import json
import pathlib
import shlex
import subprocess
import sys

BENEATH = {
    'base': ['base'],
    'msg': ['base', 'msg'],
    'wire': ['base', 'msg', 'wire'],
    'core': ['base', 'msg', 'core'],
    'port': ['base', 'msg', 'wire', 'core', 'port'],
    'role': ['base', 'msg', 'wire', 'core', 'port', 'role'],
}


def options(build):
    """floor -> [compiler, include options...] of a file compiled for it."""
    found = {}
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        words = shlex.split(entry['command'])
        compiler = next(word for word in words if 'ccache' not in word)
        for floor in BENEATH:
            if any(f'libsc_{floor}.a.p/' in word for word in words):
                found[floor] = [compiler] + [word for word in words if word.startswith(('-I', '-iquote', '-D'))]
    return found


def is_found(command, home, header, build):
    """A system header of the same name does not count."""
    done = subprocess.run([*command, '-x', 'c', '-M', '-'], cwd=build, text=True, input=f'#include "{header}"\n',
                          capture_output=True)
    if done.returncode and 'o such file' not in done.stderr and 'file not found' not in done.stderr:
        sys.exit(f'{header} failed in another way:\n{done.stderr}')
    return f'/lib/{home}/{header}' in done.stdout


def main(top, build):
    headers = sorted((path.parent.name, path.name) for path in (top / 'lib').glob('*/*.h'))
    tried = wrong = 0
    for floor, command in options(build).items():
        for home, header in headers:
            tried += 1
            wanted = home in BENEATH[floor]
            if is_found(command, home, header, build) != wanted:
                wrong += 1
                print(f'lib/{floor}: {home}/{header} ' + ('is not found' if wanted else 'is found'))
    print(f'{wrong} of {tried} pairs of floor and header are wrong')
    return 1 if wrong or not tried else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
