"""The world of the fault tests: clusters of real processes, a relay whose link can be cut or frozen, and a runner
that prints `ok` or `not ok` for each case.  Everything a case starts ends with it, by its pid, failed or not.
SCALER_BUILD names the build directory.
"""
import collections
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import traceback

BUILD = os.environ["SCALER_BUILD"]
SLOW = 4 if os.environ.get("SCALER_TEST_PACE") == "slow" else 1  # sanitizers take their time
LIMIT = 40 * SLOW
LOOK = 0.03
STALL = 0.3
STALL_EXCUSES = 1  # seconds of it make a failed case worth another try
HERE = os.path.join(BUILD, "test/integration/faults")
PLUGIN = os.path.join(HERE, "deeds.so")
CRASHES = [-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE]
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("SCALER_")}


class Failed(Exception):
    pass


def check(condition, *words):
    if not condition:
        raise Failed(" ".join(str(word) for word in words))


def equal(got, want, what):
    check(got == want, f"{what}: {got!r}, not {want!r}")


class Awake(threading.Thread):
    """A clock that stands still with the machine: a crowded one stops for seconds, and limits are not for that."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seconds = self.stalled = 0
        self.start()

    def run(self):
        before = time.monotonic()
        while True:
            time.sleep(LOOK)
            now = time.monotonic()
            self.seconds += min(now - before, STALL)
            self.stalled += max(now - before - STALL, 0)
            before = now


AWAKE = Awake()


def until(condition, what, limit=LIMIT):
    """Waits on a condition, never for a time; gives its value."""
    end = AWAKE.seconds + limit
    while True:
        value = condition()
        if value:
            return value
        check(AWAKE.seconds < end, "waited in vain until", what)
        time.sleep(LOOK)


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""


# ---- processes ------------------------------------------------------------------------------------------


def stat_fields(pid):
    """What stands behind the name in /proc/PID/stat, or None."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_alive(pid):
    fields = stat_fields(pid)
    return fields is not None and fields[0] not in "ZX"


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def descendants(pid):
    """All who descend from pid."""
    found, todo = [], [pid]
    while todo:
        parent = todo.pop()
        try:
            threads = os.listdir(f"/proc/{parent}/task")
            children = [int(x) for t in threads for x in read(f"/proc/{parent}/task/{t}/children").split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        todo += children
        found += children
    return found


class Process:
    """A child of ours, its descendants remembered, its stderr in a file."""

    def __init__(self, case, args, name, environment=None, **more):
        self.name = name
        self.tool = os.path.basename(args[0])
        self.log = case.path(f"{name}.log")
        self.family = {}
        with open(self.log, "ab") as log:
            env = {**ENVIRONMENT, **(environment or {})}
            self.popen = subprocess.Popen(args, env=env, stderr=log, cwd=case.folder, **more)
        self.pid = self.popen.pid
        case.processes.append(self)

    def send(self, number):
        if self.popen.poll() is None:
            self.popen.send_signal(number)

    def stop(self):
        self.send(signal.SIGSTOP)
        until(lambda: (stat_fields(self.pid) or "T")[0] == "T", self.name + " is stopped")

    def go_on(self):
        self.send(signal.SIGCONT)

    def remember(self):
        for pid in descendants(self.pid):
            fields = stat_fields(pid)
            if fields:
                self.family[pid] = fields[19]

    def kill(self):
        self.remember()
        self.send(signal.SIGKILL)
        self.popen.wait(LIMIT)

    def ends(self, limit=LIMIT):
        until(lambda: self.popen.poll() is not None, self.name + " has ended", limit)
        return self.popen.returncode

    def kill_all(self):
        """Itself, and what it left behind: by pid and time of birth."""
        if self.popen.returncode is None:
            self.remember()
            self.popen.kill()
        for pid, born in self.family.items():
            fields = stat_fields(pid)
            if fields and fields[19] == born:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def clean(self):
        """The last act of a case: neither it nor what it left behind goes on living."""
        self.kill_all()
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe:
                pipe.close()


class Load(Process):
    """The client: what it prints is collected by a thread."""

    def __init__(self, case, url, *work, options=(), environment=None):
        self.lines = []
        args = [os.path.join(HERE, "load"), *map(str, options), url, *work]
        super().__init__(case, args, f"load-{len(case.processes)}", environment, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=self.collect, daemon=True)
        self.reader.start()

    def collect(self):
        for line in self.popen.stdout:
            self.lines.append(json.loads(line))

    def has(self, key):
        return next((line for line in list(self.lines) if key in line), None)

    def submitted(self):
        until(lambda: self.has("submitted"), "everything is submitted")
        return self

    def answers(self):
        return [line for line in list(self.lines) if "task" in line]

    def finished(self, limit=LIMIT):
        """Its answers, by task, once all are there; each came once and the client ended well."""
        code = self.ends(limit)
        self.reader.join(LIMIT)
        check(code == 0, f"the client ended with {code}:", read(self.log))
        answers = {line["task"]: line for line in self.answers()}
        equal(len(self.answers()), len(answers), "answers to tasks")
        check(not self.has("twice") and not self.has("broken"), "a future ended twice or broke")
        equal(len(answers), self.has("submitted")["submitted"], "answers to submitted tasks")
        return [answers[n] for n in sorted(answers)]


# ---- a relay --------------------------------------------------------------------------------------------


def connect_to(url):
    kind, _, rest = url.partition("://")
    if kind == "ipc":
        to = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        to.connect(rest)
    else:
        host, _, port = rest.rpartition(":")
        to = socket.create_connection((host, int(port)))
    return to


class Relay:
    """Stands between peers and a scheduler.  Cut: links break, nobody gets through.  Frozen: links stay, no byte
    moves."""

    def __init__(self, case, kind, url):
        self.target = url
        if kind == "ipc":
            self.address = case.path("relay")
            self.url = "ipc://" + self.address
        else:
            self.address = ("127.0.0.1", 0)
        self.kind = kind
        self.pairs = []
        self.lock = threading.Lock()
        self.flowing = threading.Event()
        self.flowing.set()
        self.over = False
        self.accepted = 0
        self.open()
        case.relays.append(self)

    def open(self):
        if self.kind == "ipc":
            if os.path.exists(self.address):
                os.unlink(self.address)
            self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        else:
            self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(self.address)
        self.listener.listen(64)
        if self.kind == "tcp":
            self.address = self.listener.getsockname()
            self.url = "tcp://127.0.0.1:%d" % self.address[1]
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            try:
                far = connect_to(self.target)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs.append((near, far))
                self.accepted += 1
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(a, b), daemon=True).start()

    def pump(self, a, b):
        try:
            while True:
                data = a.recv(65536)
                self.flowing.wait()
                if not data or self.over:
                    break
                b.sendall(data)
        except OSError:
            pass
        for end in (a, b):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        # a close alone would not wake a thread in accept
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def freeze(self):
        self.flowing.clear()

    def thaw(self):
        self.flowing.set()

    def close(self):
        self.over = True
        self.thaw()
        self.cut()


