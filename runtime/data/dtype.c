/* dtype.c -- types of elements: names, sizes, tolerances, and one element as a double.
 *
 * Sixteen types: f16 bf16 f32 f64 f8e4m3 f8e5m2 i4 i8 i16 i32 i64 u8 u16 u32 u64 bool. This file is
 * the slow and simple way to an element, for values that are printed, compared or filled in one by
 * one; whole arrays go through cast.c.
 *
 * kb_element() is exact, except for i64 and u64 above 2^53, which a double cannot hold.
 * kb_element_set() is total: every double has a result. Floats are rounded to nearest even, beyond
 * their largest number to infinity, of 8 bits to that number; integers are rounded to nearest even
 * and saturate:
 *
 *     value   i8     u8    f16
 *     2.5     2      2     2.5
 *     300     127    255   300
 *     -1      -1     0     -1
 *     65520   127    255   infinity (65504 is the largest; 65520 is the middle to the next one)
 *     NaN     0      0     NaN
 *
 * A cast inside a kernel is another thing: it truncates, see cast.c.
 *
 * dtype_tolerance() is the tolerance of results: right if |got - want| <= tol + tol * |want|,
 * numpy's rule. An f16 result of 100 may be off by 0.101; an integer not at all.
 */
#include "kernbench.h"
#include <math.h>
#include "data/cast.h"
#include "data/convert.h"
#include "data/dtype.h"

static const char *const names[N_DTYPES] = {
    [KB_F16] = "f16",   [KB_BF16] = "bf16",     [KB_F32] = "f32",       [KB_F64] = "f64",
    [KB_I8] = "i8",     [KB_I16] = "i16",       [KB_I32] = "i32",       [KB_I64] = "i64",
    [KB_U8] = "u8",     [KB_U16] = "u16",       [KB_U32] = "u32",       [KB_U64] = "u64",
    [KB_BOOL] = "bool", [KB_F8E4M3] = "f8e4m3", [KB_F8E5M2] = "f8e5m2", [KB_I4] = "i4",
};

size_t kb_dtype_bytes(kb_dtype dtype)
{
    return dtype_bytes(dtype);
}

uint64_t kb_dtype_size(kb_dtype dtype, uint64_t n)
{
    return dtype_size(dtype, n);
}

const char *kb_dtype_name(kb_dtype dtype)
{
    return dtype_cell(dtype) ? names[dtype] : "?";
}

double dtype_tolerance(kb_dtype dtype)
{
    switch (dtype) {
    case KB_F16:
        return 1e-3;
    case KB_BF16:
        return 1e-2;
    case KB_F8E4M3:
        return 0.125;
    case KB_F8E5M2:
        return 0.25;
    case KB_F32:
        return 1e-5;
    case KB_F64:
        return 1e-10;
    case KB_DEFAULT:
    case KB_I4:
    case KB_I8:
    case KB_I16:
    case KB_I32:
    case KB_I64:
    case KB_U8:
    case KB_U16:
    case KB_U32:
    case KB_U64:
    case KB_BOOL:
        break;
    }
    return 0;
}

kb_dtype dtype_wider(kb_dtype a, kb_dtype b)
{
    if (dtype_is_float(a) != dtype_is_float(b))
        return dtype_is_float(a) ? a : b;
    return dtype_bytes(b) > dtype_bytes(a) ? b : a;
}

/* How many bits a number has, beside its sign and its power of two. */
static uint64_t digits(kb_dtype dtype)
{
    switch (dtype) {
    case KB_F64:
        return 53;
    case KB_F32:
        return 24;
    case KB_F16:
        return 11;
    case KB_BF16:
        return 8;
    case KB_F8E4M3:
        return 4;
    case KB_F8E5M2:
        return 3;
    case KB_I4:
        return 3;
    case KB_BOOL:
        return 1;
    case KB_DEFAULT:
    case KB_I8:
    case KB_I16:
    case KB_I32:
    case KB_I64:
    case KB_U8:
    case KB_U16:
    case KB_U32:
    case KB_U64:
        break;
    }
    return 8 * dtype_bytes(dtype) - dtype_is_signed(dtype);
}

