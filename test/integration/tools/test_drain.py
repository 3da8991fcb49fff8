"""Drains as an operator has them: workers and schedulers of a cluster under load are replaced one after another,
by signals and by scaler-ctl, and nothing is lost or done twice; and what is told of those that do not go."""
import fcntl
import json
import os
import threading

from harness import LIMIT, ToolTest, is_alive, main, read_whole, run, signal, wait_until

F_SETPIPE_SZ = 1031


class Load:
    """scaler-run with a thousand tasks in flight, each of which writes a line; it ends when it is told to."""

    def __init__(self, test, url):
        self.lines, self.count, self.enough = test.path("lines"), 0, False
        script = "echo $1 >> " + self.lines
        self.process = test.start("scaler-run", "-s", url, "-j1000", "--shell", script, stdin=-1)
        fcntl.fcntl(self.process.stdin, F_SETPIPE_SZ, 4096)  # or thousands more wait in it when it is enough
        self.thread = threading.Thread(target=self.feed)
        self.thread.start()

    def feed(self):
        while not self.enough and self.process.poll() is None:
            block = range(self.count + 1, self.count + 51)
            self.process.stdin.write("".join(f"{n}\n" for n in block).encode())
            self.process.stdin.flush()
            self.count += 50
        self.process.stdin.close()

    def done(self):
        return (read_whole(self.lines) or "").count("\n")

    def goes_on(self, more=100):
        want = self.done() + more
        wait_until(lambda: self.done() >= want, "the load goes on")

    def end(self, test):
        self.enough = True
        self.thread.join()
        self.process.stdin = None
        code, _, err = test.finish(self.process)
        test.assertEqual((code, err), (0, b""))
        test.assertEqual(sorted(map(int, read_whole(self.lines).split())), list(range(1, self.count + 1)))