# ---- a case ---------------------------------------------------------------------------------------------


class Case:
    """What one case has at hand: a folder, processes, relays, and words for the report."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="scaler-faults-")
        self.processes = []
        self.relays = []
        self.notes = []
        self.lock = threading.Lock()

    def path(self, name):
        return os.path.join(self.folder, name)

    def note(self, *words):
        self.notes.append(" ".join(str(word) for word in words))

    def close(self):
        for relay in self.relays:
            relay.close()
        for process in list(self.processes):
            process.clean()
        shutil.rmtree(self.folder, ignore_errors=True)

    def leave(self):
        """Whoever is still there after all that stops in order: the workers first, for their goodbyes."""
        for tool in ("scaler-worker", "scaler-scheduler"):
            alive = [process for process in self.processes if process.tool == tool and process.popen.poll() is None]
            for process in alive:
                process.send(signal.SIGTERM)
            for process in alive:
                code = process.ends()
                early = code == -signal.SIGTERM and not read(process.ready)
                check(code == 0 or early, process.name, "left with", code)

    def judge(self):
        """Nobody may have fallen over, or been told on by a sanitizer."""
        for process in self.processes:
            check(process.popen.poll() not in CRASHES, process.name, "crashed:", process.popen.returncode)
            log = read(process.log)
            for word in ("Sanitizer", "runtime error:"):
                check(word not in log, process.name, "was told on:", log[max(log.find(word) - 100, 0):][:2000])

    def logs(self):
        for name, log in dict.fromkeys((process.name, process.log) for process in self.processes):
            for line in read(log).splitlines()[-8:]:
                yield f"{name}: {line}"

    def start(self, tool, name, *args, environment=None):
        """A tool, once it says that it is ready; gives it and the first line of what it says."""
        with self.lock:
            ready = self.path(f"{name}-{len(self.processes)}.ready")
            full = [os.path.join(BUILD, "tools", tool), "--log-level=info", "--ready-file", ready, *map(str, args)]
            process = Process(self, full, name, environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        process.ready = ready
        return process

    def await_ready(self, process):
        def look():
            check(process.popen.poll() is None, process.name, "ended:", read(process.log)[-300:])
            return read(process.ready)

        return until(look, process.name + " is ready").split("\n")[0]

    def scheduler(self, kind, *args, url=None, environment=None):
        url = url or ("tcp://127.0.0.1:0" if kind == "tcp" else "ipc://" + self.path("socket"))
        process = self.start("scaler-scheduler", "scheduler", *args, url, environment=environment)
        process.url = self.await_ready(process)
        return process

    def worker(self, url, *args, name=None, ready=True, environment=None):
        name = name or f"worker-{len(self.processes)}"
        process = self.start("scaler-worker", name, "--name", name, "--plugin", PLUGIN, *args, url,
                             environment=environment)
        if ready:
            self.await_ready(process)
        return process

    def load(self, url, *work, options=(), environment=None):
        return Load(self, url, *work, options=options, environment=environment)

    def ctl(self, url, *args):
        command = [os.path.join(BUILD, "tools/scaler-ctl"), "--json", f"--timeout={LIMIT}", url, *args]
        done = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=10 * LIMIT)
        check(done.returncode == 0, "scaler-ctl", *args, done.stderr)
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def status(self, url):
        return self.ctl(url, "status")[0]

    def sees(self, url, **want):
        """Waits until the scheduler's status is so."""
        def look():
            status = self.status(url)
            return all(status[key] == value for key, value in want.items()) and status

        try:
            return until(look, f"the scheduler sees {want}")
        except Failed as failure:
            raise Failed(f"{failure}; it sees {self.status(url)}") from None

    def clean_table(self, url):
        """At the end nothing is left in the scheduler's tables."""
        self.sees(url, clients=0, tasks_waiting=0, tasks_ready=0, tasks_assigned=0, tasks_unacknowledged=0, orphans=0)


