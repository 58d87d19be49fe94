/* bank_queue.h -- what waits at a channel with banks: pieces of transactions, the queues of banks,
 * and the line of rows that will be ready.
 *
 * A transaction that arrives has one piece in each channel that it comes to. Pieces wait in order
 * of (arrival, id, part), reads and writes by themselves. While the queue of a direction has room
 * the first piece gives a segment at a time, which joins the queue of its bank. So a queue of
 * segments is in order of age, and the oldest of an open row is the first with that row.
 *
 * A bank takes one of them as its current segment (bank_pick()). If it has to open a row it then
 * stands in the line, which is in order of the instants at which rows are ready. In a rank it is so
 * by itself: an activation is not before the one that was decided before it, and a refresh opens
 * all rows again at one instant, before which none is activated. So a bank joins at the end, or
 * passes those of other ranks. At a decision those
 * that are ready leave the line for `ready`, a bit each. So neither the next decision nor the
 * oldest that is ready takes a look at banks that cannot be granted.
 */
#ifndef BANK_QUEUE_H
#define BANK_QUEUE_H
#include "base/larger.h"
#include "machine/bank_channel.h"

/* -- segments ------------------------------------------------------------------------------- */

/* An access is done at `done_fs`. */
BANK_INLINE void bank_end_access(struct bank_pool *pool, uint32_t slot, int64_t done_fs)
{
    struct bank_access *access = &pool->accesses[slot];

    access->done_fs = done_fs;
    access->next = pool->ended;
    pool->ended = slot;
}

/* The first burst of the segment of `access` that is `at`: a tile's have numbers. */
BANK_INLINE uint64_t bank_first_burst(const struct bank_access *access, uint64_t at)
{
    return __builtin_expect(access->tile != NULL, false) ? access->tile->of[at].burst : at;
}

/* The segment that is `at`, behind all of its bank's queue. */
BANK_INLINE void bank_enqueue(const struct bank_view *v, struct bank_channel *c,
                              struct bank_pool *pool, uint32_t slot, uint64_t at)
{
    const struct bank_access *access = &pool->accesses[slot];
    uint64_t burst = bank_first_burst(access, at);
    uint32_t i = pool->free_segment, number = bank_number_of(v->row, burst);
    unsigned writes = access->writes;
    struct bank_segment *segment = &pool->segments[i];
    struct bank *bank = &c->banks[number];
    uint64_t bit = UINT64_C(1) << number;

    pool->free_segment = segment->next;
    *segment = (struct bank_segment){.row = bank_row_of_burst(v->row, burst),
                                     .id = access->id,
                                     .number = c->numbers[writes]++,
                                     .access = slot,
                                     .n = __builtin_expect(access->tile != NULL, false)
                                              ? access->tile->of[at].n
                                              : bank_bursts(v->row, burst, access->range.end),
                                     .next = BANK_NONE,
                                     .bank = (uint16_t)number,
                                     .writes = (uint8_t)writes};
    if (v->routed)
        pool->bursts[i] = burst;
    if (c->waiting[writes] & bit)
        pool->segments[bank->tail[writes]].next = i;
    else
        bank->head[writes] = i;
    bank->tail[writes] = i;
    c->waiting[writes] |= bit;
    c->queued[writes]++;
}

/* The segment of `channel` behind the one that is `at`; range.end: there is none. */
BANK_INLINE uint64_t bank_behind(const struct bank_view *v, const struct bank_access *access,
                                 uint64_t at, uint32_t channel)
{
    const struct bank_range *range = &access->range;
    uint64_t next = at + 1;

    if (__builtin_expect(access->tile != NULL, false))
        return access->tile->of[at].next;
    if (next >= range->end)
        return range->end;
    next = bank_next(v->row, range->at, next, channel);
    return next < range->end ? next : range->end;
}

/* The first piece goes on to its next segment, or is at its end. */
BANK_INLINE void bank_step_piece(const struct bank_view *v, struct bank_channel *c,
                                 struct bank_pool *pool, unsigned writes, uint32_t channel)
{
    struct bank_piece *piece = &pool->pieces[c->pieces[writes]];
    const struct bank_access *access = &pool->accesses[piece->access];
    uint32_t i = c->pieces[writes];

    piece->at = bank_behind(v, access, piece->at, channel);
    if (piece->at < access->range.end)
        return;
    c->pieces[writes] = piece->next;
    piece->next = pool->free_piece;
    pool->free_piece = i;
}

/* A segment of access `slot` has been accepted at `t`: a posted write may be done. */
BANK_INLINE void bank_accepted(const struct bank_view *v, const struct bank_channel *c,
                               struct bank_pool *pool, uint32_t slot, int64_t t)
{
    struct bank_access *access = &pool->accesses[slot];

    if (!access->writes || v->row->ack != ACK_ACCEPTED)
        return;
    access->last_fs = larger(access->last_fs, t + 1); /* channels need not go on together */
    if ((access->left -= c->alike) == 0)
        bank_end_access(pool, slot, larger(access->last_fs, access->arrive_fs + access->drain_fs));
}

