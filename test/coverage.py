"""How much of the cores the tests reach, branch by branch: builds build-coverage with gcc's counters, runs the suites
named (unit and sim), and prints a table for doc/testing.md.  A line with SC_ASSERT is left out: its other branch
must never be taken.

    coverage.py [--build FOLDER] [--floor FLOOR]... [SUITE]...

Floors are core unless told.  With --missing it names the lines whose branches were not all taken.
"""
import argparse
import json
import os
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parent.parent


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, text=True, **more)


def measure(build, suites):
    if not (build / 'build.ninja').exists():
        run('meson', 'setup', build, TOP, '-Db_coverage=true', '-Doptimization=0')
    run('ninja', '-C', build)
    for path in build.rglob('*.gcda'):
        path.unlink()
    options = [word for suite in suites for word in ('--suite', suite)]
    run('meson', 'test', '-C', build, '--no-rebuild', '--timeout-multiplier', '5', *options,
        env={**os.environ, 'SIM_SECONDS': '0'})  # fixed seeds alone, so that the figures come again


def read(build, floor):
    """source -> {line: [branches, taken]} and source -> [lines, run], from every object of the floor."""
    branches, lines = {}, {}
    for data in sorted(build.glob(f'lib/libsc_{floor}.a.p/*.gcda')):
        said = run('gcov', '--json-format', '--branch-probabilities', '--stdout', data, cwd=build, capture_output=True)
        for file in json.loads(said.stdout)['files']:
            path = (build / file['file']).resolve()
            if path.suffix != '.c' or path.parent.name != floor:
                continue
            text = path.read_text().splitlines()
            counted = lines.setdefault(path, [0, 0])
            for line in file['lines']:
                if 'SC_ASSERT' in text[line['line_number'] - 1]:
                    continue
                counted[0] += 1
                counted[1] += line['count'] > 0
                if line['branches']:
                    taken = sum(branch['count'] > 0 for branch in line['branches'])
                    branches.setdefault(path, {})[line['line_number']] = [len(line['branches']), taken]
    return branches, lines


def row(name, lines, branches):
    def share(part, whole):
        return f'{100 * part / whole:.1f} %' if whole else '-'
    print(f'| {name} | {lines[0]} | {share(lines[1], lines[0])} | {branches[0]} | {share(branches[1], branches[0])} |')


def table(branches, lines, missing):
    print('| file | lines | run | branches | taken |\n|---|---|---|---|---|')
    all_lines, all_branches = [0, 0], [0, 0]
    for path in sorted(lines):
        own = [sum(each[i] for each in branches.get(path, {}).values()) for i in (0, 1)]
        row(path.name, lines[path], own)
        all_lines = [a + b for a, b in zip(all_lines, lines[path])]
        all_branches = [a + b for a, b in zip(all_branches, own)]
    row('all', all_lines, all_branches)
    for path in sorted(branches) if missing else []:
        text = path.read_text().splitlines()
        for number, (there, taken) in sorted(branches[path].items()):
            if taken < there:
                print(f'{path.relative_to(TOP)}:{number}: {there - taken} of {there}: {text[number - 1].strip()}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', type=pathlib.Path, default=TOP / 'build-coverage')
    parser.add_argument('--floor', action='append')
    parser.add_argument('--missing', action='store_true')
    parser.add_argument('--look', action='store_true', help='no run: what the last one left')
    parser.add_argument('suite', nargs='*', default=['unit', 'sim'])
    args = parser.parse_args()
    build = args.build.resolve()
    if not args.look:
        measure(build, args.suite)
    for floor in args.floor or ['core']:
        print(f'\nlib/{floor}')
        table(*read(build, floor), args.missing)


if __name__ == '__main__':
    main()
