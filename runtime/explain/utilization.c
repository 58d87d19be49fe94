/* utilization.c -- the load of each component: spreads counts by route over nodes and edges.
 *
 * A transaction passes twenty nodes and edges or more; counting it at each would cost more than all
 * its steps. So it counts once or twice, by route (engine/state.h, sim_count()), and the counts are
 * spread here, when they are asked for. A route has parts that many share:
 *
 *   flow_local    a PE and a memory of its cube: the whole route inside the cube
 *   flow_out      from a PE to the edge of its cube's first NoC, for other cubes
 *   flow_remote   between two cubes: the way from the first NoC to the last
 *   flow_host     from the host to the m_cpu of a cube
 *   flow_in       from the last NoC to a memory, for traffic from other cubes and hosts
 *
 * Example: a read of 4 KiB by c0.pe1 of c5.slice3 counts in flow_out[c0.pe1], flow_remote[0][5] and
 * flow_in[c5.slice3]. Its bytes are added to each edge of the three parts, in the direction of the
 * data: a read's against the route.
 *
 * Replays do not even count that: each transaction keeps its slot, so count_all() derives all
 * counts and waits from the times afterwards. Kernels and traffic use slots again and count as they
 * go.
 *
 * A run may be asked before its end. Then servers that are busy, and transactions that wait, have
 * been so until now; each sum of a station is completed with that part here, and never stored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "machine/endpoint.h"
#include "kernels/kernels.h"
#include "machine/names.h"
#include "machine/place.h"
#include "engine/traffic.h"
#include "machine/walk.h"

/* -- nodes and edges ------------------------------------------------------------------------ */

struct sum {
    uint64_t count, bytes;
};

/* Traffic of every node and link station. Reads pass the edges of their route the other way. */
struct spread {
    const struct kb_topology *topo;
    struct sum *nodes, *edges; /* owned */
};

static void add_flow(struct sum *sum, const struct flow *flow)
{
    sum->count += flow->count[0] + flow->count[1];
    sum->bytes += flow->bytes[0] + flow->bytes[1];
}

/* Adds `flow` to hops [from, to) of the segment `at`: their nodes, and the edges that leave them.
 */
static void spread_hops(const struct spread *sp, struct route_at at, uint32_t from, uint32_t to,
                        uint32_t dst, const struct flow *flow)
{
    const struct segment_row *seg = &sp->topo->segments[at.segment];

    for (uint32_t i = from; i < to && i < seg->n_hops; i++) {
        const struct hop_row *hop = &sp->topo->hops[seg->first_hop + i];
        struct walk_edge edge = {hop->owner, hop->back, hop->link};
        size_t link;

        add_flow(&sp->nodes[walk_node(sp->topo, hop, at.cube, dst)], flow);
        if (hop->owner == LINK_NONE)
            return;
        link = walk_link(sp->topo, edge, at.cube, dst);
        for (uint32_t writes = 0; writes < 2; writes++) {
            sp->edges[link ^ !writes].count += flow->count[writes];
            sp->edges[link ^ !writes].bytes += flow->bytes[writes];
        }
    }
}

/* Hops of a last segment that all memories of the cube share. */
enum { HOPS_TO_NOC = 1 /* ucie */, HOPS_TO_M_CPU = 3 /* ucie, noc, m_cpu */ };

static bool no_flow(const struct flow *f)
{
    return !f->count[0] && !f->count[1];
}

/*
 * The way between the first NoC and the last, which all PEs and memories of two cubes share;
 * a host's go on to its M_CPU and back to the NoC.
 */
static void spread_between(const struct spread *sp, uint32_t from, uint32_t to, bool of_host,
                           const struct flow *flow)
{
    const struct kb_topology *t = sp->topo;
    uint32_t dst = dst_pack(t, to, 0), first = of_host ? 0 : 1;
    struct route_at at = walk_begin(t, src_pack(t, from, 0), dst, of_host);

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

/* From the NoC to each memory: traffic from other cubes and from hosts. */
static void spread_memories(const struct spread *sp, const struct kb_sim *s)
{
    const struct kb_topology *t = sp->topo;
    uint32_t n = sim_cubes(t) << t->unit_bits;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t cube = dst_cube(t, i), unit = dst_unit(t, i);
        uint32_t segment = t->seg_in + SIDE_W * t->n_units + unit;
        struct route_at at = {.cube = cube, .segment = (uint16_t)segment};

        if (!no_flow(&s->flow_in[i]))
            spread_hops(sp, at, 1, UINT32_MAX, i, &s->flow_in[i]);
    }
}

