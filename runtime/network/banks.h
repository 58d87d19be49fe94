/* banks.h -- hbm_ctrl with `model: banks`: channels, banks and rows, and a scheduler for each
 * channel.
 *
 * It holds        the rows that are open, and each channel's bus for the bursts of a segment; a
 *                 transaction that has arrived is in the way of others only by its segments
 * For how long    a transaction: until its last byte has been served, or if writes are posted
 *                 (`write_ack: accepted`) until the queues have taken it
 * Goes first      by the rules of machine/bank_rules.h: in a bank the oldest of the open row, then
 *                 the oldest; on the bus the oldest that is ready
 * Wait counted    queue_memory = done - arrival - what it would have been alone; it may be
 * negative, as a row may be open that alone would have been closed (KB_WAIT_MEMORY) Golden number
 * docs/model.md "Memories with banks": five reads of five banks at 0 are done at 30, 34, 38, 42 and
 * 60 ns
 *
 * A transaction is cut into segments, each of one row (machine/bank_map.h). In each channel that it
 * comes to it has one piece, from which its segments are taken as the queue has room. What a
 * channel decides it decides in an event of class 5 (engine/arbiter.h), behind all arrivals of its
 * instant: for an arrival, when the row of a current segment is ready, when its bus is free. When
 * nothing is left of a transaction its end is known, and posted: later by at least cl or cwl and
 * one burst, of a posted write by 1 fs.
 *
 * The hop engine has an event for each of these instants. The counted engines leave out those at
 * which nothing can be granted, so a grant has one event.
 *
 * Where nothing is counted a decision has no event at all, nor has an arrival:
 * network/bank_wakes.h.
 */
#ifndef NETWORK_BANKS_H
#define NETWORK_BANKS_H
#include "engine/how.h"
#include "machine/cost.h"
#include "network/router_banks.h"

/* Does the transaction in `slot`, which is no stage inside a PE, go to a slice with banks? */
static ALWAYS_INLINE bool is_banked(const struct kb_sim *s, const struct txn *txn)
{
    (void)s; /* T names it only where any topology runs */
    return T->banked && unit_is_slice(T, dst_unit(T, txn->dst)) &&
           (T->banked == BANKED_ALL ||
            kind_at(T, dst_cube(T, txn->dst))->hbm.model == MEMORY_BANKS);
}

/* The numbers of a slice, which are constants where the topology is. */
static ALWAYS_INLINE struct bank_view view_of(const struct kb_sim *s,
                                              const struct bank_slice *slice)
{
    (void)s;
    return (struct bank_view){&kind_at(T, dst_cube(T, slice->memory))->banks, slice->view.burst_fs,
                              T->links == MODE_ROUTER};
}

/* Posts the ends of those that are done; all are of one slice. */
static ALWAYS_INLINE void post_ends(struct kb_sim *s, int how, struct bank_slice *slice)
{
    struct bank_pool *pool = &s->banks->pool;

    if (T->links == MODE_ROUTER) {
        post_ends_behind(s, how, slice);
        return;
    }
    while (pool->ended != BANK_NONE) {
        uint32_t slot = pool->ended;
        const struct bank_access *access = &pool->accesses[slot];

        pool->ended = access->next;
        slice->pending--;
        post(s, after((uint64_t)access->done_fs, behind_banks_fs(s, &s->txns[slot])), EV_DONE,
             slot);
    }
    if (pool->lost)
        fail(s, KB_NO_MEMORY);
}

/* The next instant at which channel `c` decides: hop, also those at which nothing is granted. */
static ALWAYS_INLINE int64_t next_decision(int how, const struct bank_channel *c, int64_t t)
{
    uint64_t left = c->current[BANK_READ] | c->current[BANK_WRITE];
    int64_t next = left && c->bus_fs > t ? c->bus_fs : BANK_NEVER_FS;

    if (!(how & HOW_HOP))
        return c->next_fs;
    for (; left; left &= left - 1) {
        int64_t fs = c->banks[__builtin_ctzll(left)].ready_fs;

        if (fs > t && fs < next)
            next = fs;
    }
    return next;
}

/* Behind routers ports and channels of one instant decide in one row. */
static inline void ask_as_port(struct kb_sim *s, struct arbiter *a, uint64_t t, uint64_t order,
                               uint32_t index)
{
    if (a->asked == t + 1 || a->decided == t + 1)
        return;
    a->asked = t + 1;
    router_ask_as(s, t, order, (uint32_t)ARBITER_CHANNEL << ARBITER_KIND_BIT | index);
}

static ALWAYS_INLINE void ask_channel(struct kb_sim *s, struct bank_slice *slice, uint32_t channel,
                                      int64_t t)
{
    uint32_t id = slice->memory << BANK_CHANNEL_BITS | channel;
    uint32_t index = slice->number << BANK_CHANNEL_BITS | channel;

    if (T->links == MODE_ROUTER && (uint64_t)t < EV_PAST - 1)
        ask_as_port(s, &slice->arbiters[channel], (uint64_t)t, slice->order + channel, index);
    else if ((uint64_t)t < EV_PAST - 1)
        arbiter_ask(s, &slice->arbiters[channel], ARBITER_CHANNEL, (uint64_t)t, id, index);
    else
        fail(s, KB_TIME_RANGE);
}

/* Functions of their own: rules are long, and every step would have a copy of them. */
static __attribute__((noinline)) bool decide_at(struct kb_sim *s, struct bank_slice *slice,
                                                uint32_t channel, int64_t t,
                                                struct bank_segment *granted)
{
    const struct bank_view view = view_of(s, slice);

    return bank_decide(&view, &slice->channels[channel], &s->banks->pool, channel, t, granted);
}

