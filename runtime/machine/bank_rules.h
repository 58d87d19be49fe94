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
#include "base/larger.h"
#include "machine/bank_queue.h"

/* -- 1. refresh ----------------------------------------------------------------------------- */

/* When the refresh of `rank` that is due can begin: all of its rows are closed then. */
static inline int64_t bank_refresh_begin(const struct bank_view *v, const struct bank_channel *c,
                                         uint32_t rank)
{
    int64_t s = larger(c->ranks[rank].refresh_fs, c->bus_fs);

    for (uint64_t left = c->open & bank_mask_of_rank(v->row, rank); left; left &= left - 1)
        s = larger(s, c->banks[__builtin_ctzll(left)].pre_fs);
    return s + v->row->rp_fs;
}

/* A row with a current segment is opened again behind the refresh, which ends at `end`. It was
 * ready before, as the refresh has waited until rows could be closed. */
static inline void bank_open_again(const struct bank_view *v, struct bank *bank, int64_t end)
{
    int64_t ready_fs = end + v->row->rcd_fs;

    bank->pre_fs = larger(bank->pre_fs, end + v->row->ras_fs);
    bank->delay_fs += ready_fs - bank->ready_fs;
    bank->ready_fs = ready_fs;
}

/* The bus is taken only where there is one rank: others use it meanwhile. */
static inline void bank_refresh_once(const struct bank_view *v, struct bank_channel *c,
                                     uint32_t rank)
{
    uint64_t of_rank = bank_mask_of_rank(v->row, rank);
    uint64_t current = (c->current[BANK_READ] | c->current[BANK_WRITE]) & of_rank;
    int64_t end = bank_refresh_begin(v, c, rank) + v->row->rfc_fs;

    bank_leave_all(c, of_rank);
    for (uint64_t left = c->open & ~current & of_rank; left; left &= left - 1)
        c->banks[__builtin_ctzll(left)].row = BANK_CLOSED;
    for (uint64_t left = current; left; left &= left - 1) {
        bank_open_again(v, &c->banks[__builtin_ctzll(left)], end);
        bank_line_up(v, c, (uint32_t)__builtin_ctzll(left));
    }
    c->open = (c->open & ~of_rank) | current;
    c->ranks[rank].act_fs = end;
    if (!v->ranked)
        c->bus_fs = larger(c->bus_fs, end);
    c->ranks[rank].refresh_fs += v->row->refi_fs;
}

/*
 * All refreshes of `rank` up to `t`. Where all its rows are closed and the bus is free one is like
 * the other, and only the last has an effect.
 */
static inline void bank_refresh_rank(const struct bank_view *v, struct bank_channel *c,
                                     uint32_t rank, int64_t t)
{
    int64_t *due_fs = &c->ranks[rank].refresh_fs;

    while (*due_fs <= t) {
        if (!(c->open & bank_mask_of_rank(v->row, rank)) && c->bus_fs <= *due_fs)
            *due_fs += (t - *due_fs) / v->row->refi_fs * v->row->refi_fs;
        bank_refresh_once(v, c, rank);
    }
}

