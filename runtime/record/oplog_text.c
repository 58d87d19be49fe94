/* oplog_text.c -- the op log as JSON lines or CSV: docs/formats.md "Op log".
 *
 * Each record is unpacked and written into one growing line, which is then written to the file. The
 * functions are layers: put_...() append a value, key_...() a key and a value, and put_dma_read()
 * and its like the parameters of one kind of record, in the order of the table in docs/formats.md.
 * A comma is put before a key unless the line ends with an opening bracket, so that no layer needs
 * to know whether it writes the first member.
 *
 * Both formats have the same parameters: in CSV the JSON object is one quoted field. Lack of memory
 * is not checked after each value; `failed` is looked at once per line.
 *
 * Example: the first load of `run softmax` on cube8, 4 rows of 256 in f16 by PE 0. As JSON it is
 * one line, which is broken here:
 *
 *     {"op_id":0,"t_start":30.836250,"t_end":40.921250,
 *      "component_id":"sip0.cube0.pe0.pe_dma","op_kind":"memory","op_name":"dma_read",
 *      "params":{"t_issue":30.836250,"src_space":"hbm","src_addr":0,"dst_space":"tcm",
 *                "dst_addr":137438953472,"shape":[4,256],"dtype":"f16","nbytes":2048,
 *                "handle_id":"h0","src_strides":null},
 *      "dependency_ids":[]}
 *
 * and as CSV, where params is one field and each of its quotes is doubled:
 *
 *     0,30.836250,40.921250,sip0.cube0.pe0.pe_dma,memory,dma_read,
 *     "{""t_issue"":30.836250,...}","[]"
 *
 * The softmax that reads these rows is op 64. It has "dependency_ids":[0], the operations whose
 * results it needs, and "input_snapshots":[0], which of them made each operand. The two lists
 * differ if an operand was gathered from several stores: its snapshot is null, since there is no
 * single maker, and the dependencies have all of them.
 *
 * Invariants: a line depends on its record alone, not on the lines before it, so that lines may be
 * written in any order (oplog_order.c); times are written from whole femtoseconds, with six
 * decimals and without a double in between; a double has the fewest digits that read back as the
 * same one.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "machine/endpoint.h"
#include "machine/place.h"
#include "record/record.h"

/* -- a line --------------------------------------------------------------------------------- */

enum { LINE_FIRST = 4096 };

/* A line that grows. After `failed`, no memory, its text is worthless. */
struct line {
    char *text; /* owned */
    size_t n, cap;
    bool failed;
};

/* Room for `n` bytes, at most LINE_FIRST. */
static char *line_room(struct line *l, size_t n)
{
    char *moved;

    if (l->cap - l->n < n) {
        moved = realloc(l->text, 2 * l->cap);
        if (moved) {
            l->text = moved;
            l->cap *= 2;
        } else {
            l->failed = true;
            l->n = 0;
        }
    }
    return l->text + l->n;
}

static void line_end(struct line *l, const char *end)
{
    l->n = (size_t)(end - l->text);
}

static void put_char(struct line *l, char c)
{
    *line_room(l, 1) = c;
    l->n++;
}

/* A text of at most LINE_FIRST bytes. */
static void put_text(struct line *l, const char *text)
{
    line_end(l, text_put_text(line_room(l, strlen(text)), text));
}

static void put_count(struct line *l, uint64_t value)
{
    line_end(l, text_put_count(line_room(l, TEXT_NUMBER_BYTES), value));
}

static void put_ns(struct line *l, int64_t fs)
{
    line_end(l, text_put_ns(line_room(l, TEXT_NUMBER_BYTES), fs));
}

static void put_string(struct line *l, const char *text)
{
    put_char(l, '"');
    while (*text)
        line_end(l, text_put_json(line_room(l, TEXT_JSON_BYTES), &text));
    put_char(l, '"');
}

