#!/usr/bin/env python3
"""Random mutants of lib/core: a condition negated, a call dropped, a comparison shifted.  `mutants.py
[COUNT [SEED [SECONDS]]]` judges so many of them, or as many as there is time for: a mutant is dead when a
transcript of the cores or the simulator fails, crashes or hangs.  90 % must die, but for those that
bugs/survivors.txt explains; the others that survive are listed."""
import pathlib
import random
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / 'bugs')]
sys.dont_write_bytecode = True
from sim_build import SimBuild
from unit_build import UnitBuild

SEEDS, SEED_SECONDS, LEAST, RATE = 300, 60, 60, 0.9
SKIP = re.compile(r'_check$')  # those are the judges


def places(text):
    """(start, end, replacement) of all that can be changed in one source."""
    for match in re.finditer(r'\bif \(((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*)\)\n', text):
        yield match.start(1), match.end(1), f'!({match.group(1)})'
    for match in re.finditer(r'^ {8,}((?:\(void\))?[a-z_]+\([^\n]*\));\n', text, re.M):
        if 'ASSERT' not in match.group(1) and 'UNREACHABLE' not in match.group(1):
            yield match.start(1), match.end(1), '(void)0'
    for match in re.finditer(r' (<=|>=|<|>) (?![^\n]*#)', text):
        line = text[text.rfind('\n', 0, match.start()) + 1:text.find('\n', match.end())].strip()
        if line.startswith(('/*', '*')) or 'SC_ASSERT' in line:
            continue
        shifted = {'<': '<=', '<=': '<', '>': '>=', '>=': '>'}[match.group(1)]
        yield match.start(1), match.end(1), shifted


def explained():
    lines = (HERE / 'bugs' / 'survivors.txt').read_text().splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith(('#', ' '))}


def name_of(source, text, start, end, new):
    first, last = text.rfind('\n', 0, start) + 1, text.find('\n', end)
    old, changed = text[first:last], text[first:start] + new + text[end:last]
    return f'{source.name}: {" ".join(old.split())} => {" ".join(changed.split())}'


def candidates(build, chance):
    found = []
    for source in sorted((build.lib / 'core').glob('*.c')):
        if not SKIP.search(source.stem):
            found += [(source, place) for place in places(source.read_text())]
    chance.shuffle(found)
    return found


def judge(build, units, source, text):
    """'killed', 'survived' or 'broken'."""
    original = source.read_text()
    source.write_text(text)
    state = 'broken'
    if build.compile(source):
        state = 'killed'
        if units.notices(source.stem) is None:
            build.link()
            state = 'survived' if build.run(1, SEEDS, SEED_SECONDS) is None else 'killed'
    source.write_text(original)
    build.compile(source)
    return state


def main(count, seed, seconds):
    build, known, end = SimBuild(), explained(), time.monotonic() + seconds
    units = UnitBuild(build)
    tally = {'killed': 0, 'survived': 0, 'broken': 0, 'explained': 0}
    for source, (start, stop, new) in candidates(build, random.Random(seed)):
        judged = tally['killed'] + tally['survived']
        if judged >= count or (judged >= LEAST and time.monotonic() > end):
            break
        text = source.read_text()
        name = name_of(source, text, start, stop, new)
        state = 'explained' if name in known else judge(build, units, source, text[:start] + new + text[stop:])
        tally[state] += 1
        if state == 'survived':
            print(f'survived {name}  # line {text.count(chr(10), 0, start) + 1}', flush=True)
    build.close()
    judged = tally['killed'] + tally['survived']
    rate = tally['killed'] / max(1, judged)
    print(f'killed {tally["killed"]} of {judged} mutants ({rate:.0%}), {tally["explained"]} explained, seed {seed}')
    print('1 passed, 0 failed' if rate >= RATE else '0 passed, 1 failed')
    return rate < RATE


ARGUMENTS = [int(word) for word in sys.argv[1:]] + [100, 1, 1200][len(sys.argv) - 1:]
sys.exit(main(*ARGUMENTS))
