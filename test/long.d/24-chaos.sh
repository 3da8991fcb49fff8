#!/usr/bin/env bash
# Ten minutes over each kind of address: one role a second is killed with SIGKILL, and nothing is lost.  A seed may follow
# the build, to kill the same ones again.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export SCALER_BUILD=${1:-$top/build}
exec python3 "$top/test/integration/faults/chaos.py" 600 "${2:-$RANDOM$RANDOM}" tcp ipc
