#!/usr/bin/env bash
# knockout.sh -- `why`: the same run with one limit less, ranked by what that saves.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8

# of LIMIT COLUMN: a field of the row of that limit
of()
{
    awk -F, -v limit="$1" -v name="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        $1 == limit { print $column }' "$work/out"
}

# -- a file -------------------------------------------------------------------------------------

# Two reads of one slice at once: 18.085 and 50.085; without links' bandwidth the far one drains in
# 16 ns and takes 34.085, with all of a memory's the near one at 256 GB/s all the same.
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4K\n0,read,c0.pe1,c0.slice0,0,4K\n' >two.csv
run why two.csv --format csv
equal "a row for each limit, and one for none" 10 "$(($(wc -l <out) - 1))"
equal "none: the mean of 18.085 and 50.085" 34.085000 "$(of none mean_ns)"
equal "none: the 99th percentile is the larger" 50.085000 "$(of none p99_ns)"
equal "links' bandwidth: the far one takes 34.085" 26.085000 "$(of link_gbs mean_ns)"
equal "which saves 8 of 34.085" "8.000000 23.470735" "$(of link_gbs saved_ns) $(of link_gbs saved_pct)"
equal "channels: both PEs have one each" 34.085000 "$(of channels mean_ns)"
equal "overheads: 2 of the near one; 4 less the wait that begins earlier" 32.085000 "$(of overhead mean_ns)"
equal "no kernel, no traffic" removed,end_ns,mean_ns,p99_ns,saved_ns,saved_pct,speedup "$(head -1 out)"
"$SIM" replay two.csv >rows
equal "none is what replay says" "$(awk -F, 'NR > 1 { s += $21 } END { printf "%.6f", s / (NR - 1) }' rows)" \
    "$(of none mean_ns)"
awk -F, 'NR > 2 { if (last != "" && $7 > last) exit 1; last = $7 }' out
ok "what saves most comes first"
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4K\n0,read,c0.pe0,c0.slice1,0,4K\n' >channel.csv
run why channel.csv --format csv
equal "two reads of a PE wait for its channel, and for what they carry" "memory_gbs+link_gbs channels" \
    "$(sed -n 3,4p out | cut -d, -f1 | paste -sd " ")"
equal "without: 18.085 and 36.095" 27.090000 "$(of channels mean_ns)"

many 200
run replay many.csv --quiet
nearest=$(tail -n +2 out | cut -d, -f21 | sort -n | sed -n 198p)
run why many.csv --quiet --format csv
equal "the 99th percentile of 200 is the 198th" "$nearest" "$(of none p99_ns)"

# -- a bench ------------------------------------------------------------------------------------

run why gemm M=64 N=64 K=64 --format csv
"$SIM" run gemm M=64 N=64 K=64 --format csv >rows
equal "a bench: none is what run says" "$(awk -F, 'NR > 1 { s += $5 } END { printf "%.6f", s }' rows)" \
    "$(of none kernel_ns)"
equal "a bench has no mean latency" removed,end_ns,kernel_ns,saved_ns,saved_pct,speedup "$(head -1 out)"
awk -v a="$(of none kernel_ns)" -v b="$(of compute kernel_ns)" 'BEGIN { exit !(b > 0 && b < a) }'
ok "a GEMM without cycles is faster"
equal "GEMM on a grid: links bind, not HBM alone" "memory_gbs+link_gbs 0.000000" "$(run why gemm --quiet --format csv
    sed -n 3p out | cut -d, -f1) $(of memory_gbs saved_ns)"
run why copy --format csv
equal "a copy computes nothing" 0.000000 "$(of compute saved_ns)"
run why all_reduce count=131 over=cubes --quiet --format csv
cp out auto && run run all_reduce count=131 over=cubes --quiet --format json &&
    run why all_reduce count=131 over=cubes algorithm="$(jq -r .args.algorithm out)" --quiet --format csv && cmp out auto
ok "auto: the algorithm of the machine as it is, in all runs"
"$B/_t/broken" why choosy --quiet --format csv >out 2>err
[ "$(cat err)" = "chosen once" ] && [ "$(wc -l <out)" -eq 11 ]
ok "what is chosen by trying is chosen once"

# -- traffic ------------------------------------------------------------------------------------

run why load --pattern local --rate 0.5 --txns 20000 --format csv
"$SIM" load --pattern local --rate 0.5 --txns 20000 --seeds 1 --format csv >rows
equal "traffic: none is what load says" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mean_ns") c = i }
    NR == 2 { print $c }' rows)" "$(of none mean_ns)"
