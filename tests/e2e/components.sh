#!/usr/bin/env bash
# components.sh -- components: what they change, that engines agree on them, which are refused.
. "$(dirname "$0")/../support/tap.sh"
at_top
KBGEN=${KBGEN:-$B/kbgen}
CC=${CC:-gcc}
sim=$M/components/components
bad=tests/bad/components

# -- server is the built-in memory --------------------------------------------------------------

# Every vector, its memories replaced while it runs: those hold as the built-in ones of these machines.
export XDG_CACHE_HOME=$work/cache
as_server=(--set cube.hbm.impl=server --set cube.hbm.server.hold_own=0 --set cube.sram.impl=server --set cube.sram.server.hold_own=0)
for rows in tests/vectors/*.csv; do
    case $rows in *.expected.csv) continue ;; esac
    base=${rows%.csv}
    case $base in
    */cube8_fifo_*) yaml=tests/vectors/cube8_fifo.yaml ;;
    *) yaml=${base%_*}.yaml ;;
    esac
    call "$B/kernbench" replay --machine "$yaml" "${as_server[@]}" "$rows" --quiet
    [ $code -eq 0 ] && cmp "$work/out" "$base.expected.csv"
    ok "server: $(basename "$base")"
    engine=$([ "${engine:-hop}" = hop ] && echo fused || echo hop) # the one, then the other
    call "$B/kernbench" replay --machine "$yaml" "${as_server[@]}" "$rows" --engine $engine --fingerprint
    [ $code -eq 0 ] && cmp "$work/out" "$base.expected.csv" && cmp "$work/err" "$base.fingerprint"
    ok "server: $(basename "$base") $engine"
done
# and by the engine that is compiled with them
for v in local mixed remote; do
    rows=tests/vectors/cube8_$v
    call "$M/server8/server8" replay "$rows.csv" --quiet
    [ $code -eq 0 ] && cmp "$work/out" "$rows.expected.csv"
    ok "server, compiled: $v"
done
head -40 tests/vectors/cube8_mixed.csv >"$work/some.csv"
for command in "probe" "load --pattern uniform --rate 0.3 --txns 200" "sweep --src c0.pe* --dst c*.slice1 --inflight 1,4" \
    "run gemm_composite" "replay $work/some.csv --breakdown"; do
    # shellcheck disable=SC2086
    equal "server: ${command%% -*}" "$("$SIM" $command --format csv --quiet 2>&1 | sed 's/cube8/X/')" \
        "$("$M/server8/server8" $command --format csv --quiet 2>&1 | sed 's/server8/X/')"
done

# Behind routers, where they serve packets: memories that are held for their own time, and as the route drains.
as_own=(--set cube.hbm.impl=server --set cube.sram.impl=server)
# behind_routers NAME ROWS MACHINE SET...: rows of the machine, its memories built in or replaced
behind_routers()
{
    local name=$1 rows=$2 yaml=$3 impl
    shift 3
    for impl in as_built as_other; do
        for engine in fused hop; do
            local set=("$@")
            if [ $impl = as_other ]; then set=("$@" "${other[@]}"); fi
            call "$B/kernbench" replay --machine "$yaml" "${set[@]}" "$rows" --engine $engine --fingerprint
            [ $code -eq 0 ] && grep -v warning "$work/err" | cat "$work/out" - >"$work/$impl.$engine" || rm -f "$work/$impl.$engine"
        done
    done
    cmp "$work/as_built.fused" "$work/as_other.fused" && cmp "$work/as_built.fused" "$work/as_other.hop"
    ok "server behind routers: $name"
}
# answers_behind NAME COMMAND...: what else is told of such a machine
answers_behind()
{
    local name=$1
    shift
    equal "server behind routers: $name" "$("$B/kernbench" "$@" --machine tests/machines/cube8.yaml "${packets[@]}" "${held[@]}" --quiet 2>&1)" \
        "$("$B/kernbench" "$@" --machine tests/machines/cube8.yaml "${packets[@]}" "${held[@]}" "${other[@]}" --quiet 2>&1)"
}
other=("${as_own[@]}")
for rows in tests/vectors2/router*.expected.csv; do
    base=${rows%.expected.csv}
    behind_routers "$(basename "$base")" "$base.csv" "$base.yaml"
done
packets=(--set contention.links=router --set contention.packet_bytes=512 --set contention.segment_bytes=128 --set cube.hbm.overhead_ns=2.5
    --set cube.hbm.latency_ns=7.25 --set cube.hbm.queue_bytes=1024 --set cube.hbm.bw_gbs=300)
head -300 tests/vectors/cube8_mixed.csv >"$work/some.csv"
behind_routers "own" "$work/some.csv" tests/machines/cube8.yaml "${packets[@]}" --set cube.hbm.hold=own --set cube.sram.hold=own
# packets of several writes take turns at one slice
awk 'BEGIN { print "issue_ns,op,src,dst,offset,nbytes"; for (i = 0; i < 120; i++) print 3 * i ",write,c" i % 3 ".pe" i % 8 ",c0.slice" i % 2 ",0," 300 + 400 * (i % 5) }' >"$work/turns.csv"
behind_routers "turns" "$work/turns.csv" tests/machines/cube8.yaml "${packets[@]}" --set cube.hbm.hold=own --set cube.sram.hold=own
held=(--set cube.hbm.hold=own --set cube.sram.hold=own)
answers_behind "load" load --pattern uniform --rate 0.3 --txns 200 --bytes 1K --seeds 1 --format csv
answers_behind "breakdown" replay "$work/some.csv" --breakdown --format csv
answers_behind "breakdown of turns" replay "$work/turns.csv" --breakdown --format csv
answers_behind "route" route c0.pe0 c1.slice3 --op write --bytes 4000 --format csv
answers_behind "kernels" run gemm M=32 N=32 K=32 --breakdown --format csv
other=("${as_server[@]}")
behind_routers "route" "$work/some.csv" tests/machines/cube8.yaml "${packets[@]}" --set cube.hbm.hold=route --set cube.sram.hold=route

# Components here serve bytes, not blocks or tiles.
bytes='s/\(issue_ns: [^,]*, packet_bytes: [0-9]*\)[^}]*/\1, tiles: joined/;s/, access_bytes: [0-9]*//;s/, atomic: read_write//'

# odd_rows SEED N: so many rows of the judge for the odd machine; the judge plays each packet, so none is large
odd_rows()
{
    "$B/_t/judge" rows "$1" "$work/odd.yaml" "$2" |
        awk -F, -v OFS=, 'NR > 1 && ($6 ~ /[KM]$/ || $6 > 5000) { $6 = 1500 + 7 * NR } { print }' >"$work/odd.csv"
}

# Odd machines of the judge, which knows of no component: server as each one's memories hold. A machine that packets
# could close a circle on is refused.
judged=0
for ((seed = 1; seed <= 12; seed++)); do
    "$B/_t/judge" topo $seed routers | sed "$bytes" >"$work/odd.yaml" && odd_rows $seed 24
    holds=$(sed -n 's/^  \(hbm\|sram\): .*hold: \([a-z]*\).*/\1=\2/p' "$work/odd.yaml")
    own=$([ "${holds#*hbm=own}" != "$holds" ] && echo 1 || echo 0)
    other=(--set cube.hbm.impl=server --set cube.hbm.server.hold_own=$own)
    # one component has the same keys wherever it stands
    if [ "$(echo "$holds" | grep -c "=$([ "$own" = 1 ] && echo own || echo route)")" = 2 ]; then
        other+=(--set cube.sram.impl=server --set cube.sram.server.hold_own=$own)
    fi
    call "$B/kernbench" replay --machine "$work/odd.yaml" "${other[@]}" "$work/odd.csv" --fingerprint --quiet
    if grep -q 'could wait for each other' "$work/err"; then continue; fi
    cp "$work/out" "$work/fused" && grep fingerprint "$work/err" >>"$work/fused"
    call "$B/kernbench" replay --machine "$work/odd.yaml" "${other[@]}" "$work/odd.csv" --fingerprint --quiet --engine hop
    grep fingerprint "$work/err" >>"$work/out"
    "$B/_t/judge" replay "$work/odd.yaml" "$work/odd.csv" >"$work/want" 2>"$work/err" && cat "$work/err" >>"$work/want"
    if ! cmp "$work/want" "$work/fused" || ! cmp "$work/want" "$work/out"; then
        echo "# odd machine $seed: $holds"
        break
    fi
    judged=$((judged + 1))
