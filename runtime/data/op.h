/* op.h -- operations of kernels: issued by kernels/, logged by record/, computed by phase2/. */
#ifndef OP_H
#define OP_H
#include "data/mem.h"
#include "machine/tables.h"
#include "tl.h"

/* The kind of an operation. A composite is a GEMM or MATH with `composite` set. */
enum op_kind { OP_DMA_READ, OP_DMA_WRITE, OP_GEMM, OP_MATH };

/* ops.def */
enum math_group {
    MATH_ELEMENT,
    MATH_COMPARE,
    MATH_CAST,
    MATH_REDUCE,
    MATH_SOFTMAX,
    MATH_TRANSPOSE,
    MATH_SOURCE,
    MATH_SCAN,
    MATH_ORDER,
    MATH_TAKE,
    MATH_FUSED,
    MATH_UPDATE,
};
enum math_types { MATH_ANY, MATH_NUMBER, MATH_FLOAT, MATH_INTEGER, MATH_BITS };
enum math_cost {
    COST_PLAIN,
    COST_SPECIAL,
    COST_SOFTMAX,
    COST_SCAN,
    COST_INDEX,
    COST_RANDOM,
    COST_TOPK,
    COST_SORT,
};

struct math_row {
    const char *name;
    uint8_t operands, group, types, cost;
};

enum { N_TL_OPS = TL_UPDATE + 1 };

extern const struct math_row math_rows[N_TL_OPS]; /* [enum tl_op]; [TL_GEMM] is empty */

/* Beside the memories of enum space: an accumulator, whose address is its number in its kernel. */
enum { SPACE_ACC = SPACE_TCM + 1 };

const char *space_name(uint8_t space); /* "hbm" */

/* A shape, as records keep it. */
struct dims {
    uint32_t rank;
    uint32_t dim[KB_RANK_MAX];
};

static inline uint64_t dims_elements(const struct dims *d)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < d->rank; i++)
        n *= d->dim[i];
    return n;
}

/*
 * Copies one extent at a time, as they were written: wider loads would wait for the narrower
 * stores. The asm keeps the compiler from making it a call of memcpy(). (127 -> 110 ns for a load.)
 */
static inline void dims_copy(struct dims *to, const struct dims *from)
{
    uint32_t rank = from->rank;

    to->rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t n = from->dim[i];

        __asm__("" : "+r"(n));
        to->dim[i] = n;
    }
}

/* An operand or a result: its address, and its bytes as a view. */
struct op_tensor {
    uint64_t address; /* global */
    struct view view; /* owned. operands: bound at issue (DMA read: at done); result: all of it */
    uint8_t dtype;    /* kb_dtype */
    uint8_t space;
    bool is_scalar;    /* only `scalar` is used, and `dtype`, which is that of the other operands */
    uint32_t maker;    /* op_id that made the bytes; OP_NONE: the host, several ops, or a scalar */
    struct dims shape; /* as stored */
    double scalar;
};

/* acc = math(acc, y, z); at most one of y and z is a tensor. */
struct op_epilogue {
    uint8_t math;       /* enum tl_op */
    uint8_t n_operands; /* besides acc: 0..2 */
    struct op_tensor operand[2];
};

/* One step of a tl_fused(). Operands: i + 1 is input i, -1 - i the result of step i, 0 none. */
struct op_step {
    uint8_t math; /* enum tl_op */
    int8_t operand[3];
    uint8_t out; /* kb_dtype of what is stored of it; KB_DEFAULT: nothing is */
    uint8_t unused[3];
};

/*
 * One command as it was issued: all that its time, its record and Phase 2 depend on. Fields that
 * its kind does not use are not set. What few have comes last, from the fourth operand on: a
 * command that has none of it has no room for it (kernels/pool.c).
 */
struct op {
    int64_t t_issue_fs;
    uint32_t id;  /* op_id */
    uint32_t pe;  /* over all SIPs and cubes: cube * pes + pe */
    uint8_t kind; /* enum op_kind */
    uint8_t math; /* OP_MATH: enum tl_op */
    bool composite;
    bool ipcq;   /* DMA_WRITE: a piece of a message to another PE */
    bool atomic; /* a write that combines: MATH of what was there and x; a DMA_WRITE: exchange */
    bool sums; /* a DMA_READ that adds its sources; pending, a MATH of all of them, [n, elements] */
    bool strided; /* DMA: elements in the memory are `stride` bytes apart */
    uint8_t n_in; /* operands: DMA 1, GEMM 2, or 3: what it adds to; MATH 1..3, fused ..8; arange
                     2, full 1, random 3, all scalars; sort 3, of which two are scalars; update 3,
                     of which the last is the scalar where y begins */
    uint8_t n_epilogues;
    uint32_t n_runs;    /* DMA: in the memory it is a list of so many; 0: it is none */
    const char *region; /* NULL: none; valid as long as the simulation */

