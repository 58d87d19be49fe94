/* tl_memory.c -- loads, stores, atomics, and waiting for them.
 *
 * The way of a load, in ns after the start of its kernel: 4096 bytes of the own slice on cube8.
 *
 *     0       tl_load_at() checks its arguments and makes a command (tl_check.c). kernel_call() in
 *             pe/pe_cpu.c notes its issue in k->wakes, and waits.
 *     3       pe_cpu issues it: room in the TCM for the result (pe_tcm.c). pe_dma_issue() takes
 *             a slot of the engine (slots.c), and gives the slot to the engine (requests.c): the
 *             transaction gets a read channel at once, and sets out.
 *     5.085   It is at the slice, which is idle and serves it (engine/inorder_steps.h).
 *     21.085  The service has ended: kernels_end_service() in heard.h. First the tensor gets the
 *             version that lies there now (pe_dma_bind_load(), data/mem.c). Then service.c writes
 *             a record, if there is a log. Then pe_stage_done() in pe_cpu ends the command, and the
 *             PE wakes: tl_load_at() returns the tensor.
 *
 * A store is the same with a write channel, and its bytes are published at 3.
 */
#include "engine/branches.h"
#include "kernels/accesses.h"
#include "kernels/flight.h"
#include "kernels/tl_call.h"
#include "machine/address.h"
#include "pe/boxes.h"
#include <stdlib.h>
#include <string.h>

/* [strided][async] */
static const char *const load_names[2][2] = {{"tl_load", "tl_load_async"},
                                             {"tl_load_strided", "tl_load_strided_async"}};
static const char *const store_names[2][2] = {{"tl_store", "tl_store_async"},
                                              {"tl_store_strided", "tl_store_strided_async"}};

/* The last byte of strided elements, relative to their first; all lie behind it. */
static uint64_t strided_bytes(const struct call *call, const struct dims *d, uint8_t dtype,
                              const int64_t *strides)
{
    uint64_t elem = dtype_cell(dtype), end = elem;

    for (uint32_t i = 0; i < d->rank; i++) {
        uint64_t stride = (uint64_t)strides[i], more = dims_cells(d, dtype, i) - 1;

        if (strides[i] < 0 || stride % elem)
            BAD(call, "stride %lld of axis %u: strides are multiples of %llu bytes, from 0 on",
                (long long)strides[i], i, (unsigned long long)elem);
        if (more > 0 && stride > TXN_MAX_BYTES / more)
            BAD(call, "the strides pass the end of any memory");
        end += stride * more;
    }
    return end;
}

/* The memory of a DMA; strides are taken into the command. */
static inline uint32_t set_strides(const struct call *call, struct command *c, uint64_t address,
                                   const struct dims *d, uint8_t dtype, const int64_t *strides)
{
    uint64_t span = c->nbytes;

    c->op.strided = strides;
    if (strides) {
        span = strided_bytes(call, d, dtype, strides);
        memcpy(c->op.stride, strides, d->rank * sizeof *strides);
    }
    return check_range(call, address, span, dtype_cell(dtype));
}

static bool is_of_shape(const struct op_tensor *moved, kb_dtype dtype, const kb_shape *shape)
{
    if (moved->dtype != (uint32_t)dtype || (int64_t)moved->shape.rank != shape->rank)
        return false;
    for (uint32_t i = 0; i < moved->shape.rank; i++)
        if ((int64_t)moved->shape.dim[i] != shape->dim[i])
            return false;
    return true;
}

/* A command with all that the shape of a load decides. */
static struct command *new_load(const struct call *call, kb_dtype dtype, const kb_shape *shape)
{
    struct dims d;
    uint64_t cell = check_dtype(call, dtype), n = check_shape(call, shape, &d);
    struct command *c = new_command(call, OP_DMA_READ);
    struct op_tensor *moved = &c->op.in[0];

    check_cells(call, dtype, &d);
    c->nbytes = n * cell / dtype_of_cell(dtype);
    c->op.n_in = 1;
    c->op.out.space = SPACE_TCM;
    moved->view.v = NULL;
    moved->dtype = (uint8_t)dtype;
    moved->is_scalar = false;
    moved->maker = OP_NONE;
    dims_copy(&moved->shape, &d);
    return c;
}

