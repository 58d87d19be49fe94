#!/usr/bin/env bash
# cli.sh -- the command line of a simulator of cube8, from outside. Prints TAP.
#
# B names the build, SIM the simulator in it. Needs awk, sed and jq.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
header='issue_ns,op,src,dst,offset,nbytes'

# -- what a test is made of ---------------------------------------------------------------------

# rows ROW...: a replay file in in.csv.
rows()
{
    echo "$header" >in.csv
    for row in "$@"; do
        echo "$row"
    done >>in.csv
}

is_json()
{
    jq . "$1" >/dev/null
}

# Every line of a file by itself.
are_json()
{
    while read -r line; do
        printf '%s\n' "$line" >line.json
        is_json line.json || return 1
    done <"$1"
}

# -- help and usage -----------------------------------------------------------------------------

run --help
missing=0
for word in info probe route replay --format --output --max-events; do
    grep -qF -- "$word" out || missing=1
done
[ $code -eq 0 ] && [ ! -s err ] && [ $missing -eq 0 ]
ok "--help lists commands and options"
for command in info probe route replay; do
    run $command --help
    [ $code -eq 0 ] && [ ! -s err ] && grep -q "^Usage: cube8 $command" out
    ok "$command --help"
done
run --help replay
cp out before && run replay -h && cmp -s before out
ok "--help may stand before the command; -h is the same"
run --version
[ $code -eq 0 ] && grep -q '^cube8 (kernbench [0-9]' out
ok "--version"

refused "no command" 2 "no command"
refused "an unknown command suggests the nearest" 2 "did you mean 'probe'?" prob
refused "an unknown command without a near one lists all" 2 "info, probe, route, replay" xyzzy
refused "an unknown option suggests the nearest" 2 "did you mean '--format'?" probe --fromat csv
refused "an unknown letter" 2 "unknown option '-x'" probe -x
refused "an unknown format suggests the nearest" 2 "did you mean 'jsonl'?" probe --format josnl
refused "an unknown format lists all" 2 "table, csv, json, jsonl, ndjson, md" probe --format yaml
refused "an unknown engine suggests the nearest" 2 "did you mean 'fused'?" probe --engine fuse
refused "an option of other commands" 2 "it is an option of probe, replay" route c0.pe0 c0.sram --engine hop
refused "an unknown case suggests the nearest" 2 "did you mean 'pe-sram'?" probe --case pe-srma
refused "a case this topology lacks" 2 "no place for case 'pe-cross-sip'" probe --case pe-cross-sip
refused "an option of another command" 2 "info takes no --case" info --case h2d
refused "whatever its value is" 2 "replay takes no --by, it is an option of run, why" replay rows.csv --by place
refused "an option without its argument" 2 "--format needs an argument" probe --format
refused "an argument for an option that takes none" 2 "--quiet takes no argument" probe --quiet=1
refused "more bytes than the memory holds" 2 "more than c0.slice0 holds" route c0.pe0 c0.slice0 --bytes 7G
refused "more bytes than a TCM holds" 2 "more than c0.pe3.tcm holds" route c0.pe1 c0.pe3.tcm --bytes 17M
refused "too few operands" 2 "route needs SRC DST" route host
refused "too many operands" 2 "'c' is one operand too many" route a b c
for bytes in 0 -1 1.5K 4k 18446744073709551616 ''; do
    refused "--bytes '$bytes'" 2 "is not a size above 0" probe --bytes "$bytes"
done
for until in 0 -1 1e3 0.0000001 9000000000001; do
    refused "--until $until" 2 "is not a time in ns" replay x --until $until
done
refused "--max-events 0" 2 "is not a number above 0" replay x --max-events 0
refused "an unknown endpoint suggests the nearest" 2 "did you mean 'c0.slice4'?" \
    route c0.pe0 c0.sclice4
refused "an endpoint out of range says the range" 2 "c0.slice9: a cube has slices 0..7" \
    route c0.pe0 c0.slice9
refused "a route that does not exist" 2 "TCM" route c0.pe0 c0.pe0.tcm
refused "a transaction larger than its memory" 2 "" probe --case pe-sram --bytes 33M

# -- the help of single commands ----------------------------------------------------------------

