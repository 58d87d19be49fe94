#!/usr/bin/env bash
# stall.sh -- packets that wait for each other, on a machine that kbgen would refuse. Prints TAP.
#
# B names the build. Needs $B/_t/any_simulator, which can leave out the shares of VCs that kbgen proved.
. "$(dirname "$0")/../support/tap.sh"
at_top
sim=$B/_t/any_simulator
[ -x "$sim" ] || none "there is no $sim"

cat >"$work/ring.yaml" <<'END'
kernbench: 2
name: ring
ns_per_mm: 0.0
contention: {links: router, segment_bytes: 64, packet_bytes: 640, buffer_bytes: 64, vcs: [2, 2]}
sip: {cube_mesh: {w: 5, h: 1, wrap: x}, d2d: {bw_gbs: 16.0}}
cube: {pes: 1, sram: {bw_gbs: 1e6}}
END
{
    echo issue_ns,op,src,dst,offset,nbytes
    for i in 0 1 2 3 4; do
        echo "0,write,c$i.pe0,c$(((i + 2) % 5)).sram,0,6400"
    done
} >"$work/rows.csv"

for engine in fused hop; do
    call "$sim" "$work/ring.yaml" replay "$work/rows.csv" --engine $engine --quiet
    [ "$code" -eq 0 ]
    ok "$engine: as kbgen made it the ring ends"

    call "$sim" --unchecked "$work/ring.yaml" replay "$work/rows.csv" --engine $engine --quiet
    [ "$code" -eq 6 ] && grep -q 'packets wait for each other: ' "$work/err" &&
        [ "$(grep -o 'VC 0' "$work/err" | wc -l)" -eq 6 ]
    ok "$engine: without its datelines it stalls: exit 6, and the VCs of the circle by name"
done
plan
