/* pack.c -- packs operations and tokens into records, and unpacks them.
 *
 * A record has the fields that all operations of its kind need. The others follow in its
 * parameters, without padding, and only those that the operation has:
 *
 *   DMA         region, strides, extents, maker, dependencies
 *   GEMM, MATH  region, steps of a fused one, tile and tokens of a composite, operands, result,
 * epilogues, dependencies token       region
 *
 * Flags and counts of the record say what is there. Dependencies come last, because their number is
 * not bounded: unpacking borrows them from the log if they do not fit into `few`.
 *
 * Bytes of parameters in `run softmax` on cube8 (rounded up to 8 each):
 *
 *     DMA read of [4, 256]    2 extents 8, maker 4: 12 bytes, 16. With its record 80.
 *     softmax of [4, 256]     operand 24 (head 8, address 8, extents 8), result 24, a dependency 4:
 *                             52 bytes, 56. Kept for Phase 2, each tensor has also its version and
 *                             the offset in it, 16 bytes: 84, 88.
 *     FETCH of a dot          none: all of it is in the record.
 *
 * Invariants: op_packed_bytes() is exactly the number of bytes that op_pack() writes, since the
 * log takes that much from its chunk before it is called; unpacking what was packed gives the same
 * operation, with 0 in the fields that its kind does not use; all parts are multiples of 4 bytes,
 * so that the dependencies at the end can be borrowed as an array of uint32_t.
 *
 * Parts are written and read in one order, which stands nowhere else than in pack_...() and
 * unpack_...() below: a field that is added to one is added to the other, and to
 * ..._packed_bytes().
 */
#include "record/record.h"
#include <string.h>

static void put(unsigned char **to, const void *bytes, size_t n)
{
    memcpy(*to, bytes, n);
    *to += n;
}

/* Copies the few words of a shape one by one, which is faster than a call of memcpy(). */
static inline void put_words(unsigned char **to, const uint32_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        put(to, &words[i], sizeof *words);
        __asm__("" : "+r"(*to)); /* keeps the compiler from making it a call */
    }
}

static void get(const unsigned char **at, void *bytes, size_t n)
{
    memcpy(bytes, *at, n);
    *at += n;
}

static uint16_t flag_if(bool is_set, enum record_flag flag)
{
    return is_set ? (uint16_t)flag : 0;
}

static void put_region(unsigned char **to, struct record *r, const char *region)
{
    if (!region)
        return;
    r->flags |= REC_REGION;
    put(to, &region, sizeof region);
}

static const char *get_region(const unsigned char **at, const struct record *r)
{
    const char *region = NULL;

    if (r->flags & REC_REGION)
        get(at, &region, sizeof region);
    return region;
}

/* -- tensors -------------------------------------------------------------------------------- */

struct tensor_head {
    uint8_t dtype, space, is_scalar, rank;
    uint32_t maker;
};

/*
 * A scalar is 16 bytes: the head, and its value. A tensor is its head, address and extents, and
 * for Phase 2 the view of its version: a pointer, which stays valid because only this process
 * reads it.
 */
static void put_tensor(unsigned char **to, const struct op_tensor *t, bool keep)
{
    struct tensor_head head = {.dtype = t->dtype, .is_scalar = t->is_scalar, .maker = OP_NONE};

    if (t->is_scalar) {
        put(to, &head, sizeof head);
        put(to, &t->scalar, sizeof t->scalar);
        return;
    }
    head.space = t->space;
    head.rank = (uint8_t)t->shape.rank;
    head.maker = t->maker;
    put(to, &head, sizeof head);
    put(to, &t->address, sizeof t->address);
    put_words(to, t->shape.dim, head.rank);
    if (keep) {
        put(to, &t->view.v, sizeof t->view.v);
        put(to, &t->view.offset, sizeof t->view.offset);
    }
}

