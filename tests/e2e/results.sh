#!/usr/bin/env bash
# results.sh -- what becomes of results: --sqlite, and diff. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs python3, for its sqlite3.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# sql FILE QUERY: rows as Python's lists, one a line
sql()
{
    python3 -c '
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print("|".join("NULL" if cell is None else str(cell) for cell in row))' "$1" "$2"
}

# holds FILE RUN CSV: the rows of a run are those that were printed, value by value and type by type
holds()
{
    python3 -c '
import csv, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
found = db.execute("SELECT * FROM result WHERE run = ? ORDER BY row", (int(sys.argv[2]),)).fetchall()
printed = list(csv.DictReader(open(sys.argv[3])))
assert len(found) == len(printed), (len(found), len(printed))
for i, (a, b) in enumerate(zip(found, printed)):
    assert a["row"] == i
    for name in a.keys():
        text, value = b.get(name, ""), a[name]
        if name in ("run", "row"):
            continue
        if text == "":
            assert value is None, (name, value)
        elif isinstance(value, float):
            assert ("%.6f" % value == text or name == "max_abs_err" and float(text) == value) and name.endswith(("_ns", "_pct", "gbs", "_err", "tflops", "_per_byte")), (name, value, text)
        else:
            assert str(value) == text, (name, value, text)' "$@"
}

# -- a database is locked for the whole of what follows, see below -------------------------------

