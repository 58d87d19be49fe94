/* children.h -- what a transaction makes on its way: requests of a memory in front of another one.
 *
 * A child has the id of its parent and a part number of its own, of 64 bits: own parts of a
 * transaction have the numbers below 2^20; the k-th read child of part p has p + 2^20 * (1 + 2k),
 * the k-th write child p + 2^20 * (2 + 2k). A child of a child, which is the only one of its
 * direction, has the part of that + 2^42, or of a write + 2^43. Its records go into the
 * fingerprint, its arrival at the memory (class 2) and its end (class 0), in the order of (time,
 * class, id, part), under the id child_record_id(). Those of a memory's cache are events of no row,
 * and there are some only where records are counted: what such a child does is known when its
 * parent arrives. Those of an L2 have rows: child_rows.h.
 */
#ifndef CHILDREN_H
#define CHILDREN_H
#include "base/rng.h"
#include "engine/ev.h"

struct kb_sim;

enum { CHILD_BIT = 20, CHILD_OF_CHILD_BIT = 42, PART_RECORD_BIT = 48 };

struct child_record {
    ev at; /* time, class and id */
    uint64_t part;
};

/* A heap: the first is rows[0]. All zero: there is none. */
struct children {
    struct child_record *rows; /* owned */
    size_t n;
    uint32_t room;
};

/* The k-th child of `part`; one of a child that has some is the only one of its kind. */
static inline uint64_t child_part(uint64_t part, uint64_t k, bool writes)
{
    if (part >> CHILD_BIT)
        return part + ((UINT64_C(1) + writes) << CHILD_OF_CHILD_BIT);
    return part + ((1 + 2 * k + writes) << CHILD_BIT);
}

/* What stands for the id of a part in the fingerprint. */
static inline uint64_t part_record_id(uint32_t id, uint64_t part)
{
    return part >> CHILD_BIT ? id + rng_mix(part) : id + (part << PART_RECORD_BIT);
}

/* The time of the next record; EV_NONE: there is none. */
static inline ev children_first(const struct children *c)
{
    return c->n ? c->rows[0].at : EV_NONE;
}

/* One more record. False without memory. */
bool children_post(struct children *c, uint64_t t, enum ev_class class, uint32_t id, uint64_t part);

/* Takes the next one. */
struct child_record children_take(struct children *c);

/* What stands for its id in the fingerprint. */
static inline uint64_t child_record_id(const struct child_record *record)
{
    return part_record_id(ev_id(record->at), record->part);
}

#endif
