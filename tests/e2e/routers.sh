#!/usr/bin/env bash
# routers.sh -- every command on machines whose links are routers: what is seen of buffers, virtual
# channels and waits. Prints TAP.
#
# B names the build. Needs $B/_t/any_simulator, which reads the YAML of its machine, and jq.
. "$(dirname "$0")/../support/tap.sh"
SIM=$B/_t/any_simulator
[ -x "$SIM" ] || none "there is no $SIM"

# docs/network.md "A packet in the way of another"
cat >abc.yaml <<'YAML'
kernbench: 2
name: abc
ns_per_mm: 0.0
contention: {links: router, segment_bytes: 512, packet_bytes: 512, buffer_bytes: 512, vcs: [1, 1]}
sip: {cube_mesh: {w: 3, h: 1}, d2d: {bw_gbs: 16}}
cube: {pes: 1, ucie: {overhead_ns: 0.0}, noc: {overhead_ns: 4.0, bw_gbs: 16},
  xbar: {overhead_ns: 0.0, pe_gbs: 16}, sram: {bw_gbs: 1e6}, hbm: {bw_gbs: 1e6},
  pe: {pe_dma: {read_channels: 65536, write_channels: 65536}}}
YAML
cat >abc.csv <<'CSV'
issue_ns,op,src,dst,offset,nbytes
0,write,c0.pe0,c2.sram,0,320
0,write,c1.pe0,c2.sram,0,320
0,write,c0.pe0,c1.sram,0,320
CSV
cat >m.yaml <<'YAML'
kernbench: 2
name: m
contention: {links: router, segment_bytes: 64, packet_bytes: 256, buffer_bytes: 512, vcs: [2, 2]}
sip: {cube_mesh: {w: 2, h: 1}}
YAML
sed 's/^sip: .*/&\ncube: {pes: 2, hbm: {model: banks, size_gb: 1}}/' m.yaml >banks.yaml # banks behind routers
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,read,c0.pe0,c1.slice0,0,2000 \
    0,read,c0.pe1,c1.slice0,100,2000 0,write,c1.pe0,c0.slice1,0,1500 \
    0,write,c1.pe1,c0.slice1,8192,1500 0,h2d,host,c1.slice0,0,3000 1,d2h,host,c1.slice1,0,3000 >banks.csv
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,read,c0.pe0,c1.slice0,0,2000 \
    0,read,c0.pe1,c1.slice0,0,2000 0,write,c1.pe2,c0.slice1,0,1500 \
    0,write,c1.pe3,c0.slice1,0,1500 0,h2d,host,c1.slice0,0,3000 1,d2h,host,c1.slice2,0,3000 >m.csv

sed 's/^name: m/name: split\naddressing: {granule: 4096}/' m.yaml >split.yaml
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,read,c0.pe0,c1.slice0,4000,2000 \
    0,write,c0.pe1,c1.slice0,8000,9000 0,read,c1.pe2,c0.slice1,100,64 >split.csv

# on MACHINE ARG...: on that machine
on()
{
    run "$1.yaml" "${@:2}" --quiet
}

# fs FILE COLUMN [CAUSE]: the sum of a column of times, in fs; of rows `all`, of that cause
fs()
{
    awk -F, -v name="$2" -v cause="${3-}" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
        cause == "" || ($1 == "all" && $3 == cause) { gsub(/\./, "", $column); sum += $column }
        END { printf "%.0f\n", sum }' "$1"
}

# -- breakdown ----------------------------------------------------------------------------------

on abc replay abc.csv --breakdown --format csv
equal "A waits for B at the port of router 1, then for a credit" \
    "router_wait|c1.pe0|15.999999 credit_wait|c1.pe0|4.000001" \
    "$(awk -F, '$1 == "wait" && $2 ~ /cube1.noc -> sip0.cube1.ucie-E vc0/ { print $3 "|" $5 "|" $7 }' out | xargs)"

for machine in abc m split banks; do
    on $machine replay $machine.csv --format csv
    cp out rows.csv
    on $machine replay $machine.csv --breakdown --format csv
    for cause in wire overhead drain return response; do
        equal "$machine: $cause is that of the rows" "$(fs rows.csv ${cause}_ns)" "$(fs out total_ns $cause)"
    done
    equal "$machine: waits of routers and credits are those for links" "$(fs rows.csv queue_link_ns)" \
        $(($(fs out total_ns router_wait) + $(fs out total_ns credit_wait)))
    # docs/formats.md: the sum is the same
    equal "$machine: places have all of it" "$(fs <(grep -e ^by, -e ^all, out) total_ns)" "$(fs <(grep -e ^by, -e ^place, out) total_ns)"
    equal "$machine: waits for memories" "$(fs rows.csv queue_memory_ns)" \
        $(($(fs out total_ns memory_wait) + $(fs out total_ns refresh_wait) + $(fs out total_ns row_wait) + \
            $(fs out total_ns bus_wait)))
