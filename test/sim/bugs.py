#!/usr/bin/env python3
"""Puts each deliberate bug of bugs/bug_list.py into a copy of lib/ and asks the simulator whether it notices:
`bugs.py [NAME...]`.  A bug that 500 seeds do not notice means that a judge is missing."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / 'bugs')]
sys.dont_write_bytecode = True
from bug_list import BUGS
from sim_build import SimBuild

SEEDS, SECONDS = 500, 180


def main(names):
    build = SimBuild()
    build.link()
    words = build.run(1, SEEDS, SECONDS)
    if words:
        print('without any bug the simulator says:', words)
    passed, failed = (0, 1) if words else (1, 0)
    for name, path, old, new in BUGS:
        if names and name not in names:
            continue
        text = (build.lib / path).read_text()
        if text.count(old) != 1:
            state, words = 'gone', f'{text.count(old)} places in lib/{path} read like that'
        else:
            state, words = build.try_change(path, text.replace(old, new), SEEDS, SECONDS)
        print(f'{state:8} {name}: {words[:150]}', flush=True)
        passed += state == 'caught'
        failed += state != 'caught'
    build.close()
    print(f'{passed} passed, {failed} failed')
    return failed != 0


sys.exit(main(sys.argv[1:]))