done
[ $seed -gt 12 ] && [ $judged -ge 6 ]
ok "server behind routers: odd machines of the judge"

# Components that queue and fronts behind routers end rows when the judge says that what they stand for does; a node that
# is a gate is the judge's own.
# odd_ends NAME EXPECTED COLUMNS SET...: machines of the judge, `kind` of them, whose memories are held for their own time
odd_ends()
{
    local name=$1 columns=$2 engine seed judged=0

    shift 2
    for ((seed = 1; seed <= 7; seed++)); do
        "$B/_t/judge" topo $seed "$kind" | sed "$bytes;s/^\(  hbm: .*hold: \)route/\1own/$edit" >"$work/odd.yaml"
        if grep -q 'plane: hash' "$work/odd.yaml"; then continue; fi # alone its number, and so its plane, is another
        odd_rows $seed 40
        "$B/_t/judge" replay "$work/odd.yaml" "$work/odd.csv" 2>/dev/null | cut -d, -f"$columns" >"$work/want"
        for engine in fused hop; do
            call env KB_COMPONENTS=examples/components:tests/machines/components "$B/kernbench" replay --machine "$work/odd.yaml" "$@" \
                "$work/odd.csv" --fingerprint --quiet --engine $engine
            if grep -q 'could wait for each other' "$work/err"; then continue 2; fi
            grep fingerprint "$work/err" >"$work/print.$engine"
            if [ $code -ne 0 ] || ! cut -d, -f"$columns" "$work/out" | cmp "$work/want" -; then
                echo "# odd machine $seed: $engine"
                break 2
            fi
        done
        cmp "$work/print.fused" "$work/print.hop" || break
        judged=$((judged + 1))
    done
    [ $seed -gt 7 ] && [ $judged -ge 5 ]
    ok "$name behind routers: odd machines of the judge"
}
kind=routers edit=
odd_ends "a memory that queues" 1,10,11 --set cube.hbm.impl=queued
odd_ends "a front of one server" 1,10,11 --set 'cube.hbm.impl=[through,builtin]'
edit='; s/^  noc: {/&impl: gate, gate: {interval_ns: 3.5}, /'
odd_ends "a gate" 1-
kind=router_banks edit=
odd_ends "a front of banks" 1,10,11 --set 'cube.hbm.impl=[through,builtin]'

# -- components of some cubes -----------------------------------------------------------------------

# Odd machines of the judge again, of all links: some cubes have server, and the rest their memories.
judged=0
for ((seed = 1; seed <= 16; seed++)); do
    routers=$([ $((seed % 3)) = 0 ] && echo routers)
    # shellcheck disable=SC2086
    "$B/_t/judge" topo $seed $routers | sed "$bytes" >"$work/odd.yaml" && odd_rows $seed 40
    if grep -Eq '^cubes:|model: banks' "$work/odd.yaml"; then continue; fi
    "$B/_t/judge" replay "$work/odd.yaml" "$work/odd.csv" >"$work/want" 2>"$work/err" && cat "$work/err" >>"$work/want"
    case $(grep '^  hbm: ' "$work/odd.yaml") in
    *"hold: own"*) own=1 ;;
    *"hold: route"*) own=0 ;;
    *) own=$(grep -q '^kernbench: 2' "$work/odd.yaml" && echo 1 || echo 0) ;;
    esac
    printf 'cubes: {c0: {hbm: {impl: server, server: {hold_own: %s}}}}\n' "$own" >>"$work/odd.yaml"
    for engine in fused hop; do
        call "$B/kernbench" replay --machine "$work/odd.yaml" "$work/odd.csv" --fingerprint --quiet --engine $engine
        if grep -q 'could wait for each other' "$work/err"; then continue 2; fi
        # without `notes`, a column that the judge does not have
        { cut -d, -f1-"$(head -1 "$work/want" | tr , "\n" | wc -l)" "$work/out" && grep fingerprint "$work/err"; } >"$work/rows"
        if ! cmp "$work/want" "$work/rows"; then
            echo "# odd machine $seed: hold_own $own, $engine"
            break 2
        fi
    done
    judged=$((judged + 1))
done
[ $seed -gt 16 ] && [ $judged -ge 14 ]
ok "server in some cubes: odd machines of the judge"

# A machine with components of each kind in some cubes: rows of its cubes as of machines where all have them.
awk 'BEGIN { srand(3); print "issue_ns,op,src,dst,offset,nbytes"
    split("slice0 slice1 sram", unit, " ")
    for (i = 0; i < 400; i++) printf "%d,%s,c%d.pe%d,c%d.%s,%d,%d\n", rand() * 900, rand() < 0.5 ? "read" : "write", rand() * 4, rand() * 4,
        rand() * 4, unit[1 + int(rand() * 3)], 64 * int(rand() * 64), 1 + rand() * 3000 }' >"$work/kinds.csv"
some=tests/machines/some.yaml
call "$B/kernbench" replay --machine "$some" "$work/kinds.csv" --fingerprint --quiet
cat "$work/err" >>"$work/out" && cp "$work/out" "$work/loaded"
call "$B/kernbench" replay --machine "$some" "$work/kinds.csv" --fingerprint --quiet --engine hop
cat "$work/err" >>"$work/out" && cmp "$work/out" "$work/loaded"
ok "components of some cubes: both engines"
call "$M/some/some" replay "$work/kinds.csv" --fingerprint --quiet
cat "$work/err" >>"$work/out" && cmp "$work/out" "$work/loaded"
ok "components of some cubes: compiled and loaded"
call "$M/some/some" run gemm M=64 N=64 K=64 --format csv --quiet
cp "$work/out" "$work/compiled"
call "$B/kernbench" run --machine "$some" gemm M=64 N=64 K=64 --format csv --quiet
cmp "$work/out" "$work/compiled"
ok "components of some cubes: kernels, compiled and loaded"
# What stays in a cube does not see what others have.
for cube in 0 1 2 3; do
    awk -F, -v c="c$cube" 'NR == 1 || (index($3, c ".") == 1 && index($4, c ".") == 1)' "$work/kinds.csv" >"$work/one.csv"
    case $cube in
    0) set -- --set cube.hbm.hold=own --set cube.sram.impl=server ;;
    1) set -- --set cube.hbm.impl=closed_page --set cube.hbm.closed_page.banks=4 --set cube.sram.impl=server ;;
    2) set -- --set cube.hbm.impl=open_page --set cube.sram.impl=server --set cube.noc.impl=gate --set cube.noc.gate.interval_ns=2.0 ;;
    3) set -- --set 'cube.hbm.impl=[tags, builtin]' --set cube.sram.impl=builtin --set cube.sram.hold=own ;;
    esac
    call "$M/some/some" replay "$work/one.csv" --quiet
    cp "$work/out" "$work/own"
    call "$B/kernbench" replay --machine "$some" --set 'cubes={}' "$@" "$work/one.csv" --quiet
    [ "$(wc -l <"$work/one.csv")" -gt 10 ] && cmp "$work/out" "$work/own"
    ok "components of some cubes: cube $cube"
done
# Its own text is read back to the same machine, and the file of a component of some cubes is the machine's.
"$B/kernbench" info --machine "$some" --config >"$work/text.yaml" 2>"$work/err"
equal "components of some cubes: read back" "$(cat "$work/text.yaml")" "$("$B/kernbench" info --machine "$work/text.yaml" --config 2>&1)"
mkdir -p "$work/mine/components" && cp "$some" "$work/mine/" && cp examples/components/closed_page.c "$work/mine/components/"
before=$("$B/kernbench" info --machine "$work/mine/some.yaml" | grep -i hash)
echo '/* another one */' >>"$work/mine/components/closed_page.c"
after=$("$B/kernbench" info --machine "$work/mine/some.yaml" | grep -i hash)
[ -n "$before" ] && [ "$before" != "$after" ]
ok "components of some cubes: another file, another hash"
equal "components of some cubes: their files" "closed_page gate open_page server tags tiles" \
    "$("$KBGEN" --components "$some" | tr ' ' '\n' | sed 's|.*/||; s|\.c$||' | sort | xargs)"
chmod o+w "$work/mine/components"
call "$B/kernbench" probe --machine "$work/mine/some.yaml"
[ $code -eq 3 ] && grep -q KB_TRUST "$work/err"
ok "components of some cubes: one of a folder that others may write to"

# -- by hand: docs/components.md ----------------------------------------------------------------

