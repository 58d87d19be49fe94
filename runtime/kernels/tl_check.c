/* tl_check.c -- calls of a kernel: their arguments are checked, and become a command.
 *
 * A check that fails ends the run and does not return: BAD(). So a call reads as if all were well.
 *
 * Each call of tl.h has the same three parts, here for tl_exp(tl, x) at line 25 of a kernel:
 *
 *     struct call call = begin_call(tl, "tl_exp", here)   the call, its name and line for messages
 *     check_operand(&call, x), check_types(), ...         each returns, or ends the run
 *     new_command(), add_operand(), set_result()          the command, filled in
 *     return do_command(c)                                pe/pe_cpu.c issues it; the kernel waits
 *
 * The macros of tl.h add `here`, the file and line of the call. A mistake reads, for example,
 *
 *     kernel peek on c0.pe0: tl_get at peek.c:6: the data are pending: they are results that
 *     Phase 2 computes; tl_value() gives one
 *
 * Why checks do not return an error: a kernel is plain C without error handling, and what follows
 * a wrong call would be wrong as well. BAD() writes the message, ends the run and suspends the
 * kernel for good. So nothing that a call has taken before its checks must be given back: commands
 * and tensors are found by pool.c when the run ends.
 *
 * Invariant: after its checks a call cannot fail except for memory. In particular each size fits:
 * extents into 32 bits, the bytes of a tensor into 40 (check_shape(), result_bytes()), addresses
 * into a memory that exists (check_range()).
 */
#include "data/cast.h"
#include "kernels/bound.h"
#include "kernels/pool.h"
#include "kernels/tl_call.h"
#include "machine/address.h"
#include "machine/endpoint.h"
#include "pe/boxes.h"
#include <pthread.h>
#include <stdio.h>

_Noreturn void call_no_memory(const struct call *call)
{
    kernel_no_memory(call->pe);
    kernel_leave(call->pe);
}

/*
 * A thread of the kernel's own calls: it cannot leave the kernel's stack, so it is the thread that
 * ends. The kernel ends with its next command.
 */
static _Noreturn void call_by_thread(struct tl_ctx *pe, const char *name, tl_here here)
{
    kernel_error(pe, name, here, "it is called by another thread than the kernel's");
    pthread_exit(NULL);
}

void call_not_its_own(struct tl_ctx *pe, const char *name, tl_here here)
{
    struct tl_ctx *on = pe->kernels->on;
    struct call call = {on, name, here};

    if (!on || !co_is_resumed(on->co))
        call_by_thread(pe, name, here);
    BAD(&call, "the kernel is not the one that this tl_ctx was given to");
}

void call_beyond_stack(struct tl_ctx *pe, const char *name, tl_here here)
{
    struct call call = {pe, name, here};

    if (!co_is_resumed(pe->co))
        call_by_thread(pe, name, here);
    BAD(&call, "stack overflow");
}

/* -- shapes and types ------------------------------------------------------------------------- */

struct shape_text shape_text(const struct dims *d)
{
    struct shape_text s = {"["};
    size_t n = 1;

    for (uint32_t i = 0; i < d->rank; i++)
        n += (size_t)snprintf(s.text + n, sizeof s.text - n, "%s%u", i ? ", " : "", d->dim[i]);
    snprintf(s.text + n, sizeof s.text - n, "]");
    return s;
}

const char *tensor_dtype(const struct tl_tensor *tensor)
{
    return kb_dtype_name((kb_dtype)tensor->dtype);
}

uint64_t check_dtype(const struct call *call, kb_dtype dtype)
{
    uint64_t n = dtype_cell(dtype);

    if (!n)
        BAD(call, "%d is not a dtype", (int)dtype);
    return n;
}

void check_cells(const struct call *call, kb_dtype dtype, const struct dims *d)
{
    if (dtype == KB_I4 && (d->rank == 0 || d->dim[d->rank - 1] % 2))
        BAD(call, "shape %s of i4: its last extent is even", shape_text(d).text);
}

