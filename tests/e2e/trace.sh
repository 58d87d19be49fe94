#!/usr/bin/env bash
# trace.sh -- timelines: decoded by protoc and by a reader of our own, against rows and op logs. TAP.
#
# B names the build, SIM the simulator of cube8 in it, SIM_FIFO that of cube8_fifo. Needs jq, python3
# and protoc.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
export PYTHONDONTWRITEBYTECODE=1
SIM_FIFO=${SIM_FIFO:-$M/cube8_fifo/cube8_fifo}
case $SIM_FIFO in /*) ;; *) SIM_FIFO=$root/$SIM_FIFO ;; esac
instruments=$(grep -o -e '-fsanitize=[^ ]*' -e '--coverage' "$B/_o/flags" | xargs)
if grep -q -e -DKB_NO_PROTOBUF "$B/_o/flags"; then
    refused "a build without protobuf-c says so" 5 "cannot write t.pftrace: this build has no protobuf-c" \
        replay /dev/null --trace t.pftrace
    plan
    exit
fi

timeline()
{
    call python3 "$root/tests/trace/timeline.py" "$@"
    [ $code -eq 0 ]
}

# slices FILE >OUT
slices()
{
    python3 "$root/tests/trace/timeline.py" slices "$1"
}

# mixed: reads and writes of all PEs, with queues, an SRAM, hosts, and rows that wait for others
mixed()
{
    many 160
    sed -e '1s/$/,after,think_ns/' -e '2,$s/$/,,/' many.csv
    for i in 0 1 2 3 4 5 6 7; do
        echo "$i,d2h,host,c$i.slice$i,0,64K,,"
        echo "$i,h2d,host,c$i.slice0,0,16K,$((i * 20)),5"
        echo "$i,write,c3.pe$i,c1.sram,0,8K,,"
        echo "$i,read,c5.pe$i,c1.slice0,0,16K,$((i * 7 + 3))|$i,"
    done
}
mixed >mixed.csv

# -- replay --------------------------------------------------------------------------------------

for sim in "$SIM" "$SIM_FIFO"; do
    [ -x "$sim" ] || continue
    links=$("$sim" info --format csv | sed -n 's/^links,//p')
    "$sim" replay mixed.csv --quiet >plain.csv
    "$sim" replay mixed.csv --quiet --trace t.pftrace >traced.csv 2>err
    cmp -s plain.csv traced.csv && [ ! -s err ]
    ok "$links: rows are the same with --trace"
    timeline check t.pftrace , rows t.pftrace plain.csv
    ok "$links: slices are balanced, nested and in order, counters and flows end; each row's are exact"
    "$sim" replay mixed.csv --quiet --trace t.json -o /dev/null && jq -e '.traceEvents | length > 1000' t.json >/dev/null
    ok "$links: the JSON is valid"
    timeline check t.json && same <(slices t.pftrace) <(slices t.json)
    ok "$links: its slices are those of the .pftrace"
done

"$SIM" replay mixed.csv --quiet --trace t.pftrace -o /dev/null
protoc --decode_raw <t.pftrace >raw.txt && timeline count t.pftrace &&
    [ "$(grep -c '^1 {$' raw.txt)" = "$(cat out)" ] && [ -z "$(grep -v '^1 {$\|^}$\|^ ' raw.txt)" ]
ok "protoc decodes all of it"
"$SIM" replay mixed.csv --quiet --engine hop --trace hop.pftrace -o /dev/null && cmp t.pftrace hop.pftrace
ok "--engine hop: the same bytes"
"$SIM" replay mixed.csv --quiet --format json --trace t.json >traced.json
"$SIM" replay mixed.csv --quiet --format json | cmp -s - traced.json
ok "results do not tell of a timeline"

# the golden case of the model: the second read waits 13.990 ns behind the first
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,read,c0.pe0,c0.slice0,0,4K 0,read,c0.pe1,c0.slice0,0,4K >two.csv
"$SIM" replay two.csv --trace two.json -o /dev/null
equal "a slice says how long it waited, and behind what" \
    '{"id":1,"op":"read","source":"c0.pe1","target":"c0.slice0","nbytes":4096,"waited_ns":13.99,"behind":"c0.pe0","behind_id":0}' \
    "$(jq -c '[.traceEvents[] | select(.ph == "B" and .name == "read c0.pe1" and .args.waited_ns)][0].args' two.json)"
tid=$(jq '.traceEvents[] | select(.name == "thread_name" and .args.name == "sip0.cube0.hbm_ctrl.slice0").tid' two.json)
equal "ts are us: a thousandth is 1 fs" "2085.000 18085.000 18085.000 50085.000" \
    "$(grep "\"ph\":\"[BE]\",\"pid\":[0-9]*,\"tid\":$tid," two.json | grep -v '"drain"' |
        sed 's/.*"ts":\([0-9.]*\).*/\1/' | awk '$0 != last { print } { last = $0; if (++n[$0] == 3) print }' | xargs)"