class Drain(ToolTest):
    def cluster(self, workers, *args):
        scheduler, url = self.start_scheduler("ipc://" + self.path("socket"), *args)
        return scheduler, url, [self.start_worker(url, "-j2", "--name", f"w{i}") for i in range(workers)]

    def hold_one(self, url, worker_args=("-j1", "--name", "only")):
        """A task that waits for a file to be there, and tells its process; its second run ends at once."""
        worker = self.start_worker(url, *worker_args)
        pid = self.path("pid")
        script = f'if [ -e {pid} ]; then echo again; exit; fi; echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 1000'
        load = self.start("scaler-run", "-s", url, "--shell", script, ":::", "a")
        wait_until(lambda: os.path.exists(pid), "the task runs")
        return worker, load, int(read_whole(pid))

    def assert_made_again(self, url, load):
        self.start_worker(url, "-j1")
        self.assertEqual(self.finish(load)[:2], (0, b"again\n"))
        status, = self.ctl(url, "status")
        self.assertEqual((status["runs_lost"], status["tasks_failed"]), (0, 0))

    def test_all_workers_are_replaced_under_load_and_each_task_is_done_once(self):
        _, url, workers = self.cluster(4)
        load = Load(self, url)
        for round_number in range(2):
            for i, worker in enumerate(workers):
                load.goes_on()
                if (i + round_number) % 2:
                    worker.send_signal(signal.SIGTERM)
                else:
                    answer = json.loads(run("scaler-ctl", "--json", url, "drain", f"w{i}").stdout)
                    self.assertEqual((answer["outcome"], answer["lost"], answer["released"]), ("left", 0, 0))
                self.assertEqual(worker.wait(LIMIT), 0)
                workers[i] = self.start_worker(url, "-j2", "--name", f"w{i}")
        load.goes_on()
        load.end(self)
        status, = self.ctl(url, "status")
        self.assertEqual((status["runs_lost"], status["tasks_done"]), (0, load.count))

    def test_the_scheduler_is_replaced_under_load_and_each_task_is_done_once(self):
        scheduler, url, workers = self.cluster(2)
        load = Load(self, url)
        for by_signal in (True, False, True):
            load.goes_on()
            if by_signal:
                scheduler.send_signal(signal.SIGTERM)
            else:
                self.assert_ends(run("scaler-ctl", "--json", url, "drain", "--scheduler", "--deadline=20"), 0)
            self.assertEqual(scheduler.wait(LIMIT), 0)
            scheduler, _ = self.start_scheduler(url)
        load.goes_on()
        load.end(self)
        for worker in workers:
            self.assertIsNone(worker.poll())

    def test_everybody_leaves_and_the_tasks_wait(self):
        _, url, workers = self.cluster(3)
        load = Load(self, url)
        load.goes_on()
        done = run("scaler-ctl", "--json", url, "drain", "--all")
        answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
        self.assertEqual((done.returncode, {a["name"]: a["outcome"] for a in answers}),
                         (0, {"w0": "left", "w1": "left", "w2": "left"}))
        self.assertEqual([worker.wait(LIMIT) for worker in workers], [0, 0, 0])
        self.start_worker(url, "-j2")
        load.goes_on()
        load.end(self)

    def test_what_still_runs_at_the_deadline_is_killed_and_made_again_elsewhere(self):
        for by_signal in (False, True):
            _, url = self.start_scheduler()
            worker, load, pid = self.hold_one(url, ("-j1", "--name", "only", "--drain", "0.3"))
            if by_signal:
                worker.send_signal(signal.SIGTERM)
            else:
                done = run("scaler-ctl", "--json", url, "drain", "only", "--deadline", "0.3")
                answer = json.loads(done.stdout)
                self.assertEqual((done.returncode, answer["outcome"], answer["released"]), (0, "left", 1))
                self.assertGreaterEqual(answer["took_ms"], 300)
            self.assertEqual(worker.wait(LIMIT), 0)
            self.assertIn(b"left without 1 tasks that were running", worker.stderr.read())
            wait_until(lambda: not is_alive(pid), "the command is gone")
            self.assert_made_again(url, load)
            os.unlink(self.path("pid"))

    def test_a_second_signal_lets_go_at_once_and_costs_no_loss(self):
        _, url = self.start_scheduler()
        worker, load, pid = self.hold_one(url)
        asked = self.start("scaler-ctl", url, "drain", "only")  # the scheduler's word is not the first of two signals
        wait_until(lambda: self.ctl(url, "workers")[0]["draining"], "it drains")
        worker.send_signal(signal.SIGTERM)
        wait_until(lambda: b"finishing" in worker.stderr.readline(), "it has the signal")
        self.assertTrue(is_alive(pid))
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(LIMIT), 128 + signal.SIGTERM)
        wait_until(lambda: not is_alive(pid), "the command is gone")
        code, out, _ = self.finish(asked)
        self.assertEqual(code, 0)
        self.assertRegex(out.decode(), r"^only left in \d+\.\d s: 0 tasks finished, 0 returned, 1 released\n$")
        self.assert_made_again(url, load)

    def test_who_is_killed_while_it_drains_is_told_of_as_lost(self):
        _, url = self.start_scheduler()
        worker, load, pid = self.hold_one(url)
        asked = self.start("scaler-ctl", url, "drain", "only")
        wait_until(lambda: self.ctl(url, "workers")[0]["draining"], "it drains")
        worker.kill()
        code, out, _ = self.finish(asked)
        self.assertEqual((code, out), (3, b"only was lost before it had left, with 1 tasks\n"))
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)
        self.start_worker(url, "-j1")
        self.assertEqual(self.finish(load)[:2], (0, b"again\n"))

    def test_who_does_not_answer_is_lost_and_leaves_when_it_wakes(self):
        _, url = self.start_scheduler("ipc://" + self.path("socket"), "--silent", "0.5")
        worker = self.start_worker(url, "-j1", "--name", "asleep")
        worker.send_signal(signal.SIGSTOP)
        done = run("scaler-ctl", url, "drain", "asleep", "--deadline", "0.1")
        self.assertEqual((done.returncode, done.stdout), (3, b"asleep was lost before it had left, with 0 tasks\n"))
        worker.send_signal(signal.SIGCONT)
        self.assertEqual(worker.wait(LIMIT), 0)

    def test_each_of_whom_there_is_something_to_say_has_its_line(self):
        _, url = self.start_scheduler()
        worker, load, _ = self.hold_one(url)
        for _ in range(2):
            self.start_worker(url, "-j1", "--name", "twin")
        stranger = "0" * 31 + "7"
        done = run("scaler-ctl", url, "--timeout", "0.3", "drain", "nobody", stranger, "only", "twin")
        self.assertEqual((done.returncode, done.stdout.decode()), (3, (
            f"nobody is not there\n{stranger} is not there\nonly is still draining\n"
            "twin is the name of 2 workers: say which by its id (see --json workers)\n")))
        ids = {row["name"]: row["id"] for row in self.ctl(url, "workers")}
        links = self.ctl(url, "status")[0]["links"]
        both = [self.start("scaler-ctl", "--json", url, "drain", ids["only"]) for _ in range(2)]  # it drains already
        wait_until(lambda: self.ctl(url, "status")[0]["links"] == links + 2, "both ask")
        worker.send_signal(signal.SIGTERM)
        wait_until(lambda: b"finishing" in worker.stderr.readline(), "it has the signal")
        os.kill(int(read_whole(self.path("pid"))), signal.SIGKILL)  # the task ends, not by itself
        for process in both:
            code, out, _ = self.finish(process)
            self.assertEqual((code, json.loads(out)["outcome"], json.loads(out)["finished"]), (0, "left", 1))
        self.assertEqual(worker.wait(LIMIT), 0)
        self.finish(load)

    def test_a_scheduler_waits_for_what_runs_and_leaves_it_to_the_next_one_at_its_deadline(self):
        scheduler, url = self.start_scheduler("ipc://" + self.path("socket"), "--drain", "0.3")
        worker, load, pid = self.hold_one(url)
        scheduler.send_signal(signal.SIGTERM)
        self.assertEqual(scheduler.wait(LIMIT), 0)
        scheduler, _ = self.start_scheduler(url)
        wait_until(lambda: self.ctl(url, "status")[0]["runs_kept"] == 1, "the run is adopted")
        self.assertTrue(is_alive(pid))
        done = run("scaler-ctl", url, "--timeout", "0.3", "drain", "--scheduler")
        self.assertEqual((done.returncode, done.stdout), (3, b"scheduler is still draining\n"))
        os.kill(pid, signal.SIGKILL)
        self.finish(load)
        self.assertEqual(scheduler.wait(LIMIT), 0)
        self.assertIsNone(worker.poll())

    def test_a_scheduler_that_stops_at_its_deadline_has_stopped_in_order(self):
        scheduler, url = self.start_scheduler("ipc://" + self.path("socket"))
        worker, load, pid = self.hold_one(url)
        done = run("scaler-ctl", url, "drain", "--scheduler", "--deadline", "1")
        self.assertEqual((done.returncode, done.stdout), (0, b"scheduler stopped in 1.0 s\n"))
        self.assertEqual(scheduler.wait(LIMIT), 0)
        os.kill(pid, signal.SIGKILL)
        self.start_scheduler(url)
        self.finish(load)

    def test_what_is_said_twice_or_not_at_all_is_refused(self):
        for args, words in ((("drain",), "drain: a worker is missing"),
                            (("drain", "w", "--all"), "exclude each other"),
                            (("drain", "--all", "--scheduler"), "exclude each other"),
                            (("drain", "w", "--tag", "x"), "--tag is for list and cancel"),
                            (("status", "--all"), "--all is for cancel and drain"),
                            (("cancel", "--all", "--deadline=1"), "--scheduler and --deadline are for drain")):
            done = run("scaler-ctl", "tcp://127.0.0.1:1", *args)
            self.assertEqual((done.returncode, done.stdout), (2, b""), args)
            self.assertIn(words, done.stderr.decode())


main()
