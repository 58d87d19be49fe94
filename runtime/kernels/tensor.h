/* tensor.h -- the tensors of a kernel, and the ranges of a TCM in which they lie. */
#ifndef TENSOR_H
#define TENSOR_H
#include "data/dtype.h"
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
    uint64_t end; /* aligned: where the next one may begin */
    uint32_t refs;
    bool has_gap;                         /* before the next one: it is in a list of those */
    struct tcm_block *next, *before;      /* by offset, in a ring with pe->room */
    struct tcm_block *next_gap, **to_gap; /* by offset; NULL ends it */
};

struct tl_tensor {
    _Alignas(64) uint8_t kind;
    uint8_t wait, dtype, space;
    bool loads;     /* made by an asynchronous load: no operand until it was waited for */
    bool hidden;    /* in the TCM, but not yet in the MemoryStore, see tcm_show() */
    bool kept;      /* the next tl_release() leaves it */
    bool persists;  /* it has a name: kernels/persist.h */
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
    bool sliced;                     /* by tl_slice() and the like, or a view of what is */
    bool cut;                        /* it has a part of the bytes of `parent`; else all of them */
    bool apart;                      /* its elements do not lie side by side: stride[] is set */
    int64_t stride[KB_RANK_MAX];     /* bytes from one to the next in the TCM, along each axis */
    uint64_t cut_offset;             /* of its first element in the bytes of `parent` */
    int64_t cut_stride[KB_RANK_MAX]; /* and how far apart they lie there */
    struct tl_tensor *parent;        /* of a view that was made in flight: what it is a view of */
};

/* The cells of a shape along axis `i`: data/dtype.h. */
static inline uint32_t dims_cells(const struct dims *d, uint8_t dtype, uint32_t i)
{
    return i + 1 == d->rank ? d->dim[i] / dtype_of_cell(dtype) : d->dim[i];
}

/* How far apart cells lie along each axis. */
static inline void tensor_strides(const struct tl_tensor *x, int64_t stride[KB_RANK_MAX])
{
    int64_t step = (int64_t)dtype_cell(x->dtype);

    for (uint32_t i = x->shape.rank; i-- > 0; step *= dims_cells(&x->shape, x->dtype, i))
        stride[i] = x->apart ? x->stride[i] : step;
}

/* Its cells in the TCM. */
static inline struct strided tensor_elements(const struct tl_tensor *x)
{
    struct strided s = {.rank = x->shape.rank, .elem_bytes = (uint32_t)dtype_cell(x->dtype)};

    tensor_strides(x, s.stride);
    for (uint32_t i = 0; i < s.rank; i++)
        s.dim[i] = dims_cells(&x->shape, x->dtype, i);
    return s;
}

#endif