/* The same; mostly the PE has one of that shape, which command_keep() has put aside. */
static inline struct command *load_of(const struct call *call, kb_dtype dtype,
                                      const kb_shape *shape)
{
    struct tl_ctx *pe = call->pe;
    struct command *c = pe->kept;

    if (!c || !is_of_shape(&c->op.in[0], dtype, shape))
        return new_load(call, dtype, shape);
    pe->kept = NULL;
    c->live = true;
    c->op.region = pe->region;
    c->call = call->name;
    c->here.file = call->here.file;
    c->here.line = call->here.line;
    return c;
}

tl_tensor *tl_load_at(tl_here here, tl_ctx *tl, uint64_t address, kb_dtype dtype, kb_shape shape,
                      const int64_t *strides, bool async)
{
    struct call call = begin_call(tl, load_names[strides != NULL][async], here);
    struct command *c = load_of(&call, dtype, &shape);
    struct op_tensor *moved = &c->op.in[0];

    async = async || tl->overlaps;
    c->async = async;
    c->dst = set_strides(&call, c, address, &moved->shape, moved->dtype, strides);
    moved->address = address;
    moved->space = (uint8_t)address_space(tl->sim->topo, address);
    c->result = new_tensor(&call, TENSOR_VALUE, dtype, &moved->shape, c->nbytes);
    c->result->space = SPACE_TCM;
    c->result->loads = async;
    return do_command(c);
}

tl_tensor *tl_store_at(tl_here here, tl_ctx *tl, uint64_t address, tl_tensor *tensor,
                       const int64_t *strides, bool async)
{
    struct call call = begin_call(tl, store_names[strides != NULL][async], here);
    struct command *c = new_command(&call, OP_DMA_WRITE);

    check_operand(&call, tensor);
    if (tensor->kind == TENSOR_SCALAR)
        BAD(&call, "a scalar cannot be stored, make a tensor of it by tl_full()");
    c->async = async;
    c->nbytes = tensor->nbytes;
    c->dst = set_strides(&call, c, address, &tensor->shape, tensor->dtype, strides);
    add_operand(c, tensor);
    if (async)
        set_place(&call, c, (kb_dtype)tensor->dtype, &tensor->shape, address);
    set_operand(&c->op.out, tensor, address, address_space(tl->sim->topo, address));
    return do_command(c);
}

/* -- lists of runs ---------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

/* The pieces of a store must not overlap. */
static void check_apart(const struct call *call, const struct run *runs, uint32_t n)
{
    struct run *sorted = malloc(n * sizeof *sorted);
    uint32_t i = 1;

    if (!sorted)
        call_no_memory(call);
    memcpy(sorted, runs, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_address);
    while (i < n && sorted[i - 1].at + sorted[i - 1].nbytes <= sorted[i].at)
        i++;
    if (i < n) {
        uint64_t at = sorted[i].at;

        free(sorted);
        BAD(call, "two pieces of the list overlap at address %llu", (unsigned long long)at);
    }
    free(sorted);
}

/* Room for a list of `n` runs, which the command owns; the caller sets all of them. */
static void new_list(const struct call *call, struct command *c, uint32_t n)
{
    if (n == 0 || n > TILE_RUNS_MAX)
        BAD(call, "a list has 1 to %d pieces, not %u", TILE_RUNS_MAX, n);
    c->runs = malloc(n * sizeof *c->runs);
    if (!c->runs)
        call_no_memory(call);
    c->op.n_runs = n;
}

/* The list is there: finds the memories of its runs, and checks them. */
static void check_list(const struct call *call, struct command *c, uint64_t elem)
{
    const struct kb_topology *t = call->pe->sim->topo;
    struct found_memory m = {.nbytes = 0};
    uint64_t nbytes = 0;

    for (uint32_t i = 0; i < c->op.n_runs; i++) {
        struct run *run = &c->runs[i];

        if (run->nbytes == 0 || run->nbytes > c->nbytes)
            BAD(call, "piece %u of the list has %llu bytes, and the tensor %llu", i,
                (unsigned long long)run->nbytes, (unsigned long long)c->nbytes);
        nbytes += run->nbytes;
        run->area = m.dst;
        if (lies_there(&m, run, elem)) /* as the one before */
            continue;
        run->area = check_range(call, run->at, run->nbytes, elem);
        if (unit_is_tcm(t, dst_unit(t, run->area)))
            BAD(call, "piece %u of the list lies in a TCM, not in a slice or an SRAM", i);
        m = call->pe->found;
    }
    if (nbytes != c->nbytes)
        BAD(call, "the pieces of the list have %llu bytes, and the tensor %llu",
            (unsigned long long)nbytes, (unsigned long long)c->nbytes);
    c->dst = c->runs[0].area;
}

