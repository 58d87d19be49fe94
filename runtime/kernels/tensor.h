/* tensor.h -- the tensors of a kernel, and the ranges of a TCM in which they lie. */
#ifndef TENSOR_H
#define TENSOR_H
#include "data/op.h"

enum tensor_kind {
    TENSOR_FREE,   /* given back */
    TENSOR_SCALAR, /* a number */
    TENSOR_PLACE,  /* whatever its address holds: tl_ref(), tl_alloc(), a composite's result */
    TENSOR_VALUE,  /* loaded or computed: keeps the version it has */
};

/* How far the command that makes a tensor has come. */
enum tensor_wait {
    WAIT_NONE,    /* there is nothing to wait for */
    WAIT_PENDING, /* the command is under way */
    WAIT_ENDED,   /* it has ended, and the kernel has not waited for it */
    WAIT_OVER,    /* the kernel has waited for it */
};

/* A range of a PE's TCM, shared by a tensor and its views. */
struct tcm_block {
    uint64_t offset, nbytes;
    uint32_t refs;
    struct tcm_block *next; /* by offset */
};

struct tl_tensor {
    _Alignas(64) uint8_t kind;
    uint8_t wait, dtype, space;
    bool loads;     /* made by an asynchronous load: no operand until it was waited for */
    bool hidden;    /* in the TCM, but not yet in the MemoryStore, see tcm_show() */
    bool kept;      /* the next tl_release() leaves it */
    bool dead;      /* given back while commands still need it: kernels/flight.h */
    bool viewed;    /* it has views that were made in flight, or is one */
    uint32_t users; /* commands that read it: kernels/flight.h */
    uint32_t maker; /* op_id; OP_NONE */
    uint32_t owner; /* the PE, by number */
    uint64_t address, nbytes;
    struct view view;        /* owned; TENSOR_VALUE */
    struct tcm_block *block; /* NULL: takes no room in the TCM */
    struct tl_tensor *older, *newer;
    struct command *making;   /* the command under way that makes it; NULL: none */
    struct tl_tensor *beside; /* the next view of what `making` makes */
    uint32_t made_by;         /* op_id of the last such command; OP_NONE */
    int64_t made_fs;          /* when that has ended; < 0: none has */
    uint64_t number;          /* counts up: tl_release() gives back what is younger than its mark */
    struct dims shape;
    double scalar;
};

#endif
