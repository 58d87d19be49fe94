/* utilization.c -- the load of each component, as the counts and waits of a run give it.
 *
 * Stations keep their own sums while a run goes on. Nodes and edges do not: what passed them is
 * derived from the traffic by route (explain/spread.c).
 *
 * Replays do not even count that: count_slots() derives all from the times of the transactions.
 *
 * A run may be asked before its end. Then servers that are busy, and transactions that wait, have
 * been so until now; each sum of a station is completed with that part here, and never stored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/inorder.h"
#include "explain/bank_use.h"
#include "explain/cache_use.h"
#include "explain/channel_queues.h"
#include "explain/count_slots.h"
#include "explain/spread.h"
#include "machine/endpoint.h"
#include "kernels/kernels.h"
#include "machine/names.h"
#include "machine/place.h"
#include "engine/stations.h"
#include "engine/router_tally.h"
#include "engine/traffic.h"
#include "machine/walk.h"
#include "network/banks_state.h"
#include "network/network_router.h"

/* -- until when ----------------------------------------------------------------------------- */

/* To which function each component is shown, and how long the run has lasted. */
struct usage {
    const struct kb_sim *sim;
    uint64_t now_fs;
    void (*each)(void *arg, const kb_utilization *use);
    void *arg;
    int64_t *ahead_fs; /* [channel], owned; NULL: nothing: find_ahead() */
};

/* When the next event of a run of kernels is. */
static uint64_t next_fs(const struct kb_sim *s)
{
    ev next = ev_least(s->kernels->wakes.next, ev_first(&s->queue));
    uint64_t of_ports = s->router ? router_next_fs(s->router) : UINT64_MAX;

    if (inorder_runs(s))
        next = ev_least(next, s->inorder->soon);
    next = ev_least(next, calendar_first(&((struct kb_sim *)s)->calendar, s->txns, UINT64_MAX));
    return of_ports < ev_time_fs(next) ? of_ports : ev_time_fs(next);
}

/*
 * The end of a run that is complete, else how far it has come: of kernels, which may run events
 * themselves, to the next event.
 */
