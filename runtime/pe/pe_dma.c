/* pe_dma.c -- pe_dma: transactions between a PE and other memories; loads, stores, atomics.
 *
 * What it holds   a read channel (loads, tiles of a composite, slots in SRAM or HBM) or a write
 *                 channel (stores, atomics, result tiles, pieces of messages)
 * For how long    from its start until its last byte has been served
 * Lets in first   first come, first served. A command's transaction joins in the event of its issue
 *                 (class 4), that of a tile or a piece by an event of its own (class 2), so at one
 *                 instant tiles come before commands.
 * Wait counted    channel_wait of --breakdown; t_start - t_issue of a record
 * Golden number   docs/kernels.md "Worked: four commands": a load of 4096 bytes of the own slice
 *                 takes 21.085 ns: 3 to its issue, wire 0.085, overhead 2, drain 16
 *
 * Time and bytes are separate. A transaction carries a number of bytes through the engine; its data
 * are a reference to a version in the MemoryStore (data/mem.h), taken at one instant:
 *
 *   load     when its last byte has been served: pe_dma_bind_load(). It sees each store that was
 *            issued before that instant, also one that was issued after the load.
 *   store    at its start: pe_dma_store(). Its own bytes are still on their way.
 *   atomic   when its bytes have been served: pe_dma_add() and pe_dma_combine(), which read and
 *            write in one event
 *
 * Example, in ns. PE 0 issues a load of 4096 bytes of its slice at 3; they are served from 5.085 to
 * 21.085. PE 1 issues a store to the same bytes at 20: the load returns the new ones, for they are
 * the version that lies there at 21.085. A kernel for which this matters has a data race, which
 * `run --race` reports.
 *
 * The memory of a transaction is a slice or an SRAM, or of another PE's TCM the port that it reads
 * or writes: pe_tcm.c.
 */
#include "data/sum_sources.h"
#include "engine/split.h"
#include "kernels/accesses.h"
#include "kernels/error.h"
#include "kernels/operands.h"
#include "kernels/requests.h"
#include "machine/address.h"
#include "machine/endpoint.h"
#include "network/banks_state.h"
#include "pe/boxes.h"
#include <stdlib.h>
#include <string.h>

/* -- transactions ----------------------------------------------------------------------------- */

/* The station that memory `dst` is: of a TCM, one of its ports. */
static struct memory_station *memory_station_of(struct kb_sim *s, uint32_t dst, bool writes)
{
    if (!unit_is_tcm(s->topo, dst_unit(s->topo, dst)))
        return &s->memories[dst];
    return &pe_of_tcm(s, dst)->port[writes ? PORT_TCM_WRITE : PORT_TCM_READ];
}

/* A slot for a transaction whose first byte lies in memory `dst`. */
static uint32_t new_slot(struct kb_sim *s, uint64_t t, const struct stage *stage, uint32_t dst,
                         uint64_t nbytes)
{
    struct tl_ctx *pe = stage->command->pe;
    bool writes = stage->stage == STAGE_DMA_WRITE;
    bool tcm = unit_is_tcm(s->topo, dst_unit(s->topo, dst));
    uint32_t slot = slot_new(s, stage, memory_station_of(s, dst, writes), tcm);

    if (slot == TXN_NONE)
        return slot;
    if (tcm)
        s->kernels->reaches_tcms = true;
    s->txns[slot] = (struct txn){.issue_fs = (int64_t)t,
                                 .nbytes = nbytes & TXN_MAX_BYTES,
                                 .src = pe->src,
                                 .dst = dst,
                                 .id = stage->id};
    if (stage->command->task == TASK_SEND)
        s->txns[slot].prio = 1;
    if (!s->topo->regular)
        s->txns[slot].course =
            endpoint_course(s->topo, writes ? KB_WRITE : KB_READ, pe->src, dst, stage->id, 0) & 63u;
    if (writes) /* apart: to read 8 bytes soon after one of them was written takes a while */
        s->txns[slot].op = KB_WRITE;
    return slot;
}

/* -- transactions in parts -------------------------------------------------------------------- */

/* Room for the numbers of `n` slots. False without memory. */
static bool room_for_parts(struct kernels *k, size_t n)
{
    uint32_t *more;

    if (n <= k->parts_cap)
        return true;
    more = realloc(k->part_slots, n * sizeof *more);
    if (!more)
        return false;
    k->part_slots = more;
    k->parts_cap = n;
    return true;
}

