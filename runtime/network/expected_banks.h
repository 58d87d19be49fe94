/* expected_banks.h -- arrivals at a slice with banks without events: for runs that count no event.
 *
 * When a request sets out its arrival is known. It is put into the slice's list of those that are
 * expected, in order of arrival, and the slice wakes as late as if it had arrived
 * (network/banks.h): at
 *
 *     arrival + ahead - 1 fs
 *
 * as nothing that the arrival causes can be seen before. At a wake all that have arrived by then
 * come to their channels, each at its own time. A slice that is half busy has ten of them at a
 * wake, one behind the other, and its banks are fetched into the cache once.
 *
 * The list is nearly in order by itself. One that would have to pass many others gets an event for
 * its arrival; at that, those before it come to their channels first.
 *
 * The wake of a slice has no event either if nothing else comes before it, as in a machine that is
 * all but idle: it is run at once (settle_banks()). The loop asks when a step has ended, since a
 * step may post several events.
 *
 * Example (defaults). At 0 a read sets out, and will arrive at 100 ns: the slice wakes at
 * 118.999999. At 5 ns another one does, and will arrive at 90: it goes before the first, and the
 * wake is at 108.999999. There both are in their channels, and have opened their rows. Both ends
 * lie ahead, at 123 and 133 ns, if it is two banks of two channels.
 *
 * Invariants
 *   - A wake lies before each end that an expected request can cause.
 *   - Whatever is expected at a wake arrives later than that: a wake is of the last class.
 */
#ifndef NETWORK_EXPECTED_BANKS_H
#define NETWORK_EXPECTED_BANKS_H
#include "network/banks.h"

enum { EXPECTED_STEPS = 16 }; /* a request passes no more others than that */

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
    wake_soon(s, slice,
              (int64_t)arrive + wake_for(&view, slice->full, &s->banks->accesses[slot]));
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
            wake_slice(s, (uint64_t)slice->wake_fs, slice->number << BANK_CHANNEL_BITS);
        else
            post_slice_wake(s, slice);
    }
}

#endif
