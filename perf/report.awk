# report.awk -- tables of medians from samples, and how far they are from the aims.
#
# usage: awk -v table=txn|banks|stats|mm1|router|kernel|oplog|phase2|verify|watch|shapes|runs|replay|start|build|size|large|against -f report.awk SAMPLES
# A sample is name,unit,round,value. Ratios are taken round by round: both sides ran together.

BEGIN { FS = "," }

FNR > 1 {
    if (!($1 in count)) {
        first[$1] = $3
        named[++names] = $1
    }
    count[$1]++
    last[$1] = $3
    value[$1, $3] = $4
}

END {
    if (table == "txn")
        txn()
    else if (table == "against")
        against()
    else if (table == "banks")
        banks()
    else if (table == "stats")
        stats()
    else if (table == "mm1")
        mm1()
    else if (table == "router")
        router()
    else if (table == "many")
        many()
    else if (table == "oplog")
        oplog()
    else if (table == "kernel")
        kernel()
    else if (table == "phase2")
        phase2()
    else if (table == "runs")
        whole_runs()
    else if (table == "verify")
        verify()
    else if (table == "watch")
        watch()
    else if (table == "shapes")
        shapes()
    else if (table == "replay")
        replay()
    else if (table == "start")
        start()
    else if (table == "build")
        build()
    else if (table == "size")
        machines()
    else if (table == "large")
        large()
}

# -- statistics of v[1..n], into med, lo and hi ----------------------------------------------

function statistics(n, i, j, x) {
    for (i = 2; i <= n; i++) {
        x = v[i]
        for (j = i - 1; j >= 1 && v[j] > x; j--)
            v[j + 1] = v[j]
        v[j + 1] = x
    }
    med = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
    lo = v[1]
    hi = v[n]
}

function of(name, r, n) {
    n = 0
    for (r = first[name]; r <= last[name]; r++)
        if ((name, r) in value)
            v[++n] = value[name, r] + 0
    statistics(n)
    return med
}

function ratio(a, times, b, r, n) {
    n = 0
    for (r = first[a]; r <= last[a]; r++)
        v[++n] = value[a, r] / (times * value[b, r])
    statistics(n)
    return med
}

function difference(a, b, r, n) {
    n = 0
    for (r = first[a]; r <= last[a]; r++)
        v[++n] = value[a, r] - value[b, r]
    statistics(n)
    return med
}

# "57.1 [56.0..60.2]", or nothing if there are no samples
function cell(name) {
    if (!(name in count))
        return ""
    of(name)
    return sprintf("%.1f [%.1f..%.1f]", med, lo, hi)
}

function aim(what, x, bound, unit) {
    printf "aim   %-44s %9.1f %-5s <= %-6g %s by %.1f (%.0f %%)\n", what, x, unit, bound,
        x <= bound ? "PASS" : "MISS", x <= bound ? bound - x : x - bound,
        100 * (x <= bound ? bound - x : x - bound) / bound
}

function at_least(what, x, bound, unit) {
    printf "aim   %-44s %9.2f %-5s >= %-6g %s by %.2f\n", what, x, (unit == "" ? "x" : unit), bound,
        (x >= bound ? "PASS" : "MISS"), (x >= bound ? x - bound : bound - x)
}

function at_most(what, x, bound) {
    printf "aim   %-44s %9.2f x     <= %-6g %s by %.2f\n", what, x, bound,
        (x <= bound ? "PASS" : "MISS"), (x <= bound ? bound - x : x - bound)
}

# -- against a commit before -----------------------------------------------------------------

function against(i, name, slower) {
    printf "%-40s%-26s%-26s%s\n", "processor time, ns a row or ms", "before", "now", "ratio"
    for (i = 1; i <= names; i++) {
        if (named[i] !~ /^now / || !(("before " substr(named[i], 5)) in count))
            continue
        name = substr(named[i], 5)
        printf "%-40s%-26s%-26sx%.2f%s\n", name, cell("before " name), cell("now " name),
            ratio("now " name, 1, "before " name), (med > 1.03 ? "  slower" : "")
        slower += med > 1.03
    }
    printf "\n%d rows are slower than x1.03\n", slower
}

# -- Phase 2 ---------------------------------------------------------------------------------

function best_blis(what) {
    return (of("blis skx " what) > of("blis haswell " what) ? "blis skx " : "blis haswell ") what
}

