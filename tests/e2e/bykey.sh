#!/usr/bin/env bash
# bykey.sh -- `why --by key`: machines with keys made better, alone and together.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# of SET COLUMN: a field of the row of that set
of()
{
    awk -F, -v set="$1" -v name="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        $1 == set { print $column }' "$work/out"
}
# kernel_ns SET...: of the small GEMM, on a machine with these keys set
gemm="gemm M=128 N=256 K=64"
kernel_ns()
{
    "$SIM" run $gemm --format csv --quiet "${@/#/--set=}" | awk -F, 'NR == 2 { print $5 }'
}

# -- a bench ------------------------------------------------------------------------------------

run why $gemm --by key --format csv --quiet
[ $code -eq 0 ] && ! grep -v "^note: this has worked for" err # that one depends on the machine's speed
ok "it says nothing else"
equal "columns" better,from,to,end_ns,kernel_ns,saved_ns,saved_pct,speedup,elasticity,failed "$(head -1 out)"
equal "none is what run says" "$(kernel_ns)" "$(of none kernel_ns)"
sed -n '3,$s/^\([^,+]*\),[^,]*,\([^,]*\),.*/\1=\2/p' out >better
while read -r key; do
    [ "$(kernel_ns "$key" 2>&1)" = "$(of "${key%=*}" kernel_ns)" ] || echo "# $key: $(kernel_ns "$key" 2>&1)"
done <better >differ
[ "$(wc -l <better)" -ge 48 ] && grep -q '\[2\]=32$' better && nothing "$(cat differ)"
ok "each key is what run says with --set, its name and its value as they are printed"
equal "two links in series, together" "$(kernel_ns sip.d2d.bw_gbs=256 cube.noc.bw_gbs=256)" \
    "$(of 'sip.d2d.bw_gbs + cube.noc.bw_gbs' kernel_ns)"
equal "alone they gain nothing" "0.000000 0.000000" \
    "$(of sip.d2d.bw_gbs saved_ns) $(of cube.noc.bw_gbs saved_ns)"
awk -F, 'NR > 2 { if (last != "" && $6 > last + 0) exit 1; last = $6 + 0 }' out
ok "what saves most comes first"
awk -F, 'NR > 2 && $2 != "" && $1 ~ /_gbs/ { e = log($8) / log(2); if (e - $9 > 1e-6 || $9 - e > 1e-6) exit 1 }' out
ok "elasticity: time ~ key^-e"
run why $gemm --by key --quiet
says_out() { grep -q -- "$1" out; }
says_out "^sip.d2d.bw_gbs and cube.noc.bw_gbs together: .*; either alone at most 0.0 %: they are in series on c1 > c0$" &&
    says_out "^alone .* gains most: " && says_out "^without effect alone: fabric.overhead_ns, "
ok "the answer in words"
[ "$(awk 'length > 120 || /^ *,/' out | wc -l)" -eq 0 ]
ok "as wide as 120 columns, and no line begins with a comma"

# -- a model ------------------------------------------------------------------------------------

model="llama-3.2-1b --tries 1 --batch 2"
# total_ns ARGUMENTS: what llm says of all operations
total_ns()
{
    "$SIM" llm $model --format csv --quiet "$@" | awk -F, '$10 == "total" { printf "%.0f\n", 1000 * $12 }'
}

run why llm $model --decode 64 --by key --format csv --quiet
equal "columns of a model" better,from,to,time_ns,saved_ns,saved_pct,speedup,elasticity,failed "$(head -1 out)"
equal "none is what llm says of a token" "$(total_ns --decode 64)" "$(of none time_ns | xargs printf '%.0f')"
for key in cube.hbm.bw_gbs=512 cube.pe.pe_dma.read_channels=2; do
    equal "${key%=*} is what llm says with --set $key" "$(total_ns --decode 64 --set $key)" "$(of ${key%=*} time_ns | xargs printf '%.0f')"
