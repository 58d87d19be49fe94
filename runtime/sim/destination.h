/* destination.h -- the target of a request: an endpoint and an offset, or a global address. */
#ifndef DESTINATION_H
#define DESTINATION_H
#include "machine/tables.h"

struct destination {
    bool by_address;
    uint64_t address;
    kb_endpoint dst; /* by address: set by destination_find(), to where its first byte lies */
    uint64_t offset; /* by address: the same, of its first byte in dst */
    uint64_t nbytes;
    bool splits; /* it lies in several slices; set by destination_find() */
};

/* Finds what has an address, and checks its range; does nothing with an endpoint. KB_BAD_REQUEST
 * with the reason in `why`. */
kb_status destination_find(const struct kb_topology *t, struct destination *to, kb_error *why);

#endif
