"""The public header alone, at its strictest: `compiles.py COMPILER STANDARD HEADER` compiles a file that
includes it twice and nothing else.  Exit code 77, a skip, when there is no such compiler.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

STRICT = ['-Wall', '-Wextra', '-pedantic', '-Werror', '-Wshadow', '-Wundef', '-Wconversion']
STRICT_C = ['-Wstrict-prototypes', '-Wmissing-prototypes']
SOURCE = '#include "scaler.h"\n#include "scaler.h"\nint main(void) { return 0; }\n'


def main(compiler, standard, header):
    if not shutil.which(compiler):
        print(f'{compiler} is not installed')
        return 77
    cplusplus = '++' in standard
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / ('only.cc' if cplusplus else 'only.c')
        source.write_text(SOURCE)
        return subprocess.run([compiler, f'-std={standard}', *STRICT, *([] if cplusplus else STRICT_C),
                               '-I', str(pathlib.Path(header).parent), '-fsyntax-only', str(source)]).returncode


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