done

on m load --pattern uniform --rate 0.5 --txns 300 --bytes 1024 --breakdown --format csv
[ $code -eq 0 ] && grep -q ,credit_wait, out
ok "load --breakdown"
for bench in copy gemm all_reduce list_walk; do
    on m run $bench --breakdown --format csv
    [ $code -eq 0 ]
    ok "run $bench --breakdown: all adds up"
done

# -- statistics ---------------------------------------------------------------------------------

on abc replay abc.csv --stats s.csv
equal "rows of VCs: buffers and credits" "512,302.222205,320,20.000000" \
    "$(awk -F, '/^vc,sip0.cube0.noc/ { print $13 "," $14 "," $15 "," $16 }' s.csv)"
equal "their buffer is at the end of the channel" sip0.cube1.noc \
    "$(awk -F, '/^vc,sip0.cube0.noc/ { print $4 }' s.csv)"
equal "a port is busy for as long as it is taken" 40.000000 \
    "$(awk -F, '/^edge,sip0.cube0.noc -> sip0.cube0.ucie-E/ { print $9 }' s.csv)"
on m replay m.csv --stats a.csv
on m replay m.csv --stats b.csv --engine hop
equal "both engines count the same" "$(cat a.csv)" "$(cat b.csv)"
sed 's/links: router.*/links: fifo}/' m.yaml >f.yaml
on f replay m.csv --stats f.csv
equal "without routers there are no such columns" queue_max "$(head -1 f.csv | sed 's/.*,//')"

# -- timelines ----------------------------------------------------------------------------------

on abc replay abc.csv --trace t.json
[ $code -eq 0 ] && equal "a lane per port, a slice per segment" 10 \
    "$(jq '(.traceEvents // .) as $e | [$e[] | select(.name == "thread_name" and (.args.name | test(" -> ")))
        | "\(.pid) \(.tid)"] as $lanes | [$e[] | select(.ph == "B" and ([("\(.pid) \(.tid)")] | inside($lanes)))]
        | length' t.json)"
on m run gemm --trace t.pftrace
[ $code -eq 0 ] && [ -s t.pftrace ]
ok "run --trace, for Perfetto"
on m run softmax M=64 N=256 --inspect last
[ $code -eq 0 ] && grep -q 'component .*pe_dma' out
ok "run --inspect"

# -- why ----------------------------------------------------------------------------------------

on m why load --pattern uniform --rate 0.5 --txns 300 --bytes 1024 --format csv
[ $code -eq 0 ] && grep -q ^buffers, out
ok "why: without limits of buffers"
on f why load --pattern uniform --rate 0.5 --txns 300 --bytes 1024 --format csv
[ $code -eq 0 ] && ! grep -q ^buffers, out
ok "why: fifo links have no buffers"
on abc why abc.csv --by key --format csv
[ $code -eq 0 ] && equal "why --by key: with twice the buffers C waits for a server, not for a credit" 72.000004,64.000002 \
    "$(awk -F, '$1 == "none" { all = $4 } $1 == "contention.buffer_bytes" { print all "," $4 }' out)"

# -- pictures -----------------------------------------------------------------------------------

on abc view cube --at c1 --stats s.csv --buffers
[ $code -eq 0 ] && grep -q 'Full' out
ok "view --buffers"
on abc view cube --stats s.csv
[ $code -eq 0 ] && grep -q 'Busy' out
ok "view --stats passes over rows of VCs"
on f view cube --stats f.csv --buffers
[ $code -eq 3 ] && says "has no column 'buffer_bytes'"
ok "without routers there is nothing to show"
on m view cube --buffers
[ $code -eq 2 ] && says "needs --stats"
ok "--buffers needs --stats"
on m report load --pattern uniform --rate 0.5 --txns 300 --bytes 1024 -o r.html
[ $code -eq 0 ] && page_data r.html -e '.use as $use | $use.columns | index("buffer_mean") as $i | any($use.rows[]; .[$i] > 0)' >out
ok "a report shows buffers"

# -- the other commands -------------------------------------------------------------------------

on m probe
[ $code -eq 0 ]
ok "probe"
on m route c0.pe0 c1.slice3
[ $code -eq 0 ]
ok "route"
short=(sweep --src c0.pe0 --dst c1.slice0 --bytes 64,64K --inflight 1,8 --format csv --set contention.buffer_bytes=256)
on m "${short[@]}" --engine hop
mv out hop
on m "${short[@]}"
[ $code -eq 0 ] && cmp -s hop out
ok "sweep: both engines, where a packet waits for itself"
on m replay m.csv --vary contention.buffer_bytes=512,1024 --format csv
[ $code -eq 0 ] && [ "$(grep -c ,d2h, out)" -eq 2 ]
ok "--vary"
cat >study.yaml <<'YAML'
machine: m.yaml
commands: [replay m.csv]
vary: {contention.buffer_bytes: [512, 1024]}
YAML
on m study study.yaml --format csv
[ $code -eq 0 ] && [ "$(wc -l <out)" -ge 3 ]
ok "study"
on m replay m.csv --format csv -o x.csv
on m diff x.csv x.csv
[ $code -eq 0 ]
ok "diff"