static void get_tensor(const unsigned char **at, struct op_tensor *t, bool keeps)
{
    struct tensor_head head;

    get(at, &head, sizeof head);
    t->dtype = head.dtype;
    t->is_scalar = head.is_scalar;
    t->maker = head.maker;
    if (t->is_scalar) {
        get(at, &t->scalar, sizeof t->scalar);
        return;
    }
    t->space = head.space;
    t->shape.rank = head.rank;
    get(at, &t->address, sizeof t->address);
    get(at, t->shape.dim, head.rank * sizeof *t->shape.dim);
    if (keeps) {
        get(at, &t->view.v, sizeof t->view.v);
        get(at, &t->view.offset, sizeof t->view.offset);
    }
}

/* Only a composite has the field set. */
static uint8_t n_epilogues(const struct op *op)
{
    return op->composite ? op->n_epilogues : 0;
}

static bool is_fused(const struct op *op)
{
    return op->kind == OP_MATH && op->math == TL_FUSED;
}

void op_each_tensor(const struct op *op, void (*each)(const struct op_tensor *t))
{
    for (uint32_t i = 0; i < op->n_in; i++)
        each(&op->in[i]);
    each(&op->out);
    for (uint32_t i = 0; i < n_epilogues(op); i++)
        for (uint32_t j = 0; j < op->epilogue[i].n_operands; j++)
            each(&op->epilogue[i].operand[j]);
}

static uint64_t tensor_packed_bytes(const struct op_tensor *t, bool keep)
{
    if (t->is_scalar)
        return sizeof(struct tensor_head) + sizeof t->scalar;
    return sizeof(struct tensor_head) + sizeof t->address + t->shape.rank * sizeof *t->shape.dim +
           (keep ? sizeof t->view.v + sizeof t->view.offset : 0);
}

/* -- dependencies: behind all else, `few` or as many as there are --------------------------- */

static inline void put_depends(unsigned char **to, const struct op_ids *set)
{
    if (set->ids)
        put(to, set->ids, set->n * sizeof *set->ids);
    else
        put_words(to, set->few, set->n);
}

static void get_depends(const unsigned char *at, uint32_t n, struct op_ids *set)
{
    set->n = n;
    if (n <= sizeof set->few / sizeof *set->few)
        memcpy(set->few, at, n * sizeof *set->few);
    else
        set->ids = (uint32_t *)(uintptr_t)at; /* aligned to 4 bytes, like all that lies before it */
}

/* -- DMA ------------------------------------------------------------------------------------ */

/*
 * Source and destination of a DMA have one shape and one type, so these are stored once. Strides
 * belong to the side that is not in the PE's own TCM.
 */
static inline void pack_dma(const struct op *op, struct record *r, unsigned char **to)
{
    const struct op_tensor *src = &op->in[0], *dst = &op->out;
    uint8_t rank = (uint8_t)src->shape.rank;

    r->flags |= flag_if(op->strided, REC_STRIDED) | flag_if(op->n_runs, REC_LIST) |
                flag_if(op->kind == OP_DMA_READ && op->sums, REC_SUMS) |
                flag_if(op->kind == OP_DMA_WRITE && op->ipcq, REC_IPCQ) |
                flag_if(op->kind == OP_DMA_WRITE && op->atomic, REC_ATOMIC);
    r->dma.issue_fs = op->t_issue_fs;
    r->dma.src = src->address;
    r->dma.dst = dst->address;
    r->dma.n_depends = op->depends.n;
    r->dma.dtype = src->dtype;
    r->dma.rank = rank;
    r->dma.src_space = src->space;
    r->dma.dst_space = dst->space;
    if (op->strided)
        put(to, op->stride, rank * sizeof *op->stride);
    if (op->n_runs)
        put(to, &op->n_runs, sizeof op->n_runs);
    put_words(to, src->shape.dim, rank);
    put(to, &src->maker, sizeof src->maker);
    put_depends(to, &op->depends);
}

