/* convert.c -- f16 and bf16: C for any machine, and the vector instructions of x86-64.
 *
 * Rounding to 16 bits works on the bits of a float (narrow()): the significand with its hidden bit
 * is shifted to the new length and rounded to nearest even, a carry runs into the exponent by
 * itself, and a number below the smallest normal is shifted further. So f32 65519 becomes 65504,
 * the largest f16, and 65520, the middle to the next one, becomes infinity; 2^-25 becomes 0, and
 * anything larger the smallest denormal, 2^-24.
 *
 * The vector versions are chosen by the features of the processor and give the same bits. A test
 * compares them with the C versions for a sample of all f32, and on request for each of them.
 */
#include "data/convert.h"
#include <math.h>

/* bits / 2^shift, rounded to nearest even; 0 < shift < 64. */
static uint64_t shift_rounded(uint64_t bits, int shift)
{
    uint64_t whole = bits >> shift, rest = bits & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);

    return whole + (rest > half || (rest == half && (whole & 1)));
}

/*
 * Rounds a number with `fraction` bits of fraction and an exponent's bias of `bias` to 16 bits,
 * with `to` bits of fraction and 2^min_exp as smallest normal number.
 */
static inline uint16_t narrow(uint64_t magnitude, int fraction, int bias, int to, int min_exp)
{
    uint64_t hidden = UINT64_C(1) << fraction, inf = (0x7fffu >> to) << to;
    int exp = (int)(magnitude >> fraction) - bias, shift = fraction - to;
    uint64_t result, significand = (magnitude & (hidden - 1)) | hidden;

    if (exp == bias + 1) /* infinite, or NaN */
        return (uint16_t)(inf | (significand == hidden ? 0 : UINT64_C(1) << (to - 1)) |
                          (significand ^ hidden) >> shift);
    if (exp < min_exp) /* denormal: the bits count smallest denormals */
        shift += min_exp - exp;
    if (shift > fraction + 1)
        return 0;
    result = shift_rounded(significand, shift);
    if (exp >= min_exp)
        result += (uint64_t)(exp - min_exp) << to;
    return (uint16_t)(result < inf ? result : inf);
}

uint16_t f16_of_f32(float value)
{
    uint32_t bits = f32_bits(value);

    return (uint16_t)((bits >> 16 & 0x8000) |
                      narrow(bits & 0x7fffffffu, F32_FRACTION, 127, F16_FRACTION, -14));
}

static uint16_t narrow_f64(double value, int to, int min_exp)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits >> 48 & 0x8000) |
                      narrow(bits & INT64_MAX, F64_FRACTION, 1023, to, min_exp));
}

uint16_t f16_of_f64(double value)
{
    return narrow_f64(value, F16_FRACTION, -14);
}

uint16_t bf16_of_f64(double value)
{
    return narrow_f64(value, BF16_FRACTION, -126);
}

/* -- plain C -------------------------------------------------------------------------------- */

static void plain_f16_to_f32(float *to, const uint16_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = f32_of_f16(from[i]);
}

/* As integers, so that no processor makes a signalling NaN quiet. */
static void plain_bf16_to_f32(float *to, const uint16_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)from[i] << 16;

        memcpy(&to[i], &bits, sizeof bits);
    }
}

static void plain_f32_to_f16(uint16_t *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = f16_of_f32(from[i]);
}

static void plain_f32_to_bf16(uint16_t *to, const float *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = bf16_of_f32(from[i]);
}

const struct converter converter_plain = {
    .f16_to_f32 = plain_f16_to_f32,
    .bf16_to_f32 = plain_bf16_to_f32,
    .f32_to_f16 = plain_f32_to_f16,
    .f32_to_bf16 = plain_f32_to_bf16,
};

/* -- x86-64 with AVX2, and so with F16C ----------------------------------------------------- */

#if defined(__x86_64__)
#include <immintrin.h>

/* AVX-512 is no faster here, and its vcvtneps2bf16 treats denormals as 0. */
#define VECTOR __attribute__((target("avx2,f16c")))

enum { LANES = 8 };

/* The upper halves are cleared explicitly: gcc does not before a tail call, and SSE code after it
 * is many times slower. */

