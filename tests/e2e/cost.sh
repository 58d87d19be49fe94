#!/usr/bin/env bash
# cost.sh -- small inputs at the ends of their ranges: at most a second and 256 MB, or a word. A sample; SEEDS=1-2000
# takes others, as `make check-cost` does. TAP on stdout.
. "$(dirname "$0")/../support/tap.sh"
KBGEN=${KBGEN:-$B/kbgen}
case $KBGEN in /*) ;; *) KBGEN=$root/$KBGEN ;; esac
nm "$B/kernbench" | grep -q '__\(asan_init\|tsan_init\|ubsan_handle\|gcov_\)' && none "a sanitizer takes many times as much"
python3 "$root/tests/cost/cost.py" "$B/kernbench" "$KBGEN" "${SEEDS:-1-8}"
