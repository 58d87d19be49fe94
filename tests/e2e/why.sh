#!/usr/bin/env bash
# why.sh -- --breakdown of replay, load and run, from outside. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it, SIM_FIFO the one with fifo links. Needs awk
# and jq.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
SIM_FIFO=${SIM_FIFO:-$M/cube8_fifo/cube8_fifo}
case $SIM_FIFO in /*) ;; *) SIM_FIFO=$root/$SIM_FIFO ;; esac
header=issue_ns,op,src,dst,offset,nbytes
columns=by,of,cause,place,behind,count,total_ns,pct,begin_ns,end_ns

# row BY OF CAUSE: place, behind, count, total and pct of that row of the CSV in out
row()
{
    awk -F, -v by="$1" -v of="$2" -v cause="$3" \
        '$1 == by && $2 == of && $3 == cause { print $4 "|" $5 "|" $6 "|" $7 "|" $8 }' out
}

# fs FILE COLUMN [BY [OF]]: the sum of a column of times, in fs, which are exact
fs()
{
    awk -F, -v name="$2" -v by="${3-}" -v of="${4-}" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
        (by == "" || $1 == by) && (of == "" || $2 == of) { gsub(/\./, "", $column); sum += $column }
        END { printf "%.0f\n", sum }' "$1"
}

# -- by hand ------------------------------------------------------------------------------------

# docs/model.md "Worked: two reads of one slice": PE 1 comes at 4.095 and waits until 18.085.
printf '%s\n' $header 0,read,c0.pe0,c0.slice0,0,4K 0,read,c0.pe1,c0.slice0,0,4K >two.csv
run replay two.csv --breakdown --format csv --quiet
equal "columns" $columns "$(head -1 out)"
[ $code -eq 0 ] && [ ! -s err ]
ok "it says nothing else"
equal "13.990 ns of waiting in all of 68.17" "||1|13.990000|20.522224" "$(row all '' memory_wait)"
equal "at that slice" "c0.slice0||1|13.990000|22.568156" "$(row place c0.slice0 memory_wait)"
equal "behind PE 0" "c0.slice0|c0.pe0|1|13.990000|100.000000" "$(row wait c0.slice0 memory_wait)"
equal "of PE 1" "c0.slice0||1|13.990000|27.932515" "$(row source c0.pe1 memory_wait)"
equal "none of PE 0, which drains for 16 of 18.085 ns" "c0.slice0||1|16.000000|88.471109" \
    "$(row source c0.pe0 drain)"
equal "the slice drains 48 ns" "c0.slice0||2|48.000000|70.412205" "$(row target c0.slice0 drain)"
equal "reads" "||1|13.990000|20.522224" "$(row op read memory_wait)"

# docs/model.md "Worked: one channel": the second read of PE 0 waits for 18.085 ns.
printf '%s\n' $header 0,read,c0.pe0,c0.slice0,0,4K 0,read,c0.pe0,c0.slice1,0,4K >channel.csv
run replay channel.csv --breakdown --format csv
equal "a channel" "sip0.cube0.pe0.pe_dma.read||1|18.085000|25.025946" \
    "$(row source c0.pe0 channel_wait)"
equal "behind itself" "sip0.cube0.pe0.pe_dma.read|c0.pe0|1|18.085000|100.000000" \
    "$(row wait sip0.cube0.pe0.pe_dma.read channel_wait)"

# docs/model.md "Worked: a host, its engine and its response", with ideal links: 34.11125 ns for the engine.
printf '%s\n' $header 0,h2d,host,c0.slice0,0,4K 0,h2d,host,c0.slice1,0,4K >host.csv
run replay host.csv --breakdown --format csv
equal "an engine" "sip0.cube0.m_cpu.write|host|1|34.111250|100.000000" \
    "$(row wait sip0.cube0.m_cpu.write engine_wait)"
equal "two responses, 1.28125 and 1.24375" "||2|2.525000|1.715805" "$(row all '' response)"

if [ -x "$SIM_FIFO" ]; then
    # docs/model.md "Worked: one shared link": PE 1 has the edge from 2.06 to 34.06, PE 0 comes at 4.07.
    printf '%s\n' $header 0,write,c0.pe0,c0.slice2,0,4K 0,write,c0.pe1,c0.slice3,0,4K >link.csv
    call "$SIM_FIFO" replay link.csv --breakdown --format csv
    link="sip0.cube0.xbar.pe1 -> sip0.cube0.xbar.pe2"
    equal "a link" "$link||1|29.990000|99.933356" "$(row place "$link" link_wait)"
    equal "behind the transaction that holds it" "$link|c0.pe1|1|29.990000|100.000000" "$(row wait "$link" link_wait)"
    equal "of the transaction that waits" "$link||1|29.990000|44.041413" "$(row source c0.pe0 link_wait)"
    # A third one, from PE 0's side, comes while PE 1 is on the edge and PE 0 in line for it.
    printf '%s\n' 1,write,c0.pe1,c0.slice2,0,4K >>link.csv
    call "$SIM_FIFO" replay link.csv
    cp out rows
    call "$SIM_FIFO" replay link.csv --breakdown --format csv
    equal "all time, with links that queue" "$(fs rows actual_ns)" "$(fs out total_ns all)"
else
    skip "links that queue" "no $SIM_FIFO"
fi

# -- sums ---------------------------------------------------------------------------------------

# sums NAME SIMULATOR FILE: by all, source, target, op and place it is the time of the rows
sums()
{
    call "$2" replay "$3" --quiet
    cp out rows
    call "$2" replay "$3" --breakdown --quiet --format csv
    for by in all source target op place; do
        equal "$1: by $by it is the time of all rows" "$(fs rows actual_ns)" "$(fs out total_ns $by)"
    done
    equal "$1: waits are those behind others" "$(awk -F, 'NR == 1 || $1 == "all" && $3 ~ /_wait/' out >some
        fs some total_ns)" "$(fs out total_ns wait)"
    for cause in channel link engine memory; do
        equal "$1: ${cause}_wait" "$(fs rows queue_${cause}_ns)" \
            "$(awk -F, -v c=${cause}_wait 'NR == 1 || $1 == "all" && $3 == c' out >some &&
                fs some total_ns)"
    done
    awk -F, 'NR > 1 && $1 == "source" { sub(/\./, "", $7); print $2 "," $7 }' out >got
    awk -F, 'NR > 1 { sub(/\./, "", $21); print $3 "," $21 }' rows >want
    for file in got want; do
        awk -F, '{ s[$1] += $2 } END { for (i in s) printf "%s %.0f\n", i, s[i] }' $file |
            sort >$file.sorted
    done
    same want.sorted got.sorted
    ok "$1: of each source"
}

many 3000
sums "mixed" "$SIM" many.csv
[ ! -x "$SIM_FIFO" ] || sums "mixed, fifo" "$SIM_FIFO" many.csv
run replay many.csv --quiet --engine hop
cp out rows
run replay many.csv --quiet
same rows out
ok "what is not asked for does not change"
run replay many.csv --breakdown --until 500 --format csv
[ $code -eq 0 ] && says "stopped at 500.000000 ns" && [ "$(fs out total_ns all)" -gt 0 ]
ok "a run that ends early"
equal "what has ended of it, alike by all and by source" "$(fs out total_ns all)" \
    "$(fs out total_ns source)"

# pct is of all that the row is of, each adds up to 100.
run replay many.csv --breakdown --quiet --format csv
awk -F, 'NR > 1 { s[$1 "," $2] += $8 } END { for (i in s) if (s[i] < 99.999 || s[i] > 100.001) exit 1 }' out
ok "percents add up"
awk -F, 'NR > 1 {
    sub(/\./, "", $7)
    if ($1 == by && $2 == of && $7 + 0 > last + 0) exit 1
    by = $1; of = $2; last = $7 }' out
ok "the largest first"

# -- load ---------------------------------------------------------------------------------------

run load --pattern uniform --rate 0.3 --txns 5000 --breakdown --format csv --quiet
for by in source target op place; do
    equal "load: by $by as in all" "$(fs out total_ns all)" "$(fs out total_ns $by)"
done
cp out first
run load --pattern uniform --rate 0.3 --txns 5000 --breakdown --format csv --quiet -j 1 --engine hop
same first out
ok "load: the same again"
run load --pattern uniform --rate 0.3 --txns 5000 --breakdown --format csv --quiet --seed 1
! cmp -s first out
ok "load: other traffic of another seed"
# One PE of each channel alone, at equal intervals: none waits, each takes 18.085 ns.
run load --pattern local --rate 0.1 --txns 640 --arrivals fixed --breakdown --format csv
count=$(row all '' drain | cut -d'|' -f3)
equal "load: no waits" "" "$(grep -c _wait out | grep -v '^0$')"
equal "load: 18.085 ns each" "$((count * 18085000))" "$(fs out total_ns all)"

# -- run ----------------------------------------------------------------------------------------

# chain FILE: every step begins where the one before has ended; prints first begin and last end.
chain()
{
    awk -F, '$1 == "step" {
        gsub(/\./, "", $9); gsub(/\./, "", $10)
        if (n++ && $9 + 0 != end + 0) bad = 1
        if (n == 1) first = $9
        end = $10 } END { printf "%.0f %.0f\n", first, end; exit bad }' "$1"
}

for bench in "copy" "gemm" "gemm_composite" "softmax" "mlp" "list_walk"; do
    run run "$bench" --format csv
    start=$(field start_ns 1 | tr -d .)
    length=$(field kernel_ns 1 | tr -d .)
    run run "$bench" --breakdown --format csv --quiet
    equal "$bench: the path goes from start to end, in steps that meet" \
        "$start $((start + length))" "$(chain out)"
    equal "$bench: its causes are all of that" "$length" "$(fs out total_ns path "$(
        awk -F, '$1 == "path" { print $2; exit }' out)")"
    equal "$bench: by PE as in all" "$(fs out total_ns all)" "$(fs out total_ns pe)"
    equal "$bench: by operation as in all" "$(fs out total_ns all)" "$(fs out total_ns op)"
    equal "$bench: by place as in all" "$(fs out total_ns all)" "$(fs out total_ns place)"
    sum=$(fs out total_ns all)
    ! grep -q ^line out
    ok "$bench: lines only where they are asked for"
    run run "$bench" --breakdown --by line --format csv --quiet
    equal "$bench: by line as in all" "$sum" "$(fs out total_ns line)"
    equal "$bench: and nothing else" "by line" "$(cut -d, -f1 out | uniq | paste -sd ' ')"
done

# The last store of each of the 64 pieces that each of 64 PEs carries: 3 ns each; the largest line is first.
at=copy.c:$(grep -n 'tl_store(tl, to.address + offset, piece);' "$root/benches/copy.c" | cut -d: -f1)
run run copy --breakdown --by line --format csv --quiet
equal "copy: a line of 4096 stores" "line|$at|dispatch||4096|12288.000000" \
    "$(awk -F, -v at="$at" '$2 == at && $3 == "dispatch" { print $1 "|" $2 "|" $3 "|" $4 "|" $6 "|" $7 }' out)"
awk -F, 'NR > 1 { if (!($2 in all)) of[++n] = $2; all[$2] += $7 }
    END { for (i = 2; i <= n; i++) if (all[of[i]] > all[of[i - 1]] + 1e-6) exit 1; exit n != 4 }' out
ok "copy: lines by their time"
cp out lines.csv
run run copy --breakdown --by line --format json --quiet
equal "copy: the same in JSON" 12288 \
    "$(jq --arg at "$at" '.rows[] | select(.of == $at and .cause == "dispatch").total_ns' out)"
run run copy --breakdown --by line --top 1 --quiet
equal "copy: a table of the largest" "line $(sed -n 2p lines.csv | cut -d, -f2)" \
    "$(awk 'NR == 2 { print $1, $2 }' out)"
run run copy --breakdown --by line --format csv --quiet --engine hop
same lines.csv out
ok "copy: the same lines by hop"
run run copy --breakdown --by op --format csv --quiet
equal "--by op: that table alone" "by op" "$(cut -d, -f1 out | uniq | paste -sd ' ')"
run run copy --breakdown --by step --format csv --quiet
equal "--by step: the critical path alone" "by step" "$(cut -d, -f1 out | uniq | paste -sd ' ')"
refused "--by of no table" 2 "--by 'kernel' is not all, place, wait, source, target, op, pe, path, step, line or region" \
    run copy --breakdown --by kernel

# Two loads of 64 bytes in region a, 3 + 2.335 ns each, one in b, and one outside of both.
cat >regions.c <<'E'
#include <tl.h>
static void regions(tl_ctx *tl, const kb_args *args)
{
    uint64_t at = kb_tensor_shard(args->tensors[0], tl_pe(tl)).address;
    static const char *const names[] = {"a", NULL, "b", "a"};

    for (int i = 0; i < 4; i++) {
        tl_region(tl, names[i]);
        tl_load(tl, at, KB_F16, KB_SHAPE(32));
    }
}
static void setup(kb_bench_run *run)
{
    static const uint32_t pes[] = {0, 1};

    kb_bench_input(run, "x", KB_F16, KB_SHAPE(64, 32), (kb_placement){KB_REPLICATE, KB_REPLICATE}, 1);
    kb_bench_launch(run, "regions", regions, pes, 2);
}
const kb_bench bench_regions = {.name = "regions", .summary = "named loads", .setup = setup};
KB_BENCHES(&bench_regions);
E
"$SIM" cc regions.c
run run ./regions.so --breakdown --by region --format csv --quiet
equal "by region: each name, and what has none" "a 21.340000, 10.670000,b 10.670000" \
    "$(awk -F, 'NR > 1 { all[$2] += $7 } END { for (of in all) printf "%s %.6f\n", of, all[of] }' out | LC_ALL=C sort | sed 's/^ /@ /' |
        paste -sd , | sed 's/^@ \(.*\),a \([^,]*\),/a \2, \1,/')"
cp out regions.csv
run run ./regions.so --breakdown --by region --format csv --quiet --engine hop
same regions.csv out
ok "by region: the same by hop"
run run ./regions.so --breakdown --format csv --quiet
! grep -q ^region out
ok "regions only where they are asked for"
run run ./regions.so --breakdown --by region --quiet
equal "by region: - in a table" 1 "$(awk '$1 == "region" && $2 == "-" { n = 1 } END { print n + 0 }' out)"
refused "--by without a breakdown" 2 "--by needs --breakdown" run copy --by line

# Two launches, each with a path of its own.
run run attention --format csv
first=$(field kernel_ns 1 | tr -d .) second=$(field kernel_ns 2 | tr -d .)
run run attention --breakdown --format csv --quiet
equal "attention: a path for each launch" "$first $second" \
    "$(fs out total_ns path attention_parts) $(fs out total_ns path attention_merge)"
cp out first
run run attention --breakdown --format csv --quiet --engine hop -j 1
same first out
ok "run: the same again"
run run attention --breakdown --format csv --quiet --verify
[ $code -eq 0 ] && same first out
ok "run: the same with results computed"

# All commands of a run, call to end: those of its op log, with 3 ns of dispatch each.
run run overlap M=256 N=256 K=256 --breakdown --format csv --quiet --oplog log.csv
count=$(row all '' dispatch | cut -d'|' -f3)
equal "every command is dispatched for 3 ns" "$((count * 3000000))" \
    "$(row all '' dispatch | cut -d'|' -f4 | tr -d .)"
equal "commands are those of the op log" "$count" "$(grep -vc -e TileToken -e op_id log.csv)"

# -- formats ------------------------------------------------------------------------------------

run replay two.csv --breakdown
head -1 out | grep -q '^by  *of  *cause ' && grep -q '^pct: share of the time of what column ' out
ok "a table, unless asked otherwise"
[ -n "$(tail -n 1 out)" ]
ok "and its note ends with its text"
run replay many.csv --breakdown --quiet
awk 'NR > 1 && $1 == "source" { n[$2]++ } END { for (i in n) { things++; if (n[i] > 3) exit 1 }
    exit things != 3 }' out
ok "of everything the three largest"
run replay many.csv --breakdown --quiet --top 2 --format csv
equal "--top 2: two sources" 2 "$(awk -F, '$1 == "source" { print $2 }' out | sort -u | wc -l)"
equal "--top 2: two causes of all" 2 "$(grep -c '^all' out)"
run run attention --breakdown --top 2 --quiet
equal "--top 2: eight steps" 8 "$(grep -c ^step out)"
hidden=$(sed -n 's/^only the 2 largest parts: \([0-9]*\) rows and \([0-9]*\) steps .* are not shown; --top N.*/\1 \2/p' out)
equal "and how many rows and steps are hidden" "$(wc -l <first)" \
    "$((${hidden% *} + ${hidden#* } + $(grep -cE '^(by|all|place|wait|target|op|pe|path|step) ' out)))"
