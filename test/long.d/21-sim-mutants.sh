#!/usr/bin/env bash
# At least nine in ten random mutants of the cores must be noticed by the transcripts or by the simulator.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/../sim/mutants.py" 200 1 1500
