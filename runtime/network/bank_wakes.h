/* bank_wakes.h -- slices with banks without an event for each arrival and decision: for runs in
 * which nothing is counted.
 *
 * Decisions. What a channel decides cannot be seen before the end of a transaction that it decides,
 * and that is later by `ahead`: cl or cwl and one burst; 1 fs where posted writes wait for room. So
 * the channels of a slice are left alone, and catch up: a channel when something comes to it, all
 * of them at the slice's wake, an event of class 5. That is at
 *
 *     the first instant at which a channel may grant something + ahead - 1 fs
 *
 * or earlier, so the ends found there lie ahead of it. If nothing waits for an end there is none.
 *
 * Arrivals. When a request sets out its arrival is known. It is put into the slice's list of those
 * that are expected, in order of arrival, and the slice wakes as if it had arrived: at arrival +
 * ahead - 1 fs, or later if it is a read of many bursts, which keep the bus. At a wake all that
 * have arrived by then come to their channels, each at its own time. A slice that is half busy has
 * ten of them at a wake, and its banks come into the cache once. The list is nearly in order by
 * itself. One that would have to pass many others gets an event for its arrival; at that, those
 * before it come to their channels first. So it is in runs of kernels, too.
 *
 * An idle machine. The wake of a slice has no event either if nothing else comes before it: it is
 * run at once (settle_banks()). The loop asks when a step has ended, since a step may post several
 * events. A read that is alone has one event then, its end.
 *
 * Example (defaults). At 0 a read of 64 bytes sets out, and will arrive at 100 ns: the slice wakes
 * at 118.999999. At 5 ns another one does, and will arrive at 90: it goes before the first, and the
 * wake is at 108.999999. There both come to their channels, which open their rows at 90 and 100;
 * the first has its bus at 104, and its end, 123, is posted. The other one may have it at 114, so
 * the next wake is at 132.999999: 133 is posted.
 *
 * Invariants
 *   - A wake lies before each end that an expected request, or a decision to come, can cause.
 *   - Whatever is expected behind a wake arrives later than that: a wake is of the last class.
 *   - Each transaction whose end is not known is counted by `pending`; while there is one the slice
 *     has a wake.
 */
#ifndef NETWORK_BANK_WAKES_H
#define NETWORK_BANK_WAKES_H
#include "network/banks.h"

enum { EXPECTED_STEPS = 16 }; /* a request passes no more others than that */

/* -- when -------------------------------------------------------------------------------------- */

/* The event of the wake of `slice`. */
static ALWAYS_INLINE ev wake_event(const struct bank_slice *slice)
{
    uint32_t slot = (uint32_t)ARBITER_CHANNEL << ARBITER_KIND_BIT | slice->number
                                                                        << BANK_CHANNEL_BITS;

    return ev_make((uint64_t)slice->wake_fs, EV_ARBITER, slice->memory << BANK_CHANNEL_BITS, slot);
}

static ALWAYS_INLINE void post_slice_wake(struct kb_sim *s, const struct bank_slice *slice)
{
    if ((uint64_t)slice->wake_fs >= EV_PAST - 1)
        fail(s, KB_TIME_RANGE);
    else if (!ev_push(&s->queue, wake_event(slice)))
        fail(s, KB_NO_MEMORY);
}

/* A wake at `t`, unless there is one before. */
static ALWAYS_INLINE void ask_slice(struct kb_sim *s, struct bank_slice *slice, int64_t t)
{
    if (t >= slice->wake_fs)
        return;
    slice->wake_fs = t;
    post_slice_wake(s, slice);
}

/* The same; its event is left out if nothing else comes before it (network/bank_wakes.h). */
static ALWAYS_INLINE void wake_soon(struct kb_sim *s, struct bank_slice *slice, int64_t t)
{
    if (t >= slice->wake_fs)
        return;
    slice->wake_fs = t;
    if (s->banks->soon && s->banks->soon != slice)
        post_slice_wake(s, s->banks->soon);
    s->banks->soon = slice;
}

/* Do posted writes wait for room in `c`? */
static ALWAYS_INLINE bool is_full(const struct bank_view *v, const struct bank_channel *c)
{
    return v->row->ack == ACK_ACCEPTED && c->pieces[BANK_WRITE] != BANK_NONE;
}

/* How much later than a decision an end is at least; `full`: posted writes wait for room. */
static ALWAYS_INLINE int64_t ahead_fs(const struct bank_view *v, bool full)
{
    const struct bank_row *b = v->row;

    if (full)
        return 1;
    if (b->ack == ACK_WRITTEN && b->cwl_fs < b->cl_fs)
        return b->cwl_fs + v->burst_fs + b->ctrl_fs;
    return b->cl_fs + v->burst_fs + b->ctrl_fs;
}

