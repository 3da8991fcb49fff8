#!/usr/bin/env bash
# Every deliberate bug must be noticed by the simulator.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../sim/bugs.py"
