#!/usr/bin/env bash
# large.sh -- each command with ROWS rows through each door, under a limit of 1 GB of memory: formats, files, pages,
# databases, parts, machines of --vary; with PY, a Python that has the package also through these.
#
# ROWS is 10,000, MACHINES a twentieth, VARIANTS of a study a fiftieth of these; make check-large takes 100,000 of the
# first two and 10,000 variants. Needs python3.
. "$(dirname "$0")/../support/tap.sh"
SIM=$B/kernbench
ROWS=${ROWS:-10000}
MACHINES=${MACHINES:-$((ROWS / 20))}
VARIANTS=${VARIANTS:-$((MACHINES / 50))}
command -v python3 >where || none "no python3"
cp "$root/topologies/cube8.yaml" .
on="--machine cube8.yaml --quiet"
LIMIT_KB=$((1 << 20))
(ulimit -v $LIMIT_KB && "$SIM" --version >where) 2>where || none "this build needs more than 1 GB by itself"
export OPENBLAS_NUM_THREADS=1

# within COMMAND...: $code, out and err as of call, under the limit
within()
{
    call timeout 1800 bash -c "ulimit -v $LIMIT_KB; exec \"\$@\"" within "$@"
}

# holds NAME ROWS COMMAND...: it ends well, and stdout has so many rows or more
holds()
{
    local name=$1 rows=$2

    shift 2
    within "$@"
    [ $code -eq 0 ] && [ "$(wc -l <out)" -ge "$rows" ]
    ok "$name"
}

# rows_in DATABASE TABLE
rows_in()
{
    python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM " + sys.argv[2]).fetchone()[0])' "$@"
}

# peak_mb COMMAND...: the most memory that it had
peak_mb()
{
    python3 -c 'import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(code)' "$@"
}

# doors NAME ROWS WORD...: a command through the doors that all commands with rows have
doors()
{
    local name=$1 rows=$2 format

    shift 2
    holds "$name" "$rows" "$SIM" "$@" $on --format csv && mv out "$1.csv"
    for format in json jsonl md table; do
        holds "$name, $format" "$rows" "$SIM" "$@" $on --format $format
    done
    rm -f x.db
    holds "$name, SQLite" 0 "$SIM" "$@" $on -o x.csv --sqlite x.db && cmp "$1.csv" x.csv
    [ "$(rows_in x.db result)" -ge "$rows" ]
    ok "$name: the rows of the database"
    holds "$name, a page" 0 "$SIM" report "$@" $on -o x.html && [ -s x.html ]
}

# many_doors NAME ROWS WORD...: one with --vary, which has no page; its rows are in COMMAND-vary.csv
many_doors()
{
    local name=$1 rows=$2 format part

    shift 2
    holds "$name" "$rows" "$SIM" "$@" $on --format csv && mv out "$1-vary.csv"
    for format in json table; do
        holds "$name, $format" "$rows" "$SIM" "$@" $on --format $format
    done
    rm -f x.db x.csv.*
    holds "$name, SQLite" 0 "$SIM" "$@" $on --format csv -o x.csv --sqlite x.db && cmp "$1-vary.csv" x.csv
    [ "$(rows_in x.db result)" -ge "$rows" ]
    ok "$name: the rows of the database"
    for part in 1 2 3; do
        within "$SIM" "$@" $on --format csv -o x.csv --shard $part/3
    done
    holds "$name, parts" 0 "$SIM" merge x.csv && cmp "$1-vary.csv" x.csv
    ok "$name: the parts are the whole"
}

# -- rows of one machine ------------------------------------------------------------------------

many "$ROWS"
sweep="sweep --src c*.pe* --dst c*.slice* --bytes 64:$(((ROWS + 4095) / 4096 * 64)):64"
set -f # patterns are the program's
doors "replay" "$ROWS" replay many.csv
doors "sweep" "$ROWS" $sweep
for ((part = 1; part <= 3; part++)); do
    within "$SIM" $sweep $on -o x.csv --shard $part/3
done
holds "sweep, parts" 0 "$SIM" merge x.csv && cmp sweep.csv x.csv
ok "sweep: the parts are the whole"
rates="0.000001:$(awk -v n="$MACHINES" 'BEGIN { printf "%.6f", n / 1000000 }'):0.000001"
doors "load" "$MACHINES" load --pattern uniform --rate "$rates" --txns 10 --seeds 1
for file in stats.csv trace.pftrace trace.json; do
    holds "replay, --${file%.*} $file" "$ROWS" "$SIM" replay many.csv $on "--${file%.*}" $file
done
holds "replay, --breakdown" 100 "$SIM" replay many.csv $on --breakdown --format csv
holds "why" 5 "$SIM" why many.csv $on
holds "why --by key" 5 "$SIM" why many.csv $on --by key
within "$SIM" replay many.csv $on --set cube.hbm.bw_gbs=64 -o slow.csv
within "$SIM" diff replay.csv slow.csv --top "$ROWS" --format csv
[ $code -eq 1 ] && [ "$(wc -l <out)" -gt "$ROWS" ]
ok "diff"

# -- operations of kernels: 351,104 ---------------------------------------------------------------

holds "run, --oplog" 1 "$SIM" run attention_ring $on --oplog ops.csv
[ "$(wc -l <ops.csv)" -gt 351000 ]
ok "run: all are in the log"
if [ "$ROWS" -ge 100000 ]; then
    for option in "--oplog ops.json" --breakdown --race "--trace ops.pftrace" "--trace ops.json" --verify \
        "--inspect last" "--stats ops.csv" "--sqlite ops.db" "--dump ops"; do
        holds "run, $option" 1 "$SIM" run attention_ring $on $option
    done
    holds "run, a page" 0 "$SIM" report run attention_ring $on -o x.html
    holds "why of kernels" 5 "$SIM" why attention_ring $on
    holds "why of kernels, by key" 5 "$SIM" why attention_ring $on --by key