function phase2(name, i, n, size) {
    print "median [min..max], GFLOP/s, us or ms"
    for (name in count)
        printf "%-36s %s\n", name, cell(name) | "sort"
    close("sort")
    n = split("512 1024 2048", size, " ")
    for (i = 1; i <= n; i++)
        at_least("n=" size[i] ", times bare BLIS",
            ratio("ours n=" size[i], 1, best_blis("n=" size[i])), 0.98)
    at_least("1024 from f16 tiles of 128, times bare BLIS",
        ratio("ours f16 1024 tiles 128x128x128", 1, best_blis("whole 1024")), 0.7)
    at_least("10000 of 64, times bare BLIS", ratio("ours 10000 of 64", 1, best_blis("10000 of 64")), 1.6)
    at_least("two threads on tiles", ratio("one thread f16 1024 tiles", 1, "two threads f16 1024 tiles"), 1.85)
    at_least("two threads on one product", ratio("one thread one of 1536", 1, "two threads one of 1536"), 1.8)
    if (!("numpy f16 128x256x128" in count))
        return
    at_least("f16 128x256x128, times numpy", ratio("numpy f16 128x256x128", 1, "ours f16 128x256x128"), 120)
    at_least("f16 128x256x128, times numpy by f32",
        ratio("numpy f32 f16 128x256x128", 1, "ours f16 128x256x128"), 2)
}

# -- banks -----------------------------------------------------------------------------------

function banks(i, n, name) {
    print "median [min..max], ns a read"
    n = split("64 B idle,64 B half,64 B full,4 KB idle,4 KB half,4 KB full", name, ",")
    for (i = 1; i <= n; i++)
        printf "%-36s %s\n", name[i], cell(name[i] " read")
    at_least("random reads of 64 B, millions a second", 1000 / of("64 B half read"), 3, "M/s")
    at_least("random reads of 4 KB, millions a second", 1000 / of("4 KB half read"), 1.5, "M/s")
}

# -- the engines -----------------------------------------------------------------------------

# -- verifying, and watching -----------------------------------------------------------------

function processor(name) {
    return of(name " processor")
}

function verify(name, run, kernels, computing, all, least, slower) {
    least = 10
    print "processor ms: kernels, Phase 2, verification; and the last, times Phase 2 or " least " ms"
    for (name in count) {
        if (name !~ /^kernels .* processor$/)
            continue
        run = substr(name, 9, length(name) - 18)
        kernels = processor("kernels " run)
        computing = processor("phase2 " run) - kernels
        all = processor("verify " run) - processor("phase2 " run)
        slower[run] = all / (computing > least ? computing : least)
        printf "%-40s %8.1f %8.1f %8.1f %6.2f\n", run, kernels, computing, all, slower[run] | "sort"
    }
    close("sort")
    for (run in slower)
        at_most("verify " run, slower[run], 3)
}

function shapes(n, name, i, ns, hop) {
    n = split("fifo early ring planes missing", name, " ")
    print "load of 500000 transactions, links fifo: ns each, edges each, ns an edge, times those of cube8"
    for (i = 1; i <= n; i++) {
        ns = processor(name[i]) * 1e6 / 5e5
        hop[i] = ns / of(name[i] " edges")
        printf "%-12s %8.1f %8.2f %8.2f %6.2f\n", name[i], ns, of(name[i] " edges"), hop[i], hop[i] / hop[1]
    }
}

function watch(n, name, run, i, j) {
    n = split("load load-fifo gemm attention", run, " ")
    split("breakdown pftrace json", name, " ")
    print "processor ms, and MB of a timeline"
    for (i = 1; i <= n; i++) {
        printf "%-12s %8.1f", run[i], processor("plain " run[i])
        for (j = 1; j <= 3; j++)
            printf "  %s %.1f", name[j], processor(name[j] " " run[i])
        printf "  (%d and %d MB)\n", of("pftrace " run[i]), of("json " run[i])
    }
    for (i = 1; i <= n; i++)
        for (j = 1; j <= 2; j++)
            at_most(name[j] " of " run[i] ", times unwatched", ratio(name[j] " " run[i] " processor", 1, "plain " run[i] " processor"), 5)
}

