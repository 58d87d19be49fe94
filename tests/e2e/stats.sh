#!/usr/bin/env bash
# stats.sh -- --stats: the components that a simulation used, and how much. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it, SIM_FIFO the one with fifo links. Needs jq,
# and python3 for its sqlite3.
. "$(dirname "$0")/../support/tap.sh"
SIM_FIFO=${SIM_FIFO:-$M/cube8_fifo/cube8_fifo}
case $SIM_FIFO in /*) ;; *) SIM_FIFO=$root/$SIM_FIFO ;; esac
columns=kind,name,from,to,gbs,servers,count,bytes,busy_ns,util_pct,queue_mean,queue_max
header=issue_ns,op,src,dst,offset,nbytes
needs_cube8

# rows ROW...: a replay file of them
rows()
{
    printf '%s\n' $header "$@" >rows.csv
}

# use KIND NAME: the columns from gbs on of that row of s.csv
use()
{
    awk -F, -v kind="$1" -v name="$2" '$1 == kind && $2 == name' s.csv | cut -d, -f5-
}

# sum KIND PATTERN COLUMN: over the rows of s.csv of that kind with names that match
sum()
{
    awk -F, -v kind="$1" -v name="$2" -v column="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i }
        $1 == kind && $2 ~ name { n += $c } END { printf "%.6f", n }' s.csv
}

# -- by hand ------------------------------------------------------------------------------------

# docs/model.md: 4096 B of the PE's own slice take 18.085 ns, 16 of them at the slice
rows 0,read,c0.pe0,c0.slice0,0,4096
run replay rows.csv --stats s.csv
[ $code -eq 0 ] && [ "$(head -n 1 s.csv)" = $columns ]
ok "columns"
equal "one read: its nodes, edges, channel and memory" "node 3 edge 2 channel 1 memory 1" \
    "$(sed 1d s.csv | cut -d, -f1 | uniq -c | awk '{ printf "%s%s %s", sep, $2, $1; sep = " " }')"
equal "its channel is taken all the time" ,1,1,4096,18.085000,100.000000,0.000000,0 \
    "$(use channel sip0.cube0.pe0.pe_dma.read)"
equal "the slice for 16 of 18.085 ns" 256.000000,1,1,4096,16.000000,88.471109,0.000000,0 \
    "$(use memory sip0.cube0.hbm_ctrl.slice0)"
equal "an ideal edge has no queue; data of a read flows from the slice" \
    256.000000,1,1,4096,16.000000,88.471109,, \
    "$(use edge 'sip0.cube0.hbm_ctrl.slice0 -> sip0.cube0.xbar.pe0')"
equal "a node has no servers, and is busy for its overhead of 2 ns" ,,1,4096,2.000000,,, \
    "$(use node sip0.cube0.xbar.pe0)"
equal "from and to are those of the name" "$(awk -F, '$1 == "edge" { print $2 }' s.csv)" \
    "$(awk -F, '$1 == "edge" { print $3 " -> " $4 }' s.csv)"

# The second arrives at 4.095 and waits until 18.085; it takes the slice for 32 ns, until 50.085.
rows 0,read,c0.pe0,c0.slice0,0,4096 0,read,c0.pe1,c0.slice0,0,4096
run replay rows.csv --stats s.csv
equal "two reads: 48 of 50.085 ns; one waits for 13.99 of them" \
    256.000000,1,2,8192,48.000000,95.837077,0.279325,1 "$(use memory sip0.cube0.hbm_ctrl.slice0)"

# docs/model.md, links fifo: 68.095 ns, of which 29.990 are waits for one edge
if [ -x "$SIM_FIFO" ]; then
    rows 0,write,c0.pe0,c0.slice2,0,4096 0,write,c0.pe1,c0.slice3,0,4096
    call "$SIM_FIFO" replay rows.csv --stats s.csv
    equal "fifo: one write waits 29.990 of 68.095 ns for the edge that both need" \
        "0.440414 1" "$(sum edge . queue_mean | cut -c1-8) $(sum edge . queue_max | cut -d. -f1)"
    equal "it is the one between their crossbars" 128.000000,1,2,8192,64.000000,93.986343,0.440414,1 \
        "$(use edge 'sip0.cube0.xbar.pe1 -> sip0.cube0.xbar.pe2')"
fi

# 16 MB by eight PEs at once; the slice waits for nothing but the first head, of 2.085 ns.
rows $(for p in 0 1 2 3 4 5 6 7; do echo 0,read,c0.pe$p,c0.slice0,0,2M; done)
run replay rows.csv --stats s.csv --quiet
near "a slice that all want is used all the time" 100 "$(sum memory slice0 util_pct)" 0.0001
equal "seven wait for it" 7.000000 "$(sum memory slice0 queue_max)"

many 2000
for engine in fused hop; do
    run replay many.csv --engine $engine --stats $engine.csv --quiet
done
cp fused.csv s.csv
bytes=$((2000 * 4096)).000000
equal "what passes edges of memories is what was asked for" $bytes "$(sum edge hbm_ctrl bytes)"
equal "and what memories serve, and channels carry" "$bytes $bytes" \
    "$(sum memory . bytes) $(sum channel . bytes)"
equal "a node passes on what it gets: nodes of memories, of DMAs" "$bytes $bytes" \
    "$(sum node hbm_ctrl bytes) $(sum node pe_dma bytes)"
awk -F, 'NR > 1 && $10 > 100 { exit $1 != "edge" }' s.csv
ok "no station is used by more than 100 %"
same fused.csv hop.csv
ok "both engines say the same"
for engine in fused hop; do
    [ -x "$SIM_FIFO" ] && call "$SIM_FIFO" replay many.csv --engine $engine --stats $engine.csv
done
same fused.csv hop.csv
ok "with fifo links, too"

# -- kernels ------------------------------------------------------------------------------------

for engine in fused hop; do
    run run gemm_composite M=100 N=70 K=90 --engine $engine --stats $engine.csv --oplog log.csv --quiet
done
same fused.csv hop.csv && cp fused.csv s.csv
ok "kernels: both engines say the same"
# logged NAME: how many records, and their bytes
logged()
{
    python3 -c '
import csv, json, sys
n = b = 0
for row in csv.DictReader(open("log.csv")):
    if row["op_name"] == "TileToken/" + sys.argv[1]:
        n += 1
        b += json.loads(row["params"]).get("nbytes", 0)
print(f"{n:.6f} {b:.6f}")' "$1"
}
equal "the TCM is read by FETCH, as the log says" "$(logged FETCH)" \
    "$(sum port 'pe_tcm[.]read' count) $(sum port 'pe_tcm[.]read' bytes)"
equal "and written by STORE" "$(logged STORE)" \
    "$(sum port 'pe_tcm[.]write' count) $(sum port 'pe_tcm[.]write' bytes)"
equal "GEMM computes tiles, and moves no byte" "$(logged GEMM)" \
    "$(sum port pe_gemm count) $(sum port pe_gemm bytes)"
equal "a port has a bandwidth, an engine has none" "1 0" \
    "$(awk -F, '$2 ~ /pe_tcm/ && $5 > 0 { print 1; exit }' s.csv) $(awk -F, '$2 ~ /pe_gemm/ && $5 != ""' s.csv | wc -l)"

# -- runs that end early ------------------------------------------------------------------------

# At 40 ns the second read has waited 13.99 ns and been served for 21.915: not complete.
rows 0,read,c0.pe0,c0.slice0,0,4096 0,read,c0.pe1,c0.slice0,0,4096
run replay rows.csv --until 40 --stats s.csv --quiet
equal "--until: until then, and what is complete" \
    256.000000,1,1,4096,37.915000,94.787500,0.349750,1 "$(use memory sip0.cube0.hbm_ctrl.slice0)"
equal "a transaction that holds a channel has held it until then" ,1,0,0,40.000000,100.000000,0.000000,0 \
    "$(use channel sip0.cube0.pe1.pe_dma.read)"
run replay rows.csv --max-events 2 --stats s.csv --quiet
[ $code -eq 0 ] && [ -s s.csv ]
ok "--max-events"
many 300000
for i in 1 2 3 4 5 6; do
    rm -f s.csv s.csv.partial
    code=0
    timeout -s INT 0.1"$i" "$SIM" replay many.csv --engine hop --stats s.csv --quiet >out 2>err || code=$?
    grep -q '^interrupted: [1-9]' err && break
done
if grep -q '^interrupted: [1-9]' err; then
    [ ! -e s.csv ] && [ "$(head -n 1 s.csv.partial)" = $columns ] && [ "$(wc -l <s.csv.partial)" -gt 1 ] &&
        awk -F, 'NR > 1 && $1 != "edge" && $10 > 100.000001 { exit 1 }' s.csv.partial
    ok "Ctrl-C: what is known is written"
else
    skip "Ctrl-C: what is known is written" "the machine is too fast, or too slow"
fi

# -- load ---------------------------------------------------------------------------------------

run load --pattern hotspot:100% --rate 0.5 --txns 20000 --seeds 2 --quiet --stats s.csv
equal "load: its busiest memory" "$(field memory_util_pct 1)" "$(sum memory slice0 util_pct)"
equal "what waits at a channel of load is not drawn yet: no maximum" "" \
    "$(awk -F, '$1 == "channel" { print $12 }' s.csv | sort -u)"
refused "an option of some commands" 2 "probe takes no --stats, it is an option of" probe --stats s.csv

# -- formats ------------------------------------------------------------------------------------

rows 0,read,c0.pe0,c0.slice0,0,4096 0,h2d,host,c7.slice0,0,4K
run replay rows.csv --stats s.json --format json
jq -e '.schema == "kernbench.stats/1" and .topology.name == "cube8" and .version != "" and
    .command == "cube8 replay rows.csv --format json" and .seed == 0' s.json >/dev/null
ok "JSON: where it comes from; --stats is not in the command line"
jq -e '.topology == $out[0].topology and .command == $out[0].command' --slurpfile out out s.json >/dev/null
ok "the same origin as that of the rows"
run replay rows.csv --stats s.csv
cp out plain
jq -r '.rows[] | [.[]] | map(if . == null then "" else tostring end) | join(",")' s.json >from_json
sed 1d s.csv | awk -F, -v OFS=, '{ for (i = 5; i <= NF; i++) if ($i != "") $i += 0; print }' >from_csv
awk -F, -v OFS=, '{ for (i = 5; i <= NF; i++) if ($i != "") $i += 0; print }' from_json | same - from_csv
ok "JSON and CSV say the same, null where nothing is"
equal "JSON: the columns, in order" $columns "$(jq -r '.rows[0] | keys_unsorted | join(",")' s.json)"
for name in s.db s.sqlite; do
    run replay rows.csv --stats $name
    python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("SELECT schema, command FROM run").fetchall() == [("kernbench.stats/1", "stats")]
for row in db.execute("""SELECT kind, name, "from", "to", gbs, servers, count, bytes, busy_ns,
                         util_pct, queue_mean, queue_max FROM result ORDER BY row"""):
    print(",".join("" if x is None else "%.6g" % x if isinstance(x, (int, float)) else x
                   for x in row))' $name
done >from_db
awk -F, -v OFS=, '{ for (i = 5; i <= NF; i++) if ($i != "") $i = sprintf("%.6g", $i); print }' from_csv >rounded
cat rounded rounded | same - from_db
ok "and so do databases"
run replay rows.csv
same plain out
ok "what is printed does not change"
run run softmax M=3 --stats s.json --quiet
[ "$(jq -r .args.M s.json)" = 3 ]
ok "of a bench the arguments"

# -- children of an L2 --------------------------------------------------------------------------

# What both L2s lack comes at once to one slice, which is held for 32 ns: the second read waits 29.83 of 66.1525 ns.
printf '%s\n' 'kernbench: 3' 'name: small' 'contention: {links: ideal}' 'sip: {cube_mesh: {w: 2, h: 1}}' \
    'cube: {hbm: {hold: route}, l2: {size_mb: 1}}' >l2.yaml
printf '%s\n' $header 0,read,c0.pe0,c0.slice0,0,4096 0,read,c1.pe0,c0.slice0,8192,4096 >two.csv
for engine in fused hop; do
    call "$B/kernbench" replay two.csv --machine l2.yaml --engine $engine --stats s.csv --quiet
    equal "waits of children, $engine" "0.450936 1" "$(grep '^memory' s.csv | cut -d, -f11,12 | tr , ' ')"
done

# -- files --------------------------------------------------------------------------------------

for name in s.txt csv .csv s.CSV ''; do
    refused "--stats '$name'" 2 "is not the name of a file that ends in .csv, .json, .sqlite or .db" \
        replay rows.csv --stats "$name"
done
refused "a folder that is not there" 5 "cannot write no/where/s.csv: No such file" \
    replay rows.csv --stats no/where/s.csv
refused "a database in such a folder" 5 "no/where/s.db" replay rows.csv --stats no/where/s.db
refused "the file that is read" 2 "--stats names the file that is read" replay rows.csv --stats ./rows.csv
refused "the file of -o" 2 "--stats and -o name the same file" replay rows.csv -o s.csv --stats ./s.csv
refused "the file of --sqlite" 2 "--stats and --sqlite name the same file" \
    replay rows.csv --sqlite s.db --stats s.db
refused "the file of --oplog" 2 "--stats and --oplog name the same file" \
    run softmax --oplog s.csv --stats s.csv
echo kept >s.csv
printf '%s\n' $header 0,read,c0.pe0,c0.slice99,0,4096 >bad.csv
run replay bad.csv --stats s.csv
[ $code -eq 3 ] && [ "$(cat s.csv)" = kept ]
ok "a run that fails leaves the file as it was"
mkdir full.csv
run replay rows.csv --stats full.csv
[ $code -eq 5 ] && says "cannot write full.csv" && [ -s out ]
ok "a file that cannot be written is said, exit 5"

plan
