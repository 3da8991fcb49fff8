"""Builds the simulator from a copy of lib/, one changed file at a time, and runs seeds until one fails."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
FLOORS = ['base', 'msg', 'wire', 'core', 'port', 'role']
CC = os.environ.get('CC', 'cc')


class SimBuild:
    """A compiled copy; `try_change` swaps one source's text, links, runs, and swaps it back."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='scaler-sim-'))
        self.lib = self.folder / 'lib'
        shutil.copytree(TOP / 'lib', self.lib)
        self.objects = {}
        self.floor = {}
        patterns = [(self.lib / floor, '*.c') for floor in ['base', 'msg', 'wire', 'core']]
        patterns += [(self.lib / 'role', 'station*.c'), (self.lib / 'role', '*_shell.c')]
        patterns += [(TOP / 'test' / 'sim', 'sim*.c')]
        for folder, pattern in patterns:
            for source in sorted(folder.glob(pattern)):
                if not self.compile(source):
                    self.close()
                    sys.exit(f'{source} does not compile')

    def close(self):
        shutil.rmtree(self.folder)

    def compile(self, source):
        """False when it does not compile."""
        target = self.folder / (source.stem + '.o')
        flags = ['-std=c11', '-D_POSIX_C_SOURCE=200809L', '-O1', '-w']
        flags += [f'-iquote{self.lib / floor}' for floor in FLOORS]
        done = subprocess.run([CC, *flags, '-c', source, '-o', target], capture_output=True)
        if done.returncode == 0:
            self.objects[source.stem] = target
            self.floor[source.stem] = source.parent.name
        return done.returncode == 0

    def link(self):
        subprocess.run([CC, *self.objects.values(), '-o', self.folder / 'sim', '-lmsgpackc'], check=True)

    def run(self, first, count, seconds):
        """None when all seeds hold, else what the first failing one said."""
        environment = dict(os.environ, SIM_LIMIT='20')
        environment.pop('SIM_SEED', None)
        environment.pop('SIM_SECONDS', None)
        try:
            done = subprocess.run([self.folder / 'sim', str(first), str(count)], capture_output=True, text=True,
                                  errors='replace', timeout=seconds, env=environment)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode == 0:
            return None
        lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith('again: ')]
        said = [line for line in lines if 'failed' not in line[-8:]]
        seed = [line for line in lines if line.rstrip().endswith('failed')]
        return ' | '.join((seed[-1:] + said[-1:])) or 'it ended by itself'

    def try_change(self, path, text, count, seconds):
        """'caught', 'survived' or 'broken' (does not compile), and the words of the judge."""
        source = self.lib / path
        original = source.read_text()
        source.write_text(text)
        compiled = self.compile(source)
        words = None
        if compiled:
            self.link()
            words = self.run(1, count, seconds)
        source.write_text(original)
        self.compile(source)
        if not compiled:
            return 'broken', ''
        return ('survived', '') if words is None else ('caught', ' '.join(words.split()))