# helps COMMAND TEXT: --help of the command has a line of an option that begins so
helps()
{
    run "$1" --help
    grep -q "^  [ -].[ ,] $2\$" out
    ok "$1 --help: $2"
}

helps probe "--format F        print as table, csv, json, jsonl, ndjson or md (default table)"
helps load "--format F        print as table, csv, json, jsonl, ndjson or md (default csv)"
helps load "--op OP           read (default) or write"
helps load "--bytes N         bytes per transaction (default 4096; K, M, G)"
helps load "--seed N          seed of the first simulation (default 0)"
helps load "--jobs N          threads (default: one per processor)"
helps sweep "--op LIST         read, write, h2d, d2h (default read, for hosts h2d)"
helps sweep "--bytes LIST      bytes per transaction, such as 64:1M:x4 (default 4096; K, M, G)"
helps run "--seed N          seed of the inputs (default 0)"
helps run "--jobs N          threads of Phase 2 (default: one per processor)"
helps replay "--max-events N    stop after N events; print what is complete"
helps diff "--columns LIST    compare only these columns"
others=0
for command in info probe route replay sweep load list run diff; do
    run $command --help
    sed '1,/^Options/d' out | grep -E "sweep: |run: |view: |the help of a command| \((probe|sweep|load|run|diff)" && others=1
done
[ $others -eq 0 ]
ok "the help of a command has nothing of others"
run --help
grep -q -- "--bytes N .*; sweep: a list (probe, route, sweep, load, why)$" out
ok "--help says which commands take an option"
refused "of unknown options the nearest of the command" 2 \
    "unknown option '--rates': it is one of --format, --output, --machine, --set, --vary, --shard, --resume, --sqlite, --origin, --engine, --quiet, --limit-s, --limit-mb, --case, --bytes, --dry-run, --jobs, --columns, --fail-if, --help, --version" probe --rates
refused "which has it" 2 "unknown option '--rates', did you mean '--rate'?" load --rates
refused "the command may come later" 2 "unknown option '--rates': it is one of --format" --rates probe
refused "or not at all" 2 "unknown option '--rates', did you mean '--rate'?" --rates
refused "an option that is cut off" 2 "unknown option '--maxeventsss', did you mean '--max-events'?" replay x --maxeventsss
refused "a name that is not typed in full" 2 "unknown option '--phase', did you mean '--phase2'?" run gemm --phase on
refused "with its argument behind =" 2 "unknown option '--forma', did you mean '--format'?" probe --forma=csv
refused "without an argument" 2 "unknown option '--quie', did you mean '--quiet'?" probe --quie
refused "where its argument is missing" 2 "unknown option '--outpu', did you mean '--output'?" probe --outpu

# -- tables -------------------------------------------------------------------------------------

for words in "probe" "replay $root/benches/one_slice.csv --format table" "list" "run gemm M=64" "run gemm M=64 --breakdown" \
    "load --pattern uniform --rate 0.1 --txns 1000 --format table --quiet" "why gemm M=64" "info" \
    "sweep --src c0.pe* --dst c1.slice* --format table"; do
    # shellcheck disable=SC2086
    run $words
    [ $code -eq 0 ] && [ "$(sed '/^not shown/,$d; /^warning: /d; /^links are ideal/d' out | awk '{ print length }' | sort -n | tail -1)" -le 120 ] &&
        ! grep -q ' $' out
    ok "a table fits 120 columns: $words"
done
run probe --columns all
equal "--columns all: as CSV has them" "$("$SIM" probe --format csv | head -1)" "$(head -1 out | xargs | tr ' ' ,)"
run probe
equal "what is not shown is named" "$("$SIM" probe --format csv | head -1 | tr , '\n' | sort | xargs)" \
    "$( (head -1 out | xargs -n1; tail -1 out | sed 's/not shown: //; s/ (.*//; s/,//g' | xargs -n1) | sort | xargs)"
run sweep --src c0.pe0 --dst c0.slice0 --columns mean_ns,src,waits
equal "--columns: names and groups, in the order of the table, and a table" \
    "src mean_ns queue_channel_ns queue_engine_ns queue_link_ns queue_memory_ns" "$(head -1 out | xargs)"
