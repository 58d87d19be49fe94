/*
 * cmd_probe.c -- `probe`: the latency of typical accesses, each alone on the machine.
 *
 * Each case is one transaction in a simulation of its own, so it never waits: queue_ns is 0 and the
 * latency is the zero-load latency. The cases go from near to far: the PE's own slice, another
 * slice of the same half of the cube, of the other half, the nearest and the farthest slice of
 * another cube (by formula; ties go to the lowest cube, then slice), SRAM, another SIP, and both
 * directions of the host. Then reads of 4 KiB to 1 MiB show how the bandwidth approaches the
 * bottleneck's.
 *
 * Example, on cube8, 4096 bytes, in ns:
 *
 *     case                 dst         actual  =  overhead + drain + wire   bottleneck
 *     pe-local-hbm         c0.slice0    18.09      2.00      16.00   0.09   256 GB/s, the own slice
 *     pe-same-half-hbm     c0.slice1    36.10      4.00      32.00   0.10   128, the chain
 *     pe-cross-half-hbm    c0.slice4    37.15      5.00      32.00   0.15   128, over a bridge
 *     pe-cross-cube-worst  c7.slice4    42.90     10.00      32.00   0.90   128
 *
 * Of 4096 bytes from the own slice 88.5 % of the bandwidth is reached, of 1 MiB 99.9 %: the 2.085
 * ns before the first byte are paid once.
 */
#include "cli/command.h"
#include "cli/out/say.h"
#include <string.h>

enum {
    SATURATION_FIRST = 4 * 1024,
    SATURATION_LAST = 1024 * 1024,
    N_SATURATION = 9,
};

/* The bandwidth at which its bytes could go at most. */
struct peak {
    double busy_ns; /* of the edge or memory that moves for longest, by all lanes that move */
    bool divided;   /* one of them has moved a part of the bytes, or has by several lanes */
};

/* One transaction, and how it went. */
struct probe {
    const char *name;
    kb_transaction request;
    kb_result result;
    kb_cost cost;
    int64_t queue_fs;
    struct peak peak;
    double overhead_pct, drain_pct, eff_bw_gbs, util_pct;
    char src[KB_ENDPOINT_BYTES], dst[KB_ENDPOINT_BYTES];
};

enum case_id {
    LOCAL_HBM,
    SAME_HALF_HBM,
    CROSS_HALF_HBM,
    CROSS_CUBE_BEST,
    CROSS_CUBE_WORST,
    SRAM,
    CROSS_SIP,
    H2D,
    D2H,
    N_CASES
};

static const char *const case_names[N_CASES] = {
    "pe-local-hbm",
    "pe-same-half-hbm",
    "pe-cross-half-hbm",
    "pe-cross-cube-best",
    "pe-cross-cube-worst",
    "pe-sram",
    "pe-cross-sip",
    "h2d",
    "d2h",
};

/* All rows. */
struct probes {
    struct probe row[N_CASES + N_SATURATION];
    size_t n;
};

static const struct column columns[] = {
    COLUMN("case", CELL_TEXT, struct probe, name),
    COLUMN("src", CELL_TEXT, struct probe, src),
    COLUMN("dst", CELL_TEXT, struct probe, dst),
    COLUMN("nbytes", CELL_COUNT, struct probe, request.nbytes),
    COLUMN("actual_ns", CELL_NS, struct probe, result.actual_fs),
    COLUMN("overhead_ns", CELL_NS, struct probe, result.overhead_fs),
    COLUMN("drain_ns", CELL_NS, struct probe, result.drain_fs),
    COLUMN("wire_ns", CELL_NS, struct probe, result.wire_fs),
    COLUMN("response_ns", CELL_NS, struct probe, result.response_fs),
    COLUMN("queue_ns", CELL_NS, struct probe, queue_fs),
    COLUMN("overhead_pct", CELL_PERCENT, struct probe, overhead_pct),
    COLUMN("drain_pct", CELL_PERCENT, struct probe, drain_pct),
    COLUMN("eff_bw_gbs", CELL_FRACTION, struct probe, eff_bw_gbs),
    COLUMN("bottleneck_gbs", CELL_FRACTION, struct probe, cost.bottleneck_gbs),
    COLUMN("util_pct", CELL_PERCENT, struct probe, util_pct),
};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* Behind response_ns, where links are routers. */
static const struct column return_column =
    COLUMN("return_ns", CELL_NS, struct probe, result.return_fs);

/* `part` of `whole`, in per cent. A transaction may take no time at all. */
static double percent(int64_t part_fs, int64_t whole_fs)
{
    return whole_fs > 0 ? (double)part_fs / (double)whole_fs * 100 : 0;
}

