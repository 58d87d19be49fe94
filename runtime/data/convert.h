/* convert.h -- f16, bf16 and f8: exact to f32, and rounded once to nearest even from f32, f64. */
#ifndef CONVERT_H
#define CONVERT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Overflow gives infinity; denormals are exact both ways; a NaN stays one, made quiet, with the
 * upper bits of its payload, as in vcvtps2ph. (Widening a bf16 changes no bit.)
 */
enum { F16_FRACTION = 10, BF16_FRACTION = 7, F32_FRACTION = 23, F64_FRACTION = 52 };

/* Convert n elements; `to` and `from` do not overlap, and are aligned to their elements. */
void f16_to_f32(float *to, const uint16_t *from, size_t n);
void bf16_to_f32(float *to, const uint16_t *from, size_t n);
void f32_to_f16(uint16_t *to, const float *from, size_t n);
void f32_to_bf16(uint16_t *to, const float *from, size_t n);

/* One implementation of the four; all give the same bits. */
struct converter {
    void (*f16_to_f32)(float *to, const uint16_t *from, size_t n);
    void (*bf16_to_f32)(float *to, const uint16_t *from, size_t n);
    void (*f32_to_f16)(uint16_t *to, const float *from, size_t n);
    void (*f32_to_bf16)(uint16_t *to, const float *from, size_t n);
};

extern const struct converter converter_plain;
const struct converter *converter_vector(void); /* NULL: this processor has none */

/* -- one element ---------------------------------------------------------------------------- */

static inline uint32_t f32_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float f32_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float f32_of_f16(uint16_t half)
{
    uint32_t sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;

    if (magnitude > 0x7c00) /* NaN */
        return f32_of_bits(sign | 0x7fc00000u | magnitude << 13);
    if (magnitude == 0x7c00)
        return f32_of_bits(sign | 0x7f800000u);
    if (magnitude < 0x0400) /* in units of the smallest; no f32 on the way is denormal */
        return f32_of_bits(sign | f32_bits((float)magnitude * 0x1p-24f));
    return f32_of_bits(sign | ((magnitude << 13) + (112u << 23)));
}

static inline float f32_of_bf16(uint16_t half)
{
    return f32_of_bits((uint32_t)half << 16);
}

static inline uint16_t bf16_of_f32(float value)
{
    uint32_t bits = f32_bits(value);

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Element `i` of i4 of the byte in which it lies: the low half has the even ones. */
static inline int8_t i4_of_byte(uint8_t byte, uint64_t i)
{
    return (int8_t)((i & 1 ? byte >> 4 : byte & 15) ^ 8) - 8;
}

/* That byte with another element `i`. */
static inline uint8_t byte_with_i4(uint8_t byte, uint64_t i, int64_t value)
{
    return (uint8_t)(i & 1 ? (byte & 15) | (value & 15) << 4 : (byte & 0xf0) | (value & 15));
}

/* A float of 8 bits, as OCP has them. */
struct f8 {
    int fraction, bias; /* bits, of the exponent */
    uint8_t largest, nan;
};

static const struct f8 f8e4m3 = {3, 7, 0x7e, 0x7f}, f8e5m2 = {2, 15, 0x7b, 0x7e};

float f32_of_f8(const struct f8 *type, uint8_t bits);
/* Rounded to nearest even; what is larger than the largest becomes that, infinities too. */
uint8_t f8_of_f32(const struct f8 *type, float value);

uint16_t f16_of_f32(float value);
uint16_t f16_of_f64(double value);
uint16_t bf16_of_f64(double value);

#endif
