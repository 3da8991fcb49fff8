"""Descriptors run out, in a scheduler, in a worker, in a tool that was born so; or room and threads do: what is under way
goes on, what is new gets a clear error, nobody spins, and all is well again when there are some.  `scarcity.py [WORD]`
runs the cases whose names contain WORD.
"""
import os
import resource
import subprocess
import sys
import threading
import time

from faults import KINDS, all_good, marks, pid_in, ticks
from world import BUILD, ENVIRONMENT, LIMIT, SLOW, Relay, Runner, check, connect_to, descriptors, equal, read, until


def only_descriptors(process, count):
    """From now on `process` may hold so many."""
    _, most = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (count, most))


def lowest_free(process):
    """The number that its next descriptor would have."""
    taken = {int(name) for name in os.listdir(f"/proc/{process.pid}/fd")}
    return next(number for number in range(len(taken) + 1) if number not in taken)


def burns_no_cpu(process, what):
    before = ticks(process.pid)[0]
    time.sleep(1)  # the time is what is measured
    spent = ticks(process.pid)[0] - before
    check(spent < 30 * SLOW, f"{spent} ticks in a second {what}")


def a_scheduler_out_of_descriptors_goes_on_and_lets_in_again(case, kind):
    scheduler = case.scheduler(kind)
    worker = case.worker(scheduler.url, "-j2")
    all_good(case.load(scheduler.url, "call:10:nap:1").finished())
    case.clean_table(scheduler.url)
    before = descriptors(scheduler.pid)
    load = case.load(scheduler.url, "call:320:nap:20", "shell:20:echo hello").submitted()
    case.sees(scheduler.url, tasks_submitted=350)
    only_descriptors(scheduler, lowest_free(scheduler))
    waiting = [connect_to(scheduler.url) for _ in range(20)]  # they stand in the listener's queue
    until(lambda: "needs a descriptor, and there are none left" in read(scheduler.log), "it says so")
    burns_no_cpu(scheduler, "of a scheduler that cannot accept")
    done = subprocess.run([os.path.join(BUILD, "tools/scaler-ctl"), "--timeout=0.5", scheduler.url, "status"],
                          env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=LIMIT)
    equal((done.returncode, done.stdout), (1, b""), "a newcomer")
    check(b"timed out" in done.stderr and scheduler.url.encode() in done.stderr, done.stderr)
    all_good(load.finished())
    equal(read(scheduler.log).count("cannot accept"), 1, "lines about it")
    only_descriptors(scheduler, 1024)
    case.clean_table(scheduler.url)
    for stranger in waiting:
        stranger.close()
    until(lambda: descriptors(scheduler.pid) <= before, "the descriptors are what they were")
    all_good(case.load(scheduler.url, "call:10:nap:1", "shell:2:echo hello").finished())
    check(worker.popen.poll() is None, "the worker fell over it")


def a_worker_out_of_descriptors_runs_functions_and_says_why_it_starts_no_command(case, kind):
    url = case.scheduler(kind).url
    worker = case.worker(url, "-j2")
    all_good(case.load(url, "call:10:nap:1", "shell:10:sleep 0.02; echo hello").finished())
    before = descriptors(worker.pid)
    script = f"echo $$ >> {case.path('pid')}; while [ ! -e {case.path('go')} ]; do sleep 0.02; done"
    held = case.load(url, "shell:1:" + script)
    pid_in(case.path("pid"))
    only_descriptors(worker, lowest_free(worker))
    open(case.path("go"), "w").close()
    all_good(held.finished())  # what ran goes on, and gives its descriptors back
    only_descriptors(worker, lowest_free(worker))
    refused, fine = case.load(url, "shell:2:echo hello"), case.load(url, "call:100:nap:1")
    for answer in refused.finished():
        equal((answer["reason"], answer["code"]), ("not_started", 24), answer)
        check("too many open descriptors in this process" in answer["text"], answer)
    all_good(fine.finished())
    burns_no_cpu(worker, "of a worker without descriptors")
    only_descriptors(worker, 1024)
    all_good(case.load(url, "shell:10:echo hello").finished())
    until(lambda: descriptors(worker.pid) <= before, "the descriptors are what they were")
    case.clean_table(url)