# ---- running --------------------------------------------------------------------------------------------


class Runner:
    """Runs cases on `threads` threads, in the order given."""

    def __init__(self, cases, threads):
        self.todo = collections.deque(cases)
        self.threads = threads
        self.lock = threading.Lock()
        self.passed = self.failed = 0
        self.open = set()

    def attempt(self, function, args):
        """What there is to say, and whether it failed."""
        case, failure = Case(), []
        self.open.add(case)
        try:
            function(case, *args)
            case.leave()
            case.judge()
        except Failed as error:
            failure = [str(error), *case.logs()]
        except Exception:
            failure = [*traceback.format_exc().splitlines(), *case.logs()]
        finally:
            case.close()
            self.open.discard(case)
        return case.notes + failure, bool(failure)

    def one(self, name, function, args):
        began, stalled = time.monotonic(), AWAKE.stalled
        words, failed = self.attempt(function, args)
        stalled = AWAKE.stalled - stalled
        if failed and stalled > STALL_EXCUSES:
            again, failed = self.attempt(function, args)
            words += [f"the machine stood still for {stalled:.1f} s meanwhile; once more:", *again]
        with self.lock:
            self.passed += not failed
            self.failed += failed
            number = self.passed + self.failed
            print(f"{'not ok' if failed else 'ok'} {number} - {name} ({time.monotonic() - began:.1f} s)")
            for line in words:
                print("    # " + line)
            print(end="", flush=True)

    def work(self):
        while True:
            with self.lock:
                if not self.todo:
                    return
                case = self.todo.popleft()
            self.one(*case)

    def abandon(self, number, frame):
        """We are told to end: nothing is left behind then either.  No locks: the other threads hold them."""
        self.todo.clear()
        for case in list(self.open):
            for process in list(case.processes):
                process.kill_all()
            shutil.rmtree(case.folder, ignore_errors=True)
        os._exit(128 + number)

    def run(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.abandon)
        threads = [threading.Thread(target=self.work) for _ in range(self.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0
