#!/usr/bin/env bash
# stops.sh -- signals: one ends any run within a second; what is complete is kept, but never under
# the name of a whole result; nothing else is left behind. TAP on stdout.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
BROKEN=${BROKEN:-$B/_t/broken}

# interrupt MS SIGNAL COMMAND...: sends the signal once it has worked so long. $code, out, err; $ms is the
# time from the signal to the end, and $cpu_ms what it worked in that time. A job of its own does not
# ignore SIGINT.
interrupt()
{
    local after=$1 signal=$2 before used

    shift 2
    before=$(cpu 16 $$)
    set -m
    "$@" >out 2>err &
    pid=$!
    set +m
    (trap 'kill $!' TERM; sleep 120 & wait $! && kill -KILL $pid) >/dev/null 2>&1 & # what does not stop is ended
    guard=$!
    worked "$after" $pid
    used=$(cpu 14 $pid)
    begin=$(date +%s%N)
    kill -"$signal" $pid 2>/dev/null
    code=0
    wait $pid 2>/dev/null || code=$?
    ms=$((($(date +%s%N) - begin) / 1000000))
    cpu_ms=$(($(cpu 16 $$) - before - ${used:-0}))
    kill $guard 2>/dev/null
}

# soon: within a second, and what a machine under load adds
soon()
{
    [ $ms -lt 2500 ] || [ $cpu_ms -lt 1200 ] || { echo "# it took $ms ms, and worked $cpu_ms of them"; false; }
}

left()
{
    ls -A | grep '^\.kernbench-\|\.tmp$\|-journal$'
}

# Two points, of which the second has millions of transactions.
long="sweep --src c0.pe0 --dst c7.slice4 --inflight 4,8000000 --engine hop -j 1"

# -- the file of -o ------------------------------------------------------------------------------

for format in csv json jsonl md; do
    echo "as it was" >o.$format
    rm -f o.$format.partial
    interrupt 150 INT "$SIM" $long --format $format -o o.$format
    [ $code -eq 130 ] && soon && [ "$(cat o.$format)" = "as it was" ] &&
        grep -q 'c7.slice4' o.$format.partial && says "interrupted: 1 of 2 points complete" &&
        says "what is complete is in o.$format.partial"
    ok "one point of millions, $format: the point before it is in another file"
done
interrupt 150 INT "$SIM" $long -o new.csv
[ $code -eq 130 ] && [ ! -e new.csv ] && [ "$(wc -l <new.csv.partial)" -eq 2 ]
ok "no file before, none of that name after"
jq -e '.rows | length == 1' o.json.partial >/dev/null
ok "what is in it is whole JSON"
for file in o.csv o.json o.jsonl; do
    refused "diff does not take $file.partial for a result" 3 "is of a run that was interrupted" \
        diff $file.partial $file.partial
done
refused "nor does view" 3 "is of a run that was interrupted" view --stats o.csv.partial
cp o.csv.partial renamed.csv
run diff renamed.csv renamed.csv
[ $code -eq 0 ]
ok "under another name it is read"
interrupt 150 INT "$SIM" $long --format table -o o.table
[ $code -eq 130 ] && soon && [ ! -e o.table ] && grep -q c7.slice4 o.table.partial
ok "the same as a table"
interrupt 2000 INT "$SIM" llm llama-3.2-1b --batch 1,100000 --decode 16 --tries 1 --quiet --format csv -o o.llm
[ $code -eq 130 ] && soon && [ ! -e o.llm ] && says " of 2 iterations complete" &&
    [ "$(grep -c total o.llm.partial)" = "$(sed -n 's/.*interrupted: \([01]\) of.*/\1/p' err)" ]
ok "llm: iterations that are complete"
interrupt 150 INT "$SIM" report $long -o o.html
[ $code -eq 130 ] && [ ! -e o.html ] && grep -q 'interrupted: 1 of 2 points' o.html.partial
ok "the same as a page"

# -- databases and further files -----------------------------------------------------------------

partial()
{
    python3 -c 'import sqlite3, sys
print(*[r[0] for r in sqlite3.connect(sys.argv[1]).execute("SELECT partial FROM run ORDER BY id")])' "$1"
}

