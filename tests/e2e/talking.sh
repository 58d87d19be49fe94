#!/usr/bin/env bash
# talking.sh -- what is told of kernels that send, receive and wait for each other. Prints TAP.
#
# B names the build. Needs awk, jq, python3, and $B/_t/talking, the simulator of tests/support/talking.c.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
export PYTHONDONTWRITEBYTECODE=1
[ -x "$B/_t/talking" ] || none "there is no $B/_t/talking"
SIM=$B/_t/talking
timeline=$root/tests/trace/timeline.py

# steps: of the critical path in the CSV in out, "PE CALL", in order
steps()
{
    awk -F, '$1 == "step" { split($2, of, " "); print of[1], of[3] }' out | xargs
}

# row BY OF CAUSE: behind, count and total
row()
{
    awk -F, -v by="$1" -v of="$2" -v cause="$3" \
        '$1 == by && $2 == of && $3 == cause { print $5 "|" $6 "|" $7 }' out
}

# -- --breakdown --------------------------------------------------------------------------------------

for bench in ring press meet count two; do
    run run $bench --format csv --quiet
    cp out plain.csv
    kernel_ns=$(awk -F, 'NR > 1 { sum += $5 } END { printf "%.6f", sum }' plain.csv)
    run run $bench --format csv --quiet --engine hop
    same plain.csv out
    ok "$bench: both engines"
    run run $bench --breakdown --format csv --quiet
    [ $code -eq 0 ] && [ ! -s err ] && awk -F, -v all="$kernel_ns" '
        $1 == "step" && end != "" && $9 != end && $9 + 0 < end + 0 { exit 1 }
        $1 == "step" { sum += $10 - $9; end = $10 }
        END { d = sum - all; exit !(d < 1e-6 && d > -1e-6) }' out
    ok "$bench: the steps of its paths meet, and are as long as its kernels"
    awk -F, '$1 == "all" { all += $7 } $1 == "op" { op += $7 } $1 == "pe" { pe += $7 } $1 == "place" { place += $7 }
        function differs(x) { return x - all > 1e-5 || all - x > 1e-5 }
        END { exit differs(op) || differs(pe) || differs(place) }' out
    ok "$bench: commands, PEs and places have the same time"
done

# A token of 2048 B goes from PE to PE: 0.0475 ns of wires and 16 ns of the TCM's write port each.
run run ring --breakdown --format csv --quiet
equal "a ring's path goes around" \
    "c0.pe0 tl_full c0.pe0 tl_send c0.pe1 tl_recv c0.pe1 tl_add c0.pe1 tl_send c0.pe2 tl_recv c0.pe2 tl_add c0.pe2 tl_send c0.pe3 tl_recv c0.pe3 tl_add c0.pe3 tl_send c0.pe0 tl_recv" \
    "$(steps)"
equal "its first receive waits for what is sent as it is issued" "c0.pe0|1|16.047500" \
    "$(row wait sip0.cube0.pe1.pe_scheduler queue_wait)"
equal "the first waits for the last" "c0.pe3|1|151.265000" \
    "$(row wait sip0.cube0.pe0.pe_scheduler queue_wait)"

# 8 pieces into 4 slots: the receiver takes the first when it is done with its 16 exps.
run run press --breakdown --format csv --quiet
[ "$(steps | grep -o 'tl_exp' | wc -l)" -eq 16 ] &&
    case "$(steps)" in *" c4.pe1 tl_recv c0.pe0 tl_send c4.pe1 tl_recv") ;; *) false ;; esac
ok "a send that waits for a slot: its path is the receiver's, until the slot is free"
issue=$(awk -F, '$1 == "step" && $2 ~ /^c4.pe1 .* tl_recv/ { print $9; exit }' out)
near "and it waits from its issue to that" \
    "$(awk -v at="$issue" 'BEGIN { print at + 3 + 8 - 219.25625 }')" \
    "$(row op send queue_wait | cut -d'|' -f3)" 0.004

# PE 5 comes late, PE 7 is the last to hear of it.
run run meet --breakdown --format csv --quiet
equal "a barrier's path is that of its last member" \
    "c0.pe5 tl_full c0.pe5 tl_exp c0.pe5 tl_barrier c0.pe7 tl_barrier c0.pe7 tl_full" "$(steps)"
equal "the others wait behind that one" 7 \
    "$(awk -F, '$1 == "wait" && $3 == "barrier_wait" && $5 == "c0.pe5"' out | wc -l | tr -d ' ')"
