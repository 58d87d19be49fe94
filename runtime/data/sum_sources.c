/* sum_sources.c -- the sum of several tensors of one shape, element by element. */
#include "data/sum_sources.h"
#include "data/cast.h"
#include "data/dtype.h"

enum { AT_ONCE = 64 };

union sums {
    float f32[AT_ONCE];
    double f64[AT_ONCE];
    uint64_t integer[AT_ONCE];
};

/* In which type its elements are added. */
static kb_dtype added_as(kb_dtype dtype)
{
    if (dtype_is_float(dtype))
        return dtype_computed(dtype);
    return dtype_is_signed(dtype) ? KB_I64 : KB_U64;
}

static void add(kb_dtype as, union sums *to, const union sums *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (as == KB_F32)
            to->f32[i] += x->f32[i];
        else if (as == KB_F64)
            to->f64[i] += x->f64[i];
        else
            to->integer[i] += x->integer[i];
    }
}

void sum_sources(kb_dtype dtype, uint32_t n, uint64_t elements, const void *in, void *out)
{
    uint64_t bytes = dtype_bytes(dtype), more;
    kb_dtype as = added_as(dtype);
    const unsigned char *from = in;
    unsigned char *to = out;
    union sums sum, x;

    for (uint64_t at = 0; at < elements; at += more) {
        more = elements - at < AT_ONCE ? elements - at : AT_ONCE;
        cast_elements(as, &sum, dtype, from + at * bytes, more);
        for (uint32_t i = 1; i < n; i++) {
            cast_elements(as, &x, dtype, from + (i * elements + at) * bytes, more);
            add(as, &sum, &x, more);
        }
        cast_elements(dtype, to + at * bytes, as, &sum, more);
    }
}
