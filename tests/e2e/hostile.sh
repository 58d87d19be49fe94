#!/usr/bin/env bash
# hostile.sh -- texts full of signs, as names of files, operands, fields, kernels: every output parses and
# holds them, every message is safe for a terminal. TAP on stdout.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
KBGEN=${KBGEN:-$B/kbgen}
case $KBGEN in /*) ;; *) KBGEN=$root/$KBGEN ;; esac
python3 "$root/tests/hostile/hostile.py" "$SIM" "$B/_t/hostile" "$KBGEN" "$root/topologies/cube1.yaml"
