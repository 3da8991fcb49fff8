#!/usr/bin/env bash
# Every unit program of the pure floors and the station under valgrind: no error, no definite leak.
set -u
top=${TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
passed=0 failed=0
for program in "$top"/build/test/unit/{base,msg,wire,core,role}/test_*; do
        [[ -f $program && -x $program ]] || continue
        if valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
                "$program" >/tmp/valgrind.$$ 2>&1; then
                passed=$((passed + 1))
        else
                failed=$((failed + 1))
                echo "$program"
                cat /tmp/valgrind.$$
        fi
done
rm -f /tmp/valgrind.$$
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