equal "and a row for each limit, channels too" 10 "$(($(wc -l <out) - 1))"
equal "a slice is as fast as the way to it: to remove one of both does nothing" "0.000000 0.000000" \
    "$(of memory_gbs saved_ns) $(of link_gbs saved_ns)"
equal "both together are what binds" memory_gbs+link_gbs "$(sed -n 3p out | cut -d, -f1)"
run why load --pattern uniform --rate 0.3 --txns 20000
says "links are ideal" && says "rate 0.3: no steady state found"
ok "traffic that is not what it seems is warned of"
run why load --pattern uniform --rate 0.3 --txns 20000 --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "... but with --quiet"

# -- caches -------------------------------------------------------------------------------------

cat >cached.yaml <<'END'
kernbench: 3
name: cached
sip: {cube_mesh: {w: 2, h: 1}}
cube: {pes: 4, hbm: {latency_ns: 80.0, cache: {size_mb: 0.25, latency_ns: 10.0}}}
END
why_cached() { "$B/kernbench" why gemm --machine cached.yaml --format csv "$@" --quiet; }
time_of() { "$B/kernbench" run gemm --machine cached.yaml --format csv --quiet "$@" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "kernel_ns") c = i } NR == 2 { print $c }'; }
why_cached >out
equal "cache_off is the machine without caches" "$(time_of --set cube.hbm.cache.size_mb=0)" "$(of cache_off kernel_ns)"
[ -n "$(of cache_all kernel_ns)" ]
ok "and there is a row with all lines there"
"$B/kernbench" why softmax --machine cached.yaml >out 2>&1
[ "$(grep -c ' -[0-9]' out)" -eq 1 ] && grep -q '^cache_off .* -[0-9]' out && ! grep 'below 0' out
ok "that caches are worth something needs no excuse"
"$SIM" why gemm M=64 N=64 K=64 --format csv --quiet | grep cache >found
nothing "$(cat found)"
ok "a machine without caches has no such rows"

# -- the same, whatever -------------------------------------------------------------------------

for format in csv json jsonl md table; do
    "$SIM" why gemm M=64 N=64 K=64 --format $format -j 1 >one
    "$SIM" why gemm M=64 N=64 K=64 --format $format -j 4 >four
    "$SIM" why gemm M=64 N=64 K=64 --format $format --engine hop | sed 's/ --engine hop//' >hop
    [ -s one ] && cmp one four && cmp one hop || echo "# $format"
done >difference 2>&1
[ ! -s difference ] || { cat difference; false; }
ok "-j 1, -j 4 and the other engine: the same bytes in every format"
run why gemm M=64 N=64 K=64 --format json
[ "$(jq -r '.schema, .rows[0].removed, .rows[0].speedup' out | tr '\n' ' ')" = "kernbench.why/1 none 1 " ]
ok "JSON has a schema of its own"

# -- errors -------------------------------------------------------------------------------------

refused "no scenario" 2 "why needs BENCH|FILE|load" why
refused "no such bench" 2 "unknown bench 'gem', did you mean 'gemm'?" why gem
refused "no such file" 3 "cannot read none.csv" why none.csv
refused "standard input" 2 "standard input can be read once" why -
refused "a file takes no arguments" 2 "'M=3' is one operand too many" why two.csv M=3
refused "traffic without a pattern" 2 "load needs --pattern and --rate" why load
refused "two rates" 2 "why load takes one rate, --rate has 2" why load --pattern local --rate 0.1,0.2
for option in '--rate 0.1' '--pattern local' '--bytes 64' '--op write' '--txns 5' '--arrivals fixed'; do
    refused "$option of a bench" 2 "${option% *} is an option of 'why load' only" why gemm $option
done
refused "--bytes of a file" 2 "--bytes is an option of 'why load' only" why two.csv --bytes 64
refused "into the file itself" 2 "-o names the file that is read" why two.csv -o ./two.csv
refused "an argument out of range" 2 "K must be an integer in 1..65536" why gemm K=0
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe9,c0.slice0,0,4K\n' >bad.csv
refused "a bad row, said once" 3 "bad.csv:2:8" why bad.csv
[ "$(wc -l <err)" -eq 1 ] || false
ok "no row twice"
call timeout --preserve-status -s INT 1 "$SIM" why load --pattern uniform --rate 0.9 --txns 400000000 -o interrupted.csv
[ $code -eq 130 ] && grep -q "^interrupted: 0 of 10 runs complete" err
ok "Ctrl-C"
plan