/* Mostly they are few, and beside each other. */
enum { FEW_SLOTS = 16 };

static int by_slot(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void sort_few_slots(uint32_t *slots, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t slot = slots[i], to = i;

        for (; to > 0 && slots[to - 1] > slot; to--)
            slots[to] = slots[to - 1];
        slots[to] = slot;
    }
}

/* `n` slots for parts of a stage, in ascending order, in k->part_slots. False without memory. */
static bool take_parts(struct kb_sim *s, const struct stage *stage, uint64_t n)
{
    struct kernels *k = s->kernels;

    if (!room_for_parts(k, n)) {
        engine_fail(s, KB_NO_MEMORY);
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        k->part_slots[i] = slot_new(s, stage, NULL, false);
        if (k->part_slots[i] == TXN_NONE)
            return false;
    }
    if (n > FEW_SLOTS)
        qsort(k->part_slots, n, sizeof *k->part_slots, by_slot);
    else
        sort_few_slots(k->part_slots, (uint32_t)n);
    return true;
}

/* A slot for each part of the transaction in `whole`, as it was cut. False: no memory. */
static bool make_parts(struct kb_sim *s, const struct stage *stage, uint32_t whole)
{
    const struct kernels *k = s->kernels;
    uint64_t n = s->parts.n;

    if (!take_parts(s, stage, n))
        return false;
    split_make(s, whole, 0, k->part_slots);
    for (uint64_t i = 0; i < n; i++) {
        struct work *work = &k->work[k->part_slots[i]];

        work->station =
            memory_station_of(s, s->txns[k->part_slots[i]].dst, stage->stage == STAGE_DMA_WRITE);
        work->port = k->work[whole].port;
    }
    k->work[whole].port = false; /* its parts come there */
    return true;
}

/* The runs of a list; pieces that touch are one, and one run is no tile. */
static struct tile tile_of_list(const struct command *c)
{
    struct tile tile = {.list = c->runs, .n = c->op.n_runs};
    uint32_t next = 0;

    tile_next(&tile, &next);
    return next < tile.n ? tile : (struct tile){0};
}

/* The runs of what a stage moves; where the PE joins tiles it is one. */
static struct tile tile_of(const struct stage *stage)
{
    const struct command *c = stage->command;

    if (pe_kind(c->pe)->tiles == TILES_JOINED)
        return (struct tile){0};
    if (c->op.n_runs > 1)
        return tile_of_list(c);
    if (!stage->token)
        return c->op.strided ? op_tile(&c->op) : (struct tile){0};
    if (!c->op.composite)
        return (struct tile){0};
    return stage->stage == STAGE_DMA_READ ? token_part_tile(stage->token, stage->operand)
                                          : token_out_tile(stage->token);
}

/* Cuts a transaction into parts. False: no memory, or after the kernel's error. */
static bool cut(struct kb_sim *s, const struct command *c, uint32_t area, uint64_t nbytes,
                const struct bytes_at *bytes, uint64_t address)
{
    const struct txn of = {.src = c->pe->src, .dst = area, .nbytes = nbytes & TXN_MAX_BYTES};
    kb_status status = split_cut(s, &of, bytes);

    if (status == KB_NO_MEMORY)
        engine_fail(s, KB_NO_MEMORY);
    else if (status != KB_OK && s->parts.n)
        kernel_error(c->pe, c->call, c->here,
                     "%llu bytes from address %llu have more than 65536 parts",
                     (unsigned long long)nbytes, (unsigned long long)address);
    else if (status != KB_OK)
        kernel_error(c->pe, c->call, c->here,
                     "%llu bytes from address %llu pass the end of the cube's addresses",
                     (unsigned long long)nbytes, (unsigned long long)address);
    return status == KB_OK;
}

/* The targets of a multicast. NULL: no memory. */
static const struct targets *targets_of(struct kb_sim *s, const struct command *c)
{
    struct kernels *k = s->kernels;
    uint32_t n = c->op.n_runs;
    struct targets *targets = realloc(k->targets, sizeof *targets + n * sizeof targets->of[0]);

    if (!targets)
        return NULL;
    k->targets = targets;
    targets->next = NULL;
    targets->n = n;
    for (uint32_t i = 0; i < n; i++)
        address_find(s->topo, c->runs[i].at, &targets->of[i].dst, &targets->of[i].offset);
    return targets;
}

