"""Every deliberate bug of the simulator is a text to be replaced: it must stand in its file of lib exactly once, or the
bug is gone unnoticed when somebody changes that line.
"""
import runpy

import tree

LIST = 'test/sim/bugs/bug_list.py'


def check(top):
    found = tree.Check(top)
    bugs = runpy.run_path(str(found.top / LIST))['BUGS']
    for name, path, old, _ in bugs:
        places = (found.top / 'lib' / path).read_text().count(old)
        if places != 1:
            found.say(LIST, 0, 'bug', f'{name} has {places} places in lib/{path}')
    return found.done(len(bugs))


if __name__ == '__main__':
    tree.main(check)
