/* hop_way.c -- the way of a transaction of the hop engine: node by node, wire by wire, link by
 * link, and the memory at its end.
 *
 * Nodes pass any number at once. A link and an early memory (one that is free before its
 * transaction is done) are known to be free at some time, and turns are taken in order of arrival:
 * network/turn.h. All else has one holder, and a queue of those that wait for it. Memories that
 * choose are behind network/server.h, those behind routers in network/memory_behind.h and
 * network/router_banks.h.
 */
#include "engine/hop_way.h"
#include "engine/child_rows.h"
#include "machine/walk.h"
#include "network/banks.h"
#include "network/component_engine.h"
#include "network/component_node.h"
#include "network/memory_behind.h"
#include "network/node.h"

/* -- nodes and wires ------------------------------------------------------------------------ */

/* It passes the node where it is for `overhead_fs`. */
static void pass_node(struct kb_sim *s, uint64_t t, int64_t overhead_fs, uint32_t slot)
{
    s->txns[slot].stage = TXN_AT_NODE;
    OBSERVE_ROW(s, node, t, slot);
    post(s, after(t, overhead_fs), EV_HOP, slot);
}

/* It comes to the node `txn->at`. The last of a route is its memory, whose overhead is part of its
 * service; one that is a component is asked by an event, in order of arrival. */
static void come_to_node(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct hop_row *hop = node_of(s, txn);

    if (hop->owner == LINK_NONE) {
        txn->stage = TXN_TO_MEMORY;
        post(s, t, EV_ARRIVE, slot);
    } else if (node_impl(s, txn, hop)) {
        txn->stage = TXN_TO_NODE;
        post(s, t, EV_HOP, slot);
    } else {
        pass_node(s, t, hop->overhead_fs & s->mask.overhead, slot);
    }
}

/* A component stands for the node. */
static void come_to_component(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    int64_t delay_fs = ask_node(s, t, slot, node_of(s, txn), txn->at.cube);

    if (delay_fs != NODE_NEVER)
        pass_node(s, t, delay_fs, slot);
}

/* It leaves the node by its wire. */
static void take_wire(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    int64_t wire_fs = node_of(s, txn)->wire_fs;

    if (txn->at.step + 1 == walk_segment(T, txn->at)->n_hops)
        wire_fs += walk_extra_fs(T, txn->at);
    txn->stage = TXN_ON_WIRE;
    OBSERVE_ROW(s, wire, t, slot);
    post(s, after(t, wire_fs & s->mask.wire), EV_HOP, slot);
}

/* It leaves the node; where links queue, the edge is a station. */
static void leave_node(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (T->links == MODE_FIFO) {
        s->txns[slot].stage = TXN_TO_LINK;
        post(s, t, EV_ARRIVE, slot);
    } else {
        take_wire(s, t, slot);
    }
}

/* Its overhead, and in a noc the crossing, have passed. A host waits for an engine of the m_cpu. */
static void cross(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct hop_row *hop = node_of(s, txn);

    if (txn->stage == TXN_AT_NODE && hop->cross_fs) {
        txn->stage = TXN_CROSSING;
        OBSERVE_ROW(s, cross, t, slot);
        post(s, after(t, hop->cross_fs & s->mask.wire), EV_HOP, slot);
    } else if (is_m_cpu(s, txn, hop)) {
        txn->stage = TXN_TO_ENGINE;
        post(s, t, EV_ARRIVE, slot);
    } else {
        leave_node(s, t, slot);
    }
}

void hop_on(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    if (txn->stage == TXN_TO_NODE) {
        come_to_component(s, t, slot);
    } else if (txn->stage == TXN_ON_WIRE) {
        const struct trip trip = txn_trip(T, txn);

        if (++txn->at.step == walk_segment(T, txn->at)->n_hops)
            txn->at = walk_next(T, &trip, txn->at);
        come_to_node(s, t, slot);
    } else {
        cross(s, t, slot);
    }
}

void hop_set_out(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(T, txn);

    if (T->impls && T->impls->nodes)
        s->instances.served[slot].delay_fs = 0;
    if (T->links == MODE_ROUTER) {
        router_set_out(s, t, slot);
        return;
    }
    txn->at = walk_begin(T, &trip);
    come_to_node(s, t, slot);
}