run run attention --breakdown --top 5000 --quiet
equal "with as many none is hidden" "$(grep -c ^step first)" "$(grep -c ^step out)"
! grep -q 'are not shown; --top' out
ok "and nothing says so"
run replay two.csv --breakdown --format json
equal "JSON: its schema" kernbench.causes/1 "$(jq -r .schema out)"
equal "JSON: of a read, and behind which it waits" "c0.pe0 13.99 null" "$(jq -r '.rows[] |
    select(.by == "wait" and .cause == "memory_wait") | "\(.behind) \(.total_ns) \(.begin_ns)"' out)"
equal "JSON: keys as columns" $columns "$(jq -r '.rows[0] | keys_unsorted | join(",")' out)"
run replay two.csv --breakdown --format csv
lines=$(($(wc -l <out) - 1))
run replay two.csv --breakdown --format jsonl
equal "JSON lines: as many as of CSV" $lines "$(sed 1d out | jq -c . | wc -l)"
run replay two.csv --breakdown --format md
grep -q '^| by ' out
ok "Markdown"
run replay two.csv --breakdown --format csv -o causes.csv
[ $code -eq 0 ] && [ ! -s out ] && [ "$(head -1 causes.csv)" = $columns ]
ok "into a file"
run diff causes.csv causes.csv
[ $code -eq 0 ]
ok "diff compares causes"

