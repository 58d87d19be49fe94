/* pe.c -- what a PE does with a command: its stages, and the pipeline of a composite's tiles. */
#include "data/dtype.h"
#include "machine/endpoint.h"
#include "kernels/service.h"
#include "kernels/observe.h"
#include <stdlib.h>
#include <string.h>

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t parts_of(uint64_t n, uint64_t part)
{
    return (n + part - 1) / part;
}

/* -- slots ---------------------------------------------------------------------------------- */

enum { WORK_FIRST = 256 };

/* Half as many slots again. */
static bool more_slots(struct kb_sim *s)
{
    struct kernels *k = s->kernels;
    uint32_t cap = k->slots_cap ? k->slots_cap + k->slots_cap / 2 : WORK_FIRST;
    struct txn *txns;
    struct work *work;

    if (cap > EV_MAX_SLOTS - 1)
        return false;
    txns = realloc(s->txns, cap * sizeof *txns);
    if (!txns)
        return false;
    s->txns = txns;
    work = realloc(k->work, cap * sizeof *work);
    if (!work)
        return false;
    k->work = work;
    k->slots_cap = cap;
    return true;
}

/* TXN_NONE: no memory. */
static uint32_t slot_new(struct kb_sim *s)
{
    struct kernels *k = s->kernels;
    uint32_t slot = k->free_slot;

    if (slot != TXN_NONE) {
        k->free_slot = s->txns[slot].next;
        return slot;
    }
    if (k->n_slots == k->slots_cap && !more_slots(s)) {
        engine_fail(s, KB_NO_MEMORY);
        return TXN_NONE;
    }
    return k->n_slots++;
}

static void slot_free(struct kb_sim *s, uint32_t slot)
{
    s->txns[slot].next = s->kernels->free_slot;
    s->kernels->free_slot = slot;
}

/* -- stages --------------------------------------------------------------------------------- */

/* A stage that begins: whose it is, and the id of its record. */
struct stage {
    struct command *command;
    struct token *token; /* NULL: the command's own */
    enum op_stage stage;
    uint32_t id;
    uint8_t operand;
    bool data_op;
};

/* A slot for a stage; TXN_NONE: no memory. */
static uint32_t stage_slot(struct kb_sim *s, const struct stage *st, struct memory_station *station,
                           bool port)
{
    uint32_t slot = slot_new(s);

    if (slot != TXN_NONE)
        s->kernels->work[slot] = (struct work){.station = station,
                                               .command = st->command,
                                               .token = st->token,
                                               .stage = (uint8_t)st->stage,
                                               .operand = st->operand,
                                               .port = port,
                                               .id = st->id,
                                               .data_op = st->data_op};
    return slot;
}

/* A stage comes to a port or an engine, which it will take for `hold_fs`; bytes go through ports.
 */
static void begin_inside(struct kb_sim *s, uint64_t t, const struct stage *st, enum port port,
                         int64_t hold_fs, uint64_t nbytes)
{
    struct tl_ctx *pe = st->command->pe;
    uint32_t slot = stage_slot(s, st, &pe->port[port], true);

    if (slot == TXN_NONE)
        return;
    s->txns[slot] = (struct txn){
        .hold_fs = hold_fs, .nbytes = nbytes & TXN_MAX_BYTES, .id = st->id, .src = pe->src};
    engine_arrive(s, t, TXN_TO_MEMORY, slot);
}

/* The station that memory `dst` is: of a TCM, one of its ports. */
static struct memory_station *memory_station_of(struct kb_sim *s, uint32_t dst, bool writes)
{
    const struct kb_topology *t = s->topo;
    uint32_t unit = dst_unit(t, dst);

    if (unit <= t->pes)
        return &s->memories[dst];
    return &s->kernels->pes[dst_cube(t, dst) * t->pes + unit - t->pes - 1]
                .port[writes ? PORT_TCM_WRITE : PORT_TCM_READ];
}

/* A slot for a transaction between the PE and memory `dst`. TXN_NONE: no memory. */
static uint32_t dma_slot(struct kb_sim *s, uint64_t t, const struct stage *st, uint32_t dst,
                         uint64_t nbytes)
{
    struct tl_ctx *pe = st->command->pe;
    bool writes = st->stage == STAGE_DMA_WRITE;
    bool tcm = dst_unit(s->topo, dst) > s->topo->pes;
    uint32_t slot = stage_slot(s, st, memory_station_of(s, dst, writes), tcm);

    if (slot != TXN_NONE)
        s->txns[slot] = (struct txn){.issue_fs = (int64_t)t,
                                     .nbytes = nbytes & TXN_MAX_BYTES,
                                     .op = writes ? KB_WRITE : KB_READ,
                                     .src = pe->src,
                                     .dst = dst,
                                     .id = st->id};
    return slot;
}