# One bank: opened at 2.085 and 48 ns later. Another row: another bank, behind the bus.
cat >"$work/rows.csv" <<'END'
issue_ns,op,src,dst,offset,nbytes
0,read,c0.pe0,c0.slice0,0,64
0,read,c0.pe1,c0.slice0,16384,64
0,read,c0.pe2,c0.slice0,1024,64
END
call "$sim" replay "$work/rows.csv" --quiet
equal "closed_page: banks" "30.335000 78.585000 78.835000" "$(cut -d, -f11 "$work/out" | tail -3 | xargs)"
# Behind routers: two packets of one row, the second waits for its bank. A read is one request.
cat >"$work/packets.yaml" <<'END'
kernbench: 2
name: packets
ns_per_mm: 0.0
contention: {links: router, segment_bytes: 64, packet_bytes: 64, buffer_bytes: 0, vcs: [1, 1]}
sip: {cube_mesh: {w: 1, h: 1}}
cube: {pes: 1, xbar: {overhead_ns: 0.0, pe_gbs: 16.0}, hbm: {impl: closed_page, bw_gbs: 1000000.0}}
END
for op in write read; do
    printf 'issue_ns,op,src,dst,offset,nbytes\n0,%s,c0.pe0,c0.slice0,0,128\n' $op >"$work/rows.csv"
    for engine in fused hop; do
        call "$B/kernbench" replay --machine "$work/packets.yaml" "$work/rows.csv" --quiet --engine $engine
        # formula_ns, actual_ns
        echo "$op $(tail -1 "$work/out" | cut -d, -f21,22)"
    done
done >"$work/ends"
# 10 ns for each of two packets of 4 ns: machine/component_packets.h
sed 's/impl: closed_page/impl: slow/' "$work/packets.yaml" >"$work/slow.yaml"
printf 'issue_ns,op,src,dst,offset,nbytes\n0,write,c0.pe0,c0.slice0,0,128\n' >"$work/rows.csv"
for machine in packets slow; do
    for engine in fused hop; do
        call env KB_COMPONENTS=tests/machines/components:examples/components "$B/kernbench" replay --machine "$work/$machine.yaml" "$work/rows.csv" \
            --quiet --engine $engine
        alone=$(tail -1 "$work/out" | cut -d, -f21,22)
        call env KB_COMPONENTS=tests/machines/components:examples/components "$B/kernbench" replay --machine "$work/$machine.yaml" "$work/rows.csv" \
            --quiet --engine $engine --breakdown --format csv
        echo "$machine $alone $(awk -F, '$1 == "all" { sum += $7; bad += $7 < 0 } END { printf "%.6f %d", sum, bad }' "$work/out")"
    done
done >"$work/pieces"
equal "behind routers: packets, and the pieces of their time" \
    "packets 80.000001,80.000001 80.000001 0 slow 20.000001,20.000001 20.000001 0" "$(uniq "$work/pieces" | xargs)"
# Done before all bytes could have passed: the drain ends there, and no piece is negative.
sed 's/links: router, .*}$/links: fifo}/' "$work/slow.yaml" >"$work/early.yaml"
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4096\n0,write,c0.pe0,c0.slice0,0,4096\n' >"$work/rows.csv"
for engine in fused hop; do
    call env KB_COMPONENTS=tests/machines/components:examples/components "$B/kernbench" replay --machine "$work/early.yaml" "$work/rows.csv" \
        --quiet --engine $engine --breakdown --format csv
    awk -F, '$1 == "all" { printf "%s %s ", $3, $7 }' "$work/out"
    cp "$work/out" "$work/early.$engine"
done >"$work/pieces"
equal "done early: the drain is cut" "drain 20.000000 memory_wait 10.000000 drain 20.000000 memory_wait 10.000000" "$(xargs <"$work/pieces")"
cmp -s "$work/early.fused" "$work/early.hop"
ok "done early: a breakdown of visits as one by nodes"
# never in a fresh state: the formula has the keys
sed 's/impl: closed_page/impl: once/' "$work/packets.yaml" >"$work/once.yaml"
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,64\n9,read,c0.pe0,c0.slice0,0,64\n' >"$work/rows.csv"
call env KB_COMPONENTS=tests/bad/components "$B/kernbench" replay --machine "$work/once.yaml" "$work/rows.csv" --set cube.pe.pe_dma.read_channels=2 \
    --quiet -o "$work/once.csv"
equal "behind routers: the formula where a fresh state is never done" "4 4.000002,10.000002" "$code $(tail -1 "$work/once.csv" | cut -d, -f21,22)"
equal "closed_page behind routers: packets" "read 36.000002,36.000002 write 80.000001,80.000001" "$(sort -u "$work/ends" | xargs)"
# noc lets one through in 4 ns: 0.15 and 0.25 ns from two PEs to c1
cat >"$work/rows.csv" <<'END'
issue_ns,op,src,dst,offset,nbytes
0,read,c0.pe0,c1.slice0,0,64
0,read,c0.pe0,c1.slice1,0,64
100,read,c0.pe0,c1.slice0,0,64
100,read,c0.pe1,c1.slice1,0,64
END
call "$sim" replay "$work/rows.csv" --quiet
equal "gate: only what comes within 4 ns waits" "0 0 0 1" \
    "$(awk -F, 'NR > 1 {print ($21 > $20 && $16 + $17 + $18 + $19 == 0) + 0}' "$work/out" | xargs)"

# nodes of every kind, of machines of other shapes, too: the engine stops at those that are asked, hop at all
printf 'issue_ns,op,src,dst,offset,nbytes\n' >"$work/rows.csv"
for i in {0..119}; do
    at="$((i % 7)),$([ $((i % 2)) -eq 0 ] && echo read || echo write)"
    case $((i % 3)) in
    0) echo "$at,c$((i % 4)).pe$((i % 2)),c$((i % 3)).slice0,0,$((i % 5 * 64 + 64))" ;;
    1) echo "$at,c$((i % 3)).pe1,c$((i % 2)).sram,0,256" ;;
    2) echo "$((i % 11)),$([ $((i % 2)) -eq 0 ] && echo d2h || echo h2d),host,c$((i % 4)).slice1,0,512" ;;
    esac
done >>"$work/rows.csv"
gates=(--set cube.noc.impl=gate --set cube.xbar.impl=gate --set cube.ucie.impl=gate --set sip.io.pcie_ep.impl=gate --set fabric.impl=gate)
# answers of a machine ENGINE COMMAND...: what it prints, with what it says of its events
of_engine()
{
    local engine=$1
    shift
    timeout 60 "$B/kernbench" "$@" --machine "$yaml" "${gates[@]}" --set contention.links=$links --engine "$engine" 2>&1
}
# engines_alike NAME: of $yaml with $gates and $links
engines_alike()
{
    of_engine hop replay "$work/rows.csv" --fingerprint | grep -v warning >"$work/hop"
    of_engine fused replay "$work/rows.csv" --fingerprint | grep -v warning >"$work/counted"
    of_engine fused replay "$work/rows.csv" --quiet >"$work/fused"
    [ "$(grep -c '^[0-9]' "$work/hop")" -eq 120 ] && cmp "$work/hop" "$work/counted" && grep '^[i0-9]' "$work/hop" | cmp - "$work/fused"
    ok "$1: rows"
    equal "$1: traffic" "$(of_engine hop load --pattern uniform --rate 0.3 --txns 200 --seeds 1 --quiet)" \
        "$(of_engine fused load --pattern uniform --rate 0.3 --txns 200 --seeds 1 --quiet)"
    equal "$1: kernels" "$(of_engine hop run copy L=3000 --fingerprint)" "$(of_engine fused run copy L=3000 --fingerprint)"
    # of the largest machine a breakdown takes as long as all others
    [ "$yaml" = tests/machines/tray32.yaml ] || for command in "replay $work/rows.csv" "run copy L=3000"; do
        # shellcheck disable=SC2086
        equal "$1: breakdown, ${command%% *}" "$(of_engine hop $command --quiet --breakdown --format csv | md5sum)" \
            "$(of_engine fused $command --quiet --breakdown --format csv | md5sum)"
    done
    equal "$1: kernels, not counted" "$(of_engine hop run copy L=3000 --quiet)" "$(of_engine fused run copy L=3000 --quiet)"
}
for yaml in tests/machines/tray32.yaml tests/support/shapes/shape_{planes,ring,kinds}.yaml tests/support/odd.yaml; do
    for links in ideal fifo; do
        engines_alike "gates of $(basename "$yaml" .yaml), $links"
    done