refused "a column that does not exist" 2 "unknown column 'mean', did you mean 'mean_ns'?" sweep --src c0.pe0 --dst c0.slice0 --columns mean
refused "one like no other" 2 "unknown column 'zzz': it is one of all, keys, times, steps, parts, waits, work, rates, busiest, checks" \
    probe --columns zzz
refused "formats for programs have all columns" 2 "--columns is of --format table, csv has all columns" \
    probe --columns src --format csv
refused "so have reports" 2 "a report has all columns, it takes no --columns" report probe --columns src -o p.html
# Rows of --stats have all columns, in every format.
grep -rhoE --exclude=utilization_rows.c --exclude='report_*.c' 'COLUMN(_IF|_WORD)?\("[a-z_0-9]+"' "$root/runtime/cli" |
    grep -oE '"[a-z_0-9]+"' | sort -u |
    grep -vxF -e '"row"' -e '"where"' -e '"column"' -e '"a"' -e '"b"' -e '"delta"' -e '"change_pct"' \
        -e '"queue_"' >named
nothing "$(grep -vF -f <(grep -oE '"[a-z_0-9]+"' "$root/runtime/cli/out/columns.def") named)"
ok "--columns knows the columns of all tables"

# -- golden numbers -----------------------------------------------------------------------------

# golden_route SRC DST WHAT VALUE SOURCE: sums of a route's columns, or its bottleneck.
golden_route()
{
    run route "$1" "$2" --format csv
    awk -F, -v want="$4" -v what="$3" '
        NR > 1 { wire += $3; overhead += $4; if ($7 == 1) bottleneck = $6 }
        END {
            got = what == "wire" ? wire : what == "overhead" ? overhead : bottleneck
            exit !(got - want < 1e-9 && want - got < 1e-9)
        }' out
    ok "$5: $1 -> $2 $3 $4"
}

golden_route c0.pe0 c0.slice0 wire 0.085 "docs/model.md Routes"
golden_route c0.pe0 c0.slice0 overhead 2 "docs/model.md Routes"
golden_route c0.pe0 c0.slice4 wire 0.145 "docs/model.md Routes"
golden_route c0.pe0 c0.slice4 overhead 5 "docs/model.md Routes"
golden_route c0.pe0 c0.slice4 bottleneck 128 "docs/model.md Routes"
golden_route host c0.slice0 overhead 23 "docs/model.md Routes"

run route c0.pe0 c0.slice4 --format csv
equal "columns of route" \
    hop,node,wire_ns,overhead_ns,cumulative_ns,edge_gbs,bottleneck "$(head -1 out)"
equal "hops count from 0, the first has no edge" \
    "0,sip0.cube0.pe0.pe_dma,0.000000,0.000000,0.000000,,0" "$(sed -n 2p out)"
equal "the last head leaves after wire and overhead" 5.145000 "$(field cumulative_ns 5)"
equal "one bottleneck, the first narrowest edge" 1 "$(field bottleneck 3)"
run route c0.pe0 c0.slice4
grep -q 'formula 37.145000 ns' out
ok "docs/model.md: pe0 -> slice4 below the table of route"
run route c0.pe0 c0.slice0 --bytes 8K
grep -q 'drain 32.000000' out
ok "route --bytes"
run route c0.pe0 c1.pe0.tcm --format csv
[ $code -eq 0 ] && tail -1 out | grep -q 'sip0.cube1.pe0.pe_tcm.*,512.000000,0'
ok "docs/model.md: into a TCM the last edge has write_gbs"