function holds(i, j, k, size, queue, delays) {
    split("16 64 256 4096 65536", size, " ")
    split("heap ev", queue, " ")
    split("uniform model", delays, " ")
    print "ns per push and pop, median [min..max], by events pending"
    printf "%-18s", ""
    for (i = 1; i <= 5; i++)
        printf "%-22s", size[i]
    print ""
    for (k = 1; k <= 2; k++)
        for (j = 1; j <= 2; j++) {
            printf "%-18s", queue[j] " " delays[k]
            for (i = 1; i <= 5; i++)
                printf "%-22s", cell("hold " queue[j] " " delays[k] " " size[i])
            print ""
        }
}

# The case's run against two holds of the bare heap with as many events pending.
function run_cell(name, size) {
    return cell(name) sprintf(" x%.2f", ratio(name, 2, "hold heap model " size))
}

function runs(e, l, p, s, engine, links, pattern, size, name) {
    split("fused hop", engine, " ")
    split("ideal fifo shipped", links, " ")
    split("local remote mixed hot host", pattern, " ")
    split("64 256 4096", size, " ")
    print "\nns per transaction, running: median [min..max] xR, by transactions outstanding;"
    print "R: times two holds of the bare heap (model's delays) with as many events pending"
    printf "%-22s%-31s%-31s%s\n", "", size[1], size[2], size[3]
    for (e = 1; e <= 2; e++)
        for (l = 1; l <= 3; l++)
            for (p = 1; p <= 5; p++) {
                printf "%-22s", engine[e] " " links[l] " " pattern[p]
                for (s = 1; s <= 3; s++) {
                    name = engine[e] " " links[l] " " pattern[p] " " size[s]
                    name = name (pattern[p] == "host" ? " bursts" : " at0") " run"
                    printf "%-31s", run_cell(name, size[s])
                }
                print ""
            }
}

function issues(i, p, pattern, issue, name) {
    split("local remote mixed hot host", pattern, " ")
    split("at0 open shuffled", issue, " ")
    print "\nns per transaction, fused, links ideal, by issue (four channels a PE; hosts have none)"
    printf "%-20s%-24s%-24s%s\n", "", "add", "run", "result"
    for (p = 1; p <= 5; p++)
        for (i = 1; i <= 3; i++) {
            name = pattern[p] (pattern[p] == "host" ? " all " : " 256 ") issue[i]
            printf "%-20s%-24s%-24s%s\n", pattern[p] " " issue[i],
                cell("fused ideal " name " add"), cell("fused ideal " name " run"),
                cell("fused ideal " name " result")
        }
    print "\nthe same, topologies/cube8.yaml as it is shipped (one channel a PE)"
    for (p = 1; p <= 5; p++)
        for (i = 2; i <= 3; i++) {
            name = "fused shipped " pattern[p] (pattern[p] == "host" ? " all " : " 64 ") issue[i]
            printf "%-20s%-24s%-24s%s\n", pattern[p] " " issue[i], cell(name " add"),
                cell(name " run"), cell(name " result")
        }
}

function txn(p, pattern, s) {
    holds()
    runs()
    issues()
    split("local remote host", pattern, " ")
    print ""
    for (s = 256; s <= 4096; s *= 16)
        for (p = 1; p <= 3; p++)
            aim("fused ideal " pattern[p] ", " s " outstanding",
                of("fused ideal " pattern[p] " " s (p == 3 ? " bursts" : " at0") " run"),
                s == 256 ? 60 : 80, "ns")
    fifo("remote", "at0", 3.8)
    fifo("mixed", "at0", 5.5)
    fifo("hot", "at0", 4)
    fifo("host", "bursts", 5.2)
}

# What links that queue cost, beside the same transactions over ideal links.
function fifo(pattern, issue, bound, name) {
    name = " " pattern " 256 " issue " run"
    at_most("fused fifo " pattern ", 256 outstanding, times ideal",
        ratio("fused fifo" name, 1, "fused ideal" name), bound)
}

# -- what counting costs ---------------------------------------------------------------------

# A ratio of medians: the two ran in turn, and single rounds are noisy.
function stats(name, bare, part) {
    print "ns per transaction or load, with and without what is counted for kb_sim_utilization()"
    for (name in count) {
        if (!sub(/^counted /, "", name))
            continue
        part = of("counted " name)
        bare = of("bare " name)
        printf "%-38s%-24s%-24sx%.3f\n", name, cell("counted " name), cell("bare " name),
            part / bare | "sort"
    }
    close("sort")
}

