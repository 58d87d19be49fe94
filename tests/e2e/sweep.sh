#!/usr/bin/env bash
# sweep.sh -- sweep on the command line, from outside. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it, SIM_FIFO the one with fifo links. Needs awk
# and jq.
. "$(dirname "$0")/../support/tap.sh"
SIM_FIFO=${SIM_FIFO:-$M/cube8_fifo/cube8_fifo}
case $SIM_FIFO in /*) ;; *) SIM_FIFO=$root/$SIM_FIFO ;; esac
TRAY=$M/tray32/tray32
columns=src,dst,nbytes,inflight,op,count,mean_ns,p50_ns,p99_ns,max_ns,makespan_ns,gbs,wire_ns,\
overhead_ns,drain_ns,response_ns,queue_channel_ns,queue_engine_ns,queue_link_ns,queue_memory_ns

# sweep ARGUMENT...
sweep()
{
    run sweep "$@"
}

# count: rows of the CSV in out
count()
{
    echo $(($(wc -l <out) - 1))
}

# -- what is printed ----------------------------------------------------------------------------

sweep --src c0.pe0 --dst c0.slice0
[ $code -eq 0 ] && [ ! -s err ] && [ "$(count)" -eq 1 ]
ok "one point"
equal "columns of sweep" $columns "$(head -1 out)"
equal "defaults: 4096 bytes, one read" c0.pe0,c0.slice0,4096,1,read,1,18.085000 \
    "$(sed -n 2p out | cut -d, -f1-7)"
equal "gbs is bytes over the makespan" 226.486038 "$(field gbs 1)"
sweep --src host --dst c0.slice0
equal "h2d is the op of a host" host,c0.slice0,4096,1,h2d,1,56.562500 \
    "$(sed -n 2p out | cut -d, -f1-7)"
sweep --src c0.pe0 --dst c0.slice0 --inflight 3
equal "docs/model.md: one channel, three reads" 54.255000 "$(field makespan_ns 1)"
equal "of which the second waits for the first" 36.170000 "$(field p50_ns 1)"

# In the order src, dst, bytes, inflight, op; each list as it is written.
sweep --src c1.pe0,c0.pe0 --dst 'c0.slice[3,1]' --bytes 128,64 --inflight 2,1 --op write,read
sed 1d out | cut -d, -f1-5 >found
for src in c1.pe0 c0.pe0; do
    for dst in c0.slice1 c0.slice3; do # a list in brackets is a set
        for bytes in 128 64; do
            for inflight in 2 1; do
                for op in write read; do
                    echo $src,$dst,$bytes,$inflight,$op
                done
            done
        done
    done
done >expected
cmp expected found
ok "combinations in the order of nested lists"

sweep --src 'c*.pe*' --dst 'c*.slice*'
equal "wildcards: 64 x 64" 4096 "$(count)"
equal "wildcards: the first" c0.pe0,c0.slice0 "$(sed -n 2p out | cut -d, -f1,2)"
equal "wildcards: the last" c7.pe7,c7.slice7 "$(tail -1 out | cut -d, -f1,2)"
sweep --src c0.pe0 --dst c0.slice0 --bytes 64:1K:x2,3K --inflight 1:3
equal "ranges" "64 64 64 128 128 128 256 256 256 512 512 512 1024 1024 1024 3072 3072 3072" \
    "$(sed 1d out | cut -d, -f3 | xargs)"
if [ -x "$TRAY" ]; then
    SIM=$TRAY sweep --src 's*.host' --dst 's*.c0.slice0'
    [ $code -eq 0 ] && says "2 combinations have no route and are left out" &&
        [ "$(sed 1d out | cut -d, -f1,2 | xargs)" = "host,c0.slice0 s1.host,s1.c0.slice0" ]
    ok "a host and the slices of another SIP are no combination"
    SIM=$TRAY sweep --src 's[0-1].c0.pe0' --dst s1.c2.slice1,c2.slice1
    [ $code -eq 0 ] && [ ! -s err ] && [ "$(count)" -eq 4 ]
    ok "a PE reaches other SIPs"
else
    skip "two SIPs" "no tray32"
fi
sweep --src c0.pe0,host --dst c0.slice0,c1.sram --op read,h2d
[ $code -eq 0 ] && says "cube8: 5 combinations have no route and are left out" && [ "$(count)" -eq 3 ]
ok "what has no route is left out, and counted"
sweep --src c0.pe0,host --dst c0.slice0 --op read
[ $code -eq 0 ] && says "cube8: 1 combination has no route and is left out" && [ "$(count)" -eq 1 ]
ok "one of them is"
sweep --src c0.pe0,host --dst c0.slice0,c1.sram --op read,h2d --quiet
[ $code -eq 0 ] && [ ! -s err ] && [ "$(count)" -eq 3 ]
ok "--quiet"

sweep --src host,c0.pe0,host,host,c1.pe0,host --dst c0.slice0 --op read --bytes 64:64000:64 -j 3 --quiet
[ $code -eq 0 ] && [ "$(sed 1d out | cut -d, -f1 | uniq -c | xargs)" = "1000 c0.pe0 1000 c1.pe0" ]
ok "sources without a point between others"

# -- the same as replay -------------------------------------------------------------------------

# All copies of all points in one replay, each point a millisecond after the one before, so that no
# two points meet. Then what sweep should say of them.
by_replay()
{
    sed 1d out | awk -F, 'BEGIN { print "issue_ns,op,src,dst,offset,nbytes" } {
        for (i = 0; i < $4; i++)
            printf "%d000000,%s,%s,%s,0,%s\n", NR, $5, $1, $2, $3 }' >points.csv
    "$SIM" replay points.csv --quiet >rows.csv || return 1
    awk -F, -v columns="$columns" '
        function fs(ns) { split(ns, part, "."); return part[1] * 1000000 + part[2] }
        function ns(x) { return sprintf("%d.%06d", int(x / 1000000), x % 1000000) }
        function mean(name) { return ns(int((sum[name] + int(n / 2)) / n)) }
        function percentile(p) { return ns(actual[int((n * p + 99) / 100)]) }
        function finish(    i, j, x) {
            for (i = 2; i <= n; i++) {
                x = actual[i]
                for (j = i - 1; j > 0 && actual[j] > x; j--)
                    actual[j + 1] = actual[j]
                actual[j + 1] = x
            }
            printf "%s,%d,%s,%s,%s,%s,%s,%.6f", key, n, mean("actual"), percentile(50),
                percentile(99), ns(actual[n]), ns(last), n * bytes * 1e6 / last
            for (i = 12; i <= 19; i++)
                printf ",%s", mean(i)
            print ""
        }
        NR == FNR { if (FNR > 1) copies[++points] = $1 "," $2 "," $3 "," $4 "," $5; next }
        FNR == 1 { print columns; next }
        { point = fs($6) / 1e12
          if (point != now) {
              if (now) finish()
              now = point; n = last = 0; key = copies[++k]; bytes = $5
              delete sum; delete actual
          }
          actual[++n] = fs($21); sum["actual"] += fs($21)
          if (fs($11) - fs($6) > last) last = fs($11) - fs($6)
          for (i = 12; i <= 19; i++) sum[i] += fs($i) }
        END { finish() }' out rows.csv >expected
}

same_as_replay()
{
    sweep --src 'c0.pe[0,5],c3.pe1,host' --dst 'c0.slice[0,3-4],c5.sram,c7.slice2' \
        --bytes 64,100000 --inflight 1,2,7,100 --op read,write,h2d,d2h --quiet
    by_replay && [ "$(count)" -eq 304 ] && diff expected out | head -5 >difference
    [ $code -eq 0 ] && [ -f difference ] && [ ! -s difference ] ||
        { sed 's/^/# /' difference; false; }
    ok "the same numbers as replay: $1"
}

same_as_replay "ideal links"
if [ -x "$SIM_FIFO" ]; then
    SIM=$SIM_FIFO same_as_replay "fifo links"
else
    skip "fifo links" "no cube8_fifo"
fi

# -- the same, whatever -------------------------------------------------------------------------

many="--src c[0-3].pe*,host --dst c*.slice*,c0.sram --bytes 64:4K:x4 --inflight 1,3 --op write,read,d2h"
for format in csv json jsonl md table; do
    "$SIM" sweep $many --quiet --format $format -j 1 >one
    "$SIM" sweep $many --quiet --format $format -j 8 >eight
    "$SIM" sweep $many --quiet --format $format --engine hop -j 3 -o three
    [ -s one ] && cmp one eight && sed 's/ --engine hop//' three | cmp - one || echo "# $format"
done >difference
[ ! -s difference ] || { cat difference; false; }
ok "-j 1, -j 8 and the other engine: the same bytes in every format"
"$SIM" sweep $many --quiet -j 4 | { sleep 0.5; cat; } >out
"$SIM" sweep $many --quiet -j 1 | cmp - out
ok "a slow reader"
"$SIM" sweep $many --quiet --format json -j 4 >out
jq -e '.schema == "kernbench.sweep/1" and (.rows | length) == 33792 and .rows[5].op == "read" and
    (.command | endswith("--op write,read,d2h --format json")) and (.rows[0].mean_ns | type) == "number"' \
    out >/dev/null
ok "JSON: as many rows, the command line without -j"
"$SIM" sweep $many --quiet --format jsonl | sed 1d | jq -es 'length == 33792' >/dev/null
ok "JSON lines"
"$SIM" sweep $many --quiet --format table >out
[ "$(head -33793 out | awk '{ print length }' | sort -u | wc -l)" -eq 1 ] && sed -n 33794p out | grep -q '^not shown'

ok "a table is as wide everywhere"

for format in csv md; do
    run sweep --src c0.pe0,c0.pe1 --dst 'c*.slice0' --set contention.links=router --format $format --quiet -j 2
    [ $code -eq 0 ] && awk -F'[,|]' 'NR == 1 { n = NF } NF != n { exit 1 }' out && head -1 out | grep -q return_ns
    ok "routers: rows of $format have the columns of their head"
done

# -- the dry run --------------------------------------------------------------------------------

sweep $many --dry-run -j 2
[ $code -eq 0 ] && [ "$(sed -n 2p out | cut -d, -f1-4)" = 33792,67584,17688,2 ] &&
    awk -v s="$(field estimated_s 1)" 'BEGIN { exit !(s > 0 && s < 60) }'
ok "--dry-run: points, transactions, what is left out, threads, seconds"
start=$(date +%s)
sweep --src 'c*.pe*' --dst 'c*.slice*' --bytes 1:1000000 --inflight 1:1000 --dry-run --format json
[ $code -eq 0 ] && jq -e '.rows[0].points == 4096000000000 and .rows[0].transactions == 2050048000000000' \
    out >/dev/null && [ $(($(date +%s) - start)) -lt 10 ]
ok "--dry-run of a sweep that would take years"

# -- mistakes -----------------------------------------------------------------------------------

pair="--src c0.pe0 --dst c0.slice0"
refused "no --dst" 2 "sweep needs --src and --dst" sweep --src c0.pe0
refused "an operand" 2 "one operand too many" sweep $pair x
refused "an option of another command" 2 "sweep takes no --seed, it is an option of load, run" \
    sweep $pair --seed 3
refused "an unknown source" 2 "--src: 'c0.pee3' is no endpoint, did you mean 'c0.pe3'?" \
    sweep --src c0.pe0,c0.pee3 --dst c0.slice0
refused "a range that the machine lacks" 2 "--src: c[0,8].pe*: a SIP has cubes 0..7" \
    sweep --src 'c[0,8].pe*' --dst c0.slice0
refused "an empty list" 2 "--dst: ''" sweep --src c0.pe0 --dst c0.slice0,
refused "a memory as source" 2 "--src: c0.sram is no source: PEs and hosts are" \
    sweep --src c0.sram --dst c0.slice0
refused "a TCM as target" 2 "--dst: c0.pe1.tcm is no target" sweep --src c0.pe0 --dst 'c0.pe[1-2].tcm'
refused "--bytes 0" 2 "--bytes: '0' is not a size above 0" sweep $pair --bytes 0
refused "--bytes downwards" 2 "--bytes: '4K:64:x2' goes downwards" sweep $pair --bytes 4K:64:x2
refused "--inflight with a step of 0" 2 "--inflight: '0' is not a number above 0" \
    sweep $pair --inflight 1:8:0
refused "--inflight beyond 32 bits" 2 "--inflight: 4294967296 are too many at once" \
    sweep $pair --inflight 4294967296
refused "too many numbers" 2 "--bytes: more than 4000000 numbers" sweep $pair --bytes 1:1G
refused "an unknown op" 2 "unknown op 'raed', did you mean 'read'?" sweep $pair --op write,raed
refused "an op twice" 2 "--op: read is listed twice" sweep $pair --op read,write,read
refused "no route at all" 2 "no combination has a route; h2d from host to c0.sram: a host reaches slices" \
    sweep --src host --dst c0.sram
refused "ops that no source has" 2 "h2d from c0.pe0 to c0.slice0: h2d and d2h start at a host" \
    sweep $pair --op h2d
refused "more than a memory holds" 2 "33554433 bytes are more than c3.sram holds" \
    sweep --src c0.pe0 --dst c0.slice0,c3.sram --bytes 64,33554433
refused "too many combinations" 2 "more combinations than 64 bits can count" \
    sweep --src 'c*.pe*' --dst 'c*.slice*' --bytes 1:4000000 --inflight 1:4000000
echo untouched >kept
run sweep $pair --inflight 4294967295 -o kept
[ $code -eq 2 ] && says "4294967295 transactions at once" && [ "$(cat kept)" = untouched ]
ok "a point that cannot be run: no file"

# -- what ends it early -------------------------------------------------------------------------

long="--src c*.pe* --dst c*.slice* --bytes 64:128K:64 --inflight 16 --engine hop -j 5"
for format in csv json; do
    for seconds in 0.5 0.3 0.2; do
        code=0
        timeout --preserve-status -s INT $seconds "$SIM" sweep $long --format $format -o part \
            >out 2>err || code=$?
        [ $code -eq 130 ] && break
    done
    done=$(sed -n 's/^interrupted: \([0-9]*\) of 8388608 points complete$/\1/p' err)
    if [ $code -eq 0 ]; then
        skip "Ctrl-C, $format" "this machine is too fast"
    elif [ $format = csv ]; then
        "$SIM" sweep --src c0.pe0 --dst 'c*.slice*' --bytes 64:128K:64 --inflight 16 >some
        lines=$((done < 131072 ? done + 1 : 131073))
        i=$((done - 1)) # 2048 sizes, 64 targets: what the last row must be
        last=c$((i / 1048576)).pe$((i / 131072 % 8)),c$((i / 16384 % 8)).slice$((i / 2048 % 8)),$((i % 2048 * 64 + 64))
        [ $code -eq 130 ] && [ -n "$done" ] && [ "$(wc -l <part.partial)" -eq $((done + 1)) ] &&
            [ ! -s out ] && head -$lines some | cmp - <(head -$lines part.partial) &&
            [ "$(tail -1 part.partial | cut -d, -f1-3)" = $last ]
        ok "Ctrl-C keeps the points complete so far, from the first on"
    else
        [ $code -eq 130 ] && [ "$(jq '.rows | length' part.partial)" = "$done" ]
        ok "Ctrl-C leaves JSON whole"
    fi
done
{ timeout 20 "$SIM" sweep $long 2>err; echo $? >status; } | head -1 >out
[ "$(cat status)" -eq 0 ] && [ ! -s err ] && [ "$(head -1 out)" = $columns ]
ok "a closed pipe ends quietly and soon"
if [ -c /dev/full ]; then
    refused "a full device" 5 "cannot write /dev/full: No space left" sweep $pair -o /dev/full
    timeout 20 "$SIM" sweep $long >/dev/full 2>err
    [ $? -eq 5 ] && says "cannot write standard output: No space left"
    ok "a full device ends it soon"
fi
if { (ulimit -v 200000 && "$SIM" --version) >/dev/null; } 2>/dev/null; then
    million="--src c*.pe* --dst c*.slice* --bytes 64:32K:64 --quiet -j 1"
    (ulimit -v 200000 && exec "$SIM" sweep $million) 2>err | tail -1 >out
    [ "$(cut -d, -f1-3 out)" = c7.pe7,c7.slice7,32768 ]
    ok "two million rows do not stay in memory"
    code=0
    (ulimit -v 200000 && exec "$SIM" sweep $million --format table) >out 2>err || code=$?
    [ $code -eq 5 ] && says "out of memory"
    ok "but in a table they do: out of memory"
else
    skip "memory" "address space cannot be limited here"
fi
equal "no temporary file is left behind" 0 "$(ls -A | grep -c '^\.kernbench-')"

call "$SIM" sweep --src c0.pe0 --dst c0.slice0 --rows 3 --stride 10 --bytes 100
[ $code -eq 2 ] && [ ! -s out ] && says "100 bytes are not cut into 3 rows"
ok "a point that cannot be: nothing is printed"
plan