# 10^5 latencies of 0.4 s on average: 4 10^19 fs.
awk 'BEGIN { print "issue_ns,op,src,dst,offset,nbytes"
    for (i = 0; i < 100000; i++) printf "0,read,c%d.pe%d,c0.slice0,0,1M\n", i % 8, int(i / 8) % 8 }' >long.csv
run replay long.csv --quiet
awk -F, 'NR > 1 { s += $21 } END { printf "%.9e\n", s }' out >want
run replay long.csv --breakdown --quiet --format csv
equal "sums beyond 2^63 fs" "$(cat want)" "$(awk -F, '$1 == "all" { s += $7 } END { printf "%.9e", s }' out)"
call timeout --preserve-status -s INT 1 "$SIM" load --pattern uniform --rate 0.2 --txns 40000000 --breakdown --format csv
[ $code -eq 130 ] && [ "$(head -1 out)" = $columns ] && grep -q '^all,,channel_wait' out &&
    says "interrupted: 0 of 1 rates complete"
ok "Ctrl-C: what had ended"
run load --pattern uniform --rate 0.3 --txns 20000 --breakdown
says "no steady state" && says "saturation begins below rate 0.3" && says "links are ideal"
ok "load: what is doubtful is said all the same"

# -- of several runs ------------------------------------------------------------------------------

