/* tl_tensor.c -- tensors of a kernel: made, viewed, looked at, given back.
 *
 * A tensor is a handle of the PE that made it. Its bytes are not in it: TENSOR_VALUE has a view of
 * a version (data/mem.h), and TENSOR_PLACE has an address, and its contents are looked up when it
 * is used. A kernel sees bytes through tl_data() and tl_get() only; results of arithmetic have none
 * before Phase 2, and to look at them is an error.
 *
 * tl_reshape() makes a second handle to the same range of the TCM: the range is given back with the
 * last. tl_slice() makes one to a part of it, along one axis. The bytes of a slice are a version
 * like those of any tensor: parts of its parent's version, which nothing copies
 * (mem_view_strided()). So whatever takes a tensor takes a slice. Where it lies in the TCM,
 * stride[] says, counts for its FETCH alone.
 */
#include "kernels/accesses.h"
#include "kernels/bound.h"
#include "kernels/flight.h"
#include "kernels/operands.h"
#include "kernels/persist.h"
#include "kernels/pool.h"
#include "kernels/tl_call.h"
#include "machine/address.h"
#include "pe/boxes.h"
#include <string.h>

tl_tensor *tl_ref_at(tl_here here, tl_ctx *tl, uint64_t address, kb_dtype dtype, kb_shape shape)
{
    struct call call = begin_call(tl, "tl_ref", here);
    struct dims d;
    struct tl_tensor *tensor;
    uint64_t nbytes;

    check_shape(&call, &shape, &d);
    nbytes = result_bytes(&call, dtype, &d);
    check_range(&call, address, nbytes, dtype_cell(dtype));
    tensor = new_tensor(&call, TENSOR_PLACE, dtype, &d, nbytes);
    tensor->address = address;
    tensor->space = (uint8_t)address_space(tl->sim->topo, address);
    return tensor;
}

tl_tensor *tl_alloc_at(tl_here here, tl_ctx *tl, kb_dtype dtype, kb_shape shape)
{
    struct call call = begin_call(tl, "tl_alloc", here);
    struct dims d;
    struct tl_tensor *tensor;
    enum tcm_result result;
    uint64_t nbytes;

    check_shape(&call, &shape, &d);
    nbytes = result_bytes(&call, dtype, &d);
    tensor = new_tensor(&call, TENSOR_PLACE, dtype, &d, nbytes);
    tensor->space = SPACE_TCM;
    while ((result = tcm_alloc(tl, tensor)) != TCM_OK) {
        if (!tcm_may_have_room(tl, result, call.name, here, nbytes))
            kernel_leave(tl);
        kernel_wait_for_room(tl);
    }
    return tensor;
}

static inline __attribute__((always_inline)) void take_back(const struct call *call,
                                                            struct tl_tensor *tensor)
{
    bool waits = tensor->wait == WAIT_PENDING || (tensor->wait == WAIT_ENDED && tensor->loads);

    if (waits && !call->pe->overlaps)
        BAD(call, "a tensor is given back that has not been waited for");
    if (tensor->making || tensor->users)
        flight_give_back(call->pe->kernels, tensor);
    else
        tensor_free(call->pe, tensor);
}

void tensor_give_back(const struct call *call, struct tl_tensor *tensor)
{
    take_back(call, tensor);
}

void tl_free_at(tl_here here, tl_ctx *tl, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_free", here);

    check_live(&call, x);
    if (x->persists)
        persist_forget(tl, x);
    take_back(&call, x);
}

uint64_t tl_mark_at(tl_here here, tl_ctx *tl)
{
    begin_call(tl, "tl_mark", here);
    return tl->tensors;
}

void tl_release_at(tl_here here, tl_ctx *tl, uint64_t mark)
{
    struct call call = begin_call(tl, "tl_release", here);

    for (struct tl_tensor *x = tl->newest, *older; x && x->number >= mark; x = older) {
        older = x->older;
        if (!x->kept && !x->dead && !x->persists)
            take_back(&call, x);
        x->kept = false;
    }
}