"$SIM" probe --case h2d --sqlite locked.db >/dev/null
python3 -c '
import sqlite3, time
db = sqlite3.connect("locked.db", isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
open("is_locked", "w")
time.sleep(60)' &
locker=$!
while [ ! -e is_locked ]; do sleep 0.05; done
(
    "$SIM" probe --case h2d --sqlite locked.db >locked.out 2>locked.err
    echo $? >locked.code
) &
waiter=$!

# -- what a database holds ----------------------------------------------------------------------

run probe --sqlite a.db --format csv
[ $code -eq 0 ] && [ ! -s err ] && cp out probe.csv && holds a.db 1 probe.csv
ok "sqlite: the rows of probe are in the table result, numbers as numbers"
"$SIM" probe --format csv | cmp - probe.csv
ok "sqlite: what is printed stays the same"
many 2000
equal "sqlite: a view for the command" "$(head -1 probe.csv | tr , '|')" \
    "$(sql a.db "SELECT name FROM pragma_table_info('probe_result') WHERE cid > 1" | xargs | tr ' ' '|')"
run replay many.csv --until 900 --sqlite a.db --quiet && holds a.db 2 out && holds a.db 1 probe.csv
ok "sqlite: replay is added to what is there, with the columns that it needs"
run run softmax M=5 N=7 --verify --seed 7 --sqlite a.db --format csv --quiet && holds a.db 3 out
ok "sqlite: so is run"
equal "sqlite: each view has its own rows" "17 $(sql a.db 'SELECT count(*) FROM result WHERE run = 2') 1 none" \
    "$(sql a.db 'SELECT count(*) FROM probe_result' | xargs) $(sql a.db 'SELECT count(*) FROM replay_result') \
$(sql a.db "SELECT count(*) FROM run_result") $(sql a.db "SELECT ifnull(max(algorithm), 'none') FROM run_result")"
run run all_reduce count=64 --race --sqlite view.db --quiet && run run copy L=64 --sqlite view.db --quiet &&
    run run all_reduce count=64 --sqlite view.db --quiet
equal "sqlite: a view with the columns of later runs" "2 text" \
    "$(sql view.db "SELECT count(*) || ' ' || typeof(max(algorithm)) FROM run_result")"
equal "sqlite: the origin of a run" \
    "3|kernbench.run/1|run|cube8 run softmax M=5 N=7 --verify --seed 7 --format csv|cube8|1|1|0.2.0|7" \
    "$(sql a.db "SELECT id, schema, command, command_line, topology,
        hash = '$("$SIM" info --format csv | sed -n 's/^hash,//p')',
        config LIKE 'kernbench: 1%', version, seed FROM run WHERE id = 3")"
equal "sqlite: params as they were given, and as they were resolved" \
    "--engine=fused --format=csv --seed=7 --verify=NULL BENCH=softmax M=5 N=7 dtype=f16" \
    "$(sql a.db "SELECT name, value FROM param WHERE run = 3 ORDER BY name" | tr '|\n' '= ' | sed 's/ $//')"
equal "sqlite: of an option that is repeated the last counts" "--bytes=8K --engine=hop" \
    "$(run probe --bytes 4K --engine hop --bytes 8K --sqlite b.db && sql b.db \
        "SELECT name, value FROM param WHERE name != '--format'" | tr '|\n' '= ' | sed 's/ $//')"
rm -f b.db c.db
for db in b.db c.db; do
    run probe --sqlite $db && run replay many.csv --sqlite $db
done
cmp b.db c.db
ok "sqlite: the same input makes the same file"
cp many.csv $'\xff.csv'
run replay $'\xff.csv' --sqlite latin.db
equal "sqlite: words that are no UTF-8 become texts all the same" $'cube8 replay \'\xef\xbf\xbd.csv\'' \
    "$(PYTHONIOENCODING=utf-8 sql latin.db 'SELECT command_line FROM run')"
run probe --case h2d --sqlite :memory: && [ -s ./:memory: ]
ok "sqlite: no name is special"
equal "sqlite: the largest seed" "-1" \
    "$(run run softmax M=4 N=8 --seed 18446744073709551615 --sqlite seed.db; sql seed.db 'SELECT seed FROM run')"
run probe --case h2d --format jsonl --sqlite d.db
"$SIM" probe --case h2d --format jsonl | cmp - out
ok "sqlite: is not part of the command line in results"
"$SIM" replay many.csv --sqlite pipe.db --quiet | head -1 >/dev/null
equal "sqlite: a reader that closes the pipe early takes no row away" 2000 \
    "$(sql pipe.db 'SELECT count(*) FROM result')"

# -- seed ---------------------------------------------------------------------------------------

for command in info list probe 'route c0.pe0 c0.slice0' 'replay many.csv'; do
    # shellcheck disable=SC2086
    [ "$("$SIM" $command --format jsonl | head -1 | jq -c '[.seed, .version, .command, .topology.hash | type]')" = \
        '["number","string","string","string"]' ]
    ok "seed: in the JSON of $command"
done
equal "seed: the one that was given" 7 "$("$SIM" run softmax M=5 N=7 --seed 7 --format json | jq .seed)"

# -- two at once --------------------------------------------------------------------------------

many 20000
pids=
for i in 1 2 3 4; do
    "$SIM" replay many.csv --quiet --sqlite both.db >both.$i 2>both.err.$i &
    pids="$pids $!"
done
all=0
for pid in $pids; do
    wait "$pid" || all=1
done
[ $all = 0 ] && [ "$(sql both.db 'SELECT count(*), count(DISTINCT run) FROM result')" = '80000|4' ] &&
    [ "$(sql both.db 'PRAGMA integrity_check')" = ok ] && holds both.db 4 both.1
ok "sqlite: four writers at once, all of them succeed"

# -- what cannot be -----------------------------------------------------------------------------

# refused NAME TEXT FILE: exit 5 before anything is run
refused()
{
    run probe --case h2d --sqlite "$3"
    [ $code -eq 5 ] && says "cannot add to $3: $2" && [ ! -s out ]
    ok "sqlite: $1"
}

echo 'This is a text, and long enough to be taken for the header of a database at a glance.' >text
cp text text.copy
refused "a file that is no database" "it is no database of SQLite" text
cmp -s text text.copy
ok "sqlite: which stays as it is"
python3 -c 'import sqlite3; sqlite3.connect("other.db").execute("CREATE TABLE run (x)")'
cp other.db other.copy
refused "a database of something else" "it is a database of something else" other.db
cp d.db new.db && python3 -c 'import sqlite3; sqlite3.connect("new.db").execute("PRAGMA user_version = 2")'
refused "a database of another version" "another version of kernbench wrote it" new.db
refused "a folder that is not there" "No such file or directory" nowhere/x.db
refused "a folder" "it is no regular file" .
refused "a device" "it is no regular file" /dev/null
if [ "$(id -u)" = 0 ]; then
    skip "sqlite: a file that may not be written" "root may write everything"
else
    chmod a-w d.db
    refused "a file that may not be written" "it may not be written" d.db
    chmod u+w d.db
fi
run probe --sqlite x.db -o x.db
[ $code -eq 2 ] && says "--sqlite and -o name the same file"
ok "sqlite: not the same file as -o"
run probe --origin x.json -o ./x.json --format json
[ $code -eq 2 ] && says "--origin and -o name the same file"
ok "origin: not the same file as -o"
cp "$root/topologies/cube8.yaml" m.yaml
for words in "probe --machine m.yaml" "study m.yaml" "load --pattern matrix:m.yaml --rate 0.1" "run gather index=@m.yaml" "diff x.csv m.yaml" \
    "llm llama-3.2-1b --map m.yaml" "cc m.yaml"; do
    run $words -o ./m.yaml
    [ $code -eq 2 ] && says "-o names the file that is read"
    ok "$words: not over the file that is read"
done
cmp -s m.yaml "$root/topologies/cube8.yaml"
ok "and it is as it was"
run probe --sqlite ''
[ $code -eq 2 ] && says "--sqlite '' is not the name of a file"
ok "sqlite: an empty name"
run info --sqlite x.db
[ $code -eq 2 ] && says "info takes no --sqlite"
ok "sqlite: an option of commands with rows"
run replay text --sqlite none.db
[ $code -eq 3 ] && [ ! -e none.db ]
ok "sqlite: a run that fails adds nothing, and creates nothing"
before=$(sql d.db 'SELECT count(*) FROM run')
run probe --sqlite d.db -o /dev/full
[ $code -eq 5 ] && [ "$(sql d.db 'SELECT count(*) FROM run')" = "$before" ]
ok "sqlite: what could not be printed is not added either"
cp d.db full.db
(
    ulimit -f 200
    "$SIM" replay many.csv --sqlite full.db 2>err | tail -n +2 | wc -l >out
    exit "${PIPESTATUS[0]}"
)
code=$?
[ $code -eq 5 ] && says "cannot add to full.db: " && [ "$(cat out)" -eq 20000 ] &&
    [ "$(sql full.db 'SELECT count(*) FROM run')" = "$before" ] && [ "$(sql full.db 'PRAGMA integrity_check')" = ok ]
ok "sqlite: no more room: exit 5, all rows are printed, none is added"

# -- Ctrl-C -------------------------------------------------------------------------------------

{
    echo 'issue_ns,op,src,dst,offset,nbytes'
    for i in 1 2 3; do
        echo "$i,read,c0.pe0,c0.slice0,0,4K"
    done
} >three.csv
while_reading three.csv INT replay - --sqlite stop.db
[ $code -eq 130 ] && says "interrupted: 0 of 3" &&
    [ "$(sql stop.db 'SELECT count(*) FROM run WHERE partial = 1')" = 1 ] && holds stop.db 1 out
ok "sqlite: Ctrl-C: what is complete is added"
cp both.db killed.db
"$SIM" replay many.csv --sqlite killed.db >/dev/null 2>&1 &
victim=$!
while [ ! -e killed.db-journal ] && kill -0 $victim 2>/dev/null; do :; done
kill -9 $victim 2>/dev/null
wait $victim 2>/dev/null
rows=$(sql killed.db 'SELECT count(*) % 20000 FROM result')
[ "$rows" = 0 ] && [ "$(sql killed.db 'PRAGMA integrity_check')" = ok ]
ok "sqlite: killed in the middle: all of it or nothing"

# -- diff ---------------------------------------------------------------------------------------

# differs NAME CODE NOTE ARGUMENT...: the exit code, and what the last line begins with
differs()
{
    local name=$1 expected=$2 note=$3

    shift 3
    run diff "$@"
    [ $code -eq "$expected" ] && [[ $(tail -n 1 out) == "$note"* ]]
    ok "diff: $name"
}

for f in csv json jsonl; do
    "$SIM" probe --format $f >a.$f
done
for a in csv json jsonl; do
    for b in csv json jsonl; do
        differs "$a and $b of the same" 0 '17 rows, 187 numbers compared: none moved' a.$a a.$b
    done
done
[ ! -s err ]
ok "diff: another --format is no note"
jq . a.json >pretty.json
jq -cS . a.json >compact.json
differs "JSON with another layout" 0 '17 rows, 187 numbers compared: none moved' pretty.json a.json
differs "JSON on one line, keys in another order" 0 '17 rows, 187 numbers compared: none moved' a.json compact.json
head -1 many.csv | "$SIM" replay - --format json >none.json
differs "JSON without rows" 0 '0 rows, 0 numbers compared: none moved' none.json none.json

sed 's/^\(pe-sram,c0.pe0,c0.sram,4096\),32.103750/\1,33.067000/; s/42.897500/42.897501/' a.csv >b.csv
differs "numbers that moved, the largest first" 1 '17 rows, 187 numbers compared: 2 moved, the largest by 3.00' a.csv b.csv
sed '1d;$d' out | awk '{ print $1, $2, $(NF-4), $(NF-3), $(NF-2), $(NF-1), $NF }' >moves
printf '%s\n' '5 pe-sram actual_ns 32.103750 33.067000 0.963250 3.00' \
    '4 pe-cross-cube-worst actual_ns 42.897500 42.897501 0.000001 0.00' | cmp - moves
ok "diff: which, where, from what to what, by how much"
differs "the first --top of them" 1 '17 rows, 187 numbers compared: 2 moved' a.csv b.csv --top 1
[ "$(wc -l <out)" = 3 ]
ok "diff: one line for one of them"
differs "--tolerance" 1 '17 rows, 187 numbers compared: 1 moved' a.csv b.csv --tolerance 0.000003
differs "--atol" 1 '17 rows, 187 numbers compared: 1 moved' a.csv b.csv --atol 0.000001
differs "both" 0 '17 rows, 187 numbers compared: none' a.csv b.csv --atol 0.000001 --tolerance 4
differs "--bound tells all, and passes" 0 '17 rows, 187 numbers compared: 2 moved' a.csv b.csv --bound 4
differs "--bound that is exceeded" 1 '17 rows, 187 numbers compared: 2 moved' a.csv b.csv --bound 3
run diff a.csv b.csv --format jsonl
[ $code -eq 1 ] && [ "$(sed -n 2p out | jq -c '[.row, .column, .a, .b, .delta]')" = '[5,"actual_ns",32.10375,33.067,0.96325]' ] &&
    grep -q '"a":32.103750,"b":33.067000,"delta":0.963250,' out && says '17 rows, 187 numbers compared: 2 moved'
ok "diff: as JSON lines, with all digits; the note goes to stderr"
run diff a.csv b.csv --format csv --quiet
[ $code -eq 1 ] && [ ! -s err ] && [ "$(head -1 out)" = row,where,column,a,b,delta,change_pct ]
ok "diff: as CSV, quiet"

printf '%s\n' id,src,dst,a_ns,b_ns 0,x,y,1,2 1,x,z,1,2 >x.csv
printf '%s\n' id,src,dst,a_ns,b_ns 0,x,y,2,4 1,x,z,2,4 >y.csv
run diff x.csv y.csv --format csv --quiet
[ "$(tail -n +2 out | cut -d, -f1-3 | xargs)" = '0,0 x y,a_ns 0,0 x y,b_ns 1,1 x z,a_ns 1,1 x z,b_ns' ]
ok "diff: what moved as much in order of rows, then columns, each with all keys of its row"
echo '{"columns":[],"rows":[]}' >x.json
differs "--columns of nothing at all" 0 '0 rows, 0 numbers compared' x.json x.json --columns actual_ns

awk -F, -v OFS=, '{ x = $1; $1 = $5; $5 = x } 1' a.csv >c.csv
differs "columns in another order" 0 '17 rows, 187 numbers compared: none moved' a.csv c.csv
cut -d, -f1-14 a.csv >c.csv
differs "a column that is missing" 1 '17 rows, 170 numbers compared: none moved; 1 column in one of them only' a.csv c.csv
grep -Eq '^ *- +- +util_pct +present +missing +- +-$' out
ok "diff: which one"
sed '$d' a.csv >c.csv
differs "a row that is missing" 1 '16 rows, 176 numbers compared: none moved; 1 row only in A' a.csv c.csv
differs "a row too many" 1 '16 rows, 176 numbers compared: none moved; 1 row only in B' c.csv a.csv
grep -Eq '^ 16 +saturation c0.pe0 c0.slice0 1048576 +- +missing +present' out
ok "diff: which one"
sed '3d' a.csv >c.csv
differs "a row missing in the middle" 1 '16 rows, 176 numbers compared: none moved; 1 row only in A' a.csv c.csv
sed 's/,4096,/,4095,/' a.csv >c.csv
differs "a parameter is not a number that moves" 1 '8 rows, 88 numbers compared: none moved; 9 rows only in A; 9 rows only in B' a.csv c.csv --bound 1000000

# -- rows by their keys

{ head -1 a.csv; sed 1d a.csv | tac; } >c.csv
differs "rows in another order, with keys of their own" 0 '17 rows, 187 numbers compared: none moved' a.csv c.csv
for f in csv json pretty; do
    case $f in
    csv) sed '3d' a.csv >c.$f ;;
    json) sed '3d' a.json >c.$f ;;
    pretty) jq '.rows |= (del(.[1]) | reverse)' a.json >c.$f ;;
    esac
    differs "a row less in $f, which the others are found behind" 1 \
        '16 rows, 176 numbers compared: none moved; 1 row only in B' c.$f a.jsonl
    [ "$(sed -n 2p out | awk '{ print $1, $2, $(NF-3), $(NF-2) }')" = '1 pe-same-half-hbm missing present' ]
    ok "diff: which one"