# One run's rows are those of that run alone, behind what names it.
traffic="load --pattern uniform --op write --txns 400 --quiet"
# shellcheck disable=SC2086
run $traffic --rate 0.1,0.02 --breakdown --format csv --stats both.csv
cp out both
for rate in 0.1 0.02; do
    # shellcheck disable=SC2086
    "$SIM" $traffic --rate $rate --breakdown --format csv --stats one.csv >one
    name=$(printf '%.6f' $rate)
    [ "$(wc -l <one)" -gt 100 ] && same one <(sed -n "1s/^rate,//p;s/^$name,//p" both) &&
        same one.csv <(sed -n "1s/^rate,//p;s/^$name,//p" both.csv)
    ok "load at two rates: causes and statistics at $rate"
done
run why gemm M=32 N=32 K=32 --quiet --format csv --stats use.csv
cp out rows
"$SIM" why gemm M=32 N=32 K=32 --quiet --format csv --breakdown >causes
"$SIM" run gemm M=32 N=32 K=32 --quiet --format csv --stats one.csv >one && "$SIM" run gemm M=32 N=32 K=32 --quiet --format csv --breakdown >one
same one <(sed -n '1s/^removed,//p;s/^none,//p' causes) && same one.csv <(sed -n '1s/^removed,//p;s/^none,//p' use.csv)
ok "why: causes and statistics of the run as it is"
limits=$(cut -d, -f1 rows | sort)
[ "$(cut -d, -f1 causes | sort -u)" = "$limits" ] && [ "$(cut -d, -f1 use.csv | sort -u)" = "$limits" ] &&
    [ "$(awk -F, '$1 == "overhead" && $4 == "overhead"' causes | wc -l)" = 0 ]