static void take_list(const struct call *call, struct command *c, const tl_run *runs, uint32_t n,
                      uint64_t elem)
{
    new_list(call, c, n);
    for (uint32_t i = 0; i < n; i++)
        c->runs[i] = (struct run){.at = runs[i].address, .nbytes = runs[i].nbytes};
    check_list(call, c, elem);
}

/* Its list is there: it is done. */
static tl_tensor *do_load_list(const struct call *call, struct command *c)
{
    struct op_tensor *moved = &c->op.in[0];

    c->async = call->pe->overlaps;
    moved->address = c->runs[0].at;
    moved->space = (uint8_t)address_space(call->pe->sim->topo, moved->address);
    c->result = new_tensor(call, TENSOR_VALUE, (kb_dtype)moved->dtype, &moved->shape, c->nbytes);
    c->result->space = SPACE_TCM;
    c->result->loads = c->async;
    return do_command(c);
}

tl_tensor *tl_load_list_at(tl_here here, tl_ctx *tl, const tl_run *runs, uint32_t n, kb_dtype dtype,
                           kb_shape shape)
{
    struct call call = begin_call(tl, "tl_load_list", here);
    struct command *c = new_load(&call, dtype, &shape);

    take_list(&call, c, runs, n, dtype_cell(dtype));
    return do_load_list(&call, c);
}

/* [n, row...] */
static kb_shape shape_of_rows(const struct call *call, kb_shape row, uint32_t n)
{
    kb_shape shape = {.rank = row.rank + 1, .dim = {n}};

    if (row.rank < 0 || row.rank >= KB_RANK_MAX)
        BAD(call, "a row has 0 to %d axes", KB_RANK_MAX - 1);
    for (int64_t i = 0; i < row.rank; i++)
        shape.dim[i + 1] = row.dim[i];
    return shape;
}

/* A row that no memory has is told by its index: its address says little. */
static void check_row(const struct call *call, const struct run *run, uint32_t row, int64_t index)
{
    const struct kb_topology *t = call->pe->sim->topo;
    uint64_t offset;
    uint32_t dst;

    if (!address_find_area(t, run->at, &dst, &offset) ||
        run->nbytes > address_area_bytes(t, dst_cube(t, dst), address_space(t, run->at)) - offset)
        BAD(call, "row %u, of index %lld, is not in a memory: %llu bytes at address %llu", row,
            (long long)index, (unsigned long long)run->nbytes, (unsigned long long)run->at);
    if (unit_is_tcm(t, dst_unit(t, dst)))
        BAD(call, "row %u, of index %lld, lies in a TCM, not in a slice or an SRAM", row,
            (long long)index);
}

tl_tensor *tl_load_rows_at(tl_here here, tl_ctx *tl, uint64_t base, kb_dtype dtype, kb_shape row,
                           int64_t stride, const int64_t *index, uint32_t n)
{
    struct call call = begin_call(tl, "tl_load_rows", here);
    kb_shape shape = shape_of_rows(&call, row, n);
    struct command *c = new_load(&call, dtype, &shape);

    new_list(&call, c, n);
    c->by_index = true;
    c->row_base = base;
    c->row_stride = stride;
    for (uint32_t i = 0; i < n; i++) {
        c->runs[i] =
            (struct run){.at = base + (uint64_t)(index[i] * stride), .nbytes = c->nbytes / n};
        check_row(&call, &c->runs[i], i, index[i]);
    }
    check_list(&call, c, dtype_cell(dtype));
    return do_load_list(&call, c);
}

