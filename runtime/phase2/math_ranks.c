/* math_ranks.c -- operations of Phase 2 that order the elements of a row.
 *
 * Elements are compared by their ranks, integers of 64 bits that have the order of the elements,
 * whatever the type: NaN has the highest, and -0 that of +0. Of equal ranks the lower index goes
 * first. The indices of the best so far, in order, are kept where the result's lie, so nothing is
 * allocated: of 3 1 4 1 5 with k = 3 they are [0], [0 1], [2 0 1], the same, [4 2 0]. A whole row
 * is sorted by qsort(), its ranks with their indices.
 */
#include <stdlib.h>
#include <string.h>
#include "phase2/math_parts.h"

static uint64_t rank_of(const struct op_tensor *t, uint64_t i)
{
    const unsigned char *at = t->view.v->bytes + t->view.offset;
    kb_dtype dtype = (kb_dtype)t->dtype;
    uint64_t bits, top = UINT64_C(1) << 63;
    double x;

    if (!dtype_is_float(dtype)) {
        cast_elements(KB_U64, &bits, dtype, at + i * kb_dtype_bytes(dtype), 1);
        return dtype_is_signed(dtype) ? bits ^ top : bits;
    }
    x = kb_element(dtype, at, i) + 0.0; /* -0 + 0 is 0 */
    if (isnan(x))
        return UINT64_MAX;
    memcpy(&bits, &x, sizeof bits);
    return bits & top ? ~bits : bits | top;
}

/* The row of n elements that begins at element `first`. */
static void topk_row(const struct op_tensor *t, uint64_t first, uint32_t n, int32_t *best,
                     uint32_t k)
{
    uint32_t kept = 0, at;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t rank = rank_of(t, first + i);

        if (kept == k && rank_of(t, first + (uint32_t)best[k - 1]) >= rank)
            continue;
        at = kept < k ? kept++ : k - 1;
        for (; at > 0 && rank_of(t, first + (uint32_t)best[at - 1]) < rank; at--)
            best[at] = best[at - 1];
        best[at] = (int32_t)i;
    }
}

static void run_topk(const struct op *op, unsigned char *out)
{
    const struct op_tensor *t = &op->in[0];
    const unsigned char *x = t->view.v->bytes + t->view.offset;
    uint32_t last = t->shape.rank - 1, n = t->shape.dim[last], k = op->out.shape.dim[last];
    uint64_t rows = dims_elements(&t->shape) / n, behind = op_indices_at(&op->out);
    uint64_t bytes = kb_dtype_bytes((kb_dtype)t->dtype), end = rows * k * bytes;
    int32_t *indices = (int32_t *)(void *)(out + behind);

    memset(out + end, 0, behind - end);
    for (uint64_t row = 0; row < rows; row++, indices += k) {
        topk_row(t, row * n, n, indices, k);
        for (uint32_t i = 0; i < k; i++)
            memcpy(out + (row * k + i) * bytes, x + (row * n + (uint32_t)indices[i]) * bytes,
                   bytes);
    }
}

struct ranked {
    uint64_t rank;
    uint32_t index;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* The order of the row of n elements that begins at element `first`. */
static void sort_row(const struct op_tensor *t, uint64_t first, uint32_t n, bool down,
                     struct ranked *order)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t rank = rank_of(t, first + i);

        order[i] = (struct ranked){down ? ~rank : rank, i};
    }
    qsort(order, n, sizeof *order, by_rank);
}

static bool run_sort(const struct op *op, unsigned char *out)
{
    const struct op_tensor *t = &op->in[0];
    const unsigned char *x = t->view.v->bytes + t->view.offset;
    uint64_t bytes = kb_dtype_bytes((kb_dtype)t->dtype), all = dims_elements(&t->shape);
    uint64_t behind = op_indices_at(&op->out);
    uint32_t n = t->shape.dim[t->shape.rank - 1];
    int32_t *indices = op_has_indices(op) ? (int32_t *)(void *)(out + behind) : NULL;
    struct ranked *order = malloc(n * sizeof *order);

    if (!order)
        return false;
    if (indices)
        memset(out + all * bytes, 0, behind - all * bytes);
    for (uint64_t first = 0; first < all; first += n) {
        sort_row(t, first, n, op_goes_down(op), order);
        for (uint32_t i = 0; i < n; i++) {
            memcpy(out + (first + i) * bytes, x + (first + order[i].index) * bytes, bytes);
            if (indices)
                indices[first + i] = (int32_t)order[i].index;
        }
    }
    free(order);
    return true;
}

bool math_run_order(const struct op *op, unsigned char *out)
{
    if (op->math == TL_SORT)
        return run_sort(op, out);
    run_topk(op, out);
    return true;
}