/* Between a PE and a memory of its cube. */
static struct flow local_flow(const struct kb_sim *s, uint32_t pe, uint32_t unit)
{
    struct flow flow = s->flow_local[(size_t)pe * s->topo->n_units + unit];

    for (uint32_t w = 0; unit == src_pe(s->topo, pe) && w < 2; w++) {
        flow.count[w] += s->channels[2 * (size_t)pe + w].count;
        flow.bytes[w] += s->channels[2 * (size_t)pe + w].bytes;
    }
    return flow;
}

/* Inside cubes whole routes; and from each PE to the NoC, what went to other cubes. */
static void spread_pes(const struct spread *sp, const struct kb_sim *s)
{
    const struct kb_topology *t = sp->topo;
    uint32_t n = sim_cubes(t) << t->pe_bits;

    for (uint32_t pe = 0; pe < n; pe++) {
        uint32_t cube = src_cube(t, pe), unit = src_pe(t, pe);
        struct route_at at = {.cube = cube};

        for (uint32_t m = 0; m < t->n_units; m++) {
            struct flow local = local_flow(s, pe, m);

            at.segment = (uint16_t)(t->seg_local + unit * t->n_units + m);
            if (!no_flow(&local))
                spread_hops(sp, at, 0, UINT32_MAX, dst_pack(t, cube, m), &local);
        }
        at.segment = (uint16_t)(t->seg_out + unit * N_EXITS);
        if (!no_flow(&s->flow_out[pe]))
            spread_hops(sp, at, 0, 1, 0, &s->flow_out[pe]);
    }
}

static double link_gbs(const struct kb_topology *t, size_t link)
{
    size_t number = link / 2, n_cube_links = walk_io_links(t) / 2;

    return number < n_cube_links ? t->cube_links[number % t->n_cube_links].gbs
                                 : t->io_links[(number - n_cube_links) % t->n_io_links].gbs;
}

/* False without memory; the caller frees the rows in any case. */
static bool spread_all(struct spread *sp, const struct kb_sim *s)
{
    sp->topo = s->topo;
    sp->nodes = calloc(s->topo->n_nodes, sizeof *sp->nodes);
    sp->edges = calloc(walk_n_links(s->topo), sizeof *sp->edges);
    if (!sp->nodes || !sp->edges)
        return false;
    spread_cubes(sp, s);
    spread_memories(sp, s);
    spread_pes(sp, s);
    return true;
}

/* -- transactions that keep their slots ----------------------------------------------------- */

/* Clears the counts of an earlier call: the run has gone on since. */
static void forget(struct kb_sim *s)
{
    const struct kb_topology *t = s->topo;
    size_t cubes = sim_cubes(t), pes = cubes << t->pe_bits, memories = cubes << t->unit_bits;

    for (size_t i = 0; i < 2 * pes; i++)
        s->channels[i].count = s->channels[i].bytes = 0, s->channels[i].wait_fs = 0;
    for (size_t i = 0; i < 2 * cubes; i++)
        s->engines[i].count = s->engines[i].bytes = 0, s->engines[i].wait_fs = 0;
    for (size_t i = 0; i < memories; i++)
        s->memories[i].wait_fs = 0;
    memset(s->flow_local, 0, pes * t->n_units * sizeof *s->flow_local);
    memset(s->flow_out, 0, pes * sizeof *s->flow_out);
    memset(s->flow_host, 0, cubes * sizeof *s->flow_host);
    memset(s->flow_in, 0, memories * sizeof *s->flow_in);
    for (size_t i = 0; i < cubes; i++)
        if (s->flow_remote[i])
            memset(s->flow_remote[i], 0, cubes * sizeof *s->flow_remote[i]);
}

/* Its channel, or its engine, is behind it. */
static bool has_taken_first(const struct txn *x)
{
    return x->stage != TXN_WAITING && x->stage != TXN_TO_ENGINE;
}

