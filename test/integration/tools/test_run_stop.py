"""scaler-run ended early: by a closed reader, by one signal and by two, and what is left behind: nothing."""
import os
import pty
import subprocess

from harness import (LIMIT, ToolTest, children, clean_environment, is_alive, main, read_whole, run, signal, tool,
                     wait_until)

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop(ToolTest):
    def script(self):
        """Says its process id in a file of its own, then waits until it may go on."""
        return f'echo $$ > {self.path("pid-")}$1.tmp; mv {self.path("pid-")}$1.tmp {self.path("pid-")}$1; ' \
               f'while [ ! -e {self.path("go")} ]; do sleep 0.02; done; echo "$1"'

    def started(self):
        return sorted(int(read_whole(self.path(name))) for name in os.listdir(self.folder)
                      if name.startswith("pid-") and not name.endswith(".tmp"))

    def start_waiting(self, *options, count=50):
        inputs = map(str, range(1, count + 1))
        process = self.start("scaler-run", *options, "--shell", self.script(), ":::", *inputs)
        wait_until(lambda: len(self.started()) == 2, "two tasks run")
        return process

    def assert_gone(self, pids):
        wait_until(lambda: not any(map(is_alive, pids)), "the tasks are gone", 10)

    def test_the_first_signal_lets_what_runs_finish_and_starts_nothing_more(self):
        for number in SIGNALS:
            with self.subTest(number):
                process = self.start_waiting("-j2", "-q")
                pids = self.started()
                process.send_signal(number)
                self.assertIn(b"interrupted", process.stderr.readline())
                with open(self.path("go"), "w"):
                    pass
                code, out, err = self.finish(process)
                self.assertEqual((code, out), (128 + number, b"1\n2\n"), err)
                self.assertEqual(self.started(), pids)
                self.assert_gone(pids)
                for name in os.listdir(self.folder):
                    os.unlink(self.path(name))

    def test_the_second_signal_kills(self):
        process = self.start_waiting("-j2", "--kill-grace", "30")
        pids = self.started()
        process.send_signal(signal.SIGINT)
        self.assertIn(b"interrupted", process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        code, out, err = self.finish(process)
        self.assertEqual((code, out), (128 + signal.SIGINT, b""), err)
        self.assertIn(b"killing", err)
        self.assert_gone(pids)

    def test_a_signal_is_seen_in_the_middle_of_an_output_of_any_size(self):
        """A long look whether an output is text, and a long line into a file that never makes us wait."""
        for args in (["--json"], []):
            with self.subTest(args), open(self.path("out"), "wb") as out:
                script = 'head -c 300000000 /dev/zero | tr "\\0" "\\377"; sleep 0.1'
                process = self.start("scaler-run", *args, "--shell", script, ":::", *"1234", stdout=out)
                wait_until(lambda: os.path.getsize(self.path("out")) > 0, "it prints")
                process.send_signal(signal.SIGINT)
                self.assertIn(b"interrupted", process.stderr.readline())
                process.send_signal(signal.SIGINT)
                code, _, err = self.finish(process)
                self.assertEqual(code, 128 + signal.SIGINT, err)
                self.assertLess(os.path.getsize(self.path("out")), 300000000)
                os.unlink(self.path("out"))

    def test_tasks_that_ignore_sigterm_are_killed_too(self):
        script = 'trap "" TERM INT HUP; ' + self.script()
        process = self.start("scaler-run", "-j2", "--shell", script, ":::", "1", "2", "3")
        wait_until(lambda: len(self.started()) == 2, "two tasks run")
        pids = self.started()
        process.send_signal(signal.SIGINT)
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process)[0], 130)
        self.assert_gone(pids)

    def test_an_ignored_hangup_stays_ignored(self):
        process = self.start("scaler-run", "-j2", "--shell", self.script(), ":::", "1", "2",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_until(lambda: len(self.started()) == 2, "two tasks run")
        process.send_signal(signal.SIGHUP)
        with open(self.path("go"), "w"):
            pass
        self.assertEqual(self.finish(process), (0, b"1\n2\n", b""))

    def test_a_signal_while_inputs_are_awaited_ends_at_once(self):
        process = self.start("scaler-run", "echo", stdin=subprocess.PIPE)
        process.stdin.write(b"a\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"a\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(LIMIT), 143)

    def test_a_reader_that_goes_away_ends_everything_quietly(self):
        script = '"$0" -j2 --shell "echo \\$1; sleep 0.01" < /dev/stdin 2>"$1" | head -n 1; echo ${PIPESTATUS[0]}'
        producer = subprocess.Popen(["seq", "1", "100000000"], stdout=subprocess.PIPE)
        done = subprocess.run(["bash", "-c", script, tool("scaler-run"), self.path("err")], env=clean_environment(),
                              stdin=producer.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        producer.kill()
        producer.wait()
        producer.stdout.close()
        self.assertEqual((done.stdout, done.stderr), (b"1\n141\n", b""))
        self.assertEqual(os.path.getsize(self.path("err")), 0)

    def test_a_closed_reader_is_seen_before_there_is_anything_to_write(self):
        process = self.start_waiting("-j2")
        pids = self.started()
        process.stdout.close()
        self.assertEqual(process.wait(LIMIT), -signal.SIGPIPE)
        self.assertEqual(process.stderr.read(), b"")
        self.assert_gone(pids)

    def test_endless_output_ends_with_its_reader(self):
        done = subprocess.run(["bash", "-c", '"$0" yes ::: a b | head -n 2; echo ${PIPESTATUS[0]}', tool("scaler-run")],
                              env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual((done.stdout, done.stderr), (b"a\na\n141\n", b""))

    def test_a_reader_that_does_not_read_does_not_hold_signals_back(self):
        process = self.start("scaler-run", "yes", ":::", "a")
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        self.assertIn(b"interrupted", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LIMIT), 130)

    def test_no_child_is_left_unreaped_while_it_runs(self):
        process = self.start("scaler-run", "-j2", "echo", stdin=subprocess.PIPE)
        for number in range(50):
            process.stdin.write(b"%d\n" % number)
            process.stdin.flush()
            process.stdout.readline()
        wait_until(lambda: not children(process.pid), "no zombie is left", 5)
        before = len(os.listdir(f"/proc/{process.pid}/fd"))
        for number in range(50):
            process.stdin.write(b"%d\n" % number)
            process.stdin.flush()
            process.stdout.readline()
        wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/fd")) <= before, "no descriptor is left", 5)
        process.stdin.close()
        self.assertEqual(process.wait(LIMIT), 0)


class Terminal(ToolTest):
    def on_terminal(self, *args, env=None):
        master, slave = pty.openpty()
        done = run("scaler-run", *args, stderr=slave, env={"TERM": "xterm", **(env or {})})
        os.close(slave)
        seen = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        os.close(master)
        return done, seen

    def test_a_terminal_gets_a_bar_that_is_taken_away(self):
        done, seen = self.on_terminal("-j1", "--shell", "sleep 0.15; exit 1", ":::", "1", "2", "3")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"/s", seen)
        self.assertIn(b"ETA", seen)
        self.assertIn(b"\x1b[31m", seen)
        self.assertIn(b"task 2 (2): exit 1", seen)
        self.assertTrue(seen.endswith(b"\r\x1b[K") or seen.endswith(b"exit 1\r\n"), seen)

    def test_the_bar_can_be_turned_off_and_uncoloured(self):
        for args, env in ((["--no-progress"], {}), ([], {"TERM": "dumb"})):
            _, seen = self.on_terminal(*args, "sleep", ":::", "0.2", "0.2", env=env)
            self.assertEqual(seen, b"")
        _, seen = self.on_terminal("--shell", "sleep 0.2; exit 1", ":::", "1", "2", env={"NO_COLOR": "1"})
        self.assertIn(b"failed", seen)
        self.assertNotIn(b"\x1b[3", seen)


if __name__ == "__main__":
    main()
