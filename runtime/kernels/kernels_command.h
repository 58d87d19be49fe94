/* kernels_command.h -- a command of a PE, from its call to its end, and the services it is made of.
 */
#ifndef COMMAND_H
#define COMMAND_H
#include "data/dtype.h"
#include "engine/station.h"
#include "kernels/tensor.h"
#include "machine/tile.h"
#include <stddef.h>

struct barrier;
struct command;
struct tl_acc;
struct queue;
struct tl_ctx;
struct token;

/* A service: the work that the transaction in a slot does, in a run of kernels. */
struct work {
    struct memory_station *station;
    struct command *command; /* NULL: of what an L2 has made */
    struct token *token;     /* NULL: the command's own stage */
    uint8_t stage;           /* enum op_stage */
    uint8_t operand;         /* DMA_READ of a token: its number */
    bool data_op;            /* its service is logged */
    bool port;               /* `station` is one of a PE's */
    uint32_t id;             /* of its record */
    int64_t start_fs;        /* its service has begun */
};

static inline bool work_is_dma(const struct work *work)
{
    return work->stage <= STAGE_DMA_WRITE;
}

/* What a command does, where its operation does not say it. */
enum task {
    TASK_PLAIN,
    TASK_SEND,
    TASK_RECV,
    TASK_BARRIER,
    TASK_ATOMIC,
    TASK_ACC,
    TASK_VALUE,
    TASK_COMBINE,
};

/* Observed: how long a command has waited for another PE so far, and how its kernel went on. */
struct talk {
    uint32_t n_waits, behind_id; /* behind_id: of the longest */
    int64_t since_fs;            /* since then it waits for a piece or a slot, or would */
    int64_t wait_fs, longest_fs, wire_fs, overhead_fs;
    int64_t return_fs; /* of a send; < 0: not yet */
    bool waits;        /* for `peer` (a barrier: KB_NO_ID), since since_fs, as piece `id` */
    uint32_t peer, id;
    uint32_t stretch; /* told of its return, or of the last word of a barrier; KB_NO_ID */
};

/* One command of a PE, from its call to its end. */
/* Tokens of a composite, in order. */
struct token_line {
    struct token *first, *last; /* first NULL: none; last is of any use only if there is one */
};

struct command {
    _Alignas(64) struct tl_ctx *pe;
    struct tl_tensor *result; /* borrowed; NULL: none */
    const char *call;         /* "tl_load", for messages */
    tl_here here;
    uint64_t nbytes;        /* DMA: the memory, and bytes of it */
    struct command *behind; /* the next composite of the PE, or of the accumulator; or free one */
    uint32_t dst;
    uint8_t task; /* enum task */
    uint8_t n_operands;
    bool async : 1;     /* the call returns at the issue */
    bool live : 1;      /* in use, or kept by pool.c for a load */
    bool overlaps : 1;  /* issued under tl_async(true) */
    bool reads : 1;     /* its operands count it as a user */
    bool waited : 1;    /* commands start at its end: `waiters` */
    bool late : 1;      /* it has waited for the maker of an operand */
    bool started : 1;   /* at start_fs */
    bool turn : 1;      /* of an accumulator: the engines of those before it have ended */
    bool ready : 1;     /* it waits for that alone */
    bool joined : 1;    /* it is among the waiters of the maker of an operand */
    bool by_index : 1;  /* `runs` are rows, at row_base + index * row_stride */
    bool whole_row : 1; /* it has all fields; else COMMAND_SHORT bytes */

    /* Bound at the start; two for a step; NULL: a scalar. */
    struct tl_tensor *operand[2 + 2 * TL_EPILOGUES_MAX];
    struct command *waiters, *next_waiter;     /* that start once it has ended, by id */
    struct command *last_waiter;               /* of any use only if there are some */
    struct command *next_reader, *last_reader; /* of its PE: while `reads` */
    struct command *next_update;               /* of its PE, that waits for readers */
    uint32_t readers;          /* of what it writes over, that have not fetched it yet */
    int64_t call_fs, start_fs; /* the start: max(issue, ends of the makers of its operands) */
    union {
        struct queue *queue; /* send, receive */
        struct barrier *barrier;
        struct { /* atomic: adds `operand`, or becomes it if it is `expected` */
            int64_t atomic_operand, expected;
            bool swaps;
        };
        struct {
            struct tl_acc *acc;
            uint32_t acc_before; /* op_id of the command before on it; OP_NONE */
        };
        struct {
            uint64_t row_base;
            int64_t row_stride;
        };
    };
    uint32_t slot_bytes;                 /* of the receiver's queue */
    uint32_t pieces, piece, pieces_left; /* in all, to begin next, not ended */

    uint64_t fetch_bytes, store_bytes; /* dot, math */
    uint32_t next_id;     /* of the next stage; of a composite, of the next token's first */
    bool to_all;          /* each of its runs has all bytes: a multicast */
    struct run *runs;     /* owned: of a list, op.n_runs of them; else NULL */
    struct command *made; /* the one made before */
    struct work service;  /* of a composite and an update, from its issue to its end */