/* False: the product is more than any memory holds. */
static bool multiply(uint64_t *n, uint64_t by)
{
    return !__builtin_mul_overflow(*n, by, n) && *n <= TXN_MAX_BYTES;
}

uint64_t result_bytes(const struct call *call, kb_dtype dtype, const struct dims *d)
{
    uint64_t n = check_dtype(call, dtype);

    for (uint32_t i = 0; i < d->rank; i++) {
        if (!multiply(&n, d->dim[i]))
            BAD(call, "the result %s has more bytes than any memory", shape_text(d).text);
    }
    check_cells(call, dtype, d);
    return n / dtype_of_cell(dtype);
}

uint64_t check_shape(const struct call *call, const kb_shape *shape, struct dims *d)
{
    uint64_t n = 1;

    if (shape->rank < 0 || shape->rank > KB_RANK_MAX)
        BAD(call, "a shape has 0 to %d axes, not %lld", KB_RANK_MAX, (long long)shape->rank);
    d->rank = (uint32_t)shape->rank;
    for (uint32_t i = 0; i < d->rank; i++) {
        if (shape->dim[i] < 1 || shape->dim[i] > UINT32_MAX)
            BAD(call, "axis %u of the shape has %lld elements", i, (long long)shape->dim[i]);
        d->dim[i] = (uint32_t)shape->dim[i];
        if (!multiply(&n, d->dim[i]))
            BAD(call, "the shape has more elements than any memory");
    }
    return n;
}

/* -- operands --------------------------------------------------------------------------------- */

void check_live(const struct call *call, const struct tl_tensor *tensor)
{
    if (!tensor && call->pe->not_kept)
        BAD(call, "a tensor is NULL: tl_persisted() has found no '%s'", call->pe->not_kept);
    if (!tensor)
        BAD(call, "a tensor is NULL");
    if (tensor->kind == TENSOR_FREE || tensor->dead)
        BAD(call, "a tensor was given back before");
    if (tensor->owner != call->pe->number)
        BAD(call, "a tensor belongs to another PE");
}

void check_waited(const struct call *call, const struct tl_tensor *tensor)
{
    check_live(call, tensor);
    if (tensor->loads && tensor->wait != WAIT_OVER && !call->pe->overlaps)
        BAD(call, "an operand is a load or a receive that has not been waited for");
}

void check_operand(const struct call *call, const struct tl_tensor *tensor)
{
    check_waited(call, tensor);
    if (tensor->kind != TENSOR_SCALAR && !tensor->block)
        BAD(call, "an operand lies at address %llu, not in the TCM: load it first",
            (unsigned long long)tensor->address);
}

int math_group(tl_op op)
{
    return op >= TL_ADD && (unsigned)op < N_TL_OPS ? math_rows[op].group : -1;
}

bool math_is_elementwise(tl_op op)
{
    return math_group(op) == MATH_ELEMENT || math_group(op) == MATH_COMPARE;
}

void check_types(const struct call *call, enum tl_op op, kb_dtype dtype)
{
    const struct math_row *row = &math_rows[op];

    if (dtype == KB_I4 && op != TL_CAST)
        BAD(call, "%s does not take i4: tl_cast() it first", row->name);
    if (row->types == MATH_FLOAT && !dtype_is_float(dtype))
        BAD(call, "%s takes floats, not %s", row->name, kb_dtype_name(dtype));
    if ((row->types == MATH_INTEGER || row->types == MATH_BITS) && dtype_is_float(dtype))
        BAD(call, "%s takes integers, not %s", row->name, kb_dtype_name(dtype));
    if ((row->types == MATH_NUMBER || row->types == MATH_INTEGER) && dtype == KB_BOOL)
        BAD(call, "%s does not take bool", row->name);
}

void check_condition(const struct call *call, const struct tl_tensor *tensor)
{
    if (tensor->kind == TENSOR_SCALAR || tensor->dtype != KB_BOOL)
        BAD(call, "the condition is not a bool tensor");
}

/* -- operands of several types ---------------------------------------------------------------- */