tl_tensor *tl_store_list_at(tl_here here, tl_ctx *tl, const tl_run *runs, uint32_t n,
                            tl_tensor *tensor)
{
    struct call call = begin_call(tl, "tl_store_list", here);
    struct command *c = new_command(&call, OP_DMA_WRITE);

    check_operand(&call, tensor);
    if (tensor->kind == TENSOR_SCALAR)
        BAD(&call, "a scalar cannot be stored, make a tensor of it by tl_full()");
    c->async = tl->overlaps;
    c->nbytes = tensor->nbytes;
    take_list(&call, c, runs, n, dtype_cell(tensor->dtype));
    check_apart(&call, c->runs, n);
    add_operand(c, tensor);
    set_operand(&c->op.out, tensor, c->runs[0].at, address_space(tl->sim->topo, c->runs[0].at));
    return do_command(c);
}

/* -- multicasts ------------------------------------------------------------------------------- */

/* What a machine must have, and how many targets there may be. */
static void check_multicast(const struct call *call, bool reads, uint32_t n)
{
    const char *refused = branches_refused(call->pe->sim->topo, reads);

    if (refused)
        BAD(call, "%s", refused);
    if (n < 2 || n > KB_TARGETS_MAX)
        BAD(call, "a multicast has 2 to %d targets, not %u", KB_TARGETS_MAX, n);
}

/* Target `number` gets all bytes: in one memory, of the kind of the others. */
static void check_target(const struct call *call, const struct command *c, uint32_t number)
{
    const struct kb_topology *t = call->pe->sim->topo;
    const struct run *to = &c->runs[number];
    struct address_range range;

    if (address_space(t, to->at) != address_space(t, c->runs[0].at))
        BAD(call, "target %u is of another kind of memory than target 0", number);
    if (address_is_interleaved(t, to->at) && address_range(t, to->at, to->nbytes, &range) &&
        address_part(t, &range).nbytes < to->nbytes)
        BAD(call, "target %u lies in several slices: a multicast has one memory for each", number);
}

static uint32_t memory_at(const struct kb_topology *t, uint64_t address)
{
    uint32_t dst = 0;
    uint64_t offset;

    address_find(t, address, &dst, &offset);
    return dst;
}

