#!/usr/bin/env bash
# peers.sh -- what `make bench-peers` and the bench of M/M/1 rest on, without any peer.
#
# TAP on stdout. B names the build.
. "$(dirname "$0")/../support/tap.sh"
at_top
compiler=$(cut -d' ' -f1 "$B/_o/flags") # and what the libraries need beside it
instruments=$(grep -o -e '-fsanitize=[^ ]*' -e '--coverage' "$B/_o/flags" | xargs)

# build NAME SOURCE: a program of benches/
build() {
    # shellcheck disable=SC2086
    $compiler -std=c11 -D_GNU_SOURCE -O1 $instruments -Iruntime/include -Iruntime -I"$M/cube8" -I"$work" \
        -o "$work/$1" "$2" "$M/cube8/libcube8.a" "$B/libkernbench.a" -lm -lpthread
}

# expect NAME COMMAND...
expect() {
    call "${@:2}"
    [ $code -eq 0 ]
    ok "$1"
}

# The rows of export.c as replay has them.
replay_rows() {
    echo issue_ns,op,src,dst,offset,nbytes
    awk -F, '{ printf "0,read,c%d.pe%d,c%d.slice%d,0,4096\n", $1 / 8, $1 % 8, $2 / 8, $2 % 8 }' "$1"
}

# Columns 3 and 4 of the rows, the way and the hold, beside done and formula of replay.
same_as_replay() {
    "$work/export" "$1" 1 2000 "$work" || return
    replay_rows "$work/rows.csv" >"$work/replay.csv"
    "$M/cube8/cube8" replay "$work/replay.csv" --format csv >"$work/out.csv" || return
    cut -d, -f10,20 "$work/out.csv" | sed 1d | tr -d . | sed 's/^0*//; s/,0*/,/' >"$work/expected"
    awk -F, '{ printf "%.0f\n", $3 + $4 }' "$work/rows.csv" | paste -d, "$work/done.txt" - | cmp - "$work/expected"
}

# With one PE's channels only: another width takes a topology of its own.
for t in bench_c160 bench_v2 bench_v2_c160; do
    echo "#define ${t}_topology cube8_topology" >"$work/$t.h"
done
expect "export.c builds" build export perf/peers/export.c
for mix in local remote; do
    expect "$mix: ways, holds and completions that peers get are those of replay" same_as_replay $mix
done
# Samples of all peers: we take 10 ns, others 1000, in three rounds.
samples() {
    local peer mix size round variant

    echo name,unit,round,value
    for round in 1 2 3; do
        for peer in "systemc method events thread hops" "simgrid memories channels" "simpy hops lean"; do
            for mix in local remote local-varied remote-varied; do
                for size in 64 10240; do
                    for variant in ${peer#* }; do
                        echo "${peer%% *} $mix $size $variant,ns,$round,1000"
                    done
                    printf '%s,ns,%s,10\n' "${peer%% *} $mix $size kernbench run" "$round" "${peer%% *} $mix $size kernbench whole" "$round"
                done
            done
        done
    done
}
samples >"$work/samples.csv"
for awk in awk mawk gawk "busybox awk" original-awk; do
    command -v "${awk%% *}" >/dev/null || continue
    # shellcheck disable=SC2086
    call $awk -v table=peers -v missing=" another" -f perf/report.awk -f perf/peers/report.awk "$work/samples.csv"
    [ $code = 0 ] && [ ! -s "$work/err" ] && [ "$(grep -c '^aim ' "$work/out")" = 15 ] &&
        grep -q '^systemc local 64 kernbench .* 100.0 \[100.0..100.0\] M' "$work/out" && grep -q 'SystemC, local, 64.* 100.00 ' "$work/out"
    ok "tables and aims of $awk"
done
expect "mm1.c builds" build mm1 perf/mm1.c
expect "the event core's M/M/1 has the mean time and number of theory" "$work/mm1" 300000 3
plan