/* Integers and floats meet in products alone. */
static bool are_alike(kb_dtype a, kb_dtype b)
{
    return dtype_is_float(a) == dtype_is_float(b) && (a == KB_BOOL) == (b == KB_BOOL);
}

bool fetch_converts(const struct call *call, kb_dtype to, kb_dtype from)
{
    return pe_kind(call->pe)->pe.convert && from != KB_I4 && are_alike(to, from) &&
           dtype_holds(to, from);
}

/*
 * May one command have operands of both types? Each number of either is one of the type in which
 * they are computed: of floats f32 or f64, of integers the wider one. Products of integers are
 * modulo a power of two, whatever their signs. So f16 meets bf16, and in a product i16, but not
 * i32, of which f32 does not have all numbers; and i8 meets u8 in a product alone.
 */
static bool may_meet(kb_dtype a, kb_dtype b, bool of_product)
{
    kb_dtype in = dtype_computed(dtype_wider(a, b));

    if (a == KB_BOOL || b == KB_BOOL || (!of_product && !are_alike(a, b)))
        return false;
    if (!of_product && (a == KB_I4 || b == KB_I4))
        return false;
    return (of_product && !dtype_is_float(in)) || (dtype_holds(in, a) && dtype_holds(in, b));
}

kb_dtype check_pair(const struct call *call, kb_dtype a, kb_dtype b, bool of_product)
{
    if (a == b)
        return a;
    if (!may_meet(a, b, of_product))
        BAD(call, "operands of %s and %s", kb_dtype_name(a), kb_dtype_name(b));
    if (!pe_kind(call->pe)->pe.convert)
        BAD(call, "operands of %s and %s: cube.pe.pe_fetch_store.convert is false",
            kb_dtype_name(a), kb_dtype_name(b));
    return dtype_wider(a, b);
}

/*
 * The type of the tensors among the operands, as check_pair(); scalars take it. The first operand
 * of TL_WHERE is the condition, which is bool whatever the others are, so it is skipped.
 */
kb_dtype common_type(const struct call *call, enum tl_op op, struct tl_tensor *const *x, uint32_t n)
{
    kb_dtype dtype = KB_DEFAULT;

    for (uint32_t i = op == TL_WHERE; i < n; i++) {
        if (x[i]->kind == TENSOR_SCALAR)
            continue;
        dtype =
            check_pair(call, dtype ? dtype : (kb_dtype)x[i]->dtype, (kb_dtype)x[i]->dtype, false);
    }
    if (!dtype)
        BAD(call, "%s needs a tensor among its operands", math_rows[op].name);
    check_types(call, op, dtype);
    return dtype;
}

/* The memory that has an address becomes pe->found. Mostly that is the one found before, and its
 * bounds are cheaper to compare than a division. */
static __attribute__((noinline)) void find_memory(const struct call *call, uint64_t address)
{
    const struct kb_topology *t = call->pe->sim->topo;
    uint64_t offset;
    uint32_t dst;

    if (!address_find_area(t, address, &dst, &offset))
        BAD(call, "there is no memory at address %llu", (unsigned long long)address);
    call->pe->found = (struct found_memory){
        address - offset, address_area_bytes(t, dst_cube(t, dst), address_space(t, address)), dst};
}

static __attribute__((noinline, cold)) _Noreturn void say_beyond(const struct call *call,
                                                                 uint64_t offset, uint64_t nbytes)
{
    const struct found_memory *m = &call->pe->found;
    char name[KB_ENDPOINT_BYTES];

    endpoint_area_name(call->pe->sim->topo, m->dst, name);
    BAD(call, "%llu bytes from offset %llu pass the end of %s, which holds %llu",
        (unsigned long long)nbytes, (unsigned long long)offset, name,
        (unsigned long long)m->nbytes);
}

/*
 * The memory in which `nbytes` from a global address lie, all of them. 19327352832 on cube8 is
 * offset 0 of c0.slice3, which holds 6442450944 bytes: so one byte more than that many is refused,
 * although slice 4 begins behind it, for a transaction has one memory. If slices are interleaved,
 * they are one for this purpose: the transaction is split. The PE's own TCM has no loads and
 * stores: its tensors are used as they are.
 */
