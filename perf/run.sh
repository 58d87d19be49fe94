#!/usr/bin/env bash
# run.sh -- measures the engines, sweeps, the op log, replay, starting and building; `make bench` builds what it runs.
#
# usage: run.sh [txn|banks|machines|stats|mm1|router|many|kernel|oplog|phase2|verify|watch|shapes|runs|replay|start|build|size|large]...; without words all but size and large. B names the build.
# Samples are kept in $B/bench/NAME.csv; tables, and how they compare with the aims, go to stdout.
set -euo pipefail

B=${B:-build}
programs=$B/_p
machines=$B/_m
samples=$B/bench
rows=$B/bench/rows
build=$B/_bench

MILLION=1000000

# run NAME COMMAND...: what a measurement prints, kept as samples and shown as tables.
measure() {
    local name=$1
    shift
    echo 'name,unit,round,value' >"$samples/$name.csv"
    "$@" >>"$samples/$name.csv"
    echo
    awk -v table="$name" -f perf/report.awk "$samples/$name.csv"
}

machine() {
    lscpu | awk -F ': *' '/^(Model name|CPU\(s\)|L1d cache|L2 cache|L3 cache)/ {
        printf "%s%s %s", sep, $1, $2; sep = "; " } END { print "" }'
    "${CC:-gcc}" --version | head -n 1
    echo "load $(cut -d ' ' -f 1-3 /proc/loadavg)"
}

# -- what is measured ------------------------------------------------------------------------

txn() {
    "$programs/txn" $MILLION 5
}

# Reads of slices with banks.
banks() {
    "$programs/banks" $MILLION 5
}

# Machines a second of a core.
machines() {
    "$programs/machines" 11 topologies/cube8.yaml topologies/tray32.yaml topologies/mesh1024.yaml
}

# Programs that count what is used, and the same that do not, in turn.
stats() {
    local round build case
    for round in 1 2 3 4 5 6 7 8 9 10 11; do
        for case in "fused ideal local 256 at0" "fused ideal remote 256 at0" \
            "fused ideal host 256 bursts" "fused fifo local 256 at0" "fused fifo remote 256 at0"; do
            for build in "$B" "$B/_nostats"; do
                # shellcheck disable=SC2086
                "$build/_p/txn" $MILLION 1 $case | grep ' run,'
            done | stats_rows "$round"
        done
        for build in "$B" "$B/_nostats"; do
            "$build/_p/kernel" 1 | grep '^load [0-9]*,'
        done | stats_rows "$round"
    done
}

# The first half of the samples counts, the second does not.
stats_rows() {
    awk -F, -v round="$1" '{ name[NR] = $1 "," $2; value[NR] = $4 }
        END {
            for (i = 1; i <= NR; i++)
                print (i <= NR / 2 ? "counted " : "bare ") name[i] "," round "," value[i]
        }'
}

mm1() {
    "$programs/mm1" $((10 * MILLION)) 5
}

router() {
    "$programs/router" 5
}

oplog() {
    "$programs/oplog" $MILLION 5
}

kernel() {
    "$programs/co" 5
    "$programs/kernel" 5
}

# What programs do by themselves, and what the command line does with threads.
many() {
    local round sim=$machines/cube8/cube8
    "$programs/many" 5
    for round in 1 2 3 4 5; do
        "$programs/spawn" "$round" "$round" \
            "load j1" "$sim" load --pattern uniform --rate 0.1,0.2 --txns 2000000 --seeds 4 -j 1 --quiet -o /dev/null -- \
            "load j2" "$sim" load --pattern uniform --rate 0.1,0.2 --txns 2000000 --seeds 4 -j 2 --quiet -o /dev/null -- \
            "sweep j1" "$sim" sweep --src 'c*.pe*' --dst 'c*.slice*' --bytes 1:250 -j 1 --quiet -o /dev/null -- \
            "sweep j2" "$sim" sweep --src 'c*.pe*' --dst 'c*.slice*' --bytes 1:250 -j 2 --quiet -o /dev/null
    done
}

phase2() {
    "$programs/phase2" 5
    if /usr/bin/python3 -c "import numpy" 2>/dev/null; then # of Debian
        /usr/bin/python3 perf/numpy_gemm.py 5
    fi
}

