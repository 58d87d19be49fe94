#!/usr/bin/env bash
# route.sh -- `route` prints the formula that `replay` prints for the same bytes alone, on machines of all kinds.
#
# TAP on stdout. B names the build.
. "$(dirname "$0")/../support/tap.sh"
at_top
ANY=$B/kernbench
[ -x "$ANY" ] || none "$ANY is not built"

# formula_of ARGUMENT...: its terms and their sum, as the line below the table of route has them
formula_of()
{
    "$ANY" route "$@" --quiet --format table |
        sed -nE 's/^.* bytes alone: wire (.*) = formula (.*) ns;.*$/\1 \2/p' | sed -E 's/ \+ [a-z]+//g'
}

# replayed ARGUMENT...: the same of each row of $work/rows.csv by replay, a line each
replayed()
{
    "$ANY" replay "$work/rows.csv" "$@" --quiet --format csv |
        awk -F, 'NR == 1 { n = split("wire_ns overhead_ns drain_ns response_ns return_ns formula_ns", name, " ")
                           for (i = 1; i <= NF; i++) at[$i] = i
                           next }
            { line = ""
              for (k = 1; k <= n; k++) if (at[name[k]] && $at[name[k]] != "") line = line " " $at[name[k]]
              print substr(line, 2) }'
}

# sums "TERM... SUM": are the terms together the sum?
sums()
{
    awk '{ for (i = 1; i < NF; i++) sum += 1e6 * $i; exit sprintf("%.0f", sum) != sprintf("%.0f", 1e6 * $NF) }' <<<"$1"
}

# alike NAME ARGUMENT...: for reads and writes near and far, and the host's, of several sizes; each in
# a row of banks of its own, as one that is open would take less than alone
alike()
{
    local name=$1 op src dst bytes found row=0 bad='' replayed

    shift
    echo issue_ns,op,src,dst,offset,nbytes >"$work/rows.csv"
    while read -r op src dst; do
        for bytes in $sizes; do
            echo "0,$op,$src,$dst,$((row++))M,$bytes"
        done
    done <<<"$ways" >>"$work/rows.csv"
    row=0
    mapfile -t replayed < <(replayed "$@")
    while read -r op src dst; do
        for bytes in $sizes; do
            found=$(formula_of "$src" "$dst" --op "$op" --bytes $bytes "$@")
            [ -n "$found" ] && [ "$found" = "${replayed[row]}" ] && sums "$found" ||
                bad+="$op $src $dst $bytes: $found, replay ${replayed[row]}"$'\n'
            row=$((row + 1))
        done
    done <<<"$ways"
    nothing "$bad"
    ok "$name"
}

sizes='1 64 4096 65537'
ways='read c0.pe0 c0.slice0
write c0.pe1 c1.slice1
read c1.pe0 c0.sram
h2d host c1.slice0
d2h host c0.slice1'
alike "the machine of the documents" --machine topologies/cube8.yaml
alike "version 1 of the keys" --machine tests/machines/cube8.yaml
for set in contention.links=ideal contention.links=router cube.hbm.model=banks cube.hbm.efficiency=0.7 \
    cube.ucie.overhead_ns=0 cube.hbm.impl=server; do
    alike "$set" --machine topologies/cube8.yaml --set $set
done
alike "routers and banks" --machine topologies/cube8.yaml --set contention.links=router --set cube.hbm.model=banks
ways=${ways//c1/c5}
alike "several SIPs" --machine topologies/tray32.yaml

# One place makes the mask of costs that are left out: each computation of a cost takes it from there.
equal "a mask is made in one place" runtime/machine/cost.h \
    "$(grep -rlE '\(struct cost_mask\) *\{|struct cost_mask [a-z_]+ = \{' runtime gen benches)"
plan