/* All refreshes up to `t`, the lowest rank first. */
static __attribute__((noinline)) void bank_refresh(const struct bank_view *v,
                                                   struct bank_channel *c, int64_t t)
{
    c->refresh_fs = BANK_NEVER_FS;
    for (uint32_t rank = 0; rank < bank_ranks(v->row); rank++) {
        bank_refresh_rank(v, c, rank, t);
        if (c->ranks[rank].refresh_fs < c->refresh_fs)
            c->refresh_fs = c->ranks[rank].refresh_fs;
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
    struct bank_rank *rank = &c->ranks[bank_rank_of(v, segment->bank)];
    int64_t a = t;

    segment->kind = BANK_MISS;
    if (c->open & bit) {
        a = larger(t, bank->pre_fs) + b->rp_fs;
        segment->kind = BANK_CONFLICT;
    }
    a = larger(a, rank->act_fs);
    a = larger(a, rank->acts_fs[(rank->n_acts - 1) & 3] + b->rrd_fs);
    a = larger(a, rank->acts_fs[rank->n_acts & 3] + b->faw_fs);
    rank->acts_fs[rank->n_acts++ & 3] = a;
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
        bank_line_up(v, c, number);
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

/* The column command of a segment that is granted the bus at `t`: its row is ready. The bus may
 * have to turn round, or to be handed from one rank to another. */
BANK_INLINE int64_t bank_command_fs(const struct bank_view *v, const struct bank_channel *c,
                                    const struct bank_segment *segment, int64_t t)
{
    const struct bank_row *b = v->row;
    uint32_t rank = bank_rank_of(v, segment->bank);

    if (segment->writes != c->writes)
        t = larger(t, c->bus_fs + (segment->writes ? b->cl_fs - b->cwl_fs + b->rtw_fs
                                                   : b->cwl_fs + b->wtr_fs));
    if (v->ranked && rank != c->rank && c->rank != RANKS_MAX)
        t = larger(t, c->bus_fs + b->rtrs_fs);
    return t;
}

/* Banks whose group may have its next column command at `t`. */
static inline uint64_t bank_of_free_groups(const struct bank_view *v, const struct bank_channel *c,
                                           uint64_t banks, int64_t t)
{
    uint64_t left = banks;

    while (left) {
        uint32_t first = bank_group_of(v->row, (uint32_t)__builtin_ctzll(left));
        uint64_t group = bank_mask(v->row->bank_bits, first);

        if (c->banks[first].column_fs > t)
            banks &= ~group;
        left &= ~group;
    }
    return banks;
}

/* Those whose current segments may be granted the bus at `t`, when it is free. */
BANK_INLINE uint64_t bank_eligible(const struct bank_view *v, const struct bank_channel *c,
                                   int64_t t)
{
    return v->paced ? bank_of_free_groups(v, c, c->ready, t) : c->ready;
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

/* Its last burst has been granted at `t`, and has been sent or taken by `end`. */
BANK_INLINE void bank_end_segment(const struct bank_view *v, const struct bank_channel *c,
                                  struct bank_pool *pool, const struct bank_segment *segment,
                                  int64_t t, int64_t end)
{
    struct bank_access *access = &pool->accesses[segment->access];
    const struct bank *bank = &c->banks[segment->bank];

    if (bank_ends_last(access, c, t, end)) {
        access->last_fs = end;
        access->granted_fs = t;
        access->channel = c;
        access->prepared_fs = bank->prepared_fs;
        access->delay_fs = bank->delay_fs;
        access->ready_fs = bank->ready_fs;
    }
    if ((access->left -= c->alike) == 0)
        bank_end_access(pool, segment->access,
                        larger(access->last_fs, access->first_fs + access->drain_fs - v->burst_fs));
}

/*
 * Behind routers: the first of the next `n` bursts of segment `i`, which reads, ends at `first`.
 * Channels that are alike have the same bursts, of other channels.
 */
static inline void bank_note_bursts(const struct bank_view *v, const struct bank_channel *c,
                                    struct bank_pool *pool, uint32_t i, uint32_t n, int64_t first)
{
    const struct bank_segment *segment = &pool->segments[i];
    struct bank_packet *packet = &pool->packets[segment->access];
    uint64_t begin = pool->accesses[segment->access].range.at;

    for (uint32_t k = 0; k < n; k++, pool->bursts[i] += UINT64_C(1) << v->row->column_at) {
        uint64_t burst = pool->bursts[i];

        for (uint32_t channel = 0; channel < c->alike; channel++)
            packet->ends_fs[(burst ^ channel) - begin] = first + k * v->burst_fs;
    }
    if (packet->touched)
        return;
    packet->touched = true;
    packet->next = pool->touched;
    pool->touched = segment->access;
}

/* The command of the last burst of segment `i` is at `last`. */
BANK_INLINE void bank_leave(const struct bank_view *v, struct bank_channel *c,
                            struct bank_pool *pool, uint32_t i, int64_t last)
{
    const struct bank_row *b = v->row;
    struct bank_segment *segment = &pool->segments[i];
    struct bank *bank = &c->banks[segment->bank];
    unsigned writes = segment->writes;
    uint64_t others = ~(UINT64_C(1) << segment->bank);

    bank->pre_fs =
        larger(bank->pre_fs, writes ? last + b->cwl_fs + v->burst_fs + b->wr_fs : last + b->rtp_fs);
    c->current[writes] &= others;
    c->ready &= others;
    c->queued[writes]--;
    c->granted += writes;
    c->has_read |= !writes;
    c->counts.kinds[segment->kind]++;
    bank_free_segment(pool, i);
}

/*
 * Grants the bus to segment `i` at `t`: for all of its bursts, and it is free afterwards; or for
 * the next one, where they are paced.
 */
BANK_INLINE void bank_grant(const struct bank_view *v, struct bank_channel *c,
                            struct bank_pool *pool, uint32_t i, int64_t t)
{
    const struct bank_row *b = v->row;
    struct bank_segment *segment = &pool->segments[i];
    struct bank_access *access = &pool->accesses[segment->access];
    unsigned writes = segment->writes;
    bool posted = writes && b->ack == ACK_ACCEPTED; /* it was done when it was accepted */
    uint32_t n = v->paced ? 1 : segment->n, left = segment->n - n;
    int64_t command = bank_command_fs(v, c, segment, t);
    int64_t last = command + (int64_t)(n - 1) * v->burst_fs;
    int64_t data = (writes ? b->cwl_fs : b->cl_fs) + v->burst_fs + b->ctrl_fs;

    c->bus_fs = c->counts.until_fs = last + v->burst_fs;
    c->writes = (uint8_t)writes;
    if (v->ranked)
        c->rank = (uint8_t)bank_rank_of(v, segment->bank);
    c->counts.bursts += n;
    if (v->paced)
        c->banks[bank_group_of(b, segment->bank)].column_fs = command + b->ccd_fs;
    if (v->routed && !writes)
        bank_note_bursts(v, c, pool, i, n, command + data);
    if (!posted && command + data < access->first_fs)
        access->first_fs = command + data;
    segment->n = left;
    if (left)
        return;
    if (!posted)
        bank_end_segment(v, c, pool, segment, t, last + data);
    bank_leave(v, c, pool, i, last);
}

/* -- all ------------------------------------------------------------------------------------ */

/* The first instant at which a segment that is ready may be granted, where bursts are paced. */
static inline int64_t bank_next_of_groups(const struct bank_view *v, const struct bank_channel *c)
{
    int64_t next = BANK_NEVER_FS;

    for (uint64_t left = c->ready; left;) {
        uint32_t first = bank_group_of(v->row, (uint32_t)__builtin_ctzll(left));

        if (c->banks[first].column_fs < next)
            next = c->banks[first].column_fs;
        left &= ~bank_mask(v->row->bank_bits, first);
    }
    return next;
}

/*
 * The first instant at which a current segment may be granted, if nothing arrives. A row that is
 * ready later may belong to a group that must wait for longer: then nothing is granted there.
 */
BANK_INLINE int64_t bank_next_fs(const struct bank_view *v, const struct bank_channel *c)
{
    int64_t next = BANK_NEVER_FS;

    if (c->ready && !v->paced)
        return c->bus_fs;
    if (c->line_n)
        next = c->banks[c->line[c->line_first % BANKS_MAX]].ready_fs;
    if (c->ready && bank_next_of_groups(v, c) < next)
        next = bank_next_of_groups(v, c);
    return next == BANK_NEVER_FS ? next : larger(next, c->bus_fs);
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
 * All rules, at `t`. False: no segment was granted the bus; else that is copied to `granted`,
 * unless NULL. The first pass is needed only if something has arrived: after the second one nothing
 * is left to do.
 */
BANK_INLINE bool bank_decide(const struct bank_view *v, struct bank_channel *c,
                             struct bank_pool *pool, uint32_t channel, int64_t t,
                             struct bank_segment *granted)
{
    bool grants = false;
    uint64_t any;

    if (c->refresh_fs <= t)
        bank_refresh(v, c, t);
    if (c->arrived) {
        c->arrived = false;
        bank_pass(v, c, pool, channel, t);
    }
    bank_leave_line(c, t);
    any = c->bus_fs <= t ? bank_eligible(v, c, t) : 0;
    if (any) {
        uint64_t ready = any & c->current[c->drains];
        uint32_t i = bank_oldest(c, pool, ready ? ready : any);

        grants = true;
        if (granted)
            *granted = pool->segments[i];
        if (granted && v->paced)
            granted->n = 1;
        bank_grant(v, c, pool, i, t);
        bank_pass(v, c, pool, channel, t);
    }
    c->next_fs = bank_next_fs(v, c);
    return grants;
}

BANK_INLINE void bank_catch_up_by(const struct bank_view *v, struct bank_channel *c,
                                  struct bank_pool *pool, uint32_t channel, int64_t t)
{
    while (c->next_fs <= t && !pool->lost)
        bank_decide(v, c, pool, channel, c->next_fs, NULL);
}

static __attribute__((noinline)) void bank_catch_up_any(const struct bank_view *v,
                                                        struct bank_channel *c,
                                                        struct bank_pool *pool, uint32_t channel,
                                                        int64_t t)
{
    bank_catch_up_by(v, c, pool, channel, t);
}

/*
 * All decisions up to `t`, while nothing arrives. Channels of one rank that are not paced, as most
 * are, have rules compiled for them, without what others need.
 */
BANK_INLINE void bank_catch_up(const struct bank_view *v, struct bank_channel *c,
                               struct bank_pool *pool, uint32_t channel, int64_t t)
{
    const struct bank_view plain = {v->row, v->burst_fs, v->routed, false, false};

    if (v->paced || v->ranked)
        bank_catch_up_any(v, c, pool, channel, t);
    else
        bank_catch_up_by(&plain, c, pool, channel, t);
}

#endif