/*
 * A transaction takes one lane of a link and one way, and its peak is the bottleneck. Parts of one,
 * packets or stretches of an interleaved memory, take lanes and ways of their own, side by side:
 * then the peak is that of the edge or memory that is busy for longest.
 */
static double peak_gbs(const struct probe *p)
{
    double all_gbs =
        p->peak.divided && p->peak.busy_ns > 0 ? (double)p->request.nbytes / p->peak.busy_ns : 0;

    return all_gbs > p->cost.bottleneck_gbs ? all_gbs : p->cost.bottleneck_gbs;
}

/* The columns that are not in the result itself. */
static void derive(struct probe *p)
{
    const kb_result *r = &p->result;

    p->queue_fs = kb_wait_sum_fs(r->wait_fs);
    p->overhead_pct = percent(r->overhead_fs, r->actual_fs);
    p->drain_pct = percent(r->drain_fs, r->actual_fs);
    p->eff_bw_gbs = (double)p->request.nbytes * 1e6 / (double)r->actual_fs;
    p->util_pct = p->eff_bw_gbs / peak_gbs(p) * 100;
}

/* -- which transaction a case is ------------------------------------------------------------ */

/* Slices of cube `cube` of SIP 0; 0: it is not there. */
static uint32_t slices_of(const struct cli *cli, uint32_t cube)
{
    kb_cube found;

    return kb_cube_get(cli->topo, 0, cube, &found) == KB_OK ? found.n_slices : 0;
}

/* The PE that probes: the lowest that is there, of SIP 0. */
static bool find_pe(const struct cli *cli, kb_endpoint *pe)
{
    return kb_pe_get(cli->topo, 0, pe) == KB_OK && pe->sip == 0;
}

/* The lowest cube of a SIP that has slices; false: there is none. */
static bool find_slices(const struct cli *cli, uint32_t sip, uint32_t *cube)
{
    kb_cube found;

    for (*cube = 0; *cube < cli->info.cubes_per_sip; ++*cube)
        if (kb_cube_get(cli->topo, sip, *cube, &found) == KB_OK && found.n_slices)
            return true;
    return false;
}

/* The first slice of the PE's cube behind the crossbar node `node` places from its own; false:
 * there is none. */
static bool find_behind(const struct cli *cli, uint32_t node, uint32_t *slice)
{
    kb_endpoint pe;
    kb_cube cube;

    if (!find_pe(cli, &pe) || kb_cube_get(cli->topo, 0, pe.cube, &cube) != KB_OK)
        return false;
    for (*slice = 0; *slice < cube.n_slices; ++*slice)
        if (*slice * cube.crossbars / cube.n_slices == node)
            return true;
    return false;
}

/* The first crossbar node of the second half. */
static uint32_t second_half(const struct cli *cli)
{
    kb_cube cube = {0};
    kb_endpoint pe = {.kind = KB_PE};

    find_pe(cli, &pe);
    kb_cube_get(cli->topo, 0, pe.cube, &cube);
    return (cube.crossbars + 1) / 2;
}

/* Whether there is a way for it; else `why` says which is missing. */
static bool has_way(const struct cli *cli, const kb_transaction *q, kb_error *why)
{
    kb_cost cost;

    return kb_route_cost(cli->topo, q->op, &q->src, &q->dst, 1, &cost, why) != KB_BAD_REQUEST;
}

/*
 * The slice of another cube of SIP 0 that is nearest to the PE, or farthest: by formula, ties
 * to the lowest cube, then slice. Without a way to any it is the first one.
 */
static kb_status find_extreme(const struct cli *cli, bool farthest, kb_transaction *q,
                              kb_error *why)
{
    int64_t best_fs = -1;

    for (uint32_t cube = 0; cube < cli->info.cubes_per_sip; cube++)
        for (uint32_t slice = 0; cube != q->src.cube && slice < slices_of(cli, cube); slice++) {
            kb_transaction to = *q;
            kb_cost cost;

            to.dst = (kb_endpoint){.kind = KB_SLICE, .cube = cube, .unit = slice};
            if (!has_way(cli, &to, NULL)) {
                q->dst = q->dst.cube != q->src.cube ? q->dst : to.dst;
                continue;
            }
            kb_status status =
                kb_route_cost(cli->topo, KB_READ, &to.src, &to.dst, q->nbytes, &cost, why);
            if (status)
                return status;
            int64_t fs = kb_formula_fs(&cost);
            if (best_fs < 0 || (farthest ? fs > best_fs : fs < best_fs)) {
                best_fs = fs;
                q->dst = to.dst;
            }
        }
    return KB_OK;
}

