/* turn.h -- a turn at a station that is free again at a known time: a link, where links are fifo,
 * and a memory that keeps order, or a port of a TCM.
 *
 * It holds        of a link, the transaction with bytes that pass now. Its head does not wait for
 *                 its tail: it enters, and goes on after the wire. A memory: one transaction; those
 *                 that are done with it, but whose bytes are still on a narrower way, or late by
 *                 the latency, are in no one's way
 * For how long    a link: nbytes over its bandwidth. A memory: overhead and the drain of the route,
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
 * Nothing happens when such a station becomes free, so there is no event for it: the next one
 * begins at max(arrival, free_fs), and the station keeps nothing but that time. With several
 * servers it keeps one time of each. The one that is free first is taken, so turns begin in the
 * order in which they were asked for, as with one: the earliest of the times never falls. Which of
 * them served is not known afterwards, and nothing asks.
 *
 * Which links are no stops
 *
 * Most links need no event for an arrival either, where no event is counted. What an event does is
 * to bring transactions that come to a station into order. Where they come in order anyway, go()
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
 *   an engine          That of an m_cpu, if it is one server: all come to it over the link into it
 *                      (FED_ENGINE). One may wait in its list before it is there, so it begins at
 *                      the later of its arrival and the end of the one before.
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

#endif
