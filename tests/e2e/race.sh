#!/usr/bin/env bash
# race.sh -- `run --race`: benches that do not race, and one that does, from outside. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it, SIM_FIFO the one with fifo links. Needs awk,
# jq, and python3 for its sqlite3.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
SIM_FIFO=${SIM_FIFO:-$M/cube8_fifo/cube8_fifo}
case $SIM_FIFO in /*) ;; *) SIM_FIFO=$root/$SIM_FIFO ;; esac
BROKEN=$B/_t/broken
columns=race,kernel,pe,call,line,issue_ns,op_id,access,memory,offset,nbytes,address,count

# line TEXT: where that stands in broken.c
line()
{
    echo "broken.c:$(grep -nF -- "$1" "$root/tests/support/broken.c" | cut -d: -f1)"
}

# broken BENCH ARGUMENT...
broken()
{
    call "$BROKEN" run "$@"
}

# small BENCH: arguments that make it quick, and not a multiple of anything
small()
{
    case $1 in
    attention | attention_ring) echo H=3 S=33 T=150 D=17 ;;
    copy) echo L=1009 ;;
    flash) echo H=3 S=77 D=41 BM=16 BT=24 ;;
    gather) echo M=101 L=67 D=9 ;;
    list_walk) echo N=101 L=23 ;;
    softmax | layernorm | threshold) echo M=67 N=33 ;;
    gemm | qkv_gemm) echo M=67 N=41 K=130 BK=16 ;; # buffers are used again
    gemm_composite | overlap | mlp | mlp_tp) echo M=67 N=41 K=130 ;;
    *) echo count=1009 ;;
    esac
}

# clean NAME: the run before has found nothing, and says how much it has looked at
clean()
{
    [ $code -eq 0 ] && [ "$(cat out)" = "$columns" ] &&
        grep -qE '^no races: [1-9][0-9]* accesses of [1-9][0-9]* PEs checked$' err
    ok "$1"
}

# -- benches ------------------------------------------------------------------------------------

"$SIM" list --format json | jq -r '.rows[] | select(.argument == null) | .bench' >benches
[ -s benches ]
ok "there are benches"
while read -r bench; do
    # shellcheck disable=SC2046 # arguments are words
    run run "$bench" $(small "$bench") --race --format csv
    clean "$bench does not race"
    run run "$bench" --race --format csv
    clean "$bench does not race as it is"
done <benches
for algorithm in ring one_way line direct axes halving hierarchical axes_halving tree double_tree; do
    run run all_reduce count=1009 algorithm=$algorithm --race --format csv
    clean "all_reduce by $algorithm does not race"
done
for algorithm in ring one_way line tree; do
    run run broadcast count=1009 algorithm=$algorithm --race --format csv
    clean "broadcast by $algorithm does not race"
done
run run all_gather count=1009 over=cubes inputs=same --race --format csv
clean "all_gather over cubes does not race"
if [ -x "$SIM_FIFO" ]; then
    call "$SIM_FIFO" run gemm_composite M=67 N=41 K=130 --race --format csv
    clean "with links that queue"
else
    skip "with links that queue" "no $SIM_FIFO"
fi
run run copy L=1009 --race --format csv --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "--quiet: the exit code tells"

# -- a bench that races -------------------------------------------------------------------------

if [ ! -x "$BROKEN" ]; then
    skip "a bench that races" "no $BROKEN"
    plan
    exit
fi
broken turns --race --format csv
clean "with a barrier it does not"
broken racy --race --format csv --oplog ops.csv
cp out races.csv
all=$(line 'tl_full(tl, KB_F32, y.shape, 1)') part=$(line 'tl_full(tl, KB_F32, KB_SHAPE(3), 1)')
again=$(line 'tl_load(tl, first.address + 8')
[ $code -eq 1 ] && grep -qxF "cube8: 2 races: 14 accesses of 2 PEs checked" err
ok "exit 1, and how many there are"
equal "columns" $columns "$(head -1 out)"
equal "which PE, and where" "1 race_on c0.pe1 tl_store $part write
1 race_on c0.pe0 tl_store $all write
2 race_on c0.pe0 tl_store $all write
2 race_on c0.pe1 tl_load $again read" \
    "$(awk -F, 'NR > 1 { print $1, $2, $3, $4, $5, $8 }' out)"
# The row that has a part in the third cube's last slice lies behind x, of 20 bytes, on 256.
equal "bytes that both touch" "c2.slice7 264 12
c2.slice7 264 12
c2.slice7 264 8
c2.slice7 264 8" "$(awk -F, 'NR > 1 { print $9, $10, $11 }' out)"
equal "a global address" $((2 * (1 << 38) + 7 * 6 * (1 << 30) + 264)) "$(field address 1)"
for row in 1 2 3 4; do
    awk -F, -v id="$(field op_id $row)" '$1 == id { print $2 }' ops.csv
done >issued
same issued <(awk -F, 'NR > 1 { print $6 }' out)
ok "ids are those of the op log, and so are times"
broken racy --race --format csv --engine hop
same races.csv out
ok "--engine hop: the same"
broken racy --oplog alone.csv --format csv
[ $code -eq 0 ] && same alone.csv ops.csv
ok "no time depends on it"
broken racy --race --verify --dump results --oplog ops.jsonl --format csv
[ $code -eq 1 ] && same races.csv out && [ -s results/out.y.npy ] && [ -s ops.jsonl ] &&
    ! says "verification failed"
ok "with --verify, --dump and --oplog"
broken wrong --race --verify --format csv
[ $code -eq 1 ] && says "verification failed: y[2,4] is 1, expected 1.5" && says "no races: "
ok "wrong, but no race: exit 1 all the same"

if [ -x "$B/_t/talking" ]; then
    call "$B/_t/talking" run listen --format csv
    cp out blocked.csv
    call "$B/_t/talking" run listen --race --format csv
    [ $code -eq 4 ] && same blocked.csv out && says "deadlock: " && ! says "races: "
    ok "a deadlock is told in place of races: exit 4"
else
    skip "a deadlock" "no $B/_t/talking"
fi

# -- beyond the end of a tensor ------------------------------------------------------------------

broken beyond --race --format csv --oplog ops.csv
load=$(line 'tl_load(tl, x, KB_F32, KB_SHAPE(66)') column=$(line 'KB_SHAPE(9), ((int64_t[]){32}))')
scatter=$(line 'tl_store_strided(tl, x, column, ((')
end="beyond the end of tensor 'x', c2.slice7 offset 256, into 'y'"
[ $code -eq 1 ] && [ "$(cat out)" = "$columns" ]
ok "exit 1, and no rows"
equal "kernel, PE, line, tensor, its end, and how far" \
    "cube8: out of bounds: kernel reach_beyond, c0.pe0, $load: tl_load reads 8 bytes $end (2 accesses)
cube8: out of bounds: kernel reach_beyond, c0.pe0, $column: tl_load_strided reads 4 bytes $end (1 access)
cube8: out of bounds: kernel reach_beyond, c0.pe0, $scatter: tl_store_strided writes 4 bytes $end (1 access)
no races: 8 accesses of 1 PEs checked" "$(cat err)"
broken beyond --format csv --oplog alone.csv
[ $code -eq 0 ] && [ ! -s err ] && same alone.csv ops.csv
ok "only with --race, and no time depends on it"
broken padding --race --format csv
clean "padding behind a part is of no tensor"

# -- formats ------------------------------------------------------------------------------------

broken racy --race --format json
equal "JSON: its schema" kernbench.races/1 "$(jq -r .schema out)"
equal "JSON: keys as columns" $columns "$(jq -r '.rows[0] | keys_unsorted | join(",")' out)"
equal "JSON: numbers are numbers" "[1,4,264,12,594852970760,1]" \
    "$(jq -c '.rows[0] | [.race, .op_id, .offset, .nbytes, .address, .count]' out)"
broken turns --race --format json
equal "JSON: no rows" "kernbench.races/1 0" "$(jq -r '"\(.schema) \(.rows | length)"' out)"
broken racy --race --format jsonl
equal "JSON lines" 4 "$(sed 1d out | jq -c . | wc -l)"
broken racy --race --format md
grep -q '^|  *1 | race_on ' out
ok "Markdown"
broken racy --race
equal "a table for people" 5 "$(wc -l <out)"
broken racy --race --format csv -o kept.csv
[ $code -eq 1 ] && [ ! -s out ] && same races.csv kept.csv
ok "-o: kept, as a result"
broken racy --race --sqlite races.db --quiet
[ $code -eq 1 ] && [ "$(python3 -c 'import sqlite3
print(*sqlite3.connect("races.db").execute("SELECT schema, count(*) FROM run JOIN result ON result.run = run.id"
    " GROUP BY run.id").fetchone())')" = "kernbench.races/1 4" ]
ok "--sqlite"
broken racy --race --fingerprint --format csv
[ $code -eq 1 ] && grep -q '^fingerprint ' err && same races.csv out
ok "--fingerprint"
broken turns --race --fingerprint --format csv
grep -qvE '^fingerprint [0-9a-f]{16}$' err
[ $? -eq 1 ]
ok "--fingerprint says nothing else"
broken racy --race --until 30 --format csv
[ $code -eq 1 ] && same <(head -3 races.csv) out && says "stopped at 30.000000 ns"
ok "--until: what had come to light"

# -- what cannot be -----------------------------------------------------------------------------

refused "with --breakdown" 2 "--race and --breakdown both print in place of rows" run gemm --race --breakdown
refused "with --inspect" 2 "--race and --inspect both print in place of rows" \
    run gemm --race --inspect last
refused "of replay" 2 "replay takes no --race" replay rows.csv --race
refused "of a report" 2 "--race prints in place of rows, report takes no --race" report run gemm --race
plan