/* Has SIP 0 a cube with slices besides that of the PE? */
static bool has_other_cube(const struct cli *cli, uint32_t own)
{
    for (uint32_t cube = 0; cube < cli->info.cubes_per_sip; cube++)
        if (cube != own && slices_of(cli, cube))
            return true;
    return false;
}

/* Has the topology a place for this case: a PE, or the host, and the target? */
static bool has_case(const struct cli *cli, enum case_id id)
{
    kb_endpoint pe;
    uint32_t slice, cube;

    if (id == H2D || id == D2H)
        return find_slices(cli, 0, &cube);
    if (!find_pe(cli, &pe))
        return false;
    switch (id) {
    case LOCAL_HBM:
        return slices_of(cli, pe.cube);
    case SAME_HALF_HBM:
        return second_half(cli) > 1 && find_behind(cli, 1, &slice);
    case CROSS_HALF_HBM:
        return find_behind(cli, second_half(cli), &slice);
    case CROSS_CUBE_BEST:
    case CROSS_CUBE_WORST:
        return has_other_cube(cli, pe.cube);
    case CROSS_SIP:
        return find_slices(cli, 1, &cube);
    default:
        return true;
    }
}

/* The transaction of a case that the topology has. */
static kb_status make_request(const struct cli *cli, enum case_id id, kb_transaction *q,
                              kb_error *why)
{
    *q = (kb_transaction){.op = KB_READ,
                          .src = {.kind = KB_PE},
                          .dst = {.kind = KB_SLICE},
                          .nbytes = cli->opts.bytes};
    find_pe(cli, &q->src);
    q->dst.cube = q->src.cube;
    switch (id) {
    case SAME_HALF_HBM:
        find_behind(cli, 1, &q->dst.unit);
        break;
    case CROSS_HALF_HBM:
        find_behind(cli, second_half(cli), &q->dst.unit);
        break;
    case CROSS_CUBE_BEST:
    case CROSS_CUBE_WORST:
        return find_extreme(cli, id == CROSS_CUBE_WORST, q, why);
    case SRAM:
        q->dst.kind = KB_SRAM;
        break;
    case CROSS_SIP:
        q->dst.sip = 1;
        find_slices(cli, 1, &q->dst.cube);
        break;
    case H2D:
    case D2H:
        q->op = id == H2D ? KB_H2D : KB_D2H;
        q->src = (kb_endpoint){.kind = KB_HOST};
        find_slices(cli, 0, &q->dst.cube);
        break;
    case LOCAL_HBM:
    case N_CASES:
        break;
    }
    return KB_OK;
}

/* -- running them --------------------------------------------------------------------------- */

static void see_carrier(void *arg, const kb_utilization *use)
{
    struct probe *p = arg;
    double lanes, ns;

    if ((use->kind != KB_AT_LINK && use->kind != KB_AT_MEMORY) || !use->count)
        return;
    lanes = use->servers < use->count ? use->servers : (double)use->count;
    lanes = lanes > 1 ? lanes : 1; /* an ideal link has no servers */
    ns = (double)use->bytes / (use->gbs * lanes);
    p->peak.busy_ns = ns > p->peak.busy_ns ? ns : p->peak.busy_ns;
    p->peak.divided |= lanes > 1 || use->bytes < p->request.nbytes;
}

/* Runs one transaction alone on the machine. */
static kb_status run_alone(const struct cli *cli, struct probe *p, kb_error *why)
{
    kb_options options = {.engine = cli->opts.engine};
    kb_sim *sim;
    kb_status status = kb_sim_new(cli->topo, &options, &sim);

    if (status)
        return status;
    status = kb_sim_add(sim, &p->request, why);
    if (!status)
        status = kb_sim_run(sim, 0, why);
    if (!status)
        status = kb_sim_result(sim, 0, &p->result);
    if (!status)
        status = kb_route_cost(cli->topo, p->request.op, &p->request.src, &p->request.dst,
                               p->request.nbytes, &p->cost, why);
    if (!status)
        status = kb_sim_utilization(sim, see_carrier, p);
    kb_sim_free(sim);
    return status;
}

static enum exit_code add_probe(const struct cli *cli, struct probes *probes, const char *name,
                                const kb_transaction *request)
{
    struct probe *p = &probes->row[probes->n];
    kb_error why = {""};

    *p = (struct probe){.name = name, .request = *request};
    kb_endpoint_name(&request->src, p->src);
    kb_endpoint_name(&request->dst, p->dst);
    kb_status status = run_alone(cli, p, &why);
    if (status)
        return cmd_fail(cli, status, &why);
    derive(p);
    probes->n++;
    return EXIT_OK;
}

