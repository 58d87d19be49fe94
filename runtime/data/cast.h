/* cast.h -- converts elements of one dtype into another: tl_cast(), and all rounding of Phase 2. */
#ifndef CAST_H
#define CAST_H
#include "kernbench.h"

/*
 * Converts `n` contiguous elements. Floats round to nearest even, once, and overflow to infinity,
 * those of 8 bits to their largest number;
 * floats to integers truncate and saturate, NaN becomes 0; integers wrap; to bool, all but 0 is
 * true. The arrays must be aligned to their elements and must not overlap; those of i4 are whole
 * bytes, and a last half that has no element is written as 0.
 */
void cast_elements(kb_dtype to, void *dst, kb_dtype from, const void *src, size_t n);

static inline bool dtype_is_f8(kb_dtype d)
{
    return d == KB_F8E4M3 || d == KB_F8E5M2;
}

static inline bool dtype_is_float(kb_dtype d)
{
    return (unsigned)d - KB_F16 <= KB_F64 - KB_F16 || dtype_is_f8(d);
}

static inline bool dtype_is_signed(kb_dtype d)
{
    return (d >= KB_I8 && d <= KB_I64) || d == KB_I4;
}

/* Of two types of operands of one command the wider: floats before integers, then that of more
 * bits, then the first. */
kb_dtype dtype_wider(kb_dtype a, kb_dtype b);

/* Is every number of type `from` one of type `to`? */
bool dtype_holds(kb_dtype to, kb_dtype from);

/* The type in which its elements are computed: f32 for smaller floats, else the type itself. */
static inline kb_dtype dtype_computed(kb_dtype d)
{
    return d == KB_F16 || d == KB_BF16 || dtype_is_f8(d) ? KB_F32 : d;
}

#endif
