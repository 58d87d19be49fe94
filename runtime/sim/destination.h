/* destination.h -- the target of a request: an endpoint and an offset, or a global address. */
#ifndef DESTINATION_H
#define DESTINATION_H
#include "engine/split.h"

struct destination {
    bool by_address;
    uint64_t address;
    kb_endpoint dst; /* by address: set by destination_find(), to where its first byte lies */
    uint64_t offset; /* by address: the same, of its first byte in dst */
    uint64_t nbytes;
    struct tile tile; /* its runs; else it is one */
    const struct targets
        *targets;     /* of a multicast, which is to byte `offset` of each; else NULL */
    bool interleaved; /* the address; set by destination_find() */
    bool splits;      /* it goes in parts; set by destination_parts() */
};

/* Finds what has an address, and checks its range; does nothing with an endpoint. KB_BAD_REQUEST
 * with the reason in `why`. */
kb_status destination_find(const struct kb_topology *t, struct destination *to, kb_error *why);

/* The tile of `rows` rows, `stride` apart, of which a request of `nbytes` may be one: 0 rows are
 * one. KB_BAD_REQUEST: they are none, or the PE joins tiles. */
kb_status destination_tile(const struct kb_topology *t, const kb_endpoint *src, uint32_t rows,
                           uint64_t stride, struct destination *to, kb_error *why);

/* The targets of a multicast, which will be transaction `id`: memories of one kind, none twice, to
 * each of which the PE has a way. They are the simulation's. KB_BAD_REQUEST with the reason in
 * `why`; KB_NO_MEMORY. */
kb_status destination_targets(struct kb_sim *s, const kb_transaction *request, uint64_t id,
                              const struct targets **out, kb_error *why);

/* Bytes from the first one to the last, with what lies between its runs. */
static inline uint64_t destination_reach(const struct destination *to)
{
    return to->tile.n < 2 ? to->nbytes
                          : (to->tile.n - 1) * (uint64_t)to->tile.stride[0] + to->tile.run;
}

/* Where its bytes lie. */
static inline struct bytes_at destination_bytes(const struct destination *to)
{
    return (struct bytes_at){.by_address = to->interleaved,
                             .at = to->interleaved ? to->address : to->offset,
                             .tile = to->tile,
                             .targets = to->targets};
}

/* Finds whether the transaction `of`, to a destination that is right, goes in parts, in a
 * simulation in which some do: these are cut. KB_BAD_REQUEST: in too many, as `why` says;
 * KB_NO_MEMORY. */
kb_status destination_parts(struct kb_sim *s, const struct txn *of, struct destination *to,
                            kb_error *why);

#endif