/* A tile's transaction joins its channel's queue by an event. */
static void begin_dma(struct kb_sim *s, uint64_t t, const struct stage *st, uint32_t dst,
                      uint64_t nbytes)
{
    uint32_t slot = dma_slot(s, t, st, dst, nbytes);

    if (slot != TXN_NONE)
        engine_arrive(s, t, TXN_TO_CHANNEL, slot);
}

static int64_t port_fs(const struct kb_sim *s, const struct memory_row *tcm, uint64_t nbytes)
{
    return drain_fs(nbytes, tcm->gbs + s->mask.tcm_gbs);
}

static int64_t fetch_fs(const struct kb_sim *s, uint64_t nbytes)
{
    return port_fs(s, &s->topo->tcm_read, nbytes);
}

static int64_t store_fs(const struct kb_sim *s, uint64_t nbytes)
{
    return port_fs(s, &s->topo->tcm_write, nbytes);
}

static int64_t gemm_fs(const struct kb_sim *s, uint64_t m, uint64_t k, uint64_t n)
{
    const struct pe_row *pe = &s->topo->pe;
    uint64_t cycles = parts_of(m, pe->mac[0]) * parts_of(k, pe->mac[1]) * parts_of(n, pe->mac[2]);

    return (pe->gemm_overhead_fs & s->mask.overhead) +
           (drain_fs(cycles, pe->gemm_clock_ghz) & s->mask.compute);
}

static int64_t math_fs(const struct kb_sim *s, enum tl_op op, uint64_t elements)
{
    const struct pe_row *pe = &s->topo->pe;
    uint64_t cycles = parts_of(elements, pe->lanes);

    if (math_rows[op].cost == COST_SPECIAL)
        cycles *= pe->special_cycles;
    else if (math_rows[op].cost == COST_SOFTMAX)
        cycles *= 3 + 2 * (uint64_t)pe->special_cycles;
    return (pe->math_overhead_fs & s->mask.overhead) +
           (drain_fs(cycles, pe->math_clock_ghz) & s->mask.compute);
}

static struct kb_launch_result *tally(struct kernels *k)
{
    return &k->launches[k->launch].result;
}

/* -- binding -------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct op_tensor *x)
{
    return dims_elements(&x->shape) * dtype_bytes(x->dtype);
}

bool pe_look_at(struct tl_ctx *pe, uint32_t dst)
{
    const struct kb_topology *t = pe->sim->topo;
    uint32_t unit = dst_unit(t, dst);

    if (unit <= t->pes ||
        tcm_show(&pe->kernels->pes[dst_cube(t, dst) * t->pes + unit - t->pes - 1]))
        return true;
    kernel_no_memory(pe);
    return false;
}

/* A range that nobody has written, as an error. */
static void absent(struct command *c, uint32_t dst, const uint64_t range[2])
{
    kb_endpoint memory = endpoint_unpack_memory(c->pe->sim->topo, dst);
    char name[KB_ENDPOINT_BYTES];

    kb_endpoint_name(&memory, name);
    kernel_error(c->pe, c->call, c->here,
                 "bytes %llu..%llu of %s (address %llu) were never written",
                 (unsigned long long)address_offset(range[0]) %
                     address_memory_bytes(c->pe->sim->topo, address_space(range[0])),
                 (unsigned long long)address_offset(range[1] - 1) %
                     address_memory_bytes(c->pe->sim->topo, address_space(range[0])),
                 name, (unsigned long long)range[0]);
}

/* The bytes that lie at an operand's address now; who wrote them joins c->op.depends. */
static bool bind_place(struct command *c, struct op_tensor *x)
{
    struct tl_ctx *pe = c->pe;
    struct op_ids writers = {0};
    uint64_t range[2];
    uint32_t dst;
    uint64_t offset;
    enum mem_err err;
    bool ok = true;

    if (!address_find(pe->sim->topo, x->address, &dst, &offset) || !pe_look_at(pe, dst))
        return false;
    err = mem_read(pe->kernels->mem, dst, x->address, bytes_of(x), &x->view, &writers, range);
    if (err == MEM_ABSENT)
        absent(c, dst, range);
    else if (err == MEM_NO_MEMORY)
        kernel_no_memory(pe);
    x->maker = writers.n == 1 ? op_ids_list(&writers)[0] : OP_NONE;
    for (uint32_t i = 0; ok && i < writers.n; i++)
        ok = op_ids_add(&c->op.depends, op_ids_list(&writers)[i]);
    if (!ok)
        kernel_no_memory(pe);
    op_ids_clear(&writers);
    return ok && err == MEM_OK;
}

