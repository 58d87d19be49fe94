/* link.h -- a link, one direction of an edge, where links are fifo.
 *
 * It holds        the transaction with bytes that pass now: free_fs says until when. The head of a
 *                 transaction does not wait for its tail: it enters, and goes on after the wire.
 * For how long    nbytes over the bandwidth of this edge
 * Goes first      first come, first served, in the order of arrival events
 * Wait counted    queue_link, over all links of the way (KB_WAIT_LINK)
 * Golden number   docs/model.md "Worked: one shared link": PE 0 comes to the edge between two
 *                 crossbars at 4.07 ns, PE 1 has taken it from 2.06 to 34.06: it waits 29.990 ns
 *
 * A link needs no event to become free. Its service time is known when a transaction comes, so the
 * next one enters at max(arrival, free_fs) and the link keeps nothing but that time. Between two
 * links the way is one sum, a `leg`, so a transaction has at most one event for each link: at 4.07
 * ns in the example, then at its next link 34.06 ns + leg.
 *
 * Which links are no stops
 *
 * Most links need no event for an arrival either, where no event is counted. What an event does is
 * to bring transactions that come to a station into order. Where they come in order anyway, ride()
 * takes the link in the same step as the one before, with a time of arrival that is still to come.
 *
 *   fed by one link    All that come to link B have come over link A, and need the same time from
 *                      A to B. gen/feeds.c finds such pairs. They enter A in order, each later than
 *                      the one before, because a link is taken for 1 fs at least. So they come to B
 *                      in that order. Of B nothing is known but free_fs, and that is only read by
 *                      what comes next: over A, later.
 *   behind a channel   The first link of a PE. Its transactions set out in order of (issue, id), so
 *                      at one instant in order of ids, as events would come. That holds for rows
 *                      that are sorted and for traffic; with one channel two never set out at one
 *                      instant.
 *   behind an engine   The link after an m_cpu with one engine: two never set out at one instant.
 *
 * An event at the next stop is posted earlier than it would be, but with the same key (time, class,
 * id), and before anything of its time runs: so it runs in the same place. If all delays are 0 it
 * may be posted at its own time; then its event at the link left out would have had that key, too,
 * and been followed by this one at once.
 *
 * The station of an edge has two kinds of users: writes that pass the edge, and reads whose request
 * passes it backwards. "Come over A" must hold for both. If all data of a run go one way there is
 * one kind: FED_ONE_WAY. Else it holds where no request passes the edge the other way: FED_ALWAYS.
 * join_links() chooses before the run. Where costs are left out, a link may be taken for no time,
 * and every link is a stop; so it is for kernels.
 *
 * Example: cube8, writes from c0 to c1. noc -> ucie-E of c0 is a stop, since 8 PEs and 3 sides lead
 * to it. x comes at 1 ns, y at 2 ns, each of 4096 bytes, 32 ns at 128 GB/s. x enters at 1, and in
 * the same step the link ucie-E -> ucie-W at 1 + 0.005 + 1 = 2.005 and ucie-W -> noc at 3.015:
 * these are free from 34.005 and 35.015 on. Its next event is at its next stop, noc -> xbar. y
 * enters the first link at 33; it comes to the others at 34.005 and 35.015, and need not wait.
 * Three links, one event. Now let a read of c0 by c1 be under way, too: its data go east over the
 * same three stations, but its request comes to them from the other end, perhaps at 2.9 ns to
 * ucie-W -> noc. It would find that link taken from 3.015 on, by a write that comes after it. So if
 * a run has both, all three are stops.
 *
 * Reads take the opposite direction of each edge, at the time at which their request passes: their
 * data flow that way. The edge into a memory is as fast as the memory.
 *
 * The wait of a transaction for all its links is not stored: kb_sim_result() subtracts the known
 * terms from the time between start and arrival, and checks that the rest is not negative. The
 * statistics of a link itself are measured here, by link_wait().
 */
#ifndef NETWORK_LINK_H
#define NETWORK_LINK_H
#include "machine/walk.h"
#include "network/component_walk.h"
#include "network/memory.h"
#include "network/pcie_ep.h"

/*
 * The edge into a memory is as fast as the memory; a TCM is faster one way than the other. The
 * bandwidth of links being left out, it still has the memory's, as it has in a machine whose links
 * are unlimited.
 */
static inline double edge_gbs(const struct kb_sim *s, const struct txn *x, double gbs,
                              bool into_memory)
{
    if (into_memory)
        return cost_last_gbs(&s->mask, cost_memory(T, x->dst, txn_writes(x)));
    return gbs + s->mask.link_gbs;
}

