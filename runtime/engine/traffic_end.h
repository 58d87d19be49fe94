/*
 * traffic_end.h -- a transaction of traffic has ended: its terms and statistics are summed.
 *
 * This is compiled with the steps: the cost of the way and the places of the counters are a few
 * loads, as they were when the transaction set out.
 */
#ifndef TRAFFIC_END_H
#define TRAFFIC_END_H
#include "engine/how.h"
#include "engine/lone.h"
#include "engine/router.h"
#include "engine/traffic.h"
#include "machine/alone.h"
#include "network/banks.h"

/* The wait for a slice with banks: the rest, which may be negative. What it adds alone is returned.
 */
static inline int64_t traffic_add_banks(const struct kb_sim *s, const struct txn *txn,
                                        struct part *p)
{
    uint32_t slot = (uint32_t)(txn - s->txns);
    int64_t drain_fs = s->banks->accesses[slot].drain_fs;
    int64_t alone_fs = sim_alone(s, slot, drain_fs).fs;

    p->memory += (unsigned_sum)((wait_sum)txn->service_fs - txn->arrive_fs - alone_fs);
    return alone_fs - drain_fs;
}

/* The wait in another memory that chooses: what it took more than alone, which may be negative. */
static inline unsigned_sum traffic_wait_in_queue(const struct kb_sim *s, const struct txn *txn)
{
    struct kb_cost c = sim_cost(s, txn);

    return (unsigned_sum)((wait_sum)txn->service_fs - txn->arrive_fs - c.memory_overhead_fs -
                          c.drain_fs);
}

/* How long it drains whose way has `link_gbs`. */
static inline int64_t traffic_drain_fs(const struct kb_sim *s, const struct txn *txn,
                                       double link_gbs)
{
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));

    return split_drain(s, (uint32_t)(txn - s->txns),
                       drain_fs(txn->nbytes, cost_bottleneck_gbs(&s->mask, link_gbs, memory)));
}

/* What a component that serves takes beside the drain, which may be negative. */
static inline int64_t traffic_in_component_fs(const struct kb_sim *s, const struct txn *txn,
                                              double link_gbs)
{
    if (T->links == MODE_ROUTER)
        return s->instances.served[txn - s->txns].memory_fs;
    return s->instances.served[txn - s->txns].done_fs - txn->service_fs -
           traffic_drain_fs(s, txn, link_gbs);
}

/* With routers the wait for links is what no other term is. */
static inline void traffic_add_routed(const struct kb_sim *s, const struct txn *txn,
                                      const struct cost_row *way, int64_t known_fs, struct part *p)
{
    const struct flight *flight = &s->router->flights[txn - s->txns];
    int64_t drain = traffic_drain_fs(s, txn, way->link_gbs);

    p->wire += (uint64_t)flight->extra_fs;
    p->back += (uint64_t)flight->return_fs;
    p->link += (uint64_t)(known_fs - flight->extra_fs - flight->return_fs - drain);
}

/* Behind routers, of a memory that chooses: the waits that were added, to the sums as they were
 * `before`, are divided once more. */
static inline void traffic_divide_waits(const struct part *before, struct part *p)
{
    struct waits_behind waits =
        waits_behind((int64_t)(p->link - before->link), (int64_t)(p->memory - before->memory));

    p->link = before->link + (uint64_t)waits.link_fs;
    p->memory = before->memory + (uint64_t)waits.memory_fs;
    p->overhead = (unsigned_sum)((wait_sum)p->overhead + waits.gain_fs);
}

