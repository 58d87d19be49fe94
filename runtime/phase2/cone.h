/* cone.h -- which operations a version depends on. */
#ifndef CONE_H
#define CONE_H
#include "record/oplog.h"

/* An operation that is to be computed. */
struct operation {
    uint32_t id, number;   /* number: as op_log_compute() has it */
    const struct op *live; /* not NULL: it is under way, and not in the log; borrowed */
};

/* Ascending by id. */
struct operations {
    struct operation *of; /* owned */
    uint32_t n, cap;
};

/* What has begun and is not in the log: its operation by its id; NULL: there is none. */
struct under_way {
    const struct op *(*find)(void *arg, uint32_t id);
    void *arg;
};

/*
 * Those that must be computed for the bytes of `n` versions.
 *
 * returns  KB_INTERNAL: an operand that no operation makes; KB_NO_MEMORY
 */
kb_status cone_of(struct op_log *log, const struct under_way *under_way, struct version *const *v,
                  uint64_t n, struct operations *out, kb_error *why);

/*
 * Drops the operations of the log whose results nothing can ask for any more: neither tensors,
 * memories and messages nor other operations that are needed. `out` has all others, to be computed
 * or freed. Returns as cone_of().
 */
kb_status kept_needed(struct op_log *log, const struct under_way *under_way, struct operations *out,
                      kb_error *why);

/* As op_log_compute() and op_log_computed(). */
kb_status operation_get(struct op_log *log, const struct operation *o, struct op *op,
                        kb_error *why);
void operation_computed(struct op_log *log, const struct operation *o, struct op *op);

#endif
