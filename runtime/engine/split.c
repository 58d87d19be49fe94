/* split.c -- the parts of transactions: counted, made, ended. */
#include "engine/split.h"
#include "engine/how.h"
#include "machine/endpoint.h"
#include "network/banks_state.h"

bool split_range(const struct kb_topology *t, const struct txn *of, bool by_address, uint64_t at,
                 struct address_range *range)
{
    uint64_t packet = txn_of_host(of) ? 0 : kind_at(t, src_cube(t, of->src))->packet_bytes;

    if (!by_address)
        *range = address_in_memory(of->dst, at, of->nbytes);
    else if (!address_range(t, at, of->nbytes, range))
        return false;
    if (packet)
        range->packet = range->left = packet;
    return true;
}

uint64_t split_count(const struct kb_topology *t, struct address_range range)
{
    uint64_t n = 0;

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
        s->splits[slot] = (struct split){
            .whole = whole, .next = TXN_NONE, .number = (uint16_t)number, .begins = part.begins};
        *link = slot;
        link = &s->splits[slot].next;
    }
    s->splits[whole].left = number;
}

void split_take_places(struct kb_sim *s, uint64_t t, uint32_t whole)
{
    const struct txn *of = &s->txns[whole];
    int64_t drain_fs = 0; /* of the packet, the longest of its parts */

    for (uint32_t part = s->splits[whole].next; part != TXN_NONE; part = s->splits[part].next) {
        struct txn *x = &s->txns[part];

        if (s->splits[part].begins && s->splits[part].number) {
            t = take_pace(s, of, after(t, drain_fs));
            drain_fs = 0;
        }
        x->issue_fs = of->issue_fs;
        x->wait_fs = (int64_t)t - of->issue_fs;
        if (T->links == MODE_IDEAL) {
            const struct trip trip = txn_trip(T, x);
            int64_t fs = cost_by_tables(T, &s->mask, x->op, &trip, x->nbytes).drain_fs;

            drain_fs = fs > drain_fs ? fs : drain_fs;
        }
    }
}

/* The bytes of a row that will have parts. */
static struct address_range range_of(const struct kb_sim *s, uint32_t row)
{
    struct address_range range = {0};

    split_range(s->topo, &s->txns[row], s->splits[row].by_address, s->txns[row].address, &range);
    return range;
}

/* Parts of the rows from `first` to `end` that will have some. */
static uint64_t count_all(const struct kb_sim *s, uint32_t first, uint32_t end)
{
    uint64_t n = 0;

    for (uint32_t row = first; row < end; row++)
        if (s->txns[row].stage == TXN_SPLIT)
            n += split_count(s->topo, range_of(s, row));
    return n;
}

/* Makes the parts of `row` from slot `at` on. Returns how many. */
static uint32_t split_row(struct kb_sim *s, uint32_t row, uint32_t at)
{
    s->txns[row].stage = TXN_WAITING;
    split_make(s, row, range_of(s, row), at, NULL);
    return s->splits[row].left;
}

kb_status split_all(struct kb_sim *s, uint32_t first, uint32_t end, kb_error *why)
{
    uint64_t n = s->splits ? count_all(s, first, end) : 0;
    uint32_t at = end;

    if (n == 0)
        return KB_OK;
    if (n > EV_MAX_SLOTS - 1 - end)
        return endpoint_error(why, "all transactions together have %llu parts, too many",
                              (unsigned long long)(s->n_parts + n));
    if (!sim_room(s, end + (uint32_t)n))
        return KB_NO_MEMORY;
    for (uint32_t row = first; row < end; row++)
        if (s->txns[row].stage == TXN_SPLIT)
            at += split_row(s, row, at);
    s->n_parts += (uint32_t)n;
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
