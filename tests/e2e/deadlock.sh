#!/usr/bin/env bash
# deadlock.sh -- deadlocked kernels: which, for which others, since when, in which circles. Prints TAP.
#
# B names the build. Needs jq, python3, and $B/_t/talking, the simulator of tests/support/talking.c.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
export PYTHONDONTWRITEBYTECODE=1
[ -x "$B/_t/talking" ] || none "there is no $B/_t/talking"
SIM=$B/_t/talking
columns=pe,kernel,call,line,since_ns,lacks,waits_for,state,tag,other_tag,missing,cycle,cause,count

# line TEXT: where that stands in tests/support/talking.c
line()
{
    echo "talking.c:$(grep -n -F -- "$1" "$root/tests/support/talking.c" | head -1 | cut -d: -f1)"
}

# stuck BENCH N TEXT: exit 4, N rows as CSV in out, TEXT on stderr and nothing else there
stuck()
{
    run run "$1" --format csv
    [ "$code" -eq 4 ] && [ "$(head -1 out)" = $columns ] && [ "$(wc -l <out)" -eq $(($2 + 1)) ] &&
        says "$3" && [ "$(wc -l <err)" -eq 1 ]
}

# -- the rows -----------------------------------------------------------------------------------

at=$(line "tl_recv(tl, 0, 7,")
stuck listen 1 "cube8: deadlock: 1 command never ends: kernel listen on c0.pe1: tl_recv at tests/support/$at lacks a message from c0.pe0 under tag 7 since 28.756250 ns"
ok "a receive without a send: exit 4, and where it is"
equal "its row" "c0.pe1,listen,tl_recv,$at,28.756250,a message,c0.pe0,ended,7,,,,1,1" "$(sed -n 2p out)"

at=$(line "tl_send(tl, (pe + 1) % RING, 0,")
stuck jam 4 "cube8: deadlock: 4 commands never end: kernel jam on c0.pe0: tl_send at tests/support/$at lacks a free slot at c0.pe1 under tag 0 since "
ok "a ring of sends that slots do not hold"
equal "each waits for the next, in one circle" \
    "c0.pe0,c0.pe1,waiting,0,,,1 c0.pe1,c0.pe2,waiting,0,,,1 c0.pe2,c0.pe3,waiting,0,,,1 c0.pe3,c0.pe0,waiting,0,,,1" \
    "$(sed 1d out | cut -d, -f1,7-12 | xargs)"

at=$(line "        tl_barrier(tl, tl_cube(tl));")
stuck stay_away 7 "tl_barrier at tests/support/$at lacks a member, c0.pe5, since "
ok "a barrier that one never reaches"
[ "$(sed 1d out | cut -d, -f6-12 | sort -u)" = "a member,c0.pe5,ended,,,1," ] && ! grep -q '^c0.pe5,' out
ok "all others wait for that one, in no circle"

