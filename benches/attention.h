/* attention.h -- shared by the attention benches: scores, their weights, and the reference. */
#ifndef ATTENTION_H
#define ATTENTION_H
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bench_tile.h"

/* Of some rows: largest score [rows,1], sum of exp(score - largest), and those times v [rows,D]. */
struct partial {
    tl_tensor *max, *sum, *acc;
};

/* x * by; frees x. */
static inline tl_tensor *scaled(tl_ctx *tl, tl_tensor *x, tl_tensor *by)
{
    tl_tensor *y = tl_mul(tl, x, by);

    tl_free(tl, x);
    return y;
}

/* exp(x - y); frees x. */
static inline tl_tensor *exp_above(tl_ctx *tl, tl_tensor *x, tl_tensor *y)
{
    tl_tensor *above = tl_sub(tl, x, y), *z = tl_exp(tl, above);

    tl_free(tl, x);
    tl_free(tl, above);
    return z;
}

/* q k^T / sqrt(D) */
static inline tl_tensor *scores_of(tl_ctx *tl, tl_tensor *q, tl_tensor *k, kb_dtype sums)
{
    tl_tensor *scores = tl_dot(tl, q, k, .transpose_b = true, .dtype_out = sums);

    return scaled(tl, scores, tl_scalar(tl, 1 / sqrt((double)tl_shape(q).dim[1])));
}

/* -- references ----------------------------------------------------------------------------- */

#ifdef __x86_64__
#include <immintrin.h>
#endif

/*
 * The reference goes over blocks of rows of q, and for each twice over blocks of rows of k: for the
 * largest scores, then for the sums. Each sum has its terms in the order of plain loops: a score in
 * the order of columns, all others in the order of rows of k. Scores are kept for the second time;
 * if there is no memory to keep them they are computed again.
 */
enum { REFERENCE_ROWS = 32, REFERENCE_BLOCK = 64 };

typedef double reference_scores[REFERENCE_ROWS][REFERENCE_BLOCK];

/*
 * The two inner loops, for the vectors of the processor at hand. A quotient by the same `root` over
 * and over is taken by its inverse, twice corrected by the remainder: Markstein's theorem says that
 * it is then rounded as a division rounds, as long as nothing is denormal or overflows. That needs
 * a fused multiplication and addition.
 */
struct reference_loops {
    void (*add)(double *scores, double q, const double *k, double root);
    void (*weigh)(double *o, double weight, const double *v, int64_t n);
};

/* Adds a term to each score of a row: q * k, divided by `root` first. */
static inline void reference_divide(double *scores, double q, const double *k, double root)
{
    double inverse = 1 / root;
    int exponent;

    if (frexp(root, &exponent) == 0.5) { /* a power of 2: its inverse is exact, and faster */
        _Pragma("omp simd") for (int j = 0; j < REFERENCE_BLOCK; j++) scores[j] +=
            q * k[j] * inverse;
    } else {
        _Pragma("omp simd") for (int j = 0; j < REFERENCE_BLOCK; j++) scores[j] += q * k[j] / root;
    }
}

static inline void reference_weigh_each(double *o, double weight, const double *v, int64_t n)
{
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++) o[i] += weight * v[i];
}

