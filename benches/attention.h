/* attention.h -- shared by the attention benches: scores, their weights, and the reference. */
#ifndef ATTENTION_H
#define ATTENTION_H
#include <math.h>
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

/*
 * Computes one row of o, which is zero, from `n` rows of k and v that begin `stride` elements
 * apart. Scores are computed again each time they are needed.
 */
static inline void reference_row(const double *q, const double *k, const double *v, double *o,
                                 int64_t n, int64_t d, int64_t stride)
{
    double most = -INFINITY, sum = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int64_t t = 0; t < n; t++) {
            double score = 0;

            for (int64_t i = 0; i < d; i++)
                score += q[i] * k[t * stride + i] / sqrt((double)d);
            if (pass == 0) {
                most = fmax(most, score);
                continue;
            }
            sum += exp(score - most);
            for (int64_t i = 0; i < d; i++)
                o[i] += exp(score - most) * v[t * stride + i];
        }
    for (int64_t i = 0; i < d; i++)
        o[i] /= sum;
}

#endif