tl_tensor *tl_keep_at(tl_here here, tl_ctx *tl, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_keep", here);

    check_live(&call, x);
    x->kept = true;
    return x;
}

static void check_name(const struct call *call, const char *name)
{
    if (!name || !*name)
        BAD(call, "a tensor is kept under a name, which is not empty");
}

tl_tensor *tl_persist_at(tl_here here, tl_ctx *tl, const char *name, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_persist", here);

    check_name(&call, name);
    check_live(&call, x);
    if (x->making || (x->loads && x->wait != WAIT_OVER))
        BAD(&call, "the tensor is in flight: wait for it first");
    if (x->kind != TENSOR_VALUE || x->sliced)
        BAD(&call, "what is kept is a tensor that was loaded or computed, and no view");
    bound_ends(tl);
    if (!persist_keep(tl, name, x))
        call_no_memory(&call);
    return x;
}

tl_tensor *tl_persisted_at(tl_here here, tl_ctx *tl, const char *name)
{
    struct call call = begin_call(tl, "tl_persisted", here);
    struct tl_tensor *tensor;
    struct persisted *p;

    bound_ends(tl);
    check_name(&call, name);
    p = persist_find(tl, name);
    if (!p) {
        persist_note_absent(tl, name);
        return NULL;
    }
    tensor = persist_tensor(tl, p);
    if (!tensor)
        call_no_memory(&call);
    return tensor;
}

tl_tensor *tl_scalar_at(tl_here here, tl_ctx *tl, double value)
{
    struct call call = begin_call(tl, "tl_scalar", here);
    struct tl_tensor *tensor = tensor_new(tl, TENSOR_SCALAR);

    if (!tensor)
        call_no_memory(&call);
    tensor->dtype = KB_DEFAULT;
    tensor->space = SPACE_TCM;
    tensor->shape.rank = 0;
    tensor->nbytes = 0;
    tensor->address = UINT64_MAX;
    tensor->scalar = value;
    return tensor;
}

/* A second handle to bytes of `tensor`, or to those that will be there; it is the same so far. */
static struct tl_tensor *new_view(const struct call *call, struct tl_tensor *tensor,
                                  const struct dims *shape, uint64_t nbytes)
{
    struct tl_tensor *view =
        new_tensor(call, (enum tensor_kind)tensor->kind, (kb_dtype)tensor->dtype, shape, nbytes);

    view->address = tensor->address;
    view->space = tensor->space;
    view->hidden = tensor->hidden;
    view->maker = tensor->maker;
    view->sliced = tensor->sliced;
    view->block = tensor->block;
    if (view->block)
        view->block->refs++;
    return view;
}

static struct tl_tensor *seen_by(const struct call *call, struct tl_tensor *view,
                                 struct tl_tensor *tensor)
{
    if (!view_take(call->pe->kernels, view, tensor))
        call_no_memory(call);
    if (tensor->made_by != OP_NONE)
        flight_view(tensor, view);
    return view;
}

struct tl_tensor *tensor_part(const struct call *call, struct tl_tensor *whole, kb_dtype dtype,
                              const struct dims *shape, uint64_t offset)
{
    uint64_t nbytes = dims_elements(shape) * dtype_bytes((uint8_t)dtype);
    struct tl_tensor *part = new_view(call, whole, shape, nbytes);

    part->dtype = (uint8_t)dtype;
    part->address += offset;
    part->cut = true;
    tensor_strides(part, part->cut_stride);
    part->cut_offset = offset;
    return seen_by(call, part, whole);
}

static void check_viewed(const struct call *call, const struct tl_tensor *tensor, const char *what)
{
    check_waited(call, tensor);
    if (tensor->kind == TENSOR_SCALAR)
        BAD(call, "a scalar has no shape");
    if (tensor->wait == WAIT_PENDING && !call->pe->overlaps)
        BAD(call, "a tensor is %s before it was waited for", what);
}