/* What tensor `x` holds now becomes the operand `to`. False after a message. */
static bool bind(struct command *c, struct op_tensor *to, const struct tl_tensor *x)
{
    to->maker = x->maker;
    if (x->kind == TENSOR_SCALAR)
        return true;
    if (x->kind == TENSOR_PLACE)
        return bind_place(c, to);
    to->view = x->view;
    version_keep(to->view.v);
    if (!c->pe->sim->log || op_ids_add(&c->op.depends, x->maker))
        return true;
    kernel_no_memory(c->pe);
    return false;
}

static bool bind_operands(struct command *c)
{
    struct op *op = &c->op;
    uint32_t n = 0;

    for (uint32_t i = 0; i < op->n_in; i++, n++)
        if (!bind(c, &op->in[i], c->operand[n]))
            return false;
    for (uint32_t e = 0; e < op->n_epilogues; e++)
        for (uint32_t i = 0; i < op->epilogue[e].n_operands; i++, n++)
            if (!bind(c, &op->epilogue[e].operand[i], c->operand[n]))
                return false;
    return true;
}

/* Bytes [address, ...) of memory `dst` are `view` from now on. */
static bool publish(struct command *c, uint32_t dst, const struct op_tensor *x)
{
    struct tl_ctx *pe = c->pe;

    if (mem_write(pe->kernels->mem, dst, x->address, bytes_of(x), x->view, c->op.id) == MEM_OK)
        return true;
    kernel_no_memory(pe);
    return false;
}

/* Room in the TCM for the result; its address is known then. */
static bool place_result(struct command *c)
{
    struct tl_ctx *pe = c->pe;
    struct tl_tensor *x = c->result;
    enum tcm_result r = tcm_alloc(pe, x);

    if (r == TCM_FULL)
        tcm_say_full(pe, c->call, c->here, x->nbytes);
    else if (r == TCM_NO_MEMORY)
        kernel_no_memory(pe);
    x->maker = c->op.id;
    c->op.out.address = x->address;
    c->op.out.maker = c->op.id;
    return r == TCM_OK;
}

/* A pending result of `nbytes` in c->op.out. */
static bool new_result(struct command *c, uint64_t nbytes)
{
    c->op.out.view = (struct view){version_new_result(nbytes, c->op.id), 0};
    if (c->op.out.view.v)
        return true;
    kernel_no_memory(c->pe);
    return false;
}

/* -- DMA ------------------------------------------------------------------------------------ */

static void issue_dma(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct stage st = {.command = c,
                       .stage = c->op.kind == OP_DMA_READ ? STAGE_DMA_READ : STAGE_DMA_WRITE,
                       .id = c->op.id,
                       .data_op = true};
    uint32_t slot = dma_slot(s, t, &st, c->dst, c->nbytes);

    if (slot != TXN_NONE)
        engine_issue(s, t, slot);
}

static struct strided strided_of(const struct op *op)
{
    const struct dims *d = &op->in[0].shape;
    struct strided g = {.rank = d->rank, .elem_bytes = (uint32_t)dtype_bytes(op->in[0].dtype)};

    for (uint32_t i = 0; i < d->rank; i++) {
        g.dim[i] = d->dim[i];
        g.stride[i] = op->stride[i];
    }
    return g;
}

static void issue_load(struct kb_sim *s, uint64_t t, struct command *c)
{
    if (place_result(c))
        issue_dma(s, t, c);
}

void pe_bind_load(struct kb_sim *s, struct command *c)
{
    struct op *op = &c->op;
    struct op_ids *writers = s->log ? &op->depends : NULL;
    struct strided g;
    uint64_t range[2];
    enum mem_err err;

    if (!pe_look_at(c->pe, c->dst))
        return;
    if (op->strided) {
        g = strided_of(op);
        err = mem_read_strided(s->kernels->mem, c->dst, op->in[0].address, &g, &op->out.view,
                               writers, range);
    } else {
        err = mem_read(s->kernels->mem, c->dst, op->in[0].address, c->nbytes, &op->out.view,
                       writers, range);
    }
    if (err == MEM_ABSENT)
        absent(c, c->dst, range);
    else if (err == MEM_NO_MEMORY)
        kernel_no_memory(c->pe);
    if (err != MEM_OK)
        return;
    c->result->hidden = true;
    c->result->view.v = version_keep(op->out.view.v);
    c->result->view.offset = op->out.view.offset;
}

