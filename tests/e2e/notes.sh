#!/usr/bin/env bash
# notes.sh -- ideal links that carried too much: the warning stands with the rows, in every format. Prints TAP.
#
# B names the build, with cube8_ideal (version 2 of the keys, ideal links); SIM is cube8 of version 1. Needs jq,
# python3.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
IDEAL=$B/cube8_ideal/cube8_ideal
[ -x "$IDEAL" ] || none "there is no $IDEAL"
says_so='links are ideal'

# Two writes over one link of 128 GB/s (docs/machine.md "Links: fifo or ideal"), and the first of them alone.
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,write,c0.pe0,c0.slice2,0,4K 0,write,c0.pe1,c0.slice3,0,4K >two.csv
head -2 two.csv >one.csv
load="load --pattern uniform --rate 0.02,0.2 --txns 2000 --seeds 1"

# placed NAME COMMAND...: the warning is the first line of a table and of Markdown, once, with --quiet too
placed()
{
    local name=$1 sim=$2 format

    shift 2
    for format in table md; do
        call "$sim" "$@" --format $format
        [ $code -eq 0 ] && head -n 1 out | grep -q "$says_so" && [ "$(cat out err | grep -c "$says_so")" -eq 1 ]
        ok "$name, $format: before the rows, and there alone"
    done
    call "$sim" "$@" --quiet --format table
    head -n 1 out | grep -q "$says_so" && [ ! -s err ]
    ok "$name: --quiet does not hide it"
    call "$sim" "$@" --quiet --format json
    jq -e '.notes | length == 1 and (.[0] | contains("links are ideal"))' out >/dev/null
    ok "$name: notes of JSON"
    call "$sim" "$@" --quiet --format jsonl
    head -n 1 out | jq -e '.notes[0] | contains("links are ideal")' >/dev/null
    ok "$name: notes in the first of JSON lines"
}

placed "replay, version 1" "$SIM" replay two.csv
placed "replay" "$IDEAL" replay two.csv
placed "run" "$IDEAL" run gather --set sip.d2d.bw_gbs=8
placed "load" "$IDEAL" $load

# A file of version 2 has asked for ideal links: CSV and databases have a column for it.
for command in "replay two.csv" "run gather --set sip.d2d.bw_gbs=8" "$load"; do
    rm -f all.db
    call "$IDEAL" $command --quiet --format csv --sqlite all.db
    python3 - <<'END_PY'
import csv, sqlite3
rows = list(csv.DictReader(open("out")))
assert rows and list(rows[0])[-1] == "notes" and all("links are ideal" in r["notes"] for r in rows), rows
kept = [n for (n,) in sqlite3.connect("all.db").execute("SELECT notes FROM result")]
assert kept == [r["notes"] for r in rows], kept
END_PY
    ok "${command%% *}: a column of CSV and of the database"
    call "$SIM" $command --format csv
    ! head -n 1 out | grep -q notes && says "$says_so"
    ok "${command%% *}, version 1: the columns are as ever, and stderr says it"
done
call "$IDEAL" replay one.csv --format csv
[ "$(field notes 1)" = "" ] && head -n 1 out | grep -q ',notes$' && [ ! -s err ]
ok "nothing to say: the column is there, and empty"
call "$IDEAL" replay one.csv --format json
jq -e 'has("notes") | not' out >/dev/null
ok "nothing to say: no notes in JSON"
call "$IDEAL" probe --format csv
! head -n 1 out | grep -q notes
ok "probe, of one transaction at a time, has no notes"

# diff takes it for a result: rows of an ideal machine are compared with those of another one
"$IDEAL" $load --quiet -o ideal.csv && sed 's/from rate 0.2 on/from rate 0.1 on/' ideal.csv >other.csv
"$IDEAL" diff ideal.csv other.csv >out; grep -q '^2 rows, .*: none moved; 2 texts differ' out
ok "diff does not tell rows apart by their notes"
plan
