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

# -- ways ---------------------------------------------------------------------------------------

cat > "$work/ways.yaml" <<'END'
kernbench: 3
name: ways
links: {nvl: {bw_gbs: 64.0, latency_ns: 5.0}}
kinds: {sw: {pes: 0, hbm: {slices: 0}}}
sip: {cubes: 4, paths: 2, net: [{each: ["c[0-1]", "c[2-3]"], link: nvl}]}
cubes: {"c[2-3]": sw}
END
for way in 0 1; do
    route=$("$ANY" --machine "$work/ways.yaml" route c0.pe0 c1.slice0 --way $way --quiet --columns node)
    equal "way $way passes its switch" "cube$((2 + way))" "$(grep -o 'cube[23]' <<<"$route" | sort -u)"
done
refused "a way too far" 2 "there is no way 2: the route has 2, from 0 on" --machine "$work/ways.yaml" route c0.pe0 c1.slice0 --way 2
refused "a way of a host" 2 "there is no way 1: the route has 1, from 0 on" --machine "$work/ways.yaml" route host c1.slice0 --way 1
refused "ways of a mesh" 2 "--way 1: no route has several ways, sip.paths is 1" --machine topologies/cube8.yaml route c0.pe0 c1.slice0 --way 1

# One place makes the mask of costs that are left out: each computation of a cost takes it from there.
equal "a mask is made in one place" runtime/machine/cost.h \
    "$(grep -rlE '\(struct cost_mask\) *\{|struct cost_mask [a-z_]+ = \{' runtime gen benches)"
# -- behind an L2 -------------------------------------------------------------------------------

# The edge from the NoC to its crossbar has 128 GB/s, those of the PE and the slice 256.
run route c0.pe0 c0.slice0 --set cube.l2.size_mb=0.25 --format csv
equal "the bottleneck is the narrowest edge, also behind an L2" "128.000000 128.000000" \
    "$(awk -F, '$7 == 1 { print $6 }' "$work/out") $("$SIM" route c0.pe0 c0.slice0 --set cube.l2.size_mb=0.25 | sed -n 's,.*bottleneck \(.*\) GB/s,\1,p')"
run probe --case pe-local-hbm --set cube.l2.size_mb=0.25 --format json
equal "... of probe, too: 4096 bytes of 128 GB/s" '[128,true]' \
    "$(jq -c '.rows[0] | [.bottleneck_gbs, (.util_pct - .eff_bw_gbs / 1.28 | fabs) < 1e-5]' "$work/out")"

# rows_of ARGUMENT...: the sums of wires and overheads of the rows, and those of the line below them
rows_of()
{
    "$ANY" route --machine topologies/cube8.yaml "$@" --quiet --format table >"$work/table"
    "$ANY" route --machine topologies/cube8.yaml "$@" --quiet --format csv |
        awk -F, 'NR > 1 { sum += $3 + $4 } END { printf "%.3f ", sum }'
    sed -nE 's/^.* wire ([0-9.]+) \+ overhead ([0-9.]+) .*$/\1 \2/p' "$work/table" | awk '{ printf "%.3f\n", $1 + $2 }'
}

# A cache takes 30 ns before the 2 of the crossbar and the wires, banks the first two of their times, an L2 50 ns.
equal "rows and sum, a cache" "32.085 32.085" \
    "$(rows_of c0.pe0 c0.slice0 --set cube.hbm.cache.size_mb=1 --set cube.hbm.cache.latency_ns=30)"
equal "rows and sum, banks" "33.085 33.085" "$(rows_of c0.pe0 c0.slice0 --set cube.hbm.model=banks)"
equal "rows and sum, a read through an L2" "68.151 68.151" \
    "$(rows_of c0.pe0 c0.slice0 --set cube.l2.size_mb=0.25 --set cube.l2.latency_ns=50)"
equal "a write ends at the L2" "50.005 50.005" \
    "$(rows_of c0.pe0 c0.slice0 --op write --set cube.l2.size_mb=0.25 --set cube.l2.latency_ns=50)"
equal "... and has no row behind it" "sip0.cube0.l2" \
    "$(sed -nE '$!{s/^ *[0-9]+ +([^ ]+) .*$/\1/p}' "$work/table" | tail -n 1)"

# -- components -----------------------------------------------------------------------------------

# A gate adds 3 ns at each NoC: the route from cube 0 to cube 1 passes two.
equal "rows and sum, components of nodes" "10.315 10.315" \
    "$(KB_COMPONENTS=examples/components XDG_CACHE_HOME=$work/cache rows_of c0.pe0 c1.slice0 --set cube.noc.impl=gate --set cube.noc.overhead_ns=3)"

# -- several lanes --------------------------------------------------------------------------------

# Two lanes of 25 GB/s: packets take both, 50 GB/s in all, which is less than the 64 of the memory.
"$ANY" probe --machine topologies/galaxy.yaml --bytes 1M --set cube.pe.pe_dma.packet_bytes=4096 --case pe-cross-cube-best --quiet --format json >"$work/out"
equal "util_pct of packets is of all lanes that they take" '[25,true]' \
    "$(jq -c '.rows[0] | [.bottleneck_gbs, (.util_pct - .eff_bw_gbs / 50 * 100 | fabs) < 1e-4]' "$work/out")"
"$ANY" probe --machine topologies/galaxy.yaml --bytes 1M --case pe-cross-cube-best --quiet --format json >"$work/out"
equal "... and of one lane for a transaction that is whole" '[25,true]' \
    "$(jq -c '.rows[0] | [.bottleneck_gbs, (.util_pct - .eff_bw_gbs / 25 * 100 | fabs) < 1e-4]' "$work/out")"

plan