/* An integer of `nbytes`, least significant byte first, of a dtype with a sign or without. */
static int64_t integer_at(kb_dtype dtype, const unsigned char *bytes)
{
    unsigned bits = 8 * (unsigned)dtype_bytes((uint8_t)dtype);
    uint64_t x = 0;

    memcpy(&x, bytes, bits / 8);
    if (dtype <= KB_I64)
        return (int64_t)(x << (64 - bits)) >> (64 - bits);
    return (int64_t)x;
}

/* The element as it is now, and the sum in its place: one step, in the order of events. */
void pe_add(struct kb_sim *s, struct command *c)
{
    struct mem *m = s->kernels->mem;
    kb_dtype dtype = (kb_dtype)c->op.in[0].dtype;
    uint64_t range[2], elem = dtype_bytes((uint8_t)dtype);
    struct view view = {NULL, 0}, sum = {version_new_bytes(elem), 0};
    enum mem_err err = mem_read(m, c->dst, c->op.out.address, elem, &view, NULL, range);
    bool ready = err == MEM_OK && version_ready(view.v);

    if (err == MEM_ABSENT)
        absent(c, c->dst, range);
    else if (err == MEM_OK && !ready)
        kernel_error(c->pe, c->call, c->here,
                     "the integer is pending: a result, which Phase 2 computes; store what "
                     "was loaded, or let the host fill it");
    if (ready && sum.v) {
        const unsigned char *bytes = version_bytes(view.v);
        int64_t old = bytes ? integer_at(dtype, bytes + view.offset) : 0;

        uint64_t total = (uint64_t)old + (uint64_t)c->addend;

        memcpy(sum.v->bytes, &total, elem);
        c->pe->atomic = old;
        err = bytes ? mem_write(m, c->dst, c->op.out.address, elem, sum, c->op.id) : MEM_NO_MEMORY;
    }
    if (err == MEM_NO_MEMORY || !sum.v)
        kernel_no_memory(c->pe);
    version_drop(view.v);
    version_drop(sum.v);
    if (s->race && s->status == KB_OK)
        touch_atomic(s, c);
}

static void issue_store(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct op *op = &c->op;
    struct strided g;

    if (!pe_look_at(c->pe, c->dst))
        return;
    op->out.view = op->in[0].view;
    version_keep(op->out.view.v);
    op->out.maker = op->id;
    if (c->result)
        c->result->maker = op->id;
    if (op->strided) {
        g = strided_of(op);
        if (mem_write_strided(s->kernels->mem, c->dst, op->out.address, &g, op->out.view, op->id) !=
            MEM_OK) {
            kernel_no_memory(c->pe);
            return;
        }
    } else if (!publish(c, c->dst, &op->out)) {
        return;
    }
    issue_dma(s, t, c);
}

/* -- dot and math --------------------------------------------------------------------------- */

static void begin_engine(struct kb_sim *s, uint64_t t, struct command *c)
{
    bool gemm = c->op.kind == OP_GEMM;
    struct stage st = {
        .command = c, .stage = gemm ? STAGE_GEMM : STAGE_MATH, .id = c->op.id, .data_op = true};

    begin_inside(s, t, &st, gemm ? PORT_GEMM : PORT_MATH, c->engine_fs, 0);
}

static void begin_store(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct stage st = {.command = c, .stage = STAGE_STORE, .id = c->next_id++, .data_op = true};

    begin_inside(s, t, &st, PORT_TCM_WRITE, store_fs(s, c->store_bytes), c->store_bytes);
}

static void issue_compute(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct stage st = {.command = c, .stage = STAGE_FETCH, .id = c->op.id + 1, .data_op = true};
    struct tl_tensor *x = c->result;

    if (!place_result(c) || !new_result(c, x->nbytes))
        return;
    x->hidden = true;
    x->view = c->op.out.view;
    version_keep(x->view.v);
    c->next_id = c->op.id + 1;
    if (c->fetch_bytes == 0) {
        begin_engine(s, t, c);
        return;
    }
    c->next_id++;
    begin_inside(s, t, &st, PORT_TCM_READ, fetch_fs(s, c->fetch_bytes), c->fetch_bytes);
}

static void count_compute(struct kernels *k, const struct op *op)
{
    struct kb_launch_result *sum = tally(k);

    if (op->kind == OP_GEMM)
        sum->gemm_macs += (uint64_t)op->m * op->k * op->n;
    else
        sum->math_elements += dims_elements(
            &(math_rows[op->math].group == MATH_REDUCE ? &op->in[0] : &op->out)->shape);
}

/* -- composites ----------------------------------------------------------------------------- */

/* Stages of one token, for its ids: DMA_READs, FETCH and engine; with the last K all that follow.
 */
