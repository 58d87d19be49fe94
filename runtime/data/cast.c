/* cast.c -- converts elements of one dtype into another, through the widest type of their kind.
 *
 * Sixteen types would need 256 loops. Instead integers are widened to 64 bits and floats to f64,
 * in chunks on the stack, and narrowed from there. The pairs that Phase 2 needs most have a direct
 * loop.
 *
 * Each conversion rounds once. The danger is the step from 64 bits to f16 or bf16, which goes
 * through f32: rounding twice may differ from rounding once. Example: 1 + 2^-11 + 2^-40 lies just
 * above the middle between the f16 numbers 1 and 1 + 2^-10, and rounds up. But the nearest f32
 * is 1 + 2^-11, exactly the middle, which then rounds to even, down to 1. Therefore the first step
 * *rounds to odd*: a number that is not an f32 becomes the neighbour whose last bit is 1, here 1 +
 * 2^-11 + 2^-23. The last bit then says that there was more, and the second rounding is right
 * (to_odd(), sticky()).
 */
#include "data/cast.h"
#include "data/convert.h"
#include "data/dtype.h"
#include <math.h>
#include <string.h>

enum { CHUNK = 256 };

/* X(dtype, its C type), for the integers that have a C type. */
#define INTEGERS(X)                                                                                \
    X(KB_I8, int8_t)                                                                               \
    X(KB_I16, int16_t)                                                                             \
    X(KB_I32, int32_t)                                                                             \
    X(KB_I64, int64_t)                                                                             \
    X(KB_U8, uint8_t)                                                                              \
    X(KB_U16, uint16_t)                                                                            \
    X(KB_U32, uint32_t)                                                                            \
    X(KB_U64, uint64_t)

/* What a switch over these leaves out. */
#define CASES_NO_INTEGER                                                                           \
    case KB_DEFAULT:                                                                               \
    case KB_F16:                                                                                   \
    case KB_BF16:                                                                                  \
    case KB_F8E4M3:                                                                                \
    case KB_F8E5M2:                                                                                \
    case KB_F32:                                                                                   \
    case KB_F64

/* -- from integers -------------------------------------------------------------------------- */

static void widen_i4(const uint8_t *src, uint64_t *wide, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wide[i] = (uint64_t)i4_of_byte(src[i / 2], i);
}

static void narrow_i4(uint8_t *dst, const uint64_t *wide, size_t n)
{
    for (size_t i = 0; i < n; i += 2)
        dst[i / 2] = (uint8_t)((wide[i] & 15) | (i + 1 < n ? wide[i + 1] & 15 : 0) << 4);
}

/* Sign or zeros above the bits of an integer: it is exact modulo 2^64. */
static void integers_widen(kb_dtype from, const void *src, uint64_t *wide, size_t n)
{
#define WIDEN(D, T)                                                                                \
    case D:                                                                                        \
        for (size_t i = 0; i < n; i++)                                                             \
            wide[i] = (uint64_t)((const T *)src)[i];                                               \
        break;
    switch (from) {
        INTEGERS(WIDEN)
    case KB_I4:
        widen_i4(src, wide, n);
        break;
    case KB_BOOL:
        for (size_t i = 0; i < n; i++)
            wide[i] = ((const uint8_t *)src)[i] != 0;
        break;
    CASES_NO_INTEGER:
        break;
    }
}

static void integers_narrow(kb_dtype to, void *dst, const uint64_t *wide, size_t n)
{
#define NARROW(D, T)                                                                               \
    case D:                                                                                        \
        for (size_t i = 0; i < n; i++)                                                             \
            ((T *)dst)[i] = (T)wide[i];                                                            \
        break;
    switch (to) {
        INTEGERS(NARROW)
    case KB_I4:
        narrow_i4(dst, wide, n);
        break;
    case KB_BOOL:
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)dst)[i] = wide[i] != 0;
        break;
    CASES_NO_INTEGER:
        break;
    }
}

/*
 * A float of at most 25 significant bits that rounds to any type of fewer than 24 bits as `v` does:
 * all lower bits of `v` become one bit, which says whether any was set. So going through f32 does
 * not round twice.
 */
static float sticky(uint64_t v)
{
    int shift = v >> 24 ? 40 - __builtin_clzll(v) : 0;
    uint64_t kept = v >> shift << shift;

    return (float)(kept | (uint64_t)(kept != v) << shift);
}

static void integers_to_small(float *f, const uint64_t *wide, bool is_signed, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool negative = is_signed && wide[i] >> 63;
        float magnitude = sticky(negative ? -wide[i] : wide[i]);

        f[i] = negative ? -magnitude : magnitude;
    }
}

static void narrow_f32(kb_dtype to, void *dst, const float *f, size_t n)
{
    const struct f8 *type = to == KB_F8E4M3 ? &f8e4m3 : &f8e5m2;

    if (to == KB_F16)
        f32_to_f16(dst, f, n);
    else if (to == KB_BF16)
        f32_to_bf16(dst, f, n);
    else
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)dst)[i] = f8_of_f32(type, f[i]);
}

static void widen_f8(kb_dtype from, const void *src, float *f, size_t n)
{
    const struct f8 *type = from == KB_F8E4M3 ? &f8e4m3 : &f8e5m2;
    float of[256];

    for (unsigned i = 0; i < 256 && n >= 256; i++)
        of[i] = f32_of_f8(type, (uint8_t)i);
    for (size_t i = 0; i < n; i++) {
        uint8_t bits = ((const uint8_t *)src)[i];

        f[i] = n >= 256 ? of[bits] : f32_of_f8(type, bits);
    }
}