/* Of cells that lie so: are axes `i` to before `end` as one, each step a whole axis of the next? */
static bool is_one_axis(const struct strided *s, uint32_t i, uint32_t end)
{
    while (++i < end)
        if (s->stride[i - 1] != s->dim[i] * s->stride[i])
            return false;
    return true;
}

/* Without the axes that have one cell, which may be anywhere. */
static struct strided without_ones(const struct strided *s)
{
    struct strided left = {.elem_bytes = s->elem_bytes};

    for (uint32_t i = 0; i < s->rank; i++)
        if (s->dim[i] > 1) {
            left.dim[left.rank] = s->dim[i];
            left.stride[left.rank++] = s->stride[i];
        }
    return left;
}

/*
 * How far apart the cells of `x` lie along the axes of `d`, of as many elements: as few axes of
 * both as have equally many cells are taken together. False: some of these do not lie evenly.
 */
static bool strides_as(const struct tl_tensor *x, const struct dims *d, int64_t stride[KB_RANK_MAX])
{
    struct strided whole = tensor_elements(x), s = without_ones(&whole);
    uint32_t i = 0, k = 0;

    for (uint32_t end_i, end_k; k < d->rank; i = end_i, k = end_k) {
        int64_t of_x = 1, of_d = dims_cells(d, x->dtype, k), step = s.elem_bytes;

        for (end_i = i, end_k = k + 1; of_x != of_d;) {
            if (of_x < of_d)
                of_x *= s.dim[end_i++];
            else
                of_d *= dims_cells(d, x->dtype, end_k++);
        }
        if (!is_one_axis(&s, i, end_i))
            return false;
        step = end_i > i ? s.stride[end_i - 1] : step;
        for (uint32_t axis = end_k; axis-- > k; step *= dims_cells(d, x->dtype, axis))
            stride[axis] = step;
    }
    return true;
}

tl_tensor *tl_reshape_at(tl_here here, tl_ctx *tl, tl_tensor *tensor, kb_shape shape)
{
    struct call call = begin_call(tl, "tl_reshape", here);
    int64_t stride[KB_RANK_MAX] = {0};
    struct tl_tensor *view;
    struct dims d;
    uint64_t n = check_shape(&call, &shape, &d);

    check_viewed(&call, tensor, "reshaped");
    check_cells(&call, (kb_dtype)tensor->dtype, &d);
    if (n != dims_elements(&tensor->shape))
        BAD(&call, "%s does not hold the elements of %s", shape_text(&d).text,
            shape_text(&tensor->shape).text);
    if (tensor->apart && !strides_as(tensor, &d, stride))
        check_together(&call, tensor);
    view = new_view(&call, tensor, &d, tensor->nbytes);
    view->apart = tensor->apart;
    if (view->apart)
        memcpy(view->stride, stride, sizeof stride);
    return seen_by(&call, view, tensor);
}

/* Do elements that lie so lie side by side? */
static bool is_together(const struct strided *s)
{
    int64_t step = s->elem_bytes;

    for (uint32_t i = s->rank; i-- > 0; step *= s->dim[i])
        if (s->dim[i] > 1 && s->stride[i] != step)
            return false;
    return true;
}

/*
 * A view of shape `d` with other elements, or in another order: axis i is axis from[i] of x, or, if
 * that is below 0, has the same elements at each place. It is not seen yet.
 */
