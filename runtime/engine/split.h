/*
 * split.h -- a transaction to interleaved addresses is split: one part for each slice it comes to.
 *
 * The whole takes the channel, once. Then all parts set out, in order of addresses, each a row of
 * its own with its memory and its bytes, and so with its own way, engine, links, drain and
 * response. The channel is free when the last part has been served, and the whole ends with the
 * part that ends last. Its times are those of that part (the first of several), plus the wait for
 * the channel.
 *
 * `splits` is a table beside the rows, by slot, of machines with a granule alone; others have no
 * test for it, as the granule is a constant of their topology.
 *
 * Invariants
 *   - Parts have the id of the whole, and slots that ascend with their numbers: events of one time,
 *     class and id run in order of slots (engine/ev.h), so the order is (time, class, id, part).
 *   - In a replay or a sweep parts lie behind all transactions, and keep their slots: results are
 *     computed from them. Kernels and traffic use slots again.
 *
 * Example: a read of 16 KiB at 0x0 by c0.pe0 of cube8, granule 4096. Its four parts set out at 0 to
 * slices 0 to 3, and end at 18.085, 36.095, 38.105 and 40.115 ns. At 40.115 the channel is free,
 * and the row has the terms of the way to slice 3.
 */
#ifndef SPLIT_H
#define SPLIT_H
#include "engine/engine.h"
#include "machine/address.h"

/* Records of a part in the fingerprint have the id + number << 48: numbers have 16 bits. */
enum { SPLIT_NUMBER_BIT = 48, SPLIT_PARTS_MAX = 1 << 16 };

struct split {
    uint32_t whole;  /* slot of the transaction that it is a part of; its own: it is none */
    uint32_t next;   /* of a whole the first part, of a part the one behind it; TXN_NONE: none */
    uint32_t number; /* of a part, from 0 */
    uint32_t left;   /* of a whole: parts that have not been served */
};

/* The row in `slot` is no part, and has none. */
static inline void split_none(struct kb_sim *s, uint32_t slot)
{
    s->splits[slot] = (struct split){.whole = slot, .next = TXN_NONE};
}

/* Parts of a range of interleaved addresses; 0: it leaves its cube, or its SIP. */
uint64_t split_count(const struct kb_topology *t, uint64_t address, uint64_t nbytes);

/*
 * Makes the parts of the whole in `whole`, which lies in `range`, in the rows `slots`, which ascend
 * and are as many as its parts; or if that is NULL in those from `first` on.
 */
void split_make(struct kb_sim *s, uint32_t whole, struct address_range range, uint32_t first,
                const uint32_t *slots);

/* The row `txn` will be split, when the run begins: it lies at `address`. */
static inline void split_later(struct txn *txn, uint64_t address)
{
    txn->stage = TXN_SPLIT;
    txn->address = address;
}

/* Makes the parts of all rows, before the run. KB_BAD_REQUEST: too many; KB_NO_MEMORY. */
kb_status split_all(struct kb_sim *s, kb_error *why);

/* Of a whole that has ended, the part that ended last; of another row, that itself. */
const struct txn *split_last(const struct kb_sim *s, uint32_t slot);

/* A part ends at `end`. When the whole ends; SPLIT_GOES_ON: not all of it has been served. */
#define SPLIT_GOES_ON UINT64_MAX
uint64_t split_ended(struct kb_sim *s, uint32_t slot, uint64_t end);

static inline bool is_split(const struct kb_sim *s, uint32_t slot)
{
    return s->splits && s->splits[slot].next != TXN_NONE;
}

/* Counts a part that its channel has let out beside the first one. */
static inline void split_count_part(struct kb_sim *s, uint32_t slot)
{
    const struct txn *txn = &s->txns[slot];

    if (s->splits && s->splits[slot].number > 0 && !txn_of_host(txn))
        s->more_parts[2 * (size_t)txn->src + txn_writes(txn)]++;
}

/* -- for the steps -------------------------------------------------------------------------- */

/* The transaction that the row in `slot` is a part of, or itself. */
static inline uint32_t whole_of(const struct kb_sim *s, uint32_t slot)
{
    return T->granule ? s->splits[slot].whole : slot;
}

/* The id under which its records go into the fingerprint. */
static inline uint64_t record_id(const struct kb_sim *s, uint32_t slot)
{
    uint64_t number = T->granule ? s->splits[slot].number : 0;

    return s->txns[slot].id + (number << SPLIT_NUMBER_BIT);
}

/* Is `a` before `b` at equal times? Rows of one id are parts, in order of their slots. */
static inline bool comes_before(const struct kb_sim *s, const struct txn *a, const struct txn *b)
{
    return a->id < b->id || (T->granule && a->id == b->id && a < b);
}

/* It has been served. True: so have all other parts of its transaction `whole`. */
static inline bool is_last_part(struct kb_sim *s, uint32_t slot, uint32_t whole)
{
    return whole == slot || --s->splits[whole].left == 0;
}

#endif