# -- the event core alone --------------------------------------------------------------------

function mm1() {
    printf "M/M/1 on the bare event core, load 0.9, ns per event: %s\n", cell("mm1 event")
    printf "mean time %s ns (theory: 90), mean number %s (theory: 9)\n\n", cell("mm1 time"), cell("mm1 number")
    at_least("M/M/1, events a second", 1e3 / of("mm1 event"), 30, "M")
}

# -- routers ---------------------------------------------------------------------------------

function router(i, kind) {
    print "routers, 4 x 4 mesh, uniform traffic at 70 % of what it carries: ns per segment, million a second, engine for any machine / compiled"
    for (i = 1; i <= 2; i++) {
        kind = i == 1 ? "packets" : "flits"
        printf "%-10s%-24s%-24sx%s\n", kind, cell("router " kind), cell("router " kind " rate"),
            cell("router " kind " loaded")
    }
    print ""
    at_least("routers, segment = packet, packets a second", of("router packets rate"), 0.5, "M")
    at_least("routers, flit by flit, segments a second", of("router flits rate"), 2, "M")
}

# -- sweeps and traffic ----------------------------------------------------------------------

function many(i, n, name) {
    print "ns per point of a sweep, by copies in flight: median [min..max]"
    n = split("1 2 16 256", name, " ")
    for (i = 1; i <= n; i++)
        printf "%-12s%s\n", name[i], cell("point inflight " name[i])
    print "\nns per transaction: load, and the same replayed without text"
    n = split("local 0.5,uniform 0.1,uniform 0.2,uniform 0.5", name, ",")
    for (i = 1; i <= n; i++)
        printf "%-12s%-24s%s\n", name[i], cell("traffic " name[i] " load"),
            cell("traffic " name[i] " replay")
    printf "\nsweep of 400000 points of 64 copies, wall ms: one thread %s, two %s\n",
        cell("shared 1"), cell("shared 2")
    printf "load, 8 simulations of 2000000, wall ms: -j 1 %s, -j 2 %s\n", cell("load j1 wall"),
        cell("load j2 wall")
    printf "sweep of a million points alone, CSV to /dev/null, wall ms: -j 1 %s, -j 2 %s\n\n",
        cell("sweep j1 wall"), cell("sweep j2 wall")
    at_least("points alone, before formatting", 1e3 / of("point inflight 1"), 10, "M/s")
    n = split("local 0.5,uniform 0.1,uniform 0.2,uniform 0.5", name, ",")
    for (i = 1; i <= n; i++)
        at_most("load " name[i] ", times its replay",
            ratio("traffic " name[i] " load", 1, "traffic " name[i] " replay"), 1.2)
    at_least("two threads, points", ratio("shared 1", 1, "shared 2"), 1.85)
    at_least("two threads, load", ratio("load j1 wall", 1, "load j2 wall"), 1.85)
    at_least("two threads, sweep as CSV", ratio("sweep j1 wall", 1, "sweep j2 wall"), 1.85)
}

# -- kernels ---------------------------------------------------------------------------------

function kernel(i, pes, bound) {
    split("1 64 8192", pes, " ")
    split("40 100 200", bound, " ")
    print "ns per coroutine switch, load with its wake-up, message, and piece of a long one: median [min..max], by PEs"
    printf "%-14s%-24s%-24s%s\n", "", pes[1], pes[2], pes[3]
    printf "%-14s%-24s%-24s%s\n", "switch", cell("round robin 1 switch"),
        cell("round robin 64 switch"), cell("round robin 8192 switch")
    printf "%-14s%-24s%-24s%s\n", "load", cell("load 1"), cell("load 64"), cell("load 8192")
    printf "%-14s%-24s%-24s%s\n", "load, logged", cell("load 1 logged"),
        cell("load 64 logged"), cell("load 8192 logged")
    printf "%-14s%-24s%-24s\n", "send alone", "", cell("send alone 64")
    printf "%-14s%-24s%-24s%s\n", "message", "", cell("message 64"), cell("message 8192")
    printf "%-14s%-24s%-24s%s\n", "piece", "", cell("piece 64"), cell("piece 8192")
    printf "%-14s%-24s%-24s%s\n", "barrier", "", cell("barrier 64"), cell("barrier 8192")
    printf "coroutine, from the pool and back: %s ns\n\n", cell("pooled life")
    aim("coroutine switch", of("round robin 1 switch"), 12, "ns")
    for (i = 1; i <= 3; i++)
        aim("load with record, " pes[i] " PEs", of("load " pes[i] " logged"), bound[i], "ns")
    aim("send, 64 PEs", of("send alone 64"), 150, "ns")
    aim("piece of a long message, with its receipt, 64 PEs", of("piece 64"), 150, "ns")
    aim("launch on 8192 PEs", of("launch 8192 time"), 100, "ms")
    aim("launch on 8192 PEs, memory", of("launch 8192 memory"), 300, "MB")
}