/* The fewest digits that read back as the same double. JSON has no infinities: they are strings. */
static void put_double(struct line *l, double value)
{
    char *to = line_room(l, TEXT_NUMBER_BYTES);

    if (!isfinite(value)) {
        put_text(l, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    l->n += (size_t)(text_put_double(to, 15, value) - to);
}

/* -- members of params ---------------------------------------------------------------------- */

/* The comma before a member or an element, unless it is the first. */
static void put_comma(struct line *l)
{
    char last = l->n > 0 ? l->text[l->n - 1] : '{';

    if (last != '{' && last != '[')
        put_char(l, ',');
}

static void put_key(struct line *l, const char *key)
{
    put_comma(l);
    put_char(l, '"');
    put_text(l, key);
    put_text(l, "\":");
}

static void key_count(struct line *l, const char *key, uint64_t value)
{
    put_key(l, key);
    put_count(l, value);
}

static void key_ns(struct line *l, const char *key, int64_t fs)
{
    put_key(l, key);
    put_ns(l, fs);
}

static void key_bool(struct line *l, const char *key, bool value)
{
    put_key(l, key);
    put_text(l, value ? "true" : "false");
}

/* A word in quotes; none of its characters needs an escape. */
static void put_word(struct line *l, const char *word)
{
    put_char(l, '"');
    put_text(l, word);
    put_char(l, '"');
}

static void key_word(struct line *l, const char *key, const char *word)
{
    put_key(l, key);
    put_word(l, word);
}

static void put_dtype(struct line *l, uint8_t dtype)
{
    put_word(l, kb_dtype_name((kb_dtype)dtype));
}

static void key_dtype(struct line *l, const char *key, uint8_t dtype)
{
    put_key(l, key);
    put_dtype(l, dtype);
}

static void key_space(struct line *l, const char *key, uint8_t space)
{
    key_word(l, key, space_name(space));
}

static void put_counts(struct line *l, const uint32_t *values, uint32_t n)
{
    put_char(l, '[');
    for (uint32_t i = 0; i < n; i++) {
        put_comma(l);
        put_count(l, values[i]);
    }
    put_char(l, ']');
}

static void put_shape(struct line *l, const struct dims *shape)
{
    put_counts(l, shape->dim, shape->rank);
}

static void key_shape(struct line *l, const char *key, const struct dims *shape)
{
    put_key(l, key);
    put_shape(l, shape);
}

static void key_counts(struct line *l, const char *key, const uint32_t *values, uint32_t n)
{
    put_key(l, key);
    put_counts(l, values, n);
}

static void put_id(struct line *l, uint32_t id)
{
    if (id == OP_NONE)
        put_text(l, "null");
    else
        put_count(l, id);
}

static void key_id(struct line *l, const char *key, uint32_t id)
{
    put_key(l, key);
    put_id(l, id);
}

/* "h12": the tensor that op 12 made. */
static void key_handle(struct line *l, uint32_t maker)
{
    put_key(l, "handle_id");
    if (maker == OP_NONE) {
        put_text(l, "null");
        return;
    }
    put_text(l, "\"h");
    put_count(l, maker);
    put_char(l, '"');
}

static uint64_t tensor_bytes(const struct op_tensor *t)
{
    return dims_elements(&t->shape) * kb_dtype_bytes((kb_dtype)t->dtype);
}

/* -- params --------------------------------------------------------------------------------- */

static void put_stride(struct line *l, int64_t stride)
{
    if (stride < 0)
        put_char(l, '-');
    put_count(l, stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride);
}

static void key_strides(struct line *l, const char *key, const struct op *op)
{
    put_key(l, key);
    if (!op->strided) {
        put_text(l, "null");
        return;
    }
    put_char(l, '[');
    for (uint32_t i = 0; i < op->in[0].shape.rank; i++) {
        put_comma(l);
        put_stride(l, op->stride[i]);
    }
    put_char(l, ']');
}

static void put_end(struct line *l, const char *space, const char *addr, const struct op_tensor *t)
{
    key_space(l, space, t->space);
    key_count(l, addr, t->address);
}

static void put_dma_read(struct line *l, const struct op *op)
{
    const struct op_tensor *src = &op->in[0];

    key_ns(l, "t_issue", op->t_issue_fs);
    put_end(l, "src_space", "src_addr", src);
    put_end(l, "dst_space", "dst_addr", &op->out);
    key_shape(l, "shape", &src->shape);
    key_dtype(l, "dtype", src->dtype);
    key_count(l, "nbytes", tensor_bytes(src));
    key_handle(l, op->id);
    key_strides(l, "src_strides", op);
}

static void put_dma_write(struct line *l, const struct op *op)
{
    const struct op_tensor *src = &op->in[0];

    key_ns(l, "t_issue", op->t_issue_fs);
    put_end(l, "src_space", "src_addr", src);
    key_shape(l, "shape", &src->shape);
    key_dtype(l, "dtype", src->dtype);
    put_end(l, "dst_space", "dst_addr", &op->out);
    key_count(l, "nbytes", tensor_bytes(src));
    key_handle(l, src->maker);
    key_strides(l, "dst_strides", op);
    key_id(l, "snapshot", src->maker);
}

/* A piece of a message to another PE. */
static void put_ipcq_copy(struct line *l, const struct op *op)
{
    const struct op_tensor *src = &op->in[0];

    key_ns(l, "t_issue", op->t_issue_fs);
    put_end(l, "src_space", "src_addr", src);
    put_end(l, "dst_space", "dst_addr", &op->out);
    key_shape(l, "shape", &src->shape);
    key_dtype(l, "dtype", src->dtype);
    key_count(l, "nbytes", tensor_bytes(src));
    key_id(l, "snapshot", src->maker);
}

static void key_layout(struct line *l, const char *key, bool is_col)
{
    key_word(l, key, is_col ? "col_major" : "row_major");
}

/* "G" of docs/formats.md "Op log". */
static void put_gemm(struct line *l, const struct op *op)
{
    const struct op_tensor *a = &op->in[0], *b = &op->in[1];

    key_count(l, "src_a_addr", a->address);
    key_count(l, "src_b_addr", b->address);
    key_count(l, "dst_addr", op->out.address);
    key_shape(l, "shape_a", &a->shape);
    key_shape(l, "shape_b", &b->shape);
    key_shape(l, "shape_out", &op->out.shape);
    key_dtype(l, "dtype_in", a->dtype);
    key_dtype(l, "dtype_acc", op->dtype_acc);
    key_dtype(l, "dtype_out", op->out.dtype);
    key_count(l, "m", op->m);
    key_count(l, "k", op->k);
    key_count(l, "n", op->n);
    key_bool(l, "transpose_a", op->transpose_a);
    key_bool(l, "transpose_b", op->transpose_b);
    key_layout(l, "layout_a", op->col_a);
    key_layout(l, "layout_b", op->col_b);
    key_layout(l, "layout_out", op->col_out);
    key_space(l, "src_a_space", a->space);
    key_space(l, "src_b_space", b->space);
    key_space(l, "dst_space", op->out.space);
}

/* Entries of key_tensors(). */
static void put_address(struct line *l, const struct op_tensor *t)
{
    put_count(l, t->address);
}

static void put_its_shape(struct line *l, const struct op_tensor *t)
{
    put_shape(l, &t->shape);
}

static void put_its_space(struct line *l, const struct op_tensor *t)
{
    put_word(l, space_name(t->space));
}

static void put_its_dtype(struct line *l, const struct op_tensor *t)
{
    put_dtype(l, t->dtype);
}

static void put_snapshot(struct line *l, const struct op_tensor *t)
{
    put_id(l, t->maker);
}

/* One entry per operand: null for a scalar. */
static void key_tensors(struct line *l, const char *key, const struct op *op,
                        void (*put)(struct line *l, const struct op_tensor *t))
{
    put_key(l, key);
    put_char(l, '[');
    for (uint32_t i = 0; i < op->n_in; i++) {
        put_comma(l);
        if (op->in[i].is_scalar)
            put_text(l, "null");
        else
            put(l, &op->in[i]);
    }
    put_char(l, ']');
}

/* One entry per operand: null for a tensor. */
static void key_scalars(struct line *l, const struct op_tensor *t, uint32_t n)
{
    put_key(l, "scalars");
    put_char(l, '[');
    for (uint32_t i = 0; i < n; i++) {
        put_comma(l);
        if (t[i].is_scalar)
            put_double(l, t[i].scalar);
        else
            put_text(l, "null");
    }
    put_char(l, ']');
}

static void key_axis(struct line *l, const struct op *op)
{
    put_key(l, "axis");
    if (op->has_axis && !op->all_axes)
        put_count(l, (uint64_t)op->axis);
    else
        put_text(l, "null");
}

/* "X" of docs/formats.md "Op log". */
static void put_math(struct line *l, const struct op *op)
{
    key_word(l, "op", math_rows[op->math].name);
    key_tensors(l, "input_addrs", op, put_address);
    key_tensors(l, "input_shapes", op, put_its_shape);
    key_tensors(l, "input_spaces", op, put_its_space);
    key_tensors(l, "input_dtypes", op, put_its_dtype);
    key_scalars(l, op->in, op->n_in);
    key_count(l, "dst_addr", op->out.address);
    key_space(l, "dst_space", op->out.space);
    key_shape(l, "shape_out", &op->out.shape);
    key_dtype(l, "dtype", op->out.dtype);
    key_axis(l, op);
    key_bool(l, "keepdims", op->keepdims);
    key_tensors(l, "input_snapshots", op, put_snapshot);
}

static void put_composite(struct line *l, const struct op *op)
{
    key_count(l, "out_addr", op->out.address);
    key_count(l, "out_nbytes", tensor_bytes(&op->out));
    key_counts(l, "tile", op->tile, 3);
    key_count(l, "tokens", op->tokens);
}

/* Its tensor operand; NULL: it has none. */
static const struct op_tensor *tensor_of(const struct op_epilogue *e)
{
    for (uint32_t i = 0; i < e->n_operands; i++)
        if (!e->operand[i].is_scalar)
            return &e->operand[i];
    return NULL;
}

static void key_null(struct line *l, const char *key)
{
    put_key(l, key);
    put_text(l, "null");
}

/*
 * A step of an epilogue has the form of a MATH with the accumulator as its first operand, which is
 * therefore not listed. At most one of the others is a tensor (tl_product.c), so its address,
 * space, shape and type are members of the step and no lists.
 */
static void put_epilogue(struct line *l, const struct op_epilogue *e)
{
    const struct op_tensor *t = tensor_of(e);

    put_comma(l);
    put_char(l, '{');
    key_word(l, "op", math_rows[e->math].name);
    key_scalars(l, e->operand, e->n_operands);
    if (t) {
        key_count(l, "input_addr", t->address);
        key_space(l, "input_space", t->space);
        key_shape(l, "input_shape", &t->shape);
        key_dtype(l, "input_dtype", t->dtype);
    } else {
        key_null(l, "input_addr");
        key_null(l, "input_space");
        key_null(l, "input_shape");
        key_null(l, "input_dtype");
    }
    put_char(l, '}');
}

static void put_composite_gemm(struct line *l, const struct op *op)
{
    key_word(l, "op", "gemm");
    put_composite(l, op);
    put_key(l, "epilogue");
    put_char(l, '[');
    for (uint32_t i = 0; i < op->n_epilogues; i++)
        put_epilogue(l, &op->epilogue[i]);
    put_char(l, ']');
    put_gemm(l, op);
}

/*
 * Four kinds of records share the columns: a dot (OP_GEMM), a MATH, and a composite of either. A
 * composite is one record, and its tiles are tokens, with the composite's op_id as their `parent`.
 * `run gemm M=64 N=64 K=64` on cube8 has 2112 commands and 2048 tokens (FETCH and STORE of each
 * dot, add and cast): 4160 records.
 */
static void put_compute(struct line *l, const struct op *op)
{
    key_ns(l, "t_issue", op->t_issue_fs);
    if (op->kind == OP_GEMM && op->composite) {
        put_composite_gemm(l, op);
    } else if (op->kind == OP_GEMM) {
        put_gemm(l, op);
    } else {
        if (op->composite)
            put_composite(l, op);
        put_math(l, op);
    }
}

static const char *const stage_names[] = {"DMA_READ", "DMA_WRITE", "FETCH",
                                          "GEMM",     "MATH",      "STORE"};

/*
 * A stage has the members that its engine used: a transfer its bytes, and where from or to; GEMM
 * the extents of the tile; MATH its elements.
 */
static void put_stage(struct line *l, const struct op_token *t)
{
    switch ((enum op_stage)t->stage) {
    case STAGE_DMA_READ:
        key_count(l, "operand", t->operand);
        key_space(l, "src_space", t->space);
        key_count(l, "src_addr", t->address);
        key_count(l, "nbytes", t->nbytes);
        break;
    case STAGE_DMA_WRITE:
        key_space(l, "dst_space", t->space);
        key_count(l, "dst_addr", t->address);
        key_count(l, "nbytes", t->nbytes);
        break;
    case STAGE_FETCH:
    case STAGE_STORE:
        key_count(l, "nbytes", t->nbytes);
        break;
    case STAGE_GEMM:
        key_count(l, "m", t->m);
        key_count(l, "k", t->k);
        key_count(l, "n", t->n);
        break;
    case STAGE_MATH:
        key_word(l, "op", math_rows[t->math].name);
        key_count(l, "elements", t->elements);
        break;
    case STAGE_COMMAND: /* has a record of its own kind */
        break;
    }
}

static void put_token(struct line *l, const struct op_token *t)
{
    key_word(l, "stage_type", stage_names[t->stage]);
    key_count(l, "parent", t->parent);
    key_count(l, "token", t->token);
    key_counts(l, "tile", t->tile, 3);
    put_stage(l, t);
}

/* -- records -------------------------------------------------------------------------------- */

/* A record, unpacked. */
struct entry {
    const struct record *record;
    union {
        struct op op;
        struct op_token token;
    };
};

static void unpack(const struct record *r, const unsigned char *chunk, struct entry *e)
{
    e->record = r;
    if (record_is_token(r))
        op_token_unpack(r, chunk, &e->token);
    else
        op_unpack(r, chunk, &e->op);
}

/*
 * The node on whose track the record belongs. A composite belongs to pe_scheduler, which cuts it
 * into tiles; the stages of the tiles are on the engines. A dot that is no composite is on
 * pe_gemm, for its record is that of the GEMM alone: its FETCH and STORE are tokens of
 * pe_fetch_store.
 */
static enum node_kind component_of(const struct entry *e)
{
    static const uint8_t of_stage[] = {
        [STAGE_DMA_READ] = NODE_PE_DMA,      [STAGE_DMA_WRITE] = NODE_PE_DMA,
        [STAGE_FETCH] = NODE_PE_FETCH_STORE, [STAGE_GEMM] = NODE_PE_GEMM,
        [STAGE_MATH] = NODE_PE_MATH,         [STAGE_STORE] = NODE_PE_FETCH_STORE,
    };

    if (record_is_token(e->record))
        return of_stage[e->token.stage];
    if (e->op.kind == OP_DMA_READ || e->op.kind == OP_DMA_WRITE)
        return NODE_PE_DMA;
    if (e->op.composite)
        return NODE_PE_SCHEDULER;
    return e->op.kind == OP_GEMM ? NODE_PE_GEMM : NODE_PE_MATH;
}

static void name_component(const struct kb_topology *t, const struct entry *e,
                           char name[KB_NODE_BYTES])
{
    kb_place_node(t, place_pe_node(t, e->record->pe, component_of(e)), name);
}

static void put_component(struct line *l, const struct kb_topology *t, const struct entry *e)
{
    char name[KB_NODE_BYTES];

    name_component(t, e, name);
    put_text(l, name);
}

static const char *kind_of(const struct entry *e)
{
    static const char *const names[] = {"memory", "memory", "gemm", "math"};

    return record_is_token(e->record) ? "unknown" : names[e->op.kind];
}

static void put_op_name(struct line *l, const struct entry *e)
{
    const struct op *op = &e->op;

    if (record_is_token(e->record)) {
        put_text(l, "TileToken/");
        put_text(l, stage_names[e->token.stage]);
    } else if (op->ipcq) {
        put_text(l, "ipcq_copy");
    } else if (op->kind == OP_DMA_READ || op->kind == OP_DMA_WRITE) {
        put_text(l, op->kind == OP_DMA_READ ? "dma_read" : "dma_write");
    } else if (op->composite) {
        put_text(l, op->kind == OP_GEMM ? "composite_gemm" : "composite_math");
    } else if (op->kind == OP_GEMM) {
        put_text(l, "gemm_");
        put_text(l, kb_dtype_name((kb_dtype)op->in[0].dtype));
    } else {
        put_text(l, math_rows[op->math].name);
    }
}

static void put_params(struct line *l, const struct entry *e)
{
    bool is_token = record_is_token(e->record);
    const char *region = is_token ? e->token.region : e->op.region;

    put_char(l, '{');
    if (is_token)
        put_token(l, &e->token);
    else if (e->op.kind == OP_DMA_READ)
        put_dma_read(l, &e->op);
    else if (e->op.ipcq)
        put_ipcq_copy(l, &e->op);
    else if (e->op.kind == OP_DMA_WRITE)
        put_dma_write(l, &e->op);
    else
        put_compute(l, &e->op);
    if (region) {
        put_key(l, "region");
        put_string(l, region);
    }
    put_char(l, '}');
}

static void put_depends(struct line *l, const struct entry *e)
{
    if (record_is_token(e->record))
        put_text(l, "[]");
    else
        put_counts(l, op_ids_list(&e->op.depends), e->op.depends.n);
}

static void put_json(struct line *l, const struct kb_topology *t, const struct entry *e)
{
    put_char(l, '{');
    key_count(l, "op_id", e->record->id);
    key_ns(l, "t_start", e->record->start_fs);
    key_ns(l, "t_end", e->record->end_fs);
    put_key(l, "component_id");
    put_char(l, '"');
    put_component(l, t, e);
    put_char(l, '"');
    key_word(l, "op_kind", kind_of(e));
    put_key(l, "op_name");
    put_char(l, '"');
    put_op_name(l, e);
    put_char(l, '"');
    put_key(l, "params");
    put_params(l, e);
    put_key(l, "dependency_ids");
    put_depends(l, e);
    put_text(l, "}\n");
}

/* -- parts of a record ---------------------------------------------------------------------- */

void op_log_component(const struct op_log *log, const struct record *r, const unsigned char *chunk,
                      char name[KB_NODE_BYTES])
{
    struct entry e;

    unpack(r, chunk, &e);
    name_component(log->topo, &e, name);
}

/* The text that put() writes for the record; owned by the caller; NULL: no memory. */
static char *text_of(const struct record *r, const unsigned char *chunk,
                     void (*put)(struct line *l, const struct entry *e))
{
    struct line l = {.text = malloc(LINE_FIRST), .cap = LINE_FIRST};
    struct entry e;

    if (!l.text)
        return NULL;
    unpack(r, chunk, &e);
    put(&l, &e);
    put_char(&l, '\0');
    if (!l.failed)
        return l.text;
    free(l.text);
    return NULL;
}

bool op_log_name(const struct record *r, const unsigned char *chunk, char name[32])
{
    char *text = text_of(r, chunk, put_op_name);

    if (!text)
        return false;
    snprintf(name, 32, "%s", text);
    free(text);
    return true;
}

char *op_log_params(const struct record *r, const unsigned char *chunk)
{
    return text_of(r, chunk, put_params);
}

/*
 * Makes the text of the line from `from` on one field of CSV (RFC 4180): quotes around it, and
 * each quote inside it twice. The text is in the line already, so it is moved to its new end from
 * behind, byte by byte: no byte is overwritten before it has been moved. `{"m":4}` of 7 bytes with
 * 2 quotes grows by 4 to `"{""m"":4}"`; the room is taken first, since the line may move when it
 * grows.
 */
static void quote(struct line *l, size_t from)
{
    size_t n = l->n - from, quotes = 2;
    char *to, *p;

    for (size_t i = 0; i < n; i++)
        quotes += l->text[from + i] == '"';
    for (size_t room = 0; room < quotes && !l->failed; room++)
        put_char(l, '"');
    if (l->failed)
        return;
    to = l->text + l->n;
    p = l->text + from + n;
    *--to = '"';
    while (p > l->text + from) {
        *--to = *--p;
        if (*p == '"')
            *--to = '"';
    }
    *--to = '"';
}

static void put_csv(struct line *l, const struct kb_topology *t, const struct entry *e)
{
    size_t from;

    put_count(l, e->record->id);
    put_char(l, ',');
    put_ns(l, e->record->start_fs);
    put_char(l, ',');
    put_ns(l, e->record->end_fs);
    put_char(l, ',');
    put_component(l, t, e);
    put_char(l, ',');
    put_text(l, kind_of(e));
    put_char(l, ',');
    put_op_name(l, e);
    put_char(l, ',');
    from = l->n;
    put_params(l, e);
    quote(l, from);
    put_char(l, ',');
    from = l->n;
    put_depends(l, e);
    quote(l, from);
    put_char(l, '\n');
}

/* -- export --------------------------------------------------------------------------------- */

struct export
{
    const struct kb_topology *topo;
    enum op_format format;
    struct line line;
    FILE *out;
    int error; /* errno of a write that failed */
};

static bool write_line(struct export *x)
{
    if (!x->line.failed && fwrite(x->line.text, 1, x->line.n, x->out) != x->line.n)
        x->error = errno ? errno : EIO;
    x->line.n = 0;
    return !x->line.failed && !x->error;
}

static bool write_record(void *arg, const struct record *r, const unsigned char *chunk)
{
    struct export *x = arg;
    struct entry e;

    unpack(r, chunk, &e);
    if (x->format == OP_CSV)
        put_csv(&x->line, x->topo, &e);
    else
        put_json(&x->line, x->topo, &e);
    return write_line(x);
}

/* The first line: docs/results.md "JSON". */
static bool write_header(struct export *x, const char *command_line, uint64_t seed)
{
    struct line *l = &x->line;

    if (x->format == OP_CSV) {
        put_text(l, "op_id,t_start,t_end,component_id,op_kind,op_name,params,dependency_ids\n");
        return write_line(x);
    }
    put_char(l, '{');
    key_word(l, "schema", "kernbench.oplog/1");
    put_key(l, "topology");
    put_char(l, '{');
    put_key(l, "name");
    put_string(l, x->topo->name);
    put_key(l, "hash");
    put_string(l, x->topo->hash);
    put_key(l, "config");
    put_string(l, x->topo->config);
    put_char(l, '}');
    put_key(l, "version");
    put_string(l, KB_VERSION);
    if (command_line) {
        put_key(l, "command");
        put_string(l, command_line);
        put_key(l, "seed");
        put_count(l, seed);
    }
    put_text(l, "}\n");
    return write_line(x);
}

static kb_status no_memory(kb_error *why)
{
    endpoint_error(why, "out of memory while the op log was written");
    return KB_NO_MEMORY;
}

kb_status op_log_export(struct op_log *log, enum op_format format, const char *command_line,
                        uint64_t seed, FILE *out, kb_error *why)
{
    struct export x = {.topo = log->topo, .format = format, .out = out};
    bool ok;

    if (log->status != KB_OK)
        return op_log_error(log, why);
    x.line.text = malloc(LINE_FIRST);
    x.line.cap = LINE_FIRST;
    ok = x.line.text && write_header(&x, command_line, seed) &&
         op_log_in_order(log, write_record, &x);
    free(x.line.text);
    if (ok && fflush(out) != 0)
        x.error = errno;
    if (x.error) {
        endpoint_error(why, "cannot write the op log: %s", strerror(x.error));
        return KB_FILE_ERROR;
    }
    return ok ? KB_OK : no_memory(why);
}