VECTOR static void vector_f16_to_f32(float *to, const uint16_t *from, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    _mm256_zeroupper();
    plain_f16_to_f32(to + i, from + i, n - i);
}

VECTOR static void vector_f32_to_f16(uint16_t *to, const float *from, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        _mm_storeu_si128((__m128i *)(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    _mm256_zeroupper();
    plain_f32_to_f16(to + i, from + i, n - i);
}

VECTOR static void vector_bf16_to_f32(float *to, const uint16_t *from, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(from + i)));

        _mm256_storeu_si256((__m256i *)(to + i), _mm256_slli_epi32(wide, 16));
    }
    _mm256_zeroupper();
    plain_bf16_to_f32(to + i, from + i, n - i);
}

/* bf16_of_f32() of eight, each in the lower half of its 32 bits. */
VECTOR static inline __m256i bf16_of_8(__m256i bits)
{
    __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
    __m256i is_nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7f800000));
    __m256i high = _mm256_srli_epi32(bits, 16);
    __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
    __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);

    return _mm256_blendv_epi8(rounded, _mm256_or_si256(high, _mm256_set1_epi32(0x40)), is_nan);
}

VECTOR static void vector_f32_to_bf16(uint16_t *to, const float *from, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        __m256i wide = bf16_of_8(_mm256_loadu_si256((const __m256i *)(from + i)));

        _mm_storeu_si128((__m128i *)(to + i), _mm_packus_epi32(_mm256_castsi256_si128(wide),
                                                               _mm256_extracti128_si256(wide, 1)));
    }
    _mm256_zeroupper();
    plain_f32_to_bf16(to + i, from + i, n - i);
}

static const struct converter converter_avx2 = {
    .f16_to_f32 = vector_f16_to_f32,
    .bf16_to_f32 = vector_bf16_to_f32,
    .f32_to_f16 = vector_f32_to_f16,
    .f32_to_bf16 = vector_f32_to_bf16,
};

const struct converter *converter_vector(void)
{
    return __builtin_cpu_supports("avx2") ? &converter_avx2 : NULL;
}

#else

const struct converter *converter_vector(void)
{
    return NULL;
}

#endif

/* -- the best there is ---------------------------------------------------------------------- */

static const struct converter *best(void)
{
    const struct converter *vector = converter_vector();

    return vector ? vector : &converter_plain;
}

void f16_to_f32(float *to, const uint16_t *from, size_t n)
{
    best()->f16_to_f32(to, from, n);
}

void bf16_to_f32(float *to, const uint16_t *from, size_t n)
{
    best()->bf16_to_f32(to, from, n);
}

void f32_to_f16(uint16_t *to, const float *from, size_t n)
{
    best()->f32_to_f16(to, from, n);
}

void f32_to_bf16(uint16_t *to, const float *from, size_t n)
{
    best()->f32_to_bf16(to, from, n);
}

/* -- floats of 8 bits ------------------------------------------------------------------------- */

float f32_of_f8(const struct f8 *type, uint8_t bits)
{
    int magnitude = bits & 0x7f, exponent = magnitude >> type->fraction;
    int part = magnitude & ((1 << type->fraction) - 1);
    float value = ldexpf((float)(exponent ? part + (1 << type->fraction) : part),
                         (exponent ? exponent : 1) - type->bias - type->fraction);

    if (magnitude > type->largest)
        value = magnitude < type->nan ? INFINITY : NAN; /* e4m3 has no infinity */
    return bits & 0x80 ? -value : value;
}

/* Of a rounded part that is 2^fraction more the exponent is the next: the sum of both does that. */
uint8_t f8_of_f32(const struct f8 *type, float value)
{
    uint8_t sign = signbit(value) ? 0x80 : 0;
    float magnitude = fabsf(value);
    int exponent, part;

    if (isnan(value))
        return type->nan;
    if (magnitude >= f32_of_f8(type, type->largest))
        return sign | type->largest;
    exponent = magnitude > 0 ? ilogbf(magnitude) : 0;
    if (magnitude == 0 || exponent < 1 - type->bias)
        exponent = 1 - type->bias;
    part = (int)rintf(ldexpf(magnitude, type->fraction - exponent));
    return sign | (uint8_t)(((exponent + type->bias - 1) << type->fraction) + part);
}