# -- the op log ------------------------------------------------------------------------------

function oplog(i, kind) {
    split("dma_read,token gemm,token dma", kind, ",")
    print "ns per record: median [min..max]"
    printf "%-13s%-24s%-24s%s\n", "", "append", "append, spilled", "bytes"
    for (i = 1; i <= 3; i++)
        printf "%-13s%-24s%-24s%.0f\n", kind[i], cell(kind[i] " append"),
            cell(kind[i] " append spilled"), of(kind[i] " record")
    print ""
    for (i = 1; i <= 3; i++) {
        aim("append of a " kind[i], of(kind[i] " append"), 25, "ns")
        aim("record of a " kind[i], of(kind[i] " record"), 128, "bytes")
    }
}

# -- whole runs ------------------------------------------------------------------------------

function mebibytes(name) {
    return of(name " memory") / 1024
}

function run_row(name) {
    printf "%-22s%-28s%-28s%.1f\n", name, cell(name " wall"), cell(name " processor"), mebibytes(name)
}

function whole_runs(i, n, name) {
    n = split("all_reduce mesh1024,copy mesh1024,gemm verified,gemm", name, ",")
    printf "%-22s%-28s%-28s%s\n", "run of a bench, ms", "wall", "processor", "MiB"
    for (i = 1; i <= n; i++)
        run_row(name[i])
    print ""
    aim("all_reduce of 65536 on mesh1024", of("all_reduce mesh1024 wall"), 4000, "ms")
    aim("all_reduce of 65536 on mesh1024, memory", mebibytes("all_reduce mesh1024"), 300, "MiB")
    aim("copy on mesh1024", of("copy mesh1024 wall"), 1000, "ms")
    aim("gemm of 2048 in f32, verified", of("gemm verified wall"), 1500, "ms")
    aim("gemm of 2048 in f32, only its times", of("gemm wall"), 90, "ms")
}

# -- replay ----------------------------------------------------------------------------------

function part(order, name) {
    return sprintf("%-24s", cell(order " " name))
}

# Writing and the start are what is left of the whole.
function rest(order, i, name, ms) {
    ms = of(order " null processor")
    for (i = split("read sort run result", name, " "); i >= 1; i--)
        ms -= of(order " " name[i])
    return ms
}

function parts_of(order) {
    printf "%-11s", order
    printf "%s%s%s", part(order, "read"), part(order, "add"), part(order, "sort")
    printf "%s%s%.1f\n", part(order, "run"), part(order, "result"), rest(order)
}

function parts_heading() {
    printf "%-11s%-24s%-24s%-24s%-24s%-24s%s\n", "", "read", "of that, add", "sort", "run", "result",
        "write (the rest)"
}

function bytes_a_row(order, rows) {
    return (of(order " null memory") - of("header null memory")) * 1024 / rows
}

function replay(i, order) {
    split("ascending at0 shuffled", order, " ")
    print "replay of a million rows, processor ms: median [min..max]"
    parts_heading()
    for (i = 1; i <= 3; i++)
        parts_of(order[i])
    printf "\n%-11s%-27s%-27s%-27s%-27s%s\n", "", "to /dev/null, wall ms", "processor ms",
        "to a file, wall ms", "processor ms", "bytes a row"
    for (i = 1; i <= 3; i++)
        printf "%-11s%-27s%-27s%-27s%-27s%.1f\n", order[i], cell(order[i] " null wall"),
            cell(order[i] " null processor"), cell(order[i] " file wall"),
            cell(order[i] " file processor"), bytes_a_row(order[i], 1e6)
    print ""
    for (i = 1; i <= 3; i++) {
        aim("replay of 1 M rows, " order[i] ", to /dev/null", of(order[i] " null wall"), 1000, "ms")
        aim("replay of 1 M rows, " order[i] ", to a file", of(order[i] " file wall"), 1000, "ms")
    }
}

