/* tl.c -- the calls of a kernel: what is asked is checked, made a command, and waited for. */
#include "data/dtype.h"
#include "machine/endpoint.h"
#include "kernels/kernel.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- leaving with a mistake ----------------------------------------------------------------- */

/* One call, for its messages. */
struct call {
    struct tl_ctx *pe;
    const char *name;
    tl_here here;
};

#define BAD(call, ...)                                                                             \
    do {                                                                                           \
        kernel_error((call)->pe, (call)->name, (call)->here, __VA_ARGS__);                         \
        kernel_leave((call)->pe);                                                                  \
    } while (0)

static _Noreturn void no_memory(const struct call *call)
{
    kernel_no_memory(call->pe);
    kernel_leave(call->pe);
}

static __attribute__((noinline, cold)) _Noreturn void not_its_own(struct tl_ctx *pe,
                                                                  const char *name, tl_here here)
{
    struct call call = {pe, name, here};

    BAD(&call, "the kernel is not the one that this tl_ctx was given to");
}

/* A large frame has jumped over the guard. */
static __attribute__((noinline, cold)) _Noreturn void beyond_stack(struct tl_ctx *pe,
                                                                   const char *name, tl_here here)
{
    struct call call = {pe, name, here};

    BAD(&call, "stack overflow");
}

/* Inline, so that what it returns is not written and read again. */
static inline __attribute__((always_inline)) struct call begin_call(struct tl_ctx *pe,
                                                                    const char *name, tl_here here)
{
    if (pe->kernels->on != pe)
        not_its_own(pe->kernels->on, name, here);
    if ((uintptr_t)__builtin_frame_address(0) - (uintptr_t)pe->stack > pe->stack_bytes)
        beyond_stack(pe, name, here);
    pe->call = name;
    pe->here.file = here.file;
    pe->here.line = here.line;
    return (struct call){pe, name, here};
}

/* "[32, 64]" */
struct shape_text {
    char text[96];
};

static struct shape_text text_of(const struct dims *d)
{
    struct shape_text s = {"["};
    size_t n = 1;

    for (uint32_t i = 0; i < d->rank; i++)
        n += (size_t)snprintf(s.text + n, sizeof s.text - n, "%s%u", i ? ", " : "", d->dim[i]);
    snprintf(s.text + n, sizeof s.text - n, "]");
    return s;
}

/* -- what is given is checked --------------------------------------------------------------- */

static const char *dtype_of(const struct tl_tensor *x)
{
    return kb_dtype_name((kb_dtype)x->dtype);
}

static uint64_t check_dtype(const struct call *call, kb_dtype dtype)
{
    uint64_t n = dtype_bytes(dtype);

    if (!n)
        BAD(call, "%d is not a dtype", (int)dtype);
    return n;
}

/* False: that is more than any memory holds. */
static bool multiply(uint64_t *n, uint64_t by)
{
    return !__builtin_mul_overflow(*n, by, n) && *n <= TXN_MAX_BYTES;
}

/* Of a result; operands may be small and their product beyond 64 bits. */
static uint64_t result_bytes(const struct call *call, kb_dtype dtype, const struct dims *d)
{
    uint64_t n = check_dtype(call, dtype);

    for (uint32_t i = 0; i < d->rank; i++) {
        if (!multiply(&n, d->dim[i]))
            BAD(call, "the result %s has more bytes than any memory", text_of(d).text);
    }
    return n;
}

/* Extents as they are kept; returns the elements, at most 2^40 - 1, more than any memory has. */
static uint64_t dims_of(const struct call *call, const kb_shape *shape, struct dims *d)
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

/* A tensor that is given to a call. */
static void check_live(const struct call *call, const struct tl_tensor *x)
{
    if (!x)
        BAD(call, "a tensor is NULL");
    if (x->kind == TENSOR_FREE)
        BAD(call, "a tensor was given back before");
    if (x->owner != call->pe->number)
        BAD(call, "a tensor belongs to another PE");
}

static void check_waited(const struct call *call, const struct tl_tensor *x)
{
    check_live(call, x);
    if (x->loads && x->wait != WAIT_OVER)
        BAD(call, "an operand is a load or a receive that has not been waited for");
}

/* An operand of an engine: in the own TCM, or a scalar. */
static void check_operand(const struct call *call, const struct tl_tensor *x)
{
    check_waited(call, x);
    if (x->kind != TENSOR_SCALAR && !x->block)
        BAD(call, "an operand lies at address %llu, not in the TCM: load it first",
            (unsigned long long)x->address);
}

/* As ops.def has it; < 0: no operation of PE_MATH. */
static int group_of(tl_op op)
{
    return op >= TL_ADD && (unsigned)op < N_TL_OPS ? math_rows[op].group : -1;
}

static bool is_elementwise(tl_op op)
{
    return group_of(op) == MATH_ELEMENT || group_of(op) == MATH_COMPARE;
}

static void check_types(const struct call *call, enum tl_op op, kb_dtype dtype)
{
    const struct math_row *row = &math_rows[op];

    if (row->types == MATH_FLOAT && (dtype < KB_F16 || dtype > KB_F64))
        BAD(call, "%s takes floats, not %s", row->name, kb_dtype_name(dtype));
    if (row->types == MATH_NUMBER && dtype == KB_BOOL)
        BAD(call, "%s does not take bool", row->name);
}

