"""The command lines of all tools: help, versions, limits, and mistakes named in one line."""
import os
import subprocess

from harness import ToolTest, main, run, tool

SERVERS = ["scaler-scheduler", "scaler-worker", "scaler-ctl"]
ALL = SERVERS + ["scaler-run"]
YEAR = "31536000"
LIMITS = {
    "scaler-scheduler": {
        "--tasks-max": ("1", "2147483647"),
        "--bytes-max": ("1", "4194303T"),
        "--peers-max": ("1", "1048576"),
        "--client-tasks-max": ("1", "2147483647"),
        "--losses-max": ("1", "1000"),
        "--silent": ("1ms", "86400"),
        "--client-grace": ("1ms", YEAR),
        "--aging": ("1ms", YEAR),
        "--drain": ("1ms", YEAR),
        "--keys-kept": ("1", "1073741823"),
        "--keys-age": ("1ms", YEAR),
    },
    "scaler-worker": {
        "--slots": ("1", "1024"),
        "--prefetch": ("1", "65536"),
        "--keep": ("1ms", "86400"),
        "--kill-grace": ("1ms", "86400"),
        "--drain": ("1ms", YEAR),
        "--scheduler-timeout": ("1ms", YEAR),
    },
    "scaler-ctl": {"--timeout": ("1ms", "86400"), "--deadline": ("1ms", YEAR), "--last": ("1", "1000000")},
    "scaler-run": {
        "--jobs": ("1", "1024"),
        "--timeout": ("1ms", YEAR),
        "--retries": ("0", "1000"),
        "--backoff": ("0", "86400"),
        "--backoff-max": ("1ms", "86400"),
        "--deadline": ("1ms", YEAR),
        "--queue-timeout": ("1ms", YEAR),
        "--not-before": ("0", YEAR),
        "--max-running": ("1", "4294967295"),
        "--max-args": ("0", "65536"),
        "--nice": ("0", "19"),
        "--delay": ("0", YEAR),
        "--kill-grace": ("1ms", "86400"),
        "--scheduler-timeout": ("1ms", YEAR),
    },
}
BEYOND = {"1": "0", "1ms": "0", "0": "-1", "4194303T": "4194304T"}


def usage_exit(name):
    return 255 if name == "scaler-run" else 2


def beyond(value):
    return BEYOND.get(value) or str(int(value) + 1)