equal "a queue has one in it while it waits" '[[4095,1],[18085,0]]' \
    "$(jq -c '[.traceEvents[] | select(.ph == "C" and .name == "sip0.cube0.hbm_ctrl.slice0 queue") | [.ts, .args.value]]' two.json)"
equal "one of the 72 memories is busy" '[[2085,true],[50085,false]]' \
    "$(jq -c '[.traceEvents[] | select(.ph == "C" and .name == "memories busy") | [.ts, ((.args.value - 100 / 72) | . < 1e-9 and . > -1e-9)]]' two.json)"

# -- run and load --------------------------------------------------------------------------------

for bench in "overlap M=24 N=16 K=40" "gemm_composite M=40 N=40 K=70" "softmax M=20 N=30" \
    "attention H=2 S=48 T=40 D=24" "list_walk L=9" "mlp M=20 N=30 K=10"; do
    set -- $bench
    "$SIM" run $bench --quiet >plain.txt
    "$SIM" run $bench --quiet --trace t.pftrace --oplog t.jsonl >traced.txt 2>err
    cmp plain.txt traced.txt && [ ! -s err ] && timeline check t.pftrace , oplog t.pftrace t.jsonl
    ok "run $1: every record of the op log has a slice of exactly its time"
    if [ -x "$SIM_FIFO" ]; then
        "$SIM_FIFO" run $bench --quiet --trace t.pftrace --oplog t.jsonl >/dev/null 2>err
        [ ! -s err ] && timeline check t.pftrace , oplog t.pftrace t.jsonl
        ok "run $1: the same on a fifo machine"
    fi
done
# A multicast and a list of runs are split: parts are no commands, no kernels, and no steps of each other.
for links in fifo ideal router; do
    for what in "run gemm M=64 N=64 K=64" "load --pattern uniform --rate 0.02 --txns 300 --reads 50"; do
        "$SIM" $what --machine "$root/topologies/cube8.yaml" --set contention.links=$links --quiet --trace t.pftrace \
            -o /dev/null && timeline check t.pftrace
        ok "${what%% -*}, $links: parts have bars and arrows of their own"
    done
done
"$SIM" run copy L=64 --trace t.pftrace --quiet >/dev/null && slices t.pftrace >s.txt
grep -q "^sip0.cube0.pe0 .* tl_load .*'benches/copy.c:[0-9]*'" s.txt &&
    grep -q '^sip0.cube0.pe0 .* dispatch ' s.txt && grep -q '^sip0.cube0.pe0 .* copy ' s.txt
ok "a PE's track has its kernel, calls with their lines, and their dispatch"

"$SIM" load --pattern uniform --rate 0.2 --txns 500 --seeds 2 --quiet >plain.csv
"$SIM" load --pattern uniform --rate 0.2 --txns 500 --seeds 2 --quiet --trace t.pftrace >traced.csv
cmp plain.csv traced.csv && timeline check t.pftrace
ok "load: the first simulation of its rate"

# -- parts ---------------------------------------------------------------------------------------

"$SIM" replay mixed.csv --quiet --trace all.pftrace -o /dev/null
for window in "100 200" "0 50" "155.5 155.6" "390 99999" "50000 60000"; do
    set -- $window
    "$SIM" replay mixed.csv --quiet --trace t.pftrace --trace-from $1 --trace-to $2 -o /dev/null
    timeline part t.pftrace , \
        window t.pftrace all.pftrace "$(jq -n "$1 * 1000000 | floor")" "$(jq -n "$2 * 1000000 | floor")"
    ok "--trace-from $1 --trace-to $2: what overlaps it, and nothing else"
