"""Counts what a `meson test` run did: `count.py LOG.json` prints "passed failed skipped" on one line, and then a
line for each test that failed or was skipped.  A Check program counts by its checks, anything else as one
test, unless it ends with "N passed, N failed" on a line of its own.  `count.py OUTPUT.log` does the same for
the plain output of one program that went well.
"""
import json
import pathlib
import re
import sys

CHECK = re.compile(r'^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)', re.M)
PLAIN = re.compile(r'^(\d+) passed, (\d+) failed$', re.M)


def counts_of(text):
    """(passed, failed) as the program itself tells, or None."""
    totals = [tuple(map(int, match)) for match in CHECK.findall(text)]
    if totals:
        bad = sum(failures + errors for _, failures, errors in totals)
        return sum(checks for checks, _, _ in totals) - bad, bad
    plain = PLAIN.findall(text)
    return tuple(map(int, plain[-1])) if plain else None


def count(result, text):
    """(passed, failed, skipped) of one test."""
    if result == 'SKIP':
        return 0, 0, 1
    good = result in ('OK', 'EXPECTEDFAIL')
    passed, failed = counts_of(text) or (int(good), 0)
    if not good and failed == 0:
        failed = 1
    return passed, failed, 0


def main(log):
    path = pathlib.Path(log)
    text = path.read_text(errors='replace') if path.exists() else ''
    if path.suffix != '.json':
        print(*count('OK', text))
        return
    totals, notes = [0, 0, 0], []
    for line in text.splitlines():
        test = json.loads(line)
        numbers = count(test['result'], test.get('stdout') or '')
        totals = [a + b for a, b in zip(totals, numbers)]
        if numbers[1] or numbers[2]:
            notes.append(f"{test['result']} {test['name']}")
    print(*totals)
    print(*notes, sep='\n', end='\n' if notes else '')


if __name__ == '__main__':
    main(sys.argv[1])
