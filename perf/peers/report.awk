# report.awk -- others beside us; needs perf/report.awk in front of it.
#
# usage: awk -v table=peers [-v missing="PEER..."] -f ../perf/report.awk -f report.awk SAMPLES
# Samples "PEER MIX INFLIGHT kernbench whole|run" and "PEER MIX INFLIGHT VARIANT", in ns.

END {
    if (table == "peers")
        peers()
}

# "21.4 [20.1..22.0]", thousands of transactions a second, or millions of them
function rate(name, thousands, unit) {
    of(name)
    unit = thousands ? 1e6 : 1e3
    return sprintf("%.1f [%.1f..%.1f]%s", unit / med, unit / hi, unit / lo, thousands ? " k" : " M")
}

function times(case_name, variant, ours) {
    return ratio(case_name " " variant, 1, case_name " kernbench " ours)
}

# The fastest of a peer's variants in a case.
function best(case_name, variants, i, n, list, found) {
    n = split(variants, list, " ")
    found = list[1]
    for (i = 2; i <= n; i++)
        if ((case_name " " list[i]) in count && of(case_name " " list[i]) < of(case_name " " found))
            found = list[i]
    return found
}

function peer_rows(peer, mixes, variants, i, j, k, size, mix, variant, name) {
    split("64 10240", size, " ")
    for (i = 1; i <= split(mixes, mix, " "); i++)
        for (j = 1; j <= 2; j++) {
            name = peer " " mix[i] " " size[j]
            if (!((name " kernbench run") in count))
                continue
            printf "%-48s%-26s%8s  (all: %s)\n", name " kernbench", rate(name " kernbench run"), "",
                rate(name " kernbench whole")
            for (k = 1; k <= split(variants, variant, " "); k++)
                if (!((name " " variant[k]) in count))
                    printf "    %-44sfailed\n", variant[k]
                else
                    printf "%-48s%-26s%8.2f%8.2f\n", "    " variant[k],
                        rate(name " " variant[k], peer == "simpy"), times(name, variant[k], "run"),
                        times(name, variant[k], "whole")
        }
}

function peer_aim(what, case_name, variant, bound) {
    at_least(what " (" variant ")", times(case_name, variant, "run"), bound)
    at_least("  with adding and results", times(case_name, variant, "whole"), bound)
}

# Against the fastest of its variants.
function systemc_aim(mix, size, bound, name) {
    name = "systemc " mix " " size
    peer_aim("SystemC, " mix ", " size, name, best(name, "method events thread hops"), bound)
}

function peers(i, n, list, mix) {
    print "transactions a second, median [min..max]; how many times faster we are: running alone, and"
    print "with adding and results"
    printf "%-48s%-26s%8s%8s\n", "", "", "alone", "all"
    peer_rows("systemc", "local remote local-varied remote-varied", "method events thread hops")
    peer_rows("systemc_fifo", "fifo-local fifo-remote fifo-local-varied fifo-remote-varied",
        "stations joined")
    peer_rows("simgrid", "local remote", "memories channels")
    peer_rows("simpy", "local remote", "hops lean")
    print ""
    n = split(missing, list, " ")
    for (i = 1; i <= n; i++)
        printf "aim   %-44s not measured: it cannot be had here\n", list[i]
    if (("systemc local 64 method") in count) {
        split("local local-varied", mix, " ")
        for (i = 1; i <= 2; i++) {
            systemc_aim(mix[i], 64, 3)
            systemc_aim(mix[i], 10240, 8)
        }
    }
    if (("simpy local 64 hops") in count) {
        peer_aim("SimPy, local, 64", "simpy local 64", "hops", 800)
        peer_aim("SimPy, remote, 64", "simpy remote 64", "hops", 800)
        peer_aim("SimPy, local, 10240", "simpy local 10240", "hops", 800)
    }
}