# Benches as users run them.
runs() {
    local cube8=$machines/cube8/cube8 mesh=$machines/mesh1024/mesh1024
    "$programs/spawn" 1 3 \
        "all_reduce mesh1024" "$mesh" run all_reduce count=65536 --quiet -o /dev/null -- \
        "copy mesh1024" "$mesh" run copy --quiet -o /dev/null -- \
        "gemm verified" "$cube8" run gemm M=2048 N=2048 K=2048 dtype=f32 --verify --quiet -o /dev/null -- \
        "gemm" "$cube8" run gemm M=2048 N=2048 K=2048 dtype=f32 --quiet -o /dev/null
}

# run_parts ROUND ARGUMENTS: the kernels of a bench, with Phase 2, and verified.
run_parts() {
    local sim=$machines/cube8/cube8 run
    run="run $2 --quiet -o /dev/null"
    # shellcheck disable=SC2086
    "$programs/spawn" "$1" "$1" "kernels $2" "$sim" $run -- \
        "phase2 $2" "$sim" $run --phase2 on -- "verify $2" "$sim" $run --verify
}

# Every bench, so large that Phase 2 takes 50 ms, where it can be.
verify() {
    local round arguments
    for round in 1 2 3; do
        while read -r arguments; do
            run_parts "$round" "$arguments"
        done <perf/verify.list
    done
}

# The same runs unwatched, with a breakdown, and with a timeline.
watch() {
    local round name command file=$samples/watched
    for round in 1 2 3 4 5; do
        while read -r name command; do
            # shellcheck disable=SC2086
            "$programs/spawn" "$round" "$round" \
                "plain $name" "$machines"/$command --quiet -o /dev/null -- \
                "breakdown $name" "$machines"/$command --quiet -o /dev/null --breakdown -- \
                "pftrace $name" "$machines"/$command --quiet -o /dev/null --trace "$file.pftrace" -- \
                "json $name" "$machines"/$command --quiet -o /dev/null --trace "$file.json"
            echo "pftrace $name,MB,$round,$(($(stat -c %s "$file.pftrace") / MILLION))"
            echo "json $name,MB,$round,$(($(stat -c %s "$file.json") / MILLION))"
        done <<EOF
load cube8/cube8 load --pattern uniform --rate 0.1 --txns 200000 --seeds 1 -j 1
load-fifo bench_fifo/bench_fifo load --pattern uniform --rate 0.1 --txns 200000 --seeds 1 -j 1
gemm cube8/cube8 run gemm M=1024 N=1024 K=1024
attention cube8/cube8 run attention S=512 T=1024
EOF
    done
    rm "$file.pftrace" "$file.json"
}

# The same traffic on machines of other shapes; how many edges a transaction passes.
shapes() {
    local round name load="load --pattern uniform --rate 0.05 --txns 500000 --seeds 1 -j 1 --quiet -o /dev/null"
    for round in 1 2 3 4 5; do
        for name in fifo early ring planes missing; do
            # shellcheck disable=SC2086
            "$programs/spawn" "$round" "$round" "$name" "$machines/bench_$name/bench_$name" $load
        done
    done
    for name in fifo early ring planes missing; do
        # shellcheck disable=SC2086
        "$machines/bench_$name/bench_$name" $load --stats "$samples/shape.csv"
        awk -F, -v name="$name" '$1 == "edge" { n += $7 } END { print name " edges,each,1," n / 5e5 }' "$samples/shape.csv"
    done
    rm "$samples/shape.csv"
}

# A header and nothing else: what a replay takes without rows.
write_rows() {
    mkdir -p "$rows"
    head -n 1 benches/one_slice.csv >"$rows/header.csv"
    for order in "${@:2}"; do
        "$programs/rows" "$1" "$order" >"$rows/$order.csv"
    done
}

replay_once() {
    local round=$1 order=$2 sim=$machines/cube8/cube8
    "$programs/parts" "$rows/$order.csv" "$order" "$round"
    "$programs/spawn" "$round" "$round" \
        "$order null" "$sim" replay "$rows/$order.csv" --quiet -o /dev/null -- \
        "$order file" "$sim" replay "$rows/$order.csv" --quiet -o "$rows/out.csv"
}

