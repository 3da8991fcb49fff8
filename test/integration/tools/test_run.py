"""scaler-run on its own cluster: inputs, placeholders, outputs and exit codes."""
import base64
import hashlib
import json
import os
import subprocess
import sys

from harness import LIMIT, ToolTest, clean_environment, is_alive, main, read_whole, run, tool, wait_until


def lines(*items):
    return "".join(str(item) + "\n" for item in items)


class Run(ToolTest):
    def test_a_thousand_numbers_come_back_in_order(self):
        numbers = lines(*range(1, 1001))
        self.assert_ends(run("scaler-run", "-j2", "--", "echo", "{}", stdin=numbers), 0, numbers, "")

    def test_no_inputs_is_success(self):
        self.assert_ends(run("scaler-run", "echo"), 0, "", "")
        self.assert_ends(run("scaler-run", "echo", ":::"), 0, "", "")

    def test_inputs_come_from_arguments_files_and_stdin(self):
        self.assert_ends(run("scaler-run", "echo", ":::", "a", "b c"), 0, "a\nb c\n", "")
        self.assert_ends(run("scaler-run", "-a", self.write("in", "x\ny"), "echo", stdin="z\n"), 0, "x\ny\n", "")
        self.assert_ends(run("scaler-run", "-0", "printf", "[%s]", stdin=b"a\nb\0c\0"), 0, "[a\nb][c]", "")
        self.assert_ends(run("scaler-run", "printf", "[%s]", stdin=b"a\r\n\nb"), 0, "[a\r][][b]", "")

    def test_an_unreadable_input_is_an_infrastructure_error(self):
        self.assert_ends(run("scaler-run", "-a", self.path("none"), "echo"), 255, "")
        done = run("scaler-run", "-a", self.folder, "echo")
        self.assert_ends(done, 255, "")
        self.assertIn(b"Is a directory", done.stderr)

    def test_placeholders_are_replaced_and_inputs_are_never_parsed(self):
        done = run("scaler-run", "echo", "{#}:{}:{.}:{/}:{//}:{/.}", ":::", "a/b.c")
        self.assert_ends(done, 0, "1:a/b.c:a/b:b.c:a:b\n", "")
        nasty = ["a b", "'", '"', "$(id)", "`id`", "*", "a;b", "\\n", "-n", "{}", "a\nb", "\x01", "é"]
        expected = "".join("[" + item + "]" for item in nasty)
        self.assert_ends(run("scaler-run", "printf", "[%s]", "{}", ":::", *nasty), 0, expected, "")
        self.assert_ends(run("scaler-run", "--shell", 'printf "[%s]" "$1"', ":::", *nasty), 0, expected, "")

    def test_a_script_gets_its_input_as_first_argument(self):
        done = run("scaler-run", "--shell", 'echo "$#:$1:$2"', "<{#}>", ":::", "a", "b")
        self.assert_ends(done, 0, "2:a:<1>\n2:b:<2>\n", "")

    def test_no_append_leaves_the_command_as_it_is(self):
        self.assert_ends(run("scaler-run", "--no-append", "echo", "x", ":::", "a", "b"), 0, "x\nx\n", "")
        self.assert_ends(run("scaler-run", "--no-append", "echo", "{}", ":::", "a", "b"), 0, "a\nb\n", "")

    def test_dry_run_runs_nothing(self):
        done = run("scaler-run", "-n", "touch", self.path("{}"), ":::", "a b", "c'd")
        self.assert_ends(done, 0, "touch '" + self.path("a b") + "'\ntouch '" + self.path("c'\"'\"'d") + "'\n", "")
        self.assertEqual(os.listdir(self.folder), [])

    def test_outputs_keep_their_order_and_are_never_mixed(self):
        script = 'for i in 1 2 3 4 5; do echo "$1.$i"; echo "$1.e$i" >&2; done; [ "$1" = 1 ] && sleep 0.3; echo end'
        done = run("scaler-run", "-j4", "--shell", script, ":::", *map(str, range(1, 9)))
        out = "".join(f"{n}.{i}\n" if i < 6 else "end\n" for n in range(1, 9) for i in range(1, 7))
        err = "".join(f"{n}.e{i}\n" for n in range(1, 9) for i in range(1, 6))
        self.assert_ends(done, 0, out, err)

    def test_without_order_who_ends_first_prints_first(self):
        nine = self.path("9")
        script = f'if [ "$1" = 1 ]; then while [ ! -s {nine} ] || kill -0 "$(cat {nine})"; do sleep 0.01; done; ' \
                 f'fi 2>{nine}.err; echo $1; echo $$ > {self.path("")}$1'
        done = run("scaler-run", "-u", "-j2", "--shell", script, ":::", *map(str, range(1, 10)))
        self.assert_ends(done, 0, lines(2, 3, 4, 5, 6, 7, 8, 9, 1), "")

    def test_without_order_nobody_waits_for_a_slow_one_beyond_the_window(self):
        last = self.path("2000")
        script = f'if [ "$1" = 1 ]; then while [ ! -e {last} ]; do sleep 0.05; done; fi; ' \
                 f'if [ "$1" = 2000 ]; then : > {last}; fi; echo $1'
        done = run("scaler-run", "-u", "-j2", "--shell", script, stdin=lines(*range(1, 2001)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(map(int, done.stdout.split())), list(range(1, 2001)))

    def test_tag_starts_every_line(self):
        done = run("scaler-run", "--tag", "--shell", 'echo one; echo two >&2; printf three', ":::", "a", "b\nc")
        self.assert_ends(done, 0, "a\tone\na\tthree\nb\\x0ac\tone\nb\\x0ac\tthree\n", "a\ttwo\nb\\x0ac\ttwo\n")

    def test_a_hundred_megabytes_arrive_whole_with_flat_memory(self):
        script = f"""import os, resource, subprocess, sys, hashlib
child = subprocess.Popen([{tool("scaler-run")!r}, "-j2", "--shell", 'head -c 50000000 /dev/zero | tr "\\\\0" "$1"',
                          ":::", "a", "b"], stdout=subprocess.PIPE)
total, digest = 0, hashlib.sha256()
while True:
    part = child.stdout.read(1 << 20)
    if not part: break
    total += len(part); digest.update(part)
code = child.wait()
print(code, total, digest.hexdigest(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""
        done = subprocess.run([sys.executable, "-c", script], env=clean_environment(), stdout=subprocess.PIPE,
                              timeout=LIMIT)
        code, total, digest, peak_kib = done.stdout.decode().split()
        want = hashlib.sha256(b"a" * 50000000)
        want.update(b"b" * 50000000)
        self.assertEqual((code, total, digest), ("0", "100000000", want.hexdigest()))
        self.assertLess(int(peak_kib), 100 * 1024)

    def test_outputs_beyond_memory_go_to_an_unlinked_file(self):
        script = 'if [ "$1" = 1 ]; then sleep 1; fi; head -c 40000000 /dev/zero | tr "\\0" "$1"'
        with open(self.path("out"), "wb") as out:
            done = run("scaler-run", "-j4", "--shell", script, ":::", "1", "2", "3", "4", stdout=out,
                       env={"TMPDIR": self.folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["out"])
        with open(self.path("out"), "rb") as out:
            for digit in b"1234":
                self.assertEqual(out.read(40000000).strip(bytes([digit])), b"")
            self.assertEqual(out.read(1), b"")

    def test_no_room_for_outputs_is_an_infrastructure_error(self):
        script = 'if [ "$1" = 1 ]; then sleep 30; fi; head -c 90000000 /dev/zero'
        done = run("scaler-run", "-j2", "--shell", script, ":::", "1", "2", env={"TMPDIR": self.path("none")})
        self.assert_ends(done, 255, "")
        self.assertIn(b"TMPDIR", done.stderr)

    def test_a_disk_that_fills_up_is_an_infrastructure_error(self):
        """Of a memory file system where one may be mounted, else of a limit for files, whose signal is ignored."""
        script = f'echo $$ >> {self.path("pids")}; if [ "$1" = 1 ]; then exec sleep 300; fi; ' \
                 'exec head -c 150000000 /dev/zero'
        disk = self.path("disk")
        os.mkdir(disk)
        setups = (["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=1m none "$TMPDIR" && exec "$@"', "sh"],
                  ["sh", "-c", 'trap "" XFSZ; ulimit -f 2048; exec "$@"', "sh"])
        done = [subprocess.run([*setup, tool("scaler-run"), "-j2", "--shell", script, ":::", "1", "2"],
                               env=clean_environment({"TMPDIR": disk}), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT) for setup in setups]
        self.assertRegex(done[1].stderr, b"outputs cannot be kept in TMPDIR: File too large")
        if b"scaler-run" in done[0].stderr:
            self.assertRegex(done[0].stderr, b"outputs cannot be kept in TMPDIR: No space left on device")
        for each in done[0 if b"scaler-run" in done[0].stderr else 1:]:
            self.assert_ends(each, 255, "")
            self.assertEqual(each.stderr.count(b"\n"), 1, each.stderr)
        self.assertEqual(os.listdir(disk), [])
        wait_until(lambda: not any(is_alive(int(pid)) for pid in read_whole(self.path("pids")).split()),
                   "no task is left")

    def test_a_full_stdout_is_an_infrastructure_error(self):
        with open("/dev/full", "wb") as full:
            done = run("scaler-run", "echo", ":::", "a", stdout=full)
        self.assertEqual(done.returncode, 255)
        self.assertIn(b"No space left", done.stderr)

    def test_a_failed_task_is_told_in_one_line(self):
        done = run("scaler-run", "--shell", "echo out; exit 3", ":::", "a b", "c\nd")
        err = "scaler-run: task 1 (a b): exit 3\nscaler-run: task 2 (c\\x0ad): exit 3\n"
        self.assert_ends(done, 2, "out\nout\n", err)
        self.assert_ends(run("scaler-run", "-q", "false", ":::", "a"), 1, "", "")
        done = run("scaler-run", "--shell", "kill -9 $$", ":::", "a")
        self.assert_ends(done, 1, "", "scaler-run: task 1 (a): killed by signal 9 (Killed)\n")

    def test_a_command_that_cannot_be_started_is_told(self):
        done = run("scaler-run", "/no/such/program", ":::", "a")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no such file", done.stderr.lower())
        self.assertEqual(run("scaler-run", self.write("plain", "x"), ":::", "a").returncode, 1)

    def test_exit_codes_count_failures_up_to_a_hundred(self):
        for failing, code in ((0, 0), (1, 1), (100, 100), (101, 101), (150, 101)):
            inputs = lines(*["1"] * failing, *["0"] * 3)
            self.assert_ends(run("scaler-run", "-q", "-j4", "--shell", 'exit "$1"', stdin=inputs), code, "", "")

    def test_an_input_beyond_any_command_line_fails_alone(self):
        for size in (200 * 1024, 3 * 1024 * 1024):
            inputs = b"a\n" + b"x" * size + b"\nb\n"
            done = run("scaler-run", "--shell", 'echo "${#1}"', stdin=inputs)
            self.assert_ends(done, 1, "1\n1\n")
            self.assertIn(b"scaler-run: task 2 (xxx", done.stderr)
        done = run("scaler-run", "echo", stdin=b"a\nb\0c\nd\n")
        self.assert_ends(done, 1, "a\nd\n")
        self.assertIn(b"NUL", done.stderr)

    def test_a_run_that_takes_too_long_is_stopped(self):
        done = run("scaler-run", "--timeout", "0.2", "sleep", ":::", "0", "30")
        self.assert_ends(done, 1, "", "scaler-run: task 2 (30): timed out\n")

    def test_retries_run_again_and_print_the_last_run_only(self):
        script = f'echo x >> {self.path("")}$1; n=$(wc -l < {self.path("")}$1); echo "run $n"; [ "$n" -ge 3 ]'
        self.assert_ends(run("scaler-run", "--retries=2", "--shell", script, ":::", "a", "b"), 0, "run 3\nrun 3\n", "")
        self.assert_ends(run("scaler-run", "--retries=1", "-q", "--shell", script, ":::", "c"), 1, "run 2\n", "")

    def test_json_has_one_valid_line_per_task(self):
        script = 'case $1 in ok) echo "é\\"x\\\\";; bin) printf "\\377\\0";; ' \
                 'bad) echo oops >&2; exit 7;; sig) kill -15 $$;; esac'
        done = run("scaler-run", "--json", "--shell", script, ":::", "ok", "bin", "bad", "sig")
        self.assertEqual((done.returncode, done.stderr), (2, b""))
        ok, binary, bad, killed = [json.loads(line) for line in done.stdout.decode().splitlines()]
        self.assertEqual([r["seq"] for r in (ok, binary, bad, killed)], [1, 2, 3, 4])
        told = (ok["input"], ok["state"], ok["reason"], ok["exit"], ok["signal"])
        self.assertEqual(told, ("ok", "done", "success", 0, None))
        self.assertEqual((ok["stdout"], ok["stderr"], ok["attempts"]), ('é"x\\\n', "", 1))
        self.assertGreater(ok["seconds"], 0)
        self.assertIsNone(binary["stdout"])
        self.assertEqual(base64.b64decode(binary["stdout_base64"]), b"\xff\0")
        self.assertEqual((bad["state"], bad["exit"], bad["stderr"]), ("failed", 7, "oops\n"))
        self.assertEqual((killed["exit"], killed["signal"]), (None, 15))

    def test_json_takes_outputs_and_inputs_of_any_kind(self):
        done = run("scaler-run", "--json", "--shell", 'head -c 3000001 /dev/urandom', ":::", "a")
        self.assertEqual(len(base64.b64decode(json.loads(done.stdout)["stdout_base64"])), 3000001)
        done = run("scaler-run", "--json", "-0", "true", stdin=b"\xff\n\0")
        self.assertEqual(base64.b64decode(json.loads(done.stdout)["input_base64"]), b"\xff\n")
        done = run("scaler-run", "--json", "/no/such/program", ":::", "a")
        row = json.loads(done.stdout)
        self.assertEqual((row["state"], row["reason"], row["exit"]), ("failed", "not_started", None))

    def test_the_environment_and_directory_are_the_callers(self):
        done = run("scaler-run", "--env", "A=1 2", "--env", "B", "--shell", 'echo "$A,$B,$C,$PWD"', ":::", "x",
                   env={"B": "b", "C": "c"}, cwd=self.folder)
        self.assert_ends(done, 0, "1 2,b,c," + os.path.realpath(self.folder) + "\n", "")

    def test_tasks_read_nothing_and_inherit_nothing(self):
        with open(self.path("extra"), "w") as extra:
            os.set_inheritable(extra.fileno(), True)
            done = run("scaler-run", "--shell", "cat; ls /proc/self/fd | tr '\\n' ' '", ":::", "a",
                       stdin="not for tasks\n", close_fds=False)
        self.assert_ends(done, 0, "0 1 2 3 ", "")

    def test_signal_mask_of_tasks_is_clean(self):
        done = run("scaler-run", "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status", ":::", "-h")
        for line in done.stdout.decode().splitlines():
            self.assertEqual(int(line.split()[1], 16) & 0x7fff, 0, done.stdout)

    def test_a_slow_producer_does_not_hold_back_what_is_done(self):
        process = self.start("scaler-run", "echo", stdin=subprocess.PIPE)
        for item in (b"one", b"two"):
            process.stdin.write(item + b"\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), item + b"\n")
        process.stdin.close()
        self.assertEqual(process.wait(LIMIT), 0)

    def test_a_fifo_may_get_its_writer_later(self):
        os.mkfifo(self.path("fifo"))
        process = self.start("scaler-run", "-a", self.path("fifo"), "echo")
        with open(self.path("fifo"), "w") as fifo:
            fifo.write("late\n")
        self.assertEqual(self.finish(process), (0, b"late\n", b""))

    def test_a_task_prints_while_it_runs_when_it_is_its_turn(self):
        os.mkfifo(self.path("go"))
        process = self.start("scaler-run", "--shell", f"echo first; read x < {self.path('go')}; echo last", ":::", "a")
        self.assertEqual(process.stdout.readline(), b"first\n")
        with open(self.path("go"), "w") as go:
            go.write("\n")
        self.assertEqual(self.finish(process), (0, b"last\n", b""))

    def test_closed_standard_descriptors_are_survived(self):
        done = subprocess.run(["/bin/sh", "-c", '"$0" echo ::: a <&- 2>&-', tool("scaler-run")], stdout=subprocess.PIPE,
                              timeout=LIMIT)
        self.assertEqual((done.returncode, done.stdout), (0, b"a\n"))
        done = subprocess.run(["/bin/sh", "-c", '"$0" echo ::: a >&-', tool("scaler-run")], stderr=subprocess.PIPE,
                              timeout=LIMIT)
        self.assertEqual(done.returncode, 255)


if __name__ == "__main__":
    main()