done
# cubes that are passed without a stop, over wires of two lengths
yaml=tests/machines/tray32.yaml links=ideal all=("${gates[@]}")
gates=(--set cube.xbar.impl=gate --set sip.cube_mesh.wrap=xy --set sip.cube_mesh.wrap_mm=30)
engines_alike "gates of crossbars alone"
gates=("${all[@]}")
# one that lets through all at once is as the node's own delay
gates+=(--set cube.noc.gate.interval_ns=0 --set cube.xbar.gate.interval_ns=0 --set cube.ucie.gate.interval_ns=0
    --set sip.io.pcie_ep.gate.interval_ns=0 --set fabric.gate.interval_ns=0)
for v in cube8_mixed cube8_fifo_mixed vec1_0 vec3_1 vec5_2; do
    yaml=tests/vectors/${v%_*}.yaml
    call "$B/kernbench" replay --machine "$yaml" "${gates[@]}" "tests/vectors/$v.csv" --quiet
    [ $code -eq 0 ] && cmp "$work/out" "tests/vectors/$v.expected.csv"
    ok "gates without an interval: $v"
    call "$B/kernbench" replay --machine "$yaml" "${gates[@]}" "tests/vectors/$v.csv" --fingerprint
    [ $code -eq 0 ] && cmp "$work/out" "tests/vectors/$v.expected.csv" && cmp "$work/err" "tests/vectors/$v.fingerprint"
    ok "gates without an interval, counted: $v"
done
# the overheads in its breakdown are those of the nodes, behind routers as elsewhere
# overheads SET...: of rows on cube8 that pass all kinds of nodes
overheads()
{
    "$B/kernbench" replay tests/vectors/cube8_mixed.csv --machine tests/machines/cube8.yaml --set contention.links=$links \
        --set cube.noc.overhead_ns=1.5 "$@" --breakdown --format csv --quiet 2>&1 | grep -E '^all,.*,overhead,|kernbench:' | cut -d, -f1-3,7
}
for links in ideal fifo router; do
    equal "gates without an interval: overheads, $links" "$(overheads "${gates[@]}")" "$(overheads)"
done

# -- a crash ------------------------------------------------------------------------------------

mkdir "$work/crash"
cat >"$work/crash/crash.c" <<'END'
/* kernbench component: memory crash */
struct crash { int64_t n; };
static inline void crash_init(struct crash *s) { s->n = 0; }
static inline struct kb_served crash_serve(struct crash *s, const struct kb_request *r, int64_t now_fs)
{
    if (s->n++ > 2)
        *(volatile int *)(uintptr_t)(16 * s->n) = 1;
    return (struct kb_served){r->drain_fs, now_fs + r->drain_fs};
}
END
printf '%s\n' issue_ns,op,src,dst,offset,nbytes {0..3},read,c0.pe0,c0.slice0,0,64 >"$work/crash.csv"
for command in "replay $work/crash.csv" "replay $work/crash.csv --engine hop" "replay $work/crash.csv --breakdown" \
    "load --pattern local --rate 0.1 --txns 1000 --seeds 1" "run list_walk" "why $work/crash.csv" "why load --pattern local --rate 0.1 --txns 1000" \
    "sweep --src c0.pe0 --dst c0.slice0 --inflight 1,8 -j 2" "sweep --src c0.pe0 --dst c0.slice0 --inflight 8 --engine hop"; do
    # shellcheck disable=SC2086
    call env KB_COMPONENTS="$work/crash" "$B/kernbench" $command --machine tests/machines/cube8.yaml --set cube.hbm.impl=crash --quiet
    equal "a crash of a component: ${command%% --p*}" "7 kernbench: component 'crash' crashed by an access to address 0x40 (SIGSEGV)" \
        "$code $(cat "$work/err")"
done
# ... and where a command only asks what a transaction takes alone
sed 's/crash/once/g; s/if (.*/if (s->n++ == 0)/; s/16 \* s->n/64/' "$work/crash/crash.c" >"$work/once.c"
mkdir "$work/once" && mv "$work/once.c" "$work/once/once.c"
for command in "route c0.pe0 c0.slice0" probe "probe --vary cube.hbm.bw_gbs=128 -j 1" "report probe -o $work/page.html" "llm llama-3.2-1b --decode 16 --tries 1"; do
    # shellcheck disable=SC2086
    call env KB_COMPONENTS="$work/once" "$B/kernbench" $command --machine topologies/cube8.yaml --set cube.hbm.impl=once --quiet
    equal "a crash of a component alone: ${command%% -o*}" "7 component 'once' crashed by an access to address 0x40 (SIGSEGV)" \
        "$code $(sed 's/^kernbench: //; s/^cube.hbm.bw_gbs=128: //' "$work/err")"
done
call env KB_COMPONENTS="$work/crash:examples/components" "$B/kernbench" replay "$work/crash.csv" --machine tests/machines/cube8.yaml \
    --set cube.hbm.impl=crash --set cube.noc.impl=gate --set cube.ucie.impl=gate --quiet
equal "a crash of one of several" "7 kernbench: one of the components 'gate', 'crash' crashed by an access to address 0x40 (SIGSEGV)" \
    "$code $(cat "$work/err")"

# -- a memory that queues -----------------------------------------------------------------------

# docs/components.md "A memory that queues"
cat >"$work/rows.csv" <<'END'
issue_ns,op,src,dst,offset,nbytes
0,read,c0.pe0,c0.slice0,0,64
1,read,c0.pe1,c0.slice0,1024,64
2,read,c0.pe2,c0.slice0,512,64
END
queues=$M/queues/queues
for engine in fused hop; do
    call "$queues" replay "$work/rows.csv" --quiet --engine $engine
    equal "open_page, $engine: done" "30.335000 59.085000 30.835000" "$(cut -d, -f10 "$work/out" | tail -3 | xargs)"
    equal "open_page, $engine: queue_memory" "0.000000 25.490000 -4.810000" "$(cut -d, -f19 "$work/out" | tail -3 | xargs)"
done
call "$queues" replay "$work/rows.csv" --breakdown --format csv
[ $code -eq 0 ] && grep -q '^all,,memory_wait,,,2,20.680000' "$work/out"
ok "open_page: pieces of the breakdown"
call "$queues" replay "$work/rows.csv" --stats "$work/s.csv"
# one request or more inside from 2.085 to 59.085 of 59.085 ns
[ $code -eq 0 ] && grep -q '^memory,sip0.cube0.hbm_ctrl.slice0,.*,3,192,57.000000,96.47' "$work/s.csv"
ok "open_page: busy while it has anything"

# -- engines agree ------------------------------------------------------------------------------

awk 'BEGIN { srand(4); print "issue_ns,op,src,dst,offset,nbytes"
    for (i = 0; i < 500; i++)
        if (rand() < 0.1)
            print int(3000 * rand()) ",h2d,host,c" int(2 * rand()) ".slice" int(4 * rand()) "," 64 * int(999 * rand()) "," 1 + int(5000 * rand())
        else
            print int(3000 * rand()) "," (rand() < 0.5 ? "read" : "write") ",c" int(2 * rand()) ".pe" int(4 * rand()) ",c" \
                int(2 * rand()) ".slice" int(4 * rand()) "," 64 * int(999 * rand()) "," 1 + int(5000 * rand()) }' >"$work/random.csv"
call "$sim" replay "$work/random.csv" --quiet && cp "$work/out" "$work/fused"
call "$sim" replay "$work/random.csv" --quiet --engine hop
cmp "$work/out" "$work/fused"
ok "all kinds: rows of both engines"
equal "all kinds: fingerprints of both engines" "$("$sim" replay "$work/random.csv" --fingerprint 2>&1 >/dev/null)" \
    "$("$sim" replay "$work/random.csv" --fingerprint --engine hop 2>&1 >/dev/null)"
awk -F, 'NR > 1 && ($14 + $12 + $13 + $15 + $16 + $17 + $18 + $19 - $21) ^ 2 > 1e-10 { bad = 1 } END { exit bad }' \
    <(awk -F, -v OFS=, '{print}' "$work/fused")