replay() {
    local order round
    write_rows $MILLION ascending at0 shuffled
    for round in 1 2 3 4 5; do
        for order in ascending at0 shuffled; do
            replay_once "$round" "$order"
        done
    done
    "$programs/spawn" 1 5 "header null" "$machines/cube8/cube8" replay "$rows/header.csv" -o /dev/null
    rm -r "$rows"
}

large() {
    write_rows $((10 * MILLION)) ascending
    "$programs/parts" "$rows/ascending.csv" ascending 1
    "$programs/spawn" 1 1 \
        "ascending null" "$machines/cube8/cube8" replay "$rows/ascending.csv" --quiet -o /dev/null -- \
        "header null" "$machines/cube8/cube8" replay "$rows/header.csv" -o /dev/null
    timeline
    "$programs/spawn" 1 1 "copy 128x128" "$machines/bench_128x128/bench_128x128" run copy --quiet -o /dev/null
    rm -r "$rows"
}

# Ten million events of a timeline, beside the same run without one.
timeline() {
    local sim=$machines/cube8/cube8 file=$rows/large.pftrace
    local load="load --pattern uniform --rate 0.15 --txns 250000 --seeds 1 -j 1 --quiet -o /dev/null"
    # shellcheck disable=SC2086
    "$programs/spawn" 1 1 "timeline" "$sim" $load --trace "$file" -- "no timeline" "$sim" $load
    echo "timeline,events,1,$(python3 tests/trace/timeline.py count "$file")"
    echo "timeline size,MB,1,$(($(stat -c %s "$file") / MILLION))"
}

# The same on machines of 1 to 16384 cubes, which `make bench-size` builds: perf/perf.mk.
size() {
    local machine sim round kbgen=$B/kbgen load="load --pattern uniform --rate 0.1 --seeds 1 -j 1 --quiet"
    mkdir -p "$rows"
    printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4K\n' >"$rows/one.csv"
    for round in 1 2 3; do
        for machine in $SIZE_MACHINES; do
            sim=$machines/$machine/$machine
            "$sim" info --config >"$rows/topo.yaml"
            # shellcheck disable=SC2086
            "$programs/spawn" "$round" "$round" \
                "$machine start" "$sim" $load --txns 1000 -- "$machine load" "$sim" $load --txns 2000000 -- \
                "$machine kbgen" "$kbgen" "$rows/topo.yaml" -- "$machine info" "$sim" info -- \
                "$machine probe" "$sim" probe -- "$machine replay" "$sim" replay "$rows/one.csv" -- \
                "$machine stats" "$sim" replay "$rows/one.csv" --stats "$rows/stats.csv" -- \
                "$machine report" "$sim" report replay "$rows/one.csv" -- \
                "$machine view" "$sim" view system -- "$machine copy" "$sim" run copy
        done
    done
    rm -r "$rows"
}

start() {
    "$programs/spawn" 1 200 empty "$programs/empty" -- \
        "cube8 probe" "$machines/cube8/cube8" probe -- \
        "tray32 probe" "$machines/tray32/tray32" probe -- \
        "mesh1024 info" "$machines/mesh1024/mesh1024" info
}

# build_once ROUND NAME TOPO: in a folder of its own, and as if no other make were running.
build_once() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES "$programs/spawn" "$1" "$1" "$2" \
        make -j2 B="$build" TOPO="$3" SET= NAME= topology
}

build() {
    local round yaml=$build/edited.yaml
    for round in 1 2 3; do
        rm -rf "$build"
        build_once "$round" "cube8 clean" cube8
    done
    cp topologies/cube8.yaml "$yaml"
    build_once 0 "cube8 path" "$yaml"
    for round in 1 2 3 4 5; do
        sed "s/ns_per_mm: *[0-9.]*/ns_per_mm: 0.0$round/" topologies/cube8.yaml >"$yaml"
        build_once "$round" "cube8 yaml" "$yaml"
    done
    for round in 1 2; do
        rm -rf "$build"
        build_once "$round" "mesh1024 clean" mesh1024
    done
    rm -rf "$build"
}

mkdir -p "$samples"
machine
for name in "${@:-txn banks machines stats mm1 router many kernel oplog phase2 verify watch shapes runs replay start build}"; do
    for part in $name; do
        measure "$part" "$part"
    done
done
