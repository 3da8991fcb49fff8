"""Clocks that are set, and clocks that leap: skew.so stands between the processes and their clocks.  `clocks.py [WORD]`
runs the cases whose names contain WORD.
"""
import os
import struct
import sys

from faults import all_good, marks
from world import HERE, SLOW, Runner, check, equal, read, until

DAY_NS = 86400 * 10**9


class Skew:
    """The clocks of those who are started with it: how far they are off, in a file that they look into."""

    def __init__(self, case, name):
        self.path = case.path(name + ".skew")
        self.set(0, 0)
        self.environment = {"LD_PRELOAD": os.path.join(HERE, "skew.so"), "SKEW_FILE": self.path}

    def set(self, real_ns, monotonic_ns):
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as file:
            file.write(struct.pack("=qq", real_ns, monotonic_ns))


def skewed_cluster(case, kind, *args):
    skews = {role: Skew(case, role) for role in ("scheduler", "worker", "client")}
    scheduler = case.scheduler(kind, *args, environment=skews["scheduler"].environment)
    worker = case.worker(scheduler.url, "-j2", environment=skews["worker"].environment)
    return skews, scheduler, worker


def nobody_noticed(case, load, scheduler, worker, tasks):
    until(lambda: len(load.answers()) == tasks, "all is answered")
    all_good(load.answers())
    equal(len(marks(case.path("mark"))), 1, "runs of the long task")
    status = case.status(scheduler.url)
    equal((status["runs_lost"], status["runs_kept"], status["workers"]), (0, 0, 1), "runs lost, kept, workers")
    check("lost" not in read(scheduler.log), read(scheduler.log))
    load.popen.stdin.close()
    load.finished()
    case.clean_table(scheduler.url)


def nobody_goes_by_the_time_of_day(case, kind):
    skews, scheduler, worker = skewed_cluster(case, kind, "--silent", 2 * SLOW)
    load = case.load(scheduler.url, f"call:1:mark:2500 {case.path('mark')}", "call:200:nap:15", "shell:30:echo hello",
                     options=["--linger"], environment=skews["client"].environment)
    until(lambda: marks(case.path("mark")), "the task runs")
    for days in (1, -1, 400, -400, 0):
        for skew in skews.values():
            skew.set(days * DAY_NS, 0)
            case.status(scheduler.url)
    nobody_noticed(case, load, scheduler, worker, 231)


def a_clock_that_leaps_declares_nobody_lost(case, kind, roles):
    """As after a machine was suspended, or moved: the clock of some of them, or of all, leaps an hour."""
    skews, scheduler, worker = skewed_cluster(case, kind, "--silent", 4 * SLOW)
    load = case.load(scheduler.url, f"call:1:mark:2500 {case.path('mark')}", "call:200:nap:15", "shell:30:echo hello",
                     options=["--linger"], environment=skews["client"].environment)
    until(lambda: marks(case.path("mark")), "the task runs")
    for leap in (3600, 7200, 2 * 86400):
        for role in roles.split("+"):
            skews[role].set(0, leap * 10**9)
        until(lambda: case.status(scheduler.url)["uptime_ms"] >= (leap * 1000 if "sched" in roles else 0), "it leapt")
    nobody_noticed(case, load, scheduler, worker, 231)
    # and every timer still comes: the one that finds out who is silent
    worker.stop()
    case.sees(scheduler.url, workers=0)
    worker.go_on()
    case.sees(scheduler.url, workers=1)
    all_good(case.load(scheduler.url, "call:10:nap:10", "shell:2:echo hello").finished())


def cases():
    rows = [(nobody_goes_by_the_time_of_day, ("tcp",))]
    rows += [(a_clock_that_leaps_declares_nobody_lost, ("tcp", roles))
             for roles in ("scheduler+worker+client", "scheduler", "worker", "client")]
    return [(" ".join([function.__name__, *args]), function, args) for function, args in rows]


def main():
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if SLOW > 1:  # a sanitizer's runtime stands between them already
        print("1 passed, 0 failed (skipped: a sanitizer has the clocks)")
        return 0
    return Runner([case for case in cases() if word in case[0]], threads=2).run()


if __name__ == "__main__":
    sys.exit(main())