/* Counts from the times of the transactions, for nothing was counted while they ran. */
static bool count_all(struct kb_sim *s)
{
    bool ok = true;

    forget(s);
    for (uint32_t i = 0; ok && i < s->n_txns; i++) {
        const struct txn *txn = &s->txns[i];
        size_t writes = txn_writes(txn);

        if (!has_taken_first(txn))
            continue;
        if (txn_of_host(txn))
            s->engines[2 * (size_t)dst_cube(s->topo, txn->dst) + writes].wait_fs += txn->wait_fs;
        else
            s->channels[2 * (size_t)txn->src + writes].wait_fs += txn->wait_fs;
        if (txn->stage != TXN_DONE)
            continue;
        s->memories[txn->dst].wait_fs += txn->service_fs - txn->arrive_fs;
        ok = sim_count(s, txn);
    }
    return ok;
}

/* -- until when ----------------------------------------------------------------------------- */

/* To which function each component is shown, and how long the run has lasted. */
struct usage {
    const struct kb_sim *sim;
    uint64_t now_fs;
    void (*each)(void *arg, const kb_utilization *use);
    void *arg;
};

/*
 * The end of a run that is complete, else how far it has come: of kernels, which may run events
 * themselves, to the next event.
 */
static uint64_t lasted_fs(const struct kb_sim *s)
{
    const struct kernels *k = s->kernels;
    ev next;

    if (k ? k->launch == k->n_launches : s->n_done == sim_txn_count(s))
        return (uint64_t)s->end_fs;
    if (!k || s->status != KB_OK || !k->launched)
        return s->now_fs;
    next = k->wakes.next < s->queue.first ? k->wakes.next : s->queue.first;
    return ev_time_fs(next);
}

static uint64_t past_fs(uint64_t t, uint64_t now_fs)
{
    return t > now_fs ? t - now_fs : 0;
}

/* Fills in the columns that depend on the length of the run, and shows the component. */
static void show(const struct usage *u, kb_utilization *use, wait_sum wait_fs)
{
    double end_fs = (double)u->now_fs;

    if (use->servers && u->now_fs)
        use->util_pct = 100 * (double)use->busy_fs / ((double)use->servers * end_fs);
    if (use->queues && u->now_fs)
        use->queue_mean = (double)wait_fs / end_fs;
    use->wait_ns = (double)wait_fs / 1e6;
    u->each(u->arg, use);
}

/* -- shown: nodes and links ----------------------------------------------------------------- */

static void show_nodes(const struct usage *u, const struct sum *nodes)
{
    const struct kb_sim *s = u->sim;

    for (size_t i = 0; i < s->topo->n_nodes; i++) {
        int64_t overhead_fs = walk_node_row(s->topo, i)->overhead_fs & s->mask.overhead;
        kb_utilization use = {.kind = KB_AT_NODE, .count = nodes[i].count, .bytes = nodes[i].bytes};

        if (!use.count)
            continue;
        name_node(s->topo, i, use.name);
        use.busy_fs = (int64_t)use.count * overhead_fs;
        show(u, &use, 0);
    }
}

/* l->wait_fs contains each wait in full; takes off the part that is still to come. */
static wait_sum link_waited_fs(const struct link_station *l, uint64_t now_fs)
{
    wait_sum fs = l->wait_fs;

    for (uint32_t i = 0; i < l->room; i++)
        fs -= past_fs(l->enter_fs[i], now_fs);
    return fs;
}

static void show_links(const struct usage *u, const struct sum *edges)
{
    const struct kb_sim *s = u->sim;

    for (size_t i = 0; i < walk_n_links(s->topo); i++) {
        const struct link_station *l = s->links ? &s->links[i] : NULL;
        kb_utilization use = {.kind = KB_AT_LINK,
                              .gbs = link_gbs(s->topo, i),
                              .servers = 1,
                              .count = edges[i].count,
                              .bytes = edges[i].bytes,
                              .queues = l};

        if (!use.count && !(l && l->free_fs))
            continue;
        name_link(s->topo, i, use.from, use.to);
        snprintf(use.name, sizeof use.name, "%s -> %s", use.from, use.to);
        if (l)
            use.queue_max = l->queue_max;
        use.busy_fs = l ? (int64_t)(l->busy_fs - past_fs((uint64_t)l->free_fs, u->now_fs))
                        : drain_fs(use.bytes, use.gbs);
        show(u, &use, l ? link_waited_fs(l, u->now_fs) : 0);
    }
}

