#!/usr/bin/env bash
# report.sh -- pages of `report`, as they are written; tests/web/pages.py opens them. Prints TAP.
#
# B names the build, SIM the simulator of cube8 in it. Needs python3 and jq.
. "$(dirname "$0")/../support/tap.sh"
needs_cube8
command -v python3 >/dev/null || none "there is no python3"

# sound NAME ARGUMENT...: a page of this command, and its rows, are as they should be
sound()
{
    local name=$1
    shift
    run report "$@" --quiet -o page.html
    [ $code -eq 0 ] && [ ! -s out ] && [ ! -s err ]
    ok "$name: the page is written, and nothing is printed" || return
    "$SIM" "$@" --quiet --format json -o rows.json
    nothing "$(python3 "$root/tests/web/source.py" page.html rows.json 2>&1)"
    ok "$name: all is closed, nothing comes from elsewhere, the rows are those of JSON"
    run report "$@" --quiet -o again.html
    cmp page.html again.html
    ok "$name: the same bytes again"
}

# -- pages --------------------------------------------------------------------------------------

many 1200
cp "$root/benches/one_slice.csv" .
sound "probe" probe
sound "probe of one case" probe --case h2d --bytes 64
sound "sweep" sweep --src 'host,c0.pe*' --dst 'c0.*' --dst 'c*.slice0' --bytes 64,4K --inflight 1,4
sound "sweep of more rows than are shown" sweep --src 'c[0-1].pe*' --dst 'c*.slice*'
sound "load" load --pattern hotspot:20 --rate 0.1,0.9 --txns 4000 --seeds 2
sound "replay" replay many.csv
sound "replay that ends early" replay many.csv --until 300
sound "run" run gemm M=64 --verify
sound "run of several kernels" run mlp
sound "llm" llm llama-3.2-1b --decode 64 --batch 1,4 --tries 1

equal "as many bytes with any number of threads" \
    "$("$SIM" report sweep --src 'c*.pe0' --dst 'c*.slice*' -j 1 | cksum)" \
    "$("$SIM" report sweep --src 'c*.pe0' --dst 'c*.slice*' -j 3 | cksum)"

run report --quiet probe
[ $code -eq 0 ] && head -1 out | grep -qx '<!doctype html>' && tail -1 out | grep -qx '</html>'
ok "without -o the page goes to stdout"

"$SIM" report probe 2>err | head -1 >/dev/null
[ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s err ]
ok "a reader that closes the pipe early is no error"

printf 'issue_ns,op,src,dst,offset,nbytes\n' >empty.csv
sound "replay of no rows" replay empty.csv

# -- what is on them ----------------------------------------------------------------------------

# shows TEXT...: the page has all of them
shows()
{
    for text in "$@"; do
        grep -qF -- "$text" page.html || { echo "# lacks $text"; return 1; }
    done
}

lacks()
{
    ! grep -qF -- "$1" page.html
}

# data FILTER: what jq finds in the data of the page
data()
{
    page_data page.html "$@"
}

run report run gemm M=64 --verify --seed 7 -o page.html
shows '<title>run gemm on cube8</title>' 'cube8 run gemm M=64 --verify --seed 7' '<dd>7</dd>' \
    "<dd>$("$SIM" info --format csv | sed -n 's/^hash,//p')</dd>" '\n  hbm:\n'
ok "run: command, hash, seed, configuration"
equal "run: all arguments" '{"M":64,"N":256,"K":256,"dtype":"f16","GRID":4,"BM":16,"BN":16,"BK":256,"b_by":"columns","send":"multicast"}' "$(data .rows.args)"
"$SIM" run gemm M=64 --seed 7 --quiet --stats use.json >out
equal "and as much of each place as --stats has" "$(jq -c '.rows[] | select(.servers) | [.name, .util_pct, .count, .queue_max]' use.json | sort)" \
    "$(data '.use as $u | ["name", "util_pct", "count", "queue_max"] as $n | [$n[] | . as $c | $u.columns | index($c)] as $i |
        $u.rows[] as $r | [$i[] | $r[.]]' | sort)"