static uint64_t lasted_fs(const struct kb_sim *s)
{
    const struct kernels *k = s->kernels;

    if (k ? k->n_done == k->n_launches : s->n_done == sim_txn_count(s))
        return (uint64_t)(k ? s->end_fs : sim_free_fs(s));
    if (!k || s->status != KB_OK || !launches_under_way(k))
        return s->now_fs;
    return next_fs(s);
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

static void show_nodes(const struct usage *u, const struct flow_sum *nodes)
{
    const struct kb_sim *s = u->sim;

    for (size_t i = 0; i < walk_n_nodes(s->topo); i++) {
        if (!nodes[i].count)
            continue;
        int64_t overhead_fs = walk_node_row(s->topo, i)->overhead_fs & s->mask.overhead;
        kb_utilization use = {.kind = KB_AT_NODE, .count = nodes[i].count, .bytes = nodes[i].bytes};

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
    return fs > 0 ? fs : 0;
}

/*
 * How long servers have been taken until now. Before the end of a run those are taken ahead of time
 * that are passed without an event (engine/inorder_steps.h): then `busy_fs` is not exact.
 */
static int64_t until_now_fs(const struct kb_sim *s, int64_t busy_fs, uint32_t servers,
                            uint64_t now_fs)
{
    if (!s->inorder || s->n_done == sim_txn_count(s))
        return busy_fs;
    if (busy_fs < 0)
        return 0;
    return (uint64_t)busy_fs < servers * now_fs ? busy_fs : (int64_t)(servers * now_fs);
}

static int64_t link_busy_fs(const struct kb_sim *s, const struct link_station *l, uint64_t now_fs)
{
    if (s->fed && s->n_done < sim_txn_count(s))
        return (int64_t)(l->busy_fs < now_fs ? l->busy_fs : now_fs);
    int64_t busy_fs = (int64_t)l->busy_fs;

    for (uint32_t i = 0; i < link_servers(l); i++)
        busy_fs -= (int64_t)past_fs((uint64_t)link_server_fs(l, i), now_fs);
    return busy_fs;
}

/* Of routers: does a channel begin there? The edges behind it in the same channel are not counted.
 */
static bool is_port(const struct kb_sim *s, size_t link)
{
    const struct router *r = s->router;

    for (uint32_t lane = 0; r && lane < router_lanes(r, link); lane++)
        if (r->ports[router_port(r, link, lane)].known)
            return true;
    return false;
}

/* The port of each lane. */
static int64_t port_busy_fs(const struct router *r, size_t link, uint64_t now_fs)
{
    int64_t fs = 0;

    for (uint32_t lane = 0; lane < router_lanes(r, link); lane++) {
        const struct out_port *port = &r->ports[router_port(r, link, lane)];

        fs += (int64_t)(port->busy_fs - past_fs(port->free_fs, now_fs));
    }
    return fs;
}

static double link_gbs(const struct kb_topology *t, size_t link)
{
    size_t number = link / 2, n_cube_links = walk_io_links(t) / 2;

    return number < n_cube_links ? walk_cube_link(t, (uint32_t)(number / t->n_cube_links),
                                                  (uint32_t)(number % t->n_cube_links))
                                       ->gbs
                                 : t->io_links[(number - n_cube_links) % t->n_io_links].gbs;
}

/* "FROM -> TO"; a link that closes a ring of two SIPs has the same ends as another. */
static void name_edge(kb_utilization *use, bool twin)
{
    static const char wrap[] = " (wrap)";
    size_t n = (size_t)snprintf(use->name, sizeof use->name, "%s -> %s", use->from, use->to);

    if (twin && n + sizeof wrap <= sizeof use->name)
        memcpy(use->name + n, wrap, sizeof wrap);
}

static void show_links(const struct usage *u, const struct flow_sum *edges)
{
    const struct kb_sim *s = u->sim;

    for (size_t i = 0; i < walk_n_links(s->topo); i++) {
        const struct link_station *l = s->links ? &s->links[i] : NULL;

        if (!edges[i].count && !(l && l->free_fs))
            continue;
        kb_utilization use = {.kind = KB_AT_LINK,
                              .gbs = link_gbs(s->topo, i),
                              .servers = l           ? link_servers(l)
                                         : s->router ? router_lanes(s->router, i)
                                                     : 1,
                              .count = edges[i].count,
                              .bytes = edges[i].bytes,
                              .queues = l};

        name_link(s->topo, i, use.from, use.to);
        name_edge(&use, name_has_twin(s->topo, i));
        if (l)
            use.queue_max = l->queue_max;
        use.busy_fs = l               ? link_busy_fs(s, l, u->now_fs)
                      : is_port(s, i) ? port_busy_fs(s->router, i, u->now_fs)
                                      : drain_fs(use.bytes, use.gbs);
        show(u, &use, l ? link_waited_fs(l, u->now_fs) : 0);
    }
}

/* -- shown: virtual channels of routers ------------------------------------------------------ */

static void show_vc(const struct usage *u, size_t port, uint32_t vc)
{
    const struct router *r = u->sim->router;
    struct vc_tally sum = router_tally_until(&r->tally->vcs[port * r->n_vcs + vc], u->now_fs);
    kb_utilization use = {.kind = KB_AT_VC,
                          .gbs = r->ports[port].gbs,
                          .servers = 1,
                          .count = sum.count,
                          .bytes = sum.nbytes,
                          .busy_fs = (int64_t)sum.busy_fs,
                          .buffer_bytes = sum.room,
                          .buffer_max = (int64_t)sum.most,
                          .stall_fs = (int64_t)sum.stall_fs};

    char far[KB_NODE_BYTES];

    if (!sum.count)
        return;
    if (r->ports[port].free_fs > u->now_fs && r->tally->last_vc[port] == vc)
        use.busy_fs -= (int64_t)(r->ports[port].free_fs - u->now_fs);
    if (u->now_fs)
        use.buffer_mean = (double)sum.held / (double)u->now_fs;
    name_link(u->sim->topo, r->ports[port].link, use.from, far);
    name_link(u->sim->topo, r->ports[port].end_edge, far, use.to);
    kb_place_name(u->sim->topo, place_vc(r->ports[port].link, vc), use.name);
    show(u, &use, 0);
}

static void show_vcs(const struct usage *u)
{
    const struct router *r = u->sim->router;

    for (size_t port = 0; port < r->n_ports; port++)
        for (uint32_t vc = 0; vc < r->n_vcs; vc++)
            show_vc(u, port, vc);
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

/* `servers` may be unbounded. Servers that are busy have been so until now; of `ahead_fs` they will
 * be. */
static void show_station(const struct usage *u, const struct station *st, uint32_t servers,
                         unsigned cost, int64_t ahead_fs, kb_utilization *use)
{
    const struct kb_sim *s = u->sim;
    bool unbounded = s->options.costs_off & cost;
    uint32_t all = unbounded ? EV_MAX_SLOTS : servers;
    int64_t busy_fs = (int64_t)(st->busy_fs + (all - st->idle) * u->now_fs);

    use->servers = unbounded ? 0 : servers;
    use->busy_fs = until_now_fs(s, busy_fs + ahead_fs, all, u->now_fs);
    use->queues = true;
    use->queue_max = s->traffic ? -1 : (int64_t)st->queue_max;
    show(u, use, station_waited_fs(s, st, use->kind == KB_AT_ENGINE, u->now_fs) - ahead_fs);
}

/* Never taken. After an early end, a transaction that is not complete may have taken it. */
static bool untouched(const struct station *st)
{
    return st->holder == TXN_NONE;
}

static struct flow_sum carried(const struct kb_sim *s, uint32_t pe, uint32_t write)
{
    struct flow flow = spread_out(s, pe);

    for (uint32_t m = 0; m < s->topo->n_units; m++) {
        struct flow local = spread_local(s, pe, m);

        flow_add(&flow, &local);
    }
    if (s->more_parts) {
        flow.by[write].count -= s->more_parts[2 * (size_t)pe + write].count;
        flow.by[write].bytes -= s->more_parts[2 * (size_t)pe + write].bytes;
    }
    return flow.by[write];
}

/*
 * What has its channel may set out later than now: its wait is counted until then, and it takes
 * the channel from then on. Of each channel the sum of what is still to come. False: no memory.
 */
static bool find_ahead(struct usage *u)
{
    const struct kb_sim *s = u->sim;
    uint32_t n = s->kernels ? s->kernels->n_slots : s->n_txns + s->n_parts;

    if (!s->paces)
        return true;
    u->ahead_fs = calloc(2 * sim_cubes(s->topo) << s->topo->pe_bits, sizeof *u->ahead_fs);
    for (uint32_t slot = 0; u->ahead_fs && slot < n; slot++) {
        const struct txn *x = &s->txns[slot];
        bool has = x->stage == TXN_SETS_OUT || x->stage == TXN_SPLIT;

        if (has && !is_child(s, slot) && !is_part(s, slot) && txn_start_fs(x) > u->now_fs)
            u->ahead_fs[2 * (size_t)x->src + txn_writes(x)] +=
                (int64_t)(txn_start_fs(x) - u->now_fs);
    }
    return u->ahead_fs;
}

static void show_channels(const struct usage *u)
{
    const struct kb_topology *t = u->sim->topo;

    for (uint32_t i = 0; i < 2 * sim_cubes(t) << t->pe_bits; i++) {
        if (untouched(&u->sim->channels[i]))
            continue;
        struct flow_sum sum = carried(u->sim, i / 2, i % 2);
        kb_utilization use = {.kind = KB_AT_CHANNEL, .count = sum.count, .bytes = sum.bytes};
        kb_place_name(t, place_of(KB_AT_CHANNEL, i), use.name);
        show_station(u, &u->sim->channels[i], channels_of(t, i), KB_COST_CHANNELS,
                     u->ahead_fs ? u->ahead_fs[i] : 0, &use);
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
        show_station(u, engine, engines_of(t, i), KB_COST_ENGINES, 0, &use);
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
    use->busy_fs = (int64_t)(memory->busy_fs + (serves ? past_fs(u->now_fs, memory->start_fs) : 0) -
                             past_fs(memory->freed_fs, u->now_fs));
    use->queues = true;
    use->queue_max = memory_queue_max(u->sim, memory, u->now_fs);
    show(u, use, memory_waited_fs(u->sim, memory, u->now_fs));
}

/* Of a memory that is free before its transactions are done, or a port that keeps order. */
static void show_early(const struct usage *u, const struct link_station *memory,
                       kb_utilization *use)
{
    use->servers = link_servers(memory);
    use->busy_fs = link_busy_fs(u->sim, memory, u->now_fs);
    use->queues = true;
    use->queue_max = memory->queue_max;
    show(u, use, link_waited_fs(memory, u->now_fs));
}

/* Shows a slice with banks, then its channels: explain/bank_use.c. */
static void show_slice(void *arg, kb_utilization *use, uint64_t until_fs)
{
    struct usage u = *(const struct usage *)arg;

    u.now_fs = until_fs;
    show(&u, use, 0);
}

/* A component that queues: busy while it has anything. */
static void show_queue(const struct usage *u, const struct queueing_memory *queue,
                       kb_utilization *use)
{
    use->servers = 1;
    use->busy_fs = queue_busy_fs(queue, (int64_t)u->now_fs);
    show(u, use, 0);
}

/* Shows a cache, then the memory behind it, which serves what the cache has asked for. */
static void show_cache(const struct usage *u, const struct cache *c, const struct bank_slice *banks,
                       uint32_t dst, kb_utilization *use)
{
    const struct impl *impl = component_behind_cache(u->sim->topo, dst);
    kb_utilization behind = *use;

    cache_use(c, use);
    show_early(u, &c->server, use);
    behind.count = c->n_children;
    behind.bytes = c->child_bytes;
    if (!behind.count || c->is_l2)
        return;
    if (banks)
        bank_use_each(u->sim, banks, &behind, u->now_fs, show_slice, (void *)u);
    else if (impl && impl->arrive)
        show_queue(u, &u->sim->instances.queues.of[dst], &behind);
    else
        show_early(u, &c->memory, &behind);
}

static void show_memories(const struct usage *u)
{
    const struct kb_topology *t = u->sim->topo;
    const struct link_station *early = u->sim->early;

    for (uint32_t i = 0; i < sim_cubes(t) << t->unit_bits; i++) {
        if (unit_is_tcm(t, dst_unit(t, i)) || dst_unit(t, i) >= t->n_units)
            continue; /* a TCM: its ports are the PE's */
        struct flow_sum sum = spread_served(u->sim, i);
        bool is_early =
            early && sim_keeps_order(u->sim, i) && cost_memory(t, i, 0)->model == MEMORY_SERVER;
        const struct bank_slice *banks = u->sim->banks ? u->sim->banks->by_memory[i] : NULL;
        const struct cache *cache = u->sim->caches ? u->sim->caches->by_memory[i] : NULL;
        if (!sum.count && !(cache && cache->server.free_fs) &&
            u->sim->memories[i].holder == TXN_NONE && !(is_early && early[i].free_fs))
            continue;
        kb_utilization use = {.kind = KB_AT_MEMORY,
                              .count = sum.count,
                              .bytes = sum.bytes,
                              .gbs = cost_memory(t, i, 0)->gbs};
        kb_place_node(t, place_of(KB_AT_MEMORY, i), use.name);
        if (cache)
            show_cache(u, cache, banks, i, &use);
        else if (banks)
            bank_use_each(u->sim, banks, &use, u->now_fs, show_slice, (void *)u);
        else if (memory_queues(t, i))
            show_queue(u, &u->sim->instances.queues.of[i], &use);
        else if (is_early)
            show_early(u, &early[i], &use);
        else
            show_served(u, &u->sim->memories[i], &use);
    }
}

/* Is the time at which it is free all that is known of port or engine `i` of all PEs? */
static bool port_in_order(const struct kb_sim *s, uint32_t i)
{
    enum port port = i % N_PORTS;

    return s->inorder || (port <= PORT_TCM_WRITE &&
                          memory_frees_early(pe_port(&s->kernels->pes[i / N_PORTS], port)));
}

static void show_ports(const struct usage *u)
{
    const struct kb_sim *s = u->sim;
    const struct kb_topology *t = s->topo;
    const struct kernels *k = s->kernels;

    for (uint32_t i = 0; k && i < k->n_pes * N_PORTS; i++) {
        const struct tl_ctx *pe = &k->pes[i / N_PORTS];
        enum port port = i % N_PORTS;
        kb_utilization use = {
            .kind = KB_AT_PORT, .count = pe->port[port].count, .bytes = pe->port_bytes[port]};

        if (s->router && port <= PORT_TCM_WRITE)
            continue; /* packets take it, too, and nothing counts for how long */
        if (port_in_order(s, i))
            use.count = pe->port_count[port];
        if (!use.count && !k->ports[i].free_fs && pe->port[port].holder == TXN_NONE)
            continue;
        if (port <= PORT_TCM_WRITE)
            use.gbs = pe_port(pe, port)->gbs;
        kb_place_name(t, place_port(pe->number, port), use.name);
        if (port_in_order(s, i))
            show_early(u, &k->ports[i], &use);
        else
            show_served(u, &pe->port[port], &use);
    }
}

kb_status kb_sim_utilization(const kb_sim *s, void (*each)(void *arg, const kb_utilization *use),
                             void *arg)
{
    REFUSE_NULL(s && each, "sim, each", NULL);
    struct usage u = {.sim = s, .now_fs = lasted_fs(s), .each = each, .arg = arg};
    struct spread sp = {0};
    bool ok;

    stations_make_all((struct kb_sim *)s);
    if (!s->kernels && !s->traffic)
        count_slots((struct kb_sim *)s);
    ok = !inorder_lists(s) || s->traffic || channel_queues((struct kb_sim *)s, (int64_t)u.now_fs);
    ok = ok && find_ahead(&u) && spread_all(&sp, s);
    if (ok) {
        show_nodes(&u, sp.nodes);
        show_links(&u, sp.edges);
        if (s->router && s->router->tally)
            show_vcs(&u);
        show_channels(&u);
        show_engines(&u);
        if (ev_first(&s->queue) == EV_NONE &&
            (!s->kernels || s->kernels->n_done == s->kernels->n_launches))
            banks_finish(s);
        show_memories(&u);
        show_ports(&u);
    }
    spread_free(&sp);
    free(u.ahead_fs);
    return ok ? KB_OK : KB_NO_MEMORY;
}
