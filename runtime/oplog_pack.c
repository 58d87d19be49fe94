/* oplog_pack.c -- operations and tokens as records: packed, and unpacked again. */
#include "oplog.h"
#include <string.h>

static void put(struct packed *p, const void *bytes, uint32_t n)
{
    memcpy(p->bytes + p->n, bytes, n);
    p->n += n;
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

static void put_region(struct packed *p, struct record *r, const char *region)
{
    if (!region)
        return;
    r->flags |= REC_REGION;
    put(p, &region, sizeof region);
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

static void put_tensor(struct packed *p, const struct op_tensor *t, bool keep)
{
    struct tensor_head head = {.dtype = t->dtype, .is_scalar = t->is_scalar, .maker = OP_NONE};

    if (t->is_scalar) {
        put(p, &head, sizeof head);
        put(p, &t->scalar, sizeof t->scalar);
        return;
    }
    head.space = t->space;
    head.rank = (uint8_t)t->shape.rank;
    head.maker = t->maker;
    put(p, &head, sizeof head);
    put(p, &t->address, sizeof t->address);
    put(p, t->shape.dim, head.rank * (uint32_t)sizeof *t->shape.dim);
    if (keep) {
        put(p, &t->view.v, sizeof t->view.v);
        put(p, &t->view.offset, sizeof t->view.offset);
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

void op_each_tensor(struct op *op, void (*each)(struct op_tensor *t))
{
    for (uint32_t i = 0; i < op->n_in; i++)
        each(&op->in[i]);
    each(&op->out);
    for (uint32_t i = 0; i < op->n_epilogues; i++)
        for (uint32_t j = 0; j < op->epilogue[i].n_operands; j++)
            each(&op->epilogue[i].operand[j]);
}

/* -- dependencies: behind all else, `few` or as many as there are ---------------------------- */

static void get_depends(const unsigned char *at, uint32_t n, struct op_ids *set)
{
    set->n = n;
    if (n <= sizeof set->few / sizeof *set->few)
        memcpy(set->few, at, n * sizeof *set->few);
    else
        set->ids = (uint32_t *)(uintptr_t)at; /* 4 bytes aligned, as all that lies before it */
}

/* -- DMA ------------------------------------------------------------------------------------ */

static void pack_dma(const struct op *op, struct record *r, struct packed *p)
{
    const struct op_tensor *src = &op->in[0], *dst = &op->out;
    uint8_t rank = (uint8_t)src->shape.rank;

    r->flags |= flag_if(op->strided, REC_STRIDED);
    r->dma.issue_fs = op->t_issue_fs;
    r->dma.src = src->address;
    r->dma.dst = dst->address;
    r->dma.n_depends = op->depends.n;
    r->dma.dtype = src->dtype;
    r->dma.rank = rank;
    r->dma.src_space = src->space;
    r->dma.dst_space = dst->space;
    if (op->strided)
        put(p, op->stride, rank * (uint32_t)sizeof *op->stride);
    put(p, src->shape.dim, rank * (uint32_t)sizeof *src->shape.dim);
    put(p, &src->maker, sizeof src->maker);
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
    op->strided = r->flags & REC_STRIDED;
    if (op->strided)
        get(&at, op->stride, r->dma.rank * sizeof *op->stride);
    src->shape.rank = r->dma.rank;
    get(&at, src->shape.dim, r->dma.rank * sizeof *src->shape.dim);
    dst->shape = src->shape;
    get(&at, &src->maker, sizeof src->maker);
    get_depends(at, r->dma.n_depends, &op->depends);
}

/* -- GEMM and MATH -------------------------------------------------------------------------- */

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

static void put_epilogue(struct packed *p, const struct op_epilogue *e, bool keep)
{
    uint8_t head[4] = {e->math, e->n_operands};

    put(p, head, sizeof head);
    for (uint32_t i = 0; i < e->n_operands; i++)
        put_tensor(p, &e->operand[i], keep);
}

static void get_epilogue(const unsigned char **at, struct op_epilogue *e, bool keeps)
{
    uint8_t head[4];

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
    if (op->composite)
        r->compute.n_epilogues = op->n_epilogues;
}

static void pack_math(const struct op *op, struct record *r)
{
    r->flags |= math_flags(op);
    r->code = op->math;
    if (op->has_axis)
        r->compute.axis = op->axis;
}

static void pack_compute(const struct op *op, bool keep, struct record *r, struct packed *p)
{
    r->flags |= flag_if(op->composite, REC_COMPOSITE) | flag_if(keep, REC_KEEPS);
    r->compute.issue_fs = op->t_issue_fs;
    r->compute.n_depends = op->depends.n;
    r->compute.n_in = op->n_in;
    if (op->kind == OP_GEMM)
        pack_gemm(op, r);
    else
        pack_math(op, r);
    if (op->composite) {
        put(p, op->tile, sizeof op->tile);
        put(p, &op->tokens, sizeof op->tokens);
    }
    for (uint32_t i = 0; i < op->n_in; i++)
        put_tensor(p, &op->in[i], keep);
    put_tensor(p, &op->out, keep);
    for (uint32_t i = 0; i < r->compute.n_epilogues; i++)
        put_epilogue(p, &op->epilogue[i], keep);
}

static void get_flags(uint16_t flags, struct op *op)
{
    op->composite = flags & REC_COMPOSITE;
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
    if (op->composite) {
        get(&at, op->tile, sizeof op->tile);
        get(&at, &op->tokens, sizeof op->tokens);
    }
    for (uint32_t i = 0; i < op->n_in; i++)
        get_tensor(&at, &op->in[i], keeps);
    get_tensor(&at, &op->out, keeps);
    for (uint32_t i = 0; i < op->n_epilogues; i++)
        get_epilogue(&at, &op->epilogue[i], keeps);
    get_depends(at, r->compute.n_depends, &op->depends);
}

/* -- operations ----------------------------------------------------------------------------- */

void op_pack(const struct op *op, bool keep, struct record *r, struct packed *p)
{
    r->id = op->id;
    r->pe = op->pe;
    r->type = op->kind;
    put_region(p, r, op->region);
    if (record_is_compute(r))
        pack_compute(op, keep, r, p);
    else
        pack_dma(op, r, p);
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

void op_token_pack(const struct op_token *t, struct record *r, struct packed *p)
{
    r->id = t->id;
    r->pe = t->pe;
    r->type = (uint8_t)(REC_TOKEN + t->stage);
    r->token.parent = t->parent;
    r->token.token = t->token;
    memcpy(r->token.tile, t->tile, sizeof t->tile);
    put_region(p, r, t->region);
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
        put(p, &t->address, sizeof t->address);
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
