"""Shape of the text: lengths of files, functions and lines, no tabs, no blanks at line ends, an opening
comment in every file of lib, and no marks of unfinished work.
"""
import re

import tree

FILE_MAX, FUNCTION_MAX, LINE_MAX = 800, 70, 120
PROSE_MAX = 180 # scripts, tables and data
UNFINISHED = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X)\b')
TEXT = ('.c', '.h', '.cc', '.py', '.sh', '.build', '.txt', '.md', '.allow', '.symbols', 'run', 'quickstart', 'deps')


def check_lines(check, path, lines):
    for number, line in enumerate(lines, 1):
        if path.suffix == '.md' and line.startswith('| '):
            continue  # a row of a table cannot be broken
        longest = LINE_MAX if path.suffix in ('.c', '.h') else PROSE_MAX
        if len(line) > longest and 'vectors' not in path.parts and 'corpus' not in path.parts and 'bugs' not in path.parts:
            check.say(path, number, 'line-length', f'{len(line)} columns, {longest} at most')
        if '\t' in line:
            check.say(path, number, 'tab', 'a tab')
        if line != line.rstrip():
            check.say(path, number, 'trailing-blank', 'a blank at the end of the line')
        if UNFINISHED.search(line):
            check.say(path, number, 'unfinished', line.strip())


def check_c(check, path, text, lines):
    if len(lines) > FILE_MAX:
        check.say(path, len(lines), 'file-length', f'{len(lines)} lines, {FILE_MAX} at most')
    for first, last in tree.functions(tree.blank(text)):
        if last - first + 1 > FUNCTION_MAX:
            check.say(path, first, 'function-length', f'{last - first + 1} lines, {FUNCTION_MAX} at most')
    if tree.folder_of(check.top, path)[0] == 'lib' and not text.startswith('/*'):
        check.say(path, 1, 'opening', 'the file does not open with a comment')


def run(top):
    check = tree.Check(top)
    looked_at = 0
    for path in tree.files(top, *TEXT):
        text = path.read_text(errors='replace')
        lines = text.split('\n')
        if text and lines.pop() != '' and 'corpus' not in path.parts:
            check.say(path, len(lines) + 1, 'last-line', 'the last line has no end')
        check_lines(check, path, lines)
        if path.suffix in ('.c', '.h', '.cc'):
            check_c(check, path, text, lines)
            looked_at += 1
    return check.done(looked_at)


if __name__ == '__main__':
    tree.main(run)