uint32_t check_range(const struct call *call, uint64_t address, uint64_t nbytes, uint64_t align)
{
    struct found_memory *m = &call->pe->found;
    uint64_t offset = address - m->begin;

    if (offset >= m->nbytes) {
        find_memory(call, address);
        offset = address - m->begin;
    }
    if (nbytes > m->nbytes - offset)
        say_beyond(call, offset, nbytes);
    if (offset & (align - 1))
        BAD(call, "address %llu is not aligned to %llu bytes", (unsigned long long)address,
            (unsigned long long)align);
    if (m->dst == call->pe->tcm)
        BAD(call, "address %llu lies in the PE's own TCM, which it uses without loads and stores",
            (unsigned long long)address);
    return m->dst;
}

void check_together(const struct call *call, const struct tl_tensor *tensor)
{
    if (tensor->apart)
        BAD(call, "the elements of a slice do not lie side by side, as this call needs them");
}

uint32_t check_axis(const struct call *call, const struct dims *d, int axis)
{
    int rank = (int)d->rank;

    if (axis < -rank || axis >= rank)
        BAD(call, "axis %d is none of shape %s", axis, shape_text(d).text);
    return (uint32_t)(axis < 0 ? axis + rank : axis);
}

/* -- commands --------------------------------------------------------------------------------- */

struct tl_tensor *new_tensor(const struct call *call, enum tensor_kind kind, kb_dtype dtype,
                             const struct dims *shape, uint64_t nbytes)
{
    struct tl_tensor *tensor = tensor_new(call->pe, kind);

    if (!tensor)
        call_no_memory(call);
    tensor->dtype = (uint8_t)dtype;
    dims_copy(&tensor->shape, shape);
    tensor->nbytes = nbytes;
    return tensor;
}

static struct command *new_row(const struct call *call, enum op_kind kind, bool whole)
{
    struct command *c = command_new(call->pe->kernels, whole);

    if (!c)
        call_no_memory(call);
    c->pe = call->pe;
    c->call = call->name;
    c->here.file = call->here.file;
    c->here.line = call->here.line;
    c->async = false;
    c->op.kind = (uint8_t)kind;
    c->op.pe = call->pe->number;
    c->op.region = call->pe->region;
    return c;
}

struct command *new_command(const struct call *call, enum op_kind kind)
{
    return new_row(call, kind, call->pe->sim->observer);
}

struct command *new_whole_command(const struct call *call, enum op_kind kind)
{
    return new_row(call, kind, true);
}

void add_operand(struct command *c, struct tl_tensor *tensor)
{
    set_tensor(&c->op.in[c->op.n_in++], tensor);
    c->operand[c->n_operands++] = tensor->kind == TENSOR_SCALAR ? NULL : tensor;
}

void add_operands(struct command *c, struct tl_tensor *const *x, uint32_t n, kb_dtype dtype)
{
    for (uint32_t i = 0; i < n; i++) {
        add_operand(c, x[i]);
        if (x[i]->kind == TENSOR_SCALAR)
            c->op.in[i].dtype = (uint8_t)dtype;
    }
}

void set_result(const struct call *call, struct command *c, kb_dtype dtype,
                const struct dims *shape)
{
    c->result = new_tensor(call, TENSOR_VALUE, dtype, shape, result_bytes(call, dtype, shape));
    c->result->space = SPACE_TCM;
    set_tensor(&c->op.out, c->result);
}

void set_place(const struct call *call, struct command *c, kb_dtype dtype, const struct dims *shape,
               uint64_t address)
{
    c->result = new_tensor(call, TENSOR_PLACE, dtype, shape, result_bytes(call, dtype, shape));
    c->result->address = address;
    c->result->space = (uint8_t)address_space(call->pe->sim->topo, address);
}

struct tl_tensor *do_command(struct command *c)
{
    struct tl_tensor *result = c->result;

    if (bound_weighs(c->pe->kernels))
        bound_command(c);
    else
        kernel_call(c);
    return result;
}