/* An L2 has what loads and stores move, and tiles: no atomics, and no messages. */
static bool goes_past_l2(const struct command *c)
{
    return (c->task != TASK_PLAIN && c->task != TASK_ACC) || c->to_all;
}

/* The same where transactions may have parts. */
static __attribute__((noinline)) uint32_t parts_slot(struct kb_sim *s, uint64_t t,
                                                     const struct stage *stage, uint32_t area,
                                                     uint64_t address, uint64_t nbytes)
{
    const struct command *c = stage->command;
    struct bytes_at bytes = {.by_address = address_is_interleaved(s->topo, address),
                             .at = address,
                             .past_l2 = goes_past_l2(c),
                             .tile = c->to_all ? (struct tile){0} : tile_of(stage),
                             .targets = c->to_all ? targets_of(s, c) : NULL};
    uint32_t slot;

    if (c->to_all && !bytes.targets) {
        engine_fail(s, KB_NO_MEMORY);
        return TXN_NONE;
    }
    if (bytes.tile.n > TILE_RUNS_MAX || (bytes.tile.n == 0 && bytes.tile.rank)) {
        kernel_error(c->pe, c->call, c->here, "the tile has more than %d runs", TILE_RUNS_MAX);
        return TXN_NONE;
    }
    if (bytes.tile.list) {
        bytes.by_address = true;
        bytes.at = 0;
    } else if (!bytes.by_address && !address_find(s->topo, address, &area, &bytes.at))
        bytes.at = 0;
    if (!cut(s, c, area, nbytes, &bytes, address))
        return TXN_NONE;
    slot = new_slot(s, t, stage, s->parts.rows[0].dst, nbytes);
    if (slot == TXN_NONE)
        return slot;
    if (!split_goes_in_parts(s, &bytes)) {
        split_place_cut(s, slot);
        return slot;
    }
    split_place(s, slot, s->parts.rows[0].offset);
    return make_parts(s, stage, slot) ? slot : TXN_NONE;
}

uint32_t pe_dma_slot(struct kb_sim *s, uint64_t t, const struct stage *stage, uint32_t area,
                     uint64_t address, uint64_t nbytes)
{
    uint32_t slot;
    uint64_t offset;

    if (stage->command->op.n_runs > 1 && !split_begin(s)) {
        engine_fail(s, KB_NO_MEMORY);
        return TXN_NONE;
    }
    if (s->splits)
        return parts_slot(s, t, stage, area, address, nbytes);
    slot = new_slot(s, t, stage, area, nbytes);
    if (slot != TXN_NONE && split_asks_where(s) && address_find(s->topo, address, &area, &offset))
        split_place(s, slot, offset);
    return slot;
}

/* -- joining a channel ------------------------------------------------------------------------ */

void pe_dma_begin(struct kb_sim *s, uint64_t t, const struct stage *stage, uint32_t area,
                  uint64_t address, uint64_t nbytes)
{
    uint32_t slot = pe_dma_slot(s, t, stage, area, address, nbytes);

    if (slot != TXN_NONE)
        engine_arrive(s, t, TXN_TO_CHANNEL, slot);
}

void pe_dma_issue(struct kb_sim *s, uint64_t t, struct command *c, bool called)
{
    struct stage stage = {.command = c,
                          .stage = c->op.kind == OP_DMA_READ ? STAGE_DMA_READ : STAGE_DMA_WRITE,
                          .id = c->op.id,
                          .data_op = true};
    uint64_t address = c->op.kind == OP_DMA_READ ? c->op.in[0].address : c->op.out.address;
    uint32_t slot;

    if (!called) {
        pe_dma_begin(s, t, &stage, c->dst, address, c->nbytes);
        return;
    }
    slot = pe_dma_slot(s, t, &stage, c->dst, address, c->nbytes);
    if (slot != TXN_NONE)
        engine_issue(s, t, slot);
}

/* -- loads ------------------------------------------------------------------------------------ */

/* The sum of sources that are known. False: no memory. */
static bool sum_now(struct command *c, struct view from)
{
    struct op *op = &c->op;
    const unsigned char *bytes = version_bytes(from.v);

    op->out.view = (struct view){version_new_bytes(c->nbytes), 0};
    if (!bytes || !op->out.view.v)
        return false;
    sum_sources((kb_dtype)op->out.dtype, op->n_runs, dims_elements(&op->out.shape),
                bytes + from.offset, op->out.view.v->bytes);
    return true;
}

