/* last_link.h -- the link into a memory and the memory behind it, as one station.
 *
 * It holds        the same as the two: the link its bytes (network/link.h), the memory its service
 * Goes first      of one link first come, first served; of a memory's two links, one for reads and
 *                 one for writes, the first to arrive at the memory
 * Wait counted    queue_link and queue_memory, each as if the link stood alone
 *
 * Where no event is counted, a memory needs no event for an arrival (network/memory.h). With a link
 * before it that queues, it needs none either, because nothing waits for that link alone: what
 * waits there would wait at the memory until later.
 *
 * Why. Let j be served before k, and both have come over the same link. j enters it at e, takes it
 * until e + taken, and is at the memory at e + wire. Its service is at least as long as `taken`:
 * the memory is as fast as the link into it, and j may have come over narrower ones. So j is done
 * at e + wire + taken or later. If k, which waits for the link, enters it at e + taken, then it is
 * at the memory at e + taken + wire, while j is still served or just done. So the service of k
 * begins
 *
 *     at the later of: the service before is done; it came to the link + wire
 *
 * and the wait at the link only says how much of the wait is queue_link. That is computed when the
 * order at the link is known, which is later than the time at which it would have happened.
 *
 * So each link into a memory has a queue in order of (when they come to it, id), of transactions
 * that may still be on their way. The memory has a holder, which may have reserved it. Let t be the
 * time at which a service ends.
 *
 *   note_passed()   passes those over the link that are at the memory before t: they came before t,
 *                   and what is not in the queue yet cannot come earlier. This is for queue_max.
 *   heads_in_order()      when the head of a queue is at the memory. The heads of both queues are
 * compared; in a run of one way there is one. take()          makes it the holder, past its link.
 * If that was too early, because another one comes before it after all, put_back() undoes it.
 *
 * Invariants
 *   - If the memory has no holder, both queues are empty.
 *   - What has been served is past its link. So if a service ends at t, a head that is not
 *     past its link finds it free at t - wire or earlier; and if the memory is idle, it is free
 * now.
 *   - Up to link->passed, txn.arrive_fs is the time at the memory; behind it, the time at the link.
 *   - Only a holder that came to its link at the present instant or later is ever put back. So it
 * did not wait for the link, unless the one that displaces it comes over the other link.
 *
 * Example: cube8, two reads of 4096 bytes of c0.slice0: a by pe1 (128 GB/s between the crossbars,
 * so it holds the slice for 32 ns) comes to the link at 4.070 ns, b by pe0 at 4.080. The link takes
 * 16 ns for each, and the wire 0.025. a is the holder from 4.095 until 36.095. b waits for the link
 * until 20.070 (queue_link 15.990), is at the slice at 20.095, and waits there until 36.095
 * (queue_memory 16). At 36.095 that is computed in this order: b is passed over the link, as 20.095
 * < 36.095; then b is the holder from max(4.105, 36.095) on.
 */
#ifndef NETWORK_LAST_LINK_H
#define NETWORK_LAST_LINK_H
#include "network/memory.h"

/* Which runs have links and memories as one station. */
static ALWAYS_INLINE bool joins_last_link(const struct kb_sim *s, int how)
{
    return T->links == MODE_FIFO && expects(how) && s->joins_last_link;
}

/* Of several planes each has a link into the SRAM, and into a TCM. */
static ALWAYS_INLINE bool joins_link_of(const struct kb_sim *s, int how, const struct txn *txn)
{
    return joins_last_link(s, how) && !is_queued(s, txn) &&
           (T->planes == 1 || unit_is_slice(T, dst_unit(T, txn->dst)));
}

/* The link into the memory of `txn`, of the direction of its data. */
static ALWAYS_INLINE struct link_station *last_link(struct kb_sim *s, const struct txn *txn)
{
    size_t first = (size_t)dst_cube(T, txn->dst) * T->n_cube_links * 2;

    return &s->links[(first + T->last_links[cube_kind(T, dst_cube(T, txn->dst)) * T->n_units +
                                            dst_unit(T, txn->dst)]) ^
                     !txn_writes(txn)];
}