# -- banks behind routers ------------------------------------------------------------------------

# both ARG...: both engines print the same
both()
{
    on banks "$@" --engine fused
    mv out fused
    on banks "$@" --engine hop
    [ $code -eq 0 ] && cmp -s fused out
    ok "banks: both engines: $*"
}
both replay banks.csv
both load --pattern uniform --rate 0.3 --bytes 512 --txns 300 --seeds 1 --reads 60
both load --pattern stream --rate 0.6 --bytes 4096 --txns 100 --seeds 1
both sweep --src c0.pe0 --dst c1.slice1 --op read,write --bytes 64:8K:x8 --inflight 2,7
both run gemm M=64 N=64 K=64 --verify --fingerprint
both run all_gather count=256 --race
on banks run gemm M=64 N=64 K=64 --stats s.csv --trace t.json
[ $code -eq 0 ] && grep -q ^hbm_channel, s.csv && grep -q '"row miss"' t.json
ok "banks: statistics and timelines of channels"
# -- priorities and turns ----------------------------------------------------------------------

turns='contention: {links: router, segment_bytes: 512, packet_bytes: 512, buffer_bytes: 512, arbiter: rr'
sed "s/^contention: .*/$turns, vcs: [1, 1]}/" abc.yaml >rr.yaml
sed "s/^contention: .*/$turns, vcs: [2, 2], prios: 2}/" abc.yaml >rr2.yaml
sed 's/$/,0/; 1s/,0$/,prio/' abc.csv >even.csv
sed 's/$/,1/; 1s/,1$/,prio/' abc.csv >odd.csv
nothing_changes="warning: the column prio changes nothing: 'contention.arbiter' is rr"
call "$SIM" rr.yaml replay odd.csv --format csv
cp out odd.out
[ $code = 0 ] && says "$nothing_changes" && "$SIM" rr.yaml replay even.csv --format csv 2>err >out && same odd.out out && ! says "$nothing_changes"
ok "turns, and one group of virtual channels: a priority changes nothing, and is told so"
call "$SIM" abc.yaml replay odd.csv
[ $code = 0 ] && ! says "$nothing_changes"
ok "by age it does"
call "$SIM" rr.yaml replay odd.csv --quiet
[ $code = 0 ] && [ ! -s err ]
ok "--quiet"
call "$SIM" rr2.yaml replay odd.csv
[ $code = 0 ] && ! says "$nothing_changes"
ok "with two groups it chooses one"
call "$B/kernbench" info --machine rr2.yaml
says "warning: 'contention.prios' 2 beside 'arbiter: rr', which lets no priority go first: each only has virtual channels of its own"
ok "which is all that prios do beside turns"
call "$B/kernbench" info --machine rr2.yaml --set contention.arbiter=age
! says "beside 'arbiter: rr'"
ok "by age they do more"
# -- every column of replay at once ---------------------------------------------------------------

cat >every.yaml <<'YAML'
kernbench: 3
name: every
contention: {links: router, prios: 2, vcs: [4, 4], buffer_bytes: 65536}
sip: {cube_mesh: {w: 2, h: 1}, planes: [{name: a}, {name: b, bw_gbs: 64}], plane: column}
YAML
printf '%s\n' issue_ns,op,src,dst,offset,nbytes,after,think_ns,plane,prio,rows,stride \
    0,read,c0.pe0,c1.slice0,0,4K,1,2.5,a,1,2,4K 0,write,c0.pe1,c1.slice0,0,4K,,,b,0,, >every.csv
awk -F, -v OFS=, '{ print $1, $2, $3, $4, $5, $6, $12, $10, $9, $7, $8, $11 }' every.csv >order.csv
awk -F, -v OFS=, 'NR == 1 { print; next } { $9 = "b"; print }' every.csv >plane.csv
for rows in every order plane; do
    call "$B/kernbench" --machine every.yaml replay $rows.csv --quiet -o $rows.out
done
[ "$(wc -l <every.out)" = 3 ] && same every.out order.out && ! cmp -s every.out plane.out
ok "a file may have all columns, in any order, and each counts"
sed 's/$/,/' order.csv | sed '1s/,$//' >more.csv
call "$B/kernbench" --machine every.yaml replay more.csv --quiet
says "more.csv:2:45: more than the 12 fields $(head -1 order.csv)"
ok "a message has the whole header"
plan
