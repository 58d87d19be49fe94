/* tl_value.c -- values that a kernel may branch on.
 *
 * tl_value() and tl_values() are commands: they wait for their tensor, as an operand does, and for
 * the FETCH of the element, or of all. Then the kernel goes on with the bytes. What was only loaded
 * has them. A result of arithmetic has none until Phase 2; so what it depends on is computed here,
 * by the code of Phase 2 (`by`), from the versions that lie there: through memory, messages and
 * earlier launches. Times do not depend on it, and bytes are those that Phase 2 would give.
 *
 * For that the operands of all operations must have been kept from the first on: options.values.
 * Without it the call ends the run, and says so; kb_sim_wants_values() tells it to programs, which
 * may begin again.
 *
 * The command is no operation: its record is that of its FETCH. The view that it was bound to at
 * its start is handed over in pe->value, as the command's row is gone when the kernel goes on.
 */
#include "kernels/accesses.h"
#include "kernels/bound.h"
#include "kernels/requests.h"
#include "kernels/tl_call.h"
#include "pe/boxes.h"
#include <string.h>

/* What it must be computed from is kept, and is computed. */
static void compute(const struct call *call, struct version *v, compute_version *by)
{
    struct kb_sim *s = call->pe->sim;
    kb_error why = {""};
    kb_status status;

    if (!s->options.values) {
        s->wants_values = true;
        BAD(call, "the value is pending: it is known with option values, which computes it as the "
                  "kernel runs");
    }
    status = by(s, v, &why);
    if (status == KB_OK)
        return;
    if (status == KB_NO_MEMORY)
        call_no_memory(call);
    s->kernels->error = why;
    engine_fail(s, status);
    kernel_leave(call->pe);
}

/* Where element `i` in C order lies. */
static uint64_t element_address_of(const struct tl_tensor *x, uint64_t i)
{
    struct strided s = tensor_elements(x);
    uint64_t address = x->address;

    for (uint32_t axis = s.rank; axis-- > 0; i /= (uint64_t)s.dim[axis])
        address += (i % (uint64_t)s.dim[axis]) * (uint64_t)s.stride[axis];
    return address;
}

/* `n` elements of x from `first` on, where the version has them; its reference is the caller's. */
static struct view fetch(const struct call *call, struct tl_tensor *x, uint64_t first, uint64_t n,
                         compute_version *by)
{
    struct command *c;
    struct view view;
    uint64_t bytes = dtype_bytes(x->dtype);

    bound_ends(call->pe);
    c = new_command(call, OP_MATH);
    c->task = TASK_VALUE;
    c->op.math = TL_GEMM; /* none; the command may have been another one before */
    add_operand(c, x);
    c->op.in[0].address = element_address_of(x, first);
    c->op.in[0].shape = (struct dims){.rank = 1, .dim = {(uint32_t)n}};
    c->fetch_bytes = n * bytes;
    kernel_call(c);
    view = call->pe->value;
    if (x->kind == TENSOR_VALUE) /* it was bound as a whole */
        view.offset += first * bytes;
    if (!version_ready(view.v))
        compute(call, view.v, by);
    if (!version_bytes(view.v))
        call_no_memory(call);
    call->pe->value.v = NULL; /* until here it is the PE's, which a mistake leaves it to */
    return view;
}

static uint64_t check_value(const struct call *call, const struct tl_tensor *x)
{
    check_live(call, x);
    if (x->kind == TENSOR_SCALAR)
        BAD(call, "a scalar has no data");
    check_operand(call, x);
    if (x->dtype == KB_I4)
        BAD(call, "a value of i4 is not fetched alone: tl_cast() it first");
    return dims_elements(&x->shape);
}

double value_element(tl_here here, tl_ctx *tl, tl_tensor *x, int64_t i, compute_version *by)
{
    struct call call = begin_call(tl, "tl_value", here);
    uint64_t n = check_value(&call, x);
    unsigned char element[8];
    struct view view;

    if (i < 0 || (uint64_t)i >= n)
        BAD(&call, "element %lld is none of 0..%llu", (long long)i, (unsigned long long)n - 1);
    view = fetch(&call, x, (uint64_t)i, 1, by);
    memcpy(element, view.v->bytes + view.offset, dtype_bytes(x->dtype));
    version_drop(view.v);
    return kb_element((kb_dtype)x->dtype, element, 0);
}

const void *value_all(tl_here here, tl_ctx *tl, tl_tensor *x, compute_version *by)
{
    struct call call = begin_call(tl, "tl_values", here);
    struct view view = fetch(&call, x, 0, check_value(&call, x), by);

    version_drop(x->view.v);
    x->view = view;
    return tensor_bytes(&call, x);
}