/* Some source is pending: the sum is an operation of Phase 2, of all sources as one operand. False:
 * no memory. */
static bool sum_later(struct command *c, struct view from)
{
    struct op *op = &c->op;
    struct op_tensor *sources = &op->in[0];

    op->kind = OP_MATH;
    op->math = TL_SUM;
    op->all_axes = op->keepdims = false;
    op->has_axis = true;
    op->axis = 0;
    sources->view = from;
    version_keep(from.v);
    sources->shape =
        (struct dims){.rank = 2, .dim = {op->n_runs, (uint32_t)dims_elements(&op->out.shape)}};
    op->out.view = (struct view){version_new_result(c->nbytes, op->id), 0};
    return op->out.view.v != NULL;
}

/* The sources of a load that adds them, as they lie there now. */
static void bind_sum(struct kb_sim *s, struct command *c)
{
    struct op *op = &c->op;
    struct view from = {NULL, 0};
    uint32_t area = c->dst;
    uint64_t range[2];
    enum mem_err err;

    for (uint32_t i = 0; i < op->n_runs; i++)
        if (!tcm_look_at(c->pe, c->runs[i].area))
            return;
    err = mem_read_list(s->kernels->mem, c->runs, op->n_runs, &from, s->log ? &op->depends : NULL,
                        &area, range);
    if (err == MEM_ABSENT) {
        operand_absent(c, area, range);
        return;
    }
    if (err != MEM_OK || !(version_ready(from.v) ? sum_now(c, from) : sum_later(c, from))) {
        version_drop(from.v);
        kernel_no_memory(c->pe);
        return;
    }
    version_drop(from.v);
    c->result->hidden = true;
    c->result->view = op->out.view;
    version_keep(op->out.view.v);
}

void pe_dma_bind_load(struct kb_sim *s, struct command *c)
{
    struct op *op = &c->op;
    struct op_ids *writers = s->log ? &op->depends : NULL;
    uint32_t area = c->dst;
    struct strided g;
    uint64_t range[2];
    enum mem_err err;

    if (c->op.sums) {
        bind_sum(s, c);
        return;
    }
    if (!tcm_look_at(c->pe, c->dst))
        return;
    if (c->runs) {
        err = mem_read_list(s->kernels->mem, c->runs, op->n_runs, &op->out.view, writers, &area,
                            range);
    } else if (op->strided) {
        g = op_strided(op);
        err = mem_read_strided(s->kernels->mem, c->dst, op->in[0].address, &g, &op->out.view,
                               writers, range);
    } else {
        err = mem_read_again(s->kernels->mem, c->dst, op->in[0].address, c->nbytes, &c->pe->again,
                             &op->out.view, writers, range);
    }
    if (err == MEM_ABSENT)
        operand_absent(c, area, range);
    else if (err == MEM_NO_MEMORY)
        kernel_no_memory(c->pe);
    if (err != MEM_OK)
        return;
    c->result->hidden = true;
    c->result->view = op->out.view;
    if (writers) /* its record, or a note, keeps the version, too */
        version_keep(op->out.view.v);
    else
        op->out.view.v = NULL;
}

/* -- stores ----------------------------------------------------------------------------------- */

/* All targets of a multicast have its bytes. False: no memory, or after the kernel's error. */
static bool write_to_all(struct kb_sim *s, struct command *c)
{
    const struct op *op = &c->op;

    for (uint32_t i = 0; i < op->n_runs; i++) {
        const struct run *to = &c->runs[i];

        if (!tcm_look_at(c->pe, to->area))
            return false;
        if (mem_write(s->kernels->mem, to->area, to->at, to->nbytes, op->out.view, op->id) ==
            MEM_OK)
            continue;
        kernel_no_memory(c->pe);
        return false;
    }
    return true;
}

void pe_dma_store(struct kb_sim *s, uint64_t t, struct command *c, bool called)
{
    struct op *op = &c->op;
    struct strided g;

    if (!tcm_look_at(c->pe, c->dst))
        return;
    op->out.view = op->in[0].view;
    version_keep(op->out.view.v);
    if (c->to_all) {
        if (!write_to_all(s, c))
            return;
    } else if (c->runs) {
        if (mem_write_list(s->kernels->mem, c->runs, op->n_runs, op->out.view, op->id) != MEM_OK) {
            kernel_no_memory(c->pe);
            return;
        }
    } else if (op->strided) {
        g = op_strided(op);
        if (mem_write_strided(s->kernels->mem, c->dst, op->out.address, &g, op->out.view, op->id) !=
            MEM_OK) {
            kernel_no_memory(c->pe);
            return;
        }
    } else if (!result_publish(c, c->dst, &op->out)) {
        return;
    }
    pe_dma_issue(s, t, c, called);
}

