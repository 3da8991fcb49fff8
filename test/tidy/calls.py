"""What the code may not say: calls that cannot be used safely, waits by sleeping in tests, things a library
must leave to its host, and conditional compilation outside the rooms made for it.
"""
import re

import tree

BANNED = ['strcpy', 'sprintf', 'vsprintf', 'strcat', 'gets', 'alloca', 'rand', 'srand']
SLEEPS = ['usleep', 'sleep', 'nanosleep', 'clock_nanosleep', 'thrd_sleep']
HOST_ONLY = ['printf', 'fprintf', 'vprintf', 'vfprintf', 'puts', 'fputs', 'putchar', 'perror', 'exit', 'setlocale',
             'signal', 'sigaction'] + SLEEPS


def calls(names):
    return re.compile(r'(?<![\w.>])(' + '|'.join(names) + r')\s*\(')


def rules_for(folder):
    """(rule, pattern) pairs that hold in a folder."""
    rules = [('banned-call', calls(BANNED))]
    if folder[0] == 'test':
        rules.append(('sleep', calls(SLEEPS)))
    if folder[0] == 'lib':
        rules.append(('host-only-call', calls(HOST_ONLY)))
    return rules


def check_conditionals(check, path, lines):
    """Only the include guard, which is a header's first directive."""
    directives = [(number, line) for number, line in enumerate(lines, 1) if re.match(r'\s*#', line)]
    for place, (number, line) in enumerate(directives):
        if not re.match(r'\s*#\s*(if|ifdef|ifndef|elif)\b', line):
            continue
        if place == 0 and path.suffix == '.h' and re.match(r'#ifndef \w+_H$', line.rstrip()):
            continue
        check.say(path, number, 'conditional', line.strip())


def run(top):
    check = tree.Check(top)
    looked_at = 0
    for path in tree.files(top, '.c', '.h', '.cc'):
        folder = tree.folder_of(top, path)
        lines = tree.blank(path.read_text(errors='replace')).splitlines()
        for number, line in enumerate(lines, 1):
            for rule, pattern in rules_for(folder):
                for match in pattern.finditer(line):
                    check.say(path, number, rule, match.group(1))
        if folder[0] in ('lib', 'tools', 'examples') and folder[:2] != ('lib', 'port'):
            check_conditionals(check, path, lines)
        looked_at += 1
    return check.done(looked_at)


if __name__ == '__main__':
    tree.main(run)
