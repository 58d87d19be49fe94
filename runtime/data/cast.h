/* cast.h -- elements of one dtype into another: tl_cast(), and all rounding of Phase 2. */
#ifndef CAST_H
#define CAST_H
#include "kernbench.h"

/*
 * `n` elements side by side. Floats round to nearest even, once, and overflow to infinity; floats
 * to integers truncate and saturate, NaN becomes 0; integers wrap; to bool: whatever is not 0.
 * Neither array need be aligned to more than its elements; they may not overlap.       design 5.2
 */
void cast_elements(kb_dtype to, void *dst, kb_dtype from, const void *src, size_t n);

static inline bool dtype_is_float(kb_dtype d)
{
    return d >= KB_F16 && d <= KB_F64;
}

static inline bool dtype_is_signed(kb_dtype d)
{
    return d >= KB_I8 && d <= KB_I64;
}

/* What its elements are computed in: f16 and bf16 in f32, all others in themselves. */
static inline kb_dtype dtype_computed(kb_dtype d)
{
    return d == KB_F16 || d == KB_BF16 ? KB_F32 : d;
}

#endif
