"""`declares.py COMPILER TOP BUILD`: every symbol that the library shows is declared in scaler.h, and a program
in that language that takes the address of each of them links against the library.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main(compiler, top, build):
    if not shutil.which(compiler):
        print(f'{compiler} is not installed')
        return 77
    listed = (pathlib.Path(top) / 'doc/abi/scaler.symbols').read_text().splitlines()
    names = [line for line in listed if line and not line.startswith('#')]
    if not names:
        print('the library shows nothing')
        return 1
    table = ''.join(f'        reinterpret({name}),\n' for name in names)
    source = '#include "scaler.h"\n#define reinterpret(f) (void (*)(void))f\n' \
             'extern void (*const all[])(void);\n' \
             f'void (*const all[])(void) = {{\n{table}}};\n' \
             f'int main(void)\n{{\n        return all[{len(names) - 1}] ? 0 : 1;\n}}\n'
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / ('all.cc' if '++' in compiler else 'all.c')
        path.write_text(source)
        program = str(pathlib.Path(folder) / 'all')
        lib = f'{build}/lib'
        done = subprocess.run([compiler, '-Wall', '-Werror', '-I', top, '-o', program, str(path),
                               '-L', lib, '-lscaler', f'-Wl,-rpath,{lib}'])
        return done.returncode or subprocess.run([program]).returncode


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
