/* destination.h -- the target of a request: an endpoint and an offset, or a global address. */
#ifndef DESTINATION_H
#define DESTINATION_H
#include "engine/txn.h"

struct destination {
    bool by_address;
    uint64_t address;
    kb_endpoint dst; /* by address: set by destination_find(), to where its first byte lies */
    uint64_t offset; /* by address: the same, of its first byte in dst */
    uint64_t nbytes;
    bool interleaved; /* the address; set by destination_find() */
    bool splits;      /* it goes in parts; set by destination_parts() */
};

/* Finds what has an address, and checks its range; does nothing with an endpoint. KB_BAD_REQUEST
 * with the reason in `why`. */
kb_status destination_find(const struct kb_topology *t, struct destination *to, kb_error *why);

/* Where its bytes begin, as split_range() takes it. */
static inline uint64_t destination_at(const struct destination *to)
{
    return to->interleaved ? to->address : to->offset;
}

/* Finds whether the transaction `of`, to a destination that is right, goes in parts, on a machine
 * of which some do. KB_BAD_REQUEST: in too many, as `why` says. */
kb_status destination_parts(const struct kb_topology *t, const struct txn *of,
                            struct destination *to, kb_error *why);

#endif
