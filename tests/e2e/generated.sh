#!/usr/bin/env bash
# generated.sh -- generated C: golden, without leftovers of m4, the same in every folder.
#
# B names the build, KBGEN the generator.
. "$(dirname "$0")/../support/tap.sh"
at_top
kbgen=${KBGEN:-$B/kbgen}
unset KBGEN

# expand FOLDER DEFINITIONS TEMPLATE: as the Makefile does
expand() {
    m4 -P -E -E templates/base.m4 "$1/$2.m4" "templates/$3.m4" >"$1/$3"
}

# generate YAML FOLDER: topo.h, topo.c, main.c, api.h
generate() {
    mkdir -p "$2"
    "$kbgen" "$1" >"$2/defs.m4" && sed '/^$1(.*)m4_dnl$/d' "$2/defs.m4" >"$2/names.m4" || return
    expand "$2" defs topo.c && expand "$2" names topo.h && expand "$2" names main.c && expand "$2" names api.h
}

generate tests/golden/two_cubes.yaml "$work/golden"
mv "$work/golden/api.h" "$work/golden/two_cubes.h"
for file in topo.h topo.c two_cubes.h; do
    diff -u "tests/golden/$file" "$work/golden/$file"
    ok "golden: $file (make golden writes it again)"
done

# config_of FILE: the resolved YAML in a topo.c
config_of() {
    sed -n '/^static const char config/,/;$/p' "$1" | sed '1d; s/^ *"//; s/\\n"$//' | grep -vx ' *;'
}

# m4 takes away brackets that are two, and puts values in the place of names that begin with gen_.
cat >"$work/quoted.yaml" <<END
kernbench: 3
name: quoted
links: {gen_w: {bw_gbs: 64.0, latency_ns: 7.0}}
kinds: {gen_pes: {pes: 2}}
sip: {cubes: 2, net: [{list: [c0.E-c1.W], link: gen_w}]}
cube: {noc: {model: mesh, mesh: {holes: [[2, 2], [3, 2]]}}}
cubes: {c0: gen_pes}
END
for yaml in "$work/quoted.yaml" topologies/cube16_mesh.yaml; do
    generate "$yaml" "$work/quoted" && "$kbgen" --config "$yaml" | diff - <(config_of "$work/quoted/topo.c")
    ok "the YAML in what ${yaml##*/} becomes has every character"
done

# Of nets t3k and mi300x have all tables; those of the others are up to 100 MB.
for yaml in topologies/*.yaml tests/machines/{tray32,components}.yaml tests/vectors/*.yaml tests/vectors2/{banks0,router*}.yaml; do
    case $yaml in */dojo.yaml | */dgxh100.yaml | */galaxy.yaml) continue ;; esac
    generate "$yaml" "$work/one" && ! grep -n 'gen_' "$work"/one/*.[ch]
    ok "no macro is left over in what $yaml becomes"
done

# Routers whose virtual channels are shared out: stages of a mesh, rings of cubes and of SIPs.
while IFS= read -r keys; do
    printf 'kernbench: 2\nname: shares\n%s\ncontention: {links: router, vcs: [4, 4], buffer_bytes: 8192}\n' \
        "$(tr ';' '\n' <<<"$keys")" >"$work/shares.yaml"
    generate "$work/shares.yaml" "$work/one" && grep -q 'request_shares' "$work/one/topo.c" && ! grep -n 'gen_' "$work"/one/*.[ch]
    ok "shares of channels: $keys"
done <<END
sip: {cube_mesh: {w: 2, h: 2}};cube: {noc: {model: mesh}}
sip: {cube_mesh: {w: 4, h: 1, wrap: x}}
sips: 4;fabric: {shape: grid, grid: {w: 4, h: 1}, wrap: x};sip: {cube_mesh: {w: 1, h: 1}}
END

# Tables that no code of the topology uses would be warnings: missing cubes that nothing goes round. Tables that are
# not there would be errors: ways of a chain, in which no pair of cubes has two.
while IFS='|' read -r what keys; do
    printf '%s\n' "kernbench: 3" "name: gaps" "$(tr ';' '\n' <<<"$keys")" >"$work/gaps.yaml"
    generate "$work/gaps.yaml" "$work/gaps" && mv "$work/gaps/api.h" "$work/gaps/gaps.h" &&
        ${CC:-gcc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O1 -DNDEBUG -Iruntime/include -Iruntime \
            -c -o "$work/gaps/topo.o" "$work/gaps/topo.c"
    ok "what is generated of $what compiles without a warning"
done <<END
a machine with gaps|sips: 2;sip: {cube_mesh: {w: 2, h: 1}};missing: [s1.c1]
cubes that are alike and have an L2|sip: {cube_mesh: {w: 2, h: 1}};cube: {l2: {size_mb: 1}};addressing: {granule: 1024}
cubes without PEs that have an L2|sip: {cube_mesh: {w: 1, h: 1}};cube: {pes: 0, hbm: {slices: 2}, l2: {size_mb: 1}};addressing: {granule: 1024}
a net whose pairs of cubes have one way|sip: {cubes: 3, paths: 2, net: [{mesh: [3]}]}
a net whose pairs of cubes have several|sip: {cubes: 4, paths: 2, net: [{torus: [4]}]}
END

mkdir -p "$work/elsewhere"
cp topologies/tray32.yaml "$work/elsewhere/"
generate topologies/tray32.yaml "$work/a" && generate "$work/elsewhere/tray32.yaml" "$work/b" &&
    diff -r "$work/a" "$work/b"
ok "the same bytes from another folder"

! grep -rn "$PWD" "$work/a"
ok "no folder of the build in it"
plan