static uint32_t token_stages(const struct command *c, bool last)
{
    const struct op *op = &c->op;
    uint32_t n = 2;

    for (uint32_t i = 0; i < op->n_in; i++)
        n += c->in_hbm[i];
    if (!last)
        return n;
    for (uint32_t e = 0; e < op->n_epilogues; e++) {
        n++;
        for (uint32_t i = 0; i < op->epilogue[e].n_operands; i++)
            n += !op->epilogue[e].operand[i].is_scalar;
    }
    return n + 2;
}

/* The next tile of the composite, as a token; NULL: no memory. */
static struct token *next_token(struct kernels *k, struct command *c)
{
    const struct op *op = &c->op;
    struct token *x = token_new(k);
    uint32_t nk = c->tiles[1], nj = c->tiles[2];
    uint64_t n = c->next_token;

    if (!x)
        return NULL;
    *x = (struct token){.command = c,
                        .number = (uint32_t)n,
                        .k = (uint32_t)(n % nk),
                        .j = (uint32_t)(n / nk % nj),
                        .i = (uint32_t)(n / nk / nj),
                        .next_id = c->next_id};
    x->rows = (uint32_t)at_most(op->tile[0], op->m - (uint64_t)x->i * op->tile[0]);
    x->depth = (uint32_t)at_most(op->tile[1], op->k - (uint64_t)x->k * op->tile[1]);
    x->columns = (uint32_t)at_most(op->tile[2], op->n - (uint64_t)x->j * op->tile[2]);
    x->last = x->k + 1 == nk;
    c->next_id += token_stages(c, x->last);
    c->next_token++;
    return x;
}

/* Extent of operand `i`'s part of a token: rows and columns as they enter the product. */
static void part_of(const struct token *x, uint32_t i, uint32_t *rows, uint32_t *columns)
{
    bool gemm = x->command->op.kind == OP_GEMM;

    *rows = gemm && i == 1 ? x->depth : x->rows;
    *columns = gemm && i == 0 ? x->depth : x->columns;
}

uint64_t token_part_bytes(const struct token *x, uint32_t i)
{
    uint32_t rows, columns;

    part_of(x, i, &rows, &columns);
    return (uint64_t)rows * columns * dtype_bytes(x->command->op.in[i].dtype);
}

uint64_t token_out_bytes(const struct token *x)
{
    return (uint64_t)x->rows * x->columns * dtype_bytes(x->command->op.out.dtype);
}

/* The address of element (row, column) of a matrix of that many rows and columns. */
static uint64_t element_address(const struct op_tensor *x, bool col_major, uint64_t rows,
                                uint64_t columns, uint64_t row, uint64_t column)
{
    uint64_t i = col_major ? column * rows + row : row * columns + column;

    return x->address + i * dtype_bytes(x->dtype);
}

/* Of the first element of operand `i`'s part. */
uint64_t token_part_address(const struct token *x, uint32_t i)
{
    const struct op *op = &x->command->op;
    uint64_t row0 = (uint64_t)x->i * op->tile[0], k0 = (uint64_t)x->k * op->tile[1];
    uint64_t column0 = (uint64_t)x->j * op->tile[2];
    uint64_t row = op->kind == OP_GEMM && i == 1 ? k0 : row0;
    uint64_t column = op->kind == OP_GEMM && i == 0 ? k0 : column0;
    uint64_t rows = op->kind == OP_GEMM && i == 1 ? op->k : op->m;
    uint64_t columns = op->kind == OP_GEMM && i == 0 ? op->k : op->n;
    bool gemm = op->kind == OP_GEMM;
    bool col_major = gemm && (i ? op->col_b : op->col_a);

    if (gemm && (i ? op->transpose_b : op->transpose_a))
        return element_address(&op->in[i], col_major, columns, rows, column, row);
    return element_address(&op->in[i], col_major, rows, columns, row, column);
}

uint64_t token_out_address(const struct token *x)
{
    const struct op *op = &x->command->op;

    return element_address(&op->out, op->kind == OP_GEMM && op->col_out, op->m, op->n,
                           (uint64_t)x->i * op->tile[0], (uint64_t)x->j * op->tile[2]);
}

static struct stage token_stage(struct token *x, enum op_stage stage)
{
    return (struct stage){
        .command = x->command, .token = x, .stage = stage, .id = x->next_id++, .data_op = true};
}

static void token_fetch(struct kb_sim *s, uint64_t t, struct token *x)
{
    const struct op *op = &x->command->op;
    struct stage st = token_stage(x, STAGE_FETCH);

    x->fetch_bytes = 0;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!op->in[i].is_scalar)
            x->fetch_bytes += token_part_bytes(x, i);
    begin_inside(s, t, &st, PORT_TCM_READ, fetch_fs(s, x->fetch_bytes), x->fetch_bytes);
}

