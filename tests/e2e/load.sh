#!/usr/bin/env bash
# load.sh -- load on the command line, from outside. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs awk and jq.
. "$(dirname "$0")/../support/tap.sh"
CUBE1=$M/cube1/cube1
ODD=$M/vec3/vec3
columns=pattern,nbytes,op,rate,offered_gbs,accepted_gbs,count,mean_ns,ci95_ns,p50_ns,p99_ns,p999_ns,\
max_ns,warmup_ns,steady,wire_ns,overhead_ns,drain_ns,queue_channel_ns,queue_link_ns,\
queue_memory_ns,busiest_memory,memory_util_pct,busiest_link,link_util_pct,zero_load_ns,saturated,saturation_rate

# load ARGUMENT...
load()
{
    run load "$@"
}

# -- what is printed ----------------------------------------------------------------------------

load --pattern local --rate 0.001
[ $code -eq 0 ] && says "no saturation up to rate 0.001" && [ "$(wc -l <out)" -eq 2 ]
ok "one rate"
equal "columns of load" $columns "$(head -1 out)"
equal "pattern, defaults" local,4096,read,0.001000 "$(sed -n 2p out | cut -d, -f1-4)"
near "three simulations of 100000 transactions, less what is warm-up" 300000 "$(field count 1)" 0.05
near "rate 1.0 is 64 x 256 GB/s" 16.384 "$(field offered_gbs 1)" 0.02
near "docs/model.md: at a low rate the formula, 18.085" 18.085 "$(field mean_ns 1)" 0.001
equal "its parts" "0.085000 2.000000 16.000000" \
    "$(field wire_ns 1) $(field overhead_ns 1) $(field drain_ns 1)"
equal "half of them do not wait" 18.085000 "$(field p50_ns 1)"
equal "steady" 1 "$(field steady 1)"
load --pattern local --rate 0.5 --arrivals fixed
equal "at equal intervals there are no waits: mean, p99, maximum" "18.085000 18.085000 18.085000" \
    "$(field mean_ns 1) $(field p99_ns 1) $(field max_ns 1)"
load --pattern uniform --rate 0.1,0.05,0.2:0.4:0.1 --op write --bytes 1K --txns 20000 --quiet
equal "a row for each rate, as listed" "0.100000 0.050000 0.200000 0.300000 0.400000" \
    "$(sed 1d out | cut -d, -f4 | xargs)"
equal "op and bytes" "write 1024" "$(field op 2) $(field nbytes 2)"
awk -F, 'NR > 1 { d = $8 - $16 - $17 - $18 - $19 - $20 - $21; if (d > 3e-6 || d < -3e-6) exit 1 }' out
ok "the mean is the sum of its parts, each rounded"

# -- what is doubtful ---------------------------------------------------------------------------

{ echo src,dst,weight; echo c0.pe0,c0.slice0,1; echo c0.pe0,c3.slice5,1e-12; } >rare.csv
load --pattern matrix:rare.csv --rate 0.1 --txns 2000
equal "a slice that is aimed at and sees nothing is warned of, by name" \
    "warning: rate 0.1: 1 of the 2 slices aimed at saw no transaction (the first: sip0.cube3.hbm_ctrl.slice5)" \
    "$(grep '^warning' err)"
load --pattern matrix:rare.csv --rate 0.1 --txns 2000 --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "--quiet: nothing"
load --pattern uniform --rate 0.1 --txns 20 --seeds 1
grep -q '^warning: rate 0.1: [1-9][0-9]* of the 64 slices aimed at saw no transaction (the first: ' err
ok "of a uniform pattern, all slices"
load --pattern hotspot:100% --rate 0.1,0.2 --txns 2000
[ $code -eq 0 ] && ! grep -q '^warning' err
ok "of a hot spot that takes all, it alone"
for seed in 0 1 2 3 4 5 6 7 8 9; do
    load --pattern local --rate 0.1 --txns 1 --seeds 1 --seed $seed
    grep -q '^warning: rate 0.1: no byte was moved, --txns is too small$' err && break
done
[ $code -eq 0 ] && says "no byte was moved" && [ "$(field count 1)" = 0 ]
ok "a load that moves nothing is warned of"
load --pattern uniform --rate 0.1
[ $code -eq 0 ] && ! grep -q '^warning' err
ok "nothing is warned of in a load as it is"

# -- theory -------------------------------------------------------------------------------------