ok "all kinds: the terms of each row add up"
call "$queues" replay "$work/random.csv" --quiet && cp "$work/out" "$work/fused"
call "$queues" replay "$work/random.csv" --quiet --engine hop
cmp "$work/out" "$work/fused"
ok "open_page: rows of both engines"
equal "open_page: fingerprints of both engines" "$("$queues" replay "$work/random.csv" --fingerprint 2>&1 >/dev/null)" \
    "$("$queues" replay "$work/random.csv" --fingerprint --engine hop 2>&1 >/dev/null)"
call "$B/kernbench" replay --machine tests/machines/queues.yaml "$work/random.csv" --quiet
cmp "$work/out" "$work/fused"
ok "open_page: loaded while it runs, the same rows"
equal "open_page: load by both engines" "$("$queues" load --pattern uniform --rate 0.2 --txns 500 --seeds 1 --format csv --quiet)" \
    "$("$queues" load --pattern uniform --rate 0.2 --txns 500 --seeds 1 --format csv --quiet --engine hop)"
for bench in gemm_composite softmax; do
    equal "open_page: $bench" "$("$queues" run $bench --format csv --quiet)" "$("$queues" run $bench --format csv --quiet --engine hop)"
    equal "all kinds: $bench" "$("$sim" run $bench --format csv --quiet)" "$("$sim" run $bench --format csv --quiet --engine hop)"
done
call "$sim" replay "$work/random.csv" --breakdown --format csv
ok "all kinds: the pieces of a breakdown add up"

# moody WHAT LEAST LINKS NS_PER_MM OVERHEAD UCIE: answers of all kinds, of memories at which many meet
moody()
{
    cat >"$work/moody.yaml" <<END
kernbench: 1
name: moody
ns_per_mm: $4
sip: {cube_mesh: {w: 2, h: 1}}
contention: {links: $3}
cube: {pes: 4, hbm: {impl: moody, moody: {least_ns: $2}}, xbar: {overhead_ns: $5}, noc: {overhead_ns: $5},
  ucie: {overhead_ns: $6}, m_cpu: {overhead_ns: $5}, pe: {pe_dma: {overhead_ns: $5, read_channels: 2}}}
END
    for engine in fused hop; do
        call env KB_COMPONENTS=tests/machines/components "$B/kernbench" replay --machine "$work/moody.yaml" "$work/many.csv" \
            --engine $engine --quiet --stats "$work/$engine.csv"
        cp "$work/out" "$work/$engine"
    done
    [ $code -eq 0 ] && cmp "$work/fused" "$work/hop" && cmp "$work/fused.csv" "$work/hop.csv"
    ok "moody: $1, $3: rows and stations of both engines"
}
awk 'BEGIN { srand(1); print "issue_ns,op,src,dst,offset,nbytes"
    for (i = 0; i < 600; i++)
        print int(60 * rand()) "," (rand() < 0.1 ? "h2d,host" : (rand() < 0.5 ? "read" : "write") ",c" int(2 * rand()) ".pe" int(4 * rand())) ",c" \
            int(2 * rand()) ".slice" int(4 * rand()) "," 64 * int(99 * rand()) ",64" }' >"$work/many.csv"
moody "all take time" 1.0 ideal 0.01 1.0 1.0
moody "all take time" 1.0 fifo 0.01 1.0 1.0
moody "no way takes time" 1.0 ideal 0.0 0.0 0.0
moody "nothing need take time" 0.0 ideal 0.0 0.0 0.0
moody "nothing in a cube need take time" 0.0 ideal 0.0 0.0 1.0
moody "nothing in a cube need take time" 0.0 fifo 0.0 0.0 1.0

# slices with banks beside an SRAM that is a component
cat >"$work/mixed.yaml" <<'END'
kernbench: 2
name: mixed
sip: {cube_mesh: {w: 2, h: 1}}
cube: {hbm: {model: banks}, sram: {impl: server}}
END
cat >"$work/rows.csv" <<'END'
issue_ns,op,src,dst,offset,nbytes
0,read,c0.pe0,c0.slice0,0,64
0,write,c0.pe1,c1.slice0,0,4096
99,read,c0.pe0,c0.sram,0,64
END
for engine in fused hop; do
    call "$B/kernbench" replay --machine "$work/mixed.yaml" "$work/rows.csv" --quiet --engine $engine
    equal "banks beside a component, $engine: alone each takes its formula" "$(cut -d, -f11 "$work/out")" \
        "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "formula_ns") f = i; print $11; next } { printf "%.6f\n", $6 + $f }' "$work/out")"
done

# -- rules that are broken while it runs --------------------------------------------------------

# breaks BYTES CODE TEXT ROWS: a read of so many bytes of the SRAM; the ids that are written all the same
breaks()
{
    printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.sram,0,%s\n0,read,c0.pe1,c0.slice0,0,64\n' "$1" >"$work/one.csv"
    for engine in fused hop; do
        rm -f "$work/never.csv"
        call "$sim" replay "$work/one.csv" --engine $engine -o "$work/never.csv"
        [ $code -eq "$2" ] && grep -qF "$3" "$work/err" && [ "$(cut -d, -f1 "$work/never.csv" 2>/dev/null | xargs)" = "$4" ]
        ok "$1 bytes, $engine: exit $2, $3"
    done
}
breaks 1 7 "component 'wrong' of 'cube.sram.impl' serves transaction 0" ""
breaks 2 7 "0 <= hold <= done - now must hold" ""
breaks 3 7 "0 <= hold <= done - now must hold" ""
breaks 4 4 "transaction 0 never ends: component 'wrong' of 'cube.sram.impl' is never done with it" "id 1"
breaks 5 4 "transaction 0 never ends" "id 1"

# The same of a memory that queues.
sim=$queues
breaks 1 7 "component 'misqueue' of 'cube.sram.impl' says that it is done with transaction 0 at -0.877500 ns, and it is 0.122500 ns" ""
breaks 2 7 "component 'misqueue' of 'cube.sram.impl' asks to be woken with 0 at 0.122500 ns, and it is 0.122500 ns" ""
breaks 3 7 "says at 0.122500 ns that it is done with transaction 7, which does not wait in it" ""
breaks 4 7 "done with transaction 0, which does not wait in it" ""
breaks 5 4 "transaction 0 never ends: component 'misqueue' of 'cube.sram.impl' is never done with it" "id 1"
breaks 6 4 "transaction 0 never ends: component 'misqueue' of 'cube.sram.impl' is never done with it" "id 1"

# broken WHAT CODE TEXT YAML COMMAND...: a machine of one cube with that below `cube`, by both engines
broken()
{
    local what=$1 wanted=$2 text=$3
    printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 2, %s}\n' "$4" >"$work/bad.yaml"
    shift 4
    for engine in fused hop; do
        call env KB_COMPONENTS=$bad:tests/machines/components "$B/kernbench" "$@" --machine "$work/bad.yaml" --engine $engine
        [ $code -eq "$wanted" ] && grep -qF "$text" "$work/err"
        ok "$what, $engine: exit $wanted, $text"
    done
}
for bytes in 1 2; do
    # the first that never ends is told, not the second
    printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,%s\n9,read,c0.pe1,c0.slice1,0,%s\n' $bytes $bytes \
        >"$work/node$bytes.csv"
done
broken "a node's delay below 0" 7 "component 'backward' of 'cube.xbar.impl' delays transaction 0, which comes at" 'xbar: {impl: backward}' \
    replay "$work/node1.csv"
broken "a node that never lets go" 4 "transaction 0 never ends: component 'backward' of 'cube.xbar.impl' is never done with it" 'xbar: {impl: backward}' \
    replay "$work/node2.csv"
# what comes behind one that holds its memory without end is not asked
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,64\n1,read,c0.pe1,c0.slice0,0,64\n99,read,c0.pe1,c0.slice0,0,64\n' >"$work/behind.csv"
broken "a memory that is held without end" 4 "transaction 0 never ends: component 'holds' of 'cube.hbm.impl' is never done with it" 'hbm: {impl: holds}' \
    replay "$work/behind.csv"
broken "the same behind routers" 4 "transaction 0 never ends: component 'holds' of 'cube.hbm.impl' is never done with it" 'hbm: {impl: holds}' \
    replay "$work/behind.csv" --set contention.links=router
broken "an engine in the past" 7 "component 'undone' of 'cube.pe.pe_gemm.impl' serves transaction" 'pe: {pe_gemm: {impl: undone}}' run gemm_composite
broken "an engine that is never done" 4 "component 'undone' of 'cube.pe.pe_gemm.impl' is never done with it" \
    'pe: {pe_gemm: {impl: undone, undone: {never: 1}}}' run gemm_composite