/* The other link into the same memory. */
static ALWAYS_INLINE struct link_station *other_link(struct kb_sim *s, struct link_station *l)
{
    return &s->links[(size_t)(l - s->links) ^ 1];
}

static ALWAYS_INLINE const struct memory_row *memory_row_of(const struct kb_sim *s,
                                                            const struct txn *txn)
{
    (void)s; /* T names it only where any topology runs */
    return cost_memory(T, txn->dst, txn_writes(txn));
}

/* It passes the link, to which it came at txn->arrive_fs, and is at the memory then. */
static ALWAYS_INLINE void pass_last_link(struct kb_sim *s, struct link_station *l, struct txn *txn)
{
    const struct memory_row *row = memory_row_of(s, txn);
    int64_t taken = drain_fs(txn->nbytes, row->gbs);

    txn->arrive_fs = (int64_t)after(take_turn(s, l, taken, (uint64_t)txn->arrive_fs), row->wire_fs);
}

/* Is `x`, which comes to its link at x->arrive_fs, before the holder at the memory? */
static ALWAYS_INLINE bool displaces(const struct kb_sim *s, const struct memory_station *memory,
                                    const struct txn *x)
{
    const struct txn *holder = &s->txns[memory->holder];
    int64_t holder_fs = memory->came_fs, x_fs = x->arrive_fs;

    if (txn_writes(holder) != txn_writes(x)) {
        holder_fs = holder->arrive_fs;
        x_fs += memory_row_of(s, x)->wire_fs;
    }
    return holder_fs > x_fs ||
           (holder_fs == x_fs && comes_before(s, x, holder) && x->issue_fs != x_fs);
}

/* The first of the queue of `l` holds the memory: from `t` on, or from when it is there. */
static ALWAYS_INLINE void take_first(struct kb_sim *s, struct memory_station *memory,
                                     struct link_station *l, uint64_t t)
{
    uint32_t slot = l->head;
    struct txn *txn = &s->txns[slot];

    l->head = txn->next;
    if (l->head != TXN_NONE)
        txn_prefetch(&s->txns[l->head]);
    if (l->passed != TXN_NONE) {
        memory->queued--;
        memory->came_fs = 0; /* long ago */
        if (l->passed == slot)
            l->passed = TXN_NONE;
    } else {
        memory->came_fs = txn->arrive_fs;
        pass_last_link(s, l, txn);
    }
    serve(s, 0, memory, (uint64_t)txn->arrive_fs > t ? (uint64_t)txn->arrive_fs : t, slot);
}

/* The holder has not come to its link yet, or just now, and goes back to the head of its queue. */
static void put_back(struct kb_sim *s, struct memory_station *memory)
{
    uint32_t slot = memory->holder;
    struct txn *txn = &s->txns[slot];
    const struct memory_row *row = memory_row_of(s, txn);
    struct link_station *l = last_link(s, txn);
    int64_t enter_fs = txn->arrive_fs - row->wire_fs;

    l->busy_fs -= (uint64_t)drain_fs(txn->nbytes, row->gbs);
    l->free_fs = 0; /* by the time it comes */
    if (enter_fs > memory->came_fs) {
        l->free_fs = enter_fs;
        l->wait_fs -= enter_fs - memory->came_fs;
        l->next -= STATS;
    }
    txn->arrive_fs = memory->came_fs;
    txn->next = l->head;
    if (l->head == TXN_NONE)
        l->tail = slot;
    l->head = slot;
}

