"""The tools together: a scheduler, workers, scaler-ctl and scaler-run as processes over tcp and ipc."""
import json
import os
import re
import socket
import subprocess

from harness import (BUILD, LIMIT, ToolTest, clean_environment, is_alive, main, read_whole, run, signal, tool,
                     wait_until)


class Cluster(ToolTest):
    def urls(self):
        return ("tcp://127.0.0.1:0", "ipc://" + self.path("socket"))

    def test_real_addresses_are_printed_and_put_into_the_ready_file(self):
        ready = self.path("ready")
        with open(ready, "w") as file:
            file.write("stale")
        process = self.start("scaler-scheduler", "--ready-file", ready, *self.urls())
        first, second = process.stdout.readline().decode(), process.stdout.readline().decode()
        self.assertRegex(first, r"^tcp://127\.0\.0\.1:[1-9][0-9]*\n$")
        self.assertEqual(second, "ipc://" + self.path("socket") + "\n")
        wait_until(lambda: read_whole(ready) == first + second, "the ready file is written")
        process.send_signal(signal.SIGTERM)
        code, _, err = self.finish(process)
        self.assertEqual(code, 0, err)
        for line in err.decode().splitlines():
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (ERROR|WARN|INFO|DEBUG) [a-z]+: .+$")

    def test_scaler_url_stands_for_the_url(self):
        scheduler, url = self.start_scheduler()
        ready = self.path("w")
        worker = self.start("scaler-worker", "--name", "w1", "--ready-file", ready, env={"SCALER_URL": url})
        self.assertEqual(self.ready(worker, ready), "w1")
        done = run("scaler-ctl", "--json", "workers", env={"SCALER_URL": url})
        self.assertEqual(json.loads(done.stdout)["name"], "w1")

    def test_bad_addresses_are_infrastructure_errors(self):
        _, url = self.start_scheduler()
        for bad, words in ((url, "is in use already"), ("tcp://no-such-host.invalid:1", "cannot be resolved"),
                           ("ipc://" + self.path("none/socket"), "is in a directory that does not exist"),
                           ("ipc://" + self.write("file", ""), "is a file, and not a socket"), ("nonsense", "")):
            done = run("scaler-scheduler", "--insecure", "tcp://127.0.0.1:0", bad)
            self.assertEqual((done.returncode, done.stdout), (1, b""), bad)
            self.assertRegex(done.stderr.decode(), f"^scaler-scheduler: [^\n]*{re.escape(bad)}[^\n]*{words}[^\n]*\n$")
        done = run("scaler-scheduler", "tcp://0.0.0.0:0")
        self.assertEqual(done.returncode, 1)

    def test_nobody_at_an_address_is_told_by_that_address(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # and nobody listens
            refused = "tcp://127.0.0.1:%d" % taken.getsockname()[1]
            for url, words in ((refused, "has nobody listening"),
                               ("ipc://" + self.path("none"), "has nobody listening"),
                               ("tcp://no-such-host.invalid:7700", "cannot be resolved")):
                for args in (("scaler-ctl", "--timeout=0.5", url, "status"),
                             ("scaler-run", "--scheduler-timeout=0.5", "-s", url, "true", ":::", "1"),
                             ("scaler-worker", "--scheduler-timeout=0.5", url)):
                    done = run(*args)
                    self.assertIn(done.returncode, (1, 255), args)
                    self.assertRegex(done.stderr.decode(), f"(?m)^{args[0]}: .*{re.escape(url)}", args)
                    self.assertIn(words, done.stderr.decode(), args)

    def test_closed_standard_descriptors_are_no_sockets(self):
        script = 'exec "$@" <&- >&- 2>&-'
        ready = self.path("ready")
        scheduler = self.start_by_shell(script, "scaler-scheduler", "--ready-file", ready, "tcp://127.0.0.1:0")
        url = self.ready(scheduler, ready)
        worker = self.start_by_shell(script, "scaler-worker", "-j1", url)
        self.assert_ends(run("scaler-run", "-s", url, "echo", ":::", "a"), 0, "a\n", "")
        for process in (scheduler, worker):
            for number in range(3):
                self.assertEqual(os.readlink(f"/proc/{process.pid}/fd/{number}"), "/dev/null")
            process.send_signal(signal.SIGTERM)
        self.assertEqual([worker.wait(LIMIT), scheduler.wait(LIMIT)], [0, 0])

    def start_by_shell(self, script, name, *args):
        process = subprocess.Popen(["/bin/sh", "-c", script, "sh", tool(name), *args], env=clean_environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.processes.append(process)
        return process

    def test_scaler_run_works_on_a_running_cluster(self):
        numbers = "".join(f"{n}\n" for n in range(1, 301))
        for url in self.urls():
            _, url = self.start_scheduler(url)
            self.start_worker(url, "-j2")
            self.start_worker(url, "-j2")
            self.assert_ends(run("scaler-run", "-s", url, "echo", stdin=numbers), 0, numbers, "")
            self.assert_ends(run("scaler-run", "-s", url, "-j3", "echo", stdin=numbers), 0, numbers, "")
            status, = self.ctl(url, "status")
            self.assertEqual((status["tasks_submitted"], status["tasks_done"], status["workers"]), (600, 600, 2))

    def test_tasks_elsewhere_run_in_the_callers_directory_with_the_workers_environment(self):
        _, url = self.start_scheduler()
        self.start_worker(url, "-j1", "--name", "far-away", env={"FROM": "worker"})
        done = run("scaler-run", "-s", url, "--env", "GIVEN=1", "--env", "TAKEN", "--shell",
                   'echo "$PWD,$FROM,$GIVEN,$TAKEN"', ":::", "a", cwd=self.folder, env={"FROM": "caller", "TAKEN": "2"})
        self.assert_ends(done, 0, os.path.realpath(self.folder) + ",worker,1,2\n", "")
        gone = self.path("gone")
        os.mkdir(gone)
        script = 'cd "$1" && rmdir "$1" && exec "$0" -s "$2" echo ::: a'
        done = subprocess.run(["sh", "-c", script, os.path.join(BUILD, "tools/scaler-run"), gone, url],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual(done.returncode, 255, done.stderr)

    def test_a_directory_that_is_not_there_is_named_with_its_worker(self):
        _, url = self.start_scheduler()
        self.start_worker(url, "-j1", "--name", "far-away")
        there = self.path("there")
        os.mkdir(there)
        go = self.path("go")
        os.mkfifo(go)
        blocker = self.start("scaler-run", "-s", url, "cat", ":::", go, cwd=self.folder)
        wait_until(lambda: self.ctl(url, "status")[0]["slots_busy"] == 1, "the slot is busy")
        process = self.start("scaler-run", "-s", url, "echo", ":::", "a", cwd=there)
        wait_until(lambda: self.ctl(url, "status")[0]["tasks_submitted"] == 2, "the task is there")
        os.rmdir(there)
        with open(go, "w") as file:
            file.write("x")
        self.assertEqual(self.finish(blocker)[0], 0)
        code, out, err = self.finish(process)
        self.assertEqual((code, out), (1, b""))
        self.assertIn(b"far-away", err)
        self.assertIn(there.encode(), err)

    def test_no_scheduler_is_told_and_ends_in_time(self):
        done = run("scaler-run", "-s", "ipc://" + self.path("nobody"), "--scheduler-timeout", "0.3", "echo", ":::", "a")
        self.assert_ends(done, 255, "")
        self.assertIn(b"no scheduler at", done.stderr)
        done = run("scaler-ctl", "ipc://" + self.path("nobody"), "--timeout", "0.3", "status")
        self.assert_ends(done, 1, "")
        done = run("scaler-worker", "--scheduler-timeout", "0.3", "ipc://" + self.path("nobody"))
        self.assert_ends(done, 1, "")

    def test_a_killed_worker_costs_no_output_and_repeats_none(self):
        for url in self.urls():
            _, url = self.start_scheduler(url)
            doomed = self.start_worker(url, "-j2")
            self.start_worker(url, "-j2")
            flag = self.path("flag-%d" % len(self.processes))
            script = f'seq 1 2000; [ "$1" = 20 ] && : > {flag}; sleep 0.05; echo "end $1"'
            process = self.start("scaler-run", "-s", url, "--shell", script, ":::", *map(str, range(1, 61)))
            wait_until(lambda: os.path.exists(flag), "the work is in its middle")
            doomed.kill()
            code, out, err = self.finish(process)
            want = "".join("".join(f"{i}\n" for i in range(1, 2001)) + f"end {n}\n" for n in range(1, 61))
            self.assertEqual(code, 0, err)
            self.assertEqual(out.decode(), want)

    def test_a_token_is_asked_of_everybody(self):
        token = self.write("token", "open sesame\n")
        _, url = self.start_scheduler("tcp://127.0.0.1:0", "--token-file", token)
        self.start_worker(url, "-j1", "--token-file", token)
        self.assert_ends(run("scaler-run", "-s", url, "--token-file", token, "echo", ":::", "a"), 0, "a\n", "")
        done = run("scaler-run", "-s", url, "echo", ":::", "a", env={"SCALER_TOKEN": "open sesame"})
        self.assert_ends(done, 0, "a\n", "")
        for env in ({}, {"SCALER_TOKEN": "wrong"}):
            done = run("scaler-run", "-s", url, "--scheduler-timeout=3", "echo", ":::", "a", env=env)
            self.assert_ends(done, 255, "")
            self.assert_ends(run("scaler-ctl", url, "--timeout=3", "status", env=env), 1, "")

    def test_a_worker_drains_at_the_first_signal_and_kills_at_the_second(self):
        _, url = self.start_scheduler()
        worker = self.start_worker(url, "-j1")
        os.mkfifo(self.path("go"))
        script = f'echo $$ > {self.path("pid")}; read x < {self.path("go")}; echo done'
        process = self.start("scaler-run", "-s", url, "--shell", script, ":::", "a")
        wait_until(lambda: os.path.exists(self.path("pid")) and os.path.getsize(self.path("pid")), "the task runs")
        worker.send_signal(signal.SIGTERM)
        wait_until(lambda: b"finishing" in worker.stderr.readline(), "the worker drains")
        with open(self.path("go"), "w") as go:
            go.write("\n")
        self.assertEqual(self.finish(process)[:2], (0, b"done\n"))
        self.assertEqual(worker.wait(LIMIT), 0)

        os.unlink(self.path("pid"))
        worker = self.start_worker(url, "-j1")
        self.start("scaler-run", "-s", url, "--shell", f'echo $$ > {self.path("pid")}; exec sleep 100', ":::", "a")
        wait_until(lambda: os.path.exists(self.path("pid")) and os.path.getsize(self.path("pid")), "the task runs")
        pid = int(read_whole(self.path("pid")))
        worker.send_signal(signal.SIGTERM)
        wait_until(lambda: b"finishing" in worker.stderr.readline(), "the worker drains")
        worker.send_signal(signal.SIGINT)
        self.assertEqual(worker.wait(LIMIT), 128 + signal.SIGINT)
        wait_until(lambda: not is_alive(pid), "the task is gone")

    def test_plugins_that_cannot_be_used_are_named(self):
        for name, content in (("none.so", None), ("bad.so", "not an object")):
            path = self.path(name)
            if content:
                self.write(name, content)
            done = run("scaler-worker", "--plugin", path, "tcp://127.0.0.1:1")
            self.assertEqual(done.returncode, 1)
            self.assertIn(name.encode(), done.stderr)

    def test_ctl_shows_and_cancels(self):
        _, url = self.start_scheduler()
        self.start_worker(url, "-j1", "--name", "only")
        process = self.start("scaler-run", "-s", url, "sleep", ":::", *["100"] * 5)
        wait_until(lambda: self.ctl(url, "status")[0]["slots_busy"] == 1, "a task runs")
        wait_until(lambda: len(self.ctl(url, "list")) == 5, "all tasks are there")
        clients = self.ctl(url, "clients")
        self.assertIn("scaler-run", [c["name"] for c in clients])
        self.assertEqual([w["name"] for w in self.ctl(url, "workers")], ["only"])
        dump, = self.ctl(url, "dump")
        self.assertEqual((dump["version"], len(dump["tasks"]), len(dump["workers"])), (1, 5, 1))
        for verb in ("status", "workers", "clients", "list", "dump"):
            done = run("scaler-ctl", url, verb)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout)
        ids = [task["id"] for task in self.ctl(url, "list")]
        answers = self.ctl(url, "--force", "cancel", *ids)
        self.assertEqual([a["outcome"] for a in answers], ["canceled"] * 5)
        code, _, err = self.finish(process)
        self.assertEqual(code, 5, err)
        self.assertEqual(len(re.findall(rb"task \d \(100\): cancel", err)), 5, err)
        done = run("scaler-ctl", url, "cancel", ids[0])
        self.assert_ends(done, 3)

    def assert_missing(self, done, words):
        self.assert_ends(done, 4, "")
        self.assertIn(words, done.stderr.decode())
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_ctl_explains(self):
        _, url = self.start_scheduler()
        self.assert_missing(run("scaler-ctl", url, "explain", "last"), "there is no task 'last'")
        self.assert_missing(run("scaler-ctl", url, "explain", "worker", "only"), "there is no worker 'only'")
        process = self.start("scaler-run", "-s", url, "sleep", ":::", *["100"] * 5)
        wait_until(lambda: len(self.ctl(url, "list")) == 5, "all tasks are there")
        self.assertEqual(self.ctl(url, "explain", "last")[0]["text"], "There is no worker.")
        self.start_worker(url, "-j1", "--name", "only", "--prefetch=none", "--offers", "gpu=1")
        wait_until(lambda: len(self.ctl(url, "list", "--state=assigned")) == 1, "a task runs")
        ids = [task["id"] for task in self.ctl(url, "list", "--last=9")]
        self.assertEqual(ids, sorted(ids, reverse=True))
        last, = self.ctl(url, "explain", "last")
        self.assertEqual((last["id"], last["stage"], last["why"]), (ids[0], "ready", "all-full"))
        self.assertEqual((last["text"], last["kind"], last["attempts"]),
                         ("1 worker fits, and it is full.", "command", []))
        wait_until(lambda: self.ctl(url, "explain", ids[4])[0]["why"] == "running", "it says that it runs")
        first, = self.ctl(url, "explain", ids[4])
        self.assertEqual((first["worker_name"], first["attempt"], first["state"]), ("only", 1, "running"))
        worker, = self.ctl(url, "explain", "worker", "only")
        self.assertEqual((worker["why"], worker["offers"], worker["used"]), ("full", "cpu=1,gpu=1", "cpu=1"))
        self.assertEqual(self.ctl(url, "explain", "worker", worker["id"])[0]["name"], "only")
        done = run("scaler-ctl", url, "explain", "last")
        self.assertEqual(done.returncode, 0)
        for words in (ids[0], "ready for", "all-full: 1 worker fits, and it is full.", "(command)"):
            self.assertIn(words, done.stdout.decode())
        done = run("scaler-ctl", url, "workers")
        self.assertIn("offers cpu=1,gpu=1, used cpu=1; full: It is full", done.stdout.decode())
        done = run("scaler-ctl", url, "explain", "worker", "only")
        self.assertIn("full: It is full: it has 1 run for 1 slot and takes no more than 1.", done.stdout.decode())

        client, = [c["id"] for c in self.ctl(url, "clients") if c["tasks"] == 5]
        self.assertEqual(self.ctl(url, "explain", "last", "--client", client)[0]["id"], ids[0])
        self.assert_missing(run("scaler-ctl", url, "explain", "last", "--client", "0" * 31 + "1"), "'last'")
        self.assertEqual([t["id"] for t in self.ctl(url, "list", "--last=2")], ids[:2])
        self.assertEqual([t["id"] for t in self.ctl(url, "list", "--last=2", "--client", client)], ids[:2])
        self.assertEqual(len(self.ctl(url, "list", "--state=running,backoff")), 1)
        self.assertEqual(len(self.ctl(url, "list", "--state=inactive", "--range=2-4")), 3)
        self.assertEqual(len(self.ctl(url, "list", "--range=3-")), 3)
        self.assertEqual(len(self.ctl(url, "list", "--range=3")), 1)
        self.assertEqual(self.ctl(url, "list", "--tag=night"), [])
        self.assertEqual([t["stage"] for t in self.ctl(url, "list", "--last=1")], ["ready"])

        answers = self.ctl(url, "cancel", "--last=1")
        self.assertEqual(answers, [{"id": ids[0], "outcome": "canceled"}])
        answers = self.ctl(url, "cancel", "--client", client, "--range=3-4", "--state=ready")
        self.assertEqual(sorted(a["id"] for a in answers), sorted(ids[1:3]))
        self.assertEqual(self.ctl(url, "cancel", "last"), [{"id": ids[3], "outcome": "canceled"}])
        self.assertEqual(self.ctl(url, "--force", "cancel", "--state=assigned")[0]["id"], ids[4])
        code, _, err = self.finish(process)
        self.assertEqual(code, 5, err)
        self.assert_missing(run("scaler-ctl", url, "explain", ids[0]), ids[0])
        self.assert_missing(run("scaler-ctl", url, "cancel", "last"), "'last'")

    def test_ctl_tells_of_earlier_attempts(self):
        _, url = self.start_scheduler()
        self.start_worker(url, "-j1", "--name", "only")
        process = self.start("scaler-run", "-s", url, "--retries=1", "--backoff=50", "false", ":::", "x")
        wait_until(lambda: len(self.ctl(url, "list", "--state=backoff")) == 1, "it has failed once")
        task, = self.ctl(url, "explain", "last")
        self.assertEqual((task["stage"], task["why"], task["attempt"]), ("backoff", "backoff", 1))
        self.assertGreater(task["until_ms"], 10000)
        attempt, = task["attempts"]
        self.assertEqual((attempt["attempt"], attempt["worker_name"], attempt["reason"]), (1, "only", "task"))
        self.assertEqual((attempt["how"], attempt["code"]), ("exited", 1))
        self.assertGreater(attempt["wall_us"], 0)
        self.assertIn("  1  only: began ", run("scaler-ctl", url, "explain", "last").stdout.decode())
        self.ctl(url, "cancel", "last")
        self.finish(process)

    def test_ctl_cancels_many(self):
        _, url = self.start_scheduler()
        self.start_worker(url, "-j1")
        for words in (("--client", None), ("--all",)):
            process = self.start("scaler-run", "-s", url, "sleep", ":::", *["100"] * 5)
            wait_until(lambda: self.ctl(url, "status")[0]["slots_busy"] == 1, "a task runs")
            wait_until(lambda: len(self.ctl(url, "list")) == 5, "all tasks are there")
            client, = [c["id"] for c in self.ctl(url, "clients") if c["tasks"] == 5]
            self.assertEqual(self.ctl(url, "cancel", "--tag", "none has it"), [{"cancelled": 0}])
            self.assertEqual(self.ctl(url, "cancel", "--client", "0" * 31 + "1"), [{"cancelled": 0}])
            words = [client if word is None else word for word in words]
            self.assertEqual(self.ctl(url, "cancel", *words), [{"cancelled": 5}])
            code, _, err = self.finish(process)
            self.assertEqual(code, 5, err)
        done = run("scaler-ctl", url, "cancel", "--all")
        self.assertEqual((done.returncode, done.stdout), (0, b"0 tasks cancelled or told to stop\n"))

    def test_a_client_that_is_interrupted_once_gives_up_what_has_not_started(self):
        _, url = self.start_scheduler()
        self.start_worker(url, "-j2", "--prefetch=none")
        script = f'echo >> {self.path("started")}; while [ ! -e {self.path("go")} ]; do sleep 0.02; done; echo "$1"'
        process = self.start("scaler-run", "-s", url, "--shell", script, ":::", *map(str, range(1, 101)))
        wait_until(lambda: (read_whole(self.path("started")) or "").count("\n") == 2, "two tasks run")
        process.send_signal(signal.SIGINT)
        process.stderr.readline()
        wait_until(lambda: len(self.ctl(url, "list")) == 2, "the others are given up")
        self.write("go", "")
        code, out, err = self.finish(process)
        self.assertEqual((code, out), (130, b"1\n2\n"), err)
        self.assertEqual(read_whole(self.path("started")), "\n\n")

    def test_a_client_that_is_interrupted_twice_leaves_nothing_on_the_cluster(self):
        _, url = self.start_scheduler()
        self.start_worker(url, "-j2")
        process = self.start("scaler-run", "-s", url, "sleep", ":::", *["100"] * 20)
        wait_until(lambda: self.ctl(url, "status")[0]["slots_busy"] == 2, "tasks run")
        process.send_signal(signal.SIGINT)
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process)[0], 130)
        wait_until(lambda: self.ctl(url, "list") == [], "nothing is left")
        wait_until(lambda: self.ctl(url, "status")[0]["slots_busy"] == 0, "no slot is busy")


if __name__ == "__main__":
    main()