/* A case whose memory is smaller than --bytes is left out too, unless it alone was asked for. */
static bool too_large(const struct cli *cli, enum case_id id, const kb_transaction *q)
{
    uint64_t room = kb_memory_bytes(cli->topo, &q->dst);
    char dst[KB_ENDPOINT_BYTES];

    if (cli->opts.only_case || q->nbytes <= room)
        return false;
    kb_endpoint_name(&q->dst, dst);
    if (!cli->opts.quiet)
        cmd_say(cli, EXIT_OK, "%s left out: %s holds %llu bytes", case_names[id], dst,
                (unsigned long long)room);
    return true;
}

/* So is a case that has no way. */
static bool no_way(const struct cli *cli, enum case_id id, const kb_transaction *q)
{
    kb_error why = {""};

    if (cli->opts.only_case || has_way(cli, q, &why))
        return false;
    if (!cli->opts.quiet)
        cmd_say(cli, EXIT_OK, "%s left out: %s", case_names[id], why.text);
    return true;
}

static enum exit_code add_case(const struct cli *cli, struct probes *probes, enum case_id id)
{
    kb_transaction request;
    kb_error why = {""};
    kb_status status = make_request(cli, id, &request, &why);

    if (status)
        return cmd_fail(cli, status, &why);
    if (too_large(cli, id, &request) || no_way(cli, id, &request))
        return EXIT_OK;
    return add_probe(cli, probes, case_names[id], &request);
}

static enum exit_code add_cases(const struct cli *cli, struct probes *probes)
{
    enum exit_code code = EXIT_OK;

    for (int id = 0; id < N_CASES && !code; id++)
        if (has_case(cli, (enum case_id)id))
            code = add_case(cli, probes, (enum case_id)id);
    return code;
}

static enum exit_code add_saturation(const struct cli *cli, struct probes *probes)
{
    kb_transaction q = {.op = KB_READ, .src = {.kind = KB_PE}, .dst = {.kind = KB_SLICE}};
    uint64_t room = kb_memory_bytes(cli->topo, &q.dst);
    enum exit_code code = EXIT_OK;

    if (!has_case(cli, LOCAL_HBM))
        return EXIT_OK;
    for (q.nbytes = SATURATION_FIRST; q.nbytes <= SATURATION_LAST && !code; q.nbytes *= 2)
        if (q.nbytes <= room)
            code = add_probe(cli, probes, "saturation", &q);
    return code;
}

/* What a case lacks that the topology has no place for. */
static enum exit_code refuse_case(const struct cli *cli, enum case_id id)
{
    static const char *const lacks[N_CASES] = {
        [LOCAL_HBM] = "the cube of its first PE has no slices",
        [SAME_HALF_HBM] = "the cube of its first PE has no second slice in the same half",
        [CROSS_HALF_HBM] = "the cube of its first PE has no slice in the other half",
        [CROSS_CUBE_BEST] = "no other cube of SIP 0 has slices",
        [CROSS_CUBE_WORST] = "no other cube of SIP 0 has slices",
        [CROSS_SIP] = "there is no SIP 1 with slices",
        [H2D] = "no cube of SIP 0 has slices",
        [D2H] = "no cube of SIP 0 has slices",
    };
    kb_endpoint pe;
    bool of_host = id == H2D || id == D2H;

    return say(cli->program, EXIT_USAGE, "this topology has no place for case '%s': %s",
               case_names[id],
               of_host || find_pe(cli, &pe) ? lacks[id] : "no cube of SIP 0 has PEs");
}

static enum exit_code add_only_case(const struct cli *cli, struct probes *probes)
{
    const char *name = cli->opts.only_case;

    for (int id = 0; id < N_CASES; id++) {
        if (strcmp(name, case_names[id]) != 0)
            continue;
        if (!has_case(cli, (enum case_id)id))
            return refuse_case(cli, (enum case_id)id);
        return add_case(cli, probes, (enum case_id)id);
    }
    return say_unknown(cli->program, "case", "", name, case_names, N_CASES);
}

static enum exit_code add_all(const struct cli *cli, struct probes *probes)
{
    enum exit_code code;

    if (cli->opts.only_case)
        return add_only_case(cli, probes);
    code = add_cases(cli, probes);
    return code ? code : add_saturation(cli, probes);
}

enum exit_code cmd_probe(const struct cli *cli)
{
    struct column with_return[N_COLUMNS + 1];
    struct probes probes = {.n = 0};
    enum exit_code code = add_all(cli, &probes);
    struct rows rows = {ROWS_COLUMNS(columns), ROWS_ARRAY(probes.row, probes.n)};

    if (cmd_tells_return(cli)) {
        cmd_add_return(columns, N_COLUMNS, &return_column, with_return);
        rows.columns = with_return;
        rows.n_columns++;
    }
    return code ? code : cmd_print(cli, &rows);
}
