/* turn.h -- a turn at a station that is free again at a known time: a link, where links are fifo, a
 * memory that keeps order, or a port of a TCM.
 *
 * It holds        A link holds the transaction whose bytes pass now. The head does not wait for the
 *                 tail: it enters, and goes on after the wire. A memory holds one transaction. When
 *                 it is free the next one may begin, even if the bytes of the one before are still
 *                 on a narrower route, or late by the latency
 * For how long    A link: nbytes over its bandwidth. A memory: overhead and the drain of the route,
 *                 or with hold `own` nbytes over the memory's own bandwidth: cost_taken_fs()
 * Goes first      first come, first served, in the order of arrival events
 * Wait counted    queue_link, over all links of the way (KB_WAIT_LINK): kb_sim_result() subtracts
 *                 the known terms from the time between start and arrival, and checks that the rest
 *                 is not negative. queue_memory = service begins - arrival (KB_WAIT_MEMORY)
 * Golden number   docs/model.md "Worked: one shared link": PE 0 comes to the edge between two
 *                 crossbars at 4.07 ns, PE 1 has taken it from 2.06 to 34.06: it waits 29.990 ns.
 *                 "Worked: memories that overlap": a read arrives at 5.145 ns, waits for the slice
 *                 until 20.095, and is done at 52.095
 *
 * That such a station becomes free changes nothing else, so it is no event. The station keeps the
 * time at which it is free, and the next turn begins at max(arrival, free_fs). With several
 * servers it keeps one time of each. The one that is free first is taken, so turns begin in the
 * order in which they were asked for, as with one: the earliest of the times never falls. Which of
 * them served is not known afterwards, and nothing asks.
 *
 * Links without an event
 *
 * An arrival is an event only to bring the transactions that come to a station into order. Where
 * they come in order anyway, go() takes the link in the same step as the one before it, ahead of
 * time: the arrival is still to come. Such a link is no stop. There are four kinds:
 *
 *   fed by one link    All that comes to link B has come over link A, and takes the same time from
 *                      A to B. Transactions enter A one after the other, as each takes it for 1 fs
 *                      at least; so they come to B in the same order. gen/feeds.c finds such
 *                      pairs.
 *   behind a channel   The first link of a PE. Its transactions set out in order of (issue, id),
 *                      as events of one instant would. That holds for sorted rows and for traffic;
 *                      with one channel two transactions never set out at one instant.
 *   an engine          The engine of an m_cpu, if it is one server: all come over the link into it
 *                      (FED_ENGINE). A transaction may wait in a list before it is there, so its
 *                      turn begins at the later of its arrival and the end before it.
 *   behind an engine   The link after an m_cpu with one engine, which two never leave at once.
 *
 * The order of events does not change by this. The event at the next stop has the key (time,
 * class, id) that it would have had, and is posted earlier, before anything of its time runs. If
 * all delays are 0 it may be posted at its own time: the event that was left out would have had
 * the same key, and this one would have followed it at once.
 *
 * A station of an edge has two kinds of users: writes, which pass the edge, and reads, whose data
 * pass it. A read takes the station when its request passes the edge backwards, so it comes from
 * the other end. If the data of all transactions of a run go one way, there is one kind, and "fed
 * by one link" is asked for it alone (FED_ONE_WAY); else it must hold for both (FED_ALWAYS).
 * join_links() chooses before the run. Runs of kernels, runs that are watched, and runs without
 * some costs, in which a link may be taken for no time, stop at every link.
 *
 * Example: cube8, writes from c0 to c1. noc -> ucie-E of c0 is a stop, since 8 PEs and 3 sides
 * lead to it. x comes at 1 ns, y at 2 ns, each of 4096 bytes, 32 ns at 128 GB/s. x enters at 1,
 * and in the same step it takes ucie-E -> ucie-W at 1 + 0.005 + 1 = 2.005 and ucie-W -> noc at
 * 3.015, which are free again at 34.005 and 35.015. Its next event is at its next stop, noc ->
 * xbar. y enters the first link at 33, comes to the others at 34.005 and 35.015, and need not
 * wait: three links, one event. Now let c1 read from c0 as well. The data of the read go east over
 * the same three links, but its request comes to them from the other end, say to ucie-W -> noc at
 * 2.9 ns. It would find that link taken from 3.015 on, by a write that comes after it. So in a run
 * of both all three are stops.
 *
 * The edge into a memory is as fast as the memory.
 */
#ifndef NETWORK_TURN_H
#define NETWORK_TURN_H
#include "engine/how.h"

/*
 * The next turn at `station`, for one that comes at `t` and takes it for `taken` fs. Returns when
 * it begins: as soon as the station is free. Turns are asked for in the order in which they are
 * given.
 */
static ALWAYS_INLINE uint64_t take_turn(struct kb_sim *s, struct link_station *station,
                                        int64_t taken, uint64_t t)
{
    uint64_t enter = (uint64_t)station->free_fs > t ? (uint64_t)station->free_fs : t;

    station->free_fs = (int64_t)after(enter, taken);
    link_turned(station);
    station->busy_fs += (uint64_t)taken;
    if (STATS && enter > t && !link_wait(station, t, enter))
        fail(s, KB_NO_MEMORY);
    return enter;
}

/* The same at a link, for the row in `slot`: a branch of a multicast may follow another. */
static ALWAYS_INLINE uint64_t take_turn_in_tree(struct kb_sim *s, struct link_station *link,
                                                int64_t taken, uint64_t t, uint32_t slot)
{
    uint64_t enter = branch_follows(s, slot) ? branch_enter(s, slot) : take_turn(s, link, taken, t);

    branch_passed(s, slot, enter);
    return enter;
}

#endif
