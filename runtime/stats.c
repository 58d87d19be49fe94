/* stats.c -- what a run has used: routes counted while it ran are spread over their edges here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "end.h"
#include "kernel.h"
#include "names.h"
#include "sim.h"
#include "walk.h"

/* -- edges ---------------------------------------------------------------------------------- */

struct edge_sum {
    uint64_t count, bytes;
};

/* Traffic of every link station. Reads pass the edges of their route the other way. */
struct spread {
    const struct kb_topology *topo;
    struct edge_sum *edges;
};

/* Adds `flow` to the edges that leave hops [from, to) of the segment `at`. */
static void spread_hops(const struct spread *sp, struct txn_at at, uint32_t from, uint32_t to,
                        uint32_t dst, const struct flow *flow)
{
    const struct segment_row *seg = &sp->topo->segments[at.segment];

    for (uint32_t i = from; i < to && i < seg->n_hops; i++) {
        const struct hop_row *hop = &sp->topo->hops[seg->first_hop + i];
        struct walk_edge edge = {hop->owner, hop->back, hop->link};
        size_t link;

        if (hop->owner == LINK_NONE)
            return;
        link = walk_link(sp->topo, edge, at.cube, dst);
        for (uint32_t writes = 0; writes < 2; writes++) {
            sp->edges[link ^ !writes].count += flow->count[writes];
            sp->edges[link ^ !writes].bytes += flow->bytes[writes];
        }
    }
}

/* Hops of a last segment whose edges all memories of the cube share. */
enum { HOPS_TO_NOC = 1 /* ucie */, HOPS_TO_M_CPU = 3 /* ucie, noc, m_cpu */ };

static bool no_flow(const struct flow *f)
{
    return !f->count[0] && !f->count[1];
}

/*
 * The edges between the first NoC and the last, which all PEs and memories of two cubes share;
 * a host's go on to its M_CPU and back to the NoC.
 */
static void spread_between(const struct spread *sp, uint32_t from, uint32_t to, bool of_host,
                           const struct flow *flow)
{
    const struct kb_topology *t = sp->topo;
    uint32_t dst = dst_pack(t, to, 0), first = of_host ? 0 : 1;
    struct txn_at at = walk_begin(t, src_pack(t, from, 0), dst, of_host);

    for (; t->segments[at.segment].exit != N_EXITS; at = walk_next(t, at, dst, of_host)) {
        spread_hops(sp, at, first, UINT32_MAX, dst, flow);
        first = 0;
    }
    spread_hops(sp, at, 0, of_host ? HOPS_TO_M_CPU : HOPS_TO_NOC, dst, flow);
}

static void spread_cubes(const struct spread *sp, const struct kb_sim *s)
{
    uint32_t cubes = sim_cubes(sp->topo);

    for (uint32_t from = 0; from < cubes; from++)
        for (uint32_t to = 0; s->flow_remote[from] && to < cubes; to++)
            if (!no_flow(&s->flow_remote[from][to]))
                spread_between(sp, from, to, false, &s->flow_remote[from][to]);
    for (uint32_t to = 0; to < cubes; to++)
        if (!no_flow(&s->flow_host[to]))
            spread_between(sp, 0, to, true, &s->flow_host[to]);
}

/* From the NoC to each memory: what came from other cubes and from hosts. */
static void spread_memories(const struct spread *sp, const struct kb_sim *s)
{
    const struct kb_topology *t = sp->topo;
    uint32_t n = sim_cubes(t) << t->unit_bits;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t cube = dst_cube(t, i), unit = dst_unit(t, i);
        uint32_t segment = t->seg_in + SIDE_W * t->n_units + unit;
        struct txn_at at = {.cube = cube, .segment = (uint16_t)segment};

        if (!no_flow(&s->flow_in[i]))
            spread_hops(sp, at, 1, UINT32_MAX, i, &s->flow_in[i]);
    }
}