/* The memory of [address, address + nbytes), which is not the own TCM, aligned to `align`. */
static uint32_t check_range(const struct call *call, uint64_t address, uint64_t nbytes,
                            uint64_t align)
{
    const struct kb_topology *t = call->pe->sim->topo;
    uint64_t offset, size;
    uint32_t dst;

    if (!address_find(t, address, &dst, &offset))
        BAD(call, "there is no memory at address %llu", (unsigned long long)address);
    size = address_memory_bytes(t, address_space(address));
    if (nbytes > size - offset) {
        kb_endpoint memory = endpoint_unpack_memory(t, dst);
        char name[KB_ENDPOINT_BYTES];

        kb_endpoint_name(&memory, name);
        BAD(call, "%llu bytes from offset %llu pass the end of %s, which holds %llu",
            (unsigned long long)nbytes, (unsigned long long)offset, name, (unsigned long long)size);
    }
    if (offset & (align - 1))
        BAD(call, "address %llu is not aligned to %llu bytes", (unsigned long long)address,
            (unsigned long long)align);
    if (dst_cube(t, dst) == src_cube(t, call->pe->src) &&
        dst_unit(t, dst) == t->pes + 1 + src_pe(t, call->pe->src))
        BAD(call, "address %llu lies in the PE's own TCM, which it uses without loads and stores",
            (unsigned long long)address);
    return dst;
}

/* The last byte of strided elements, relative to their first; all lie behind it. */
static uint64_t strided_bytes(const struct call *call, const struct dims *d, uint64_t elem,
                              const int64_t *strides)
{
    uint64_t end = elem;

    for (uint32_t i = 0; i < d->rank; i++) {
        uint64_t stride = (uint64_t)strides[i];

        if (strides[i] < 0 || stride % elem)
            BAD(call, "stride %lld of axis %u is no multiple of %llu bytes", (long long)strides[i],
                i, (unsigned long long)elem);
        if (d->dim[i] > 1 && stride > TXN_MAX_BYTES / (d->dim[i] - 1))
            BAD(call, "the strides pass the end of any memory");
        end += stride * (d->dim[i] - 1);
    }
    return end;
}

/* -- commands ------------------------------------------------------------------------------- */

static struct tl_tensor *new_tensor(const struct call *call, enum tensor_kind kind, kb_dtype dtype,
                                    const struct dims *shape, uint64_t nbytes)
{
    struct tl_tensor *x = tensor_new(call->pe, kind);

    if (!x)
        no_memory(call);
    x->dtype = (uint8_t)dtype;
    dims_copy(&x->shape, shape);
    x->nbytes = nbytes;
    return x;
}

static struct command *new_command(const struct call *call, enum op_kind kind)
{
    struct command *c = command_new(call->pe->kernels);

    if (!c)
        no_memory(call);
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

/* A tensor like `x` that lies elsewhere. */
static void set_operand(struct op_tensor *to, const struct tl_tensor *x, uint64_t address,
                        enum space space)
{
    to->address = address;
    to->view.v = NULL;
    dims_copy(&to->shape, &x->shape);
    to->dtype = x->dtype;
    to->space = (uint8_t)space;
    to->is_scalar = false;
    to->maker = OP_NONE;
}

static void set_tensor(struct op_tensor *to, const struct tl_tensor *x)
{
    set_operand(to, x, x->address, (enum space)x->space);
    to->is_scalar = x->kind == TENSOR_SCALAR;
    to->scalar = x->scalar;
}

static void add_operand(struct command *c, const struct tl_tensor *x)
{
    set_tensor(&c->op.in[c->op.n_in++], x);
    c->operand[c->n_operands++] = x;
}

/* The command is issued by the PE's next event; an asynchronous one lets the kernel go on then. */
static struct tl_tensor *do_command(struct command *c)
{
    struct tl_ctx *pe = c->pe;
    struct tl_tensor *result = c->result;
    uint64_t issue_fs = pe->kernels->now_fs + (uint64_t)pe->kernels->issue_fs;