static uint64_t dma_packed_bytes(const struct op *op)
{
    uint32_t rank = op->in[0].shape.rank;

    return (op->strided ? rank * sizeof *op->stride : 0) + (op->n_runs ? sizeof op->n_runs : 0) +
           rank * sizeof(uint32_t) + sizeof op->in[0].maker;
}

static void unpack_dma(const struct record *r, const unsigned char *at, struct op *op)
{
    struct op_tensor *src = &op->in[0], *dst = &op->out;

    op->t_issue_fs = r->dma.issue_fs;
    op->n_in = 1;
    src->address = r->dma.src;
    src->space = r->dma.src_space;
    src->dtype = dst->dtype = r->dma.dtype;
    dst->address = r->dma.dst;
    dst->space = r->dma.dst_space;
    op->ipcq = r->flags & REC_IPCQ;
    op->atomic = r->flags & REC_ATOMIC;
    op->sums = r->flags & REC_SUMS;
    op->strided = r->flags & REC_STRIDED;
    if (op->strided)
        get(&at, op->stride, r->dma.rank * sizeof *op->stride);
    op->n_runs = 0;
    if (r->flags & REC_LIST)
        get(&at, &op->n_runs, sizeof op->n_runs);
    src->shape.rank = r->dma.rank;
    get(&at, src->shape.dim, r->dma.rank * sizeof *src->shape.dim);
    dst->shape = src->shape;
    get(&at, &src->maker, sizeof src->maker);
    get_depends(at, r->dma.n_depends, &op->depends);
}

/* -- GEMM and MATH -------------------------------------------------------------------------- */

enum { EPILOGUE_HEAD = 4 }; /* bytes */

static uint16_t gemm_flags(const struct op *op)
{
    return (uint16_t)(flag_if(op->transpose_a, REC_TRANSPOSE_A) |
                      flag_if(op->transpose_b, REC_TRANSPOSE_B) | flag_if(op->col_a, REC_COL_A) |
                      flag_if(op->col_b, REC_COL_B) | flag_if(op->col_out, REC_COL_OUT));
}

static uint16_t math_flags(const struct op *op)
{
    return (uint16_t)(flag_if(op->all_axes, REC_ALL_AXES) | flag_if(op->has_axis, REC_HAS_AXIS) |
                      flag_if(op->keepdims, REC_KEEPDIMS));
}

static void put_epilogue(unsigned char **to, const struct op_epilogue *e, bool keep)
{
    uint8_t head[EPILOGUE_HEAD] = {e->math, e->n_operands};

    put(to, head, sizeof head);
    for (uint32_t i = 0; i < e->n_operands; i++)
        put_tensor(to, &e->operand[i], keep);
}

static void get_epilogue(const unsigned char **at, struct op_epilogue *e, bool keeps)
{
    uint8_t head[EPILOGUE_HEAD];

    get(at, head, sizeof head);
    e->math = head[0];
    e->n_operands = head[1];
    for (uint32_t i = 0; i < e->n_operands; i++)
        get_tensor(at, &e->operand[i], keeps);
}

static void pack_gemm(const struct op *op, struct record *r)
{
    r->flags |= gemm_flags(op);
    r->compute.dtype_acc = op->dtype_acc;
    r->compute.m = op->m;
    r->compute.k = op->k;
    r->compute.n = op->n;
}

static void pack_math(const struct op *op, struct record *r)
{
    r->flags |= math_flags(op);
    r->code = op->math;
    if (op->math == TL_FUSED)
        r->compute.n_epilogues = (uint8_t)op->n_steps;
    if (op->has_axis)
        r->compute.axis = op->axis;
}

