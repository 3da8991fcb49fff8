"""What doc/testing.md names must be there: every `name_of_a_test` of four words or more is defined in the tests."""
import re

import tree

NAME = re.compile(r'`([a-z0-9]+(?:_[a-z0-9]+){3,})`')


def check(top):
    found = tree.Check(top)
    tests = {match for path in tree.files(top, '.c', '.py') if tree.folder_of(found.top, path)[0] == 'test'
             for match in re.findall(r'\w+', path.read_text())}
    page = found.top / 'doc/testing.md'
    named = 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for name in NAME.findall(line):
            named += 1
            if name not in tests:
                found.say(page, number, 'named-test', f'{name} is nowhere in the tests')
    return found.done(named)


if __name__ == '__main__':
    tree.main(check)
