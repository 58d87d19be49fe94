#!/usr/bin/env bash
# check_component.sh FILE: what every component must hold, one line each; exit 1 if one fails.
#
# B is the build, CC the compiler; LOADED: the machine is only made at run time, which is quick.
# `make check-component C=FILE` calls it.
file=$1 B=${B:-build} CC=${CC:-gcc} LOADED=${LOADED:-} failed=0
name=$(basename "$file" .c)
folder=$(cd "$(dirname "$file")" 2>/dev/null && pwd)
place=$B/_check/$name
sim=$place/check_$name/check_$name what="it compiles; no data of its own, no foreign include or call"

pass() { echo "pass  $1"; }
fail()
{
    echo "FAIL  $1${2:+: $2}"
    failed=1
}
# holds WHAT COMMAND...: it succeeds, or what it said first stands behind the failure
holds()
{
    local what=$1
    shift
    if "$@" >"$place/out" 2>&1; then
        pass "$what"
    else
        fail "$what" "$(grep -m 1 -E 'ERROR|runtime error' "$place/out" || head -1 "$place/out")"
    fi
}

if [ ! -f "$folder/$name.c" ]; then
    echo "check-component: there is no file '$file': C=path/to/NAME.c names one" >&2
    exit 3
fi
mkdir -p "$place"
kind=$(sed -n '1s/.*kernbench component: *\([a-z]*\).*/\1/p' "$file")
impl="{impl: $name}"
case $kind in
node) boxes="fabric: {impl: $name}
cube: {pes: 4, noc: $impl, xbar: $impl, ucie: $impl}
sip: {cube_mesh: {w: 2, h: 1}, io: {pcie_ep: $impl}}" ;;
engine) boxes="cube: {pes: 4, pe: {pe_gemm: $impl, pe_math: $impl}}
sip: {cube_mesh: {w: 2, h: 1}}" ;;
front) boxes="cube: {pes: 4, hbm: {model: banks, impl: [$name, builtin]}, sram: {impl: [$name, builtin]}}
sip: {cube_mesh: {w: 2, h: 1}}" ;;
*) boxes="cube: {pes: 4, hbm: $impl, sram: $impl}
sip: {cube_mesh: {w: 2, h: 1}}" ;;
esac
printf 'kernbench: 2\nname: check_%s\nsips: 2\n%s\n' "$name" "$boxes" >"$place/machine.yaml"

# -- the file ----------------------------------------------------------------------------------

export KB_COMPONENTS=$folder
case $folder in
*[[:space:]]*) # make cannot take it: its folder by another name
    ln -sfn "$folder" "$place/components" ;;
*) rm -f "$place/components" ;;
esac
if ! "$B/kbgen" --name "$place/machine.yaml" >"$place/out" 2>&1; then
    fail "header" "$(head -1 "$place/out")"
    exit 3
fi
pass "header"
mkdir -p "$place/cache" && export XDG_CACHE_HOME=$place/cache
# loaded COMMAND ARGUMENT...: by the machine that is made at run time
loaded()
{
    local command=$1
    shift
    "$B/kernbench" "$command" --machine "$place/machine.yaml" "$@"
}
if [ -n "$LOADED" ]; then
    build() { loaded info; }
else
    build() { ${MAKE:-make} -s B="$B" TOPO="$place/machine.yaml" PLACE="$place" MACHINE_CFLAGS=-O0 topology; }
fi
if ! build >"$place/out" 2>&1; then
    fail "$what" "$(grep -F "$name.c:" "$place/out" | tail -1)"
    cat "$place/out" >&2
    exit 3
fi
pass "$what"
# call COMMAND ARGUMENT...
call()
{
    if [ -n "$LOADED" ]; then loaded "$@"; else "$sim" "$@"; fi
}

# -- alone -------------------------------------------------------------------------------------

# constants stand before the text of the file
{
    echo '#include <stdint.h>'
    "$B/kbgen" --component-code "$place/machine.yaml" | sed -n '/^# 1 "components"$/d; /^#/q; p'
} >"$place/constants.h"
alone()
{
    $CC -std=c11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Iruntime/include \
        -include "$place/constants.h" -DCOMPONENT="$name" -DCOMPONENT_FILE="\"$folder/$name.c\"" \
        ${2:+"$2"} -o "$place/alone" "tools/$1.c" && "$place/alone"
}
case $kind in
queueing) holds "alone: answers, equal states, sanitizers" alone check_queueing ;;
front) holds "alone: answers, equal states, sanitizers" alone check_queueing -DFRONT ;;
node) holds "alone: answers, equal states, sanitizers" alone check_component -DNODE ;;
*) holds "alone: answers, equal states, sanitizers" alone check_component ;;
esac

