/* gemm_tiles.c -- a tile of a product: the innermost loops, chosen by what the processor can do.
 *
 * With AVX-512 or AVX2 floats are computed by micro-kernels of BLIS: tiles of 32x12 and 16x14, or
 * of 6x16 and 6x8, in f32 and f64. They are called by their names; BLIS itself is not initialised.
 * Integers, which BLIS does not have, and floats on other processors are computed by the loops
 * below: tiles of 6 rows by one vector of 64 bytes, in a form that the compiler vectorises.
 *
 * A tile is m x n sums in registers. For each k it loads one column of the left panel and one row
 * of the right panel, and adds their outer product: with 32x12 f32 that is 44 numbers loaded for
 * 384 multiply-adds. The panels are packed, so both loads are contiguous. At the edge of a matrix
 * the panels have zeros and only the part of the tile that exists is stored (put_tile()).
 *
 * Invariant: a sum is one chain of multiply-adds in the order of k, in BLIS's kernels and in the
 * loops below, so that results do not depend on the size of the tile.
 */
#include "phase2/gemm_tiles.h"
#include "data/cast.h"
#include <math.h>
#include <string.h>
#if defined(__x86_64__) && !defined(KB_NO_BLIS)
#define WITH_BLIS 1
#include <blis-serial/blis.h>
#else
#define WITH_BLIS 0
#endif

/* Plain loops, for integers, and for floats without BLIS. The columns of a tile are a vector. */
enum { PLAIN_MR = 6, VECTOR = 64 };
typedef uint32_t u32_vector __attribute__((vector_size(VECTOR)));
typedef uint64_t u64_vector __attribute__((vector_size(VECTOR)));

static void put_tile(const struct tile *t, const void *sums, size_t row_bytes, size_t bytes)
{
    for (int64_t i = 0; i < t->m; i++)
        for (int64_t j = 0; j < t->n; j++)
            memcpy((char *)t->c + (i * t->rs + j * t->cs) * (int64_t)bytes,
                   (const char *)sums + (size_t)i * row_bytes + (size_t)j * bytes, bytes);
}

#define INTEGER_TILE(NAME, T)                                                                      \
    static inline __attribute__((always_inline)) void NAME##_body(const struct tile *t)            \
    {                                                                                              \
        T##_vector sums[PLAIN_MR] = {{0}};                                                         \
        const T##_vector *y = t->y;                                                                \
        const T *x = t->x;                                                                         \
                                                                                                   \
        for (int64_t k = 0; k < t->k; k++, x += PLAIN_MR, y++)                                     \
            for (int i = 0; i < PLAIN_MR; i++)                                                     \
                sums[i] += x[i] * *y;                                                              \
        if (t->add)                                                                                \
            for (int64_t i = 0; i < t->m; i++)                                                     \
                for (int64_t j = 0; j < t->n; j++)                                                 \
                    sums[i][j] += ((const T *)t->c)[i * t->rs + j * t->cs];                        \
        put_tile(t, sums, VECTOR, sizeof(T));                                                      \
    }                                                                                              \
    static void NAME(const struct tile *t)                                                         \
    {                                                                                              \
        NAME##_body(t);                                                                            \
    }

typedef uint32_t u32;
typedef uint64_t u64;
INTEGER_TILE(tile_u32, u32)
INTEGER_TILE(tile_u64, u64)

/* With fused multiply-adds the results are those of BLIS. */
#define FLOAT_TILE(NAME, T, NR, MULTIPLY_ADD)                                                      \
    static void NAME(const struct tile *t)                                                         \
    {                                                                                              \
        T sums[PLAIN_MR][NR] = {{0}};                                                              \
        const T *x = t->x, *y = t->y;                                                              \
                                                                                                   \
        for (int64_t k = 0; k < t->k; k++, x += PLAIN_MR, y += NR)                                 \
            for (int i = 0; i < PLAIN_MR; i++)                                                     \
                for (int j = 0; j < NR; j++)                                                       \
                    sums[i][j] = MULTIPLY_ADD(x[i], y[j], sums[i][j]);                             \
        if (t->add)                                                                                \
            for (int64_t i = 0; i < t->m; i++)                                                     \
                for (int64_t j = 0; j < t->n; j++)                                                 \
                    sums[i][j] += ((const T *)t->c)[i * t->rs + j * t->cs];                        \
        put_tile(t, sums, sizeof sums[0], sizeof(T));                                              \
    }

