/* expected_early.h -- an early memory without events of arrivals: for runs that count no event.
 *
 * When a request sets out its arrival is known, but others that set out later may arrive before it,
 * so its turn is not. It waits in a queue in order of arrival, and its completion is posted for the
 * earliest time that it may have. When that event comes, all that arrive before it have set out:
 * the turns of the queue up to it are taken, in order, and its end is known. Mostly it is now.
 * Else the event is posted again, for the end.
 *
 *     TXN_TO_MEMORY   in the queue; its event comes at its end or earlier
 *     TXN_SERVED      its turn was taken when another's event came; its event comes as before
 *     TXN_ENDING      its event comes at its end
 *
 * The earliest time. Behind what is in the queue a service begins at least_free_fs or later: where
 * the last of them is free if no more come before them. One that goes into the middle of the queue
 * may begin at its arrival. Both are bounds from below, as a queue only gets longer in front: an
 * event never comes too late.
 *
 * A fifo link into the memory is one station with it, as in network/last_link.h: one queue for each
 * direction, in order of coming to the link. A turn is taken of those that are at the memory before
 * now, since all that come to its links from now on are at the memory later. If it is not there
 * yet, for a wait at its link, its event is posted again, for the earliest time that is left.
 *
 * Example. 4 KiB hold an idle memory for 16 ns and take 32. At 0 ns A sets out and will arrive at
 * 10, with an event at 42. At 3 ns B sets out and will arrive at 5: into the queue before A, with
 * an event at 37. At 37 B's turn is taken, from 5 to 21, and B is done. At 42 A's turn is taken,
 * from 21: the event is posted again, for 53.
 *
 * On a machine with interleaved addresses arrivals keep their events: parts of one transaction
 * share its id and set out at one instant, and the order of such ties is not worked out here.
 *
 * With an event for each arrival, uniform traffic on cube8 took 1.7 times as long as with hold:
 * route; so it takes 1.15 times as long.
 */
#ifndef NETWORK_EXPECTED_EARLY_H
#define NETWORK_EXPECTED_EARLY_H
#include "network/expected_component.h"
#include "network/last_link.h"

/* Its completion, if nothing else comes before it. `last`: behind all of its queue. */
static ALWAYS_INLINE void post_earliest(struct kb_sim *s, uint64_t arrive, bool last,
                                        uint64_t *least_free_fs, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    uint64_t start = last && *least_free_fs > arrive ? *least_free_fs : arrive;
    uint64_t free_fs = after(start, taken_fs(s, txn));

    if (free_fs > *least_free_fs)
        *least_free_fs = free_fs;
    post(s, after(start, txn->hold_fs), EV_DONE, slot);
}

/* It sets out, and will be at the memory at `arrive`. */
static ALWAYS_INLINE void expect_early(struct kb_sim *s, uint64_t arrive, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct memory_station *memory = &s->memories[txn->dst];
    bool last = memory->head == TXN_NONE || arrives_before(s, &s->txns[memory->tail], txn);

    expect_in_queue(s, memory, slot);
    post_earliest(s, arrive, last, &memory->least_free_fs[0], slot);
}

/* It will come to the last link of its way at `t`. */
static ALWAYS_INLINE void expect_early_behind_link(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *l = last_link(s, txn);
    bool last;

    txn->arrive_fs = (int64_t)t;
    txn->stage = TXN_TO_MEMORY;
    last = l->head == TXN_NONE || arrives_before(s, &s->txns[l->tail], txn);
    expect_at_link(s, l, slot);
    post_earliest(s, after(t, memory_row_of(s, txn)->wire_fs), last,
                  &s->memories[txn->dst].least_free_fs[txn_writes(txn)], slot);
}

/* Its turn, next after all before it. Returns its end. */
static ALWAYS_INLINE uint64_t begin_early(struct kb_sim *s, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    int64_t hold_fs = txn->hold_fs;
    uint64_t start = take_turn(s, &s->early[txn->dst], taken_fs(s, txn), (uint64_t)txn->arrive_fs);

    txn->stage = TXN_SERVED;
    txn->service_fs = (int64_t)start;
    return after(start, hold_fs);
}

/* Takes the turns of the queue, up to that of `slot`. Returns its end. */
static ALWAYS_INLINE uint64_t begin_up_to(struct kb_sim *s, uint32_t slot)
{
    struct memory_station *memory = &s->memories[s->txns[slot].dst];
    uint64_t end;
    uint32_t first;

    do {
        first = memory->head;
        memory->head = s->txns[first].next;
        end = begin_early(s, first);
    } while (first != slot);
    return end;
}

/* When the head of `l` is at the memory. */
static ALWAYS_INLINE uint64_t head_arrives(const struct kb_sim *s, const struct link_station *l)
{
    const struct txn *txn = &s->txns[l->head];
    int64_t enter_fs = txn->arrive_fs > l->free_fs ? txn->arrive_fs : l->free_fs;

    return (uint64_t)(enter_fs + memory_row_of(s, txn)->wire_fs);
}

/*
 * Takes the turns of what is at the memory before `t`, up to that of `slot`. Returns its end; if it
 * is not there, the earliest end that is left: it may be there at `t` itself, but `t` is not its
 * end, also where bytes take no time at all.
 */
static ALWAYS_INLINE uint64_t begin_of_links(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct link_station *own = last_link(s, txn), *other = other_link(s, own);
    uint64_t free_fs, end_fs;

    for (;;) {
        bool others =
            other->head != TXN_NONE && (own->head == TXN_NONE || heads_in_order(s, other, own));
        struct link_station *l = others ? other : own;
        uint32_t first = l->head;
        uint64_t end;

        if (first == TXN_NONE || head_arrives(s, l) >= t)
            break;
        l->head = s->txns[first].next;
        pass_last_link(s, l, &s->txns[first]);
        end = begin_early(s, first);
        if (first == slot)
            return end;
    }
    free_fs = (uint64_t)s->early[txn->dst].free_fs;
    end_fs = after(free_fs > t ? free_fs : t, txn->hold_fs);
    return end_fs > t ? end_fs : t + 1;
}

/* The end of `slot`, for which an event has come at `t`: not before that. */
static ALWAYS_INLINE uint64_t early_end(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];

    switch (txn->stage) {
    case TXN_ENDING:
        return t;
    case TXN_SERVED:
        return after((uint64_t)txn->service_fs, hold_fs(s, txn));
    default:
        return joins_link_of(s, how, txn) ? begin_of_links(s, t, slot) : begin_up_to(s, slot);
    }
}

/* Is `t` its end? Else its event is posted again. */
static ALWAYS_INLINE bool ends_early_at(struct kb_sim *s, int how, uint64_t t, uint32_t slot)
{
    uint64_t end;

    if (asked_ahead(s, how, slot))
        return ends_by_component(s, t, slot);
    if (early_arrives(s))
        return true; /* it had an event for its arrival */
    end = early_end(s, how, t, slot);
    if (end == t)
        return true;
    if (s->txns[slot].stage == TXN_SERVED)
        s->txns[slot].stage = TXN_ENDING;
    post(s, end, EV_DONE, slot);
    return false;
}

#endif
