#!/usr/bin/env bash
# collectives.sh -- what `make collectives` measures, of short vectors: rows, pictures, the choices of auto. Prints TAP.
#
# B names the build. Needs awk.
. "$(dirname "$0")/../support/tap.sh"
work=$PWD
at_top

call "$B/_p/collectives" "$work/rows.csv" "$work/rows.svg" 1024
[ $code -eq 0 ] && grep -q '</svg>' "$work/rows.svg"
ok "it ends, with pictures"
[ "$(cut -d, -f1-3 "$work/rows.csv" | grep -v ^topology | sort -u | wc -l)" -eq 12 ] &&
    awk -F, 'NR > 1 && !($9 > 0) { exit 1 }' "$work/rows.csv"
ok "rows of three machines, with both kinds of links"

plan