#ifdef FP_FAST_FMA
#define MULTIPLY_ADD_F64(x, y, z) fma(x, y, z)
#else
#define MULTIPLY_ADD_F64(x, y, z) ((x) * (y) + (z))
#endif
#ifdef FP_FAST_FMAF
#define MULTIPLY_ADD_F32(x, y, z) fmaf(x, y, z)
#else
#define MULTIPLY_ADD_F32(x, y, z) ((x) * (y) + (z))
#endif
FLOAT_TILE(tile_f32, float, 16, MULTIPLY_ADD_F32)
FLOAT_TILE(tile_f64, double, 8, MULTIPLY_ADD_F64)

#ifdef __x86_64__
#define AVX2   __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512dq")))

AVX2 static void tile_u32_avx2(const struct tile *t)
{
    tile_u32_body(t);
}

AVX2 static void tile_u64_avx2(const struct tile *t)
{
    tile_u64_body(t);
}

AVX512 static void tile_u32_avx512(const struct tile *t)
{
    tile_u32_body(t);
}

AVX512 static void tile_u64_avx512(const struct tile *t)
{
    tile_u64_body(t);
}
#endif

#if WITH_BLIS
#define BLIS_TILE(NAME, T, CALL)                                                                   \
    static void NAME(const struct tile *t)                                                         \
    {                                                                                              \
        T one = 1, beta = t->add;                                                                  \
        auxinfo_t next = {.a_next = (void *)(uintptr_t)t->x_next,                                  \
                          .b_next = (void *)(uintptr_t)t->y_next};                                 \
                                                                                                   \
        CALL(t->m, t->n, t->k, &one, (void *)(uintptr_t)t->x, (void *)(uintptr_t)t->y, &beta,      \
             t->c, t->rs, t->cs, &next, NULL);                                                     \
    }

BLIS_TILE(tile_f32_skx, float, bli_sgemm_skx_asm_32x12_l2)
BLIS_TILE(tile_f64_skx, double, bli_dgemm_skx_asm_16x14)
BLIS_TILE(tile_f32_haswell, float, bli_sgemm_haswell_asm_6x16)
BLIS_TILE(tile_f64_haswell, double, bli_dgemm_haswell_asm_6x8)
#endif

/* -- which of them -------------------------------------------------------------------------- */

#ifdef __x86_64__
enum level { LEVEL_PLAIN, LEVEL_AVX2, LEVEL_AVX512 };

/* By the features of the processor, as far as valgrind, if it runs us, has them. */
static enum level level(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return LEVEL_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return LEVEL_AVX2;
    return LEVEL_PLAIN;
}
#endif

const char *kb_compute_backend(void)
{
#if WITH_BLIS
    static const char *const names[] = {"plain loops", "BLIS 0.9.0 haswell", "BLIS 0.9.0 skx"};

    return names[level()];
#else
    return "plain loops";
#endif
}

static struct kernel float_kernel(bool is_f64)
{
#if WITH_BLIS
    static const struct kernel skx[] = {{tile_f32_skx, 32, 12, 15, true},
                                        {tile_f64_skx, 16, 14, 15, true}};
    static const struct kernel haswell[] = {{tile_f32_haswell, 6, 16, 28, false},
                                            {tile_f64_haswell, 6, 8, 12, false}};

    if (level() == LEVEL_AVX512)
        return skx[is_f64];
    if (level() == LEVEL_AVX2)
        return haswell[is_f64];
#endif
    return is_f64 ? (struct kernel){tile_f64, PLAIN_MR, 8, 12, false}
                  : (struct kernel){tile_f32, PLAIN_MR, 16, 24, false};
}

static struct kernel integer_kernel(bool is_u64)
{
    struct kernel k = is_u64 ? (struct kernel){tile_u64, PLAIN_MR, 8, 12, false}
                             : (struct kernel){tile_u32, PLAIN_MR, 16, 24, false};

#ifdef __x86_64__
    if (level() == LEVEL_AVX512)
        k.run = is_u64 ? tile_u64_avx512 : tile_u32_avx512;
    else if (level() == LEVEL_AVX2)
        k.run = is_u64 ? tile_u64_avx2 : tile_u32_avx2;
#endif
    return k;
}

struct kernel gemm_kernel(kb_dtype lane)
{
    if (dtype_is_float(lane))
        return float_kernel(lane == KB_F64);
    return integer_kernel(lane == KB_U64);
}