void hop_leave_m_cpu(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    if (T->links == MODE_ROUTER)
        router_go_on(s, t, slot);
    else
        leave_node(s, t, slot);
}

/* -- links ---------------------------------------------------------------------------------- */

/* The edge into a memory is as fast as the memory. */
static double edge_gbs(const struct kb_sim *s, const struct txn *txn)
{
    const struct segment_row *seg = walk_segment(T, txn->at);

    if (seg->exit == EXIT_END && txn->at.step + 2 == seg->n_hops)
        return cost_last_gbs(&s->mask, cost_memory(T, txn->dst, txn_writes(txn)));
    return node_of(s, txn)->gbs + s->mask.link_gbs;
}

/* That of the edge behind its node; data of a read flow against its request. */
static struct link_station *link_of(struct kb_sim *s, const struct txn *txn)
{
    const struct hop_row *hop = node_of(s, txn);
    const struct walk_edge edge = {hop->owner, hop->back, hop->link};
    const struct trip trip = txn_trip(T, txn);

    return &s->links[walk_link(T, edge, txn->at.cube, &trip) ^ !txn_writes(txn)];
}

void hop_take_link(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    uint64_t enter;

    OBSERVE(s, come, t, slot, STATION_LINK);
    enter = take_turn_in_tree(s, link_of(s, txn), drain_fs(txn->nbytes, edge_gbs(s, txn)), t, slot);
    OBSERVE(s, take, enter, slot, STATION_LINK);
    take_wire(s, enter, slot);
}

/* -- memories that are free before their transaction is done ---------------------------------- */

static bool comes_to_tcm(const struct kb_sim *s, uint32_t slot)
{
    return s->heard && (hop_is_inside(s, slot) || unit_is_tcm(T, dst_unit(T, s->txns[slot].dst)));
}

/* The station of such a memory, or port of a TCM; NULL: where it comes has a holder. */
static struct link_station *early_of(struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    if (comes_to_tcm(s, slot))
        return s->heard->port(s, slot);
    return T->early && memory_frees_early(cost_memory(T, txn->dst, txn_writes(txn)))
               ? &s->early[txn->dst]
               : NULL;
}

/* For how long it keeps others from its memory. A stage inside its PE does so until it ends. */
static int64_t taken_fs(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    const struct memory_row *memory;
    int64_t once;

    if (hop_is_inside(s, slot))
        return txn->hold_fs;
    memory = cost_memory(T, txn->dst, txn_writes(txn));
    once = cost_taken_fs(&s->mask, memory, txn->hold_fs, split_own_bytes(s, slot));
    return is_twice(s, slot) ? 2 * once - (memory->overhead_fs & s->mask.overhead) : once;
}

static void serve_early(struct kb_sim *s, struct link_station *memory, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    int64_t hold_fs = txn->hold_fs;
    uint64_t start;

    if (!comes_to_tcm(s, slot) && is_served(s, hop_how(s), slot)) {
        uint64_t done = serve_by_component(s, hop_how(s), t, slot);

        if (done != COMPONENT_NEVER)
            post_done(s, done, slot);
        return;
    }
    start = take_turn(s, memory, taken_fs(s, slot), t);
    OBSERVE(s, take, start, slot, STATION_MEMORY);
    txn->service_fs = (int64_t)start;
    if (hop_is_inside(s, slot))
        s->heard->begin(s, start, slot);
    post_done(s, after(start, hold_fs + branch_late_fs(s, slot)), slot);
}

/* -- one holder, and a queue ------------------------------------------------------------------ */

static struct memory_station *station_of(struct kb_sim *s, uint32_t slot)
{
    return s->heard ? s->heard->station(s, slot) : &s->memories[s->txns[slot].dst];
}

/* The component that is the engine of the stage in `slot`; NULL: there is none. */
static const struct impl *component_of_engine(const struct kb_sim *s, uint32_t slot)
{
    enum box box = s->heard && T->impls ? s->heard->engine(s, slot) : N_BOXES;
    const struct impl *impl =
        box == N_BOXES ? NULL : box_impl(T, src_cube(T, s->txns[slot].src), box);

    return impl && impl->serve ? impl : NULL;
}