/* May anything of this run write? */
static ALWAYS_INLINE bool may_write(const struct kb_sim *s)
{
    return s->kernels || s->ways & WAY_WRITES;
}

/*
 * How much later than the arrival of `access` its slice must wake. Reads of many bursts keep the
 * bus of a channel for their share of these, which nothing else they cause ends before: a write
 * that is held until it is served may, and behind routers data go back burst by burst.
 */
static ALWAYS_INLINE int64_t wake_for(const struct kb_sim *s, const struct bank_slice *slice,
                                      const struct bank_view *v, const struct bank_access *access)
{
    const struct bank_row *b = v->row;
    int64_t ahead = ahead_fs(v, slice->full);

    if (access->writes && b->ack == ACK_ACCEPTED)
        ahead = access->drain_fs < ahead ? bank_later(access->drain_fs, 1) : ahead;
    else if (T->links != MODE_ROUTER && !slice->full && (b->ack == ACK_ACCEPTED || !may_write(s)))
        ahead +=
            (int64_t)((access->range.end - access->range.at - 1) >> b->channel_bits) * v->burst_fs;
    return ahead - 1;
}

/* -- wakes ------------------------------------------------------------------------------------- */

/* Is the next one that is expected behind `slot`, which has arrived, later than that? */
static ALWAYS_INLINE bool is_apart(const struct kb_sim *s, const struct bank_slice *slice,
                                   uint32_t slot)
{
    const struct bank_access *accesses = s->banks->accesses;

    return slice->expected == BANK_NONE ||
           accesses[slice->expected].arrive_fs > accesses[slot].arrive_fs;
}

/* Those that are expected by `t` have arrived, each at its own time. */
static __attribute__((noinline)) void take_expected(struct kb_sim *s, struct bank_slice *slice,
                                                    int64_t t)
{
    const struct bank_access *accesses = s->banks->accesses;
    const struct bank_view view = view_of(s, slice);

    while (slice->expected != BANK_NONE && accesses[slice->expected].arrive_fs <= t) {
        uint32_t slot = slice->expected;

        slice->expected = accesses[slot].next;
        come_to_bank_channels(s, 0, slice, &view, is_apart(s, slice, slot),
                              (uint64_t)accesses[slot].arrive_fs, slot);
    }
}

/* When the slice must wake for those that are expected. */
static ALWAYS_INLINE int64_t wake_for_expected(const struct kb_sim *s,
                                               const struct bank_slice *slice,
                                               const struct bank_view *view)
{
    const struct bank_access *accesses = s->banks->accesses;
    int64_t wake_fs = BANK_NEVER_FS;

    for (uint32_t i = slice->expected; i != BANK_NONE && accesses[i].arrive_fs < wake_fs;
         i = accesses[i].next) {
        int64_t fs = accesses[i].arrive_fs + wake_for(s, slice, view, &accesses[i]);

        wake_fs = fs < wake_fs ? fs : wake_fs;
    }
    return wake_fs;
}

/* The channels of a slice catch up until `t`. Returns when one must wake again. */
static ALWAYS_INLINE int64_t wake_channels(struct kb_sim *s, struct bank_slice *slice,
                                           const struct bank_view *view, int64_t t)
{
    int64_t next = BANK_NEVER_FS;

    slice->full = false;
    for (uint32_t word = 0; word * 64 < bank_channels(view->row); word++)
        for (uint64_t left = slice->busy[word]; left; left &= left - 1) {
            uint32_t channel = word * 64 + (uint32_t)__builtin_ctzll(left);
            const struct bank_channel *c = &slice->channels[channel];
            bool full;

            if (c->next_fs <= t)
                catch_up(s, slice, channel, t);
            if (c->next_fs == BANK_NEVER_FS) {
                slice->busy[word] &= ~(left & -left);
                continue;
            }
            full = is_full(view, c);
            slice->full |= full;
            next = c->next_fs + ahead_fs(view, full) - 1 < next
                       ? c->next_fs + ahead_fs(view, full) - 1
                       : next;
        }
    return next;
}