    if (result && c->async)
        result->wait = WAIT_PENDING;
    pe->current = c;
    pe->state = PE_ISSUES;
    wakes_append(&pe->kernels->wakes, issue_fs < EV_PAST ? issue_fs : EV_PAST, pe->number);
    kernel_wait(pe);
    return result;
}

/* A result in the TCM. */
static void set_result(const struct call *call, struct command *c, kb_dtype dtype,
                       const struct dims *shape)
{
    c->result = new_tensor(call, TENSOR_VALUE, dtype, shape, result_bytes(call, dtype, shape));
    c->result->space = SPACE_TCM;
    set_tensor(&c->op.out, c->result);
}

/* A result that lies where its address says. */
static void set_place(const struct call *call, struct command *c, kb_dtype dtype,
                      const struct dims *shape, uint64_t address)
{
    c->result = new_tensor(call, TENSOR_PLACE, dtype, shape, result_bytes(call, dtype, shape));
    c->result->address = address;
    c->result->space = (uint8_t)address_space(address);
}

/* -- where am I ----------------------------------------------------------------------------- */

int64_t tl_program_id_at(tl_ctx *tl, tl_here here, int axis)
{
    struct call call = begin_call(tl, "tl_program_id", here);
    const struct kb_topology *t = tl->sim->topo;
    uint32_t cube = src_cube(t, tl->src);

    switch (axis) {
    case 0:
        return src_pe(t, tl->src);
    case 1:
        return cube % t->cubes;
    case 2:
        return cube / t->cubes;
    default:
        BAD(&call, "axis %d is none of 0, 1, 2", axis);
    }
}

int64_t tl_num_programs_at(tl_ctx *tl, tl_here here, int axis)
{
    struct call call = begin_call(tl, "tl_num_programs", here);
    const struct kb_topology *t = tl->sim->topo;

    switch (axis) {
    case 0:
        return t->pes;
    case 1:
        return t->cubes;
    case 2:
        return t->sips;
    default:
        BAD(&call, "axis %d is none of 0, 1, 2", axis);
    }
}

uint32_t tl_pe(const tl_ctx *tl)
{
    return tl->number;
}

const kb_topology *tl_topology(const tl_ctx *tl)
{
    return tl->sim->topo;
}

double tl_time(const tl_ctx *tl)
{
    return (double)tl->kernels->now_fs / 1e6;
}

/* Names that kernels have used; a record may outlive the string of the kernel. */
struct region {
    struct region *next;
    char name[];
};

void regions_free(struct kernels *k)
{
    while (k->regions) {
        struct region *next = k->regions->next;

        free(k->regions);
        k->regions = next;
    }
}

void tl_region_at(tl_ctx *tl, tl_here here, const char *name)
{
    struct call call = begin_call(tl, "tl_region", here);
    struct region *r = tl->kernels->regions;
    size_t bytes;

    tl->region = NULL;
    if (!name)
        return;
    while (r && strcmp(r->name, name) != 0)
        r = r->next;
    if (!r) {
        bytes = strlen(name) + 1;
        r = malloc(sizeof *r + bytes);
        if (!r)
            no_memory(&call);
        memcpy(r->name, name, bytes);
        r->next = tl->kernels->regions;
        tl->kernels->regions = r;
    }
    tl->region = r->name;
}

void *tl_alloc_host_at(tl_ctx *tl, tl_here here, size_t nbytes)
{
    struct call call = begin_call(tl, "tl_alloc_host", here);
    void *bytes = launch_host_bytes(tl, nbytes);

    if (!bytes)
        no_memory(&call);
    return bytes;
}

void tl_fail_at(tl_ctx *tl, tl_here here, const char *text)
{
    struct call call = begin_call(tl, "tl_fail", here);

    BAD(&call, "%s", text ? text : "");
}

/* -- tensors -------------------------------------------------------------------------------- */

tl_tensor *tl_ref_at(tl_ctx *tl, tl_here here, uint64_t address, kb_dtype dtype, kb_shape shape)
{
    struct call call = begin_call(tl, "tl_ref", here);
    struct dims d;
    uint64_t elem = check_dtype(&call, dtype), nbytes = dims_of(&call, &shape, &d) * elem;
    struct tl_tensor *x;

    check_range(&call, address, nbytes, elem);
    x = new_tensor(&call, TENSOR_PLACE, dtype, &d, nbytes);
    x->address = address;
    x->space = (uint8_t)address_space(address);
    return x;
}

tl_tensor *tl_alloc_at(tl_ctx *tl, tl_here here, kb_dtype dtype, kb_shape shape)
{
    struct call call = begin_call(tl, "tl_alloc", here);
    struct dims d;
    uint64_t nbytes = dims_of(&call, &shape, &d) * check_dtype(&call, dtype);
    struct tl_tensor *x = new_tensor(&call, TENSOR_PLACE, dtype, &d, nbytes);

    x->space = SPACE_TCM;
    switch (tcm_alloc(tl, x)) {
    case TCM_OK:
        break;
    case TCM_FULL:
        tcm_say_full(tl, call.name, here, nbytes);
        kernel_leave(tl);
    case TCM_NO_MEMORY:
        no_memory(&call);
    }
    return x;
}

static void give_back(const struct call *call, struct tl_tensor *x)
{
    check_live(call, x);
    if (x->wait == WAIT_PENDING || (x->wait == WAIT_ENDED && x->loads))
        BAD(call, "a tensor is given back that has not been waited for");
    tensor_free(call->pe, x);
}

void tl_free_at(tl_ctx *tl, tl_here here, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_free", here);

    give_back(&call, x);
}

uint64_t tl_mark_at(tl_ctx *tl, tl_here here)
{
    begin_call(tl, "tl_mark", here);
    return tl->tensors;
}

void tl_release_at(tl_ctx *tl, tl_here here, uint64_t mark)
{
    struct call call = begin_call(tl, "tl_release", here);

    while (tl->newest && tl->newest->number >= mark)
        give_back(&call, tl->newest);
}

tl_tensor *tl_scalar_at(tl_ctx *tl, tl_here here, double value)
{
    struct call call = begin_call(tl, "tl_scalar", here);
    struct tl_tensor *x = tensor_new(tl, TENSOR_SCALAR);

    if (!x)
        no_memory(&call);
    x->dtype = KB_DEFAULT;
    x->space = SPACE_TCM;
    x->shape.rank = 0;
    x->nbytes = 0;
    x->address = UINT64_MAX;
    x->scalar = value;
    return x;
}

tl_tensor *tl_reshape_at(tl_ctx *tl, tl_here here, tl_tensor *x, kb_shape shape)
{
    struct call call = begin_call(tl, "tl_reshape", here);
    struct dims d;
    uint64_t n = dims_of(&call, &shape, &d);
    struct tl_tensor *y;

    check_waited(&call, x);
    if (x->kind == TENSOR_SCALAR)
        BAD(&call, "a scalar has no shape");
    if (x->wait == WAIT_PENDING)
        BAD(&call, "a tensor is reshaped before it was waited for");
    if (n != dims_elements(&x->shape))
        BAD(&call, "%s does not hold the elements of %s", text_of(&d).text,
            text_of(&x->shape).text);
    y = new_tensor(&call, (enum tensor_kind)x->kind, (kb_dtype)x->dtype, &d, x->nbytes);
    y->address = x->address;
    y->space = x->space;
    y->hidden = x->hidden;
    y->maker = x->maker;
    y->block = x->block;
    if (y->block)
        y->block->refs++;
    y->view = x->view;
    if (y->view.v)
        version_keep(y->view.v);
    return y;
}

kb_shape tl_shape(const tl_tensor *x)
{
    kb_shape shape = {.rank = x->shape.rank};

    for (uint32_t i = 0; i < x->shape.rank; i++)
        shape.dim[i] = x->shape.dim[i];
    return shape;
}

kb_dtype tl_dtype(const tl_tensor *x)
{
    return (kb_dtype)x->dtype;
}

uint64_t tl_address(const tl_tensor *x)
{
    return x->address;
}

/* A kernel may look at bytes as what they are: elements, where such may lie. */
static const unsigned char *align_data(const struct call *call, struct tl_tensor *x,
                                       const unsigned char *bytes)
{
    struct version *copy;

    if ((uintptr_t)bytes % dtype_bytes(x->dtype) == 0)
        return bytes;
    copy = version_new_bytes(x->nbytes);
    if (!copy)
        no_memory(call);
    memcpy(copy->bytes, bytes, x->nbytes);
    version_drop(x->view.v);
    x->view = (struct view){copy, 0};
    return copy->bytes;
}

/* The bytes of a tensor that has some; what its address holds now, if it is only a place. */
static const unsigned char *data_of(const struct call *call, struct tl_tensor *x)
{
    const unsigned char *bytes;
    struct view view;
    uint64_t range[2], offset;
    uint32_t dst;
    enum mem_err err = MEM_OK;

    check_waited(call, x);
    if (x->kind == TENSOR_SCALAR)
        BAD(call, "a scalar has no data");
    view = x->view;
    if (x->kind == TENSOR_PLACE && address_find(call->pe->sim->topo, x->address, &dst, &offset))
        err = !pe_look_at(call->pe, dst) ? MEM_NO_MEMORY
                                         : mem_read(call->pe->kernels->mem, dst, x->address,
                                                    x->nbytes, &view, NULL, range);
    if (err == MEM_ABSENT)
        BAD(call, "bytes at address %llu were never written", (unsigned long long)range[0]);
    if (err == MEM_NO_MEMORY)
        no_memory(call);
    if (x->kind == TENSOR_PLACE) {
        version_drop(x->view.v);
        x->view = view;
    }
    if (!version_ready(view.v))
        BAD(call, "the data are pending: they are results that Phase 2 computes");
    if (!x->block)
        BAD(call, "the tensor lies at address %llu, not in the TCM: load it first",
            (unsigned long long)x->address);
    bytes = version_bytes(view.v);
    if (!bytes)
        no_memory(call);
    return align_data(call, x, bytes + view.offset);
}

const void *tl_data_at(tl_ctx *tl, tl_here here, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_data", here);
    const void *bytes = data_of(&call, x);

    if (tl->sim->race)
        touch_data(tl, call.name, here, x->address, x->nbytes);
    return bytes;
}

double tl_get_at(tl_ctx *tl, tl_here here, tl_tensor *x, int64_t i)
{
    struct call call = begin_call(tl, "tl_get", here);
    const unsigned char *bytes = data_of(&call, x);
    uint64_t n = dims_elements(&x->shape);

    if (i < 0 || (uint64_t)i >= n)
        BAD(&call, "element %lld is none of 0..%llu", (long long)i, (unsigned long long)n - 1);
    if (tl->sim->race)
        touch_data(tl, call.name, here,
                   x->address + (uint64_t)i * kb_dtype_bytes((kb_dtype)x->dtype),
                   kb_dtype_bytes((kb_dtype)x->dtype));
    return kb_element((kb_dtype)x->dtype, bytes, (uint64_t)i);
}

/* -- memory --------------------------------------------------------------------------------- */

/* [strided][async] */
static const char *const load_names[2][2] = {{"tl_load", "tl_load_async"},
                                             {"tl_load_strided", "tl_load_strided_async"}};
static const char *const store_names[2][2] = {{"tl_store", "tl_store_async"},
                                              {"tl_store_strided", "tl_store_strided_async"}};

/* The memory of a DMA; strides are taken into the command. */
static uint32_t set_strides(const struct call *call, struct command *c, uint64_t address,
                            const struct dims *d, uint64_t elem, const int64_t *strides)
{
    uint64_t span = c->nbytes;

    c->op.strided = strides;
    if (strides) {
        span = strided_bytes(call, d, elem, strides);
        memcpy(c->op.stride, strides, d->rank * sizeof *strides);
    }
    return check_range(call, address, span, elem);
}

tl_tensor *tl_load_at(tl_ctx *tl, tl_here here, uint64_t address, kb_dtype dtype, kb_shape shape,
                      const int64_t *strides, bool async)
{
    struct call call = begin_call(tl, load_names[strides != NULL][async], here);
    struct dims d;
    uint64_t elem = check_dtype(&call, dtype), n = dims_of(&call, &shape, &d);
    struct command *c = new_command(&call, OP_DMA_READ);
    struct tl_tensor *x;

    c->async = async;
    c->nbytes = n * elem;
    c->dst = set_strides(&call, c, address, &d, elem, strides);
    x = new_tensor(&call, TENSOR_VALUE, dtype, &d, c->nbytes);
    x->space = SPACE_TCM;
    x->loads = async;
    c->result = x;
    c->op.n_in = 1;
    set_operand(&c->op.in[0], x, address, address_space(address));
    c->op.out.space = SPACE_TCM;
    return do_command(c);
}

tl_tensor *tl_store_at(tl_ctx *tl, tl_here here, uint64_t address, tl_tensor *x,
                       const int64_t *strides, bool async)
{
    struct call call = begin_call(tl, store_names[strides != NULL][async], here);
    struct command *c = new_command(&call, OP_DMA_WRITE);
    uint64_t elem;

    check_operand(&call, x);
    if (x->kind == TENSOR_SCALAR)
        BAD(&call, "a scalar cannot be stored, make a tensor of it by tl_full()");
    elem = dtype_bytes(x->dtype);
    c->async = async;
    c->nbytes = x->nbytes;
    c->dst = set_strides(&call, c, address, &x->shape, elem, strides);
    add_operand(c, x);
    if (async)
        set_place(&call, c, (kb_dtype)x->dtype, &x->shape, address);
    set_operand(&c->op.out, x, address, address_space(address));
    return do_command(c);
}

void tl_wait_at(tl_ctx *tl, tl_here here, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_wait", here);

    check_live(&call, x);
    if (x->wait == WAIT_NONE)
        BAD(&call, "there is nothing to wait for");
    if (x->wait == WAIT_OVER)
        BAD(&call, "it was waited for before");
    if (x->wait == WAIT_PENDING) {
        tl->awaited = x;
        tl->state = PE_WAITS;
        kernel_wait(tl);
    }
    x->wait = WAIT_OVER;
    if (tl->sim->race)
        touch_waited(tl, x);
}

/* -- other PEs ------------------------------------------------------------------------------ */

/* Who is talked to, and under which tag. */
static void check_peer(const struct call *call, uint32_t pe, int tag)
{
    if (pe >= call->pe->kernels->n_pes)
        BAD(call, "there is no PE %u, only 0..%u", pe, call->pe->kernels->n_pes - 1);
    if (pe == call->pe->number)
        BAD(call, "a PE does not send to itself");
    if (tag < 0 || tag >= TL_TAGS)
        BAD(call, "tag %d is none of 0..%d", tag, TL_TAGS - 1);
}

void tl_send_at(tl_ctx *tl, tl_here here, uint32_t pe, int tag, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_send", here);
    struct command *c;

    check_operand(&call, x);
    if (x->kind == TENSOR_SCALAR)
        BAD(&call, "a scalar cannot be sent, make a tensor of it by tl_full()");
    check_peer(&call, pe, tag);
    c = new_command(&call, OP_DMA_WRITE);
    c->task = TASK_SEND;
    c->nbytes = x->nbytes;
    add_operand(c, x);
    if (!ipcq_find_queue(c, tl->number, pe, tag))
        kernel_leave(tl);
    do_command(c);
}

tl_tensor *tl_recv_at(tl_ctx *tl, tl_here here, uint32_t pe, int tag, kb_shape shape,
                      kb_dtype dtype, bool async)
{
    struct call call = begin_call(tl, async ? "tl_recv_async" : "tl_recv", here);
    struct dims d;
    uint64_t elem = check_dtype(&call, dtype), n = dims_of(&call, &shape, &d);
    struct command *c;
    struct tl_tensor *x;

    check_peer(&call, pe, tag);
    c = new_command(&call, OP_DMA_READ);
    c->task = TASK_RECV;
    c->async = async;
    c->nbytes = n * elem;
    x = new_tensor(&call, TENSOR_VALUE, dtype, &d, c->nbytes);
    x->space = SPACE_TCM;
    x->loads = async;
    c->result = x;
    set_operand(&c->op.in[0], x, 0, SPACE_TCM);
    c->op.out.space = SPACE_TCM;
    if (!ipcq_find_queue(c, pe, tl->number, tag))
        kernel_leave(tl);
    return do_command(c);
}

tl_group tl_cube(const tl_ctx *tl)
{
    uint32_t pes = tl->sim->topo->pes;

    return (tl_group){.first = tl->number / pes * pes, .n = pes};
}

tl_group tl_sip(const tl_ctx *tl)
{
    uint32_t pes = tl->sim->topo->pes * tl->sim->topo->cubes;

    return (tl_group){.first = tl->number / pes * pes, .n = pes};
}

tl_group tl_all(const tl_ctx *tl)
{
    return (tl_group){.n = tl->kernels->n_pes};
}

void tl_barrier_at(tl_ctx *tl, tl_here here, tl_group group)
{
    struct call call = begin_call(tl, "tl_barrier", here);
    struct command *c = new_command(&call, OP_DMA_READ);

    c->task = TASK_BARRIER;
    if (!ipcq_find_barrier(c, &group))
        kernel_leave(tl);
    do_command(c);
}

int64_t tl_atomic_add_at(tl_ctx *tl, tl_here here, uint64_t address, kb_dtype dtype, int64_t value)
{
    struct call call = begin_call(tl, "tl_atomic_add", here);
    uint64_t elem = check_dtype(&call, dtype);
    struct command *c;

    if (dtype < KB_I8 || dtype > KB_U64)
        BAD(&call, "%s is no integer", kb_dtype_name(dtype));
    c = new_command(&call, OP_DMA_WRITE);
    c->task = TASK_ATOMIC;
    c->addend = value;
    c->nbytes = elem;
    c->dst = check_range(&call, address, elem, elem);
    if (dst_unit(tl->sim->topo, c->dst) > tl->sim->topo->pes)
        BAD(&call, "address %llu lies in a TCM, not in a slice or an SRAM",
            (unsigned long long)address);
    c->op.in[0] = (struct op_tensor){.dtype = (uint8_t)dtype, .space = SPACE_TCM, .maker = OP_NONE};
    c->op.out = (struct op_tensor){
        .address = address, .dtype = (uint8_t)dtype, .space = (uint8_t)address_space(address)};
    do_command(c);
    return tl->atomic;
}

/* -- matrices ------------------------------------------------------------------------------- */

static bool is_float(kb_dtype d)
{
    return d >= KB_F16 && d <= KB_F64;
}

/* The types of a product that were left out follow from its operands'. */
static void set_product_types(const struct call *call, struct command *c, kb_dtype in,
                              const tl_dot_options *o, kb_dtype *out)
{
    bool narrow = dtype_bytes(in) <= 2 && !is_float(in);
    kb_dtype acc;

    *out = o->dtype_out ? o->dtype_out : narrow ? KB_I32 : in;
    acc = o->dtype_acc ? o->dtype_acc : !is_float(in) ? *out : in == KB_F64 ? KB_F64 : KB_F32;
    if (in == KB_BOOL)
        BAD(call, "a product of bool is not defined");
    if (!dtype_bytes(*out) || !dtype_bytes(acc))
        BAD(call, "dtype_acc or dtype_out is not a dtype");
    if (is_float(in) != is_float(*out) || *out == KB_BOOL)
        BAD(call, "a product of %s cannot be %s", kb_dtype_name(in), kb_dtype_name(*out));
    if (acc != (!is_float(in) ? *out : in == KB_F64 ? KB_F64 : KB_F32))
        BAD(call, "%s is accumulated in %s, not in %s", kb_dtype_name(in),
            kb_dtype_name(!is_float(in)  ? *out
                          : in == KB_F64 ? KB_F64
                                         : KB_F32),
            kb_dtype_name(acc));
    c->op.dtype_acc = (uint8_t)acc;
}

/* Operands and options of a product; its type goes to *out. */
static struct dims set_product(const struct call *call, struct command *c, struct tl_tensor *a,
                               struct tl_tensor *b, const tl_dot_options *o, kb_dtype *out)
{
    struct op *op = &c->op;
    const struct dims *x = &a->shape, *y = &b->shape;

