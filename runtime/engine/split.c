/* split.c -- the parts of transactions to interleaved addresses: counted, made, ended. */
#include "engine/split.h"
#include "machine/endpoint.h"
#include "network/banks_state.h"

uint64_t split_count(const struct kb_topology *t, uint64_t address, uint64_t nbytes)
{
    struct address_range range;
    uint64_t n = 0;

    if (!address_range(t, address, nbytes, &range))
        return 0;
    for (; range.nbytes && n <= SPLIT_PARTS_MAX; n++)
        address_part(t, &range);
    return n;
}

void split_make(struct kb_sim *s, uint32_t whole, struct address_range range, uint32_t first,
                const uint32_t *slots)
{
    const struct txn *of = &s->txns[whole];
    uint32_t *link = &s->splits[whole].next, number = 0;

    for (; range.nbytes; number++) {
        struct address_part part = address_part(s->topo, &range);
        uint32_t slot = slots ? slots[number] : first + number;

        s->txns[slot] = *of;
        s->txns[slot].dst = part.dst;
        s->txns[slot].nbytes = part.nbytes & TXN_MAX_BYTES;
        if (s->topo->plane_choice == PLANE_BY_HASH)
            s->txns[slot].plane =
                endpoint_plane(s->topo, (kb_transaction_op)of->op, of->id + number) & 7u;
        s->txns[slot].stage = TXN_WAITING;
        banks_place(s, slot, part.offset);
        instance_place(&s->instances, slot, part.offset);
        s->splits[slot] = (struct split){.whole = whole, .next = TXN_NONE, .number = number};
        *link = slot;
        link = &s->splits[slot].next;
    }
    s->splits[whole].left = number;
}

/* Parts of all rows that will have some. */
static uint64_t count_all(const struct kb_sim *s)
{
    uint64_t n = 0;

    for (uint32_t row = 0; row < s->n_txns; row++)
        if (s->txns[row].stage == TXN_SPLIT)
            n += split_count(s->topo, s->txns[row].address, s->txns[row].nbytes);
    return n;
}

/* Makes the parts of `row` behind all there are. */
static void split_row(struct kb_sim *s, uint32_t row)
{
    struct txn *txn = &s->txns[row];
    struct address_range range;

    txn->stage = TXN_WAITING;
    if (address_range(s->topo, txn->address, txn->nbytes, &range))
        split_make(s, row, range, s->n_txns + s->n_parts, NULL);
    s->n_parts += s->splits[row].left;
}

kb_status split_all(struct kb_sim *s, kb_error *why)
{
    uint64_t n = s->splits ? count_all(s) : 0;

    s->n_parts = 0;
    if (n == 0)
        return KB_OK;
    if (n > EV_MAX_SLOTS - 1 - s->n_txns)
        return endpoint_error(why, "all transactions together have %llu parts, too many",
                              (unsigned long long)n);
    if (!sim_room(s, s->n_txns + (uint32_t)n))
        return KB_NO_MEMORY;
    for (uint32_t row = 0; row < s->n_txns; row++)
        if (s->txns[row].stage == TXN_SPLIT)
            split_row(s, row);
    return KB_OK;
}

const struct txn *split_last(const struct kb_sim *s, uint32_t slot)
{
    const struct txn *last;

    if (!is_split(s, slot))
        return &s->txns[slot];
    last = &s->txns[s->splits[slot].next];
    for (uint32_t part = s->splits[slot].next; part != TXN_NONE; part = s->splits[part].next)
        if (s->txns[part].issue_fs > last->issue_fs)
            last = &s->txns[part];
    return last;
}

uint64_t split_ended(struct kb_sim *s, uint32_t slot, uint64_t end)
{
    uint32_t whole = s->splits[slot].whole;

    s->txns[slot].issue_fs = (int64_t)end;
    s->txns[slot].stage = TXN_DONE;
    return s->splits[whole].left == 0 ? (uint64_t)split_last(s, whole)->issue_fs : SPLIT_GOES_ON;
}