/* Floats smaller than f32 hold no other type here: their powers of two are few. */
bool dtype_holds(kb_dtype to, kb_dtype from)
{
    bool to_float = to == KB_F32 || to == KB_F64;

    if (to == from)
        return true;
    if (to == KB_BOOL || dtype_is_float(to) != to_float || (dtype_is_float(from) && !to_float))
        return false;
    if (dtype_is_signed(from) && !dtype_is_signed(to) && !to_float)
        return false;
    return digits(from) <= digits(to);
}

kb_dtype kb_dtype_parse(const char *name)
{
    for (unsigned i = KB_F16; i < N_DTYPES; i++)
        if (strcmp(name, names[i]) == 0)
            return (kb_dtype)i;
    return KB_DEFAULT;
}

/* Bytes of a version may lie anywhere: elements are copied, which compiles to a load. */
double kb_element(kb_dtype dtype, const void *bytes, uint64_t i)
{
    size_t nbytes = dtype_cell(dtype);
    union {
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        uint8_t u8;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } e = {0};

    memcpy(&e, (const unsigned char *)bytes + dtype_size(dtype, i), nbytes);
    switch (dtype) {
    case KB_F16:
        return (double)f32_of_f16(e.u16);
    case KB_BF16:
        return (double)f32_of_bf16(e.u16);
    case KB_F8E4M3:
        return (double)f32_of_f8(&f8e4m3, e.u8);
    case KB_F8E5M2:
        return (double)f32_of_f8(&f8e5m2, e.u8);
    case KB_F32:
        return (double)e.f32;
    case KB_F64:
        return e.f64;
    case KB_I4:
        return i4_of_byte(e.u8, i);
    case KB_I8:
        return e.i8;
    case KB_I16:
        return e.i16;
    case KB_I32:
        return e.i32;
    case KB_I64:
        return (double)e.i64;
    case KB_U8:
        return e.u8;
    case KB_U16:
        return e.u16;
    case KB_U32:
        return e.u32;
    case KB_U64:
        return (double)e.u64;
    case KB_BOOL:
        return e.u8 != 0;
    case KB_DEFAULT:
        break;
    }
    return NAN;
}

/* To nearest even, at most `bits` bits beside the sign; NaN is 0. */
static int64_t saturate(double value, int bits)
{
    double limit = ldexp(1, bits), whole = rint(value);

    if (!(whole < limit))
        return whole >= limit ? (int64_t)((UINT64_C(1) << bits) - 1) : 0;
    return whole < -limit ? -1 - (int64_t)((UINT64_C(1) << bits) - 1) : (int64_t)whole;
}

static uint64_t saturate_unsigned(double value, int bits)
{
    double limit = ldexp(1, bits), whole = rint(value);

    if (whole >= limit)
        return UINT64_MAX >> (64 - bits);
    return whole > 0 ? (uint64_t)whole : 0;
}

void kb_element_set(kb_dtype dtype, void *bytes, uint64_t i, double value)
{
    size_t nbytes = dtype_cell(dtype);
    unsigned char *at = (unsigned char *)bytes + dtype_size(dtype, i);
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } e = {0};

    switch (dtype) {
    case KB_F16:
        e.u16 = f16_of_f64(value);
        break;
    case KB_BF16:
        e.u16 = bf16_of_f64(value);
        break;
    case KB_F8E4M3:
    case KB_F8E5M2:
        cast_elements(dtype, &e, KB_F64, &value, 1);
        break;
    case KB_F32:
        e.f32 = (float)value;
        break;
    case KB_F64:
        e.f64 = value;
        break;
    case KB_I4:
        e.u8 = byte_with_i4(*at, i, saturate(value, 3));
        break;
    case KB_I8:
        e.u8 = (uint8_t)saturate(value, 7);
        break;
    case KB_I16:
        e.u16 = (uint16_t)saturate(value, 15);
        break;
    case KB_I32:
        e.u32 = (uint32_t)saturate(value, 31);
        break;
    case KB_I64:
        e.u64 = (uint64_t)saturate(value, 63);
        break;
    case KB_U8:
        e.u8 = (uint8_t)saturate_unsigned(value, 8);
        break;
    case KB_U16:
        e.u16 = (uint16_t)saturate_unsigned(value, 16);
        break;
    case KB_U32:
        e.u32 = (uint32_t)saturate_unsigned(value, 32);
        break;
    case KB_U64:
        e.u64 = saturate_unsigned(value, 64);
        break;
    case KB_BOOL:
        e.u8 = value != 0;
        break;
    case KB_DEFAULT:
        break;
    }
    memcpy(at, &e, nbytes);
}