static void pack_compute(const struct op *op, bool keep, struct record *r, unsigned char **to)
{
    r->flags |= flag_if(op->composite, REC_COMPOSITE) | flag_if(keep, REC_KEEPS) |
                flag_if(op->atomic, REC_ATOMIC) | flag_if(op->sums, REC_SUMS);
    r->compute.issue_fs = op->t_issue_fs;
    r->compute.n_depends = op->depends.n;
    r->compute.n_in = op->n_in;
    r->compute.n_epilogues = n_epilogues(op);
    if (op->kind == OP_GEMM)
        pack_gemm(op, r);
    else
        pack_math(op, r);
    if (is_fused(op))
        put(to, op->step, op->n_steps * sizeof *op->step);
    if (op->composite) {
        put(to, op->tile, sizeof op->tile);
        put(to, &op->tokens, sizeof op->tokens);
    }
    for (uint32_t i = 0; i < op->n_in; i++)
        put_tensor(to, &op->in[i], keep);
    put_tensor(to, &op->out, keep);
    for (uint32_t i = 0; i < n_epilogues(op); i++)
        put_epilogue(to, &op->epilogue[i], keep);
    put_depends(to, &op->depends);
}

static uint64_t epilogue_packed_bytes(const struct op_epilogue *e, bool keep)
{
    uint64_t n = EPILOGUE_HEAD;

    for (uint32_t i = 0; i < e->n_operands; i++)
        n += tensor_packed_bytes(&e->operand[i], keep);
    return n;
}

static uint64_t compute_packed_bytes(const struct op *op, bool keep)
{
    uint64_t n = tensor_packed_bytes(&op->out, keep);

    if (is_fused(op))
        n += op->n_steps * sizeof *op->step;
    if (op->composite)
        n += sizeof op->tile + sizeof op->tokens;
    for (uint32_t i = 0; i < op->n_in; i++)
        n += tensor_packed_bytes(&op->in[i], keep);
    for (uint32_t i = 0; i < n_epilogues(op); i++)
        n += epilogue_packed_bytes(&op->epilogue[i], keep);
    return n;
}

static void get_flags(uint16_t flags, struct op *op)
{
    op->composite = flags & REC_COMPOSITE;
    op->atomic = flags & REC_ATOMIC;
    op->sums = flags & REC_SUMS;
    op->transpose_a = flags & REC_TRANSPOSE_A;
    op->transpose_b = flags & REC_TRANSPOSE_B;
    op->col_a = flags & REC_COL_A;
    op->col_b = flags & REC_COL_B;
    op->col_out = flags & REC_COL_OUT;
    op->all_axes = flags & REC_ALL_AXES;
    op->has_axis = flags & REC_HAS_AXIS;
    op->keepdims = flags & REC_KEEPDIMS;
}

static void unpack_compute(const struct record *r, const unsigned char *at, struct op *op)
{
    bool keeps = r->flags & REC_KEEPS;

    get_flags(r->flags, op);
    op->t_issue_fs = r->compute.issue_fs;
    op->math = r->code;
    op->n_in = r->compute.n_in;
    op->dtype_acc = r->compute.dtype_acc;
    op->m = r->compute.m;
    op->k = r->compute.k;
    op->n = r->compute.n;
    op->axis = r->compute.axis;
    op->n_epilogues = r->compute.n_epilogues;
    if (is_fused(op)) { /* that has steps in their place */
        op->n_steps = op->n_epilogues;
        op->n_epilogues = 0;
        get(&at, op->step, op->n_steps * sizeof *op->step);
    }
    if (op->composite) {
        get(&at, op->tile, sizeof op->tile);
        get(&at, &op->tokens, sizeof op->tokens);
    }
    for (uint32_t i = 0; i < op->n_in; i++)
        get_tensor(&at, &op->in[i], keeps);
    get_tensor(&at, &op->out, keeps);
    op->n_runs = op->sums ? op->in[0].shape.dim[0] : 0;
    for (uint32_t i = 0; i < op->n_epilogues; i++)
        get_epilogue(&at, &op->epilogue[i], keeps);
    get_depends(at, r->compute.n_depends, &op->depends);
}

/* -- operations ----------------------------------------------------------------------------- */

static bool is_compute(const struct op *op)
{
    return op->kind == OP_GEMM || op->kind == OP_MATH;
}