# A read of 4096 B holds its PE's channel for 18.085 ns: 64 of them carry no more.
load --pattern local --rate 1 --txns 400000
near "local: the channels bound what is accepted" 14495.051 "$(field accepted_gbs 1)" 0.003
[ "$(field steady 1)" = 0 ] && head -1 err | grep -q '^rate 1: no steady state found' &&
    grep -q '^saturation begins below rate 1: 14[0-9.]* GB/s accepted there$' err
ok "beyond saturation there is no steady state, and that is said"
# One slice: c0.pe0 drains in 16 ns, the 63 others in 32. All wait, each in turn: 31.75 on average.
load --pattern hotspot:100% --rate 0.5 --txns 100000 --quiet
near "hotspot:100%: a slice bounds what is accepted" 129.008 "$(field accepted_gbs 1)" 0.01
equal "it is the busiest memory" sip0.cube0.hbm_ctrl.slice0 "$(field busiest_memory 1)"
near "and busy all the time" 100 "$(field memory_util_pct 1)" 0.01
cut -d, -f5-6 out >before
{ echo src,dst,weight; for c in 0 1 2 3 4 5 6 7; do for p in 0 1 2 3 4 5 6 7; do
    echo c$c.pe$p,c0.slice0,2.5; done; done; } >all.csv
load --pattern matrix:all.csv --rate 0.5 --txns 100000 --quiet
near "a matrix of the same" 129.008 "$(field accepted_gbs 1)" 0.01
equal "its pattern names it" matrix:all.csv "$(field pattern 1)"
# One PE: 1.0 is what its crossbar carries, and the link to slice 3 has half of it.
printf 'src,dst,weight\nc2.pe1,c2.slice3,1e3\n' >one.csv
load --pattern matrix:one.csv --rate 0.25 --txns 2000 --arrivals fixed --seeds 1
equal "a matrix of one PE: 38.105 each" "38.105000 38.105000" "$(field mean_ns 1) $(field max_ns 1)"
near "at 0.25 of 256 GB/s" 64 "$(field offered_gbs 1)" 0.01
equal "its data come back over a link of 128 GB/s" "sip0.cube2.xbar.pe2 -> sip0.cube2.xbar.pe1 50.003475" \
    "$(field busiest_link 1) $(field link_util_pct 1)"
# M/D/1 at a channel: service 18.085, load 0.5651, wait rho s / (2 (1 - rho)) = 11.75
load --pattern local --rate 0.5 --txns 2000000 --seeds 2
near "M/D/1: the wait for a channel" 11.750 "$(field queue_channel_ns 1)" 0.02
awk -v c="$(field ci95_ns 1)" 'BEGIN { exit !(c > 0 && c < 1) }'
ok "and a confidence interval"
# A multicast ends with its last target, so alone it takes what the way to that one does.
load --pattern multicast:8 --op write --rate 0.0001 --txns 2000 --seeds 1 --quiet
equal "a multicast, as given" multicast:8,4096,write "$(sed -n 2p out | cut -d, -f1-3)"
near "bytes of a write count once" 1.638 "$(field offered_gbs 1)" 0.1
[ "$(field zero_load_ns 1)" = "$(field mean_ns 1)" ] || near "idle: as long as alone" "$(field zero_load_ns 1)" "$(field mean_ns 1)" 0.01
ok "multicasts on an idle machine"
banks="--set cube.hbm.model=banks --set contention.links=router"
run load --pattern stream --op read --rate 0.001 --txns 300 --seeds 1 $banks --format csv --quiet
equal "behind routers an open row is no time alone" "$("$SIM" probe --case pe-local-hbm $banks --format json --quiet | jq -r '.rows[0].actual_ns')" \
    "$(field zero_load_ns 1 | sed 's/0*$//')"
load --pattern multicast:1 --op write --rate 0.3 --txns 20000 --quiet
cut -d, -f5- out >one
load --pattern neighbor --op write --rate 0.3 --txns 20000 --quiet
cut -d, -f5- out | cmp -s - one
ok "a multicast to one is a write to the neighbor"
for pattern in uniform neighbor transpose bitcomp hotspot:20; do
    load --pattern $pattern --rate 0.02 --txns 20000 --seeds 2 --quiet
    [ $code -eq 0 ] && [ "$(field steady 1)" = 1 ] || echo "# $pattern"
done >missing
[ ! -s missing ] || { cat missing; false; }
ok "every pattern"

# -- what is said beside ------------------------------------------------------------------------

load --pattern local --rate 0.7:1:0.1 --format table
[ "$(head -1 out | cut -c1-12)" = "nbytes  op  " ] &&
    grep -q '^saturation begins between rate 0.8 and 0.9: 14[0-9.]* GB/s accepted there$' out &&
    grep -q '^busiest at rate 0.8: memories sip0.*hbm_ctrl.slice.* %, .* %, .* %; links .* -> .* %$' out