/* It holds the memory, port or engine from `t` on. */
static void serve(struct kb_sim *s, struct memory_station *memory, uint64_t t, uint32_t slot)
{
    const struct impl *engine = component_of_engine(s, slot);
    uint64_t free_fs = engine ? ask_engine(s, engine, s->heard->pe(s, slot), t, slot) : 0;

    memory->holder = slot;
    memory->start_fs = t;
    OBSERVE(s, take, t, slot, STATION_MEMORY);
    if (hop_is_inside(s, slot))
        s->heard->begin(s, t, slot);
    post_done(s, engine ? after(free_fs, 0) : after(t, s->txns[slot].hold_fs), slot);
}

static void wait_for(struct kb_sim *s, struct memory_station *memory, uint32_t slot)
{
    s->txns[slot].next = TXN_NONE;
    if (memory->queued)
        s->txns[memory->tail].next = slot;
    else
        memory->head = slot;
    memory->tail = slot;
    if (++memory->queued > memory->queue_max && STATS)
        memory->queue_max = memory->queued;
}

static void serve_or_wait(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct memory_station *memory = station_of(s, slot);

    if (memory->holder == TXN_NONE)
        serve(s, memory, t, slot);
    else
        wait_for(s, memory, slot);
}

/* Slots of kernels and of children are used again, so what others derive from times is counted now.
 */
static void count_service(struct memory_station *memory, const struct txn *txn)
{
    memory->count++;
    if (txn->service_fs > txn->arrive_fs)
        wait_add(&memory->wait_fs, (uint64_t)(txn->service_fs - txn->arrive_fs));
}

/* It has held the memory until `t`; the first that waits is served. */
static void give_back(struct kb_sim *s, struct memory_station *memory, uint64_t t, uint32_t slot)
{
    s->txns[slot].service_fs = (int64_t)memory->start_fs;
    memory->busy_fs += t - memory->start_fs;
    memory->freed_fs = t;
    if (STATS && (s->heard || topology_has_l2(T)))
        count_service(memory, &s->txns[slot]);
    memory->holder = TXN_NONE;
    if (!memory->queued)
        return;
    slot = memory->head;
    memory->queued--;
    memory->head = s->txns[slot].next;
    serve(s, memory, t, slot);
}

/* -- all of them ----------------------------------------------------------------------------- */

/* How long the transaction will hold its memory. */
static int64_t hold_fs(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(T, txn);
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));
    struct cost_row way = txn_of_host(txn) ? cost_of_host(T, &trip) : cost_of_pe(T, &trip);
    int64_t drain = drain_fs(txn->nbytes, cost_bottleneck_gbs(&s->mask, way.link_gbs, memory));

    return cost_in_memory_fs(&s->mask, memory) + split_drain(s, slot, drain);
}

void hop_come_to_memory(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *early;

    if (hop_is_routed(s, slot)) {
        come_from_routers(s, hop_how(s), t, slot);
        return;
    }
    txn->arrive_fs = (int64_t)t;
    OBSERVE(s, come, t, slot, STATION_MEMORY);
    if (!hop_is_inside(s, slot)) {
        txn->hold_fs = hold_fs(s, slot);
        if (txn_queues(s, txn)) {
            server_arrive(s, hop_how(s), t, slot, &(struct delivery[]){whole_delivery(txn)}[0]);
            return;
        }
    }
    early = early_of(s, slot);
    if (early)
        serve_early(s, early, t, slot);
    else
        serve_or_wait(s, t, slot);
}

bool hop_frees_engine(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    int64_t done_fs;

    if (!component_of_engine(s, slot))
        return false;
    done_fs = s->instances.served[slot].done_fs;
    if (t == (uint64_t)done_fs)
        return false;
    if (done_fs != INT64_MAX)
        post(s, (uint64_t)done_fs, EV_DONE, slot);
    give_back(s, station_of(s, slot), t, slot);
    return true;
}

void hop_leave_memory(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct memory_station *memory = station_of(s, slot);

    if (hop_is_routed(s, slot))
        router_leave(s, slot);
    else if (!hop_is_inside(s, slot) && txn_queues(s, &s->txns[slot]))
        server_leave(s, t, slot);
    else if (memory->holder == slot)
        give_back(s, memory, t, slot);
}