#ifdef __x86_64__
#define REFERENCE_LOOPS(BYTES, TARGET, BITS, type)                                                 \
    TARGET static inline void reference_add_##BYTES(double *scores, double q, const double *k,     \
                                                    double root)                                   \
    {                                                                                              \
        type all_q = _mm##BITS##_set1_pd(q), divisor = _mm##BITS##_set1_pd(root);                  \
        type inverse = _mm##BITS##_set1_pd(1 / root), x, y, rest;                                  \
                                                                                                   \
        for (int j = 0; j < REFERENCE_BLOCK; j += BYTES / 8) {                                     \
            x = _mm##BITS##_mul_pd(all_q, _mm##BITS##_loadu_pd(&k[j]));                            \
            y = _mm##BITS##_mul_pd(x, inverse);                                                    \
            rest = _mm##BITS##_fnmadd_pd(divisor, y, x);                                           \
            y = _mm##BITS##_fmadd_pd(rest, inverse, y);                                            \
            rest = _mm##BITS##_fnmadd_pd(divisor, y, x);                                           \
            y = _mm##BITS##_fmadd_pd(rest, inverse, y);                                            \
            _mm##BITS##_storeu_pd(&scores[j],                                                      \
                                  _mm##BITS##_add_pd(_mm##BITS##_loadu_pd(&scores[j]), y));        \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    TARGET static inline void reference_weigh_##BYTES(double *o, double weight, const double *v,   \
                                                      int64_t n)                                   \
    {                                                                                              \
        type all = _mm##BITS##_set1_pd(weight), term;                                              \
        int64_t i = 0;                                                                             \
                                                                                                   \
        for (; i + BYTES / 8 <= n; i += BYTES / 8) {                                               \
            term = _mm##BITS##_mul_pd(all, _mm##BITS##_loadu_pd(&v[i]));                           \
            _mm##BITS##_storeu_pd(&o[i], _mm##BITS##_add_pd(_mm##BITS##_loadu_pd(&o[i]), term));   \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            o[i] += weight * v[i];                                                                 \
    }

REFERENCE_LOOPS(32, __attribute__((target("avx2,fma"))), 256, __m256d)
REFERENCE_LOOPS(64, __attribute__((target("avx512f"))), 512, __m512d)
#endif

static inline struct reference_loops reference_loops(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return (struct reference_loops){reference_add_64, reference_weigh_64};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (struct reference_loops){reference_add_32, reference_weigh_32};
#endif
    return (struct reference_loops){reference_divide, reference_weigh_each};
}

/* One head of the reference: rows of q and o lie `row_q` elements apart, of k and v `row_k`. */
struct reference_head {
    const double *q, *k, *v;
    double *o; /* zeros */
    int64_t s, n, d, row_q, row_k;
    struct reference_loops loops;
};

/* No product of two such numbers, and no quotient of it, is near the ends of what doubles hold. */
static inline bool reference_is_usual(double x)
{
    return x == 0 || (fabs(x) > 0x1p-400 && fabs(x) < 0x1p400);
}

/* q k^T / sqrt(D) of `m` rows of q with `n` of k, of which a square at a time is transposed. */
static inline void reference_block(const struct reference_head *h, reference_scores scores,
                                   int64_t s, int64_t m, int64_t t, int64_t n)
{
    double k[REFERENCE_BLOCK][REFERENCE_BLOCK] = {{0}}, root = sqrt((double)h->d);

    memset(scores, 0, sizeof(reference_scores));
    for (int64_t first = 0; first < h->d; first += REFERENCE_BLOCK) {
        int64_t depth = least(REFERENCE_BLOCK, h->d - first);
        bool usual = true;

        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < depth; i++) {
                k[i][j] = h->k[(t + j) * h->row_k + first + i];
                usual = usual && reference_is_usual(k[i][j]);
            }
        for (int64_t row = 0; row < m; row++)
            for (int64_t i = 0; i < depth; i++) {
                double q = h->q[(s + row) * h->row_q + first + i];

                (usual && reference_is_usual(q) ? h->loops.add : reference_divide)(scores[row], q,
                                                                                   k[i], root);
            }
    }
}

/* Adds rows `t` to `t` + `n` of v, weighted by the scores, to row `s` of o; returns the weights. */
static inline double reference_weigh(const struct reference_head *h, const double *scores,
                                     double most, double sum, int64_t s, int64_t t, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        double weight = exp(scores[j] - most);

        sum += weight;
        h->loops.weigh(&h->o[s * h->row_q], weight, &h->v[(t + j) * h->row_k], h->d);
    }
    return sum;
}

/* `kept` has room for the scores of all blocks; NULL: none. */
static inline void reference_rows(const struct reference_head *h, reference_scores *kept, int64_t s,
                                  int64_t m)
{
    double most[REFERENCE_ROWS], sum[REFERENCE_ROWS] = {0};
    reference_scores here;

    for (int64_t row = 0; row < m; row++)
        most[row] = -INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t t = 0; t < h->n; t += REFERENCE_BLOCK) {
            int64_t n = least(REFERENCE_BLOCK, h->n - t);
            /* cppcheck-suppress legacyUninitvar */
            double(*x)[REFERENCE_BLOCK] = kept ? kept[t / REFERENCE_BLOCK] : here;

            if (pass == 0 || !kept)
                reference_block(h, x, s, m, t, n);
            for (int64_t row = 0; row < m; row++)
                if (pass == 1)
                    sum[row] = reference_weigh(h, x[row], most[row], sum[row], s + row, t, n);
                else
                    for (int64_t j = 0; j < n; j++)
                        most[row] = fmax(most[row], x[row][j]);
        }
    for (int64_t row = 0; row < m; row++)
        for (int64_t i = 0; i < h->d; i++)
            h->o[(s + row) * h->row_q + i] /= sum[row];
}

/* Block `i` of the rows of one head. */
static inline void reference_attention(const struct reference_head *h, int64_t i)
{
    size_t blocks = (size_t)parts(h->n, REFERENCE_BLOCK);
    reference_scores *kept = malloc(blocks * sizeof *kept);
    int64_t s = i * REFERENCE_ROWS;

    reference_rows(h, kept, s, least(REFERENCE_ROWS, h->s - s));
    free(kept);
}

#endif