function large() {
    print "replay of ten million rows, processor ms"
    parts_heading()
    parts_of("ascending")
    printf "whole, to /dev/null: wall %.1f, processor %.1f; %.1f MiB\n\n",
        of("ascending null wall"), of("ascending null processor"),
        of("ascending null memory") / 1024
    printf "a timeline of %.1f million events: wall %.1f ms, processor %.1f ms, %.0f MB, peak %.1f MiB\n", of("timeline") / 1e6,
        of("timeline wall"), of("timeline processor"), of("timeline size"), of("timeline memory") / 1024
    printf "the same run without it: processor %.1f ms, peak %.1f MiB\n\n", of("no timeline processor"),
        of("no timeline memory") / 1024
    aim("memory of a row, 10 M rows", bytes_a_row("ascending", 1e7), 64, "bytes")
    run_row("copy 128x128")
    aim("copy on 128x128 cubes", of("copy 128x128 wall"), 15000, "ms")
}

# -- machines by size ------------------------------------------------------------------------

# The least of all rounds: a busy machine only adds to it.
function least(name) {
    of(name)
    return lo
}

function load_ns(machine) {
    return (least(machine " load processor") - least(machine " start processor")) / 2
}

function size_memory(machine) {
    return least(machine " load memory") / 1024
}

# How `what` grows from 1024 to 16384 cubes: 1 is with the cubes, 2 with their square
function exponent(what) {
    return log(least("size_16384 " what " processor") / least("size_1024 " what " processor")) / log(16)
}

function machines(i, j, n, m, machine, what) {
    n = split("size_1,size_8,size_32,size_256,sips_256,size_1024,sips_2048,size_16384", machine, ",")
    m = split("kbgen,info,probe,replay,stats,report,view,copy,start", what, ",")
    print "processor ms by command, the least of the rounds; load: MB of memory and ns a transaction"
    printf "%-12s", ""
    for (j = 1; j <= m; j++)
        printf "%9s", what[j]
    printf "%9s%9s\n", "MB", "ns"
    for (i = 1; i <= n; i++) {
        printf "%-12s", machine[i]
        for (j = 1; j <= m; j++)
            printf "%9.1f", least(machine[i] " " what[j] " processor")
        printf "%9.0f%9.0f\n", size_memory(machine[i]), load_ns(machine[i])
    }
    printf "%-12s", "exponent"
    for (j = 1; j <= m; j++)
        printf "%9.2f", exponent(what[j])
    print "\n"
    at_most("load, 1024 against 8 cubes", load_ns("size_1024") / load_ns("size_8"), 4)
    at_most("load, 16384 against 8 cubes", load_ns("size_16384") / load_ns("size_8"), 12)
    aim("load, 16384 cubes, memory", size_memory("size_16384"), 350, "MB")
}

# -- starting and building -------------------------------------------------------------------

function start(i, name) {
    split("empty,cube8 probe,tray32 probe,mesh1024 info", name, ",")
    print "start to end of a process, ms: median [min..max], and above the empty one's"
    for (i = 1; i <= 4; i++) {
        of(name[i] " wall")
        printf "%-16s%.3f [%.3f..%.3f]  ", name[i], med, lo, hi
        printf "%.3f\n", difference(name[i] " wall", "empty wall")
    }
    print ""
    aim("cube8 probe above an empty process", 1e3 * difference("cube8 probe wall", "empty wall"),
        1000, "us")
}

function build(i, name) {
    split("cube8 clean,cube8 yaml,mesh1024 clean", name, ",")
    printf "%-17s%-28s%-28s%s\n", "make -j2, ms", "wall", "processor", "largest process, MiB"
    for (i = 1; i <= 3; i++)
        printf "%-17s%-28s%-28s%.1f\n", name[i], cell(name[i] " wall"), cell(name[i] " processor"),
            of(name[i] " memory") / 1024
    print ""
    aim("cube8 from clean", of("cube8 clean wall"), 5000, "ms")
    aim("cube8, only the YAML changed", of("cube8 yaml wall"), 1000, "ms")
    aim("mesh1024 from clean", of("mesh1024 clean wall"), 20000, "ms")
    aim("mesh1024 from clean, largest process", of("mesh1024 clean memory") / 1024, 1024, "MiB")
}
