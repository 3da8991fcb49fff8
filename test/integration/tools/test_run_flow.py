"""What scaler-run remembers and decides: joblogs, resuming, retrying, halting, pace."""
import os
import shutil
import subprocess
import time
import unittest

from harness import LIMIT, ToolTest, children, is_alive, main, read_whole, run, signal, wait_until

HEAD = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
# Seconds of a task that starts while another one decides; nothing waits for them in a test that passes.
LONG = "30"


def parallel_is_here():
    path = shutil.which("parallel")
    return path and b"GNU" in subprocess.run([path, "--version"], stdout=subprocess.PIPE).stdout


class Flow(ToolTest):
    def setUp(self):
        super().setUp()
        self.log = self.path("log")

    def rows(self):
        text = read_whole(self.log)
        self.assertTrue(text.startswith(HEAD), text)
        self.assertTrue(text.endswith("\n"), text)
        rows = [line.split("\t", 8) for line in text[len(HEAD):].splitlines()]
        for row in rows:
            self.assertEqual(len(row), 9, row)
        return rows

    def codes(self):
        return [(int(row[0]), int(row[6]), int(row[7])) for row in self.rows()]

    # ---- joblog ----

    def test_a_joblog_has_a_line_for_each_task_and_says_how_it_ended(self):
        before = time.time()
        plain = self.write("plain", "x")
        script = 'case $1 in a) echo abc; echo e >&2;; b) exit 7;; c) kill -9 $$;; esac'
        done = run("scaler-run", "-q", "--joblog", self.log, "--shell", script, ":::", "a", "b", "c")
        self.assert_ends(done, 2, "abc\n", "e\n")
        self.assertEqual(self.codes(), [(1, 0, 0), (2, 7, 0), (3, 0, 9)])
        first = self.rows()[0]
        self.assertEqual((first[1], first[4], first[5]), (":", "0", "4"))
        self.assertLess(abs(float(first[2]) - before), LIMIT)
        self.assertRegex(first[3], r"^ *\d+\.\d{3}$")
        self.assertEqual(len(first[3]), 10)
        run("scaler-run", "-q", "--joblog", self.log, "--timeout", "0.1", "{}", "30", ":::", "sleep", "/none", plain)
        self.assertEqual(self.codes(), [(1, -1, 15), (2, 127, 0), (3, 126, 0)])

    def test_a_command_is_one_line_that_a_shell_reads(self):
        done = run("scaler-run", "-0", "--joblog", self.log, "printf", "[%s]", stdin=b"a\nb\0it's\tx\0")
        self.assert_ends(done, 0, "[a\nb][it's\tx]")
        self.assertEqual([row[8] for row in self.rows()], ["printf '[%s]' 'a'$'\\n''b'", "printf '[%s]' 'it'\"'\"'s\tx'"])

    def test_the_columns_are_those_of_gnu_parallel(self):
        if not parallel_is_here():
            raise unittest.SkipTest("GNU parallel is not here")
        other = self.path("other")
        run("scaler-run", "--joblog", self.log, "-j1", "seq", ":::", "1", "2", "x", "a b")
        subprocess.run(["parallel", "--joblog", other, "-k", "-j1", "seq", ":::", "1", "2", "x", "a b"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT)
        ours, theirs = self.rows(), [line.split("\t") for line in read_whole(other).splitlines()]
        self.assertEqual(HEAD.rstrip("\n").split("\t"), theirs.pop(0))
        for us, them in zip(ours, theirs, strict=True):
            self.assertEqual(us[:2] + us[4:], them[:2] + them[4:])
            for column in (2, 3):
                self.assertEqual((len(us[column]), us[column][-4]), (len(them[column]), them[column][-4]))

    def test_each_of_us_goes_on_with_the_log_of_the_other(self):
        if not parallel_is_here():
            raise unittest.SkipTest("GNU parallel is not here")
        run("scaler-run", "-q", "--joblog", self.log, "seq", ":::", "1", "x")
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "timeout": LIMIT}
        done = subprocess.run(["parallel", "--joblog", self.log, "--resume", "seq", ":::", "1", "x", "1", "y"], **quiet)
        self.assertEqual((done.stdout, len(self.rows())), (b"1\n", 4))
        done = run("scaler-run", "-q", "--joblog", self.log, "--resume", "seq", ":::", "1", "x", "1", "y", "2")
        self.assert_ends(done, 0, "1\n2\n", "")
        subprocess.run(["parallel", "--joblog", self.log, "echo {}; exit {}", ":::", "3", "0"], **quiet)
        self.assert_ends(run("scaler-run", "-q", "--joblog", self.log, "--retry-failed"), 1, "3\n", "")

    def test_a_joblog_begins_anew_unless_told_to_go_on(self):
        for _ in range(2):
            run("scaler-run", "--joblog", self.log, "true", ":::", "a", "b")
            self.assertEqual(self.codes(), [(1, 0, 0), (2, 0, 0)])

    def test_a_joblog_that_cannot_be_written_is_an_infrastructure_error(self):
        for path in (self.folder, self.path("none/log"), "/dev/full"):
            done = run("scaler-run", "--joblog", path, "true", ":::", "a")
            self.assert_ends(done, 255, "")
            self.assertIn(f"--joblog: '{path}': ", done.stderr.decode())
        script = 'ulimit -f 1; exec "$0" "$@"'
        done = subprocess.run(["/bin/sh", "-c", script, os.path.join(os.environ["SCALER_BUILD"], "tools/scaler-run"),
                               "--joblog", self.log, "true", ":::", *["x" * 200] * 40],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
                              preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        self.assertEqual(done.returncode, 255, done.stderr)
        self.assertIn(b"--joblog", done.stderr)

    # ---- output that waits ----

    def test_a_disk_too_full_for_what_waits_is_an_infrastructure_error(self):
        """The first job holds back the second one's output, more than is kept in memory; its file may not grow."""
        held = self.path("held")
        job = (f'if [ "$0" = 1 ]; then until [ -e {held} ]; do sleep 0.1; done; '
               f'else head -c 80000000 /dev/zero; touch {held}; fi')
        for blocks, wanted in (("unlimited", 0), ("2048", 255)):
            if os.path.exists(held):
                os.unlink(held)
            done = subprocess.run(["/bin/sh", "-c", f'ulimit -f {blocks}; exec "$0" "$@"',
                                   os.path.join(os.environ["SCALER_BUILD"], "tools/scaler-run"), "-j2",
                                   "sh", "-c", job, "{}", ":::", "1", "2"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
                                  env={**os.environ, "TMPDIR": self.folder},
                                  preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
            self.assertEqual(done.returncode, wanted, done.stderr)
            if wanted:
                self.assertIn(b"TMPDIR: File too large", done.stderr)
            else:
                self.assertEqual(len(done.stdout), 80000000)
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("scaler-run.")], [])

    # ---- resume and retry ----

    def test_resuming_leaves_out_what_has_a_line(self):
        lines = HEAD + "".join(f"{n}\t:\t1.000\t     0.000\t0\t0\t{n % 2}\t0\tx\n" for n in (2, 9, 3, 4, 1, 7))
        for more in ([], ["-u"]):
            self.write("log", lines)
            done = run("scaler-run", "-j1", *more, "--joblog", self.log, "--resume", "echo", ":::",
                       *map(str, range(1, 11)))
            self.assert_ends(done, 0, "5\n6\n8\n10\n", "")
            self.assertEqual(read_whole(self.log)[:len(lines)], lines)
            self.assertEqual([row[0] for row in self.rows()][6:], ["5", "6", "8", "10"])
            done = run("scaler-run", *more, "--joblog", self.log, "--resume", "echo", ":::", *map(str, range(1, 11)))
            self.assert_ends(done, 0, "", "")

    def test_resuming_goes_beyond_the_window_and_with_combinations(self):
        numbers = "".join(f"{n}\n" for n in range(1, 5001))
        done = "".join(f"{n}\t:\t1.000\t     0.000\t0\t0\t0\t0\tx\n" for n in range(1, 5001) if n % 1500)
        self.write("log", HEAD + done)
        self.assert_ends(run("scaler-run", "--joblog", self.log, "--resume", "echo", stdin=numbers), 0,
                         "1500\n3000\n4500\n", "")
        self.write("log", HEAD + "2\t:\t1.000\t     0.000\t0\t0\t0\t0\tx\n")
        self.assert_ends(run("scaler-run", "--joblog", self.log, "--resume", "echo", ":::", "a", "b", ":::", "x", "y"),
                         0, "a x\nb x\nb y\n", "")

    def test_an_interrupted_run_is_gone_on_with(self):
        pid = self.path("pid")
        script = f'if [ "$1" = 2 ] && [ ! -e {pid} ]; then echo $$ > {pid}; exec sleep {LONG}; fi; echo "$1"'
        args = ["-j1", "--joblog", self.log, "--resume", "--shell", script, ":::", *"1234"]
        process = self.start("scaler-run", *args)
        wait_until(lambda: os.path.exists(pid), "the second task runs")
        process.send_signal(signal.SIGTERM)
        self.assertIn(b"interrupted", process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process)[:2], (143, b"1\n"))
        self.assertEqual(self.codes(), [(1, 0, 0)])
        self.assert_ends(run("scaler-run", *args), 0, "2\n3\n4\n", "")

    def test_a_dry_run_reads_the_joblog_and_writes_nothing(self):
        self.assert_ends(run("scaler-run", "-n", "--joblog", self.log, "echo", ":::", "a"), 0, "echo a\n", "")
        self.assertEqual(os.listdir(self.folder), [])
        run("scaler-run", "--joblog", self.log, "true", ":::", "a")
        before = read_whole(self.log)
        done = run("scaler-run", "-n", "--joblog", self.log, "--resume", "echo", ":::", "a", "b")
        self.assert_ends(done, 0, "echo b\n", "")
        self.assertEqual(read_whole(self.log), before)

    def test_a_torn_last_line_is_not_there(self):
        whole = HEAD + "1\t:\t1.000\t     0.000\t0\t2\t0\t0\techo 1\n"
        torn = "2\t:\t1.000\t     0.000\t0\t2\t0\t0\techo 2"
        for size in range(len(HEAD) - 3, len(whole) + len(torn) + 1):
            if len(HEAD) < size < len(whole) - 2 and size % 7:
                continue
            self.write("log", (whole + torn)[:size])
            done = run("scaler-run", "--joblog", self.log, "--resume", "echo", ":::", "1", "2")
            self.assert_ends(done, 0, "2\n" if size >= len(whole) else "1\n2\n", "")
            self.assertEqual([code[0] for code in self.codes()], [1, 2])

    def test_what_is_no_joblog_is_left_alone(self):
        for content in ("something", "something\n", "Seq\tHost\n1\t:\n"):
            for option in (["--resume", "echo"], ["--retry-failed"]):
                self.write("log", content)
                done = run("scaler-run", "--joblog", self.log, *option)
                self.assert_ends(done, 255, "")
                self.assertIn(b"is not a joblog", done.stderr)
                self.assertEqual(read_whole(self.log), content)
        done = run("scaler-run", "--joblog", self.path("none"), "--retry-failed")
        self.assert_ends(done, 255, "")
        self.assertIn(b"No such file", done.stderr)

    def test_failed_ones_run_again_with_their_commands_until_they_succeed(self):
        script = f'echo "$1"; test -e {self.path("fixed")}'
        inputs = b"1\0a  b\0" + b"c\nd\0"
        done = run("scaler-run", "-q", "-0", "--joblog", self.log, "--shell", script, stdin=inputs)
        self.assert_ends(done, 3, "1\na  b\nc\nd\n", "")
        self.assert_ends(run("scaler-run", "-q", "--joblog", self.log, "--retry-failed"), 3, "1\na  b\nc\nd\n", "")
        self.write("fixed", "")
        done = run("scaler-run", "-n", "--joblog", self.log, "--retry-failed")
        self.assertEqual(len(done.stdout.splitlines()), 4)
        self.assert_ends(run("scaler-run", "--joblog", self.log, "--retry-failed"), 0, "1\na  b\nc\nd\n", "")
        self.assert_ends(run("scaler-run", "--joblog", self.log, "--retry-failed"), 0, "", "")
        self.assertEqual([row[0] for row in self.rows()], ["1", "2", "3"] * 3)

    def test_a_failure_without_a_command_stays_one(self):
        run("scaler-run", "-q", "--joblog", self.log, "echo", stdin=b"a\nb\0c\n")
        self.assertEqual(self.codes(), [(1, 0, 0), (2, -1, 0)])
        done = run("scaler-run", "--joblog", self.log, "--retry-failed")
        self.assert_ends(done, 1, "")
        self.assertIn(b"no command", done.stderr)

    def test_killed_at_any_moment_nothing_is_lost_and_nothing_logged_runs_again(self):
        """Each task says that it ran; what had a line before a kill must have its output and never run again."""
        count, out, ran = 300, self.path("out"), self.path("ran")
        args = ["-j3", "--joblog", self.log, "--resume", "--shell", f'echo "$1" >> {ran}; echo "$1"', ":::",
                *map(str, range(1, count + 1))]
        for kill in range(8):
            logged = self.logged()
            mark = os.path.getsize(ran) if os.path.exists(ran) else 0
            with open(out, "ab") as file:
                process = self.start("scaler-run", *args, stdout=file)
                wait_until(lambda: process.poll() is not None or len(self.logged()) > len(logged) + kill * 9,
                           "some more are logged")
                process.kill()
                process.wait()
            with open(out) as file:
                self.assertEqual(self.logged() - {int(line) for line in file}, set())
            with open(ran) as file:
                file.seek(mark)
                self.assertEqual(logged & {int(line) for line in file.read().split("\n")[:-1]}, set())
        with open(out, "ab") as file:
            self.assertEqual(run("scaler-run", *args, stdout=file).returncode, 0)
        self.assertEqual(self.logged(), set(range(1, count + 1)))
        self.assertEqual(len(self.rows()), count)
        with open(out) as file:
            self.assertEqual({int(line) for line in file}, set(range(1, count + 1)))

    def logged(self):
        text = read_whole(self.log) or ""
        return {int(line.split("\t")[0]) for line in text.split("\n")[1:-1]}

    # ---- halting ----

    def test_halting_soon_lets_what_runs_finish(self):
        script = f'echo "$1"; if [ "$1" = 1 ]; then while [ ! -e {self.path("2")} ]; do sleep 0.01; done; sleep 0.2; ' \
                 f'else : > {self.path("")}$1; exit 1; fi'
        done = run("scaler-run", "-q", "-j2", "--halt", "soon,fail=1", "--shell", script, ":::",
                   *map(str, range(1, 10)))
        self.assert_ends(done, 1, "1\n2\n", "")

    def test_halting_now_stops_what_runs(self):
        script = f'echo "$1"; if [ "$1" = 1 ]; then : > {self.path("up")}; exec sleep {LONG}; fi; ' \
                 f'while [ ! -e {self.path("up")} ]; do sleep 0.01; done; exit 3'
        start = time.monotonic()
        done = run("scaler-run", "-u", "-j2", "--joblog", self.log, "--halt", "now,fail=1", "--shell", script, ":::",
                   *map(str, range(1, 10)))
        self.assertLess(time.monotonic() - start, float(LONG) / 2)
        self.assertEqual((done.returncode, done.stdout), (1, b"2\n"))
        self.assertIn(b"halt: starting nothing more, stopping what runs", done.stderr)
        self.assertEqual(self.codes(), [(2, 3, 0)])

    def test_conditions_count_failures_successes_ends_and_parts_of_all(self):
        for condition, expected, code in (("soon,fail=2", 4, 2), ("soon,success=2", 3, 1), ("soon,done=3", 3, 1),
                                          ("soon,fail=20%", 4, 2), ("soon,done=100%", 10, 5), ("soon,done=1%", 1, 0),
                                          ("now,success=1", 1, 0), ("never", 10, 5), ("soon,fail=6", 10, 5)):
            done = run("scaler-run", "-q", "-j1", "--halt", condition, "--shell", 'echo "$1"; exit $((1 - $1 % 2))',
                       stdin="".join(f"{n}\n" for n in range(1, 11)))
            self.assert_ends(done, code, "".join(f"{n}\n" for n in range(1, expected + 1)), "")

    def test_a_halted_run_is_gone_on_with(self):
        script = f'echo "$1"; [ "$1" != 3 ] || [ -e {self.path("fixed")} ]'
        args = ["-q", "-j1", "--joblog", self.log, "--halt", "soon,fail=1", "--shell", script, ":::", *"123456"]
        self.assert_ends(run("scaler-run", *args), 1, "1\n2\n3\n", "")
        self.assert_ends(run("scaler-run", "--resume", *args), 0, "4\n5\n6\n", "")

    def test_a_halting_run_still_obeys_signals(self):
        script = f'if [ "$1" = 1 ]; then echo $$ > {self.path("tmp")}; mv {self.path("tmp")} {self.path("pid")}; ' \
                 f'exec sleep {LONG}; fi; while [ ! -e {self.path("pid")} ]; do sleep 0.01; done; exit 1'
        process = self.start("scaler-run", "-j2", "--halt", "soon,fail=1", "--shell", script, ":::", *"1234")
        self.assertIn(b"halt:", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertIn(b"interrupted", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process)[0], 130)
        wait_until(lambda: not is_alive(int(read_whole(self.path("pid")))), "the task is gone")
        self.assertEqual(children(process.pid), [])

    # ---- pace ----

    def starts(self):
        return [float(row[2]) for row in self.rows()]

    def test_a_delay_is_kept_between_starts(self):
        begin = time.monotonic()
        done = run("scaler-run", "-j4", "--delay", "50ms", "--joblog", self.log, "true", ":::", *"abcdef")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(time.monotonic() - begin, 0.25)
        starts = self.starts()
        for earlier, later in zip(starts, starts[1:]):
            self.assertGreater(later - earlier, 0.02)

    def test_a_rate_spreads_starts(self):
        begin = time.monotonic()
        done = run("scaler-run", "-j4", "--max-rate", "100/s", "echo", stdin="".join(f"{n}\n" for n in range(41)))
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, 41))
        self.assertGreaterEqual(time.monotonic() - begin, 0.38)

    def test_pace_does_not_spin(self):
        before = os.times()
        run("scaler-run", "--delay", "0.4", "true", ":::", "a", "b", "c")
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        self.assertLess(spent, 0.4)


if __name__ == "__main__":
    main()
