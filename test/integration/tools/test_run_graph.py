"""scaler-run's graphs and chains: what waits for what, what a failure skips, what is resumed, what a file may not say."""
import json
import os
import random
import subprocess

from harness import LIMIT, ToolTest, main, read_whole, run, signal, wait_until

HEAD = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
LONG = "30"  # seconds of what is killed; nothing waits for them in a test that passes
DIAMOND = """
nodes:
  top:    {command: [sh, -c, 'echo top']}
  left:   {command: 'echo left', after: top}
  right:  {command: 'echo right', after: [top]}
  bottom: {command: [echo, bottom], after: [left, right]}
"""
# b fails; c, d and e hang on it, d by two ways; x and y are another branch.
BROKEN = """
nodes:
  a: {command: 'echo a'}
  b: {command: 'echo b; exit 3', after: a}
  c: {command: 'echo c', after: b}
  d: {command: 'echo d', after: [b, c]}
  e: {command: 'echo e', after: [d, y]}
  x: {command: 'echo x', after: a}
  y: {command: 'echo y', after: x}
"""


class Graphs(ToolTest):
    def setUp(self):
        super().setUp()
        self.log = self.path("log")

    def graph(self, text, *more, name="g.yaml", **how):
        return run("scaler-run", "--graph", self.write(name, text), *more, **how)

    def rows(self):
        text = read_whole(self.log)
        self.assertTrue(text.startswith(HEAD), text)
        return [line.split("\t", 8) for line in text[len(HEAD):].splitlines()]

    def err(self, done):
        return done.stderr.decode()

    # ---- what runs when ----

    def test_each_node_runs_after_those_it_waits_for(self):
        for more in ([], ["-j1"], ["--halt", "soon,fail=1"], ["--delay", "1ms"], ["--line-buffer"]):
            done = self.graph(DIAMOND, *more)
            self.assertEqual((done.returncode, done.stderr), (0, b""), more)
            lines = done.stdout.decode().split()
            self.assertEqual((lines[0], sorted(lines[1:3]), lines[3]), ("top", ["left", "right"], "bottom"), more)

    def test_json_and_a_list_of_nodes_are_the_same_thing(self):
        nodes = [{"name": "b", "command": ["echo", "é", "2"], "after": ["a"]}, {"name": "a", "command": "echo 1"}]
        for dump in (json.dumps({"nodes": nodes}), json.dumps({"nodes": nodes}, indent="\t", ensure_ascii=False),
                     json.dumps({"nodes": nodes}, separators=(",", ":"))):
            self.assert_ends(self.graph(dump, name="g.json"), 0, "1\né 2\n", "")
        done = run("scaler-run", "--graph", "-", stdin=json.dumps({"nodes": nodes}))
        self.assert_ends(done, 0, "1\né 2\n", "")

    def test_random_graphs_run_in_an_order_that_fits(self):
        for seed in range(12):
            chance = random.Random(seed)
            count = chance.choice([1, 7, 60, 400])
            after = {i: sorted({chance.randrange(i) for _ in range(chance.randrange(4))} if i else ())
                     for i in range(count)}
            names = list(after)
            chance.shuffle(names)
            nodes = [{"name": f"n{i}", "command": ["echo", str(i)], "after": [f"n{k}" for k in after[i]]}
                     for i in names]
            more = chance.choice([[], ["-j3"], ["--max-rate", "100000/s"], ["--halt", "now,fail=1"]])
            done = self.graph(json.dumps({"nodes": nodes}), *more)
            self.assertEqual((done.returncode, done.stderr), (0, b""), seed)
            place = {int(line): at for at, line in enumerate(done.stdout.split())}
            self.assertEqual(sorted(place), list(range(count)), seed)
            for i, those in after.items():
                for k in those:
                    self.assertLess(place[k], place[i], seed)

    def test_a_blocked_branch_wider_than_the_window_holds_no_other_up(self):
        """3,000 nodes wait for one that ends only when a chain of 1,500 has gone through."""
        end = self.path("end")
        nodes = [{"name": "slow", "command": f"until [ -e {end} ]; do sleep 0.01; done"}]
        nodes += [{"name": f"w{i}", "command": ["true"], "after": "slow"} for i in range(3000)]
        nodes += [{"name": f"c{i}", "command": ["true"], "after": [f"c{i - 1}"] if i else []} for i in range(1500)]
        nodes += [{"name": "last", "command": ["touch", end], "after": ["c1499"]}]
        self.assert_ends(self.graph(json.dumps({"nodes": nodes}), "-j2"), 0, "", "")

    def test_a_node_says_how_it_runs(self):
        os.mkdir(self.path("sub"))
        text = f"""
x-all: &all {{env: {{WHO: all, KEEP: k}}, workdir: {self.folder}}}
nodes:
  words: {{command: [sh, -c, 'echo "$1|$2"', sh, 'a b', ''], after: []}}
  env:   {{command: 'echo "$WHO $KEEP $GIVEN"', <<: *all, env: [WHO=me, 'KEEP=a=b'], after: words}}
  merged: {{command: 'echo "$WHO"; pwd', <<: *all, after: env}}
  sub:   {{command: pwd, workdir: sub, after: merged}}
  late:  {{command: 'sleep {LONG}', timeout: 100ms, after: sub}}
  often: {{command: 'echo x >> {self.path("tries")}; false', retries: 2, retry-on: '1', after: sub}}
  nice:  {{command: nice, nice: 3, after: sub}}
"""
        done = self.graph(text, "-j1", "--env", "GIVEN=g", cwd=self.folder)
        self.assertEqual(done.returncode, 2, done)
        out = done.stdout.decode().split("\n")
        self.assertEqual(out[:5], ["a b|", "me a=b g", "all", self.folder, self.folder + "/sub"])
        self.assertEqual(int(out[5]), 3 + os.nice(0))
        self.assertIn("scaler-run: node late: timed out\n", self.err(done))
        self.assertIn("scaler-run: node often: exit 1 (3 runs)\n", self.err(done))
        self.assertEqual(read_whole(self.path("tries")), "x\n" * 3)

    def test_a_dry_run_is_a_script_of_the_graph(self):
        done = self.graph(DIAMOND, "-n")
        self.assert_ends(done, 0, ": top; sh -c 'echo top'\n: left; /bin/sh -c 'echo left' sh\n"
                                  ": right; /bin/sh -c 'echo right' sh\n: bottom; echo bottom\n", "")
        done = subprocess.run(["sh"], input=done.stdout, stdout=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual(done.stdout, b"top\nleft\nright\nbottom\n")

    # ---- failing branch by branch ----

    def test_a_failure_is_told_with_what_it_skipped_and_other_branches_run(self):
        for more in ([], ["-j1"], ["--delay", "1ms"], ["--halt", "soon,fail=2"]):
            done = self.graph(BROKEN, *more)
            self.assertEqual(sorted(done.stdout.decode().split()), ["a", "b", "x", "y"], more)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(self.err(done).split("\n"),
                             ["scaler-run: node b: exit 3",
                              "scaler-run: node b: exit 3; skipped after it (3): c, d, e",
                              "scaler-run: of 7 nodes 3 succeeded, 1 failed, 3 were skipped", ""])
        self.assert_ends(self.graph(BROKEN, "-q", "--results", self.path("r")), 1, "", "")
        self.assertEqual(read_whole(self.path("r/1/b/stdout")), "b\n")

    def test_json_and_joblog_name_the_root(self):
        for more in ([], ["--halt", "soon,fail=9"]):
            done = self.graph(BROKEN, "--json", "--joblog", self.log, *more)
            self.assertEqual((done.returncode, done.stderr), (1, b""))
            lines = {line["input"]: line for line in map(json.loads, done.stdout.splitlines())}
            self.assertEqual({name: line["state"] for name, line in lines.items()},
                             {"a": "done", "b": "failed", "x": "done", "y": "done",
                              "c": "skipped", "d": "skipped", "e": "skipped"})
            for name in "cde":
                line = lines[name]
                self.assertEqual((line["root"], line["root_seq"], line["reason"], line["exit"]),
                                 ("b", 2, "dependency", None))
            self.assertNotIn("root", lines["b"])
            rows = {int(row[0]): (row[6], row[8]) for row in self.rows()}
            self.assertEqual(rows[2], ("3", ": b; /bin/sh -c 'echo b; exit 3' sh"))
            self.assertEqual(rows[4], ("-1", ": d skipped after b; /bin/sh -c 'echo d' sh"))
            self.assertEqual(len(rows), 7)

    def test_a_very_wide_failure_is_told_briefly(self):
        nodes = [{"name": "root", "command": "exit 1"}]
        nodes += [{"name": f"n{i}", "command": ["true"], "after": ["root" if i % 2 else f"n{i - 1}"] if i else "root"}
                  for i in range(5000)]
        done = self.graph(json.dumps({"nodes": nodes}), "--joblog", self.log)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        err = self.err(done).split("\n")
        self.assertEqual(len(err), 4)
        self.assertRegex(err[1], r"^scaler-run: node root: exit 1; skipped after it \(5000\): (n\d+, ){10}\.\.\.$")
        self.assertEqual(err[2], "scaler-run: of 5001 nodes 0 succeeded, 1 failed, 5000 were skipped")
        self.assertEqual(len(self.rows()), 5001)
        done = self.graph("nodes:\n" + "".join(f"  f{i}: {{command: exit 1}}\n" for i in range(150)))
        self.assertEqual(done.returncode, 101)
        self.assertIn("scaler-run: and 130 more nodes failed\n", self.err(done))

    def test_halt_stops_a_graph(self):
        text = f"""
nodes:
  bad:  {{command: exit 1}}
  slow: {{command: 'sleep {LONG}; echo no'}}
  next: {{command: echo no, after: slow}}
"""
        done = self.graph(text, "-j2", "--halt", "now,fail=1", "--joblog", self.log)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("scaler-run: of 3 nodes 0 succeeded, 1 failed, 0 were skipped, 2 were not run\n", self.err(done))
        self.assertEqual([row[0] for row in self.rows()], ["1"])

    # ---- resuming ----

    def test_resume_runs_what_has_not_succeeded(self):
        self.graph(BROKEN, "-q", "--joblog", self.log)
        for more in (["--resume"], ["--retry-failed"], ["--resume", "--retry-failed"]):
            done = self.graph(BROKEN, "-n", "--joblog", self.log, *more)
            self.assertEqual(done.stdout.decode().split("\n")[1:3],
                             [": c; /bin/sh -c 'echo c' sh", ": d; /bin/sh -c 'echo d' sh"])
        mended = BROKEN.replace("exit 3", "exit 0").replace("nodes:", "nodes:\n  new: {command: echo new}")
        done = self.graph(mended, "--joblog", self.log, "--resume")
        self.assertEqual((done.returncode, sorted(done.stdout.decode().split())), (0, ["b", "c", "d", "e", "new"]))
        self.assert_ends(self.graph(mended, "--joblog", self.log, "--resume"), 0, "", "")
        self.assert_ends(self.graph(mended, "--joblog", self.path("none"), "--resume", "-n"), 0,
                         self.graph(mended, "-n").stdout.decode(), "")

    def test_names_are_read_back_from_the_log_whatever_they_are(self):
        names = ["it's", "a; b", 'quo"te', " ", "skipped after b", "x skipped after y", "-", "ü", ": a;", "a" * 127]
        text = json.dumps({"nodes": {name: {"command": ["echo", "x\ny"]} for name in names}}, ensure_ascii=False)
        self.assertEqual(self.graph(text, "--joblog", self.log).returncode, 0)
        self.assert_ends(self.graph(text, "--joblog", self.log, "--resume"), 0, "", "")

    def test_the_log_of_something_else_is_refused(self):
        run("scaler-run", "--joblog", self.log, "true", ":::", "1")
        before = read_whole(self.log)
        done = self.graph(DIAMOND, "--joblog", self.log, "--resume")
        self.assert_ends(done, 255, "")
        self.assertIn("line 2 is of no node", self.err(done))
        self.assertEqual(read_whole(self.log), before)
        self.write("log", "no joblog\n")
        self.assertIn("is not a joblog", self.err(self.graph(DIAMOND, "--joblog", self.log, "--resume")))

    def test_killed_at_any_moment_no_node_that_is_logged_runs_again(self):
        ran = self.path("ran")
        nodes = [{"name": f"n{i}", "command": f"echo {i} >> {ran}", "after": [f"n{k}" for k in {i // 2, i // 3} if i]}
                 for i in range(250)]
        file = self.write("g.json", json.dumps({"nodes": nodes}))
        args = ["-j3", "--graph", file, "--joblog", self.log, "--resume"]

        def logged():
            text = read_whole(self.log) or ""
            whole = text[:text.rfind("\n") + 1].split("\n")[1:-1]
            return {int(line.split("\t")[0]) - 1 for line in whole if line.split("\t")[6] == "0"}

        for kill in range(6):
            before = logged()
            mark = os.path.getsize(ran) if os.path.exists(ran) else 0
            process = self.start("scaler-run", *args, stdout=subprocess.DEVNULL)
            wait_until(lambda: process.poll() is not None or len(logged()) > len(before) + kill * 7, "some are logged")
            process.kill()
            process.wait()
            with open(ran) as text:
                text.seek(mark)
                self.assertEqual(before & {int(line) for line in text.read().split("\n")[:-1]}, set())
        self.assert_ends(run("scaler-run", *args), 0, "", "")
        self.assertEqual(logged(), set(range(250)))
        order = read_whole(ran).split()
        for i in range(1, 250):
            for k in {i // 2, i // 3}:
                self.assertLess(order.index(str(k)), len(order) - order[::-1].index(str(i)))

    def test_interrupts_finish_what_runs_and_the_rest_is_resumed(self):
        begun, go = self.path("begun"), self.path("go")
        text = f"""
nodes:
  one: {{command: 'touch {begun}; until [ -e {go} ]; do sleep 0.01; done; echo one'}}
  two: {{command: echo two, after: one}}
"""
        process = self.start("scaler-run", "--graph", self.write("g.yaml", text), "--joblog", self.log)
        wait_until(lambda: os.path.exists(begun), "the first node runs")
        process.send_signal(signal.SIGINT)
        self.assertIn(b"interrupted", process.stderr.readline())
        self.write("go", "")
        code, out, err = self.finish(process)
        self.assertEqual((code, out), (130, b"one\n"))
        self.assertIn(b"of 2 nodes 1 succeeded, 0 failed, 0 were skipped, 1 were not run\n", err)
        self.assert_ends(self.graph(text, "--joblog", self.log, "--resume"), 0, "two\n", "")

    # ---- what a file may not say ----

    def assert_mistake(self, text, line, *words):
        done = self.graph(text, "--joblog", self.log)
        self.assert_ends(done, 255, "")
        lines = self.err(done).splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(f"scaler-run: {self.path('g.yaml')}:{line}: "), lines)
        for word in words:
            self.assertIn(word, lines[0])
        self.assertFalse(os.path.exists(self.log))

    def test_a_mistake_in_the_file_is_one_line_with_file_and_line(self):
        node = "nodes:\n  a: {command: x}\n"
        for text, line, *words in (
                ("", 1, "is empty"), ("# nothing\n", 1, "is empty"), ("~", 1, "is empty"), ("{}", 1, "'nodes' is missing"),
                ("- 1", 1, "a mapping"), ("hello", 1, "a mapping"), ("nodes: {}", 1, "no nodes"),
                ("\nnodes: []", 2, "no nodes"), ("nodes: 5", 1, "nodes:"), (node + "nodes: {}", 3, "given twice"),
                (node + "node: 1", 3, "unknown key 'node'"), (node + "  b: 5", 3, "node 'b'", "a text"),
                (node + "  b: {comand: x}", 3, "node 'b'", "unknown key 'comand'", "command, after"),
                (node + "  a: {command: y}", 3, "node 'a' is there already, in line 2"),
                (node + "  b: {command: y, after: [a, zz]}", 3, "node 'b'", "no node 'zz'"),
                (node + "  b: {command: y, after: b}", 3, "node 'b'", "itself"),
                (node + "  b:\n    command: y\n    after: {a: 1}", 5, "node 'b'", "after", "mapping"),
                (node + "  b: {command: y, after: [[a]]}", 3, "after", "list"),
                (node + "  b: {command: y, after: [~]}", 3, "after", "nothing"),
                ("nodes:\n  a: {command: x, after: c}\n  b: {command: x, after: a}\n  c: {command: x, after: b}", "?",
                 "in a circle", "a -> c -> b -> a"),
                (node + "  b: {after: a}", 3, "node 'b'", "no command"), (node + "  b: {command: }", 3, "nothing"),
                (node + "  b: {command: ''}", 3, "empty"), (node + "  b: {command: []}", 3, "empty"),
                (node + "  b: {command: ['', x]}", 3, "first word"), (node + "  b: {command: [[x]]}", 3, "list"),
                (node + "  b: {command: {x: y}}", 3, "mapping"), (node + '  b: {command: ["x\\0y"]}', 3, "NUL"),
                (node + "  b: {command: y, command: z}", 3, "command is given twice"),
                (node + "  b: {command: y, timeout: soon}", 3, "timeout: 'soon'", "1 ms"),
                (node + "  b: {command: y, timeout: 0}", 3, "timeout: '0'"),
                (node + "  b: {command: y, retries: 1001}", 3, "retries: '1001'", "0 to 1000"),
                (node + "  b: {command: y, retries: [1]}", 3, "retries", "list"),
                (node + "  b: {command: y, priority: -1001}", 3, "priority: '-1001'"),
                (node + "  b: {command: y, nice: 20}", 3, "nice: '20'"), (node + "  b: {command: y, tag: ''}", 3, "tag"),
                (node + "  b: {command: y, env: X}", 3, "env"), (node + "  b: {command: y, env: [X]}", 3, "'X'"),
                (node + "  b: {command: y, env: {'A=B': 1}}", 3, "'A=B'"),
                (node + "  b: {command: y, needs: gpu=1}", 3, "node 'b'", "--scheduler"),
                (node + "  b: {command: y, retry-on: often}", 3, "node 'b'", "often"),
                (node + "  b: {command: y, <<: [x]}", 3, "<<"), (node + "  b: {command: y, name: c}", 3, "a name"),
                (node + "  '': {command: y}", 3, "name"), (node + '  "x\\ny": {command: y}', 3, "control character"),
                (node + f"  {'n' * 128}: {{command: y}}", 3, "127"), ("nodes:\n - {command: x}", 2, "no name"),
                ("nodes:\n - x", 2, "a text"), ("nodes:\n - {name: a, name: b, command: x}", 2, "name is given twice"),
                (node + "---\nnodes: {}", 4, "second document"), ("nodes: {a: {command: x}\n", 2, "','"),
                ("nodes:\n\ta: x", 2, "token"), ("a: *b", 1, "alias"), ("nodes: &n {a: *n}", 1, "unknown key 'a'")):
            if line == "?":
                done = self.graph(text)
                self.assertRegex(self.err(done), r"^scaler-run: \S+/g.yaml:\d: nodes wait for each other in a circle: \w")
                circle = self.err(done).split(": ")[-1].split(" -> ")
                self.assertEqual(sorted(circle[:-1]), ["a", "b", "c"])
                continue
            self.assert_mistake(text, line, *words)

    def test_files_that_are_none_are_refused(self):
        for path, word in ((self.folder, "directory"), (self.path("none"), "No such file")):
            self.assert_ends(run("scaler-run", "--graph", path), 255, "")
            self.assertIn(word, self.err(run("scaler-run", "--graph", path)))
        chance = random.Random(1)
        for size in (1, 10, 1000):
            for _ in range(10):
                done = self.graph(bytes(chance.randrange(256) for _ in range(size)))
                self.assert_ends(done, 255, "")
                self.assertEqual(len(done.stderr.splitlines()), 1)
        for deep in ("[" * 100000, '{"a":' * 100000, "- " * 20000):
            done = self.graph(deep)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (255, 1))
        whole = DIAMOND.encode()
        for size in range(0, len(whole), 3):
            done = self.graph(whole[:size], "-n")
            self.assertIn(done.returncode, (0, 255))
            self.assertEqual(len(done.stderr.splitlines()), 1 if done.returncode else 0)

    def test_what_does_not_go_with_a_graph_is_refused(self):
        file = self.write("g.yaml", DIAMOND)
        for more in (["echo"], [":::", "a"], ["-a", "f"], ["--shell"], ["-0"], ["--colsep", ","], ["-N2"]):
            done = run("scaler-run", "--graph", file, *more)
            self.assert_ends(done, 255, "")
            self.assertRegex(self.err(done), r"^scaler-run: --graph and .* cannot be used together\n$")

    def test_a_hundred_thousand_nodes_are_read_and_put_in_order(self):
        nodes = [{"name": f"n{i}", "command": ["true"], "after": [f"n{i // 2}", f"n{i - 1}"] if i else []}
                 for i in range(100000)]
        done = self.graph(json.dumps({"nodes": nodes}), "-n", name="g.json")
        self.assertEqual((done.returncode, done.stdout.count(b"\n")), (0, 100000))
        self.assertTrue(done.stdout.endswith(b": n99999; true\n"))

    # ---- on a running cluster ----

    def test_on_a_running_cluster_needs_are_heeded_and_j_holds(self):
        url = "ipc://" + self.path("socket")
        scheduler = self.start("scaler-scheduler", url)
        worker = self.start("scaler-worker", url, "--slots", "8", "--offers", "gpu=1")
        now = self.path("now")
        os.mkdir(now)
        script = f'touch {now}/$$; ls {now} | wc -l; sleep 0.02; rm {now}/$$'
        nodes = {f"n{i}": {"command": script, "after": [f"n{i // 5}"] if i else [], "needs": "gpu=1"}
                 for i in range(20)}
        done = run("scaler-run", "-s", url, "--graph", self.write("g.json", json.dumps({"nodes": nodes})))
        self.assertEqual((done.returncode, set(done.stdout.split())), (0, {b"1"}), done.stderr)
        for node in nodes.values():
            del node["needs"]
        done = run("scaler-run", "-s", url, "-j2", "--graph", self.write("g.json", json.dumps({"nodes": nodes})))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(set(done.stdout.split()), {b"1", b"2"})
        for process in (worker, scheduler):
            process.terminate()
            self.finish(process)

    # ---- chains ----

    def test_a_chain_runs_for_each_input_in_order(self):
        for more in ([], ["-j1"], ["--delay", "1ms"], ["--halt", "soon,fail=1"]):
            done = run("scaler-run", *more, "--", "echo", "one", "{}", "{#}", "--after", "--", "echo", "two", "{.}",
                       "--after", "--", "echo", ":::", "a.x", "b.y")
            self.assert_ends(done, 0, "one a.x 1\ntwo a\na.x\none b.y 2\ntwo b\nb.y\n", "")
        numbers = "".join(f"{i}\n" for i in range(3000))
        done = run("scaler-run", "echo", "a{}", "--after", "--", "echo", "b{}", stdin=numbers)
        self.assert_ends(done, 0, "".join(f"a{i}\nb{i}\n" for i in range(3000)), "")

    def test_a_later_step_waits_for_the_earlier_one(self):
        done = run("scaler-run", "-u", "--shell", f'sleep 0.01; echo "$1" > {self.folder}/"$1"', "--after", "--",
                   f'cat {self.folder}/"$1"', ":::", *map(str, range(100)))
        self.assertEqual((done.returncode, sorted(map(int, done.stdout.split()))), (0, list(range(100))))

    def test_a_failed_step_skips_those_behind_it_only(self):
        args = ["--shell", '[ "$1" != b ] && echo "$1"', "--after", "--", 'echo "2 $1"', "--after", "--", 'echo "3 $1"',
                ":::", "a", "b", "c"]
        for more in ([], ["-j1"], ["--halt", "soon,fail=9"]):
            done = run("scaler-run", "--joblog", self.log, *more, *args)
            self.assert_ends(done, 1, "a\n2 a\n3 a\nc\n2 c\n3 c\n")
            self.assertEqual(self.err(done), "scaler-run: task 4 (b, step 1): exit 1\n"
                                             "scaler-run: task 5 (b, step 2): skipped: task 4 has not succeeded\n"
                                             "scaler-run: task 6 (b, step 3): skipped: task 4 has not succeeded\n")
            self.assertEqual(self.rows()[4][6:], ["-1", "0", ": skipped after 4; /bin/sh -c 'echo \"2 $1\"' sh b"])
        lines = [json.loads(line) for line in run("scaler-run", "--json", *args).stdout.splitlines()]
        self.assertEqual([(line["seq"], line["input"], line["step"], line["state"]) for line in lines[3:6]],
                         [(4, "b", 1, "failed"), (5, "b", 2, "skipped"), (6, "b", 3, "skipped")])
        self.assertEqual([line.get("root_seq") for line in lines[2:6]], [None, None, 4, 4])

    def test_a_chain_is_resumed_step_by_step(self):
        def chain(first, *more):
            return run("scaler-run", "--joblog", self.log, *more, "--shell", first, "--after", "--", 'echo "2 $1"',
                       ":::", "a", "b", "c")
        chain('[ "$1" != b ]', "-q")
        with open(self.log, "rb+") as file:
            lines = file.read().split(b"\n")
            file.truncate(0)
            file.seek(0)
            file.write(b"\n".join(line for line in lines if not line.startswith(b"6\t")))  # c's second step
        done = chain("exit 7", "--resume")
        self.assert_ends(done, 1, "2 c\n")
        self.assertIn("task 4 (b, step 2): skipped: task 3 has not succeeded", self.err(done))
        self.assert_ends(chain("exit 7", "--resume", "-n"), 0, "", "")
        self.assert_ends(chain("true", "--resume", "--retry-failed"), 0, "2 b\n", "")
        self.assert_ends(chain("exit 7", "--resume", "--retry-failed"), 0, "", "")

    def test_retry_failed_of_a_chain_runs_what_failed_and_not_what_was_skipped(self):
        run("scaler-run", "-q", "--joblog", self.log, "--shell", f'echo run; [ -e {self.path("ok")} ]', "--after", "--",
            "echo skipped", ":::", "a")
        self.write("ok", "")
        self.assert_ends(run("scaler-run", "--joblog", self.log, "--retry-failed"), 0, "run\n", "")

    def test_resume_with_retry_failed_runs_both_of_inputs(self):
        script = f'echo "$1"; [ "$1" != b ] || [ -e {self.path("ok")} ]'
        run("scaler-run", "-q", "--joblog", self.log, "--shell", script, ":::", "a", "b")
        self.write("ok", "")
        args = ["--joblog", self.log, "--resume", "--retry-failed", "--shell", script, ":::", "a", "b", "c"]
        self.assert_ends(run("scaler-run", *args), 0, "b\nc\n", "")
        self.assert_ends(run("scaler-run", *args), 0, "", "")

    def test_after_alone_is_a_word_like_any_other(self):
        self.assert_ends(run("scaler-run", "echo", "--after", "x", ":::", "a"), 0, "--after x a\n", "")
        self.assert_ends(run("scaler-run", "-n", "echo", "--after", "--", "echo", "--", ":::", "a"), 0,
                         "echo a\necho -- a\n", "")
        for words in (["echo", "--after", "--", ":::", "a"], ["--", "--after", "--", "echo", ":::", "a"],
                      ["echo", "--after", "--", "--after", "--", "echo", ":::", "a"],
                      ["echo", "--after", "--", "", ":::", "a"], ["x"] + ["--after", "--", "x"] * 100 + [":::", "a"]):
            done = run("scaler-run", *words)
            self.assert_ends(done, 255, "")
            self.assertRegex(self.err(done), r"^scaler-run: --after: .*\n$")
        done = run("scaler-run", "true", *["--after", "--", "true"] * 98, "--after", "--", "echo", ":::", *"abc")
        self.assert_ends(done, 0, "a\nb\nc\n", "")

    def test_results_of_a_chain_lie_step_by_step(self):
        run("scaler-run", "--results", self.path("r"), "echo", "1", "--after", "--", "echo", "2", ":::", "a")
        self.assertEqual([read_whole(self.path(f"r/1/a/step/{i}/stdout")) for i in (1, 2)], ["1 a\n", "2 a\n"])


if __name__ == "__main__":
    main()