done
cp out two
run why llm $model --decode 64 --by key --format csv --quiet -j 1
equal "on one thread the same" "$(cat two)" "$(cat out)"
run why llm $model --prefill 32 --chunk 16 --decode 64 --by key --format csv --quiet
equal "prompts are not simulated where tokens are asked for" "$(cat two)" "$(cat out)"
run why llm $model --prefill 32 --by key --format csv --quiet --limit-s 60
equal "without tokens it is of the prompts" "$(total_ns --prefill 32)" "$(of none time_ns | xargs printf '%.0f')"
run why llm $model --batch 16 --decode 64 --by key=4 --format csv --quiet --set cube.pe.pe_gemm.acc_kb=2
equal "a machine that has no tile is told" "qkv: no tile fits into the TCM and the accumulators" "$(of 'cube.pe.pe_gemm.mac[2]' failed)"
refused "a model without --by key" 2 "why llm needs --by key" why llm llama-3.2-1b
refused "no model" 2 "why llm needs a model" why llm --by key
refused "two batches" 2 "one time is of one --tp, --batch and --decode" why llm llama-3.2-1b --by key --batch 1,2
refused "an option of models, of a bench" 2 "--decode is an option of 'why llm' only" why gemm --decode 4
refused "an option of traffic, of a model" 2 "--rate is an option of 'why load' only" why llm llama-3.2-1b --by key --rate 0.5
refused "too many operands" 2 "'gemm' is one operand too many" why llm llama-3.2-1b gemm --by key

# -- a file, traffic ----------------------------------------------------------------------------

# docs/model.md "The costs of a route": 36.315 ns, of which 32 drain at 128 GB/s; both links at 256: 20.315.
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c1.slice0,0,4K\n' >one.csv
run why one.csv --by key --format csv --quiet
equal "a file: its mean latency" "36.315000 20.315000" "$(of none mean_ns) $(of 'sip.d2d.bw_gbs + cube.noc.bw_gbs' mean_ns)"
run why one.csv --by key=1.25 --format csv --quiet
equal "another factor, of a whole number the next one" "320.000000 2" \
    "$(of cube.hbm.bw_gbs to) $(of cube.pe.pe_dma.read_channels to)"
run why one.csv --by key=3 --format csv --quiet
equal "what is shown is what has run: 0.01 by 3" "0.003333 $("$SIM" replay one.csv --set ns_per_mm=0.003333 --quiet | cut -d, -f21 | tail -1)" \
    "$(of ns_per_mm to) $(of ns_per_mm mean_ns)"
run why one.csv --by key=3 --format csv --quiet --set ns_per_mm=0.000001
equal "also of what six decimals do not hold" "0.000001 3.33333333333333e-07" "$(of ns_per_mm from) $(of ns_per_mm to)"
run why load --pattern local --rate 0.5 --txns 2000 --by key --format csv --quiet
equal "the traffic is the same where cube.xbar.pe_gbs is better" \
    "$("$SIM" load --pattern local --rate 0.25 --txns 2000 --seeds 1 --set cube.xbar.pe_gbs=512 --format csv --quiet |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mean_ns") c = i } NR == 2 { print $c }')" \
    "$(of cube.xbar.pe_gbs mean_ns)"

# docs/model.md "Packets": 16 KiB in four packets, 25 ns apart, take 93.085 ns; at half of the pace, or cut in two, 66.085
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,16K\n' >cut.csv
run why cut.csv --by key --set cube.pe.pe_dma.packet_bytes=4096 --set cube.pe.pe_dma.issue_ns=25 --format csv --quiet
equal "packets: larger ones, and a better pace" "93.085000 66.085000 8192 66.085000 12.500000" \
    "$(of none mean_ns) $(of cube.pe.pe_dma.packet_bytes mean_ns) $(of cube.pe.pe_dma.packet_bytes to) $(
        of cube.pe.pe_dma.issue_ns mean_ns) $(of cube.pe.pe_dma.issue_ns to)"

# mixed PLANE CUBE ALL: planes, and cubes that have keys of their own
mixed()
{
    printf '%s\n' 'kernbench: 2' 'name: mixed' "sip: {cube_mesh: {w: 2, h: 1}, planes: [{name: a, bw_gbs: $1}, {name: b}]}" \
        "cube: {hbm: {bw_gbs: $3}}" "cubes: {c1: {hbm: {bw_gbs: $2}, noc: {model: mesh}}}" >mixed.yaml
}
# mixed_ns: the mean latency of rows on it
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,read,c0.pe0,c1.slice0,0,4K 0,write,c1.pe1,c0.slice2,0,64K \
    500,read,c0.pe3,c0.slice3,0,8K >mixed.csv