/* Inside cubes whole routes; and from each PE to the NoC, what its channels carried beside. */
static void spread_pes(const struct spread *sp, const struct kb_sim *s)
{
    const struct kb_topology *t = sp->topo;
    uint32_t n = sim_cubes(t) << t->pe_bits, memories = t->n_units;

    for (uint32_t pe = 0; pe < n; pe++) {
        uint32_t cube = src_cube(t, pe), unit = src_pe(t, pe);
        struct flow out = {0};
        struct txn_at at = {.cube = cube};

        for (uint32_t w = 0; w < 2; w++) {
            out.count[w] = s->channels[2 * (size_t)pe + w].count;
            out.bytes[w] = s->channels[2 * (size_t)pe + w].bytes;
        }
        for (uint32_t m = 0; m < memories; m++) {
            const struct flow *local = &s->flow_local[(size_t)pe * memories + m];

            at.segment = (uint16_t)(t->seg_local + unit * t->n_units + m);
            if (!no_flow(local))
                spread_hops(sp, at, 0, UINT32_MAX, dst_pack(t, cube, m), local);
            for (uint32_t w = 0; w < 2; w++) {
                out.count[w] -= local->count[w];
                out.bytes[w] -= local->bytes[w];
            }
        }
        at.segment = (uint16_t)(t->seg_out + unit * N_EXITS);
        spread_hops(sp, at, 0, 1, 0, &out);
    }
}

static double link_gbs(const struct kb_topology *t, size_t link)
{
    size_t number = link / 2, n_cube_links = walk_io_links(t) / 2;

    return number < n_cube_links ? t->cube_links[number % t->n_cube_links].gbs
                                 : t->io_links[(number - n_cube_links) % t->n_io_links].gbs;
}

/* Of a run that has ended early, without the time after its end. */
static int64_t link_busy_fs(const struct kb_sim *s, const struct link_station *l)
{
    uint64_t free_fs = (uint64_t)l->free_fs;

    return (int64_t)(l->busy_fs - (free_fs > s->now_fs ? free_fs - s->now_fs : 0));
}

kb_status kb_sim_edges(const kb_sim *s, void (*each)(void *arg, const kb_edge_use *use), void *arg)
{
    const struct kb_topology *t = s->topo;
    size_t n = walk_n_links(t);
    struct spread sp = {t, calloc(n, sizeof *sp.edges)};

    if (!sp.edges)
        return KB_NO_MEMORY;
    spread_cubes(&sp, s);
    spread_memories(&sp, s);
    spread_pes(&sp, s);
    for (size_t i = 0; i < n; i++) {
        struct kb_edge_use use = {.count = sp.edges[i].count, .bytes = sp.edges[i].bytes};

        if (!use.count)
            continue;
        name_link(t, i, use.from, use.to);
        use.gbs = link_gbs(t, i);
        use.busy_fs = s->links ? link_busy_fs(s, &s->links[i]) : drain_fs(use.bytes, use.gbs);
        use.wait_ns = s->links ? (double)s->links[i].wait_fs / 1e6 : 0;
        each(arg, &use);
    }
    free(sp.edges);
    return KB_OK;
}

/* -- stations ------------------------------------------------------------------------------- */

/* Of a channel or an engine, `servers` in all: who still holds one has held it until now. */
static int64_t held_fs(const struct kb_sim *s, const struct station *st, uint32_t servers)
{
    return (int64_t)(st->busy_fs + (servers - st->idle) * s->now_fs);
}

/* Of a memory: who is served has held it until now. */
static int64_t served_fs(const struct kb_sim *s, const struct memory_station *m)
{
    bool serves = m->holder != TXN_NONE && m->start_fs < s->now_fs;

    return (int64_t)(m->busy_fs + (serves ? s->now_fs - m->start_fs : 0));
}

/* Calls `each` for one station that anything went through. */
static void show_station(const struct station *st, uint32_t servers, int64_t busy_fs,
                         kb_station_use *use, void (*each)(void *arg, const kb_station_use *use),
                         void *arg)
{
    use->servers = servers;
    use->count = st->count;
    use->bytes = st->bytes;
    use->busy_fs = busy_fs;
    use->wait_ns = (double)st->wait_fs / 1e6;
    use->queue_max = st->queue_max;
    each(arg, use);
}

static void add_flow(kb_station_use *use, const struct flow *flow)
{
    use->count += flow->count[0] + flow->count[1];
    use->bytes += flow->bytes[0] + flow->bytes[1];
}

/* What a memory has served came from the PEs of its cube, or from elsewhere. */
static void show_memory(const struct kb_sim *s, uint32_t dst,
                        void (*each)(void *arg, const kb_station_use *use), void *arg)
{
    const struct kb_topology *t = s->topo;
    const struct memory_station *m = &s->memories[dst];
    uint32_t cube = dst_cube(t, dst), unit = dst_unit(t, dst);
    struct kb_station_use use = {.servers = 1,
                                 .busy_fs = served_fs(s, m),
                                 .wait_ns = (double)m->wait_fs / 1e6,
                                 .queue_max = m->queue_max};

    if (unit > t->pes)
        return; /* a TCM: its ports are the PE's */
    add_flow(&use, &s->flow_in[dst]);
    for (uint32_t pe = 0; pe < t->pes; pe++)
        add_flow(&use, &s->flow_local[(size_t)src_pack(t, cube, pe) * t->n_units + unit]);
    if (!use.count)
        return;
    name_cube_node(t, cube, unit < t->pes ? t->first_hbm_node + unit : t->sram_node, use.name);
    each(arg, &use);
}

