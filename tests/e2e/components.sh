#!/usr/bin/env bash
# components.sh -- components: what they change, that engines agree on them, which are refused.
. "$(dirname "$0")/../support/tap.sh"
at_top
KBGEN=${KBGEN:-$B/kbgen}
CC=${CC:-gcc}
sim=$M/components/components
bad=tests/bad/components

# -- server is the built-in memory --------------------------------------------------------------

for v in local mixed remote; do
    rows=tests/vectors/cube8_$v
    call "$M/server8/server8" replay "$rows.csv" --quiet
    [ $code -eq 0 ] && cmp "$work/out" "$rows.expected.csv"
    ok "server: $v"
    for engine in fused hop; do
        call "$M/server8/server8" replay "$rows.csv" --engine $engine --fingerprint
        [ $code -eq 0 ] && cmp "$work/out" "$rows.expected.csv" && cmp "$work/err" "$rows.fingerprint"
        ok "server: $v $engine"
    done
done
head -40 tests/vectors/cube8_mixed.csv >"$work/some.csv"
for command in "probe" "load --pattern uniform --rate 0.3 --txns 200" "sweep --src c0.pe* --dst c*.slice1 --inflight 1,4" \
    "run gemm_composite" "replay $work/some.csv --breakdown"; do
    # shellcheck disable=SC2086
    equal "server: ${command%% -*}" "$("$SIM" $command --format csv --quiet 2>&1 | sed 's/cube8/X/')" \
        "$("$M/server8/server8" $command --format csv --quiet 2>&1 | sed 's/server8/X/')"
done

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
for bench in gemm_composite softmax; do
    equal "all kinds: $bench" "$("$sim" run $bench --format csv --quiet)" "$("$sim" run $bench --format csv --quiet --engine hop)"
done
call "$sim" replay "$work/random.csv" --breakdown --format csv
ok "all kinds: the pieces of a breakdown add up"

# -- rules that are broken while it runs --------------------------------------------------------

# breaks BYTES CODE TEXT ROWS: a read of so many bytes of the SRAM; the ids that are written all the same
breaks()
{
    printf 'issue_ns,op,src,dst,offset,nbytes\n0,read,c0.pe0,c0.sram,0,%s\n0,read,c0.pe1,c0.slice0,0,64\n' "$1" >"$work/one.csv"
    for engine in fused hop; do
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

# compiled NAME TEXT: refused by the compiler, or by what looks at its source and object
compiled()
{
    machine "$1"
    "$KBGEN" "$work/bad.yaml" >"$work/defs.m4"
    for part in topo.h topo.c; do
        LC_ALL=C m4 -P -E -E templates/base.m4 "$work/defs.m4" "templates/$part.m4" >"$work/$part"
    done
    call tools/component.sh bad.yaml "$bad/$1.c" -- $CC -O0 -w -std=c11 -D_GNU_SOURCE -fPIC -Iruntime/include -Iruntime -I. \
        -iquote "$work" -iquote "$bad" -c -o "$work/topo.o" "$work/topo.c"
    [ $code -eq 3 ] && grep -qF "$2" "$work/err"
    ok "$1: $2"
}
compiled misspelt "$bad/misspelt.c: this component does not compile, see above; cube.hbm.impl of bad.yaml asks for it"
compiled includes "$bad/includes.c:12:1: '#include <time.h>': a component includes nothing but"
compiled counts "$bad/counts.c: 'counts_calls' is data that can be written"
compiled calls "$bad/calls.c: it calls 'rand'"

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
machine closed_page
call "$KBGEN" --set contention.links=router "$work/bad.yaml"
[ $code -eq 2 ] && grep -qF "'contention.links: router' and 'cube.hbm.impl: closed_page' do not go together" "$work/err"
ok "routers: refused"
equal "a key that is set changes the hash" 2 \
    "$(for set in 15.0 16.0; do "$KBGEN" --hash --set cube.hbm.closed_page.row_ns=$set "$work/bad.yaml"; done | sort -u | wc -l)"
"$KBGEN" --config "$work/bad.yaml" >"$work/resolved.yaml"
equal "the resolved YAML reads back" "$("$KBGEN" --hash "$work/bad.yaml")" "$("$KBGEN" --hash "$work/resolved.yaml")"
mkdir "$work/components" && sed 's/28.0/29.0/' examples/components/closed_page.c >"$work/components/closed_page.c"
equal "a file beside the YAML comes first, and its text is in the hash" 2 \
    "$( ("$KBGEN" --hash "$work/bad.yaml"; rm -r "$work/components"; "$KBGEN" --hash "$work/bad.yaml") | sort -u | wc -l)"
call "$B/kernbench" probe --machine "$work/bad.yaml"
[ $code -eq 3 ] && grep -qF "'cube.hbm.impl: closed_page' is a component, which is compiled into its machine" "$work/err"
ok "a machine without a build: refused"
plan
