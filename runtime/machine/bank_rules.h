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
 * (network/banks.h).
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
#include "machine/bank_channel.h"

/* -- 1. refresh ----------------------------------------------------------------------------- */

/* When the refresh that is due can begin: all rows are closed then. */
static inline int64_t bank_refresh_begin(const struct bank_view *v, const struct bank_channel *c)
{
    int64_t s = bank_later(c->refresh_fs, c->bus_fs);

    for (uint64_t left = c->open; left; left &= left - 1)
        s = bank_later(s, c->banks[__builtin_ctzll(left)].pre_fs);
    return s + v->row->rp_fs;
}

/* A row with a current segment is opened again behind the refresh, which ends at `end`. */
static inline void bank_open_again(const struct bank_view *v, struct bank *bank,
                                   struct bank_segment *segment, int64_t end)
{
    int64_t col_fs = end + v->row->rcd_fs;

    bank->col_fs = bank_later(bank->col_fs, col_fs);
    bank->pre_fs = bank_later(bank->pre_fs, end + v->row->ras_fs);
    if (col_fs > segment->ready_fs) {
        segment->delay_fs += col_fs - segment->ready_fs;
        segment->ready_fs = col_fs;
    }
}

static inline void bank_refresh_once(const struct bank_view *v, struct bank_channel *c,
                                     struct bank_pool *pool)
{
    uint64_t current = c->current[BANK_READ] | c->current[BANK_WRITE];
    int64_t begin = bank_refresh_begin(v, c), end = begin + v->row->rfc_fs;

    for (uint32_t i = 0; i < bank_count(v->row); i++) {
        struct bank *bank = &c->banks[i];

        if (current >> i & 1)
            bank_open_again(v, bank, &pool->segments[bank->current], end);
        else
            bank->row = BANK_CLOSED;
        bank->act_fs = end;
    }
    c->open = current;
    c->bus_fs = bank_later(c->bus_fs, end);
    c->refresh_fs += v->row->refi_fs;
    c->counts.refreshes++;
    c->counts.refresh_fs += end - begin + v->row->rp_fs;
}

/*
 * All refreshes up to `t`. Where all rows are closed and the bus is free one is like the other, and
 * only the last has an effect.
 */
static __attribute__((noinline)) void
bank_refresh(const struct bank_view *v, struct bank_channel *c, struct bank_pool *pool, int64_t t)
{
    while (c->refresh_fs <= t) {
        if (!c->open && c->bus_fs <= c->refresh_fs) {
            int64_t n = (t - c->refresh_fs) / v->row->refi_fs;

            c->refresh_fs += n * v->row->refi_fs;
            c->counts.refreshes += (uint64_t)n;
            c->counts.refresh_fs += n * (v->row->rp_fs + v->row->rfc_fs);
        }
        bank_refresh_once(v, c, pool);
    }
}

/* -- 2. accept ------------------------------------------------------------------------------ */

/* An access is done at `done_fs`. */
BANK_INLINE void bank_end_access(struct bank_pool *pool, uint32_t slot, int64_t done_fs)
{
    struct bank_access *access = &pool->accesses[slot];

    access->done_fs = done_fs;
    access->next = pool->ended;
    pool->ended = slot;
}

/* The segment whose first burst is `burst`, behind all of its bank's queue. */
BANK_INLINE void bank_enqueue(const struct bank_view *v, struct bank_channel *c,
                              struct bank_pool *pool, uint32_t slot, uint64_t burst)
{
    const struct bank_access *access = &pool->accesses[slot];
    uint32_t i = pool->free_segment, number = bank_number_of(v->row, burst);
    unsigned writes = access->writes;
    struct bank_segment *segment = &pool->segments[i];
    struct bank *bank = &c->banks[number];

    pool->free_segment = segment->next;
    *segment = (struct bank_segment){.row = bank_row_of_burst(v->row, burst),
                                     .id = access->id,
                                     .number = c->numbers[writes]++,
                                     .access = slot,
                                     .n = bank_bursts(v->row, burst, access->range.end),
                                     .next = BANK_NONE,
                                     .bank = (uint16_t)number,
                                     .writes = (uint8_t)writes};
    if (c->waiting[writes] >> number & 1)
        pool->segments[bank->tail[writes]].next = i;
    else
        bank->head[writes] = i;
    bank->tail[writes] = i;
    c->waiting[writes] |= UINT64_C(1) << number;
    c->queued[writes]++;
}

