/* bank_rules.h -- what a channel with banks decides: refresh, accept, mode, prepare, bus.
 *
 * A channel has a data bus, and banks of which each has one row open at most. A segment
 * (bank_map.h) waits in `pieces` until its direction's queue has room, then in the queue of its
 * bank until it is that bank's current one, which opens its row; then it is granted the bus for its
 * bursts. All of this happens in bank_decide(), at instants at which something can change: at an
 * arrival, when a current segment's row is ready, when the bus is free. docs/model.md "Memories
 * with banks" has the five rules and pictures.
 *
 * Which instants do not matter. Between two of them nothing changes, and a decision that grants
 * nothing leaves the state as it was, except for refreshes, which depend on the state alone. So the
 * only instants that count are arrivals and `next_fs`, the first at which a grant is possible: the
 * earliest ready time of a current segment, but not before the bus is free. Nothing outside the
 * channel needs to know a grant before the data it sends, which come cl or cwl later. That lets the
 * fused engine leave a channel alone for that long, and then decide several times at once
 * (network/banks.c).
 *
 * Order. Segments are accepted in order of (arrival, id of the transaction, part, first address),
 * those of each direction by themselves, and numbered so: `number` is the age by which the oldest
 * is found. Reads and writes never have to be compared.
 *
 * Example (hand: one channel, T = 2 ns). At 0 come reads of rows 0 and 1 of bank 0. At 0: both are
 * accepted; the first is current, ACT at 0, ready at 14; next_fs is 14. At 14: the bus goes to it
 * from 14 to 16, its data end at 14 + cl + T = 30. The bank has no current segment now: the second
 * becomes it, PRE at 34 (ras), ACT at 48, ready at 62, which is next_fs. At 62 it is granted; its
 * data end at 78.
 *
 * All of it is inline: in an engine that was compiled for a topology, the timings are constants.
 */
#ifndef BANK_RULES_H
#define BANK_RULES_H
#include "machine/bank_queue.h"

/* -- 1. refresh ----------------------------------------------------------------------------- */

/* When the refresh that is due can begin: all rows are closed then. */
static inline int64_t bank_refresh_begin(const struct bank_view *v, const struct bank_channel *c)
{
    int64_t s = bank_later(c->refresh_fs, c->bus_fs);

    for (uint64_t left = c->open; left; left &= left - 1)
        s = bank_later(s, c->banks[__builtin_ctzll(left)].pre_fs);
    return s + v->row->rp_fs;
}

/* A row with a current segment is opened again behind the refresh, which ends at `end`. It was
 * ready before, as the refresh has waited until rows could be closed. */
static inline void bank_open_again(const struct bank_view *v, struct bank *bank, int64_t end)
{
    int64_t ready_fs = end + v->row->rcd_fs;

    bank->pre_fs = bank_later(bank->pre_fs, end + v->row->ras_fs);
    bank->delay_fs += ready_fs - bank->ready_fs;
    bank->ready_fs = ready_fs;
}

static inline void bank_refresh_once(const struct bank_view *v, struct bank_channel *c)
{
    uint64_t current = c->current[BANK_READ] | c->current[BANK_WRITE];
    int64_t end = bank_refresh_begin(v, c) + v->row->rfc_fs;

    c->ready = c->line_n = 0;
    for (uint32_t i = 0; i < bank_count(v->row); i++) {
        struct bank *bank = &c->banks[i];

        if (current >> i & 1) {
            bank_open_again(v, bank, end);
            bank_line_up(c, i);
        } else {
            bank->row = BANK_CLOSED;
        }
    }
    c->open = current;
    c->act_fs = end;
    c->bus_fs = bank_later(c->bus_fs, end);
    c->refresh_fs += v->row->refi_fs;
}

/*
 * All refreshes up to `t`. Where all rows are closed and the bus is free one is like the other, and
 * only the last has an effect.
 */
static __attribute__((noinline)) void bank_refresh(const struct bank_view *v,
                                                   struct bank_channel *c, int64_t t)
{
    while (c->refresh_fs <= t) {
        if (!c->open && c->bus_fs <= c->refresh_fs)
            c->refresh_fs += (t - c->refresh_fs) / v->row->refi_fs * v->row->refi_fs;
        bank_refresh_once(v, c);
    }
}

/* -- 3. mode -------------------------------------------------------------------------------- */

BANK_INLINE void bank_choose_mode(const struct bank_view *v, struct bank_channel *c)
{
    uint32_t reads = c->queued[BANK_READ], writes = c->queued[BANK_WRITE];
    uint32_t kept = v->row->ack == ACK_ACCEPTED ? v->row->queue / 4 : 0;

    if (c->drains && c->granted == c->to_grant)
        c->drains = false;
    if (c->drains || !writes)
        return;
    if ((writes == v->row->queue && (!reads || c->has_read)) || (!reads && writes > kept)) {
        c->drains = true;
        c->to_grant = writes;
        c->granted = 0;
        c->has_read = false;
    }
}

