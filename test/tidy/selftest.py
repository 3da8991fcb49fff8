"""The checks checked: each rule is broken once in a small tree of its own and must be reported there, and a
clean tree must pass.
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OPEN = '/* What this is. */\n'
CLEAN = {
    'lib/base/sc_a.h': OPEN + '#ifndef SC_A_H\n#define SC_A_H\nint sc_a(void);\n#endif\n',
    'lib/base/sc_a.c': OPEN + '#include "sc_a.h"\n\n#include <string.h>\n\nint sc_a(void)\n{\n        return 1;\n}\n',
    'lib/core/core.h': OPEN + '#ifndef CORE_H\n#define CORE_H\n#include "sc_a.h"\n#endif\n',
    'lib/wire/codec.h': OPEN + '#ifndef CODEC_H\n#define CODEC_H\n#endif\n',
    'lib/port/port.h': OPEN + '#ifndef PORT_H\n#define PORT_H\n#ifdef __linux__\n#endif\n#endif\n',
    'test/sim/bugs/bug_list.py': "BUGS = [('b', 'base/sc_a.c', 'return 1;', 'return 2;')]\n",
    'test/unit/t.c': '/* sleep(1) in words is fine */\nconst char *text = "usleep(1); // \\" sleep(2)";\n',
    'examples/e.c': '#include <scaler.h>\n',
    'lib/role/said.c': OPEN + 'void sc_f(void)\n{\n        sc_log(rt, SCALER_LOG_WARN, "x", "%s: is %d high", n, 1);\n}\n',
    'doc/operations.md': '| `NAME: is N high` | lower it |\n| `ID wet with N drops` | wait |\n',
}
BUILT = 'void sc_f(void)\n{\n        if (NOTE;\n        sc_sched_text(&line, " with ");\n}\n'
LONG = 'int sc_l(void)\n{\n' + '        ;\n' * 68 + '}\n'
# script, file, text, rule that must be reported; None: nothing may be
CASES = [
    ('lines', 'lib/base/x.c', OPEN + '// ' + 'x' * 117 + '\n' + LONG, None),
    ('lines', 'lib/base/x.c', OPEN + '// ' + 'x' * 118 + '\n', 'line-length'),
    ('lines', 'lib/base/x.c', OPEN + LONG.replace('{\n', '{\n        ;\n'), 'function-length'),
    ('lines', 'lib/base/x.c', OPEN + '\n' * 799, None),
    ('lines', 'lib/base/x.c', OPEN + '\n' * 800, 'file-length'),
    ('lines', 'lib/base/x.c', OPEN + '\tint a;\n', 'tab'),
    ('lines', 'test/x.py', 'a = 1 \n', 'trailing-blank'),
    ('lines', 'doc/x.md', 'TO' + 'DO\n', 'unfinished'),
    ('lines', 'lib/base/x.c', '#include <stddef.h>\n', 'opening'),
    ('lines', 'tools/x.c', 'int a;', 'last-line'),
    ('calls', 'tools/x.c', 'int f(char *a) { return strcpy (a, a); }\n', 'banned-call'),
    ('calls', 'tools/x.c', 'int f(char *a) { return my_strcpy(a, a); } // strcpy(a)\n', None),
    ('calls', 'test/sim/x.c', 'void f(void) { usleep(1); }\n', 'sleep'),
    ('calls', 'lib/core/x.c', 'void f(void) { printf("x"); }\n', 'host-only-call'),
    ('calls', 'lib/core/x.c', 'void f(void) { snprintf(0, 0, ""); _exit(1); s->exit(2); s.sleep(1); }\n', None),
    ('calls', 'lib/core/x.c', '#ifdef A\n#endif\n', 'conditional'),
    ('calls', 'lib/core/x.h', '#ifndef X_H\n#define X_H\n#if A\n#endif\n#endif\n', 'conditional'),
    ('includes', 'lib/core/x.c', '#include "codec.h"\n', 'include'),
    ('includes', 'lib/wire/x.c', '#include "core.h"\n', 'include'),
    ('includes', 'lib/base/x.c', '#include "port.h"\n', 'include'),
    ('includes', 'lib/base/x.c', '#include "../base/sc_a.h"\n', 'include'),
    ('includes', 'lib/port/x.c', '#include "port.h"\n#include "core.h"\n#include "codec.h"\n', None),
    ('includes', 'lib/port/x.c', '#include <poll.h>\n', None),
    ('includes', 'lib/port/x.c', '#include <nng/nng.h>\n', 'include'),
    ('includes', 'lib/port/net_nng.c', '#include <nng/nng.h>\n', None),
    ('includes', 'lib/port/net_nng.h', '#include <nng/nng.h>\n', 'include'),
    ('includes', 'lib/core/x.c', '#include <pthread.h>\n', 'include'),
    ('includes', 'lib/wire/x.c', '#include <msgpack.h>\n', 'include'),
    ('includes', 'test/unit/wire/x.c', '#include <msgpack.h>\n', None),
    ('includes', 'lib/core/x.c', '#include "scaler.h"\n', 'include'),
    ('includes', 'tools/x.c', '#include "core.h"\n', 'include'),
    ('includes', 'lib/role/core.h', '', 'include'),
    ('bugs', 'test/sim/bugs/bug_list.py', "BUGS = [('b', 'base/sc_a.c', 'return 3;', '')]\n", 'bug'),
    ('bugs', 'test/sim/bugs/bug_list.py', "BUGS = [('b', 'base/sc_a.c', 'sc_a', '')]\n", 'bug'),
    ('named', 'doc/testing.md', 'see `a_test_that_is_nowhere`\n', 'named-test'),
    ('notes', 'lib/role/x.c', 'void f(void) { sc_log(rt, SCALER_LOG_ERROR, "x", "%s: is low", n); }\n', 'note'),
    ('notes', 'lib/role/x.c', 'void f(void) { sc_log(rt, SCALER_LOG_INFO, "x", "%s: is low", n); }\n', None),
    ('notes', 'lib/role/x.c', 'void f(void) { sc_log(rt, SCALER_LOG_WARN, "x", format, n); }\n', 'note'),
    ('notes', 'lib/role/x.c', 'void f(void) { sc_station_note(st, peer, "gone: ", why, len); }\n', 'note'),
    ('notes', 'lib/role/x.c', 'void f(void) { sc_peer_refuse(st, peer, E, "it is wet"); }\n', 'note'),
    ('notes', 'lib/core/x.c', 'void f(void) { sc_sched_nonsense(s, l, E, "is 4 " "high", out); }\n', 'note'),
    ('notes', 'lib/core/x.c', BUILT.replace('NOTE', 'sc_sched_note(s)) sc_sched_text(&line, "wet ")'), None),
    ('notes', 'lib/core/x.c', BUILT.replace('NOTE', 'sc_sched_note(s)) sc_sched_text(&line, "dry ")'), 'note'),
    ('notes', 'lib/core/x.c', BUILT.replace('NOTE', 'sc_sched_note(s)) more(line)'), None),
    ('notes', 'lib/core/x.c', 'void f(void)\n{\n        sc_out_add(out, SC_FX_NOTE)->text = text;\n}\n', 'note'),
    ('notes', 'lib/core/x.c', 'void f(void)\n{\n        char a[] = "dry";\n        sc_out_add(out, SC_FX_NOTE);\n}\n', 'note'),
]


def run_case(script, extra):
    """What a check says about the clean tree with `extra` files laid over it: (exit code, output)."""
    with tempfile.TemporaryDirectory() as top:
        for name, text in {**CLEAN, **extra}.items():
            path = pathlib.Path(top) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, '-B', str(HERE / f'{script}.py'), top], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def judge(script, name, rule, code, said):
    if rule is None:
        good = code == 0
    else:
        good = code == 1 and any(line.startswith(name + ':') and f' {rule}: ' in line for line in said.splitlines())
    if not good:
        print(f'{script} on {name}, wanted {rule}: exit {code}\n{said}')
    return good


SYMBOL_CASES = [
    ('core', 'int sc_a(void); int sc_c(void); int sc_c(void) { return sc_a(); }', None),
    ('core', 'int sc_w(void); int sc_c(void); int sc_c(void) { return sc_w(); }', 'needs: sc_w'),
    ('core', 'int getpid(void); int sc_c(void); int sc_c(void) { return getpid(); }', 'needs: getpid'),
    ('core', 'int other(void); int other(void) { return 1; }', 'name: other'),
    ('core', 'int sc_count = 3;', 'sc_count:0: mutable-global'),
    ('core', 'static int hidden; int sc_c(void); int sc_c(void) { return hidden++; }', 'hidden:0: mutable-global'),
    ('core', 'extern const char *const sc_names[]; const char *const sc_names[] = {"a", "b"};', None),
    ('core', '__attribute__((visibility("default"))) int scaler_x(void) { return 1; }', 'abi: scaler_x'),
]


def build_library(build, floor, source):
    """A floor's archive, libscaler.a and libscaler.so around one source, as the real build lays them out."""
    lib = build / 'lib'
    lib.mkdir(parents=True, exist_ok=True)
    others = {'base': 'int sc_a(void) { return 1; }', 'wire': 'int sc_w(void) { return 1; }', floor: source}
    objects = []
    for name, text in others.items():
        (build / f'{name}.c').write_text(text)
        objects.append(str(build / f'{name}.o'))
        subprocess.run(['cc', '-fPIC', '-fvisibility=hidden', '-c', '-o', objects[-1], str(build / f'{name}.c')],
                       check=True)
        subprocess.run(['ar', 'rcs', str(lib / f'libsc_{name}.a'), objects[-1]], check=True)
    subprocess.run(['ar', 'rcs', str(lib / 'libscaler.a'), *objects], check=True)
    subprocess.run(['cc', '-shared', '-Wl,-soname,libscaler.so.0', '-Wl,-z,nodelete', '-o', str(lib / 'libscaler.so'),
                    *objects], check=True)
    (build / 'compile_commands.json').write_text('[{"file": "a.c", "command": "cc -Wvla -Werror -std=c11 a.c"}]')


def symbol_case(floor, source, wanted):
    with tempfile.TemporaryDirectory() as top:
        build = pathlib.Path(top) / 'build'
        build_library(build, floor, source)
        done = subprocess.run([sys.executable, '-B', str(HERE / 'symbols.py'), top, str(build)],
                              capture_output=True, text=True)
        said = done.stdout + done.stderr
        good = done.returncode == 0 if wanted is None else done.returncode == 1 and wanted in said
        if not good:
            print(f'symbols on {source}, wanted {wanted}: exit {done.returncode}\n{said}')
        return good


def main():
    good = [judge(script, '', None, *run_case(script, {})) for script in ('lines', 'calls', 'includes', 'notes')]
    good += [judge(script, name, rule, *run_case(script, {name: text})) for script, name, text, rule in CASES]
    good += [symbol_case(*case) for case in SYMBOL_CASES]
    print(f'{good.count(True)} of {len(good)} cases are as they should be')
    return 0 if all(good) else 1


if __name__ == '__main__':
    sys.exit(main())