broken "kernels and a memory that is never done" 4 "is never done with it" 'hbm: {impl: sleeps}' run gemm_composite
for links in fifo router; do
    broken "traffic and a memory that is never done, $links" 4 "never ends: component 'holds' of 'cube.hbm.impl' is never done with it" \
        'hbm: {impl: holds}' load --pattern uniform --rate 0.1 --txns 100 --set contention.links=$links
done

# Behind routers: reads, and writes whose second packet is the wrong one.
for op in read write; do
    bytes=$([ $op = read ] && echo 1 || echo 65)
    for fault in 0 2 3; do # wrong.c goes by the size
        printf 'issue_ns,op,src,dst,offset,nbytes\n0,%s,c0.pe0,c0.slice0,0,%s\n0,read,c0.pe1,c0.slice1,0,64\n' $op $((bytes + fault)) >"$work/one.csv"
        broken "behind routers, $op of $((bytes + fault)) bytes" "$([ $fault = 3 ] && echo 4 || echo 7)" \
            "$([ $fault = 3 ] && echo "is never done with it" || echo "serves transaction 0, whose turn is at")" \
            $'hbm: {impl: wrong}}\ncontention: {links: router, segment_bytes: 64, packet_bytes: 64' replay "$work/one.csv"
    done
done

# done before its data could have come: the pieces of a breakdown still add up, and none is negative
printf 'kernbench: 2\nname: it\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 2, hbm: {impl: early}}\n' >"$work/bad.yaml"
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,4096\n' >"$work/early.csv"
call env KB_COMPONENTS=$bad "$B/kernbench" replay "$work/early.csv" --machine "$work/bad.yaml" --format csv --quiet
total=$(awk -F, 'NR == 2 { printf "%.6f", $11 - $6 }' "$work/out")
call env KB_COMPONENTS=$bad "$B/kernbench" replay "$work/early.csv" --machine "$work/bad.yaml" --breakdown --format csv --quiet
equal "a memory that is done early: --breakdown adds up" "$total 0" \
    "$(awk -F, '$1 == "all" { sum += $7; bad += $7 < 0 } END { printf "%.6f %d", sum, bad }' "$work/out")"
for op in read write; do
    printf 'issue_ns,op,src,dst,offset,nbytes\n0,%s,c0.pe0,c0.slice0,0,4096\n0,%s,c0.pe1,c0.slice0,0,9000\n' $op $op >"$work/early.csv"
    for engine in fused hop; do
        call env KB_COMPONENTS=$bad "$B/kernbench" replay "$work/early.csv" --machine "$work/bad.yaml" --set contention.links=router --format csv --quiet --engine $engine
        total=$(awk -F, 'NR > 1 { sum += $11 - $6 } END { printf "%.6f", sum }' "$work/out")
        cp "$work/out" "$work/early.$engine"
        call env KB_COMPONENTS=$bad "$B/kernbench" replay "$work/early.csv" --machine "$work/bad.yaml" --set contention.links=router --breakdown --format csv --quiet --engine $engine
        equal "the same behind routers, $op, $engine" "$total 0" \
            "$(awk -F, '$1 == "all" { sum += $7; bad += $7 < 0 } END { printf "%.6f %d", sum, bad }' "$work/out")"
    done
    cmp "$work/early.fused" "$work/early.hop"
    ok "the same behind routers, $op: both engines"
done

# -- refused before it runs ---------------------------------------------------------------------

# machine NAME: a YAML whose slices are that component
machine()
{
    printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: {impl: %s}}\n' "$1" >"$work/bad.yaml"
}
export KB_COMPONENTS=$bad
while IFS='|' read -r name text; do
    machine "$name"
    call "$KBGEN" "$work/bad.yaml"
    [ $code -eq 3 ] && [ ! -s "$work/out" ] && grep -qF "$text" "$work/err"
    ok "$name: $text"
done <<END
key_twice|$bad/key_twice.c:3:1: the key 'banks' is there twice
no_range|$bad/no_range.c:2:1: 'banks' must have a range like 0..1e6, not '8'
remark|$bad/remark.c:2:1: 'This' is no name of a key
kindless|$bad/kindless.c:1:1: 'memroy' is no kind of component, did you mean 'memory'?
other|$bad/other.c:1:1: the component is called 'another', but its file other.c
outside|$bad/outside.c:2:1: 'banks' has no default in its range: '9'
bare|$bad/bare.c:1:1: a component begins with
sever|there is no component 'sever', did you mean 'server'?
gate|'cube.hbm.impl' must be a memory, but 'gate' is a node
END

# Headers that are made here: the file's name, its text, the message after the name.
export KB_COMPONENTS=:$work/made
mkdir "$work/made" "$work/made/folder.c"
begins="a component begins with '/* kernbench component: KIND NAME'"
while IFS='|' read -r name text message; do
    printf "/* $text" >"$work/made/$name.c"
    machine "$name"
    call "$KBGEN" "$work/bad.yaml"
    [ $code -eq 3 ] && grep -qF "$name.c:$message" "$work/err"
    ok "$name: $message"
done <<END
short|kernbench component: memory\n */|1:1: $begins
not_ours|otherbench component: memory not_ours\n */|1:1: $begins
of_nothing|kernbench thing: memory of_nothing\n */|1:1: $begins
unclosed|kernbench component: memory unclosed\n|1:1: $begins
far_kind|kernbench component: xyzzyplugh far_kind\n */|1:1: 'xyzzyplugh' is no kind of component: memory, queueing, front, node or engine
few|kernbench component: memory few\n\t* banks integer 8\n */|2:1: a key is 'NAME number|integer DEFAULT
word|kernbench component: memory word\n * banks whole 4 0..8\n */|2:1: 'banks' must be number or integer, not 'whole'
turned|kernbench component: memory turned\n * banks integer 4 8..0\n */|2:1: 'banks' must have a range like 0..1e6, not '8..0'
from_word|kernbench component: memory from_word\n * banks integer 4 x..8\n */|2:1: 'banks' must have a range like 0..1e6, not 'x..8'
to_word|kernbench component: memory to_word\n * banks integer 4 0..x\n */|2:1: 'banks' must have a range like 0..1e6, not '0..x'
half|kernbench component: memory half\n * banks integer 4 0..8.5\n */|2:1: 'banks' must have a range like 0..1e6, not '0..8.5'
wide|kernbench component: memory wide\n * banks integer 4 0..3000000000\n */|2:1: 'banks' is an integer of 32 bits
deep|kernbench component: memory deep\n * banks integer 4 -3000000000..8\n */|2:1: 'banks' is an integer of 32 bits
less|kernbench component: memory less\n * banks integer 0 1..8\n */|2:1: 'banks' has no default in its range: '0'
no_default|kernbench component: memory no_default\n * banks number x 1..8\n */|2:1: 'banks' has no default in its range: 'x'
END
{ echo '/* kernbench component: memory many' && seq -f ' * k%g integer 0 0..1' 65 && echo ' */'; } >"$work/made/many.c"
printf '/* kernbench component: memory zero\n */\0' >"$work/made/zero.c"
{ echo '/* kernbench component: memory large */' && head -c 1100000 /dev/zero | tr '\0' ' '; } >"$work/made/large.c"
while IFS='|' read -r name text; do
    machine "$name"
    call "$KBGEN" "$work/bad.yaml"
    [ $code -eq 3 ] && grep -qF "$text" "$work/err"
    ok "$name: $text"
done <<END
many|many.c:66:1: a component has at most 64 keys
zero|zero.c: it has a byte 0, it is no text
large|large.c: larger than 1 MiB
folder|folder.c: cannot be read: Is a directory
qqqqqqqqqq|there is no component 'qqqqqqqqqq': no qqqqqqqqqq.c in $work/components/, $work/made/, examples/components/
END
unset KB_COMPONENTS

# keys TEXT SETS MESSAGE: of an HBM, and by --set
keys()
{
    printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: %s, sram: {impl: server}}\n' "$1" >"$work/bad.yaml"
    call "$KBGEN" ${2:+--set "$2"} "$work/bad.yaml"
    [ $code -eq 3 ] || [ $code -eq 2 ] && grep -qF "$3" "$work/err"
    ok "${2:-$1}: $3"
}
hold='cube.hbm.server.hold_own'
while IFS='|' read -r hbm set text; do
    keys "$hbm" "$set" "$text"