static int by_memory(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* No memory is a target twice. */
static void check_memories(const struct call *call, const struct command *c)
{
    uint32_t *dst = malloc(c->op.n_runs * sizeof *dst); /* a kernel's stack may be small */
    bool twice = false;

    if (!dst)
        call_no_memory(call);
    for (uint32_t i = 0; i < c->op.n_runs; i++)
        dst[i] = memory_at(call->pe->sim->topo, c->runs[i].at);
    qsort(dst, c->op.n_runs, sizeof *dst, by_memory);
    for (uint32_t i = 1; i < c->op.n_runs; i++)
        twice = twice || dst[i] == dst[i - 1];
    free(dst);
    if (twice)
        BAD(call, "two targets lie in one memory");
}

/* The command, of c->nbytes, is a multicast to these addresses. */
static void take_targets(const struct call *call, struct command *c, const uint64_t *addresses,
                         uint32_t n, uint64_t elem)
{
    check_multicast(call, c->op.kind == OP_DMA_READ, n);
    c->to_all = true;
    new_list(call, c, n);
    for (uint32_t i = 0; i < n; i++) {
        c->runs[i] = (struct run){.at = addresses[i], .nbytes = c->nbytes};
        c->runs[i].area = check_range(call, addresses[i], c->nbytes, elem);
        check_target(call, c, i);
    }
    check_memories(call, c);
    c->dst = c->runs[0].area;
}

tl_tensor *tl_store_all_at(tl_here here, tl_ctx *tl, const uint64_t *addresses, uint32_t n,
                           tl_tensor *tensor, bool async)
{
    struct call call = begin_call(tl, async ? "tl_store_all_async" : "tl_store_all", here);
    struct command *c = new_command(&call, OP_DMA_WRITE);

    check_operand(&call, tensor);
    if (tensor->kind == TENSOR_SCALAR)
        BAD(&call, "a scalar cannot be stored, make a tensor of it by tl_full()");
    c->async = async || tl->overlaps;
    c->nbytes = tensor->nbytes;
    take_targets(&call, c, addresses, n, dtype_cell(tensor->dtype));
    add_operand(c, tensor);
    if (async)
        set_place(&call, c, (kb_dtype)tensor->dtype, &tensor->shape, addresses[0]);
    set_operand(&c->op.out, tensor, addresses[0], address_space(tl->sim->topo, addresses[0]));
    return do_command(c);
}

tl_tensor *tl_load_sum_at(tl_here here, tl_ctx *tl, const uint64_t *addresses, uint32_t n,
                          kb_dtype dtype, kb_shape shape)
{
    struct call call = begin_call(tl, "tl_load_sum", here);
    struct command *c = new_load(&call, dtype, &shape);

    if (dtype == KB_BOOL)
        BAD(&call, "bools are not added");
    check_types(&call, TL_ADD, dtype);
    take_targets(&call, c, addresses, n, dtype_cell(dtype));
    c->op.sums = true;
    c->op.out.dtype = (uint8_t)dtype;
    c->op.out.is_scalar = false;
    c->op.out.maker = OP_NONE;
    dims_copy(&c->op.out.shape, &c->op.in[0].shape);
    return do_load_list(&call, c);
}

/* The kernel has waited for one of the views of what command `made_by` has made, so for all. */
static void views_are_there(struct tl_ctx *pe, uint32_t made_by)
{
    for (struct tl_tensor *x = pe->newest; x; x = x->older)
        if (x->made_by == made_by && x->wait == WAIT_ENDED)
            x->wait = WAIT_OVER;
}

void tl_wait_at(tl_here here, tl_ctx *tl, tl_tensor *tensor)
{
    struct call call = begin_call(tl, "tl_wait", here);

    check_live(&call, tensor);
    if (tensor->wait == WAIT_NONE && !tl->overlaps)
        BAD(&call, "there is nothing to wait for");
    if (tensor->wait == WAIT_OVER && !tl->overlaps)
        BAD(&call, "it was waited for before");
    if (tensor->wait == WAIT_PENDING) {
        tl->awaited = tensor;
        tl->state = PE_WAITS;
        kernel_wait(tl);
    }
    if (tensor->viewed)
        views_are_there(tl, tensor->made_by);
    else if (tensor->wait != WAIT_NONE)
        tensor->wait = WAIT_OVER;
    if (tl->sim->race)
        accesses_waited(tl, tensor->made_by);
}

void tl_wait_read_at(tl_here here, tl_ctx *tl, tl_tensor *tensor)
{
    struct call call = begin_call(tl, "tl_wait_read", here);

    check_live(&call, tensor);
    if (!tensor->block)
        BAD(&call, "the tensor does not lie in the own TCM");
    tl->unread = tensor->block;
    while (flight_is_read(tl, tensor->block))
        kernel_wait_for_room(tl);
    tl->unread = NULL;
    if (tl->sim->race)
        accesses_fetched(tl, tensor);
}

void tl_wait_all_at(tl_here here, tl_ctx *tl)
{
    begin_call(tl, "tl_wait_all", here);
    if (tl->outstanding) {
        tl->state = PE_WAITS_ALL;
        kernel_wait(tl);
    }
    for (struct tl_tensor *x = tl->newest; x; x = x->older)
        if (x->wait == WAIT_ENDED)
            x->wait = WAIT_OVER;
    if (tl->sim->race)
        accesses_waited(tl, RACE_ALL);
}

void tl_async_at(tl_here here, tl_ctx *tl, bool on)
{
    begin_call(tl, "tl_async", here);
    tl->overlaps = on;
    tl->overlapped = tl->overlapped || on;
}

/* An atomic of one integer that is known; what was there before. */
static int64_t atomic_integer(const struct call *call, uint64_t address, kb_dtype dtype,
                              int64_t operand, const int64_t *expected)
{
    uint64_t elem = check_dtype(call, dtype);
    struct tl_ctx *tl = call->pe;
    struct command *c;

    if (dtype < KB_I8 || dtype > KB_U64)
        BAD(call, "%s is no integer", kb_dtype_name(dtype));
    c = new_command(call, OP_DMA_WRITE);
    c->task = TASK_ATOMIC;
    c->atomic_operand = operand;
    c->swaps = expected != NULL;
    c->expected = expected ? *expected : 0;
    c->nbytes = elem;
    c->dst = check_range(call, address, elem, elem);
    if (unit_is_tcm(tl->sim->topo, dst_unit(tl->sim->topo, c->dst)))
        BAD(call, "address %llu lies in a TCM, not in a slice or an SRAM",
            (unsigned long long)address);
    c->op.in[0] = (struct op_tensor){.dtype = (uint8_t)dtype, .space = SPACE_TCM, .maker = OP_NONE};
    c->op.out = (struct op_tensor){.address = address,
                                   .dtype = (uint8_t)dtype,
                                   .space = (uint8_t)address_space(tl->sim->topo, address)};
    do_command(c);
    return tl->atomic;
}

int64_t tl_atomic_add_at(tl_here here, tl_ctx *tl, uint64_t address, kb_dtype dtype, int64_t value)
{
    struct call call = begin_call(tl, "tl_atomic_add", here);

    return atomic_integer(&call, address, dtype, value, NULL);
}

int64_t tl_atomic_cas_at(tl_here here, tl_ctx *tl, uint64_t address, kb_dtype dtype,
                         int64_t expected, int64_t value)
{
    struct call call = begin_call(tl, "tl_atomic_cas", here);

    return atomic_integer(&call, address, dtype, value, &expected);
}

/* By tl_atomic_op; of an exchange nothing is computed. */
static const uint8_t math_of_atomic[] = {
    [TL_ATOMIC_ADD] = TL_ADD, [TL_ATOMIC_MAX] = TL_MAXIMUM, [TL_ATOMIC_MIN] = TL_MINIMUM,
    [TL_ATOMIC_AND] = TL_AND, [TL_ATOMIC_OR] = TL_OR,
};

/* What a tl_atomic() may be asked for. */
static void check_atomic(const struct call *call, tl_atomic_op op, const struct tl_tensor *x,
                         bool old)
{
    if ((unsigned)op > TL_ATOMIC_XCHG)
        BAD(call, "%d is no operation of atomics", (int)op);
    if (x->kind == TENSOR_SCALAR)
        BAD(call, "a scalar has no type, make a tensor of it by tl_full()");
    check_together(call, x);
    if (x->dtype == KB_I4)
        BAD(call, "an atomic does not take i4");
    if (op != TL_ATOMIC_XCHG)
        check_types(call, math_of_atomic[op], (kb_dtype)x->dtype);
    if (old && dims_elements(&x->shape) != 1)
        BAD(call, "what was there is told of one element, not of %llu",
            (unsigned long long)dims_elements(&x->shape));
}

/* What was there comes into the TCM, as by a load; or only the place is there, to be waited for. */
static void set_before(const struct call *call, struct command *c, const struct tl_tensor *x,
                       uint64_t address, bool old)
{
    if (!old) {
        set_place(call, c, (kb_dtype)x->dtype, &x->shape, address);
        return;
    }
    c->result = new_tensor(call, TENSOR_VALUE, (kb_dtype)x->dtype, &x->shape, x->nbytes);
    c->result->space = SPACE_TCM;
    c->result->loads = true;
}

tl_tensor *tl_atomic_at(tl_here here, tl_ctx *tl, tl_atomic_op op, uint64_t address, tl_tensor *x,
                        bool old)
{
    struct call call = begin_call(tl, "tl_atomic", here);
    struct command *c = new_command(&call, op == TL_ATOMIC_XCHG ? OP_DMA_WRITE : OP_MATH);

    check_operand(&call, x);
    check_atomic(&call, op, x, old);
    c->task = TASK_COMBINE;
    c->async = true;
    c->nbytes = x->nbytes;
    c->dst = check_range(&call, address, x->nbytes, dtype_bytes(x->dtype));
    if (unit_is_tcm(tl->sim->topo, dst_unit(tl->sim->topo, c->dst)))
        BAD(&call, "address %llu lies in a TCM, not in a slice or an SRAM",
            (unsigned long long)address);
    c->op.atomic = true;
    c->op.math = op == TL_ATOMIC_XCHG ? 0 : math_of_atomic[op];
    add_operand(c, x);
    set_before(&call, c, x, address, old);
    set_operand(&c->op.out, x, address, address_space(tl->sim->topo, address));
    return do_command(c);
}