/* -- channels and engines ------------------------------------------------------------------- */

/* Adds the waits of those still in the queue. A host's wait_fs holds the time of its arrival. */
static wait_sum station_waited_fs(const struct kb_sim *s, const struct station *st, bool engine,
                                  uint64_t now_fs)
{
    wait_sum fs = st->wait_fs;

    for (uint32_t slot = st->queue.head; slot != TXN_NONE; slot = s->txns[slot].next)
        fs += past_fs(now_fs, (uint64_t)(engine ? s->txns[slot].wait_fs : s->txns[slot].issue_fs));
    return fs;
}

/* `servers` may be unbounded. Servers that are busy have been so until now. */
static void show_station(const struct usage *u, const struct station *st, uint32_t servers,
                         unsigned cost, kb_utilization *use)
{
    const struct kb_sim *s = u->sim;
    bool unbounded = s->options.costs_off & cost;
    uint32_t all = unbounded ? EV_MAX_SLOTS : servers;

    use->servers = unbounded ? 0 : servers;
    use->busy_fs = (int64_t)(st->busy_fs + (all - st->idle) * u->now_fs);
    use->queues = true;
    use->queue_max = s->traffic ? -1 : (int64_t)st->queue_max;
    show(u, use, station_waited_fs(s, st, use->kind == KB_AT_ENGINE, u->now_fs));
}

/* Never taken. After an early end, a transaction that is not complete may have taken it. */
static bool untouched(const struct station *st)
{
    return st->holder == TXN_NONE;
}

static struct sum carried(const struct kb_sim *s, uint32_t pe, uint32_t write)
{
    struct sum sum = {s->flow_out[pe].count[write], s->flow_out[pe].bytes[write]};

    for (uint32_t m = 0; m < s->topo->n_units; m++) {
        struct flow local = local_flow(s, pe, m);

        sum.count += local.count[write];
        sum.bytes += local.bytes[write];
    }
    return sum;
}

static void show_channels(const struct usage *u)
{
    const struct kb_topology *t = u->sim->topo;

    for (uint32_t i = 0; i < 2 * sim_cubes(t) << t->pe_bits; i++) {
        kb_utilization use = {.kind = KB_AT_CHANNEL};
        struct sum sum;

        if (untouched(&u->sim->channels[i]))
            continue;
        sum = carried(u->sim, i / 2, i % 2);
        use.count = sum.count;
        use.bytes = sum.bytes;
        kb_place_name(t, place_of(KB_AT_CHANNEL, i), use.name);
        show_station(u, &u->sim->channels[i], i % 2 ? t->write_channels : t->read_channels,
                     KB_COST_CHANNELS, &use);
    }
}

static void show_engines(const struct usage *u)
{
    const struct kb_topology *t = u->sim->topo;

    for (uint32_t i = 0; i < 2 * sim_cubes(t); i++) {
        const struct station *engine = &u->sim->engines[i];
        kb_utilization use = {.kind = KB_AT_ENGINE, .count = engine->count, .bytes = engine->bytes};

        if (untouched(engine))
            continue;
        kb_place_name(t, place_of(KB_AT_ENGINE, i), use.name);
        show_station(u, engine, i % 2 ? t->write_engines : t->read_engines, KB_COST_ENGINES, &use);
    }
}

/* -- memories and ports --------------------------------------------------------------------- */

/* Adds the waits of the holder and of the queue, as far as they have arrived. */
static wait_sum memory_waited_fs(const struct kb_sim *s, const struct memory_station *memory,
                                 uint64_t now_fs)
{
    wait_sum fs = memory->wait_fs;

    if (memory->holder != TXN_NONE)
        fs += past_fs(memory->start_fs < now_fs ? memory->start_fs : now_fs,
                      (uint64_t)s->txns[memory->holder].arrive_fs);
    for (uint32_t slot = memory->head; slot != TXN_NONE; slot = s->txns[slot].next)
        fs += past_fs(now_fs, (uint64_t)s->txns[slot].arrive_fs);
    return fs;
}