done <<END
{impl: server, server: {hold_own: [1]}}||4:55: '$hold' must be a number, not a list of 1
{impl: server, server: {[hold_own]: 1}}||4:45: a key must be a single word
{impl: server, server: {hold_own: }}||4:55: '$hold' must be a number, not empty
{impl: server, server: {hold_own: 1.5}}||4:55: '$hold' must be an integer, not '1.5'
{impl: server, server: {hold_own: "1"}}||4:55: '$hold' must be an integer, not '1'
{impl: server, server: {hold_own: 7}}||4:55: '$hold' must be 0..1, not '7'
{impl: server, server: {hold_own: -7}}||4:55: '$hold' must be 0..1, not '-7'
{impl: server, server: {hold_own: 1}, server: {hold_own: 0}}||4:59: duplicate key 'cube.hbm.server'
{impl: server, server: {hold_own: 1, hold_own: 0}}||4:58: duplicate key '$hold'
{impl: server, closed_page: {x: 1, y: 2}, gate: {z: 1}}||4:70: 'cube.hbm.gate' has keys of a component, but 'cube.hbm.impl' is 'server'
{impl: server, server: {hold_ownn: 1}}||4:45: unknown key 'hold_ownn' in 'cube.hbm.server', did you mean 'hold_own'?
{impl: server, server: {zzzzzzzzzz: 1}}||4:45: unknown key 'zzzzzzzzzz' in 'cube.hbm.server', its file has no such line
{impl: [server]}||4:28: 'cube.hbm.impl' must be a name, or [NAME, builtin], not a list of 1
{impl: server, server: {hold_own: 0}}||different values of 'hold_own'
{impl: server}|$hold=[1]|'$hold' must be a number, not a list of 1
{impl: server, server: {hold_own: 0}}|$hold=[1]|'$hold' must be a number, not a list of 1
{impl: server}|$hold=|'$hold' has no value
{impl: server}|cube.hbm.server.a.b=1|unknown key 'cube.hbm.server.a.b'
{impl: server}|cube.hbm.server.1=1|unknown key 'cube.hbm.server.1'
{impl: server}|cube.hbm.closed_page.x=0|'cube.hbm.closed_page' has keys of a component, but 'cube.hbm.impl' is 'server'
{impl: server}|cube.sram.server.hold_own=0|different values of 'hold_own'
END
equal "files of components, each once" examples/components/server.c "$("$KBGEN" --components "$work/bad.yaml")"
export KB_COMPONENTS=$bad

# compiled NAME TEXT: refused by the compiler, or by what looks at its object, for a machine that is compiled
compiled()
{
    machine "$1"
    call "$KBGEN" --component-code "$work/bad.yaml"
    [ $code -eq 3 ] && [ ! -s "$work/out" ] && grep -qF "$2" "$work/err"
    ok "$1: $2"
}
compiled misspelt "$bad/misspelt.c: this component does not compile, see above; cube.hbm.impl asks for it"
compiled counts "$bad/counts.c: 'counts_calls' is data that can be written"
compiled calls "$bad/calls.c: it calls 'rand'"
compiled includes "$bad/includes.c: line 12: '/usr/include/time.h': a component includes nothing but"

# -- what a YAML says of components -------------------------------------------------------------

# says HBM TEXT
says()
{
    printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: %s}\n' "$1" >"$work/bad.yaml"
    call "$KBGEN" --config "$work/bad.yaml"
    [ $code -eq 3 ] && grep -qF "$2" "$work/err"
    ok "$1: $2"
}
says '{impl: closed_page, closed_page: {bank: 4}}' "unknown key 'bank' in 'cube.hbm.closed_page', did you mean 'banks'?"
says '{impl: closed_page, closed_page: {banks: 4.5}}' "'cube.hbm.closed_page.banks' must be an integer, not '4.5'"
says '{impl: closed_page, closed_page: {banks: 0}}' "'cube.hbm.closed_page.banks' must be 1..1024, not '0'"
says '{impl: closed_page, closed_page: {banks: 4, banks: 5}}' "duplicate key 'cube.hbm.closed_page.banks'"
says '{impl: closed_page, server: {hold_own: 1}}' "'cube.hbm.server' has keys of a component, but 'cube.hbm.impl' is 'closed_page'"
printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 1, h: 1}}\ncube: {pes: 1, hbm: {impl: closed_page}, sram: {impl: closed_page, closed_page: {banks: 4}}}\n' >"$work/bad.yaml"
call "$KBGEN" "$work/bad.yaml"
[ $code -eq 3 ] && grep -qF "ask for the component 'closed_page' with different values of 'banks'" "$work/err"
ok "one component with two values of a key"
printf 'kernbench: 2\nname: bad\ncontention: {links: router}\nsip: {cube_mesh: {w: 2, h: 1}}\ncube: {pes: 2, hbm: {model: banks}, pe: {pe_gemm: {impl: tiles}}}\n' >"$work/bad.yaml"
for engine in fused hop; do
    call env KB_COMPONENTS=examples/components "$B/kernbench" run gemm M=64 N=64 K=64 --machine "$work/bad.yaml" --engine $engine --fingerprint --quiet
    cat "$work/out" "$work/err" >"$work/engine.$engine"
    [ $code -eq 0 ] || echo "$engine: $code" >>"$work/engine.$engine"
done
[ $code -eq 0 ] && cmp -s "$work/engine.fused" "$work/engine.hop"
ok "routers, and an engine that is a component: both engines agree"
machine closed_page
equal "a key that is set changes the hash" 2 \
    "$(for set in 15.0 16.0; do "$KBGEN" --hash --set cube.hbm.closed_page.row_ns=$set "$work/bad.yaml"; done | sort -u | wc -l)"
"$KBGEN" --config "$work/bad.yaml" >"$work/resolved.yaml"
equal "the resolved YAML reads back" "$("$KBGEN" --hash "$work/bad.yaml")" "$("$KBGEN" --hash "$work/resolved.yaml")"
mkdir "$work/components" && sed 's/28.0/29.0/' examples/components/closed_page.c >"$work/components/closed_page.c"
equal "a file beside the YAML comes first, and its text is in the hash" 2 \
    "$( ("$KBGEN" --hash "$work/bad.yaml"; rm -r "$work/components"; "$KBGEN" --hash "$work/bad.yaml") | sort -u | wc -l)"

# -- built while it runs ------------------------------------------------------------------------

cache=$work/cache/kernbench
rm -rf "$work/cache"
machine closed_page
for i in 1 2 3 4; do
    "$B/kernbench" probe --machine "$work/bad.yaml" --format csv >"$work/probe$i" 2>&1 &
done
wait
[ "$(sort -u "$work"/probe? | wc -l)" -gt 2 ] && cmp "$work/probe1" "$work/probe2" && cmp "$work/probe1" "$work/probe3" && cmp "$work/probe1" "$work/probe4"
ok "four at once build the same"
equal "one object is kept, and nothing else" "1 1" "$(find "$cache" -mindepth 1 | wc -l) $(find "$cache" -name '*.so' | wc -l)"
mkdir "$cache/new999999999.1" && : >"$cache/new999999999.1/component.c"
call env CC=/nowhere/cc "$B/kernbench" probe --machine "$work/bad.yaml" --format csv
[ $code -eq 0 ] && cmp "$work/out" "$work/probe1"
ok "what was built before needs no compiler"
call env CC=/nowhere/cc "$B/kernbench" probe --machine "$work/bad.yaml" --set cube.hbm.closed_page.banks=8
[ $code -eq 3 ] && grep -qF "is a component, which a compiler builds, and '/nowhere/cc' cannot be run" "$work/err"
ok "no compiler: refused"
equal "what a killed build has left is gone" "1" "$(find "$cache" -mindepth 1 | wc -l)"
call env -u HOME -u XDG_CACHE_HOME "$B/kernbench" probe --machine "$work/bad.yaml"
[ $code -eq 3 ] && grep -qF "neither XDG_CACHE_HOME nor HOME is set" "$work/err"
ok "no folder for it: refused"
# killed while the compiler runs: the next one builds it, and clears away
printf '#!/bin/sh\nsleep 1\nexec cc "$@"\n' >"$work/slow" && chmod +x "$work/slow"
rm -rf "$work/cache"
CC=$work/slow "$B/kernbench" probe --machine "$work/bad.yaml" >/dev/null 2>&1 &
killed=$!
for _ in $(seq 500); do
    [ -z "$(find "$cache" -path "*/new$killed.*/component.c" 2>/dev/null)" ] || break
    sleep 0.02