ok "below a table: where saturation begins, and what is busiest before"
load --pattern local --rate 0.9,0.7:0.8:0.1 --txns 20000 --quiet
equal "which rates are saturated, and the least of them" "0.9 1 0.9 0.7 0 0.9 0.8 0 0.9" \
    "$(awk -F, 'NR > 1 { print $4 + 0, $27, $28 + 0 }' out | xargs)"
equal "the zero-load latency: the formula" "18.085000 18.085000 18.085000" "$(sed 1d out | cut -d, -f26 | xargs)"
load --pattern local --rate 0.1 --txns 20000 --quiet
equal "no saturation" "0," "$(sed 1d out | cut -d, -f27,28)"
load --pattern local --rate 0.2,0.1 --format md
[ "$(sed -n 5p out)" = "" ] && [ "$(sed -n 6p out)" = "no saturation up to rate 0.2" ]
ok "below Markdown; no saturation"
load --pattern local --rate 1 --format table --quiet
grep -q '^saturation begins below rate 1: 14' out && grep -q '^busiest at rate 1:' out && [ ! -s err ]
ok "nothing but saturation; --quiet"
load --pattern uniform --rate 0.1,0.2 --txns 20000
[ "$(grep -c '^links are ideal, .* from rate 0.1 on .* at rate 0.2); run with contention.links=fifo' err)" -eq 1 ]
ok "links that are too few are warned of, once"
load --pattern local --rate 0.5 --txns 10
grep -q '^too few transactions to tell' err
ok "a handful of transactions says nothing of saturation"

# -- the same, whatever -------------------------------------------------------------------------

args="--pattern hotspot:5 --rate 0.05:0.25:0.05 --txns 5000 --bytes 2K"
for format in csv json jsonl md table; do
    "$SIM" load $args --quiet --format $format -j 1 >one
    "$SIM" load $args --quiet --format $format -j 7 >seven
    "$SIM" load $args --quiet --format $format --engine hop -o three
    [ -s one ] && cmp one seven && sed 's/ --engine hop//' three | cmp - one || echo "# $format"
done >difference
[ ! -s difference ] || { cat difference; false; }
ok "-j 1, -j 7 and the other engine: the same bytes in every format"
load $args --format json --quiet
jq -e '.schema == "kernbench.load/1" and (.rows | length) == 5 and .rows[2].rate == 0.15' out >/dev/null
ok "JSON"
load $args --seeds 1 --seed 1 --quiet
cp out one
load $args --seeds 1 --quiet
! cmp -s one out
ok "--seed: other numbers"
load --pattern local --rate 0.3 --txns 10 --seeds 1 --quiet
[ $code -eq 0 ] && [ "$(field count 1)" -le 30 ]
ok "hardly any transactions"

# -- mistakes -----------------------------------------------------------------------------------

refused "no pattern" 2 "load needs --pattern and --rate" load --rate 1
refused "no rate" 2 "load needs --pattern and --rate" load --pattern local
refused "an unknown pattern" 2 "unknown pattern 'unifrom', did you mean 'uniform'?" \
    load --pattern unifrom --rate 1
refused "an argument too many" 2 "--pattern: local takes no ':'" load --pattern local:3 --rate 1
for share in hotspot hotspot: hotspot:101 hotspot:x hotspot:-1%; do
    refused "$share" 2 "hotspot:P needs a number of per cent, 0 to 100" load --pattern $share --rate 1
done
for copies in multicast multicast: multicast:0 multicast:x; do
    refused "$copies" 2 "multicast:N needs a number above 0" load --pattern $copies --rate 1 --op write
done
refused "a multicast that reads" 2 "multicast:N writes: it needs --op write" load --pattern multicast:4 --rate 1
refused "a multicast that reads a little" 2 "multicast:N writes: it needs --op write" \
    load --pattern multicast:4 --rate 1 --reads 1
refused "a multicast to more PEs than others" 2 "multicasts go to 1 to 63 PEs here, not 64" \
    load --pattern multicast:64 --rate 1 --op write
for share in 101 x -1 ''; do
    refused "--reads '$share'" 2 "--reads needs a number of per cent, 0 to 100" \
        load --pattern local --rate 1 --reads "$share"
done
refused "--reads beside --op" 2 "--reads and --op exclude each other" \
    load --pattern local --rate 1 --reads 50 --op write
