#!/usr/bin/env bash
# against.sh -- this tree against a commit before it: the same rows by both, in turns; `make bench-against`.
#
# usage: against.sh COMMIT [WORD...]; with words only the rows of perf/txn.c that have all of them in
# their names, and no commands. ROUNDS and ROWS say how many, B names the build of this tree.
# The commit is built in a worktree of its own, which is removed in the end. Only rows that both have
# are compared: by name, in processor time, by the median of the ratios of all rounds.
set -euo pipefail

B=${B:-build}
ROUNDS=${ROUNDS:-5}
ROWS=${ROWS:-300000}
commit=${1:?usage: against.sh COMMIT [WORD...]}
shift
words=("$@")
tree=$(mktemp -d)/before
samples=$B/bench/against.csv
rows=$B/bench/against

leave() {
    git worktree remove --force "$tree" 2>/dev/null || true
    rm -rf "$(dirname "$tree")" "$rows"
}
trap leave EXIT

# What both need, in the folder $1; commands are run on the machines as they are shipped.
build() {
    make -s -C "$1" bench-topologies >/dev/null
    make -s -C "$1" "$2/_p/txn" >/dev/null
    [ ${#words[@]} -gt 0 ] && return
    make -s -C "$1" TOPO=cube8 >/dev/null
    make -s -C "$1" TOPO=mesh1024 >/dev/null
}

# only_run SIDE: the samples of runs, each with the side in front
only_run() {
    awk -F, -v side="$1" '/ run,/ { sub(/ run,/, ","); print side " " $0 }'
}

# Without words engine by engine, as words keep the program from comparing engines first.
transactions() {
    local round=$1 engine of=(fused loaded hop)
    [ ${#words[@]} -gt 0 ] && of=("")
    for engine in "${of[@]}"; do
        # shellcheck disable=SC2086
        "$tree/build/_p/txn" "$ROWS" 1 $engine "${words[@]}" | sed "s/,0,/,$round,/" | only_run before
        # shellcheck disable=SC2086
        "$B/_p/txn" "$ROWS" 1 $engine "${words[@]}" | sed "s/,0,/,$round,/" | only_run now
    done
}

# of_side ROUND SIDE FOLDER: whole commands
of_side() {
    local cube8=$3/cube8/cube8 mesh=$3/mesh1024/mesh1024
    local load="load --pattern uniform --rate 0.05 --seeds 1 -j 1 --quiet -o /dev/null --txns"
    local replay="replay --quiet -o /dev/null"
    # shellcheck disable=SC2086
    "$B/_p/spawn" "$1" "$1" \
        "$2 replay ascending" "$cube8" $replay "$rows/ascending.csv" -- \
        "$2 replay at0" "$cube8" $replay "$rows/at0.csv" -- \
        "$2 replay shuffled" "$cube8" $replay "$rows/shuffled.csv" -- \
        "$2 replay at0 fingerprint" "$cube8" $replay "$rows/at0.csv" --fingerprint -- \
        "$2 replay at0 hop" "$cube8" $replay "$rows/at0.csv" --engine hop -- \
        "$2 load cube8" "$cube8" $load 300000 -- \
        "$2 load mesh1024" "$mesh" $load 300000 -- \
        "$2 load breakdown" "$cube8" $load 50000 --breakdown -- \
        "$2 run gemm" "$cube8" run gemm M=1024 N=1024 K=1024 --quiet -o /dev/null -- \
        "$2 run all_reduce" "$cube8" run all_reduce count=4096 --quiet -o /dev/null
}

commands() {
    of_side "$1" before "$tree/build" | sed -n 's/ processor,/,/p'
    of_side "$1" now "$B" | sed -n 's/ processor,/,/p'
}

mkdir -p "$rows" "$B/bench"
git worktree add --quiet --detach "$tree" "$commit"
build "$tree" build
build . "$B"
[ ${#words[@]} -gt 0 ] || make -s perf
for order in ascending at0 shuffled; do
    [ ${#words[@]} -gt 0 ] || "$B/_p/rows" $((ROWS / 2)) "$order" >"$rows/$order.csv"
done
echo 'name,unit,round,value' >"$samples"
for round in $(seq "$ROUNDS"); do
    transactions "$round"
    [ ${#words[@]} -gt 0 ] || commands "$round"
done >>"$samples"
awk -v table=against -f perf/report.awk "$samples"
