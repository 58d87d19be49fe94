#!/usr/bin/env bash
# ends.sh -- benches end on every machine: with fewer elements than ranks, and a sample of check-ends.
. "$(dirname "$0")/../support/tap.sh"
at_top

# Of each memory model, and behind routers: ranks without an element send and receive nothing.
small=(--machine tests/machines/cube8.yaml --set sip.cube_mesh.w=2)
for model in "" "--set cube.hbm.model=banks" "--set cube.hbm.impl=server" \
    "--set cube.hbm.model=banks --set contention.links=router" \
    "--set cube.hbm.model=banks --set cube.pe.pe_ipcq.space=hbm --set contention.links=fifo"; do
    for bench in all_reduce all_gather all_to_all reduce_scatter broadcast; do
        for ranks in "over=pes count=3" "over=cubes count=1"; do
            # shellcheck disable=SC2086
            call timeout 60 "$B/kernbench" run $bench $ranks "${small[@]}" $model --verify --quiet
            [ "$code" -eq 0 ] && grep -q pass "$work/out" || break 2
        done
    done
    [ "$bench $ranks" = "broadcast over=cubes count=1" ] && [ "$code" -eq 0 ]
    ok "collectives of fewer elements than ranks: ${model:-as it is}"
done

# Two ranks for each element, on what is shipped, where the bound of an algorithm asked what no bytes cost.
call timeout 60 "$B/kernbench" run all_reduce count=32 --machine topologies/cube8.yaml --set cube.hbm.model=banks --verify --quiet
[ "$code" -eq 0 ] && grep -q pass "$work/out"
ok "all_reduce count=32 on banks"

call env KB_BENCHES="all_reduce all_to_all gemm attention" python3 tests/campaign/ends.py "$B" "$work/ends" 1-10 1
[ "$code" -eq 0 ] && tail -1 "$work/out" | grep -qx '0 failed'
ok "a sample of check-ends"

plan