/* Some of the expected transactions may have arrived since the memory last counted them. */
static uint32_t memory_queue_max(const struct kb_sim *s, const struct memory_station *memory,
                                 uint64_t now_fs)
{
    uint32_t queued = 0;

    for (uint32_t slot = memory->head; slot != TXN_NONE; slot = s->txns[slot].next)
        queued += (uint64_t)s->txns[slot].arrive_fs <= now_fs;
    return queued > memory->queue_max ? queued : memory->queue_max;
}

/* The holder has held it until now. */
static void show_served(const struct usage *u, const struct memory_station *memory,
                        kb_utilization *use)
{
    bool serves = memory->holder != TXN_NONE;

    use->servers = 1;
    use->busy_fs = (int64_t)(memory->busy_fs + (serves ? past_fs(u->now_fs, memory->start_fs) : 0));
    use->queues = true;
    use->queue_max = memory_queue_max(u->sim, memory, u->now_fs);
    show(u, use, memory_waited_fs(u->sim, memory, u->now_fs));
}

/* The traffic of a memory: from PEs of its cube, and from elsewhere. */
static struct sum served(const struct kb_sim *s, uint32_t dst)
{
    const struct kb_topology *t = s->topo;
    uint32_t cube = dst_cube(t, dst), unit = dst_unit(t, dst);
    struct sum sum = {0, 0};

    add_flow(&sum, &s->flow_in[dst]);
    for (uint32_t pe = 0; pe < t->pes; pe++) {
        struct flow local = local_flow(s, src_pack(t, cube, pe), unit);

        add_flow(&sum, &local);
    }
    return sum;
}

static void show_memories(const struct usage *u)
{
    const struct kb_topology *t = u->sim->topo;

    for (uint32_t i = 0; i < sim_cubes(t) << t->unit_bits; i++) {
        kb_utilization use = {.kind = KB_AT_MEMORY};
        struct sum sum;

        if (dst_unit(t, i) > t->pes)
            continue; /* a TCM: its ports are the PE's */
        sum = served(u->sim, i);
        if (!sum.count && u->sim->memories[i].holder == TXN_NONE)
            continue;
        use.count = sum.count;
        use.bytes = sum.bytes;
        use.gbs = cost_memory(t, i, 0)->gbs;
        kb_place_node(t, place_of(KB_AT_MEMORY, i), use.name);
        show_served(u, &u->sim->memories[i], &use);
    }
}

static void show_ports(const struct usage *u)
{
    const struct kb_topology *t = u->sim->topo;
    const struct kernels *k = u->sim->kernels;

    for (uint32_t i = 0; k && i < k->n_pes * N_PORTS; i++) {
        const struct tl_ctx *pe = &k->pes[i / N_PORTS];
        enum port port = i % N_PORTS;
        kb_utilization use = {
            .kind = KB_AT_PORT, .count = pe->port[port].count, .bytes = pe->port_bytes[port]};

        if (!use.count && pe->port[port].holder == TXN_NONE)
            continue;
        if (port <= PORT_TCM_WRITE)
            use.gbs = port == PORT_TCM_READ ? t->tcm_read.gbs : t->tcm_write.gbs;
        kb_place_name(t, place_port(pe->number, port), use.name);
        show_served(u, &pe->port[port], &use);
    }
}

kb_status kb_sim_utilization(const kb_sim *s, void (*each)(void *arg, const kb_utilization *use),
                             void *arg)
{
    struct usage u = {s, lasted_fs(s), each, arg};
    struct spread sp = {0};
    bool counted = s->kernels || s->traffic || count_all((struct kb_sim *)s);
    bool ok = counted && spread_all(&sp, s);

    if (ok) {
        show_nodes(&u, sp.nodes);
        show_links(&u, sp.edges);
        show_channels(&u);
        show_engines(&u);
        show_memories(&u);
        show_ports(&u);
    }
    free(sp.nodes);
    free(sp.edges);
    return ok ? KB_OK : KB_NO_MEMORY;
}
