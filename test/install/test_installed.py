"""The installed tree as others use it: installed into a folder of its own, found there by pkg-config and by CMake,
linked shared and static; the examples are built from it and do what they do in the build; so does the program
in the README; the pages render; the units are good.

SCALER_BUILD names the build directory, SCALER_TOP the sources, MESON the program to install with."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.environ["SCALER_BUILD"]
TOP = pathlib.Path(os.environ["SCALER_TOP"])
EXAMPLES = ["hello", "embed_scheduler", "spawn_workers", "host_loop", "commands", "fibonacci", "graph", "plugin_client"]
STRICT = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
LIMIT = 120

CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.16)
project(others C)
find_package(scaler @VERSION@ REQUIRED)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
add_definitions(-D_GNU_SOURCE)
foreach(name @NAMES@)
  add_executable(${name} "@TOP@/examples/${name}.c")
  target_link_libraries(${name} scaler::scaler)
endforeach()
add_library(plugin MODULE "@TOP@/examples/plugin.c")
set_target_properties(plugin PROPERTIES PREFIX "")
target_link_libraries(plugin scaler::scaler)
add_executable(hello_static "@TOP@/examples/hello.c")
target_link_libraries(hello_static scaler::static)
"""


def have(program):
    return shutil.which(program) is not None


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="scaler-installed-")
        cls.root = pathlib.Path(cls.folder.name)
        subprocess.run([os.environ["MESON"], "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir",
                        str(cls.root / "dest")], check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
        options = json.loads(subprocess.run([os.environ["MESON"], "introspect", "--buildoptions", BUILD], check=True,
                                            capture_output=True, text=True).stdout)
        cls.option = {each["name"]: each["value"] for each in options}
        cls.prefix = pathlib.Path(f"{cls.root}/dest{cls.option['prefix']}")
        cls.lib = cls.prefix / cls.option["libdir"]
        cls.man = cls.prefix / cls.option["mandir"]
        cls.env = {key: value for key, value in os.environ.items() if not key.startswith("SCALER_")}
        cls.env.update(LD_LIBRARY_PATH=str(cls.lib), PKG_CONFIG_PATH=str(cls.lib / "pkgconfig"),
                       PYTHONDONTWRITEBYTECODE="1")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def call(self, *command, **more):
        done = subprocess.run([str(word) for word in command], env={**self.env, **more.pop("env", {})},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, **more)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def flags(self, *options):
        return shlex.split(self.call("pkg-config", f"--define-variable=prefix={self.prefix}", *options, "scaler"))

    def compile(self, name, into, flags):
        into.mkdir(exist_ok=True)
        plugin = name == "plugin"
        out = into / (name + ".so" if plugin else name)
        self.call("cc", *STRICT, *(["-shared", "-fPIC", "-fvisibility=hidden"] if plugin else []), "-o", out,
                  TOP / f"examples/{name}.c", *flags)
        return out

    def needed(self, program):
        return re.findall(r"\(NEEDED\).*\[(.*)\]", self.call("readelf", "-d", program))

    def run_examples(self, where):
        """The tests of the examples, over programs in `where` and the installed tools."""
        view = where.parent / (where.name + ".view")
        view.mkdir()
        (view / "examples").symlink_to(where)
        (view / "tools").symlink_to(self.prefix / self.option["bindir"])
        self.call(sys.executable, "-B", TOP / "test/integration/tools/test_examples.py",
                  env={"SCALER_BUILD": str(view)})

    # ---- pkg-config

    def test_examples_link_with_what_pkg_config_says(self):
        flags = self.flags("--cflags", "--libs")
        for name in EXAMPLES + ["plugin"]:
            program = self.compile(name, self.root / "shared", flags)
            self.assertIn("libscaler.so.0", self.needed(program))
        self.run_examples(self.root / "shared")

    def test_a_shared_program_names_nothing_but_scaler(self):
        said = self.flags("--libs")
        self.assertEqual([flag for flag in said if not flag.startswith("-L")], ["-lscaler"])
        program = self.compile("hello", self.root / "plain", self.flags("--cflags", "--libs"))
        self.assertNotIn("libnng.so.1", self.needed(program))

    def test_examples_link_with_the_archive_alone(self):
        flags = [flag.replace("-lscaler", "-l:libscaler.a") for flag in self.flags("--cflags", "--libs", "--static")]
        for name in EXAMPLES:
            program = self.compile(name, self.root / "archive", flags)
            self.assertFalse([each for each in self.needed(program) if "scaler" in each])
        self.compile("plugin", self.root / "archive", self.flags("--cflags", "--libs"))
        self.run_examples(self.root / "archive")

    def test_a_program_links_with_nothing_shared_at_all(self):
        # glibc warns that names of hosts want its shared self; nothing else may be said.
        flags = self.flags("--cflags", "--libs", "--static")
        program = self.compile("hello", self.root / "static", ["-static", *flags])
        self.assertEqual(self.needed(program), [])
        self.assertEqual(self.call(program), "hello, world\n")

    def test_msgpack_is_asked_of_nobody(self):
        self.assertNotIn("msgpack", (self.lib / "pkgconfig/scaler.pc").read_text())
        self.assertFalse([each for each in self.needed(self.lib / "libscaler.so") if "msgpack" in each])

    def test_no_installed_text_names_the_build_or_the_sources(self):
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.suffix in (".pc", ".cmake", ".h", ".3", ".1", ".service", ".conf"):
                text = path.read_text()
                self.assertNotIn(str(pathlib.Path(BUILD).resolve()), text, path)
                self.assertNotIn(str(TOP.resolve()), text, path)

    def test_the_program_in_the_readme_prints_what_it_says(self):
        source = re.search(r"```c\n(#include <scaler.h>.*?)```", (TOP / "README.md").read_text(), re.S).group(1)
        (self.root / "square.c").write_text(source)
        program = self.root / "square"
        self.call("cc", "-std=c11", "-Wall", "-Werror", "-o", program, self.root / "square.c",
                  *self.flags("--cflags", "--libs"))
        self.assertEqual(self.call(program), "144\n")

    # ---- CMake

    def cmake_project(self, name, version):
        source = self.root / name
        source.mkdir()
        text = CMAKE_PROJECT.replace("@VERSION@", version).replace("@TOP@", str(TOP))
        (source / "CMakeLists.txt").write_text(text.replace("@NAMES@", " ".join(EXAMPLES)))
        return ["cmake", "-S", str(source), "-B", str(source / "build"), f"-DCMAKE_PREFIX_PATH={self.prefix}",
                f"-DCMAKE_LIBRARY_ARCHITECTURE={self.lib.name}"]

    @unittest.skipUnless(have("cmake"), "cmake is not installed")
    def test_examples_build_with_cmake(self):
        self.call(*self.cmake_project("cmake", self.version()))
        build = self.root / "cmake/build"
        self.call("cmake", "--build", build)
        self.assertIn("libscaler.so.0", self.needed(build / "hello"))
        self.assertFalse([each for each in self.needed(build / "hello_static") if "scaler" in each])
        self.assertEqual(self.call(build / "hello_static"), "hello, world\n")
        self.run_examples(build)

    def version(self):
        return self.call("pkg-config", "--modversion", "scaler").strip()

    @unittest.skipUnless(have("cmake"), "cmake is not installed")
    def test_cmake_takes_the_versions_that_are_compatible(self):
        major, minor, patch = self.version().split(".")
        good = [f"{major}.{minor}", major, f"{major}.{minor}.{patch} EXACT"]
        bad = [f"{major}.{int(minor) + 1}", f"{int(major) + 1}.0", f"{major}.{minor}.{int(patch) + 1}", f"{major}.9999"]
        for number, wanted in enumerate(good + bad):
            done = subprocess.run(self.cmake_project(f"version{number}", wanted), env=self.env, capture_output=True,
                                  timeout=LIMIT)
            self.assertEqual(done.returncode == 0, wanted in good, (wanted, done.stderr))

    # ---- pages

    def functions(self):
        text = (self.prefix / self.option["includedir"] / "scaler.h").read_text()
        return re.findall(r"^SCALER_API [^;]*?(\w+)\(", text, re.M)

    def test_every_function_has_a_page(self):
        functions = self.functions()
        self.assertGreater(len(functions), 80)
        for name in functions:
            page = (self.man / f"man3/{name}.3").read_text()
            home = re.fullmatch(r"\.so (man3/\w+\.3)\n", page)
            if home:
                page = (self.man / home.group(1)).read_text()
            self.assertIn(f"\n.SS {name}()\n", page)
            self.assertRegex(page, rf"\.SH NAME\n[^\n]*\b{name}\b")

    def pages(self):
        return [path for path in sorted(self.man.glob("man[13]/*")) if not path.read_text().startswith(".so ")]

    def test_every_page_leads_somewhere(self):
        for path in self.man.glob("man3/*"):
            home = re.match(r"\.so (\S+)", path.read_text())
            self.assertTrue(not home or (self.man / home.group(1)).is_file(), path)

    @unittest.skipUnless(have("mandoc"), "mandoc is not installed")
    def test_mandoc_finds_nothing_to_warn_about(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *map(str, self.pages())], capture_output=True,
                              text=True, timeout=LIMIT)
        # The pages name a version instead of a date.
        said = [line for line in done.stdout.splitlines() if "missing date" not in line]
        self.assertEqual(said, [])

    @unittest.skipUnless(have("groff"), "groff is not installed")
    def test_groff_renders_every_page_without_a_warning(self):
        for path in self.pages():
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(path)], capture_output=True, text=True,
                                  timeout=LIMIT)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path)

    # ---- units

    @unittest.skipUnless(have("systemd-analyze"), "systemd-analyze is not installed")
    def test_the_units_are_good_and_walled_in(self):
        most = {"scaler-scheduler.service": 1.5, "scaler-worker@1.service": 4.0}
        units = self.root / "units"
        units.mkdir()
        for path in (self.prefix / "lib/systemd/system").iterdir():
            text = path.read_text().replace(self.option["prefix"] + "/", f"{self.prefix}/")
            (units / path.name.replace("@", "@1")).write_text(text)
        self.assertEqual(sorted(path.name for path in units.iterdir()), sorted(most))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *map(str, units.iterdir())],
                              capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name, exposure in most.items():
            said = subprocess.run(["systemd-analyze", "security", "--offline=true", str(units / name)],
                                  capture_output=True, text=True, timeout=LIMIT).stdout
            self.assertLessEqual(float(re.search(r"exposure level for .*: ([\d.]+)", said).group(1)), exposure, name)

    def test_the_sample_configuration_is_taken_by_the_tools(self):
        folder = TOP / "doc/systemd"
        for name, tool in (("scheduler", "scaler-scheduler"), ("worker", "scaler-worker")):
            words = re.search(r"^SCALER_OPTIONS=(.*)$", (folder / f"{name}.conf").read_text(), re.M).group(1)
            self.call(self.prefix / self.option["bindir"] / tool, *shlex.split(words), "--help")
            for variable in re.findall(r"\$(SCALER_\w+)", (folder.glob(f"scaler-{name}*.in").__next__()).read_text()):
                self.assertRegex((folder / f"{name}.conf").read_text(), rf"(?m)^{variable}=")


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed")
    sys.exit(1 if bad or not result.testsRun else 0)