done
awk 'BEGIN { print "id,name,t_ns"; for (i = 0; i < 3000; i++) printf "%d,\"a \"\"%d\"\",\nb\",%d\r\n", i, i % 7, i }' >x.csv
awk 'BEGIN { print "t_ns,name,id"; for (i = 2999; i >= 0; i -= 2) printf "%d,\"a \"\"%d\"\",\nb\",%d.000\n", i + (i == 1999), i % 7, i }' >y.csv
differs "half of three thousand, turned around, in quotes" 1 \
    '1500 rows, 1500 numbers compared: 1 moved, the largest by 0.0500' x.csv y.csv --top 3000
grep -Eq '^1999 .* t_ns +1999 +2000 +1 +0.05$' out && tail -1 out | grep -q '; 1500 rows only in A$'
ok "diff: what moved in them"
printf 'name,t_ns\na,1\nb,2\na,3\nc,4\n' >x.csv
printf 'name,t_ns\na,1\na,3\nb,2\na,4\nd,5\n' >y.csv
differs "rows with keys that come twice go in order" 1 \
    '4 rows, 1 number compared: none moved; 3 other rows; 1 row only in B' x.csv y.csv
printf 'name,t_ns\na,1\na,2\nb,3\nc,4\n' >x.csv
printf 'name,t_ns\na,1\na,2\nc,5\n' >y.csv
differs "those before the first that differs do not matter" 1 \
    '3 rows, 3 numbers compared: 1 moved, the largest by 25 %; 1 row only in A' x.csv y.csv