static __attribute__((noinline)) void catch_up(struct kb_sim *s, struct bank_slice *slice,
                                               uint32_t channel, int64_t t)
{
    const struct bank_view view = view_of(s, slice);

    bank_catch_up(&view, &slice->channels[channel], &s->banks->pool, channel, t);
}

/* The event of a channel. */
static ALWAYS_INLINE void decide_channel(struct kb_sim *s, int how, uint64_t t, uint32_t index)
{
    struct bank_slice *slice = s->banks->slices[index >> BANK_CHANNEL_BITS];
    uint32_t channel = index & ((1u << BANK_CHANNEL_BITS) - 1);
    struct bank_channel *c = &slice->channels[channel];
    struct bank_segment granted;
    int64_t next;

    if (!arbiter_decides(&slice->arbiters[channel], t))
        return;
    if (decide_at(s, slice, channel, (int64_t)t, &granted)) {
        seen(s, how, t, EV_ARBITER, granted.id);
        if (is_told(s, how))
            observe_bus(s, slice, channel, &granted);
    }
    post_ends(s, how, slice);
    next = next_decision(how, c, (int64_t)t);
    if (next != BANK_NEVER_FS)
        ask_channel(s, slice, channel, next);
}

/* Does a decision have no event? */
static ALWAYS_INLINE bool is_lazy(int how)
{
    return !(how & (HOW_HOP | HOW_COUNTED));
}

/* -- arrivals -------------------------------------------------------------------------------- */

/* The transaction in `slot` has arrived: what it is to the rules. */
static ALWAYS_INLINE void begin_access(struct kb_sim *s, const struct bank_view *view, uint64_t t,
                                       uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    struct bank_access *access = &s->banks->accesses[slot];

    access->id = record_id(s, slot);
    access->left = bank_segments(view->row, access->range);
    access->arrive_fs = (int64_t)t;
    access->drain_fs = txn->hold_fs - behind_banks_fs(s, txn);
    access->first_fs = BANK_NEVER_FS;
    access->last_fs = 0;
    access->writes = (uint8_t)txn_writes(txn);
}

/*
 * Its piece of one channel. Where a decision has no event the channel catches up first. `alone`:
 * nothing else arrives at `t`.
 */
static ALWAYS_INLINE bool come_to_bank_channel(struct kb_sim *s, int how, struct bank_slice *slice,
                                               const struct bank_view *view, bool alone, uint64_t t,
                                               uint32_t slot, uint64_t burst)
{
    struct bank_pool *pool = &s->banks->pool;
    uint32_t channel = bank_channel_of(view->row, burst);
    struct bank_channel *c = &slice->channels[channel];

    if (pool->free_piece == BANK_NONE && !bank_more_pieces(pool)) {
        fail(s, KB_NO_MEMORY);
        return false;
    }
    if (!is_lazy(how)) {
        bank_add_piece(c, pool, slot, burst);
        ask_channel(s, slice, channel, (int64_t)t);
        return true;
    }
    if (c->next_fs < (int64_t)t)
        catch_up(s, slice, channel, (int64_t)t - 1);
    if (alone && !c->arrived)
        bank_arrive(view, c, pool, slot, burst, channel);
    else
        bank_add_piece(c, pool, slot, burst);
    c->next_fs = (int64_t)t;
    slice->busy[channel / 64] |= UINT64_C(1) << channel % 64;
    return true;
}

/*
 * What comes to `slice` is even, as all before was: then all channels do the same, and channel 0
 * does it for them. A read of 4 KiB has four segments then, not 32. False: each channel has to do
 * its own.
 */
static ALWAYS_INLINE bool come_together(struct kb_sim *s, struct bank_slice *slice,
                                        const struct bank_view *view, struct bank_range range)
{
    if (slice->together == BANKS_APART)
        return false;
    if (bank_is_even(view->row, range)) {
        slice->together = BANKS_ALIKE;
        slice->channels[0].alike = bank_channels(view->row);
        return true;
    }
    if (slice->together == BANKS_ALIKE)
        banks_part(s, slice);
    slice->together = BANKS_APART;
    if (s->banks->pool.lost)
        fail(s, KB_NO_MEMORY);
    return false;
}

/* It has arrived at `t`: its pieces. Behind routers `slot` is that of a packet. */
static ALWAYS_INLINE void come_to_bank_channels(struct kb_sim *s, int how, struct bank_slice *slice,
                                                const struct bank_view *view, bool alone,
                                                uint64_t t, uint32_t slot)
{
    struct bank_range range = s->banks->pool.accesses[slot].range;

    if (is_lazy(how) && come_together(s, slice, view, range)) {
        come_to_bank_channel(s, how, slice, view, alone, t, slot,
                             bank_next(view->row, range.at, range.at, 0));
        return;
    }
    if (range.end - range.at == 1) {
        come_to_bank_channel(s, how, slice, view, alone, t, slot, range.at);
        return;
    }
    for (uint32_t channel = 0; channel < bank_channels(view->row); channel++) {
        uint64_t burst = bank_next(view->row, range.at, range.at, channel);

        if (burst < range.end && !come_to_bank_channel(s, how, slice, view, alone, t, slot, burst))
            return;
    }
}

/* The slice that is memory `memory`, which is made if it is new. NULL: the run has failed. */
static ALWAYS_INLINE struct bank_slice *slice_of(struct kb_sim *s, uint32_t memory)
{
    struct bank_slice *slice = s->banks->by_memory[memory];

    if (__builtin_expect(!slice, false)) {
        slice = banks_slice(s, memory);
        if (!slice)
            fail(s, KB_NO_MEMORY);
    }
    return slice;
}

#endif
