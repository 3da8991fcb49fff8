#!/usr/bin/env python3
"""Random mutants of lib/core: a condition negated, a call dropped, a comparison shifted.  `mutants.py
[COUNT [SEED]]` tells how many of them the simulator kills, and lists the survivors; 90 % must die, but for
those that bugs/survivors.txt explains."""
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / 'bugs')]
sys.dont_write_bytecode = True
from sim_build import SimBuild

SEEDS, SECONDS, RATE = 300, 60, 0.9
SKIP = re.compile(r'^(core|task_fsm|sched_check|cli_check|work_check|sched_query|cli_query)$')


def places(text):
    """(start, end, replacement) of all that can be changed in one source."""
    for match in re.finditer(r'\bif \(((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*)\)\n', text):
        yield match.start(1), match.end(1), f'!({match.group(1)})'
    for match in re.finditer(r'^ {8,}((?:\(void\))?[a-z_]+\([^\n]*\));\n', text, re.M):
        if 'ASSERT' not in match.group(1) and 'UNREACHABLE' not in match.group(1):
            yield match.start(1), match.end(1), '(void)0'
    for match in re.finditer(r' (<=|>=|<|>) (?![^\n]*#)', text):
        shifted = {'<': '<=', '<=': '<', '>': '>=', '>=': '>'}[match.group(1)]
        yield match.start(1), match.end(1), shifted


def explained(folder):
    path = folder / 'bugs' / 'survivors.txt'
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split('  #')[0].strip() for line in lines if line.strip() and not line.startswith('#')}


def main(count, seed):
    build, chance = SimBuild(), random.Random(seed)
    known = explained(HERE)
    candidates = []
    for source in sorted((build.lib / 'core').glob('*.c')):
        if not SKIP.match(source.stem):
            candidates += [(source, place) for place in places(source.read_text())]
    chance.shuffle(candidates)
    killed = survived = 0
    for source, (start, end, new) in candidates:
        if killed + survived >= count:
            break
        text = source.read_text()
        line = text.count('\n', 0, start) + 1
        state, _ = build.try_change(source.relative_to(build.lib), text[:start] + new + text[end:], SEEDS, SECONDS)
        killed += state == 'caught'
        old = ' '.join(text[text.rfind('\n', 0, start) + 1:text.find('\n', end)].split())
        if state == 'survived' and f'{source.name}: {old} -> {new}' not in known:
            survived += 1
            print(f'survived {source.name}:{line}: {old} -> {new}', flush=True)
    build.close()
    rate = killed / max(1, killed + survived)
    print(f'killed {killed} of {killed + survived} mutants ({rate:.0%}), seed {seed}')
    print('1 passed, 0 failed' if rate >= RATE else '0 passed, 1 failed')
    return rate < RATE


sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