# -- in a machine ------------------------------------------------------------------------------

# Rows by chance: all kinds of transactions, sizes and times.
awk 'BEGIN {
    srand(18); print "issue_ns,op,src,dst,offset,nbytes"
    split("1 64 100 4096 20000", size, " ")
    for (i = 0; i < 600; i++) {
        host = rand() < 0.1; sip = int(2 * rand()); to = host ? sip : int(2 * rand())
        op = host ? (rand() < 0.5 ? "h2d" : "d2h") : rand() < 0.6 ? "read" : "write"
        src = host ? "s" sip ".host" : "s" sip ".c" int(2 * rand()) ".pe" int(4 * rand())
        dst = "s" to ".c" int(2 * rand()) (!host && rand() < 0.1 ? ".sram" : ".slice" int(4 * rand()))
        print int(4000 * rand()) "," op "," src "," dst "," 64 * int(4096 * rand()) "," size[1 + int(5 * rand())]
    }
}' >"$place/rows.csv"
replay() { call replay --quiet "$@" "$place/rows.csv"; }
bench() { call run "$@" --quiet --format csv; }
engines()
{
    replay >"$place/a" && replay --engine hop >"$place/b" && cmp "$place/a" "$place/b" &&
        replay --fingerprint 2>"$place/a" >"$place/rows" && replay --fingerprint --engine hop 2>"$place/b" >"$place/rows" &&
        cmp "$place/a" "$place/b" && cmp "$place/a" "$place/b" &&
        bench gemm_composite >"$place/a" && bench gemm_composite --engine hop >"$place/b" && cmp "$place/a" "$place/b" &&
        bench softmax >"$place/a" && bench softmax --engine hop >"$place/b" && cmp "$place/a" "$place/b"
}
at_run_time() { replay >"$place/a" && loaded replay --quiet "$place/rows.csv" >"$place/b" && cmp "$place/a" "$place/b"; }
twice() { replay >"$place/a" && replay >"$place/b" && cmp "$place/a" "$place/b"; }
sweep()
{
    call sweep --quiet --src 's0.c0.pe*' --dst 's*.c*.slice*' --op read,write --bytes 64,4096 --inflight 1,3 "$@"
}
threads() { sweep -j 1 >"$place/a" && sweep -j 3 >"$place/b" && cmp "$place/a" "$place/b"; }
# Its times are in order; stations that were taken for longer than the run are exit 6.
monotone()
{
    replay --format csv >"$place/a" && awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["issue_ns"] > $at["start_ns"] || $at["start_ns"] > $at["arrive_ns"] || $at["arrive_ns"] > $at["done_ns"] ||
        $at["done_ns"] > $at["end_ns"] { print "row " NR ": times go backwards"; exit 1 }' "$place/a"
}
# Single transactions, each in a run of its own.
formula()
{
    for row in 0,read,s0.c0.pe0,s0.c0.slice0,0,64 0,write,s0.c0.pe1,s0.c0.slice2,4096,4096 0,read,s0.c0.pe3,s0.c1.slice1,64,20000 \
        0,write,s0.c1.pe0,s1.c1.slice3,0,100 0,read,s1.c0.pe2,s0.c1.sram,128,1 0,h2d,s0.host,s0.c1.slice0,0,4096 0,d2h,s1.host,s1.c0.slice3,8192,64; do
        printf 'issue_ns,op,src,dst,offset,nbytes\n%s\n' "$row" >"$place/one.csv"
        call replay --quiet "$place/one.csv" >"$place/a" && awk -F, -v row="$row" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["formula_ns"] != $at["actual_ns"] { print row ": formula_ns " $at["formula_ns"] ", alone " $at["actual_ns"]; exit 1 }' "$place/a" || return 1
    done
}
holds "both engines equal, fingerprints too" engines
[ -n "$LOADED" ] || holds "made at run time, the same" at_run_time
holds "a replay twice equal" twice
holds "any -j equal" threads
holds "times in order, no station over 100 %" monotone
holds "formula = alone" formula
if [ "$kind" = memory ]; then # it serves packets there, and is made at run time
    echo 'contention: {links: router, buffer_bytes: 0, packet_bytes: 512}' >>"$place/machine.yaml"
    LOADED=1
    holds "behind routers: both engines equal" engines
    holds "behind routers: formula = alone" formula
fi
exit $failed
