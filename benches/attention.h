/* attention.h -- shared by the attention benches: scores, their weights, and the reference. */
#ifndef ATTENTION_H
#define ATTENTION_H
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tile.h"

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

/* One head of the reference: rows of q and o lie `row_q` elements apart, of k and v `row_k`. */
struct reference_head {
    const double *q, *k, *v;
    double *o; /* zeros */
    int64_t s, n, d, row_q, row_k;
};

/*
 * The reference goes over blocks of rows of q, and for each twice over blocks of rows of k: for the
 * largest scores, then for the sums. Each sum has its terms in the order of plain loops: a score in
 * the order of columns, all others in the order of rows of k. Scores are kept for the second time;
 * if there is no memory to keep them they are computed again.
 */
enum { REFERENCE_ROWS = 32, REFERENCE_BLOCK = 64 };

typedef double reference_scores[REFERENCE_ROWS][REFERENCE_BLOCK];

/* Adds a term to each score of a row: q * k, divided by `root` first. */
static inline void reference_add(reference_scores scores, int64_t row, double q, const double *k,
                                 double root)
{
    int exponent;

    if (frexp(root, &exponent) == 0.5) { /* a power of 2: its inverse is exact, and faster */
        _Pragma("omp simd") for (int j = 0; j < REFERENCE_BLOCK; j++) scores[row][j] +=
            q * k[j] * (1 / root);
    } else {
        _Pragma("omp simd") for (int j = 0; j < REFERENCE_BLOCK; j++) scores[row][j] +=
            q * k[j] / root;
    }
}

/* q k^T / sqrt(D) of `m` rows of q with `n` of k, of which a square at a time is transposed. */
static inline void reference_block(const struct reference_head *h, reference_scores scores,
                                   int64_t s, int64_t m, int64_t t, int64_t n)
{
    double k[REFERENCE_BLOCK][REFERENCE_BLOCK] = {{0}}, root = sqrt((double)h->d);

    memset(scores, 0, sizeof(reference_scores));
    for (int64_t first = 0; first < h->d; first += REFERENCE_BLOCK) {
        int64_t depth = least(REFERENCE_BLOCK, h->d - first);

        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < depth; i++)
                k[i][j] = h->k[(t + j) * h->row_k + first + i];
        for (int64_t row = 0; row < m; row++)
            for (int64_t i = 0; i < depth; i++)
                reference_add(scores, row, h->q[(s + row) * h->row_q + first + i], k[i], root);
    }
}

/* Adds rows `t` to `t` + `n` of v, weighted by the scores, to row `s` of o; returns the weights. */
static inline double reference_weigh(const struct reference_head *h, const double *scores,
                                     double most, double sum, int64_t s, int64_t t, int64_t n)
{
    double *o = &h->o[s * h->row_q];

    for (int64_t j = 0; j < n; j++) {
        double weight = exp(scores[j] - most);
        const double *v = &h->v[(t + j) * h->row_k];

        sum += weight;
        _Pragma("omp simd") for (int64_t i = 0; i < h->d; i++) o[i] += weight * v[i];
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
