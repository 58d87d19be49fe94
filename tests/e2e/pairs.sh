#!/usr/bin/env bash
# pairs.sh -- `why --by key` against all pairs of keys, each run by itself; what it says if it has not run all.
. "$(dirname "$0")/../support/tap.sh"
SIM=$B/kernbench
[ -x "$SIM" ] || none "there is no $SIM"
machine="--machine $root/topologies/cube8.yaml"

# every_pair BENCH: how many pairs there are of the keys of the table in $work/out, and the least kernel_ns of them. Each is
# a variant of a study, which has 16 keys: of any two blocks of 8. Items of a list are no keys of a variant: these are
# left out.
every_pair()
{
    local first second n

    awk -F, 'NR > 2 && $2 != "" && $1 !~ /\[/ { printf "%s %.10g\n", $1, $3 }' out >better
    n=$(wc -l <better)
    for ((first = 0; first < n; first += 8)); do
        for ((second = first + 8; second < n; second += 8)); do
            {
                printf 'command: run %s\nvariants:\n' "$1"
                awk -v a=$first -v b=$second -v n=0 '
                    (NR > a && NR <= a + 8) || (NR > b && NR <= b + 8) {
                        for (i = 0; i < n; i++) printf "  v%d_%d: {%s: %s, %s: %s}\n", at[i], NR, name[i], to[i], $1, $2
                        at[n] = NR; name[n] = $1; to[n++] = $2
                    }' better
            } >every.yaml
            "$SIM" study every.yaml $machine --quiet --format csv
        done
    done >every.csv
    awk -F, '/^variant,/ { for (i = 1; i <= NF; i++) if ($i == "time_ns") c = i }
        /^v[0-9]/ { if (!seen[$1]++) pairs++; if (least == "" || $c + 0 < least) least = $c + 0 }
        END { print pairs, sprintf("%.6f", least) }' every.csv
}

# Data that are read come back over hbm_ctrl > xbar > pe_dma: two keys in series, which alone gain nothing, and which
# are busy for a small part of the time.
run why broadcast --by key $machine --quiet --format csv
n_pairs=$(awk -F, 'NR > 2 && $2 != "" && $1 !~ /\[/ { n++ } END { print n * (n - 1) / 2 }' out)
found=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "kernel_ns") c = i }
                 split($1, set, / [+] /) == 2 && (least == "" || $c + 0 < least) { least = $c + 0 }
                 END { printf "%.6f", least }' out)
equal "broadcast: the best pair is the best of all" "$n_pairs $found" "$(every_pair broadcast)"
[ "$n_pairs" -gt 600 ] && grep -q "^cube.xbar.pe_gbs + cube.hbm.bw_gbs," out
ok "it is the way back from the HBM"
run why broadcast --by key $machine --quiet
grep -q "^all 1128 pairs of keys were run: sip.d2d.bw_gbs and cube.noc.bw_gbs gain most, 27.7 %$" out &&
    [ "$(grep -A1 "^cube.xbar.pe_gbs and cube.hbm.bw_gbs together: 4.6 %; either alone at most 0.0 %:$" out | tail -1)" = \
        "  they are in series on c0.pe0.pe_dma > c0.hbm_ctrl.slice0" ]
ok "it says that all pairs were run, and where the two follow each other"

# -- a search that is not whole -----------------------------------------------------------------

printf 'issue_ns,op,src,dst,offset,nbytes\n' >long.csv
awk 'BEGIN { for (i = 0; i < 90000; i++) printf "%d,read,c0.pe%d,c0.slice%d,0,4K\n", i * 9, i % 8, i % 8 }' >>long.csv
run why long.csv --by key $machine --format csv
says "3 of 1128 pairs of keys were run, of those that gain most alone or whose links were busiest: another pair may gain more (--all-pairs)"
ok "else it says how many were run"
grep -q "^cube.xbar.pe_gbs + cube.hbm.bw_gbs," out
ok "the way back of reads is busy: its keys are tried"
run why long.csv --by key $machine --quiet
grep -qE "^[0-9]+ of 1128 pairs of keys were run" out && ! grep -q "gain most," out
ok "and calls no pair the best"
run why long.csv --by key $machine --dry-run --format csv --quiet
few=$(field runs 1)
run why long.csv --by key $machine --all-pairs --dry-run --format csv --quiet
[ "$few" -lt 200 ] && [ "$(field runs 1)" -gt 1128 ]
ok "--all-pairs runs all"
refused "--all-pairs alone" 2 "--all-pairs needs --by" why broadcast $machine --all-pairs
plan