# -- texts that are results

printf 'pattern,rate,mean_ns,busiest_memory,verify\nlocal,0.1,10,slice1,pass\nlocal,0.2,20,slice1,pass\n' >x.csv
sed 's/10,slice1/11,slice2/' x.csv >y.csv
differs "a text that is a result does not make another row" 1 \
    '2 rows, 2 numbers compared: 1 moved, the largest by 10 %; 1 text differs' x.csv y.csv
sed '1d;$d' out | sed 's/  */ /g; s/^ //' >found
printf '%s\n' '0 local 0.1 mean_ns 10 11 1 10.00' '0 local 0.1 busiest_memory slice1 slice2 - -' | cmp - found
ok "diff: it stands behind the numbers, and tells no rows apart"
differs "and is below every bound" 0 \
    '2 rows, 2 numbers compared: 1 moved, the largest by 10 %; 1 text differs, none above the bound of 10.5 %' \
    x.csv y.csv --bound 10.5
sed 's/slice1/slice2/' x.csv >y.csv
differs "and above a bound of 0" 1 '2 rows, 2 numbers compared: none moved; 2 texts differ' x.csv y.csv
sed '$s/pass/fail/; s/10,/11,/' x.csv >y.csv
differs "a verification that fails is above every bound" 1 \
    '2 rows, 2 numbers compared: 1 moved, the largest by 10 %; 1 text differs, 1 above the bound of 1000000 %' \
    x.csv y.csv --bound 1000000