rows 0,read,c0.pe0,c0.slice0,0,4096
run replay in.csv
equal "columns of replay" id,op,src,dst,nbytes,issue_ns,start_ns,arrive_ns,service_ns,\
done_ns,end_ns,wire_ns,overhead_ns,drain_ns,response_ns,queue_channel_ns,queue_engine_ns,\
queue_link_ns,queue_memory_ns,formula_ns,actual_ns "$(head -1 out)"
equal "docs/model.md: pe0 -> slice0" 18.085000 "$(field actual_ns 1)"
rows 0,read,c0.pe0,c0.slice4,0,4096
run replay in.csv
equal "docs/model.md: pe0 -> slice4" 37.145000 "$(field actual_ns 1)"
rows 0,read,c0.pe1,c0.slice0,0,4096
run replay in.csv
equal "docs/model.md: pe1 -> slice0 alone" 36.095000 "$(field actual_ns 1)"
rows 0,read,c0.pe0,c0.slice0,0,4096 0,read,c0.pe1,c0.slice0,0,4096
run replay in.csv
equal "docs/model.md: pe1 -> slice0 behind pe0" 50.085000 "$(field actual_ns 2)"
equal "docs/model.md: it waits from its arrival" 4.095000 "$(field arrive_ns 2)"
equal "docs/model.md: until pe0's drain has ended" 18.085000 "$(field service_ns 2)"
rows 0,read,c0.pe0,c0.slice0,0,4K 5,write,c0.pe0,c0.slice0,0,64
run replay in.csv
equal "docs/model.md: 64 B, 5 ns into a 4 KB drain, wait 11" 11.000000 "$(field queue_memory_ns 2)"
equal "docs/model.md: and drain 0.25" 0.250000 "$(field drain_ns 2)"

# Cases, targets and times of probe: docs/formats.md "probe", docs/model.md "Stations and queues".
run probe --format csv
equal "columns of probe" case,src,dst,nbytes,actual_ns,overhead_ns,drain_ns,wire_ns,\
response_ns,queue_ns,overhead_pct,drain_pct,eff_bw_gbs,bottleneck_gbs,util_pct "$(head -1 out)"
cut -d, -f1-5 out | sed -n 2,9p >found
cat >expected <<'END'
pe-local-hbm,c0.pe0,c0.slice0,4096,18.085000
pe-same-half-hbm,c0.pe0,c0.slice1,4096,36.095000
pe-cross-half-hbm,c0.pe0,c0.slice4,4096,37.145000
pe-cross-cube-best,c0.pe0,c4.slice1,4096,36.240000
pe-cross-cube-worst,c0.pe0,c7.slice4,4096,42.897500
pe-sram,c0.pe0,c0.sram,4096,32.103750
h2d,host,c0.slice0,4096,56.562500
d2h,host,c0.slice0,4096,56.562500
END
diff expected found | sed 's/^/# /'
cmp -s expected found
ok "the cases of probe"
equal "response of h2d" 1.281250 "$(field response_ns 7)"
equal "util is eff_bw over bottleneck, in per cent" 88.471109 "$(field util_pct 1)"
equal "eff_bw is nbytes over actual" 226.486038 "$(field eff_bw_gbs 1)"
equal "saturation doubles from 4K to 1M" \
    "4096 8192 16384 32768 65536 131072 262144 524288 1048576" \
    "$(sed -n 's/^saturation,c0.pe0,c0.slice0,\([0-9]*\),.*/\1/p' out | tr '\n' ' ' | sed 's/ $//')"
cp out before
run probe --format csv --engine hop
cmp -s before out
ok "probe is the same with --engine hop"
run probe --case h2d --format csv
equal "--case prints one row and no saturation" 2 "$(wc -l <out | tr -d ' ')"
run probe --bytes 64M --format csv
[ $code -eq 0 ] && says "pe-sram left out" && ! grep -q pe-sram out && grep -q '^d2h' out
ok "a case that does not fit --bytes is left out, and that is said"

run info --format csv
equal "nodes of cube8" nodes,651 "$(grep '^nodes,' out)"
equal "edges of cube8" edges,1180 "$(grep '^edges,' out)"
run info --config
[ $code -eq 0 ] && head -1 out | grep -q '^kernbench: 1' && ! grep -q '^name,' out
ok "info --config prints the YAML alone"

# -- formats ------------------------------------------------------------------------------------

rows 0,read,c0.pe0,c0.slice0,0,4096 1.5,h2d,host,c0.slice0,0,4096
for command in info probe "route c0.pe0 c0.slice4" "replay in.csv"; do
    for format in json jsonl; do
        run $command --format $format
        if [ $format = json ]; then is_json out; else are_json out; fi
        [ $? -eq 0 ] && [ $code -eq 0 ] &&
            head -c 100 out | grep -qF '{"schema":"kernbench.'"${command%% *}"'/1","topology":{'
        ok "$command as $format parses"
    done
    for format in table csv md; do
        run $command --format $format
        [ $code -eq 0 ] && [ -s out ] && ! grep -q ' $' out
        ok "$command as $format"
    done