/* A token enters: its tiles are read, or are in the TCM. */
static void token_enter(struct kb_sim *s, uint64_t t, struct token *x)
{
    struct command *c = x->command;

    for (uint32_t i = 0; i < c->op.n_in; i++)
        x->reads_left += c->in_hbm[i];
    if (x->reads_left == 0) {
        token_fetch(s, t, x);
        return;
    }
    for (uint32_t i = 0; i < c->op.n_in; i++) {
        struct stage st;

        if (!c->in_hbm[i])
            continue;
        st = token_stage(x, STAGE_DMA_READ);
        st.operand = (uint8_t)i;
        begin_dma(s, t, &st, c->in_dst[i], token_part_bytes(x, i));
    }
}

/* Tokens enter in order of issue as long as a tile buffer is free. */
static void enter_tokens(struct kb_sim *s, uint64_t t, struct tl_ctx *pe)
{
    struct command *c;

    while ((c = pe->composites) && !pe->room_taken[pe->room]) {
        struct token *x = next_token(s->kernels, c);

        if (!x) {
            engine_fail(s, KB_NO_MEMORY);
            return;
        }
        if (c->next_token == c->op.tokens)
            pe->composites = c->behind;
        x->room = pe->room;
        pe->room_taken[pe->room] = true;
        pe->room = (pe->room + 1) % s->topo->pe.tile_buffers;
        token_enter(s, t, x);
    }
}

static void token_engine(struct kb_sim *s, uint64_t t, struct token *x)
{
    const struct op *op = &x->command->op;
    struct stage st;

    if (op->kind == OP_GEMM) {
        st = token_stage(x, STAGE_GEMM);
        begin_inside(s, t, &st, PORT_GEMM, gemm_fs(s, x->rows, x->depth, x->columns), 0);
        tally(s->kernels)->gemm_macs += (uint64_t)x->rows * x->depth * x->columns;
    } else {
        st = token_stage(x, STAGE_MATH);
        begin_inside(s, t, &st, PORT_MATH,
                     math_fs(s, (enum tl_op)op->math, (uint64_t)x->rows * x->columns), 0);
        tally(s->kernels)->math_elements += (uint64_t)x->rows * x->columns;
    }
}

static void token_store(struct kb_sim *s, uint64_t t, struct token *x)
{
    struct stage st = token_stage(x, STAGE_STORE);

    begin_inside(s, t, &st, PORT_TCM_WRITE, store_fs(s, token_out_bytes(x)), token_out_bytes(x));
}

static void token_write(struct kb_sim *s, uint64_t t, struct token *x)
{
    struct stage st = token_stage(x, STAGE_DMA_WRITE);

    begin_dma(s, t, &st, x->command->dst, token_out_bytes(x));
}

/* The tensor operand of an epilogue step; NULL: it has none. */
static const struct op_tensor *epilogue_tensor(const struct op_epilogue *e)
{
    for (uint32_t i = 0; i < e->n_operands; i++)
        if (!e->operand[i].is_scalar)
            return &e->operand[i];
    return NULL;
}

/* Bytes of its part of an output tile; it is broadcast to the whole. */
static uint64_t epilogue_bytes(const struct token *x, const struct op_tensor *y)
{
    uint64_t bytes = dtype_bytes(y->dtype);
    uint32_t rank = y->shape.rank;

    if (rank >= 1 && y->shape.dim[rank - 1] != 1)
        bytes *= x->columns;
    if (rank >= 2 && y->shape.dim[rank - 2] != 1)
        bytes *= x->rows;
    return bytes;
}

static void epilogue_math(struct kb_sim *s, uint64_t t, struct token *x)
{
    const struct op_epilogue *e = &x->command->op.epilogue[x->epilogue];
    struct stage st = token_stage(x, STAGE_MATH);
    uint64_t elements = (uint64_t)x->rows * x->columns;

    begin_inside(s, t, &st, PORT_MATH, math_fs(s, (enum tl_op)e->math, elements), 0);
    tally(s->kernels)->math_elements += elements;
}

/* The next step on a complete output tile. */
static void token_epilogue(struct kb_sim *s, uint64_t t, struct token *x)
{
    const struct op *op = &x->command->op;
    const struct op_tensor *y;
    struct stage st;

    if (x->epilogue == op->n_epilogues) {
        token_store(s, t, x);
        return;
    }
    y = epilogue_tensor(&op->epilogue[x->epilogue]);
    x->in_epilogue = true;
    if (!y) {
        epilogue_math(s, t, x);
        return;
    }
    st = token_stage(x, STAGE_FETCH);
    x->fetch_bytes = epilogue_bytes(x, y);
    begin_inside(s, t, &st, PORT_TCM_READ, fetch_fs(s, x->fetch_bytes), x->fetch_bytes);
}