    if (a->kind == TENSOR_SCALAR || b->kind == TENSOR_SCALAR || x->rank != 2 || y->rank != 2)
        BAD(call, "the operands of a product are matrices");
    if (a->dtype != b->dtype)
        BAD(call, "operands of %s and %s", dtype_of(a), dtype_of(b));
    op->m = x->dim[o->transpose_a ? 1 : 0];
    op->k = x->dim[o->transpose_a ? 0 : 1];
    op->n = y->dim[o->transpose_b ? 0 : 1];
    if (op->k != y->dim[o->transpose_b ? 1 : 0])
        BAD(call, "shapes %s%s and %s%s do not fit", text_of(x).text,
            o->transpose_a ? " transposed" : "", text_of(y).text,
            o->transpose_b ? " transposed" : "");
    set_product_types(call, c, (kb_dtype)a->dtype, o, out);
    op->transpose_a = o->transpose_a;
    op->transpose_b = o->transpose_b;
    op->col_a = o->layout_a == TL_COL_MAJOR;
    op->col_b = o->layout_b == TL_COL_MAJOR;
    op->col_out = o->layout_out == TL_COL_MAJOR;
    add_operand(c, a);
    add_operand(c, b);
    return (struct dims){.rank = 2, .dim = {op->m, op->n}};
}

tl_tensor *tl_dot_at(tl_ctx *tl, tl_here here, tl_tensor *a, tl_tensor *b, tl_dot_options options)
{
    struct call call = begin_call(tl, "tl_dot", here);
    struct command *c = new_command(&call, OP_GEMM);
    struct dims shape;
    kb_dtype out;

    check_operand(&call, a);
    check_operand(&call, b);
    shape = set_product(&call, c, a, b, &options, &out);
    set_result(&call, c, out, &shape);
    return do_command(c);
}

/* `d` may be broadcast to `to`. */
static bool broadcasts_to(const struct dims *d, const struct dims *to)
{
    if (d->rank > to->rank)
        return false;
    for (uint32_t i = 0; i < d->rank; i++) {
        uint32_t n = d->dim[d->rank - 1 - i];

        if (n != 1 && n != to->dim[to->rank - 1 - i])
            return false;
    }
    return true;
}

static void add_epilogue_operand(const struct call *call, struct command *c, struct op_epilogue *e,
                                 struct tl_tensor *y, const struct dims *shape)
{
    check_operand(call, y);
    if (y->kind != TENSOR_SCALAR) {
        if (y->dtype != c->op.in[0].dtype && y->dtype != c->op.dtype_acc)
            BAD(call, "an epilogue's operand is %s, not %s", dtype_of(y),
                kb_dtype_name((kb_dtype)c->op.in[0].dtype));
        if (!broadcasts_to(&y->shape, shape))
            BAD(call, "an epilogue's operand %s does not broadcast to %s", text_of(&y->shape).text,
                text_of(shape).text);
    }
    set_tensor(&e->operand[e->n_operands], y);
    if (y->kind == TENSOR_SCALAR)
        e->operand[e->n_operands].dtype = c->op.dtype_acc;
    e->n_operands++;
    c->operand[c->n_operands++] = y;
}

static void add_epilogue(const struct call *call, struct command *c, const tl_epilogue *step,
                         const struct dims *shape)
{
    struct op_epilogue *e = &c->op.epilogue[c->op.n_epilogues++];
    const struct math_row *row;
    struct tl_tensor *const operands[2] = {step->y, step->z};

    if (group_of(step->op) != MATH_ELEMENT || step->op == TL_WHERE)
        BAD(call, "an epilogue is an elementwise operation that keeps the type");
    row = &math_rows[step->op];
    check_types(call, step->op, (kb_dtype)c->op.dtype_acc);
    *e = (struct op_epilogue){.math = (uint8_t)step->op};
    for (uint32_t i = 0; i + 1 < row->operands; i++) {
        if (!operands[i])
            BAD(call, "epilogue %s takes %u operands besides the accumulator", row->name,
                row->operands - 1u);
        add_epilogue_operand(call, c, e, operands[i], shape);
    }
    if (e->n_operands == 2 && !e->operand[0].is_scalar && !e->operand[1].is_scalar)
        BAD(call, "epilogue %s has two tensors; one is read with a tile", row->name);
}

static void set_gemm(const struct call *call, struct command *c, const tl_composite_args *args,
                     struct dims *shape, kb_dtype *out)
{
    check_waited(call, args->a);
    check_waited(call, args->b);
    *shape = set_product(call, c, args->a, args->b, &args->dot, out);
    for (int i = 0; i < TL_EPILOGUES_MAX && args->epilogue[i].op; i++)
        add_epilogue(call, c, &args->epilogue[i], shape);
}

/* The type of the tensors among the operands, which agree; a condition is not one of them. */
static kb_dtype common_type(const struct call *call, enum tl_op op, struct tl_tensor *const *x,
                            uint32_t n)
{
    kb_dtype dtype = KB_DEFAULT;

    for (uint32_t i = op == TL_WHERE; i < n; i++) {
        if (x[i]->kind == TENSOR_SCALAR)
            continue;
        if (dtype && x[i]->dtype != dtype)
            BAD(call, "operands of %s and %s", kb_dtype_name(dtype), dtype_of(x[i]));
        dtype = (kb_dtype)x[i]->dtype;
    }
    if (!dtype)
        BAD(call, "%s needs a tensor among its operands", math_rows[op].name);
    check_types(call, op, dtype);
    return dtype;
}

static void check_condition(const struct call *call, const struct tl_tensor *x)
{
    if (x->kind == TENSOR_SCALAR || x->dtype != KB_BOOL)
        BAD(call, "the condition is not a bool tensor");
}

/* Scalars take the type of the tensors. */
static void add_operands(struct command *c, struct tl_tensor *const *x, uint32_t n, kb_dtype dtype)
{
    for (uint32_t i = 0; i < n; i++) {
        add_operand(c, x[i]);
        if (x[i]->kind == TENSOR_SCALAR)
            c->op.in[i].dtype = (uint8_t)dtype;
    }
}

/* Rows and columns of a tensor seen as a matrix: all axes but the last are rows. */
static void set_matrix(const struct call *call, struct op *op, const struct dims *d)
{
    uint64_t rows = 1;

    for (uint32_t i = 0; i + 1 < d->rank; i++)
        rows *= d->dim[i];
    if (rows > UINT32_MAX)
        BAD(call, "shape %s has more than %u rows", text_of(d).text, UINT32_MAX);
    op->m = (uint32_t)rows;
    op->n = d->rank ? d->dim[d->rank - 1] : 1;
    op->k = 1;
}

static bool same_shape(const struct dims *a, const struct dims *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) == 0;
}