static void integers_to_floats(kb_dtype to, void *dst, const uint64_t *wide, bool is_signed,
                               size_t n)
{
    float f[CHUNK];

    if (to == KB_F64) {
        for (size_t i = 0; i < n; i++)
            ((double *)dst)[i] = is_signed ? (double)(int64_t)wide[i] : (double)wide[i];
    } else if (to == KB_F32) {
        for (size_t i = 0; i < n; i++)
            ((float *)dst)[i] = is_signed ? (float)(int64_t)wide[i] : (float)wide[i];
    } else {
        integers_to_small(f, wide, is_signed, n);
        narrow_f32(to, dst, f, n);
    }
}

static void cast_integers(kb_dtype to, void *dst, kb_dtype from, const void *src, size_t n)
{
    uint64_t wide[CHUNK];

    integers_widen(from, src, wide, n);
    if (dtype_is_float(to))
        integers_to_floats(to, dst, wide, dtype_is_signed(from), n);
    else
        integers_narrow(to, dst, wide, n);
}

/* -- from floats ---------------------------------------------------------------------------- */

static void floats_widen(kb_dtype from, const void *src, double *wide, size_t n)
{
    float f[CHUNK];

    if (from == KB_F64) {
        memcpy(wide, src, n * sizeof *wide);
        return;
    }
    cast_elements(KB_F32, f, from, src, n);
    for (size_t i = 0; i < n; i++)
        wide[i] = f[i];
}

/* Truncates and saturates. `end` is 2^bits, a double, which the largest integer may not be. */
static uint64_t saturate(double v, double low, double end, uint64_t smallest, uint64_t largest)
{
    if (isnan(v))
        return 0;
    if (v <= low)
        return smallest;
    if (v >= end)
        return largest;
    return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static void floats_to_integers(kb_dtype to, void *dst, const double *wide, size_t n)
{
    int bits = to == KB_I4 ? 4 : 8 * (int)kb_dtype_bytes(to),
        value_bits = bits - dtype_is_signed(to);
    double end = ldexp(1, value_bits), low = dtype_is_signed(to) ? -end : 0;
    uint64_t largest = UINT64_MAX >> (64 - value_bits);
    uint64_t smallest = dtype_is_signed(to) ? ~largest : 0;
    uint64_t v[CHUNK];

    for (size_t i = 0; i < n; i++)
        v[i] = to == KB_BOOL ? wide[i] != 0 : saturate(wide[i], low, end, smallest, largest);
    integers_narrow(to, dst, v, n);
}

/*
 * `d` rounded to odd: if it is no float, the neighbouring float whose last bit is 1. It rounds to
 * any type of at most 22 bits as `d` itself does.
 */
static float to_odd(double d)
{
    float f = (float)d;
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    if ((double)f == d || isnan(d) || bits & 1)
        return f;
    bits += fabs((double)f) > fabs(d) ? -1u : 1u;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void floats_to_floats(kb_dtype to, void *dst, const double *wide, size_t n)
{
    float f[CHUNK];

    if (to == KB_F64) {
        memcpy(dst, wide, n * sizeof *wide);
    } else if (to == KB_F32) {
        for (size_t i = 0; i < n; i++)
            ((float *)dst)[i] = (float)wide[i];
    } else {
        for (size_t i = 0; i < n; i++)
            f[i] = to_odd(wide[i]);
        narrow_f32(to, dst, f, n);
    }
}

static void cast_floats(kb_dtype to, void *dst, kb_dtype from, const void *src, size_t n)
{
    double wide[CHUNK];

    floats_widen(from, src, wide, n);
    if (dtype_is_float(to))
        floats_to_floats(to, dst, wide, n);
    else
        floats_to_integers(to, dst, wide, n);
}

/* -- any ------------------------------------------------------------------------------------ */

/* The most frequent pairs need no step in between. */
static bool cast_directly(kb_dtype to, void *dst, kb_dtype from, const void *src, size_t n)
{
    if (to == from)
        memcpy(dst, src, dtype_size(to, n + dtype_of_cell(to) - 1));
    else if (to == KB_F32 && from == KB_F16)
        f16_to_f32(dst, src, n);
    else if (to == KB_F32 && from == KB_BF16)
        bf16_to_f32(dst, src, n);
    else if (to == KB_F32 && dtype_is_f8(from))
        widen_f8(from, src, dst, n);
    else if (from == KB_F32 && (to == KB_F16 || to == KB_BF16 || dtype_is_f8(to)))
        narrow_f32(to, dst, src, n);
    else
        return false;
    return true;
}

void cast_elements(kb_dtype to, void *dst, kb_dtype from, const void *src, size_t n)
{
    if (cast_directly(to, dst, from, src, n))
        return;
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t chunk = n - i < CHUNK ? n - i : CHUNK;
        unsigned char *d = (unsigned char *)dst + dtype_size(to, i);
        const unsigned char *s = (const unsigned char *)src + dtype_size(from, i);

        if (dtype_is_float(from))
            cast_floats(to, d, from, s, chunk);
        else
            cast_integers(to, d, from, s, chunk);
    }
}
