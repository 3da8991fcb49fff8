"""What the tests of the command-line tools share: running a tool within a time, a cluster of real processes,
and a temporary directory that is gone afterwards.  SCALER_BUILD names the build directory."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

# Who runs the tests in the background, or under nohup, ignores these, and so would what is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

BUILD = os.environ["SCALER_BUILD"]
LIMIT = 60


def tool(name):
    return os.path.join(BUILD, "tools", name)


def clean_environment(extra=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith("SCALER_")}
    env.update(extra or {})
    return env


def run(name, *args, stdin=b"", env=None, cwd=None, **more):
    if isinstance(stdin, str):
        stdin = stdin.encode()
    if "stdin_file" in more:
        more = {**more, "stdin": more.pop("stdin_file")}
    else:
        more["input"] = stdin
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([tool(name), *args], env=clean_environment(env), cwd=cwd, timeout=LIMIT, **more)


def wait_until(condition, what, limit=20):
    """Waits on a condition, never for a time."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("waited too long until " + what)


def read_whole(path):
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return None


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            direct = [int(x) for x in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            if task != str(pid):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    direct += [int(x) for x in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return direct


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class ToolTest(unittest.TestCase):
    def setUp(self):
        self.folder_object = tempfile.TemporaryDirectory(prefix="scaler-test-")
        self.folder = self.folder_object.name
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        self.folder_object.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def start(self, name, *args, env=None, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([tool(name), *args], env=clean_environment(env), **more)
        self.processes.append(process)
        return process

    def finish(self, process):
        out, err = process.communicate(timeout=LIMIT)
        return process.returncode, out, err

    def ready(self, process, path):
        def look():
            if process.poll() is not None:
                raise AssertionError("the tool ended: %r" % process.stderr.read())
            return read_whole(path)

        return wait_until(look, path + " is there").strip()

    def start_scheduler(self, url="tcp://127.0.0.1:0", *args, env=None):
        ready = self.path("scheduler-%d" % len(self.processes))
        process = self.start("scaler-scheduler", "--log-level=error", "--ready-file", ready, *args, url, env=env)
        return process, self.ready(process, ready)

    def start_worker(self, url, *args, env=None, **more):
        ready = self.path("worker-%d" % len(self.processes))
        process = self.start("scaler-worker", "--log-level=error", "--ready-file", ready, *args, url, env=env, **more)
        self.ready(process, ready)
        return process

    def ctl(self, url, *args, env=None):
        done = run("scaler-ctl", "--json", url, *args, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def assert_ends(self, done, code, out=None, err=None):
        self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
        if out is not None:
            self.assertEqual(done.stdout, out.encode() if isinstance(out, str) else out)
        if err is not None:
            self.assertEqual(done.stderr, err.encode() if isinstance(err, str) else err)


def main():
    unittest.main(module="__main__", verbosity=1, argv=sys.argv)


__all__ = ["BUILD", "LIMIT", "ToolTest", "children", "clean_environment", "is_alive", "main", "read_whole", "run",
           "signal", "tool", "wait_until"]