equal "the roofs are those of all PEs and slices" "524288 4096 16384" "$(data -r '.limits | "\(.gemm_gops) \(.math_gops) \(.memory_gbs)"')"
"$SIM" run gemm M=64 --seed 7 --quiet --breakdown --format csv >why.csv
equal "the critical path, by kernel and line, adds up to what --breakdown has" \
    "$(awk -F, '$1 == "path" { sum[$2] += $7 } END { for (of in sum) printf "%s %.3f\n", of, sum[of] }' why.csv | sort)" \
    "$(data -r '.sums.rows[] | select(.[0] == "path") | [.[1], (.[2:] | add)] | @tsv' | awk -F'\t' '{ printf "%s %.3f\n", $1, $2 }' | sort)"
SIM=$B/kernbench run report run softmax M=16 --machine "$root/topologies/mi300x_caches.yaml" --quiet -o page.html
"$B/kernbench" run softmax M=16 --machine "$root/topologies/mi300x_caches.yaml" --quiet --breakdown --format csv >why.csv
grep -q '^path,.*,cache_wait,\|^path,.*,pending_wait,' why.csv
ok "what waits for a cache"
equal "... is part of the path, too" \
    "$(awk -F, '$1 == "path" { sum[$2] += $7 } END { for (of in sum) printf "%s %.3f\n", of, sum[of] }' why.csv | sort)" \
    "$(data -r '.sums.rows[] | select(.[0] == "path") | [.[1], (.[2:] | add)] | @tsv' | awk -F'\t' '{ printf "%s %.3f\n", $1, $2 }' | sort)"
shows '<dd>1 SIP of 12 cubes, 304 PEs in all, links fifo</dd>'
ok "a net has no rows and columns, and its cubes have not all as many PEs"
equal "roofs are sums over what cubes have" "304 8 5300" "$(data -r '.limits | "\(.pes) \(.slices) \(.memory_gbs)"')"
printf 'kernbench: 3\nname: own\nsip: {cube_mesh: {w: 2, h: 1}}
cubes: {c1: {hbm: {bw_gbs: 512.0}, pe: {pe_gemm: {mac: [32, 16, 16]}, pe_math: {lanes: 192}}}}\n' >own.yaml
run report run softmax M=16 --machine own.yaml --quiet -o page.html
equal "... that differ" "$((8 * 3 * 2 * 4096)) $((8 * 256)) $((8 * 768))" "$(data -r '.limits | "\(.gemm_gops) \(.math_gops) \(.memory_gbs)"')"
run report run gemm M=64 --verify --seed 7 -o page.html
[ "$(grep -c '^<figure class=machine' page.html)" -eq 3 ] && [ "$(stat -c %s page.html)" -lt 300000 ]
ok "SIP, cube and PE are drawn, and the page is no larger than it has to be"
run report load --pattern local --rate 0.2,1.0 --txns 20000 -o page.html
grep -q 'rate 1: no steady state found' err && data -r '.notes[]' | grep -q '^rate 1: no steady state found' &&
    data -r '.notes[]' | grep -q '^saturation begins between rate 0.2 and 1' && [ "$(data -r .page.when)" = ' at rate 0.2' ]
ok "load: what stderr says, the note, and the machine at the rate below saturation"
run report load --pattern hotspot:20 --rate 0.06 --txns 20000 --seeds 1 -o page.html --quiet
shows '>Cube c0, topology' '>PE c0.pe0, topology'
ok "load: closer views are of the hot slice, not of a DMA that waits for it"
run report replay many.csv --until 300 -o page.html
equal "replay: how far it came" "$(cat err)" "$(data -r '.notes[]' | head -1)"
run report why gemm M=64 --quiet -o page.html
equal "why: its rows" "$("$SIM" why gemm M=64 --quiet --format csv | cut -d, -f1)" "$(data -r '.rows | .columns[0], .rows[][0]')"
if [ -x "$B/_t/broken" ]; then
    call "$B/_t/broken" report run wrong --verify -o page.html
    [ $code -eq 1 ] && grep -q 'verification failed' err && data -r '.notes[]' | grep -q '^verification failed: ' && shows '<dd>fail</dd>'
    ok "run: that a verification failed, and exit 1"
    rm page.html
    call "$B/_t/broken" report run peek --verify -o page.html
    [ $code -eq 7 ] && [ ! -e page.html ]
    ok "run: no page of a kernel's mistake, and exit 7"
else
    skip "run: a verification that fails" "there is no $B/_t/broken"
fi
run report sweep --src c0.pe0 --dst 'c*.slice*' -o page.html --quiet
[ "$(data .use)" = null ]
ok "sweep: no machine that was busy, as there were many"