if "$SIM" probe --case h2d --sqlite o.db >out 2>err; then
    interrupt 150 INT "$SIM" $long --sqlite o.db
    "$SIM" probe --case h2d --sqlite o.db >out
    equal "sqlite: the run that was interrupted is marked" "0 1 0" "$(partial o.db)"
    python3 -c 'import sqlite3
db = sqlite3.connect("o.db"); db.execute("ALTER TABLE run DROP COLUMN partial"); db.commit()'
    run probe --case h2d --sqlite o.db
    [ $code -eq 0 ] && [ "$(partial o.db)" = "0 0 0 0" ]
    ok "sqlite: a file of an earlier version gets the column"
else
    skip "sqlite" "this build has no SQLite"
fi
echo "as it was" | tee t.json >s.csv
many 400000
for ms_of_work in 500 300 200 800; do
    interrupt $ms_of_work INT "$SIM" replay many.csv --engine hop --trace t.json --stats s.csv -o r.csv
    [ $code -eq 130 ] && break
done
[ $code -eq 130 ] && [ "$(cat t.json s.csv | sort -u)" = "as it was" ] && [ ! -e r.csv ] &&
    [ -s t.json.partial ] && [ -s s.csv.partial ] && [ -s r.csv.partial ]
ok "--trace and --stats: under another name, too"

# Two seconds pass before anything is read of what is printed.
mkfifo slow
many 1200000
for ms_of_work in 600 450 800 300 1100 200 1500; do
    (sleep 3; cat) <slow >slow.out &
    interrupt $ms_of_work INT "$SIM" replay many.csv --engine hop -o slow --quiet
    wait
    done=$(sed -n 's/^interrupted: \([0-9]*\) of [0-9]* transactions complete$/\1/p' err)
    [ $code -eq 130 ] && [ "${done:-0}" -gt 2000 ] && break
done
[ $code -eq 130 ] && [ "$(wc -l <slow.out)" -eq $((done + 1)) ]
ok "what is complete may take its time to be written"
many 400000

# -- what does not look at signals ---------------------------------------------------------------

echo "as it was" >b.csv
interrupt 300 INT "$BROKEN" run busy --format csv -o b.csv
[ $code -eq 130 ] && soon && says "did not stop within a second" && [ "$(cat b.csv)" = "as it was" ] &&
    [ ! -e b.csv.partial ]
ok "a kernel that computes without a call: ended, nothing is kept"
interrupt 300 TERM "$BROKEN" run busy --format csv -o b.csv
[ $code -eq 143 ] && soon && [ "$(cat b.csv)" = "as it was" ]
ok "the same by SIGTERM"
interrupt 300 INT "$BROKEN" run busy_ref --verify --format csv -o b.csv
[ $code -eq 130 ] && soon && [ "$(cat b.csv)" = "as it was" ] && cp b.csv.partial "$work/out" &&
    [ "$(field kernel 1),$(field verify 1)" = divide,off ]
ok "a reference that does not end: the launches are kept, not verified"
interrupt 300 INT "$BROKEN" why busy -j 1 -o b.csv
[ $code -eq 130 ] && soon && [ "$(cat b.csv)" = "as it was" ]
ok "why with such a kernel"

# -- nothing is left -----------------------------------------------------------------------------

gemm="run gemm M=2048 N=2048 K=64 -j 1"
"$SIM" $gemm --dump whole >out
for signal in TERM KILL INT; do
    for ms_of_work in 40 90 150 250; do
        interrupt $ms_of_work $signal "$SIM" $gemm --dump d
        interrupt $ms_of_work $signal "$SIM" replay many.csv -o many.out --quiet
    done
done
mkdir -p d
nothing "$(left; cd d && ls -A | grep -v '^\(in\|out\)\.[abc]\.npy$')"
ok "no temporary file, by any signal"
nothing "$(cd d && for file in *.npy; do [ ! -e "$file" ] || cmp "$file" "../whole/$file"; done 2>&1
    [ ! -e ../many.out ] || [ "$(wc -l <../many.out)" -eq 400001 ] || echo many.out)"
ok "a file that is there is whole"
plan