static void set_composite_math(const struct call *call, struct command *c,
                               const tl_composite_args *args, struct dims *shape, kb_dtype *out)
{
    struct tl_tensor *const x[3] = {args->a, args->b, args->c};
    const struct math_row *row;
    bool found = false;

    if (!is_elementwise(args->op))
        BAD(call, "a composite is a GEMM or an elementwise operation");
    row = &math_rows[args->op];
    for (uint32_t i = 0; i < row->operands; i++) {
        check_waited(call, x[i]);
        if (x[i]->kind == TENSOR_SCALAR)
            continue;
        if (found && !same_shape(&x[i]->shape, shape))
            BAD(call, "operands of shapes %s and %s: those of a composite are equal",
                text_of(shape).text, text_of(&x[i]->shape).text);
        *shape = x[i]->shape;
        found = true;
    }
    if (args->op == TL_WHERE)
        check_condition(call, x[0]);
    *out = common_type(call, args->op, x, row->operands);
    add_operands(c, x, row->operands, *out);
    if (row->group == MATH_COMPARE)
        *out = KB_BOOL;
    c->op.math = (uint8_t)args->op;
    c->op.has_axis = c->op.all_axes = c->op.keepdims = false;
    set_matrix(call, &c->op, shape);
    if (args->epilogue[0].op)
        BAD(call, "only a GEMM has epilogues");
}

