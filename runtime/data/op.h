/* op.h -- operations of kernels, as they are issued, logged, and computed in Phase 2. */
#ifndef OP_H
#define OP_H
#include <stdio.h>
#include "data/mem.h"
#include "machine/tables.h"
#include "tl.h"

/* What an operation is. A composite is a GEMM or MATH with `composite` set. */
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
};
enum math_types { MATH_ANY, MATH_NUMBER, MATH_FLOAT };
enum math_cost { COST_PLAIN, COST_SPECIAL, COST_SOFTMAX };

struct math_row {
    const char *name;
    uint8_t operands, group, types, cost;
};

enum { N_TL_OPS = TL_FULL + 1 };

extern const struct math_row math_rows[N_TL_OPS]; /* [enum tl_op]; [TL_GEMM] is empty */

const char *space_name(uint8_t space); /* "hbm" */

/* Extents, as records keep them. */
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
 * One extent at a time, as they were written: wider loads would have to wait for the stores. The
 * compiler, which would make a call of memcpy() of it, must not know that it is a copy.
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

/* An operand or a result: where it lies, and which bytes. */
struct op_tensor {
    uint64_t address;  /* global */
    struct view view;  /* owned. operands: bound at issue (DMA read: at done); result: all of it */
    struct dims shape; /* as stored */
    uint8_t dtype;     /* kb_dtype */
    uint8_t space;
    bool is_scalar; /* `scalar` alone counts; `dtype` is that of the tensors beside it */
    uint32_t maker; /* op_id that made the bytes; OP_NONE: the host, several, or a scalar */
    double scalar;
};

/* acc = math(acc, y, z); at most one of y and z is a tensor. */
struct op_epilogue {
    uint8_t math;       /* enum tl_op */
    uint8_t n_operands; /* besides acc: 0..2 */
    struct op_tensor operand[2];
};

/*
 * One command as it was issued: all that its time, its record and Phase 2 follow from. Fields that
 * a kind does not use are not set.
 */
struct op {
    int64_t t_issue_fs;
    uint32_t id;  /* op_id */
    uint32_t pe;  /* over all SIPs and cubes: cube * pes + pe */
    uint8_t kind; /* enum op_kind */
    uint8_t math; /* OP_MATH: enum tl_op */
    bool composite;
    const char *region; /* NULL: none; lives as long as the simulation */

    uint8_t n_in;           /* operands: DMA 1, GEMM 2, MATH 1..3; arange 2, full 1, all scalars */
    struct op_tensor in[3]; /* GEMM: a, b; DMA: the source, with shape and dtype of what moves */
    struct op_tensor out;   /* DMA: the destination */
    bool ipcq;              /* DMA_WRITE: a piece of what is sent to another PE */
    bool strided;           /* DMA: elements of the memory lie at `stride` bytes */
    int64_t stride[KB_RANK_MAX];

    uint8_t dtype_acc;                                    /* GEMM */
    bool transpose_a, transpose_b, col_a, col_b, col_out; /* col_: column-major */
    uint32_t m, k, n;

    bool all_axes, has_axis; /* MATH: over all axes; `axis` counts */
    int8_t axis;             /* 0..rank-1 */
    bool keepdims;

    uint32_t tile[3]; /* composite: M, K, N of a whole tile, as configured */
    uint64_t tokens;  /* composite */
    uint8_t n_epilogues;
    struct op_epilogue epilogue[TL_EPILOGUES_MAX];

    struct op_ids depends; /* dependency_ids */
};

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

/* -- the log -------------------------------------------------------------------------------- */

/* Records of a simulation, in the order in which services end. */
struct op_log;

/*
 * limit_bytes  > 0: about so much stays in memory, older chunks go to an unlinked temporary file
 * keep         the log keeps operands and results of GEMM and MATH for Phase 2
 * returns      NULL: no memory
 */
struct op_log *op_log_new(const struct kb_topology *topo, uint64_t limit_bytes, bool keep);
void op_log_free(struct op_log *log);

/* Both: false: no memory, or the file cannot be written (op_log_error tells). */
bool op_log_add(struct op_log *log, const struct op *op, int64_t start_fs, int64_t end_fs);
bool op_log_add_token(struct op_log *log, const struct op_token *token, int64_t start_fs,
                      int64_t end_fs);

kb_status op_log_error(const struct op_log *log, kb_error *why); /* KB_OK: none so far */

/* What is known of an operation besides its record, if the options ask for it. */
struct op_note {
    uint32_t id;
    int line; /* of the call in the kernel, in `file` */
    const char *file, *kernel;
    struct view moved; /* owned; a DMA's bytes */
    uint32_t message;  /* of a receive, which has no record: the first ipcq_copy that it takes */
};

/* As op_log_add(). The bytes that a DMA moved are kept. */
bool op_log_note(struct op_log *log, const struct op *op, const char *kernel, const char *file,
                 int line);
bool op_log_note_recv(struct op_log *log, const struct op *op, uint32_t message);
const struct op_note *op_log_note_of(struct op_log *log, uint32_t id); /* NULL: none */

uint64_t op_log_count(const struct op_log *log);
uint64_t op_log_bytes(const struct op_log *log); /* records and parameters, spilled ones too */

/* Writes all records in order (t_start, t_end, op_id); `command_line` may be NULL. */
enum op_format { OP_JSONL, OP_CSV };
kb_status op_log_export(struct op_log *log, enum op_format format, const char *command_line,
                        uint64_t seed, FILE *out, kb_error *why);

/*
 * For Phase 2: GEMM and MATH operations, composites included, not yet taken, in order of op_id (a
 * producer's id is smaller than that of those who use its result). op_log_computes() counts and
 * orders them; op_log_compute() unpacks number i into *op, whose views are borrowed from the log
 * until op_log_computed(), which drops the log's references to operands and result. What was
 * not given back comes again with the next op_log_computes(). op_log_compute() may be called by
 * several threads at once.
 */
kb_status op_log_computes(struct op_log *log, uint64_t *n, kb_error *why);
kb_status op_log_compute(struct op_log *log, uint64_t i, struct op *op, kb_error *why);
void op_log_computed(struct op_log *log, uint64_t i, struct op *op); /* frees what `op` owns */

#endif