done
run replay in.csv --format json
grep -qF '"id":1,"op":"h2d","src":"host","dst":"c0.slice0","nbytes":4096,"issue_ns":1.500000' out
ok "JSON has the CSV's names, and numbers as numbers"
run route c0.pe0 c0.slice0 --format json
grep -qF '"edge_gbs":null,"bottleneck":0}' out
ok "an edge that is not there is null in JSON"
run replay in.csv --format json --quiet -o x.json --engine hop
grep -qF '"command":"cube8 replay in.csv --format json --engine hop"' x.json
ok "the embedded command line leaves out -o and --quiet"
cp in.csv "it's a	\"file\".csv"
run replay "it's a	\"file\".csv" --format json
is_json out 2>/dev/null
ok "a file name with quotes and a tab leaves JSON valid"
run route c0.pe0 c0.slice0 --format md
equal "md: numbers to the right" "| ---: | --- | ---: | ---: | ---: | ---: | ---: |" \
    "$(sed -n 2p out)"
run replay in.csv --format table
grep -q ' 18.09 ' out || grep -q ' 18.09$' out
ok "tables round ns to two decimals"
run --format csv probe --case h2d
cp out before
run probe --case h2d --format=csv
cmp -s before out
ok "options may stand before the command"
run replay --format csv in.csv
cp out before
run replay in.csv
cmp -s before out
ok "csv is the default of replay; options may stand before operands"

# -- input of replay ----------------------------------------------------------------------------