tl_tensor *tl_composite_at(tl_ctx *tl, tl_here here, tl_composite_args args)
{
    struct call call = begin_call(tl, "tl_composite", here);
    struct command *c = new_command(&call, args.op == TL_GEMM ? OP_GEMM : OP_MATH);
    struct dims shape = {0};
    kb_dtype out;

    c->op.composite = true;
    c->async = true;
    if (args.op == TL_GEMM)
        set_gemm(&call, c, &args, &shape, &out);
    else
        set_composite_math(&call, c, &args, &shape, &out);
    c->dst = check_range(&call, args.out, result_bytes(&call, out, &shape), dtype_bytes(out));
    set_place(&call, c, out, &shape, args.out);
    set_tensor(&c->op.out, c->result);
    return do_command(c);
}

/* -- elementwise ---------------------------------------------------------------------------- */

/* What shapes broadcast to, by numpy's rules. */
static struct dims broadcast(const struct call *call, struct tl_tensor *const *x, uint32_t n)
{
    struct dims out = {0};

    for (uint32_t i = 0; i < n; i++)
        if (x[i]->kind != TENSOR_SCALAR && x[i]->shape.rank > out.rank)
            out.rank = x[i]->shape.rank;
    for (uint32_t a = 0; a < out.rank; a++)
        out.dim[a] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct dims *d = &x[i]->shape;