/* The wake of a slice: what has arrived comes to the channels, and these catch up. */
static ALWAYS_INLINE void wake_slice(struct kb_sim *s, int how, uint64_t t, uint32_t index)
{
    struct bank_slice *slice = s->banks->slices[index >> BANK_CHANNEL_BITS];
    const struct bank_view view = view_of(s, slice);
    int64_t next, expected;

    if (slice->wake_fs != (int64_t)t)
        return; /* there was one before */
    slice->wake_fs = BANK_NEVER_FS;
    take_expected(s, slice, (int64_t)t);
    next = wake_channels(s, slice, &view, (int64_t)t);
    post_ends(s, how, slice);
    expected = wake_for_expected(s, slice, &view);
    if (slice->pending)
        ask_slice(s, slice, next < expected ? next : expected);
}

/* -- arrivals ---------------------------------------------------------------------------------- */

/* It has arrived at `t`, by an event. */
static ALWAYS_INLINE void come_to_banks(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct bank_slice *slice = slice_of(s, s->txns[slot].dst);
    struct bank_view view;

    if (!slice)
        return;
    view = view_of(s, slice);
    begin_access(s, &view, t, slot);
    slice->pending++;
    if (is_lazy(how)) {
        take_expected(s, slice, (int64_t)t - 1);
        ask_slice(s, slice, (int64_t)t + wake_for(s, slice, &view, &s->banks->accesses[slot]));
    }
    come_to_bank_channels(s, how, slice, &view, false, t, slot);
    if (is_lazy(how))
        post_ends(s, how, slice);
}

/* Behind routers a part of it has arrived: a packet of a write, a read. */
static inline void part_comes_to_banks(struct kb_sim *s, int how, uint64_t t, uint32_t slot,
                                       const struct delivery *part)
{
    struct bank_slice *slice = slice_of(s, s->txns[slot].dst);
    struct bank_view view;
    uint32_t row;

    if (is_told(s, how))
        observe_serve(s, t, t, slot, part->number);
    if (!slice || (!txn_writes(&s->txns[slot]) && !router_turn_back(s, slot)))
        return;
    view = view_of(s, slice);
    row = begin_packet_access(s, t, slot, part->from, part->nbytes);
    if (row == BANK_NONE)
        return;
    slice->pending++;
    if (is_lazy(how))
        ask_slice(s, slice, (int64_t)t + wake_for(s, slice, &view, &s->banks->pool.accesses[row]));
    come_to_bank_channels(s, how, slice, &view, false, t, row);
    if (is_lazy(how))
        post_ends(s, how, slice);
}

/* Into its place among those that are expected at `slice`. False: it is too far from its end. */
static ALWAYS_INLINE bool expect_in_order(struct kb_sim *s, struct bank_slice *slice, uint32_t slot)
{
    struct bank_access *accesses = s->banks->accesses, *access = &accesses[slot];
    uint32_t *link = &slice->expected;

    if (*link != BANK_NONE && access->arrive_fs >= accesses[slice->last_expected].arrive_fs)
        link = &accesses[slice->last_expected].next;
    for (int steps = 0; *link != BANK_NONE && accesses[*link].arrive_fs <= access->arrive_fs;
         steps++) {
        if (steps == EXPECTED_STEPS)
            return false;
        link = &accesses[*link].next;
    }
    access->next = *link;
    if (access->next == BANK_NONE)
        slice->last_expected = slot;
    *link = slot;
    return true;
}

/* The transaction in `slot` sets out, and will be at its slice, which has banks, at `arrive`. */
static ALWAYS_INLINE void expect_in_banks(struct kb_sim *s, uint64_t arrive, uint32_t slot)
{
    struct bank_slice *slice = slice_of(s, s->txns[slot].dst);
    struct bank_view view;

    s->txns[slot].arrive_fs = (int64_t)arrive;
    s->txns[slot].stage = TXN_TO_MEMORY;
    if (!slice)
        return;
    view = view_of(s, slice);
    begin_access(s, &view, arrive, slot);
    if (!expect_in_order(s, slice, slot)) {
        post(s, arrive, EV_ARRIVE, slot);
        return;
    }
    slice->pending++;
    wake_soon(s, slice, (int64_t)arrive + wake_for(s, slice, &view, &s->banks->accesses[slot]));
}

/* A step has ended; `next` is the next event from outside the queue. Wakes that come before
 * everything else need no event. */
static ALWAYS_INLINE void settle_banks(struct kb_sim *s, ev next)
{
    while (s->banks->soon) {
        struct bank_slice *slice = s->banks->soon;
        ev wake = wake_event(slice);

        s->banks->soon = NULL;
        if (wake < next && wake < s->queue.first && s->status == KB_OK)
            wake_slice(s, 0, (uint64_t)slice->wake_fs, slice->number << BANK_CHANNEL_BITS);
        else
            post_slice_wake(s, slice);
    }
}

#endif