/* The tiles are in the registers: their buffer is free. */
static void token_fetched(struct kb_sim *s, uint64_t t, struct token *x)
{
    struct tl_ctx *pe = x->command->pe;

    if (x->in_epilogue) {
        epilogue_math(s, t, x);
        return;
    }
    pe->room_taken[x->room] = false;
    token_engine(s, t, x);
    enter_tokens(s, t, pe);
}

static void token_computed(struct kb_sim *s, uint64_t t, struct token *x)
{
    if (!x->last) {
        token_free(s->kernels, x);
        return;
    }
    if (x->in_epilogue)
        x->epilogue++;
    token_epilogue(s, t, x);
}

static void composite_end(struct kb_sim *s, uint64_t t, struct command *c)
{
    service_end(s, &c->service, t);
    pe_command_end(s, t, c);
}

static void token_written(struct kb_sim *s, uint64_t t, struct token *x)
{
    struct command *c = x->command;

    tally(s->kernels)->dma_write_bytes += token_out_bytes(x);
    token_free(s->kernels, x);
    if (--c->writes_left == 0)
        composite_end(s, t, c);
}

static void token_stage_done(struct kb_sim *s, uint64_t t, const struct work *w)
{
    struct token *x = w->token;

    switch ((enum op_stage)w->stage) {
    case STAGE_DMA_READ:
        tally(s->kernels)->dma_read_bytes += token_part_bytes(x, w->operand);
        if (--x->reads_left == 0)
            token_fetch(s, t, x);
        break;
    case STAGE_FETCH:
        token_fetched(s, t, x);
        break;
    case STAGE_GEMM:
    case STAGE_MATH:
        token_computed(s, t, x);
        break;
    case STAGE_STORE:
        token_write(s, t, x);
        break;
    case STAGE_DMA_WRITE:
        token_written(s, t, x);
        break;
    case STAGE_COMMAND: /* no stage of a tile */
        break;
    }
}

/* Ids for all stages of a composite: every output tile has tiles[1] tokens. */
static uint64_t composite_stages(const struct command *c)
{
    uint64_t outputs = (uint64_t)c->tiles[0] * c->tiles[2];

    return outputs * ((c->tiles[1] - 1) * (uint64_t)token_stages(c, false) + token_stages(c, true));
}

/* Which operands are read by DMA, and from where. */
static void find_operands(struct command *c)
{
    for (uint32_t i = 0; i < c->op.n_in; i++) {
        uint64_t offset;

        c->in_hbm[i] =
            !c->op.in[i].is_scalar &&
            address_find(c->pe->sim->topo, c->op.in[i].address, &c->in_dst[i], &offset) &&
            c->in_dst[i] != c->pe->tcm;
    }
}

static bool rooms_new(struct tl_ctx *pe)
{
    if (!pe->room_taken)
        pe->room_taken = calloc(pe->sim->topo->pe.tile_buffers, sizeof *pe->room_taken);
    if (!pe->room_taken)
        kernel_no_memory(pe);
    return pe->room_taken;
}

static void cut(struct kb_sim *s, struct command *c)
{
    const struct pe_row *row = &s->topo->pe;
    struct op *op = &c->op;

    for (int i = 0; i < 3; i++)
        op->tile[i] = row->tile[i];
    c->tiles[0] = (uint32_t)parts_of(op->m, op->tile[0]);
    c->tiles[1] = op->kind == OP_GEMM ? (uint32_t)parts_of(op->k, op->tile[1]) : 1;
    c->tiles[2] = (uint32_t)parts_of(op->n, op->tile[2]);
    c->writes_left = (uint64_t)c->tiles[0] * c->tiles[2];
    op->tokens = c->writes_left * c->tiles[1];
}

static void issue_composite(struct kb_sim *s, uint64_t t, struct command *c)
{
    struct tl_ctx *pe = c->pe;

    if (!rooms_new(pe) || !new_result(c, bytes_of(&c->op.out)) || !publish(c, c->dst, &c->op.out))
        return;
    c->result->maker = c->op.out.maker = c->op.id;
    c->service = (struct work){.command = c, .stage = STAGE_COMMAND, .data_op = true};
    service_begin(&c->service, t);
    c->next_id = c->op.id + 1;
    c->next_token = 0;
    c->behind = NULL;
    if (pe->composites)
        pe->last_composite->behind = c;
    else
        pe->composites = c;
    pe->last_composite = c;
    enter_tokens(s, t, pe);
}

/* -- commands ------------------------------------------------------------------------------- */