        for (uint32_t a = 0; x[i]->kind != TENSOR_SCALAR && a < d->rank; a++) {
            uint32_t *to = &out.dim[out.rank - d->rank + a];

            if (*to != 1 && d->dim[a] != 1 && *to != d->dim[a])
                BAD(call, "shape %s does not broadcast with the others", text_of(d).text);
            if (d->dim[a] != 1)
                *to = d->dim[a];
        }
    }
    return out;
}

/* "tl_add", from the operation. */
static const char *math_call(enum tl_op op)
{
    static const char *const names[N_TL_OPS] = {
#define MATH(NAME, name, ...) [TL_##NAME] = "tl_" #name,
#include "data/ops.def"
    };

    return group_of(op) < 0 ? "tl_math_at" : names[op];
}

static struct command *new_math(const struct call *call, enum tl_op op)
{
    struct command *c = new_command(call, OP_MATH);

    c->op.math = (uint8_t)op;
    c->op.has_axis = c->op.all_axes = c->op.keepdims = false;
    return c;
}

tl_tensor *tl_math_at(tl_ctx *tl, tl_here here, tl_op op, tl_tensor *x, tl_tensor *y, tl_tensor *z)
{
    struct call call = begin_call(tl, math_call(op), here);
    struct tl_tensor *const operands[3] = {x, y, z};
    const struct math_row *row;
    struct command *c;
    struct dims shape;
    kb_dtype dtype;

    if (!is_elementwise(op))
        BAD(&call, "operation %d is not elementwise", (int)op);
    row = &math_rows[op];
    c = new_math(&call, op);
    for (uint32_t i = 0; i < row->operands; i++)
        check_operand(&call, operands[i]);
    if (op == TL_WHERE)
        check_condition(&call, x);
    dtype = common_type(&call, op, operands, row->operands);
    shape = broadcast(&call, operands, row->operands);
    add_operands(c, operands, row->operands, dtype);
    set_result(&call, c, row->group == MATH_COMPARE ? KB_BOOL : dtype, &shape);
    return do_command(c);
}