sed -n 2p out | grep -Eq 'verify +pass +fail'
ok "diff: and comes first"

# -- --columns

differs "--columns" 0 '17 rows, 34 numbers compared: none moved' a.csv b.csv --columns drain_ns,wire_ns
differs "--columns, as a gate" 1 \
    '17 rows, 17 numbers compared: 2 moved, the largest by 3.00043 %, 1 above the bound of 3 %' \
    a.csv b.csv --columns actual_ns --bound 3
cut -d, -f1-14 a.csv >c.csv
differs "--columns: one that is missing and was not asked for" 0 '17 rows, 17 numbers' a.csv c.csv --columns actual_ns
differs "--columns: one that was" 1 '17 rows, 17 numbers compared: none moved; 1 column in' a.csv c.csv --columns actual_ns,util_pct
differs "--columns without a number" 0 '17 rows, 0 numbers compared: there are none to compare' a.csv b.csv --columns src
for words in "actual_nS|unknown column 'actual_nS', did you mean 'actual_ns'?" "wire|unknown column 'wire', did you mean 'wire_ns'?" \
    "wire_ns,|unknown column '': it is one of case, src" "nbytes|--columns: 'nbytes' tells rows apart"; do
    run diff a.csv b.csv --columns "${words%%|*}"
    [ $code -eq 2 ] && [ ! -s out ] && says "${words#*|}"
    ok "diff: --columns ${words%%|*}"
