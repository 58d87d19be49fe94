/* host_parts.h -- parts of the host's tensors: what placing, filling and reading them share. */
#ifndef DATA_HOST_PARTS_H
#define DATA_HOST_PARTS_H
#include "data/host.h"

#define NO_ADDRESS UINT64_MAX

struct kb_tensor {
    struct kb_tensor *next;
    struct host *host; /* borrowed: it owns the tensor */
    char *name;        /* owned */
    kb_dtype dtype;
    kb_shape shape;
    uint64_t nbytes;
    kb_placement placement;
    uint64_t *offsets; /* owned; [PE over all]: of its part in its space; NO_ADDRESS: no part */
    struct version **shown; /* owned, the versions too: those that kb_tensor_part() gave out */
    size_t n_shown;
};

struct host {
    const struct kb_topology *topo; /* borrowed */
    struct mem *mem;                /* owned */
    uint64_t *used;                 /* owned; [slice_index() of a space]: bytes taken */
    struct kb_tensor *tensors;      /* owned */
    bool waits;                     /* for kernels that run */
    bool fills_now;                 /* Phase 2 reads what tensors are filled with */
    struct fill *fills;             /* those that are not made */
};

uint32_t host_pes_of(const struct host *h);

/* A box inside a tensor. */
struct part {
    kb_shape shape;
    int64_t first[KB_RANK_MAX];
};

struct part host_part_of(const struct kb_tensor *tensor, uint32_t pe);

/* The first PE that has the same part as `pe`: replicated parts share one version. */
uint32_t host_first_with_part(const struct kb_tensor *tensor, uint32_t pe);

/* Whether another PE, before this one, has all of its part. */
bool host_is_copy(const struct kb_tensor *tensor, uint32_t pe);

uint64_t host_part_bytes(const struct kb_tensor *tensor, const struct part *p);

/*
 * Copies a part that is not empty out of the whole tensor or into it, row by row: a row, along the
 * last axis, is contiguous in both. `at` counts the other axes like an odometer, and `whole` moves
 * with it by the strides of the whole tensor.
 */
void host_copy_part(const struct kb_tensor *tensor, const struct part *p, unsigned char *whole,
                    unsigned char *part, bool out);

kb_status host_no_memory(const char *name, kb_error *why);

/* While kernels run the host waits: it neither makes nor writes tensors. */
kb_status host_check_idle(const struct host *h, kb_error *why);

/* The global address of the part of `pe`, which has one. */
uint64_t host_address_in(const struct kb_tensor *tensor, uint32_t pe);

uint32_t host_area_of(const struct kb_tensor *tensor, uint32_t pe);

/* The elements of a tensor as a function of their number, and of its name. */
struct rule {
    bool random;
    uint64_t seed;
    double scale;       /* random */
    double start, step; /* else */
};

/*
 * A fill: the bytes of all parts, to be made by a rule. A stream of random numbers cannot begin in
 * the middle, so all are made at once. A version that is dropped before that leaves the fill, and
 * the last one frees it.
 */
struct fill {
    struct version_fill base;       /* first */
    struct fill *next, **link;      /* of all fills of the host that are not made */
    const struct kb_tensor *tensor; /* borrowed */
    struct rule rule;
    uint32_t users;             /* versions, and the write that makes them */
    struct version *versions[]; /* [PE], borrowed: as of prepare_write() */
};

kb_status host_fill_by(kb_tensor *tensor, const struct rule *rule, kb_error *why);

#endif