done
"$SIM" run gemm_composite M=40 N=40 K=70 --quiet --trace all.pftrace >/dev/null
"$SIM" run gemm_composite M=40 N=40 K=70 --quiet --trace t.pftrace --trace-from 45 --trace-to 50.5 >/dev/null
timeline part t.pftrace , window t.pftrace all.pftrace 45000000 50500000
ok "a window into a kernel"

run replay mixed.csv -o /dev/null --trace t.pftrace --trace-filter 'sip0.cube0.hbm_ctrl.slice?,*.sram,*.pe9*'
[ $code -eq 0 ] && says "--trace-filter: nothing happened in '*.pe9*'" && ! says slice && ! says sram
ok "--trace-filter says what matches nothing"
timeline part t.pftrace && timeline names t.pftrace &&
    same <(printf '%s\n' sip0.cube0.hbm_ctrl.slice{0..7} 'sip0.cube1.noc -> sip0.cube1.sram' sip0.cube1.sram) out
ok "and shows the rest alone"

for size in 4K 5000 20000 50K 200K; do
    for format in pftrace json; do
        run replay mixed.csv -o /dev/null --trace t.$format --trace-max-bytes $size
        most=$(numfmt --from=iec $size)
        [ $code -eq 0 ] && [ "$(stat -c %s t.$format)" -le "$most" ] && says "more is longer than $most bytes" &&
            timeline check t.$format
        ok "--trace-max-bytes $size of .$format: valid and no longer"
    done
done
run replay mixed.csv -o /dev/null --trace t.pftrace --trace-max-bytes 1G
[ $code -eq 0 ] && ! says longer && timeline rows t.pftrace <("$SIM" replay mixed.csv --quiet)
ok "--trace-max-bytes 1G is enough"

run replay mixed.csv --quiet --until 300 --trace t.pftrace && timeline check t.pftrace
ok "--until: what is open is closed"

# -- what is refused -----------------------------------------------------------------------------

refused "another suffix" 2 "--trace 't.txt' is not a name that ends in .pftrace or .json" replay two.csv --trace t.txt
refused "no suffix" 2 "--trace 'pftrace' is not a name that ends in" replay two.csv --trace pftrace
run replay two.csv --trace t.json --trace-from 1000000
[ $code -eq 0 ] && grep -q '^--trace-from: t.json is empty, all ended at [0-9.]* ns$' err
ok "--trace-from behind the end of the run says so"
run replay two.csv --quiet --trace t.json --trace-from 1000000 && [ ! -s err ]
ok "but not with --quiet"
run replay two.csv --trace t.json --trace-from 1 && ! grep -q 'is empty' err
ok "nor of a window with something in it"
refused "--trace-from alone" 2 "--trace-from needs --trace, which is not given" replay two.csv --trace-from 5
refused "--trace-max-bytes alone" 2 "--trace-max-bytes needs --trace" replay two.csv --trace-max-bytes 1G
refused "a window without anything in it" 2 "--trace-from is not before --trace-to" \
    replay two.csv --trace t.json --trace-from 5 --trace-to 5
refused "a time that is none" 2 "--trace-to '5ns' is not a time in ns" replay two.csv --trace t.json --trace-to 5ns
refused "a size that is too small" 2 "--trace-max-bytes '4000' is not a size of 4K or more" \
    replay two.csv --trace t.json --trace-max-bytes 4000
refused "an empty pattern" 2 "--trace-filter 'a,,b' is not a list of names" replay two.csv --trace t.json --trace-filter a,,b
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,1M\n' >early.csv
run replay early.csv --until 1000 --trace early.json
equal "what is open at --until ends there" 1000000000 "$(jq '[.traceEvents[] | select(.ph == "X" or .ph == "E") | .ts + (.dur // 0)] | max * 1000 | round' early.json)"
refused "several rates" 2 "--trace is of one simulation" load --pattern local --rate 0.1,0.2 --trace t.json
refused "the same file as -o" 2 "--trace and -o name the same file" replay two.csv --trace t.json -o ./t.json
refused "the same file as --oplog" 2 "--trace and --oplog name the same file" run copy --trace t.json --oplog t.json
refused "a command without it" 2 "probe takes no --trace" probe --trace t.json
refused "a folder that is not there" 5 "cannot write nowhere/t.json: No such file or directory" \
    replay two.csv --trace nowhere/t.json
