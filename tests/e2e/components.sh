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
not_ours|elsewhere component: memory not_ours\n */|1:1: $begins
of_nothing|kernbench thing: memory of_nothing\n */|1:1: $begins
unclosed|kernbench component: memory unclosed\n|1:1: $begins
far_kind|kernbench component: xyzzyplugh far_kind\n */|1:1: 'xyzzyplugh' is no kind of component: memory, node or engine
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
{impl: [server]}||4:28: 'cube.hbm.impl' must be a name, not a list of 1
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