/* The one tensor of an operation. */
static struct command *math_of_one(const struct call *call, enum tl_op op, struct tl_tensor *x)
{
    struct command *c = new_math(call, op);

    check_operand(call, x);
    if (x->kind == TENSOR_SCALAR)
        BAD(call, "%s needs a tensor", math_rows[op].name);
    check_types(call, op, (kb_dtype)x->dtype);
    add_operand(c, x);
    return c;
}

tl_tensor *tl_cast_at(tl_ctx *tl, tl_here here, tl_tensor *x, kb_dtype dtype)
{
    struct call call = begin_call(tl, "tl_cast", here);
    struct command *c = math_of_one(&call, TL_CAST, x);

    set_result(&call, c, dtype, &x->shape);
    return do_command(c);
}

/* -- over an axis --------------------------------------------------------------------------- */

static uint32_t axis_of(const struct call *call, const struct dims *d, int axis)
{
    int rank = (int)d->rank;

    if (axis < -rank || axis >= rank)
        BAD(call, "axis %d is none of shape %s", axis, text_of(d).text);
    return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static struct dims reduced(const struct dims *d, bool all, uint32_t axis, bool keepdims)
{
    struct dims out = {0};

    for (uint32_t i = 0; i < d->rank; i++) {
        bool gone = all || i == axis;

        if (gone && !keepdims)
            continue;
        out.dim[out.rank++] = gone ? 1 : d->dim[i];
    }
    return out;
}

tl_tensor *tl_reduce_at(tl_ctx *tl, tl_here here, tl_op op, tl_tensor *x, int axis, bool keepdims)
{
    struct call call = begin_call(tl, math_call(op), here);
    bool all = axis == TL_ALL_AXES;
    struct command *c;
    struct dims shape;
    uint32_t at;

    if (group_of(op) != MATH_REDUCE)
        BAD(&call, "operation %d does not reduce", (int)op);
    c = math_of_one(&call, op, x);
    at = all ? 0 : axis_of(&call, &x->shape, axis);
    shape = reduced(&x->shape, all, at, keepdims);
    c->op.all_axes = all;
    c->op.has_axis = !all;
    c->op.axis = (int8_t)at;
    c->op.keepdims = keepdims;
    set_result(&call, c, op == TL_ARGMAX ? KB_I32 : (kb_dtype)x->dtype, &shape);
    return do_command(c);
}

tl_tensor *tl_softmax_at(tl_ctx *tl, tl_here here, tl_tensor *x, int axis)
{
    struct call call = begin_call(tl, "tl_softmax", here);
    struct command *c = math_of_one(&call, TL_SOFTMAX, x);

    c->op.has_axis = true;
    c->op.axis = (int8_t)axis_of(&call, &x->shape, axis);
    set_result(&call, c, (kb_dtype)x->dtype, &x->shape);
    return do_command(c);
}

/* -- shapes and constants ------------------------------------------------------------------- */

tl_tensor *tl_transpose_at(tl_ctx *tl, tl_here here, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_transpose", here);
    struct command *c = math_of_one(&call, TL_TRANSPOSE, x);
    struct dims shape = x->shape;

    if (shape.rank < 2)
        BAD(&call, "shape %s has no two axes", text_of(&shape).text);
    shape.dim[shape.rank - 1] = x->shape.dim[shape.rank - 2];
    shape.dim[shape.rank - 2] = x->shape.dim[shape.rank - 1];
    set_result(&call, c, (kb_dtype)x->dtype, &shape);
    return do_command(c);
}

/* A constant of an operation that has no tensors. */
static void add_constant(struct command *c, kb_dtype dtype, double value)
{
    static const struct tl_tensor none = {.kind = TENSOR_SCALAR, .maker = OP_NONE};

    add_operand(c, &none);
    c->op.in[c->op.n_in - 1].dtype = (uint8_t)dtype;
    c->op.in[c->op.n_in - 1].scalar = value;
}

tl_tensor *tl_arange_at(tl_ctx *tl, tl_here here, kb_dtype dtype, int64_t n, double start,
                        double step)
{
    struct call call = begin_call(tl, "tl_arange", here);
    struct command *c = new_math(&call, TL_ARANGE);
    kb_shape shape = {.rank = 1, .dim = {n}};
    struct dims d;

    dims_of(&call, &shape, &d);
    check_dtype(&call, dtype);
    check_types(&call, TL_ARANGE, dtype);
    add_constant(c, dtype, start);
    add_constant(c, dtype, step);
    set_result(&call, c, dtype, &d);
    return do_command(c);
}

tl_tensor *tl_full_at(tl_ctx *tl, tl_here here, kb_dtype dtype, kb_shape shape, double value)
{
    struct call call = begin_call(tl, "tl_full", here);
    struct command *c = new_math(&call, TL_FULL);
    struct dims d;

    dims_of(&call, &shape, &d);
    check_dtype(&call, dtype);
    add_constant(c, dtype, value);
    set_result(&call, c, dtype, &d);
    return do_command(c);
}
