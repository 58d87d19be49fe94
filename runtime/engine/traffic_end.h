/*
 * traffic_end.h -- a transaction of traffic has ended: its terms and statistics are summed.
 *
 * This is compiled with the steps: the cost of the way and the places of the counters are a few
 * loads, as they were when the transaction set out.
 */
#ifndef TRAFFIC_END_H
#define TRAFFIC_END_H
#include "engine/how.h"
#include "engine/traffic.h"
#include "network/banks.h"

/* What a wait or a term of a row adds to its part: a wait may be negative, no sum is. */
static inline void traffic_add(unsigned_sum *sum, int64_t fs)
{
    *sum = (unsigned_sum)((wait_sum)*sum + fs);
}

/* Its terms, as sim/results.c has them for a row that keeps its slot. One that has parts has those
 * of the part that ended last; alone its packets wait for each other, too. */
static __attribute__((noinline)) void traffic_add_result(const struct kb_sim *s, uint32_t slot,
                                                         struct part *p)
{
    kb_result r;
    int64_t waits;

    s->terms_of(s, slot, &r);
    waits = r.wait_fs[KB_WAIT_CHANNEL] + r.wait_fs[KB_WAIT_LINK] + r.wait_fs[KB_WAIT_MEMORY];
    traffic_add(&p->wire, r.wire_fs);
    traffic_add(&p->overhead, r.overhead_fs);
    traffic_add(&p->back, r.return_fs);
    traffic_add(&p->channel, r.wait_fs[KB_WAIT_CHANNEL]);
    traffic_add(&p->link, r.wait_fs[KB_WAIT_LINK]);
    traffic_add(&p->memory, r.wait_fs[KB_WAIT_MEMORY]);
    p->packets += r.formula_fs - (r.actual_fs - waits);
}

/*
 * The same where tables say all. No term is negative there, and what it drains for need not be
 * divided, as it is the rest: so it is a few loads and additions of 128 bits.
 */
static inline void traffic_add_terms(const struct kb_sim *s, const struct txn *txn, struct part *p)
{
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));
    const struct trip trip = txn_trip(T, txn);
    struct cost_row way = cost_of_trip(T, &trip);
    uint64_t wire_fs = (uint64_t)(way.wire_fs & s->mask.wire);
    uint64_t overhead_fs = (uint64_t)(way.overhead_fs & s->mask.overhead);

    p->wire += wire_fs;
    p->overhead += overhead_fs + (uint64_t)cost_in_memory_fs(&s->mask, memory);
    p->channel += (uint64_t)txn->wait_fs;
    p->memory += (uint64_t)(txn->service_fs - txn->arrive_fs);
    if (T->links == MODE_FIFO)
        p->link +=
            (uint64_t)(txn->arrive_fs - txn->issue_fs - txn->wait_fs) - wire_fs - overhead_fs;
}

/* Its statistics, before its slot is used again. */
static inline void traffic_count(struct kb_sim *s, const struct txn *x)
{
    struct station *channel = &s->channels[2 * (size_t)x->src + txn_writes(x)];

    channel->wait_fs += x->wait_fs;
    if (txn_queues(s, x))
        ; /* such a memory has no wait of its own */
    else if (!sim_counts_waits(s, x->dst))
        s->memories[x->dst].wait_fs += x->service_fs - x->arrive_fs;
    if (sim_is_own(T, x))
        station_count(channel, x);
    else
        sim_count_route(s, T, x);
}

/* The transaction in `slot` has ended at `end`, its slot is free. */
static inline void traffic_done(struct kb_sim *s, uint32_t slot, uint64_t end)
{
    struct traffic *tr = s->traffic;
    struct txn *txn = &s->txns[slot];
    int64_t actual_fs = (int64_t)end - txn->issue_fs;
    uint32_t part = traffic_part_at(tr, txn->issue_fs);
    struct part *p = &tr->parts[part];
    bool splits = is_split(s, slot);

    p->count++;
    p->max_fs = actual_fs > p->max_fs ? actual_fs : p->max_fs;
    p->actual += (uint64_t)actual_fs;
    if (__builtin_expect(sim_is_plain(s), true))
        traffic_add_terms(s, txn, p);
    else
        traffic_add_result(s, slot, p);
    if ((int64_t)end < tr->horizon_fs)
        tr->parts[traffic_part_at(tr, (int64_t)end)].completed++;
    if (splits)
        traffic_end_parts(s, slot);
    else if (STATS)
        traffic_count(s, txn);
    if (!traffic_keep(tr, part, actual_fs))
        traffic_no_memory(s);
    txn->next = tr->free_slot;
    tr->free_slot = slot;
}

#endif