mixed_ns()
{
    "$B/kernbench" replay mixed.csv --machine mixed.yaml --format csv --quiet |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "actual_ns") c = i } NR > 1 { sum += $c } END { printf "%.6f", sum / (NR - 1) }'
}
mixed 128 64 128 && planes=$(mixed_ns)
mixed 64 128 256 && cubes=$(mixed_ns)
mixed 64 64 128
call "$B/kernbench" why mixed.csv --by key --machine mixed.yaml --format csv --quiet
equal "planes that have a bandwidth, and a key that cubes have for themselves" "$planes $cubes" \
    "$(of sip.planes.bw_gbs mean_ns) $(of cube.hbm.bw_gbs mean_ns)"
[ "$(of cube.noc.mesh.bw_gbs mean_ns)" ]
ok "a mesh that some cubes have"

# -- the same, whatever -------------------------------------------------------------------------

for format in csv table; do
    "$SIM" why one.csv --by key --format $format --quiet -j 1 >first
    "$SIM" why one.csv --by key --format $format --quiet -j 4 >four
    [ -s first ] && cmp first four || echo "# $format"
done >difference 2>&1
[ ! -s difference ] || { cat difference; false; }
ok "-j 1 and -j 4: the same bytes"

# -- errors -------------------------------------------------------------------------------------

run why one.csv --by key --format csv --quiet --set cube.xbar.pe_gbs=600000
[ $code -eq 0 ] && grep -q "^cube.xbar.pe_gbs,600000.000000,1200000.000000,,,,,,,,.*'cube.xbar.pe_gbs' must be 0.01..1000000, not 1200000" out
ok "a machine that cannot be has a row that says why"
for by in key=1 key=nan key=1e9 key=0.5 key= key=2x keys; do
    refused "--by $by" 2 "is not limit, key, or key=F with F above 1 and at most 1000" why one.csv --by $by
done
refused "a table of run's" 2 "; of run --breakdown it is all, place, wait, source, target, op, pe, path, step, line or region" why one.csv --by place
run why one.csv --by key --dry-run --format csv
equal "--dry-run says how many runs" runs,threads,estimated_s "$(head -1 out)"
call timeout --preserve-status -s INT 1 "$SIM" why load --pattern uniform --rate 0.9 --txns 400000000 --by key -o interrupted.csv
[ $code -eq 130 ] && grep -q "^interrupted: 0 runs complete" err
ok "Ctrl-C"
# -- kinds, rails -------------------------------------------------------------------------------

printf 'kernbench: 3\nname: k\nkinds: {x: {hbm: {latency_ns: 100.0}}}\nsip: {cube_mesh: {w: 1, h: 1}}\ncubes: {c0: x}\n' >k.yaml
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4K\n' >near.csv
call "$B/kernbench" why near.csv --machine k.yaml --by key --format csv --quiet
[ "$(of kinds.x.hbm.latency_ns saved_ns)" = 50.000000 ] && [ "$(of cube.hbm.latency_ns saved_ns)" = 50.000000 ] &&
    ! grep -q 'cube.hbm.latency_ns + kinds.x.hbm.latency_ns' out && awk -F, 'NR > 2 && $10 > 1.000001 { exit 1 }' out
ok "a value that two keys mean is made better once"
printf '%s\n' 'kernbench: 3' 'name: r' 'sips: 2' 'links: {nv: {bw_gbs: 64.0, latency_ns: 100.0}}' 'sip: {cube_mesh: {w: 1, h: 1}}' \
    'fabric: {shape: net, switches: 1, net: [{each: ["s*.c0", "sw0"], link: nv}]}' >rails.yaml
call "$B/kernbench" why near.csv --machine rails.yaml --by key --format csv --quiet
[ $code -eq 0 ] && grep -q '^cube.xbar.pe_gbs,' out && ! grep -q -e 'fabric.distance_mm' -e 'cannot stand' out
ok "keys that cannot stand beside rails are not tried"
plan
