/* host_spans.h -- which tensor has a byte: the parts of all tensors, in order of address. */
#ifndef HOST_SPANS_H
#define HOST_SPANS_H
#include "data/host.h"

/* The bytes [first, end) of a part. */
struct host_span {
    uint64_t first, end;
    const kb_tensor *tensor;
};

struct host_spans {
    struct host_span *span; /* owned; by address */
    size_t n;
    const kb_tensor *newest; /* of those that are in it */
};

/* Brings them up to date with what the host has. False: no memory. */
bool host_spans_update(struct host_spans *s, const struct host *h);

/* The number of the first one that ends behind `address`; s->n: none. */
size_t host_spans_behind(const struct host_spans *s, uint64_t address);

void host_spans_free(struct host_spans *s);

#endif