uint64_t op_packed_bytes(const struct op *op, bool keep)
{
    return (op->region ? sizeof op->region : 0) + op->depends.n * sizeof *op->depends.few +
           (is_compute(op) ? compute_packed_bytes(op, keep) : dma_packed_bytes(op));
}

void op_pack(const struct op *op, bool keep, struct record *r, unsigned char *to)
{
    r->id = op->id;
    r->pe = op->pe;
    r->type = op->kind;
    put_region(&to, r, op->region);
    if (is_compute(op))
        pack_compute(op, keep, r, &to);
    else
        pack_dma(op, r, &to);
}

void op_unpack(const struct record *r, const unsigned char *chunk, struct op *op)
{
    const unsigned char *at = chunk + r->params;

    memset(op, 0, sizeof *op);
    op->id = r->id;
    op->pe = r->pe;
    op->kind = r->type;
    op->region = get_region(&at, r);
    if (record_is_compute(r))
        unpack_compute(r, at, op);
    else
        unpack_dma(r, at, op);
}

/* -- tokens --------------------------------------------------------------------------------- */

static bool stage_is_dma(uint8_t stage)
{
    return stage == STAGE_DMA_READ || stage == STAGE_DMA_WRITE;
}

static void pack_size(const struct op_token *t, struct record *r)
{
    uint64_t size = t->stage == STAGE_MATH ? t->elements : t->nbytes;

    r->token.size[0] = (uint32_t)size;
    r->token.size[1] = (uint32_t)(size >> 32);
}

uint64_t op_token_packed_bytes(const struct op_token *t)
{
    return (t->region ? sizeof t->region : 0) + (stage_is_dma(t->stage) ? sizeof t->address : 0);
}

/*
 * A stage of a tile: its three sizes share a field, by stage. A DMA also has an address, in the
 * parameters; the space of that address is the third size, which a DMA leaves free.
 */
void op_token_pack(const struct op_token *t, struct record *r, unsigned char *to)
{
    r->id = t->id;
    r->pe = t->pe;
    r->type = (uint8_t)(REC_TOKEN + t->stage);
    r->token.parent = t->parent;
    r->token.token = t->token;
    memcpy(r->token.tile, t->tile, sizeof t->tile);
    put_region(&to, r, t->region);
    if (t->stage == STAGE_GEMM) {
        r->token.size[0] = t->m;
        r->token.size[1] = t->k;
        r->token.size[2] = t->n;
        return;
    }
    pack_size(t, r);
    if (t->stage == STAGE_MATH)
        r->code = t->math;
    if (t->stage == STAGE_DMA_READ)
        r->code = t->operand;
    if (stage_is_dma(t->stage)) {
        r->token.size[2] = t->space;
        put(&to, &t->address, sizeof t->address);
    }
}

static void unpack_size(const struct record *r, struct op_token *t)
{
    uint64_t size = (uint64_t)r->token.size[1] << 32 | r->token.size[0];

    if (t->stage == STAGE_MATH)
        t->elements = size;
    else
        t->nbytes = size;
}

void op_token_unpack(const struct record *r, const unsigned char *chunk, struct op_token *t)
{
    const unsigned char *at = chunk + r->params;

    memset(t, 0, sizeof *t);
    t->id = r->id;
    t->pe = r->pe;
    t->stage = (uint8_t)(r->type - REC_TOKEN);
    t->parent = r->token.parent;
    t->token = r->token.token;
    memcpy(t->tile, r->token.tile, sizeof t->tile);
    t->region = get_region(&at, r);
    if (t->stage == STAGE_GEMM) {
        t->m = r->token.size[0];
        t->k = r->token.size[1];
        t->n = r->token.size[2];
        return;
    }
    unpack_size(r, t);
    if (t->stage == STAGE_MATH)
        t->math = r->code;
    if (t->stage == STAGE_DMA_READ)
        t->operand = r->code;
    if (stage_is_dma(t->stage)) {
        t->space = (uint8_t)r->token.size[2];
        get(&at, &t->address, sizeof t->address);
    }
}