    struct op_ids depends; /* dependency_ids */
    struct op_tensor out;  /* DMA: the destination; fused: the bytes of all results */
    uint8_t dtype_acc;     /* GEMM */
    bool transpose_a, transpose_b, col_a, col_b, col_out; /* col_: column-major */
    uint32_t m, k, n;

    bool all_axes, has_axis; /* MATH: over all axes; over `axis` */
    int8_t axis;             /* 0..rank-1 */
    bool keepdims;

    uint32_t tile[3]; /* composite: M, K, N of a whole tile, as configured */
    uint64_t tokens;  /* composite */
    uint32_t n_steps; /* fused */

    int64_t stride[KB_RANK_MAX];
    struct op_tensor in[TL_FUSED_INPUTS]; /* GEMM: a, b; DMA: the source, with the shape and dtype
                                             moved */
    struct op_epilogue epilogue[TL_EPILOGUES_MAX];
    struct op_step step[TL_FUSED_STEPS];
};

/* Copies an operation whose row may be short: what it has, and no more. */
void op_copy(struct op *to, const struct op *from);

/* The name of a MATH: "exp". Of those on an accumulator, a mul and a cast, "acc_scale" and
 * "acc_store". */
const char *op_math_name(const struct op *op);

/* The wider of its operands' types, in which an elementwise operation and a product take them: of a
 * condition's, an accumulator's and scalars' there is none. */
kb_dtype op_operands_dtype(const struct op *op);

/* Of a MATH: how many elements its engine goes through; of a fused one, in all steps. */
uint64_t op_math_elements(const struct op *op);

/* Makes `to` the shape that it broadcasts to with `d`, by numpy's rules. False: they do not. */
bool dims_broadcast(struct dims *to, const struct dims *d);

/*
 * Of a fused operation: the type in which it computes; the shape of each step's result; how many
 * elements the engine goes through in step `i`; where its results lie among the bytes of `out`, in
 * the order of their steps. The first step whose operands do not broadcast; n_steps: all do.
 */
kb_dtype op_fused_dtype(const struct op *op);
uint32_t op_fused_shapes(const struct op *op, struct dims shape[TL_FUSED_STEPS]);
uint64_t op_step_elements(const struct op *op, const struct dims *shape, uint32_t i);

struct op_result {
    uint32_t step;
    uint64_t at, nbytes;
};
uint32_t op_fused_results(const struct op *op, const struct dims *shape,
                          struct op_result result[TL_FUSED_STEPS]);

/* The shape of operand `i` of a step; a scalar has no axes. */
const struct dims *op_step_shape(const struct op *op, const struct dims *shape,
                                 const struct op_step *step, int i);

/* Of MATH_ORDER, how the row is ordered: the largest first; and are indices part of the result? */
static inline bool op_goes_down(const struct op *op)
{
    return op->math == TL_TOPK || op->in[1].scalar != 0;
}

static inline bool op_has_indices(const struct op *op)
{
    return op->math == TL_TOPK || (op->math == TL_SORT && op->in[2].scalar != 0);
}

/* Where indices begin in the bytes of the result, behind the values. */
static inline uint64_t op_indices_at(const struct op_tensor *out)
{
    return (dims_elements(&out->shape) * kb_dtype_bytes((kb_dtype)out->dtype) + 3) / 4 * 4;
}

/* Does it replace a part of a tensor in the TCM, without an engine? */
static inline bool op_updates(const struct op *op)
{
    return op->kind == OP_MATH && op->math == TL_UPDATE;
}

/* Of a GEMM: how many products it is of. Operands of two axes are those of all. */
static inline uint32_t op_batch(const struct op *op)
{
    return op->out.shape.rank == 3 ? op->out.shape.dim[0] : 1;
}

/* Is it on an accumulator? Then a composite is an acc_store. */
static inline bool op_of_acc(const struct op *op)
{
    return op->kind == OP_MATH && op->n_in && op->in[0].space == SPACE_ACC;
}

/* One stage of a tile, or the FETCH or STORE of a dot or math command. */
enum op_stage {
    STAGE_DMA_READ,
    STAGE_DMA_WRITE,
    STAGE_FETCH,
    STAGE_GEMM,
    STAGE_MATH,
    STAGE_STORE,
    STAGE_COMMAND, /* all of a composite, at pe_scheduler */
};

struct op_token {
    uint32_t id, parent; /* op_ids */
    uint32_t pe;
    uint8_t stage;   /* enum op_stage */
    uint8_t operand; /* DMA_READ: 0 a, 1 b */
    uint8_t space;   /* DMA */
    uint8_t math;    /* MATH: enum tl_op */
    uint32_t token;
    uint32_t tile[3];  /* i, j, k */
    uint64_t address;  /* DMA: of its first element */
    uint64_t nbytes;   /* DMA, FETCH, STORE */
    uint32_t m, k, n;  /* GEMM */
    uint64_t elements; /* MATH */
    const char *region;
};

#endif