static struct tl_tensor *rearranged(const struct call *call, struct tl_tensor *x,
                                    const struct dims *d, const int from[KB_RANK_MAX])
{
    struct tl_tensor *view = new_view(call, x, d, dtype_size(x->dtype, dims_elements(d)));
    struct tl_tensor whole = {.dtype = x->dtype, .shape = x->shape}; /* as bytes of a version lie */
    int64_t in_tcm[KB_RANK_MAX], in_version[KB_RANK_MAX];
    struct strided s;

    tensor_strides(x, in_tcm);
    tensor_strides(&whole, in_version);
    for (uint32_t i = 0; i < d->rank; i++) {
        view->stride[i] = from[i] < 0 ? 0 : in_tcm[from[i]];
        view->cut_stride[i] = from[i] < 0 ? 0 : in_version[from[i]];
    }
    view->apart = true;
    s = tensor_elements(view);
    view->apart = !is_together(&s);
    view->sliced = view->cut = true;
    view->hidden = false;
    view->cut_offset = 0;
    return view;
}

static void check_in_tcm(const struct call *call, const struct tl_tensor *x, const char *what)
{
    check_viewed(call, x, what);
    if (!x->block)
        BAD(call, "the tensor lies at address %llu, not in the TCM: load it first",
            (unsigned long long)x->address);
}

tl_tensor *tl_slice_at(tl_here here, tl_ctx *tl, tl_tensor *x, int axis, int64_t first, int64_t n)
{
    struct call call = begin_call(tl, "tl_slice", here);
    struct tl_tensor *view;
    int from[KB_RANK_MAX];
    struct dims d;
    int64_t cell;

    check_in_tcm(&call, x, "sliced");
    d = x->shape;
    axis = (int)check_axis(&call, &d, axis);
    if (first < 0 || n < 1 || first > (int64_t)d.dim[axis] - n)
        BAD(&call, "elements %lld to %lld are not in axis %d of %s", (long long)first,
            (long long)(first + n - 1), axis, shape_text(&d).text);
    cell = (uint32_t)axis + 1 == d.rank ? dtype_of_cell(x->dtype) : 1;
    if (first % cell || n % cell)
        BAD(&call, "%lld elements from %lld on along the last axis of i4: both are even",
            (long long)n, (long long)first);
    d.dim[axis] = (uint32_t)n;
    for (int i = 0; i < KB_RANK_MAX; i++)
        from[i] = i;
    view = rearranged(&call, x, &d, from);
    view->address += (uint64_t)(first / cell * view->stride[axis]);
    view->cut_offset = (uint64_t)(first / cell * view->cut_stride[axis]);
    return seen_by(&call, view, x);
}

tl_tensor *tl_permute_at(tl_here here, tl_ctx *tl, tl_tensor *x, const int *axes)
{
    struct call call = begin_call(tl, "tl_permute", here);
    int from[KB_RANK_MAX];
    unsigned seen = 0;
    struct dims d;

    check_in_tcm(&call, x, "permuted");
    d = x->shape;
    for (uint32_t i = 0; i < d.rank; i++) {
        from[i] = (int)check_axis(&call, &x->shape, axes[i]);
        if (seen & 1u << from[i])
            BAD(&call, "axis %d is named twice", from[i]);
        seen |= 1u << from[i];
        d.dim[i] = x->shape.dim[from[i]];
    }
    if (x->dtype == KB_I4 && (uint32_t)from[d.rank - 1] + 1 != d.rank)
        BAD(&call, "the last axis of i4 stays the last: two elements lie in a byte");
    return seen_by(&call, rearranged(&call, x, &d, from), x);
}

