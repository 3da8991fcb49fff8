"""Every line that the library logs as a warning or an error stands in doc/operations.md, with what to do about it.
A line is put together from literals and what comes in between: its literals must stand in one line of the page,
in their order.  A note that cannot be read here is a finding too.
"""
import re

import tree

PAGE = 'doc/operations.md'
TEXT = r'((?:\s*"(?:\\.|[^"\\])*")+)'
LOUD = re.compile(r'\bsc_log\([^;{]*?\b(?:SCALER_LOG_WARN|SCALER_LOG_ERROR)\b')
CALLS = [  # what stands before the text
    re.compile(r'\bsc_log\([^"();]*\b(?:SCALER_LOG_WARN|SCALER_LOG_ERROR),\s*(?:"[^"]*"|\w+),' + TEXT),
    re.compile(r'\bsc_station_note\([^"();]*,' + TEXT),
    re.compile(r'\bsc_peer_refuse\([^"();]*,' + TEXT),
    re.compile(r'\bsc_sched_nonsense\([^"();]*,' + TEXT),
]


def literal(text):
    """Adjacent string literals as one, without printf's conversions: a list of pieces."""
    whole = ''.join(re.findall(r'"((?:\\.|[^"\\])*)"', text))
    return [piece.strip() for piece in re.split(r'%[-+ 0-9.*]*(?:ll|l|z|h)?[a-zA-Z]', whole) if re.search(r'\w', piece)]


def calls(code):
    """(place, pieces) of notes that are said by one call."""
    read = {match.start(): match for pattern in CALLS for match in pattern.finditer(code)}
    for place, match in sorted(read.items()):
        yield place, literal(match.group(1))
    for match in LOUD.finditer(code):
        if match.start() not in read:
            yield match.start(), []


def built(body):
    """The pieces of a note that one function puts together, or None."""
    if 'sc_sched_note(' in body:
        after = body[body.index('sc_sched_note('):]
        return [piece for text in re.findall(r'\bsc_sched_text\(&line,' + TEXT, after) for piece in literal(text)]
    if re.search(r'sc_out_add\([^;]*SC_FX_NOTE\)', body):
        return [piece for text in re.findall(r'char \w+\[\] =' + TEXT, body) for piece in literal(text)]
    return None


def bodies(code):
    lines = code.splitlines(keepends=True)
    for first, last in tree.functions(tree.blank(code)):
        yield first, ''.join(lines[first - 1:last])


def stands(pieces, page):
    wanted = re.compile('.*?'.join(map(re.escape, pieces)))
    return any(wanted.search(line) for line in page)


def run(top):
    check = tree.Check(top)
    page_path = check.top / PAGE
    page = page_path.read_text().replace('\\|', '|').splitlines() if page_path.exists() else []
    looked_at = 0
    for path in tree.files(top, '.c'):
        if tree.folder_of(top, path)[0] != 'lib':
            continue
        code = tree.blank(path.read_text(errors='replace'), keep_strings=True)
        found = [(code.count('\n', 0, place) + 1, pieces) for place, pieces in calls(code)]
        for first, body in bodies(code):
            pieces = built(body)
            if pieces is not None and 'sc_out_add(out, SC_FX_NOTE)' in body and path.stem == 'sched':
                continue  # sc_sched_note() itself: its callers say the words
            if pieces is not None:
                found.append((first, pieces))
        for line, pieces in found:
            looked_at += 1
            if not pieces:
                check.say(path, line, 'note', 'its words cannot be read here')
            elif not stands(pieces, page):
                check.say(path, line, 'note', f'{PAGE} does not tell of "{" ... ".join(pieces)}"')
    return check.done(looked_at)


if __name__ == '__main__':
    tree.main(run)
