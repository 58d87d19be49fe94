/* cone.h -- which operations a version depends on. */
#ifndef CONE_H
#define CONE_H
#include "record/oplog.h"

/* Operations, as op_log_compute() numbers them, ascending. */
struct numbers {
    uint32_t *number; /* owned */
    uint32_t n, cap;
};

/*
 * Those that must be computed for the bytes of `v`.
 *
 * returns  KB_KERNEL_ERROR: one of them has not ended, and is not in the log; KB_NO_MEMORY
 */
kb_status cone_of(struct op_log *log, struct version *v, struct numbers *out, kb_error *why);

#endif