tl_tensor *tl_expand_at(tl_here here, tl_ctx *tl, tl_tensor *x, kb_shape shape)
{
    struct call call = begin_call(tl, "tl_expand", here);
    int from[KB_RANK_MAX], more;
    struct dims d;
    bool fits;

    check_in_tcm(&call, x, "expanded");
    check_shape(&call, &shape, &d);
    more = (int)d.rank - (int)x->shape.rank;
    fits = more >= 0;
    for (int i = 0; i < (int)d.rank; i++) {
        uint32_t has = i < more || !fits ? 1 : x->shape.dim[i - more];

        fits = fits && (has == 1 || has == d.dim[i]);
        from[i] = has == d.dim[i] && i >= more ? i - more : -1;
    }
    if (!fits)
        BAD(&call, "%s does not expand to %s", shape_text(&x->shape).text, shape_text(&d).text);
    return seen_by(&call, rearranged(&call, x, &d, from), x);
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

/* -- the bytes of a tensor -------------------------------------------------------------------- */

/* A kernel may access the bytes as elements, so they are copied if they are not aligned as such. */
static const unsigned char *align_data(const struct call *call, struct tl_tensor *tensor,
                                       const unsigned char *bytes)
{
    struct version *copy;

    if ((uintptr_t)bytes % dtype_cell(tensor->dtype) == 0)
        return bytes;
    copy = version_new_bytes(tensor->nbytes);
    if (!copy)
        call_no_memory(call);
    memcpy(copy->bytes, bytes, tensor->nbytes);
    version_drop(tensor->view.v);
    tensor->view = (struct view){copy, 0};
    return copy->bytes;
}

const unsigned char *tensor_bytes(const struct call *call, struct tl_tensor *tensor)
{
    return align_data(call, tensor, tensor->view.v->bytes + tensor->view.offset);
}

/* The bytes of a tensor; of a place, the bytes at its address now. Leaves the kernel if it has
 * none.
 */
static const unsigned char *data_of(const struct call *call, struct tl_tensor *tensor)
{
    const unsigned char *bytes;
    struct view view;
    uint64_t range[2], offset;
    uint32_t dst;
    enum mem_err err = MEM_OK;

    check_waited(call, tensor);
    bound_ends(call->pe);
    if (tensor->kind == TENSOR_VALUE && (tensor->making || tensor->loads) &&
        tensor->wait != WAIT_OVER)
        BAD(call, "the tensor is in flight: wait for it first");
    if (tensor->kind == TENSOR_SCALAR)
        BAD(call, "a scalar has no data");
    view = tensor->view;
    if (tensor->kind == TENSOR_PLACE &&
        address_find_area(call->pe->sim->topo, tensor->address, &dst, &offset))
        err = !tcm_look_at(call->pe, dst) ? MEM_NO_MEMORY
                                          : place_read(call->pe, tensor, dst, &view, NULL, range);
    if (err == MEM_ABSENT)
        BAD(call, "bytes at address %llu were never written", (unsigned long long)range[0]);
    if (err == MEM_NO_MEMORY)
        call_no_memory(call);
    if (tensor->kind == TENSOR_PLACE) {
        version_drop(tensor->view.v);
        tensor->view = view;
    }
    if (!version_ready(view.v))
        BAD(call,
            "the data are pending: they are results that Phase 2 computes; tl_value() gives one");
    if (!tensor->block)
        BAD(call, "the tensor lies at address %llu, not in the TCM: load it first",
            (unsigned long long)tensor->address);
    bytes = version_bytes(view.v);
    if (!bytes)
        call_no_memory(call);
    return align_data(call, tensor, bytes + view.offset);
}

const void *tl_data_at(tl_here here, tl_ctx *tl, tl_tensor *tensor)
{
    struct call call = begin_call(tl, "tl_data", here);
    const void *bytes = data_of(&call, tensor);

    if (tl->sim->race)
        accesses_data(tl, call.name, here, tensor->address, tensor->nbytes);
    return bytes;
}

double tl_get_at(tl_here here, tl_ctx *tl, tl_tensor *tensor, int64_t i)
{
    struct call call = begin_call(tl, "tl_get", here);
    const unsigned char *bytes = data_of(&call, tensor);
    uint64_t n = dims_elements(&tensor->shape);

    if (i < 0 || (uint64_t)i >= n)
        BAD(&call, "element %lld is none of 0..%llu", (long long)i, (unsigned long long)n - 1);
    if (tl->sim->race)
        accesses_data(tl, call.name, here, tensor->address + dtype_size(tensor->dtype, (uint64_t)i),
                      dtype_cell(tensor->dtype));
    return kb_element((kb_dtype)tensor->dtype, bytes, (uint64_t)i);
}