for bad in "$root"/tests/bad/*.csv; do
    name=$(basename "$bad" .csv)
    cp "$bad" .
    run replay "$name.csv"
    [ $code -eq 3 ] && [ ! -s out ] && cmp -s err "$root/tests/bad/$name.expect"
    ok "bad/$name.csv"
done
refused "a file that is not there" 3 "cannot read absent.csv: No such file" replay absent.csv
refused "a folder" 3 "cannot read .: Is a directory" replay .

rows 0,read,c0.pe0,c0.slice0,0,4096 1,read,c0.pe1,c0.slice0,0,4096
run replay in.csv
cp out before
sed 's/$/\r/' in.csv >crlf.csv
run replay crlf.csv
[ $code -eq 0 ] && cmp -s before out
ok "CRLF"
sed 's/$/\n/' in.csv >blank.csv
run replay blank.csv
[ $code -eq 0 ] && cmp -s before out
ok "blank lines take no id"
printf %s "$(cat in.csv)" >open.csv
run replay open.csv
[ $code -eq 0 ] && cmp -s before out
ok "the last line need not end"
"$SIM" replay - <in.csv >out 2>err && cmp -s before out
ok "'-' is standard input"
{ printf '%s\n0,re' "$header"; sleep 1; printf 'ad,c0.pe0,c0.slice0,0,4096\n1,read,c0.pe1,c0.slice0,0,4K\n'; } |
    "$SIM" replay - >out 2>err && cmp -s before out
ok "a line that comes in two parts"
printf '%s\nx\n' "$header" | "$SIM" replay - >out 2>err
[ $? -eq 3 ] && says "<stdin>:2:2: "
ok "standard input is named <stdin>"
"$SIM" replay - <&- >out 2>err
[ $? -eq 5 ]
ok "a closed standard input"
echo "$header" >in.csv
run replay in.csv
[ $code -eq 0 ] && [ "$(wc -l <out | tr -d ' ')" -eq 1 ] && [ ! -s err ]
ok "a header alone prints the header"
run replay in.csv --format json
[ $code -eq 0 ] && tail -1 out | grep -q '^]}$'
ok "a header alone as json has no rows"
run replay in.csv --format jsonl
[ $code -eq 0 ] && [ "$(wc -l <out | tr -d ' ')" -eq 1 ]
ok "a header alone as jsonl has one line"
{ echo "$header"; head -c 65537 /dev/zero | tr '\0' 0; echo; echo 0,raed,c0.pe0,c0.slice0,0,1; } >in.csv
run replay in.csv
[ $code -eq 3 ] && says "in.csv:2:1: the line is longer than 65536 bytes" && says "in.csv:3:3: "
ok "a line over 64 KiB, and what follows it"
{ echo "$header,after"; head -c 65537 /dev/zero | tr '\0' 0; echo; echo 0,read,c0.pe0,c0.slice0,0,1,0; } >in.csv
run replay in.csv
[ $code -eq 3 ] && [ "$(wc -l <err)" -eq 1 ]
ok "it counts as a row, which later ones may wait for"
{ echo "$header"; head -c 2000000 /dev/zero | tr '\0' 0; } >in.csv
run replay in.csv
[ $code -eq 3 ] && says "in.csv:2:1: the line is longer"
ok "a line that never ends"
{ echo "$header"; head -c 65500 /dev/zero | tr '\0' 0; echo ',read,c0.pe0,c0.slice0,0,1'; } >in.csv
run replay in.csv
[ $code -eq 0 ] && [ "$(wc -l <out | tr -d ' ')" -eq 2 ]
ok "a line just below 64 KiB"
rows 9000000000000,read,c0.pe0,c0.slice0,0,4096 9e12,read,c0.pe0,c0.slice0,0,1
run replay in.csv
[ $code -eq 3 ] && says "in.csv:3:1: issue_ns '9e12'"
ok "the latest time is 9e12, but not written so"
rows 9000000000000,read,c0.pe0,c0.slice0,5G,64
run replay in.csv
equal "the latest time is exact" 9000000000002.335000 "$(field end_ns 1)"

# 9000 drains of 25 ms after 9e12 ns pass 2^63 fs: exit 3.
awk -v header="$header" 'BEGIN {
    print header
    for (i = 0; i < 9000; i++)
        print "9000000000000,read,c0.pe0,c0.slice0,0,6G"
}' >in.csv
refused "simulated time past 2^63 fs" 3 "2^63" replay in.csv
refused "and no file" 3 "2^63" replay in.csv -o late.csv
[ ! -e late.csv ]
ok "is left of it"

# -- rows that wait, and addresses --------------------------------------------------------------

# waiting ROW...: a replay file with the columns after and think_ns in in.csv.
waiting()
{
    rows "$@"
    sed -i "1s/\$/,after,think_ns/" in.csv
}

# docs/model.md: 18.085 alone, and 56.5625 with the response
waiting 0,read,c0.pe0,c0.slice0,0,4K,, 0,d2h,host,c0.slice0,0,4K,,0 \
    '5,read,c0.pe0,c0.slice0,0,4K,1|0|1,2.5' 0,write,c0.pe1,c0.slice1,0,4K,0,
run replay in.csv
equal "issue after the last end, and think_ns" 59.062500 "$(field issue_ns 3)"
equal "the end of a row that waited" 77.147500 "$(field end_ns 3)"
equal "no think_ns is none" 18.085000 "$(field issue_ns 4)"
run replay in.csv --fingerprint
cp out before && cp err before.err
run replay in.csv --fingerprint --engine hop
cmp -s out before && cmp -s err before.err
ok "rows that wait: --engine hop"
sed 's/\([^,]*\),\([^,]*\)$/\2,\1/' in.csv >turned.csv
run replay turned.csv --fingerprint
head -1 turned.csv | grep -q 'nbytes,think_ns,after$' && cmp -s out before && cmp -s err before.err
ok "after and think_ns in the other order"
run replay in.csv --until 60
[ $code -eq 0 ] && says "stopped at 60.000000 ns: 3 of 4 transactions complete" && ! grep -q ^2, out
ok "rows that wait: --until"
rows 0,read,c0.pe0,0x1000000000,,4K 0,write,c1.pe0,0x4302a0BCDE,,64 100,h2d,host,0x1c000000000,,64
run replay in.csv
equal "addresses are printed as endpoints" "c0.sram c1.slice2 c7.slice0" \
    "$(field dst 1) $(field dst 2) $(field dst 3)"
judge=$(dirname "$SIM")/../_t/judge
if [ -x "$judge" ]; then
    run replay in.csv --fingerprint
    "$judge" replay "$root/tests/machines/cube8.yaml" in.csv >judged 2>judged.err
    cmp -s out judged && cmp -s err judged.err
    ok "addresses: as the judge has them"
    cp "$root/tests/fuzz/after.csv" in.csv
    run replay in.csv --fingerprint
    "$judge" replay "$root/tests/machines/cube8.yaml" in.csv >judged 2>judged.err
    cmp -s out judged && cmp -s err judged.err
    ok "rows that wait: as the judge has them"
else
    skip "as the judge has them" "$judge is not built"
fi
{
    echo "$header,after"
    echo 0,read,c0.pe0,c0.slice0,0,64,
    awk 'BEGIN { printf "0,read,c0.pe0,c0.slice0,0,64,0"; for (i = 0; i < 32000; i++) printf "|0"; print "" }'
} >in.csv
run replay in.csv
equal "thousands of ids in a line" 2.335000 "$(field issue_ns 2)"
awk -v header="$header,after" 'BEGIN {
    print header
    for (i = 0; i < 200000; i++)
        print "0,read,c0.pe0,c0.slice0,0,64," i + 1
}' >in.csv
refused "a row that waits for the first that is not there" 3 \
    "in.csv:200001:30: after '200000' is the id of no row: the last one's is 199999" replay in.csv
echo 0,read,c0.pe0,c0.slice0,0,64,0 >>in.csv
refused "a long cycle" 3 "in.csv:2:30: transactions wait for each other: 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> ... -> 200000 -> 0, 200001 of them" \
    replay in.csv
{ echo "$header,after"; awk 'BEGIN { for (i = 0; i < 30; i++) print "0,read,c0.pe0,c0.slice0,0,64,99" }'; } >in.csv
run replay in.csv
[ $code -eq 3 ] && [ "$(wc -l <err | tr -d ' ')" -eq 21 ] && says "more bad rows follow"
ok "ids of no row: twenty messages at most"

# -- what ends a run early ----------------------------------------------------------------------

rows 0,read,c0.pe0,c0.slice0,0,4096 100,read,c0.pe0,c0.slice0,0,4096
run replay in.csv --until 50
[ $code -eq 0 ] && says "stopped at 50.000000 ns: 1 of 2 transactions complete" &&
    [ "$(wc -l <out | tr -d ' ')" -eq 2 ]
ok "--until prints what is complete"
run replay in.csv --until 200
[ $code -eq 0 ] && ! says stopped && [ "$(wc -l <out | tr -d ' ')" -eq 3 ]
ok "--until after the end"
run replay in.csv --max-events 3
[ $code -eq 0 ] && says "stopped at 3 events: " && [ "$(wc -l <out | tr -d ' ')" -le 2 ]
ok "--max-events prints what is complete"

for engine in fused hop; do
    for vector in local mixed remote; do
        base=$root/tests/vectors/cube8_$vector
        run replay "$base.csv" --engine $engine --fingerprint
        cmp -s out "$base.expected.csv" && cmp -s err "$base.fingerprint"
        ok "vectors/cube8_$vector, $engine"
    done
done
rm -f x.json
run replay "$root/tests/vectors/cube8_local.csv" --fingerprint --format json -o x.json
cmp -s err "$root/tests/vectors/cube8_local.fingerprint" && [ ! -s out ] && [ -s x.json ]
ok "--fingerprint with -o and JSON: nothing else on stderr"

# docs/model.md "Links: fifo and ideal": 8 PEs read over one UCIe link at once; each alone has its full bandwidth.
rows $(for pe in 0 1 2 3 4 5 6 7; do echo "0,read,c0.pe$pe,c1.slice$pe,0,64K"; done)
run replay in.csv
[ $code -eq 0 ] && grep -q '^warning: links are ideal, but [0-9]* of them' err &&
    [ "$(wc -l <err | tr -d ' ')" -eq 1 ]
ok "links that are too few are warned of, once"
run replay in.csv --quiet
[ $code -eq 0 ] && [ ! -s err ]
ok "--quiet: no warning"

many 1000000
mv many.csv million.csv
for seconds in 1 0.6 0.4; do # wherever that is in the run
    code=0
    timeout --preserve-status -s INT $seconds "$SIM" replay million.csv --engine hop \
        --quiet -o out.csv 2>err || code=$?
    [ $code -eq 130 ] && break
done
if [ $code -eq 0 ]; then
    skip "Ctrl-C keeps the rows complete so far" "this machine is too fast"
else
    done=$(sed -n 's/^interrupted: \([0-9]*\) of [0-9]* transactions complete$/\1/p' err)
    [ $code -eq 130 ] && [ -n "$done" ] && [ "$(wc -l <out.csv.partial | tr -d ' ')" -eq $((done + 1)) ]
    ok "Ctrl-C keeps the rows complete so far"
fi
while_reading in.csv INT replay -
[ $code -eq 130 ] && says "interrupted: 0 of 8 transactions complete"
ok "Ctrl-C while reading"
while_reading in.csv "INT INT" replay - # timeout(1) and some shells signal a program and its group
[ $code -eq 130 ] && says "interrupted: 0 of 8 transactions complete"
ok "two signals at once are one Ctrl-C"
while_reading in.csv TERM replay - -o killed.csv
[ $code -eq 143 ] && [ ! -e killed.csv ]
ok "SIGTERM ends it, and leaves no file"

# -- output -------------------------------------------------------------------------------------

temporaries()
{
    ls -A | grep -c '^\.kernbench-'
}

cp in.csv ./-in.csv
run replay --quiet --format json -- -in.csv
[ $code -eq 0 ] && grep -qF '"command":"cube8 replay --format json -- -in.csv"' out
ok "operands after -- may begin with a dash"
rm -f x.csv
run replay in.csv --quiet -o x.csv
[ $code -eq 0 ] && [ ! -s out ] && [ -s x.csv ]
ok "-o"
run replay in.csv --quiet
cmp -s out x.csv
ok "-o has what stdout would have had"
chmod 640 x.csv
run replay in.csv --quiet --output x.csv
[ "$(ls -l x.csv | cut -c1-10)" = -rw-r----- ]
ok "a file that is replaced keeps its permissions"
ln -s x.csv link.csv
run replay in.csv --quiet -o link.csv
[ -L link.csv ] && cmp -s x.csv link.csv
ok "a link is followed, not replaced"
echo untouched >x.csv
run replay "$root/tests/bad/header.csv" -o x.csv
[ $code -eq 3 ] && [ "$(cat x.csv)" = untouched ]
ok "a failure leaves the old file as it was"
refused "-o in a folder that is not there" 5 "cannot write absent/x.csv: No such file" \
    probe -o absent/x.csv
refused "-o onto a folder" 5 "cannot write .: Is a directory" probe -o .
many 20000
echo untouched >x.csv
code=0
(ulimit -f 64 && exec "$SIM" replay many.csv --quiet -o x.csv) >out 2>err || code=$?
[ $code -eq 5 ] && says "cannot write x.csv: File too large" && [ "$(cat x.csv)" = untouched ]
ok "a file that cannot be written whole is not written at all"
if [ -c /dev/full ]; then
    refused "-o onto a full device" 5 "cannot write /dev/full: No space left" probe -o /dev/full
    [ -c /dev/full ]
    ok "a device is not replaced"
    for command in --help info probe "replay many.csv --quiet"; do
        "$SIM" $command >/dev/full 2>err
        [ $? -eq 5 ] && says "cannot write standard output: No space left"
        ok "$command into a full device"
    done
else
    skip "full devices" "no /dev/full"
fi
"$SIM" probe >&- 2>err
[ $? -eq 5 ] && says "cannot write standard output"
ok "a closed standard output"
{ "$SIM" replay many.csv --quiet 2>err; echo $? >status; } | head -1 >out
[ "$(cat status)" -eq 0 ] && [ ! -s err ] && [ "$(wc -l <out | tr -d ' ')" -eq 1 ]
ok "a closed pipe ends quietly"
if { (ulimit -v 60000 && "$SIM" --version) >/dev/null; } 2>/dev/null; then
    code=0
    (ulimit -v 60000 && exec "$SIM" replay million.csv --quiet -o x.csv) >out 2>err || code=$?
    [ $code -eq 5 ] && says "out of memory" && [ "$(cat x.csv)" = untouched ]
    ok "out of memory"
else
    skip "out of memory" "address space cannot be limited here"
fi
equal "no temporary file is left behind" 0 "$(temporaries)"

plan