if [ "$(id -u)" != 0 ]; then
    mkdir shut && chmod 500 shut
    refused "a folder that cannot be written to" 5 "cannot write shut/t.json: Permission denied" \
        replay two.csv --trace shut/t.json
fi
rm -f t.pftrace t.json
run replay /dev/null --trace t.json
[ $code -eq 3 ] && [ ! -e t.json ]
ok "a bad input file leaves no timeline"
refused "a bad bench neither" 2 "unknown bench" run nothing --trace t.json
[ ! -e t.json ] && [ -z "$(ls -A | grep kernbench-)" ]
ok "and no temporary file stays"
ln -s /dev/full full.pftrace
run replay mixed.csv --quiet --trace full.pftrace
[ $code -eq 5 ] && says "cannot write full.pftrace: No space left on device" && [ "$(wc -l <out)" = 193 ]
ok "a full disk: the rows are there, and the exit code is 5"

# -- Ctrl-C --------------------------------------------------------------------------------------

many 250000
signalled INT 100000 replay many.csv --quiet -o out.csv --trace t.pftrace --trace-filter '*.slice0'
[ $code -eq 130 ] && says interrupted && mv t.pftrace.partial cut.pftrace && timeline part cut.pftrace
ok "Ctrl-C closes the timeline"
signalled TERM 100000 replay many.csv --quiet -o o.csv --trace killed.pftrace
[ $code -eq 143 ] && [ ! -e killed.pftrace ] && [ ! -e o.csv ] && [ -z "$(ls -A | grep kernbench-)" ]
ok "SIGTERM leaves neither timeline nor rows"

# -- memory --------------------------------------------------------------------------------------

# peak TXNS: packets, and the KiB that writing them took
peak()
{
    python3 "$root/tests/trace/peak.py" pipe.pftrace "$SIM" load --pattern uniform --rate 0.15 --txns "$1" \
        --seeds 1 -j 1 --trace pipe.pftrace
}

if [ -n "$instruments" ]; then
    skip "memory does not grow with the length" "$instruments"
else
    short=$(peak 800)
    long=$(peak 8000)
    echo "# packets and KiB: $short, $long"
    [ "${long% *}" -gt 300000 ] && [ "${long% *}" -gt $((8 * ${short% *})) ] &&
        [ "${long#* }" -lt $((${short#* } + 1024)) ]
    ok "300,000 events take no more memory than a tenth of them"
fi

# -- cubes that differ ---------------------------------------------------------------------------

# Two PEs of 4 + 1 channels, two slices and two SRAMs; the switch has none.
printf 'kernbench: 3\nname: mixed\nlinks: {l: {bw_gbs: 100.0}}\nsip: {cubes: 3, net: [{list: [c0-c1, c2-c1], link: l}]}
kinds: {xcd: {hbm: {slices: 0}, pes: 2, pe: {pe_dma: {read_channels: 4}}}, iod: {pes: 0, hbm: {slices: 2}}}
cubes: {c1: xcd, c0: iod, c2: {pes: 0, hbm: {slices: 0}}}\n' >mixed.yaml
{
    echo issue_ns,op,src,dst,offset,nbytes
    for i in 1 2 3 4; do printf '0,read,c1.pe%d,c0.slice0,0,64K\n' 0 1; done
} >mixed.csv
run replay mixed.csv --machine mixed.yaml --trace mixed.json --quiet -o mixed.out
equal "counters are of the stations that cubes have" '[["PE DMA channels busy",80],["memories busy",25]]' \
    "$(jq -c '[.traceEvents[] | select(.ph == "C" and (.name | test("channels busy|memories busy")))] | group_by(.name) |
        map([.[0].name, ([.[].args.value] | max)])' mixed.json)"

# -- banks --------------------------------------------------------------------------------------

printf 'issue_ns,op,src,dst,offset,nbytes\n0,h2d,host,c0.slice0,0,4K\n' >host.csv
run replay host.csv --set cube.hbm.model=banks --engine hop --trace host.json --quiet -o host.out
[ $code -eq 0 ] && [ "$(jq '[.traceEvents[] | select(.ph == "E").ts] | max' host.json)" = \
    "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "end_ns") c = i } NR == 2 { print $c * 1000 }' host.out)" ]
ok "the response to a host lasts to the end of the row where memories have banks"
plan
