"""The shells' completions: every option of --help is in each, they are what --help makes of them, and they work."""
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import unittest

from harness import BUILD, LIMIT, ToolTest, main, run

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools/completions")


def load_maker():
    loader = importlib.machinery.SourceFileLoader("make_completions", os.path.join(FOLDER, "make"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def read(name):
    with open(os.path.join(FOLDER, name)) as file:
        return file.read()


class Completions(ToolTest):
    def setUp(self):
        super().setUp()
        self.maker = load_maker()

    def test_every_option_is_in_each(self):
        for name in self.maker.TOOLS:
            text = run(name, "--help").stdout.decode()
            options = [word.rstrip(",") for line in text.splitlines() if line.startswith("  ")
                       for word in line.split()[:2] if word.startswith("--")]
            self.assertIn("--version", options)
            self.assertEqual(len(options), len(self.maker.options_of(BUILD, name)))
            for option in options:
                self.assertIn(option + " ", read("bash/" + name).replace("\n", " "))
                self.assertRegex(read("zsh/_" + name), option + r"[=\[}]")
                self.assertIn(" -l " + option[2:] + " ", read(f"fish/{name}.fish"))

    def test_they_are_what_help_makes_of_them(self):
        for name, content in self.maker.make(BUILD).items():
            self.assertEqual(read(name), content, name + " is old: run tools/completions/make BUILD")

    def in_bash(self, *words):
        script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); complete -p "$1" >/dev/null || exit 1; ' \
                 '_${1//-/_}; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, os.path.join(FOLDER, "bash", words[0]), *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return sorted(done.stdout.decode().split())

    def test_bash_completes_options_values_and_commands(self):
        self.write("some.log", "")
        os.mkdir(self.path("some"))
        self.assertEqual(self.in_bash("scaler-run", "--jo"), ["--joblog", "--jobs"])
        self.assertEqual(self.in_bash("scaler-run", "--joblog", "so"), ["some", "some.log"])
        self.assertEqual(self.in_bash("scaler-run", "--joblog", "=", "some."), ["some.log"])
        self.assertEqual(self.in_bash("scaler-run", "--results", "so"), ["some"])
        for words in (["=", ""], ["="], [""]):
            levels = self.in_bash("scaler-run", "--log-level", *words)
            self.assertEqual(levels, ["debug", "error", "info", "none", "warn"])
        self.assertEqual(self.in_bash("scaler-run", "-j", "4"), [])
        for before in ([], ["-u"], ["-j", "4"], ["--jobs", "=", "4"], ["--"]):
            self.assertIn("sort", self.in_bash("scaler-run", *before, "sor"), before)
            self.assertEqual(self.in_bash("scaler-run", *before, "sort", "some."), ["some.log"], before)
        self.assertEqual(self.in_bash("scaler-run", "sort", "--jo"), [])
        self.assertEqual(self.in_bash("scaler-ctl", "wo"), ["workers"])
        self.assertEqual(self.in_bash("scaler-worker", "--no-c"), ["--no-commands"])

    def test_the_others_can_be_read_by_their_shells(self):
        here = [shell for shell in ("zsh", "fish") if shutil.which(shell)]
        if not here:
            raise unittest.SkipTest("neither zsh nor fish is here")
        for shell in here:
            folder = os.path.join(FOLDER, shell)
            for name in os.listdir(folder):
                done = subprocess.run([shell, "-n", os.path.join(folder, name)], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, timeout=LIMIT)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""), name)

    def test_fish_completes_options(self):
        if not shutil.which("fish"):
            raise unittest.SkipTest("fish is not here")
        script = f'source {FOLDER}/fish/scaler-run.fish; complete -C "scaler-run --jo"'
        done = subprocess.run(["fish", "--no-config", "-c", script], stdout=subprocess.PIPE, timeout=LIMIT,
                              env={**os.environ, "HOME": self.folder})
        self.assertEqual([line.split("\t")[0] for line in done.stdout.decode().splitlines()], ["--joblog", "--jobs"])


if __name__ == "__main__":
    main()
