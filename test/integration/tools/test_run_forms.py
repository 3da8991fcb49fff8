"""scaler-run's forms of inputs and outputs: several lists, columns, groups, lines, results, places and progress."""
import json
import os
import pty
import re
import shutil
import subprocess
import unittest

from harness import LIMIT, ToolTest, clean_environment, main, read_whole, run, tool, wait_until


def parallel(*args, **more):
    return subprocess.run(["parallel", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, **more)


def parallel_is_here():
    return shutil.which("parallel") and b"GNU" in parallel("--version").stdout


class Inputs(ToolTest):
    def test_lists_columns_and_groups_are_those_of_gnu_parallel(self):
        if not parallel_is_here():
            raise unittest.SkipTest("GNU parallel is not here")
        lines, tabs = self.write("lines", "1\n2\n"), self.write("tabs", "a\tb\nc\td\n")
        for args in (["echo", ":::", "a", "b", ":::", "x", "y"],
                     ["echo", "{2}-{1}", ":::", "a", "b", ":::", "x", "y", "z"],
                     ["echo", "{1.}", "{2/}", "{1/.}", "{2//}", "{#}", "{-1}", ":::", "a.b", "c/d.e", ":::", "x/y.z"],
                     ["echo", ":::", "a", "b", "c", ":::+", "x", "y", ":::", "p", "q"],
                     ["echo", ":::", "p", "q", ":::", "a", "b", "c", ":::+", "x", "y"],
                     ["echo", "{1}", "{2}", "::::", lines, ":::", "A", "B"],
                     ["echo", "{1}", "{2}", "::::", lines, "::::+", lines],
                     ["echo", "::::", lines, tabs.replace("tabs", "lines")],
                     ["--colsep", "\\t", "echo", "{2}", "{1.}", "{}", "::::", tabs],
                     ["--colsep", ", *", "echo", "{2}+{1}", ":::", "a,   b", ":::", "1,2"],
                     ["-N", "2", "echo", "{1}", "{2}", "{}", ":::", *"1234"],
                     ["-N", "3", "echo", ":::", *"12345"],
                     ["-N", "2", "--colsep", ",", "echo", "{1}", "{4}", ":::", "a,b", "c,d"]):
            ours, theirs = run("scaler-run", "-n", *args), parallel("-k", "--dry-run", *args)
            self.assertEqual(ours.stdout, theirs.stdout, args)

    def test_files_may_be_stdin_and_end_with_nul(self):
        nul = self.write("nul", b"a\nb\0c")
        self.assert_ends(run("scaler-run", "-n", "echo", ":::", "x", "::::", "-", stdin="1\n2"), 0,
                         "echo x 1\necho x 2\n", "")
        self.assert_ends(run("scaler-run", "-n", "echo", "::::", "-", stdin="1\n\n"), 0, "echo 1\necho ''\n", "")
        self.assert_ends(run("scaler-run", "-0", "printf", "[%s%s]", "::::", nul, ":::", "!"), 0, "[a\nb!][c!]", "")
        for path, words in ((self.path("none"), b"No such file"), (self.folder, b"Is a directory")):
            done = run("scaler-run", "echo", ":::", "a", "::::", path)
            self.assert_ends(done, 255, "")
            self.assertIn(words, done.stderr)

    def test_several_arg_files_are_several_lists(self):
        ab, c = self.write("ab", "a\nb\n"), self.write("c", "c\n")
        self.assert_ends(run("scaler-run", "-a", ab, "-a", c, "echo"), 0, "a c\nb c\n", "")
        self.assert_ends(run("scaler-run", "-a", "-", "-a", ab, "echo", stdin="x"), 0, "x a\nx b\n", "")
        self.assert_ends(run("scaler-run", "-a", ab, "echo"), 0, "a\nb\n", "")
        for args, words in ((["-a", "-", "-a", "-", "echo"], "stdin ('-') can be one list of inputs only"),
                            (["echo", "::::", "-", "-"], "stdin ('-') can be one list of inputs only"),
                            (["-a", ab, "-a", "", "echo"], "--arg-file: '' is not a file"),
                            (["-a", ab, "-a", c, "echo", ":::", "a"],
                             "--arg-file and ::: cannot be used together")):
            self.assert_ends(run("scaler-run", *args), 255, "", "scaler-run: " + words + "\n")

    def test_a_closed_stdin_is_an_error_where_inputs_come_from_it(self):
        one = self.write("one", "1\n")

        def closed(*args):
            line = '"$@" <&-'
            return subprocess.run(["/bin/sh", "-c", line, "sh", tool("scaler-run"), *args], env=clean_environment(),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)

        for args in (["echo"], ["-a", "-", "echo"], ["echo", "::::", "-"], ["-n", "echo"],
                     ["echo", "{1}", "{2}", "::::", one, "-"]):
            done = closed(*args)
            self.assert_ends(done, 255, "")
            self.assertRegex(done.stderr, b"^scaler-run: [^\\n]*Bad file descriptor\\n$")
        self.assert_ends(closed("cat", "{}", ":::", one), 0, "1\n", "")

    def test_an_empty_command_word_is_refused(self):
        words = "scaler-run: the command's first word is empty\n"
        for args in ([""], ["", "x"], ["", ":::", "a"], ["--shell", "", ":::", "a"]):
            self.assert_ends(run("scaler-run", *args), 255, "", words)

    def test_an_empty_list_leaves_no_combination(self):
        self.assert_ends(run("scaler-run", "echo", ":::", "a", ":::"), 0, "", "")
        self.assert_ends(run("scaler-run", "echo", ":::", "a", ":::+", ":::", "b"), 0, "", "")
        self.assert_ends(run("scaler-run", "echo", ":::", "a", "::::", self.write("e", "")), 0, "", "")

    def test_values_are_never_parsed(self):
        nasty = ["a b", "'", '"', "$(id)", "*", "{2}", "{}", "\n"]
        done = run("scaler-run", "printf", "[%s|%s]", "{2}", "{1}", ":::", *nasty, ":::", "x")
        self.assert_ends(done, 0, "".join(f"[x|{item}]" for item in nasty), "")
        done = run("scaler-run", "--shell", 'printf "[%s]" "$#" "$@"', "{#}", ":::", "a b", "", ":::", "$x")
        self.assert_ends(done, 0, "[3][a b][$x][1][3][][$x][2]", "")

    def test_groups_are_arguments_and_zero_takes_none(self):
        self.assert_ends(run("scaler-run", "-N2", "printf", "[%s]", "<{}>", "{}", stdin="1 2\n3\n4\n"), 0,
                         "[<1 2 3>][1 2][3][<4>][4]", "")
        self.assert_ends(run("scaler-run", "-N0", "printf", "[%s]", "{#}{}", ":::", "a", "b"), 0, "[1][2]", "")
        many = "".join(f"{n}\n" for n in range(70000))
        done = run("scaler-run", "-N65536", "--shell", 'echo $#', stdin=many)
        self.assert_ends(done, 0, "65536\n4464\n", "")

    def test_a_group_waits_for_its_last_input_only(self):
        process = self.start("scaler-run", "-N2", "echo", stdin=subprocess.PIPE)
        process.stdin.write(b"1\n2\n3\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"1 2\n")
        process.stdin.close()
        self.assertEqual(process.stdout.readline(), b"3\n")
        self.assertEqual(process.wait(LIMIT), 0)

    def test_too_much_for_one_command_fails_alone(self):
        long = b"x" * 600000 + b"\n"
        done = run("scaler-run", "-N2", "--shell", 'echo "${#1}"', stdin=long + long + b"a\nb\n")
        self.assert_ends(done, 1, "1\n")
        self.assertIn(b"too long for a command", done.stderr)

    def test_several_values_are_shown_with_spaces(self):
        done = run("scaler-run", "--tag", "--shell", 'echo "$2"; exit 1', ":::", "a", ":::", "b c", "d")
        self.assert_ends(done, 2, "a b c\tb c\na d\td\n",
                         "scaler-run: task 1 (a b c): exit 1\nscaler-run: task 2 (a d): exit 1\n")
        row = json.loads(run("scaler-run", "--json", "true", ":::", "a", ":::", 'b"c').stdout)
        self.assertEqual((row["input"], row["inputs"]), ('a b"c', ["a", 'b"c']))
        self.assertNotIn("inputs", json.loads(run("scaler-run", "--json", "true", ":::", "a").stdout))


class Outputs(ToolTest):
    def test_lines_come_whole_while_tasks_run(self):
        go = self.path("go")
        script = f'echo "$1.1"; printf "$1"; while [ ! -e {go} ]; do sleep 0.01; done; printf ".2\\n$1.3"'
        process = self.start("scaler-run", "--line-buffer", "--tag", "-j2", "--shell", script, ":::", "a", "b")
        first = {process.stdout.readline(), process.stdout.readline()}
        self.assertEqual(first, {b"a\ta.1\n", b"b\tb.1\n"})
        self.write("go", "")
        code, out, err = self.finish(process)
        self.assertEqual((code, err), (0, b""))
        self.assertIn(out, (b"a\ta.2\na\ta.3\nb\tb.2\nb\tb.3\n", b"b\tb.2\nb\tb.3\na\ta.2\na\ta.3\n",
                            b"a\ta.2\nb\tb.2\na\ta.3\nb\tb.3\n", b"a\ta.2\nb\tb.2\nb\tb.3\na\ta.3\n",
                            b"b\tb.2\na\ta.2\na\ta.3\nb\tb.3\n", b"b\tb.2\na\ta.2\nb\tb.3\na\ta.3\n"))

    def test_many_long_lines_are_never_mixed(self):
        script = 'i=0; while [ $i -lt 200 ]; do printf "%09000d\\n" "$1"; printf "%0700d\\n" "$1" >&2; i=$((i+1)); done'
        done = run("scaler-run", "--line-buffer", "-j4", "--shell", script, ":::", *map(str, range(1, 9)))
        self.assertEqual(done.returncode, 0)
        for text, width in ((done.stdout, 9000), (done.stderr, 700)):
            lines = text.decode().splitlines()
            self.assertEqual({len(line) for line in lines}, {width})
            self.assertEqual(sorted(int(line[-1]) for line in lines), sorted(list(range(1, 9)) * 200))

    def test_grouped_outputs_are_the_default(self):
        script = 'echo "$1"; sleep 0.05; echo "$1"'
        self.assert_ends(run("scaler-run", "--group", "-j3", "--shell", script, ":::", "a", "b"), 0, "a\na\nb\nb\n", "")

    def test_commands_are_printed_before_their_outputs(self):
        self.assert_ends(run("scaler-run", "-v", "echo", ":::", "a", "b c"), 0, "echo a\na\necho 'b c'\nb c\n", "")
        self.assert_ends(run("scaler-run", "-v", "--tag", "true", ":::", "a"), 0, "a\ttrue a\n", "")
        done = run("scaler-run", "--verbose", "--line-buffer", "-j1", "--shell", "echo $1", ":::", "a", "b")
        self.assert_ends(done, 0, "/bin/sh -c 'echo $1' sh a\na\n/bin/sh -c 'echo $1' sh b\nb\n", "")

    def listing(self, folder):
        return {os.path.relpath(os.path.join(at, name), folder): read_whole(os.path.join(at, name))
                for at, _, names in os.walk(folder) for name in names}

    def test_results_are_files_where_gnu_parallel_has_them(self):
        ours, theirs = self.path("deep/ours"), self.path("theirs")
        args = ["seq", "{1}", "{2}", ":::", "1", "x/y", "a\\b\tc", ":::", "2", "1 "]
        done = run("scaler-run", "-q", "--results", ours, *args)
        self.assert_ends(done, 5, "", "")
        rows = self.listing(ours)
        self.assertEqual((rows["1/1/2/2/stdout"], rows["1/1/2/2/stderr"], rows["1/1/2/2/seq"]), ("1\n2\n", "", "1"))
        if parallel_is_here():
            parallel("--results", theirs, *args)
            self.assertEqual(rows, self.listing(theirs))

    def test_results_stay_in_their_directory(self):
        folder = self.path("r")
        long = "x" * 300
        run("scaler-run", "--results", folder, "echo", ":::", "..", ".", "../../up", long)
        self.assertEqual(os.listdir(self.folder), ["r"])
        self.assertEqual(sorted(os.listdir(folder + "/1")), sorted(["\\..", "\\.", "..\\_..\\_up", long[:255]]))
        self.assertEqual(read_whole(f"{folder}/1/{long[:255]}/{long[255:]}/stdout"), long + "\n")
        run("scaler-run", "--results", folder, "-N0", "echo", "x", ":::", "a", "b")
        self.assertEqual((read_whole(folder + "/1/stdout"), read_whole(folder + "/2/seq")), ("x\n", "2"))

    def test_results_go_with_json_and_may_be_large(self):
        done = run("scaler-run", "--json", "--results", self.path("r"), "--shell", "seq 300000", ":::", "a")
        text = "".join(f"{n}\n" for n in range(1, 300001))
        self.assertEqual(json.loads(done.stdout)["stdout"], text)
        self.assertEqual(read_whole(self.path("r/1/a/stdout")), text)

    def test_results_that_cannot_be_written_are_an_infrastructure_error(self):
        file = self.write("file", "")
        done = run("scaler-run", "--results", file, "echo", ":::", "a")
        self.assert_ends(done, 255, "")
        self.assertIn(f"--results: '{file}': Not a directory", done.stderr.decode())


class Places(ToolTest):
    def test_tasks_run_where_and_as_nice_as_asked(self):
        os.mkdir(self.path("sub"))
        real = os.path.realpath(self.folder)
        script = 'pwd; nice'
        ours = os.nice(0)
        for asked, folder in (("sub", real + "/sub"), (real, real), (".", real)):
            done = run("scaler-run", "--workdir", asked, "--nice", "3", "--shell", script, ":::", "a", cwd=self.folder)
            self.assert_ends(done, 0, f"{folder}\n{min(ours + 3, 19)}\n", "")
        self.assert_ends(run("scaler-run", "--nice=19", "--no-append", "nice", ":::", "a"), 0, "19\n", "")
        self.assert_ends(run("scaler-run", "--nice=0", "--no-append", "nice", ":::", "a"), 0, f"{ours}\n", "")
        done = run("scaler-run", "--workdir", self.path("none"), "pwd", ":::", "a")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot enter directory", done.stderr)

    def test_a_running_cluster_does_it_all(self):
        _, url = self.start_scheduler()
        self.start_worker(url, "-j2", cwd="/")
        os.mkdir(self.path("sub"))
        log, real = self.path("log"), os.path.realpath(self.folder)
        done = run("scaler-run", "-s", url, "--joblog", log, "--workdir", "sub", "--nice", "2", "--shell", "pwd; nice",
                   ":::", "a", cwd=self.folder)
        self.assert_ends(done, 0, f"{real}/sub\n{min(os.nice(0) + 2, 19)}\n", "")
        self.assertEqual(read_whole(log).splitlines()[1].split("\t")[1], url)
        done = run("scaler-run", "-q", "-s", url, "-j1", "--halt", "soon,fail=1", "--shell", 'echo "$1"; exit "$1"',
                   ":::", "0", "0", "1", "0")
        self.assert_ends(done, 1, "0\n0\n1\n", "")
        done = run("scaler-run", "-s", url, "--halt", "now,success=1", "--shell", '[ "$1" = 0 ] || exec sleep 30',
                   ":::", "1", "0", "1", "1")
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        done = run("scaler-run", "-s", url, "--line-buffer", "echo", ":::", "a")
        self.assert_ends(done, 0, "a\n", "")


class Progress(ToolTest):
    def test_the_time_left_is_told_without_a_terminal(self):
        done = run("scaler-run", "--eta", "-q", "-j1", "sleep", stdin="0\n1.1\n0\n")
        lines = done.stderr.decode().splitlines()
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        for line in lines:
            self.assertRegex(line, r"^scaler-run: \d/3  [\d.]+/s(  ETA (\d+:\d\d|-:--))?$|^scaler-run: \d  ")
        self.assertRegex(lines[-1], r"^scaler-run: 3/3 ")
        self.assertTrue(any(re.search(r"ETA \d", line) for line in lines), lines)

    def test_what_is_left_out_counts_as_done(self):
        log = self.path("log")
        run("scaler-run", "--joblog", log, "true", ":::", "a", "b")
        done = run("scaler-run", "--eta", "--joblog", log, "--resume", "true", ":::", "a", "b", "c")
        self.assertIn(b"scaler-run: 3/3 ", done.stderr)

    def test_a_terminal_has_one_bar_even_a_quiet_one(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([tool("scaler-run"), "-q", "--eta", "true", ":::", "a", "b"], stderr=slave,
                                   stdout=subprocess.DEVNULL, env=clean_environment({"TERM": "xterm"}))
        os.close(slave)
        self.assertEqual(process.wait(LIMIT), 0)
        seen = wait_until(lambda: os.read(master, 65536), "there is a bar")
        os.close(master)
        self.assertIn(b"\r", seen)
        self.assertNotIn(b"scaler-run:", seen)


if __name__ == "__main__":
    main()
