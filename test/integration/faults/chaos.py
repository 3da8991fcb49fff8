"""Chaos: a scheduler, four workers and two clients under steady load, and once a second one of the seven, chance says
which, is killed with SIGKILL and started again.  Nothing may be lost, nothing answered twice or wrongly; at the end the
tables are empty, and no descriptor, process or file is left.  `chaos.py SECONDS [SEED [KIND...]]`; the same seed kills
the same roles in the same order.
"""
import ctypes
import os
import random
import subprocess
import sys
import time

from world import (AWAKE, HERE, LIMIT, SLOW, Case, Process, Runner, check, descendants, descriptors, equal, is_alive,
                   json, read, threading, until)

PERIOD = 1.0 * SLOW
WORKERS, CLIENTS = 4, 2
WINDOW = 24
PR_SET_CHILD_SUBREAPER = 36


class Steady(Process):
    """A client under way; its last line of counts."""

    def __init__(self, case, url):
        self.counts = dict(submitted=0, answered=0, wrong=0, twice=0, gaps=0, over=False)
        super().__init__(case, [os.path.join(HERE, "steady"), url, str(WINDOW)], f"steady-{len(case.processes)}",
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=self.collect, daemon=True)
        self.reader.start()

    def collect(self):
        for line in self.popen.stdout:
            if line.endswith(b"\n"):  # the last one of a killed client may be half a line
                self.counts = json.loads(line)

    def look(self):
        check(self.counts["wrong"] == 0 and self.counts["twice"] == 0, self.name, self.counts, read(self.log)[-500:])


class Site:
    def __init__(self, case, kind):
        self.case = case
        self.options = ("--losses-max", 1000, "--client-grace", 2 * SLOW, "--silent", 4 * SLOW)
        self.scheduler = case.scheduler(kind, *self.options)
        self.url = self.scheduler.url
        self.workers = [self.worker(n) for n in range(WORKERS)]
        self.clients = []
        self.past = []  # counts of clients that were killed

    def worker(self, number):
        return self.case.worker(self.url, "-j2", name=f"worker-{number}", ready=False)

    def rest(self):
        """What is held while nothing goes on, after work of every kind."""
        self.case.sees(self.url, workers=WORKERS)
        self.case.load(self.url, "call:80:nap:5", "shell:80:sleep 0.05", "stream:40:sleep 0.05; echo").finished()
        self.is_quiet()
        return descriptors(self.scheduler.pid), max(descriptors(worker.pid) for worker in self.workers)

    def is_quiet(self):
        self.case.sees(self.url, workers=WORKERS, slots_busy=0, bytes_used=0, links=WORKERS + 1)
        self.case.clean_table(self.url)

    def strike(self, rng):
        """Kills one and starts it again, in a moment."""
        victim = rng.randrange(1 + WORKERS + CLIENTS)
        pause = rng.random() * 0.3
        if victim == 0:
            self.scheduler.kill()
            time.sleep(pause)
            self.scheduler = self.case.scheduler("", *self.options, url=self.url)
        elif victim <= WORKERS:
            self.workers[victim - 1].kill()
            time.sleep(pause)
            self.workers[victim - 1] = self.worker(victim - 1)
        else:
            client = self.clients[victim - 1 - WORKERS]
            client.kill()
            client.reader.join(LIMIT)
            client.look()
            self.past.append(client.counts)
            time.sleep(pause)
            self.clients[victim - 1 - WORKERS] = Steady(self.case, self.url)
        return "scheduler" if victim == 0 else "worker" if victim <= WORKERS else "client"

    def answered(self):
        for client in self.clients:
            client.look()
            check(client.popen.poll() is None, client.name, "ended:", read(client.log)[-500:])
        return sum(client.counts["answered"] for client in self.clients)


def recovers(site):
    """Waits for an answer that came after now; gives how long that took."""
    began, before = AWAKE.seconds, site.answered()
    until(lambda: site.answered() != before, "answers come again")
    return AWAKE.seconds - began


def ours(case):
    """Children of this process that it did not start: left behind by somebody who was killed."""
    known = {process.pid for process in case.processes}
    strays = []
    for pid in descendants(os.getpid()):
        if pid not in known and is_alive(pid) and not known & set(ancestors(pid)):
            strays.append(pid)
    while True:
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            break
        if found is None or found.si_pid in known:
            break
        os.waitpid(found.si_pid, 0)
    return strays


def ancestors(pid):
    while pid > 1:
        fields = read(f"/proc/{pid}/stat").rsplit(")", 1)
        if len(fields) < 2:
            return
        pid = int(fields[1].split()[1])
        yield pid


def nothing_is_lost_whoever_is_killed_each_second(case, kind, seconds, seed):
    rng = random.Random(seed)
    site = Site(case, kind)
    at_rest, worker_at_rest = site.rest()
    site.clients = [Steady(case, site.url) for _ in range(CLIENTS)]
    recovers(site)
    strikes, worst = {}, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        struck = site.strike(rng)
        strikes[struck] = strikes.get(struck, 0) + 1
        worst = max(worst, recovers(site))
        time.sleep(max(0, began + PERIOD - time.monotonic()))  # the pace is the case
    for client in site.clients:
        client.popen.stdin.close()
    for client in site.clients:
        equal(client.ends(), 0, client.name + "'s end")
        client.reader.join(LIMIT)
        client.look()
        check(client.counts["over"] and client.counts["answered"] == client.counts["submitted"], client.counts)
    site.is_quiet()
    until(lambda: descriptors(site.scheduler.pid) <= at_rest, "the scheduler's descriptors are what they were")
    for worker in site.workers:
        until(lambda: descriptors(worker.pid) <= worker_at_rest, "the worker's descriptors are what they were")
        until(lambda: not descendants(worker.pid), "the worker's children are gone")
    until(lambda: not ours(case), "what killed workers left behind is gone")
    case.leave()
    left = [name for name in os.listdir(case.folder) if not name.endswith((".log", ".ready"))]
    equal(left, [], "files left behind")
    counts = site.past + [client.counts for client in site.clients]
    case.note(f"seed {seed}: killed {strikes}; {sum(c['answered'] for c in counts)} answers, the slowest to come again "
              f"after {worst:.1f} s; {sum(c['gaps'] for c in counts)} streams began again")


def main():
    seconds = float(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "big")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    print(f"# seed {seed}", flush=True)
    case = nothing_is_lost_whoever_is_killed_each_second
    kinds = sys.argv[3:] or ["tcp"]
    return Runner([(f"{case.__name__} {kind}", case, (kind, seconds, seed)) for kind in kinds], threads=1).run()


if __name__ == "__main__":
    sys.exit(main())