stuck leave 1 "tl_recv_async at tests/support/$(line "tl_recv_async(tl, 3,") lacks a message from c0.pe3 under tag 0 since "
ok "a kernel that has returned, with a receive under way"
stuck circle 64 "deadlock: 64 commands never end"
ok "a circle through all PEs"
equal "all of it is one" 1 "$(sed 1d out | cut -d, -f12 | sort -u)"
at=$(line "        tl_barrier(tl, (tl_group){.pes = group")
stuck cross 3 "cube8: deadlock: 3 commands never end: kernel cross on c0.pe4: tl_barrier at tests/support/$at lacks a member, c0.pe5, since "
ok "a circle through a barrier is named before kernels that are in none"
equal "the barrier waits for the member that waits for it, not for the lowest" \
    "c0.pe1,c0.pe3,ended,0,,, c0.pe4,c0.pe5,waiting,,,2,1 c0.pe5,c0.pe4,waiting,0,,,1" \
    "$(sed 1d out | cut -d, -f1,7-12 | xargs)"
stuck mistag 1 " lacks a message from c0.pe0 under tag 2 (there is one under tag 3) since "
ok "a message that lies under another tag"
equal "its column" "c0.pe0,ended,2,3,,,1,1" "$(sed 1d out | cut -d, -f7-)"
stuck at_last 4 "kernel jam on c0.pe0"
ok "the last of three launches"
cp out fused.csv
run run at_last --format csv --engine hop
[ "$code" -eq 4 ] && same fused.csv out
ok "--engine hop: the same"

# -- formats ------------------------------------------------------------------------------------

run run jam
equal "a table says the circle in words" \
    "circle 1: c0.pe0 waits for c0.pe1 waits for c0.pe2 waits for c0.pe3 waits for c0.pe0" "$(tail -1 out)"
run run cross
equal "and one through a barrier" "circle 1: c0.pe4 waits for c0.pe5 waits for c0.pe4" "$(tail -1 out)"
run run circle
equal "a long one is cut" \
    "circle 1 of 64 PEs: c0.pe0 waits for c0.pe1 waits for c0.pe2 waits for c0.pe3 waits for c0.pe4 waits for c0.pe5 waits for ... waits for c7.pe7 waits for c0.pe0" \
    "$(tail -1 out)"
run run listen
[ "$code" -eq 4 ] && [ "$(wc -l <out)" -eq 3 ] && grep -q '^not shown: ' out
ok "without a circle there are rows alone"
run run jam --format json
[ "$code" -eq 4 ] && jq -e '.schema == "kernbench.deadlock/1" and (.rows | length) == 4 and
    .rows[0] == {pe: "c0.pe0", kernel: "jam", call: "tl_send", line: .rows[0].line,
        since_ns: 219.25625, lacks: "a free slot", waits_for: "c0.pe1", state: "waiting", tag: 0, other_tag: null, missing: null, cycle: 1,
        cause: 1, count: 1}' \
    out >/dev/null
ok "JSON"
run run stay_away --format jsonl
[ "$code" -eq 4 ] && [ "$(sed -n 1p out | jq -r .schema)" = kernbench.deadlock/1 ] &&
    [ "$(sed 1d out | jq -r .missing | sort | uniq -c | xargs)" = "7 1" ]
ok "JSON lines"
run run jam --format md
[ "$code" -eq 4 ] && [ "$(grep -c '^| c0.pe' out)" -eq 1 ] && grep -q '| 1 | 1 | 4 |$' out && grep -q '^circle 1: ' out
ok "md: one row for all that have one cause, with their number"
run run circle --columns pe,count
equal "a table: the same, of 64 PEs" "pe count c0.pe0 64" "$(head -2 out | xargs)"
run run cross --columns pe,call,count
equal "other calls and other lines are other causes" "c0.pe1 tl_recv 1 c0.pe4 tl_barrier 1 c0.pe5 tl_recv 1" \
    "$(sed -n 2,4p out | xargs)"
run run jam --quiet --format csv
[ "$code" -eq 4 ] && says "deadlock: 4 commands" && [ "$(wc -l <out)" -eq 5 ]
ok "--quiet changes nothing"

# -- files --------------------------------------------------------------------------------------

mkdir files
run run jam --format json -o files/o.json --oplog files/log.jsonl --dump files/dump \
    --trace files/t.json --stats files/stats.csv --sqlite files/r.db
[ "$code" -eq 4 ] && [ ! -s out ] && jq -e '.rows | length == 4' files/o.json >/dev/null
ok "-o has the rows"
jq -e '.traceEvents | length > 10' files/t.json >/dev/null &&
    call python3 "$root/tests/trace/timeline.py" check files/t.json && [ "$code" -eq 0 ]
ok "the timeline is whole, until all wait"
[ "$(awk -F, '{ print NF }' files/stats.csv | sort -u | wc -l)" -eq 1 ] && [ "$(wc -l <files/stats.csv)" -gt 5 ]
ok "--stats is whole"
jq -se 'length > 4 and (map(select(.op_name == "ipcq_copy")) | length == 16)' files/log.jsonl >/dev/null
ok "the op log has what has ended"
equal "what the run would have computed is not there" "log.jsonl o.json r.db stats.csv t.json" "$(echo files/* | sed 's|files/||g')"
equal "a database has the rows" "4 1" "$(python3 -c '
import sqlite3
db = sqlite3.connect("files/r.db")
print(*db.execute("select count(*), max(cycle) from result").fetchone())')"
for option in --breakdown "--inspect 3" "--fingerprint" "--phase2 on" "--until 1000000"; do
    run run jam --format csv $option
    [ "$code" -eq 4 ] && [ "$(head -1 out)" = $columns ] && says "deadlock: 4 commands"
    ok "$option: the same"
done
call "$SIM" report run jam -o page.html
[ "$code" -eq 4 ] && [ "$(head -1 page.html)" = "<!doctype html>" ] && [ "$(tail -1 page.html)" = "</html>" ] &&
    page_data page.html -e '(.notes[1] | startswith("circle 1: c0.pe0 waits for c0.pe1")) and .rows.rows[0][0] == "c0.pe0"' >out
ok "report: the rows, and the circle among its notes"
call "$SIM" why jam --format csv -o why.csv
[ "$code" -eq 4 ] && [ ! -s out ] && [ "$(head -1 why.csv)" = $columns ] && [ "$(wc -l <why.csv)" -eq 5 ]
ok "why: the same"
run run jam --until 100
[ "$code" -eq 0 ] && says "stopped at 100.000000 ns"
ok "--until before that is no deadlock"
"$SIM" --man | grep -a -A1 '^\.B 4$\|^4$\|4$' | grep -a -q 'deadlock: kernels wait'
ok "the manual page has the exit code"

run run jam --verify --oplog files/never.jsonl
[ "$code" -eq 2 ] && says "bench jam has no reference to verify with" && [ ! -e files/never.jsonl ]
ok "--verify without a reference is refused before the run"
plan