colours=$(sed -n '/prefers-color-scheme:dark/p' page.html | grep -o -- '--kb-[a-z0-9]*:' | sort -u)
[ -n "$colours" ] && nothing "$(for colour in $colours; do
    grep -q -- "^$colour light-dark(#" page.html || echo "$colour is not set"
done)"
ok "the page sets every colour of its pictures, which follow its theme"

# -- more rows than a page has -----------------------------------------------------------------------------

run report sweep --src 'c*.pe*' --dst 'c*.slice*' --bytes 64:1664:64 --quiet -o page.html
equal "of 106496 rows a page keeps 100000" "0 [100000,106496]" "$code $(data '.rows | [(.rows | length), .all]')"

# -- texts of others ----------------------------------------------------------------------------

folder="a<b>&\"c'<" odd="a<b>&\"c'</script"
mkdir "$folder"
printf '%s\n' issue_ns,op,src,dst,offset,nbytes 0,read,c0.pe0,c0.slice0,0,4K >"$odd"
sound "a file with an odd name" replay "$odd"
lacks 'a<b>' && shows 'a&lt;b&gt;&amp;&quot;c' 'a\u003cb>&'
ok "is shown as it is named, in HTML and in JSON"
cp one_slice.csv $'\xff\x01.csv'
run report replay $'\xff\x01.csv' -o page.html --quiet
[ $code -eq 0 ] && python3 -c 'open("page.html", encoding="utf-8").read()' && ! grep -q $'\x01' page.html
ok "a name that is no text does no harm"

# -- the database, and what a command would do alone ----------------------------------------------

run report probe --case h2d --sqlite a.db -o page.html
"$SIM" probe --case h2d --sqlite b.db >/dev/null
cmp a.db b.db
ok "--sqlite gets the same as without report"
run report run gemm M=64 --oplog log.csv --dump dump -o page.html --quiet
[ $code -eq 0 ] && [ -s log.csv ] && [ -s dump/out.c.npy ]
ok "so do --oplog and --dump"
run report replay one_slice.csv --fingerprint --quiet -o page.html
grep -q '^fingerprint [0-9a-f]*$' err
ok "--fingerprint goes to stderr"
code=0
timeout --preserve-status -s INT 1 "$SIM" report load --pattern local --rate 0.1,0.2 --txns 1000000000 \
    --seeds 1 -o cut.html >out 2>err || code=$?
[ $code -eq 130 ] && [ ! -e cut.html ] && tail -1 cut.html.partial | grep -qx '</html>' &&
    grep -q '"interrupted: 0 of 2 rates' cut.html.partial
ok "Ctrl-C keeps what is known, and the page says so"

# -- refusals -----------------------------------------------------------------------------------

can='probe, replay, sweep, load, run, why'
refused "report of nothing" 2 "report needs a command, one of $can" report
for command in info list diff route view report; do
    refused "report of $command" 2 "there is no report of $command, only of $can" report $command
done
refused "report of what is no command" 2 "unknown command of report 'prob', did you mean 'probe'?" report prob
refused "--format" 2 "report writes HTML, it takes no --format" report probe --format csv
refused "an option of another command" 2 "probe takes no --rate, it is an option of load" report probe --rate 1
refused "an unknown option" 2 "unknown option '--ratte', did you mean '--rate'?" report load --ratte 1
refused "a missing operand" 2 "replay needs FILE" report replay
refused "a bad operand" 2 "unknown bench 'gem', did you mean 'gemm'?" report run gem -o new.html
refused "--dry-run" 2 "--dry-run has no results for report" report sweep --src c0.pe0 --dst c0.slice0 --dry-run
refused "a bad file" 3 "one_slice.txt" report replay one_slice.txt -o new.html
refused "-o into a folder that is none" 5 "no/page.html" report probe -o no/page.html
refused "-o to a folder" 5 "Is a directory" report probe -o .
[ ! -e new.html ] && [ -z "$(find . -name 'new.html*')" ]
ok "what is refused leaves no file"
run report run gemm M=64 -o /dev/full
[ $code -eq 5 ] && says "No space left on device"
ok "a full disk is told"
run report --help
[ $code -eq 0 ] && grep -q 'report COMMAND' out && ! grep -q -- --format out
ok "--help of report"
run report load --help
[ $code -eq 0 ] && grep -q -- --pattern out
ok "--help of what is reported"
plan
