#!/usr/bin/env bash
# own_box.sh -- a memory with a queue of its own is one file and one row: a copy of the tree gets
# tests/box/pair.c and a row of models.def, and both engines are compared with a plain list.
#
# It builds a tree, so `make check` leaves it out: bash tests/box/own_box.sh
. "$(dirname "$0")/../support/tap.sh"
at_top
tree=${TREE:-$work/tree} # TREE: where one is built already
mkdir -p "$tree"
[ -x "$tree/build/kernbench" ] || git ls-files -co --exclude-standard | tar cf - --ignore-failed-read -T - 2>/dev/null | tar xf - -C "$tree"
cp tests/box/pair.c "$tree/runtime/network/"
grep -q PAIR "$tree/runtime/machine/models.def" || sed -i 's/^    MODEL(BANKS, "banks", banks)/& MODEL(PAIR, "pair", pair)/' "$tree/runtime/machine/models.def"
grep -q PAIR "$tree/runtime/machine/models.def"
ok "the row is in its place"
[ -x "$tree/build/kernbench" ] || make -s -j2 -C "$tree" B=build CFLAGS='-O0' build/kernbench >"$work/log" 2>&1 || sed 's/^/# /' "$work/log"
any=$tree/build/kernbench

# Reads and writes by chance, with ties: one of each PE, so that none waits for its channel.
awk 'BEGIN {
    srand(7); print "issue_ns,op,src,dst,offset,nbytes"
    for (pe = 0; pe < 32; pe++)
        for (op = 0; op < 2; op++)
            print int(60 * rand()) "," (op ? "read" : "write") ",c" int(pe / 8) ".pe" pe % 8 ",c0.slice" int(2 * rand()) ",0," 64 * int(1 + 30 * rand())
}' >"$work/rows.csv"

# When each ends, by a list of two servers for each slice: each is held for overhead and drain.
plain() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "%s,%d,%s,%.6f\n", $at["arrive_ns"], NR - 2, $at["dst"], $at["drain_ns"] + 7 }' "$1" |
        sort -t, -k1,1n -k2,2n |
        awk -F, '{ one = $3 ",0"; two = $3 ",1"; if (free[two] < free[one]) one = two
            begin = free[one] > $1 ? free[one] : $1; free[one] = begin + $4; printf "%d,%.6f\n", $2, free[one] }' |
        sort -n
}

for links in ideal fifo; do
    printf 'kernbench: 2\nname: pairs\ncontention: {links: %s}\nsip: {cube_mesh: {w: 2, h: 2}}\ncube: {hbm: {model: pair, overhead_ns: 7}}\n' \
        $links >"$work/m.yaml"
    for engine in fused hop; do
        "$any" replay --machine "$work/m.yaml" --quiet --format csv --engine $engine "$work/rows.csv" >"$work/$engine.csv" 2>"$work/said"
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%d,%.6f\n", NR - 2, $at["end_ns"] }' "$work/$engine.csv" >"$work/ends"
        equal "links $links, $engine: 64 ends" "$(wc -l <"$work/ends")" 64
        equal "links $links, $engine: as by a plain list" "$(cat "$work/ends")" "$(plain "$work/$engine.csv")"
    done
    equal "links $links: both engines print the same" "$(cat "$work/fused.csv")" "$(cat "$work/hop.csv")"
done
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["queue_memory_ns"] > 0 { waits++ } END { exit waits < 5 || waits > 62 }' "$work/fused.csv"
ok "some have waited, and some have not"

plan
