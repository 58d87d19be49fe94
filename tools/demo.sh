#!/usr/bin/env bash
# demo.sh -- what `make demo` shows, once cube8 is built: three commands, and what to try next.
set -eu
sim=${1:-build}/cube8/cube8

# show SENTENCE ARGUMENT...: what it tells, the command, and what that prints
show()
{
    printf '\n%s\n\n$ %s\n' "$1" "$sim ${*:2}"
    "$sim" "${@:2}"
}

show "How long one read takes, alone: from the nearest memory to that of a host." \
    probe
show "Five transactions want one memory: the later ones wait, in queue_link_ns for a link, in queue_memory_ns for the memory." \
    replay benches/one_slice.csv --format table
show "A matrix product on 64 processing elements: its time, its share of the peak, and its values verified." \
    run gemm M=512 N=512 K=512 dtype=f16 --verify
printf '\nTo try next:\n'
printf '  %s  # %s\n' "$sim why gemm M=512 N=512 K=256 --by key" "which key of the machine is worth doubling" \
    "$sim load --pattern uniform --rate 0.02:0.1:0.02 --format table" "where random traffic saturates" \
    "$sim probe --set cube.hbm.bw_gbs=512 --set cube.xbar.pe_gbs=512" "the same on another machine, without a build" \
    "$sim report run gemm --verify -o gemm.html" "one page about a run, for a browser"
