#!/usr/bin/env bash
# includes.sh -- each file includes its own folder and folders to its left only. Prints TAP.
. "$(dirname "$0")/../support/tap.sh"
at_top
house=tests/house/house.py

nothing "$(python3 $house includes . 2>&1)"
ok "no file includes a folder to its right"

# planted PATH INCLUDE: the complaint about a tree that has all these headers, and this file
for header in base/text machine/tables machine/cost engine/ev network/turn data/mem record/race pe/slots kernels/co \
    phase2/graph explain/spans sim/sim cli/cli_main include/kernbench; do
    mkdir -p "$work/tree/runtime/${header%/*}" && : >"$work/tree/runtime/$header.h"
done
mkdir "$work/tree/gen" "$work/tree/benches"
planted()
{
    echo "#include \"$2\"" >"$work/tree/$1"
    python3 $house includes "$work/tree"
    rm "$work/tree/$1"
}

# refuses WHERE WHAT, allows WHERE WHAT
refuses()
{
    equal "$1 may not include $2" "$1:1: $3 must not include \"$2\"" "$(planted "$1" "$2")"
}
allows()
{
    equal "$1 may include $2" "" "$(planted "$1" "$2")"
}

refuses runtime/base/x.c machine/tables.h base
refuses runtime/engine/x.c data/mem.h engine
refuses runtime/data/x.h network/turn.h data
refuses runtime/pe/x.c phase2/graph.h pe
refuses runtime/phase2/x.c kernels/co.h phase2
refuses runtime/explain/x.c sim/sim.h explain
refuses runtime/cli/x.c sim/sim.h cli
refuses gen/x.c machine/cost.h gen
allows runtime/engine/x.c network/turn.h
allows runtime/network/x.h engine/ev.h
allows runtime/kernels/x.c pe/slots.h
allows runtime/record/x.c data/mem.h
allows runtime/sim/x.c explain/spans.h
allows runtime/cli/x.c kernbench.h
allows gen/x.c machine/tables.h
equal "an include says its folder" 'runtime/base/x.c:1: "text.h" lacks its folder' "$(planted runtime/base/x.c text.h)"
equal "what is not there" 'runtime/base/x.c:1: "base/no.h" is nowhere' "$(planted runtime/base/x.c base/no.h)"
plan