refused "an argument of random" 2 "--pattern: random takes no ':'" load --pattern random:3 --rate 1
refused "a matrix without a file" 2 "matrix:FILE needs a file" load --pattern matrix --rate 1
refused "a rate of 0" 2 "--rate: '0' is not a number above 0" load --pattern local --rate 0,1
refused "rates downwards" 2 "--rate: '1:0.5:0.1' goes downwards" load --pattern local --rate 1:0.5:0.1
refused "--bytes takes one number" 2 "--bytes '64,128' is not a size" load --pattern local --rate 1 --bytes 64,128
refused "more bytes than a slice" 2 "more than a slice holds" load --pattern local --rate 1 --bytes 7G
refused "an op of hosts" 2 "unknown op 'h2d': it is one of read, write" load --pattern local --rate 1 --op h2d
refused "--txns 0" 2 "--txns '0' is not a number above 0" load --pattern local --rate 1 --txns 0
refused "--seeds 0" 2 "--seeds '0' is not a number of simulations" load --pattern local --rate 1 --seeds 0
refused "--arrivals" 2 "unknown kind of arrivals 'often': it is one of poisson, fixed" \
    load --pattern local --rate 1 --arrivals often
if [ -x "$CUBE1" ]; then
    SIM=$CUBE1 refused "transpose of 8 PEs" 2 "transpose needs a square number of PEs, this machine has 8" \
        load --pattern transpose --rate 0.1
else
    skip "transpose of 8 PEs" "no cube1"
fi
if [ -x "$ODD" ]; then
    SIM=$ODD refused "bitcomp without a power of two" 2 "bitcomp needs a power of two of PEs" \
        load --pattern bitcomp --rate 0.1
else
    skip "bitcomp without a power of two" "no vec3"
fi

refused "a matrix that is not there" 3 "cannot read absent.csv: No such file" \
    load --pattern matrix:absent.csv --rate 1
echo src,dst,weight >empty.csv
refused "a matrix without rows" 3 "empty.csv has no rows" load --pattern matrix:empty.csv --rate 1
echo src,dst >bad.csv
refused "a matrix with another header" 3 "bad.csv:1:1: the first line is not src,dst,weight" \
    load --pattern matrix:bad.csv --rate 1
cat >bad.csv <<'END'
src,dst,weight
c0.pe0,c0.slice0,1

c0.pe8,c0.slice0,1
c0.pe0,c0.sclice0,1
c0.slice0,c0.slice0,1
c0.pe0,c0.sram,1
c0.pe0,c0.slice0,0
c0.pe0,c0.slice0,-1
c0.pe0,c0.slice0,1e13
c0.pe0,c0.slice0,nan
c0.pe0,c0.slice0,
c0.pe0,c0.slice0
c0.pe0,c0.slice0,1,1
END
load --pattern matrix:bad.csv --rate 1
cat >expected <<'END'
bad.csv:4:1: c0.pe8: a cube has PEs 0..7
bad.csv:5:8: 'c0.sclice0' is no endpoint, did you mean 'c0.slice0'?
bad.csv:6:1: c0.slice0: a src is a PE
bad.csv:7:8: c0.sram: a dst is a slice
bad.csv:8:18: weight '0' is not a number above 0, at most 1e12
bad.csv:9:18: weight '-1' is not a number above 0, at most 1e12
bad.csv:10:18: weight '1e13' is not a number above 0, at most 1e12
bad.csv:11:18: weight 'nan' is not a number above 0, at most 1e12
bad.csv:12:18: weight '' is not a number above 0, at most 1e12
bad.csv:13:17: 2 of the 3 fields src,dst,weight
bad.csv:14:20: more than the 3 fields src,dst,weight
END
[ $code -eq 3 ] && [ ! -s out ] && cmp expected err
ok "every bad row of a matrix is named"
{ echo src,dst,weight; yes c0.pe9,c0.slice0,1 | head -30; } >bad.csv
load --pattern matrix:bad.csv --rate 1
[ $code -eq 3 ] && [ "$(wc -l <err)" -eq 21 ] && says "bad.csv: more bad rows follow"
ok "up to twenty"
"$SIM" load --pattern matrix:- --rate 0.1 --txns 1000 --quiet <one.csv >out 2>err
[ $? -eq 0 ] && [ "$(field pattern 1)" = matrix:- ]
ok "a matrix from standard input"

# -- rates as they are written ------------------------------------------------------------------

load --pattern local --rate .001,0.25,1.0 --txns 1000 --format table --quiet
equal "a table has the rates as they were asked" "0.001 0.25 1" \
    "$(awk 'NR > 1 && NR < 5 { print $3 }' out | xargs)"