    struct op op; /* all of it, or no more than TL_OPERANDS_MAX operands: COMMAND_SHORT */

    /* composite */
    bool in_hbm[3]; /* operands that DMA reads, and from which memory */
    uint32_t in_dst[3];
    uint32_t tiles[3];           /* M, K, N */
    uint64_t next_token;         /* to enter */
    struct token_line unfetched; /* entered; their FETCH has not begun */
    struct token_line fetching;  /* it has; the first has not ended */
    struct token *whole;         /* of an acc_store: all of its output */
    uint64_t writes_left;        /* DMA_WRITEs that have not ended */

    uint32_t after, maker; /* observed: kb_command.after, .maker */
    bool after_end;
    int64_t since_fs;    /* observed: kb_command.start_fs */
    uint32_t room;       /* observed: the stretch that has made room for it; KB_NO_ID */
    int64_t room_end_fs; /* ... when that has ended */
    int64_t launch_fs, collective_fs; /* observed: costs of software between its call and issue */
    struct talk talk;
};

/*
 * What a command has that is no message, composite or fused one, and that nothing observes. A tile
 * of attention has a dozen commands, and a PE that runs ahead has thousands under way: of whole
 * rows these are hundreds of megabytes.
 */
enum { COMMAND_SHORT = (offsetof(struct command, op.in[TL_OPERANDS_MAX]) + 63) / 64 * 64 };

/* Begins to bring a part of it, or of something else, into the cache. */
static inline void prefetch_lines(const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch((const char *)p + 64 * i);
}

static inline uint64_t parts_of(uint64_t n, uint64_t part)
{
    return (n + part - 1) / part;
}

static inline uint64_t op_tensor_bytes(const struct op_tensor *tensor)
{
    return dtype_size(tensor->dtype, dims_elements(&tensor->shape));
}

/* The cells that a strided DMA moves. */
static inline struct strided op_strided(const struct op *op)
{
    const struct dims *shape = &op->in[0].shape;
    struct strided g = {.rank = shape->rank, .elem_bytes = (uint32_t)dtype_cell(op->in[0].dtype)};

    for (uint32_t i = 0; i < shape->rank; i++) {
        g.dim[i] = dims_cells(shape, op->in[0].dtype, i);
        g.stride[i] = op->stride[i];
    }
    return g;
}

/* Of an update: what y replaces, from byte *first of x on. */
static inline struct strided op_replaces(const struct op *op, uint64_t *first)
{
    const struct dims *x = &op->in[0].shape, *y = &op->in[1].shape;
    uint64_t bytes = dtype_bytes(op->in[0].dtype), outer = 1, inner = 1;

    for (uint32_t i = 0; i < x->rank; i++)
        *(i < (uint32_t)op->axis ? &outer : &inner) *= i == (uint32_t)op->axis ? 1 : x->dim[i];
    *first = (uint64_t)op->in[2].scalar * inner * bytes;
    return (struct strided){
        .rank = 2,
        .elem_bytes = (uint32_t)bytes,
        .dim = {(int64_t)outer, (int64_t)(y->dim[op->axis] * inner)},
        .stride = {(int64_t)(x->dim[op->axis] * inner * bytes), (int64_t)bytes}};
}

/* The runs of a strided DMA: axes without gaps are part of one. 2^32 runs and more: 0 of them. */
static inline struct tile op_tile(const struct op *op)
{
    const struct dims *shape = &op->in[0].shape;
    struct tile tile = {.run = dtype_cell(op->in[0].dtype)};
    uint32_t rank = shape->rank, cells;
    uint64_t n = 1;

    for (; rank; rank--) {
        cells = dims_cells(shape, op->in[0].dtype, rank - 1);
        if (cells != 1 && (uint64_t)op->stride[rank - 1] != tile.run)
            break;
        tile.run *= cells;
    }
    for (uint32_t i = 0; i < rank; i++) {
        cells = dims_cells(shape, op->in[0].dtype, i);
        if (cells == 1)
            continue;
        tile.dim[tile.rank] = cells;
        tile.stride[tile.rank++] = op->stride[i];
        n *= cells;
        if (n > UINT32_MAX)
            return tile;
    }
    tile.n = (uint32_t)n;
    return tile;
}

/* An operand that is like `tensor`, but lies elsewhere. */
static inline void set_operand(struct op_tensor *operand, const struct tl_tensor *tensor,
                               uint64_t address, enum space space)
{
    operand->address = address;
    operand->view.v = NULL;
    dims_copy(&operand->shape, &tensor->shape);
    operand->dtype = tensor->dtype;
    operand->space = (uint8_t)space;
    operand->is_scalar = false;
    operand->maker = OP_NONE;
}

static inline void set_tensor(struct op_tensor *operand, const struct tl_tensor *tensor)
{
    set_operand(operand, tensor, tensor->address, (enum space)tensor->space);
    operand->is_scalar = tensor->kind == TENSOR_SCALAR;
    operand->scalar = tensor->scalar;
}

#endif