/* -- 4. prepare ----------------------------------------------------------------------------- */

/* Opens the row of `segment`, at `t` or as soon as possible. */
BANK_INLINE void bank_activate(const struct bank_view *v, struct bank_channel *c, struct bank *bank,
                               uint64_t bit, struct bank_segment *segment, int64_t t)
{
    const struct bank_row *b = v->row;
    int64_t a = t;

    segment->kind = BANK_MISS;
    if (c->open & bit) {
        a = bank_later(t, bank->pre_fs) + b->rp_fs;
        segment->kind = BANK_CONFLICT;
    }
    a = bank_later(a, c->act_fs);
    a = bank_later(a, c->acts_fs[(c->n_acts - 1) & 3] + b->rrd_fs);
    a = bank_later(a, c->acts_fs[c->n_acts & 3] + b->faw_fs);
    c->acts_fs[c->n_acts++ & 3] = a;
    c->open |= bit;
    bank->row = segment->row;
    bank->pre_fs = a + b->ras_fs;
    bank->ready_fs = a + b->rcd_fs;
}

/* Bank `number` gets its current segment. */
BANK_INLINE void bank_prepare_one(const struct bank_view *v, struct bank_channel *c,
                                  struct bank_pool *pool, uint32_t number, unsigned writes,
                                  int64_t t)
{
    struct bank *bank = &c->banks[number];
    uint64_t bit = UINT64_C(1) << number;
    uint32_t i = bank_pick(v, c, pool, bank, bit, writes);
    struct bank_segment *segment = &pool->segments[i];

    bank->current = i;
    bank->prepared_fs = t;
    bank->delay_fs = 0;
    c->current[writes] |= bit;
    if (bank->row == segment->row) {
        segment->kind = BANK_HIT;
        bank->ready_fs = t; /* it was ready when the one before was granted */
        c->ready |= bit;
        return;
    }
    bank_activate(v, c, bank, bit, segment, t);
    if (bank->ready_fs <= t)
        c->ready |= bit;
    else
        bank_line_up(c, number);
}

BANK_INLINE void bank_prepare(const struct bank_view *v, struct bank_channel *c,
                              struct bank_pool *pool, int64_t t)
{
    unsigned writes = c->drains;
    uint64_t left = c->waiting[writes] & ~(c->current[BANK_READ] | c->current[BANK_WRITE]);

    for (; left; left &= left - 1)
        bank_prepare_one(v, c, pool, (uint32_t)__builtin_ctzll(left), writes, t);
}

/* -- 5. bus --------------------------------------------------------------------------------- */

/* The oldest current segment of `banks`, which are not none, and all of one direction. */
BANK_INLINE uint32_t bank_oldest(const struct bank_channel *c, const struct bank_pool *pool,
                                 uint64_t banks)
{
    uint32_t found = c->banks[__builtin_ctzll(banks)].current;

    for (banks &= banks - 1; banks; banks &= banks - 1) {
        uint32_t other = c->banks[__builtin_ctzll(banks)].current;

        if (pool->segments[other].number < pool->segments[found].number)
            found = other;
    }
    return found;
}

/* The column command of a segment that reads or writes and is granted the bus at `t`: its row is
 * ready. */
BANK_INLINE int64_t bank_command_fs(const struct bank_view *v, const struct bank_channel *c,
                                    unsigned writes, int64_t t)
{
    const struct bank_row *b = v->row;

    if (writes == c->writes)
        return t;
    return bank_later(t, c->bus_fs +
                             (writes ? b->cl_fs - b->cwl_fs + b->rtw_fs : b->cwl_fs + b->wtr_fs));
}

/*
 * Is a segment that `c` has granted at `t`, and that ends at `end`, the one of `access` that ends
 * last? Of several that do, the first that was granted is; of these, that of the first channel. So
 * it does not matter which channel catches up first.
 */
BANK_INLINE bool bank_ends_last(const struct bank_access *access, const struct bank_channel *c,
                                int64_t t, int64_t end)
{
    if (end != access->last_fs)
        return end > access->last_fs;
    return t != access->granted_fs ? t < access->granted_fs : c < access->channel;
}

/* It has been granted at `t`; its bursts have been sent or taken by `end`, the first by `first`. */
BANK_INLINE void bank_end_segment(const struct bank_view *v, const struct bank_channel *c,
                                  struct bank_pool *pool, const struct bank_segment *segment,
                                  const struct bank *bank, int64_t t, int64_t first, int64_t end)
{
    struct bank_access *access = &pool->accesses[segment->access];

    if (segment->writes && v->row->ack == ACK_ACCEPTED)
        return; /* it was done when it was accepted */
    access->first_fs = first < access->first_fs ? first : access->first_fs;
    if (bank_ends_last(access, c, t, end)) {
        access->last_fs = end;
        access->granted_fs = t;
        access->channel = c;
        access->prepared_fs = bank->prepared_fs;
        access->delay_fs = bank->delay_fs;
        access->ready_fs = bank->ready_fs;
    }
    if ((access->left -= c->alike) == 0)
        bank_end_access(
            pool, segment->access,
            bank_later(access->last_fs, access->first_fs + access->drain_fs - v->burst_fs));
}