/* The first piece goes on to its next segment, or is at its end. */
BANK_INLINE void bank_step_piece(const struct bank_view *v, struct bank_channel *c,
                                 struct bank_pool *pool, unsigned writes, uint32_t channel)
{
    struct bank_piece *piece = &pool->pieces[c->pieces[writes]];
    const struct bank_range *range = &pool->accesses[piece->access].range;
    uint32_t i = c->pieces[writes];

    if (piece->at + 1 < range->end) {
        piece->at = bank_next(v->row, range->at, piece->at + 1, channel);
        if (piece->at < range->end)
            return;
    }
    c->pieces[writes] = piece->next;
    piece->next = pool->free_piece;
    pool->free_piece = i;
}

BANK_INLINE void bank_accept(const struct bank_view *v, struct bank_channel *c,
                             struct bank_pool *pool, unsigned writes, uint32_t channel, int64_t t)
{
    while (c->pieces[writes] != BANK_NONE && c->queued[writes] < v->row->queue) {
        uint32_t slot = pool->pieces[c->pieces[writes]].access;
        struct bank_access *access = &pool->accesses[slot];

        if (pool->free_segment == BANK_NONE && !bank_more_segments(pool))
            return;
        bank_enqueue(v, c, pool, slot, pool->pieces[c->pieces[writes]].at);
        bank_step_piece(v, c, pool, writes, channel);
        if (writes && v->row->ack == ACK_ACCEPTED && --access->left == 0)
            bank_end_access(pool, slot, bank_later(t + 1, access->arrive_fs + access->drain_fs));
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

/* Takes the segment that a bank will serve next out of its queue. */
BANK_INLINE uint32_t bank_pick(const struct bank_view *v, struct bank_channel *c,
                               struct bank_pool *pool, struct bank *bank, uint32_t number,
                               unsigned writes)
{
    uint32_t i = bank->head[writes], before = BANK_NONE;

    if (v->row->policy == POLICY_FR_FCFS && c->open >> number & 1) {
        for (; i != BANK_NONE && pool->segments[i].row != bank->row; i = pool->segments[i].next)
            before = i;
        if (i == BANK_NONE) {
            i = bank->head[writes];
            before = BANK_NONE;
        }
    }
    if (before == BANK_NONE)
        bank->head[writes] = pool->segments[i].next;
    else
        pool->segments[before].next = pool->segments[i].next;
    if (bank->tail[writes] == i)
        bank->tail[writes] = before;
    if (bank->head[writes] == BANK_NONE)
        c->waiting[writes] &= ~(UINT64_C(1) << number);
    return i;
}

/* Opens the row of `segment`, at `t` or as soon as possible. */
BANK_INLINE void bank_activate(const struct bank_view *v, struct bank_channel *c, struct bank *bank,
                               struct bank_segment *segment, int64_t t)
{
    const struct bank_row *b = v->row;
    int64_t a = t;

    if (c->open >> segment->bank & 1) {
        a = bank_later(t, bank->pre_fs) + b->rp_fs;
        segment->kind = BANK_CONFLICT;
    } else {
        segment->kind = BANK_MISS;
    }
    a = bank_later(a, bank->act_fs);
    a = bank_later(a, c->acts_fs[(c->n_acts - 1) & 3] + b->rrd_fs);
    a = bank_later(a, c->acts_fs[c->n_acts & 3] + b->faw_fs);
    c->acts_fs[c->n_acts++ & 3] = a;
    c->open |= UINT64_C(1) << segment->bank;
    bank->row = segment->row;
    bank->col_fs = a + b->rcd_fs;
    bank->pre_fs = a + b->ras_fs;
    segment->ready_fs = bank->col_fs;
}

BANK_INLINE void bank_prepare(const struct bank_view *v, struct bank_channel *c,
                              struct bank_pool *pool, int64_t t)
{
    unsigned writes = c->drains;
    uint64_t left = c->waiting[writes] & ~(c->current[BANK_READ] | c->current[BANK_WRITE]);

    for (; left; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(left);
        struct bank *bank = &c->banks[number];
        uint32_t i = bank_pick(v, c, pool, bank, number, writes);
        struct bank_segment *segment = &pool->segments[i];

        if (bank->row == segment->row)
            segment->ready_fs = bank_later(t, bank->col_fs); /* and its kind is BANK_HIT */
        else
            bank_activate(v, c, bank, segment, t);
        segment->prepared_fs = t;
        bank->current = i;
        c->current[writes] |= UINT64_C(1) << number;
    }
}

/* -- 5. bus --------------------------------------------------------------------------------- */

/* The oldest current segment of one direction that is ready at `t`. */
BANK_INLINE uint32_t bank_oldest_ready(const struct bank_channel *c, const struct bank_pool *pool,
                                       unsigned writes, int64_t t)
{
    uint64_t oldest = UINT64_MAX;
    uint32_t found = BANK_NONE;

    for (uint64_t left = c->current[writes]; left; left &= left - 1) {
        uint32_t i = c->banks[__builtin_ctzll(left)].current;
        const struct bank_segment *segment = &pool->segments[i];

        if (segment->ready_fs <= t && segment->number < oldest) {
            oldest = segment->number;
            found = i;
        }
    }
    return found;
}

/* The column command of a segment that is granted the bus at `t`. */
BANK_INLINE int64_t bank_command_fs(const struct bank_view *v, const struct bank_channel *c,
                                    const struct bank_segment *segment, int64_t t)
{
    const struct bank_row *b = v->row;
    int64_t col_fs = bank_later(t, c->banks[segment->bank].col_fs);

    if (segment->writes == c->writes)
        return col_fs;
    return bank_later(col_fs, c->bus_fs + (segment->writes ? b->cl_fs - b->cwl_fs + b->rtw_fs
                                                           : b->cwl_fs + b->wtr_fs));
}

/* The segment's bursts have been sent or taken by `end`, the first of them by `first`. */
BANK_INLINE void bank_end_segment(const struct bank_view *v, struct bank_pool *pool,
                                  const struct bank_segment *segment, int64_t first, int64_t end)
{
    struct bank_access *access = &pool->accesses[segment->access];

    if (segment->writes && v->row->ack == ACK_ACCEPTED)
        return; /* it was done when it was accepted */
    if (first < access->first_fs)
        access->first_fs = first;
    if (end > access->last_fs) {
        access->last_fs = end;
        access->prepared_fs = segment->prepared_fs;
        access->delay_fs = segment->delay_fs;
        access->ready_fs = segment->ready_fs;
    }
    if (--access->left == 0)
        bank_end_access(
            pool, segment->access,
            bank_later(access->last_fs, access->first_fs + access->drain_fs - v->burst_fs));
}

/* Grants the bus to segment `i`, which is free afterwards, at `t`. */
BANK_INLINE void bank_grant(const struct bank_view *v, struct bank_channel *c,
                            struct bank_pool *pool, uint32_t i, int64_t t)
{
    const struct bank_row *b = v->row;
    struct bank_segment *segment = &pool->segments[i];
    struct bank *bank = &c->banks[segment->bank];
    unsigned writes = segment->writes;
    int64_t command = bank_command_fs(v, c, segment, t);
    int64_t data = command + (writes ? b->cwl_fs : b->cl_fs) + v->burst_fs;
    int64_t more = (int64_t)(segment->n - 1) * v->burst_fs;

    c->bus_fs = command + more + v->burst_fs;
    c->writes = (uint8_t)writes;
    bank->pre_fs =
        bank_later(bank->pre_fs, writes ? data + more + b->wr_fs : command + more + b->rtp_fs);
    c->current[writes] &= ~(UINT64_C(1) << segment->bank);
    c->queued[writes]--;
    c->granted += writes;
    c->has_read |= !writes;
    c->counts.kinds[segment->kind]++;
    c->counts.bursts += segment->n;
    bank_end_segment(v, pool, segment, data + b->ctrl_fs, data + more + b->ctrl_fs);
    segment->next = pool->free_segment;
    pool->free_segment = i;
}

/* -- all ------------------------------------------------------------------------------------ */

/* The first instant at which a current segment may be granted. */
BANK_INLINE int64_t bank_next_fs(const struct bank_channel *c, const struct bank_pool *pool)
{
    int64_t ready = BANK_NEVER_FS;

    for (uint64_t left = c->current[BANK_READ] | c->current[BANK_WRITE]; left; left &= left - 1) {
        int64_t fs = pool->segments[c->banks[__builtin_ctzll(left)].current].ready_fs;

        ready = fs < ready ? fs : ready;
    }
    return ready == BANK_NEVER_FS ? ready : bank_later(ready, c->bus_fs);
}

BANK_INLINE void bank_pass(const struct bank_view *v, struct bank_channel *c,
                           struct bank_pool *pool, uint32_t channel, int64_t t)
{
    bank_accept(v, c, pool, BANK_READ, channel, t);
    bank_accept(v, c, pool, BANK_WRITE, channel, t);
    bank_choose_mode(v, c);
    bank_prepare(v, c, pool, t);
}

/* All rules, at `t`. The id of the transaction that was granted; BANK_NO_ID: none. */
#define BANK_NO_ID UINT64_MAX
BANK_INLINE uint64_t bank_decide(const struct bank_view *v, struct bank_channel *c,
                                 struct bank_pool *pool, uint32_t channel, int64_t t)
{
    uint64_t id = BANK_NO_ID;

    if (c->refresh_fs <= t)
        bank_refresh(v, c, pool, t);
    bank_pass(v, c, pool, channel, t);
    if (c->bus_fs <= t) {
        uint32_t i = bank_oldest_ready(c, pool, c->drains, t);

        if (i == BANK_NONE)
            i = bank_oldest_ready(c, pool, !c->drains, t);
        if (i != BANK_NONE) {
            id = pool->segments[i].id;
            bank_grant(v, c, pool, i, t);
            bank_pass(v, c, pool, channel, t);
        }
    }
    c->next_fs = bank_next_fs(c, pool);
    return id;
}

/* All decisions up to `t`, while nothing arrives. */
BANK_INLINE void bank_catch_up(const struct bank_view *v, struct bank_channel *c,
                               struct bank_pool *pool, uint32_t channel, int64_t t)
{
    while (c->next_fs <= t && !pool->lost)
        bank_decide(v, c, pool, channel, c->next_fs);
}

/* -- arrivals ------------------------------------------------------------------------------- */

/* Comes access `a` before `b`? Records have the number of a part in their topmost 16 bits. */
BANK_INLINE bool bank_in_order(const struct bank_access *a, const struct bank_access *b)
{
    if (a->arrive_fs != b->arrive_fs)
        return a->arrive_fs < b->arrive_fs;
    return (a->id << 16 | a->id >> 48) < (b->id << 16 | b->id >> 48);
}

/* The link behind which a piece of `access` belongs, not the last: of one instant in order of ids.
 */
static __attribute__((noinline)) uint32_t *
bank_place_of(struct bank_channel *c, struct bank_pool *pool, const struct bank_access *access)
{
    uint32_t *link = &c->pieces[access->writes];

    while (bank_in_order(&pool->accesses[pool->pieces[*link].access], access))
        link = &pool->pieces[*link].next;
    return link;
}

/* Access `slot`, which has arrived, has segments here, and the first begins with `burst`. */
BANK_INLINE void bank_add_piece(struct bank_channel *c, struct bank_pool *pool, uint32_t slot,
                                uint64_t burst)
{
    const struct bank_access *access = &pool->accesses[slot];
    unsigned writes = access->writes;
    uint32_t i = pool->free_piece, *link = &c->pieces[writes];
    struct bank_piece *piece = &pool->pieces[i];

    pool->free_piece = piece->next;
    if (*link != BANK_NONE) {
        const struct bank_piece *last = &pool->pieces[c->last_piece[writes]];

        link = bank_in_order(&pool->accesses[last->access], access)
                   ? &pool->pieces[c->last_piece[writes]].next
                   : bank_place_of(c, pool, access);
    }
    *piece = (struct bank_piece){.at = burst, .access = slot, .next = *link};
    if (piece->next == BANK_NONE)
        c->last_piece[writes] = i;
    *link = i;
}

#endif