done
{ kill -9 $killed; wait $killed; } 2>/dev/null
call "$B/kernbench" probe --machine "$work/bad.yaml" --format csv
[ $code -eq 0 ] && cmp "$work/out" "$work/probe1"
ok "a build that was killed: the next one"
equal "and nothing of it is left" "1 1" "$(find "$cache" -mindepth 1 | wc -l) $(find "$cache" -name '*.so' | wc -l)"
# a key of a component, varied: one bank, and 32
printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.slice0,0,64\n0,read,c0.pe1,c0.slice0,16384,64\n' >"$work/two.csv"
call "$B/kernbench" replay --machine tests/machines/components.yaml --set cube.noc.impl=builtin \
    --vary cube.hbm.closed_page.banks=1,32 "$work/two.csv" --quiet --format csv
equal "--vary of a component's key" "30.335000 78.585000 30.335000 32.595000" "$(cut -d, -f11 "$work/out" | tail -4 | xargs)"
call "$B/kernbench" replay --machine tests/machines/components.yaml --set cube.noc.impl=builtin --set cube.hbm.closed_page.banks=1 \
    --set cube.hbm.closed_page.banks=32 "$work/two.csv" --quiet --format csv
equal "--set of a component's key twice: the last one counts" "30.335000 32.595000" "$(cut -d, -f10 "$work/out" | tail -2 | xargs)"
# compiled at run time, the same as a machine that is compiled with it
call "$B/kernbench" replay --machine tests/machines/components.yaml "$work/random.csv" --quiet
cp "$work/out" "$work/loaded"
call "$M/components/components" replay "$work/random.csv" --quiet
cmp "$work/out" "$work/loaded"
ok "all kinds: the rows of the compiled machine"
# loaded NAME TEXT: refused while it runs, and nothing is left
loaded()
{
    machine "$1"
    call "$B/kernbench" probe --machine "$work/bad.yaml"
    [ $code -eq 3 ] && grep -qF "$2" "$work/err" && [ -z "$(find "$cache" -name 'new*')" ]
    ok "$1, while it runs: $2"
}
loaded misspelt "$bad/misspelt.c: this component does not compile, see above; cube.hbm.impl asks for it"
loaded counts "$bad/counts.c: 'counts_calls' is data that can be written: a component keeps its state in struct counts; cube.hbm.impl asks for it"
loaded calls "$bad/calls.c: it calls 'rand'"
grep -q "misspelt.c:[0-9]*:[0-9]*: error" <(machine misspelt; "$B/kernbench" probe --machine "$work/bad.yaml" 2>&1)
ok "the compiler's message stands before ours"

# -- make check-component -----------------------------------------------------------------------

# checks FILE CODE LINES: with the machine made at run time, which is quick; what it prints of these kinds
checks()
{
    call env LOADED=1 B="$B" CC="$CC" tools/check_component.sh "$1"
    [ $code -eq "$2" ] && [ "$(grep -c "^$3" "$work/out")" -eq "$4" ]
    ok "check-component $1: $4 times '$3', exit $2"
}
checks examples/components/open_page.c 0 pass 8
checks $bad/beyond.c 1 "FAIL  alone" 1
checks $bad/clock.c 1 "FAIL  formula = alone" 1

# -- make TOPO=... --------------------------------------------------------------------------------

# makes TEXT: make refuses bad.yaml, with that
makes()
{
    call make -s B="$B" TOPO="$work/bad.yaml" topology
    [ $code -ne 0 ] && grep -qF "$1" "$work/err"
    ok "make: $1"
}
machine lost
mkdir -p "$B/_topo" "$work/a b"
list=$B/_topo/$(echo "$work/bad.yaml" | tr / _).mk
printf 'N := bad\nCOMPONENTS := %s\n%s: %s\n' "$work/lost.c" "$list" "$work/lost.c" >"$list"
makes "there is no component 'lost'" # it was there, and is gone
sed 's/closed_page/lost/' examples/components/closed_page.c >"$work/a b/lost.c"
export KB_COMPONENTS="$work/a b"
makes "a component is in '$work/a b/lost.c', and make cannot take a blank in it"
unset KB_COMPONENTS
rm -f "${list%.mk}".*

# -- a table of routes --------------------------------------------------------------------------

# route TEXT MORE...: four cubes whose routes are that table, behind its first line
route()
{
    mkdir -p "$work/components"
    printf '# kernbench component: route around\n%b' "$1" >"$work/components/around.csv"
    printf 'kernbench: 2\nname: bad\nsip: {cube_mesh: {w: 2, h: 2}, routes: {impl: around}}\ncube: {pes: 2}\n' >"$work/bad.yaml"
    shift
    call "$B/kernbench" route c1.pe0 c0.slice0 --machine "$work/bad.yaml" --format csv "$@"
}
around='src,dst,edges\nc0,c2,c0>c1 c1>c3 c3>c2\nc1,c0,c1>c3 c3>c2 c2>c0\nc3,c1,c3>c2 c2>c0 c0>c1\nc2,c3,c2>c0 c0>c1 c1>c3\n'
route "$around"
equal "routes of a table: all go round" "1 3 2 0" "$(grep -o 'cube[0-9].noc' "$work/out" | grep -o '[0-9]' | xargs)"
route "$around" --set contention.links=router --set contention.vcs='[1, 1]'
[ $code -eq 3 ] || [ $code -eq 2 ] && grep -qi "circle" "$work/err"
ok "a table that goes in a circle: refused under routers"
while IFS='|' read -r what table line text; do
    route "$table"
    [ $code -eq 3 ] && grep -qF "components/around.csv$line $text" "$work/err"
    ok "routes: $what"
done <<END
a missing pair|${around%c2,c3*}|:|c0 to c3 has no route: a line c0,c3,EDGES gives one
no such edge|${around}c0,c3,c0>c3\\n|:7:1:|there is no edge c0>c3
does not connect|${around}c0,c3,c0>c1 c2>c3\\n|:7:1:|the route does not connect: c2>c3 begins at c2, and it is at c1
ends elsewhere|${around}c0,c3,c0>c1\\n|:7:1:|the route of c0 to c3 does not connect: it ends at c1
two ways on|${around}c0,c3,c0>c2 c2>c3\\n|:7:1:|on the way to c3 it leaves c0 by another edge than line 6
no columns|c0,c3,c0>c1\\n|:2:1:|the first line must be src,dst,edges
nothing||:|the first line must be src,dst,edges
no cube|${around}x0,c3,c0>c1\\n|:7:1:|'x0,c3,c0>c1' is no line src,dst,edges
no number|${around}c0,cx,c0>c1\\n|:7:1:|'c0,cx,c0>c1' is no line
half a line|${around}c0;c3\\n|:7:1:|'c0;c3' is no line
no edges behind it|${around}c0,c3\\n|:7:1:|'c0,c3' is no line
no edges|${around}c0,c3,\\n|:7:1:|the route of c0 to c3 has no edges
a cube to itself|${around}c3,c3,c3>c1\\n|:7:1:|a route leads from a cube to another one
another cube than there are|${around}c0,c3,c0>c4\\n|:7:1:|'c0>c4' is no edge between cubes
no arrow|${around}c0,c3,c0-c1\\n|:7:1:|'c0-c1' is no edge
from nowhere|${around}c0,c3,c0>c1 >c3\\n|:7:1:|'>c3' is no edge
no blank|${around}c0,c3,c0>c1,c1>c3\\n|:7:1:|'c0>c1,c1>c3' is no edge
the second mistake too|${around}c0,c3,c\\nc0,c3,c0>c3 \\r\\n|:8:1:|there is no edge c0>c3
END
route "# a comment\n\n$around"
equal "routes: the table is one of the files of the machine" "$work/components/around.csv" "$("$KBGEN" --components "$work/bad.yaml")"
equal "routes: blank lines and comments" "1 3 2 0" "$(grep -o 'cube[0-9].noc' "$work/out" | grep -o '[0-9]' | xargs)"
echo src,dst,edges >"$work/components/around.csv"
call "$B/kernbench" info --machine "$work/bad.yaml"
[ $code -eq 3 ] && grep -qF "around.csv:1:1: a table of routes begins with '# kernbench component: route around'" "$work/err"
ok "routes: a file of something else"
rm "$work/components/around.csv"
call "$B/kernbench" info --machine "$work/bad.yaml"
[ $code -eq 3 ] && grep -qF "around.csv" "$work/err"
ok "routes: no file"
plan