done

# -- decimals, and tables for people

printf 'x_ns,n\n512.000000,5\n0.951246,9\n' >x.csv
printf '{"rows":[{"x_ns":256,"n":7},{"x_ns":1,"n":9}]}' >y.json
differs "decimals by column" 1 '2 rows, 4 numbers compared: 3 moved' x.csv y.json
sed '1d;$d' out | awk '{ print $(NF-4), $(NF-3), $(NF-2), $(NF-1) }' >found
printf '%s\n' 'x_ns 512.000000 256.000000 -256.000000' 'n 5 7 2' 'x_ns 0.951246 1.000000 0.048754' | sort >expected
sort found | cmp - expected
ok "diff: six of them in all cells, or none"
for f in table md; do
    "$SIM" probe --format $f >people
    for files in 'people a.csv' 'a.csv people' 'people people'; do
        # shellcheck disable=SC2086
        run diff $files
        [ $code -eq 3 ] && [ ! -s out ] && says 'people: a table for people; write it with --format csv'
        ok "diff: $files, as $f"
    done
done

# two FIRST SECOND: files of two columns, x.csv and y.csv, from printf's escapes
two()
{
    printf "$1" >x.csv
    printf "$2" >y.csv
}

two 'name,t_ns\n"a,b",1\n' 'name,t_ns\r\n"a,b",1.000000\r\n'
differs "CRLF, decimals" 0 '1 row, 1 number compared: none' x.csv y.csv
two 'name,t_ns\n"say ""hi""\nthere",1\nz,2\n' '\xef\xbb\xbf"name","t_ns"\n"say ""hi""\nthere","1"\n"z","3"'
differs "quotes, ends of lines within them, a byte order mark" 1 '2 rows, 2 numbers compared: 1 moved, the largest by 50 %' x.csv y.csv
two 't_ns\n9223372036854.775807\n' 't_ns\n9223372036854.775806\n'
differs "the last digit of the longest time" 1 '1 row, 1 number compared: 1 moved' x.csv y.csv
grep -q -- '-0.000001' out
ok "diff: by how much"
printf '{"schema":"x","rows":[{"t_ns":9223372036854.775806}]}' >y.json
differs "and from JSON" 1 '1 row, 1 number compared: 1 moved' x.csv y.json
differs "and the same" 0 '1 row, 1 number compared: none' y.csv y.json
two 't_ns\n0\n5\n' 't_ns\n3\n5\n'
differs "from zero" 1 '2 rows, 2 numbers compared: 1 moved, the largest from zero' x.csv y.csv --bound 1000000
differs "from zero within --atol" 0 '2 rows, 2 numbers compared: none' x.csv y.csv --atol 3
two 'x,y\nnan,inf\n,-inf\n1e400,1\n' 'x,y\nnan,inf\n,-inf\n1e400,1e0\n'
differs "NaN and infinities are what they are" 0 '3 rows, 5 numbers compared: none' x.csv y.csv
two 'x,y\n1,inf\n1,3\n1,1\n' 'x,y\nnan,-inf\n,3\n,inf\n'
differs "and nothing else" 1 '3 rows, 6 numbers compared: 5 moved, the largest from zero or nothing' x.csv y.csv --tolerance 1000000 --bound 1000000
for i in {1..40}; do
    awk -v n="$i" 'BEGIN {
        for (c = 1; c <= 60; c++) {
            names = names (c > 1 ? "," : "") "c" c
            words = words (c > 1 ? "," : "") sprintf("%0*dx", n, c)
        }
        print names >"y.csv"
        print names "\n" words >"x.csv"
    }'
    run diff x.csv y.csv
    [ $code -eq 1 ] && [ "$(awk '{ print length }' out | sort -n | tail -1)" -le 120 ] || break
done
[ "$i$code" = 401 ] && [ "$(awk 'NR > 1 && !/rows/' out | tr -d ' ' | tr -d '\n' | sed 's/-presentmissing--//')" = \
    "0$(printf '%040dx%040dx%032d...' 1 2 0)" ]
