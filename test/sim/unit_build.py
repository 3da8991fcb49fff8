"""Builds the transcripts of the cores (test/unit/core, and the one of link.c) on the objects of a SimBuild."""
import os
import subprocess
import sys
import time

from sim_build import CC, FLOORS, TOP

PROGRAMS = {
    'work': ['core/test_work', 'core/test_work_output'],
    'cli': ['core/test_cli', 'core/test_cli_output'],
    'link': ['role/test_station_link'],
    'sched': ['core/test_sched', 'core/test_sched_workers', 'core/test_sched_stands', 'core/test_sched_limits',
              'core/test_sched_keys', 'core/test_sched_chaos'],
    'task': ['core/test_task_fsm', 'core/test_sched', 'core/test_sched_workers'],
    'core': ['core/test_sched', 'core/test_work', 'core/test_cli'],
}
PATIENCE = 30  # times as long as without any change, and so many seconds at least: it hangs


class UnitBuild:
    def __init__(self, build):
        self.build = build
        self.usual = {}
        sources = sorted({name for names in PROGRAMS.values() for name in names}) + ['fail_mem']
        for name in sources:
            source, target = TOP / 'test' / 'unit' / (name + '.c'), self.object_of(name)
            flags = ['-std=c11', '-D_GNU_SOURCE', '-O1', '-w', '-I' + str(TOP / 'test' / 'unit')]
            flags += [f'-iquote{build.lib / floor}' for floor in FLOORS]
            if subprocess.run([CC, *flags, '-c', source, '-o', target]).returncode != 0:
                sys.exit(f'{source} does not compile')
        for name in sources[:-1]:
            self.link(name)
            started = time.monotonic()
            if not self.run(name, 600):
                sys.exit(f'{name} fails without any change')
            self.usual[name] = time.monotonic() - started

    def object_of(self, name):
        return self.build.folder / (name.replace('/', '-') + '.unit')

    def program_of(self, name):
        return self.build.folder / name.replace('/', '-')

    def link(self, name):
        pure = [path for stem, path in self.build.objects.items() if self.build.floor[stem] in ('base', 'msg', 'core')]
        parts = ['-x', 'none', *pure, self.object_of(name), self.object_of('fail_mem')]
        libraries = subprocess.run(['pkg-config', '--libs', 'check'], capture_output=True, text=True, check=True).stdout
        subprocess.run([CC, *parts, '-o', self.program_of(name), *libraries.split(), '-pthread'], check=True)

    def run(self, name, seconds):
        """False when it fails, crashes or hangs."""
        environment = dict(os.environ, CK_FORK='yes' if name.endswith('fsm') else 'no', CK_VERBOSITY='silent')
        try:
            done = subprocess.run([self.program_of(name)], capture_output=True, timeout=seconds, env=environment)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def notices(self, stem):
        """The name of the transcript that fails on the objects as they are now, or None."""
        for name in PROGRAMS[stem.split('_')[0]]:
            self.link(name)
            if not self.run(name, max(PATIENCE, PATIENCE * self.usual[name])):
                return name
        return None
