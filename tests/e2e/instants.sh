#!/usr/bin/env bash
# instants.sh -- thousands of rows on machines where nothing takes time but bytes: both engines and the judge.
. "$(dirname "$0")/../support/tap.sh"
at_top

none=(ns_per_mm cube.ucie.overhead_ns cube.xbar.overhead_ns cube.bridge.overhead_ns)
quiet=("${none[@]/#/--set }")
# shellcheck disable=SC2206
quiet=(${quiet[@]/%/=0})

# rows SEED OPS: 3000 rows of 4096 bytes at 0, mostly from cube to cube
rows()
{
    awk -v seed="$1" -v ops="$2" 'BEGIN {
        srand(seed)
        n = split(ops, op, " ")
        print "issue_ns,op,src,dst,offset,nbytes"
        for (i = 0; i < 3000; i++)
            printf "0,%s,c%d.pe%d,c%d.%s,0,4096\n", op[1 + int(rand() * n)], rand() * 8, rand() * 8, rand() * 8,
                rand() < 0.1 ? "sram" : "slice" int(rand() * 8)
    }'
}

seed=0
for ops in "read write" read write; do
    for keys in "" "--set cube.hbm.hold=route" "--set sip.cube_mesh.w=1 --set sip.cube_mesh.h=1"; do
        seed=$((seed + 1))
        rows $seed "$ops" >"$work/rows.csv"
        [ "${keys#*cube_mesh}" = "$keys" ] || sed -i 's/,c[0-7]/,c0/g' "$work/rows.csv"
        # shellcheck disable=SC2086
        machine=(--machine topologies/cube8.yaml "${quiet[@]}" $keys)
        "$B/kernbench" info "${machine[@]}" --config >"$work/machine.yaml"
        call "$B/kernbench" replay "${machine[@]}" "$work/rows.csv" --format csv --quiet
        cp "$work/out" "$work/fused"
        call "$B/kernbench" replay "${machine[@]}" "$work/rows.csv" --format csv --quiet --engine hop
        [ "$code" -eq 0 ] && cmp "$work/fused" "$work/out"
        ok "both engines: $ops $keys"
        call "$B/_t/judge" replay "$work/machine.yaml" "$work/rows.csv"
        [ "$code" -eq 0 ] && cmp "$work/fused" "$work/out"
        ok "as the judge: $ops $keys"
    done
done
plan
