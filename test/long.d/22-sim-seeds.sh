#!/usr/bin/env bash
# A hundred thousand seeds, on the release build.
exec "$(dirname "${BASH_SOURCE[0]}")/../../build/test/sim/sim" 1 100000