/* No other term is negative: as unsigned, a sum of 128 bits takes two instructions. */
static inline void traffic_add_terms(const struct kb_sim *s, const struct txn *txn,
                                     int64_t issue_fs, int64_t actual_fs, struct part *p)
{
    const struct memory_row *memory = cost_memory(T, txn->dst, txn_writes(txn));
    const struct trip trip = txn_trip(T, txn);
    struct cost_row way = cost_of_trip(T, &trip);
    uint64_t wire_fs = (uint64_t)(way.wire_fs & s->mask.wire);
    uint64_t overhead_fs = (uint64_t)(way.overhead_fs & s->mask.overhead) +
                           (T->impls ? (uint64_t)s->instances.served[txn - s->txns].delay_fs : 0);
    int64_t memory_fs = cost_in_memory_fs(&s->mask, memory);
    bool banked = banks_has(s, txn), queues = !banked && txn_queues(s, txn);
    int64_t served_fs = txn->service_fs - txn->arrive_fs + memory_fs;
    const struct part before = {.link = p->link, .memory = p->memory};

    p->count++;
    p->max_fs = actual_fs > p->max_fs ? actual_fs : p->max_fs;
    p->actual += (uint64_t)actual_fs;
    p->wire += wire_fs;
    p->channel += (uint64_t)txn->wait_fs;
    if (banked)
        memory_fs = traffic_add_banks(s, txn, p);
    else if (queues)
        p->memory += traffic_wait_in_queue(s, txn);
    else
        p->memory += (uint64_t)(txn->service_fs - txn->arrive_fs);
    if (queues) /* it may be negative, no sum is */
        p->overhead = (unsigned_sum)((wait_sum)p->overhead + sim_cost(s, txn).overhead_fs);
    else if (T->impls && memory_is_component(T, txn->dst))
        p->overhead = (unsigned_sum)((wait_sum)p->overhead + (int64_t)overhead_fs +
                                     traffic_in_component_fs(s, txn, way.link_gbs));
    else
        p->overhead += overhead_fs + (uint64_t)memory_fs;
    if (T->links == MODE_ROUTER && banked) /* service_fs is its end */
        served_fs = txn->service_fs - txn->arrive_fs - s->banks->accesses[txn - s->txns].drain_fs;
    else if (T->links == MODE_ROUTER && queues) /* so it is */
        served_fs = txn->service_fs - txn->arrive_fs - traffic_drain_fs(s, txn, way.link_gbs);
    else if (T->links == MODE_ROUTER && memory_is_component(T, txn->dst))
        served_fs = txn->service_fs - txn->arrive_fs + s->instances.served[txn - s->txns].memory_fs;
    if (T->links == MODE_ROUTER)
        traffic_add_routed(
            s, txn, &way,
            actual_fs - (int64_t)wire_fs - (int64_t)overhead_fs - served_fs - txn->wait_fs, p);
    if (T->links == MODE_ROUTER && (banked || queues))
        traffic_divide_waits(&before, p);
    if (T->links == MODE_FIFO)
        p->link += (uint64_t)(txn->arrive_fs - issue_fs - txn->wait_fs) - wire_fs - overhead_fs;
}

/* One that has parts has the terms of that which ended last; alone its packets wait for each other,
 * too. */
static inline void traffic_add_split(const struct kb_sim *s, uint32_t slot, int64_t actual_fs,
                                     struct part *p)
{
    const struct txn *last = split_last(s, slot);
    unsigned_sum waits = p->channel + p->link + p->memory;
    struct lone lone;

    traffic_add_terms(s, last, s->txns[slot].issue_fs, actual_fs, p);
    if (!split_by_packets(s, (uint32_t)(last - s->txns)))
        return;
    lone = s->lone_of(s, slot);
    waits = p->channel + p->link + p->memory - waits;
    if (lone.fs != INT64_MAX)
        p->packets += lone.fs - (actual_fs - (wait_sum)waits);
}

/* Its statistics, before its slot is used again. */
static inline void traffic_count(struct kb_sim *s, const struct txn *x)
{
    struct station *channel = &s->channels[2 * (size_t)x->src + txn_writes(x)];

    channel->wait_fs += x->wait_fs;
    if (txn_queues(s, x))
        ; /* such a memory has no wait of its own */
    else if (!sim_keeps_order(s, x->dst))
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
    bool splits = is_split(s, slot);

    if (splits)
        traffic_add_split(s, slot, actual_fs, &tr->parts[part]);
    else
        traffic_add_terms(s, txn, txn->issue_fs, actual_fs, &tr->parts[part]);
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