/* Into its place in the queue of its link: mostly the last. */
static ALWAYS_INLINE void expect_at_link(struct kb_sim *s, struct link_station *l, uint32_t slot)
{
    struct txn *txns = s->txns, *txn = &txns[slot];
    uint32_t *link = l->passed == TXN_NONE ? &l->head : &txns[l->passed].next;

    if (l->head != TXN_NONE && arrives_before(s, &txns[l->tail], txn))
        link = &txns[l->tail].next;
    while (*link != TXN_NONE && arrives_before(s, &txns[*link], txn))
        link = &txns[*link].next;
    txn->next = *link;
    if (txn->next == TXN_NONE)
        l->tail = slot;
    *link = slot;
}

/* It will come to the last link of its way at `t`. */
static ALWAYS_INLINE void expect_behind_link(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct txn *txn = &s->txns[slot];
    struct memory_station *memory = &s->memories[txn->dst];
    struct link_station *l = last_link(s, txn);

    txn->arrive_fs = (int64_t)t;
    txn->stage = TXN_TO_MEMORY;
    expect_at_link(s, l, slot);
    if (memory->holder != TXN_NONE) {
        if (l->head != slot || !displaces(s, memory, txn))
            return;
        if (txn_writes(&s->txns[memory->holder]) == txn_writes(txn)) {
            l->head = txn->next;
            put_back(s, memory);
            txn->next = l->head;
            l->head = slot;
        } else {
            put_back(s, memory);
        }
    }
    take_first(s, memory, l, 0);
}

/* What is at the memory before `t` passes the link. */
static ALWAYS_INLINE void note_passed(struct kb_sim *s, struct memory_station *memory,
                                      struct link_station *l, const struct memory_row *row,
                                      uint64_t t)
{
    uint32_t slot = l->passed == TXN_NONE ? l->head : s->txns[l->passed].next;

    for (; slot != TXN_NONE; slot = s->txns[slot].next) {
        struct txn *txn = &s->txns[slot];
        int64_t enter_fs = txn->arrive_fs > l->free_fs ? txn->arrive_fs : l->free_fs;

        if ((uint64_t)(enter_fs + row->wire_fs) >= t)
            break;
        pass_last_link(s, l, txn);
        l->passed = slot;
        memory->queued++;
    }
}

/* Is the head of `a` before that of `b` at the memory? Neither is empty. */
static bool heads_in_order(const struct kb_sim *s, const struct link_station *a,
                           const struct link_station *b)
{
    const struct link_station *links[2] = {a, b};
    struct txn heads[2];

    for (int i = 0; i < 2; i++) {
        const struct link_station *l = links[i];
        struct txn *txn = &heads[i];

        *txn = s->txns[l->head];
        if (l->passed == TXN_NONE)
            txn->arrive_fs = (txn->arrive_fs > l->free_fs ? txn->arrive_fs : l->free_fs) +
                             memory_row_of(s, txn)->wire_fs;
    }
    if (heads[0].arrive_fs != heads[1].arrive_fs)
        return heads[0].arrive_fs < heads[1].arrive_fs;
    for (int i = 0; i < 2; i++) /* issued at this very instant: behind all others of the instant */
        if ((heads[i].issue_fs == heads[i].arrive_fs) > (heads[!i].issue_fs == heads[!i].arrive_fs))
            return i;
    return heads[0].id < heads[1].id;
}

/* The memory that `slot` has left is free at `t`: the first of its links' queues holds it. */
static ALWAYS_INLINE void serve_next_of_links(struct kb_sim *s, struct memory_station *memory,
                                              uint64_t t, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];
    const struct memory_row *row = memory_row_of(s, txn);
    struct link_station *l = last_link(s, txn), *other = other_link(s, l);
    bool both_ways = s->fed == FED_ALWAYS;

    note_passed(s, memory, l, row, t);
    if (both_ways)
        note_passed(s, memory, other, row, t);
    if (STATS && memory->queued > memory->queue_max)
        memory->queue_max = memory->queued;
    if (both_ways && other->head != TXN_NONE &&
        (l->head == TXN_NONE || heads_in_order(s, other, l)))
        l = other;
    if (l->head != TXN_NONE)
        take_first(s, memory, l, t);
}

#endif