/* The station of `leg`, which a request passes in `cube`. */
static ALWAYS_INLINE struct link_station *station_of(struct kb_sim *s, const struct leg_row *leg,
                                                     uint32_t cube, const struct trip *trip,
                                                     uint32_t reads)
{
    struct walk_edge edge = {leg->owner, leg->back, leg->link};

    if (leg->owner == LINK_CUBE || (T->regular && leg->owner == LINK_NEXT)) {
        ptrdiff_t first = (ptrdiff_t)cube * T->n_cube_links * 2;

        return &s->links[(first + leg->station) ^ (ptrdiff_t)reads];
    }
    return &s->links[walk_link(T, edge, cube, trip) ^ reads];
}

/*
 * On from where it is at `t`: to the next stop. `enters`: it has come to the link of its leg, and
 * enters that first. `fed` says which links behind it are no stops: bits of leg_row.fed.
 */
static ALWAYS_INLINE void ride(struct kb_sim *s, int how, uint64_t t, uint32_t slot, unsigned fed,
                               bool enters)
{
    struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(T, txn);
    const uint32_t reads = !txn_writes(txn);
    struct route_at at = txn->at;
    const struct segment_row *seg = walk_segment(T, at);
    const struct leg_row *leg = &T->legs[seg->first_leg + at.step];
    int64_t wire_fs = 0, overhead_fs = 0, taken = 0;
    struct link_station *link;
    double gbs = -1;

    for (;;) {
        if (enters) {
            double edge = edge_gbs(s, txn, leg->gbs, leg->fed & INTO_MEMORY);

            if (edge != gbs)
                taken = drain_fs(txn->nbytes, gbs = edge);
            link = station_of(s, leg, at.cube, &trip, reads);
            if (is_told(s, how))
                observe_come(s, t, slot, STATION_LINK);
            t = take_turn(s, link, taken, t);
            if (is_told(s, how))
                observe_take(s, t, slot, STATION_LINK);
            at.step++;
            wire_fs = overhead_fs = 0;
        }
        while (at.step == seg->n_legs) {
            wire_fs += seg->tail_wire_fs + walk_extra_fs(T, at);
            overhead_fs += seg->tail_overhead_fs;
            if (seg->exit == N_EXITS) {
                txn->hold_fs = hold_fs(s, txn);
                go_to_memory(s, how, t, cost_way_fs(&s->mask, wire_fs, overhead_fs), slot);
                return;
            }
            at = walk_next(T, &trip, at);
            seg = walk_segment(T, at);
        }
        leg = &T->legs[seg->first_leg + at.step];
        t +=
            (uint64_t)cost_way_fs(&s->mask, wire_fs + leg->wire_fs, overhead_fs + leg->overhead_fs);
        if (!(leg->fed & fed))
            break;
        fed = s->fed;
        enters = true;
    }
    txn->stage = leg->owner == LINK_NONE ? TXN_TO_ENGINE : TXN_TO_LINK;
    txn->at = at;
    post(s, t < EV_PAST ? t : EV_PAST, EV_ARRIVE, slot);
}

static inline void set_out_fifo(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct trip trip = txn_trip(T, txn);
    const struct leg_row *leg;

    txn->at = walk_begin(T, &trip);
    if (!txn_of_host(txn)) {
        ride(s, how, t, slot, !(how & (HOW_COUNTED | HOW_KERNELS)) ? s->fed_first : 0, false);
        return;
    }
    leg = &T->legs[walk_segment(T, txn->at)->first_leg];
    txn->stage = TXN_TO_LINK;
    enter_pipe(s, after(t, cost_way_fs(&s->mask, leg->wire_fs, leg->overhead_fs)), slot);
}

/* By hops: takes the link in front of it, and the wire behind that. */
static inline void come_to_hop(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    const struct segment_row *seg = walk_segment(T, txn->at);
    const struct hop_row *hop = &T->hops[seg->first_hop + txn->at.step];
    struct walk_edge edge = {hop->owner, hop->back, hop->link};
    bool last = seg->exit == N_EXITS && txn->at.step + 2 == seg->n_hops;
    const struct trip trip = txn_trip(T, txn);
    size_t link = walk_link(T, edge, txn->at.cube, &trip) ^ !txn_writes(txn);
    uint64_t enter;

    if (is_told(s, how))
        observe_come(s, t, slot, STATION_LINK);
    enter =
        take_turn(s, &s->links[link], drain_fs(txn->nbytes, edge_gbs(s, txn, hop->gbs, last)), t);
    if (is_told(s, how))
        observe_take(s, enter, slot, STATION_LINK);
    walk_on(s, how, enter, WALK_WIRE, slot);
}

static ALWAYS_INLINE void come_to_edge(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    if (walks_hops(s))
        come_to_hop(s, how, t, slot);
    else
        ride(s, how, t, slot, !(how & (HOW_COUNTED | HOW_KERNELS)) ? s->fed : 0, true);
}

#endif
