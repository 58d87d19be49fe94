#!/usr/bin/env bash
# run.sh -- the same transactions by us and by others; `make bench-peers` builds what it runs.
#
# usage: run.sh [systemc|systemc_fifo|simgrid|simpy]...; without words all. B names the build, ROUNDS how many.
# Every peer has to complete every transaction at the femtosecond at which we do, or this ends
# with 1. Samples are kept in $B/bench/peers.csv; tables, and the aims, go to stdout.
set -euo pipefail

B=${B:-build}
ROUNDS=${ROUNDS:-5}
PYTHON=${PYTHON:-/usr/bin/python3} # of Debian, as its SimPy
sets=$B/bench/peers
samples=$B/bench/peers.csv
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1

# What each runs: variants, transactions, rounds, and which mixes.
declare -A variants=([systemc]="method events thread hops" [systemc_fifo]="stations joined" [simgrid]="memories channels" [simpy]="hops lean")
declare -A rows=([systemc]=500000 [systemc_fifo]=300000 [simgrid]=100000 [simpy]=40000)
declare -A rounds=([systemc]=$ROUNDS [systemc_fifo]=$ROUNDS [simgrid]=$ROUNDS [simpy]=$((ROUNDS < 3 ? ROUNDS : 3)))
declare -A mixes=([systemc]="local remote local-varied remote-varied" \
    [systemc_fifo]="fifo-local fifo-remote fifo-local-varied fifo-remote-varied" [simgrid]="local remote" [simpy]="local remote")

# All on one core, if it can be chosen.
alone=
if command -v taskset >/dev/null; then
    alone="taskset -c $(taskset -cp $$ | sed 's/.*[^0-9]//')"
fi

version() {
    case $1 in
    simpy) $PYTHON -c "import os, sys; sys.path[:0] = filter(None, [os.environ.get('SIMPY_PATH')])
import simpy; print('SimPy', simpy.__version__, 'on Python', sys.version.split()[0])" 2>/dev/null ;;
    *) [ -x "$B/_p/$1" ] && { dpkg-query -W "lib${1%_fifo}-dev" 2>/dev/null || echo "$1"; } ;;
    esac
}

machine() {
    lscpu | awk -F ': *' '/^(Model name|CPU\(s\)|L1d cache|L2 cache|L3 cache)/ {
        printf "%s%s %s", sep, $1, $2; sep = "; " } END { print "" }'
    "${CC:-gcc}" --version | head -n 1
    echo "load $(cut -d ' ' -f 1-3 /proc/loadavg)"
}

# case_once PEER MIX CHANNELS ROUND: ours, then each variant; all have to agree.
case_once() {
    local set=$sets/$1.$2.$3 name="$1 $2 $(($3 * 64))" variant
    if [ ! -e "$set/done.txt" ]; then
        mkdir -p "$set"
        "$B/_p/export" "$2" "$3" "${rows[$1]}" "$set"
    fi
    $alone "$B/_p/export" "$2" "$3" "${rows[$1]}" "$name kernbench" "$4" >>"$samples"
    for variant in ${variants[$1]}; do
        run_variant "$1" "$variant" "$3" "$name $variant" "$4" "$set"
    done
}

# "12 at 85 fs, ours at 90 fs"; ids begin at 0, and a file may have ended
first_difference() {
    paste -d ' ' "$1/out.txt" "$1/done.txt" 2>/dev/null |
        awk '$1 != $2 { print NR - 1 " at " $1 " fs, ours at " $2 " fs"; found = 1; exit }
             END { if (!found) print "0: there is no result" }'
}

# run_variant PEER VARIANT CHANNELS NAME ROUND SET
run_variant() {
    local set=$6
    rm -f "$set/out.txt"
    case $1 in
    simpy) $alone "$PYTHON" perf/peers/simpy_model.py "$2" "$3" "$set/rows.csv" "$set/ways.csv" \
        "$set/out.txt" "$4" "$5" || true ;;
    *) $alone "$B/_p/$1" "$2" "$3" "$set/rows.csv" "$set/out.txt" "$4" "$5" 2>"$set/log" || cat "$set/log" >&2 ;;
    esac >>"$samples"
    if ! cmp -s "$set/out.txt" "$set/done.txt"; then
        echo "DIFFERS: $4: transaction $(first_difference "$set")" >&2
        wrong=$((wrong + 1))
    fi
    compared=$((compared + 1))
}

peer_rounds() {
    local round mix channels
    for round in $(seq "${rounds[$1]}"); do
        for mix in ${mixes[$1]}; do
            for channels in 1 160; do
                case_once "$1" "$mix" "$channels" "$round"
            done
        done
    done
}

rm -rf "$sets"
mkdir -p "$sets"
wrong=0 compared=0 missing=
echo 'name,unit,round,value' >"$samples"
machine
for name in "${@:-systemc systemc_fifo simgrid simpy}"; do
    for one in $name; do
        if version "$one"; then
            peer_rounds "$one"
        else
            echo "MISSING: $one cannot be had here; it is not measured"
            missing="$missing $one"
        fi
    done
done
rm -rf "$sets"
echo
awk -v table=peers -v missing="$missing" -f perf/report.awk -f perf/peers/report.awk "$samples"
echo
echo "$compared runs of peers, $((compared - wrong)) of them complete every transaction at our femtosecond"
[ "$wrong" = 0 ]