ok "why: of each run without a limit, too"
run why gemm N=32 K=32 --quiet --format csv --vary arg.M=32,64
same rows <(sed -n '1s/^arg.M,//p;s/^32,//p' out) && [ "$(grep -c ^64, out)" -gt 5 ]
ok "why --vary: the rows of each"
refused "of keys" 2 "--breakdown is of a run for each limit: why --by key takes none" why gemm --by key --breakdown

# -- what cannot be -----------------------------------------------------------------------------

refused "--top without --breakdown" 2 "--top needs --breakdown, which is not given" replay two.csv --top 3
refused "--top 0" 2 "--top '0' is not a number, 1 to" replay two.csv --breakdown --top 0
refused "--inspect, too" 2 "--breakdown and --inspect both print" run gemm --breakdown --inspect last
refused "several simulations" 2 "--breakdown is of one simulation, --seeds has 2" \
    load --pattern uniform --rate 0.1 --breakdown --seeds 2
refused "of sweep" 2 "sweep takes no --breakdown" sweep --breakdown
refused "a file that is not there" 3 "nowhere.csv" replay nowhere.csv --breakdown
printf '%s\n' $header 0,read,c0.pe0,c0.slice9,0,4K >bad.csv
refused "a bad row" 3 "bad.csv:2:15: c0.slice9: a cube has slices 0..7" replay bad.csv --breakdown
echo $header >none.csv
run replay none.csv --breakdown --format csv
equal "no transactions: the header alone" $columns "$(cat out)"
printf "issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c5.slice0,0,4K\n" >row.csv
run why row.csv --set contention.links=router --stats use.csv --quiet
[ $code -eq 0 ] && grep -q '^none,vc,' use.csv
ok "--stats: rows of buffers"
plan
