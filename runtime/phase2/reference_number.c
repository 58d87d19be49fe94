/* reference_number.c -- numbers of the reference implementation: elements read, converted,
 * compared.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "base/text.h"
#include "data/cast.h"
#include "data/dtype.h"
#include "phase2/reference_parts.h"

struct number reference_of_float(double f)
{
    return (struct number){.is_float = true, .f = f};
}

struct number reference_of_integer(uint64_t i)
{
    return (struct number){.i = i};
}

static struct number element(kb_dtype dtype, const unsigned char *bytes, uint64_t i)
{
    struct number n = {.is_float = dtype_is_float(dtype)};

    if (n.is_float)
        n.f = kb_element(dtype, bytes, i);
    else if (dtype == KB_I4)
        n.i = (uint64_t)(int64_t)kb_element(dtype, bytes, i);
    else
        cast_elements(KB_U64, &n.i, dtype, bytes + i * kb_dtype_bytes(dtype), 1);
    return n;
}

struct number reference_of_tensor(const struct op_tensor *t, uint64_t i)
{
    unsigned char rounded[8];

    if (!t->is_scalar)
        return element((kb_dtype)t->dtype, t->view.v->bytes + t->view.offset, i);
    kb_element_set((kb_dtype)t->dtype, rounded, 0, t->scalar);
    return element((kb_dtype)t->dtype, rounded, 0);
}

/*
 * As an element of `dtype`; a float stays unrounded. Integers of a narrower type wrap: 200 as i8
 * is -56, and as a number it is 2^64 - 56, sign-extended.
 */
struct number reference_as(kb_dtype dtype, struct number n, bool is_signed)
{
    unsigned char bytes[8];

    if (n.is_float && dtype_is_float(dtype))
        return n;
    if (dtype_is_float(dtype))
        return reference_of_float(is_signed ? (double)(int64_t)n.i : (double)n.i);
    if (n.is_float)
        cast_elements(dtype, bytes, KB_F64, &n.f, 1);
    else
        cast_elements(dtype, bytes, KB_U64, &n.i, 1);
    return element(dtype, bytes, 0);
}

/* -- comparing ------------------------------------------------------------------------------ */

static double rounded(kb_dtype dtype, double value)
{
    unsigned char bytes[8];

    cast_elements(dtype, bytes, KB_F64, &value, 1);
    return kb_element(dtype, bytes, 0);
}

/*
 * In this order: NaN, equal after rounding, operations that round nothing, infinities, the
 * tolerance. The first two need no tolerance, so they come before it.
 */
static bool floats_agree(kb_dtype dtype, double t, double got, const struct wanted *w)
{
    double want = w->value.f, most = rounded(dtype, INFINITY), far;

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    want = fmin(fmax(want, -most), most); /* a float of 8 bits saturates */
    far = t * fmax(1, w->scale) + t * fabs(want) + w->slack;
    if (got == rounded(dtype, want))
        return true;
    if (w->exact)
        return false;
    if (isinf(got)) /* it was nearly that large before rounding */
        return got == rounded(dtype, want + copysign(far, got));
    return fabs(got - want) <= far;
}

static void describe(kb_dtype dtype, struct number n, char text[32])
{
    if (n.is_float)
        text_format(text, 32, "%.9g", n.f);
    else if (dtype_is_signed(dtype))
        snprintf(text, 32, "%" PRId64, (int64_t)n.i);
    else
        snprintf(text, 32, "%" PRIu64, n.i);
}

/* Element `index` of the result; `t`: of floats. */
bool reference_agrees(const struct op *op, const unsigned char *out, uint64_t index, double t,
                      const struct wanted *w, struct reference_difference *d)
{
    kb_dtype dtype = (kb_dtype)op->out.dtype;
    struct number got = element(dtype, out, index);

    if (got.is_float ? floats_agree(dtype, t, got.f, w) : got.i == w->value.i)
        return true;
    d->index = index;
    describe(dtype, got, d->got);
    describe(dtype, w->value, d->want);
    return false;
}
