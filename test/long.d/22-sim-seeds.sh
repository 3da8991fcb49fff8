#!/usr/bin/env bash
# A hundred thousand seeds, the same each time, and fresh ones for an hour, on the release build.  One that fails says
# how to run it again.
sim=$(dirname "${BASH_SOURCE[0]}")/../../build/test/sim/sim
"$sim" 1 100000 && SIM_SECONDS=3600 "$sim"