BANK_INLINE void bank_accept(const struct bank_view *v, struct bank_channel *c,
                             struct bank_pool *pool, unsigned writes, uint32_t channel, int64_t t)
{
    while (c->pieces[writes] != BANK_NONE && c->queued[writes] < v->row->queue) {
        uint32_t slot = pool->pieces[c->pieces[writes]].access;

        if (pool->free_segment == BANK_NONE && !bank_more_segments(pool))
            return;
        bank_enqueue(v, c, pool, slot, pool->pieces[c->pieces[writes]].at);
        bank_step_piece(v, c, pool, writes, channel);
        bank_accepted(v, c, pool, slot, t);
    }
}

/* -- the queue of a bank -------------------------------------------------------------------- */

/* The segment behind which the oldest of the open row stands, of the `among` oldest; BANK_NONE: it
 * is the first, or the row has none. */
BANK_INLINE uint32_t bank_before_hit(const struct bank_pool *pool, const struct bank *bank,
                                     unsigned writes, uint32_t among)
{
    uint32_t before = BANK_NONE;

    for (uint32_t i = bank->head[writes]; i != BANK_NONE && among--; i = pool->segments[i].next) {
        if (pool->segments[i].row == bank->row)
            return before;
        before = i;
    }
    return BANK_NONE;
}

/* Takes the segment that a bank will serve next out of its queue. */
BANK_INLINE uint32_t bank_pick(const struct bank_view *v, struct bank_channel *c,
                               struct bank_pool *pool, struct bank *bank, uint64_t bit,
                               unsigned writes)
{
    uint32_t i = bank->head[writes], next = pool->segments[i].next, before = BANK_NONE;

    if (next == BANK_NONE) {
        c->waiting[writes] &= ~bit;
        return i;
    }
    if (v->row->policy == POLICY_FR_FCFS && c->open & bit)
        before = bank_before_hit(pool, bank, writes, v->row->bank_queue);
    if (before == BANK_NONE) {
        bank->head[writes] = next;
        return i;
    }
    i = pool->segments[before].next;
    pool->segments[before].next = pool->segments[i].next;
    if (bank->tail[writes] == i)
        bank->tail[writes] = before;
    return i;
}

/* -- the line ------------------------------------------------------------------------------- */

/* Bank `number` has a current segment, whose row is ready later. It passes those of other ranks
 * that are ready later still. */
BANK_INLINE void bank_line_up(const struct bank_view *v, struct bank_channel *c, uint32_t number)
{
    uint32_t n = c->line_n++, at = (uint32_t)c->line_first + n;

    for (; v->ranked && n-- &&
           c->banks[c->line[(at - 1) % BANKS_MAX]].ready_fs > c->banks[number].ready_fs;
         at--)
        c->line[at % BANKS_MAX] = c->line[(at - 1) % BANKS_MAX];
    c->line[at % BANKS_MAX] = (uint8_t)number;
}

/* No bank of `banks` is ready, or stands in the line. */
static inline void bank_leave_all(struct bank_channel *c, uint64_t banks)
{
    uint32_t n = c->line_n;

    c->ready &= ~banks;
    c->line_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t number = c->line[((uint32_t)c->line_first + i) % BANKS_MAX];

        if (!(banks >> number & 1))
            c->line[((uint32_t)c->line_first + c->line_n++) % BANKS_MAX] = number;
    }
}

/* Those of the line whose rows are ready at `t`. */
BANK_INLINE void bank_leave_line(struct bank_channel *c, int64_t t)
{
    while (c->line_n) {
        uint32_t number = c->line[c->line_first % BANKS_MAX];

        if (c->banks[number].ready_fs > t)
            return;
        c->ready |= UINT64_C(1) << number;
        c->line_first++;
        c->line_n--;
    }
}

/* -- arrivals ------------------------------------------------------------------------------- */

/* Comes access `a` before `b`? */
BANK_INLINE bool bank_in_order(const struct bank_access *a, const struct bank_access *b)
{
    if (a->arrive_fs != b->arrive_fs)
        return a->arrive_fs < b->arrive_fs;
    if (a->order != b->order)
        return a->order < b->order;
    return a->part < b->part;
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

/* Access `slot`, which has arrived, has segments here, of which the first is `at`. */
BANK_INLINE void bank_add_piece(struct bank_channel *c, struct bank_pool *pool, uint32_t slot,
                                uint64_t at)
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
    *piece = (struct bank_piece){.at = at, .access = slot, .next = *link};
    if (piece->next == BANK_NONE)
        c->last_piece[writes] = i;
    *link = i;
    c->arrived = true;
}

/*
 * Access `slot` arrives, and nothing else does at its instant: it is accepted at once as far as
 * there is room, as a decision of this instant would do first.
 */
BANK_INLINE void bank_arrive(const struct bank_view *v, struct bank_channel *c,
                             struct bank_pool *pool, uint32_t slot, uint64_t at, uint32_t channel)
{
    const struct bank_access *access = &pool->accesses[slot];
    unsigned writes = access->writes;

    while (c->pieces[writes] == BANK_NONE && c->queued[writes] < v->row->queue &&
           pool->free_segment != BANK_NONE) {
        bank_enqueue(v, c, pool, slot, at);
        bank_accepted(v, c, pool, slot, access->arrive_fs);
        c->arrived = true;
        at = bank_behind(v, access, at, channel);
        if (at == access->range.end)
            return;
    }
    bank_add_piece(c, pool, slot, at);
}

#endif