def a_worker_that_cannot_dial_for_want_of_descriptors_comes_back(case, kind):
    scheduler = case.scheduler(kind)
    relay = Relay(case, kind, scheduler.url)
    worker = case.worker(relay.url, "-j1")
    load = case.load(scheduler.url, f"call:1:mark:3000 {case.path('mark')}", "call:5:nap:10")
    until(lambda: marks(case.path("mark")), "the task runs")
    only_descriptors(worker, 3)
    relay.cut()
    case.sees(scheduler.url, workers=0)
    relay.open()
    until(lambda: "needs a descriptor, and there are none left" in read(worker.log), "it says so")
    burns_no_cpu(worker, "of a worker that cannot dial")
    only_descriptors(worker, 1024)
    answers = load.finished()
    all_good(answers)
    equal((len(marks(case.path("mark"))), answers[0]["attempts"]), (1, 1), "runs and attempts of the task")
    case.clean_table(scheduler.url)


def tools_born_without_descriptors_say_so(case):
    url = case.scheduler("tcp").url
    case.worker(url, "-j2")
    fine = 0
    for count in range(4, 16):
        for args in (("scaler-ctl", "--timeout=1", url, "status"), ("scaler-run", "-j1", "echo", ":::", "a"),
                     ("scaler-run", "-s", url, "echo", ":::", "a")):
            done = subprocess.run(["prlimit", f"--nofile={count}", os.path.join(BUILD, "tools", args[0]), *args[1:]],
                                  env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=LIMIT)
            check(done.returncode in (0, 1, 255), count, args, "ended with", done.returncode, done.stderr)
            check(done.returncode == 0 or b"descriptor" in done.stderr, count, args, "said", done.stderr)
            fine += done.returncode == 0
    check(fine > 3, "none of them ever had enough")


def born_with(limit, url, **user):
    """What a scheduler with that limit says first, its exit code after a SIGTERM if it listens, and its other words."""
    process = subprocess.Popen(["prlimit", "--core=0", limit, os.path.join(BUILD, "tools/scaler-scheduler"), url],
                               env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **user)
    watchdog = threading.Timer(5 * SLOW, process.kill)
    watchdog.start()
    with process:
        listens = process.stdout.readline()
        if listens:
            process.terminate()
        words = process.stderr.read()
        code = process.wait()
    watchdog.cancel()
    check(code == 0 if listens else code in (1, 127), limit, "ended with", code, listens, words)
    check(listens or len(words.splitlines()) == 1, limit, "said", words)
    return code


def a_scheduler_born_with_little_room_listens_or_says_so(case):
    """nng itself would crash or hang; the loader, which comes before us, ends with 127."""
    codes = [born_with(f"--as={size * 1024000}", "ipc://" + case.path("little")) for size in range(40, 410, 10)]
    check({0, 1} <= set(codes), "every limit was the same", codes)


def a_scheduler_born_with_few_threads_says_so(case):
    url, user = "abstract://scarcity-" + str(os.getpid()), {}
    if os.getuid() == 0:  # who may have as many as there are
        user = {"user": 65534, "group": 65534, "extra_groups": []}
        if subprocess.run([os.path.join(BUILD, "tools/scaler-scheduler"), "--version"], stdout=subprocess.DEVNULL,
                          check=False, env=ENVIRONMENT, **user).returncode != 0:
            return
    equal([born_with(limit, url, **user) for limit in ("--nproc=1", "--core=0")], [1, 0], "exit codes")


def cases():
    rows = [(function, (kind,)) for function in (
        a_scheduler_out_of_descriptors_goes_on_and_lets_in_again,
        a_worker_out_of_descriptors_runs_functions_and_says_why_it_starts_no_command,
        a_worker_that_cannot_dial_for_want_of_descriptors_comes_back) for kind in KINDS]
    rows += [(tools_born_without_descriptors_say_so, ())]
    if SLOW == 1:  # the sanitizers take terabytes of room, and a thread of their own
        rows += [(a_scheduler_born_with_few_threads_says_so, ()),
                 (a_scheduler_born_with_little_room_listens_or_says_so, ())]
    return [(" ".join([function.__name__, *args]), function, args) for function, args in rows]


def main():
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    return Runner([case for case in cases() if word in case[0]], threads=2).run()


if __name__ == "__main__":
    sys.exit(main())
