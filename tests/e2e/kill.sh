#!/usr/bin/env bash
# kill.sh -- kills simulators at random moments, and judges what is left of their output. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. KILLS are made in all (20; `make check-kill`: 1000),
# in turn of each kind of output, SEED chooses the moments. After each one: what has a final name is whole
# or as it was before, a database has whole runs only, all else is named as temporary, and the same command
# then succeeds. At last several programs write to one database at once.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
KILLS=${KILLS:-20}
RANDOM=${SEED:-1}
temporary='.kernbench-*' # as docs/exit-codes.md has it
if grep -q -e -DKB_NO_ "$B/_o/flags"; then
    none "$B lacks outputs"
fi

# Of each kind of output a command that writes it.
kinds=(
    "$SIM replay many.csv --quiet -o out/rows.csv"
    "$SIM replay many.csv --quiet --format json -o out/rows.json"
    "$SIM load --pattern local --rate 0.3 --txns 20000 --seeds 2 --quiet -o out/load.csv --stats out/load.stats.csv"
    "$SIM run gemm M=96 N=96 K=96 --quiet --oplog out/ops.csv -o out/gemm.txt"
    "$SIM run softmax M=64 N=256 --quiet --oplog out/ops.jsonl"
    "$SIM run gemm M=96 N=96 K=96 --quiet --dump out/dump"
    "$SIM replay many.csv --quiet --trace out/t.pftrace -o out/traced.csv"
    "$SIM replay many.csv --quiet --trace out/t.json -o out/traced.csv"
    "$SIM report run gemm M=64 N=64 K=64 --quiet -o out/page.html"
    "$SIM sweep --src c0.pe* --dst c*.slice0 --quiet --sqlite out/all.db -o out/sweep.csv"
    "$SIM replay many.csv --quiet --sqlite out/all.db"
    "$SIM study study.yaml --quiet -o out/study.csv"
    "$SIM study study.yaml --quiet --sqlite out/all.db -o out/study.csv"
)
many 4000
mkdir out
printf '%s\n' 'commands: [probe --bytes 64K, run gemm M=64]' 'vary: {cube.noc.bw_gbs: [128, 256, 512]}' >study.yaml

# content: name, size and sum of each file that has a final name
content()
{
    find out -type f ! -name "$temporary" ! -name 'all.db*' -exec cksum {} + 2>/dev/null |
        awk '{ print $3, $1, $2 }' | sort
}

# runs DATABASE: how many rows each run has that is in it; fails if it is damaged, or has rows of no run
runs()
{
    [ ! -e "$1" ] || python3 - "$1" <<'END_OF_PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
of = dict(db.execute("SELECT run, count(*) FROM result GROUP BY run")) if db.execute(
    "SELECT 1 FROM sqlite_master WHERE name = 'result'").fetchone() else {}
ids = [i for (i,) in db.execute("SELECT id FROM run")] if of else []
assert set(of) <= set(ids), "rows of no run"
for i in ids:
    print(of.get(i, 0))
END_OF_PYTHON
}

# whole KIND: is what is there of this kind whole, or as before the run?
whole()
{
    local odd

    odd=$(content | grep -vxF -f whole."$1" -f before)
    [ -z "$odd" ] || { echo "# not whole: $odd"; return 1; }
    runs out/all.db >found || { echo "# database: $(tail -n 1 said)"; return 1; }
    odd=$(grep -vx -e "$(cat rows."$1")" found)
    [ -z "$odd" ] || { echo "# a run of $odd rows instead of $(cat rows."$1")"; return 1; }
}

# clear: no output, or older output of the same names
clear()
{
    rm -rf out
    mkdir out
    [ "$1" ] && while read -r name _; do
        mkdir -p "$(dirname "$name")"
        echo 'older' >"$name"
    done <whole."$1"
    content >before
}

# -- what each is when nothing happens, and how long it takes -------------------------------------

for kind in "${!kinds[@]}"; do
    clear ''
    us[kind]=$(python3 "$root/tests/support/kill_at.py" - ${kinds[kind]}) || { sed 's/^/# /' said; false; }
    ok "${kinds[kind]#"$SIM" }" || continue
    content >whole."$kind"
    runs out/all.db >rows."$kind"
done

# -- kills ------------------------------------------------------------------------------------------

# kill_once KIND OLD: at a random moment; counts it if it was not too late
kill_once()
{
    clear "$2"
    at=$(((RANDOM * 32768 + RANDOM) % us[$1]))
    ! python3 "$root/tests/support/kill_at.py" $at ${kinds[$1]} || n_killed=$((n_killed + 1))
}

n_killed=0 tries=0
while [ $n_killed -lt "$KILLS" ] && [ $tries -lt $((4 * KILLS)) ]; do
    kind=$((tries % ${#kinds[@]})) old=''
    [ $((tries / ${#kinds[@]} % 2)) = 0 ] || old=$kind
    tries=$((tries + 1))
    kill_once $kind "$old"
    whole $kind || { echo "# killed after $at of ${us[kind]} us: ${kinds[kind]}"; bad=1; }
    ${kinds[kind]} >said 2>&1 </dev/null && content | same whole.$kind - && whole $kind || { echo "# again: ${kinds[kind]}"; bad=1; }
done
[ ! "${bad:-}" ] && [ $n_killed -ge "$KILLS" ]
ok "$n_killed kills: what has its final name is whole, and the same command succeeds after it"

# -- several writers of one database ----------------------------------------------------------------

# write NUMBER: a run of one of them; again if the others have not let it for ten seconds, as on a busy machine
write()
{
    until "$SIM" probe --quiet --sqlite out/all.db >/dev/null 2>"said.$1"; do
        grep -q 'another program has locked it' "said.$1" || return
    done
}

# writers COUNT RUNS: so many at once, each of so many runs
writers()
{
    local n writer=()

    rm -f out/all.db*
    for n in $(seq "$1"); do
        (for run in $(seq "$2"); do write "$n" || exit; done) &
        writer+=($!)
    done
    for n in "${writer[@]}"; do
        wait "$n" || { cat said.*; return 1; }
    done
    runs out/all.db | sort | uniq -c | xargs
}

rows=$("$SIM" probe --format csv | tail -n +2 | wc -l)
equal "two writers of one database: all rows" "20 $rows" "$(writers 2 10)"
equal "eight writers" "40 $rows" "$(writers 8 5)"
plan
