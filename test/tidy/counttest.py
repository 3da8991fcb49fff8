"""The counter of test/run checked: what each kind of test log must count as."""
import json
import pathlib
import subprocess
import sys
import tempfile

COUNT = pathlib.Path(__file__).resolve().parents[1] / 'count.py'
CHECKS = 'Running suite(s): x\n90%: Checks: 10, Failures: 1, Errors: 0\n'
CASES = [
    ([('OK', '')], '1 0 0'),
    ([('OK', None), ('FAIL', '')], '1 1 0'),
    ([('FAIL', CHECKS)], '9 1 0'),
    ([('OK', CHECKS.replace('Failures: 1', 'Failures: 0'))], '10 0 0'),
    ([('FAIL', CHECKS.replace('Failures: 1', 'Failures: 0'))], '10 1 0'),  # died after its last check
    ([('FAIL', CHECKS.replace('Errors: 0', 'Errors: 2') + CHECKS)], '16 4 0'),
    ([('OK', 'seeds\n500 passed, 0 failed\n')], '500 0 0'),
    ([('TIMEOUT', '500 passed, 0 failed\n')], '500 1 0'),
    ([('SKIP', ''), ('OK', '')], '1 0 1'),
    ([], '0 0 0'),
]


def said(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        if text is not None:
            path.write_text(text)
        return subprocess.run([sys.executable, '-B', str(COUNT), str(path)], check=True, capture_output=True,
                              text=True).stdout.splitlines()


def main():
    bad = 0
    for tests, wanted in CASES:
        lines = [json.dumps({'name': f't{i}', 'result': result, 'stdout': stdout})
                 for i, (result, stdout) in enumerate(tests)]
        got = said('log.json', '\n'.join(lines))
        if got[0] != wanted:
            bad += 1
            print(f'{tests}: {got[0]}, wanted {wanted}')
    for name, text, wanted in [('log.json', None, '0 0 0'), ('a.log', 'fine\n', '1 0 0'),
                               ('a.log', 'x\n7 passed, 2 failed\n', '7 2 0')]:
        if said(name, text)[0] != wanted:
            bad += 1
            print(f'{name} {text}: wanted {wanted}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