/* Rows `i` of channels and of engines are for reads and for writes in turn. */
static void show_pair(const struct kb_sim *s, const struct station rows[2], const char *node,
                      const uint32_t servers[2], unsigned cost,
                      void (*each)(void *arg, const kb_station_use *use), void *arg)
{
    for (uint32_t w = 0; w < 2; w++) {
        const struct station *st = &rows[w];
        struct kb_station_use use;

        if (!st->count)
            continue;
        snprintf(use.name, sizeof use.name, "%s.%s", node, w ? "write" : "read");
        show_station(st, servers[w], held_fs(s, st, sim_servers(s, cost, servers[w])), &use, each,
                     arg);
    }
}

kb_status kb_sim_stations(const kb_sim *s, void (*each)(void *arg, const kb_station_use *use),
                          void *arg)
{
    const struct kb_topology *t = s->topo;
    const uint32_t channels[2] = {t->read_channels, t->write_channels};
    const uint32_t engines[2] = {t->read_engines, t->write_engines};
    uint32_t cubes = sim_cubes(t);
    char node[KB_NODE_BYTES];

    for (uint32_t i = 0; i < cubes << t->pe_bits; i++) {
        if (src_pe(t, i) >= t->pes)
            continue;
        name_cube_node(t, src_cube(t, i),
                       t->first_pe_node + src_pe(t, i) * PE_NODES + NODE_PE_DMA - NODE_PE_CPU,
                       node);
        show_pair(s, &s->channels[2 * i], node, channels, KB_COST_CHANNELS, each, arg);
    }
    for (uint32_t i = 0; i < cubes; i++) {
        name_cube_node(t, i, t->m_cpu_node, node);
        show_pair(s, &s->engines[2 * i], node, engines, KB_COST_ENGINES, each, arg);
    }
    for (uint32_t i = 0; i < cubes << t->unit_bits; i++)
        show_memory(s, i, each, arg);
    return KB_OK;
}

/* `busy_fs` of `servers` fits into a run of `end_fs`. */
static bool plausible(uint64_t busy_fs, uint32_t servers, int64_t end_fs)
{
    return (double)busy_fs <= (double)servers * (double)end_fs * (1 + 1e-9);
}

/* Ports and engines of PEs, if kernels ran. */
static bool plausible_pes(const struct kb_sim *s)
{
    bool ok = true;

    for (uint32_t pe = 0; s->kernels && pe < s->kernels->n_pes; pe++)
        for (int i = 0; i < N_PORTS; i++)
            ok = ok && s->kernels->pes[pe].port[i].busy_fs <= (uint64_t)s->end_fs;
    return ok;
}

kb_status sim_check_stations(const struct kb_sim *s, kb_error *why)
{
    const struct kb_topology *t = s->topo;
    uint32_t cubes = sim_cubes(t);
    bool ok = plausible_pes(s);

    for (uint32_t i = 0; i < 2 * cubes << t->pe_bits; i++)
        ok = ok && plausible(s->channels[i].busy_fs, i % 2 ? t->write_channels : t->read_channels,
                             s->options.costs_off & KB_COST_CHANNELS ? INT64_MAX : s->end_fs);
    for (uint32_t i = 0; i < 2 * cubes; i++)
        ok = ok && plausible(s->engines[i].busy_fs, i % 2 ? t->write_engines : t->read_engines,
                             s->options.costs_off & KB_COST_ENGINES ? INT64_MAX : s->end_fs);
    for (uint32_t i = 0; i < cubes << t->unit_bits; i++)
        ok = ok && s->memories[i].busy_fs <= (uint64_t)s->end_fs;
    for (size_t i = 0; s->links && i < walk_n_links(t); i++)
        ok = ok && s->links[i].busy_fs <= (uint64_t)s->links[i].free_fs;
    if (ok)
        return KB_OK;
    end_error(why, "a station was taken for longer than the run lasted");
    return KB_INTERNAL;
}