class Options(ToolTest):
    def assert_refused(self, done, name, *words):
        self.assertEqual(done.returncode, usage_exit(name), (done.stdout, done.stderr))
        self.assertEqual(done.stdout, b"")
        lines = done.stderr.decode().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(name + ": "), lines)
        for word in words:
            self.assertIn(word, lines[0])

    def test_every_tool_prints_help_and_version(self):
        for name in ALL:
            for flag in ("--help", "-h"):
                done = run(name, flag)
                self.assert_ends(done, 0, err="")
                self.assertTrue(done.stdout.startswith(b"usage: " + name.encode()))
            for flag in ("--version", "-V"):
                self.assert_ends(run(name, flag), 0, f"{name} 0.1.0\n", "")

    def test_help_and_version_that_nobody_can_read_fail(self):
        for name in ALL:
            for option in ("--help", "--version", "-h", "-V"):
                for stdout in (">/dev/full", ">&-"):
                    done = subprocess.run(["sh", "-c", f'exec "$0" "$1" {stdout}', tool(name), option],
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    self.assertEqual((done.returncode, done.stderr.decode()), (1, name + ": stdout cannot be written\n"))

    def test_every_option_is_in_the_man_page(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../doc/man")
        for name in ALL:
            with open(os.path.join(folder, name + ".1")) as file:
                page = file.read().replace("\\-", "-")
            for word in run(name, "--help").stdout.decode().split():
                if word.startswith("--") and len(word) > 2:
                    self.assertIn(word.rstrip(",.)"), page, name)

    def test_unknown_options_and_arguments_are_named(self):
        for name in ALL:
            self.assert_refused(run(name, "--nonsense=3"), name, "'--nonsense'")
            self.assert_refused(run(name, "-Z"), name, "'-Z'")
        self.assert_refused(run("scaler-worker", "tcp://127.0.0.1:1", "more"), "scaler-worker", "'more'")
        self.assert_refused(run("scaler-ctl", "tcp://127.0.0.1:1", "nonsense"), "scaler-ctl", "'nonsense'")
        self.assert_refused(run("scaler-ctl", "tcp://127.0.0.1:1", "status", "x"), "scaler-ctl", "'x'")
        self.assert_refused(run("scaler-ctl", "tcp://127.0.0.1:1", "cancel", "x"), "scaler-ctl", "'x'")
        url, task = "tcp://127.0.0.1:1", "0" * 31 + "1"
        self.assert_refused(run("scaler-ctl", url, "cancel", "--client", "x"), "scaler-ctl", "--client", "'x'")
        self.assert_refused(run("scaler-ctl", url, "cancel", "--client", "1" * 32), "scaler-ctl", "--client")
        self.assert_refused(run("scaler-ctl", url, "cancel", "--tag", "t" * 128), "scaler-ctl", "--tag", "127")
        self.assert_refused(run("scaler-ctl", url, "cancel", "--tag", ""), "scaler-ctl", "--tag", "127")
        self.assert_refused(run("scaler-ctl", url, "cancel", "--all", "--tag", "t"), "scaler-ctl", "--all", "--tag")
        self.assert_refused(run("scaler-ctl", url, "cancel", "--all", task), "scaler-ctl", "--all", "task ids")
        self.assert_refused(run("scaler-ctl", url, "list", "--all"), "scaler-ctl", "--all", "cancel")

    def test_selections_that_make_no_sense_are_named(self):
        url, task = "tcp://127.0.0.1:1", "0" * 15 + "1" + "0" * 15 + "1"
        for value in ("", "0", "0-3", "3-2", "-3", "a", "1-b", "1-2-3", "1 - 2", "99999999999999999999"):
            done = run("scaler-ctl", url, "list", "--range=" + value)
            self.assert_refused(done, "scaler-ctl", "--range", f"'{value}'")
        for value in ("", "sleeping", "ready,", "ready,no", "free", "none"):
            named = "'" + value.split(",")[-1] + "'"
            self.assert_refused(run("scaler-ctl", url, "list", "--state=" + value), "scaler-ctl", "--state", named)
        self.assert_refused(run("scaler-ctl", url, "status", "--state=ready"), "scaler-ctl", "--state", "list")
        self.assert_refused(run("scaler-ctl", url, "dump", "--last=1"), "scaler-ctl", "--last", "list")
        self.assert_refused(run("scaler-ctl", url, "cancel", "--range=1-2"), "scaler-ctl", "--range", "--client")
        self.assert_refused(run("scaler-ctl", url, "cancel", "--all", "--last=2"), "scaler-ctl", "--all", "--last")
        self.assert_refused(run("scaler-ctl", url, "cancel", "--state=ready", task), "scaler-ctl", "--state", "task ids")
        self.assert_refused(run("scaler-ctl", url, "explain", "x"), "scaler-ctl", "'x'")
        self.assert_refused(run("scaler-ctl", url, "explain", "0" * 32), "scaler-ctl", "task id")
        self.assert_refused(run("scaler-ctl", url, "explain", task, task), "scaler-ctl", f"'{task}'")
        self.assert_refused(run("scaler-ctl", url, "explain", "last", "x"), "scaler-ctl", "'x'")
        self.assert_refused(run("scaler-ctl", url, "explain", "worker", "a", "b"), "scaler-ctl", "'b'")
        self.assert_refused(run("scaler-ctl", url, "explain", "last", "--tag=t"), "scaler-ctl", "--tag")
        self.assert_refused(run("scaler-ctl", url, "explain", "last", "--last=1"), "scaler-ctl", "--last")
        self.assert_refused(run("scaler-ctl", url, "explain", "last", "--all"), "scaler-ctl", "--all", "cancel")
        self.assert_refused(run("scaler-ctl", url, "explain", task, "--client=" + task), "scaler-ctl", "--client")

    def test_what_is_missing_is_named(self):
        self.assert_refused(run("scaler-scheduler"), "scaler-scheduler", "URL")
        self.assert_refused(run("scaler-worker"), "scaler-worker", "URL")
        self.assert_refused(run("scaler-ctl"), "scaler-ctl", "command")
        self.assert_refused(run("scaler-ctl", "status"), "scaler-ctl", "URL")
        self.assert_refused(run("scaler-ctl", "tcp://127.0.0.1:1"), "scaler-ctl", "command")
        self.assert_refused(run("scaler-ctl", "tcp://127.0.0.1:1", "cancel"), "scaler-ctl", "task")
        self.assert_refused(run("scaler-ctl", "tcp://127.0.0.1:1", "explain"), "scaler-ctl", "task")
        self.assert_refused(run("scaler-ctl", "tcp://127.0.0.1:1", "explain", "worker"), "scaler-ctl", "name")
        self.assert_refused(run("scaler-run"), "scaler-run", "command")
        self.assert_refused(run("scaler-run", ":::", "a"), "scaler-run", "command")
        self.assert_refused(run("scaler-run", "--timeout"), "scaler-run", "--timeout")

    def test_limits_are_enforced_on_both_sides(self):
        for name, options in LIMITS.items():
            for option, (least, most) in options.items():
                self.assert_ends(run(name, option, least, option + "=" + most, "--version"), 0)
                for value in (beyond(least), beyond(most), "x", "", "1 ", "1x", "-1"):
                    self.assert_refused(run(name, option, value, "--version"), name, option, f"'{value}'")

    def test_words_stand_for_numbers_where_they_may(self):
        self.assert_ends(run("scaler-scheduler", "--client-grace=unlimited", "--version"), 0)
        self.assert_ends(run("scaler-worker", "--prefetch=none", "--version"), 0)
        self.assert_ends(run("scaler-scheduler", "--aging=none", "--version"), 0)
        self.assert_ends(run("scaler-scheduler", "--keys-kept=none", "--keys-age=unlimited", "--version"), 0)
        self.assert_refused(run("scaler-worker", "--prefetch=unlimited"), "scaler-worker", "--prefetch")
        self.assert_refused(run("scaler-run", "--timeout=none", "x"), "scaler-run", "--timeout")
        self.assert_refused(run("scaler-run", "--log-level=loud", "x"), "scaler-run", "'loud'")

    def test_a_priority_lies_within_a_thousand_either_way(self):
        for value in ("-1000", "0", "1000"):
            self.assert_ends(run("scaler-run", "--priority", value, "--priority=" + value, "--version"), 0)
        for value in ("-1001", "1001", "", "-", "--1", "+1", "1.5"):
            self.assert_refused(run("scaler-run", "--priority", value, "--version"), "scaler-run", "--priority",
                                f"'{value}'")

    def test_amounts_and_lists_that_are_wrong_are_named_with_the_part(self):
        url = "tcp://127.0.0.1:1"
        for option, value, part in (("--needs", "mem=1G,gpu=two", '"gpu=two"'), ("--needs", "a,a", '"a,a"'),
                                    ("--retry-on", "1,70-,2", '"70-"'), ("--retry-on", "1,,2", '""')):
            self.assert_refused(run("scaler-run", "-s", url, option, value, "echo", ":::", "a"), "scaler-run", option,
                                part)
        for value, part in (("gpu=0", '"gpu=0"'), ("x=1,1gpu", '"1gpu"'), ("cpu", '"cpu"'), ("gpu=1,", '""')):
            done = run("scaler-worker", "--offers", value, url)
            self.assert_ends(done, 1, "")
            self.assertIn(part, done.stderr.decode())
        self.assert_refused(run("scaler-run", "--needs=gpu=1", "echo", ":::", "a"), "scaler-run", "--needs",
                            "--scheduler")
        self.assert_refused(run("scaler-run", "--task-tag", "t" * 128, "echo", ":::", "a"), "scaler-run", "--task-tag",
                            "127")

    def test_tenants_and_policies_that_are_wrong_are_named(self):
        url = "tcp://127.0.0.1:0"
        for value in ("team", "team:", "team:weight=0", "team:weight=1000001", "team:weight=1,weight=2",
                      "team:queued=1073741824", "team:running=4294967296", "team:speed=5", "team:weight=1,",
                      "team:weight=-1"):
            self.assert_refused(run("scaler-scheduler", "--tenant", value, url), "scaler-scheduler", "--tenant",
                                f"'{value}'")
        self.assert_refused(run("scaler-scheduler", "--allocate=best", url), "scaler-scheduler", "--allocate", "'best'")
        again = run("scaler-scheduler", "--tenant=a:b:weight=1", "--tenant=a:b:queued=1", url)
        self.assert_ends(again, 1, "")
        self.assertIn("another one has its name", again.stderr.decode())
        most = "team:weight=1000000,queued=1073741823,running=4294967295"
        taken = run("scaler-scheduler", "--tenant", most, "--tenant=*:running=1", "--tenant=:weight=5",
                    "--allocate=even_load", "--aging=none", "tcp://127.0.0.1:1:1")
        self.assert_ends(taken, 1, "")
        self.assertNotIn("tenant", taken.stderr.decode())

    def test_letters_may_be_joined_with_each_other_and_with_their_value(self):
        self.assert_ends(run("scaler-run", "-unj2", "echo", ":::", "a"), 0, "echo a\n", "")

    def test_options_end_at_the_command(self):
        self.assert_ends(run("scaler-run", "-n", "ls", "-l", "--json", "--", ":::", "a"), 0, "ls -l --json -- a\n", "")
        self.assert_ends(run("scaler-run", "-n", "--", "--version", ":::", "a"), 0, "--version a\n", "")

    def test_what_does_not_go_together_is_refused(self):
        self.assert_refused(run("scaler-run", "-a", "f", "echo", ":::", "a"), "scaler-run", "--arg-file")
        self.assert_refused(run("scaler-run", "--json", "--tag", "echo", ":::", "a"), "scaler-run", "--json", "--tag")
        for pair in (["--json", "-v"], ["--json", "--line-buffer"], ["--group", "--line-buffer"],
                     ["--results=d", "--line-buffer"], ["--eta", "--no-progress"]):
            words = [word.split("=")[0] for word in pair if word != "-v"]
            self.assert_refused(run("scaler-run", *pair, "echo", ":::", "a"), "scaler-run", *words)
        log = "--joblog=" + self.path("log")
        self.assert_refused(run("scaler-run", log, "--resume", "--retry-failed"), "scaler-run", "--retry-failed")
        self.assert_refused(run("scaler-run", log, "--retry-failed", "echo"), "scaler-run", "a command")
        self.assert_refused(run("scaler-run", log, "--retry-failed", ":::", "a"), "scaler-run", "inputs")
        self.assert_refused(run("scaler-run", log, "--retry-failed", "--results=d"), "scaler-run", "--results")
        self.assertFalse(os.path.exists(self.path("log")))
        for option in ("--resume", "--retry-failed"):
            self.assert_refused(run("scaler-run", option, "echo"), "scaler-run", option, "--joblog")

    def test_lists_without_what_they_need_are_refused(self):
        self.assert_refused(run("scaler-run", "echo", ":::+", "a"), "scaler-run", "':::+'")
        self.assert_refused(run("scaler-run", "echo", "::::+", "a"), "scaler-run", "'::::+'")
        self.assert_refused(run("scaler-run", "echo", "::::"), "scaler-run", "'::::'")
        self.assert_refused(run("scaler-run", "-a", "f", "echo", "::::", "g"), "scaler-run", "--arg-file")

    def test_words_that_mean_nothing_are_named(self):
        bad = {"--halt": ["", "now", "soon,fail=0", "soon,fail=101%", "now,fail=1000000001"],
               "--max-rate": ["", "0", "1000001", "5/d", "1/s "],
               "--colsep": ["", "[", "(", "a**("], "--workdir": [""], "--results": [""], "--joblog": [""]}
        for option, values in bad.items():
            for value in values:
                done = run("scaler-run", "-n", option, value, "echo", ":::", "a")
                self.assert_refused(done, "scaler-run", option, f"'{value}'")
        good = {"--halt": ["never", "soon,fail=1", "now,success=100%", "soon,done=1000000000"],
                "--max-rate": ["1", "1000000/s", "1/m", "1/h"]}
        for option, values in good.items():
            for value in values:
                self.assert_ends(run("scaler-run", "-n", option, value, "echo", ":::", "a"), 0, "echo a\n", "")

    def test_tokens_are_checked_before_anything_else(self):
        for name in ("scaler-scheduler", "scaler-worker"):
            url = "tcp://127.0.0.1:0"
            self.assert_refused(run(name, "--token-file", self.path("none"), url), name, "--token-file", "No such file")
            self.assert_refused(run(name, "--token-file", self.write("e", "\n"), url), name, "1 to 1024")
            self.assert_refused(run(name, "--token-file", self.write("l", "x" * 1025), url), name, "1 to 1024")
            self.assert_refused(run(name, url, env={"SCALER_TOKEN": "x" * 1025}), name, "SCALER_TOKEN")

    def test_options_of_tls_without_an_address_of_tls_are_refused(self):
        options = (["--tls-cert=f"], ["--tls-key=f"], ["--tls-ca=f"])
        for option in (*options, ["--tls-mutual"]):
            name = option[0].split("=")[0]
            for url in ("tcp://127.0.0.1:0", "ipc://" + self.path("s")):
                self.assert_refused(run("scaler-scheduler", *option, url), "scaler-scheduler", name, f"'{url}'")
        self.assert_refused(run("scaler-scheduler", "--tls-mutual", "tls+tcp://127.0.0.1:0", "tcp://127.0.0.1:0"),
                            "scaler-scheduler", "--tls-mutual", "'tcp://127.0.0.1:0'")
        url = "tcp://127.0.0.1:1"
        for option in (*options, ["--tls-name=n"], ["--tls-unverified"]):
            name = option[0].split("=")[0]
            self.assert_refused(run("scaler-worker", *option, url), "scaler-worker", name, f"'{url}'")
            self.assert_refused(run("scaler-ctl", *option, url, "status"), "scaler-ctl", name, f"'{url}'")
            self.assert_refused(run("scaler-run", *option, "-s", url, "true"), "scaler-run", name, f"'{url}'")
            self.assert_refused(run("scaler-run", *option, "true"), "scaler-run", name, "tls+tcp://")

    def test_refusals_name_the_options_that_would_help(self):
        done = run("scaler-scheduler", "tcp://0.0.0.0:0")
        self.assert_ends(done, 1)
        self.assertIn(b"anybody could come in", done.stderr)
        self.assertIn(b"(--token-file, --tls-mutual, --insecure)", done.stderr)
        done = run("scaler-ctl", "tls+tcp://127.0.0.1:1", "status")
        self.assert_ends(done, 1)
        self.assertIn(b"(--tls-ca, --tls-unverified)", done.stderr)


if __name__ == "__main__":
    main()