fi

# -- and of many machines -----------------------------------------------------------------------

many_doors "replay --vary" "$ROWS" replay many.csv --vary cube.hbm.bw_gbs=256
cut -d, -f2- replay-vary.csv | cmp - replay.csv
ok "replay --vary: the rows of the machine"
many_doors "sweep --vary" "$ROWS" $sweep --vary cube.hbm.bw_gbs=256
cut -d, -f2- sweep-vary.csv | cmp - sweep.csv
ok "sweep --vary: the rows of the machine"
many_doors "machines" "$MACHINES" probe --case pe-local-hbm --vary cube.hbm.bw_gbs=1:"$MACHINES"
holds "machines with ROWS rows each, as JSON" $((8 * ROWS)) "$SIM" replay many.csv $on --vary cube.hbm.bw_gbs=1:8 --format json
holds "and as a table" $((8 * ROWS)) "$SIM" replay many.csv $on --vary cube.hbm.bw_gbs=1:8 --format table
awk 'NR > 1 && NR <= 1 + rows { print $1, $2 }' rows=$((8 * ROWS)) out | uniq -c | awk '{ n++ } END { exit n < rows }' rows=$((8 * ROWS))
ok "whose rows are all there"

# A machine of 17 rows had 24 KB. A table keeps 16 MB of rows before they go to a file, and the values of keys.
few=$((MACHINES / 10)) all=$MACHINES more=$((8 + MACHINES / 6000))
for format in csv table; do
    small=$(peak_mb "$SIM" probe $on -j 2 --format $format --vary cube.hbm.bw_gbs=1:$few)
    large=$(peak_mb "$SIM" probe $on -j 2 --format $format --vary cube.hbm.bw_gbs=1:"$all")
    echo "# probe --vary --format $format: $small MB with $few machines, $large MB with $all"
    [ "$large" -lt $((small + more)) ]
    ok "memory does not grow with the number of machines, $format"
done

# In a part of the table that goes to a file: no more of it may be written than 4 MB.
call timeout 600 bash -c "trap '' XFSZ; ulimit -f 4096; \"\$@\" | cat; exit \${PIPESTATUS[0]}" limited \
    "$SIM" replay many.csv $on --vary cube.hbm.bw_gbs=1:16 --format table
[ $code -eq 5 ] && says "cannot keep rows in a temporary file: File too large"
ok "a table whose rows find no room ends with a message"

# -- studies ------------------------------------------------------------------------------------

printf '%s\n' 'machine: cube8.yaml' 'commands:' >study.yaml
for ((i = 1; i <= 10; i++)); do echo "  - probe --bytes $i"; done >>study.yaml
printf '%s\n' 'vary:' "  cube.hbm.bw_gbs: 1:$((VARIANTS - 1))" >>study.yaml
holds "study" $((10 * VARIANTS)) "$SIM" study study.yaml --quiet --format csv
holds "study, a table" $((10 * VARIANTS)) "$SIM" study study.yaml --quiet --format table --sqlite study.db
holds "study, a page" 0 "$SIM" report study study.yaml --quiet -o x.html

# -- Python -------------------------------------------------------------------------------------

# python NAME ROWS EXPRESSION: of the machine m, it has so many rows or more; says how much memory there was
python()
{
    within "$PY" -c 'import resource, sys, warnings
import kernbench, pandas
warnings.simplefilter("ignore")
m = kernbench.Machine("cube8.yaml")
assert len(eval(sys.argv[1])) >= int(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)' "$3" "$2"
    [ $code -eq 0 ] && echo "# $1: $(cat out) MB"
    ok "Python, $1"
}

if [ -n "${PY-}" ]; then
    points="'c*.pe*', 'c*.slice*', bytes='64:$(((ROWS + 4095) / 4096 * 64)):64'"
    python "sweep" "$ROWS" "m.sweep($points)"
    python "replay" "$ROWS" "m.replay(pandas.read_csv('many.csv').assign(nbytes=4096))"
    python "replay of a file" "$ROWS" "m.replay('many.csv')"
    python "load" "$MACHINES" "m.load('uniform', '$rates', txns=10, seeds=1)"
    python "breakdown" 100 "m.breakdown('many.csv')"
    python "why" 5 "m.why('many.csv')"
    python "why, by key" 5 "m.why('many.csv', by='key')"
    python "a page of replay" "$ROWS" "m.report('replay', 'many.csv')"
    python "a page of sweep" "$ROWS" "m.report('sweep', src='c*.pe*', dst='c*.slice*', bytes='64:1600:64')"
    python "diff" "$ROWS" "kernbench.diff('replay.csv', 'slow.csv', top=$ROWS)"
    python "vary, sweep" "$ROWS" "kernbench.vary(m, {'cube.hbm.bw_gbs': [256]}).sweep($points)"
    python "vary, replay" "$ROWS" "kernbench.vary(m, {'cube.hbm.bw_gbs': [256]}).replay('many.csv')"
    for ((count = MACHINES / 100; count <= MACHINES; count *= 10)); do
        python "vary, $count machines" $count \
            "kernbench.vary(m, {'cube.hbm.bw_gbs': '1:$count'}).run('list_walk', N=64, L=64)"
    done
fi

plan