/* -- atomics ---------------------------------------------------------------------------------- */

/* An integer, least significant byte first, of a dtype with a sign or without. */
static int64_t integer_at(kb_dtype dtype, const unsigned char *bytes)
{
    unsigned bits = 8 * (unsigned)dtype_bytes((uint8_t)dtype);
    uint64_t x = 0;

    memcpy(&x, bytes, bits / 8);
    if (dtype <= KB_I64)
        return (int64_t)(x << (64 - bits)) >> (64 - bits);
    return (int64_t)x;
}

/* One step in the order of events, so that no other atomic comes between the read and the write. */
void pe_dma_add(struct kb_sim *s, struct command *c)
{
    struct mem *m = s->kernels->mem;
    kb_dtype dtype = (kb_dtype)c->op.in[0].dtype;
    uint64_t range[2], elem = dtype_bytes((uint8_t)dtype);
    struct view view = {NULL, 0}, sum = {version_new_bytes(elem), 0};
    enum mem_err err = mem_read(m, c->dst, c->op.out.address, elem, &view, NULL, range);
    bool ready = err == MEM_OK && version_ready(view.v);

    if (err == MEM_ABSENT)
        operand_absent(c, c->dst, range);
    else if (err == MEM_OK && !ready)
        kernel_error(c->pe, c->call, c->here,
                     "the integer is pending: a result, which Phase 2 computes; store what "
                     "was loaded, or let the host fill it");
    if (ready && sum.v) {
        const unsigned char *bytes = version_bytes(view.v);
        int64_t old = bytes ? integer_at(dtype, bytes + view.offset) : 0;

        uint64_t after = (uint64_t)c->atomic_operand + (c->swaps ? 0 : (uint64_t)old);

        if (c->swaps && old != c->expected)
            after = (uint64_t)old;
        memcpy(sum.v->bytes, &after, elem);
        c->pe->atomic = old;
        err = bytes ? mem_write(m, c->dst, c->op.out.address, elem, sum, c->op.id) : MEM_NO_MEMORY;
    }
    if (err == MEM_NO_MEMORY || !sum.v)
        kernel_no_memory(c->pe);
    version_drop(view.v);
    version_drop(sum.v);
    if (s->race && s->status == KB_OK)
        accesses_atomic(s, c);
}

/* What lies there becomes the first operand; its makers are dependencies. */
static bool bind_before(struct kb_sim *s, struct command *c, struct op_tensor *before)
{
    struct op_ids writers = {0};
    uint64_t range[2];
    enum mem_err err;
    bool ok = true;

    *before = c->op.out;
    before->view.v = NULL;
    err = mem_read(s->kernels->mem, c->dst, before->address, c->nbytes, &before->view, &writers,
                   range);
    before->maker = writers.n == 1 ? op_ids_list(&writers)[0] : OP_NONE;
    for (uint32_t i = 0; ok && i < writers.n; i++)
        ok = op_ids_add(&c->op.depends, op_ids_list(&writers)[i]);
    op_ids_clear(&writers);
    if (err == MEM_ABSENT)
        operand_absent(c, c->dst, range);
    else if (err == MEM_NO_MEMORY || !ok)
        kernel_no_memory(c->pe);
    return err == MEM_OK && ok;
}

/* One step, as pe_dma_add(); the version behind is computed by Phase 2, or is what was exchanged.
 */
void pe_dma_combine(struct kb_sim *s, struct command *c)
{
    struct op *op = &c->op;
    struct op_tensor before;

    if (!bind_before(s, c, &before))
        return;
    if (c->result->kind == TENSOR_VALUE) {
        c->result->hidden = true;
        c->result->view = before.view;
        version_keep(before.view.v);
    }
    if (op->kind == OP_DMA_WRITE) {
        version_drop(before.view.v);
        op->out.view = op->in[0].view;
        version_keep(op->out.view.v);
        result_publish(c, c->dst, &op->out);
        return;
    }
    op->in[1] = op->in[0];
    op->in[0] = before;
    op->n_in = 2;
    if (result_new(c, c->nbytes))
        result_publish(c, c->dst, &op->out);
}
