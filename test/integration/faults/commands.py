"""Commands that misbehave, through three processes: what is told of each, what it costs, and what is left of it.
`commands.py [WORD]` runs the cases whose names contain WORD.
"""
import os
import signal
import sys

from faults import KINDS, all_good, marks, pid_in
from world import SLOW, Runner, check, descendants, descriptors, equal, is_alive, read, until

MIB = 1 << 20


def site(case, kind, *args):
    url = case.scheduler(kind).url
    return url, case.worker(url, "-j2", *args)


def one(case, url, work):
    return case.load(url, work).finished()[0]


def peak(process):
    return next(int(line.split()[1]) * 1024 for line in read(f"/proc/{process.pid}/status").splitlines()
                if line.startswith("VmHWM"))


def what_cannot_run_or_dies_is_told_by_its_reason(case, kind):
    url, worker = site(case, kind)
    plain, script = case.path("plain"), case.path("script")
    for path, text, mode in ((plain, "echo never\n", 0o644), (script, "#!/no/such/interpreter\n", 0o755)):
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
    for command, code in (("/no/such/thing", 127), (plain, 126), (script, 127)):
        answer = one(case, url, f"shell:1:exec {command}")
        equal((answer["reason"], answer["code"]), ("task", code), answer)
    for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        answer = one(case, url, f"shell:1:kill -{int(number)} $$")
        equal((answer["reason"], answer["code"]), ("task", int(number)), answer)
        check(number.name in answer["text"], answer)
    all_good([one(case, url, "shell:1:echo hello")])
    check(not descendants(worker.pid), "children are left")


def a_gigabyte_flows_through_flat_processes(case, kind):
    size = 1000000000 if SLOW == 1 else 30000000
    url, worker = site(case, kind)
    scheduler = case.processes[0]
    all_good(case.load(url, "stream:2:exec seq 1 2000000", "call:50:nap:1").finished())
    before = peak(scheduler), peak(worker)
    load = case.load(url, f"stream:1:exec head -c {size} /dev/zero", options=["--linger"])
    answer = until(lambda: load.answers() and load.answers()[0], "it has all come")
    equal((answer["reason"], answer["bytes"], answer["gaps"]), ("success", size, 0), answer)
    grown = peak(scheduler) - before[0], peak(worker) - before[1], peak(load)
    if SLOW == 1:
        check(max(grown[:2]) < 8 * MIB and grown[2] < 32 * MIB, "memory grew:", grown)
    case.note(f"{size} bytes; scheduler and worker grew by, and the client's peak in KiB:", *[n >> 10 for n in grown])
    load.popen.stdin.close()
    load.finished()


def a_gigabyte_that_is_collected_ends_at_its_limit(case, kind):
    url, worker = site(case, kind)
    before = peak(worker)
    answer = one(case, url, "shell:1:exec head -c 1000000000 /dev/zero")
    equal(answer["reason"], "limit", answer)
    check(SLOW > 1 or peak(worker) - before < 16 * MIB, "the worker kept it:", peak(worker) - before)
    until(lambda: not descendants(worker.pid), "it is gone")
    all_good([one(case, url, "shell:1:echo hello")])


def who_closes_its_outputs_early_is_waited_for(case, kind):
    url, worker = site(case, kind)
    for work in ("shell", "stream"):
        answer = one(case, url, f"{work}:1:echo first; exec >&- 2>&-; sleep 0.5; echo $$ >> {case.path(work)}; exit 3")
        equal((answer["reason"], answer["code"]), ("task", 3), answer)
        equal(len(marks(case.path(work))), 1, "runs to the end")
    equal(answer["bytes"], 6, "bytes of the stream")
    check(not descendants(worker.pid), "children are left")


def who_ignores_sigterm_holds_a_leaving_worker_until_the_second(case, kind):
    url, worker = site(case, kind, "--kill-grace", 0.5)
    load = case.load(url, f"shell:1:trap '' TERM; echo $$ >> {case.path('pid')}; while :; do sleep 0.1; done")
    pid = pid_in(case.path("pid"))
    worker.send(signal.SIGTERM)
    case.sees(url, workers=1, tasks_assigned=1)
    check(is_alive(pid), "a first signal killed what runs")
    worker.send(signal.SIGTERM)
    equal(worker.ends(), 128 + signal.SIGTERM, "the worker's end")
    until(lambda: not is_alive(pid), "the command is dead")
    load.kill()


def what_a_command_leaves_in_the_background_holds_nothing_up(case, kind):
    url, worker = site(case, kind)
    all_good(case.load(url, "shell:20:echo hello").finished())
    before = descriptors(worker.pid)
    answer = one(case, url, f"shell:1:sleep 300 > /dev/null 2>&1 & echo $! >> {case.path('pid')}; echo done")
    equal((answer["reason"], answer["output"]), ("success", "done"), answer)
    pid = pid_in(case.path("pid"))
    check(is_alive(pid), "what it left in the background, with outputs of its own, was killed")
    all_good(case.load(url, "shell:20:echo hello", "call:20:nap:1").finished())
    until(lambda: descriptors(worker.pid) <= before, "the descriptors are what they were")
    os.kill(pid, signal.SIGKILL)
    held = case.load(url, f"shell:1:sleep 300 & echo $! >> {case.path('held')}; echo said")  # it has our stdout
    pid = pid_in(case.path("held"))
    all_good(case.load(url, "shell:5:echo hello").finished())
    equal(held.answers(), [], "an answer before all its output")
    os.kill(pid, signal.SIGKILL)
    equal(held.finished()[0]["output"], "said", "the output")


def cases():
    rows = [(function, (kind,)) for function in (
        a_gigabyte_flows_through_flat_processes, a_gigabyte_that_is_collected_ends_at_its_limit) for kind in KINDS]
    rows += [(function, ("tcp",)) for function in (
        what_cannot_run_or_dies_is_told_by_its_reason, who_closes_its_outputs_early_is_waited_for,
        who_ignores_sigterm_holds_a_leaving_worker_until_the_second,
        what_a_command_leaves_in_the_background_holds_nothing_up)]
    return [(" ".join([function.__name__, *args]), function, args) for function, args in rows]


def main():
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    return Runner([case for case in cases() if word in case[0]], threads=2).run()


if __name__ == "__main__":
    sys.exit(main())