load --pattern local --rate .001,0.25 --txns 1000 --format json --quiet
equal "JSON has six decimals, and a number" "0.001000 0.250000" \
    "$(sed -n 's/.*"rate":\([0-9.]*\),.*/\1/p' out | xargs)"
refused "a range of rates without a step" 2 "--rate: '0.1:1.0' needs a step, as in 0.1:1.0:0.1" \
    load --pattern local --rate 0.1:1.0
refused "more bytes than a slice, and how many that is" 2 \
    "7516192768 bytes are more than a slice holds, which is 6442450944" load --pattern local --rate 1 --bytes 7G
echo src,dst,weight | "$SIM" load --pattern matrix:- --rate 1 >out 2>err
[ $? -eq 3 ] && says "<stdin> has no rows"
ok "a matrix without rows from standard input"

# -- what ends it early -------------------------------------------------------------------------

for seconds in 0.5 0.3 0.2; do
    code=0
    timeout --preserve-status -s INT $seconds "$SIM" load --pattern local --rate 0.1:0.9:0.001 \
        --txns 30000 --seeds 2 -j 2 --engine hop -o part >out 2>err || code=$?
    [ $code -eq 130 ] && break
done
done=$(sed -n 's/^interrupted: \([0-9]*\) of 801 rates complete$/\1/p' err)
if [ $code -eq 0 ]; then
    skip "Ctrl-C" "this machine is too fast"
else
    "$SIM" load --pattern local --rate 0.1:0.11:0.001 --txns 30000 --seeds 2 --quiet >some
    lines=$((done < 11 ? done + 1 : 12))
    [ $code -eq 130 ] && [ -n "$done" ] && [ "$(wc -l <part.partial)" -eq $((done + 1)) ] && [ ! -s out ] &&
        head -$lines some | cmp - <(head -$lines part.partial)
    ok "Ctrl-C keeps the rates complete so far"
fi
code=0
timeout --preserve-status -s INT 1 "$SIM" load --pattern local --rate 0.5 --txns 1G --seeds 1 >out 2>err || code=$?
[ $code -eq 2 ] && says "--txns"
ok "--txns takes no K, M, G"
code=0
timeout --preserve-status -s INT 1 "$SIM" load --pattern local --rate 0.5 --txns 1000000000 --seeds 1 \
    >out 2>err || code=$?
[ $code -eq 130 ] && says "interrupted: 0 of 1 rates complete" && [ "$(cat out)" = $columns ]
ok "Ctrl-C in the middle of a simulation"
if [ -c /dev/full ]; then
    refused "a full device" 5 "cannot write /dev/full: No space left" \
        load --pattern local --rate 0.1 --txns 1000 --quiet -o /dev/full
fi
equal "no temporary file is left behind" 0 "$(ls -A | grep -c '^\.kernbench-')"

# PEs on chiplets without slices: c1 and c2, around c0, which has four
small()
{
    printf '%s\n' 'kernbench: 3' 'name: small' 'links: {bond: {bw_gbs: 128.0}}' "addressing: {granule: $1, over: $2}" \
        'kinds: {io: {pes: 0, hbm: {slices: 4}}, xd: {pes: 2, hbm: {slices: 0}}}' \
        'sip: {cubes: 3, net: [{each: [c0, "c[1-2]"], link: bond}]}' 'cubes: {c0: io, "c[1-2]": xd}'
}
for space in '4096 sip' '4096 cube' '0 cube'; do
    small $space >small.yaml
    for pattern in stream strided:1M random; do
        call "$B/kernbench" load --machine small.yaml --pattern $pattern --rate 0.01 --txns 2000 --seeds 1 --format csv --stats use.csv --quiet
        [ $code -eq 0 ] && [ "$(field accepted_gbs 1)" != 0.000000 ] || echo "$space $pattern"
    done
    awk -F, '$1 == "memory" && $2 ~ /slice/ && $7 > 0' use.csv | wc -l
done >walks
equal "walks of PEs whose cube has no slices: in those of their home" "4 4 4" "$(xargs <walks)"
call "$B/kernbench" load --machine small.yaml --pattern strided:12G --bytes 4K --rate 0.01 --txns 10 --seeds 1 --quiet
[ $code -eq 0 ]
ok "whose share is that of the home slice"
call "$B/kernbench" load --machine small.yaml --pattern strided:13G --bytes 4K --rate 0.01 --txns 10 --seeds 1 --quiet
[ $code -eq 2 ] && says "the stride is not within 1..12884901888, the share of a PE"
ok "and no larger"
plan