ok "diff: a row with a long name"
two 'a\n1\n' 'b\n1\n'
differs "no column in common" 1 '1 row, 0 numbers compared: there are none to compare; 2 columns in one' x.csv y.csv
two 'a\n' 'a\n'
differs "no rows" 0 '0 rows, 0 numbers compared: none' x.csv y.csv
awk 'BEGIN { print "id,t_ns"; for (i = 0; i < 5000; i++) print i "," 1000 + i }' >x.csv
awk 'BEGIN { print "id,t_ns"; for (i = 0; i < 5000; i++) print i "," 1000 + i + i * 7919 % 5000 }' >y.csv
run diff x.csv y.csv --format csv --top 7 --quiet
cut -d, -f1 out | sed 1d >found
join -t, <(sort x.csv) <(sort y.csv) | grep -v id | awk -F, '{ printf "%.9f %d\n", ($3 - $2) / $2, $1 }' |
    sort -k1,1nr -k2,2n | head -7 | awk '{ print $2 }' | cmp - found
ok "diff: the seven largest of five thousand"

"$SIM" run softmax M=4 N=8 --seed 1 --format json >x.json
"$SIM" run softmax M=4 N=8 --seed 2 --format jsonl | sed 's/"hash":"[0-9a-f]*"/"hash":"0123"/' >y.json
run diff x.json y.json
[ $code -eq 0 ] && says 'note: A has topology hash ' && says 'note: A has seed 1, B 2' && says 'note: A has command cube8 run'
ok "diff: results of other machines, seeds and commands are a note"
run diff x.json y.json --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "diff: which --quiet leaves out"

for format in csv json jsonl ndjson; do
    "$SIM" probe --format $format >p.$format
    "$SIM" probe --case h2d --format $format >one.$format
    "$SIM" probe --case h2d --vary cube.pes=8,99,4 --format $format >some.$format 2>err
done
for b in json jsonl ndjson; do
    for name in p one some; do
        run diff $name.csv $name.$b
        [ $code -eq 0 ] && grep -q '^[1-9][0-9]* rows*, [1-9][0-9]* numbers compared: none moved$' out
        ok "diff: $name.csv and $name.$b"
    done
done
"$SIM" probe --case h2d --vary cube.pes=99,8,4 --format ndjson 2>err >first.ndjson
{ sed -n 2p first.ndjson && sed -n 1p first.ndjson && sed -n 3p first.ndjson; } | cmp -s - some.ndjson && "$SIM" diff first.ndjson first.ndjson >out
ok "diff: rows of machines that failed, wherever they stand"

# bad NAME MESSAGE TEXT: exit 3 and the message, on either side
bad()
{
    printf "$3" >bad.in
    run diff a.csv bad.in
    [ $code -eq 3 ] && [ ! -s out ] && says "$2" && run diff bad.in a.csv && false
    [ $code -eq 3 ] && [ ! -s out ] && says "$2"
    ok "diff: $1"
}

bad "an empty file" 'bad.in is empty' ''
bad "a file of blank lines" 'bad.in is empty' '\n\r\n \n'
bad "a file that is no text" 'bad.in:2:2: a byte 0' 'a\nb\0\0'
bad "too few fields" 'bad.in:3:1: 1 of the 2 fields of the header' 'a,b\n1,2\n3\n'
bad "too many fields" 'bad.in:2:5: more than the 2 fields of the header' 'a,b\n1,2,3\n'
bad "a column twice" "bad.in:1:5: two columns 'a'" 'a,b,a\n'
bad "a column without a name" 'bad.in:1:3: column 2 has no name' 'a,\n'
for header in name,name,util_pct name,,util_pct ,name,util_pct name,util_pct, ,,; do
    printf '%s\n' "$header" a,b,1 >heading.csv
    for view in "view sip --stats" "diff a.csv"; do
        run $view heading.csv -o nowhere
        [ $code -eq 3 ] && [ ! -e nowhere ] && grep -Eq "^heading.csv:1:[0-9]+: (column [0-9] has no name|two columns 'name')$" err
        ok "$view: the columns $header"
    done