/* Ids that the stages of a command take beside its own. */
static uint64_t stages_of(const struct command *c)
{
    if (c->task == TASK_SEND)
        return c->pieces - 1;
    if (c->task == TASK_RECV)
        return c->pieces;
    if (c->op.composite)
        return composite_stages(c);
    return c->op.kind <= OP_DMA_WRITE ? 0 : 1 + (c->fetch_bytes != 0);
}

/* The command's id, and those behind it for its stages. */
static bool draw_ids(struct kb_sim *s, struct command *c)
{
    struct kernels *k = s->kernels;
    uint64_t n = 1 + stages_of(c);

    if (n > OP_NONE - k->next_id) {
        kernel_error(c->pe, c->call, c->here, "the run has more than %u operations", OP_NONE);
        return false;
    }
    c->op.id = (uint32_t)k->next_id;
    k->next_id += n;
    return true;
}

/* How long a dot or math command takes each of its stages. */
static void measure(struct kb_sim *s, struct command *c)
{
    const struct op *op = &c->op;

    c->fetch_bytes = 0;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!op->in[i].is_scalar)
            c->fetch_bytes += bytes_of(&op->in[i]);
    c->store_bytes = bytes_of(&op->out);
    if (op->kind == OP_GEMM) {
        c->engine_fs = gemm_fs(s, op->m, op->k, op->n);
        return;
    }
    bool of_input = math_rows[op->math].group == MATH_REDUCE;

    c->engine_fs =
        math_fs(s, (enum tl_op)op->math, dims_elements(&(of_input ? &op->in[0] : &op->out)->shape));
}

void pe_issue(struct tl_ctx *pe, uint64_t t)
{
    struct kb_sim *s = pe->sim;
    struct command *c = pe->current;

    c->op.t_issue_fs = (int64_t)t;
    if (c->op.composite) {
        find_operands(c);
        cut(s, c);
    } else if (c->op.kind >= OP_GEMM) {
        measure(s, c);
    }
    if (!draw_ids(s, c) || (c->op.kind != OP_DMA_READ && !bind_operands(c)))
        return;
    tally(s->kernels)->ops++;
    pe->outstanding++;
    pe->issued = true;
    if (s->observer)
        observe_command(s, c);
    if (c->task == TASK_SEND)
        ipcq_send(s, t, c);
    else if (c->task == TASK_RECV)
        ipcq_receive(s, t, c);
    else if (c->task == TASK_BARRIER)
        ipcq_join(s, t, c);
    else if (c->task == TASK_ATOMIC)
        issue_dma(s, t, c);
    else if (c->op.composite)
        issue_composite(s, t, c);
    else if (c->op.kind == OP_DMA_READ)
        issue_load(s, t, c);
    else if (c->op.kind == OP_DMA_WRITE)
        issue_store(s, t, c);
    else
        issue_compute(s, t, c);
    if (s->race)
        touch_issued(pe, c);
}

static void command_stage_done(struct kb_sim *s, uint64_t t, const struct work *w)
{
    struct command *c = w->command;

    switch ((enum op_stage)w->stage) {
    case STAGE_FETCH:
        begin_engine(s, t, c);
        break;
    case STAGE_GEMM:
    case STAGE_MATH:
        count_compute(s->kernels, &c->op);
        begin_store(s, t, c);
        break;
    case STAGE_DMA_READ:
        tally(s->kernels)->dma_read_bytes += c->nbytes;
        pe_command_end(s, t, c);
        break;
    case STAGE_DMA_WRITE:
        tally(s->kernels)->dma_write_bytes += c->nbytes;
        pe_command_end(s, t, c);
        break;
    default:
        pe_command_end(s, t, c);
        break;
    }
}

/* Bytes that have passed a port of a TCM: of a FETCH or a STORE, or of a DMA from or to it. */
static void count_port(struct kb_sim *s, const struct work *w, const struct txn *x)
{
    const struct kb_topology *t = s->topo;
    struct tl_ctx *pe = w->command->pe;

    if (work_is_dma(w))
        pe = &s->kernels->pes[dst_cube(t, x->dst) * t->pes + dst_unit(t, x->dst) - t->pes - 1];
    pe->port_bytes[w->station - pe->port] += x->nbytes;
}

void pe_stage_done(struct kb_sim *s, uint64_t t, uint32_t slot)
{
    struct work w = s->kernels->work[slot];

    if (STATS && w.port)
        count_port(s, &w, &s->txns[slot]);
    slot_free(s, slot);
    if (s->status != KB_OK)
        return;
    if (w.token && w.command->task != TASK_PLAIN)
        ipcq_piece_done(s, t, &w);
    else if (w.token)
        token_stage_done(s, t, &w);
    else
        command_stage_done(s, t, &w);
}
