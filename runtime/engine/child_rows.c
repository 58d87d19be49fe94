/* child_rows.c -- rows of children: made, freed, and in their order. */
#include "engine/child_rows.h"
#include "engine/hop.h"
#include "engine/traffic.h"
#include "machine/endpoint.h"

/* -- slots ------------------------------------------------------------------------------------ */

/* The rows behind all others are children's. False without memory. */
static bool more_slots(struct kb_sim *s)
{
    uint32_t first = s->traffic ? s->txns_cap : s->n_txns + s->n_parts;
    uint32_t least = first + 16 + first / 2;

    if (s->traffic || s->txns_cap < first + 16) {
        if (least >= EV_MAX_SLOTS || !s->more_rows(s, least))
            return false;
    }
    for (uint32_t slot = s->txns_cap; slot-- > first;) {
        s->txns[slot] = (struct txn){.stage = TXN_WAITING, .next = s->free_child};
        s->free_child = slot;
    }
    if (!s->traffic)
        s->n_parts = s->txns_cap - s->n_txns;
    return true;
}

/* For a child that comes to memory `dst`, of the row in `maker`. TXN_NONE: no memory. */
static uint32_t take_slot(struct kb_sim *s, uint32_t maker, uint32_t dst)
{
    uint32_t slot;

    if (s->heard)
        return s->heard->child(s, maker, dst);
    if (s->free_child == TXN_NONE && !more_slots(s))
        return TXN_NONE;
    slot = s->free_child;
    s->free_child = s->txns[slot].next;
    return slot;
}

void child_free(struct kb_sim *s, uint32_t slot)
{
    split_none(s, slot);
    if (s->heard) {
        s->heard->drop(s, slot);
        return;
    }
    s->txns[slot].stage = TXN_WAITING;
    s->txns[slot].next = s->free_child;
    s->free_child = slot;
}

/* -- made ------------------------------------------------------------------------------------- */

double child_gbs(const struct kb_sim *s, const struct txn *x)
{
    const struct trip trip = txn_trip(T, x);
    const struct memory_row *l2 = &kind_at(T, src_cube(T, x->src))->l2;
    double gbs = cost_bottleneck_gbs(&s->mask, cost_of_pe(T, &trip).link_gbs,
                                     cost_memory(T, x->dst, txn_writes(x)));
    double first = cost_last_gbs(&s->mask, l2);

    return gbs < first ? gbs : first;
}

/* Its data drain no faster than its memory moves whole lines, if that is what it is held for. */
static int64_t drain_of(const struct kb_sim *s, const struct txn *x, uint64_t asked, uint64_t own)
{
    const struct memory_row *memory = cost_memory(T, x->dst, txn_writes(x));
    int64_t drain = drain_fs(asked, child_gbs(s, x)), own_fs;

    if (memory->model != MEMORY_SERVER || memory->hold != HOLD_OWN)
        return drain;
    own_fs = drain_fs(own, cost_own_gbs(&s->mask, memory));
    return own_fs > drain ? own_fs : drain;
}

static uint32_t course_of(const struct kb_sim *s, const struct txn *x, uint32_t pe, uint64_t part)
{
    if (T->paths > 1 || T->plane_choice == PLANE_BY_HASH)
        return endpoint_course(T, (kb_transaction_op)x->op, pe, x->dst, x->id, part);
    if (T->plane_choice == PLANE_BY_COLUMN)
        return x->course;
    return endpoint_plane(T, (kb_transaction_op)x->op, x->id);
}

/* Planes and nets may lack some. */
static bool has_way(const struct kb_sim *s, const struct txn *x)
{
    const struct trip trip = txn_trip(T, x);

    return T->regular || !T->plane_rows[trip.plane].in_parts || walk_has_way(T, &trip);
}

uint32_t child_make(struct kb_sim *s, uint32_t maker, uint32_t k, bool writes, uint64_t asked)
{
    struct split_part *part = &s->parts.rows[k];
    uint32_t slot = take_slot(s, maker, part->dst);
    const struct txn *of = &s->txns[maker];
    struct split *split;
    struct txn *x;

    if (slot == TXN_NONE)
        return slot;
    x = &s->txns[slot];
    *x = (struct txn){.nbytes = part->nbytes & TXN_MAX_BYTES,
                      .op = writes ? KB_WRITE : KB_READ,
                      .course = of->course,
                      .prio = of->prio,
                      .src = src_pack(T, src_cube(T, of->src), T->pes),
                      .dst = part->dst,
                      .id = of->id,
                      .next = TXN_NONE};
    split_none(s, slot);
    split = &s->splits[slot];
    split->maker = maker;
    split->part = child_part(part_number(s, maker), k, writes);
    x->course = course_of(s, x, of->src, split->part) & 63u;
    if (!has_way(s, x)) {
        fail(s, KB_BAD_REQUEST);
        child_free(s, slot);
        return TXN_NONE;
    }
    part->pieces = 1; /* from run to run its PE takes a time, and not the L2 */
    split_place_part(s, slot, part);
    split->least_fs = drain_of(s, x, asked, split_own_bytes(s, slot));
    return slot;
}

void child_begins(struct kb_sim *s, uint32_t slot)
{
    struct flows *f = s->heard || s->traffic ? &s->flows : &s->of_children;
    const struct txn *x = &s->txns[slot];

    if (!STATS)
        return;
    if (!T->regular && flow_is_walked(f, T, x))
        flows_walk(f, T, x);
    flows_count(f, T, x);
}

/* -- in their order -----------------------------------------------------------------------------
 */

/* All that the order of events may depend on beside parts. */
static ev order_of(ev e)
{
    return e >> EV_SLOT_BITS;
}

uint32_t rows_take_first(struct kb_sim *s)
{
    uint32_t least = calendar_take(&s->calendar, s->txns), slot, others = TXN_NONE;
    ev first, next;

    if (least == TXN_NONE)
        return least;
    first = calendar_key(s->txns, least);
    while ((next = calendar_first(&s->calendar, s->txns, ev_time_fs(first))) != EV_NONE &&
           order_of(next) == order_of(first)) {
        slot = calendar_take(&s->calendar, s->txns);
        if (part_number(s, slot) < part_number(s, least)) {
            s->txns[least].next = others;
            others = least;
            least = slot;
        } else {
            s->txns[slot].next = others;
            others = slot;
        }
    }
    while ((slot = others) != TXN_NONE) {
        others = s->txns[slot].next;
        post(s, s->txns[slot].at_fs, (enum ev_class)s->txns[slot].class, slot);
    }
    return least;
}