/*
 * Behind routers: the first burst of segment `i`, which reads, ends at `first`. Channels that are
 * alike have the same bursts, of other channels.
 */
static inline void bank_note_bursts(const struct bank_view *v, const struct bank_channel *c,
                                    struct bank_pool *pool, uint32_t i, int64_t first)
{
    const struct bank_segment *segment = &pool->segments[i];
    struct bank_packet *packet = &pool->packets[segment->access];
    uint64_t begin = pool->accesses[segment->access].range.at;

    for (uint32_t k = 0; k < segment->n; k++) {
        uint64_t burst = pool->bursts[i] + ((uint64_t)k << v->row->column_at);

        for (uint32_t channel = 0; channel < c->alike; channel++)
            packet->ends_fs[(burst ^ channel) - begin] = first + k * v->burst_fs;
    }
    if (packet->touched)
        return;
    packet->touched = true;
    packet->next = pool->touched;
    pool->touched = segment->access;
}

/* Grants the bus to segment `i`, which is free afterwards, at `t`. */
BANK_INLINE void bank_grant(const struct bank_view *v, struct bank_channel *c,
                            struct bank_pool *pool, uint32_t i, int64_t t)
{
    const struct bank_row *b = v->row;
    struct bank_segment *segment = &pool->segments[i];
    struct bank *bank = &c->banks[segment->bank];
    unsigned writes = segment->writes;
    uint64_t others = ~(UINT64_C(1) << segment->bank);
    int64_t command = bank_command_fs(v, c, writes, t);
    int64_t data = command + (writes ? b->cwl_fs : b->cl_fs) + v->burst_fs;
    int64_t more = (int64_t)(segment->n - 1) * v->burst_fs;

    c->bus_fs = c->counts.until_fs = command + more + v->burst_fs;
    c->writes = (uint8_t)writes;
    bank->pre_fs =
        bank_later(bank->pre_fs, writes ? data + more + b->wr_fs : command + more + b->rtp_fs);
    c->current[writes] &= others;
    c->ready &= others;
    c->queued[writes]--;
    c->granted += writes;
    c->has_read |= !writes;
    c->counts.kinds[segment->kind]++;
    c->counts.bursts += segment->n;
    if (v->routed && !writes)
        bank_note_bursts(v, c, pool, i, data + b->ctrl_fs);
    bank_end_segment(v, c, pool, segment, bank, t, data + b->ctrl_fs, data + more + b->ctrl_fs);
    bank_free_segment(pool, i);
}

/* -- all ------------------------------------------------------------------------------------ */

/* The first instant at which a current segment may be granted, if nothing arrives. */
BANK_INLINE int64_t bank_next_fs(const struct bank_channel *c)
{
    if (c->ready)
        return c->bus_fs;
    if (!c->line_n)
        return BANK_NEVER_FS;
    return bank_later(c->banks[c->line[c->line_first % BANKS_MAX]].ready_fs, c->bus_fs);
}

BANK_INLINE void bank_pass(const struct bank_view *v, struct bank_channel *c,
                           struct bank_pool *pool, uint32_t channel, int64_t t)
{
    bank_accept(v, c, pool, BANK_READ, channel, t);
    bank_accept(v, c, pool, BANK_WRITE, channel, t);
    if (c->drains || c->queued[BANK_WRITE])
        bank_choose_mode(v, c);
    bank_prepare(v, c, pool, t);
}

/*
 * All rules, at `t`. False: no segment was granted; else that is copied to `granted`, unless NULL.
 * The first pass is needed only if something has arrived: after the second one nothing is left to
 * do.
 */
BANK_INLINE bool bank_decide(const struct bank_view *v, struct bank_channel *c,
                             struct bank_pool *pool, uint32_t channel, int64_t t,
                             struct bank_segment *granted)
{
    bool grants = false;

    if (c->refresh_fs <= t)
        bank_refresh(v, c, t);
    if (c->arrived) {
        c->arrived = false;
        bank_pass(v, c, pool, channel, t);
    }
    bank_leave_line(c, t);
    if (c->bus_fs <= t && c->ready) {
        uint64_t ready = c->ready & c->current[c->drains];
        uint32_t i = bank_oldest(c, pool, ready ? ready : c->ready);

        grants = true;
        if (granted)
            *granted = pool->segments[i];
        bank_grant(v, c, pool, i, t);
        bank_pass(v, c, pool, channel, t);
    }
    c->next_fs = bank_next_fs(c);
    return grants;
}

/* All decisions up to `t`, while nothing arrives. */
BANK_INLINE void bank_catch_up(const struct bank_view *v, struct bank_channel *c,
                               struct bank_pool *pool, uint32_t channel, int64_t t)
{
    while (c->next_fs <= t && !pool->lost)
        bank_decide(v, c, pool, channel, c->next_fs, NULL);
}

#endif