done
bad "a quote that is not closed" 'bad.in:3:3: this quote is never closed' 'a,b\n1,2\n1,"x\n1,2\n'
bad "text behind a quote" 'bad.in:2:4: text behind a closing quote' 'a,b\n"x"y,2\n'
bad "JSON that ends early" 'bad.in:1:' '{"schema":'
bad "JSON that is none" 'bad.in:3:11: no JSON: ' '{"schema":"x"}\n{"a":1}\n{"a":1.2.3}\n'
bad "JSON of something else" "bad.in:1:1: this is no result: it has no list 'rows'" '{"x":[1]}'
bad "JSON rows that are none" 'bad.in: row 1: a row is an object' '{"rows":[{"a":1},5]}'
bad "JSON rows within rows" "bad.in: row 0: 'a' is neither number nor text" '{"rows":[{"a":[1]}]}'
bad "JSON rows of other columns" "bad.in:3:1: no 'a', which the first row has" '{"schema":"x"}\n{"a":1}\n{"b":1}\n'
# bad_lines NAME MESSAGE SED: the JSON of probe, changed
bad_lines()
{
    sed "$3" a.json >bad.in
    run diff bad.in a.json
    [ $code -eq 3 ] && [ ! -s out ] && says "$2"
    ok "diff: JSON $1"
}

bad_lines "that ends after a row" "bad.in:6:1: no JSON: ']}' expected" '6,$d'
bad_lines "without a comma" "bad.in:5:1: no JSON: ']}' expected" '4s/,$//'
bad_lines "with a comma too many" 'bad.in:19:1: no JSON: no row behind a comma' '18s/$/,/'
bad_lines "with a text behind it" 'bad.in:21:2: text behind the end of JSON' '$s/$/\n\n x/'
bad_lines "with a row that breaks off" 'bad.in:9:' '9s/}//'
run diff a.csv nowhere.csv
[ $code -eq 3 ] && says 'cannot read nowhere.csv: No such file'
ok "diff: a file that is not there"
run diff /dev/zero a.csv
[ $code -eq 3 ] && says '/dev/zero:1:1: a byte 0'
ok "diff: a file without an end"
run diff a.csv . && false
[ $code -eq 3 ] && says 'cannot read .: Is a directory'
ok "diff: a folder"
run diff a.csv
[ $code -eq 2 ] && says "diff needs A B"
ok "diff: one file alone"
run diff - -
[ $code -eq 2 ] && says "not both"
ok "diff: standard input twice"
run diff - a.json <a.csv
[ $code -eq 0 ]
ok "diff: standard input"
"$SIM" diff <(cat a.csv) <(cat a.jsonl) >out 2>err
ok "diff: pipes"
for option in '--tolerance x' '--tolerance 1000001' '--bound -1' '--atol 1e3' '--top 0'; do
    # shellcheck disable=SC2086
    run diff a.csv a.csv $option
    [ $code -eq 2 ] && says "$option" || says "${option/ / \'}"
    ok "diff: $option"
done
run diff a.csv b.csv -o moves.csv --format csv
[ $code -eq 1 ] && [ ! -s out ] && [ "$(wc -l <moves.csv)" = 3 ]
ok "diff: -o is kept when something moved"
run diff a.csv b.csv -o /dev/full
[ $code -eq 5 ] && says 'cannot write /dev/full'
ok "diff: no room"
awk 'BEGIN { print "id,t_ns"; for (i = 0; i < 100000; i++) print i "," i }' >x.csv
awk 'BEGIN { print "id,t_ns"; for (i = 0; i < 100000; i++) print i "," i + 1 }' >y.csv
"$SIM" diff x.csv y.csv --top 100000 2>err | head -1 >/dev/null
[ "${PIPESTATUS[0]}" = 1 ] && [ ! -s err ]
ok "diff: a reader that closes the pipe early"
while_reading x.csv INT diff y.csv -
[ $code -eq 130 ] && [ ! -s out ]
ok "diff: Ctrl-C while it reads"

# -- the locked database ------------------------------------------------------------------------

wait $waiter
[ "$(cat locked.code)" = 5 ] && grep -qF 'cannot add to locked.db: another program has locked it' locked.err &&
    grep -q '^h2d' locked.out
ok "sqlite: locked for too long: exit 5, the rows are printed"
kill $locker
wait $locker 2>/dev/null
equal "sqlite: and nothing is added" 1 "$(sql locked.db 'SELECT count(*) FROM run')"
rm is_locked
python3 -c '
import sqlite3, time
db = sqlite3.connect("locked.db", isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
open("is_locked", "w")
time.sleep(1)' &
while [ ! -e is_locked ]; do sleep 0.05; done
run probe --case h2d --sqlite locked.db
[ $code -eq 0 ] && [ "$(sql locked.db 'SELECT count(*) FROM run')" = 2 ]
ok "sqlite: locked for a while: it waits"

plan