equal "the last to come does not wait" "" "$(row wait sip0.cube0.pe5.pe_scheduler barrier_wait)"

run run count --breakdown --format csv --quiet
[ -n "$(row op atomic_add drain)$(row op atomic_add overhead)" ]
ok "atomics are commands with a name of their own"

# -- --trace ------------------------------------------------------------------------------------

if grep -q -e -DKB_NO_PROTOBUF "$B/_o/flags"; then
    skip "timelines" "this build has no protobuf-c"
else
    for bench in ring press meet count two; do
        "$SIM" run $bench --quiet --trace t.pftrace --oplog t.jsonl -o /dev/null
        call python3 "$timeline" check t.pftrace && [ $code -eq 0 ] && call python3 "$timeline" oplog t.pftrace t.jsonl
        [ $code -eq 0 ]
        ok "$bench: the timeline is whole, and has every record of the op log"
    done
    "$SIM" run ring --quiet --trace t.pftrace -o /dev/null
    python3 "$timeline" slices t.pftrace >s.txt
    grep -q '^sip0.cube0.pe1 39256250 55303750 wait for c0.pe0' s.txt
    ok "a receive has the name of the PE that it waits for"
    grep -q "^sip0.cube0.pe0 36256250 39256250 tl_send .*'tests/support/talking.c:" s.txt &&
        grep -q '^sip0.cube0.pe0 39256250 55303750 tl_send ' s.txt
    ok "a send is a call until its kernel goes on, and beside it until its end"
    "$SIM" run meet --quiet --trace t.pftrace -o /dev/null
    equal "all of a barrier's members wait" 8 \
        "$(python3 "$timeline" slices t.pftrace | grep -c '^sip0.cube0.pe[0-7] [0-9]* [0-9]* wait ')"
fi
"$SIM" run ring --quiet --trace t.json -o /dev/null
# [NAME, tid] of the slices that begin where the arrow 9 has a step
jq -r '[.traceEvents[] | select(.ph == "M" and .name == "thread_name") | {key: "\(.tid)", value: .args.name}] as $track |
    .traceEvents[] | select((.ph == "s" or .ph == "t" or .ph == "f") and .id == 9) | .tid as $tid |
    $track[] | select(.key == "\($tid)").value' t.json >arrow.txt
[ "$(sed -n 1p arrow.txt)" = sip0.cube0.pe0.pe_dma.write ] &&
    [ "$(sed -n '$p' arrow.txt)" = sip0.cube0.pe1.pe_tcm.read ]
ok "an arrow leads from the sender's DMA to the receiver's FETCH"

# -- the rest -----------------------------------------------------------------------------------

run run ring --quiet --inspect 8 --format json
jq -e '[.rows[] | {(.of + "." + .field): .value}] | add |
    .["op.name"] == "ipcq_copy" and .["op.kernel"] == "ring" and .["dst.memory"] == "c0.pe1.tcm" and
    (.["op.source"] | test("tests/support/talking.c:"))' out >/dev/null
ok "--inspect: what a send moves, and where it was called"
run run ring --quiet --inspect 9 --format csv
[ $code -eq 0 ] && grep -q '^8,op,taken_by,9$' out && grep -q '^8,op,name,ipcq_copy$' out
ok "--inspect: a receive is the message that it takes"
run run press --quiet --oplog press.jsonl -o /dev/null
second=$(jq -r 'select(.op_name? == "ipcq_copy").op_id' press.jsonl | sed -n 2p)
run run press --quiet --inspect "$second" --format csv
[ $code -eq 0 ] && grep -q "^$second,dst,first,1024 1025 1026 " out
ok "--inspect: a piece has its part of the bytes"
refused "--inspect: a barrier has no record" 2 "operation 8 has no record" run meet --inspect 8

run run press --quiet --stats stats.csv --format csv
[ $code -eq 0 ] && grep -q '^.*sip0.cube4.pe1.pe_tcm.write' stats.csv
ok "--stats"
call "$SIM" report run press -o page.html
[ $code -eq 0 ] && page_data page.html -e '[.breakdown.rows[] | .[1], .[2]] | contains(["queue_wait"]) and contains(["send"])' >out
ok "report: commands and what they have waited for"
call "$SIM" report run meet -o page.html
[ $code -eq 0 ] && page_data page.html -e '[.breakdown.rows[] | .[:3]] | contains([["op", "barrier", "barrier_wait"]])' >out
ok "report: barriers"

plan
